//! Words that begin with a dash where a command takes words: `tamis search "--no-index option"`.
//!
//! No flag holds a space, so an argument in quotes that begins with a dash is words. Anything else that begins with one is a flag, and
//! the message for one that does not exist gives the command that takes it as a word.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command};
use std::ffi::OsString;

/// The commands whose arguments are all words of one text.
const OF_WORDS: [&str; 4] = ["search", "recall", "pack", "remember"];

/// What ends the flags.
const END: &str = "--";

/// The command line with the arguments that can only be words behind `--`; `None` if it has none.
pub fn words_behind(typed: &[OsString]) -> Option<Vec<OsString>> {
    let command = typed.iter().position(|argument| OF_WORDS.iter().any(|name| argument == name))?;
    let end = typed.iter().position(|argument| argument == END).unwrap_or(typed.len());
    let (before, behind) = typed.split_at(end);
    let is_value = |at: usize| before[at - 1] == "-e" || before[at - 1] == "--query";
    let is_moved =
        |at: usize, argument: &OsString| at > command && !is_value(at) && is_words(&argument.to_string_lossy());
    let (words, others): (Vec<_>, Vec<_>) =
        before.iter().enumerate().partition(|(at, argument)| is_moved(*at, argument));
    let end = OsString::from(END);
    let moved = words.iter().map(|(_, argument)| *argument).chain(behind.iter().skip(1));
    let line = others.iter().map(|(_, argument)| *argument).chain([&end]).chain(moved);
    (!words.is_empty()).then(|| line.cloned().collect())
}

/// Whether an argument with a dash holds a space, other than in the value of `--flag=VALUE`.
fn is_words(argument: &str) -> bool {
    let name = argument.split('=').next().unwrap_or_default();
    argument.starts_with('-') && argument.contains(char::is_whitespace) && (name == argument || name.contains(' '))
}

/// The message for a flag that does not exist, with the command that takes it as a word; `None` for every other error. `arguments` are
/// those that were typed, without the program's name.
pub fn message(error: &clap::Error, description: &Command, arguments: &[String]) -> Option<String> {
    let at = arguments.iter().position(|argument| OF_WORDS.contains(&argument.as_str()))?;
    let text = |kind: ContextKind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        Some(ContextValue::Strings(texts)) => texts.first().map(String::as_str),
        _ => None,
    };
    let mut typed = arguments[at + 1..].iter().take_while(|argument| *argument != END);
    let flag = match error.kind() {
        ErrorKind::UnknownArgument => {
            let unknown = text(ContextKind::InvalidArg)?;
            typed.find(|argument| is_spelled(argument, unknown))?
        }
        // `-name` is read as `-n ame`.
        ErrorKind::InvalidValue | ErrorKind::ValueValidation => {
            let value = text(ContextKind::InvalidValue)?;
            let is_word = |word: &str| word.chars().count() > 1 && word.chars().all(char::is_alphabetic);
            typed.find(|argument| argument.get(2..) == Some(value) && is_word(&argument[1..]) && is_short(argument))?
        }
        _ => return None,
    };
    let command = description.find_subcommand(&arguments[at])?;
    let known = Flags(command.get_arguments().chain(description.get_arguments()).collect());
    let with_two = format!("-{flag}");
    let meant = text(ContextKind::SuggestedArg).or_else(|| known.find_flag(&with_two).map(|_| with_two.as_str()));
    let meant = meant.map(|meant| format!(" (did you mean {meant}?)")).unwrap_or_default();
    let (flags, words) = known.divided(&arguments[at + 1..]);
    let line: Vec<String> = arguments[..=at].iter().chain(flags).map(|argument| shell(argument)).collect();
    let words = words.into_iter().map(String::as_str).collect::<Vec<_>>().join(" ");
    Some(format!(
        "there is no flag {flag}{meant}; words that begin with a dash go after {END}:\n  tamis {} {END} {}",
        line.join(" "),
        quoted(&words)
    ))
}

/// Whether an argument is this flag with a value, or has its letter among others.
fn is_spelled(argument: &str, flag: &str) -> bool {
    if is_short(flag) {
        return is_short(argument) && argument.contains(flag.trim_start_matches('-'));
    }
    argument.strip_prefix(flag).is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
}

fn is_short(argument: &str) -> bool {
    argument.starts_with('-') && !argument.starts_with(END)
}

/// An argument as a shell takes it in one piece.
pub(super) fn shell(argument: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./=:,@+".contains(c);
    if !argument.is_empty() && argument.chars().all(is_plain) { argument.to_owned() } else { quoted(argument) }
}

/// The flags of a command.
struct Flags<'a>(Vec<&'a Arg>);

