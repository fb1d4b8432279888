//! Messages for an agent: what it can do with its tools, and commands only as something to ask the user for.
//!
//! The library's messages are written for people, who have a command line. An agent that reads "run `tamis index`" has
//! none, or should not use it.

use tamis::Error;
use tamis::store::StoreError;

/// What to do about an error, for one who has tools and no command line.
pub(crate) fn of(error: &Error) -> String {
    let said = error.to_string();
    let advice = match error {
        Error::NotFound { .. } => "; `search` gives the ids of what is there, `get_status` the namespaces",
        Error::Store(StoreError::Sql { .. } | StoreError::Invalid { .. } | StoreError::Glob { .. }) => "",
        Error::Store(StoreError::Busy { .. }) => "; try again in a moment",
        Error::Store(_) | Error::Path { .. } | Error::IndexDirectory { .. } | Error::Config(_) | Error::Embed(_) => {
            "; no tool here can mend this: tell the user"
        }
        _ => "",
    };
    addressed(&format!("{said}{advice}"))
}

/// A message in which commands are named as something to ask the user for.
pub(crate) fn addressed(message: &str) -> String {
    const COMMAND: &str = "`tamis ";
    const RUN: &str = "run ";
    const ASK: &str = "ask the user to run ";
    let mut parts = message.split(COMMAND);
    let mut out = parts.next().unwrap_or_default().to_owned();
    let mut bare = has_flag(&out);
    for part in parts {
        if out.ends_with(RUN) && !out.ends_with(ASK) {
            out.truncate(out.len() - RUN.len());
            out.push_str(ASK);
        }
        bare |= !out.ends_with(ASK);
        out.push_str(COMMAND);
        out.push_str(part);
        // Flags of the command itself are named with it.
        bare |= has_flag(part.split_once('`').map_or("", |(_, after)| after));
    }
    if bare && !out.ends_with(REMARK) {
        out.push_str(REMARK);
    }
    out
}

const REMARK: &str = " (commands and flags are the user's: ask for them)";

/// Whether a text names a flag, such as `--index`.
fn has_flag(text: &str) -> bool {
    text.split_whitespace().any(|word| {
        let word = word.trim_start_matches(['`', '(', '"']);
        word.strip_prefix("--").is_some_and(|name| name.starts_with(|first: char| first.is_ascii_lowercase()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_something_to_ask_the_user_for() {
        for (message, told) in [
            (
                "covers 12 of 90 passages; run `tamis index` first",
                "covers 12 of 90 passages; ask the user to run `tamis index` first",
            ),
            ("x; run `tamis index --remove app`", "x; ask the user to run `tamis index --remove app`"),
            (
                "put it elsewhere with --index DIR",
                "put it elsewhere with --index DIR (commands and flags are the user's: ask for them)",
            ),
            (
                "`tamis feedback --list` shows them",
                "`tamis feedback --list` shows them (commands and flags are the user's: ask for them)",
            ),
            ("limit = 0: must be 1 to 50", "limit = 0: must be 1 to 50"),
            ("SELECT 1 -- a remark", "SELECT 1 -- a remark"),
        ] {
            assert_eq!(addressed(message), told);
            assert_eq!(addressed(told), told, "twice is once");
        }
    }

    #[test]
    fn an_error_says_which_tool_helps_or_that_none_does() {
        let missing = Error::NotFound { wanted: "x.md".into(), nearest: None };
        assert!(of(&missing).contains("`search`"));
        let broken = Error::Store(StoreError::Missing { path: "/x".into() });
        assert!(of(&broken).ends_with("tell the user"));
    }
}
