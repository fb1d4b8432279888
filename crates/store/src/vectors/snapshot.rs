//! A vector file, mapped into memory.

use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use memmap2::Mmap;
use zerocopy::FromBytes;

use super::VectorError;
use super::format::{HEADER_BYTES, Header, Identity, Layout, Refusal};

/// Bytes read of a whole file before their pages are released.
pub(super) const PART_BYTES: usize = 16 << 20;

/// The result of [`Snapshot::open`].
#[derive(Debug)]
pub enum Opened {
    /// A usable file.
    Ready(Arc<Snapshot>),
    /// No file.
    Missing,
    /// A file of another format version, database, model or dimension, which must be rebuilt.
    Stale(String),
    /// A damaged file, which must be rebuilt.
    Corrupt(String),
}

/// A vector file, mapped read-only. It stays readable when a newer one takes its name.
#[derive(Debug)]
pub struct Snapshot {
    path: PathBuf,
    map: Mmap,
    header: Header,
    layout: Layout,
}

impl Snapshot {
    /// Opens the file at `path` when it belongs to `identity`.
    ///
    /// Only the header's checksum and all lengths are checked. [`verify`](Self::verify) reads everything.
    ///
    /// # Errors
    /// The operating system cannot open or map an existing file.
    pub fn open(path: &Path, identity: &Identity) -> Result<Opened, VectorError> {
        let file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Opened::Missing),
            Err(error) => return Err(VectorError::io(path)(error)),
        };
        let metadata = file.metadata().map_err(VectorError::io(path))?;
        if !metadata.is_file() || metadata.len() < HEADER_BYTES as u64 {
            return Ok(Opened::Corrupt("the file is shorter than its header".to_owned()));
        }
        // SAFETY: a mapping is sound while nobody changes its file. Vector files are created under another name and renamed,
        // never written in place or truncated.
        let map = unsafe { Mmap::map(&file) }.map_err(VectorError::io(path))?;
        let (header, layout) = match Header::parse(&map) {
            Ok(parsed) => parsed,
            Err(Refusal::Stale(reason)) => return Ok(Opened::Stale(reason)),
            Err(Refusal::Corrupt(reason)) => return Ok(Opened::Corrupt(reason)),
        };
        let found = &header.identity;
        if found.instance != identity.instance {
            return Ok(Opened::Stale("the file belongs to another database".to_owned()));
        }
        if (&found.model, found.dimension) != (&identity.model, identity.dimension) {
            return Ok(Opened::Stale(format!(
                "the file holds vectors of `{}` in {} dimensions, not of `{}` in {}",
                found.model, found.dimension, identity.model, identity.dimension
            )));
        }
        Ok(Opened::Ready(Arc::new(Self { path: path.to_path_buf(), map, header, layout })))
    }

    /// The number of passages.
    #[must_use]
    pub fn len(&self) -> usize {
        self.header.count
    }

    /// Returns `true` without any passages.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.header.count == 0
    }

    /// Returns the number of the last change in the file.
    #[must_use]
    pub fn seq(&self) -> u64 {
        self.header.seq
    }

    /// Returns the identity of the file.
    #[must_use]
    pub fn identity(&self) -> &Identity {
        &self.header.identity
    }

    /// Returns the path of the file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the file's size in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.map.len()
    }

    /// Returns the passages, ascending.
    #[must_use]
    pub fn passages(&self) -> &[u64] {
        self.view(&self.layout.passages)
    }

    /// Compares the whole file with its checksum.
    ///
    /// # Errors
    /// The reason, if the content is damaged.
    pub fn verify(&self) -> Result<(), String> {
        let mut hasher = blake3::Hasher::new();
        for part in self.map[HEADER_BYTES..].chunks(PART_BYTES) {
            hasher.update(part);
            self.release();
        }
        if *hasher.finalize().as_bytes() != self.header.body {
            return Err("the content does not match its checksum".to_owned());
        }
        if !self.passages().is_sorted_by(|previous, next| previous < next) {
            return Err("the passages are not in ascending order".to_owned());
        }
        Ok(())
    }

    /// Gives the mapped pages that are in memory back to the operating system. Whoever reads them again finds them in its cache.
    pub(super) fn release(&self) {
        #[cfg(unix)]
        // SAFETY: the mapping is shared and of a file that does not change, so pages that are read again are the same. A failure
        // costs memory only.
        let _ = unsafe { self.map.unchecked_advise(memmap2::UncheckedAdvice::DontNeed) };
    }

    pub(super) fn documents(&self) -> &[u32] {
        self.view(&self.layout.documents)
    }

    pub(super) fn int8_codes(&self) -> &[i8] {
        self.view(&self.layout.int8_codes)
    }

    pub(super) fn int8_scales(&self) -> &[f32] {
        self.view(&self.layout.int8_scales)
    }

    pub(super) fn sign_scales(&self) -> &[f32] {
        self.view(&self.layout.sign_scales)
    }

    pub(super) fn sign_codes(&self) -> &[u8] {
        &self.map[self.layout.sign_codes.clone()]
    }

    /// The namespace of each row.
    pub(super) fn namespaces(&self) -> &[u32] {
        self.view(&self.layout.namespaces)
    }

    /// The means of the rows of each namespace, one after the other.
    pub(super) fn centres(&self) -> &[f32] {
        self.view(&self.layout.centres)
    }

    /// The namespaces of the centres.
    pub(super) fn centre_namespaces(&self) -> &[u32] {
        self.view(&self.layout.centre_namespaces)
    }

    /// For each group the common centre of its rows, or a mark if they have several.
    pub(super) fn group_centres(&self) -> &[u32] {
        self.view(&self.layout.group_centres)
    }

    /// A section as numbers. Sections are whole and aligned to 64 bytes in a mapping that begins on a page, so the cast cannot
    /// fail.
    fn view<T: FromBytes + zerocopy::Immutable + zerocopy::KnownLayout>(
        &self,
        section: &std::ops::Range<usize>,
    ) -> &[T] {
        <[T]>::ref_from_bytes(&self.map[section.clone()]).unwrap_or_default()
    }
}
