//! A query: a request with its words, language hint and namespaces, checked and without operators.
//!
//! Operators are `lang:rust`, `path:src/**`, `symbol:Name`, `kind:function`, `"exact phrase"`, `-word` and `-"some phrase"`; `NOT`,
//! `AND` and `OR` between words are other forms of some of them. Whatever has another form is a word to search for. So is everything
//! but a language in a query of several lines or many words, which somebody pasted. `-jar` excludes the word `jar`, unless it is an
//! option of a command in what the search would find.

use std::borrow::Cow;
use std::sync::Arc;

use tamis_cut::Gate;
use tamis_rank::{
    AskedNames, Lean, LiteralText, PathNames, ProperNames, QueryNames, RequiredTerm, RequiredTerms, says_failure,
};
use tamis_store::{Filter, LexicalQuery, PassageId, StoreError, StoredPassage};
use tamis_text::{Kind, Language, Role};

use super::answer::Reading;
use super::context::{Context, Scope, scope_of};
use super::exact::MessageSource;
use super::judgements::{JudgedPassages, judged_passages, learns};
use super::misspellings::read_misspelt;
use super::request::{MAX_VARIANTS, SearchRequest, Variant};
use crate::import::commits::without_commits;
use crate::{Error, words};

/// A query with all open choices made.
#[derive(Clone, Debug, Default)]
pub(crate) struct Query {
    /// The words to search for, without hints.
    pub text: String,
    /// The names that the query can mean.
    pub names: QueryNames,
    /// Its words, to compare the names of files with.
    pub paths: Arc<PathNames>,
    /// What its wording asks for. Searches of memories prefer no kind of text.
    pub lean: Option<Lean>,
    /// The names whose definitions it asks for.
    pub asked: Arc<AskedNames>,
    /// Its words in their order, to find the texts that repeat them.
    pub literal: Arc<LiteralText>,
    /// The names in it.
    pub proper_names: ProperNames,
    /// The terms that an answer must hold.
    pub required: RequiredTerms,
    /// The words that a passage must and must not hold.
    pub words: WordFilter,
    /// Other phrasings with their weights.
    pub variants: Vec<(String, f64)>,
    /// The language to prefer, by canonical name.
    pub hint: Option<&'static str>,
    /// The namespaces to read.
    pub scope: Scope,
    /// The reference time for ages, in nanoseconds since 1970.
    pub now_ns: i64,
    /// Where it is made, if it is a message and nothing else.
    pub message: Option<MessageSource>,
    /// True for a search of memories.
    pub memory: bool,
    /// True if nobody waits for a model to read passages.
    pub fast: bool,
    /// True if a model embeds passages on demand even where the answer seems sure.
    pub thorough: bool,
    /// The gate, if the search has one.
    pub gate: Option<Gate>,
    /// The gate, where the user has turned it off. It decides nothing, and the reason says what it would have refused.
    pub waived_gate: Option<Gate>,
    /// What people said of its passages.
    pub judged: JudgedPassages,
    /// True if judgements of other questions move the odds of its entries.
    pub learns: bool,
    /// The misspelt words that the text has others for.
    pub readings: Vec<Reading>,
}

impl Query {
    /// Returns `true` if the query asks for names and says nothing else.
    pub fn is_name(&self) -> bool {
        !self.memory
            && (self.asked.are_alone() || !self.text.contains(char::is_whitespace))
            && !self.required.is_empty()
    }
}

