//! Writing a new vector file beside the old one and replacing that.

use std::fs::{self, File};
use std::io::{BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use zerocopy::IntoBytes;

use super::VectorError;
use super::centres::{Centres, Sums};
use super::format::{GROUP, HEADER_BYTES, Header, Identity, Layout, Owner};
use super::quantize::{Encoder, sign_code};

/// Writes a [`Snapshot`](super::Snapshot) file, passage by passage.
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
    scales: Vec<f32>,
    passages: Vec<u64>,
    documents: Vec<u32>,
    namespaces: Vec<u32>,
    /// The sums of all rows, which become the centres.
    sums: Sums,
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
            scales: Vec::new(),
            passages: Vec::new(),
            documents: Vec::new(),
            namespaces: Vec::new(),
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
        let owner = owner.into();
        self.check_order(passage)?;
        let code = self.encoder.passage(passage, vector)?;
        let scale = code.scale;
        self.sums.add(owner.namespace, &code.codes, scale);
        let bytes = code.codes.as_bytes();
        self.body.update(bytes);
        self.written += bytes.len();
        self.file.write_all(bytes).map_err(VectorError::io(&self.temporary.path))?;
        self.number_row(passage, owner, scale);
        Ok(())
    }

    /// Adds a row that is already encoded, from another file or from memory.
    pub(super) fn push_code(
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
        self.number_row(passage, owner, scale);
        Ok(())
    }

    /// Returns the number of passages so far.
    #[must_use]
    pub fn len(&self) -> usize {
        self.passages.len()
    }

    /// Returns `true` if it has no passage yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.passages.is_empty()
    }

    /// Writes the rest, waits for the disk, and puts the file in place.
    ///
    /// # Errors
    /// The disk is full or the directory cannot be written. The old file then stays.
    pub fn finish(mut self) -> Result<(), VectorError> {
        let count = self.passages.len();
        let centres = std::mem::take(&mut self.sums).into_centres();
        let layout =
            Layout::new(self.identity.dimension, count, centres.namespaces.len()).ok_or(VectorError::TooManyRows)?;
        let scales = std::mem::take(&mut self.scales);
        let passages = std::mem::take(&mut self.passages);
        let documents = std::mem::take(&mut self.documents);
        let namespaces = std::mem::take(&mut self.namespaces);
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
        match self.passages.last() {
            Some(&previous) if previous >= passage => Err(VectorError::Order { previous, passage }),
            _ if self.passages.len() >= u32::MAX as usize => Err(VectorError::TooManyRows),
            _ => Ok(()),
        }
    }

    fn number_row(&mut self, passage: u64, owner: Owner, scale: f32) {
        self.passages.push(passage);
        self.documents.push(owner.document);
        self.namespaces.push(owner.namespace);
        self.scales.push(scale);
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
        crate::in_use::replace(&self.temporary.path, &self.path).map_err(VectorError::io(&self.path))?;
        self.temporary.kept = true;
        // The rename survives a power cut once the directory is on disk. Some file systems cannot do this.
        if let Some(directory) = self.path.parent().and_then(|directory| File::open(directory).ok()) {
            let _ = directory.sync_all();
        }
        Ok(())
    }
}
