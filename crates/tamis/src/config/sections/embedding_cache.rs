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
    use crate::config::{Config, Origins, UserDirectories};

    fn cache(project: Option<&str>, environment: &[(&str, &str)]) -> EmbeddingCacheConfig {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let file = directory.path().join("config.toml");
        std::fs::write(&file, project.unwrap_or_default()).expect("written");
        let environment = environment.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let origins = Origins { project: Some(file), environment, ..Origins::default() };
        Config::load(&origins, None).expect("valid").index.embedding_cache
    }

    #[test]
    fn a_project_can_turn_the_users_cache_off_for_itself_alone() {
        let directories = UserDirectories::at(None, Some("/t".into()));
        let origins = Origins { directories, ..Origins::default() };
        let config = Config::load(&origins, None).expect("valid");
        assert_eq!(config.index.embedding_cache.directory, Some("/t/embeddings".into()));
        assert_eq!(Config::built_in().index.embedding_cache.directory, None);

        let usual = cache(None, &[]);
        assert_eq!((usual.most_bytes, usual.makes_room), (1024 * MEGABYTE, true));
        assert_eq!(cache(None, &[("TAMIS_INDEX_EMBEDDING_CACHE_MB", "9000")]).most_bytes, 9000 * MEGABYTE);
        let project = |text| cache(Some(text), &[]);
        assert_eq!(project("[index]\nembedding_cache_mb = 0").most_bytes, 0);
        let small = project("[index]\nembedding_cache_mb = 1");
        assert_eq!((small.most_bytes, small.makes_room), (MEGABYTE, false));
        assert_eq!(project("[index]\nembedding_cache_mb = 900000").most_bytes, 1024 * MEGABYTE);
    }
}
