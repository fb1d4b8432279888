//! Whether an index in PostgreSQL answers as one in a directory: every test collection is indexed in both, asked the same questions,
//! and cut by the rule that searches use by default.
//!
//! The collections are those of the directory `data` in `TAMIS_TEST_DATA`, each in a namespace of its own in one database. At last come
//! all of them together among sources of crates, which are enough passages for the server's indexes of vectors and words. A collection
//! is also asked questions of the others, to which it has no answer.

use crate::BYTES_A_PASSAGE;
use crate::clients::Result;
use crate::database::Database;
use crate::postgres::collect;
use crate::tree::grow;
use std::collections::HashSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use tamis::config::{Config, Origins};
use tamis::evaluate::{Measurement, NamedCut, TestCollection, TestQuery, foreign_queries, measure};
use tamis_eval::{Collection, QueryKind, QueryPool, Ranking};
use tamis_store::prelude::*;
use tamis_store::{Filter, PostgresStore};

const USAGE: &str = "\
cargo xtask bench equality [--data DIRECTORY] [--collection NAME]… [--queries N] [--model NAME] [--differences] [--store URL]
  --data         the directory of the collections, in BEIR's layout; by default `data` in TAMIS_TEST_DATA
  --collection   only these; \"all\" is all of them together
  --queries      ask at most so many questions of each, evenly spread over its list
  --model        static by default; minilm takes an hour
  --differences  print each question that is answered differently
  --store        a database that is there, such as a sharded one, in place of a new one; the namespaces stay in it
";

/// What must hold of each collection.
const MOST_NDCG: f64 = 0.003;
const LEAST_KEPT: f64 = 0.97;
const LEAST_GATE: f64 = 0.99;

/// The questions of each other collection.
const FOREIGN: usize = 10;

/// The name of all collections together.
const ALL: &str = "all";

/// The questions of all collections together; they repeat those of each.
const ASKED_OF_ALL: usize = 1_000;

/// About the passages of sources that they are among. A namespace of more than 32,768 is searched by the server's indexes.
const SOURCES: u64 = 60_000;

struct Options {
    data: PathBuf,
    collections: Vec<String>,
    queries: usize,
    model: String,
    differences: bool,
    store: Option<String>,
}

impl Options {
    fn of(arguments: impl Iterator<Item = String>) -> Result<Options> {
        let mut options = Options {
            data: PathBuf::from(std::env::var_os("TAMIS_TEST_DATA").unwrap_or_default()).join("data"),
            collections: Vec::new(),
            queries: usize::MAX,
            model: "static".into(),
            differences: false,
            store: None,
        };
        let mut arguments = arguments;
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().ok_or_else(|| format!("{argument}: a value is missing\n\n{USAGE}"));
            match argument.as_str() {
                "--data" => options.data = value()?.into(),
                "--collection" => options.collections.push(value()?),
                "--queries" => {
                    let number = value()?;
                    let asked = number.parse().ok().filter(|&asked| asked > 0);
                    options.queries = asked.ok_or_else(|| format!("--queries {number}: must be 1 or more"))?;
                }
                "--model" => options.model = value()?,
                "--differences" => options.differences = true,
                "--store" => options.store = Some(value()?),
                other => return Err(format!("{other}: unknown argument\n\n{USAGE}").into()),
            }
        }
        Ok(options)
    }
}

/// Runs the comparison. Returns `false` if a collection is answered too differently.
pub fn run(arguments: impl Iterator<Item = String>) -> Result<bool> {
    let options = Options::of(arguments)?;
    if !options.data.is_dir() {
        println!("equality skipped: there are no test collections in {}", options.data.display());
        return Ok(true);
    }
    let home = tempfile::tempdir()?;
    let found = directories(&options.data)?;
    if let Some(unknown) =
        options.collections.iter().find(|name| *name != ALL && !found.iter().any(|d| d.ends_with(name)))
    {
        return Err(format!("--collection {unknown}: not in {}", options.data.display()).into());
    }
    let created = if options.store.is_none() { Some(Database::create("tamis_equality")?) } else { None };
    let url = options.store.as_deref().or(created.as_ref().map(Database::url)).ok_or("no database")?;
    println!("{HEADER}");
    let mut rows: Vec<Row> = Vec::new();
    for directory in &found {
        let test = TestCollection::from_directory(directory, "test")?;
        if options.wants(&test.name) {
            let mut foreign = Vec::new();
            for other in found.iter().filter(|other| *other != directory) {
                foreign.extend(foreign_queries(other, "test", FOREIGN)?);
            }
            foreign.retain(|query| test.queries.iter().all(|own| own.text != query.text));
            rows.push(compare(test, foreign, &options, url, home.path())?);
        }
    }
    if options.wants(ALL) {
        let sources = home.path().join("sources");
        grow(&sources, SOURCES * BYTES_A_PASSAGE)?;
        let mut test = together(&found, &sources, &home.path().join(ALL))?;
        spread(&mut test.queries, ASKED_OF_ALL);
        rows.push(compare(test, Vec::new(), &options, url, home.path())?);
    }
    println!("{}", total(&rows).line());
    let broken: Vec<&Row> = rows.iter().filter(|row| !row.holds()).collect();
    for row in &broken {
        println!("{}: answered too differently", row.name);
    }
    println!(
        "each must have nDCG@10 within {MOST_NDCG}, the same list for {:.0}% and the same gate for {:.0}% of its questions",
        LEAST_KEPT * 100.0,
        LEAST_GATE * 100.0
    );
    Ok(broken.is_empty())
}

