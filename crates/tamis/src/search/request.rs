//! The search request: the question with everything that a caller can set, and the words and numbers that stand in it.

use std::fmt;
use std::fmt::Display;
use std::str::FromStr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

#[cfg(feature = "clap")]
use clap::builder::PossibleValuesParser;
use schemars::JsonSchema;
use serde::Deserialize;
use tamis_cut::{Guarantee, METHODS, Rule, Value, Want, build};
use tamis_store::CallerKey;

use super::filter::MetadataFilter;
use crate::Error;
use crate::config::{Config, Mode, Words};
use crate::error::AimError;
#[cfg(feature = "clap")]
use crate::flags::{finite, whole};
use crate::location::Bases;

/// The maximum number of other phrasings of a query.
pub const MAX_VARIANTS: usize = 8;

/// A question to an index. [`SearchRequest::new`] takes the settings of the configuration, and each method changes one of them.
///
/// ```
/// use tamis::{Mode, SearchRequest};
///
/// let request = SearchRequest::new("where is the retry limit").limit(5).mode(Mode::Lexical).languages(["rust"]);
/// assert!(request.check().is_ok());
/// ```
#[derive(Clone, Debug, Default)]
pub struct SearchRequest {
    /// The question. `lang:rust` in it is a preference; `path:GLOB`, `symbol:NAME` and `kind:KIND` are filters, which take the
    /// place of those of the request; `-word` and `-"some phrase"` leave out passages with a word or a phrase, where the index does
    /// not have the word with its dash, as in `java -jar`; of a `"phrase"` only passages that hold it remain, if there are any.
    pub query: String,
    /// Other phrasings of the same need, at most [`MAX_VARIANTS`].
    pub variants: Vec<Variant>,
    /// Most entries shown, 1 to 1000. It only shortens the list that the cut has decided. `None`: `search.top_k`.
    pub limit: Option<usize>,
    /// True to return every relevant passage as a result, not below its entry. The limit still counts entries.
    pub passages: bool,
    /// The cut. `None`: `search.cut`, or `memory.cut` for memories.
    pub cut: Option<Box<dyn Rule>>,
    /// Lists the first entries as they are ranked, without a cut, a gate or a lower part. It excludes `cut`, `want`, `aim` and
    /// `guarantee`.
    pub all: bool,
    /// Leaves out the entries below the line ([`Answer::nearest`](super::Answer::nearest)).
    pub strict: bool,
    /// The number of results wanted, which sets the strictness of a cut that has one. `None`: `search.want`.
    pub want: Option<Want>,
    /// The aims of the cut, which override its own parameters.
    pub aim: Aim,
    /// A promise that the cut must keep, calibrated on judged queries. It replaces the cut's own choice and the gate. `None`:
    /// `search.guarantee`.
    pub guarantee: Option<Guarantee>,
    /// Whether the gate may refuse everything if nothing stands out. `None`: `search.gate`.
    pub gate: Option<bool>,
    /// Embeds nothing but the query and asks no reranker, which saves their time.
    pub fast: bool,
    /// Leaves the search out of the log. An answer then has no identifier.
    pub unrecorded: bool,
    /// The retrievers to use. `None`: `search.mode`.
    pub mode: Option<Mode>,
    /// Only these languages, by canonical name; empty: all.
    pub languages: Vec<String>,
    /// The language to prefer, by canonical name. It overrides the one in the query, that of `languages` and that of
    /// `caller_path`.
    pub language_hint: Option<String>,
    /// The file that the caller is looking at, whose language is preferred.
    pub caller_path: Option<String>,
    /// The namespace to search first, with those that its owner shares added. `None`: the index's own, or if it has none, all
    /// with equal standing.
    pub namespace: Option<String>,
    /// Only these namespaces, with equal standing, in place of one's own and the shared ones; empty: see `namespace`.
    pub namespaces: Vec<String>,
    /// The namespaces that the caller may read; others are never touched. `None`: all.
    pub allowed_namespaces: Option<Vec<String>>,
    /// True to also search the namespaces that the same owner shares. `None`: `search.sharing`.
    pub sharing: Option<bool>,
    /// True to search memories, that is notes and conversations. The collections, the cut, the fusion, the decay and the order of
    /// kept results are then those of `[memory]`, unless the request sets them.
    pub memory: bool,
    /// Weight of relevance against similarity to higher results, 0 to 1, in the order of kept results (maximal marginal
    /// relevance). It never changes which results are kept. `None`: that of `[memory]` for memories, otherwise order by
    /// relevance.
    pub diversity: Option<f64>,
    /// Only these collections; empty: all, or those of `[memory]`.
    pub collections: Vec<String>,
    /// Only these kinds of passage, such as `function`; empty: all.
    pub kinds: Vec<String>,
    /// Only passages with one of these roles, such as `main` or `test`; empty: all.
    pub roles: Vec<String>,
    /// Only symbols with one of these names; `name*` stands for a prefix; empty: all.
    pub symbols: Vec<String>,
    /// Only paths that match one of these globs; empty: all.
    pub paths: Vec<String>,
    /// Conditions on state, labels, author, date and the like.
    pub metadata: MetadataFilter,
    /// True to return the whole pool with the answer.
    pub explain: bool,
    /// True to embed on demand even where the answer seems sure without it, as measurements do.
    pub thorough: bool,
    /// Lines of a snippet; `None`: 6.
    pub snippet_lines: Option<usize>,
    /// The reference time for the age of passages, in nanoseconds since 1970. `None`: now.
    pub now_ns: Option<i64>,
    /// The entry point to record; `None`: `library`.
    pub entry_point: Option<String>,
    /// Who asks. What the same caller opens afterwards is credited to this search
    /// ([`Feedback::opened`](crate::feedback::Feedback::opened)). `None`: nothing is.
    pub caller: Option<SearchCaller>,
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
        self.passages = true;
        self
    }

    /// Uses another cut than the configuration's.
    #[must_use]
    pub fn cut(mut self, cut: Box<dyn Rule>) -> Self {
        self.cut = Some(cut);
        self
    }

    /// Lists the first entries as they are ranked, without a cut or a gate.
    #[must_use]
    pub fn all(mut self) -> Self {
        self.all = true;
        self
    }

    /// Leaves out the entries below the line.
    #[must_use]
    pub fn strict(mut self) -> Self {
        self.strict = true;
        self
    }

    /// Sets the number of results wanted: one answer, some, or all.
    #[must_use]
    pub fn want(mut self, want: Want) -> Self {
        self.want = Some(want);
        self
    }

    /// Sets the aims of the cut.
    #[must_use]
    pub fn aim(mut self, aim: Aim) -> Self {
        self.aim = aim;
        self
    }

    /// Asks for a promise calibrated on judged queries.
    #[must_use]
    pub fn guarantee(mut self, guarantee: Guarantee) -> Self {
        self.guarantee = Some(guarantee);
        self
    }

    /// Lets the gate hold everything back where nothing stands out, or never.
    #[must_use]
    pub fn gate(mut self, gate: bool) -> Self {
        self.gate = Some(gate);
        self
    }

    /// Uses both retrievers or one of them.
    #[must_use]
    pub fn mode(mut self, mode: Mode) -> Self {
        self.mode = Some(mode);
        self
    }

    /// Adds another phrasing of the query.
    #[must_use]
    pub fn variant(mut self, variant: Variant) -> Self {
        self.variants.push(variant);
        self
    }

    /// Searches only these languages, by canonical name.
    #[must_use]
    pub fn languages<T: Into<String>>(mut self, languages: impl IntoIterator<Item = T>) -> Self {
        self.languages = languages.into_iter().map(Into::into).collect();
        self
    }

    /// Searches only these collections.
    #[must_use]
    pub fn collections<T: Into<String>>(mut self, collections: impl IntoIterator<Item = T>) -> Self {
        self.collections = collections.into_iter().map(Into::into).collect();
        self
    }

    /// Searches only paths that match one of these globs.
    #[must_use]
    pub fn paths<T: Into<String>>(mut self, globs: impl IntoIterator<Item = T>) -> Self {
        self.paths = globs.into_iter().map(Into::into).collect();
        self
    }

    /// Searches only these kinds of passage, such as `function`.
    #[must_use]
    pub fn kinds<T: Into<String>>(mut self, kinds: impl IntoIterator<Item = T>) -> Self {
        self.kinds = kinds.into_iter().map(Into::into).collect();
        self
    }

    /// Searches only these namespaces, with equal standing.
    #[must_use]
    pub fn namespaces<T: Into<String>>(mut self, namespaces: impl IntoIterator<Item = T>) -> Self {
        self.namespaces = namespaces.into_iter().map(Into::into).collect();
        self
    }

    /// Searches only documents that meet these conditions on state, labels, author or date.
    #[must_use]
    pub fn metadata(mut self, metadata: MetadataFilter) -> Self {
        self.metadata = metadata;
        self
    }

    /// Adds the whole pool to the answer.
    #[must_use]
    pub fn explain(mut self) -> Self {
        self.explain = true;
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
    #[schemars(extend("enum" = Want::NAMES))]
    #[cfg_attr(feature = "clap", arg(long, value_name = "one|best|all", value_parser = PossibleValuesParser::new(Want::NAMES), hide_possible_values = true, help_heading = "Cut"))]
    pub want: Option<String>,
    /// The aims.
    #[serde(flatten)]
    #[cfg_attr(feature = "clap", command(flatten))]
    pub aim: Aim,
}

