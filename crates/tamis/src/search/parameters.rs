//! A question as people and programs write it: the flags of a command, the parameters of a route, the arguments of a tool or of Python.

#[cfg(feature = "clap")]
use clap::builder::PossibleValuesParser;
use schemars::JsonSchema;
use serde::Deserialize;
use tamis_cut::Rule;
#[cfg(feature = "clap")]
use tamis_text::{Kind, Role};

use super::filter::MetadataFilter;
use super::request::{CutGoal, SearchCaller, SearchRequest, parsed};
use crate::config::{Config, Mode};
use crate::error::AimError;
#[cfg(feature = "clap")]
use crate::flags::{language, whole};
use crate::{Error, words};

/// The word for a search without a cut.
const NO_CUT: &str = "off";

/// A question to notes and conversations, and what it has in common with every other search.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct QueryParameters {
    /// Question, words, names or an error message.
    #[schemars(length(min = 1, max = 10_000))]
    #[cfg_attr(feature = "clap", arg(skip))]
    pub query: String,
    /// Show at most this many results (default: search.top_k, 10).
    #[schemars(range(min = 1, max = 1000))]
    #[cfg_attr(feature = "clap", arg(short = 'n', long, value_name = "N", value_parser = whole::<1, 1000>, allow_negative_numbers = true))]
    pub limit: Option<usize>,
    /// Gather candidates by words (lexical), by meaning (semantic), or by both (hybrid) (default: search.mode).
    #[schemars(extend("enum" = Mode::NAMES))]
    #[cfg_attr(feature = "clap", arg(long, value_name = "MODE", value_parser = PossibleValuesParser::new(Mode::NAMES), hide_possible_values = true, hide_short_help = true))]
    pub mode: Option<String>,

    /// Only matching paths; !GLOB leaves paths out.
    #[schemars(length(max = 50), inner(length(max = 4000)), extend("x-whole" = true))]
    #[serde(default)]
    #[cfg_attr(feature = "clap", arg(long = "path", value_name = "GLOB", help_heading = "Filters"))]
    pub paths: Vec<String>,
    /// Repository (default: this one, or all).
    #[schemars(length(min = 1, max = 200))]
    #[cfg_attr(feature = "clap", arg(skip))]
    pub namespace: Option<String>,
    /// Only these namespaces, all with equal rank.
    #[schemars(length(max = 100), inner(length(max = 200)))]
    #[serde(default)]
    #[cfg_attr(
        feature = "clap",
        arg(
            long = "namespace",
            value_name = "NAME",
            value_delimiter = ',',
            help_heading = "Filters",
            hide_short_help = true
        )
    )]
    pub namespaces: Vec<String>,
    /// Search only your own namespace, not those that its owner shares.
    #[serde(default)]
    #[cfg_attr(feature = "clap", arg(long, help_heading = "Filters", hide_short_help = true))]
    pub no_sharing: bool,
    /// Only code, docs, wiki, issues, commits, notes, sessions, evidence or your own.
    #[schemars(length(max = 20), inner(length(max = 200)))]
    #[serde(default)]
    #[cfg_attr(
        feature = "clap",
        arg(
            long = "collection",
            value_name = "NAME",
            value_delimiter = ',',
            help_heading = "Filters",
            hide_short_help = true
        )
    )]
    pub collections: Vec<String>,
    /// Conditions on state, labels, author, date and the like.
    #[serde(flatten)]
    #[cfg_attr(feature = "clap", command(flatten))]
    pub metadata: MetadataFilter,

    /// Where relevance ends: a cut method with its parameters, or off to list the first results (default: as configured).
    #[schemars(length(min = 1, max = 1000))]
    #[cfg_attr(
        feature = "clap",
        arg(long, value_name = "METHOD[:PARAM=VALUE,…]", help_heading = "Cut", hide_short_help = true)
    )]
    pub cut: Option<String>,
    /// The aims of the cut.
    #[serde(flatten)]
    #[cfg_attr(feature = "clap", command(flatten))]
    pub goal: CutGoal,
    /// List the first results, without a cut.
    #[serde(default)]
    #[cfg_attr(feature = "clap", arg(long, conflicts_with_all = ["cut", "want", "strictness", "target_recall", "min_precision", "budget_tokens"], help_heading = "Cut"))]
    pub all: bool,
    /// Leave out the less likely results.
    #[serde(default)]
    #[cfg_attr(feature = "clap", arg(long, help_heading = "Cut", hide_short_help = true))]
    pub strict: bool,
    /// Keep the best even if nothing seems to be on topic.
    #[serde(default)]
    #[cfg_attr(feature = "clap", arg(long, help_heading = "Cut", hide_short_help = true))]
    pub no_gate: bool,
    /// Answer at once: embed nothing but the question, and ask no reranker.
    #[serde(default)]
    #[cfg_attr(feature = "clap", arg(long, help_heading = "Cut", hide_short_help = true))]
    pub fast: bool,
    /// Do not log this search. Meant for queries sent while the user types.
    #[serde(default)]
    #[cfg_attr(feature = "clap", arg(skip))]
    pub no_record: bool,

    /// Return the whole pool of candidates with its figures.
    #[serde(default)]
    #[cfg_attr(feature = "clap", arg(skip))]
    pub explain: bool,
    /// Lines around the best line of each result, 0 to 500 (default: 6 lines in all).
    #[schemars(range(min = 0, max = 500))]
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", value_parser = whole::<0, 500>, allow_negative_numbers = true, help_heading = "Output", hide_short_help = true))]
    pub context: Option<usize>,

    /// The namespaces that the caller may read; others are never touched. `None`: all.
    #[serde(skip)]
    #[cfg_attr(feature = "clap", arg(skip))]
    pub allowed_namespaces: Option<Vec<String>>,
    /// The entry point to record; `None`: `library`.
    #[serde(skip)]
    #[cfg_attr(feature = "clap", arg(skip))]
    pub entry_point: Option<String>,
    /// Who asks, as in [`SearchRequest::caller`].
    #[serde(skip)]
    #[cfg_attr(feature = "clap", arg(skip))]
    pub caller: Option<SearchCaller>,
}

