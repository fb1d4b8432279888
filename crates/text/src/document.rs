//! The result of reading a file: a [`Document`] and its [`Passage`]s.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::languages::Category;
use crate::{Role, decode};

// Enums that are stored and printed by name: one list of names serves `as_str`, `FromStr`, `Display` and serde alike.

/// A name that does not belong to any variant.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no {what} is called `{value}`; one of: {}", expected.join(", "))]
pub struct UnknownName {
    /// The kind of thing named, for example `role`.
    pub what: &'static str,
    /// The name that was given.
    pub value: String,
    /// The valid names.
    pub expected: &'static [&'static str],
}

/// Declares a fieldless enum together with the name of each variant.
macro_rules! named {
    (
        $(#[$outer:meta])*
        $name:ident is a $what:literal {
            $( $(#[$inner:meta])* $variant:ident = $text:literal, )+
        }
    ) => {
        $(#[$outer])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        pub enum $name {
            $( $(#[$inner])* #[serde(rename = $text)] $variant, )+
        }

        impl $name {
            /// Every variant, in the order of declaration.
            pub const ALL: &'static [$name] = &[$($name::$variant),+];
            /// The name of every variant, in the same order.
            pub const NAMES: &'static [&'static str] = &[$($text),+];

            /// The name under which this is stored and printed.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                Self::NAMES[self as usize]
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.pad(self.as_str())
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::UnknownName;

            fn from_str(value: &str) -> Result<Self, Self::Err> {
                let named = Self::ALL.iter().find(|one| one.as_str() == value).copied();
                named.ok_or_else(|| $crate::UnknownName {
                    what: $what,
                    value: value.to_owned(),
                    expected: Self::NAMES,
                })
            }
        }
    };
}
pub(crate) use named;

/// Options for dividing a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// The largest passage, in estimated tokens (see [`crate::estimate_tokens`]). A symbol, section or window above it
    /// is divided into pieces of about equal size. Values under 32 count as 32.
    pub max_tokens: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { max_tokens: 400 }
    }
}

/// The smallest limit that leaves room for a sentence.
pub const MIN_TOKENS: usize = 32;

impl Options {
    /// The largest passage, at least [`MIN_TOKENS`].
    pub(crate) fn limit(&self) -> usize {
        self.max_tokens.max(MIN_TOKENS)
    }
}

/// One file, read.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Document {
    /// Canonical lowercase name of the language; `None` if neither the name nor the first line identifies it.
    pub language: Option<&'static str>,
    /// Program text, prose or data.
    pub category: Category,
    /// The role of the file as a whole; a passage may have another (unit tests inside a source file).
    pub role: Role,
    /// The document's own name for itself: a first heading, a front-matter title, the first line of a module's
    /// documentation.
    pub title: Option<String>,
    /// Severity of its subject, from the front matter's `severity` in lower case: `critical`, `major`, …
    pub severity: Option<String>,
    /// Its own date in nanoseconds since 1970, if its text or its name states one: of an issue's last change, of a
    /// dated note.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dated_ns: Option<i64>,
    /// Further properties, by name and value: the `state` of an issue, each `label`. A name can occur several times.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub attributes: Vec<(String, String)>,
    /// Remarks on the reading that a person may want to see.
    pub notes: Vec<Note>,
    /// The passages, in the order of the file. Every non-blank line is in exactly one of them, except that a single
    /// line too long for one passage is spread over several.
    pub passages: Vec<Passage>,
}

impl Document {
    /// The collection this document belongs to unless the user says otherwise: `docs` for prose, `code` for the rest.
    #[must_use]
    pub fn collection(&self) -> &'static str {
        match self.category {
            Category::Prose => "docs",
            Category::Code | Category::Data => "code",
        }
    }

    /// The document with all its text in the form that texts are compared in ([`plain`](crate::plain())).
    #[must_use]
    pub fn into_plain(mut self) -> Document {
        let change = |text: &mut String| {
            let changed = match decode::plain(text) {
                Cow::Owned(changed) => changed,
                Cow::Borrowed(_) => return,
            };
            *text = changed;
        };
        self.title.iter_mut().for_each(change);
        for passage in &mut self.passages {
            change(&mut passage.text);
            [&mut passage.symbol, &mut passage.heading, &mut passage.context].into_iter().flatten().for_each(change);
        }
        self
    }
}

