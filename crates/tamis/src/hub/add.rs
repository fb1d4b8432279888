//! Adds a model: list, choice, download, trial, and only then its place in the directory.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use std::{fs, io};

use serde::Deserialize;
use serde_json::Value;
use sha1::Sha1;
use sha2::{Digest, Sha256};
use tamis_embed::{EmbedError, Embedder, LocalModel, LocalReranker, Reranker, SETTINGS_FILE};

use super::choose::{Choice, Chosen, Wish, choose};
use super::directory::INCOMING;
use super::download::Downloads;
use super::transport::{Failure, HubAccess, Transport};
use super::{InstalledModel, ModelKind, ModelName, ModelRecord, ModelsDirectory, RecordedFile};
use crate::error::HubError;
use crate::file::DirectoryLock;
use crate::{Error, Observer, Stage};

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
        let before = ModelRecord::from_directory(&self.place).ok();
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
            record.settings.values = model.settings();
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

// The list of a model's files, as the hub gives it.

/// The most files of a repository.
const MOST_FILES: usize = 20_000;

/// The files of a model at one commit.
#[derive(Clone, Debug)]
pub(crate) struct Listing {
    pub commit: String,
    pub files: BTreeMap<String, Listed>,
    /// The licence of the model card.
    pub license: Option<String>,
}

/// A file of the list. A mirror may leave out size and sum.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Listed {
    pub bytes: Option<u64>,
    pub sum: Option<Sum>,
}

#[derive(Deserialize)]
struct Answer {
    sha: Option<String>,
    #[serde(default)]
    siblings: Vec<Sibling>,
    #[serde(rename = "cardData", default)]
    card: Value,
    #[serde(default)]
    tags: Vec<String>,
}

#[derive(Deserialize)]
struct Sibling {
    #[serde(rename = "rfilename")]
    name: String,
    size: Option<u64>,
    #[serde(rename = "blobId")]
    blob: Option<String>,
    lfs: Option<Pointer>,
}

#[derive(Deserialize)]
struct Pointer {
    sha256: Option<String>,
    size: Option<u64>,
}

impl Listing {
    /// Reads the hub's answer. Names that are not paths within a repository are left out.
    pub fn parse(name: &ModelName, address: &str, body: &[u8]) -> Result<Self, HubError> {
        let wrong = |reason: String| HubError::Answer {
            address: address.split('?').next().unwrap_or_default().to_owned(),
            reason,
        };
        let answer: Answer =
            serde_json::from_slice(body).map_err(|error| wrong(format!("no description of a model ({error})")))?;
        let commit = answer.sha.unwrap_or_default().to_ascii_lowercase();
        if commit.len() != 40 || !commit.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(wrong(format!("{name} has commit {commit:?}; expected 40 hexadecimal digits")));
        }
        if answer.siblings.len() > MOST_FILES {
            return Err(wrong(format!("{} files; expected at most {MOST_FILES}", answer.siblings.len())));
        }
        let files = answer.siblings.into_iter().filter(|file| is_path(&file.name));
        let listed = |file: Sibling| match file.lfs {
            Some(pointer) => {
                let sum = pointer.sha256.as_deref().and_then(Sum::parse);
                (file.name, Listed { bytes: pointer.size.or(file.size), sum })
            }
            None => (file.name, Listed { bytes: file.size, sum: file.blob.as_deref().and_then(Sum::parse) }),
        };
        Ok(Listing { commit, files: files.map(listed).collect(), license: license(&answer.card, &answer.tags) })
    }

    pub fn has(&self, file: &str) -> bool {
        self.files.contains_key(file)
    }
}

/// Returns `true` for a relative path without ways up, and without characters that mean something to a terminal or a system.
pub(crate) fn is_path(name: &str) -> bool {
    let is_part = |part: &str| !part.is_empty() && part != "." && part != "..";
    name.len() <= 512
        && name.split('/').all(is_part)
        && !name.chars().any(|character| character.is_control() || "\\:".contains(character))
}

