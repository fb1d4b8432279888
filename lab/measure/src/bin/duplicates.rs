//! Measures the detection of duplicates on reports with known duplicates.
//!
//! ```text
//! cargo xtask lab duplicates DIRECTORY INDEX [without=N] [KEY=VALUE…]
//! ```
//!
//! `DIRECTORY` is a test collection in BEIR's layout whose queries are documents of its corpus; `INDEX` keeps the
//! index, so that the reports are embedded once. Each document becomes an issue (`metadata.Created` is its date, if
//! given); each judged query is asked by its number, and so are 300 reports that no judgement names, drawn by a hash of
//! their identifiers (`without=N`: so many). `KEY=VALUE` sets a key of the configuration. Prints the ranking, the curve
//! of the floor, and the effect of the current settings.

use rayon::prelude::*;
use std::collections::{HashMap, HashSet};
use std::error::Error;
use std::path::{Path, PathBuf};
use tamis::config::{Config, Origins};
use tamis::duplicates::{Duplicates, DuplicatesRequest};
use tamis::evaluate::TestCollection;
use tamis::import::IssueImport;
use tamis::{Index, Location, RunOptions};
use tamis_text::{Issue, IssueState};

/// The number of reports without a duplicate to ask about.
const WITHOUT: usize = 300;

