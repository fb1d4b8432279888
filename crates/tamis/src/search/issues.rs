//! Searches for whole documents: issues, and the pages of the kept passages.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use tamis_cut::Pool;
use tamis_rank::{Evidence, Fusion, order};
use tamis_store::{DocumentId, Filter, PassageId, ScoringKey, ScoringKind, StoredPassage};
use tamis_text::Issue;

use super::answer::CutReport;
use super::candidate::{Candidate, Retrieved};
use super::context::{Context, Scope, Stopwatch};
use super::gather::{Depth, depth_under};
use super::query::filter_of;
use super::ranking::{Decided, Ranking};
use super::recording::{Served, recorded, write_record};
use super::request::SearchRequest;
use super::search::{decide, retrieve};
use crate::collections::ISSUES;
use crate::config::Mode;
use crate::{Error, models};

/// The best passage of each document that a retriever found, best first.
pub(crate) struct DocumentRetriever {
    pub best: Vec<Candidate>,
    /// The number of passages that the retriever found; `None` if it took no part.
    pub found: Option<usize>,
}

impl DocumentRetriever {
    /// Orders documents by the best score of their passages. Those without a finite score are left out.
    pub fn new(candidates: &[Candidate], found: Option<usize>, score: impl Fn(&Candidate) -> Option<f64>) -> Self {
        let scored = candidates.iter().filter_map(|candidate| Some((score(candidate)?, candidate)));
        let mut scored: Vec<(f64, &Candidate)> = scored.filter(|(score, _)| score.is_finite()).collect();
        scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.id().cmp(&b.1.id())));
        let mut seen: HashSet<DocumentId> = HashSet::new();
        let best = scored.into_iter().map(|(_, candidate)| candidate);
        let best = best.filter(|candidate| seen.insert(candidate.passage.document)).cloned().collect();
        DocumentRetriever { best, found }
    }
}

/// Retrieves until each of the `retrievers` has `wanted` documents, or no more candidates: first `depth` passages of each, then four
/// times as many.
pub(crate) fn retrieve_documents<const RETRIEVERS: usize>(
    context: &Context<'_>,
    request: &SearchRequest,
    filter: &Filter,
    (wanted, mut depth): (usize, usize),
    clock: &mut Stopwatch,
    retrievers: impl Fn(&Retrieved) -> [DocumentRetriever; RETRIEVERS],
) -> Result<(Retrieved, [Vec<Candidate>; RETRIEVERS]), Error> {
    loop {
        let retrieved = retrieve(context, request, filter, Depth::exactly(depth), clock)?;
        let retrievers = retrievers(&retrieved);
        let is_whole = |retriever: &DocumentRetriever| {
            retriever.best.len() >= wanted || retriever.found.is_none_or(|found| found < depth)
        };
        if depth as u64 >= retrieved.plan.coverage.passages || retrievers.iter().all(is_whole) {
            let first = |mut retriever: DocumentRetriever| {
                retriever.best.truncate(wanted);
                retriever.best
            };
            return Ok((retrieved, retrievers.map(first)));
        }
        depth *= 4;
    }
}

/// Expected passages per issue, for the depth of the first attempt.
const PASSAGES_OF_AN_ISSUE: usize = 8;

/// A query for issues.
pub(crate) struct IssueQuery<'a> {
    /// The text and the namespaces.
    pub request: &'a SearchRequest,
    /// Further conditions on the issues.
    pub filter: Filter,
    /// The issue that the text comes from, which is left out.
    pub own: Option<DocumentId>,
    /// Issues from each retriever.
    pub candidates: usize,
    /// The constant of reciprocal rank fusion.
    pub rrf_k: f64,
}

/// The issues found.
pub(crate) struct FoundIssues {
    /// The candidates that retrieval gathered.
    pub(crate) retrieved: Retrieved,
    /// The issues, best first.
    pub issues: Vec<FoundIssue>,
    /// The filter of the search.
    filter: Filter,
    /// The constant of the fusion.
    rrf_k: f64,
}

/// An issue that a retriever found.
pub(crate) struct FoundIssue {
    /// Its document.
    pub document: DocumentId,
    /// Its number.
    pub number: u64,
    /// Its best passage: the most similar one, if similarities are known.
    best: Candidate,
    /// Its rank among the issues of each retriever, from 1, by its best passage there.
    pub lexical_rank: Option<usize>,
    pub semantic_rank: Option<usize>,
    /// The best BM25 score of its passages.
    pub bm25: Option<f64>,
    /// The fused score.
    pub rrf: f64,
}

