//! Texts that say little (headings, signatures and preambles without what belongs below them, comments in discussions that say
//! nothing), and whether a question asks for code or for a guide.

use crate::QueryNames;
use crate::query_names::{for_each_word, has_inner_capital, is_minor};

/// The longest text that is looked at, in bytes. Longer ones say something.
const LONGEST: usize = 300;

/// Returns `true` if a section is its heading alone. `heading` is the path of headings, joined by ` > `. O(length).
///
/// ```
/// use tamis_rank::is_heading_alone;
///
/// assert!(is_heading_alone("## Behaviour changes\n", "Guide > Behaviour changes"));
/// assert!(!is_heading_alone("## Behaviour changes\n\nNone yet.", "Guide > Behaviour changes"));
/// ```
pub fn is_heading_alone(text: &str, heading: &str) -> bool {
    let letters = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).collect::<String>();
    let is_part = |line: &str| {
        let marks = line.len() - line.trim_start_matches('#').len();
        let line_letters = letters(line);
        (1..=6).contains(&marks) && line[marks..].starts_with(' ')
            || line_letters.is_empty()
            || line_letters == letters(heading)
            || heading.split(" > ").any(|part| letters(part) == line_letters)
    };
    text.len() <= LONGEST && !text.trim().is_empty() && text.lines().map(str::trim).all(is_part)
}

/// Returns `true` if the code of a function is its signature alone, without a body and without a comment: `fn open();`. O(length).
///
/// ```
/// use tamis_rank::is_signature_alone;
///
/// assert!(is_signature_alone("fn open(&self, path: &Path) -> Result<File>;"));
/// assert!(!is_signature_alone("/// Opens a file.\nfn open(&self, path: &Path) -> Result<File>;"));
/// assert!(!is_signature_alone("fn len(&self) -> usize { self.len }"));
/// ```
pub fn is_signature_alone(text: &str) -> bool {
    let text = text.trim();
    let comments = ["//", "/*", "*", "#", "--", "\"\"\"", "'''", "%"];
    let is_comment = |line: &str| comments.iter().any(|mark| line.starts_with(mark)) && !line.starts_with("#[");
    if text.len() > LONGEST || !text.contains('(') || text.lines().any(|line| is_comment(line.trim())) {
        return false;
    }
    let without_end = |end: &str| text.strip_suffix(end).map(str::trim_end);
    let signature = without_end("{}").or_else(|| without_end("{ }")).or_else(|| without_end(";"));
    let stub = || without_end("...").or_else(|| without_end("pass")).and_then(|text| text.strip_suffix(':'));
    // A string is what SQL and a default value have.
    let has_body = |text: &str| text.contains(['{', ';', '"', '\'', '`', '$']) || text.contains("=>");
    signature.or_else(stub).is_some_and(|signature| !has_body(&signature.replace("'_", "").replace("&'", "&")))
}

/// Returns `true` if code only names what it needs from elsewhere, or is the guard of a header: `#include <stdio.h>`, `use std::fs;`.
/// O(length).
///
/// ```
/// use tamis_rank::is_preamble_alone;
///
/// assert!(is_preamble_alone("#ifndef QUEUE_H\n#define QUEUE_H\n#include <stdio.h>"));
/// assert!(is_preamble_alone("from queue import (\n    Job,\n    retry,\n)\nimport os"));
/// assert!(!is_preamble_alone("#define MOST_RETRIES 5"));
/// assert!(!is_preamble_alone("//! Retries jobs.\nuse std::fs;"));
/// ```
pub fn is_preamble_alone(code: &str) -> bool {
    let (mut open, mut any) = (0_usize, false);
    for line in code.lines().map(str::trim).filter(|line| !line.is_empty()) {
        if open == 0 && !is_preamble(line) {
            return false;
        }
        any = true;
        open = (open + line.matches(['(', '{']).count()).saturating_sub(line.matches([')', '}']).count());
    }
    any
}