/// A contiguous part of a document: the unit of search and of results.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Passage {
    /// First line, counted from 1.
    pub start_line: u32,
    /// Last line, inclusive.
    pub end_line: u32,
    /// Its kind.
    pub kind: Kind,
    /// The symbol, qualified the way its language writes it: `Store::open`, `Store.open`. A group of small
    /// declarations lists its symbols, separated by `, `; [`Passage::symbols`] takes them apart.
    pub symbol: Option<String>,
    /// The heading path, outermost first: `Guide > Install`. For issues and their comments, the whole title.
    pub heading: Option<String>,
    /// Context that the text lacks: the signature of the enclosing type, and for the later pieces of a divided
    /// symbol its own signature, or the header of a divided table. One a line.
    pub context: Option<String>,
    /// A fingerprint of the symbol's signature, 16 hexadecimal digits; `None` without a symbol.
    ///
    /// It stays the same as long as the signature does: white space, comments, attributes and the body do not count. It
    /// distinguishes overloads, and the methods that two traits or interfaces require of one type. A group of
    /// declarations has one fingerprint of all their signatures, and the pieces of a divided symbol share one.
    pub signature: Option<String>,
    /// The lines themselves, with `\n` line ends whatever the file uses, and no line end after the last.
    pub text: String,
    /// Its role.
    pub role: Role,
    /// What it has of its own, apart from its document.
    #[serde(flatten)]
    pub own: OwnProperties,
}

/// What a passage has of its own, apart from its document.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct OwnProperties {
    /// Its author, if it has a single one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// Its own date in nanoseconds since 1970, if it differs from the document's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dated_ns: Option<i64>,
    /// Its language, if it differs from the document's: that of the code in a notebook.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// Its part of a document that has parts, from 0: 0 for the body of an issue, 1 for its
    /// first comment. The passages of a long part share its number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part: Option<u32>,
}

impl Document {
    /// Gives the document a role, and those of its passages that had the document's or the usual one.
    pub fn set_role(&mut self, role: Role) {
        let before = std::mem::replace(&mut self.role, role);
        let passages = self.passages.iter_mut();
        passages
            .filter(|passage| passage.role == before || passage.role == Role::Main)
            .for_each(|passage| passage.role = role);
    }
}

impl Passage {
    /// The text that is embedded and hashed: the passage's text, after the parts of its heading path, symbol and context
    /// that it does not contain itself.
    ///
    /// The path and the line numbers are left out, so that moving a file or a function within it changes nothing.
    #[must_use]
    pub fn embedded_text(&self) -> Cow<'_, str> {
        let parts = [&self.heading, &self.symbol, &self.context].map(|part| part.as_deref());
        embedded_text(self.kind.as_str(), parts, &self.text)
    }

    /// The symbols of this passage, one by one.
    pub fn symbols(&self) -> impl Iterator<Item = &str> {
        self.symbol.as_deref().into_iter().flat_map(|symbol| symbol.split(SYMBOL_SEPARATOR))
    }
}

/// Returns the text of a passage after the parts of its heading path, symbol and context that it does not contain itself; see
/// [`Passage::embedded_text`]. `kind` is the name of its [`Kind`].
#[must_use]
pub fn embedded_text<'t>(kind: &str, [heading, symbol, context]: [Option<&str>; 3], text: &'t str) -> Cow<'t, str> {
    let mut head = String::new();
    if let Some(heading) = heading {
        let contains = |part: &str| text.lines().take(HEADING_LINES).any(|line| line.contains(part));
        // A title is one unit, whatever separators it holds.
        let titled = [Kind::Issue, Kind::PullRequest, Kind::Comment, Kind::Review, Kind::Commit].map(Kind::as_str);
        let parts: Vec<&str> =
            if titled.contains(&kind) { vec![heading] } else { heading.split(HEADING_SEPARATOR).collect() };
        let missing: Vec<_> = parts.into_iter().filter(|part| !contains(part)).collect();
        if !missing.is_empty() {
            push_line(&mut head, &missing.join(HEADING_SEPARATOR));
        }
    }
    let context = context.unwrap_or_default();
    if let Some(symbol) = symbol {
        let contains = |part: &str| text.contains(part) || context.contains(part);
        if !symbol.split([':', '.', '#', '\\', ',', ' ']).all(contains) {
            push_line(&mut head, symbol);
        }
    }
    if !context.is_empty() {
        push_line(&mut head, context);
    }
    if head.is_empty() {
        return Cow::Borrowed(text);
    }
    head.push_str(text);
    Cow::Owned(head)
}

