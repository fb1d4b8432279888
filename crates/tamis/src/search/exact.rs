//! What a query names or repeats. The retrievers may rank these anywhere, so the store is searched for them separately: definitions of
//! names, lines that make a message, and files. A file that a query names is among the results, whatever it holds. Otherwise the search
//! takes the path as words, and says so where the index has no such file: the user may have meant to search below it.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use tamis_rank::{
    AskedName, AskedNames, ExactFind, LiteralRun, MOST_EXACT, NameFit, RequiredTerms, pasted_message, says_failure,
};
use tamis_store::{Filter, LexicalStatistics, Namespace, PassageId, StoreError, StoredPassage};
use tamis_text::{Kind, Role};

use super::candidate::Candidate;
use super::context::Context;
use super::plan::RetrieverQueries;
use super::query::{HistoryQuestion, Query, WordFilter, share, texts};
use crate::Error;
use crate::collections::{CODE, COMMITS};
use crate::handle::SourceState;
use crate::index::is_file;

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
    let enough = best == Some(NameFit::Whole) || name.is_enough() || found.len() <= FEW_DEFINITIONS;
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

/// The most words of a query that are looked up, and the most words of a query that somebody wrote, and did not paste.
const MOST_PATHS: usize = 3;
const MOST_WORDS: usize = 32;

/// The most files among which a path is looked for. In larger indexes nothing is said.
const MOST_FILES: u64 = 50_000;

/// The least likeness of two paths, and of their last parts, for one to be a slip of the other.
const LEAST_LIKENESS: f64 = 0.8;

/// The longest extension of a file name.
const LONGEST_EXTENSION: usize = 8;

/// The most files of one name that a query names. Of more, it names the one at the root.
const MOST_OF_NAME: usize = 3;

/// The passages of each retriever among which those of a named file are looked for.
const MOST_OF_FILES: usize = 64;

/// Files that most projects of a language have. A question that mentions one is hardly ever about its text.
const MANIFESTS: [&str; 10] = [
    "Cargo.toml", "Gemfile", "build.gradle", "composer.json", "go.mod", "package.json", "pom.xml", "pyproject.toml",
    "setup.py", "tsconfig.json",
];

/// A word that looks like a path.
#[derive(Debug, PartialEq, Eq)]
struct PathWord {
    /// The word as written, without punctuation around it.
    text: String,
    /// The path in the form of the index.
    path: String,
    /// True if it is a path by its form. `src/net` is one where `src` is a directory, and `and/or` is not.
    certain: bool,
}

/// Returns the best passage of each file that a question names, or the one with the line that it names, among the passages of a filter.
/// `queries` are those of its retrievers.
pub(crate) fn named_files(
    context: &Context<'_>,
    query: &Query,
    filter: &Filter,
    queries: &RetrieverQueries<'_>,
) -> Result<Vec<(PassageId, ExactFind)>, StoreError> {
    let mut found = Vec::new();
    // A caller who has chosen the files has no other in mind. A glob that only excludes, as that of commits does, chooses none.
    if filter.path_globs.iter().any(|glob| !glob.starts_with('!')) {
        return Ok(found);
    }
    for FileName { name, line } in file_names(&query.text) {
        let mut narrowed = filter.clone();
        narrowed.path_globs.push(format!("**/{name}"));
        let mut ids = Vec::new();
        if let Some(query) = &queries.lexical {
            ids.extend(
                context.index.store.lexical(query, &narrowed, MOST_OF_FILES)?.hits.iter().map(|hit| hit.passage),
            );
        }
        if let Some(query) = &queries.semantic {
            let nearest = context.index.store.nearest(query.model, query.vector, &narrowed, MOST_OF_FILES)?;
            ids.extend(nearest.hits.iter().map(|hit| hit.passage));
        }
        let passages = context.index.store.passages(&filter.namespaces, &ids)?;
        // The first of a file is its best one: by words, or else by meaning.
        let place = |id: PassageId| ids.iter().position(|&one| one == id);
        let mut best: BTreeMap<(&str, &str), PassageId> = BTreeMap::new();
        for passage in passages.iter().filter(|passage| is_path_of(&name, &passage.path)) {
            let best = best.entry((passage.namespace.as_str(), passage.path.as_str())).or_insert(passage.passage);
            if place(passage.passage) < place(*best) {
                *best = passage.passage;
            }
        }
        let at_root = |path: &str| path == name;
        if let Some(line) = line {
            let is_whole = best.keys().any(|(_, path)| at_root(path));
            let documents = best.keys().copied().filter(|(_, path)| !is_whole || at_root(path));
            let lines = with_line(context, documents, line)?;
            if (1..=MOST_OF_NAME).contains(&lines.len()) {
                found.extend(lines.into_iter().map(|passage| (passage, ExactFind::Line(line))));
                continue;
            }
        }
        let all = best.len() <= MOST_OF_NAME;
        let named = best.into_iter().filter(|((_, path), _)| all || at_root(path));
        found.extend(named.map(|(_, passage)| (passage, ExactFind::File)));
    }
    Ok(found)
}

