//! Exact finds: the definitions of names in a query, and the lines that make a message in it. The legs may rank these anywhere, so the
//! store is searched for them separately.

use super::candidate::Candidate;
use super::question::Question;
use super::searcher::Searcher;
use crate::collections::CODE;
use std::collections::HashMap;
use tamis_rank::{AskedName, ExactFind, LiteralRun, MOST_EXACT, NameFit};
use tamis_store::{Filter, LexicalStatistics, PassageId, StoreError, StoredPassage};
use tamis_text::{Kind, Role};

/// The number of definitions of one name that are read. A method such as `new` has thousands.
const MOST_DEFINITIONS: usize = 256;

/// The most definitions that count where a word is not spelled like a name, such as `open`, and nothing qualifies it.
const FEW_DEFINITIONS: usize = 3;

/// The most passages that are read for one window, and the most texts that are compared with a message.
const MOST_WITH_WINDOW: usize = 64;
const MOST_COMPARED: usize = 48;

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

impl Searcher<'_> {
    /// Returns the exact finds of a question among the passages of a filter. `statistics` are those of the lexical leg; without
    /// them words do not take part, and nothing is looked for.
    pub(super) fn exact_finds(
        &self,
        question: &Question,
        filter: &Filter,
        statistics: Option<&LexicalStatistics>,
    ) -> Result<HashMap<PassageId, ExactFind>, StoreError> {
        let mut finds = HashMap::new();
        let Some(statistics) = statistics else { return Ok(finds) };
        if question.asked.is_subject() {
            for name in question.asked.iter() {
                finds.extend(self.definitions(name, question.asked.are_alone(), filter)?);
            }
        }
        finds.extend(self.messages(question, filter, statistics)?);
        Ok(finds)
    }

    /// The definitions of a name: those that fit what qualifies it, or else those of the bare name. In a sentence, where a name is not
    /// `alone`, those of a plain word do not count unless the file has its name.
    fn definitions(
        &self,
        name: &AskedName,
        alone: bool,
        filter: &Filter,
    ) -> Result<Vec<(PassageId, ExactFind)>, StoreError> {
        let ids = self.index.store.defining(&name.name, filter, MOST_DEFINITIONS)?;
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let passages = self.index.store.passages(&filter.namespaces, &ids)?;
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

    /// The texts of the message that the query repeats.
    fn messages(
        &self,
        question: &Question,
        filter: &Filter,
        statistics: &LexicalStatistics,
    ) -> Result<Vec<(PassageId, ExactFind)>, StoreError> {
        let literal = &question.literal;
        if literal.is_empty() {
            return Ok(Vec::new());
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
            for passage in self.index.store.containing(&window, filter, MOST_WITH_WINDOW)? {
                *windows.entry(passage).or_default() += 1;
            }
        }
        let mut ids: Vec<(PassageId, usize)> = windows.into_iter().collect();
        ids.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
        ids.truncate(MOST_COMPARED);
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let ids: Vec<PassageId> = ids.into_iter().map(|(passage, _)| passage).collect();
        let passages = self.index.store.passages(&filter.namespaces, &ids)?;
        let compared = |passage: &StoredPassage| {
            let code = is_code(passage);
            let main = passage.role == Role::Main.as_str();
            let one =
                move |run: LiteralRun| Compared { passage: passage.passage, run, made: code && run.in_string, main };
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
        let find = |one: &&Compared| {
            let counts = one.run.share >= least(one.made, one.main);
            counts.then_some((one.passage, if one.made { ExactFind::Message } else { ExactFind::Mention }))
        };
        Ok(compared.iter().filter_map(find).collect())
    }
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
pub(super) fn note(finds: &HashMap<PassageId, ExactFind>, candidates: &mut [Candidate]) {
    candidates.iter_mut().for_each(|candidate| candidate.exact = finds.get(&candidate.id()).copied());
}

/// Notes the candidates below a heading that is the whole query, unless they are a better find. The model of a list sees only the words
/// of such a query, which are often plain.
pub(super) fn note_headings(query: &str, candidates: &mut [Candidate]) {
    let asked: Vec<String> = words(query).collect();
    if asked.len() < FEWEST_WORDS_OF_A_HEADING {
        return;
    }
    for candidate in candidates {
        let own = candidate.passage.heading.as_deref().and_then(|heading| heading.rsplit(" > ").next());
        if own.is_some_and(|own| words(own).eq(asked.iter().cloned())) {
            candidate.exact = candidate.exact.max(Some(ExactFind::Mention));
        }
    }
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
