//! `[index]`: the files that are indexed, their division into passages, and the cache of vectors that the user's indexes share.

use std::path::PathBuf;

use super::{model_names, notes};
use crate::config::declare::{Entry, flag, integer, list, list_of, section};
use crate::config::error::{ConfigError, Source};

const SKIPPED: &[&str] = &["lock", "minified", "generated", "secret", "data"];

section! {
    /// Settings of indexing.
    #[derive(Clone, Debug)]
    pub struct IndexConfig {
        /// Models to embed with, the quick one first and the best one last.
        pub models: Vec<String> = "index.models", list(crate::models::BUILT_IN).check(model_names::all);
        /// Embed passages that searches and index runs of the command leave without a vector of the better model, in the background
        /// and with low priority. Never with the variable CI set, a remote model or a database.
        pub background: bool = "index.background", flag(true);
        /// Files larger than this are left out. Text, tables, logs and SQL may have 32 times as much; of those too large to read as a
        /// whole, the beginning and the most telling lines are indexed.
        pub max_file_bytes: u64 = "index.max_file_bytes", integer(1024..=1 << 30, 1 << 20);
        /// The same for PDF, Word, OpenDocument and EPUB files and notebooks, most of which is not text.
        pub max_document_bytes: u64 = "index.max_document_bytes", integer(1024..=1 << 30, 32 << 20);
        /// Kinds of files to leave out. Binary, empty and too large files are always left out.
        pub skip: Vec<String> = "index.skip", list_of(SKIPPED, SKIPPED);
        /// Globs of files to leave out, as in .gitignore.
        pub ignore: Vec<String> = "index.ignore", list(&[]);
        /// Index hidden files and directories. Those of version control are never indexed.
        pub hidden: bool = "index.hidden", flag(true);
        /// Maximum size, in megabytes, of the user's cache of vectors, which all indexes share; 0: off.
        pub embedding_cache: EmbeddingCacheConfig = "index.embedding_cache_mb", integer(0..=1_000_000, 1024).check(cache);
        /// Globs of files that are notes, as in .gitignore. Files in memory.directory always are.
        pub notes: Vec<String> = "index.notes", list(&["MEMORY.md", "/memory/"]).check(notes::globs);
        /// Globs of files that are wiki pages, as in .gitignore. Files of a source named *.wiki always are.
        pub wiki: Vec<String> = "index.wiki", list(&["*.wiki/"]).check(notes::globs);
    }
}

/// Largest cache, in bytes, that a project's file can ask for.
const MOST_BYTES_OF_A_PROJECT: u64 = 1024 * MEGABYTE;

const MEGABYTE: u64 = 1_000_000;

/// The cache of vectors that all indexes of a user share.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EmbeddingCacheConfig {
    /// Its directory; `None` without a home directory.
    pub directory: Option<PathBuf>,
    /// Its maximum size in bytes; 0 turns it off.
    pub most_bytes: u64,
    /// True if old entries may be removed to make room. A project's own file cannot remove those of other projects.
    pub makes_room: bool,
}

/// Returns a cache of this size, with narrower limits for a project's file than for the user.
fn cache(entry: &Entry<'_>, megabytes: u64) -> Result<EmbeddingCacheConfig, ConfigError> {
    let of_project = matches!(entry.setting.source, Source::Project(_));
    let most_bytes = megabytes.saturating_mul(MEGABYTE);
    Ok(EmbeddingCacheConfig {
        directory: entry.settings.directories.cache().map(|cache| cache.join("embeddings")),
        most_bytes: if of_project { most_bytes.min(MOST_BYTES_OF_A_PROJECT) } else { most_bytes },
        makes_room: !of_project,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::tests::{flags, given};
    use crate::config::{Config, Origins, UserDirectories};

    #[test]
    fn a_project_can_turn_the_users_cache_off_for_itself_alone() {
        let directories = UserDirectories::at(None, Some("/t".into()));
        let config = Config::load(&Origins { directories, ..Origins::default() }, None).expect("valid");
        assert_eq!(config.index.embedding_cache.directory, Some("/t/embeddings".into()));
        assert_eq!(Config::built_in().index.embedding_cache.directory, None);

        let set = flags(&[("index.embedding_cache_mb", "9000")]).expect("valid");
        assert_eq!(set.index.embedding_cache.most_bytes, 9000 * MEGABYTE);
        for (project, most_bytes, makes_room) in [
            ("", 1024 * MEGABYTE, true),
            ("[index]\nembedding_cache_mb = 0", 0, false),
            ("[index]\nembedding_cache_mb = 1", MEGABYTE, false),
            ("[index]\nembedding_cache_mb = 900000", 1024 * MEGABYTE, false),
        ] {
            let cache = given("", project, &[]).expect("valid").index.embedding_cache;
            assert_eq!((cache.most_bytes, cache.makes_room), (most_bytes, makes_room), "{project}");
        }
    }
}
