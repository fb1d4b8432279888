//! One query's candidates, retrieved once so that many cuts can decide on them. An evaluation uses it to measure the search
//! itself.

use super::answer::CutReport;
use super::candidate::{Candidate, Ranked};
use super::decide::{Decided, gate_evidence};
use super::depth::Depth;
use super::gather::Gathered;
use super::judged_passages::JudgedPassages;
use super::listed::Listed;
use super::query::SearchRequest;
use super::retrieve::Retrieved;
use super::searcher::Searcher;
use super::stopwatch::Stopwatch;
use crate::Error;
use std::collections::HashSet;
use std::mem::take;
use std::time::Instant;
use tamis_cut::Rule;
use tamis_store::{PassageId, StoredPassage};

/// The candidates of a query with each leg's statistics.
pub(crate) struct Candidates<'a> {
    searcher: Searcher<'a>,
    retrieved: Retrieved,
}

/// A rule's order of the candidates, and the place where it ends them.
pub(crate) struct Ordered {
    /// The candidates that the cut counted: the best passage of each entry, or all passages if the rule is defined on them.
    pub passages: Vec<OrderedPassage>,
    /// The other passages of the entries, best first.
    pub others: Vec<OrderedPassage>,
    pub cut: CutReport,
    /// The probability of relevance of each of `passages`, if it is known.
    pub probabilities: Option<Vec<f64>>,
    /// The fused score of a passage that has nothing to do with the query.
    pub background: Option<f64>,
    /// The duration of the decision: ordering, gate and rule.
    pub microseconds: f64,
}

/// A candidate in a rule's order.
pub(crate) struct OrderedPassage {
    /// Its document.
    pub document: String,
    /// The value that ranked it.
    pub score: f64,
    /// Position of the best passage of its entry.
    pub entry: usize,
    /// Documents with a near-copy, which come with it.
    pub copies: Vec<String>,
    /// Length of its text.
    pub characters: usize,
    /// The raw scores of both legs, and the share of the query's IDF mass that it matches.
    pub similarity: Option<f64>,
    pub bm25: Option<f64>,
    pub coverage: Option<f64>,
    /// The probability that a reranker gave it, if one read it.
    pub judged: Option<f64>,
}

impl<'a> Searcher<'a> {
    /// Gathers the candidates of both legs for a query, `depth` from each, as a search would. `without` leaves out the passages
    /// of a document, for a query that is that document.
    pub(crate) fn candidates(&self, query: &str, depth: usize, without: Option<&str>) -> Result<Candidates<'a>, Error> {
        let request = SearchRequest::new(query);
        request.check()?;
        let filter = self.filter(&request);
        let mut retrieved = self.retrieve(&request, &filter, Depth::with_finds(depth), &mut Stopwatch::start())?;
        // A measurement with another model than the requested one would be void.
        if let Some((model, reason)) = retrieved.plan.unusable.pop() {
            return Err(Error::Model { model, reason });
        }
        // What was said of a query must not help to measure it, and neither must what it taught.
        retrieved.question.judged = JudgedPassages::default();
        retrieved.question.learns = false;
        let mut candidates = Candidates { searcher: *self, retrieved };
        if let Some(without) = without {
            candidates.retain(|_, passage| passage.path != without);
        }
        Ok(candidates)
    }
}

impl Candidates<'_> {
    /// Returns the candidates that a smaller depth would have gathered: the best `depth` of each leg.
    pub fn at_depth(&self, depth: usize) -> Self {
        let Gathered { candidates, lexical, semantic, .. } = &self.retrieved.gathered;
        let words = best(candidates, depth, |candidate| candidate.bm25.filter(|_| lexical.is_some()));
        let vectors = best(candidates, depth, |candidate| candidate.similarity.filter(|_| semantic.is_some()));
        let kept: HashSet<PassageId> = words.chain(vectors).collect();
        let mut shallower = Candidates { searcher: self.searcher, retrieved: self.retrieved.clone() };
        // Exact finds do not depend on the depth of a leg.
        shallower.retain(|candidate, _| kept.contains(&candidate.passage) || candidate.exact.is_some());
        shallower
    }

    fn retain(&mut self, keeps: impl Fn(&Candidate, &StoredPassage) -> bool) {
        let gathered = &mut self.retrieved.gathered;
        let all = take(&mut gathered.candidates).into_iter().zip(take(&mut gathered.passages));
        (gathered.candidates, gathered.passages) = all.filter(|(candidate, passage)| keeps(candidate, passage)).unzip();
    }

    /// Returns the gate's evidence.
    pub fn evidence(&self) -> tamis_cut::Evidence {
        gate_evidence(&self.retrieved, &HashSet::new())
    }

    /// Orders and cuts the candidates as a search with this rule would, its gate included.
    pub fn decide(&self, rule: &dyn Rule) -> Result<Ordered, Error> {
        let started = Instant::now();
        let Decided { list, cut, .. } = self.searcher.decide(&self.retrieved, rule, &mut Stopwatch::start())?;
        // Nor may a measurement go on without the reranker that it names.
        let asked = self.retrieved.question.reranker.as_deref().filter(|_| rule.reads_relevance());
        if let Some(reranker) = asked.filter(|_| !cut.diagnostics.contains_key("judge")) {
            let (model, reason) = (reranker.name().to_owned(), list.warning.unwrap_or_default());
            return Err(Error::Model { model, reason });
        }
        let (counted, places) = (list.counted().len(), list.entry_places());
        let mut copies = list.copied_documents();
        let Listed { ranked, probabilities, pool, .. } = list;
        let background = pool.background().map(|background| background.mean);
        let microseconds = started.elapsed().as_secs_f64() * 1e6;
        let ordered = |(at, ranked): (usize, Ranked)| OrderedPassage {
            entry: places[at] as usize,
            copies: copies.remove(&at).unwrap_or_default(),
            characters: ranked.passage.text.chars().count(),
            document: ranked.passage.path.clone(),
            score: ranked.score,
            similarity: ranked.candidate.similarity,
            bm25: ranked.candidate.bm25,
            coverage: ranked.candidate.coverage,
            judged: ranked.judged,
        };
        let mut passages: Vec<OrderedPassage> = ranked.into_iter().enumerate().map(ordered).collect();
        let others = passages.split_off(counted);
        Ok(Ordered { passages, others, cut, probabilities, background, microseconds })
    }
}

