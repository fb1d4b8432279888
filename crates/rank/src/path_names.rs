//! The match of a file's path with the words of a query.

use crate::definition::{for_each_word, is_minor};
use rust_stemmers::{Algorithm, Stemmer};
use std::collections::HashSet;
use std::fmt;

/// Stems of file names that name no subject: the directory does.
pub(crate) const GENERIC: &[&str] = &[
    "__init__", "__main__", "_index", "base", "common", "core", "default", "helpers", "impl", "index", "init", "lib",
    "main", "misc", "mod", "package", "readme", "types", "util", "utils",
];

/// Match of the directory, relative to the file's own name.
const DIRECTORY: f64 = 0.5;

/// The words of a query, to compare the names of files with.
///
/// ```
/// use tamis_rank::PathNames;
///
/// let names = PathNames::of("who collects the orphaned processes");
/// assert_eq!(names.match_score("src/process/unix/orphan.rs"), 1.0);
/// assert_eq!(names.match_score("src/process/mod.rs"), 1.0);
/// assert_eq!(names.match_score("src/process/kill.rs"), 0.5);
/// assert_eq!(names.match_score("src/net/tcp.rs"), 0.0);
/// ```
pub struct PathNames {
    stemmer: Stemmer,
    words: HashSet<String>,
}

/// Those of no words.
impl Default for PathNames {
    fn default() -> Self {
        PathNames::of("")
    }
}

impl fmt::Debug for PathNames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PathNames").field("words", &self.words).finish_non_exhaustive()
    }
}

impl PathNames {
    /// Reads a query. O(its length).
    pub fn of(query: &str) -> Self {
        // A pasted log has thousands of words, and the first ones say as much.
        const MOST_WORDS: usize = 64;
        let stemmer = Stemmer::create(Algorithm::English);
        let mut words = HashSet::new();
        for_each_word(query, |word| {
            let word = word.to_lowercase();
            if !is_minor(&word) {
                words.insert(stemmer.stem(&word).into_owned());
            }
            words.len() < MOST_WORDS
        });
        PathNames { stemmer, words }
    }

    /// The match of a path, 0 to 1: the share of the words of the file's name that the query has, or half of that share for the
    /// directory where it is greater. A name that says nothing, such as `mod.rs`, stands for its directory. O(its length).
    pub fn match_score(&self, path: &str) -> f64 {
        if self.words.is_empty() {
            return 0.0;
        }
        let mut parts = path.rsplit('/');
        let name = parts.next().unwrap_or_default();
        let stem = name.split('.').find(|part| !part.is_empty()).unwrap_or(name);
        let directory = parts.next().map_or(0.0, |directory| self.share(directory));
        if GENERIC.contains(&stem.to_lowercase().as_str()) {
            directory
        } else {
            self.share(stem).max(DIRECTORY * directory)
        }
    }

    /// The share of the query's words that the name of a passage has, a symbol or a heading, 0 to 1. O(its length).
    pub fn share_in(&self, name: &str) -> f64 {
        let [_, held] = self.counts(name);
        (f64::from(held) / self.words.len().max(1) as f64).min(1.0)
    }

    /// The share of a name's words that the query has.
    fn share(&self, name: &str) -> f64 {
        let [all, held] = self.counts(name);
        if all == 0 { 0.0 } else { f64::from(held) / f64::from(all) }
    }

    /// The words of a name, and how many of them the query has.
    fn counts(&self, name: &str) -> [u32; 2] {
        let (mut all, mut held) = (0u32, 0u32);
        for_each_word(name, |word| {
            let word = word.to_lowercase();
            all += 1;
            held += u32::from(self.words.contains(self.stemmer.stem(&word).as_ref()));
            true
        });
        [all, held]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_match_by_their_stems_and_in_any_style_of_name() {
        let names = PathNames::of("how is the message compressed with a TokenBucket");
        for (path, score) in [
            ("compression.go", 1.0),
            ("src/token_bucket.rs", 1.0),
            ("src/TokenStream.java", 0.5),
            ("compress/__init__.py", 1.0),
            ("compress/zlib.py", 0.5),
            ("a/how.rs", 0.0),
            ("", 0.0),
        ] {
            assert_eq!(names.match_score(path), score, "{path}");
        }
        assert_eq!(names.share_in("TokenBucket::refill"), 0.5, "token, bucket of message, compressed, token, bucket");
        assert_eq!(PathNames::of("").match_score("src/a.rs"), 0.0);
        assert_eq!(PathNames::of("").share_in("a"), 0.0);
    }
}
