//! What a query names or repeats. The retrievers may rank these anywhere, so the store is searched for them separately: definitions of
//! names, lines that make a message, and files.

use std::collections::HashMap;

use tamis_rank::{AskedName, AskedNames, ExactFind, LiteralRun, MOST_EXACT, NameFit, RequiredTerms, pasted_message};
use tamis_store::{Filter, LexicalStatistics, PassageId, StoreError, StoredPassage};
use tamis_text::{Kind, Role};

use super::candidate::Candidate;
use super::context::Context;
use super::plan::RetrieverQueries;
use super::query::{HistoryQuestion, Query, WordFilter, share, texts};
use crate::collections::{CODE, COMMITS};

/// The number of definitions of one name that are read. A method such as `new` has thousands.
const MOST_DEFINITIONS: usize = 256;

/// The most definitions that count where a word is not spelled like a name, such as `open`, and nothing qualifies it.
const FEW_DEFINITIONS: usize = 3;

/// The most passages that are read for one window, and the most texts that are compared with a message.
const MOST_WITH_WINDOW: usize = 64;
const MOST_COMPARED: usize = 96;

/// The share of a message's weight by which a text may fall behind the best one.
const SHARE_BELOW_BEST: f64 = 0.1;

/// The least share of a message's weight in a text that mentions the message and does not make it.
const SHARE_OF_MENTION: f64 = 0.9;

/// The least share of the whole query's weight in such a text. A line of a form or of a pasted report is less.
const PART_OF_MENTION: f64 = 0.25;

/// The most texts of one kind that hold a line. One that more hold belongs to a form, and says too little.
const MOST_HOLDING: usize = MOST_EXACT;

/// The least number of words of a query that is a heading. Many documents have a section of the name `Getting started`.
const FEWEST_WORDS_OF_A_HEADING: usize = 3;

/// The least share of the query's weight in a text that makes it, for the query to be a message and nothing else. In a line, all of the
/// text before or after a colon is enough, since a program puts what it was given beside its message.
const PART_OF_MESSAGE: f64 = 0.6;

/// What a query names or repeats, by passage.
#[derive(Default)]
pub(crate) struct Finds {
    pub by_passage: HashMap<PassageId, ExactFind>,
    /// Where the query is made, if it is a message and nothing else.
    pub message: Option<MessageSource>,
}

/// Where the message is made that a query is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MessageSource {
    /// By code that was found.
    Here,
    /// By another program: it reads like a pasted message, and no passage makes or repeats it, nor defines a name in it.
    Elsewhere,
}

/// Returns the exact finds of a question among the passages of a filter. `statistics` are those of the lexical retriever; without
/// them words do not take part, and nothing is looked for.
pub(crate) fn exact_finds(
    context: &Context<'_>,
    query: &Query,
    filter: &Filter,
    queries: &RetrieverQueries<'_>,
    statistics: Option<&LexicalStatistics>,
) -> Result<Finds, StoreError> {
    let Some(statistics) = statistics else { return Ok(Finds::default()) };
    let mut finds = messages(context, query, filter, statistics)?;
    let is_made = finds.by_passage.values().any(|find| *find == ExactFind::Message);
    if finds.by_passage.is_empty() {
        finds.by_passage = paths_in_strings(context, query, filter)?;
    }
    if finds.by_passage.is_empty() && is_of_another_program(context, query, filter)? {
        finds.message = Some(MessageSource::Elsewhere);
    }
    // The names in a message say what went wrong there. Their definitions are not asked for.
    if query.asked.is_subject() && !is_made {
        for name in query.asked.iter() {
            finds.by_passage.extend(definitions(context, name, query.asked.are_alone(), filter)?);
        }
        if finds.by_passage.is_empty() && query.asked.are_alone() {
            finds.by_passage.extend(begun_definitions(context, &query.asked, filter, queries)?);
        }
    }
    Ok(finds)
}