/// Returns `true` for the first line of a statement that names what a file needs from elsewhere.
fn is_preamble(line: &str) -> bool {
    const BEGINNINGS: [&str; 17] = [
        "#include", "#import", "#ifndef ", "#ifdef ", "#if ", "#endif", "#pragma once", "import ", "use ",
        "extern crate ", "package ", "using ", "require ", "require(", "require_relative ", "'use strict'",
        "\"use strict\"",
    ];
    let is_guard = || line.starts_with("#define ") && line.split_whitespace().count() == 2;
    let is_python = || line.starts_with("from ") && line.contains(" import");
    let is_node =
        || ["const ", "let ", "var "].iter().any(|start| line.starts_with(start)) && line.contains("= require(");
    BEGINNINGS.iter().any(|beginning| line.starts_with(beginning)) || is_guard() || is_python() || is_node()
}

// Comments in discussions that say nothing.

/// The longest text that is looked at, in bytes. Longer ones say something.
const LONGEST_COMMENT: usize = 300;

/// Most words of a comment that says nothing whatever the query is: "same here".
const FEW_WORDS: usize = 2;

/// Most words of a comment that says nothing unless it has a word of the query, and of one that also refers to something else.
const SOME_WORDS: usize = 5;
const SOME_WORDS_WITH_REFERENCE: usize = 7;

/// Returns `true` if a comment in a discussion says nothing: a vote, a sign of presence ("+1", "same here", "any update?"), a bare
/// reference ("Closing in favour of #12"). O(length).
///
/// No list of phrases decides this, but the number of words besides references. A few words say something if one of them is a value or
/// a piece of code, or a word of the query that is not in the title, which all comments have in common.
///
/// ```
/// use tamis_rank::is_empty_comment;
///
/// let says_nothing = |text| is_empty_comment(text, "Cache is stale", "stale results after an upgrade");
/// assert!(says_nothing("+1") && says_nothing("Any update on this?") && says_nothing("Closing in favour of #12."));
/// assert!(!says_nothing("Set `cache.ttl` to 0") && !says_nothing("only after an upgrade"));
/// ```
pub fn is_empty_comment(text: &str, title: &str, query: &str) -> bool {
    let text = text.trim();
    if text.is_empty() || text.len() > LONGEST_COMMENT || text.contains('`') {
        return false;
    }
    let (mut words, mut refers) = (Vec::new(), false);
    for term in text.split_whitespace() {
        if is_reference(term) {
            refers = true;
        } else if is_content(term) {
            return false;
        } else if term.chars().any(char::is_alphabetic) {
            words.push(term);
        }
    }
    let count: usize = words.iter().map(|word| length_in_words(word)).sum();
    let most = if refers { SOME_WORDS_WITH_REFERENCE } else { SOME_WORDS };
    count <= FEW_WORDS || count <= most && !adds(&words, title, query)
}

/// Returns `true` if one of the words is in the query and not in the title.
fn adds(words: &[&str], title: &str, query: &str) -> bool {
    let content = |text: &str| {
        let mut found: Vec<String> = Vec::new();
        for_each_word(text, |word| {
            let word = word.to_lowercase();
            if !is_minor(&word) && word.chars().count() > 2 {
                found.push(word);
            }
            true
        });
        found
    };
    let (query, title) = (content(query), content(title));
    content(&words.join(" ")).iter().any(|word| query.contains(word) && !title.contains(word))
}

/// `#12`, `owner/repo#12`, `ABC-12`, `@name`, an address, the hash of a commit.
fn is_reference(term: &str) -> bool {
    let term = term.trim_matches(|c: char| !c.is_alphanumeric() && !"#@/".contains(c));
    let numbered = |mark: char| {
        term.rsplit_once(mark).filter(|(_, number)| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
    };
    let is_key = |key: &str| key.len() > 1 && key.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit());
    let is_hash = (7..=40).contains(&term.len())
        && term.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
        && term.bytes().any(|b| b.is_ascii_digit());
    term.contains("://")
        || term.starts_with('@')
        || numbered('#').is_some()
        || numbered('-').is_some_and(|(key, _)| is_key(key))
        || is_hash
}

