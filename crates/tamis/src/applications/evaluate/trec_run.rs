//! Evaluates the cuts on any engine's ranked results, from TREC's formats.

use std::path::Path;
use std::time::Instant;

use rayon::prelude::*;
use tamis_cut::{Cut, Pool, Rule};
use tamis_eval::{Collection, Decision, PooledDocument, Qrels, QueryKind, QueryPool, Run, Scored};

use super::measure::{Measurement, assembled};
use super::{EvaluationError, text};
use crate::progress::{Observer, Stage};

/// A run, ready for evaluation.
#[derive(Clone, Debug)]
pub struct RunCollection {
    /// The data of the evaluation.
    pub collection: Collection,
    /// Notes for people: queries that are in only one of the two files.
    pub notes: Vec<String>,
}

/// Reads a run (query, `Q0`, document, rank, score, tag) and its judgements, and lets every cut decide on each query's
/// scores as they stand. The gate takes no part, since it needs both retrievers' evidence, and a rule that asks for the
/// background estimates it from the list. Order and ties are those of trec_eval. A judged query missing from the run
/// has an empty pool; one whose judgements are all 0 or less is unanswerable; a query without judgements is left out.
///
/// # Errors
/// An unreadable file, a malformed line, or judgements that name no query of the run.
pub fn from_run(
    run: &Path,
    qrels: &Path,
    measurement: &Measurement,
    observer: &dyn Observer,
) -> Result<RunCollection, EvaluationError> {
    let results = Run::parse(&run.to_string_lossy(), &text(run)?)?;
    let judgements = Qrels::parse(&qrels.to_string_lossy(), &text(qrels)?)?;
    let name = run.file_stem().map_or_else(|| "run".into(), |name| name.to_string_lossy().into_owned());
    let known = judgements.iter().any(|(id, _)| results.query(id).is_some());
    if !known {
        let reason = format!("none of the {} judged queries is in {}", judgements.len(), run.display());
        return Err(EvaluationError::path(qrels, reason));
    }
    from_results(name, &results, &judgements, measurement, observer)
}

/// [`from_run`] for a run and judgements that are read already.
///
/// # Errors
/// A score that no cut can read, or an observer that stops it.
pub fn from_results(
    name: String,
    results: &Run,
    judgements: &Qrels,
    measurement: &Measurement,
    observer: &dyn Observer,
) -> Result<RunCollection, EvaluationError> {
    let unanswered = judgements.iter().filter(|(id, _)| results.query(id).is_none()).count();
    let unjudged = results.iter().filter(|(id, _)| judgements.query(id).is_none()).count();
    let notes = [
        (unanswered, "judged queries that the run does not answer, for which nothing is found"),
        (unjudged, "queries of the run that are not judged and left out"),
    ];
    let notes = notes.into_iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{what}: {count}"));

    let queries: Vec<_> = judgements.iter().take(measurement.limit.unwrap_or(usize::MAX)).collect();
    observer.stage(Stage::Answer, queries.len() as u64);
    let answered = queries.par_iter().map(|&(id, judged)| {
        if observer.cancelled() {
            return Err(EvaluationError::Interrupted);
        }
        let scored = results.query(id).unwrap_or_default();
        let pooled =
            |scored: &Scored| PooledDocument { id: scored.document.clone(), score: scored.score, characters: 0 };
        let decisions = measurement.cuts.iter().map(|cut| decision(&*cut.rule, scored, measurement));
        let decisions = decisions.collect::<Result<Vec<Decision>, _>>()?;
        observer.advance(1);
        let documents = scored.iter().map(pooled).collect();
        let pool = QueryPool {
            id: id.to_owned(),
            kind: QueryKind::Judged,
            documents,
            judged: judged.clone(),
            beyond: Vec::new(),
        };
        Ok((pool, decisions))
    });
    let answered: Vec<(QueryPool, Vec<Decision>)> = answered.collect::<Result<_, EvaluationError>>()?;
    Ok(RunCollection { collection: assembled(name, None, &measurement.cuts, answered), notes: notes.collect() })
}

