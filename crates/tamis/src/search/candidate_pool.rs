//! Candidates for other uses than an answer: retrieved once for many cuts, as an evaluation does, and those near a passage.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::time::Instant;

use tamis_cut::Rule;
use tamis_store::{Filter, PassageId, StoredPassage};

use super::answer::CutReport;
use super::caller::Asker;
use super::candidate::{Candidate, Retrieved, Scores, Statistics};
use super::context::{Context, Scope, Stopwatch, scope_of};
use super::decide::{cut, gate_evidence};
use super::filter::MetadataFilter;
use super::gather::{Depth, fetch};
use super::judgements::JudgedPassages;
use super::plan::{Plan, choose_model};
use super::query::{Query, filter_of};
use super::rank::rank;
use super::ranking::{Decided, Entry};
use super::request::SearchRequest;
use super::rule::thresholds;
use super::search::{decide, retrieve};
use crate::Error;
use crate::import::commits::without_commits;

/// The candidates of a query with each retriever's statistics.
pub(crate) struct Candidates<'a> {
    context: Context<'a>,
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
    /// The raw scores of both retrievers, and the share of the query's IDF mass that it matches.
    pub similarity: Option<f64>,
    pub bm25: Option<f64>,
    pub coverage: Option<f64>,
    /// The probability that a reranker gave it, if one read it.
    pub judged: Option<f64>,
}

/// Gathers the candidates of both retrievers for a query, `depth` from each, as a search would. `without` leaves out the passages
/// of a document, for a query that is that document.
pub(crate) fn candidates<'a>(
    context: &Context<'a>,
    query: &str,
    depth: usize,
    without: Option<&str>,
) -> Result<Candidates<'a>, Error> {
    let request = SearchRequest::new(query);
    request.check()?;
    let filter = filter_of(context, &request)?;
    let mut retrieved = retrieve(context, &request, &filter, Depth::with_finds(depth), &mut Stopwatch::start())?;
    // A measurement with another model than the requested one would be void.
    if let Some((model, reason)) = retrieved.plan.unusable.pop() {
        return Err(Error::Model { model, reason });
    }
    // What was said of a query must not help to measure it, and neither must what it taught.
    retrieved.query.judged = JudgedPassages::default();
    retrieved.query.learns = false;
    if let Some(without) = without {
        retrieved.candidates.retain(|candidate| candidate.passage.path != without);
    }
    Ok(Candidates { context: *context, retrieved })
}

impl Candidates<'_> {
    /// Returns the candidates that a smaller depth would have gathered: the best `depth` of each retriever.
    pub fn at_depth(&self, depth: usize) -> Self {
        let Retrieved { candidates, statistics, .. } = &self.retrieved;
        let words = best(candidates, depth, |scores| scores.bm25.filter(|_| statistics.lexical.is_some()));
        let vectors = best(candidates, depth, |scores| scores.similarity.filter(|_| statistics.semantic.is_some()));
        let kept: HashSet<PassageId> = words.chain(vectors).collect();
        let mut retrieved = self.retrieved.clone();
        // Exact finds do not depend on the depth of a retriever.
        retrieved.candidates.retain(|candidate| kept.contains(&candidate.id()) || candidate.exact.is_some());
        Candidates { context: self.context, retrieved }
    }

    /// Returns the gate's evidence.
    pub fn evidence(&self) -> tamis_cut::Evidence {
        gate_evidence(&self.retrieved, &HashSet::new())
    }

    /// Orders and cuts the candidates as a search with this rule would, its gate included.
    pub fn decide(&self, rule: &dyn Rule) -> Result<Ordered, Error> {
        let started = Instant::now();
        let Decided { ranking, cut, .. } = decide(&self.context, &self.retrieved, rule, &mut Stopwatch::start())?;
        // Nor may a measurement go on without the reranker that it names.
        let asked = self.context.index.reranker.as_deref();
        let asked = asked.filter(|_| !self.retrieved.query.fast && rule.reads_relevance());
        if let Some(reranker) = asked.filter(|_| !cut.diagnostics.contains_key("judge")) {
            let (model, reason) = (reranker.name().to_owned(), ranking.warning.unwrap_or_default());
            return Err(Error::Model { model, reason });
        }
        let background = ranking.background();
        let probabilities = Some(ranking.probabilities()).filter(|known| ranking.weighed || !known.is_empty());
        let microseconds = started.elapsed().as_secs_f64() * 1e6;
        let copies = ranking.entries.iter().flat_map(|entry| &entry.copies);
        let copies: Vec<(PassageId, &str)> = copies.map(|copy| (copy.of, &*copy.candidate.passage.path)).collect();
        let ordered = |(at, (place, candidate)): (usize, (usize, &Candidate))| OrderedPassage {
            entry: place,
            copies: copies.iter().filter(|(of, _)| *of == candidate.id()).map(|(_, path)| (*path).to_owned()).collect(),
            characters: candidate.passage.text.chars().count(),
            document: candidate.passage.path.clone(),
            score: candidate.score,
            similarity: candidate.scores.similarity,
            bm25: candidate.scores.bm25,
            coverage: candidate.scores.coverage,
            judged: ranking.entries.get(at).and_then(|entry| entry.judged),
        };
        let mut passages: Vec<OrderedPassage> = ranking.numbered().into_iter().enumerate().map(ordered).collect();
        let others = passages.split_off(ranking.entries.len());
        Ok(Ordered { passages, others, cut, probabilities, background, microseconds })
    }
}

