//! The search request: the question with everything that a caller can set, and the words and numbers that stand in it.

use std::fmt;
use std::fmt::Display;
use std::str::FromStr;

#[cfg(feature = "clap")]
use clap::builder::PossibleValuesParser;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};
use tamis_cut::{METHODS, Rule, Value, Want, build};
#[cfg(feature = "clap")]
use tamis_text::{Kind, Role};

use super::caller::Asker;
use super::filter::MetadataFilter;
use crate::Error;
use crate::config::{Config, Mode, Words};
use crate::error::AimError;
#[cfg(feature = "clap")]
use crate::flag_values::{self, finite, language, whole};

/// The maximum number of other phrasings of a query.
pub const MAX_VARIANTS: usize = 8;

/// A question to an index, as every interface asks it: the flags of a command, the parameters of a route, the arguments of a tool or
/// of Python. [`SearchRequest::new`] takes the settings of the configuration, and each method changes one of them.
///
/// ```
/// use tamis::{Mode, SearchRequest};
///
/// let request = SearchRequest::new("where is the retry limit").limit(5).mode(Mode::Lexical).languages(["rust"]);
/// assert!(request.check().is_ok());
/// let read: SearchRequest = serde_json::from_str(r#"{"query": "retry limit", "languages": ["rs"], "since": "7d"}"#)?;
/// assert!(read.check().is_ok());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct SearchRequest {
    // `lang:rust` in it is a preference; `path:GLOB`, `symbol:NAME` and `kind:KIND` are filters, which take the place of those of the
    // request; `-word` and `-"some phrase"` leave out passages with a word or a phrase, where the index does not have the word with its
    // dash, as in `java -jar`; of a `"phrase"` only passages that hold it remain, if there are any.
    /// Question, words, names or an error message.
    #[schemars(length(min = 1, max = 10_000))]
    #[cfg_attr(feature = "clap", arg(skip))]
    pub query: String,
    /// Show at most this many results (default: search.top_k, 10).
    #[schemars(range(min = 1, max = 1000))]
    #[cfg_attr(feature = "clap", arg(short = 'n', long, value_name = "N", value_parser = whole::<1, 1000>, allow_negative_numbers = true))]
    pub limit: Option<usize>,
    /// Gather candidates by words (lexical), by meaning (semantic), or by both (hybrid) (default: search.mode).
    #[schemars(with = "Option<String>", extend("enum" = Mode::NAMES))]
    #[serde(default, deserialize_with = "mode")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "MODE", value_parser = flag_values::word::<Mode>(&Mode::NAMES), hide_possible_values = true, hide_short_help = true))]
    pub mode: Option<Mode>,
    /// The passages to search.
    #[serde(flatten)]
    #[cfg_attr(feature = "clap", command(flatten))]
    pub filters: SearchFilters,
    /// The end of the list.
    #[serde(flatten)]
    #[cfg_attr(feature = "clap", command(flatten))]
    pub cut: CutOptions,
    /// Answer at once: embed nothing but the question, and ask no reranker.
    #[serde(default)]
    #[cfg_attr(feature = "clap", arg(long, help_heading = "Cut", hide_short_help = true))]
    pub fast: bool,
    /// The form of the results.
    #[serde(flatten)]
    #[cfg_attr(feature = "clap", command(flatten))]
    pub output: OutputOptions,
    /// Other phrasings, and what ranks higher.
    #[serde(flatten)]
    #[cfg_attr(feature = "clap", command(flatten))]
    pub ranking: RankingOptions,
    /// Do not log this search. Meant for queries sent while the user types.
    // An answer then has no identifier.
    #[serde(default)]
    #[cfg_attr(feature = "clap", arg(skip))]
    pub no_record: bool,
    /// True to search memories, that is notes and conversations. The collections, the cut, the fusion, the decay and the order of
    /// kept results are then those of `[memory]`, unless the request sets them.
    #[serde(skip)]
    #[cfg_attr(feature = "clap", arg(skip))]
    pub memory: bool,
    /// Who asks.
    #[serde(skip)]
    #[cfg_attr(feature = "clap", arg(skip))]
    pub asker: Asker,
}