/// Returns the licence of a model card, or that of the tags.
fn license(card: &Value, tags: &[String]) -> Option<String> {
    let listed = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Array(texts) => {
            let texts: Vec<&str> = texts.iter().filter_map(Value::as_str).collect();
            (!texts.is_empty()).then(|| texts.join(", "))
        }
        _ => None,
    };
    let tagged = || tags.iter().find_map(|tag| tag.strip_prefix("license:")).map(str::to_owned);
    let license = card.get("license").and_then(listed).or_else(tagged)?;
    let text = |key: &str| card.get(key).and_then(Value::as_str).map(str::to_owned);
    let license = match (license.as_str(), text("license_name")) {
        ("other", Some(name)) => name,
        _ => license,
    };
    Some(shortened(match text("license_link") {
        Some(link) => format!("{license} ({link})"),
        None => license,
    }))
}

/// Returns the licence in the front matter of a model card, which stands between two lines of `---`.
pub(crate) fn license_of_card(text: &str) -> Option<String> {
    let mut lines = text.lines();
    if lines.next()?.trim() != "---" {
        return None;
    }
    let mut values = lines.take_while(|line| line.trim() != "---").filter_map(|line| line.strip_prefix("license:"));
    let value = values.next()?.trim().trim_matches(['"', '\'']).trim();
    (!value.is_empty()).then(|| shortened(value.to_owned()))
}

/// Returns a licence on one short line.
fn shortened(license: String) -> String {
    license.chars().filter(|character| !character.is_control()).take(200).collect()
}

// Checksums of files, in the two forms that a hub has.

/// The checksum that a hub has of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Sum {
    /// The SHA-256 of a large file.
    Sha256(String),
    /// The identifier that git gives to a small file: the SHA-1 of a short head and the content.
    Git(String),
}

impl Sum {
    /// Reads the sum in an `ETag`, or in a list of files.
    pub fn parse(text: &str) -> Option<Sum> {
        let text = text.trim();
        let text = text.strip_prefix("W/").unwrap_or(text).trim_matches('"').to_ascii_lowercase();
        if !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        match text.len() {
            64 => Some(Sum::Sha256(text)),
            40 => Some(Sum::Git(text)),
            _ => None,
        }
    }

    pub fn algorithm(&self) -> &'static str {
        match self {
            Sum::Sha256(_) => "SHA-256",
            Sum::Git(_) => "git identifier",
        }
    }

    pub fn text(&self) -> &str {
        let (Sum::Sha256(text) | Sum::Git(text)) = self;
        text
    }
}

/// Both sums of a file, and its size.
#[derive(Clone, Debug)]
pub(crate) struct Sums {
    pub bytes: u64,
    pub sha256: String,
    git: String,
}

impl Sums {
    /// Reads a whole file. `stopped` ends that early.
    pub fn from_file(path: &Path, stopped: &dyn Fn() -> bool) -> io::Result<Sums> {
        let mut file = File::open(path)?;
        let bytes = file.metadata()?.len();
        let mut sha256 = Sha256::new();
        let mut git = Sha1::new();
        git.update(format!("blob {bytes}\0").as_bytes());
        let mut buffer = vec![0; 1 << 18];
        loop {
            match file.read(&mut buffer)? {
                0 => break,
                read => {
                    sha256.update(&buffer[..read]);
                    git.update(&buffer[..read]);
                }
            }
            if stopped() {
                return Err(io::ErrorKind::Interrupted.into());
            }
        }
        Ok(Sums { bytes, sha256: hex(&sha256.finalize()), git: hex(&git.finalize()) })
    }

