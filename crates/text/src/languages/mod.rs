//! Languages: one table of names, extensions, file names, interpreters and relations.

mod detect;
mod parsed;
mod table;

use serde::{Deserialize, Serialize};

use crate::lines::has_word;
use detect::Names;

pub use parsed::{Ends, Grammar, Naming};
pub use table::LANGUAGES;

// A language: its names, its files and its relations.

/// The kind of text that a language is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Category {
    /// Program text, scripts, build files and queries.
    Code,
    /// Text written for people.
    Prose,
    /// Configuration and data.
    Data,
}

/// One language.
#[derive(Debug)]
pub struct Language {
    /// The canonical lowercase name, for example `cpp`. Names are stored, compared and filtered in this form.
    pub name: &'static str,
    /// The name that people write, for example `C++`. For printing only.
    pub display: &'static str,
    /// Further names, lowercase, with spaces between. [`Language::resolve`] knows them and the two above.
    pub aliases: &'static str,
    /// The kind of text.
    pub category: Category,
    /// File name extensions without the first dot, lowercase, with spaces between.
    pub extensions: &'static str,
    /// Whole file names, lowercase, with spaces between.
    pub file_names: &'static str,
    /// Interpreters of a `#!` line, without version numbers, with spaces between.
    pub interpreters: &'static str,
    /// The language of which this one is a dialect, by canonical name: `typescript` for `tsx`.
    pub base: Option<&'static str>,
    /// The languages that answer a question about this one almost as well, by canonical name, with spaces between. Not always
    /// mutual.
    pub related: &'static str,
    pub(crate) parsing: Parsing,
}

/// The way in which files of a language are divided.
#[derive(Debug, Clone, Copy)]
pub enum Parsing {
    /// By their lines or headings.
    Lines,
    /// By their lines, since the grammar is not part of this build.
    #[cfg_attr(feature = "grammars", expect(dead_code, reason = "every grammar is in"))]
    NotBuilt,
    /// By the symbols that a grammar finds.
    Grammar(fn() -> &'static Grammar),
}

// The name is the identity: a language exists once.
impl PartialEq for Language {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Language {}

impl Language {
    /// Returns `true` if files in it are divided by their symbols.
    #[must_use]
    pub fn has_symbols(&self) -> bool {
        matches!(self.parsing, Parsing::Grammar(_))
    }

    /// The grammar, if this build has one.
    pub(crate) fn grammar(&self) -> Option<&'static Grammar> {
        match self.parsing {
            Parsing::Grammar(grammar) => Some(grammar()),
            Parsing::Lines | Parsing::NotBuilt => None,
        }
    }

    pub(crate) const fn parsed(self, parsing: Parsing) -> Self {
        Self { parsing, ..self }
    }

    pub(crate) const fn files(self, file_names: &'static str) -> Self {
        Self { file_names, ..self }
    }

    pub(crate) const fn interpreters(self, interpreters: &'static str) -> Self {
        Self { interpreters, ..self }
    }

    pub(crate) const fn aliases(self, aliases: &'static str) -> Self {
        Self { aliases, ..self }
    }

    pub(crate) const fn dialect_of(self, base: &'static str) -> Self {
        Self { base: Some(base), ..self }
    }

    pub(crate) const fn related_to(self, related: &'static str) -> Self {
        Self { related, ..self }
    }
}

/// A language without further names, files or relations.
const fn plain(name: &'static str, display: &'static str, category: Category, extensions: &'static str) -> Language {
    Language {
        name,
        display,
        aliases: "",
        category,
        extensions,
        file_names: "",
        interpreters: "",
        base: None,
        related: "",
        parsing: Parsing::Lines,
    }
}

const fn code(name: &'static str, display: &'static str, extensions: &'static str) -> Language {
    plain(name, display, Category::Code, extensions)
}

// Relations between languages: code in one often answers a question about another.

/// The usefulness of an answer in one language for a question about another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Relation {
    /// The same language, or dialects of the same one.
    Same,
    /// Close enough that code in one often answers for the other.
    Related,
    /// Unrelated, or one of them is unknown.
    Other,
}