/// Prepares a request among the passages of a filter.
///
/// # Errors
/// A variant is too long, a namespace does not exist, or the store fails.
pub(crate) fn prepare(context: &Context<'_>, request: &SearchRequest, filter: &Filter) -> Result<Query, Error> {
    let scope = scope_of(context, request)?;
    let all = scope.of_all(filter);
    let mut parsed = parse_query(context, &request.query, &all)?;
    let mut readings = Vec::new();
    // A few notes lack most right words, so that what is spelled almost like one says little.
    let can_read = parsed.is_typed && !request.memory;
    if can_read && request.mode.unwrap_or(context.index.config.search.mode).lexical() {
        (parsed.text, readings) = read_misspelt(context, &parsed.text, &all);
    }
    let names = QueryNames::from_query(&parsed.text);
    let weighed = |variant: &Variant| Ok((variant.text.trim().to_owned(), variant.checked()?));
    let (gate, waived_gate) = gates(context, request);
    let judged = judged_passages(context, request, &scope, &parsed.text);
    Ok(Query {
        hint: request.hint(&parsed),
        lean: Lean::from_query(&parsed.text, &names).filter(|_| !request.memory),
        names,
        paths: Arc::new(PathNames::from_query(&parsed.text)),
        asked: Arc::new(AskedNames::from_query(&parsed.text)),
        literal: Arc::new(LiteralText::from_query(&parsed.text)),
        proper_names: ProperNames::from_query(&parsed.text),
        required: RequiredTerms::from_query(&parsed.text),
        words: parsed.words,
        text: parsed.text,
        variants: request.ranking.variants.iter().map(weighed).collect::<Result<_, Error>>()?,
        scope,
        now_ns: request.ranking.now_ns.unwrap_or_else(crate::dates::present_ns),
        message: None,
        memory: request.memory,
        fast: request.fast,
        thorough: request.ranking.thorough,
        gate,
        waived_gate,
        judged,
        learns: learns(context) && !request.memory && !request.imports_judgements(),
        readings,
    })
}

/// The gate that decides, or the one that the user has turned off.
fn gates(context: &Context<'_>, request: &SearchRequest) -> (Option<Gate>, Option<Gate>) {
    let config = &context.index.config;
    if request.is_uncut(config) {
        return (None, None);
    }
    let gate = if request.memory { gate_of_memories() } else { Gate::default() };
    if config.search.gate && !request.cut.no_gate { (Some(gate), None) } else { (None, Some(gate)) }
}

/// The gate of a search of memories whose evidence is not weighed. A note is a line or two and shares few words with a question
/// about it, so less evidence is enough.
fn gate_of_memories() -> Gate {
    Gate { min_evidence: 0.75, ..Gate::default() }
}

impl SearchRequest {
    /// Returns the language to prefer. The caller's hint comes first, then the query's, then the only language that the filter
    /// allows, then that of the caller's file.
    pub(crate) fn hint(&self, parsed: &Parsed) -> Option<&'static str> {
        let said = || self.ranking.prefer_lang.as_deref().and_then(Language::resolve);
        let only = || {
            let languages = self.filters.languages.iter().flat_map(|name| Language::selection(name));
            let mut bases: Vec<&str> = languages.map(Language::base_name).collect();
            bases.sort_unstable();
            bases.dedup();
            if let [base] = bases[..] { Language::from_name(base) } else { None }
        };
        let here = || self.ranking.from.as_deref().and_then(|path| Language::detect(path, ""));
        let named = || parsed.language.and_then(Language::from_name);
        said().or_else(named).or_else(only).or_else(here).map(|language| language.name)
    }
}

impl SearchRequest {
    /// Checks the values that the types do not restrict.
    ///
    /// # Errors
    /// An empty query, too many variants, an unknown language, kind or state, a limit or a diversity out of range, or `all` together
    /// with a cut or an aim. The message lists the allowed values.
    pub fn check(&self) -> Result<(), Error> {
        if Parsed::new(&self.query).text.is_empty() {
            return Err(Error::argument("query", format!("{:?}", self.query), "a question or some words"));
        }
        let variants = self.ranking.variants.len();
        if variants > MAX_VARIANTS {
            return Err(Error::argument("variants", variants.to_string(), format!("at most {MAX_VARIANTS}")));
        }
        words::canonical(&self.filters.languages)?;
        self.ranking.prefer_lang.as_deref().map(|name| words::one("prefer_lang", name)).transpose()?;
        if let Some(role) = self.filters.roles.iter().find(|role| role.parse::<Role>().is_err()) {
            return Err(Error::argument("role", format!("{role:?}"), format!("one of {}", Role::NAMES.join(", "))));
        }
        if let Some(kind) = self.filters.kinds.iter().find(|kind| kind.parse::<Kind>().is_err()) {
            return Err(Error::argument("kind", format!("{kind:?}"), format!("one of {}", Kind::NAMES.join(", "))));
        }
        if let Some(diversity) = self.ranking.diversity.filter(|diversity| !(0.0..=1.0).contains(diversity)) {
            return Err(Error::argument("diversity", diversity.to_string(), "0 to 1"));
        }
        if self.cut.lists_all() && self.cut.is_given() {
            return Err(Error::argument("all", "true", "used without a cut, want, guarantee or an aim of the cut"));
        }
        if let Some(guarantee) = self.cut.guarantee.as_ref().filter(|_| self.memory) {
            return Err(Error::argument("guarantee", format!("{guarantee:?}"), "left out for notes, which have none"));
        }
        self.filters.metadata.check()?;
        match self.limit {
            Some(limit) if !(1..=1000).contains(&limit) => {
                Err(Error::argument("limit", limit.to_string(), "1 to 1000"))
            }
            _ => Ok(()),
        }
    }
}

