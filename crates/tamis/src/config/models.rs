//! `[models.NAME]`: models besides the built-in ones.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tamis_embed::RerankScores;
use toml_edit::{Array, DocumentMut, Item, Table, TableLike, value};

use super::calibrated::{replace, spliced};
use super::error::{ConfigError, Source};
use super::{project_file, trust};
use crate::hub::ModelsDirectory;
use crate::index_location::UserDirectories;
use crate::{Error, hub};

/// Names of models that a configuration cannot define.
pub(crate) const BUILT_IN: [&str; 3] = ["auto", "static", "minilm"];

/// A model defined in a configuration file.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ModelDefinition {
    /// Its provider.
    #[serde(flatten)]
    pub provider: Provider,
    /// The file that defines it.
    pub source: Source,
}

/// The provider of a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "provider", rename_all = "snake_case", deny_unknown_fields)]
pub enum Provider {
    /// An endpoint that speaks OpenAI's protocol for vectors.
    Openai(Endpoint),
    /// A directory with `tokenizer.json` and `model.safetensors` or `model.onnx`.
    Directory {
        /// The directory, relative to the file that names it.
        path: PathBuf,
        /// Prefix of a query, in place of what the model's files say.
        #[serde(skip_serializing_if = "Option::is_none")]
        query_prefix: Option<String>,
        /// Prefix of a passage, in place of what the model's files say.
        #[serde(skip_serializing_if = "Option::is_none")]
        passage_prefix: Option<String>,
    },
    /// A model of a hub, which `tamis model add` put into the user's directory of models. Nothing is ever fetched for it otherwise.
    Hub(HubModel),
    /// An endpoint in the `/rerank` form, for `rerank.model`.
    Rerank(RerankEndpoint),
    /// A directory with a cross-encoder for `rerank.model`: `tokenizer.json` and `model.onnx`.
    #[serde(rename = "cross-encoder")]
    CrossEncoder {
        /// The directory, relative to the file that names it.
        path: PathBuf,
    },
}

impl Provider {
    /// Returns the address that the model sends text to; `None` if it runs here.
    pub fn url(&self) -> Option<&str> {
        match self {
            Provider::Openai(Endpoint { url, .. }) | Provider::Rerank(RerankEndpoint { url, .. }) => Some(url),
            Provider::Directory { .. } | Provider::CrossEncoder { .. } | Provider::Hub(_) => None,
        }
    }

    /// Returns `true` if the model reads a query and a passage together. It makes no vectors then.
    pub fn is_reranker(&self) -> bool {
        match self {
            Provider::Rerank(_) | Provider::CrossEncoder { .. } => true,
            Provider::Hub(model) => model.reranker,
            Provider::Openai(_) | Provider::Directory { .. } => false,
        }
    }
}

/// A model that `tamis model add` fetched from a hub.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HubModel {
    /// Its owner and name.
    pub model: String,
    /// A commit, the beginning of one, or the branch or tag it was added by; `None`: the newest that was added.
    pub revision: Option<String>,
    /// True for a reranker.
    #[serde(default)]
    pub reranker: bool,
    /// Prefix of a query, in place of what the model's files say.
    pub query_prefix: Option<String>,
    /// Prefix of a passage, in place of what the model's files say.
    pub passage_prefix: Option<String>,
    /// The user's directory of models.
    #[serde(skip)]
    pub(crate) models: Option<ModelsDirectory>,
}

impl HubModel {
    /// Returns the directory of its files.
    ///
    /// # Errors
    /// It is not on this machine. The message says how to add it.
    pub(crate) fn directory(&self) -> Result<PathBuf, String> {
        ModelsDirectory::directory_of(self.models.as_ref(), &self.model, self.revision.as_deref())
    }
}

/// An endpoint that speaks OpenAI's protocol for vectors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Endpoint {
    /// Base address. `/embeddings` is added unless it ends with that.
    pub url: String,
    /// The model's name at the endpoint.
    pub model: String,
    /// Length of its vectors; `None`: that of the first answer.
    pub dimension: Option<usize>,
    /// Environment variable that holds the key.
    pub api_key_env: Option<String>,
    /// Texts in one request, 1 to 2048.
    pub batch_size: Option<usize>,
    /// Seconds to wait for an answer, 1 to 600.
    pub timeout_seconds: Option<u64>,
    /// Tries after the first one, 0 to 20.
    pub max_retries: Option<u32>,
    /// Most requests a minute, 1 or more.
    pub requests_per_minute: Option<u32>,
    /// Prefix of a query.
    pub query_prefix: Option<String>,
    /// Prefix of a passage.
    pub passage_prefix: Option<String>,
}

