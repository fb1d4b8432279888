//! The name of a repository, parsed from user input.

use crate::error::GithubError;
use std::fmt;
use std::str::FromStr;

/// The longest name of an owner or a repository; GitHub's own limits are 39 and 100.
const LONGEST: usize = 100;

/// A repository on GitHub: `OWNER/NAME`.
///
/// ```
/// use tamis::import::Repository;
///
/// let repository: Repository = "https://github.com/rust-lang/cargo.git".parse()?;
/// assert_eq!(repository.to_string(), "rust-lang/cargo");
/// # Ok::<(), tamis::import::GithubError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repository {
    owner: String,
    name: String,
}

impl FromStr for Repository {
    type Err = GithubError;

    /// Reads `OWNER/NAME`, or the address of the repository's page on github.com.
    fn from_str(text: &str) -> Result<Self, GithubError> {
        let wrong = || GithubError::Repository { given: text.to_owned() };
        let bare = text.trim();
        let bare = ["https://github.com/", "http://github.com/", "github.com/", "git@github.com:"]
            .into_iter()
            .find_map(|prefix| bare.strip_prefix(prefix))
            .unwrap_or(bare);
        let bare = bare.trim_end_matches('/');
        let (owner, name) = bare.strip_suffix(".git").unwrap_or(bare).split_once('/').ok_or_else(wrong)?;
        // Both parts go into an address unescaped, so no character may have a meaning there.
        let allowed = |part: &str| {
            (1..=LONGEST).contains(&part.len())
                && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
                && part.bytes().any(|byte| byte != b'.')
        };
        if !allowed(owner) || !allowed(name) {
            return Err(wrong());
        }
        Ok(Repository { owner: owner.to_owned(), name: name.to_owned() })
    }
}

impl fmt::Display for Repository {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.owner, self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn repositories_are_read_from_names_and_pages_or_refused() {
        for text in [
            "rust-lang/cargo", " rust-lang/cargo ", "https://github.com/rust-lang/cargo/",
            "git@github.com:rust-lang/cargo.git",
        ] {
            assert_eq!(text.parse::<Repository>().expect(text).to_string(), "rust-lang/cargo");
        }

        for text in [
            "", "cargo", "/cargo", "rust-lang/", "a/b/c", "a/..", "../b", "a b/c", "a/b?c", "a/ü",
            "https://gitlab.com/a/b",
        ] {
            let error = text.parse::<Repository>().expect_err(text).to_string();
            assert!(error.contains(&format!("{text:?}")) && error.contains("OWNER/NAME"), "{error}");
        }
    }

    proptest! {
        #[test]
        fn a_repository_that_is_read_stays_in_its_place_in_an_address(text in "\\PC{0,40}") {
            if let Ok(repository) = text.parse::<Repository>() {
                let text = repository.to_string();
                prop_assert_eq!(text.split('/').count(), 2);
                prop_assert!(!text.contains("..") || text.bytes().any(|byte| byte.is_ascii_alphanumeric()));
                prop_assert_eq!(text.parse::<Repository>().expect("read again"), repository);
            }
        }
    }
}