/// The code of the project with a string that is the path of a query of at most two words: a route (`GET /jobs/:id`), or a file of the
/// system (`/etc/hosts`). A path that many strings are says too little.
fn paths_in_strings(
    context: &Context<'_>,
    query: &Query,
    filter: &Filter,
) -> Result<HashMap<PassageId, ExactFind>, StoreError> {
    let mut paths = query.text.split_whitespace().map(|word| word.trim_matches(['"', '\'', '`', ',', '?']));
    let is_path = |path: &&str| path.starts_with('/') && path.contains(char::is_alphabetic);
    let is_short = query.text.split_whitespace().count() <= 2;
    let Some(path) = paths.find(is_path).filter(|_| is_short && !query.memory) else { return Ok(HashMap::new()) };
    let ids = context.index.store.containing(path, filter, MOST_WITH_WINDOW)?;
    let passages = context.index.store.passages(&filter.namespaces, &ids)?;
    let strings = ['"', '\'', '`'].map(|mark| format!("{mark}{path}{mark}"));
    let has_it = |passage: &&StoredPassage| {
        let is_own = is_code(passage) && passage.role == Role::Main.as_str();
        is_own && strings.iter().any(|string| passage.text.contains(string.as_str()))
    };
    let found: HashMap<_, _> =
        passages.iter().filter(has_it).map(|passage| (passage.passage, ExactFind::Message)).collect();
    Ok(if found.len() <= MOST_EXACT { found } else { HashMap::new() })
}