/// A value or a piece of code: `v2`, `1.4`, `--force`, `retry_limit`, `src/main`, `isOpen()`.
fn is_content(term: &str) -> bool {
    let inner = term.trim_matches(|c: char| !c.is_alphanumeric());
    let digits = inner.bytes().any(|b| b.is_ascii_digit());
    // `+1` and `-1` are votes.
    let votes = term.trim_end_matches(['.', '!', ',']).strip_prefix(['+', '-']);
    let is_vote = votes.is_some_and(|votes| !votes.is_empty() && votes.bytes().all(|b| b.is_ascii_digit()));
    let is_flag = term.strip_prefix('-').is_some_and(|flag| flag.starts_with(|c: char| c == '-' || c.is_alphabetic()));
    (digits && !is_vote)
        || (is_flag && !inner.is_empty())
        || inner.contains(['_', '=', '/', '\\', '.', ':', '(', '<', '{', '$'])
        || has_inner_capital(inner)
}

/// The number of words that a term counts for. Chinese, Japanese and Thai put no spaces between words of about two letters.
fn length_in_words(term: &str) -> usize {
    let unspaced = |c: &char| matches!(u32::from(*c), 0x0E00..=0x0EFF | 0x3040..=0x30FF | 0x3400..=0x9FFF | 0xF900..=0xFAFF | 0x20000..=0x3FFFF);
    term.chars().filter(unspaced).count().div_ceil(2).max(1)
}

// Whether a question asks for code or for a guide.
//
// Plain words alone never ask for code. "Where is the retry limit checked" is as often answered by a guide, so ranking
// documentation down would bury as many answers as it lifts.

/// What a question asks for by its wording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lean {
    /// Code: the question has an identifier.
    Code,
    /// Instructions: "how do I …", "guide", "configure".
    Guide,
    /// Both: "how do I use `WalkBuilder`".
    Both,
}

/// Words in a row that ask for instructions.
const GUIDE: &[&str] = &[
    "configure", "configuring", "docs", "documentation", "get started", "getting started", "guide", "how can i",
    "how can we", "how can you", "how do i", "how do we", "how do you", "how to", "install", "installation",
    "installing", "manual", "quickstart", "set up", "setting up", "tutorial",
];

/// Most words of a query that are read.
const MOST_WORDS: usize = 64;

impl Lean {
    /// Its name: `code`, `guide` or `both`.
    pub fn name(self) -> &'static str {
        match self {
            Lean::Code => "code",
            Lean::Guide => "guide",
            Lean::Both => "both",
        }
    }

    /// Reads a query; `names` are its own. `None` if it asks for neither. O(its length).
    ///
    /// ```
    /// use tamis_rank::{Lean, QueryNames};
    ///
    /// let lean = |query: &str| Lean::from_query(query, &QueryNames::from_query(query));
    /// assert_eq!(lean("who calls parse_config"), Some(Lean::Code));
    /// assert_eq!(lean("How do I change the port?"), Some(Lean::Guide));
    /// assert_eq!(lean("where is the retry limit checked"), None);
    /// ```
    pub fn from_query(query: &str, names: &QueryNames) -> Option<Lean> {
        let words = query.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).take(MOST_WORDS);
        let words: Vec<String> = words.map(str::to_lowercase).collect();
        let text = format!(" {} ", words.join(" "));
        let guide = GUIDE.iter().any(|phrase| text.contains(&format!(" {phrase} ")));
        match (names.has_identifier(), guide) {
            (true, false) => Some(Lean::Code),
            (false, true) => Some(Lean::Guide),
            (true, true) => Some(Lean::Both),
            (false, false) => None,
        }
    }
}

