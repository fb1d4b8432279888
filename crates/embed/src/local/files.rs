//! The files of a model's directory, the settings in the small ones, and the identifier made from all of them.

use std::fs;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::LocalOptions;
use super::settings::{ModelSettings, SETTINGS_FILE};
use crate::EmbedError;
use crate::bert::Pooling;

/// The number of tokens of a text that count unless a file sets another.
const DEFAULT_MAX_TOKENS: usize = 512;

/// The largest file that is read whole, in bytes: ten times the weights of the largest encoders.
const MAX_BYTES: u64 = 16 << 30;

/// The files of a model. All are read at once, except an ONNX file, which the runtime reads.
pub(super) struct Files {
    directory: PathBuf,
    id: String,
    tokenizer: Option<Vec<u8>>,
    config: Option<Vec<u8>>,
    safetensors: Option<Vec<u8>>,
    onnx: Option<(&'static str, PathBuf)>,
    settings: ModelSettings,
    /// The reason why the pooling is not known.
    pooling_fault: Option<String>,
    max_tokens: usize,
}

#[derive(Deserialize)]
struct Sizes {
    max_seq_length: Option<usize>,
    max_position_embeddings: Option<usize>,
    #[serde(default)]
    model_type: String,
}

impl Sizes {
    /// Returns the number of tokens that have a position. RoBERTa and its relatives count positions from two.
    fn positions(&self) -> Option<usize> {
        let unused = ["roberta", "xlm-roberta", "camembert", "mpnet"].contains(&self.model_type.as_str());
        self.max_position_embeddings.map(|positions| positions.saturating_sub(if unused { 2 } else { 0 }))
    }
}

impl Files {
    pub(super) fn new(directory: &Path, options: &LocalOptions) -> Result<Self, EmbedError> {
        let read = |name: &str| optional(&directory.join(name));
        let unusable = |reason| unusable(directory, reason);
        let tokenizer = read("tokenizer.json")?;
        let config = read("config.json")?;
        let mut hasher = blake3::Hasher::new();
        let onnx = ["model.onnx", "onnx/model.onnx"]
            .into_iter()
            .map(|name| (name, directory.join(name)))
            .find(|(_, path)| path.is_file());
        let mut safetensors = None;
        match &onnx {
            Some((_, path)) => {
                let source = |source| EmbedError::Read { path: path.clone(), source };
                hasher.update_reader(open(path).map_err(source)?).map_err(source)?;
            }
            None => safetensors = read("model.safetensors")?,
        }
        hasher.update(safetensors.as_deref().unwrap_or_default());
        hasher.update(tokenizer.as_deref().unwrap_or_default());
        let pooling_file = read("1_Pooling/config.json")?;
        hasher.update(pooling_file.as_deref().unwrap_or_default());
        let sizes = |json: &Option<Vec<u8>>| json.as_ref().and_then(|json| serde_json::from_slice::<Sizes>(json).ok());
        let max_tokens = sizes(&read("sentence_bert_config.json")?)
            .and_then(|sizes| sizes.max_seq_length)
            .or_else(|| sizes(&config)?.positions())
            .filter(|&tokens| tokens > 2)
            .unwrap_or(DEFAULT_MAX_TOKENS);
        // The limit is part of the identifier, since it changes the vectors of long texts.
        hasher.update(&(max_tokens as u64).to_le_bytes());
        let chosen = match read(SETTINGS_FILE)? {
            Some(json) => serde_json::from_slice::<ModelSettings>(&json)
                .map_err(|error| unusable(format!("{SETTINGS_FILE}: {error}")))?,
            None => ModelSettings::default(),
        };
        // So are a pooling that another file does not say, and the prefixes.
        hasher.update(chosen.pooling.as_deref().unwrap_or_default().as_bytes());
        let prompts = read("config_sentence_transformers.json")?.map(|json| ModelSettings::of_prompts(&json));
        let own = prompts.transpose().map_err(unusable)?.unwrap_or_default();
        let pooling = pooling_file.filter(|_| chosen.pooling.is_none()).map(|json| ModelSettings::of_pooling(&json));
        // Only an encoder needs it.
        let (pooling, pooling_fault) = match pooling.transpose() {
            Ok(pooling) => (pooling.unwrap_or_default(), None),
            Err(fault) => (ModelSettings::default(), Some(fault)),
        };
        let settings = options.settings().or(chosen).or(own).or(pooling);
        let prefixes =
            [&settings.query_prefix, &settings.passage_prefix].map(|prefix| prefix.clone().unwrap_or_default());
        if prefixes.iter().any(|prefix| !prefix.is_empty()) {
            hasher.update(prefixes.join("\0").as_bytes());
        }
        let name = match &options.name {
            Some(name) => name.clone(),
            None => {
                format!("local:{}", directory.file_name().unwrap_or(directory.as_os_str()).to_string_lossy())
            }
        };
        let checksum = hasher.finalize().to_hex();
        let id = format!("{name}#{}", checksum.get(..8).unwrap_or_default());
        Ok(Self {
            directory: directory.to_owned(),
            id,
            tokenizer,
            config,
            safetensors,
            onnx,
            settings,
            pooling_fault,
            max_tokens,
        })
    }