impl FoundIssue {
    /// Returns its best passage.
    pub fn passage(&self) -> &StoredPassage {
        &self.best.passage
    }
}

impl FoundIssues {
    /// Returns the model that compared, and the query's vector; `None` if words alone were searched.
    fn compared(&self) -> Option<(&str, &[f32])> {
        let plan = &self.retrieved.plan;
        Some((&plan.model.as_ref()?.id, plan.vector.as_deref()?))
    }

    /// Returns the namespaces that were searched.
    pub fn scope(&self) -> &Scope {
        &self.retrieved.query.scope
    }

    /// Returns the filter with the namespaces that were searched.
    fn searched_filter(&self) -> Filter {
        self.scope().of_all(&self.filter)
    }

    /// Returns the number of passages that match the filter.
    pub fn searched(&self) -> u64 {
        self.retrieved.plan.coverage.passages
    }

    /// Returns the number of namespaces searched.
    pub fn namespaces(&self) -> usize {
        self.scope().names.len()
    }

    /// Returns the mean similarity of the query to all searched passages, and their number; `None` if nothing was compared.
    pub fn background(&self) -> Option<(f64, usize)> {
        let count = self.retrieved.statistics.semantic.as_ref()?.count;
        Some((self.retrieved.statistics.background().similarity?, count as usize))
    }

    /// Returns the least similarity of two texts on one subject under the model that compared; 0 if nothing is known of the
    /// model.
    pub fn least_similarity(&self) -> f64 {
        let background = self.retrieved.statistics.semantic.as_ref();
        self.retrieved.plan.model.as_ref().map_or(0.0, |model| models::least_similarity(model, background))
    }

    /// Returns the model that compared.
    pub fn model(&self) -> Option<String> {
        self.compared().map(|(model, _)| model.to_owned())
    }

    /// Adds to a cut's reason what the query excludes.
    pub fn explain_words(&self, cut: &mut CutReport) {
        cut.explain_words(&self.retrieved.query.words);
    }

    /// Returns the reason why a different model, or none, compared.
    pub fn fallback_reason(&self) -> Option<String> {
        self.retrieved.plan.fallback_reason.clone()
    }
}

/// The passages of an issue with their similarities.
pub(crate) struct IssuePassages {
    /// The passages, in the order of the issue, each with its similarity to the query; `None` without a vector.
    passages: Vec<(StoredPassage, Option<f64>)>,
}

impl IssuePassages {
    /// Returns the similarity of the best passage. Comments by programs do not count.
    pub fn best(&self) -> Option<f64> {
        let counted = self.passages.iter().filter(|(passage, _)| counts(passage));
        counted.filter_map(|(_, similarity)| *similarity).reduce(f64::max)
    }

    /// Returns the similarity of the best passage of a part; `None` if none of them has a vector.
    pub fn of_part(&self, part: u32) -> Option<f64> {
        let of_part = self.passages.iter().filter(|(passage, _)| passage.part == Some(part));
        of_part.filter_map(|(_, similarity)| *similarity).reduce(f64::max)
    }
}

/// Returns `true` if a passage describes its issue. Comments by programs do not.
fn counts(passage: &StoredPassage) -> bool {
    passage.role != tamis_text::Role::Bot.as_str() || passage.part.is_none_or(|part| part == 0)
}

/// Finds the issues of both retrievers, `candidates` from each, fused by reciprocal ranks. Both retrievers search deeper until they have
/// that many different issues, or no more candidates.
pub(crate) fn issues(
    context: &Context<'_>,
    query: &IssueQuery<'_>,
    clock: &mut Stopwatch,
) -> Result<FoundIssues, Error> {
    let request = query.request.clone().mode(Mode::Hybrid);
    request.check()?;
    let filter = Filter { collections: vec![ISSUES.to_owned()], ..query.filter.clone() };
    let depth = (query.candidates + 1) * PASSAGES_OF_AN_ISSUE;
    let retrievers = |retrieved: &Retrieved| {
        let counted = |passage: &StoredPassage| {
            query.own != Some(passage.document) && counts(passage) && Issue::number_at(&passage.path).is_some()
        };
        let retriever = |found, score: fn(&Candidate) -> Option<f64>| {
            let score = |candidate: &Candidate| score(candidate).filter(|_| counted(&candidate.passage));
            DocumentRetriever::new(&retrieved.candidates, found, score)
        };
        let found = retrieved.statistics.found;
        [
            retriever(found.lexical, |candidate| candidate.scores.bm25.filter(|&bm25| bm25 > 0.0)),
            retriever(found.semantic, |candidate| candidate.scores.similarity),
        ]
    };
    let (retrieved, retrievers) =
        retrieve_documents(context, &request, &filter, (query.candidates, depth), clock, retrievers)?;
    let issues = fused(&retrievers, query.rrf_k);
    clock.lap("fuse");
    Ok(FoundIssues { retrieved, issues, filter, rrf_k: query.rrf_k })
}