/// Returns `true` for a pasted message of whose names no passage defines any. It is called for what no passage makes or repeats.
fn is_of_another_program(context: &Context<'_>, query: &Query, filter: &Filter) -> Result<bool, StoreError> {
    if query.memory || pasted_message(&query.text).is_none() {
        return Ok(false);
    }
    for name in AskedNames::from_query(&query.text).iter() {
        if !context.index.store.defining(&name.name, filter, 1)?.is_empty() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The definitions of a name: those that fit what qualifies it, or else those of the bare name. In a sentence, where a name is not
/// `alone`, those of a plain word do not count unless the file has its name.
fn definitions(
    context: &Context<'_>,
    name: &AskedName,
    alone: bool,
    filter: &Filter,
) -> Result<Vec<(PassageId, ExactFind)>, StoreError> {
    let ids = context.index.store.defining(&name.name, filter, MOST_DEFINITIONS)?;
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let passages = context.index.store.passages(&filter.namespaces, &ids)?;
    let fit = |passage: &StoredPassage| name.fit(passage.symbol.as_deref()?, &passage.path);
    let fits: Vec<(NameFit, &StoredPassage)> =
        passages.iter().filter_map(|passage| Some((fit(passage)?, passage))).collect();
    let best = fits.iter().map(|(fit, _)| *fit).max();
    let fitting = fits.into_iter().filter(|(fit, _)| Some(*fit) == best);
    let asked = fitting.filter_map(|(fit, passage)| {
        let own_file = name.is_file_name(&passage.path);
        let counts = alone || name.is_asked_in_sentence(fit, own_file);
        counts.then(|| (passage.passage, kind_of_definition(passage, own_file)))
    });
    let found: Vec<(PassageId, ExactFind)> = asked.collect();
    let enough = best > Some(NameFit::Bare) || name.is_enough() || found.len() <= FEW_DEFINITIONS;
    Ok(if enough { found } else { Vec::new() })
}

/// The definitions whose names only begin with the name that is the whole query, and that nothing has: people search while they type, and
/// for what a terminal cut off. A beginning that many names have says too little.
fn begun_definitions(
    context: &Context<'_>,
    asked: &AskedNames,
    filter: &Filter,
    queries: &RetrieverQueries<'_>,
) -> Result<Vec<(PassageId, ExactFind)>, StoreError> {
    let mut names = asked.iter();
    let (Some(name), None, Some(query)) = (names.next(), names.next(), &queries.semantic) else {
        return Ok(Vec::new());
    };
    if !filter.symbols.is_empty() {
        return Ok(Vec::new());
    }
    // The pattern fits what such a name holds, too.
    let narrowed = Filter { symbols: vec![format!("{}*", name.name)], ..filter.clone() };
    let found = context.index.store.nearest(query.model, query.vector, &narrowed, MOST_DEFINITIONS)?.hits;
    let ids: Vec<PassageId> = found.iter().map(|hit| hit.passage).collect();
    let mut passages = context.index.store.passages(&filter.namespaces, &ids)?;
    passages.retain(|passage| passage.symbol.as_deref().is_some_and(|symbol| name.begins(symbol)));
    let is_main = |passage: &StoredPassage| passage.role == Role::Main.as_str();
    if passages.iter().any(is_main) {
        passages.retain(is_main);
    }
    let found = passages.iter().map(|passage| (passage.passage, kind_of_definition(passage, false)));
    Ok(if passages.len() <= MOST_EXACT { found.collect() } else { Vec::new() })
}

/// The texts of the message that the query repeats.
fn messages(
    context: &Context<'_>,
    query: &Query,
    filter: &Filter,
    statistics: &LexicalStatistics,
) -> Result<Finds, StoreError> {
    let literal = &query.literal;
    if literal.is_empty() {
        return Ok(Finds::default());
    }
    let idf: HashMap<&str, f64> =
        statistics.terms.iter().map(|term| (term.term.as_str(), f64::from(term.idf))).collect();
    // The index knows an identifier by its parts, joined.
    let weight = |word: &str| match word.contains('_') {
        true => idf.get(word.replace('_', "").as_str()).copied(),
        false => idf.get(word).copied(),
    };
    let mut windows: HashMap<PassageId, usize> = HashMap::new();
    for window in literal.windows(weight) {
        for passage in context.index.store.containing(&window, filter, MOST_WITH_WINDOW)? {
            *windows.entry(passage).or_default() += 1;
        }
    }
    let mut ids: Vec<(PassageId, usize)> = windows.into_iter().collect();
    ids.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    ids.truncate(MOST_COMPARED);
    if ids.is_empty() {
        return Ok(Finds::default());
    }
    let ids: Vec<PassageId> = ids.into_iter().map(|(passage, _)| passage).collect();
    let passages = context.index.store.passages(&filter.namespaces, &ids)?;
    let compared = |passage: &StoredPassage| {
        let code = is_code(passage);
        let main = passage.role == Role::Main.as_str();
        let one = move |run: LiteralRun| Compared { passage: passage.passage, run, made: code && run.in_string, main };
        literal.runs(&passage.text, weight).into_iter().map(one).collect()
    };
    let compared: Vec<Vec<Compared>> = passages.iter().map(compared).collect();
    // Texts that hold much less of a line repeat other words.
    let holding = |one: &Compared| compared.iter().flatten().filter(|other| other.repeats(one)).count();
    let counts = |one: &&Compared| {
        let says = one.made || one.run.of_line && one.run.part >= PART_OF_MENTION;
        says && holding(one) <= MOST_HOLDING
    };
    let compared: Vec<&Compared> = compared.iter().filter_map(|runs| runs.iter().find(counts)).collect();
    // A test repeats the whole message where the code that makes it has gaps, so each is measured by its own kind.
    let least = |made: bool, main: bool| {
        let of_kind = compared.iter().filter(|one| one.is_of(made, main));
        let best = of_kind.map(|one| one.run.share).fold(0.0, f64::max) - SHARE_BELOW_BEST;
        if made { best } else { best.max(SHARE_OF_MENTION) }
    };
    let counting: Vec<&Compared> =
        compared.iter().copied().filter(|one| one.run.share >= least(one.made, one.main)).collect();
    let is_query = |one: &&Compared| {
        let is_part = !query.text.contains('\n') && one.run.share >= SHARE_OF_MENTION;
        one.made && one.main && (one.run.part >= PART_OF_MESSAGE || is_part) && !literal.is_question()
    };
    let find = |one: &&Compared| (one.passage, if one.made { ExactFind::Message } else { ExactFind::Mention });
    Ok(Finds {
        by_passage: counting.iter().map(find).collect(),
        message: counting.iter().any(is_query).then_some(MessageSource::Here),
    })
}

/// A text that was compared with a message.
struct Compared {
    passage: PassageId,
    run: LiteralRun,
    /// True if it makes the message, and does not only mention it.
    made: bool,
    /// True if it is of the project itself, not of a test, an example or a copy.
    main: bool,
}

impl Compared {
    fn is_of(&self, made: bool, main: bool) -> bool {
        (self.made, self.main) == (made, main)
    }

    /// Returns `true` if it holds at least nearly as much of the line as `other`, and is a text of the same kind.
    fn repeats(&self, other: &Compared) -> bool {
        self.run.line == other.run.line
            && self.is_of(other.made, other.main)
            && self.run.share >= other.run.share - SHARE_BELOW_BEST
    }
}

/// Notes the exact find that each candidate is.
pub(crate) fn note_finds(finds: &HashMap<PassageId, ExactFind>, candidates: &mut [Candidate]) {
    candidates.iter_mut().for_each(|candidate| candidate.exact = finds.get(&candidate.id()).copied());
}

/// Notes the candidates below a heading that is the whole query, or the code of an error in it, or that has the version whose changes it
/// asks for (`## [1.4.2] - 2024-05-01`), unless they are a better find. The model of a list sees only the words of such a query, which are
/// often plain.
pub(crate) fn note_headings(query: &str, candidates: &mut [Candidate]) {
    let is_code = |word: &&str| word.contains(char::is_uppercase) && !word.contains(char::is_lowercase);
    let mut asked: Vec<Vec<String>> =
        query.split_whitespace().filter(is_code).chain([query]).map(|part| words(part).collect()).collect();
    asked.retain(|words| words.len() >= FEWEST_WORDS_OF_A_HEADING);
    // Most questions with a version mention it in passing.
    let asks_for_changes = query.split_whitespace().all(|word| version(word).is_some())
        || words(query).any(|word| ["changed", "changes", "changelog", "release", "released"].contains(&&*word));
    let versions: Vec<&str> = query.split_whitespace().filter_map(version).filter(|_| asks_for_changes).collect();
    for candidate in candidates.iter_mut().filter(|_| !asked.is_empty()) {
        let own = candidate.passage.heading.as_deref().and_then(|heading| heading.rsplit(" > ").next());
        let own = own.unwrap_or_default();
        let is_of_version = own.split_whitespace().filter_map(version).any(|of| versions.contains(&of));
        if is_of_version || asked.contains(&words(own).collect()) {
            candidate.exact = candidate.exact.max(Some(ExactFind::Mention));
        }
    }
}

/// The version that a word is, with three numbers at least: `1.4.2` for `[v1.4.2]:`.
fn version(word: &str) -> Option<&str> {
    let number = word.trim_matches(|c: char| !c.is_alphanumeric()).trim_start_matches(['v', 'V']);
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    (number.split('.').count() > 2 && number.split('.').all(is_number)).then_some(number)
}

/// The words of a text, in lower case.
fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|character: char| !character.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase)
}

