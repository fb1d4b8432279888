//! Measures the documents that each cut keeps of each query, with the search's own retrieval and decisions.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use rayon::prelude::*;
use tamis_cut::{Auto, Fixed, METHODS, Rule, Scale};
use tamis_eval::{Collection, Decision, Method, PooledDocument, QueryKind, QueryPool};

use super::{EvaluationError, OwnDocuments, OwnId, TestCollection, TestQuery, beir};
use crate::config::Config;
use crate::handle::Index;
use crate::progress::{Observer, Stage};
use crate::search::{Candidates, Context, CutReport, Ordered, OrderedPassage, SearchRequest, candidates, check_rule};

/// A cut and its name in the tables.
#[derive(Clone, Debug)]
pub struct NamedCut {
    /// The cut as it was given.
    pub name: String,
    /// The rule.
    pub rule: Box<dyn Rule>,
}

/// The settings of a measurement.
#[derive(Clone, Debug, Default)]
pub struct Measurement {
    /// The cuts to compare.
    pub cuts: Vec<NamedCut>,
    /// The relation between a query and the document it was made from, which is left out of the search
    /// ([`TestCollection::own_documents`]). `None`: nothing is left out.
    pub own_id: Option<OwnId>,
    /// Numbers of candidates per retriever at which every cut also decides, for stability. Empty: none.
    pub depths: Vec<usize>,
    /// Restricts the measurement to the first so many queries of the collection. `None`: all.
    pub limit: Option<usize>,
    /// True if decisions are timed. Times differ from run to run.
    pub timings: bool,
}

/// Parses cut specifications (`METHOD[:PARAM=VALUE,…]`); parameters not given come from the configuration. No
/// specification selects every method that can read what the configured mode gathers.
///
/// # Errors
/// An unknown method or parameter, a value out of range, or a specification given twice.
pub fn cuts(config: &Config, specifications: &[String]) -> Result<Vec<NamedCut>, EvaluationError> {
    let semantic = config.search.mode.semantic();
    let readable = METHODS.iter().filter(|method| semantic || method.scale != Scale::Similarity);
    let every: Vec<String> = readable.map(|method| method.name.to_owned()).collect();
    let names = if specifications.is_empty() { &every } else { specifications };
    let mut seen = HashSet::new();
    let cut = |name: &String| {
        let wrong = |problem: String| EvaluationError::Cut { specification: name.clone(), problem };
        if !seen.insert(name.clone()) {
            return Err(wrong("given twice; leave one out".into()));
        }
        let rule = config.cut(name).map_err(|error| wrong(error.to_string()))?;
        Ok(NamedCut { name: name.clone(), rule })
    };
    names.iter().map(cut).collect()
}

/// Indexes the collection into `cache` if needed, gathers the candidates of every query and of the `foreign` ones, and
/// lets every cut decide. Documents are ranked by their first passage, and a document is kept if one of its passages is,
/// or a near-copy of one. Everything but the times is deterministic. The index resumes where an interrupted run left it.
/// Queries run on all cores.
///
/// # Errors
/// A cut that cannot read what the configured mode gathers, an index or model that fails, or an observer that stops it.
pub fn measure(
    test: &TestCollection,
    foreign: &[TestQuery],
    config: &Config,
    cache: &Path,
    measurement: &Measurement,
    observer: &dyn Observer,
) -> Result<Collection, EvaluationError> {
    let own_documents = measurement.own_id.as_ref().map(|own| test.own_documents(own)).transpose()?.unwrap_or_default();
    let index = beir::index(test, config, cache, observer)?;
    for cut in &measurement.cuts {
        check_rule(&Context::unobserved(&index), &*cut.rule, &SearchRequest::default())?;
    }
    let own = test.queries.iter().take(measurement.limit.unwrap_or(usize::MAX));
    let queries: Vec<&TestQuery> = own.chain(foreign).collect();
    observer.stage(Stage::Answer, queries.len() as u64);
    let answer = |query: &&TestQuery| {
        if observer.cancelled() {
            return Err(EvaluationError::Interrupted);
        }
        let decided = Found::new(&index, query, measurement, &own_documents)?.decide(query, measurement);
        observer.advance(1);
        decided
    };
    let answered = queries.par_iter().map(answer).collect::<Result<_, _>>()?;
    let model = config.search.mode.semantic().then(|| config.search.model.clone());
    // Every table and file says whose figures these are.
    let model = match &index.reranker {
        Some(reranker) => Some(format!("{}, judge {}", model.as_deref().unwrap_or("words"), reranker.name())),
        None => model,
    };
    Ok(assembled(test.name.clone(), model, &measurement.cuts, answered))
}

