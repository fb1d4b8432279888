//! The choice of the files that a model needs, by what its repository says of itself.

use serde::Deserialize;
use tamis_embed::{LocalModel, ModelSettings};

use super::add::{Listing, is_path};
use super::{ModelKind, ModelName, SourcedSettings};
use crate::Error;
use crate::error::HubError;

/// The weights of a model, in the forms that a repository can have.
const SAFETENSORS: &str = "model.safetensors";
const ONNX: &str = "model.onnx";

/// Smaller forms of an ONNX model, the most usual first.
const QUANTIZED: [&str; 7] = [
    "onnx/model_quint8_avx2.onnx", "onnx/model_int8.onnx", "onnx/model_uint8.onnx", "onnx/model_quantized.onnx",
    "onnx/model_qint8_arm64.onnx", "onnx/model_qint8_avx512_vnni.onnx", "onnx/model_qint8_avx512.onnx",
];

/// The user's choices for a model, beyond its name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wish {
    pub reranker: bool,
    pub quantized: bool,
    pub file: Option<String>,
}

/// A file to fetch, and its name in the model's directory, which is never the repository's choice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Chosen {
    pub source: String,
    pub path: String,
}

/// The files of a model and its settings.
#[derive(Clone, Debug)]
pub(crate) struct Choice {
    pub kind: ModelKind,
    pub files: Vec<Chosen>,
    pub settings: SourcedSettings,
}

/// Reads a small file of the repository under its name in the model's directory. `None` if there is no such file.
pub(crate) type Read<'a> = dyn FnMut(&Chosen) -> Result<Option<Vec<u8>>, Error> + 'a;

/// A step of the pipeline that sentence-transformers makes of a model.
#[derive(Deserialize)]
struct Module {
    #[serde(default)]
    path: String,
    #[serde(rename = "type", default)]
    kind: String,
}

#[derive(Default, Deserialize)]
struct ModelConfig {
    #[serde(default)]
    architectures: Option<Vec<String>>,
    #[serde(default)]
    model_type: String,
}

struct Chooser<'a> {
    name: &'a ModelName,
    listing: &'a Listing,
    wish: &'a Wish,
    family: Option<&'static Family>,
    files: Vec<Chosen>,
}

/// Chooses the files.
///
/// # Errors
/// The repository has no form of the model that can be used, or a file cannot be read.
pub(crate) fn choose(name: &ModelName, listing: &Listing, wish: &Wish, read: &mut Read<'_>) -> Result<Choice, Error> {
    let family = find(name.short());
    Chooser { name, listing, wish, family, files: Vec::new() }.choose(read)
}

