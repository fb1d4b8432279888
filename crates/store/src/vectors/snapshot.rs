//! A vector file, mapped into memory, and writing a new one beside the old one.

use std::collections::BTreeMap;
use std::fs;
use std::fs::File;
use std::io::{BufWriter, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use memmap2::Mmap;
use zerocopy::{FromBytes, IntoBytes};

use super::VectorError;
use super::format::{GROUP, HEADER_BYTES, Header, Identity, Layout, MIXED, Owner, Refusal};
use super::quantize::{Encoder, sign_code};

/// Bytes read of a whole file before their pages are released.
pub(crate) const PART_BYTES: usize = 16 << 20;

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
        Ok(Opened::Ready(Arc::new(Self { map, header, layout })))
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
    pub(crate) fn release(&self) {
        #[cfg(unix)]
        // SAFETY: the mapping is shared and of a file that does not change, so pages that are read again are the same. A failure
        // costs memory only.
        let _ = unsafe { self.map.unchecked_advise(memmap2::UncheckedAdvice::DontNeed) };
    }

    pub(crate) fn documents(&self) -> &[u32] {
        self.view(&self.layout.documents)
    }

    pub(crate) fn int8_codes(&self) -> &[i8] {
        self.view(&self.layout.int8_codes)
    }

    pub(crate) fn int8_scales(&self) -> &[f32] {
        self.view(&self.layout.int8_scales)
    }

    pub(crate) fn sign_scales(&self) -> &[f32] {
        self.view(&self.layout.sign_scales)
    }

    pub(crate) fn sign_codes(&self) -> &[u8] {
        &self.map[self.layout.sign_codes.clone()]
    }

    pub(crate) fn namespaces(&self) -> &[u32] {
        self.view(&self.layout.namespaces)
    }

    /// The means of the rows of each namespace, one after the other.
    pub(crate) fn centres(&self) -> &[f32] {
        self.view(&self.layout.centres)
    }

    pub(crate) fn centre_namespaces(&self) -> &[u32] {
        self.view(&self.layout.centre_namespaces)
    }

    /// For each group the common centre of its rows, or a mark if they have several.
    pub(crate) fn group_centres(&self) -> &[u32] {
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

/// Writes a [`Snapshot`] file, passage by passage.
///
/// It needs 16 bytes of memory per passage. [`finish`](Self::finish) puts the whole file in place; a writer that is dropped
/// before leaves the old file there. Only one writer may work on a path at a time, which the store's lock ensures.
#[derive(Debug)]
pub struct SnapshotWriter {
    path: PathBuf,
    temporary: Temporary,
    file: BufWriter<File>,
    identity: Identity,
    seq: u64,
    encoder: Encoder,
    body: blake3::Hasher,
    written: usize,
    columns: Columns,
    /// The sums of all rows, which become the centres.
    sums: Sums,
}

/// What is written behind the codes: a value for each row.
#[derive(Debug, Default)]
struct Columns {
    scales: Vec<f32>,
    passages: Vec<u64>,
    documents: Vec<u32>,
    namespaces: Vec<u32>,
}

/// A file that is deleted unless it got its final name.
#[derive(Debug)]
struct Temporary {
    path: PathBuf,
    kept: bool,
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.kept {
            // A failure here has no remedy, and the next writer overwrites the file.
            let _ = fs::remove_file(&self.path);
        }
    }
}

impl SnapshotWriter {
    /// Begins a file for `path` with all changes up to and including `seq`. Creates a missing directory.
    ///
    /// # Errors
    /// The dimension or the model's name is out of range, or the file cannot be created.
    pub fn create(path: &Path, identity: &Identity, seq: u64) -> Result<Self, VectorError> {
        identity.check()?;
        if let Some(directory) = path.parent() {
            fs::create_dir_all(directory).map_err(VectorError::io(directory))?;
        }
        let mut name = path.as_os_str().to_owned();
        name.push(".new");
        let temporary = Temporary { path: PathBuf::from(name), kept: false };
        let io = || VectorError::io(&temporary.path);
        let file =
            File::options().read(true).write(true).create(true).truncate(true).open(&temporary.path).map_err(io())?;
        let mut file = BufWriter::with_capacity(1 << 18, file);
        // The real header is written last, so that an incomplete file cannot pass for a whole one.
        file.write_all(&[0; HEADER_BYTES]).map_err(io())?;
        let encoder = Encoder::new(identity.dimension);
        Ok(Self {
            path: path.to_path_buf(),
            file,
            identity: identity.clone(),
            seq,
            body: blake3::Hasher::new(),
            written: HEADER_BYTES,
            columns: Columns::default(),
            sums: Sums::default(),
            encoder,
            temporary,
        })
    }

    /// Adds a passage's vector. Its length does not matter, because similarity is cosine. A zero vector is similar to nothing.
    ///
    /// # Errors
    /// Passages are not strictly ascending, the vector has another dimension or is not finite, or the disk is full.
    pub fn push(&mut self, passage: u64, owner: impl Into<Owner>, vector: &[f32]) -> Result<(), VectorError> {
        let code = self.encoder.passage(passage, vector)?.clone();
        self.push_code(passage, owner.into(), &code.codes, code.scale)
    }

    /// Adds a row that is already encoded, from another file or from memory.
    pub(crate) fn push_code(
        &mut self,
        passage: u64,
        owner: Owner,
        codes: &[i8],
        scale: f32,
    ) -> Result<(), VectorError> {
        self.check_order(passage)?;
        debug_assert_eq!(codes.len(), self.encoder.padded());
        self.sums.add(owner.namespace, codes, scale);
        self.write(codes.as_bytes())?;
        self.columns.passages.push(passage);
        self.columns.documents.push(owner.document);
        self.columns.namespaces.push(owner.namespace);
        self.columns.scales.push(scale);
        Ok(())
    }

    /// Writes the rest, waits for the disk, and puts the file in place.
    ///
    /// # Errors
    /// The disk is full or the directory cannot be written. The old file then stays.
    pub fn finish(mut self) -> Result<(), VectorError> {
        let count = self.columns.passages.len();
        let centres = std::mem::take(&mut self.sums).into_centres();
        let layout =
            Layout::new(self.identity.dimension, count, centres.namespaces.len()).ok_or(VectorError::TooManyRows)?;
        let Columns { scales, passages, documents, namespaces } = std::mem::take(&mut self.columns);
        self.section(layout.int8_scales.start, scales.as_bytes())?;
        self.section(layout.passages.start, passages.as_bytes())?;
        self.section(layout.documents.start, documents.as_bytes())?;
        self.sign_sections(&layout, &scales, &namespaces, &centres)?;
        self.section(layout.namespaces.start, namespaces.as_bytes())?;
        self.section(layout.centres.start, centres.values.as_bytes())?;
        self.section(layout.centre_namespaces.start, centres.namespaces.as_bytes())?;
        self.section(layout.group_centres.start, centres.of_groups(&namespaces, GROUP).as_bytes())?;
        debug_assert_eq!(self.written, layout.file_bytes());
        self.publish(count, centres.namespaces.len())
    }

    fn check_order(&self, passage: u64) -> Result<(), VectorError> {
        match self.columns.passages.last() {
            Some(&previous) if previous >= passage => Err(VectorError::Order { previous, passage }),
            _ if self.columns.passages.len() >= u32::MAX as usize => Err(VectorError::TooManyRows),
            _ => Ok(()),
        }
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), VectorError> {
        self.body.update(bytes);
        self.written += bytes.len();
        self.file.write_all(bytes).map_err(VectorError::io(&self.temporary.path))
    }

    fn section(&mut self, start: usize, bytes: &[u8]) -> Result<(), VectorError> {
        let gap = start - self.written;
        self.write(&[0; 64][..gap])?;
        self.write(bytes)
    }

    /// Writes the sign codes. They need the centres, which are known only now, so the int8 codes are read back.
    fn sign_sections(
        &mut self,
        layout: &Layout,
        scales: &[f32],
        namespaces: &[u32],
        centres: &Centres,
    ) -> Result<(), VectorError> {
        let padded = self.encoder.padded();
        let io = |path: &Path| VectorError::io(path);
        self.file.flush().map_err(io(&self.temporary.path))?;
        let mut source = File::open(&self.temporary.path).map_err(io(&self.temporary.path))?;
        source.seek(SeekFrom::Start(HEADER_BYTES as u64)).map_err(io(&self.temporary.path))?;

        let row_bytes = padded / 8;
        let mut sign_scales = Vec::with_capacity(scales.len().next_multiple_of(GROUP));
        let mut sign_codes = Vec::with_capacity(layout.sign_codes.len());
        let mut rows = vec![0_u8; GROUP * padded];
        let mut codes = vec![0_i8; padded];
        let mut bytes = vec![0_u8; row_bytes];
        for (scales, namespaces) in scales.chunks(GROUP).zip(namespaces.chunks(GROUP)) {
            source.read_exact(&mut rows[..scales.len() * padded]).map_err(io(&self.temporary.path))?;
            let start = sign_codes.len();
            sign_codes.resize(start + row_bytes * GROUP, 0);
            let group: &mut [u8] = &mut sign_codes[start..];
            for (row, ((source, scale), namespace)) in rows.chunks_exact(padded).zip(scales).zip(namespaces).enumerate()
            {
                codes.as_mut_bytes().copy_from_slice(source);
                let place = centres.place(*namespace).unwrap_or_default();
                let centre = &centres.values[place * padded..][..padded];
                sign_scales.push(sign_code(&codes, *scale, centre, &mut bytes));
                for (position, byte) in bytes.iter().enumerate() {
                    group[position * GROUP + row] = *byte;
                }
            }
        }
        sign_scales.resize(sign_scales.len().next_multiple_of(GROUP), 0.0);
        self.section(layout.sign_scales.start, sign_scales.as_bytes())?;
        self.section(layout.sign_codes.start, &sign_codes)
    }

    fn publish(mut self, count: usize, centres: usize) -> Result<(), VectorError> {
        let body = *self.body.finalize().as_bytes();
        let header = Header { identity: self.identity, count, centres, seq: self.seq, body };
        let io = || VectorError::io(&self.temporary.path);
        self.file.seek(SeekFrom::Start(0)).map_err(io())?;
        self.file.write_all(&header.to_bytes()).map_err(io())?;
        let file = self.file.into_inner().map_err(|error| io()(error.into_error()))?;
        file.sync_all().map_err(io())?;
        crate::files::replace(&self.temporary.path, &self.path).map_err(VectorError::io(&self.path))?;
        self.temporary.kept = true;
        // The rename survives a power cut once the directory is on disk. Some file systems cannot do this.
        if let Some(directory) = self.path.parent().and_then(|directory| File::open(directory).ok()) {
            let _ = directory.sync_all();
        }
        Ok(())
    }
}

/// Sums of rows by namespace, for computing centres.
#[derive(Debug, Default)]
pub(crate) struct Sums(BTreeMap<u32, (Vec<f64>, u64)>);

impl Sums {
    pub(crate) fn add(&mut self, namespace: u32, codes: &[i8], scale: f32) {
        let (sum, count) = self.0.entry(namespace).or_insert_with(|| (vec![0.0; codes.len()], 0));
        for (sum, code) in sum.iter_mut().zip(codes) {
            *sum += f64::from(*code) * f64::from(scale);
        }
        *count += 1;
    }

    pub(crate) fn into_centres(self) -> Centres {
        let mut centres = Centres { namespaces: Vec::new(), values: Vec::new() };
        for (namespace, (sum, count)) in self.0 {
            centres.namespaces.push(namespace);
            centres.values.extend(sum.iter().map(|sum| (sum / count as f64) as f32));
        }
        centres
    }
}

/// Centres by namespace.
///
/// A sign code records the side of its centre on which a row lies. A single centre would lie far from every namespace and make
/// a search of one namespace depend on all others.
#[derive(Debug)]
pub(crate) struct Centres {
    /// Ascending.
    pub(crate) namespaces: Vec<u32>,
    /// One centre after the other.
    pub(crate) values: Vec<f32>,
}

impl Centres {
    pub(crate) fn place(&self, namespace: u32) -> Option<usize> {
        self.namespaces.binary_search(&namespace).ok()
    }

    /// For each group of rows the position of their common centre, or a mark if they have several.
    pub(crate) fn of_groups(&self, namespaces: &[u32], group: usize) -> Vec<u32> {
        let common = |rows: &[u32]| match (rows.iter().min(), rows.iter().max()) {
            (Some(least), Some(most)) if least == most => self.place(*least).map_or(MIXED, |place| place as u32),
            _ => MIXED,
        };
        namespaces.chunks(group).map(common).collect()
    }
}

/// The centre's part of the product of a row with a query, which the row's code lacks.
#[derive(Debug)]
pub(crate) struct Offsets<'s> {
    namespaces: &'s [u32],
    offsets: Vec<f32>,
}