impl Options {
    fn wants(&self, name: &str) -> bool {
        self.collections.is_empty() || self.collections.iter().any(|wanted| wanted == name)
    }

    fn config(&self, url: Option<&str>, namespace: &str) -> Result<Config> {
        let mut flags = vec![("index.models", self.model.as_str()), ("search.model", &self.model)];
        if let Some(url) = url {
            flags.extend([("store.url", url), ("store.namespace", namespace)]);
        }
        let flag = |(key, value): (&str, &str)| (key.to_owned(), value.to_owned(), "bench".to_owned());
        let origins = Origins { flags: flags.into_iter().map(flag).collect(), ..Origins::default() };
        Ok(Config::load(&origins, None)?)
    }
}

/// The directories with judgements, by name.
fn directories(data: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(data)? {
        let path = entry?.path();
        if path.join("corpus.jsonl").is_file() && path.join("qrels/test.tsv").is_file() {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// All collections as one, with their names before the identifiers, and the files of a directory.
fn together(directories: &[PathBuf], sources: &Path, place: &Path) -> Result<TestCollection> {
    let (mut corpus, mut asked, mut judgements) = (String::new(), String::new(), String::new());
    for directory in directories {
        let test = TestCollection::from_directory(directory, "test")?;
        let named = |id: &str| format!("{}/{id}", test.name);
        for document in &test.documents {
            let record =
                serde_json::json!({"_id": named(&document.id), "title": document.title, "text": document.text});
            writeln!(corpus, "{record}")?;
        }
        for query in &test.queries {
            let answerable = query.kind == QueryKind::Judged;
            let metadata = serde_json::json!({"answerable": answerable});
            let record = serde_json::json!({"_id": named(&query.id), "text": query.text, "metadata": metadata});
            writeln!(asked, "{record}")?;
            for (document, grade) in &query.judged {
                writeln!(judgements, "{}\t{}\t{grade}", named(&query.id), named(document))?;
            }
        }
    }
    let mut files = Vec::new();
    collect(sources, &mut files)?;
    for file in files {
        let text = String::from_utf8_lossy(&std::fs::read(&file)?).into_owned();
        if !text.trim().is_empty() {
            let id = format!("source/{}", file.strip_prefix(sources)?.display());
            writeln!(corpus, "{}", serde_json::json!({"_id": id, "title": "", "text": text}))?;
        }
    }
    std::fs::create_dir_all(place.join("qrels"))?;
    std::fs::write(place.join("corpus.jsonl"), corpus)?;
    std::fs::write(place.join("queries.jsonl"), asked)?;
    std::fs::write(place.join("qrels/test.tsv"), judgements)?;
    Ok(TestCollection::from_directory(place, "test")?)
}

/// Leaves at most `count` questions, evenly spread.
fn spread(queries: &mut Vec<TestQuery>, count: usize) {
    let all = queries.len();
    if all > count {
        *queries = (0..count).map(|at| queries[at * all / count].clone()).collect();
    }
}

/// What the two places of one collection answer.
struct Row {
    name: String,
    passages: u64,
    queries: usize,
    /// Questions with known answers, over which nDCG@10 is averaged.
    judged: usize,
    ndcg: [f64; 2],
    same_order: usize,
    same_set: usize,
    same_gate: usize,
}

impl Row {
    fn share(&self, same: usize) -> f64 {
        same as f64 / self.queries.max(1) as f64
    }

    /// Its line of the table.
    fn line(&self) -> String {
        let percent = |same: usize| format!("{:.2}%", 100.0 * self.share(same));
        format!(
            "| {} | {} | {} | {:.4} | {:.4} | {:+.4} | {} | {} | {} |",
            self.name,
            self.passages,
            self.queries,
            self.ndcg[0],
            self.ndcg[1],
            self.ndcg[1] - self.ndcg[0],
            percent(self.same_order),
            percent(self.same_set),
            percent(self.same_gate)
        )
    }

    fn holds(&self) -> bool {
        (self.ndcg[0] - self.ndcg[1]).abs() <= MOST_NDCG
            && self.share(self.same_order) >= LEAST_KEPT
            && self.share(self.same_gate) >= LEAST_GATE
    }
}

/// Asks a collection in both places.
fn compare(
    mut test: TestCollection,
    foreign: Vec<TestQuery>,
    options: &Options,
    url: &str,
    home: &Path,
) -> Result<Row> {
    spread(&mut test.queries, options.queries);
    // nDCG@10 needs no more than the pool, and without judgements nothing deeper is retrieved.
    let own = std::mem::take(&mut test.queries);
    let unjudged =
        |query: &TestQuery| TestQuery { kind: QueryKind::Foreign, judged: Default::default(), ..query.clone() };
    let asked: Vec<TestQuery> = own.iter().chain(&foreign).map(unjudged).collect();
    let cut = options.config(None, "")?.search.cut.ok_or("search.cut is off")?;
    let cuts = vec![NamedCut { name: cut.to_string(), rule: cut }];
    let measurement = Measurement { cuts, ..Measurement::default() };
    let answers = |config: &Config| measure(&test, &asked, config, home, &measurement, &());
    let ours = answers(&options.config(None, "")?)?;
    let theirs = answers(&options.config(Some(url), &test.name)?)?;
    let store = PostgresStore::open(url, &test.name)?;
    let models = store.models()?;
    let model = models.first().ok_or("no model in the database")?;
    let coverage = store.coverage(&model.id, &Filter::namespace(&test.name))?;
    if coverage.embedded < coverage.passages {
        return Err(
            format!("{}: {} of {} passages have a vector", test.name, coverage.embedded, coverage.passages).into()
        );
    }
    let mut row = Row {
        name: test.name.clone(),
        passages: coverage.passages,
        queries: ours.queries.len(),
        judged: 0,
        ndcg: [0.0; 2],
        same_order: 0,
        same_set: 0,
        same_gate: 0,
    };
    for (at, (one, other)) in ours.queries.iter().zip(&theirs.queries).enumerate() {
        let (kept, kept_there) = (kept(&ours, at), kept(&theirs, at));
        let set = |kept: &[&str]| kept.iter().map(ToString::to_string).collect::<HashSet<_>>();
        row.same_order += usize::from(kept == kept_there);
        row.same_set += usize::from(set(&kept) == set(&kept_there));
        row.same_gate += usize::from(kept.is_empty() == kept_there.is_empty());
        if let Some(query) = own.get(at).filter(|query| query.kind == QueryKind::Judged) {
            row.judged += 1;
            row.ndcg[0] += ndcg(one, query);
            row.ndcg[1] += ndcg(other, query);
        }
        if options.differences && kept != kept_there {
            let same = kept.iter().zip(&kept_there).take_while(|(one, other)| one == other).count();
            let from = |kept: &[&str]| format!("{:?} of {}", kept.get(same), kept.len());
            let (here, there) = (from(&kept), from(&kept_there));
            eprintln!("{} {}: at {}, {here} in the directory and {there} in PostgreSQL", test.name, one.id, same + 1);
        }
    }
    row.ndcg = row.ndcg.map(|sum| sum / row.judged.max(1) as f64);
    println!("{}", row.line());
    Ok(row)
}

/// The documents that the cut keeps of a query, best first.
fn kept(collection: &Collection, at: usize) -> Vec<&str> {
    let (pool, decision) = (&collection.queries[at], &collection.methods[0].decisions[at]);
    let id = |position: usize| pool.documents[position].id.as_str();
    match &decision.ranking {
        Some(ranking) => ranking.iter().take(decision.keep).map(|&position| id(position)).collect(),
        None => (0..decision.keep).map(id).collect(),
    }
}

fn ndcg(pool: &QueryPool, query: &TestQuery) -> f64 {
    Ranking::new(pool.documents.iter().map(|document| document.id.as_str()), &query.judged).ndcg(10)
}

/// The head of the table, in Markdown.
const HEADER: &str = "| collection | passages | questions | nDCG@10 directory | PostgreSQL | difference | same list | same set | same gate |\n\
     | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |";

/// The sums, and means over all questions.
fn total(rows: &[Row]) -> Row {
    let sum = |of: fn(&Row) -> usize| rows.iter().map(of).sum::<usize>();
    let judged = sum(|row| row.judged);
    let mean =
        |side: usize| rows.iter().map(|row| row.ndcg[side] * row.judged as f64).sum::<f64>() / judged.max(1) as f64;
    Row {
        name: "total".into(),
        passages: rows.iter().map(|row| row.passages).sum(),
        queries: sum(|row| row.queries),
        judged,
        ndcg: [mean(0), mean(1)],
        same_order: sum(|row| row.same_order),
        same_set: sum(|row| row.same_set),
        same_gate: sum(|row| row.same_gate),
    }
}
