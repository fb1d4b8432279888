//! Adds a model: list, choice, download, trial, and only then its place in the directory.

use super::choose::{Choice, Chosen, Wish, choose};
use super::directory::INCOMING;
use super::download::Downloads;
use super::listing::{Listing, license_of_card};
use super::transport::{Failure, HubAccess, Transport};
use super::{InstalledModel, ModelKind, ModelName, ModelRecord, ModelsDirectory, RecordedFile};
use crate::error::HubError;
use crate::file::DirectoryLock;
use crate::{Error, Observer, Stage};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use tamis_embed::{EmbedError, Embedder, LocalModel, LocalReranker, Reranker, SETTINGS_FILE};

/// The most bytes of a model by default.
pub const MOST_BYTES: u64 = 4 << 30;

/// The largest answer with a list of files, and the largest small file, in bytes.
const LARGEST_LISTING: u64 = 16 << 20;
const LARGEST_SMALL: u64 = 1 << 20;

/// The attempts to read the list of files.
const ATTEMPTS: u32 = 3;

/// The time after which unfinished downloads of other models are removed.
const STALE: Duration = Duration::from_secs(7 * 24 * 3600);

/// The model to add.
#[derive(Clone, Debug)]
pub struct AddRequest {
    /// Its name.
    pub name: ModelName,
    /// Add it as a reranker even if its configuration does not say that it is one.
    pub reranker: bool,
    /// Take a smaller form of its weights, quantized to 8 bits.
    pub quantized: bool,
    /// Take these weights of the repository, such as `onnx/model_O3.onnx`.
    pub file: Option<String>,
    /// The most bytes of all files together.
    pub most_bytes: u64,
}

impl AddRequest {
    /// Asks for a model, with the limit [`MOST_BYTES`].
    #[must_use]
    pub fn new(name: ModelName) -> Self {
        AddRequest { name, reranker: false, quantized: false, file: None, most_bytes: MOST_BYTES }
    }
}

/// A model that was added.
#[derive(Clone, Debug)]
pub struct Added {
    /// The model, with its directory and its record.
    pub model: InstalledModel,
    /// True if the same files were there already.
    pub was_there: bool,
}

/// Fetches a model into the user's directory and tries it. Complete files and parts of an earlier attempt are used. The model gets
/// its place by renaming, so a directory is never half a model.
///
/// # Errors
/// The hub does not answer or has no such model ([`Error::Hub`]), a file differs from its sum or is too large, the model cannot be
/// used, the files cannot be written, or the observer stops the call.
pub fn add(
    request: &AddRequest,
    access: &HubAccess,
    models: &ModelsDirectory,
    observer: &dyn Observer,
) -> Result<Added, Error> {
    let transport = Transport::new(access)?;
    let incoming = models.path().join(INCOMING);
    fs::create_dir_all(&incoming).map_err(|error| Error::path(&incoming, format!("cannot be made: {error}")))?;
    let _lock = DirectoryLock::take(models.path())?;
    observer.stage(Stage::Fetch(request.name.to_string()), 0);
    let listing = fetch_listing(&request.name, &transport, observer)?;
    let name = &request.name;
    let place = models.of_commit(name, &listing.commit);
    let staging = incoming.join(format!("{}@{}", name.directory(), listing.commit));
    fs::create_dir_all(staging.join("1_Pooling"))
        .map_err(|error| Error::path(&staging, format!("cannot be made: {error}")))?;
    remove_stale(&incoming, &staging);
    let (limit, commit) = (request.most_bytes, listing.commit.as_str());
    let downloads = Downloads { transport: &transport, name, commit, limit, observer };
    let adding = Adding { request, downloads, listing: &listing, staging, place };
    adding.run(&transport)
}

struct Adding<'a> {
    request: &'a AddRequest,
    downloads: Downloads<'a>,
    listing: &'a Listing,
    staging: PathBuf,
    place: PathBuf,
}

