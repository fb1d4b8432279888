//! Writes the evidence on the lists of many questions, from which the models of relevance are fitted.

use crate::collection::{self, evenly};
use crate::exact::exact_questions;
use crate::fit::FOREIGN;
use crate::index::IndexedTree;
use crate::list::{List, Question, Source, Topic};
use crate::model::Model;
use crate::place::{Place, test_data};
use crate::{history, other_words, own_words};
use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;
use tamis::{Index, SearchRequest};

/// Questions of each kind that are taken of a collection and of a tree, and those of each family that are put to a tree of another project.
const OF_COLLECTION: usize = 60;
const OF_TREE: usize = 12;
const FOREIGN_EACH: usize = 4;

/// Passages of the largest tree that the better model embeds whole.
const EMBEDDED: u64 = 1500;

/// The places of the questions besides the lists of this project: by default those in `TAMIS_TEST_DATA` and `target`. What is not there
/// is skipped.
#[derive(Clone, Debug)]
pub struct Places {
    /// Lists of questions, one JSON object a line.
    pub questions: PathBuf,
    /// The trees that they ask.
    pub trees: PathBuf,
    /// Queries in the code's own words, with the list of the repositories that they ask.
    pub words: PathBuf,
    /// Pasted reports, one JSON object a line: the repository, the text, and the files that answer it, if they are known.
    pub reports: PathBuf,
    /// Judged collections in the BEIR layout.
    pub collections: PathBuf,
    /// Checkouts of repositories with their history.
    pub histories: PathBuf,
}

impl Default for Places {
    fn default() -> Self {
        let root = crate::place::root();
        let data = test_data().unwrap_or_default();
        let [questions, collections, words] = ["questions", "data", "questions-words"].map(|name| data.join(name));
        let [trees, histories, reports] =
            ["target/trees", "target/histories", "target/reports.jsonl"].map(|path| root.join(path));
        Places { questions, trees, words, reports, collections, histories }
    }
}

/// A corpus and what is asked of it.
struct Job {
    list: List,
    place: Place,
    asked: Vec<(String, Question)>,
    /// The project that it belongs to, whose questions are not foreign to it.
    project: String,
    /// True if questions are made of its own names and texts, too.
    is_code: bool,
}

/// Asks all questions and writes the evidence, one question and basis a line.
///
/// # Errors
/// A tree cannot be indexed or searched, or the output cannot be written.
pub fn write_evidence(places: &Places, mut output: impl Write) -> Result<()> {
    let mut jobs = jobs(places)?;
    add_foreign(&mut jobs, &reports(&places.reports)?);
    for mut job in jobs {
        let started = Instant::now();
        let mut tree = IndexedTree::new(&job.list, &job.place, Model::Late)?;
        let is_embedded = tree.passages <= EMBEDDED;
        if is_embedded {
            tree = IndexedTree::new(&job.list, &job.place, Model::MiniLm)?;
        }
        let index = tree.open_for(Model::Late)?;
        if job.is_code {
            let all = exact_questions(&tree, &index)?.into_iter().map(|(_, question)| ("exact".to_owned(), question));
            job.asked.extend(evenly(all.collect(), OF_TREE));
            let words =
                own_words::questions(tree.root())?.into_iter().map(|question| ("own words".to_owned(), question));
            job.asked.extend(evenly(words.collect(), OF_TREE));
        }
        ask(&index, "on_demand", &job, &mut output)?;
        if is_embedded {
            ask(&tree.open_for(Model::MiniLm)?, "embedded", &job, &mut output)?;
        }
        output.flush()?;
        let (name, questions) = (&job.list.name, job.asked.len());
        eprintln!("{name}: {} passages, {questions} questions in {:.0?}", tree.passages, started.elapsed());
    }
    Ok(())
}