impl<'s> Offsets<'s> {
    pub(crate) fn new(snapshot: &'s Snapshot, query: &[f32]) -> Offsets<'s> {
        let product =
            |centre: &[f32]| centre.iter().zip(query).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum::<f64>();
        let centres = snapshot.centres().chunks_exact(query.len().max(1));
        Offsets {
            namespaces: snapshot.centre_namespaces(),
            offsets: centres.map(|centre| product(centre) as f32).collect(),
        }
    }

    /// The part of the centre at a position; 0 in a damaged file without one.
    pub(crate) fn at(&self, place: u32) -> f32 {
        self.offsets.get(place as usize).copied().unwrap_or_default()
    }

    pub(crate) fn get(&self, namespace: u32) -> f32 {
        self.namespaces.binary_search(&namespace).map_or(0.0, |place| self.at(place as u32))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_namespace_has_the_mean_of_its_rows() {
        let mut sums = Sums::default();
        sums.add(7, &[2, 0], 0.5);
        sums.add(3, &[1, 1], 1.0);
        sums.add(7, &[0, 4], 0.5);
        let centres = sums.into_centres();
        assert_eq!(centres.namespaces, [3, 7]);
        assert_eq!(centres.values, [1.0, 1.0, 0.5, 1.0]);
        assert_eq!((centres.place(7), centres.place(5)), (Some(1), None));
        assert_eq!(centres.of_groups(&[3, 3, 7, 7, 3, 7, 7], 2), [0, 1, MIXED, 1]);
    }
}