/// The passages that a request searches; the default is all of its namespaces.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct SearchFilters {
    /// Only matching paths; !GLOB leaves paths out.
    #[schemars(length(max = 50), inner(length(max = 4000)), extend("x-whole" = true))]
    #[serde(default)]
    #[cfg_attr(feature = "clap", arg(long = "path", value_name = "GLOB", help_heading = "Filters"))]
    pub paths: Vec<String>,
    // Searched first, with those that its owner shares added. `None`: the index's own, or if it has none, all with equal standing.
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
    /// Only passages of these roles: main, test, example, vendored, changelog, license, translation, agent, generated, bot or template.
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
}

impl SearchFilters {
    /// Returns the namespaces that the request names; none for the usual ones.
    #[must_use]
    pub fn named_namespaces(&self) -> Vec<String> {
        self.namespaces.iter().chain(&self.namespace).cloned().collect()
    }
}

/// Where the list of results ends.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct CutOptions {
    // Parameters that it leaves open come from the configuration. `None`: `search.cut`, or `memory.cut` for memories.
    /// Where relevance ends: a cut method with its parameters, or off to list the first results (default: as configured).
    #[schemars(length(min = 1, max = 1000))]
    #[serde(rename = "cut")]
    #[cfg_attr(
        feature = "clap",
        arg(id = "cut", long, value_name = "METHOD[:PARAM=VALUE,…]", help_heading = "Cut", hide_short_help = true)
    )]
    pub method: Option<String>,
    /// The amount wanted, and the aims of the cut.
    #[serde(flatten)]
    #[cfg_attr(feature = "clap", command(flatten))]
    pub goal: CutGoal,
    // The first entries as they are ranked, without a gate or a lower part. It excludes a cut, a guarantee, `want` and aims.
    /// List the first results, without a cut.
    #[serde(default)]
    #[cfg_attr(feature = "clap", arg(long, conflicts_with_all = ["cut", "want", "strictness", "target_recall", "min_precision", "budget_tokens"], help_heading = "Cut"))]
    pub all: bool,
    /// Leave out the less likely results.
    // They are `Answer::nearest`.
    #[serde(default)]
    #[cfg_attr(feature = "clap", arg(long, help_heading = "Cut", hide_short_help = true))]
    pub strict: bool,
    /// Keep the best even if nothing seems to be on topic.
    #[serde(default)]
    #[cfg_attr(feature = "clap", arg(long, help_heading = "Cut", hide_short_help = true))]
    pub no_gate: bool,
    /// Meet this guarantee, calibrated on judged queries, instead of the cut's own decision: recall=0.9.
    // It replaces the gate too; `off` promises nothing. `None`: `search.guarantee`.
    #[schemars(length(min = 1, max = 200))]
    #[cfg_attr(
        feature = "clap",
        arg(long, value_name = "GUARANTEE", conflicts_with = "all", help_heading = "Cut", hide_short_help = true)
    )]
    pub guarantee: Option<String>,
}

/// The form of results.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct OutputOptions {
    // The limit still counts entries.
    /// List relevant passages separately, not by file.
    #[serde(default)]
    #[cfg_attr(feature = "clap", arg(long, help_heading = "Output", hide_short_help = true))]
    pub passages: bool,
    /// Return the whole pool of candidates with its figures.
    #[serde(default)]
    #[cfg_attr(feature = "clap", arg(skip))]
    pub explain: bool,
    /// Lines around the best line of each result, 0 to 500 (default: 6 lines in all).
    #[schemars(range(min = 0, max = 500))]
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", value_parser = whole::<0, 500>, allow_negative_numbers = true, help_heading = "Output", hide_short_help = true))]
    pub context: Option<usize>,
}