    /// Returns the sum of the same kind.
    pub fn like(&self, sum: &Sum) -> &str {
        match sum {
            Sum::Sha256(_) => &self.sha256,
            Sum::Git(_) => &self.git,
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(answer: &Value) -> Result<Listing, HubError> {
        Listing::parse(&"a/b".parse().expect("a name"), "https://hub/api/x?blobs=true", answer.to_string().as_bytes())
    }

    #[test]
    fn sizes_sums_and_licences_come_with_the_names() {
        let (commit, blob, sha256) = ("0A".repeat(20), "1".repeat(40), "2".repeat(64));
        let listing = read(&json!({
            "sha": commit, "cardData": {"license": "mit"}, "siblings": [
                {"rfilename": "config.json", "size": 5, "blobId": blob},
                {"rfilename": "model.safetensors", "size": 130, "blobId": blob, "lfs": {"sha256": sha256, "size": 99, "pointerSize": 130}},
                {"rfilename": "README.md"},
            ],
        }))
        .expect("a list");
        assert_eq!(listing.commit, commit.to_lowercase());
        assert_eq!(listing.files["config.json"], Listed { bytes: Some(5), sum: Some(Sum::Git(blob)) });
        assert_eq!(listing.files["model.safetensors"], Listed { bytes: Some(99), sum: Some(Sum::Sha256(sha256)) });
        assert_eq!(listing.files["README.md"], Listed::default());
        assert_eq!(listing.license.as_deref(), Some("mit"));

        let of = |card: Value, tags: &[&str]| license(&card, &tags.iter().map(|tag| (*tag).into()).collect::<Vec<_>>());
        assert_eq!(of(json!({"license": "apache-2.0"}), &[]).as_deref(), Some("apache-2.0"));
        assert_eq!(of(json!({"license": ["mit", "cc0-1.0"]}), &[]).as_deref(), Some("mit, cc0-1.0"));
        let other = json!({"license": "other", "license_name": "house", "license_link": "LICENSE"});
        assert_eq!(of(other, &[]).as_deref(), Some("house (LICENSE)"));
        assert_eq!(of(Value::Null, &["en", "license:gemma"]).as_deref(), Some("gemma"));
        assert_eq!(of(Value::Null, &[]), None);
        assert_eq!(license_of_card("---\ntags:\n- x\nlicense: \"mit\"\n---\n# A\n").as_deref(), Some("mit"));
        assert_eq!(license_of_card("---\ntags: x\n---\nlicense: mit\n"), None);
        assert_eq!(license_of_card("license: mit\n"), None);
    }

    #[test]
    fn trap_hostile_names_are_left_out() {
        let names = ["../../x", "/etc/passwd", "a/../b", "a//b", "C:/x", "a\\b", "a\u{1b}[2J", "", ".", "a/./b"];
        let siblings: Vec<Value> = names.iter().map(|name| json!({"rfilename": name})).collect();
        let listing = read(&json!({"sha": "a".repeat(40), "siblings": siblings})).expect("a list");
        assert!(listing.files.is_empty(), "{:?}", listing.files);
        for sha in ["", "../../x", "main", &"g".repeat(40)] {
            assert!(read(&json!({"sha": sha, "siblings": []})).is_err(), "{sha}");
        }
        assert!(read(&json!([])).is_err());
    }

    #[test]
    fn sums_are_those_of_git_and_sha256sum_and_the_length_of_a_tag_says_its_kind() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("a");
        std::fs::write(&path, "hello\n").expect("written");
        let sums = Sums::from_file(&path, &|| false).expect("read");
        assert_eq!(sums.bytes, 6);
        // `git hash-object` and `sha256sum`.
        assert_eq!(sums.git, "ce013625030ba8dba906f756967f9e9ca394464a");
        assert_eq!(sums.sha256, "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03");
        assert!(Sums::from_file(&path, &|| true).is_err());
        let (short, long) = ("a".repeat(40), "B".repeat(64));
        assert_eq!(Sum::parse(&format!("\"{short}\"")), Some(Sum::Git(short.clone())));
        assert_eq!(Sum::parse(&format!("W/\"{short}\"")), Some(Sum::Git(short)));
        assert_eq!(Sum::parse(&long), Some(Sum::Sha256("b".repeat(64))));
        for other in ["", "\"abc\"", &"g".repeat(40), &"a".repeat(32)] {
            assert_eq!(Sum::parse(other), None, "{other}");
        }
    }
}
