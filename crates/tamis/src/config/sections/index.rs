//! `[index]`: the files that are indexed, and their division into passages.

use super::embedding_cache::{EmbeddingCacheConfig, cache};
use super::{model_names, notes};
use crate::config::declare::{flag, integer, list, list_of, section};

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