/// Other phrasings of a question, and what ranks higher.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct RankingOptions {
    /// Also search a rephrasing: intent:…, paths:… (likely files) or code:… (a sketch of the code).
    #[schemars(with = "Vec<String>", length(max = 8), inner(length(max = 10_000)), extend("x-whole" = true))]
    #[serde(default, deserialize_with = "variants")]
    #[cfg_attr(
        feature = "clap",
        arg(long = "variant", value_name = "[KIND:]WORDS", help_heading = "Ranking", hide_short_help = true)
    )]
    pub variants: Vec<Variant>,
    // It goes before the one in the query, that of `languages` and that of `from`.
    /// Rank this language higher without leaving others out.
    #[schemars(length(min = 1, max = 50))]
    #[cfg_attr(feature = "clap", arg(long, value_name = "LANG", value_parser = language, help_heading = "Ranking", hide_short_help = true))]
    pub prefer_lang: Option<String>,
    /// Rank the language of this file higher, such as the one being edited.
    #[schemars(length(min = 1, max = 4000))]
    #[cfg_attr(feature = "clap", arg(long, value_name = "FILE", help_heading = "Ranking", hide_short_help = true))]
    pub from: Option<String>,
    /// Weight of relevance against similarity to higher results, 0 to 1, in the order of kept results (maximal marginal
    /// relevance). It never changes which results are kept. `None`: that of `[memory]` for memories, otherwise order by
    /// relevance.
    #[serde(skip)]
    #[cfg_attr(feature = "clap", arg(skip))]
    pub diversity: Option<f64>,
    /// True to embed on demand even where the answer seems sure without it, as measurements do.
    #[serde(skip)]
    #[cfg_attr(feature = "clap", arg(skip))]
    pub thorough: bool,
    /// The reference time for the age of passages, in nanoseconds since 1970. `None`: now.
    #[serde(skip)]
    #[cfg_attr(feature = "clap", arg(skip))]
    pub now_ns: Option<i64>,
}

impl SearchRequest {
    /// Creates a question with the configuration's settings.
    pub fn new(query: impl Into<String>) -> Self {
        SearchRequest { query: query.into(), ..SearchRequest::default() }
    }

    /// Creates a question to notes and conversations, with the settings of `[memory]`.
    pub fn memory(query: impl Into<String>) -> Self {
        SearchRequest { memory: true, ..SearchRequest::new(query) }
    }