/// Assembles the input of the metrics from each query's pool and decisions.
pub(crate) fn assembled(
    name: String,
    model: Option<String>,
    cuts: &[NamedCut],
    answered: Vec<(QueryPool, Vec<Decision>)>,
) -> Collection {
    let mut methods: Vec<Method> = cuts
        .iter()
        .map(|cut| Method { name: cut.name.clone(), decisions: Vec::with_capacity(answered.len()) })
        .collect();
    let mut queries = Vec::with_capacity(answered.len());
    for (pool, decisions) in answered {
        queries.push(pool);
        for (method, decision) in methods.iter_mut().zip(decisions) {
            method.decisions.push(decision);
        }
    }
    Collection { name, model, queries, methods }
}

/// The depth in documents of the ranking's figures, such as recall@100.
const RANKED: usize = 100;

/// The candidates of a query.
struct Found<'a> {
    candidates: Candidates<'a>,
    shallower: Vec<(usize, Candidates<'a>)>,
    documents: Vec<PooledDocument>,
    beyond: Vec<String>,
}

impl<'a> Found<'a> {
    fn new(
        index: &'a Index,
        query: &TestQuery,
        measurement: &Measurement,
        own: &OwnDocuments,
    ) -> Result<Self, EvaluationError> {
        let depth = index.config().search.pool;
        let deepest = measurement.depths.iter().copied().fold(depth, usize::max);
        let without = own.document_of(query);
        let all = candidates(&Context::unobserved(index), &query.text, deepest, without)?;
        let shallower = measurement.depths.iter().map(|&depth| (depth, all.at_depth(depth))).collect();
        let candidates = if deepest > depth { all.at_depth(depth) } else { all };
        // The order of the search's own fusion, shared by every rule on the fused score, or of the reranker that reads under `auto`.
        let order: &dyn Rule = if index.reranker.is_some() { &Auto::default() } else { &Fixed::default() };
        let ordered = candidates.decide(order)?;
        let documents = documents(&ordered);
        let beyond = match query.kind {
            QueryKind::Judged => beyond(index, query, without, deepest, &documents)?,
            _ => Vec::new(),
        };
        Ok(Found { candidates, shallower, documents, beyond })
    }

    fn decide(
        self,
        query: &TestQuery,
        measurement: &Measurement,
    ) -> Result<(QueryPool, Vec<Decision>), EvaluationError> {
        let positions: HashMap<String, usize> =
            self.documents.iter().enumerate().map(|(position, document)| (document.id.clone(), position)).collect();
        let mut decisions = Vec::with_capacity(measurement.cuts.len());
        for cut in &measurement.cuts {
            let ordered = self.candidates.decide(&*cut.rule)?;
            let mut decision = decision(&ordered, &positions);
            decision.microseconds = measurement.timings.then_some(ordered.microseconds);
            for (depth, candidates) in &self.shallower {
                decision.keep_at_depth.push((*depth, kept_count(&candidates.decide(&*cut.rule)?)));
            }
            decisions.push(decision);
        }
        let pool = QueryPool {
            id: query.id.clone(),
            kind: query.kind,
            documents: self.documents,
            judged: query.judged.clone(),
            beyond: self.beyond,
        };
        Ok((pool, decisions))
    }
}