impl Flags<'_> {
    fn find_flag(&self, flag: &str) -> Option<&Arg> {
        let name = flag.strip_prefix(END)?;
        self.0.iter().find(|known| known.get_long() == Some(name)).copied()
    }

    fn lettered(&self, letter: char) -> Option<&Arg> {
        self.0.iter().find(|known| known.get_short() == Some(letter)).copied()
    }

    /// Divides arguments into flags with their values, and words.
    fn divided<'b>(&self, arguments: &'b [String]) -> (Vec<&'b String>, Vec<&'b String>) {
        let (mut flags, mut words) = (Vec::new(), Vec::new());
        let mut left = arguments.iter();
        while let Some(argument) = left.next() {
            if argument == END {
                words.extend(left.by_ref());
            } else if let Some(has_value_next) = self.has_value_next(argument) {
                flags.push(argument);
                if has_value_next {
                    flags.extend(left.next());
                }
            } else {
                words.push(argument);
            }
        }
        (flags, words)
    }

    /// Whether the value of a flag is the next argument; `None` if the argument is not a flag.
    fn has_value_next(&self, argument: &str) -> Option<bool> {
        let takes_value = |known: &Arg| known.get_action().takes_values();
        if let Some((name, _)) =
            argument.split_once('=').filter(|(name, _)| self.find_flag(name).is_some_and(takes_value))
        {
            return Some(name.is_empty());
        }
        if let Some(known) = self.find_flag(argument) {
            return Some(takes_value(known));
        }
        let mut letters = argument.strip_prefix('-').filter(|_| is_short(argument))?.chars();
        let first = self.lettered(letters.next()?)?;
        let rest = letters.as_str();
        if takes_value(first) {
            return (rest.is_empty() || rest.chars().all(|c| c.is_ascii_digit())).then_some(rest.is_empty());
        }
        letters.all(|letter| self.lettered(letter).is_some_and(|known| !takes_value(known))).then_some(false)
    }
}

/// The text as a shell takes it in one piece.
pub(super) fn quoted(text: &str) -> String {
    match text.contains(['"', '$', '`', '\\', '!']) {
        true => format!("'{}'", text.replace('\'', "'\\''")),
        false => format!("\"{text}\""),
    }
}

#[cfg(test)]
mod tests {
    use super::super::description;
    use super::*;

    fn said(arguments: &[&str]) -> Option<String> {
        let owned: Vec<String> = arguments.iter().map(|&argument| argument.to_owned()).collect();
        let error = description().try_get_matches_from(std::iter::once("tamis").chain(arguments.iter().copied()));
        message(&error.expect_err("refused"), &description(), &owned)
    }

    #[test]
    fn a_flag_that_does_not_exist_leads_to_the_command_for_its_word_and_other_errors_stay() {
        for (arguments, command) in [
            (&["search", "--no-index", "option"][..], "tamis search -- \"--no-index option\""),
            (&["search", "-jar"], "tamis search -- \"-jar\""),
            (&["search", "java", "-jar", "no", "manifest"], "tamis search -- \"java -jar no manifest\""),
            (&["search", "find", "-name", "pattern"], "tamis search -- \"find -name pattern\""),
            (&["search", "-n", "3", "--no-index", "--json", "x"], "tamis search -n 3 --json -- \"--no-index x\""),
            (&["-C", "a b", "search", "-qv3", "--", "-y"], "tamis -C \"a b\" search -- \"-qv3 -y\""),
            (
                &["search", "--no-index=yes", "-n5", "--path=a b"],
                "tamis search -n5 \"--path=a b\" -- \"--no-index=yes\"",
            ),
            (&["recall", "--dry", "run"], "tamis recall -- \"--dry run\""),
            (&["remember", "--dry", "run"], "tamis remember -- \"--dry run\""),
        ] {
            let said = said(arguments).unwrap_or_default();
            assert!(said.ends_with(&format!("\n  {command}")), "{arguments:?}: {said}");
        }
        assert!(said(&["search", "x", "--limt", "5"]).is_some_and(|said| said.contains("did you mean --limit?")));
        assert!(said(&["search", "x", "-json"]).is_some_and(|said| said.contains("-json (did you mean --json?)")));
        for arguments in [&["search", "x", "-n", "many"][..], &["search", "x", "-n0"], &["search"], &["get", "--nope"]]
        {
            assert_eq!(said(arguments), None, "{arguments:?}");
        }
    }

    #[test]
    fn an_argument_with_a_space_is_words() {
        let behind = |typed: &[&str]| {
            let typed: Vec<OsString> = typed.iter().map(OsString::from).collect();
            words_behind(&typed).map(|moved| moved.join(&OsString::from("|")).into_string().expect("text"))
        };
        let told = behind(&["tamis", "search", "--no-index option"]);
        assert_eq!(told.as_deref(), Some("tamis|search|--|--no-index option"));
        let told = behind(&["tamis", "search", "-name a=b", "src", "--json", "--", "x"]);
        assert_eq!(told.as_deref(), Some("tamis|search|src|--json|--|-name a=b|x"));
        assert_eq!(behind(&["tamis", "search", "--since=last year", "x y"]), None);
        assert_eq!(behind(&["tamis", "get", "--no-index option"]), None);
        assert_eq!(behind(&["tamis", "search", "-e", "-5 °C"]), None);
        for query in ["-5 °C", "-5", "--no-index"] {
            let matches = description().try_get_matches_from(["tamis", "search", "-e", query, "src"]).expect("a query");
            let given = matches.subcommand_matches("search").and_then(|search| search.get_one::<String>("given"));
            assert_eq!(given.map(String::as_str), Some(query));
        }
    }
}
