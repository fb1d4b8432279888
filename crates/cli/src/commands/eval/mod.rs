//! `tamis eval`: measures ranking and cuts on collections with judged answers.

mod compare;
mod pools;
mod table;

use crate::args::{EvalArguments, Global};
use crate::exit::Exit;
use crate::interrupt;
use crate::output::Output;
use crate::print::text::counted;
use crate::progress::Progress;
use crate::session::{Session, setting};
use anyhow::{Context, Result, bail};
use std::collections::HashSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use tamis::config::{Config, UserDirectories};
use tamis::evaluate::{
    EvaluationError, Measurement, TestCollection, TestQuery, cuts, foreign_queries, from_run, measure,
};
use tamis_eval::{Collection, Metric, Options, QueryKind, Report, evaluate};

/// Measures, and prints the report.
///
/// # Errors
/// An unreadable file, a malformed line, an unknown cut, model or option, or an index that fails.
pub fn run(arguments: &EvalArguments, global: &Global, output: &Output) -> Result<Exit> {
    if let Some(files) = &arguments.compare {
        return compare::run(files, arguments, output);
    }
    let options = options(arguments);
    options.check()?;
    let config = config(arguments, global)?;
    if arguments.judge && config.rerank.model.is_none() {
        bail!("--judge: there is no reranker; name one in rerank.model, defined as [models.NAME]");
    }
    if let Some(file) = &arguments.pools {
        return pools::run(file, arguments, &config, &cache(arguments)?, output);
    }
    let measurement = Measurement {
        cuts: cuts(&config, &arguments.cuts)?,
        own_id: arguments.own_id.clone(),
        depths: arguments.depths.clone(),
        limit: arguments.limit_queries,
        timings: arguments.timings,
    };
    interrupt::install()?;
    let report = match (&arguments.run, &arguments.qrels) {
        (Some(run), Some(qrels)) => of_run(run, qrels, &measurement, &options, output),
        _ => of_directories(arguments, &config, &measurement, &options, output),
    };
    let report = match report {
        Err(error) if matches!(error.downcast_ref(), Some(EvaluationError::Interrupted)) => {
            output.note(&error.to_string());
            return Ok(Exit::Interrupted);
        }
        report => report?,
    };
    if let Some(path) = &arguments.html {
        tamis::file::write_bytes(path, report.html().as_bytes())?;
        output.note(&format!("wrote {}", path.display()));
    }
    print(&report, arguments, output)?;
    Ok(Exit::Found)
}

fn options(arguments: &EvalArguments) -> Options {
    let default = Options::default();
    Options {
        seed: arguments.seed.unwrap_or(default.seed),
        resamples: arguments.resamples.unwrap_or(default.resamples),
        baseline: arguments.baseline.clone().unwrap_or(default.baseline),
        beta: arguments.beta.unwrap_or(default.beta),
        ..default
    }
}

/// The configuration of searches with a single model: the named one, else the best that searches use.
fn config(arguments: &EvalArguments, global: &Global) -> Result<Config> {
    let named = |model: Option<&str>, flag: &str| {
        let list = setting("index.models", flag, model);
        let gate = arguments.no_gate.then_some("false");
        let others = [
            setting("search.model", flag, model),
            setting("search.mode", "--mode", arguments.mode.as_deref()),
            setting("search.gate", "--no-gate", gate),
            setting("rerank.model", "--judge", (!arguments.judge).then_some("off")),
            setting("rerank.timeout_ms", "--judge", arguments.judge.then_some("60000")),
        ];
        list.into_iter().chain(others.into_iter().flatten())
    };
    let load = |model: Option<&str>, flag: &str| Session::start(global, named(model, flag).collect())?.config();
    if arguments.model.as_deref() == Some("auto") {
        bail!(
            "--model auto: an evaluation uses one model; name static, minilm, or one that a configuration file defines"
        );
    }
    let config = load(arguments.model.as_deref(), "--model")?;
    if arguments.model.is_some() {
        return Ok(config);
    }
    let best = if config.search.model == "auto" { config.index.models.last() } else { Some(&config.search.model) };
    load(best.map(String::as_str), "search.model")
}

fn of_run(run: &Path, qrels: &Path, measurement: &Measurement, options: &Options, output: &Output) -> Result<Report> {
    let measured = from_run(run, qrels, measurement, &Progress::when_slow(output))?;
    for note in &measured.notes {
        output.note(&format!("{}: {note}", measured.collection.name));
    }
    describe(&measured.collection, None, output);
    Ok(evaluate(&[measured.collection], options)?)
}

fn of_directories(
    arguments: &EvalArguments,
    config: &Config,
    measurement: &Measurement,
    options: &Options,
    output: &Output,
) -> Result<Report> {
    let asked = asked(arguments, output)?;
    if arguments.judge && !measurement.cuts.iter().any(|cut| cut.rule.reads_relevance()) {
        bail!("--judge: only the cut auto asks the reranker; add --cut auto");
    }
    Ok(evaluate(&measured(&asked, config, arguments, measurement, output)?, options)?)
}