    /// Sets the most entries shown, 1 to 1000. It only shortens what the cut has decided.
    #[must_use]
    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = Some(limit);
        self
    }

    /// Gives every relevant passage as a result of its own.
    #[must_use]
    pub fn passages(mut self) -> Self {
        self.output.passages = true;
        self
    }

    /// Uses another cut than the configuration's: a [`Rule`], or a method with its parameters as text.
    #[must_use]
    pub fn cut(mut self, cut: impl ToString) -> Self {
        self.cut.method = Some(cut.to_string());
        self
    }

    /// Lists the first entries as they are ranked, without a cut or a gate.
    #[must_use]
    pub fn all(mut self) -> Self {
        self.cut.all = true;
        self
    }

    /// Leaves out the entries below the line.
    #[must_use]
    pub fn strict(mut self) -> Self {
        self.cut.strict = true;
        self
    }

    /// Sets the number of results wanted: one answer, some, or all.
    #[must_use]
    pub fn want(mut self, want: Want) -> Self {
        self.cut.goal.want = Some(want);
        self
    }

    /// Sets the aims of the cut.
    #[must_use]
    pub fn aim(mut self, aim: Aim) -> Self {
        self.cut.goal.aim = aim;
        self
    }

    /// Asks for a promise calibrated on judged queries: a [`Guarantee`](tamis_cut::Guarantee), or one as text.
    #[must_use]
    pub fn guarantee(mut self, guarantee: impl ToString) -> Self {
        self.cut.guarantee = Some(guarantee.to_string());
        self
    }

    /// Never lets the gate hold everything back where nothing stands out.
    #[must_use]
    pub fn no_gate(mut self) -> Self {
        self.cut.no_gate = true;
        self
    }

    /// Uses both retrievers or one of them.
    #[must_use]
    pub fn mode(mut self, mode: Mode) -> Self {
        self.mode = Some(mode);
        self
    }

    /// Embeds nothing but the question, and asks no reranker.
    #[must_use]
    pub fn fast(mut self) -> Self {
        self.fast = true;
        self
    }

    /// Adds another phrasing of the query.
    #[must_use]
    pub fn variant(mut self, variant: Variant) -> Self {
        self.ranking.variants.push(variant);
        self
    }

    /// Searches only these languages, by name, alias or file extension.
    #[must_use]
    pub fn languages<T: Into<String>>(mut self, languages: impl IntoIterator<Item = T>) -> Self {
        self.filters.languages = languages.into_iter().map(Into::into).collect();
        self
    }

    /// Searches only these collections.
    #[must_use]
    pub fn collections<T: Into<String>>(mut self, collections: impl IntoIterator<Item = T>) -> Self {
        self.filters.collections = collections.into_iter().map(Into::into).collect();
        self
    }

    /// Searches only paths that match one of these globs.
    #[must_use]
    pub fn paths<T: Into<String>>(mut self, globs: impl IntoIterator<Item = T>) -> Self {
        self.filters.paths = globs.into_iter().map(Into::into).collect();
        self
    }

    /// Searches only these kinds of passage, such as `function`.
    #[must_use]
    pub fn kinds<T: Into<String>>(mut self, kinds: impl IntoIterator<Item = T>) -> Self {
        self.filters.kinds = kinds.into_iter().map(Into::into).collect();
        self
    }

    /// Searches this namespace first, with those that its owner shares.
    #[must_use]
    pub fn namespace(mut self, namespace: Option<String>) -> Self {
        self.filters.namespace = namespace;
        self
    }

    /// Searches only these namespaces, with equal standing.
    #[must_use]
    pub fn namespaces<T: Into<String>>(mut self, namespaces: impl IntoIterator<Item = T>) -> Self {
        self.filters.namespaces = namespaces.into_iter().map(Into::into).collect();
        self
    }

    /// Searches only documents that meet these conditions on state, labels, author or date.
    #[must_use]
    pub fn metadata(mut self, metadata: MetadataFilter) -> Self {
        self.filters.metadata = metadata;
        self
    }

    /// Adds the whole pool to the answer.
    #[must_use]
    pub fn explain(mut self) -> Self {
        self.output.explain = true;
        self
    }

    /// Sets the reference time for the age of passages, in nanoseconds since 1970; `None`: now.
    #[must_use]
    pub fn now_ns(mut self, now_ns: Option<i64>) -> Self {
        self.ranking.now_ns = now_ns;
        self
    }

    /// Says who asks.
    #[must_use]
    pub fn asker(mut self, asker: Asker) -> Self {
        self.asker = asker;
        self
    }
}

impl From<&str> for SearchRequest {
    fn from(query: &str) -> Self {
        SearchRequest::new(query)
    }
}

impl From<String> for SearchRequest {
    fn from(query: String) -> Self {
        SearchRequest::new(query)
    }
}

impl From<&SearchRequest> for SearchRequest {
    fn from(request: &SearchRequest) -> Self {
        request.clone()
    }
}

impl SearchRequest {
    /// Returns the most entries that an answer shows.
    pub(crate) fn limit_under(&self, config: &Config) -> usize {
        self.limit.unwrap_or(config.search.top_k)
    }
}

fn mode<'de, D: Deserializer<'de>>(text: D) -> Result<Option<Mode>, D::Error> {
    named("mode", Option::deserialize(text)?)
}

fn want<'de, D: Deserializer<'de>>(text: D) -> Result<Option<Want>, D::Error> {
    named("want", Option::deserialize(text)?)
}

fn variants<'de, D: Deserializer<'de>>(texts: D) -> Result<Vec<Variant>, D::Error> {
    let texts = Vec::<String>::deserialize(texts)?.into_iter();
    texts.filter_map(|text| named("variants", Some(text)).transpose()).collect()
}

