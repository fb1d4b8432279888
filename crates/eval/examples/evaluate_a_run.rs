//! Evaluates cuts of an engine's results against relevance judgements:
//!
//! ```text
//! cargo run -p tamis-eval --example evaluate_a_run -- bm25.run qrels.txt
//! ```
//!
//! The run is in TREC's format, the judgements in TREC's or BEIR's. Without arguments the program evaluates a small run of
//! its own. Replace `half_of_the_best` with the cut to measure.

use std::error::Error;
use std::fs;

use tamis_eval::{
    Collection, Decision, Method, Options, PooledDocument, Qrels, QueryKind, QueryPool, Run, Scored, evaluate,
};

const RUN: &str = "\
q1 Q0 oven.md 1 9.4 bm25
q1 Q0 bread.md 2 8.8 bm25
q1 Q0 violin.md 3 2.1 bm25
q2 Q0 violin.md 1 7.0 bm25
q2 Q0 oven.md 2 6.1 bm25
q3 Q0 bread.md 1 1.2 bm25
";
const QRELS: &str = "\
q1 0 oven.md 1
q1 0 bread.md 1
q2 0 violin.md 1
q3 0 bread.md 0
";

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (run, qrels) = match &arguments[..] {
        [] => (Run::parse("the built-in run", RUN)?, Qrels::parse("the built-in judgements", QRELS)?),
        [run, qrels] => {
            (Run::parse(run, &fs::read_to_string(run)?)?, Qrels::parse(qrels, &fs::read_to_string(qrels)?)?)
        }
        _ => return Err("give a run and judgements, or nothing".into()),
    };

    let pool = |(id, documents): (&str, &[Scored])| {
        let document =
            |found: &Scored| PooledDocument { id: found.document.clone(), score: found.score, characters: 0 };
        QueryPool {
            id: id.to_owned(),
            kind: QueryKind::Judged,
            documents: documents.iter().map(document).collect(),
            judged: qrels.query(id).cloned().unwrap_or_default(),
            beyond: Vec::new(),
        }
    };
    let queries: Vec<QueryPool> = run.iter().map(pool).collect();
    let decisions = queries.iter().map(|query| Decision::keep(half_of_the_best(query))).collect();
    let methods = vec![Method { name: "half of the best".into(), decisions }];
    let collection = Collection { name: "run".into(), model: None, queries, methods };
    println!("{}", evaluate(&[collection], &Options::default())?.markdown());
    Ok(())
}

/// The number of documents that score at least half as much as the best.
fn half_of_the_best(query: &QueryPool) -> usize {
    let best = query.documents.first().map_or(0.0, |document| document.score);
    query.documents.iter().take_while(|document| document.score >= best / 2.0).count()
}