/// An endpoint in the `/rerank` form that Jina, Cohere, Voyage, vLLM, llama.cpp and Text Embeddings Inference share.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RerankEndpoint {
    /// Base address. `/rerank` is added unless it ends with that.
    pub url: String,
    /// The model's name at the endpoint.
    pub model: String,
    /// Environment variable that holds the key.
    pub api_key_env: Option<String>,
    /// Passages in one request, 1 to 1000.
    pub batch_size: Option<usize>,
    /// Tries after the first one, 0 to 20, as far as `rerank.timeout_ms` leaves time.
    pub max_retries: Option<u32>,
    /// Most requests a minute, 1 or more.
    pub requests_per_minute: Option<u32>,
    /// Meaning of its scores: auto, probabilities or log_odds.
    pub scores: Option<RerankScores>,
}

pub(crate) fn read_models(
    value: toml::Value,
    path: &Path,
    source: &Source,
    directories: &UserDirectories,
) -> Result<BTreeMap<String, ModelDefinition>, ConfigError> {
    let wrong = |key: String, value: String, allowed: &str| ConfigError::in_file(path, key, value, allowed);
    let toml::Value::Table(table) = value else {
        return Err(wrong("models".into(), value.to_string(), "a table of models, [models.NAME]"));
    };
    let mut models = BTreeMap::new();
    for (name, value) in table {
        let key = format!("models.{name}");
        if BUILT_IN.contains(&name.as_str()) {
            return Err(wrong(key, "…".into(), "a name of its own: auto, static and minilm are taken"));
        }
        let malformed = |error: toml::de::Error| ConfigError::of_entry(path.display().to_string(), key.clone(), &error);
        let mut provider: Provider = value.try_into().map_err(malformed)?;
        check(&provider).map_err(|(field, value, allowed)| wrong(format!("{key}.{field}"), value, allowed))?;
        match &mut provider {
            Provider::Directory { path: directory, .. } | Provider::CrossEncoder { path: directory } => {
                if let Some(parent) = path.parent().filter(|_| directory.is_relative()) {
                    *directory = parent.join(&*directory);
                }
            }
            Provider::Hub(model) => model.models = ModelsDirectory::new(directories),
            Provider::Openai(_) | Provider::Rerank(_) => {}
        }
        models.insert(name, ModelDefinition { provider, source: source.clone() });
    }
    Ok(models)
}

fn check(provider: &Provider) -> Result<(), (&'static str, String, &'static str)> {
    if let Some(url) = provider.url().filter(|url| !url.starts_with("http://") && !url.starts_with("https://")) {
        return Err(("url", format!("{url:?}"), "an address that starts with http:// or https://"));
    }
    let range = |field, value: Option<u64>, low: u64, high: u64, allowed| match value {
        Some(value) if !(low..=high).contains(&value) => Err((field, value.to_string(), allowed)),
        _ => Ok(()),
    };
    let (max_retries, requests_per_minute) = match provider {
        Provider::Openai(endpoint) => {
            range("dimension", endpoint.dimension.map(|value| value as u64), 1, 8192, "1 to 8192")?;
            range("batch_size", endpoint.batch_size.map(|value| value as u64), 1, 2048, "1 to 2048")?;
            range("timeout_seconds", endpoint.timeout_seconds, 1, 600, "1 to 600")?;
            (endpoint.max_retries, endpoint.requests_per_minute)
        }
        Provider::Rerank(endpoint) => {
            range("batch_size", endpoint.batch_size.map(|value| value as u64), 1, 1000, "1 to 1000")?;
            (endpoint.max_retries, endpoint.requests_per_minute)
        }
        Provider::Hub(model) => {
            let text = |field| match field {
                "model" => format!("{:?}", model.model),
                _ => format!("{:?}", model.revision.as_deref().unwrap_or_default()),
            };
            return hub::check(&model.model, model.revision.as_deref())
                .map_err(|field| (field, text(field), "OWNER/NAME at a hub, and a commit, branch or tag of it"));
        }
        Provider::Directory { .. } | Provider::CrossEncoder { .. } => return Ok(()),
    };
    range("max_retries", max_retries.map(u64::from), 0, 20, "0 to 20")?;
    range("requests_per_minute", requests_per_minute.map(u64::from), 1, 1_000_000, "1 to 1000000")
}