/// The value that the text of an argument names.
fn named<T: FromStr<Err: Display>, E: serde::de::Error>(argument: &str, text: Option<String>) -> Result<Option<T>, E> {
    text.map(|text| text.parse()).transpose().map_err(|error| E::custom(format!("{argument}: {error}")))
}

/// The aims of a cut: parameters of the methods that compute with expected values. `None`: the method's own setting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct Aim {
    /// Count precision this many times as much as recall, 0.1 to 10; for the cut auto.
    #[schemars(range(min = 0.1, max = 10.0))]
    #[cfg_attr(feature = "clap", arg(long, value_name = "FACTOR", value_parser = finite, allow_negative_numbers = true, help_heading = "Cut", hide_short_help = true))]
    pub strictness: Option<f64>,
    /// Keep the fewest with this expected recall, 0 to 0.999; for the cut auto.
    #[schemars(range(min = 0.0, max = 0.999))]
    #[cfg_attr(feature = "clap", arg(long, value_name = "SHARE", value_parser = finite, allow_negative_numbers = true, help_heading = "Cut", hide_short_help = true))]
    pub target_recall: Option<f64>,
    /// Keep no more than have this expected precision, 0 to 0.999; for the cut auto.
    #[schemars(range(min = 0.0, max = 0.999))]
    #[cfg_attr(feature = "clap", arg(long, value_name = "SHARE", value_parser = finite, allow_negative_numbers = true, help_heading = "Cut", hide_short_help = true))]
    pub min_precision: Option<f64>,
    /// Keep no more than this many tokens of text; for the cut auto.
    #[schemars(range(min = 0, max = 1_000_000))]
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", value_parser = whole::<0, { usize::MAX }>, allow_negative_numbers = true, help_heading = "Cut", hide_short_help = true))]
    pub budget_tokens: Option<usize>,
}

/// The amount wanted, and the aims of a cut.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct CutGoal {
    /// Keep the one answer, the best ones, or all on the topic (default: search.want, auto).
    #[schemars(with = "Option<String>", extend("enum" = Want::NAMES))]
    #[serde(default, deserialize_with = "want")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "one|best|all", value_parser = flag_values::word::<Want>(Want::NAMES), hide_possible_values = true, help_heading = "Cut"))]
    pub want: Option<Want>,
    /// The aims.
    #[serde(flatten)]
    #[cfg_attr(feature = "clap", command(flatten))]
    pub aim: Aim,
}

/// Returns the methods that have the parameter, by name.
fn able(aim: &str) -> String {
    let names = METHODS.iter().filter(|method| method.parameter(aim).is_some()).map(|method| method.name);
    names.collect::<Vec<_>>().join(" or ")
}

impl Aim {
    /// Returns the aims that are set, each by the name of its parameter.
    fn given(&self) -> impl Iterator<Item = (&'static str, Value)> {
        let number = |value: Option<f64>| value.map(Value::from);
        [
            ("strictness", number(self.strictness)),
            ("target_recall", number(self.target_recall)),
            ("min_precision", number(self.min_precision)),
            ("budget_tokens", self.budget_tokens.map(Value::from)),
        ]
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)))
    }

    /// Returns the rule with these aims in place of its own.
    ///
    /// # Errors
    /// [`AimError::NoSuchAim`] if the method lacks the parameter, [`AimError::NotAllowed`] if a value is out of its range.
    pub fn set(&self, rule: &dyn Rule) -> Result<Box<dyn Rule>, AimError> {
        let mut settings = rule.settings();
        for (aim, value) in self.given() {
            let method = rule.name();
            let setting = settings.iter_mut().find(|(name, _)| *name == aim);
            setting.ok_or_else(|| AimError::NoSuchAim { aim, method, able: able(aim) })?.1 = value;
        }
        Ok(build(rule.name(), settings)?)
    }
}

/// The most characters of a phrasing.
const MOST_CHARACTERS: usize = 800;

/// The kind of a phrasing, which sets the weight of its ranks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum VariantKind {
    /// The same need in other words.
    #[default]
    Intent,
    /// Files and directories where the answer may be.
    Paths,
    /// The shape of the wanted code.
    Code,
}