/// Code, and data that programs read, such as the messages of a language. A file of an unknown format makes nothing.
fn is_code(passage: &StoredPassage) -> bool {
    passage.collection == CODE && passage.language.is_some()
}

fn kind_of_definition(passage: &StoredPassage, own_file: bool) -> ExactFind {
    match passage.kind.parse() {
        Ok(Kind::Function | Kind::Method | Kind::Type | Kind::Trait | Kind::Macro) if own_file => ExactFind::OwnFile,
        Ok(Kind::Function | Kind::Method | Kind::Type | Kind::Trait | Kind::Macro) => ExactFind::Definition,
        _ => ExactFind::Constant,
    }
}

/// Notes for each candidate what share of the terms it holds, without quotations and hyphenated words that no candidate holds. Nothing is
/// noted if nothing is required.
pub(crate) fn look_for(terms: &RequiredTerms, candidates: &mut [Candidate]) {
    if terms.is_empty() {
        return;
    }
    // A passage that shares no word with the query need not be read.
    let shares_words = |candidate: &Candidate| candidate.scores.coverage.is_none_or(|coverage| coverage > 0.0);
    let mut terms = terms.clone();
    terms.retain_held(|term| {
        let mut read = candidates.iter().filter(|candidate| shares_words(candidate));
        read.any(|candidate| term.is_in(&texts(&candidate.passage)))
    });
    for candidate in candidates.iter_mut().filter(|_| !terms.is_empty()) {
        candidate.required = Some(if shares_words(candidate) { share(&terms, &candidate.passage) } else { 0.0 });
    }
}