impl CutGoal {
    /// The amount wanted; by default the cut decides.
    ///
    /// # Errors
    /// A word that is none of [`Want::NAMES`].
    pub fn wanted(&self) -> Result<Want, Error> {
        Ok(parsed("want", self.want.as_deref())?.unwrap_or_default())
    }
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

/// The value that a text names.
pub(crate) fn parsed<T: FromStr<Err: Display>>(name: &'static str, text: Option<&str>) -> Result<Option<T>, Error> {
    let read = |text: &str| {
        text.parse().map_err(|error: T::Err| {
            Error::argument(name, format!("{text:?}"), error.to_string().trim_start_matches("must be "))
        })
    };
    text.map(read).transpose()
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
            VariantKind::Intent => 1.0,
            VariantKind::Paths => 0.95,
            VariantKind::Code => 0.9,
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

/// How long after a search on the command line an opened result is taken to follow it.
const COMMAND_LINE_WINDOW: Duration = Duration::from_secs(30 * 60);

/// The same for a session, which says by itself who is meant: an agent may come back to a result after hours.
const SESSION_WINDOW: Duration = Duration::from_secs(24 * 3600);

/// Somebody who searches and then opens results.
///
/// The usage log keeps a hash of it, never its name.
///
/// ```
/// use tamis::search::SearchCaller;
///
/// let one = SearchCaller::session(&["mcp", "5f1c"]);
/// assert_eq!(one, SearchCaller::session(&["mcp", "5f1c"]));
/// assert_ne!(one, SearchCaller::session(&["mcp", "77aa"]));
/// assert_ne!(SearchCaller::connection(), SearchCaller::connection());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SearchCaller {
    pub(crate) key: CallerKey,
    pub(crate) window: Duration,
}

impl SearchCaller {
    /// The holder of a session or token, by parts that identify it.
    pub fn session(parts: &[&str]) -> Self {
        let parts = ["session"].into_iter().chain(parts.iter().copied());
        SearchCaller { key: CallerKey::from_parts(parts), window: SESSION_WINDOW }
    }

