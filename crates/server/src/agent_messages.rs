//! Turns messages of the library into messages for agents.
//!
//! The library writes for people at a command line. An agent that reads "run `tamis index`" has none, or should not use it. So
//! its messages name tools, and ask it to have the user run commands.

use tamis::Error;
use tamis_store::StoreError;

/// The message of an error, with a remedy for an agent, and the names given by others that it ends with.
pub(crate) fn for_error(error: Error) -> (String, Vec<String>) {
    let (error, names) = match error {
        Error::NotFound { wanted, nearest } => (Error::NotFound { wanted, nearest: None }, Vec::from_iter(nearest)),
        Error::Ambiguous { wanted, forms } => {
            return (format!("{wanted}: in {} namespaces; say in which", forms.len()), forms);
        }
        error => (error, Vec::new()),
    };
    let said = error.to_string();
    let advice = match error {
        Error::NotFound { .. } => "; `search` returns valid ids, and `get_status` lists the namespaces",
        Error::Store(
            StoreError::Sql { .. }
            | StoreError::Invalid { .. }
            | StoreError::Glob { .. }
            | StoreError::Unavailable { .. },
        ) => "",
        Error::Store(StoreError::Busy { .. } | StoreError::WriterLost { .. }) => "; try again in a moment",
        Error::Store(_) | Error::Path { .. } | Error::IndexDirectory { .. } | Error::Config(_) | Error::Embed(_) => {
            "; no tool here can fix this: tell the user"
        }
        _ => "",
    };
    let nearest = if names.is_empty() { "" } else { ". The nearest there is" };
    (for_agent(&format!("{said}{advice}{nearest}")), names)
}

/// A message that asks the user to run the commands in it.
pub(crate) fn for_agent(message: &str) -> String {
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
        // Flags of the command itself stand inside its backticks.
        bare |= has_flag(part.split_once('`').map_or("", |(_, after)| after));
    }
    if bare && !out.ends_with(REMARK) {
        out.push_str(REMARK);
    }
    out
}

const REMARK: &str = " (commands and flags are for the user: ask the user)";

/// True if a text names a flag, such as `--index`.
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
    fn commands_are_left_to_the_user() {
        for (message, expected) in [
            (
                "covers 12 of 90 passages; run `tamis index` first",
                "covers 12 of 90 passages; ask the user to run `tamis index` first",
            ),
            ("x; run `tamis index --remove app`", "x; ask the user to run `tamis index --remove app`"),
            (
                "put it elsewhere with --index DIR",
                "put it elsewhere with --index DIR (commands and flags are for the user: ask the user)",
            ),
            (
                "`tamis feedback --list` shows them",
                "`tamis feedback --list` shows them (commands and flags are for the user: ask the user)",
            ),
            ("limit = 0: must be 1 to 50", "limit = 0: must be 1 to 50"),
            ("SELECT 1 -- a remark", "SELECT 1 -- a remark"),
        ] {
            assert_eq!(for_agent(message), expected);
            assert_eq!(for_agent(expected), expected, "a second time changes nothing");
        }
    }

    #[test]
    fn an_error_names_the_tool_that_helps_or_says_that_none_does() {
        let missing = Error::NotFound { wanted: "x.md".into(), nearest: None };
        assert!(for_error(missing).0.contains("`search`"));
        let broken = Error::Store(StoreError::Missing { path: "/x".into() });
        assert!(for_error(broken).0.ends_with("tell the user"));
    }
}