/// The filter of a request: what it says, and what its query says.
///
/// # Errors
/// An unknown language.
pub(crate) fn filter_of(context: &Context<'_>, request: &SearchRequest) -> Result<Filter, Error> {
    let filter = Parsed::new(&request.query).narrow(request.filters.metadata.narrow(Filter {
        collections: match request.filters.collections.is_empty() && request.memory {
            true => context.index.config.memory.collections.clone(),
            false => request.filters.collections.clone(),
        },
        languages: words::canonical(&request.filters.languages)?,
        path_globs: request.filters.paths.clone(),
        kinds: request.filters.kinds.clone(),
        roles: request.filters.roles.clone(),
        symbols: request.filters.symbols.clone(),
        ..Filter::default()
    }));
    Ok(match HistoryQuestion::from_query(&request.query) {
        HistoryQuestion::Not => without_commits(context.index, filter),
        _ => filter,
    })
}

/// What a question asks of the history of the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HistoryQuestion {
    /// It asks for none. "When is a job tried again" asks what the code does.
    Not,
    /// Commits may answer: "why was", "why do we", "who", and everything about commits. Reasons stand in comments, too.
    Also,
    /// When, in which version or by whom something was changed, which code does not say: "when was X added", "who removed X".
    Only,
}

/// Words for what a commit does. Others, as in "when was the response closed", can ask what the code does.
const CHANGES: &str = "added author bumped change changed committed deleted deprecated drop dropped fixed implemented introduced \
                       lowered merged removed renamed replaced reverted rewritten rewrote supported updated written wrote";

impl HistoryQuestion {
    pub(super) fn from_query(query: &str) -> HistoryQuestion {
        let lower = query.to_lowercase();
        let words: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
        let any_of = |words: &[&str], known: &str| words.iter().any(|word| known.split(' ').any(|one| one == *word));
        let is_past = |word: &&str| any_of(&[word], "was were did has have had");
        let (asks, asks_when, rest) = match words.as_slice() {
            ["since", "when", rest @ ..] | ["who", rest @ ..] => (true, true, rest),
            ["which" | "what", "commit" | "commits", rest @ ..] => (true, true, rest),
            ["in" | "since", "which" | "what", "version" | "release", rest @ ..] => (false, true, rest),
            ["when", past, rest @ ..] if is_past(past) => (true, true, rest),
            ["whose", rest @ ..] => (true, false, rest),
            ["when" | "why", rest @ ..] => {
                (rest.first().is_some_and(is_past) || any_of(&words[..words.len().min(3)], "we"), false, rest)
            }
            rest => (false, false, rest),
        };
        // A question that goes on with "and where is it" asks for code.
        if asks_when && any_of(rest, CHANGES) && !any_of(rest, "how what where which") {
            HistoryQuestion::Only
        } else if asks || any_of(&words, "commit commits committed") {
            HistoryQuestion::Also
        } else {
            HistoryQuestion::Not
        }
    }
}

/// Returns `true` if a query looks like a message whose quotation marks quote what a program filled in: `File "a.toml" not found`. It
/// has three words besides, is no question, does not begin with the quotation, and says that something went wrong.
fn quotes_a_value(query: &str) -> bool {
    let outside: Vec<&str> = query.split('"').step_by(2).flat_map(str::split_whitespace).collect();
    outside.len() >= 3
        && !query.trim().starts_with('"')
        && !query.trim().ends_with('?')
        && !LiteralText::from_query(query).is_question()
        && says_failure(&outside.join(" "))
}

/// Most words of a query with operators.
const MOST_WORDS: usize = 32;

/// A query without its operators.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Parsed {
    /// The words to search for.
    pub text: String,
    /// The language that the query names, by canonical name; a preference.
    pub language: Option<&'static str>,
    /// Only paths that match one of these globs; empty: all.
    pub paths: Vec<String>,
    /// Only symbols with one of these names; empty: all.
    pub symbols: Vec<String>,
    /// Only these kinds of passage; empty: all.
    pub kinds: Vec<String>,
    /// What the passages hold and do not hold.
    pub words: WordFilter,
    /// True unless the query has several lines or many words, which somebody pasted.
    pub is_typed: bool,
}