fn decision(rule: &dyn Rule, scored: &[Scored], measurement: &Measurement) -> Result<Decision, EvaluationError> {
    let started = Instant::now();
    let keep = cut(rule, scored)?.keep;
    let microseconds = measurement.timings.then(|| started.elapsed().as_secs_f64() * 1e6);
    let at_depth = |&depth: &usize| Ok((depth, cut(rule, &scored[..depth.min(scored.len())])?.keep));
    let keep_at_depth = measurement.depths.iter().map(at_depth).collect::<Result<_, EvaluationError>>()?;
    Ok(Decision { microseconds, keep_at_depth, ..Decision::keep(keep) })
}

fn cut(rule: &dyn Rule, scored: &[Scored]) -> Result<Cut, EvaluationError> {
    let pool = Pool::scores(scored.iter().map(|scored| scored.score));
    let pool = pool.map_err(|error| crate::Error::argument("run", error.to_string(), "sorted, best first"))?;
    Ok(rule.cut(&pool))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::applications::evaluate::cuts;
    use crate::config::Config;
    use std::fs;

    const RUN: &str =
        "q1 Q0 d1 1 9.0 x\nq1 Q0 d2 2 8.5 x\nq1 Q0 d4 3 1.0 x\nq1 Q0 d3 4 1.0 x\nq2 Q0 d9 1 0.5 x\nq3 Q0 d1 1 1 x\n";

    fn measured(run: &str, qrels: &str, depths: Vec<usize>) -> Result<RunCollection, EvaluationError> {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let paths = [("bm25.run", run), ("qrels.txt", qrels)].map(|(name, text)| {
            let path = directory.path().join(name);
            fs::write(&path, text).expect("written");
            path
        });
        let named = cuts(&Config::built_in(), &["autocut".into(), "fixed:k=3".into()])?;
        let measurement = Measurement { cuts: named, depths, ..Measurement::default() };
        from_run(&paths[0], &paths[1], &measurement, &())
    }

    #[test]
    fn a_runs_scores_are_cut_as_they_stand_and_files_that_do_not_belong_together_are_an_error() {
        let run = measured(RUN, "q1 0 d1 1\nq1 0 d2 1\nq2 0 d9 0\nq4 0 d1 1\n", vec![1, 2]).expect("measured");
        let collection = run.collection;
        assert_eq!(collection.name, "bm25");
        assert_eq!(collection.queries.iter().map(|query| query.id.as_str()).collect::<Vec<_>>(), ["q1", "q2", "q4"]);
        let order: Vec<&str> = collection.queries[0].documents.iter().map(|document| document.id.as_str()).collect();
        assert_eq!(order, ["d1", "d2", "d4", "d3"], "equal scores as trec_eval orders them");
        let keeps = |at: usize| collection.methods[at].decisions.iter().map(|one| one.keep).collect::<Vec<_>>();
        assert_eq!(keeps(0), [2, 1, 0], "autocut ends at the jump");
        assert_eq!(keeps(1), [3, 1, 0]);
        assert_eq!(collection.methods[1].decisions[0].keep_at_depth, [(1, 1), (2, 2)]);
        assert_eq!(collection.methods[1].decisions[0].microseconds, None, "times only where they are asked for");
        let unanswered = "judged queries that the run does not answer, for which nothing is found: 1";
        assert_eq!(run.notes, [unanswered, "queries of the run that are not judged and left out: 1"]);
        collection.check().expect("it fits together");
        let error = measured(RUN, "q8 0 d1 1\nq9 0 d1 1\n", vec![]).expect_err("none").to_string();
        assert!(error.contains("none of the 2 judged queries"), "{error}");
        let error = measured("q1 d1 2\n", "q1 0 d1 1\n", vec![]).expect_err("malformed").to_string();
        assert!(error.contains("bm25.run, line 1: 3 columns"), "{error}");
    }
}