    /// The other end of a new connection, which is nobody else.
    pub fn connection() -> Self {
        static COUNTER: AtomicU64 = AtomicU64::new(0);
        let started = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        let parts = [started.to_string(), std::process::id().to_string(), number.to_string()];
        let parts: Vec<&str> = ["connection"].into_iter().chain(parts.iter().map(String::as_str)).collect();
        SearchCaller::session(&parts)
    }

    /// The user who runs this command. Another process of the same user counts as the same caller for half an hour.
    pub fn command_line() -> Self {
        let home = Bases::here().home.unwrap_or_default();
        let key = CallerKey::from_parts(["command line", &*home.to_string_lossy()]);
        SearchCaller { key, window: COMMAND_LINE_WINDOW }
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
        assert_eq!(weight("x").ok(), Some(1.0));
        assert_eq!(weight("paths:x").ok(), Some(0.95));
        assert_eq!(weight("code:x").ok(), Some(0.9));
        assert!(weight(&"é".repeat(800)).is_ok(), "characters, not bytes");
        let error = weight(&"x".repeat(801)).expect_err("one too many").to_string();
        assert!(error.contains("801 characters") && error.contains("1 to 800"), "{error}");
        let heavy = Variant { text: "x".into(), weight: Some(1.5), ..Variant::default() };
        assert!(heavy.checked().is_err());
    }
}