/// Returns all passages of the issues with their similarities to the query, in the order of the issues. Issues found by words
/// alone get their similarities here.
pub(crate) fn issue_similarities(context: &Context<'_>, found: &FoundIssues) -> Result<Vec<IssuePassages>, Error> {
    let filter = found.searched_filter();
    let read = |issue: &FoundIssue| {
        context.observer.check_cancelled()?;
        let passages = context.index.store.document_passages(&issue.passage().namespace, &issue.passage().path)?;
        with_similarities(context, found.compared(), &filter, passages)
    };
    found.issues.iter().map(read).collect()
}

/// Returns the similarities by each other model of the index that covers all searched passages, as a second opinion. The
/// order is by model, by issue, then by passage. Unusable models are left out.
pub(crate) fn other_similarities(
    context: &Context<'_>,
    found: &FoundIssues,
    issues: &[IssuePassages],
) -> Result<Vec<Vec<IssuePassages>>, Error> {
    let Some((own, _)) = found.compared() else { return Ok(Vec::new()) };
    let filter = found.searched_filter();
    let mut views = Vec::new();
    for name in &context.index.config.index.models {
        let id = match context.index.models.id(name) {
            Err(Error::Model { .. }) => continue,
            id => id?,
        };
        let coverage = context.index.store.coverage(&id, &filter)?;
        if id == own || coverage.embedded < coverage.passages {
            continue;
        }
        let vector = match context.index.embed_query(name, &found.retrieved.query.text) {
            Err(Error::Model { .. }) => continue,
            embedded => embedded?.1,
        };
        // A model that knows no word of the query gives a zero vector.
        if vector.iter().all(|&entry| entry == 0.0) {
            continue;
        }
        let view = issues.iter().map(|issue| {
            context.observer.check_cancelled()?;
            let passages = issue.passages.iter().map(|(passage, _)| passage.clone()).collect();
            with_similarities(context, Some((id.as_str(), vector.as_slice())), &filter, passages)
        });
        views.push(view.collect::<Result<_, Error>>()?);
    }
    Ok(views)
}

fn with_similarities(
    context: &Context<'_>,
    compared: Option<(&str, &[f32])>,
    filter: &Filter,
    passages: Vec<StoredPassage>,
) -> Result<IssuePassages, Error> {
    let ids: Vec<PassageId> = passages.iter().map(|passage| passage.passage).collect();
    let similarities = match compared {
        Some((model, vector)) => context.index.store.similarities(model, vector, filter, &ids)?,
        None => vec![None; ids.len()],
    };
    let finite = |value: Option<f32>| value.map(f64::from).filter(|value| value.is_finite());
    Ok(IssuePassages { passages: passages.into_iter().zip(similarities.into_iter().map(finite)).collect() })
}

/// Records a search for issues with its cut. `order` holds positions in `found.issues`, the kept ones first.
pub(crate) fn record_issues(
    context: &Context<'_>,
    found: &FoundIssues,
    order: &[usize],
    cut: &CutReport,
    served: Served<'_>,
    clock: &Stopwatch,
) -> Option<String> {
    let ranked = order.iter().filter_map(|&at| found.issues.get(at));
    let ranked: Vec<Candidate> = ranked.map(|issue| issue.best.clone().ranked_by(issue.rrf)).collect();
    // The recorded values are reciprocal ranks, which descend. The store keeps a candidate's own scores beside them.
    let values: Vec<f64> = (1..=ranked.len()).map(|rank| 1.0 / (found.rrf_k + rank as f64)).collect();
    let decided = Decided {
        ranking: Ranking::new(ranked, Pool::scores(values).ok()?),
        cut: cut.clone(),
        token_budget: None,
        mode: found.retrieved.plan.mode,
        scoring: ScoringKey::new(ScoringKind::Issues, Fusion::Rrf { k: found.rrf_k }),
        replaced: None,
    };
    let search = recorded(context, &found.retrieved, &decided);
    write_record(context, search, &found.retrieved, &decided, served, clock)
}