impl Chooser<'_> {
    fn choose(mut self, read: &mut Read<'_>) -> Result<Choice, Error> {
        let modules = self.modules(read)?;
        // The transformer, or the table, is the first module. Its files stand in the module's directory.
        let base = match modules.first() {
            None => String::new(),
            Some(first) if first.path.is_empty() || first.path == "." => String::new(),
            Some(first) if is_path(&first.path) => format!("{}/", first.path),
            Some(first) => return Err(self.unusable(format!("modules.json names the path {:?}", first.path))),
        };
        let config = self.small(&format!("{base}config.json"), "config.json", read)?;
        let parsed: ModelConfig = match &config {
            Some(json) => {
                serde_json::from_slice(json).map_err(|error| self.unusable(format!("config.json: {error}")))?
            }
            None => ModelConfig::default(),
        };
        let architectures = parsed.architectures.unwrap_or_default();
        let classifies = architectures.iter().any(|name| name.ends_with("ForSequenceClassification"));
        let is_table = modules.first().is_some_and(|first| first.is("StaticEmbedding"))
            || parsed.model_type == "model2vec"
            || architectures.iter().any(|name| name == "StaticModel");
        let is_reranker = self.wish.reranker || (classifies && modules.is_empty());
        let kind = if is_reranker { ModelKind::Reranker } else { ModelKind::Embedder };
        self.need(&format!("{base}tokenizer.json"), "tokenizer.json", "a fast tokenizer")?;
        self.optional(&format!("{base}sentence_bert_config.json"), "sentence_bert_config.json");
        let unreadable = match (&config, parsed.model_type.as_str()) {
            _ if is_table => None,
            _ if is_reranker => Some("a cross-encoder is read as ONNX".to_owned()),
            (None, _) => Some("it has no config.json".to_owned()),
            (Some(json), "bert") => LocalModel::builds(json).err(),
            (Some(_), other) => Some(format!("its model_type is {other:?}, not \"bert\"")),
        };
        self.weights(is_table, &base, unreadable)?;
        if is_reranker {
            return Ok(Choice { kind, files: self.files, settings: SourcedSettings::default() });
        }
        let (pooling, pooling_from) = match is_table {
            true => (None, None),
            false => self.pooling(&modules, read)?,
        };
        let (prefixes, prefixes_from) = self.prefixes(read)?;
        let values = ModelSettings { pooling, ..prefixes };
        let settings = SourcedSettings { values, pooling_from, prefixes_from };
        Ok(Choice { kind, files: self.files, settings })
    }

    /// Returns the modules of sentence-transformers, if the model has them, and refuses steps that nothing here computes.
    fn modules(&mut self, read: &mut Read<'_>) -> Result<Vec<Module>, Error> {
        let Some(json) = self.small("modules.json", "modules.json", read)? else { return Ok(Vec::new()) };
        let modules: Vec<Module> =
            serde_json::from_slice(&json).map_err(|error| self.unusable(format!("modules.json: {error}")))?;
        for (at, module) in modules.iter().enumerate() {
            let known = match at {
                0 => module.is("Transformer") || module.is("StaticEmbedding"),
                _ => module.is("Pooling") || module.is("Normalize"),
            };
            if !known {
                let kind: String = module.name().chars().filter(|character| !character.is_control()).take(60).collect();
                return Err(self.unusable(format!(
                    "its modules.json has a step {kind:?}, which Tamis does not compute; supported are Transformer or \
                     StaticEmbedding, then Pooling and Normalize"
                )));
            }
        }
        Ok(modules)
    }

    /// Chooses the weights. `unreadable` is the reason why `model.safetensors` cannot be used.
    fn weights(&mut self, is_table: bool, base: &str, unreadable: Option<String>) -> Result<(), Error> {
        let safetensors = format!("{base}{SAFETENSORS}");
        if let Some(file) = &self.wish.file {
            let path = match file.rsplit('.').next() {
                Some("onnx") => ONNX,
                Some("safetensors") => SAFETENSORS,
                _ => return Err(self.unusable(format!("{file}: neither .onnx nor .safetensors"))),
            };
            let file = file.clone();
            return self.need(&file, path, "the file asked for").map(|()| self.data(&file));
        }
        let mut full = vec![format!("{base}onnx/{ONNX}"), format!("{base}{ONNX}")];
        if !base.is_empty() {
            full.push(format!("onnx/{ONNX}"));
        }
        let quantized: Vec<String> = QUANTIZED.iter().map(|name| (*name).to_owned()).collect();
        let candidates: Vec<String> = match (is_table, self.wish.quantized) {
            (true, _) => vec![safetensors.clone()],
            (false, true) => quantized,
            (false, false) if unreadable.is_none() => std::iter::once(safetensors.clone()).chain(full).collect(),
            (false, false) => full,
        };
        if let Some(found) = candidates.iter().find(|name| self.listing.has(name)) {
            let path = if found.ends_with(".onnx") { ONNX } else { SAFETENSORS };
            self.files.push(Chosen { source: found.clone(), path: path.to_owned() });
            self.data(found);
            return Ok(());
        }
        let because = match unreadable {
            Some(reason) if !self.wish.quantized && self.listing.has(&safetensors) => {
                format!(" ({safetensors} is there, but cannot be used: {reason})")
            }
            _ => String::new(),
        };
        Err(self.unusable(format!(
            "it has no weights in a form that can be used{because}; looked for {}; it holds {}",
            candidates.join(", "),
            self.holds()
        )))
    }

    /// Adds the file with an ONNX model's tensors, if they are kept outside. The model names it, so it keeps its name.
    fn data(&mut self, onnx: &str) {
        if !onnx.ends_with(".onnx") {
            return;
        }
        for source in [format!("{onnx}_data"), format!("{onnx}.data")] {
            let path = source.rsplit('/').next().unwrap_or_default().to_owned();
            self.optional(&source, &path);
        }
    }

    fn pooling(&mut self, modules: &[Module], read: &mut Read<'_>) -> Result<(Option<String>, Option<String>), Error> {
        let module = modules.iter().find(|module| module.is("Pooling"));
        let source = match module {
            Some(module) if is_path(&module.path) => format!("{}/config.json", module.path),
            Some(module) => return Err(self.unusable(format!("modules.json names the path {:?}", module.path))),
            None => "1_Pooling/config.json".to_owned(),
        };
        if let Some(json) = self.small(&source, "1_Pooling/config.json", read)? {
            let settings = ModelSettings::of_pooling(&json).map_err(|reason| self.unusable(reason))?;
            return Ok((settings.pooling, Some(source)));
        }
        Ok(match self.family {
            Some(family) => (Some(family.pooling.to_owned()), Some(format!("the model card of {}", family.source))),
            None => (Some("mean".to_owned()), Some("no file says it; the mean is usual".to_owned())),
        })
    }

    /// Returns the prefixes: those of the model's own file, if it has any, or those of its family.
    fn prefixes(&mut self, read: &mut Read<'_>) -> Result<(ModelSettings, Option<String>), Error> {
        const FILE: &str = "config_sentence_transformers.json";
        let own = match self.small(FILE, FILE, read)? {
            Some(json) => ModelSettings::of_prompts(&json).map_err(|reason| self.unusable(reason))?,
            None => ModelSettings::default(),
        };
        let is_set = |prefix: &Option<String>| prefix.as_ref().is_some_and(|prefix| !prefix.is_empty());
        let set = |query: &str, passage: &str| ModelSettings {
            pooling: None,
            query_prefix: Some(query.to_owned()),
            passage_prefix: Some(passage.to_owned()),
        };
        // Newer versions of sentence-transformers write empty prompts into every model.
        if is_set(&own.query_prefix) || is_set(&own.passage_prefix) {
            let [query, passage] = [own.query_prefix, own.passage_prefix].map(Option::unwrap_or_default);
            return Ok((set(&query, &passage), Some(FILE.to_owned())));
        }
        Ok(match self.family {
            Some(family) => {
                let source = format!("the model card of {}", family.source);
                (set(family.query_prefix, family.passage_prefix), Some(source))
            }
            None => (set("", ""), None),
        })
    }

    /// Reads a small file, and keeps it beside the others.
    fn small(&mut self, source: &str, path: &str, read: &mut Read<'_>) -> Result<Option<Vec<u8>>, Error> {
        if !self.optional(source, path) {
            return Ok(None);
        }
        read(&Chosen { source: source.to_owned(), path: path.to_owned() })
    }

    fn optional(&mut self, source: &str, path: &str) -> bool {
        let is_there = self.listing.has(source);
        if is_there {
            self.files.push(Chosen { source: source.to_owned(), path: path.to_owned() });
        }
        is_there
    }

    fn need(&mut self, source: &str, path: &str, what: &str) -> Result<(), Error> {
        match self.optional(source, path) {
            true => Ok(()),
            false => {
                let holds = self.holds();
                Err(self.unusable(format!("it has no {source} ({what}); it holds {holds}")))
            }
        }
    }

    /// Names some files of the repository.
    fn holds(&self) -> String {
        const MOST: usize = 12;
        let names: Vec<&str> = self.listing.files.keys().take(MOST).map(String::as_str).collect();
        match self.listing.files.len() {
            0 => "no files".to_owned(),
            all if all > MOST => format!("{} and {} more", names.join(", "), all - MOST),
            _ => names.join(", "),
        }
    }

    fn unusable(&self, reason: String) -> Error {
        HubError::Unusable { model: self.name.to_string(), reason }.into()
    }
}