/// Leaves the candidates that hold all phrases of a query, if any candidate does, and none of the words that it excludes. The quotation
/// marks of a message quote what a program filled in, and no candidate need hold that.
pub(crate) fn keep_words(words: &mut WordFilter, candidates: &mut Vec<Candidate>) {
    if words.is_empty() {
        return;
    }
    candidates.retain(|candidate| !words.excludes(&candidate.passage));
    let mut makers = candidates.iter().filter(|candidate| candidate.exact == Some(ExactFind::Message)).peekable();
    if makers.peek().is_some() && !makers.any(|candidate| words.is_held_by(&candidate.passage)) {
        return;
    }
    // A definition joins the pool from anywhere, and must not empty it of everything else.
    let is_found_by_words = |find| matches!(find, None | Some(ExactFind::Message | ExactFind::Mention));
    if candidates.iter().any(|one| is_found_by_words(one.exact) && words.is_held_by(&one.passage)) {
        candidates.retain(|candidate| words.is_held_by(&candidate.passage));
    } else {
        words.note_missing(candidates.iter().map(|candidate| &*candidate.passage));
    }
}

/// Leaves only the passages with the line that is the whole query, if there are any.
pub(crate) fn keep_line(query: &Query, candidates: &mut Vec<Candidate>) {
    let has_line = |candidate: &Candidate| matches!(candidate.exact, Some(ExactFind::Line(_)));
    if !query.text.trim().contains(char::is_whitespace) && candidates.iter().any(has_line) {
        candidates.retain(has_line);
    }
}

/// Leaves no code among the candidates of a question of when or by whom something was changed, if commits are among them. Code does not
/// say.
pub(crate) fn keep_history(query: &Query, candidates: &mut Vec<Candidate>) {
    if HistoryQuestion::from_query(&query.text) == HistoryQuestion::Only
        && candidates.iter().any(|candidate| candidate.passage.collection == COMMITS)
    {
        candidates.retain(|candidate| candidate.passage.collection != CODE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::candidate::Scores;
    use crate::search::candidate::test_support::passage;

    #[test]
    fn a_quotation_that_no_candidate_holds_is_not_required() {
        let required = |query: &str| {
            let passages = [(1, "connection reset by peer"), (2, "retry_limit of the client")];
            let candidate = |(number, text)| Candidate::new(passage(number, "a.md", text), Scores::default());
            let mut candidates = passages.map(candidate);
            look_for(&RequiredTerms::from_query(query), &mut candidates);
            candidates.map(|candidate| candidate.required)
        };
        assert_eq!(required("\"connection reset\" of the client"), [Some(1.0), Some(0.0)]);
        assert_eq!(required("\"connection lost\" of the client"), [None, None]);
        assert_eq!(required("\"connection lost\" by retry_limit"), [Some(0.0), Some(1.0)]);
        assert_eq!(required("parse_config of the client"), [Some(0.0), Some(0.0)], "an identifier is required");
        assert_eq!([required("retry-limit"), required("well-known")], [[Some(0.0), Some(1.0)], [None, None]]);
    }
}