/// Returns the first passages of a retriever, from candidates in the order of equal ones. A retriever does not propose a passage that
/// scores 0.
fn best(
    candidates: &[Candidate],
    depth: usize,
    score: impl Fn(&Scores) -> Option<f64>,
) -> impl Iterator<Item = PassageId> {
    let scored = candidates.iter().filter_map(|candidate| Some((score(&candidate.scores)?, candidate.id())));
    let mut scored: Vec<(f64, PassageId)> = scored.filter(|&(score, _)| score != 0.0).collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    scored.into_iter().take(depth).map(|(_, passage)| passage)
}

/// The passages similar to a passage.
#[derive(Debug, Default)]
pub(crate) struct SimilarPassages {
    /// The model whose vectors were compared.
    pub model: Option<String>,
    /// The passages, best first, each with its similarity. The cut has not shortened the list.
    pub passages: Vec<(Arc<StoredPassage>, f64)>,
    /// The number of passages that are close enough, and the reason; `None` if nothing was compared.
    pub cut: Option<CutReport>,
    /// The reason why nothing was compared, or not with the best model.
    pub remark: Option<String>,
}

/// Returns the namespaces that a caller in `namespace` reads.
pub(crate) fn scope_around(context: &Context<'_>, namespace: &str, allowed: Option<&[String]>) -> Result<Scope, Error> {
    let asker = Asker::with_rights(allowed.map(<[String]>::to_vec));
    scope_of(context, &SearchRequest::default().namespace(Some(namespace.to_owned())).asker(asker))
}

/// Returns the passages nearest to the given ones that match `metadata`, without those of `own`, ended by the configured cut.
/// No gate is applied: it is made for queries, and passages are more alike than a query and a passage.
pub(crate) fn similar(
    context: &Context<'_>,
    passage: PassageId,
    own: &HashSet<PassageId>,
    scope: &Scope,
    metadata: &MetadataFilter,
) -> Result<SimilarPassages, Error> {
    let filter = scope.of_all(&without_commits(context.index, metadata.narrow(Filter::default())));
    let (model, remark) = choose_model(context, &filter)?;
    let Some(info) = model else { return Ok(SimilarPassages { remark, ..SimilarPassages::default() }) };
    let Some(vector) = context.index.store.vectors(&info.id, &[], &[passage])?.pop().flatten() else {
        let remark = Some(format!("it has no vector of {} yet", info.id));
        return Ok(SimilarPassages { remark, ..SimilarPassages::default() });
    };
    let depth = context.index.config.search.pool;
    let found = context.index.store.nearest(&info.id, &vector, &filter, depth + own.len())?;
    let others = found.hits.iter().filter(|hit| !own.contains(&hit.passage)).take(depth);
    let scores: BTreeMap<PassageId, Scores> = others
        .map(|hit| (hit.passage, Scores { similarity: Some(f64::from(hit.similarity)), ..Scores::default() }))
        .collect();
    let (candidates, _) = fetch(&*context.index.store, &scores, &filter.namespaces, &scope.own)?;
    let statistics = Statistics { semantic: Some(found.background), ..Statistics::default() };

    let asked = SearchRequest::default().tuned_rule(&context.index.config)?;
    let rule = asked.rule();
    let thresholds = rule.reads_thresholds().then(|| thresholds(context, Some(&info))).transpose()?;
    let query = Query { now_ns: crate::dates::present_ns(), ..Query::default() };
    let plan = Plan { model: Some(info.clone()), ..Plan::default() };
    let retrieved = Retrieved { query, plan, candidates, statistics, ..Retrieved::default() };
    let mut ranking = rank(context, &retrieved, rule, thresholds.as_ref())?;
    let mut cut = cut(rule, None, &retrieved, &mut ranking);
    // Uses of the passage may stand beside these, and they were found too.
    if let Some(rest) = cut.reason.strip_prefix("nothing else was found") {
        cut.reason = format!("no other passage is as similar{rest}");
    }
    let similarity = |entry: Entry| (entry.best.passage, entry.best.scores.similarity.unwrap_or(0.0));
    Ok(SimilarPassages {
        model: Some(info.id),
        passages: ranking.entries.into_iter().map(similarity).collect(),
        cut: Some(cut),
        remark,
    })
}

#[cfg(test)]
mod tests {
    use super::{Context, candidates};
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
                let deep = candidates(&Context::unobserved(&index), "oven by the tide", 50, None)
                    .expect("found")
                    .at_depth(depth);
                let shallow = candidates(&Context::unobserved(&index), "oven by the tide", depth, None).expect("found");
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
            let found = candidates(&Context::unobserved(&index), "oven by the tide", 20, None).expect("found");
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
        let all = candidates(&Context::unobserved(&index), "tide tide tide", 20, None)
            .expect("found")
            .decide(&*rule)
            .expect("decided");
        let own = all.passages[0].document.clone();
        let rest = candidates(&Context::unobserved(&index), "tide tide tide", 20, Some(&own))
            .expect("found")
            .decide(&*rule)
            .expect("decided");
        assert!(rest.passages.iter().all(|passage| passage.document != own));
        assert_eq!(rest.passages.len() + 1, all.passages.len());
        assert!(rest.passages[0].characters > 0, "the length of the text is known without the text");
    }
}