/// Adds documents from deeper retrieval after those of the pool, up to [`RANKED`]. A pool holds passages, which belong
/// to fewer documents.
fn beyond(
    index: &Index,
    query: &TestQuery,
    without: Option<&str>,
    depth: usize,
    pooled: &[PooledDocument],
) -> Result<Vec<String>, EvaluationError> {
    let known: HashSet<&str> = pooled.iter().map(|document| document.id.as_str()).collect();
    let mut found: Vec<String> = Vec::new();
    let mut passages = 0;
    for deeper in [2, 4, 8, 16, 32].map(|times| depth.saturating_mul(times)) {
        if known.len() + found.len() >= RANKED {
            break;
        }
        let ordered =
            candidates(&Context::unobserved(index), &query.text, deeper, without)?.decide(&Fixed::default())?;
        // The first retrieval already found the whole collection.
        let pooled = ordered.passages.len() + ordered.others.len();
        if pooled == passages {
            break;
        }
        passages = pooled;
        let documents = documents(&ordered).into_iter().map(|document| document.id);
        found = documents.filter(|document| !known.contains(document.as_str())).collect();
    }
    found.truncate(RANKED.saturating_sub(known.len()));
    Ok(found)
}

/// Returns the documents that come with each candidate, in order: its own, then those with a near-copy.
fn given<'o>(passages: &'o [OrderedPassage]) -> impl Iterator<Item = (usize, &'o OrderedPassage, &'o str)> {
    let of = |(rank, passage): (usize, &'o OrderedPassage)| {
        let copies = passage.copies.iter().map(String::as_str);
        std::iter::once(passage.document.as_str()).chain(copies).map(move |document| (rank, passage, document))
    };
    passages.iter().enumerate().flat_map(of)
}

/// Each document once, at the position where it comes first. Documents with nothing but near-copies come last.
fn documents(ordered: &Ordered) -> Vec<PooledDocument> {
    let mut seen = HashSet::new();
    given(&ordered.passages)
        .chain(given(&ordered.others))
        .filter(|(_, passage, document)| passage.score.is_finite() && seen.insert(*document))
        .map(|(_, passage, document)| PooledDocument {
            id: document.to_owned(),
            score: passage.score,
            characters: passage.characters,
        })
        .collect()
}

/// Returns the number of documents that come with the kept candidates.
fn kept_count(ordered: &Ordered) -> usize {
    let kept = &ordered.passages[..ordered.cut.keep.min(ordered.passages.len())];
    given(kept).map(|(_, _, document)| document).collect::<HashSet<_>>().len()
}

/// Turns a decision on passages into one on documents; `positions` holds each document's position in the pool.
fn decision(ordered: &Ordered, positions: &HashMap<String, usize>) -> Decision {
    let mut ranking = Vec::with_capacity(positions.len());
    // A document is as likely to be relevant as its best passage.
    let mut probabilities = vec![0.0_f64; positions.len()];
    let mut seen = vec![false; positions.len()];
    let mut keep = 0;
    let others = given(&ordered.others).map(|(_, passage, document)| (usize::MAX, passage, document));
    for (rank, _, document) in given(&ordered.passages).chain(others) {
        let Some(&position) = positions.get(document) else { continue };
        let probability = ordered.probabilities.as_ref().and_then(|values| values.get(rank).copied());
        probabilities[position] = probabilities[position].max(probability.unwrap_or(0.0));
        if !std::mem::replace(&mut seen[position], true) {
            ranking.push(position);
            keep += usize::from(rank < ordered.cut.keep);
        }
    }
    let own_order = ranking.iter().enumerate().any(|(rank, &position)| rank != position);
    let ranking = own_order.then_some(ranking);
    let probabilities = ordered.probabilities.as_ref().map(|_| probabilities);
    Decision { keep, ranking, probabilities, evidence: evidence(&ordered.cut), ..Decision::default() }
}