impl Adding<'_> {
    fn run(&self, transport: &Transport) -> Result<Added, Error> {
        let wish = Wish {
            reranker: self.request.reranker,
            quantized: self.request.quantized,
            file: self.request.file.clone(),
        };
        let choice = choose(&self.request.name, self.listing, &wish, &mut |file| self.small(file).map(Some))?;
        let files = self.fetch(&choice)?;
        let before = ModelRecord::read(&self.place).ok();
        let was_there = before.as_ref().is_some_and(|record| record.files == files && record.kind == choice.kind);
        let mut record = ModelRecord {
            model: self.request.name.repository().to_owned(),
            revision: self.listing.commit.clone(),
            asked: self.request.name.revision().map(str::to_owned),
            hub: transport.root().to_owned(),
            kind: choice.kind,
            license: self.license(),
            dimension: None,
            max_tokens: None,
            settings: choice.settings.clone(),
            pooling_from: choice.pooling_from.clone(),
            prefixes_from: choice.prefixes_from.clone(),
            files,
            added: crate::dates::present(),
        };
        self.remove_others(&record);
        self.write(&record)?;
        self.downloads.observer.stage(Stage::Try(self.request.name.to_string()), 0);
        if let Err(error) = tried(&self.staging, &mut record) {
            // The next attempt would end the same way.
            let _ = fs::remove_dir_all(&self.staging);
            let reason = format!("it does not work: {error}; it was removed");
            return Err(HubError::Unusable { model: self.request.name.to_string(), reason }.into());
        }
        self.write(&record)?;
        self.put()?;
        Ok(Added { model: InstalledModel { directory: self.place.clone(), record }, was_there })
    }

    /// Reads a small file, and keeps it for the directory.
    fn small(&self, file: &Chosen) -> Result<Vec<u8>, Error> {
        let listed = self.listing.files.get(&file.source).cloned().unwrap_or_default();
        let downloads = Downloads { limit: LARGEST_SMALL.min(self.downloads.limit), ..self.downloads };
        let path = self.staging.join(&file.path);
        downloads.fetch(&file.source, &listed, &path, Some(&self.place.join(&file.path)))?;
        fs::read(&path).map_err(|error| Error::path(&path, format!("cannot be read: {error}")))
    }

    /// Fetches the chosen files, unless they are too large together.
    fn fetch(&self, choice: &Choice) -> Result<Vec<RecordedFile>, Error> {
        let listed = |file: &Chosen| self.listing.files.get(&file.source).cloned().unwrap_or_default();
        let sizes = choice.files.iter().map(|file| listed(file).bytes);
        let all = sizes.flatten().fold(0, u64::saturating_add);
        self.check_size(all)?;
        self.downloads.observer.stage(Stage::Download(self.request.name.to_string()), all);
        let (mut files, mut bytes) = (Vec::new(), 0u64);
        for file in &choice.files {
            let path = self.staging.join(&file.path);
            let kept = self.place.join(&file.path);
            let sums = self.downloads.fetch(&file.source, &listed(file), &path, Some(&kept))?;
            bytes = bytes.saturating_add(sums.bytes);
            self.check_size(bytes)?;
            files.push(RecordedFile {
                path: file.path.clone(),
                source: file.source.clone(),
                bytes: sums.bytes,
                sha256: sums.sha256,
            });
        }
        Ok(files)
    }

    fn check_size(&self, bytes: u64) -> Result<(), Error> {
        let limit = self.request.most_bytes;
        if bytes <= limit {
            return Ok(());
        }
        let (model, what) = (self.request.name.to_string(), "the model".to_owned());
        Err(HubError::TooLarge { model, what, bytes, limit }.into())
    }

    /// Returns the licence that the list names, or that of the model card. Without both, the model is added all the same.
    fn license(&self) -> Option<String> {
        let card = || {
            let card = Chosen { source: "README.md".to_owned(), path: "README.md".to_owned() };
            if !self.listing.has(&card.source) {
                return None;
            }
            license_of_card(&String::from_utf8_lossy(&self.small(&card).ok()?))
        };
        self.listing.license.clone().or_else(card)
    }

    /// Removes the files of earlier attempts that made another choice.
    fn remove_others(&self, record: &ModelRecord) {
        let wanted: BTreeSet<PathBuf> = record.files.iter().map(|file| self.staging.join(&file.path)).collect();
        for directory in [self.staging.clone(), self.staging.join("1_Pooling")] {
            for entry in fs::read_dir(&directory).into_iter().flatten().flatten() {
                if entry.path().is_file() && !wanted.contains(&entry.path()) {
                    // One that stays is never read.
                    let _ = fs::remove_file(entry.path());
                }
            }
        }
        // A directory with files stays.
        let _ = fs::remove_dir(self.staging.join("1_Pooling"));
    }

    fn write(&self, record: &ModelRecord) -> Result<(), Error> {
        let path = self.staging.join(SETTINGS_FILE);
        record.write(&self.staging).map_err(|error| Error::path(&path, format!("cannot be written: {error}")))
    }

    /// Gives the model its place. An older one at the same commit goes.
    fn put(&self) -> Result<(), Error> {
        let failed = |error: std::io::Error| Error::path(&self.place, format!("cannot be written: {error}"));
        if let Some(parent) = self.place.parent() {
            fs::create_dir_all(parent).map_err(failed)?;
        }
        let mut old = self.staging.clone().into_os_string();
        old.push(".old");
        let old = PathBuf::from(old);
        let _ = fs::remove_dir_all(&old);
        if self.place.exists() {
            fs::rename(&self.place, &old).map_err(failed)?;
        }
        let put = fs::rename(&self.staging, &self.place);
        if put.is_err() && old.exists() {
            // The old model still works.
            let _ = fs::rename(&old, &self.place);
        }
        put.map_err(failed)?;
        let _ = fs::remove_dir_all(&old);
        Ok(())
    }
}