/// The innermost passage with a line, or the one before it, in each of some documents that have so many.
fn with_line<'d>(
    context: &Context<'_>,
    documents: impl Iterator<Item = (&'d str, &'d str)>,
    line: u32,
) -> Result<Vec<PassageId>, StoreError> {
    let mut found = Vec::new();
    for (namespace, path) in documents {
        let passages = context.index.store.document_passages(namespace, path)?;
        let has_it = passages.iter().any(|passage| passage.end_line >= line);
        let begun = passages.iter().filter(|passage| passage.start_line <= line && has_it);
        found.extend(begun.max_by_key(|passage| passage.start_line).map(|passage| passage.passage));
    }
    Ok(found)
}

/// Returns a warning for each word of a question that looks like a path and names nothing in the searched namespaces, with the
/// nearest path if there is one. The paths in a message are those of who ran the program.
pub(crate) fn missing_paths(context: &Context<'_>, query: &Query) -> Result<Vec<String>, Error> {
    if query.memory || query.message.is_some() || says_failure(&query.text) {
        return Ok(Vec::new());
    }
    let mut words = Vec::new();
    for word in path_words(&query.text) {
        if !has_file(context, &word.path, &query.scope.names)? {
            words.push(word);
        }
    }
    if words.is_empty() {
        return Ok(Vec::new());
    }
    let searched = |known: &Namespace| query.scope.names.contains(&known.name);
    let known = context.index.store.namespaces()?;
    let files: u64 = known.iter().filter(|known| searched(known)).map(|known| known.documents).sum();
    if files > MOST_FILES {
        return Ok(Vec::new());
    }
    let mut paths = BTreeSet::new();
    for namespace in &query.scope.names {
        let files = context.index.store.documents(namespace)?.into_iter().filter(is_file);
        paths.extend(files.map(|document| document.path));
    }
    Ok(warnings(&words, &paths))
}

/// Returns a warning for each namespace of an answer whose directory is gone. In a database, it may be on another machine.
pub(crate) fn gone_sources(context: &Context<'_>, shown: BTreeSet<&str>) -> Vec<String> {
    if context.index.config.store.url.is_some() {
        return Vec::new();
    }
    let sources = context.index.registry.sources().filter(|source| shown.contains(source.namespace.as_str()));
    let remark = |namespace: &str| SourceState::Gone.remark(namespace).unwrap_or_default();
    let gone = sources.filter(|source| !source.root.is_dir());
    gone.map(|source| format!("the directory of {} is {}", source.namespace, remark(&source.namespace))).collect()
}

/// Whether a path is the whole one of a file, which costs less to know than a list of all.
fn has_file(context: &Context<'_>, path: &str, namespaces: &[String]) -> Result<bool, Error> {
    for namespace in namespaces {
        if context.index.store.document(namespace, path)?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

fn warnings(words: &[PathWord], files: &BTreeSet<String>) -> Vec<String> {
    let mut warnings = Vec::new();
    for word in words {
        let top = word.path.split('/').next().unwrap_or_default();
        let is_path =
            word.certain || files.iter().any(|file| file.split_once('/').is_some_and(|(first, _)| first == top));
        if !is_path || files.iter().any(|file| is_at_or_below(file, &word.path)) {
            continue;
        }
        let nearest =
            nearest_path(&word.path, files).map(|path| format!("; the nearest is {path}")).unwrap_or_default();
        warnings.push(format!("{}: no such file in the index; searched as words{nearest}", word.text));
    }
    warnings
}

/// Whether a file is at a path or below it. Users write paths from where they are, so the path may begin inside.
fn is_at_or_below(file: &str, path: &str) -> bool {
    let whole_parts = |at: usize| {
        let (before, after) = (&file[..at], &file[at + path.len()..]);
        (before.is_empty() || before.ends_with('/')) && (after.is_empty() || after.starts_with('/'))
    };
    file.match_indices(path).any(|(at, _)| whole_parts(at))
}

/// The file or directory with the most similar path.
fn nearest_path<'a>(path: &str, files: &'a BTreeSet<String>) -> Option<&'a str> {
    let last = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
    let directories = files.iter().flat_map(|file| file.match_indices('/').map(|(at, _)| &file[..at]));
    // Others wrote the names, and a sentence would read like part of the message.
    let candidates = directories.chain(files.iter().map(String::as_str)).filter(|path| path.chars().all(is_of_path));
    let name = last(path);
    let likeness = |other: &str| {
        let of_names = strsim::jaro_winkler(&name, &last(other));
        let of_paths = strsim::jaro_winkler(path, other);
        // A file of the same name elsewhere has probably been moved.
        let is_near = of_names >= LEAST_LIKENESS && of_paths >= LEAST_LIKENESS || name == last(other);
        is_near.then_some(of_names + of_paths)
    };
    let likely = candidates.filter_map(|other| Some((likeness(other)?, other)));
    likely.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, path)| path)
}