    pub(super) fn id(&self) -> String {
        self.id.clone()
    }

    /// Makes an error about this directory.
    pub(super) fn unusable(&self, reason: String) -> EmbedError {
        unusable(&self.directory, reason)
    }

    pub(super) fn tokenizer(&self) -> Result<&[u8], EmbedError> {
        self.tokenizer.as_deref().ok_or_else(|| {
            self.unusable("it has no tokenizer.json; save the model's fast tokenizer into the directory".to_owned())
        })
    }

    pub(super) fn config(&self) -> Result<&[u8], String> {
        self.config
            .as_deref()
            .ok_or_else(|| "it has no config.json, which model.safetensors of a BERT encoder needs".to_owned())
    }

    pub(super) fn safetensors(&self) -> Result<&[u8], String> {
        self.safetensors.as_deref().ok_or_else(|| "it has neither model.onnx nor model.safetensors".to_owned())
    }

    pub(super) fn onnx(&self) -> Option<(&'static str, PathBuf)> {
        self.onnx.clone()
    }

    pub(super) fn max_tokens(&self) -> usize {
        self.max_tokens
    }

    /// The settings, from the options or from the file that goes before the others.
    pub(super) fn settings(&self) -> &ModelSettings {
        &self.settings
    }

    pub(super) fn pooling(&self) -> Result<Pooling, String> {
        match &self.pooling_fault {
            Some(fault) => Err(fault.clone()),
            None => self.settings.kind(),
        }
    }
}

/// Makes an error about a directory.
fn unusable(directory: &Path, reason: String) -> EmbedError {
    EmbedError::Model { model: directory.display().to_string(), reason }
}

/// Opens a regular file. A model's directory can come with a project, where opening a pipe would block and a device never ends.
fn open(path: &Path) -> io::Result<fs::File> {
    let regular = |metadata: fs::Metadata| match metadata.is_file() {
        true => Ok(()),
        false => Err(io::Error::new(ErrorKind::InvalidInput, "not a regular file")),
    };
    regular(fs::metadata(path)?)?;
    let mut options = fs::OpenOptions::new();
    options.read(true);
    // The file may have become a pipe since.
    #[cfg(target_os = "linux")]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NONBLOCK);
    let file = options.open(path)?;
    regular(file.metadata()?)?;
    Ok(file)
}

fn whole(file: fs::File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > MAX_BYTES {
        true => Err(io::Error::new(ErrorKind::InvalidInput, format!("larger than {MAX_BYTES} bytes"))),
        false => Ok(bytes),
    }
}

/// Returns the content of a file; `None` if it does not exist.
fn optional(path: &Path) -> Result<Option<Vec<u8>>, EmbedError> {
    match open(path).and_then(whole) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(source) => Err(EmbedError::Read { path: path.to_owned(), source }),
    }
}