/// An issue's best passage and its rank by each retriever, lexical and semantic.
type Places<'l> = [Option<(&'l Candidate, usize)>; 2];

/// Returns the issues of both retrievers, lexical and semantic, as one list, best first.
fn fused(retrievers: &[Vec<Candidate>; 2], k: f64) -> Vec<FoundIssue> {
    let mut found: BTreeMap<DocumentId, Places> = BTreeMap::new();
    for (retriever, candidates) in retrievers.iter().enumerate() {
        for (candidate, rank) in candidates.iter().zip(1..) {
            found.entry(candidate.passage.document).or_default()[retriever] = Some((candidate, rank));
        }
    }
    let evidence = |[lexical, semantic]: &Places| Evidence {
        similarity: semantic.and_then(|(candidate, _)| candidate.scores.similarity),
        bm25: lexical.and_then(|(candidate, _)| candidate.scores.bm25),
    };
    let evidence: Vec<Evidence> = found.values().map(evidence).collect();
    let fused = Fusion::Rrf { k }.fuse(&evidence);
    let found: Vec<(DocumentId, Places)> = found.into_iter().collect();
    let issue = |at: usize| {
        let (document, [lexical, semantic]) = found[at];
        let (best, _) = semantic.or(lexical)?;
        Some(FoundIssue {
            document,
            number: Issue::number_at(&best.passage.path)?,
            best: best.clone(),
            lexical_rank: lexical.map(|(_, rank)| rank),
            semantic_rank: semantic.map(|(_, rank)| rank),
            bm25: lexical.and_then(|(candidate, _)| candidate.scores.bm25),
            rrf: fused[at],
        })
    };
    order(&fused).into_iter().filter_map(issue).collect()
}

/// A document with kept passages.
pub(crate) struct FoundPage {
    /// Its relevant passages, best first; at least one.
    pub passages: Vec<Arc<StoredPassage>>,
    /// Their best similarity; `None` if nothing was compared.
    pub similarity: Option<f64>,
}

/// The pages of a search.
pub(crate) struct FoundPages {
    /// The pages, best first.
    pub pages: Vec<FoundPage>,
    /// Documents that say the same as one of the pages. They are as relevant, though no page of their own.
    pub copies: HashSet<DocumentId>,
    /// The number of relevant passages, and the reason.
    pub cut: CutReport,
    /// The reason why a different model, or fewer retrievers, answered.
    pub fallback_reason: Option<String>,
}

impl FoundPages {
    /// Returns `true` if a document is one of the pages, or says the same as one.
    pub fn holds(&self, document: DocumentId) -> bool {
        let mut pages = self.pages.iter().filter_map(|page| page.passages.first());
        pages.any(|first| first.document == document) || self.copies.contains(&document)
    }
}

/// Returns the pages of a search's kept passages, in their order. Gate and cut are those of every search.
pub(crate) fn pages(
    context: &Context<'_>,
    request: &SearchRequest,
    clock: &mut Stopwatch,
) -> Result<FoundPages, Error> {
    request.check()?;
    let asked = request.tuned_rule(&context.index.config)?;
    let retrieved =
        retrieve(context, request, &filter_of(context, request)?, depth_under(context, asked.rule()), clock)?;
    let decided = decide(context, &retrieved, asked.rule(), clock)?;
    let copies = decided.ranking.entries.iter().take(decided.cut.keep).flat_map(|entry| &entry.copies);
    let copies = copies.map(|copy| copy.candidate.passage.document).collect();
    let kept = decided.kept_entries();
    let mut others: Vec<&Candidate> = kept.iter().flat_map(|kept| &kept.further).copied().collect();
    others.sort_by_key(|candidate| candidate.place);
    let mut places: HashMap<DocumentId, usize> = HashMap::new();
    let mut pages: Vec<FoundPage> = Vec::new();
    for candidate in kept.iter().map(|kept| &kept.entry.best).chain(others) {
        let (passage, similarity) = (candidate.passage.clone(), candidate.scores.similarity);
        let place = *places.entry(passage.document).or_insert(pages.len());
        match pages.get_mut(place) {
            Some(page) => {
                page.similarity = page.similarity.into_iter().chain(similarity).reduce(f64::max);
                page.passages.push(passage);
            }
            None => pages.push(FoundPage { passages: vec![passage], similarity }),
        }
    }
    Ok(FoundPages { pages, copies, cut: decided.cut, fallback_reason: retrieved.plan.fallback_reason })
}