/// Whether somebody pasted a query, and did not write it.
fn is_pasted(query: &str) -> bool {
    query.contains('\n') || query.split_whitespace().take(MOST_WORDS + 1).count() > MOST_WORDS
}

/// The path of a file, or the end of one, and a line in it.
#[derive(Debug, PartialEq, Eq)]
struct FileName {
    name: String,
    line: Option<u32>,
}

/// The words of a query that can be the path of a file, or the end of one.
fn file_names(query: &str) -> Vec<FileName> {
    let mut found: Vec<FileName> = Vec::new();
    for word in query.split_whitespace().filter(|_| !is_pasted(query)) {
        let text = word.trim_start_matches(['(', '[', '{', '<', '\'', '`', '"']);
        let (path, line) = split_line(text.trim_end_matches(|c| ")]}>'`\",;:!?.".contains(c)));
        let name = path.trim_start_matches("../").trim_start_matches("./");
        let file = name.rsplit('/').next().unwrap_or_default();
        let has_extension = file.rsplit_once('.').is_some_and(|(stem, extension)| match stem {
            "" => extension.len() > 1 && extension.chars().all(char::is_alphabetic),
            _ => is_extension(extension),
        });
        // Only files have lines, so a name before one needs no extension.
        let is_file = line.is_some() || has_extension && !MANIFESTS.contains(&name);
        let can_be = is_file && !name.is_empty() && name.chars().all(is_of_path) && !name.starts_with('/');
        if can_be && found.len() < MOST_PATHS && !found.iter().any(|known| known.name == name) {
            found.push(FileName { name: name.to_owned(), line });
        }
    }
    found
}

/// Whether a path is this one or ends with it.
fn is_path_of(name: &str, path: &str) -> bool {
    path.strip_suffix(name).is_some_and(|before| before.is_empty() || before.ends_with('/'))
}

/// Whether a text is the extension of a file's name, and not the rest of a number.
fn is_extension(text: &str) -> bool {
    text.len() <= LONGEST_EXTENSION && text.chars().all(char::is_alphanumeric) && text.starts_with(char::is_alphabetic)
}

/// The words of a query that look like paths under a root, outside quotation marks.
fn path_words(query: &str) -> Vec<PathWord> {
    let mut quoted = false;
    let mut found = Vec::new();
    for word in query.split_whitespace().filter(|_| !is_pasted(query)) {
        let marks = word.matches('"').count();
        found.extend(path_word(word).filter(|_| !quoted && marks == 0));
        quoted ^= marks % 2 == 1;
    }
    found.truncate(MOST_PATHS);
    found
}

fn path_word(word: &str) -> Option<PathWord> {
    let text = word.trim_start_matches(['(', '[', '{', '<', '\'', '`']);
    let text = text.trim_end_matches(|c| ")]}>'`,;:!?.".contains(c));
    let (path, _) = split_line(text);
    let under = path.trim_start_matches("../").trim_start_matches("./");
    let is_relative = under.len() < path.len();
    let (first, rest) = under.split_once('/')?;
    // `github.com/a/b` is an address, and `/etc/hosts` is of another tree.
    let is_address = first.contains('.') && !first.starts_with('.');
    let is_path = !first.is_empty() && !is_address && under.chars().all(is_of_path) && !under.contains("//");
    let is_directory = under.ends_with('/') && under.contains(char::is_alphabetic);
    let extension =
        rest.rsplit('/').next().and_then(|name| name.rsplit_once('.')).map_or("", |(_, extension)| extension);
    let certain = is_relative || is_directory || is_extension(extension);
    is_path.then(|| PathWord { text: text.to_owned(), path: under.trim_end_matches('/').to_owned(), certain })
}

