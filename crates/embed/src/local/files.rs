//! The files of a model's directory, the settings in the small ones, and the identifier made from all of them.

use std::collections::BTreeMap;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::{fs, io};

use serde::{Deserialize, Serialize};

use super::LocalOptions;
use crate::EmbedError;
use crate::bert::Pooling;

/// The number of tokens of a text that count unless a file sets another.
const DEFAULT_MAX_TOKENS: usize = 512;

/// The largest file that is read whole, in bytes: ten times the weights of the largest encoders.
const MAX_BYTES: u64 = 16 << 30;

/// The files of a model. All are read at once, except an ONNX file, which the runtime reads.
pub struct Files {
    directory: PathBuf,
    pub id: String,
    tokenizer: Option<Vec<u8>>,
    config: Option<Vec<u8>>,
    safetensors: Option<Vec<u8>>,
    pub onnx: Option<(&'static str, PathBuf)>,
    /// The settings, from the options or from the file that goes before the others.
    pub settings: ModelSettings,
    /// The reason why the pooling is not known.
    pooling_fault: Option<String>,
    pub max_tokens: usize,
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
    pub fn new(directory: &Path, options: &LocalOptions) -> Result<Self, EmbedError> {
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

    /// Makes an error about this directory.
    pub fn unusable(&self, reason: String) -> EmbedError {
        unusable(&self.directory, reason)
    }

    pub fn tokenizer(&self) -> Result<&[u8], EmbedError> {
        self.tokenizer.as_deref().ok_or_else(|| {
            self.unusable("it has no tokenizer.json; save the model's fast tokenizer into the directory".to_owned())
        })
    }

    pub fn config(&self) -> Result<&[u8], String> {
        self.config
            .as_deref()
            .ok_or_else(|| "it has no config.json, which model.safetensors of a BERT encoder needs".to_owned())
    }

    pub fn safetensors(&self) -> Result<&[u8], String> {
        self.safetensors.as_deref().ok_or_else(|| "it has neither model.onnx nor model.safetensors".to_owned())
    }

    pub fn pooling(&self) -> Result<Pooling, String> {
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

// The settings of a model: its pooling and its prefixes, from the files beside its weights.
//
// sentence-transformers writes the pooling to `1_Pooling/config.json` and the prefixes, which it calls prompts, to
// `config_sentence_transformers.json`. Exports by others often lack both. `SETTINGS_FILE` then holds what whoever fetched the
// model decided, and goes before the other two.

/// The file in a model's directory with settings that go before those of its other files: [`ModelSettings`] as JSON, among
/// other keys.
pub const SETTINGS_FILE: &str = "tamis-model.json";

/// The settings of a model that its weights do not determine. `None` leaves a setting to the next best origin.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelSettings {
    /// The way token vectors become the vector of a text: `mean`, `cls`, `lasttoken` or `weightedmean`.
    pub pooling: Option<String>,
    /// Text before each query.
    pub query_prefix: Option<String>,
    /// Text before each passage.
    pub passage_prefix: Option<String>,
}

impl ModelSettings {
    /// Reads `config_sentence_transformers.json`: the prompt `query`, and the first of `document`, `passage` and `corpus`, as
    /// sentence-transformers itself chooses them; otherwise the default prompt, if there is one.
    ///
    /// # Errors
    /// The file is not JSON of that form.
    pub fn of_prompts(json: &[u8]) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct Prompts {
            #[serde(default)]
            prompts: Option<BTreeMap<String, Option<String>>>,
            #[serde(default)]
            default_prompt_name: Option<String>,
        }
        let file: Prompts =
            serde_json::from_slice(json).map_err(|error| format!("config_sentence_transformers.json: {error}"))?;
        let prompts = file.prompts.unwrap_or_default();
        let first = |names: &[&str]| {
            let named = names.iter().copied().chain(file.default_prompt_name.as_deref());
            named.filter_map(|name| prompts.get(name).cloned().flatten()).next()
        };
        Ok(ModelSettings {
            pooling: None,
            query_prefix: first(&["query"]),
            passage_prefix: first(&["document", "passage", "corpus"]),
        })
    }

    /// Reads `1_Pooling/config.json`, in the form with one flag for each kind of pooling or with one word.
    ///
    /// # Errors
    /// The file is not JSON of that form, or asks for a pooling that this crate cannot do.
    pub fn of_pooling(json: &[u8]) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct Flags {
            pooling_mode: Option<String>,
            #[serde(flatten)]
            others: BTreeMap<String, serde_json::Value>,
        }
        let file: Flags = serde_json::from_slice(json).map_err(|error| format!("1_Pooling/config.json: {error}"))?;
        let flags = file.others.iter().filter(|(_, value)| **value == serde_json::Value::Bool(true));
        let flags = flags.filter_map(|(name, _)| name.strip_prefix("pooling_mode_"));
        let words: Vec<&str> = match &file.pooling_mode {
            Some(word) => vec![word],
            None => flags.collect(),
        };
        let word = match *words.as_slice() {
            // Their lengths differ, which scaling to length one undoes.
            ["mean" | "mean_tokens" | "mean_sqrt_len_tokens"] => "mean",
            ["cls" | "cls_token"] => "cls",
            ["lasttoken"] => "lasttoken",
            ["weightedmean" | "weightedmean_tokens"] => "weightedmean",
            _ => {
                return Err(format!(
                    "1_Pooling/config.json asks for a pooling that is not supported ({}); supported is one of mean, cls, \
                     lasttoken and weightedmean",
                    if words.is_empty() { "none".to_owned() } else { words.join(" and ") }
                ));
            }
        };
        Ok(ModelSettings { pooling: Some(word.to_owned()), ..ModelSettings::default() })
    }

    /// Takes from `other` what is not set here.
    #[must_use]
    pub fn or(self, other: ModelSettings) -> Self {
        ModelSettings {
            pooling: self.pooling.or(other.pooling),
            query_prefix: self.query_prefix.or(other.query_prefix),
            passage_prefix: self.passage_prefix.or(other.passage_prefix),
        }
    }

    /// Returns the pooling; the mean by default.
    pub(crate) fn kind(&self) -> Result<Pooling, String> {
        match self.pooling.as_deref() {
            None | Some("mean") => Ok(Pooling::Mean),
            Some("cls") => Ok(Pooling::First),
            Some("lasttoken") => Ok(Pooling::Last),
            Some("weightedmean") => Ok(Pooling::WeightedMean),
            Some(other) => Err(format!(
                "{SETTINGS_FILE} has pooling {other:?}; supported are \"mean\", \"cls\", \"lasttoken\" and \"weightedmean\""
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(pooling: Option<&str>, query: Option<&str>, passage: Option<&str>) -> ModelSettings {
        let [pooling, query_prefix, passage_prefix] = [pooling, query, passage].map(|text| text.map(str::to_owned));
        ModelSettings { pooling, query_prefix, passage_prefix }
    }

    #[test]
    fn prompts_are_chosen_by_name_and_then_by_default() {
        let of = |json: &str| ModelSettings::of_prompts(json.as_bytes()).unwrap();
        assert_eq!(of(r#"{"prompts": {}}"#), ModelSettings::default());
        assert_eq!(of(r#"{"__version__": {}, "prompts": null}"#), ModelSettings::default());
        let two = r#"{"prompts": {"query": "q: ", "passage": "p: ", "corpus": "c: ", "clustering": "x: "}}"#;
        assert_eq!(of(two), settings(None, Some("q: "), Some("p: ")));
        let default = r#"{"prompts": {"document": "", "all": "a: "}, "default_prompt_name": "all"}"#;
        assert_eq!(of(default), settings(None, Some("a: "), Some("")));
        let refused = ModelSettings::of_prompts(br#"{"prompts": 5}"#).unwrap_err();
        assert!(refused.contains("config_sentence_transformers.json"), "{refused}");
    }

    #[test]
    fn both_forms_of_pooling_are_read() {
        let of = |json: &str| ModelSettings::of_pooling(json.as_bytes()).map(|settings| settings.pooling.unwrap());
        for (json, word) in [
            (r#"{"pooling_mode_mean_tokens": true, "pooling_mode_cls_token": false}"#, "mean"),
            (r#"{"pooling_mode_mean_sqrt_len_tokens": true}"#, "mean"),
            (r#"{"word_embedding_dimension": 8, "pooling_mode_cls_token": true, "include_prompt": true}"#, "cls"),
            (r#"{"pooling_mode_weightedmean_tokens": true}"#, "weightedmean"),
            (r#"{"pooling_mode": "lasttoken"}"#, "lasttoken"),
        ] {
            assert_eq!(of(json).as_deref(), Ok(word), "{json}");
        }
        for (json, named) in [
            ("{}", "none"),
            (r#"{"pooling_mode_max_tokens": true}"#, "max_tokens"),
            (r#"{"pooling_mode_max_tokens": true, "pooling_mode_cls_token": true}"#, "cls_token and max_tokens"),
            ("no", "1_Pooling/config.json"),
        ] {
            assert!(of(json).unwrap_err().contains(named), "{json}");
        }
    }

    #[test]
    fn what_is_set_goes_first() {
        let own = settings(Some("cls"), None, Some(""));
        let other = settings(Some("mean"), Some("q: "), Some("p: "));
        assert_eq!(own.or(other), settings(Some("cls"), Some("q: "), Some("")));
        assert!(settings(Some("max"), None, None).kind().unwrap_err().contains("\"max\""));
    }
}
