//! Configuration: parsed once, at the edge, into one validated [`Config`]. Nothing below parses or defaults.
//!
//! A value comes from, strongest first: a flag, the environment (`TAMIS_…`), the project's `.tamis/config.toml`, the
//! user's `config.toml` (see [`UserDirectories`]), the built-in default. An unknown key is an error that names the nearest one.

mod calibrated;
mod calibrated_file;
mod collections;
mod cut_keys;
mod embedding_cache;
mod evidence_keys;
mod github_keys;
mod import_keys;
mod keys;
mod layers;
mod mcp_keys;
mod memory_keys;
mod models;
mod note_keys;
mod project_file;
mod rank_keys;
mod threshold_keys;
mod triage_keys;
pub mod trust;
mod value;

pub use calibrated::CalibratedConfig;
pub(crate) use collections::is_name;
pub use collections::{CollectionDirectory, FileCollection};
pub use embedding_cache::EmbeddingCacheConfig;
pub use evidence_keys::EvidenceConfig;
pub use github_keys::GithubConfig;
pub use import_keys::ImportConfig;
pub(crate) use keys::nearest;
pub use keys::{Key, keys};
pub use layers::{ConfigError, Origins, Setting, Settings, Source};
pub use mcp_keys::{McpConfig, McpToken, is_token_name};
pub use memory_keys::{DecayConfig, DecayMoves, MemoryConfig};
pub use models::{Endpoint, ModelDefinition, Provider};
pub use note_keys::NoteConfig;
pub use rank_keys::{RankConfig, RecencyUse, VariantConfig};
pub use threshold_keys::{ThresholdConfig, threshold_language};
pub use triage_keys::{DuplicatesConfig, KeepBy, TriageConfig, TroubleshootingConfig};
pub use value::{Allowed, Value};

pub use crate::user_directories::UserDirectories;

use crate::search::{Mode, RankFactors};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tamis_cut::{Guarantee, Rule, TopScore, Want};
use tamis_rank::{DefinitionPrior, RolePrior};

/// Everything the engine can be told, validated.
#[derive(Clone, Debug)]
pub struct Config {
    /// `[search]`.
    pub search: SearchConfig,
    /// `telemetry` and `telemetry_text`.
    pub telemetry: TelemetryConfig,
    /// `[search.thresholds]` and `[search.calibrated]`.
    pub thresholds: ThresholdConfig,
    /// `[rank]`, by what a passage is.
    pub rank_factors: RankFactors,
    /// `[rank]`, by language and age.
    pub rank: RankConfig,
    /// `[import]`.
    pub import: ImportConfig,
    /// `[memory]`.
    pub memory: MemoryConfig,
    /// `[triage]`.
    pub triage: TriageConfig,
    /// `[evidence]`.
    pub evidence: EvidenceConfig,
    /// `[mcp]`.
    pub mcp: McpConfig,
    /// `[index]`.
    pub index: IndexConfig,
    /// `[github]`.
    pub github: GithubConfig,
    /// `[memory]`, where notes are written.
    pub notes: NoteConfig,
    /// `[models.NAME]`.
    pub models: BTreeMap<String, ModelDefinition>,
    /// The directories that each `[[collection]]` names.
    pub collections: Vec<CollectionDirectory>,
    /// `[gate]`.
    pub gate: tamis_cut::Gate,
    /// Each key's value and where it came from.
    pub settings: BTreeMap<String, Setting>,
    project_file: Option<PathBuf>,
    user_directory: Option<PathBuf>,
}

/// What is recorded of searches, in the index directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TelemetryConfig {
    /// Whether searches are recorded.
    pub record: bool,
    /// Whether the text of queries is recorded too.
    pub text: bool,
}

/// How a query is answered.
#[derive(Clone, Debug)]
pub struct SearchConfig {
    /// Most results shown, 1 to 100.
    pub top_k: usize,
    /// Where relevance ends.
    pub cut: Box<dyn Rule>,
    /// How much is wanted, for the cuts that have a strictness.
    pub want: Want,
    /// A promise in place of what the cut would keep.
    pub guarantee: Option<Guarantee>,
    /// Whether a query that nothing answers is answered by nothing.
    pub gate: bool,
    /// Whether what the owner of a namespace shares is searched too.
    pub sharing: bool,
    /// Most shared namespaces searched.
    pub shared_namespaces: usize,
    /// How several phrasings of one need are taken.
    pub variants: VariantConfig,
    /// Which legs gather.
    pub mode: Mode,
    /// Candidates from each leg.
    pub pool: usize,
    /// `convex`, `rrf` or `weighted`.
    pub fusion: String,
    /// Share of the semantic leg; `None`: the model's own.
    pub fusion_weight: Option<f64>,
    /// `auto` or a model's name.
    pub model: String,
    /// Whether a search first brings the index up to date.
    pub refresh: bool,
    /// Most new passages a search embeds with the best model.
    pub refresh_embed: usize,
    /// Lines of a snippet.
    pub snippet_lines: usize,
}

