//! Configuration, read once at the edge into one validated [`Config`]. Nothing below parses or sets defaults.
//!
//! A value comes from one of these origins, the strongest first: a flag, the environment (`TAMIS_…`), the project's
//! `.tamis/config.toml`, the user's `config.toml` (see [`UserDirectories`]), the built-in default. An unknown key is an error
//! that names the nearest one.
//!
//! A key is declared once, as a field of its section (`sections/`). The order of the modules is that of the data: `layers`
//! reads the origins by the keys that the sections declare, and the sections convert what was read.

mod calibrated;
mod collections;
mod declare;
mod error;
mod layers;
mod mcp_tokens;
mod models;
mod project_file;
mod sections;
pub mod trust;
mod value;
mod words;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use tamis_cut::{Rule, TopScore};

use declare::{Section, Settings, section};
use sections::{cuts, thresholds};

pub use crate::index_location::UserDirectories;
pub use calibrated::{CalibratedConfig, threshold_language};
pub(crate) use collections::is_name;
pub use collections::{CollectionDirectory, FileCollection};
pub use declare::Setting;
#[cfg(feature = "evidence")]
pub(crate) use error::nearest;
pub use error::{ConfigError, Source};
pub use layers::{Origins, unknown_variables};
pub use mcp_tokens::{McpToken, is_token_name};
pub use models::{Endpoint, HubModel, ModelDefinition, ModelEntry, ModelFile, Provider, RerankEndpoint};
pub use sections::cuts::EvidenceConfig;
pub use sections::index::{EmbeddingCacheConfig, IndexConfig};
pub use sections::mcp::McpConfig;
pub use sections::memory::{DecayConfig, MemoryConfig};
pub use sections::notes::NoteConfig;
pub use sections::output::{HyperlinkFormat, OutputConfig};
pub use sections::rank::{RankConfig, RecencyFrom, RecencyUse};
pub use sections::rerank::RerankConfig;
pub use sections::search::{Mode, SearchConfig};
pub use sections::store::StoreConfig;
pub(crate) use sections::store::without_password;
pub use sections::telemetry::TelemetryConfig;
pub use sections::thresholds::ThresholdConfig;
pub use sections::triage::{DuplicatesConfig, KeepBy, TriageConfig, TroubleshootingConfig};
pub use value::{Allowed, Key, Value};
pub(crate) use words::Words;

section! {
    /// The validated configuration.
    #[derive(Clone, Debug)]
    pub struct Config {
        /// `[telemetry]`.
        pub telemetry: TelemetryConfig;
        /// `[search]`.
        pub search: SearchConfig;
        /// `[rank]`.
        pub rank: RankConfig;
        /// `[store]`.
        pub store: StoreConfig;
        /// `[index]`.
        pub index: IndexConfig;
        /// `[memory]`, for writing notes.
        pub notes: NoteConfig;
        /// `[memory]`, for searching memories.
        pub memory: MemoryConfig;
        /// `[rerank]`.
        pub rerank: RerankConfig;
        /// `[triage]`.
        pub triage: TriageConfig;
        /// `[evidence]`.
        pub evidence: EvidenceConfig;
        /// `[mcp]`.
        pub mcp: McpConfig;
        /// `[output]`.
        pub output: OutputConfig;
        /// `[search.thresholds]` and `[search.calibrated]`.
        pub thresholds: ThresholdConfig;
        /// Each key's value and its origin, among them `[cut.METHOD]`.
        pub settings: BTreeMap<String, Setting>;
        /// `[models.NAME]`.
        pub models: BTreeMap<String, ModelDefinition> => |settings| Ok(settings.models.clone());
        /// The directories that each `[[collection]]` names.
        pub collections: Vec<CollectionDirectory> => collection_directories;
        /// The project's configuration file, which need not exist.
        project_file: Option<PathBuf> => |settings| Ok(settings.project_file.clone());
        /// The user's configuration directory, if there is a home.
        user_directory: Option<PathBuf> => |settings| Ok(settings.user_directory.clone());
    }
}

/// Returns every key except those of `[models.NAME]`, `[search.calibrated]`, the languages without a built-in threshold in
/// `[search.thresholds]` and the collections in `[cut.top_score.COLLECTION]`, in the order in which `tamis config` prints them.
/// [`Config::keys`] adds the last two where they are set.
pub fn keys() -> Vec<Key> {
    value::by_table(Config::declared())
}

