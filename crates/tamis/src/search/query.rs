//! The search request, which is checked before anything is read.

use super::aim::Aim;
use super::caller::SearchCaller;
use super::metadata::MetadataFilter;
use super::syntax::Parsed;
use super::variants::Variant;
use crate::Error;
use crate::config::Mode;
use tamis_cut::{Guarantee, Rule, Want};
use tamis_text::{Kind, Language, Role};

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
    /// Leaves the reranker out, which saves its time.
    pub fast: bool,
    /// The legs to use. `None`: `search.mode`.
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
    /// Who asks. What the same caller opens afterwards is a weak judgement of this search
    /// ([`Feedback::opened`](crate::feedback::Feedback::opened)). `None`: nothing is credited to it.
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

    /// Uses both legs or one of them.
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

    /// Checks the values that the types do not restrict.
    ///
    /// # Errors
    /// An empty query, too many variants, an unknown language, kind or state, a limit or a diversity out of range, or `all` together
    /// with a cut or an aim. The message lists the allowed values.
    pub fn check(&self) -> Result<(), Error> {
        if Parsed::new(&self.query).text.is_empty() {
            return Err(Error::argument("query", format!("{:?}", self.query), "a question or some words"));
        }
        if self.variants.len() > MAX_VARIANTS {
            return Err(Error::argument(
                "variants",
                self.variants.len().to_string(),
                format!("at most {MAX_VARIANTS}"),
            ));
        }
        if let Some(hint) = self.language_hint.as_ref().filter(|hint| Language::named(hint).is_none()) {
            return Err(Error::argument("language", format!("{hint:?}"), "a language's canonical name, such as rust"));
        }
        if let Some(role) = self.roles.iter().find(|role| role.parse::<Role>().is_err()) {
            return Err(Error::argument("role", format!("{role:?}"), format!("one of {}", Role::NAMES.join(", "))));
        }
        if let Some(kind) = self.kinds.iter().find(|kind| kind.parse::<Kind>().is_err()) {
            return Err(Error::argument("kind", format!("{kind:?}"), format!("one of {}", Kind::NAMES.join(", "))));
        }
        if let Some(diversity) = self.diversity.filter(|diversity| !(0.0..=1.0).contains(diversity)) {
            return Err(Error::argument("diversity", diversity.to_string(), "0 to 1"));
        }
        let cut = self.cut.is_some() || self.want.is_some() || self.guarantee.is_some() || self.aim != Aim::default();
        if self.all && cut {
            return Err(Error::argument("all", "true", "used without a cut, want, guarantee or an aim of the cut"));
        }
        self.metadata.check()?;
        match self.limit {
            Some(limit) if !(1..=1000).contains(&limit) => {
                Err(Error::argument("limit", limit.to_string(), "1 to 1000"))
            }
            _ => Ok(()),
        }
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