/// The factor on the ranking value of documentation where a question asks for code, and of code where it asks for a guide.
pub const LEAN_FACTOR: f64 = 0.8;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn headings_without_text_are_known_in_every_markup() {
        for (text, heading) in [
            ("# Guide\n\n## Install", "Guide > Install"),
            ("Install\n=======", "Guide > Install"),
            ("== Install\n", "Guide > Install"),
            ("## Install {#install}", "Guide > Install"),
            ("Crash at start > resume", "Crash at start > resume"),
        ] {
            assert!(is_heading_alone(text, heading), "{text}");
        }
        for text in ["# Guide\n\nInstall it.", "#define X", "", "Installed\n======", "#!/bin/sh"] {
            assert!(!is_heading_alone(text, "Guide > Install"), "{text}");
        }
    }

    #[test]
    fn preambles_hold_nothing_but_what_comes_from_elsewhere() {
        for code in [
            "#include <assert.h>\n\n#include \"compile.h\"",
            "import fs from 'fs'\nconst path = require('path')",
            "use std::{\n    fs,\n    io,\n};",
            "from a import b",
        ] {
            assert!(is_preamble_alone(code), "{code}");
        }
        for code in
            ["", "#include <a.h>\nint a;", "use std::fs;\nfn main() {}", "#define A 1", "from = 3", "// a\nimport b"]
        {
            assert!(!is_preamble_alone(code), "{code}");
        }
    }

    #[test]
    fn signatures_have_no_body_and_no_comment() {
        for text in [
            "int open(char *path,\n   int flags);", "virtual void f() const noexcept = 0;",
            "#[must_use]\nfn name(&self) -> &str;", "fn f(_: Formatter<'_>) {}", "def f(x: int) -> str: ...",
            "def f(self):\n    pass",
        ] {
            assert!(is_signature_alone(text), "{text}");
        }
        for text in [
            "int a(); int b();", "int Size() => 3;", "const LIMIT: u32 = 5;", "f(x) { return x; }",
            "def f():\n  \"\"\"Opens.\"\"\"\n  pass", "CREATE FUNCTION a() AS $$ select 1 $$;", "",
        ] {
            assert!(!is_signature_alone(text), "{text}");
        }
    }

    #[test]
    fn comments_of_presence_and_references_say_nothing() {
        let query = "network does not come up after resume";
        for text in [
            "+1", "-1!", "👍", "Same here.", "me too", "any update?", "Any updates on this?",
            "I have the same problem", "cc @ada @bob", "Duplicate of #12", "Closing as duplicate of owner/repo#12.",
            "See https://example.org/a/b?c=d", "Siehe ABC-123", "Fixed in 1f09ab3c", "我也遇到了", "同样的问题",
        ] {
            assert!(is_empty_comment(text, "Network is down", query), "{text}");
        }
        for text in [
            "Set `x` to y",
            "Fixed in 1.4.2",
            "Use --force",
            "Edit retry_limit",
            "only after resume",
            "Restart the network and log in again",
            "重启服务器即可解决这个问题",
            "See src/main.rs",
            "",
        ] {
            assert!(!is_empty_comment(text, "Network is down", query), "{text}");
        }
        assert!(is_empty_comment("The network is down", "Network is down", query), "the title says so");
    }

    proptest! {
        #[test]
        fn any_text_is_judged(text in "\\PC{0,80}", other in "[#a-c >\n=(){};.]{0,30}") {
            is_heading_alone(&other, &text);
            is_signature_alone(&text);
            is_preamble_alone(&text);
            is_signature_alone(&other);
            let is_line = !other.trim().is_empty() && !other.contains('\n');
            prop_assert!(!is_line || is_heading_alone(&other, &other), "a heading is its own");
        }

        #[test]
        fn a_long_comment_says_something(text in "\\PC{0,80}", words in prop::collection::vec("[a-z]{3,8}", 8..40)) {
            is_empty_comment(&text, &text, &text);
            prop_assert!(!is_empty_comment(&words.join(" "), &text, &text));
        }
    }

    #[test]
    fn identifiers_ask_for_code_and_whole_words_for_a_guide() {
        let lean = |query: &str| Lean::from_query(query, &QueryNames::from_query(query));
        assert_eq!(lean("how do I use WalkBuilder"), Some(Lean::Both));
        assert_eq!(lean("where is Pool.open defined"), Some(Lean::Code));
        assert_eq!(lean("which function opens the socket"), None, "plain words");
        assert_eq!(lean("installation on Windows"), Some(Lean::Guide));
        assert_eq!([lean("reinstallation on Windows"), lean("")], [None, None]);
    }
}