// Writes `[models.NAME]` and the lists that name models into a configuration file, and removes them again. Everything else in the
// file stays byte for byte, comments included.

/// The provider of the entries that are written here.
const PROVIDER: &str = "hub";

/// A model of a hub, as a configuration names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelEntry {
    /// The name that other settings use.
    pub name: String,
    /// Its owner and name at the hub.
    pub model: String,
    /// Its commit.
    pub revision: String,
    /// True for a reranker.
    pub reranker: bool,
}

/// A configuration file that gets or loses models: the user's, or a project's.
#[derive(Clone, Debug)]
pub struct ModelFile {
    path: PathBuf,
    /// The user's configuration directory, for a project's file, which stays trusted if it was.
    user_directory: Option<PathBuf>,
    is_project: bool,
}

impl ModelFile {
    /// Names the user's file, which need not exist.
    pub fn of_user(path: &Path) -> Self {
        ModelFile { path: path.to_owned(), user_directory: None, is_project: false }
    }

    /// Names a project's file, which need not exist. `user_directory` holds the list of trusted files.
    pub fn of_project(path: &Path, user_directory: Option<&Path>) -> Self {
        ModelFile { path: path.to_owned(), user_directory: user_directory.map(Path::to_owned), is_project: true }
    }

    /// Returns its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes `[models.NAME]`. With `used`, `index.models` names it too, as the last and therefore best model, or `rerank.model` does.
    /// Returns `false` if the file says all of it already.
    ///
    /// # Errors
    /// The file cannot be read or written, or gives the name to something else.
    pub fn register(&self, entry: &ModelEntry, used: bool) -> Result<bool, Error> {
        self.edit(|document| {
            put(document.as_table_mut(), entry)?;
            if used {
                use_it(document.as_table_mut(), entry)?;
            }
            Ok(())
        })
    }

    /// Removes every `[models.NAME]` of a model of a hub, and the name wherever `index.models` and `rerank.model` have it. `revision`
    /// spares entries of other revisions. Returns the names.
    ///
    /// # Errors
    /// The file cannot be read or written.
    pub fn unregister(&self, model: &str, revision: Option<&str>) -> Result<Vec<String>, Error> {
        let names = std::cell::RefCell::new(Vec::new());
        self.edit(|document| {
            *names.borrow_mut() = remove(document.as_table_mut(), model, revision);
            Ok(())
        })?;
        Ok(names.into_inner())
    }

    fn edit(&self, change: impl Fn(&mut DocumentMut) -> Result<(), String>) -> Result<bool, Error> {
        let failed = |reason: String| Error::path(&self.path, reason);
        let read = match self.is_project {
            true => project_file::read_text(&self.path),
            false => std::fs::read_to_string(&self.path),
        };
        let (text, is_new) = match read {
            Ok(text) => (text, false),
            Err(error) if error.kind() == ErrorKind::NotFound => (String::new(), true),
            Err(error) => return Err(failed(format!("cannot be read: {error}"))),
        };
        let mut document: DocumentMut = text.parse().map_err(|error| failed(format!("not valid TOML: {error}")))?;
        let before = document.to_string();
        change(&mut document).map_err(failed)?;
        let edited = spliced(&text, &before, &document.to_string());
        if edited == text {
            return Ok(false);
        }
        if edited.parse::<toml::Table>().ok() != document.to_string().parse().ok() {
            return Err(failed("its layout leaves no place for a model; write [models] as tables".to_owned()));
        }
        if let (true, Some(parent)) = (is_new, self.path.parent()) {
            std::fs::create_dir_all(parent).map_err(|error| failed(format!("cannot be made: {error}")))?;
        }
        // The target of a link is replaced, since replacing the link would leave the target as it was.
        let path = dunce::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone());
        let trusting = self.user_directory.as_ref().filter(|user| trust::is_trusted(user, &self.path));
        let unwritable = |error: std::io::Error| failed(format!("cannot be written: {error}"));
        replace(&path, &edited).map_err(unwritable)?;
        if let Some(user) = trusting {
            trust::trust(user, &self.path).map_err(unwritable)?;
        }
        Ok(true)
    }
}

/// Returns a table of the file, which is made if it is missing.
fn table<'a>(root: &'a mut Table, name: &str) -> Result<&'a mut dyn TableLike, String> {
    let mut implicit = Table::new();
    implicit.set_implicit(true);
    let item = root.entry(name).or_insert(Item::Table(implicit));
    item.as_table_like_mut().ok_or_else(|| format!("{name} is no table"))
}