/// Computes something with a model and records what is learnt.
fn tried(directory: &Path, record: &mut ModelRecord) -> Result<(), EmbedError> {
    let faulty = |reason: &str| EmbedError::Model { model: record.model.clone(), reason: reason.to_owned() };
    match record.kind {
        ModelKind::Embedder => {
            let model = LocalModel::open(directory)?;
            let vectors = [model.embed_query("dimension")?, model.embed_passages(&["dimension"])?.remove(0)];
            for vector in &vectors {
                let length: f32 = vector.iter().map(|x| x * x).sum();
                if !length.is_finite() || (length > 0.0 && (length - 1.0).abs() > 1e-3) {
                    return Err(faulty("its vectors are not finite"));
                }
            }
            record.dimension = Some(model.model().dimension);
            record.max_tokens = model.model().max_tokens;
            record.settings = model.settings();
        }
        ModelKind::Reranker => {
            let model = LocalReranker::open(directory)?;
            let odds = model.score("query", &["passage", "another"])?;
            if odds.len() != 2 {
                return Err(faulty("it does not score each pair"));
            }
        }
    }
    Ok(())
}

/// Reads the list of a model's files.
fn fetch_listing(name: &ModelName, transport: &Transport, observer: &dyn Observer) -> Result<Listing, Error> {
    let address = transport.listing(name);
    let mut attempts = 0;
    loop {
        observer.check_cancelled()?;
        attempts += 1;
        let (reason, wait) = match listed(name, transport, &address) {
            Ok(listing) => return Ok(listing),
            Err(Failure::Lasting(error)) => return Err(error.into()),
            Err(Failure::Passing { reason, wait }) => (reason, wait),
        };
        if attempts >= ATTEMPTS {
            let address = address.split('?').next().unwrap_or_default().to_owned();
            return Err(HubError::Unavailable { address, reason, attempts, begun: false }.into());
        }
        let wait = wait.unwrap_or(Duration::from_millis(300) * attempts);
        std::thread::sleep(wait.min(Duration::from_secs(10)));
    }
}

fn listed(name: &ModelName, transport: &Transport, address: &str) -> Result<Listing, Failure> {
    let (mut response, said) = transport.get(address, None)?;
    if let Some(failure) = transport.refusal(name, address, &mut response, &said) {
        return Err(failure);
    }
    let body = response.body_mut().with_config().limit(LARGEST_LISTING).read_to_vec();
    let body = body.map_err(|error| transport.broken(address, &error))?;
    Ok(Listing::parse(name, address, &body)?)
}

/// Removes what other downloads left long ago.
fn remove_stale(incoming: &Path, own: &Path) {
    for entry in fs::read_dir(incoming).into_iter().flatten().flatten() {
        let modified = entry.metadata().and_then(|metadata| metadata.modified());
        let age = modified.ok().and_then(|time| SystemTime::now().duration_since(time).ok()).unwrap_or_default();
        if entry.path() != own && age > STALE {
            // One that stays costs only room.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}