impl VariantKind {
    /// All kinds by name.
    pub const NAMES: [&str; 3] = ["intent", "paths", "code"];

    /// Returns the weight of the ranks of a phrasing. The query itself has that of an intent.
    pub(crate) fn weight(self) -> f64 {
        match self {
            VariantKind::Intent => tamis_rank::INTENT_WEIGHT,
            VariantKind::Paths => tamis_rank::PATHS_WEIGHT,
            VariantKind::Code => tamis_rank::CODE_WEIGHT,
        }
    }
}

impl fmt::Display for VariantKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            VariantKind::Intent => "intent",
            VariantKind::Paths => "paths",
            VariantKind::Code => "code",
        })
    }
}

/// Another phrasing of a query's need.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Variant {
    /// Its words, at most 800 characters.
    pub text: String,
    /// Its kind.
    pub kind: VariantKind,
    /// The weight of its ranks, 0 to 1. `None`: the weight of its kind, 1 for an intent, 0.95 for paths, 0.9 for
    /// code.
    pub weight: Option<f64>,
}

/// Parses `TEXT`, or `intent:TEXT`, `paths:TEXT`, `code:TEXT`.
impl FromStr for Variant {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let (kind, text) = match text.split_once(':') {
            Some(("intent", rest)) => (VariantKind::Intent, rest),
            Some(("paths", rest)) => (VariantKind::Paths, rest),
            Some(("code", rest)) => (VariantKind::Code, rest),
            _ => (VariantKind::Intent, text),
        };
        let text = text.trim().to_owned();
        if text.is_empty() {
            return Err(Error::argument("variant", "\"\"", "some words, or intent:…, paths:…, code:… with some words"));
        }
        Ok(Variant { text, kind, weight: None })
    }
}

impl Variant {
    /// Returns its weight.
    ///
    /// # Errors
    /// Its text is empty or too long, or its weight is not in the range 0 to 1.
    pub(crate) fn checked(&self) -> Result<f64, Error> {
        let length = self.text.chars().count();
        if self.text.trim().is_empty() || length > MOST_CHARACTERS {
            let allowed = format!("1 to {MOST_CHARACTERS} characters");
            return Err(Error::argument("variant", format!("{length} characters"), allowed));
        }
        match self.weight {
            Some(weight) if !(0.0..=1.0).contains(&weight) => {
                Err(Error::argument("variant weight", weight.to_string(), "0 to 1"))
            }
            weight => Ok(weight.unwrap_or(self.kind.weight())),
        }
    }
}

impl FromStr for Mode {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        let allowed = || format!("one of {}", Mode::NAMES.join(", "));
        Mode::from_word(name).ok_or_else(|| Error::argument("mode", format!("{name:?}"), allowed()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variant_says_its_kind_in_front() {
        let read = |text: &str| text.parse::<Variant>().map(|variant| (variant.kind, variant.text));
        assert_eq!(read("code:fn retry(").ok(), Some((VariantKind::Code, "fn retry(".into())));
        assert_eq!(read("paths: src/net").ok(), Some((VariantKind::Paths, "src/net".into())));
        assert_eq!(read("std::fmt").ok(), Some((VariantKind::Intent, "std::fmt".into())), "not every colon is a kind");
        assert!(read("code: ").is_err());
    }

    #[test]
    fn weights_come_from_the_kind_and_lengths_are_bounded() {
        let weight = |text: &str| text.parse::<Variant>().expect("a variant").checked();
        assert_eq!([weight("x").ok(), weight("paths:x").ok()], [Some(1.0), Some(0.95)]);
        assert_eq!(weight("code:x").ok(), Some(0.9));
        assert!(weight(&"é".repeat(800)).is_ok(), "characters, not bytes");
        let error = weight(&"x".repeat(801)).expect_err("one too many").to_string();
        assert!(error.contains("801 characters") && error.contains("1 to 800"), "{error}");
        let heavy = Variant { text: "x".into(), weight: Some(1.5), ..Variant::default() };
        assert!(heavy.checked().is_err());
    }
}
