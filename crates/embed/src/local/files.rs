//! The files of a model's directory, the settings in the small ones, and the identifier made from all of them.

use std::fs;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::DeserializeOwned;

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
    pooling: Option<PoolingConfig>,
    max_tokens: usize,
}

#[derive(Deserialize)]
struct PoolingConfig {
    #[serde(default)]
    pooling_mode_cls_token: bool,
    #[serde(default)]
    pooling_mode_mean_tokens: bool,
}

#[derive(Deserialize)]
struct Sizes {
    max_seq_length: Option<usize>,
    max_position_embeddings: Option<usize>,
}

impl Files {
    pub(super) fn new(directory: &Path) -> Result<Self, EmbedError> {
        let read = |name: &str| optional(&directory.join(name));
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
            .or_else(|| sizes(&config)?.max_position_embeddings)
            .filter(|&tokens| tokens > 2)
            .unwrap_or(DEFAULT_MAX_TOKENS);
        // The limit is part of the identifier, since it changes the vectors of long texts.
        hasher.update(&(max_tokens as u64).to_le_bytes());
        let name = directory.file_name().unwrap_or(directory.as_os_str()).to_string_lossy();
        let checksum = hasher.finalize().to_hex();
        let id = format!("local:{name}#{}", checksum.get(..8).unwrap_or_default());
        let mut files = Self {
            directory: directory.to_owned(),
            id,
            tokenizer,
            config,
            safetensors,
            onnx,
            pooling: None,
            max_tokens,
        };
        files.pooling = match pooling_file {
            Some(json) => Some(files.json("1_Pooling/config.json", &json)?),
            None => None,
        };
        Ok(files)
    }

    pub(super) fn id(&self) -> String {
        self.id.clone()
    }

    /// Makes an error about this directory.
    pub(super) fn unusable(&self, reason: String) -> EmbedError {
        EmbedError::Model { model: self.directory.display().to_string(), reason }
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

    pub(super) fn pooling(&self) -> Result<Pooling, String> {
        match &self.pooling {
            None => Ok(Pooling::Mean),
            Some(PoolingConfig { pooling_mode_mean_tokens: true, pooling_mode_cls_token: false }) => Ok(Pooling::Mean),
            Some(PoolingConfig { pooling_mode_mean_tokens: false, pooling_mode_cls_token: true }) => Ok(Pooling::First),
            Some(_) => Err("1_Pooling/config.json asks for a pooling that is not supported; supported are \
                pooling_mode_mean_tokens and pooling_mode_cls_token, one of them"
                .to_owned()),
        }
    }

    fn json<T: DeserializeOwned>(&self, name: &str, json: &[u8]) -> Result<T, EmbedError> {
        serde_json::from_slice(json).map_err(|error| self.unusable(format!("{name}: {error}")))
    }
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
