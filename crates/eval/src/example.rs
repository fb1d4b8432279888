//! A small made-up evaluation for tests: two collections, two methods, every kind of query.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::data::{Collection, Decision, Method, PooledDocument, QueryKind, QueryPool};
use crate::metrics::Metric;
use crate::output::html::STYLE;
use crate::{Options, evaluate, plot};

/// A query whose pool has scores falling from 1, with the documents numbered `relevant` relevant and `missing`
/// more that were not found.
fn query(id: String, kind: QueryKind, length: usize, relevant: &[usize], missing: usize) -> QueryPool {
    let document = |at: usize| PooledDocument {
        id: format!("{id}-{at}"),
        score: 1.0 / (1.0 + 0.2 * at as f64 + if relevant.contains(&at) { 0.0 } else { 0.3 }),
        characters: 200 + 37 * (at % 5),
    };
    let mut documents: Vec<PooledDocument> = (0..length).map(document).collect();
    documents.sort_by(|a, b| b.score.total_cmp(&a.score));
    let judged = relevant.iter().map(|&at| (format!("{id}-{at}"), 1 + (at % 2) as i32));
    let missing = (0..missing).map(|at| (format!("{id}-missing-{at}"), 1));
    let judged: BTreeMap<String, i32> = judged.chain(missing).collect();
    QueryPool { id, kind, documents, judged, beyond: Vec::new() }
}

/// The collections; a third of the queries of the first have no answer, and the second has foreign ones.
pub fn collections() -> Vec<Collection> {
    [("first", 24), ("second", 15)]
        .into_iter()
        .enumerate()
        .map(|(which, (name, count))| {
            let queries: Vec<QueryPool> = (0..count)
                .map(|at| {
                    let kind = match (which, at % 3) {
                        (0, 2) => QueryKind::Unanswerable,
                        (1, 2) => QueryKind::Foreign,
                        _ => QueryKind::Judged,
                    };
                    let relevant: Vec<usize> = (0..1 + (at * 7 + which) % 5).map(|step| step + step * at % 3).collect();
                    let relevant = if kind == QueryKind::Judged { relevant } else { Vec::new() };
                    query(format!("q{at}"), kind, 12 + at % 4, &relevant, at % 2)
                })
                .collect();
            let methods = vec![cautious(&queries), Method { name: "generous".into(), ..by(&queries, |at| 4 + at % 3) }];
            Collection { name: name.into(), model: (which == 0).then(|| "words".into()), queries, methods }
        })
        .collect()
}

fn by(queries: &[QueryPool], keep: impl Fn(usize) -> usize) -> Method {
    let decisions = (0..queries.len()).map(|at| Decision::keep(keep(at))).collect();
    Method { name: String::new(), decisions }
}

/// A method with probabilities, evidence and depths, which keeps nothing of most queries that have no answer.
fn cautious(queries: &[QueryPool]) -> Method {
    let decide = |(at, query): (usize, &QueryPool)| {
        let answerable = query.kind == QueryKind::Judged;
        let level = if answerable != (at % 8 == 5) { 0.9 } else { 0.35 };
        let probabilities: Vec<f64> =
            (0..query.documents.len()).map(|rank| level / (1.0 + 0.4 * rank as f64)).collect();
        let keep = probabilities.iter().filter(|&&probability| probability > 0.4).count();
        Decision {
            keep_at_depth: vec![(30, keep.saturating_sub(at % 5 / 4)), (100, keep)],
            probabilities: Some(probabilities),
            ..Decision::keep(keep)
        }
    };
    Method { name: "cautious".into(), decisions: queries.iter().enumerate().map(decide).collect() }
}

// The gallery in docs/plots.md: each kind of plot as a file of its own, made from the evaluation that the tests use.

/// Units of the drawing in a pixel of the gallery.
const FINER: f64 = 2.5;

/// The plot as a file: with the colours and the font that the page of a report has.
fn file(svg: &str) -> String {
    let colours = STYLE.split("\nbody ").next().expect("the colours come first").replace(":root", "svg");
    let style =
        format!("<style>{colours}\nsvg {{ background: var(--page); font-family: system-ui, sans-serif; }}</style>");
    let end = svg.find('>').expect("an element");
    let view = svg[..end].split('"').find(|part| part.starts_with("0 0 ")).expect("a view box");
    let [width, height] =
        [2, 3].map(|at| view.split(' ').nth(at).and_then(|size| size.parse::<f64>().ok()).expect("a size"));
    let size = format!(" width=\"{}\" height=\"{}\"", width / FINER, height / FINER);
    format!("{}{size}>\n{style}{}", &svg[..end], &svg[end + 1..])
}

#[test]
fn the_gallery_has_every_plot_as_it_is_drawn_now() {
    let report = evaluate(&collections(), &Options::default()).expect("an evaluation");
    let collection = &report.collections[0];
    let method = &collection.methods[0];
    let plots = [
        ("differences", plot::differences(&report, Metric::RelativeF1).expect("two methods")),
        ("budget", plot::budget(collection, Metric::Recall, false)),
        ("curves", plot::curves(collection, &collection.samples[0])),
        ("kept", plot::kept_share(collection, method)),
        ("reliability", plot::reliability(method)),
        ("roc", plot::roc(method)),
    ];
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let page = fs::read_to_string(docs.join("plots.md")).expect("docs/plots.md");
    for (name, svg) in &plots {
        let path = docs.join(format!("images/plots/{name}.svg"));
        let made = file(svg);
        if std::env::var_os("TAMIS_PAGES_WRITE").is_some() {
            fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            fs::write(&path, &made).expect("written");
        }
        let same = fs::read_to_string(&path).is_ok_and(|committed| committed == made);
        assert!(same, "docs/images/plots/{name}.svg is out of date; write it: cargo xtask site --write");
        assert!(page.contains(&format!("](images/plots/{name}.svg)")), "docs/plots.md lacks {name}");
    }
    assert_eq!(page.matches("](images/plots/").count(), plots.len());
}