impl Language {
    /// The usefulness of an answer in the language `found` for a question about the language `asked`.
    ///
    /// Dialects count as their base: TSX as TypeScript, JSX as JavaScript. C and C++ are related both ways, as are
    /// TypeScript and JavaScript; Objective-C reaches to C and C++, Objective-C++ to those and Objective-C, and Kotlin
    /// to Java, but none of these the other way round. Anything that [`Language::resolve`] does not know is
    /// [`Relation::Other`], also to itself.
    ///
    /// ```
    /// use tamis_text::{Language, Relation};
    /// assert_eq!(Language::relation("tsx", "typescript"), Relation::Same);
    /// assert_eq!(Language::relation("kotlin", "java"), Relation::Related);
    /// assert_eq!(Language::relation("java", "kotlin"), Relation::Other);
    /// ```
    #[must_use]
    pub fn relation(asked: &str, found: &str) -> Relation {
        // Stored names are canonical, so the search through spellings is only for the caller's own words.
        let language = |name: &str| Self::from_name(name).or_else(|| Self::resolve(name));
        let (Some(asked), Some(found)) = (language(asked), language(found)) else {
            return Relation::Other;
        };
        let (asked, found) = (asked.base_name(), found.base_name());
        if asked == found {
            return Relation::Same;
        }
        match Self::from_name(asked) {
            Some(asked) if has_word(asked.related, found) => Relation::Related,
            _ => Relation::Other,
        }
    }
}

// Resolves what people write to the one canonical name.

impl Language {
    /// The language of a canonical name, a display name, an alias or a file extension, in any case.
    ///
    /// Spaces, hyphens and underscores in names make no difference. With a leading dot only extensions are looked up;
    /// without one, a name has precedence over an extension: `v` is the language V, `.v` is Verilog.
    ///
    /// ```
    /// use tamis_text::Language;
    /// let name = |text| Language::resolve(text).map(|language| language.name);
    /// assert_eq!(name("C++"), Some("cpp"));
    /// assert_eq!(name("golang"), Some("go"));
    /// assert_eq!(name(".PY"), Some("python"));
    /// assert_eq!(name("Common-Lisp"), Some("common_lisp"));
    /// assert_eq!(name("klingon"), None);
    /// ```
    #[must_use]
    pub fn resolve(text: &str) -> Option<&'static Self> {
        let lower = text.trim().to_lowercase();
        let index = Names::get();
        let named = if lower.starts_with('.') { None } else { index.written.get(&folded(&lower)) };
        named.or_else(|| index.extensions.get(lower.trim_start_matches('.'))).copied()
    }

    /// The languages that match a filter for `text`: the one that [`Language::resolve`] finds and, if `text` names the
    /// language rather than an extension, its dialects. Empty if `text` does not name a language.
    ///
    /// ```
    /// use tamis_text::Language;
    /// let names = |text| Language::selection(text).iter().map(|language| language.name).collect::<Vec<_>>();
    /// assert_eq!(names("TypeScript"), ["typescript", "tsx"]);
    /// assert_eq!(names("ts"), ["typescript"]);
    /// ```
    #[must_use]
    pub fn selection(text: &str) -> Vec<&'static Self> {
        let Some(language) = Self::resolve(text) else {
            return Vec::new();
        };
        let by_name = language.written_names().any(|name| folded(name) == folded(text.trim()));
        let dialects = LANGUAGES.iter().filter(|dialect| by_name && dialect.base == Some(language.name));
        std::iter::once(language).chain(dialects).collect()
    }

    /// Every way to write the name: canonical, display, aliases.
    pub fn written_names(&self) -> impl Iterator<Item = &'static str> + use<> {
        [self.name, self.display].into_iter().chain(self.aliases.split_whitespace())
    }

    /// The language itself or the one it is a dialect of, by canonical name: `typescript` for `tsx`.
    #[must_use]
    pub fn base_name(&self) -> &'static str {
        self.base.unwrap_or(self.name)
    }
}