/// The seed prefix of the draw.
const SEED: &str = "tamis duplicates";

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(directory), Some(place)) = (arguments.next(), arguments.next()) else {
        return Err("usage: duplicates DIRECTORY INDEX [without=N] [KEY=VALUE…]".into());
    };
    let test = TestCollection::from_directory(&PathBuf::from(&directory), "test")?;
    let dates = dates(&directory)?;
    let numbers: HashMap<&str, u64> = test.documents.iter().map(|d| d.id.as_str()).zip(1..).collect();
    let issues = test.documents.iter().zip(1..).map(|(document, number)| Issue {
        body: document.text.clone(),
        state: IssueState::Closed,
        created_at: dates.get(&document.id).copied(),
        updated_at: dates.get(&document.id).copied(),
        ..Issue::new(number, document.title.clone().unwrap_or_default())
    });

    let set = |(key, value): (String, String)| (key, value, "argument".to_owned());
    let pairs = arguments.filter_map(|argument| argument.split_once('=').map(|(k, v)| (k.to_owned(), v.to_owned())));
    let (counts, given): (Vec<_>, Vec<_>) = pairs.partition(|(key, _)| key == "without");
    let count = counts.first().map_or(Ok(WITHOUT), |(_, value)| value.parse())?;
    let defaults = [("index.models", "minilm"), ("telemetry.record", "off")];
    let flags = defaults.into_iter().map(|(key, value)| (key.to_owned(), value.to_owned())).chain(given).map(set);
    let config = Config::load(&Origins { flags: flags.collect(), ..Origins::default() }, None)?;
    let floor = config.triage.duplicates.min_likeness;
    std::fs::create_dir_all(&place)?;
    let index = Index::at(Location::at(Path::new(&place), None), config)?;
    let import = IssueImport { origin: directory.clone(), issues: issues.collect(), ..IssueImport::default() };
    eprintln!("{:?}", index.imports().issues(&import, &())?);
    index.complete(RunOptions::WHOLE, &())?;

    let mut named: HashSet<u64> = HashSet::new();
    let mut with: Vec<(u64, HashSet<u64>)> = Vec::new();
    for query in &test.queries {
        let relevant = query.judged.iter().filter(|(_, grade)| **grade > 0);
        let relevant: HashSet<u64> = relevant.filter_map(|(id, _)| numbers.get(id.as_str()).copied()).collect();
        if let Some(&number) = numbers.get(query.id.as_str()) {
            named.insert(number);
            named.extend(&relevant);
            with.push((number, relevant));
        }
    }
    let mut without: Vec<(&str, u64)> =
        numbers.iter().map(|(id, number)| (*id, *number)).filter(|(_, number)| !named.contains(number)).collect();
    without.sort_by_cached_key(|(id, _)| *blake3::hash(format!("{SEED} {id}").as_bytes()).as_bytes());
    without.truncate(count);

    let ask = |number: u64| index.duplicates().find(&DuplicatesRequest::issue(number), &());
    let positive: Vec<Duplicates> = with.par_iter().map(|(number, _)| ask(*number)).collect::<Result<_, _>>()?;
    let negative: Vec<Duplicates> = without.par_iter().map(|(_, number)| ask(*number)).collect::<Result<_, _>>()?;

    let place_of = |found: &Duplicates, relevant: &HashSet<u64>| {
        found.considered.iter().position(|one| relevant.contains(&one.number))
    };
    let places: Vec<Option<usize>> = positive.iter().zip(&with).map(|(found, (_, r))| place_of(found, r)).collect();
    let share = |count: usize, of: usize| count as f64 / of.max(1) as f64;
    let within = |k: usize| share(places.iter().filter(|place| place.is_some_and(|at| at < k)).count(), places.len());
    let reciprocal: f64 = places.iter().flatten().map(|&at| 1.0 / (at + 1) as f64).sum();
    println!("{} reports, {} with a known duplicate, {} without", test.documents.len(), with.len(), without.len());
    println!(
        "first {:.3}, in the first three {:.3}, in the first ten {:.3}, mean reciprocal rank {:.3}",
        within(1),
        within(3),
        within(10),
        reciprocal / places.len() as f64
    );

    let best = |found: &Duplicates| found.considered.iter().map(|one| one.likeness).fold(0.0, f64::max);
    let mut answered: Vec<f64> = positive.iter().map(best).collect();
    let silent: Vec<f64> = negative.iter().map(best).collect();
    let above = silent
        .iter()
        .map(|n| answered.iter().map(|p| if p > n { 1.0 } else { f64::from(u8::from(p == n)) / 2.0 }).sum::<f64>());
    println!("area under the curve {:.3}", above.sum::<f64>() / (answered.len() * silent.len()) as f64);
    println!("\n| answered with a duplicate | empty without | floor |\n| --- | --- | --- |");
    answered.sort_by(f64::total_cmp);
    for recall in [1.0, 0.95, 0.9, 0.85, 0.8, 0.7, 0.6, 0.5] {
        let lost = ((1.0 - recall) * answered.len() as f64).floor() as usize;
        let Some(&floor) = answered.get(lost) else { continue };
        let empty = share(silent.iter().filter(|best| **best < floor).count(), silent.len());
        println!("| {:.3} | {empty:.3} | {floor:.3} |", share(answered.len() - lost, answered.len()));
    }

    let kept = |found: &Duplicates, k: usize, relevant: &HashSet<u64>| {
        found.duplicates.iter().take(k).any(|one| relevant.contains(&one.number))
    };
    let count = |k: usize| positive.iter().zip(&with).filter(|(found, (_, r))| kept(found, k, r)).count();
    let mean =
        |all: &[Duplicates]| all.iter().map(|found| found.duplicates.len()).sum::<usize>() as f64 / all.len() as f64;
    println!("\nWith the floor at {floor}:");
    println!(
        "- the duplicate is given for {:.3}, in the first three for {:.3}",
        share(count(100), with.len()),
        share(count(3), with.len())
    );
    println!(
        "- not empty for {:.3} of those with a duplicate, empty for {:.3} of those without",
        share(positive.iter().filter(|found| !found.duplicates.is_empty()).count(), with.len()),
        share(negative.iter().filter(|found| found.duplicates.is_empty()).count(), without.len())
    );
    println!("- {:.1} and {:.1} issues given", mean(&positive), mean(&negative));
    Ok(())
}

/// The creation time of each report, in the form of Apache's trackers: `30/Sep/21 17:20`.
fn dates(directory: &str) -> Result<HashMap<String, jiff::Timestamp>, Box<dyn Error>> {
    let mut dates = HashMap::new();
    for line in std::fs::read_to_string(PathBuf::from(directory).join("corpus.jsonl"))?.lines() {
        let record: serde_json::Value = serde_json::from_str(line)?;
        let created = record["metadata"]["Created"].as_str();
        let date = created.and_then(|text| jiff::civil::DateTime::strptime("%d/%b/%y %H:%M", text).ok());
        let date = date.and_then(|date| date.to_zoned(jiff::tz::TimeZone::UTC).ok());
        if let (Some(id), Some(date)) = (record["_id"].as_str(), date) {
            dates.insert(id.to_owned(), date.timestamp());
        }
    }
    Ok(dates)
}
