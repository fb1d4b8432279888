//! Resolves what people write to the one canonical name.

use std::collections::HashMap;
use std::sync::OnceLock;

use super::detect::Index;
use super::language::Language;
use super::table::LANGUAGES;

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
        let named = if lower.starts_with('.') { None } else { names().get(folded(&lower).as_str()).copied() };
        named.or_else(|| Index::get().extensions.get(lower.trim_start_matches('.')).copied())
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
        [self.name, self.display].into_iter().chain(self.aliases.iter().copied())
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

fn names() -> &'static HashMap<String, &'static Language> {
    static NAMES: OnceLock<HashMap<String, &'static Language>> = OnceLock::new();
    NAMES.get_or_init(|| {
        let keys = |language: &'static Language| language.written_names().map(move |name| (folded(name), language));
        LANGUAGES.iter().flat_map(keys).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

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
            for extension in language.extensions {
                for text in [format!(".{extension}"), format!(".{}", extension.to_uppercase())] {
                    assert_eq!(resolved(&text), Some(language.name), "{text}");
                }
                let path = format!("src/Name.{}", extension.to_uppercase());
                assert_eq!(Language::of(&path, "").map(|language| language.name), Some(language.name), "{path}");
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
        let all =
            LANGUAGES.iter().flat_map(|language| language.extensions.iter().map(move |text| (*text, language.name)));
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
        assert_eq!(names("JavaScript"), ["javascript", "jsx"]);
        assert_eq!(names("node"), ["javascript", "jsx"]);
        assert_eq!(names("tsx"), ["tsx"]);
        assert_eq!(names(".ts"), ["typescript"]);
        assert_eq!(names("nothing"), [""; 0]);
    }
}