/// A name as it is compared: lowercase, without spaces, hyphens and underscores.
fn folded(name: &str) -> String {
    name.chars().filter(|character| !matches!(character, ' ' | '-' | '_')).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    #[test]
    fn relations_go_the_way_of_the_arrow() {
        for line in [
            "c cpp Related", "cpp c Related", "typescript javascript Related", "javascript typescript Related",
            "tsx jsx Related", "jsx typescript Related", "jsx javascript Same", "tsx typescript Same",
            "objectivec c Related", "objectivec cpp Related", "objectivec objectivecpp Other",
            "objectivecpp c Related", "objectivecpp cpp Related", "objectivecpp objectivec Related",
            "c objectivec Other", "cpp objectivecpp Other", "kotlin java Related", "java kotlin Other",
            "rust rust Same", "rust go Other", "RUST Rust Same", "C++ c Related", "- - Other",
            "unheard_of unheard_of Other", "rust unheard_of Other",
        ] {
            let [asked, found, expected] =
                line.split(' ').map(|word| if word == "-" { "" } else { word }).collect::<Vec<_>>()[..]
            else {
                panic!("{line}")
            };
            assert_eq!(format!("{:?}", Language::relation(asked, found)), expected, "{line}");
        }
    }

    #[test]
    fn bases_and_relations_are_canonical_names_of_whole_languages() {
        for language in LANGUAGES {
            for name in language.related.split_whitespace().chain(language.base) {
                let known = Language::from_name(name).expect("a language of the table");
                assert_eq!(known.base, None, "{name} of {}", language.name);
            }
            assert!(language.base.is_none() || language.related.is_empty(), "{}", language.name);
        }
    }

    fn resolved(text: &str) -> Option<&'static str> {
        Language::resolve(text).map(|language| language.name)
    }

    /// The trap: a filter for "C++" that is compared with a stored "cpp" finds nothing.
    #[test]
    fn trap_the_display_name_never_equals_the_stored_one() {
        for language in LANGUAGES {
            for name in language.written_names() {
                for text in [name.to_owned(), name.to_uppercase(), name.to_lowercase(), format!(" {name} ")] {
                    assert_eq!(resolved(&text), Some(language.name), "{text}");
                }
            }
            for extension in language.extensions.split_whitespace() {
                for text in [format!(".{extension}"), format!(".{}", extension.to_uppercase())] {
                    assert_eq!(resolved(&text), Some(language.name), "{text}");
                }
                let path = format!("src/Name.{}", extension.to_uppercase());
                assert_eq!(Language::detect(&path, "").map(|language| language.name), Some(language.name), "{path}");
            }
        }
    }

    #[test]
    fn no_name_stands_for_two_languages() {
        let mut seen: HashMap<String, &str> = HashMap::new();
        for language in LANGUAGES {
            for name in language.written_names() {
                let other = seen.insert(folded(name), language.name);
                assert!(other.is_none_or(|other| other == language.name), "{name}: {other:?} and {}", language.name);
            }
        }
    }

    #[test]
    fn an_extension_without_its_dot_means_another_language_in_one_case_only() {
        let words = |language: &'static Language| language.extensions.split_whitespace();
        let all = LANGUAGES.iter().flat_map(|language| words(language).map(move |text| (text, language.name)));
        let differing: Vec<_> = all.filter(|(text, name)| resolved(text) != Some(name)).collect();
        assert_eq!(differing, [("v", "verilog")]);
    }

    #[test]
    fn spelling_varies() {
        for line in [
            "c#: csharp", "C-Sharp: csharp", "F#: fsharp", "objective-c++: objectivecpp", "Objective C: objectivec",
            "node: javascript", "bash: shell", "docker: dockerfile", "common lisp: common_lisp", "yml: yaml",
        ] {
            let (text, expected) = line.split_once(": ").expect("a name");
            assert_eq!(resolved(text), Some(expected), "{text}");
        }
        for text in ["", " ", ".", "-", "klingon", ".rust"] {
            assert_eq!(resolved(text), None, "{text:?}");
        }
    }

    #[test]
    fn dialects_come_along_with_the_name_alone() {
        let names = |text| Language::selection(text).iter().map(|language| language.name).collect::<Vec<_>>();
        assert_eq!([names("JavaScript"), names("node")], [["javascript", "jsx"], ["javascript", "jsx"]]);
        assert_eq!([names("tsx"), names(".ts")], [["tsx"], ["typescript"]]);
        assert_eq!(names("nothing"), [""; 0]);
    }
}
