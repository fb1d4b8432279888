//! Files to leave out of an index, and the reasons.

mod content;
mod path;
mod secret;

pub use content::skip_by_content;
pub(crate) use content::{is_generated, is_minified};
pub(crate) use path::{is_generated_name, is_minified_name};
pub use path::{most_bytes, skip_by_path};

use crate::names::named;

named! {
    /// Reason for leaving out a file.
    Skip is a "reason to skip" {
        /// Not text: an image, an archive, an object file.
        Binary = "binary",
        /// Larger than the limit.
        TooLarge = "too_large",
        /// A lock file: exact versions of dependencies, written by a package manager.
        Lock = "lock",
        /// Program text or markup without line breaks, made for machines; source maps.
        Minified = "minified",
        /// Written by a program, as its text or its name says.
        Generated = "generated",
        /// Holds or may hold keys, passwords or tokens.
        Secret = "secret",
        /// Only white space.
        Empty = "empty",
        /// Tables and dumps too large to be read by people.
        Data = "data",
        /// A document that cannot be opened without a password.
        Encrypted = "encrypted",
        /// A document of pictures, such as a scan.
        NoText = "no_text",
        /// A document whose file is not complete or not what its name says.
        Damaged = "damaged",
        /// A document whose text took too long to find.
        TooMuchWork = "too_much_work",
        /// What Git keeps in place of a large file that has not been fetched; `git lfs pull` fetches it.
        LfsPointer = "lfs_pointer",
    }
}

/// Sizes above which a file is left out, in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// For any file but a document. Texts for people, tables, logs and SQL may have 32 times as much ([`most_bytes`]).
    pub max_bytes: u64,
    /// For a document ([`crate::is_document`]), whose text is a small part of it.
    pub max_document_bytes: u64,
    /// For files with endings of dumps that are text as often as not.
    pub max_table_bytes: u64,
    /// For configuration and documents in JSON, XML and the like.
    pub max_data_bytes: u64,
}

impl Default for Limits {
    /// 1 MiB for any file, 32 MiB for a document, 64 KiB for a dump, 256 KiB for data.
    fn default() -> Self {
        Self { max_bytes: 1 << 20, max_document_bytes: 32 << 20, max_table_bytes: 64 << 10, max_data_bytes: 256 << 10 }
    }
}