/// A question to the whole index.
///
/// ```
/// use tamis::config::Config;
/// use tamis::search::SearchParameters;
///
/// let question: SearchParameters = serde_json::from_str(r#"{"query": "retry limit", "languages": ["rs"], "since": "7d"}"#)?;
/// assert_eq!(question.request(&Config::built_in())?.languages, ["rust"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct SearchParameters {
    /// What every search has.
    #[serde(flatten)]
    #[cfg_attr(feature = "clap", command(flatten))]
    pub common: QueryParameters,

    /// Only these languages or file extensions.
    #[schemars(length(max = 50), inner(length(max = 50)))]
    #[serde(default)]
    #[cfg_attr(feature = "clap", arg(long = "lang", value_name = "LANG", value_delimiter = ',', value_parser = language, help_heading = "Filters"))]
    pub languages: Vec<String>,
    /// Only these kinds of passage, such as function, method, type, section.
    #[schemars(length(max = 50), inner(length(max = 50)))]
    #[serde(default)]
    #[cfg_attr(feature = "clap", arg(long = "kind", value_name = "KIND", value_delimiter = ',', value_parser = PossibleValuesParser::new(Kind::NAMES), hide_possible_values = true, help_heading = "Filters", hide_short_help = true))]
    pub kinds: Vec<String>,
    /// Only passages of these roles: main, test, example, vendored, changelog, license, translation, agent or generated.
    #[schemars(length(max = 20), inner(length(max = 50)))]
    #[serde(default)]
    #[cfg_attr(feature = "clap", arg(long = "role", value_name = "ROLE", value_delimiter = ',', value_parser = PossibleValuesParser::new(Role::NAMES), hide_possible_values = true, help_heading = "Filters", hide_short_help = true))]
    pub roles: Vec<String>,
    /// Only symbols of these names: whole (Store::open), the last part (open), or a prefix (op*).
    #[schemars(length(max = 50), inner(length(max = 1000)), extend("x-whole" = true))]
    #[serde(default)]
    #[cfg_attr(
        feature = "clap",
        arg(long = "symbol", value_name = "NAME", help_heading = "Filters", hide_short_help = true)
    )]
    pub symbols: Vec<String>,

    /// List relevant passages separately, not by file.
    #[serde(default)]
    #[cfg_attr(feature = "clap", arg(long, help_heading = "Output", hide_short_help = true))]
    pub passages: bool,

    /// Meet this guarantee, calibrated on judged queries, instead of the cut's own decision: recall=0.9.
    #[schemars(length(min = 1, max = 200))]
    #[cfg_attr(
        feature = "clap",
        arg(long, value_name = "GUARANTEE", conflicts_with = "all", help_heading = "Cut", hide_short_help = true)
    )]
    pub guarantee: Option<String>,

    /// Also search a rephrasing: intent:…, paths:… (likely files) or code:… (a sketch of the code).
    #[schemars(length(max = 8), inner(length(max = 10_000)), extend("x-whole" = true))]
    #[serde(default)]
    #[cfg_attr(
        feature = "clap",
        arg(long = "variant", value_name = "[KIND:]WORDS", help_heading = "Ranking", hide_short_help = true)
    )]
    pub variants: Vec<String>,
    /// Rank this language higher without leaving others out.
    #[schemars(length(min = 1, max = 50))]
    #[cfg_attr(feature = "clap", arg(long, value_name = "LANG", value_parser = language, help_heading = "Ranking", hide_short_help = true))]
    pub prefer_lang: Option<String>,
    /// Rank the language of this file higher, such as the one being edited.
    #[schemars(length(min = 1, max = 4000))]
    #[cfg_attr(feature = "clap", arg(long, value_name = "FILE", help_heading = "Ranking", hide_short_help = true))]
    pub from: Option<String>,
}

