//! The keyword arguments of a search and of a grep, as the package's own files hand them on, and the library's requests.

use jiff::Timestamp;
use serde::Deserialize;
use tamis::config::Config;
use tamis::search::{Aim, AimError, MetadataFilter, SearchCaller};
use tamis::text::Language;
use tamis::tree::{GrepRequest, LetterCase, MOST_LISTED, Pattern, TreeScope};
use tamis::{Error, SearchRequest, dates};

/// The entry point that recorded searches name.
const ENTRY_POINT: &str = "python";

/// The arguments of a search.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Search {
    limit: Option<usize>,
    cut: Option<String>,
    want: Option<String>,
    mode: Option<String>,
    guarantee: Option<String>,
    strictness: Option<f64>,
    target_recall: Option<f64>,
    min_precision: Option<f64>,
    budget_tokens: Option<usize>,
    gate: Option<bool>,
    fast: bool,
    all: bool,
    strict: bool,
    passages: bool,
    variants: Vec<String>,
    prefer_language: Option<String>,
    from_path: Option<String>,
    languages: Vec<String>,
    collections: Vec<String>,
    namespaces: Vec<String>,
    paths: Vec<String>,
    kinds: Vec<String>,
    roles: Vec<String>,
    symbols: Vec<String>,
    states: Vec<String>,
    labels: Vec<Vec<String>>,
    authors: Vec<String>,
    types: Vec<String>,
    topics: Vec<String>,
    since: Option<String>,
    until: Option<String>,
    snippet_lines: Option<usize>,
}

impl Search {
    /// The library's request. It asks for the whole pool, of which the scores draw the curve of an answer.
    pub fn request(self, query: String, config: &Config, caller: SearchCaller) -> Result<SearchRequest, Error> {
        let uncut = self.cut.as_deref() == Some("off");
        let cut = self.cut.as_deref().filter(|_| !uncut).map(|cut| config.cut(cut)).transpose();
        let refused = |name, value: &str, reason: String| Error::Argument {
            name,
            value: format!("{value:?}"),
            allowed: reason.trim_start_matches("must be ").to_owned(),
        };
        let wanted = |word: &String| word.parse().map_err(|reason: String| refused("want", word, reason));
        let promised = |text: &String| {
            text.parse().map_err(|error: tamis::cut::GuaranteeError| refused("guarantee", text, error.to_string()))
        };
        let request = SearchRequest {
            variants: self.variants.iter().map(|variant| variant.parse()).collect::<Result<_, _>>()?,
            limit: self.limit,
            passages: self.passages,
            cut: cut.map_err(|error| Error::Aim(AimError::NotAllowed(error)))?,
            want: self.want.as_ref().map(wanted).transpose()?,
            aim: Aim {
                strictness: self.strictness,
                target_recall: self.target_recall,
                min_precision: self.min_precision,
                budget_tokens: self.budget_tokens,
            },
            guarantee: self.guarantee.as_ref().map(promised).transpose()?,
            gate: self.gate,
            fast: self.fast,
            all: self.all || uncut,
            strict: self.strict,
            mode: self.mode.as_deref().map(str::parse).transpose()?,
            languages: languages(&self.languages)?,
            language_hint: self.prefer_language.as_deref().map(preferred).transpose()?,
            caller_path: self.from_path,
            namespaces: self.namespaces,
            collections: self.collections,
            kinds: self.kinds,
            roles: self.roles,
            symbols: self.symbols,
            paths: self.paths,
            metadata: MetadataFilter {
                states: self.states,
                labels: self.labels,
                authors: self.authors,
                types: self.types,
                topics: self.topics,
                since: moment("since", self.since.as_deref())?,
                until: moment("until", self.until.as_deref())?,
            },
            explain: true,
            snippet_lines: self.snippet_lines,
            entry_point: Some(ENTRY_POINT.to_owned()),
            caller: Some(caller),
            ..SearchRequest::new(query)
        };
        request.check()?;
        request.tuned_rule(config)?;
        Ok(request)
    }
}

/// The arguments of a grep.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Grep {
    fixed_strings: bool,
    ignore_case: bool,
    word: bool,
    paths: Vec<String>,
    languages: Vec<String>,
    namespace: Option<String>,
    before: usize,
    after: usize,
    limit: Option<usize>,
}

impl Grep {
    /// The library's request.
    pub fn request(self, pattern: String) -> Result<GrepRequest, Error> {
        let case = if self.ignore_case { LetterCase::Insensitive } else { LetterCase::Sensitive };
        Ok(GrepRequest {
            pattern: Pattern { text: pattern, literal: self.fixed_strings, case, word: self.word },
            scope: TreeScope {
                paths: self.paths,
                languages: languages(&self.languages)?,
                namespace: self.namespace,
                allowed_namespaces: None,
            },
            before: self.before,
            after: self.after,
            limit: self.limit.unwrap_or(MOST_LISTED),
            ..GrepRequest::new("")
        })
    }
}

fn languages(names: &[String]) -> Result<Vec<String>, Error> {
    let mut languages = Vec::new();
    for name in names {
        let found = Language::selection(name);
        if found.is_empty() {
            return Err(not_a_language("languages", name));
        }
        languages.extend(found.iter().map(|language| language.name.to_owned()));
    }
    languages.sort();
    languages.dedup();
    Ok(languages)
}

fn preferred(name: &str) -> Result<String, Error> {
    let found = Language::resolve(name).map(|language| language.name.to_owned());
    found.ok_or_else(|| not_a_language("prefer_language", name))
}

fn not_a_language(argument: &'static str, name: &str) -> Error {
    let allowed = "a language, such as rust, or a file extension, such as rs".to_owned();
    Error::Argument { name: argument, value: format!("{name:?}"), allowed }
}

/// The moment that an argument names, relative to now.
fn moment(name: &'static str, text: Option<&str>) -> Result<Option<Timestamp>, Error> {
    let read = |text: &str| {
        dates::moment(text, &dates::now()).map_err(|error| Error::Argument {
            name,
            value: format!("{text:?}"),
            allowed: format!("a date or a time ({error})"),
        })
    };
    text.map(read).transpose()
}