/// The words that a passage must and must not hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct WordFilter {
    /// The phrases between double quotation marks.
    phrases: RequiredTerms,
    /// The words and phrases after a minus sign.
    excluded: Vec<Exclusion>,
    /// The words with a minus sign that are words of the query, since the index writes them so.
    options: Vec<String>,
    /// The phrases that nothing that was found has, so that they are words like others.
    missing: Vec<String>,
}

/// A word or a phrase that no passage may hold.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Exclusion {
    text: String,
    terms: RequiredTerms,
    /// True between quotation marks, where it can be nothing but an exclusion.
    quoted: bool,
}

/// One operator of a query.
enum Operator {
    Language(&'static str),
    Path(String),
    Symbol(String),
    Kind(String),
    Exclude(Exclusion),
}

impl Parsed {
    /// Takes the operators out of a query. The last language counts.
    pub fn new(query: &str) -> Self {
        Parsed::with_options(query, |_| false)
    }

    /// Takes the operators out of a query. A word after a minus sign stays one with it if it is an option by `is_option`.
    pub fn with_options(query: &str, is_option: impl Fn(&str) -> bool) -> Self {
        let mut parsed = Parsed::default();
        let mut words = Vec::new();
        let mut exclusions = Vec::new();
        let mut quoted = false;
        let written =
            !query.trim().contains('\n') && query.split_whitespace().take(MOST_WORDS + 1).count() <= MOST_WORDS;
        parsed.is_typed = written;
        let rewritten = if written { without_connectives(query) } else { Cow::Borrowed(query) };
        let tokens = tokens(&rewritten);
        for (at, &token) in tokens.iter().enumerate() {
            let marks = token.matches('"').count();
            let operator =
                Operator::parse(token).filter(|operator| written || matches!(operator, Operator::Language(_)));
            // Nothing between quotation marks is an operator.
            match operator.filter(|operator| !quoted && (marks == 0 || matches!(operator, Operator::Exclude(_)))) {
                Some(Operator::Language(name)) => parsed.language = Some(name),
                Some(Operator::Path(glob)) => parsed.paths.push(glob),
                Some(Operator::Symbol(name)) => parsed.symbols.push(name),
                Some(Operator::Kind(name)) => parsed.kinds.push(name),
                Some(Operator::Exclude(one)) if !one.quoted && is_option(&one.text) => {
                    parsed.words.options.push(one.text);
                    words.push(token);
                }
                Some(Operator::Exclude(one)) => {
                    parsed.words.excluded.push(one);
                    exclusions.push(at);
                }
                None => words.push(token),
            }
            quoted ^= marks % 2 == 1;
        }
        // A minus sign excludes from something.
        if words.is_empty() {
            parsed.words.excluded.clear();
            words = exclusions.into_iter().map(|at| tokens[at]).collect();
        }
        // Without an operator the text stays as written, including line ends.
        let whole = words.len() == tokens.len();
        parsed.text = if whole { rewritten.trim().to_owned() } else { words.join(" ") };
        if written && !quotes_a_value(&parsed.text) {
            parsed.words.phrases = phrases(&parsed.text);
        }
        parsed
    }

