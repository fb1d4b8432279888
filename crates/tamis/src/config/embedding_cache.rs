//! Where the vectors are that a user's indexes have in common, and how many.

use super::{Read, Source, UserDirectories};
use std::path::PathBuf;

/// Most bytes that a project's file can give the cache.
const MOST_BYTES_OF_A_PROJECT: u64 = 1024 * MEGABYTE;

const MEGABYTE: u64 = 1_000_000;

/// The cache of vectors that all indexes of a user share.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EmbeddingCacheConfig {
    /// Its directory; `None` where there is no home.
    pub directory: Option<PathBuf>,
    /// Its greatest size; 0: not used.
    pub most_bytes: u64,
    /// Whether what is in it may go to make room. A project's own file cannot throw away what other projects have.
    pub makes_room: bool,
}

pub(super) fn embedding_cache(read: &Read<'_>, directories: &UserDirectories) -> EmbeddingCacheConfig {
    let key = "index.embedding_cache_mb";
    let of_project = matches!(read.0[key].source, Source::Project(_));
    let most_bytes = (read.count(key) as u64).saturating_mul(MEGABYTE);
    EmbeddingCacheConfig {
        directory: directories.cache().map(|cache| cache.join("embeddings")),
        most_bytes: if of_project { most_bytes.min(MOST_BYTES_OF_A_PROJECT) } else { most_bytes },
        makes_room: !of_project,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, Origins};

    fn cache(project: Option<&str>, environment: &[(&str, &str)]) -> EmbeddingCacheConfig {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let file = directory.path().join("config.toml");
        std::fs::write(&file, project.unwrap_or_default()).expect("written");
        let environment = environment.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let origins = Origins { project: Some(file), environment, ..Origins::default() };
        Config::load(&origins, None).expect("valid").index.embedding_cache
    }

    #[test]
    fn it_is_in_the_users_cache_and_without_one_there_is_none() {
        let directories = UserDirectories::at(None, Some("/t".into()));
        let origins = Origins { directories, ..Origins::default() };
        let config = Config::load(&origins, None).expect("valid");
        assert_eq!(config.index.embedding_cache.directory, Some("/t/embeddings".into()));
        assert_eq!(Config::built_in().index.embedding_cache.directory, None);
    }

    #[test]
    fn a_project_can_turn_it_off_for_itself_and_takes_nothing_from_others() {
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
