//! Questions that a tree itself gives: the names that it defines, and the messages that it makes.
//!
//! Each asks for something that is written in known files, so nobody has to write down what is expected. Names are taken from the
//! outlines of the tree's files, and messages from the strings of lines that make errors, with values in place of their
//! placeholders. Which ones are taken depends on their text alone.

use crate::answers::Answered;
use crate::index::IndexedTree;
use crate::list::Question;
use anyhow::Result;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use tamis::Index;
use tamis::tree::OutlineRequest;

/// Names and messages that are taken of each tree.
const NAMES: usize = 20;
const MESSAGES: usize = 12;

/// Values for placeholders, in turn.
const VALUES: [&str; 5] = ["/tmp/x.toml", "17", "`alpha`", "example.org", "4096"];

/// Parts of paths of files that are not meant.
const OTHERS: [&str; 5] = ["tests", "benches", "examples", "testing", "test"];

/// Words on lines that make errors.
const ERRORS: [&str; 9] = ["error", "err(", "panic", "expect", "fail", "bail", "cannot", "invalid", "unexpected"];

/// The words around a name or a message.
type Form = (&'static str, &'static str);

const NAME_FORMS: [Form; 3] =
    [("name", "{}"), ("name, where", "where is {} implemented"), ("name, how", "how does {} work")];

const MESSAGE_FORMS: [Form; 4] = [
    ("message", "{}"),
    ("message, prefixed", "error: {}"),
    ("message, why", "why do I get {}"),
    ("message, wrapped", "thread main panicked: {}: No such file or directory (os error 2)"),
];

/// The answers to the questions of one form.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Served {
    /// Questions.
    pub asked: usize,
    /// Those with an expected file first.
    pub first: usize,
    /// Those with one among the first ten.
    pub first_ten: usize,
    /// Those with one among what was kept.
    pub kept: usize,
    /// Those without an answer.
    pub empty: usize,
}

/// The answers to the questions of a tree, by form.
pub type ByForm = BTreeMap<&'static str, Served>;

/// Asks for the names and the messages of a tree of source code. The misses go to `missed`: the question, the expected files, the place.
///
/// # Errors
/// The tree cannot be read, or a search fails.
pub fn ask_exactly(tree: &IndexedTree, missed: &mut Vec<String>) -> Result<ByForm> {
    let index = tree.open()?;
    let mut served = ByForm::new();
    for (form, question) in exact_questions(tree, &index)? {
        let answer = Answered::to(&question, &index)?;
        let served = served.entry(form).or_default();
        served.asked += 1;
        served.first += usize::from(answer.rank == Some(1));
        served.first_ten += usize::from(answer.rank.is_some_and(|rank| rank <= 10));
        served.kept += usize::from(answer.expected_kept);
        served.empty += usize::from(answer.is_empty());
        if answer.rank != Some(1) {
            let place = answer.rank.map_or("not in the pool".to_owned(), |rank| format!("at place {rank}"));
            missed.push(format!("{}: expected {}, {place}", question.ask, question.expect.join(" or ")));
        }
    }
    Ok(served)
}

/// The questions for the names and the messages of a tree of source code, each with its form.
///
/// # Errors
/// The tree cannot be read.
pub fn exact_questions(tree: &IndexedTree, index: &Index) -> Result<Vec<(&'static str, Question)>> {
    let mut questions = Vec::new();
    let mut ask = |form: &'static str, ask: String, expect: &BTreeSet<String>| {
        questions.push((form, Question::answered_by(ask, expect.iter().cloned().collect())));
    };
    let (names, qualified) = names(index)?;
    for (name, files) in taken(names, NAMES) {
        for (form, words) in NAME_FORMS {
            ask(form, words.replace("{}", &name), &files);
        }
    }
    for (name, files) in taken(qualified, NAMES) {
        ask("qualified", name.clone(), &files);
        ask("call", format!("what does {}() return", name.replace("::", ".")), &files);
    }
    for (message, files) in taken(messages(tree, index)?, MESSAGES) {
        for (form, words) in MESSAGE_FORMS {
            ask(form, words.replace("{}", &filled(&message)), &files);
        }
    }
    Ok(questions)
}

/// Returns a table with a row for each form.
#[must_use]
pub fn exact_table(of_trees: &[ByForm]) -> String {
    let mut sums = ByForm::new();
    for (form, served) in of_trees.iter().flatten() {
        let sum = sums.entry(form).or_default();
        sum.asked += served.asked;
        sum.first += served.first;
        sum.first_ten += served.first_ten;
        sum.kept += served.kept;
        sum.empty += served.empty;
    }
    let mut table = format!("{:<20}{:>7}{:>8}{:>8}{:>8}{:>8}\n", "form", "asked", "first", "top 10", "kept", "empty");
    for (form, served) in sums {
        let share = |count: usize| format!("{:.0}%", 100.0 * count as f64 / served.asked.max(1) as f64);
        let Served { asked, first, first_ten, kept, empty } = served;
        let [first, ten, kept, empty] = [first, first_ten, kept, empty].map(share);
        let _ = writeln!(table, "{form:<20}{asked:>7}{first:>8}{ten:>8}{kept:>8}{empty:>8}");
    }
    table
}