    /// Adds its filters to those of a request; a filter in the query takes the place of the same one in the request.
    pub fn narrow(self, filter: Filter) -> Filter {
        let or = |own: Vec<String>, given: Vec<String>| if own.is_empty() { given } else { own };
        Filter {
            path_globs: or(self.paths, filter.path_globs),
            symbols: or(self.symbols, filter.symbols),
            kinds: or(self.kinds, filter.kinds),
            ..filter
        }
    }
}

impl Operator {
    fn parse(word: &str) -> Option<Operator> {
        if let Some(excluded) = word.strip_prefix('-') {
            return Exclusion::parse(excluded).map(Operator::Exclude);
        }
        let (key, value) = word.split_once(':').filter(|(_, value)| !value.is_empty() && !value.starts_with(':'))?;
        match key.to_ascii_lowercase().as_str() {
            "lang" | "language" => Language::resolve(value).map(|language| Operator::Language(language.name)),
            "path" => Some(Operator::Path(value.to_owned())),
            "symbol" => Some(Operator::Symbol(value.to_owned())),
            "kind" => value.parse::<Kind>().is_ok().then(|| Operator::Kind(value.to_owned())),
            _ => None,
        }
    }
}

impl Exclusion {
    fn parse(text: &str) -> Option<Exclusion> {
        let phrase = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
        // `-n` and `--offline` are options of a command, and `-100` is a number.
        let is_word = text.chars().count() > 2
            && text.chars().all(char::is_alphanumeric)
            && !text.starts_with(|first: char| first.is_ascii_digit());
        let excluded = phrase.or_else(|| Some(text).filter(|_| is_word))?.trim();
        let terms = RequiredTerms::from_query(&format!("\"{excluded}\""));
        // A phrase that is too long is none to the terms.
        let is_one = terms.iter().count() == 1;
        is_one.then(|| Exclusion { text: excluded.to_owned(), terms, quoted: phrase.is_some() })
    }
}

/// Words of a sentence, in which capitals are an emphasis: do NOT use this.
const OF_SENTENCES: &str = "\
    am are be but can could did do does had has have how if is may might must shall should to was were what when where \
    which who why will would";

/// Words of a statement in SQL, where `AND` and its like are part of the text.
const SQL: [&str; 6] = ["SELECT", "FROM", "WHERE", "JOIN", "UPDATE", "HAVING"];

/// Writes `NOT word` as `-word` and `word AND other` as `"word" "other"`, and leaves `OR` out, since any of the words can be enough
/// anyway. Between quotation marks, in sentences and in SQL these are ordinary words.
fn without_connectives(query: &str) -> Cow<'_, str> {
    let given: Vec<&str> = query.split_whitespace().collect();
    let is_of_sentence = |word: &str| OF_SENTENCES.split(' ').any(|other| word.eq_ignore_ascii_case(other));
    if !given.iter().any(|word| ["NOT", "AND", "OR"].contains(word))
        || given.iter().any(|word| SQL.contains(word) || is_of_sentence(word))
    {
        return Cow::Borrowed(query);
    }
    let is_word = |word: &str| word.chars().all(|character| character.is_alphanumeric() || character == '_');
    let is_shouted = |word: &str| word.len() > 1 && word.chars().all(|character| character.is_uppercase());
    let quoted = |word: &str| if is_word(word) { format!("\"{word}\"") } else { word.to_owned() };
    let mut words: Vec<String> = Vec::new();
    let (mut is_quoted, mut at) = (false, 0);
    while let Some(&word) = given.get(at) {
        at += 1;
        let next = given.get(at).copied().filter(|_| !is_quoted);
        match (word, words.last_mut(), next) {
            ("NOT", Some(_), Some(next))
                if !is_shouted(next) && (next.starts_with('"') || Exclusion::parse(next).is_some()) =>
            {
                is_quoted ^= next.matches('"').count() % 2 == 1;
                words.push(format!("-{next}"));
                at += 1;
            }
            ("AND", Some(_), Some("NOT")) | ("OR", Some(_), Some(_)) => {}
            ("AND", Some(before), Some(next)) => {
                *before = quoted(before);
                is_quoted ^= next.matches('"').count() % 2 == 1;
                words.push(quoted(next));
                at += 1;
            }
            _ => {
                is_quoted ^= word.matches('"').count() % 2 == 1;
                words.push(word.to_owned());
            }
        }
    }
    Cow::Owned(words.join(" "))
}

/// The words of a query. An excluded phrase, such as `-"first draft"`, is one.
fn tokens(query: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let (mut rest, mut quoted) = (query.trim(), false);
    while !rest.is_empty() {
        let word = || rest.find(char::is_whitespace).unwrap_or(rest.len());
        let (token, after) = rest.split_at(excluded_phrase(rest).filter(|_| !quoted).unwrap_or_else(word));
        quoted ^= token.matches('"').count() % 2 == 1;
        tokens.push(token);
        rest = after.trim_start();
    }
    tokens
}

/// Where the excluded phrase ends with which a text begins.
fn excluded_phrase(text: &str) -> Option<usize> {
    const BEGINS: &str = "-\"";
    let phrase = text.strip_prefix(BEGINS)?;
    let end = BEGINS.len() + phrase.find('"')? + 1;
    text[end..].chars().next().is_none_or(char::is_whitespace).then_some(end)
}

