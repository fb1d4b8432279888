//! Long output goes through the user's pager, as git's does.

use crate::interrupt;
use std::io::{self, Write};
use std::process::{Command, Stdio};

/// The variables that name a pager, the strongest first.
const VARIABLES: [&str; 2] = ["TAMIS_PAGER", "PAGER"];

/// The default pager: it ends at once with little text, shows colours, and leaves the text behind.
const DEFAULT: &str = "less -FRX";

/// The program and its arguments; `None` if the user wants no pager.
fn command(variable: impl Fn(&str) -> Option<String>) -> Option<Vec<String>> {
    let named = VARIABLES.into_iter().find_map(&variable).unwrap_or_else(|| DEFAULT.to_owned());
    let words = shlex::split(&named).unwrap_or_default();
    match words.first().map(String::as_str) {
        None | Some("" | "cat") => None,
        Some(_) => Some(words),
    }
}

/// Shows the text and waits until the user has read it. Returns `false` if nothing was shown: no pager is wanted, or it
/// cannot be started.
///
/// # Errors
/// The pager's exit status cannot be determined.
pub fn show(text: &[u8]) -> io::Result<bool> {
    let variable = |name: &str| std::env::var_os(name).map(|value| value.to_string_lossy().into_owned());
    command(variable).map_or(Ok(false), |words| run(&words, text))
}

fn run(words: &[String], text: &[u8]) -> io::Result<bool> {
    // The program is run directly: no shell reads the variable.
    let mut pager = Command::new(&words[0]);
    pager.args(&words[1..]).stdin(Stdio::piped());
    for (name, value) in [("LESS", "FRX"), ("LV", "-c")] {
        if std::env::var_os(name).is_none() {
            pager.env(name, value);
        }
    }
    // Ctrl-C belongs to the pager while it runs: ending before it would leave two readers of one keyboard.
    let _ignored = interrupt::Ignored::new();
    let Ok(mut pager) = pager.spawn() else { return Ok(false) };
    if let Some(mut input) = pager.stdin.take() {
        // A reader who has seen enough closes the pipe.
        let _ = input.write_all(text);
    }
    pager.wait()?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_users_own_variable_names_the_pager() {
        let of = |own: Option<&str>, general: Option<&str>| {
            command(|name| if name == "TAMIS_PAGER" { own } else { general }.map(str::to_owned))
        };
        let words = |words: &[&str]| Some(words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>());
        assert_eq!(of(None, None), words(&["less", "-FRX"]));
        assert_eq!(of(None, Some("more -s")), words(&["more", "-s"]));
        assert_eq!(of(Some("less '-P end'"), Some("more")), words(&["less", "-P end"]));
        assert_eq!(of(Some("less; rm x"), None), words(&["less;", "rm", "x"]), "no shell reads it");
        for none in ["", " ", "cat", "'"] {
            assert_eq!(of(Some(none), Some("more")), None, "{none:?}");
        }
    }

    #[test]
    fn a_pager_that_is_missing_shows_nothing() {
        assert!(matches!(run(&["no-such-pager-here".to_owned()], b"text"), Ok(false)));
    }

    #[cfg(unix)]
    #[test]
    fn a_reader_may_stop_before_the_end() {
        let text = "more than any pipe holds\n".repeat(40_000);
        assert!(matches!(run(&["true".to_owned()], text.as_bytes()), Ok(true)));
    }
}