impl Config {
    /// Reads and validates a configuration. `user_directory` holds the list of trusted projects.
    ///
    /// # Errors
    /// The first invalid key or value, with its place and the values that are allowed.
    pub fn load(origins: &Origins, user_directory: Option<PathBuf>) -> Result<Self, ConfigError> {
        let mut config = Config::from_settings(&Settings::collect(origins, user_directory, keys())?)?;
        // A pool smaller than this would leave a cut too little to decide on.
        config.search.pool = config.search.pool.max(4 * config.search.top_k);
        // What is shown of an address has no password.
        if let (Some(url), Some(setting)) = (&config.store.url, config.settings.get_mut("store.url")) {
            setting.value = Value::from(without_password(url).as_str());
        }
        Ok(config)
    }

    /// Returns the defaults alone, for a library user without files.
    pub fn built_in() -> Self {
        Config::load(&Origins::default(), None).expect("the defaults are valid")
    }

    /// Returns the project's configuration file, which need not exist.
    pub(crate) fn project_file(&self) -> Option<&Path> {
        self.project_file.as_deref()
    }

    /// Returns the user's configuration directory, if there is a home.
    #[cfg(feature = "evidence")]
    pub(crate) fn user_directory(&self) -> Option<&Path> {
        self.user_directory.as_deref()
    }

    /// Returns every key with a value, in the order in which `tamis config` prints them: [`keys`], and those that are set for
    /// further languages or for a collection.
    pub fn keys(&self) -> Vec<Key> {
        let collections = cuts::by_collection().filter(|key| self.settings.contains_key(&key.name));
        value::by_table(keys().into_iter().chain(thresholds::further(&self.settings)).chain(collections).collect())
    }

    /// Returns the rule of the specification `METHOD[:PARAM=VALUE,…]`. Omitted parameters come from the configuration.
    ///
    /// # Errors
    /// An unknown method or parameter, or a value out of range, with the values that are allowed.
    pub fn cut(&self, specification: &str) -> Result<Box<dyn Rule>, tamis_cut::RuleError> {
        cuts::rule(&self.settings, specification)
    }

    /// Returns the rules of the collections that have cut parameters of their own, by collection.
    ///
    /// # Errors
    /// A lower bound above the upper one, with the collection's table.
    pub(crate) fn source_tables(&self, rule: &dyn Rule) -> Result<Vec<(&'static str, TopScore)>, ConfigError> {
        if rule.reads_sources() { cuts::collection_rules(&self.settings, rule) } else { Ok(Vec::new()) }
    }
}