/// The gate's evidence as a multiple of what it needs, so that it opens at 1 whichever retrievers took part. Its figures have
/// a prefix if a rule decided after it; no rule's figures have these names.
fn evidence(cut: &CutReport) -> Option<f64> {
    let figure = |name: &str| {
        let value = cut.diagnostics.get(&format!("gate_{name}"));
        value.or_else(|| cut.diagnostics.get(name))?.as_f64()
    };
    let (found, needed) = (figure("evidence").or(figure("probability"))?, figure("needed")?);
    Some(found / needed).filter(|ratio| ratio.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Origins;
    use std::fs;

    const TEXTS: [(&str, &str); 8] = [
        ("tide", "The moon raises two tides a day, highest at new and full moon."),
        ("oven", "Heat the oven to 240 degrees and bake the bread for forty minutes."),
        ("violin", "A violin is tuned in fifths and its bow is rubbed with rosin."),
        ("hive", "The beekeeper opens the hive in spring to look for the queen."),
        ("ledger", "Every entry in a ledger has a debit and a credit."),
        ("glass", "Molten glass is gathered on a pipe, blown, and cooled slowly."),
        ("chain", "A bicycle chain lasts longer when it is cleaned and oiled."),
        ("pruning", "Apple trees are pruned in late winter before the buds open."),
    ];

    struct Place {
        directory: tempfile::TempDir,
        test: TestCollection,
        config: Config,
    }

    /// A collection in which one document is long enough for several passages.
    fn place() -> Place {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let root = directory.path().join("notes");
        let mut corpus: String =
            TEXTS.iter().map(|(id, text)| format!("{{\"_id\":\"{id}\",\"text\":\"{text}\"}}\n")).collect();
        let long = TEXTS.map(|(_, text)| [text; 12].join(" ")).join("\\n\\n");
        corpus.push_str(&format!("{{\"_id\":\"almanac\",\"title\":\"Almanac\",\"text\":\"{long}\"}}\n"));
        fs::create_dir_all(root.join("qrels")).expect("made");
        fs::write(root.join("corpus.jsonl"), corpus).expect("written");
        let queries = "{\"_id\":\"tide\",\"text\":\"tides and the moon\"}\n{\"_id\":\"q2\",\"text\":\"how hot is the oven for the queen of the trees in winter\"}\n";
        fs::write(root.join("queries.jsonl"), queries).expect("written");
        fs::write(root.join("qrels/test.tsv"), "tide\ttide\t1\ntide\talmanac\t1\nq2\toven\t1\n").expect("written");
        let test = TestCollection::from_directory(&root, "test").expect("read");
        let flags = ["index.models", "search.model"].map(|key| (key.into(), "static".into(), "test".into())).to_vec();
        let config = Config::load(&Origins { flags, ..Origins::default() }, None).expect("valid");
        Place { directory, test, config }
    }

    fn measured(place: &Place, measurement: &Measurement) -> Collection {
        let cache = place.directory.path().join("cache");
        let (id, text) = ("other/1".into(), "capital gains tax of a limited partnership".into());
        let foreign = TestQuery { id, text, kind: QueryKind::Foreign, judged: Default::default() };
        let collection = measure(&place.test, &[foreign], &place.config, &cache, measurement, &()).expect("measured");
        collection.check().expect("it fits together");
        collection
    }

    fn named(place: &Place, names: &[&str]) -> Vec<NamedCut> {
        cuts(&place.config, &names.iter().map(ToString::to_string).collect::<Vec<_>>()).expect("cuts")
    }

    fn ids(pool: &QueryPool) -> Vec<&str> {
        pool.documents.iter().map(|document| document.id.as_str()).collect()
    }

    #[test]
    fn passages_become_documents_each_once_and_rules_have_their_own_order() {
        let place = place();
        let cuts = named(&place, &["fixed:k=3", "max_gap", "background"]);
        let collection = measured(&place, &Measurement { cuts, ..Measurement::default() });
        assert_eq!((collection.name.as_str(), collection.model.as_deref()), ("notes", Some("static")));
        let pool = &collection.queries[0];
        assert_eq!(pool.documents.len(), TEXTS.len() + 1, "every document once: {:?}", ids(pool));
        assert!(ids(pool)[..2].contains(&"tide") && ids(pool)[..2].contains(&"almanac"), "{:?}", ids(pool));
        assert!(pool.documents.iter().all(|document| document.characters > 0));
        let fixed = &collection.methods[0].decisions[0];
        assert!(fixed.keep >= 2 && fixed.keep <= 3 && fixed.ranking.is_none(), "{fixed:?}");
        let own = |decision: &Decision| decision.ranking.is_some();
        assert!(collection.methods[1].decisions.iter().any(own), "similarity orders otherwise than the fused score");
        assert!(fixed.evidence.is_some_and(|evidence| evidence > 1.0), "the gate opened: {fixed:?}");
        let foreign = &collection.methods[2].decisions[2];
        assert_eq!(foreign.keep, 0, "nothing here answers it");
        assert!(foreign.evidence.is_some_and(|evidence| evidence < 1.0), "{foreign:?}");
    }

    #[test]
    fn words_alone_are_measured_without_embedding() {
        let mut place = place();
        place.config.search.mode = crate::config::Mode::Lexical;
        let collection = measured(&place, &Measurement { cuts: named(&place, &["otsu"]), ..Measurement::default() });
        assert!(collection.queries[0].documents.iter().any(|document| document.id == "tide"));
        let cache = place.directory.path().join("cache");
        let index = beir::index(&place.test, &place.config, &cache, &()).expect("cached");
        assert!(index.store.models().expect("read").is_empty(), "no vector was made");
    }

    #[test]
    fn decisions_depths_and_limits_are_those_of_the_search() {
        let place = place();
        let cuts = named(&place, &["auto", "background", "top_score"]);
        let measurement = Measurement { cuts, ..Measurement::default() };
        let collection = measured(&place, &measurement);
        let index = beir::index(&place.test, &place.config, &place.directory.path().join("cache"), &()).expect("made");
        for (at, query) in place.test.queries.iter().enumerate() {
            for (cut, method) in measurement.cuts.iter().zip(&collection.methods) {
                let request = SearchRequest::new(query.text.as_str()).cut(&cut.rule).limit(1000);
                let answer = index.search(&request).expect("searched");
                let mut found: Vec<&str> = Vec::new();
                for hit in &answer.results {
                    if !found.contains(&hit.path.as_str()) {
                        found.push(&hit.path);
                    }
                }
                let decision = &method.decisions[at];
                let order =
                    decision.ranking.clone().unwrap_or_else(|| (0..collection.queries[at].documents.len()).collect());
                let kept: Vec<&str> =
                    order[..decision.keep].iter().map(|&rank| ids(&collection.queries[at])[rank]).collect();
                assert_eq!(kept, found, "{} on {}", cut.name, query.id);
            }
        }

        let (cuts, own_id) = (named(&place, &["fixed:k=9"]), Some(OwnId::default()));
        let measurement = Measurement { cuts, own_id, depths: vec![1, 4], limit: Some(1), timings: true };
        let collection = measured(&place, &measurement);
        assert_eq!(collection.queries.len(), 2, "one of its own, one foreign");
        assert!(!ids(&collection.queries[0]).contains(&"tide"));
        let decision = &collection.methods[0].decisions[0];
        let [(1, shallow), (4, deep)] = decision.keep_at_depth[..] else { panic!("{:?}", decision.keep_at_depth) };
        assert!((1..=2).contains(&shallow) && shallow < deep && deep <= 8, "{:?}", decision.keep_at_depth);
        assert!(decision.microseconds.is_some_and(|time| time > 0.0));
    }

    #[test]
    fn a_stopped_evaluation_goes_on() {
        struct Stop;
        impl Observer for Stop {
            fn cancelled(&self) -> bool {
                true
            }
        }
        let place = place();
        let cache = place.directory.path().join("cache");
        let measurement = Measurement { cuts: named(&place, &["fixed"]), ..Measurement::default() };
        let stopped = measure(&place.test, &[], &place.config, &cache, &measurement, &Stop);
        assert!(matches!(stopped, Err(EvaluationError::Interrupted)), "{stopped:?}");
        assert_eq!(measured(&place, &measurement).queries.len(), 3);
    }

    #[test]
    fn a_cut_is_named_once_and_without_names_all_are_measured() {
        let config = Config::built_in();
        let twice = cuts(&config, &["otsu".to_owned(), "otsu".to_owned()]).expect_err("refused").to_string();
        assert!(twice.contains("given twice"), "{twice}");
        assert_eq!(cuts(&config, &[]).expect("all").len(), METHODS.len());
    }
}
