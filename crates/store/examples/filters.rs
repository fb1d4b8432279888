//! Measures the cost of filters by attribute, author and date, beside one of the same documents by path.
//!
//! ```text
//! cargo run --release -p tamis-store --example filters -- [DOCUMENTS] [PASSAGES A DOCUMENT]
//! ```
//!
//! Documents are made up: four of five are issues with states, labels, authors and dates of their own, the others
//! files. The second number of a filter is its cost when repeated, from memory.

use std::error::Error;
use std::time::Instant;

use tamis_store::prelude::*;
use tamis_store::{
    Access, Attribute, AttributeCondition, Change, EmbeddedStore, Filter, NewDocument, NewPassage, TextForm,
};

const BATCH: usize = 2_000;
const DAY: i64 = 86_400_000_000_000;
const DAYS: u64 = 1_500;
const TRIALS: usize = 9;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let documents: usize = arguments.next().map_or(Ok(50_000), |count| count.parse())?;
    let passages: usize = arguments.next().map_or(Ok(4), |count| count.parse())?;
    let directory = tempfile::tempdir()?;
    let store = EmbeddedStore::open(directory.path(), Access::ReadWrite)?;
    let mut seed = 1;
    for first in (0..documents).step_by(BATCH) {
        let batch =
            (first..documents.min(first + BATCH)).map(|number| Change::Put(document(number, passages, &mut seed)));
        store.apply(&batch.collect::<Vec<_>>())?;
    }

    let having = |conditions: &[(&str, &[&str])]| Filter {
        attributes: conditions
            .iter()
            .map(|(name, any_of)| AttributeCondition::new(*name, any_of.iter().copied()))
            .collect(),
        ..Filter::default()
    };
    let since = |day: u64| Filter { since_ns: Some(day as i64 * DAY), ..Filter::default() };
    let by = |author: &str| Filter { authors: vec![author.into()], ..Filter::default() };
    let filters = [
        ("path issue:1*", Filter { path_globs: vec!["issue:1*".into()], ..Filter::default() }),
        ("state closed", having(&[("state", &["closed"])])),
        ("label rare", having(&[("label", &["label-3"])])),
        ("state resolved, label rare", having(&[("state", &["resolved"]), ("label", &["label-3"])])),
        ("author", by("USER-7")),
        ("state closed, author", Filter { authors: vec!["user-7".into()], ..having(&[("state", &["closed"])]) }),
        ("since last week", since(DAYS - 7)),
        ("since half of the time", since(DAYS / 2)),
        ("since the beginning", since(1)),
        ("label rare, half of the time", Filter { since_ns: Some(750 * DAY), ..having(&[("label", &["label-3"])]) }),
    ];
    println!("{:<30} {:>9} {:>9} {:>9}", "filter", "passages", "first ms", "again ms");
    for (name, filter) in &filters {
        let mut first = f64::INFINITY;
        for trial in 0..TRIALS {
            // A change, so that nothing is cached.
            store.apply(&[Change::Put(document(documents, 1, &mut (trial as u64 + 1)))])?;
            let time = Instant::now();
            store.unembedded("none", filter, 0)?;
            first = first.min(milliseconds(time));
        }
        let time = Instant::now();
        store.unembedded("none", filter, 0)?;
        let again = milliseconds(time);
        let passing = store.coverage("none", filter)?.passages;
        println!("{name:<30} {passing:>9} {first:>9.2} {again:>9.3}");
    }
    Ok(())
}

fn document(number: usize, passages: usize, seed: &mut u64) -> NewDocument {
    let issue = !number.is_multiple_of(5);
    let created = (random(seed) % DAYS) as i64 * DAY;
    let passages = (0..passages).map(|place| {
        let text = format!("passage {place} of {number}");
        NewPassage {
            author: issue.then(|| format!("user-{}", random(seed) % 3_000)),
            dated_ns: issue.then(|| created + place as i64 * DAY),
            part: issue.then_some(place as u32),
            ..NewPassage::new("comment", 1..=1, text, TextForm::Prose)
        }
    });
    let passages = passages.collect();
    let path = if issue { format!("issue:{number}") } else { format!("src/{number}.rs") };
    let states = match random(seed) % 3 {
        0 => &["open"][..],
        1 => &["closed", "resolved"],
        _ => &["closed", "unmerged"],
    };
    let mut known: Vec<(&str, String)> = states.iter().map(|&state| ("state", state.to_owned())).collect();
    known.extend((0..2).map(|_| ("label", format!("label-{}", random(seed) % 60))));
    known.push(("type", "issue".to_owned()));
    let known = known.into_iter().map(|(name, value)| Attribute { name: name.into(), value });
    NewDocument {
        dated_ns: Some(created),
        modified_ns: if issue { 0 } else { created },
        attributes: if issue { known.collect() } else { Vec::new() },
        record: issue.then(|| "a record as long as such are ".repeat(100)),
        passages,
        ..NewDocument::new("here", if issue { "issues" } else { "code" }, path)
    }
}

/// Marsaglia's xorshift.
fn random(seed: &mut u64) -> u64 {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    *seed
}

fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1000.0
}