fn is_hub(item: &Item, model: &str) -> bool {
    let is = |key: &str, text: &str| item.get(key).and_then(Item::as_str) == Some(text);
    is("provider", PROVIDER) && is("model", model)
}

fn put(root: &mut Table, entry: &ModelEntry) -> Result<(), String> {
    let is_first = root.is_empty();
    let models = table(root, "models")?;
    if let Some(taken) = models.get(&entry.name)
        && !is_hub(taken, &entry.model)
    {
        return Err(format!("[models.{}] is another model; choose another name", entry.name));
    }
    if !models.contains_key(&entry.name) {
        let mut table = Table::new();
        table.decor_mut().set_prefix(if is_first { "" } else { "\n" });
        models.insert(&entry.name, Item::Table(table));
    }
    let Some(table) = models.get_mut(&entry.name).and_then(Item::as_table_like_mut) else {
        return Err(format!("models.{} is no table", entry.name));
    };
    set(table, "provider", PROVIDER);
    set(table, "model", &entry.model);
    set(table, "revision", &entry.revision);
    match entry.reranker {
        true if table.get("reranker").and_then(Item::as_bool) != Some(true) => {
            table.insert("reranker", value(true));
        }
        true => {}
        false => drop(table.remove("reranker")),
    }
    Ok(())
}

/// Sets a text, and keeps the comment beside the old one.
fn set(table: &mut dyn TableLike, key: &str, text: &str) {
    match table.get_mut(key) {
        Some(item) if item.as_str() == Some(text) => {}
        Some(item) => {
            let mut new = toml_edit::Value::from(text);
            if let Some(old) = item.as_value() {
                *new.decor_mut() = old.decor().clone();
            }
            *item = Item::Value(new);
        }
        None => drop(table.insert(key, value(text))),
    }
}

fn use_it(root: &mut Table, entry: &ModelEntry) -> Result<(), String> {
    if entry.reranker {
        set(explicit(root, "rerank")?, "model", &entry.name);
        return Ok(());
    }
    let index = explicit(root, "index")?;
    if !index.contains_key("models") {
        index.insert("models", value(Array::from_iter(["static"])));
    }
    let Some(models) = index.get_mut("models").and_then(Item::as_array_mut) else {
        return Err("index.models is no list".to_owned());
    };
    if !models.iter().any(|name| name.as_str() == Some(&entry.name)) {
        models.push(entry.name.as_str());
    }
    Ok(())
}

/// Returns a table of the file under its own heading. A new one gets its heading at the end.
fn explicit<'a>(root: &'a mut Table, name: &str) -> Result<&'a mut dyn TableLike, String> {
    if !root.contains_key(name) {
        let mut table = Table::new();
        table.decor_mut().set_prefix("\n");
        root.insert(name, Item::Table(table));
    }
    table(root, name)
}