/// What is indexed and how.
#[derive(Clone, Debug)]
pub struct IndexConfig {
    /// Models by name, the quick one first.
    pub models: Vec<String>,
    /// Larger files are left out.
    pub max_file_bytes: u64,
    /// Target length of a passage.
    pub passage_tokens: usize,
    /// Kinds of files left out.
    pub skip: Vec<String>,
    /// Globs left out.
    pub ignore: Vec<String>,
    /// Globs of files that are notes.
    pub notes: Vec<String>,
    /// Globs of files that are pages of a wiki.
    pub wiki: Vec<String>,
    /// Target length of a passage of a note.
    pub note_tokens: usize,
    /// How much of a note neighbouring passages share, in tokens.
    pub note_overlap_tokens: usize,
    /// Whether hidden files are indexed.
    pub hidden: bool,
    /// The vectors that the user's indexes have in common.
    pub embedding_cache: EmbeddingCacheConfig,
}

impl Config {
    /// Reads and validates a configuration. `user_directory` holds the list of trusted projects.
    ///
    /// # Errors
    /// The first thing wrong, with its place and what is allowed.
    pub fn load(origins: &Origins, user_directory: Option<PathBuf>) -> Result<Self, ConfigError> {
        let Settings { values, models, calibrated, collections, tokens } = Settings::read(origins)?;
        let read = Read(&values);
        let config = Config {
            search: SearchConfig {
                top_k: read.count("search.top_k"),
                cut: read.cut()?,
                want: read.text("search.want").parse().unwrap_or_default(),
                guarantee: read.guarantee()?,
                gate: read.flag("search.gate"),
                sharing: read.flag("search.sharing"),
                shared_namespaces: read.count("search.shared_namespaces"),
                variants: rank_keys::variants(&read),
                mode: read.text("search.mode").parse().unwrap_or_default(),
                pool: read.count("search.pool").max(4 * read.count("search.top_k")),
                fusion: read.text("search.fusion").to_owned(),
                fusion_weight: read.number("search.fusion_weight"),
                model: read.text("search.model").to_owned(),
                refresh: read.flag("search.refresh"),
                refresh_embed: read.count("search.refresh_embed"),
                snippet_lines: read.count("search.snippet_lines"),
            },
            telemetry: TelemetryConfig { record: read.text("telemetry") != "off", text: read.flag("telemetry_text") },
            thresholds: threshold_keys::thresholds(&values, calibrated),
            rank_factors: RankFactors {
                roles: RolePrior {
                    test: read.number("rank.test").unwrap_or(1.0),
                    example: read.number("rank.example").unwrap_or(1.0),
                    vendored: read.number("rank.vendored").unwrap_or(1.0),
                    generated: read.number("rank.generated").unwrap_or(1.0),
                    changelog: read.number("rank.changelog").unwrap_or(1.0),
                    license: read.number("rank.license").unwrap_or(1.0),
                    bot: read.number("rank.bot").unwrap_or(1.0),
                    template: read.number("rank.template").unwrap_or(1.0),
                },
                definitions: DefinitionPrior { usage: read.number("rank.usage").unwrap_or(1.0) },
            },
            rank: rank_keys::rank(&read),
            import: import_keys::import(&read),
            memory: memory_keys::memory(&read)?,
            triage: triage_keys::triage(&read),
            evidence: evidence_keys::evidence(&read)?,
            mcp: mcp_keys::mcp(&read, &values, tokens)?,
            index: IndexConfig {
                models: read.list("index.models"),
                max_file_bytes: read.count("index.max_file_bytes") as u64,
                passage_tokens: read.count("index.passage_tokens"),
                skip: read.list("index.skip"),
                ignore: read.list("index.ignore"),
                notes: read.list("index.notes"),
                wiki: read.list("index.wiki"),
                note_tokens: read.count("index.note_tokens"),
                note_overlap_tokens: read.count("index.note_overlap_tokens"),
                hidden: read.flag("index.hidden"),
                embedding_cache: embedding_cache::embedding_cache(&read, &origins.directories),
            },
            github: github_keys::github(&read),
            notes: note_keys::notes(&read)?,
            collections: directories(&collections, origins.project.as_deref(), user_directory.as_deref())?,
            gate: read.gate(),
            models,
            settings: values.clone(),
            project_file: origins.project.clone(),
            user_directory,
        };
        config.check_models()?;
        if let Ok(rule) = config.cut("top_score") {
            config.source_tables(rule.as_ref())?;
        }
        Ok(config)
    }

    /// The defaults alone, for a library user with no files.
    pub fn built_in() -> Self {
        Config::load(&Origins::default(), None).expect("the defaults are valid")
    }

    /// The project's configuration file, which need not exist.
    pub(crate) fn project_file(&self) -> Option<&Path> {
        self.project_file.as_deref()
    }

    /// The user's configuration directory, if there is a home.
    pub(crate) fn user_directory(&self) -> Option<&Path> {
        self.user_directory.as_deref()
    }

    /// Every key with a value, in the order in which `tamis config` prints them: [`keys`] and those of `[search.thresholds]`
    /// that are set for further languages.
    pub fn keys(&self) -> Vec<Key> {
        keys::by_table(keys().into_iter().chain(threshold_keys::further(&self.settings)).collect())
    }