/// The phrases between double quotation marks.
fn phrases(text: &str) -> RequiredTerms {
    let parts: Vec<&str> = text.split('"').collect();
    // A mark without a partner quotes nothing.
    let quoted = parts.iter().enumerate().take(parts.len().saturating_sub(1)).filter(|(at, _)| at % 2 == 1);
    let quoted: Vec<String> = quoted.map(|(_, phrase)| format!("\"{phrase}\"")).collect();
    RequiredTerms::from_query(&quoted.join(" "))
}

impl WordFilter {
    /// Returns `true` if every passage passes.
    pub fn is_empty(&self) -> bool {
        self.phrases.is_empty() && self.excluded.is_empty()
    }

    /// The words after a minus sign that would be options of a command if the index had them so.
    pub fn possible_options(&self) -> impl Iterator<Item = &str> {
        self.excluded.iter().filter(|one| !one.quoted).map(|one| one.text.as_str())
    }

    /// The words with a minus sign that are words of the query.
    pub fn options(&self) -> &[String] {
        &self.options
    }

    /// Whether no passage that holds what this one holds may be found.
    pub fn excludes(&self, passage: &StoredPassage) -> bool {
        self.excluded.iter().any(|one| holds(&one.terms, passage))
    }

    /// Whether a passage holds all phrases.
    pub fn is_held_by(&self, passage: &StoredPassage) -> bool {
        holds(&self.phrases, passage)
    }

    /// Notes the phrases that none of these passages holds.
    pub fn note_missing<'p>(&mut self, found: impl Iterator<Item = &'p StoredPassage> + Clone) {
        let is_missing = |term: &&RequiredTerm| !found.clone().any(|passage| term.is_in(&texts(passage)));
        self.missing = self.phrases.iter().filter(is_missing).map(|term| term.text.clone()).collect();
    }

    /// The phrases that nothing that was found has.
    pub fn missing(&self) -> &[String] {
        &self.missing
    }

    /// The words and phrases that no passage may hold.
    pub fn excluded(&self) -> impl Iterator<Item = &str> {
        self.excluded.iter().map(|one| one.text.as_str())
    }
}

/// Whether a passage holds all terms in its text, its names or its path.
fn holds(terms: &RequiredTerms, passage: &StoredPassage) -> bool {
    share(terms, passage) >= 1.0
}

pub(crate) fn share(terms: &RequiredTerms, passage: &StoredPassage) -> f64 {
    terms.share(&texts(passage)).unwrap_or_default()
}

/// What can hold a term: the text of a passage, its path and its names.
pub(crate) fn texts(passage: &StoredPassage) -> Vec<&str> {
    let named = [&passage.symbol, &passage.heading, &passage.title].into_iter().flatten().map(String::as_str);
    [passage.text.as_str(), passage.path.as_str()].into_iter().chain(named).collect()
}

/// The most passages that are read. Those that match the words of the query best come first.
const MOST_READ: usize = 64;

/// Takes the operators out of a query. A word with a minus sign stays a word of the query if one of the passages that match the
/// query best, among those of a filter, has it with its sign.
pub(crate) fn parse_query(context: &Context<'_>, query: &str, filter: &Filter) -> Result<Parsed, StoreError> {
    let query = &*tamis_text::plain(query);
    let parsed = Parsed::new(query);
    if parsed.words.possible_options().next().is_none() {
        return Ok(parsed);
    }
    let asked = LexicalQuery::new(Parsed::with_options(query, |_| true).text);
    // The search itself reports a retriever that fails, and may answer without it.
    let Ok(found) = context.index.store.lexical(&asked, filter, MOST_READ) else { return Ok(parsed) };
    let ids: Vec<PassageId> = found.hits.iter().map(|hit| hit.passage).collect();
    let passages = context.index.store.passages(&filter.namespaces, &ids)?;
    let is_option = |word: &str| passages.iter().any(|passage| holds_option(&passage.text, word));
    Ok(Parsed::with_options(query, is_option))
}

/// Whether a text has a word after a single minus sign, as in `java -jar app.jar`. Case does not count. `non-jar`, `--jar` and
/// `-jar-file` are other words.
fn holds_option(text: &str, word: &str) -> bool {
    text.match_indices('-').any(|(at, sign)| {
        let (before, after) = (&text[..at], &text[at + sign.len()..]);
        let begins = |last: char| last.is_whitespace() || "\"'`([{<|,=".contains(last);
        let is_word = after.get(..word.len()).is_some_and(|found| found.eq_ignore_ascii_case(word));
        is_word && before.chars().next_back().is_none_or(begins) && ends(&after[word.len()..])
    })
}