/// The collections, each with the queries of others that are asked too.
fn asked(arguments: &EvalArguments, output: &Output) -> Result<Vec<(TestCollection, Vec<TestQuery>)>> {
    // Everything is read before anything is indexed: a typing error must not cost hours of indexing.
    let read = |directory: &PathBuf| TestCollection::read(directory, &arguments.split);
    let tests = arguments.directories.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    let mut names = HashSet::new();
    if let Some(test) = tests.iter().find(|test| !names.insert(&test.name)) {
        bail!("{}: another collection has the name {} too; rename one directory", test.directory.display(), test.name);
    }
    for test in &tests {
        note_own_documents(test, arguments, output)?;
    }
    let mut foreign: Vec<(PathBuf, Vec<TestQuery>)> = Vec::new();
    for directory in &arguments.foreign {
        let queries = foreign_queries(directory, &arguments.split, arguments.foreign_queries)?;
        let directory = dunce::canonicalize(directory)?;
        if !foreign.iter().any(|(known, _)| *known == directory) {
            foreign.push((directory, queries));
        }
    }

    let asked: Vec<Vec<TestQuery>> = tests.iter().map(|test| foreign_to(test, &foreign)).collect();
    if !foreign.is_empty() && asked.iter().all(Vec::is_empty) {
        bail!(
            "--foreign {}: all of its queries are asked of the evaluated collections too; name another collection",
            arguments.foreign.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
        );
    }

    for (test, others) in tests.iter().zip(&asked) {
        test.notes.iter().for_each(|note| output.note(&format!("{}: {note}", test.name)));
        if !foreign.is_empty() && others.is_empty() {
            output.note(&format!("{}: all queries of --foreign are its own too", test.name));
        }
    }
    Ok(tests.into_iter().zip(asked).collect())
}

/// Measures every collection.
fn measured(
    asked: &[(TestCollection, Vec<TestQuery>)],
    config: &Config,
    arguments: &EvalArguments,
    measurement: &Measurement,
    output: &Output,
) -> Result<Vec<Collection>> {
    let cache = cache(arguments)?;
    let mut collections = Vec::with_capacity(asked.len());
    for (test, others) in asked {
        let progress = Progress::at_once(output);
        let collection = measure(test, others, config, &cache, measurement, &progress)?;
        drop(progress);
        describe(&collection, Some(test.documents.len()), output);
        collections.push(collection);
    }
    Ok(collections)
}

/// Notes the number of queries that have a document of their own, if `--own-id` leaves those out.
fn note_own_documents(test: &TestCollection, arguments: &EvalArguments, output: &Output) -> Result<()> {
    if let Some(own) = &arguments.own_id {
        output.note(&format!("{}: {}", test.name, test.own_documents(own)?.note()));
    }
    Ok(())
}

/// The queries of other collections that this one does not have. A copy of a collection is not foreign to it either.
fn foreign_to(test: &TestCollection, foreign: &[(PathBuf, Vec<TestQuery>)]) -> Vec<TestQuery> {
    let own: HashSet<&str> = test.queries.iter().map(|query| query.text.as_str()).collect();
    let others = foreign.iter().filter(|(directory, _)| *directory != test.directory);
    others.flat_map(|(_, queries)| queries).filter(|query| !own.contains(query.text.as_str())).cloned().collect()
}

/// Notes the collection, its size and its engine, in one line.
fn describe(collection: &Collection, documents: Option<usize>, output: &Output) {
    let count = |kind| collection.queries.iter().filter(|query| query.effective_kind() == kind).count();
    let kinds =
        [(QueryKind::Judged, "answerable"), (QueryKind::Unanswerable, "unanswerable"), (QueryKind::Foreign, "foreign")];
    let kinds = kinds.map(|(kind, name)| (count(kind), name));
    let kinds = kinds.iter().filter(|(count, _)| *count > 0).map(|(count, name)| format!("{count} {name}"));
    let documents =
        documents.map(|documents| format!("{}, ", counted(documents as u64, "document"))).unwrap_or_default();
    let model = collection.model.as_ref().map(|model| format!(", {model}")).unwrap_or_default();
    let kinds = kinds.collect::<Vec<_>>().join(", ");
    let queries = if collection.queries.len() == 1 { "query" } else { "queries" };
    output.note(&format!("{}: {documents}{kinds} {queries}{model}", collection.name));
}

fn cache(arguments: &EvalArguments) -> Result<PathBuf> {
    let cache = arguments.cache.clone().or_else(|| UserDirectories::here().evaluations().map(Path::to_owned));
    let Some(cache) = cache else {
        bail!("there is no home directory to keep indexes in; name a directory with --cache DIR or TAMIS_CACHE");
    };
    std::path::absolute(&cache).with_context(|| format!("{}: cannot hold indexes", cache.display()))
}

fn print(report: &Report, arguments: &EvalArguments, output: &Output) -> Result<()> {
    if arguments.json {
        return output.json(report);
    }
    let text = if arguments.csv {
        report.csv()
    } else if arguments.markdown {
        report.markdown()
    } else {
        let mut out = output.paged();
        let metric = Metric::from_name(&arguments.metric).unwrap_or(Metric::RelativeF1);
        table::tables(&mut out, report, metric, output.verbose())?;
        out.flush()?;
        return Ok(());
    };
    let mut out = output.exact();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(())
}