    /// The rule of the specification `METHOD[:PARAM=VALUE,…]`, its other parameters from the configuration.
    ///
    /// # Errors
    /// An unknown method or parameter, or a value out of range, with what is allowed.
    pub fn cut(&self, specification: &str) -> Result<Box<dyn Rule>, tamis_cut::RuleError> {
        cut_keys::rule(&self.settings, specification)
    }

    /// The tables that a cut which reads sources holds the passages of some collections to, by collection.
    ///
    /// # Errors
    /// A bound out of order, with the collection's table.
    pub(crate) fn source_tables(&self, rule: &dyn Rule) -> Result<Vec<(&'static str, TopScore)>, ConfigError> {
        if !rule.reads_sources() {
            return Ok(Vec::new());
        }
        cut_keys::source_tables(&self.settings, rule).map_err(|(source, error)| {
            let key = format!("cut.top_score.{source}.low_bound");
            let setting = &self.settings[&key];
            ConfigError::NotAllowed {
                source_name: setting.source.to_string(),
                value: setting.value.to_string(),
                allowed: format!("at most its high_bound ({error})"),
                key,
            }
        })
    }

    /// Refuses a project's choice of a model that sends text away, unless the user has trusted the project's file.
    fn check_models(&self) -> Result<(), ConfigError> {
        let names = self.index.models.iter().map(|name| (name, "index.models"));
        for (name, key) in names.chain([(&self.search.model, "search.model")]) {
            if ["auto", "static", "minilm"].contains(&name.as_str()) {
                continue;
            }
            let Some(definition) = self.models.get(name) else {
                let known = self.models.keys().map(String::as_str).chain(["auto", "static", "minilm"]);
                return Err(ConfigError::NotAllowed {
                    source_name: self.settings[key].source.to_string(),
                    key: key.to_owned(),
                    value: format!("{name:?}"),
                    allowed: format!("one of {}, or defined as [models.{name}]", known.collect::<Vec<_>>().join(", ")),
                });
            };
            let from_project =
                [&definition.source, &self.settings[key].source].iter().any(|s| matches!(s, Source::Project(_)));
            if let (Provider::Openai(Endpoint { url, .. }), Some(path), true) =
                (&definition.provider, &self.project_file, from_project)
                && !self.user_directory.as_ref().is_some_and(|user| trust::is_trusted(user, path))
            {
                return Err(ConfigError::Untrusted { path: path.clone(), model: name.clone(), url: url.clone() });
            }
        }
        Ok(())
    }
}

/// The directories that a project's file names; those elsewhere only where the user has trusted the file.
fn directories(
    collections: &[collections::Collection],
    project: Option<&Path>,
    user_directory: Option<&Path>,
) -> Result<Vec<CollectionDirectory>, ConfigError> {
    let (Some(file), false) = (project, collections.is_empty()) else { return Ok(Vec::new()) };
    // The file lies in `.tamis` in the root.
    let root = file.parent().and_then(Path::parent).unwrap_or(Path::new("."));
    let trusted = || user_directory.is_some_and(|user| trust::is_trusted(user, file));
    collections::directories(collections, root, file, trusted)
}

/// Typed access to values that the table of keys has already checked.
struct Read<'a>(&'a BTreeMap<String, Setting>);

impl Read<'_> {
    fn flag(&self, key: &str) -> bool {
        matches!(self.0[key].value, Value::Flag(true))
    }

    fn count(&self, key: &str) -> usize {
        if let Value::Integer(value) = self.0[key].value { value.max(0) as usize } else { 0 }
    }

    fn number(&self, key: &str) -> Option<f64> {
        if let Value::Number(value) = self.0[key].value { Some(value) } else { None }
    }

    fn text(&self, key: &str) -> &str {
        if let Value::Text(value) = &self.0[key].value { value } else { "" }
    }

    fn list(&self, key: &str) -> Vec<String> {
        if let Value::List(values) = &self.0[key].value { values.clone() } else { Vec::new() }
    }

    fn cut(&self) -> Result<Box<dyn Rule>, ConfigError> {
        let specification = self.text("search.cut");
        cut_keys::rule(self.0, specification).map_err(|error| ConfigError::NotAllowed {
            source_name: self.0["search.cut"].source.to_string(),
            key: "search.cut".into(),
            value: format!("{specification:?}"),
            allowed: format!("a cut ({error})"),
        })
    }

    fn guarantee(&self) -> Result<Option<Guarantee>, ConfigError> {
        let text = self.text("search.guarantee");
        if text == "off" {
            return Ok(None);
        }
        text.parse().map(Some).map_err(|error| ConfigError::NotAllowed {
            source_name: self.0["search.guarantee"].source.to_string(),
            key: "search.guarantee".into(),
            value: format!("{text:?}"),
            allowed: format!("a guarantee or off ({error})"),
        })
    }

    fn gate(&self) -> tamis_cut::Gate {
        cut_keys::gate(|key| self.number(key))
    }
}