impl Module {
    /// Returns the name of its class, whatever the package it is in.
    fn name(&self) -> &str {
        self.kind.rsplit('.').next().unwrap_or_default()
    }

    fn is(&self, name: &str) -> bool {
        self.name() == name
    }
}

// Prefixes and pooling of well-known families whose repositories, or exports of them by others, do not say them in a file.
//
// Each entry repeats what the model card at its source asks for.

/// A family of models.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Family {
    /// The beginning of its models' names, in lower case and without the owner.
    names: &'static [&'static str],
    pub query_prefix: &'static str,
    pub passage_prefix: &'static str,
    pub pooling: &'static str,
    /// The card of one of its models.
    pub source: &'static str,
}

const SEARCH: &str = "Represent this sentence for searching relevant passages: ";

/// The first entry that fits holds.
const FAMILIES: &[Family] = &[
    Family {
        names: &["multilingual-e5-large-instruct"],
        query_prefix: "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery: ",
        passage_prefix: "",
        pooling: "mean",
        source: "intfloat/multilingual-e5-large-instruct",
    },
    Family {
        names: &[
            "e5-small", "e5-base", "e5-large", "multilingual-e5-small", "multilingual-e5-base", "multilingual-e5-large",
        ],
        query_prefix: "query: ",
        passage_prefix: "passage: ",
        pooling: "mean",
        source: "intfloat/e5-base-v2",
    },
    Family {
        names: &["bge-small-en", "bge-base-en", "bge-large-en"],
        query_prefix: SEARCH,
        passage_prefix: "",
        pooling: "cls",
        source: "BAAI/bge-small-en-v1.5",
    },
    Family {
        names: &["bge-small-zh", "bge-base-zh", "bge-large-zh"],
        query_prefix: "为这个句子生成表示以用于检索相关文章：",
        passage_prefix: "",
        pooling: "cls",
        source: "BAAI/bge-small-zh-v1.5",
    },
    Family { names: &["bge-m3"], query_prefix: "", passage_prefix: "", pooling: "cls", source: "BAAI/bge-m3" },
    Family {
        names: &["nomic-embed-text-"],
        query_prefix: "search_query: ",
        passage_prefix: "search_document: ",
        pooling: "mean",
        source: "nomic-ai/nomic-embed-text-v1.5",
    },
    Family {
        names: &["mxbai-embed-large", "mxbai-embed-xsmall"],
        query_prefix: SEARCH,
        passage_prefix: "",
        pooling: "cls",
        source: "mixedbread-ai/mxbai-embed-large-v1",
    },
    Family {
        names: &["snowflake-arctic-embed-m-v2.0", "snowflake-arctic-embed-l-v2.0"],
        query_prefix: "query: ",
        passage_prefix: "",
        pooling: "cls",
        source: "Snowflake/snowflake-arctic-embed-m-v2.0",
    },
    Family {
        names: &["snowflake-arctic-embed-"],
        query_prefix: SEARCH,
        passage_prefix: "",
        pooling: "cls",
        source: "Snowflake/snowflake-arctic-embed-s",
    },
    Family {
        names: &["gte-base-en-v1.5", "gte-large-en-v1.5", "gte-multilingual-base", "gte-modernbert-base"],
        query_prefix: "",
        passage_prefix: "",
        pooling: "cls",
        source: "Alibaba-NLP/gte-base-en-v1.5",
    },
    Family {
        names: &["gte-small", "gte-base", "gte-large"],
        query_prefix: "",
        passage_prefix: "",
        pooling: "mean",
        source: "thenlper/gte-small",
    },
];

