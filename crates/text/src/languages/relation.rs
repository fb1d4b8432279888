//! Relations between languages: code in one often answers a question about another.

use super::language::Language;

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
        let language = |name: &str| Self::named(name).or_else(|| Self::resolve(name));
        let (Some(asked), Some(found)) = (language(asked), language(found)) else {
            return Relation::Other;
        };
        let (asked, found) = (asked.base_name(), found.base_name());
        if asked == found {
            return Relation::Same;
        }
        match Self::named(asked) {
            Some(asked) if asked.related.contains(&found) => Relation::Related,
            _ => Relation::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LANGUAGES;

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
            for name in language.related.iter().chain(&language.base) {
                let known = Language::named(name).expect("a language of the table");
                assert_eq!(known.base, None, "{name} of {}", language.name);
            }
            assert!(language.base.is_none() || language.related.is_empty(), "{}", language.name);
        }
    }
}