/// Between two headings of a path.
pub const HEADING_SEPARATOR: &str = " > ";

/// Longest heading path, in characters.
pub const HEADING_LENGTH: usize = 300;

/// Between the symbols that share a passage.
pub const SYMBOL_SEPARATOR: &str = ", ";

/// Between the parts of a qualified name, in all languages.
pub const NAME_SEPARATORS: [&str; 5] = ["::", ".", "#", "/", "\\"];

/// Lines of a passage that can hold its own headings: some without a body may come before the last.
const HEADING_LINES: usize = 8;

fn push_line(text: &mut String, line: &str) {
    text.push_str(line);
    text.push('\n');
}

/// A remark on the reading of a file that a person may want to see. None of these is an error: the document is
/// complete.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "note", rename_all = "snake_case")]
pub enum Note {
    /// The file is not UTF-8 and was read in the named encoding.
    Decoded {
        /// The encoding's name in the WHATWG Encoding Standard, for example `windows-1252`, or `UTF-32LE` or `UTF-32BE`.
        encoding: &'static str,
    },
    /// Some bytes mean nothing in the encoding and became U+FFFD.
    LossyDecoding {
        /// Number of replacement characters.
        replaced: usize,
    },
    /// The parser gave up or made little of it; the file was divided by lines.
    NotParsed {
        /// The language that was tried.
        language: &'static str,
        /// The reason.
        reason: ParseFailure,
    },
    /// Parsed with errors on 5 lines in 100 or more; symbols in the broken parts may be missing, their lines are not.
    PartlyParsed {
        /// The language.
        language: &'static str,
        /// Lines in which the parser found an error.
        lines: usize,
    },
    /// The file is too large to read as a whole. Its beginning and its most telling lines were read.
    Part {
        /// Number of lines that were read.
        read: usize,
        /// Number of all its lines.
        lines: usize,
    },
    /// An invalid date, such as the 30th of February. It was ignored.
    UnreadableDate {
        /// The key of the front matter that gives it; `None`: the file's name does.
        key: Option<String>,
        /// Its value, cut to 80 characters.
        value: String,
    },
}

/// The reason for dividing a file by lines although its language has a grammar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ParseFailure {
    /// Too large a part of it is not valid in the language.
    TooManyErrors,
    /// It took more steps than its length is worth, or more time or memory than any file may.
    TooMuchWork,
    /// This build leaves out the grammar of the language.
    NotBuilt,
}

impl fmt::Display for Note {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Part { read, lines } => {
                write!(formatter, "too large to read as a whole: {read} of {lines} lines were read")
            }
            Self::Decoded { encoding } => write!(formatter, "not UTF-8, read as {encoding}"),
            Self::LossyDecoding { replaced } => {
                write!(formatter, "{replaced} unreadable byte sequences were replaced")
            }
            Self::NotParsed { language, reason: ParseFailure::TooManyErrors } => {
                write!(formatter, "most of it does not parse as {language}, divided by lines")
            }
            Self::NotParsed { language, reason: ParseFailure::TooMuchWork } => {
                write!(formatter, "takes the {language} parser too much time or memory, divided by lines")
            }
            Self::NotParsed { language, reason: ParseFailure::NotBuilt } => {
                write!(formatter, "this build leaves out the grammar of {language}, divided by lines")
            }
            Self::PartlyParsed { language, lines: 1 } => write!(formatter, "one line does not parse as {language}"),
            Self::PartlyParsed { language, lines } => {
                write!(formatter, "{lines} lines do not parse as {language}")
            }
            Self::UnreadableDate { key: Some(key), value } => {
                write!(formatter, "`{key}: {value}` in the front matter was ignored, since it is not a date")
            }
            Self::UnreadableDate { key: None, value } => {
                write!(formatter, "`{value}` in the name was ignored, since it is not a date")
            }
        }
    }
}

// The kinds of passages.