/// A path and the first of the lines that stand after it: `src/main.rs:40-80`, `src/main.rs:40:7`, `src/main.rs#L40`, `src/main.ts(40,7)`.
fn split_line(text: &str) -> (&str, Option<u32>) {
    let split = |mark: &str| {
        let (path, lines) = text.split_once(mark)?;
        let end = lines.find(|c: char| !c.is_ascii_digit()).unwrap_or(lines.len());
        let is_rest = lines[end..].chars().all(|c| c.is_ascii_digit() || ":-,LC".contains(c));
        lines[..end].parse().ok().filter(|_| is_rest).map(|line| (path, line))
    };
    let found = [":", "#L", "("].into_iter().find_map(split);
    found.map_or((text, None), |(path, line)| (path, Some(line)))
}

fn is_of_path(c: char) -> bool {
    c.is_alphanumeric() || "/._-+@".contains(c)
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
    // An exact find joins the pool from anywhere, and must not empty it of everything else.
    if candidates.iter().any(|candidate| candidate.exact.is_none() && words.is_held_by(&candidate.passage)) {
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

    fn of(query: &str) -> Vec<String> {
        let files =
            ["src/network/client.rs", "src/network/server.rs", "src/main.rs", "docs/and/or.md", "a/say this/client.rs"];
        warnings(&path_words(query), &files.map(str::to_owned).into())
    }

    #[test]
    fn a_path_without_a_file_gets_a_warning_with_the_nearest_and_a_word_with_an_extension_can_name_a_file() {
        for (query, path, nearest) in [
            ("retry src/netwrk/client.rs", "src/netwrk/client.rs", Some("src/network/client.rs")),
            ("retry in `src/netwrk/client.rs:4`, as before", "src/netwrk/client.rs:4", Some("src/network/client.rs")),
            ("retry src/netwrk/", "src/netwrk/", Some("src/network")),
            ("retry src/netwrk", "src/netwrk", Some("src/network")),
            ("retry ../net/client.rs", "../net/client.rs", Some("src/network/client.rs")),
            ("retry lib/zebra.py", "lib/zebra.py", None),
        ] {
            let nearest = nearest.map(|nearest| format!("; the nearest is {nearest}")).unwrap_or_default();
            let told = format!("{path}: no such file in the index; searched as words{nearest}");
            assert_eq!(of(query), [told], "{query}");
        }
        for (query, names) in [
            ("update `api.mdx`", &[("api.mdx", None)][..]),
            ("what does ./src/retry.rs:40-80 do?", &[("src/retry.rs", Some(40))]),
            (
                "(src/a.rs:7:3), a.ts(12,5): b.vue#L9-L12",
                &[("src/a.rs", Some(7)), ("a.ts", Some(12)), ("b.vue", Some(9))],
            ),
            ("AGENTS.md, .cursorrules and \"de.po\"", &[("AGENTS.md", None), (".cursorrules", None), ("de.po", None)]),
            ("version 1.2 of package.json in /etc/a.conf", &[]),
            ("retry src/network", &[]),
            ("a log\nat src/retry.rs", &[]),
        ] {
            let found = file_names(query);
            let found: Vec<_> = found.iter().map(|file| (file.name.as_str(), file.line)).collect();
            assert_eq!(found, names, "{query}");
        }
        assert!(is_path_of("a/b.rs", "src/a/b.rs") && is_path_of("b.rs", "b.rs") && !is_path_of("b.rs", "src/ab.rs"));
    }

    #[test]
    fn what_exists_and_what_is_no_path_gets_none() {
        for query in [
            "retry src/network/client.rs",
            "retry network/client.rs:7",
            "retry ./src/network/ src/network",
            "and/or TCP/IP 24/7 I/O read/write client/server km/h HTTP/1.1 N/A 1/2",
            "see https://example.org/a/b.html or github.com/a/b.git",
            "cannot open /tmp/x.toml or ~/x/y.toml",
            "path src/**/x.rs and a\\b/c.rs",
            "the text \"in src/netwrk/client.rs here\" is quoted",
            "a log\nat src/netwrk/client.rs",
            "",
        ] {
            assert!(of(query).is_empty(), "{query}: {:?}", of(query));
        }
        let many = "x/a.rs ".repeat(9);
        assert_eq!(of(&many).len(), MOST_PATHS);
    }

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