/// Asks the questions of a job and writes the evidence.
fn ask(index: &Index, basis: &str, job: &Job, output: &mut impl Write) -> Result<()> {
    let threads = std::thread::available_parallelism()?.get();
    let parts: Vec<Result<String>> = std::thread::scope(|scope| {
        let parts = job.asked.chunks(job.asked.len().div_ceil(threads).max(1));
        let asking: Vec<_> = parts.map(|part| scope.spawn(move || lines(index, basis, job, part))).collect();
        let joined = asking.into_iter().map(|asked| asked.join());
        joined.map(|joined| joined.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    });
    for lines in parts {
        output.write_all(lines?.as_bytes())?;
    }
    Ok(())
}

/// Asks questions and returns the evidence, one line each.
fn lines(index: &Index, basis: &str, job: &Job, asked: &[(String, Question)]) -> Result<String> {
    let mut lines = String::new();
    for (family, question) in asked {
        // A report that asks for its duplicates is no answer to itself, and nobody's own report is there yet.
        let others: Vec<String> = question.itself.iter().map(|itself| format!("!/{itself}")).collect();
        let mut request = SearchRequest::new(&question.ask).paths(others).limit(1).explain();
        request.ranking.thorough = true;
        let answer = index.search(request)?;
        let note = |name: &str| answer.cut.diagnostics.get(name).cloned().unwrap_or_default();
        let entry = |entry: &tamis::search::PoolEntry| {
            let values: BTreeMap<&str, f64> =
                entry.evidence.iter().map(|part| (part.name.as_str(), part.value)).collect();
            let place = values.get("rank").copied().unwrap_or_default();
            let is_relevant = question.expect.contains(&entry.path);
            (place, json!({ "relevant": is_relevant, "evidence": values }))
        };
        let mut entries: Vec<(f64, Value)> = answer.pool.iter().flatten().map(entry).collect();
        if entries.is_empty() || !note("answer_evidence").is_object() {
            continue;
        }
        // The models put the pool in another order than the scores.
        entries.sort_by(|a, b| a.0.total_cmp(&b.0));
        let line = json!({
            "family": family, "list": job.list.name, "topic": question.topic, "ask": question.ask, "basis": basis,
            "covered": note("covered"), "evidence": note("answer_evidence"),
            "entries": entries.into_iter().map(|(_, entry)| entry).collect::<Vec<_>>(),
        });
        lines += &format!("{line}\n");
    }
    Ok(lines)
}

/// Returns every corpus that is here, with its own questions.
fn jobs(places: &Places) -> Result<Vec<Job>> {
    let mut jobs: Vec<Job> = Vec::new();
    let mut add = |list: List, place: Place, project: &str, is_code: bool, asked: Vec<(&str, Vec<Question>)>| {
        if let Place::Missing(reason) = &place {
            eprintln!("{}: skipped: {reason}", list.name);
            return;
        }
        let named = |(family, questions): (&str, Vec<Question>)| {
            questions.into_iter().map(|question| (family.to_owned(), question)).collect::<Vec<_>>()
        };
        let asked = asked.into_iter().flat_map(named).collect();
        jobs.push(Job { list, place, asked, project: project.to_lowercase(), is_code });
    };
    for list in other_words::lists(&places.questions, &places.trees)? {
        let (place, questions, name) = (other_words::place(&list), list.questions.clone(), list.name.clone());
        add(list, place, &name, true, vec![("paraphrased", questions)]);
    }
    for list in other_words::queries_by_repository(&places.words, &places.histories)? {
        let (place, questions) = (other_words::place(&list), list.questions.clone());
        let project = list.name.rsplit('/').next().unwrap_or_default().to_owned();
        add(list, place, &project, true, vec![("words", questions)]);
    }
    let reports = reports(&places.reports)?;
    for directory in directories(&places.histories)?.into_iter().filter(|directory| directory.join(".git").exists()) {
        let name = directory.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let [short, long] = history::questions(&directory, OF_TREE)?;
        let of_report = reports.iter().filter(|report| report.repo == name && !report.files.is_empty());
        let reported = of_report.map(|report| Question::answered_by(&report.text, report.files.clone())).collect();
        let source = Source::Directory { path: directory.clone(), notes: false };
        let list = List {
            about: format!("the history of {name}"),
            name: format!("history/{name}"),
            source,
            questions: Vec::new(),
        };
        let asked = vec![("commits", short), ("messages", long), ("reports", reported)];
        add(list, Place::Tree { root: directory, notes: false }, &name, false, asked);
    }
    for list in List::all()? {
        let place = Place::of(&list)?;
        let is_code = matches!(list.source, Source::Crate { .. });
        let (family, questions) = (if is_code { "lists" } else { "notes" }, list.questions.clone());
        let name = list.name.clone();
        add(list, place, &name, is_code, vec![(family, questions)]);
    }
    for directory in directories(&places.collections)? {
        if directory.join("corpus.jsonl").is_file() {
            let list = collection::list(&directory, OF_COLLECTION)?;
            let (questions, name) = (list.questions.clone(), list.name.clone());
            add(list, Place::Collection(directory), &name, false, vec![("collections", questions)]);
        }
    }
    Ok(jobs)
}

/// Puts questions of other projects to each corpus: they have no answer there.
fn add_foreign(jobs: &mut [Job], reports: &[Report]) {
    let mut pool: BTreeMap<String, Vec<(String, Question)>> = BTreeMap::new();
    for job in jobs.iter() {
        for (family, question) in job.asked.iter().filter(|(_, question)| question.topic == Topic::Answerable) {
            pool.entry(family.clone()).or_default().push((job.project.clone(), question.clone()));
        }
    }
    for report in reports.iter().filter(|report| report.files.is_empty()) {
        let question = Question::answered_by(&report.text, Vec::new());
        pool.entry("reports".to_owned()).or_default().push((report.repo.to_lowercase(), question));
    }
    for (number, job) in jobs.iter_mut().enumerate() {
        for (family, questions) in &pool {
            let others: Vec<&(String, Question)> =
                questions.iter().filter(|(project, _)| *project != job.project).collect();
            // Each corpus gets others of them: a stride that is prime to most lengths goes through all.
            let is_prose = matches!(job.place, Place::Collection(_)) && family == "collections";
            let each = if is_prose { 6 * FOREIGN_EACH } else { FOREIGN_EACH };
            for at in 0..each.min(others.len()) {
                let (_, question) = others[(number * 131 + at * 7919) % others.len()];
                let foreign = Question { topic: Topic::Far, expect: Vec::new(), itself: None, ..question.clone() };
                job.asked.push((format!("{FOREIGN}{family}"), foreign));
            }
        }
    }
}

/// A pasted report.
#[derive(Deserialize)]
struct Report {
    repo: String,
    text: String,
    #[serde(default)]
    files: Vec<String>,
}

fn reports(path: &Path) -> Result<Vec<Report>> {
    let Ok(text) = fs::read_to_string(path) else {
        eprintln!("{}: skipped: there is no such file", path.display());
        return Ok(Vec::new());
    };
    let line = |line: &str| serde_json::from_str(line).with_context(|| format!("{}: {line:.80}", path.display()));
    text.lines().filter(|line| !line.is_empty()).map(line).collect()
}

/// The directories in a directory, by name; none if it does not exist.
fn directories(directory: &Path) -> Result<Vec<PathBuf>> {
    if !directory.is_dir() {
        eprintln!("{}: skipped: there is no such directory", directory.display());
        return Ok(Vec::new());
    }
    let entries = fs::read_dir(directory).with_context(|| format!("cannot list {}", directory.display()))?;
    let mut found: Vec<_> = entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    found.sort();
    Ok(found)
}
