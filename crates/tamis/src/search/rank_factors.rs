//! Factors on a passage's ranking value: its role, its relation to a name in the query, and its kind where the query asks for
//! another. Their values are those of `tamis-rank`.

use super::candidate::Candidate;
use crate::collections::{CODE, FILE_COLLECTIONS};
use tamis_rank::{LEAN_FACTOR, Lean, QueryNames, ROLE_FACTORS, USAGE_FACTOR, definition_factors, role_factor};
use tamis_store::StoredPassage;
use tamis_text::{Category, Language};

/// Returns the factor on each passage's value, in (0, 1].
pub(super) fn factors(names: &QueryNames, lean: Option<Lean>, candidates: &[Candidate]) -> Vec<f64> {
    let symbols = candidates.iter().map(|candidate| candidate.passage.symbol.as_deref());
    let mut factors = definition_factors(names, symbols);
    for (factor, Candidate { passage, .. }) in factors.iter_mut().zip(candidates) {
        *factor *= role_factor(&passage.role);
        let other = match lean {
            Some(Lean::Code) => is_file(passage) && !is_program(passage),
            Some(Lean::Guide) => passage.collection == CODE,
            Some(Lean::Both) | None => false,
        };
        if other {
            *factor *= LEAN_FACTOR;
        }
    }
    factors
}

/// Returns the factors as settings of a scoring key, so that scores of a version with other factors are not mixed with these.
pub(super) fn scoring() -> [(&'static str, String); 3] {
    let roles = ROLE_FACTORS.map(|(_, factor)| factor.to_string()).join(" ");
    [("roles", roles), ("usage", USAGE_FACTOR.to_string()), ("lean", LEAN_FACTOR.to_string())]
}

fn is_file(passage: &StoredPassage) -> bool {
    FILE_COLLECTIONS.contains(&passage.collection.as_str())
}

/// Directories of documentation, whose scripts and pages show what the code of the project does.
const DOCUMENTATION: [&str; 4] = ["doc", "docs", "documentation", "website"];

/// Returns `true` for the source code of a project, as opposed to data, formats that are not known, and what belongs to its
/// documentation.
pub(super) fn is_program(passage: &StoredPassage) -> bool {
    is_program_at(&passage.collection, passage.language.as_deref(), &passage.path)
}

fn is_program_at(collection: &str, language: Option<&str>, path: &str) -> bool {
    let category = language.and_then(Language::named).map(|language| language.category);
    let (directories, _) = path.rsplit_once('/').unwrap_or_default();
    let documents = |directory: &str| DOCUMENTATION.iter().any(|name| directory.eq_ignore_ascii_case(name));
    collection == CODE && category == Some(Category::Code) && !directories.split('/').any(documents)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_unknown_formats_and_documentation_are_no_programs() {
        for (collection, language, path) in [
            (CODE, Some("rust"), "src/docs.rs"),
            (CODE, Some("html"), "templates/page.html"),
            (CODE, Some("shell"), "doctor/run"),
        ] {
            assert!(is_program_at(collection, language, path), "{path}");
        }
        for (collection, language, path) in [
            (CODE, Some("yaml"), "ci.yml"),
            (CODE, None, "tests/site.caddyfiletest"),
            (CODE, Some("typescript"), "packages/docs/config/en.ts"),
            (CODE, Some("html"), "Docs/Classes/Request.html"),
            ("docs", Some("markdown"), "README.md"),
        ] {
            assert!(!is_program_at(collection, language, path), "{path}");
        }
    }
}
