//! The right command for a command line that names none: another tool's word for it, a slip, or a bare question.

use super::dashes::{self, quoted};
use super::overview;
use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};

/// Words that people try, with the command that does it here.
const SYNONYMS: [(&str, &str); 35] = [
    ("add", "remember"),
    ("api", "serve"),
    ("ask", "search"),
    ("build", "index"),
    ("cat", "get"),
    ("check", "doctor"),
    ("delete", "forget"),
    ("dups", "duplicates"),
    ("evaluate", "eval"),
    ("find", "search"),
    ("fix", "doctor"),
    ("hooks", "hook"),
    ("info", "status"),
    ("init", "index"),
    ("list", "status"),
    ("ls", "files"),
    ("note", "remember"),
    ("open", "get"),
    ("query", "search"),
    ("read", "get"),
    ("refresh", "index"),
    ("reindex", "index"),
    ("repair", "doctor"),
    ("rg", "grep"),
    ("rm", "forget"),
    ("save", "remember"),
    ("server", "serve"),
    ("set", "config"),
    ("settings", "config"),
    ("show", "get"),
    ("similar", "related"),
    ("symbols", "outline"),
    ("sync", "index"),
    ("update", "index"),
    ("watch", "index --watch"),
];

/// The least likeness of two names for one to be a slip of the other.
const LEAST_LIKENESS: f64 = 0.6;

/// The message for a command line whose first word is not a command, or with a flag that does not exist where words are; `None` for
/// every other error. `arguments` are those that were typed, without the program's name.
pub fn message(error: &clap::Error, description: &Command, arguments: &[String]) -> Option<String> {
    if let Some(message) = file_to_cut(error, arguments).or_else(|| parameter_of_view(error, arguments)) {
        return Some(message);
    }
    if error.kind() != ErrorKind::InvalidSubcommand {
        return dashes::message(error, description, arguments);
    }
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) else { return None };
    let at = arguments.iter().position(|argument| argument == word)?;
    // A command with commands of its own explains itself.
    let is_command = |name: &String| description.find_subcommand(name).is_some();
    if arguments[..at].iter().any(is_command) {
        return None;
    }
    let words: Vec<&str> =
        arguments[at..].iter().map(String::as_str).take_while(|word| !word.starts_with('-')).collect();
    Some(for_words(&words))
}

/// The message for a file given to `tamis cut`, which reads standard input.
fn file_to_cut(error: &clap::Error, arguments: &[String]) -> Option<String> {
    let (ErrorKind::UnknownArgument, Some(ContextValue::String(file))) =
        (error.kind(), error.get(ContextKind::InvalidArg))
    else {
        return None;
    };
    let is_of_cut = arguments.iter().any(|argument| argument == "cut") && !file.starts_with('-');
    let others: Vec<_> = arguments.iter().filter(|argument| *argument != file).map(|one| dashes::shell(one)).collect();
    is_of_cut.then(|| {
        let file = dashes::shell(file);
        format!(
            "`tamis cut` reads standard input; to cut the lines of {file}, type:\n  tamis {} < {file}",
            others.join(" ")
        )
    })
}

/// The message for a parameter of a view that was typed as a flag.
fn parameter_of_view(error: &clap::Error, arguments: &[String]) -> Option<String> {
    let (ErrorKind::UnknownArgument, None, Some(ContextValue::String(flag))) =
        (error.kind(), error.get(ContextKind::SuggestedArg), error.get(ContextKind::InvalidArg))
    else {
        return None;
    };
    let name = flag.strip_prefix("--").filter(|_| arguments.iter().any(|argument| argument == "view"))?;
    Some(format!("there is no flag {flag}; a parameter of the view is given as --param {name}=VALUE"))
}

fn for_words(words: &[&str]) -> String {
    let (word, rest) = words.split_first().map_or(("", &[][..]), |(word, rest)| (*word, rest));
    let lower = word.to_lowercase();
    let synonym = SYNONYMS.iter().find(|(other, _)| *other == lower).map(|(_, command)| *command);
    let is_question = word.contains(char::is_whitespace) || rest.len() > 1;
    let command = match synonym {
        Some(command) => Some(command),
        None if is_question => None,
        None => nearest(&lower),
    };
    let unknown = format!("there is no command {word:?}");
    match command {
        Some("search") if !rest.is_empty() => {
            format!("{unknown}; to search, type:\n  tamis search {}", quoted(&rest.join(" ")))
        }
        Some(command) => format!("{unknown}; did you mean `tamis {command}`? `tamis --help` lists the commands"),
        None => {
            format!("{unknown}; to search for these words, type:\n  tamis search {}", quoted(&words.join(" ")))
        }
    }
}

/// The command that the word is a slip of.
fn nearest(word: &str) -> Option<&'static str> {
    overview::commands()
        .chain(overview::SHORT)
        .map(|name| (strsim::normalized_damerau_levenshtein(word, name), name))
        .filter(|(likeness, _)| *likeness >= LEAST_LIKENESS)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::super::{Arguments, description};
    use super::*;
    use clap::FromArgMatches;

    fn said(arguments: &[&str]) -> Option<String> {
        let owned: Vec<String> = arguments.iter().map(|&argument| argument.to_owned()).collect();
        let typed = std::iter::once("tamis".to_owned()).chain(owned.iter().cloned());
        let error = description().try_get_matches_from(typed).and_then(|found| Arguments::from_arg_matches(&found));
        message(&error.expect_err("not a command"), &description(), &owned)
    }

    #[test]
    fn a_file_to_cut_goes_to_standard_input() {
        let message = said(&["cut", "a b.jsonl", "--score", "_score"]).unwrap_or_default();
        assert!(message.ends_with("\n  tamis cut --score _score < \"a b.jsonl\""), "{message}");
        assert_eq!(said(&["cut", "--nope"]), None);
    }

    #[test]
    fn a_parameter_of_a_view_is_no_flag() {
        let message = said(&["view", "long_claims", "--least", "20"]).unwrap_or_default();
        assert!(message.ends_with("--param least=VALUE"), "{message}");
        assert_eq!(said(&["view", "v_contradictions", "--tasks", "t1"]), None, "a slip");
    }

    #[test]
    fn what_has_another_error_keeps_it() {
        assert_eq!([said(&["search"]), said(&["evidence", "find"])], [None, None]);
    }

    #[test]
    fn every_synonym_leads_to_a_command_and_is_none_itself() {
        for (word, command) in SYNONYMS {
            let command = command.split(' ').next().unwrap_or_default();
            assert!(overview::commands().chain(overview::SHORT).any(|name| name == command), "{command}");
            assert!(description().find_subcommand(word).is_none(), "{word}");
        }
    }
}