/// Returns the directories that a project's file names. Those outside the project need the user's trust.
fn collection_directories(settings: &Settings) -> Result<Vec<CollectionDirectory>, ConfigError> {
    let (Some(file), false) = (&settings.project_file, settings.collections.is_empty()) else { return Ok(Vec::new()) };
    // The file is `.tamis/config.toml` in the root.
    let root = file.parent().and_then(Path::parent).unwrap_or(Path::new("."));
    // Each becomes a namespace, and its owner decides who searches it.
    if settings.names_database() && !settings.trusts_project() {
        return Err(ConfigError::UntrustedNamespace { path: file.clone(), key: "collection".to_owned() });
    }
    collections::directories(&settings.collections, root, file, || settings.trusts_project())
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_key_has_a_name_of_its_own_a_line_of_documentation_and_a_default_that_it_allows() {
        let keys = keys();
        let names: BTreeSet<&str> = keys.iter().map(|key| key.name.as_str()).collect();
        let variables: BTreeSet<String> = keys.iter().map(Key::variable).collect();
        assert_eq!((names.len(), variables.len()), (keys.len(), keys.len()));
        for Key { name, allowed, default, doc } in &keys {
            let words = |text: &str| {
                !text.is_empty() && text.chars().all(|c| c.is_ascii_lowercase() || "_0123456789".contains(c))
            };
            assert!(name.split('.').all(words), "{name}");
            assert_eq!(allowed.accept(default).as_ref(), Some(default), "{name}");
            assert!(doc.starts_with(|first: char| first.is_uppercase()) && !doc.contains('\n'), "{name}: {doc}");
        }
    }

    #[test]
    fn every_key_is_applied_to_the_typed_configuration() {
        // Some keys only take the name of a model that is defined.
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("config.toml");
        let endpoint = "url = \"http://localhost:1/v1\"\nmodel = \"m\"\n";
        let models = format!(
            "[models.other]\nprovider = \"openai\"\n{endpoint}[models.reader]\nprovider = \"rerank\"\n{endpoint}"
        );
        std::fs::write(&path, models).expect("written");
        let load = |flags: Vec<(String, String, String)>| {
            Config::load(&Origins { user: Some(path.clone()), flags, ..Origins::default() }, None)
        };
        let built_in = applied(&load(Vec::new()).expect("valid"));
        for key in keys().into_iter().chain(cuts::by_collection()) {
            let others = other_values(&key);
            let load = |value: &String| load(vec![(key.name.clone(), value.clone(), "test".to_owned())]).ok();
            // A value at the end of its range can contradict another key.
            let config = others.iter().find_map(load).unwrap_or_else(|| panic!("{} refuses {others:?}", key.name));
            assert_ne!(applied(&config), built_in, "{} = {others:?} changes nothing", key.name);
        }
    }

    #[test]
    fn cuts_of_their_own_take_the_parameters_of_their_tables() {
        assert_eq!(Config::built_in().evidence.cut.name(), "auto");
        let kneedle = flags(&[("evidence.cut", "kneedle")]).expect("allowed").evidence.cut.to_string();
        assert_eq!(kneedle, "kneedle:sensitivity=1,min_results=3,max_results=50,pick=strongest");
        let tables = [("cut.kneedle.sensitivity", "2"), ("cut.top_score.floor", "0.25")];
        let cuts = [("evidence.cut", "kneedle:min_results=2"), ("memory.cut", "top_score")];
        let config = flags(&[tables, cuts].concat()).expect("allowed");
        assert!(config.evidence.cut.to_string().starts_with("kneedle:sensitivity=2,min_results=2"));
        assert!(config.memory.cut.expect("a rule").to_string().contains("floor=0.25"));
    }

    #[test]
    fn what_is_refused_is_named_with_what_is_allowed_and_shows_no_secret() {
        const REMOTE: &str = "[rerank]\nmodel = \"reader\"\n[models.reader]\nprovider = \"rerank\"\nurl = \"http://localhost:1/v1\"\nmodel = \"m\"\n";
        const TOKEN: &str = "[[mcp.token]]\nname = \"ci\"\nsha256 = \"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08\"\n";
        let token = format!("{TOKEN}namespaces = \"all\"\n");
        let reader = |line: &str| format!("{REMOTE}{line}\n");
        let users = [
            (token.replace("ci", "a b"), "name"),
            (token.replace("9f86", "hunter2"), "hexadecimal"),
            (TOKEN.to_owned(), "namespaces"),
            (format!("{TOKEN}namespaces = []\n"), "namespaces"),
            (format!("{TOKEN}namespaces = \"some\"\n"), "namespaces"),
            (format!("{token}token = \"hunter2-hunter2\"\n"), "token"),
            (token.repeat(2), "different"),
            ("[mcp]\ntoken = \"hunter2-hunter2\"\n".to_owned(), "[[mcp.token]]"),
            ("[mcp]\nallowed_hosts = [\"http://a\"]\n".to_owned(), "names of hosts"),
            ("[mcp]\nallowed_hosts = [\"a:80\"]\n".to_owned(), "names of hosts"),
            ("[mcp]\nallowed_origins = [\"null\"]\n".to_owned(), "origins"),
            ("[mcp]\nallowed_origins = [\"https://*\"]\n".to_owned(), "origins"),
            ("[mcp]\nmax_conections = 3\n".to_owned(), "max_connections"),
            ("[telemetry]\nrecord = \"maybe\"\n".to_owned(), "telemetry.record = \"maybe\": must be true or false"),
            (reader("batch_size = 0"), "models.reader.batch_size"),
            (reader("max_retries = 21"), "models.reader.max_retries"),
            (reader("requests_per_minute = 0"), "models.reader.requests_per_minute"),
            (reader("scores = \"grades\""), "\"grades\" is none of auto"),
            (reader("dimension = 8"), "models.reader: it has no key dimension"),
            (REMOTE.replace("http://", ""), "models.reader.url"),
            (REMOTE.replace("[models", "slope = 0\n[models"), "rerank.slope"),
            (REMOTE.replace("[rerank]\nmodel", "[search]\nmodel"), "search.model|one for rerank.model"),
        ];
        let projects = [
            (token.as_str(), "mcp.|user's configuration"),
            ("[mcp]\nallowed_hosts = [\"evil.example\"]\n", "mcp.|user's configuration"),
            ("[mcp]\nrequests_per_minute = 0\n", "mcp.|user's configuration"),
            ("[store]\nurl = \"postgres://ada@db.example/tamis\"\n", "store.url"),
            (REMOTE, "sends text to http://localhost:1/v1|`tamis trust`"),
        ];
        let flagged = [
            ("evidence.cut", "kneedl", "kneedle"),
            ("memory.cut", "top_scorr", "memory.cut|top_score"),
            ("index.notes", "a{b", "index.notes|a{b"),
            ("index.wiki", "a{b", "index.wiki|a{b"),
            ("rerank.model", "minilm", "--flag: rerank.model = \"minilm\"|provider = \"rerank\""),
            ("rerank.model", "other", "[models.other]"),
            ("store.url", "mysql://ada:hunter2@host/x", "--flag|postgres://"),
            ("triage.troubleshooting.similarity_threshold", "1.2", "similarity_threshold|1.2|0 to 1"),
            ("triage.troubleshooting.max_results", "11", "max_results|11|1 to 10"),
            ("triage.troubleshooting.max_results", "0", "max_results|0|1 to 10"),
            ("triage.troubleshooting.total_budget_chars", "999", "total_budget_chars|999|1000 to 50000"),
            ("triage.duplicates.min_likeness", "-1", "min_likeness|-1|0 to 1"),
        ];
        let users = users.iter().map(|(text, says)| (given(text, "", &[]), *says));
        let projects = projects.map(|(text, says)| (given("", text, &[]), says));
        let flagged = flagged.map(|(key, value, says)| (flags(&[(key, value)]), says));
        for (loaded, says) in users.chain(projects).chain(flagged) {
            let error = loaded.expect_err(says);
            assert!(says.split('|').all(|part| error.contains(part)) && !error.contains("hunter2"), "{says}: {error}");
        }
    }

    /// Loads a user's and a project's file with these texts, and flags.
    pub(crate) fn given(user: &str, project: &str, flags: &[(&str, &str)]) -> Result<Config, String> {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let file = |name: &str, text: &str| {
            let path = directory.path().join(name);
            std::fs::write(&path, text).expect("written");
            Some(path)
        };
        let flags = flags.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned(), "--flag".to_owned()));
        let (user, project, flags) = (file("user.toml", user), file("project.toml", project), flags.collect());
        Config::load(&Origins { user, project, flags, ..Origins::default() }, None).map_err(|error| error.to_string())
    }

    /// Loads these flags.
    pub(crate) fn flags(flags: &[(&str, &str)]) -> Result<Config, String> {
        given("", "", flags)
    }

    /// Returns everything that keys can change: the typed values, and the rules that take parameters from the configuration.
    fn applied(config: &Config) -> String {
        let rule = |one: &&tamis_cut::Method| config.cut(one.name).map(|rule| rule.to_string()).unwrap_or_default();
        let rules: Vec<String> = tamis_cut::METHODS.iter().map(rule).collect();
        let by_collection = config.cut("top_score").map(|rule| format!("{:?}", config.source_tables(&*rule)));
        format!("{:?} {rules:?} {by_collection:?}", Config { settings: BTreeMap::new(), ..config.clone() })
    }

    /// Returns allowed values of a key other than its default.
    fn other_values(key: &Key) -> Vec<String> {
        let ends = |low: String, high: String| {
            [low, high].into_iter().filter(|end| key.allowed.parse(end).as_ref() != Some(&key.default)).collect()
        };
        match &key.allowed {
            Allowed::Flag => ends(false.to_string(), true.to_string()),
            Allowed::Integer(low, high) => ends(low.to_string(), high.to_string()),
            Allowed::Number(low, high) | Allowed::AutoOrNumber(low, high) => ends(low.to_string(), high.to_string()),
            Allowed::OneOf(words) => {
                words.iter().filter(|word| key.default != Value::from(**word)).map(|word| (*word).to_owned()).collect()
            }
            Allowed::List([]) => ["static", "https://a.example"].map(str::to_owned).to_vec(),
            Allowed::List(words) => vec![words[0].to_owned()],
            Allowed::Text => ["fixed", "recall=0.9", "static", "other", "reader", "postgres://host/x", "vscode"]
                .map(str::to_owned)
                .to_vec(),
        }
    }
}