/// Whether a word ends before this text.
fn ends(rest: &str) -> bool {
    let mut rest = rest.chars();
    match rest.next() {
        Some('.') => !rest.next().is_some_and(char::is_alphanumeric),
        next => next.is_none_or(|next| !next.is_alphanumeric() && next != '_' && next != '-'),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::SearchRequest;
    use tamis_cut::Evidence;

    #[test]
    fn commits_take_part_where_history_is_asked_for() {
        let asked = |query| HistoryQuestion::from_query(query);
        for query in [
            "why was the limit lowered", "why do we sort", "the last commits", "who", "who closed it",
            "who calls retry", "when was it added and where is it", "when was the file closed",
            "when did the parser give up",
        ] {
            assert_eq!(asked(query), HistoryQuestion::Also, "{query}");
        }
        for query in [
            "when is a failed job tried again", "why does it wait", "was it lowered", "whole files", "",
            "when is it red", "which version of it is required", "in which version is it",
        ] {
            assert_eq!(asked(query), HistoryQuestion::Not, "{query}");
        }
        for query in [
            "When was the limit lowered", "who added it", "Who wrote the parser", "when did tides change",
            "which commit added it", "since when is it deprecated", "In which version was it added",
            "who is the author of the parser",
        ] {
            assert_eq!(asked(query), HistoryQuestion::Only, "{query}");
        }
    }

    #[test]
    fn a_message_quotes_values_and_other_queries_quote_what_they_want() {
        for query in ["File \"a b\" not found in [/etc]", "key \"user\" does not exist", "Error: unknown field: \"x\""]
        {
            assert!(Parsed::new(query).words.is_empty(), "{query}");
        }
        for query in [
            "does it say \"no such file\"?", "\"not found\" in the parser", "where is \"not found\" an error",
            "retry \"not found\"", "limit of \"a b\" in use",
        ] {
            assert!(!Parsed::new(query).words.is_empty(), "{query}");
        }
    }

    #[test]
    fn the_gate_asks_less_of_memories_than_of_other_searches() {
        // A note in other words than the question's.
        let evidence =
            Evidence { coverage: Some(0.1), best_similarity: Some(0.4), reference: Some(0.5), ..Evidence::default() };
        assert!(Gate::default().judge(&evidence).empty && !gate_of_memories().judge(&evidence).empty);
    }

    #[test]
    fn a_hint_is_taken_out_of_the_query_by_any_name_of_the_language() {
        for (query, text, language) in [
            ("lang:rust parse config", "parse config", Some("rust")),
            ("parse language:C++ templates", "parse templates", Some("cpp")),
            ("retry LANG:py", "retry", Some("python")),
            ("lang:go lang:rust x", "x", Some("rust")),
            ("what is lang:klingon", "what is lang:klingon", None),
            ("std::lang:: x", "std::lang:: x", None),
            ("a\n  b", "a\n  b", None),
            ("lang:rust", "", Some("rust")),
        ] {
            let parsed = Parsed::new(query);
            assert_eq!((parsed.text.as_str(), parsed.language), (text, language), "{query}");
        }
    }

    #[test]
    fn operators_leave_the_words_and_what_is_none_is_a_word() {
        let parsed = Parsed::new("path:src/** retry limit symbol:Client* kind:function -test");
        assert_eq!(parsed.text, "retry limit");
        assert_eq!(parsed.paths, ["src/**"]);
        assert_eq!(parsed.symbols, ["Client*"]);
        assert_eq!((parsed.kinds.as_slice(), parsed.words.excluded.len()), (&["function".into()][..], 1));
        for query in [
            "kind:nonsense x", "std::path::Path", "path: x", "what does -n do", "the option --offline", "a-b x",
            "foo:bar x", "-excluded", "it fell by -100 or -0.5, to -1e5", "an open -\"mark",
            "the list\n-first\n-second", "say \"path:src and -word\" aloud",
        ] {
            let parsed = Parsed::new(query);
            assert_eq!(parsed.text, query);
            assert!(parsed.paths.is_empty() && parsed.kinds.is_empty() && parsed.words.excluded.is_empty(), "{query}");
        }
    }

    #[test]
    fn a_minus_sign_excludes_a_word_or_a_phrase_and_connectives_of_other_engines_are_operators() {
        for (query, text, excluded) in [
            ("release notes -draft", "release notes", &["draft"][..]),
            ("-draft release -\"first try\" notes", "release notes", &["draft", "first try"]),
            ("release -\"2024\"", "release", &["2024"]),
            ("-\"first try\"", "-\"first try\"", &[]),
            ("path:src/** -draft", "-draft", &[]),
            ("say \"no -\"first try\" at\" all", "say \"no -\"first try\" at\" all", &[]),
        ] {
            let parsed = Parsed::new(query);
            assert_eq!((parsed.text.as_str(), parsed.words.excluded().collect::<Vec<_>>()), (text, excluded.to_vec()));
        }
        assert_eq!(Parsed::new("path:src/** -draft").paths, ["src/**"], "the filter stays");
        for (query, text, excluded) in [
            ("release notes NOT draft", "release notes", &["draft"][..]),
            ("release AND NOT \"first try\" now", "release now", &["first try"]),
            ("retry AND limit OR backoff", "\"retry\" \"limit\" backoff", &[]),
            ("a AND \"b c\" AND d:e", "\"a\" \"b c\" d:e", &[]),
            ("why does it NOT start", "why does it NOT start", &[]),
            ("how to make a job NOT retry", "how to make a job NOT retry", &[]),
            ("what is the difference of TCP AND UDP", "what is the difference of TCP AND UDP", &[]),
            ("column NOT NULL", "column NOT NULL", &[]),
            ("NOT found", "NOT found", &[]),
            ("the word AND", "the word AND", &[]),
            ("say \"this AND that\" twice", "say \"this AND that\" twice", &[]),
            ("SELECT a WHERE b AND c", "SELECT a WHERE b AND c", &[]),
        ] {
            let parsed = Parsed::new(query);
            assert_eq!((parsed.text.as_str(), parsed.words.excluded().collect::<Vec<_>>()), (text, excluded.to_vec()));
        }
    }

    #[test]
    fn an_option_stays_a_word_and_double_marks_quote_a_phrase() {
        let parsed = Parsed::with_options("java -jar manifest -draft", |word| word == "jar");
        assert_eq!(parsed.text, "java -jar manifest");
        assert_eq!(parsed.words.options(), ["jar"]);
        assert_eq!(parsed.words.excluded().collect::<Vec<_>>(), ["draft"]);
        let quoted = Parsed::with_options("java -\"jar\" manifest", |_| true);
        assert_eq!((quoted.text.as_str(), quoted.words.options().len()), ("java manifest", 0));
        let phrases =
            |query: &str| Parsed::new(query).words.phrases.iter().map(|term| term.text.clone()).collect::<Vec<_>>();
        assert_eq!(phrases("why \"connection reset\" and \"broken pipe\" come"), ["connection reset", "broken pipe"]);
        assert!(phrases("a 5\" screen, don't 'quote' `this`").is_empty());
    }

    #[test]
    fn the_nearest_to_the_asker_counts_first() {
        let mut request = SearchRequest::new("x");
        let hint = |request: &SearchRequest| request.hint(&Parsed::new(&request.query));
        assert_eq!(hint(&request), None);
        request.ranking.from = Some("src/app.tsx".into());
        assert_eq!(hint(&request), Some("tsx"));
        request.filters.languages = vec!["typescript".into(), "tsx".into()];
        assert_eq!(hint(&request), Some("typescript"), "two dialects of one language are one");
        request.filters.languages.push("rust".into());
        assert_eq!(hint(&request), Some("tsx"), "several languages are no hint");
        request.query = "x lang:go".into();
        assert_eq!(hint(&request), Some("go"));
        request.ranking.prefer_lang = Some("java".into());
        assert_eq!(hint(&request), Some("java"));
    }

    #[test]
    fn an_option_is_a_word_of_its_own_after_one_sign() {
        for text in ["java -jar app.jar", "`-jar`", "-jar", "(-Jar)", "args = [\"-jar\"]", "use -jar.", "[-jar|-cp]"] {
            assert!(holds_option(text, "jar"), "{text}");
        }
        for text in
            ["non-jar", "--jar", "-jar-file", "-jars", "-jar_x", "-jar.x", "- jar", "jar", "a--jar", "é-jar", ""]
        {
            assert!(!holds_option(text, "jar"), "{text}");
        }
        assert!(holds_option("die -größe", "größe") && !holds_option("-grö", "größe"));
    }
}