named! {
    /// The kind of a passage: a symbol of code, a part of a text, or plain lines.
    Kind is a "kind" {
        /// A free function, or a group of declarations without bodies.
        Function = "function",
        /// A function inside a type, trait, class or implementation.
        Method = "method",
        /// A struct, class, enum, union, record or type alias: its head and fields, without its methods.
        Type = "type",
        /// A trait or an interface: its head and signatures, without default methods.
        Trait = "trait",
        /// Constants, statics and top-level assignments; small neighbours share a passage.
        Constant = "constant",
        /// A macro definition.
        Macro = "macro",
        /// Code between the symbols: imports, top-level statements, the opening of a module.
        Module = "module",
        /// Text under a heading.
        Section = "section",
        /// Paragraphs without a heading.
        Paragraph = "paragraph",
        /// The metadata block in front of a Markdown document.
        FrontMatter = "front_matter",
        /// Lines of a file whose structure is not read.
        Lines = "lines",
        /// The body of an issue, with its title.
        Issue = "issue",
        /// The body of a pull request or merge request, with its title.
        PullRequest = "pull_request",
        /// A comment on an issue or a pull request.
        Comment = "comment",
        /// A review of a pull request, or a remark on its lines.
        Review = "review",
        /// The message of a commit, with the paths that it touched.
        Commit = "commit",
        /// Lines of a note.
        Note = "note",
        /// Turns of a conversation.
        Turns = "turns",
        /// A piece of a page that supports or refutes a claim, or may do so.
        Fragment = "fragment",
        /// A statement that may be true or not.
        Claim = "claim",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Kind, Role, Skip};

    fn passage(text: &str) -> Passage {
        Passage {
            start_line: 1,
            end_line: 1,
            kind: Kind::Section,
            symbol: None,
            heading: None,
            context: None,
            signature: None,
            text: text.to_owned(),
            role: Role::Main,
            own: OwnProperties::default(),
        }
    }

    #[test]
    fn embeds_only_what_the_text_does_not_say() {
        let mut section = passage("## Install\n\nRun it.");
        section.heading = Some("Guide > Install".to_owned());
        assert_eq!(section.embedded_text(), "Guide\n## Install\n\nRun it.");

        let mut later = passage("Then restart.");
        later.heading = Some("Guide > Install".to_owned());
        assert_eq!(later.embedded_text(), "Guide > Install\nThen restart.");

        let mut method = passage("fn open() {}");
        method.symbol = Some("Store::open".to_owned());
        method.context = Some("impl Store".to_owned());
        assert_eq!(method.embedded_text(), "impl Store\nfn open() {}");
        method.context = None;
        assert_eq!(method.embedded_text(), "Store::open\nfn open() {}");

        assert!(matches!(passage("alone").embedded_text(), Cow::Borrowed("alone")));
    }

    #[test]
    fn the_title_of_an_issue_is_one_heading() {
        let mut comment = Passage { kind: Kind::Comment, ..passage("B is right.") };
        comment.heading = Some("Shows A > B".to_owned());
        assert_eq!(comment.embedded_text(), "Shows A > B\nB is right.");
        comment.text = "It Shows A > B again.".to_owned();
        assert_eq!(comment.embedded_text(), "It Shows A > B again.");
    }

    #[test]
    fn notes_are_sentences_for_people_and_tagged_for_programs() {
        let note = Note::Decoded { encoding: "windows-1252" };
        assert_eq!(note.to_string(), "not UTF-8, read as windows-1252");
        let json = serde_json::to_string(&note).expect("serialized");
        assert_eq!(json, r#"{"note":"decoded","encoding":"windows-1252"}"#);
    }

    #[test]
    fn a_name_reads_back_as_its_variant() {
        for kind in Kind::ALL {
            assert_eq!(kind.as_str().parse(), Ok(*kind));
        }
        for role in Role::ALL {
            assert_eq!(role.as_str().parse(), Ok(*role));
        }
        for skip in Skip::ALL {
            assert_eq!(skip.as_str().parse(), Ok(*skip));
            assert_eq!(serde_json::to_string(skip).ok(), Some(format!("\"{skip}\"")));
        }
    }

    #[test]
    fn an_unknown_name_says_which_exist() {
        let error = "mian".parse::<Role>().unwrap_err().to_string();
        assert!(error.contains("role") && error.contains("`mian`") && error.contains("main, test"), "{error}");
    }
}
