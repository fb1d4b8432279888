//! The language whose threshold applies to a passage's language.

use super::error::nearest;
use tamis_text::{LANGUAGES, Language};

/// Returns the language whose threshold applies to a language: that of TypeScript for TSX, JavaScript and JSX, and that of the
/// base language for every other dialect.
///
/// ```
/// use tamis::config::threshold_language;
/// assert_eq!(threshold_language("jsx"), "typescript");
/// assert_eq!(threshold_language("rust"), "rust");
/// ```
#[must_use]
pub fn threshold_language(language: &str) -> &str {
    let base = Language::named(language).map_or(language, |found| found.base_name());
    if base == "javascript" { "typescript" } else { base }
}

/// Returns the language name that is nearest to a text.
pub(super) fn nearest_language(text: &str) -> Option<&'static str> {
    let names = |language: &'static Language| [language.name].into_iter().chain(language.aliases.iter().copied());
    nearest(&text.to_lowercase(), LANGUAGES.iter().flat_map(names))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dialects_and_javascript_take_the_threshold_of_typescript() {
        for (language, expected) in [
            ("tsx", "typescript"),
            ("jsx", "typescript"),
            ("javascript", "typescript"),
            ("typescript", "typescript"),
            ("rust", "rust"),
            ("klingon", "klingon"),
        ] {
            assert_eq!(threshold_language(language), expected);
        }
    }
}