impl QueryParameters {
    /// The request to notes and conversations.
    ///
    /// # Errors
    /// A value that is not allowed, by name.
    pub fn recall(&self, config: &Config) -> Result<SearchRequest, Error> {
        let request = self.asked(config, SearchRequest::memory)?;
        request.check()?;
        Ok(request)
    }

    fn asked(&self, config: &Config, new: fn(String) -> SearchRequest) -> Result<SearchRequest, Error> {
        let asked = self.clone();
        Ok(SearchRequest {
            limit: asked.limit,
            mode: self.mode.as_deref().map(str::parse).transpose()?,
            paths: asked.paths,
            namespace: asked.namespace,
            namespaces: asked.namespaces,
            sharing: asked.no_sharing.then_some(false),
            collections: asked.collections,
            metadata: asked.metadata,
            cut: chosen_cut(config, self.cut.as_deref().filter(|cut| *cut != NO_CUT))?,
            want: parsed("want", self.goal.want.as_deref())?,
            aim: asked.goal.aim,
            all: asked.all || self.cut.as_deref() == Some(NO_CUT),
            strict: asked.strict,
            gate: asked.no_gate.then_some(false),
            fast: asked.fast,
            unrecorded: asked.no_record,
            explain: asked.explain,
            snippet_lines: asked.context.map(|around| 2 * around + 1),
            allowed_namespaces: asked.allowed_namespaces,
            entry_point: asked.entry_point,
            caller: asked.caller,
            ..new(asked.query)
        })
    }
}

impl SearchParameters {
    /// The request for an index with this configuration, which has the parameters of a cut that the question leaves open.
    ///
    /// # Errors
    /// A value that is not allowed, by name.
    pub fn request(&self, config: &Config) -> Result<SearchRequest, Error> {
        let asked = self.clone();
        let request = SearchRequest {
            languages: words::canonical(&self.languages)?,
            kinds: asked.kinds,
            roles: asked.roles,
            symbols: asked.symbols,
            passages: asked.passages,
            guarantee: parsed("guarantee", self.guarantee.as_deref())?,
            variants: self.variants.iter().map(|variant| variant.parse()).collect::<Result<_, _>>()?,
            language_hint: self.prefer_lang.as_deref().map(|name| words::one("prefer_lang", name)).transpose()?,
            caller_path: asked.from,
            ..self.common.asked(config, SearchRequest::new)?
        };
        request.check()?;
        Ok(request)
    }
}

/// The cut that a text names, with the parameters that it leaves open from the configuration.
pub(crate) fn chosen_cut(config: &Config, text: Option<&str>) -> Result<Option<Box<dyn Rule>>, Error> {
    Ok(text.map(|cut| config.cut(cut)).transpose().map_err(AimError::NotAllowed)?)
}