/// A question, with the files that answer it.
type Expected = BTreeMap<String, BTreeSet<String>>;

/// The names that a tree defines and that are spelled as names, and the members of its types by their qualified names.
fn names(index: &Index) -> Result<(Expected, Expected)> {
    let outline = index.tree().outline(&OutlineRequest { limit: Some(10_000), ..OutlineRequest::new(".") })?;
    let (mut names, mut qualified) = (Expected::new(), Expected::new());
    for file in outline.files.iter().filter(|file| is_main(&file.path)) {
        let kinds = ["function", "method", "type", "trait", "macro"];
        for symbol in file.entries.iter().filter(|symbol| kinds.contains(&symbol.kind.as_str())) {
            let parts: Vec<&str> = symbol.name.split("::").collect();
            let Some((name, holders)) = parts.split_last() else { continue };
            let plain = name.chars().all(|c| c.is_alphanumeric() || c == '_');
            if plain && is_spelled(name) {
                names.entry((*name).to_owned()).or_default().insert(file.path.clone());
            }
            if let (true, "method", Some(holder)) = (plain, symbol.kind.as_str(), holders.last()) {
                qualified.entry(format!("{holder}::{name}")).or_default().insert(file.path.clone());
            }
        }
    }
    Ok((names, qualified))
}

fn is_main(path: &str) -> bool {
    !path.split('/').any(|part| OTHERS.contains(&part.trim_end_matches(".rs")))
}

/// Returns `true` for an underscore or a capital inside.
fn is_spelled(name: &str) -> bool {
    let name = name.trim_matches('_');
    let humped = name.chars().zip(name.chars().skip(1)).any(|(a, b)| a.is_lowercase() && b.is_uppercase());
    name.contains('_') || humped
}

/// The strings on lines that make errors.
fn messages(tree: &IndexedTree, index: &Index) -> Result<Expected> {
    let mut messages = Expected::new();
    let outline = index.tree().outline(&OutlineRequest { limit: Some(1), ..OutlineRequest::new(".") })?;
    for file in outline.files.iter().filter(|file| is_main(&file.path) && file.language.as_deref() == Some("rust")) {
        let text = fs::read_to_string(tree.root().join(&file.path))?;
        // Tests stand at the end.
        let text = text.split("#[cfg(test)]").next().unwrap_or_default();
        for line in text.lines().filter(|line| is_of_errors(line)) {
            for string in line.split('"').skip(1).step_by(2).filter(|string| is_message(string)) {
                messages.entry(string.to_owned()).or_default().insert(file.path.clone());
            }
        }
    }
    Ok(messages)
}

fn is_of_errors(line: &str) -> bool {
    let line = line.trim().to_lowercase();
    !line.starts_with("//") && !line.contains("\\\"") && ERRORS.iter().any(|word| line.contains(word))
}

/// Returns `true` for a string of three words or more besides its placeholders.
fn is_message(string: &str) -> bool {
    let fixed: Vec<&str> = parts(string).into_iter().filter(|part| !part.starts_with('{')).collect();
    let words = |part: &&str| part.split(|c: char| !c.is_alphabetic()).filter(|word| word.len() > 2).count();
    (12..160).contains(&string.len())
        && string.contains(' ')
        && !string.contains('/')
        && fixed.iter().map(words).sum::<usize>() >= 3
}

/// A message as it would be shown.
fn filled(message: &str) -> String {
    let mut values = VALUES.iter().cycle().skip(message.len() % VALUES.len());
    let part = |part: &str| {
        if part.starts_with('{') { values.next().map_or("", |value| value).to_owned() } else { part.to_owned() }
    };
    parts(message).into_iter().map(part).collect()
}

/// A string divided at its placeholders.
fn parts(string: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = string;
    while let Some(start) = rest.find('{') {
        let Some(length) = rest[start..].find('}') else { break };
        parts.extend([&rest[..start], &rest[start..=start + length]]);
        rest = &rest[start + length + 1..];
    }
    parts.push(rest);
    parts
}

/// Some of what could be asked for, in an order that depends on nothing but the texts.
pub(crate) fn taken(all: Expected, most: usize) -> Vec<(String, BTreeSet<String>)> {
    let hash = |text: &str| {
        text.bytes()
            .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
    };
    let mut all: Vec<(String, BTreeSet<String>)> = all.into_iter().collect();
    all.sort_by_key(|(text, _)| hash(text));
    all.truncate(most);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_filled_and_names_are_known_by_their_spelling() {
        assert_eq!(parts("cannot open {}: {error:?}"), ["cannot open ", "{}", ": ", "{error:?}", ""]);
        let filled = filled("cannot open the file {}: {}");
        assert!(filled.starts_with("cannot open the file ") && !filled.contains('{'), "{filled}");
        assert!(is_message("unknown field {name}, expected {}") && !is_message("{} {}: not {}"));
        assert!(is_spelled("parse_config") && is_spelled("HttpClient") && !is_spelled("open") && !is_spelled("Router"));
        assert!(is_of_errors("    return Err(\"it fails\".into());") && !is_of_errors("// an error"));
    }
}
