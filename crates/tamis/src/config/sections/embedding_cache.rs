//! The cache of vectors that the user's indexes share: its directory and its size.

use std::path::PathBuf;

use crate::config::declare::Entry;
use crate::config::error::{ConfigError, Source};

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
pub(crate) fn cache(entry: &Entry<'_>, megabytes: u64) -> Result<EmbeddingCacheConfig, ConfigError> {
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