/// Returns the first passages of a leg, from candidates in the order of equal ones. A leg does not propose a passage that scores 0.
fn best(
    candidates: &[Candidate],
    depth: usize,
    score: impl Fn(&Candidate) -> Option<f64>,
) -> impl Iterator<Item = PassageId> {
    let scored = candidates.iter().filter_map(|candidate| Some((score(candidate)?, candidate.passage)));
    let mut scored: Vec<(f64, PassageId)> = scored.filter(|&(score, _)| score != 0.0).collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    scored.into_iter().take(depth).map(|(_, passage)| passage)
}

#[cfg(test)]
mod tests {
    use crate::config::{Config, Origins};
    use crate::feedback::Label;
    use crate::handle::Index;
    use crate::{Location, RunOptions, TextDocument};

    fn index(directory: &std::path::Path) -> Index {
        let flags = [("index.models", "static"), ("search.gate", "false")];
        let flags = flags.map(|(key, value)| (key.into(), value.into(), "test".into())).to_vec();
        let config = Config::load(&Origins { flags, ..Origins::default() }, None).expect("valid");
        let index = Index::at(Location::at(directory, None), config).expect("opened");
        let words = ["tide", "glacier", "oven", "violin", "harbour", "orchard", "ledger", "hive"];
        let document = |at: usize| TextDocument {
            id: format!("d{at}"),
            collection: "corpus".into(),
            title: None,
            text: format!("{} {} {}", words[at % 8], words[at / 8 % 8], words[at * 5 % 7]),
        };
        index.put_documents(&(0..60).map(document).collect::<Vec<_>>()).expect("put");
        index.complete(RunOptions::WHOLE, &()).expect("completed");
        index
    }

    #[test]
    fn a_smaller_depth_is_what_a_shallower_search_gathers() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let index = index(directory.path());
        for rule in ["background", "max_gap", "top_score"] {
            let rule = tamis_cut::parse(rule).expect("a rule");
            for depth in [1, 5, 12, 25] {
                let deep = index.searcher().candidates("oven by the tide", 50, None).expect("found").at_depth(depth);
                let shallow = index.searcher().candidates("oven by the tide", depth, None).expect("found");
                let (deep, shallow) = (deep.decide(&*rule).expect("decided"), shallow.decide(&*rule).expect("decided"));
                assert_eq!(deep.cut.keep, shallow.cut.keep, "{rule:?} at {depth}");
                let documents = |ordered: &super::Ordered| -> Vec<String> {
                    ordered.passages.iter().map(|passage| passage.document.clone()).collect()
                };
                assert_eq!(documents(&deep), documents(&shallow), "{rule:?} at {depth}");
            }
        }
    }

    #[test]
    fn what_was_judged_does_not_help_to_measure() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let index = index(directory.path());
        let rule = tamis_cut::parse("auto").expect("a rule");
        let measured = || {
            let found = index.searcher().candidates("oven by the tide", 20, None).expect("found");
            let ordered = found.decide(&*rule).expect("decided");
            let documents: Vec<String> = ordered.passages.into_iter().map(|passage| passage.document).collect();
            (ordered.cut.keep, ordered.probabilities, documents)
        };
        let before = measured();
        let answer = index.search("oven by the tide").expect("searched");
        let id = answer.query_id.as_deref().expect("recorded");
        index.feedback().judge(id, &["1"], Label::NotRelevant).expect("judged");
        let again = index.search("oven by the tide").expect("searched");
        assert!(again.results.iter().all(|hit| hit.id != answer.results[0].id), "a search obeys");
        assert_eq!(measured(), before);
        // Nor does what other answers taught.
        for (number, text) in ["oven", "tide", "the oven", "a tide", "ovens", "tides"].into_iter().enumerate() {
            let answer = index.search(text).expect("searched");
            let ids: Vec<&str> = answer.results.iter().map(|hit| hit.id.as_str()).collect();
            let label = if number == 0 { Label::Relevant } else { Label::NotRelevant };
            index.feedback().judge(answer.query_id.as_deref().expect("recorded"), &ids, label).expect("judged");
        }
        let taught = index.search("the tide").expect("searched");
        assert!(taught.cut.diagnostics.contains_key("judgements"), "a search learns");
        assert_eq!(measured(), before);
    }

    #[test]
    fn the_querys_own_document_can_be_left_out() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let index = index(directory.path());
        let rule = tamis_cut::parse("fixed:k=5").expect("a rule");
        let all =
            index.searcher().candidates("tide tide tide", 20, None).expect("found").decide(&*rule).expect("decided");
        let own = all.passages[0].document.clone();
        let rest = index
            .searcher()
            .candidates("tide tide tide", 20, Some(&own))
            .expect("found")
            .decide(&*rule)
            .expect("decided");
        assert!(rest.passages.iter().all(|passage| passage.document != own));
        assert_eq!(rest.passages.len() + 1, all.passages.len());
        assert!(rest.passages[0].characters > 0, "the length of the text is known without the text");
    }
}