fn remove(root: &mut Table, model: &str, revision: Option<&str>) -> Vec<String> {
    let Some(models) = root.get_mut("models").and_then(Item::as_table_like_mut) else { return Vec::new() };
    let is_meant = |item: &Item| {
        let own = item.get("revision").and_then(Item::as_str);
        is_hub(item, model) && (revision.is_none() || own.is_none() || own == revision)
    };
    let names: Vec<String> =
        models.iter().filter(|(_, item)| is_meant(item)).map(|(name, _)| name.to_owned()).collect();
    names.iter().for_each(|name| drop(models.remove(name)));
    let is_named = |text: Option<&str>| text.is_some_and(|text| names.iter().any(|name| name == text));
    if let Some(list) = root.get_mut("index").and_then(|index| index.get_mut("models")).and_then(Item::as_array_mut) {
        list.retain(|name| !is_named(name.as_str()));
        if list.is_empty()
            && let Some(index) = root.get_mut("index").and_then(Item::as_table_like_mut)
        {
            index.remove("models");
        }
    }
    if let Some(rerank) = root.get_mut("rerank").and_then(Item::as_table_like_mut)
        && is_named(rerank.get("model").and_then(Item::as_str))
    {
        rerank.remove("model");
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, Origins};
    use std::fs;

    fn entry() -> ModelEntry {
        let revision = "0123456789".repeat(4);
        ModelEntry { name: "e5".to_owned(), model: "intfloat/e5-small-v2".to_owned(), revision, reranker: false }
    }

    fn file(text: &str) -> (tempfile::TempDir, ModelFile) {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("config.toml");
        fs::write(&path, text).expect("written");
        (directory, ModelFile::of_user(&path))
    }

    fn text(file: &ModelFile) -> String {
        fs::read_to_string(file.path()).expect("read")
    }

    const TABLE: &str = "[models.e5]\nprovider = \"hub\"\nmodel = \"intfloat/e5-small-v2\"\n\
        revision = \"0123456789012345678901234567890123456789\"\n";

    #[test]
    fn a_model_is_written_used_and_removed() {
        let (directory, _) = file("");
        let file = ModelFile::of_user(&directory.path().join("new/config.toml"));
        assert!(file.register(&entry(), false).expect("written"));
        assert_eq!(text(&file), TABLE);
        assert!(!file.register(&entry(), false).expect("unchanged"));
        assert!(file.register(&entry(), true).expect("written"));
        assert_eq!(text(&file), format!("{TABLE}\n[index]\nmodels = [\"static\", \"e5\"]\n"));
        let origins = Origins { user: Some(file.path().to_owned()), ..Origins::default() };
        assert_eq!(Config::load(&origins, None).expect("valid").index.models, ["static", "e5"]);
        assert_eq!(file.unregister("intfloat/other", None).expect("read"), [""; 0]);
        assert_eq!(file.unregister("intfloat/e5-small-v2", None).expect("removed"), ["e5"]);
        assert_eq!(text(&file).trim(), "[index]\nmodels = [\"static\"]");

        let old = TABLE.replace("0123456789012345678901234567890123456789\"", "main\" # pinned");
        let (_directory, file) = self::file(&format!("{old}query_prefix = \"q: \"\n"));
        file.register(&entry(), false).expect("written");
        let written = text(&file);
        assert!(written.contains("0123456789\" # pinned\nquery_prefix = \"q: \"\n"), "{written}");

        let (_directory, file) = self::file("[rerank]\ntimeout_ms = 500 # few\n");
        let reader = ModelEntry { reranker: true, ..entry() };
        file.register(&reader, true).expect("written");
        assert!(text(&file).contains("timeout_ms = 500 # few\nmodel = \"e5\"\n"), "{}", text(&file));
        let origins = Origins { user: Some(file.path().to_owned()), ..Origins::default() };
        assert_eq!(Config::load(&origins, None).expect("valid").rerank.model.as_deref(), Some("e5"));
        file.unregister(&reader.model, Some(&reader.revision)).expect("removed");
        assert_eq!(text(&file).trim(), "[rerank]\ntimeout_ms = 500 # few");
    }

    #[test]
    fn trap_comments_are_kept_byte_for_byte() {
        let before = "\u{feff}# mine\r\n[index] # here\r\nmodels   = [ \"static\",\"minilm\" ]  # two\r\n\r\n[models.house]\r\n\
                      provider = \"directory\" # ours\r\npath=\"m\"\r\n# end\r\n";
        let (_directory, file) = file(before);
        file.register(&entry(), false).expect("written");
        let written = text(&file);
        for line in before.lines() {
            assert!(written.contains(&format!("{line}\r\n")), "{line:?} is not in {written:?}");
        }
        assert!(written.contains(&TABLE.replace('\n', "\r\n")), "{written:?}");
        file.register(&entry(), true).expect("written");
        let used = text(&file);
        let parts = ["\"static\",\"minilm\"", "\"e5\"", "# two"];
        assert!(parts.iter().all(|part| used.contains(part)), "{used:?}");
    }

    #[test]
    fn a_name_that_is_taken_and_broken_files_are_refused_and_a_trusted_project_stays_trusted() {
        for (text, said) in [
            ("[models.e5]\nprovider = \"directory\"\npath = \"m\"\n", "another model"),
            ("models = 5\n", "models is no table"),
            ("models = ", "not valid TOML"),
            ("index = 5\n", "index is no table"),
            ("[index]\nmodels = 5\n", "index.models is no list"),
        ] {
            let (_directory, file) = file(text);
            let error = file.register(&entry(), true).expect_err(text).to_string();
            assert!(error.contains(said) && error.contains("config.toml"), "{error}");
            assert_eq!(self::text(&file), text);
        }
        let (directory, user_file) = file("[search]\ntop_k = 5\n");
        let (path, user) = (user_file.path(), directory.path().join("user"));
        trust::trust(&user, path).expect("trusted");
        let file = ModelFile::of_project(path, Some(&user));
        file.register(&entry(), true).expect("written");
        assert!(trust::is_trusted(&user, path));
    }
}