/// Returns the family of a model by its name without the owner.
pub(crate) fn find(short: &str) -> Option<&'static Family> {
    let short = short.to_lowercase();
    FAMILIES.iter().find(|family| family.names.iter().any(|name| short.starts_with(name)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hub::add::Listed;

    const BERT: &str = r#"{"model_type": "bert", "architectures": ["BertModel"], "hidden_size": 8, "num_hidden_layers": 1,
        "num_attention_heads": 2, "max_position_embeddings": 16}"#;
    const MODULES: &str = r#"[{"path": "", "type": "sentence_transformers.models.Transformer"},
        {"path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
        {"path": "2_Normalize", "type": "sentence_transformers.models.Normalize"}]"#;

    fn chosen(name: &str, wish: &Wish, files: &[(&str, &str)]) -> Result<Choice, String> {
        let listed = files.iter().map(|(name, _)| ((*name).to_owned(), Listed::default())).collect();
        let listing = Listing { commit: "a".repeat(40), files: listed, license: None };
        let content =
            |source: &str| files.iter().find(|(name, _)| *name == source).map(|(_, text)| text.as_bytes().to_vec());
        choose(&name.parse().expect("a name"), &listing, wish, &mut |file| Ok(content(&file.source)))
            .map_err(|error| error.to_string())
    }

    fn sources(choice: &Choice) -> Vec<(&str, &str)> {
        choice.files.iter().map(|file| (file.source.as_str(), file.path.as_str())).collect()
    }

    #[test]
    fn a_bert_encoder_is_read_from_its_safetensors() {
        let files = [
            ("README.md", ""),
            ("modules.json", MODULES),
            ("config.json", BERT),
            ("1_Pooling/config.json", r#"{"pooling_mode_cls_token": true}"#),
            ("config_sentence_transformers.json", r#"{"prompts": {"query": "q: ", "document": ""}}"#),
            ("tokenizer.json", ""),
            ("model.safetensors", ""),
            ("onnx/model.onnx", ""),
            ("onnx/model_qint8_arm64.onnx", ""),
            ("pytorch_model.bin", ""),
        ];
        let choice = chosen("a/e5-small", &Wish::default(), &files).expect("usable");
        let paths: Vec<&str> = sources(&choice).into_iter().map(|(_, path)| path).collect();
        assert!(paths.contains(&"model.safetensors") && !paths.contains(&"model.onnx"), "{paths:?}");
        let SourcedSettings { values, pooling_from, prefixes_from, .. } = &choice.settings;
        assert_eq!((values.pooling.as_deref(), pooling_from.as_deref()), (Some("cls"), Some("1_Pooling/config.json")));
        assert_eq!(values.query_prefix.as_deref(), Some("q: "), "the model's own file goes before its name");
        assert_eq!(prefixes_from.as_deref(), Some("config_sentence_transformers.json"));

        let quantized = Wish { quantized: true, ..Wish::default() };
        let choice = chosen("a/b", &quantized, &files).expect("usable");
        assert!(sources(&choice).contains(&("onnx/model_qint8_arm64.onnx", "model.onnx")));
        let file = Wish { file: Some("onnx/model.onnx".into()), ..Wish::default() };
        assert!(sources(&chosen("a/b", &file, &files).expect("usable")).contains(&("onnx/model.onnx", "model.onnx")));
        let file = Wish { file: Some("pytorch_model.bin".into()), ..Wish::default() };
        assert!(chosen("a/b", &file, &files).expect_err("refused").contains("neither .onnx nor .safetensors"));
    }

    #[test]
    fn other_transformers_are_read_as_onnx_and_their_family_helps() {
        let config = r#"{"model_type": "xlm-roberta", "architectures": ["XLMRobertaModel"]}"#;
        let files = [
            ("config.json", config),
            ("tokenizer.json", ""),
            ("model.safetensors", ""),
            ("onnx/model.onnx", ""),
            ("onnx/model.onnx_data", ""),
            ("config_sentence_transformers.json", r#"{"prompts": {"query": "", "document": ""}}"#),
        ];
        let choice = chosen("Xenova/multilingual-e5-small", &Wish::default(), &files).expect("usable");
        assert!(sources(&choice).contains(&("onnx/model.onnx_data", "model.onnx_data")));
        assert_eq!(choice.settings.values.query_prefix.as_deref(), Some("query: "), "empty prompts say nothing");
        assert_eq!(choice.settings.values.pooling.as_deref(), Some("mean"));
        assert!(choice.settings.prefixes_from.expect("said").contains("intfloat/"));
        let choice = chosen("Xenova/bge-small-en-v1.5", &Wish::default(), &files).expect("usable");
        assert_eq!(choice.settings.values.pooling.as_deref(), Some("cls"));

        let message = chosen("a/b", &Wish::default(), &files[..3]).expect_err("no weights");
        for part in
            ["looked for onnx/model.onnx, model.onnx", "model.safetensors is there", "xlm-roberta", "tokenizer.json"]
        {
            assert!(message.contains(part), "{part} is not in {message}");
        }
        assert!(chosen("a/b", &Wish::default(), &files[..1]).expect_err("no tokenizer").contains("no tokenizer.json"));
    }

    #[test]
    fn rerankers_and_tables_are_known_by_their_files() {
        let config = r#"{"model_type": "bert", "architectures": ["BertForSequenceClassification"]}"#;
        let files =
            [("config.json", config), ("tokenizer.json", ""), ("model.safetensors", ""), ("onnx/model.onnx", "")];
        let choice = chosen("a/b", &Wish::default(), &files).expect("usable");
        assert_eq!(choice.kind, ModelKind::Reranker);
        assert!(sources(&choice).contains(&("onnx/model.onnx", "model.onnx")));
        let message = chosen("a/b", &Wish::default(), &files[..3]).expect_err("no ONNX");
        assert!(message.contains("a cross-encoder is read as ONNX"), "{message}");

        let modules = r#"[{"path": "0_StaticEmbedding", "type": "sentence_transformers.models.StaticEmbedding"}]"#;
        let [tokenizer, weights] = ["0_StaticEmbedding/tokenizer.json", "0_StaticEmbedding/model.safetensors"];
        let files = [("modules.json", modules), (tokenizer, ""), (weights, "")];
        let choice = chosen("a/b", &Wish::default(), &files).expect("usable");
        assert!(sources(&choice).contains(&("0_StaticEmbedding/model.safetensors", "model.safetensors")));
        assert_eq!((choice.settings.values.pooling, choice.settings.pooling_from), (None, None));
        let files =
            [("config.json", r#"{"model_type": "model2vec"}"#), ("tokenizer.json", ""), ("model.safetensors", "")];
        assert_eq!(chosen("a/potion", &Wish::default(), &files).expect("usable").files.len(), 3);
    }

    #[test]
    fn steps_that_nothing_computes_and_paths_elsewhere_are_refused() {
        for (modules, named) in [
            (MODULES.replace("Normalize\"", "Dense\""), "\"Dense\""),
            (MODULES.replace("models.Transformer", "models.CLIPModel"), "\"CLIPModel\""),
            (MODULES.replace("\"path\": \"\"", "\"path\": \"../../x\""), "names the path \"../../x\""),
            (MODULES.replace("\"1_Pooling\"", "\"../1_Pooling\""), "names the path \"../1_Pooling\""),
            ("{}".to_owned(), "modules.json: "),
        ] {
            let modules = ("modules.json", modules.as_str());
            let files = [modules, ("config.json", BERT), ("tokenizer.json", ""), ("model.safetensors", "")];
            let message = chosen("a/b", &Wish::default(), &files).expect_err("refused");
            assert!(message.contains(named), "{message} for {named}");
        }
    }

    #[test]
    fn a_source_belongs_to_its_own_family_and_names_lead_to_prefixes() {
        for family in FAMILIES {
            let short = family.source.rsplit('/').next().expect("a name");
            assert_eq!(find(short), Some(family), "{}", family.source);
        }
        let prefixes = |name: &str| find(name).map(|family| (family.query_prefix, family.passage_prefix));
        assert_eq!(prefixes("e5-small-v2"), Some(("query: ", "passage: ")));
        assert_eq!(prefixes("multilingual-e5-base"), Some(("query: ", "passage: ")));
        assert_eq!(prefixes("bge-small-en-v1.5"), Some((SEARCH, "")));
        assert_eq!([prefixes("gte-small"), prefixes("e5-mistral-7b-instruct")], [Some(("", "")), None]);
        assert_eq!(prefixes("all-MiniLM-L12-v2"), None);
    }
}
