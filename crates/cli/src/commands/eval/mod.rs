//! `tamis eval`: measures ranking and cuts on collections with judged answers.

mod pools;

use crate::command_line::{Global, at_least_one};
use crate::exit::Exit;
use crate::interrupt;
use crate::layout::Page;
use crate::output::Output;
use crate::print::table::Columns;
use crate::print::text::{counted, label, visible};
use crate::progress::Progress;
use crate::session::{Session, setting};
use anyhow::{Context, Result, bail};
use clap::Args;
use clap::builder::PossibleValuesParser;
use owo_colors::OwoColorize;
use std::collections::HashSet;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use tamis::Mode;
use tamis::config::{Config, UserDirectories};
use tamis::evaluate::{
    EvaluationError, Measurement, OwnId, TestCollection, TestQuery, cuts, foreign_queries, from_run, measure,
};
use tamis::flag_values::finite;
use tamis_eval::{Collection, Metric, Options, QueryKind, Report, Table, compare, evaluate};

const EXAMPLES: &str = "\
Examples:
  tamis eval scifact nq --model static
  tamis eval scifact --cut auto --cut background --foreign nq --html report.html
  tamis eval scifact --json > before.json    then, with another version:  tamis eval --compare before.json after.json
  tamis eval --run bm25.run --qrels qrels.txt

A DIR has BEIR's layout: corpus.jsonl (_id, title, text), queries.jsonl (_id, text), qrels/SPLIT.tsv. The settings are \
those of a search; `tamis config` shows them.
Exit status: 0 done, 2 an error, 130 stopped by Ctrl-C; the next run continues the index of a stopped one.";

/// Flags of `tamis eval`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct EvalArguments {
    /// Test collections to index and search, in BEIR's layout
    #[arg(value_name = "DIR", required_unless_present_any = ["run", "compare"], conflicts_with_all = ["run", "compare"])]
    pub directories: Vec<PathBuf>,
    /// Measure the ranked results of any engine, in TREC's format, in place of a search
    #[arg(long, value_name = "FILE", requires = "qrels", conflicts_with = "compare")]
    pub run: Option<PathBuf>,
    /// Judge --run by these judgements, in the format of TREC or BEIR
    #[arg(long, value_name = "FILE", requires = "run")]
    pub qrels: Option<PathBuf>,
    /// Compare two reports written with --json, query by query
    #[arg(long, value_names = ["BEFORE", "AFTER"], num_args = 2)]
    pub compare: Option<Vec<PathBuf>>,
    #[command(flatten)]
    pub search: SearchFlags,
    #[command(flatten)]
    pub queries: QueryFlags,
    #[command(flatten)]
    pub figures: FigureFlags,
    #[command(flatten)]
    pub report: ReportFlags,
}

/// The searches that are measured.
#[derive(Debug, Args)]
pub struct SearchFlags {
    /// Measure this cut (`tamis search --help` lists the methods); repeatable [default: every method]
    #[arg(long = "cut", conflicts_with = "compare", value_name = "METHOD[:PARAM=VALUE,…]")]
    pub cuts: Vec<String>,
    /// Compare meaning with this model: static, minilm, or one that a configuration file defines [default: the best of search]
    #[arg(long, conflicts_with_all = ["run", "compare"], value_name = "NAME")]
    pub model: Option<String>,
    /// Gather candidates by words, by meaning, or by both
    #[arg(long, conflicts_with_all = ["run", "compare"], value_name = "MODE", value_parser = PossibleValuesParser::new(Mode::NAMES))]
    pub mode: Option<String>,
    /// Pass every query on to the cut, even where nothing stands out
    #[arg(long, conflicts_with_all = ["run", "compare"])]
    pub no_gate: bool,
    /// Let the reranker of rerank.model read the best entries of each query, up to a minute
    #[arg(long, conflicts_with_all = ["run", "compare"])]
    pub judge: bool,
    /// Keep the indexes in DIR [default: tamis/eval in the user's cache; environment: TAMIS_CACHE]
    #[arg(long, conflicts_with_all = ["run", "compare"], value_name = "DIR")]
    pub cache: Option<PathBuf>,
}

/// The queries to ask.
#[derive(Debug, Args)]
pub struct QueryFlags {
    /// Use the judgements in qrels/NAME.tsv
    #[arg(long, conflicts_with_all = ["run", "compare"], value_name = "NAME", default_value = "test", help_heading = "Queries")]
    pub split: String,
    /// Ask the first queries of this collection too, which no other collection answers; repeatable
    #[arg(long, conflicts_with_all = ["run", "compare"], value_name = "DIR", help_heading = "Queries")]
    pub foreign: Vec<PathBuf>,
    /// Ask this many queries of each --foreign collection
    #[arg(long, requires = "foreign", value_name = "N", value_parser = at_least_one, default_value = "60", allow_negative_numbers = true, help_heading = "Queries")]
    pub foreign_queries: usize,
    /// Leave each query's own document out, for collections whose queries are documents: the document with the query's
    /// identifier, or one that matches PATTERN, in which {} is the identifier (such as {}_*)
    #[arg(long, conflicts_with_all = ["run", "compare"], value_name = "PATTERN", num_args = 0..=1, require_equals = true,
        default_missing_value = "{}", help_heading = "Queries")]
    pub own_id: Option<OwnId>,
    /// Ask only the first N queries of each collection
    #[arg(long, value_name = "N", value_parser = at_least_one, allow_negative_numbers = true, help_heading = "Queries")]
    pub limit_queries: Option<usize>,
}

/// The figures of the report.
#[derive(Debug, Args)]
pub struct FigureFlags {
    /// Compare this figure over all collections
    #[arg(long, value_name = "NAME", default_value = Metric::RelativeF1.name(), hide_possible_values = true,
        value_parser = PossibleValuesParser::new(Metric::ALL.iter().map(|metric| metric.name())), help_heading = "Figures")]
    pub metric: String,
    /// Compare the other methods with this one [default: fixed-fitted]
    #[arg(long, value_name = "METHOD", help_heading = "Figures")]
    pub baseline: Option<String>,
    /// Count recall this many times as much as precision in F_beta [default: 1]
    #[arg(long, value_name = "X", value_parser = finite, allow_negative_numbers = true, help_heading = "Figures")]
    pub beta: Option<f64>,
    /// Draw folds, bootstrap samples and queries with this seed [default: 0]
    #[arg(long, value_name = "N", help_heading = "Figures")]
    pub seed: Option<u64>,
    /// Resample this often for intervals; 0 means no intervals [default: 1000]
    #[arg(long, value_name = "N", help_heading = "Figures")]
    pub resamples: Option<usize>,
    /// Also decide with this many candidates per retriever, to see how stable each cut is
    #[arg(long, value_name = "N,…", value_delimiter = ',', value_parser = at_least_one, allow_negative_numbers = true, help_heading = "Figures")]
    pub depths: Vec<usize>,
    /// Time the decisions too; the report then differs from run to run
    #[arg(long, help_heading = "Figures")]
    pub timings: bool,
}

/// The form of the report.
#[derive(Debug, Args)]
pub struct ReportFlags {
    /// Write every query's candidates with all their scores and judgements to FILE, one JSON object a line, in place of comparing cuts
    #[arg(long, conflicts_with_all = ["run", "compare", "html", "csv", "json", "markdown", "cuts", "no_gate", "foreign"],
        value_name = "FILE", help_heading = "Output")]
    pub pools: Option<PathBuf>,
    /// Print the whole report as JSON, query by query
    #[arg(long, group = "report_form", help_heading = "Output")]
    pub json: bool,
    /// Print every figure as one line of CSV
    #[arg(long, group = "report_form", conflicts_with = "compare", help_heading = "Output")]
    pub csv: bool,
    /// Print the report as Markdown
    #[arg(long, group = "report_form", help_heading = "Output")]
    pub markdown: bool,
    /// Write the report with plots to FILE too, as one self-contained page
    #[arg(long, value_name = "FILE", conflicts_with = "compare", help_heading = "Output")]
    pub html: Option<PathBuf>,
}

/// Measures, and prints the report.
///
/// # Errors
/// An unreadable file, a malformed line, an unknown cut, model or option, or an index that fails.
pub fn run(arguments: &EvalArguments, global: &Global, output: &Output) -> Result<Exit> {
    if let Some(files) = &arguments.compare {
        return compare_reports(files, arguments, output);
    }
    let options = options(arguments);
    options.check()?;
    let config = config(arguments, global)?;
    if arguments.search.judge && config.rerank.model.is_none() {
        bail!("--judge: there is no reranker; name one in rerank.model, defined as [models.NAME]");
    }
    if let Some(file) = &arguments.report.pools {
        return pools::run(file, arguments, &config, &cache(arguments)?, output);
    }
    let measurement = Measurement {
        cuts: cuts(&config, &arguments.search.cuts)?,
        own_id: arguments.queries.own_id.clone(),
        depths: arguments.figures.depths.clone(),
        limit: arguments.queries.limit_queries,
        timings: arguments.figures.timings,
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
    if let Some(path) = &arguments.report.html {
        tamis::file::write_bytes(path, report.html().as_bytes())?;
        output.note(&format!("wrote {}", path.display()));
    }
    print(&report, arguments, output)?;
    Ok(Exit::Found)
}

fn options(arguments: &EvalArguments) -> Options {
    let default = Options::default();
    Options {
        seed: arguments.figures.seed.unwrap_or(default.seed),
        resamples: arguments.figures.resamples.unwrap_or(default.resamples),
        baseline: arguments.figures.baseline.clone().unwrap_or(default.baseline),
        beta: arguments.figures.beta.unwrap_or(default.beta),
        ..default
    }
}

/// The configuration of searches with a single model: the named one, else the best that searches use.
fn config(arguments: &EvalArguments, global: &Global) -> Result<Config> {
    let named = |model: Option<&str>, flag: &str| {
        let list = setting("index.models", flag, model);
        let gate = arguments.search.no_gate.then_some("false");
        let others = [
            setting("search.model", flag, model),
            setting("search.mode", "--mode", arguments.search.mode.as_deref()),
            setting("search.gate", "--no-gate", gate),
            setting("rerank.model", "--judge", (!arguments.search.judge).then_some("off")),
            setting("rerank.timeout_ms", "--judge", arguments.search.judge.then_some("60000")),
        ];
        list.into_iter().chain(others.into_iter().flatten())
    };
    let load = |model: Option<&str>, flag: &str| Session::start(global, named(model, flag).collect())?.config();
    if arguments.search.model.as_deref() == Some("auto") {
        bail!(
            "--model auto: an evaluation uses one model; name static, minilm, or one that a configuration file defines"
        );
    }
    let config = load(arguments.search.model.as_deref(), "--model")?;
    if arguments.search.model.is_some() {
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
    if arguments.search.judge && !measurement.cuts.iter().any(|cut| cut.rule.reads_relevance()) {
        bail!("--judge: only the cut auto asks the reranker; add --cut auto");
    }
    Ok(evaluate(&measured(&asked, config, arguments, measurement, output)?, options)?)
}

/// The collections, each with the queries of others that are asked too.
fn asked(arguments: &EvalArguments, output: &Output) -> Result<Vec<(TestCollection, Vec<TestQuery>)>> {
    // Everything is read before anything is indexed: a typing error must not cost hours of indexing.
    let read = |directory: &PathBuf| TestCollection::from_directory(directory, &arguments.queries.split);
    let tests = arguments.directories.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    let mut names = HashSet::new();
    if let Some(test) = tests.iter().find(|test| !names.insert(&test.name)) {
        bail!("{}: another collection has the name {} too; rename one directory", test.directory.display(), test.name);
    }
    for test in &tests {
        note_own_documents(test, arguments, output)?;
    }
    let mut foreign: Vec<(PathBuf, Vec<TestQuery>)> = Vec::new();
    for directory in &arguments.queries.foreign {
        let queries = foreign_queries(directory, &arguments.queries.split, arguments.queries.foreign_queries)?;
        let directory = dunce::canonicalize(directory)?;
        if !foreign.iter().any(|(known, _)| *known == directory) {
            foreign.push((directory, queries));
        }
    }

    let asked: Vec<Vec<TestQuery>> = tests.iter().map(|test| foreign_to(test, &foreign)).collect();
    if !foreign.is_empty() && asked.iter().all(Vec::is_empty) {
        bail!(
            "--foreign {}: all of its queries are asked of the evaluated collections too; name another collection",
            arguments.queries.foreign.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
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
    if let Some(own) = &arguments.queries.own_id {
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
    let cache = arguments.search.cache.clone().or_else(|| UserDirectories::here().evaluations().map(Path::to_owned));
    let Some(cache) = cache else {
        bail!("there is no home directory to keep indexes in; name a directory with --cache DIR or TAMIS_CACHE");
    };
    std::path::absolute(&cache).with_context(|| format!("{}: cannot hold indexes", cache.display()))
}

fn print(report: &Report, arguments: &EvalArguments, output: &Output) -> Result<()> {
    if arguments.report.json {
        return output.json(report);
    }
    let text = if arguments.report.csv {
        report.csv()
    } else if arguments.report.markdown {
        report.markdown()
    } else {
        let mut out = output.paged();
        let metric = Metric::from_name(&arguments.figures.metric).unwrap_or(Metric::RelativeF1);
        tables(&mut out, report, metric, output.verbose())?;
        out.flush()?;
        return Ok(());
    };
    let mut out = output.exact();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(())
}

/// Compares two reports.
///
/// # Errors
/// An unreadable file, or one that does not have this version's report format.
fn compare_reports(files: &[PathBuf], arguments: &EvalArguments, output: &Output) -> Result<Exit> {
    let [before, after] = files else {
        bail!("--compare takes two files, the report before and the one after");
    };
    let comparison = compare(&read_report(before)?, &read_report(after)?);
    if arguments.report.json {
        output.json(&comparison)?;
    } else {
        let mut out = output.exact();
        out.write_all(comparison.markdown().as_bytes())?;
        out.flush()?;
    }
    Ok(Exit::Found)
}

fn read_report(path: &Path) -> Result<Report> {
    let text = std::fs::read_to_string(path).with_context(|| format!("{}: cannot be read", path.display()))?;
    Ok(Report::from_json(&path.to_string_lossy(), &text)?)
}

/// Writes the tables: one figure of every method on every collection, then the other figures averaged over the collections.
/// `verbose` writes all tables, each with a note on reading it.
fn tables(out: &mut dyn Page, report: &Report, metric: Metric, verbose: bool) -> io::Result<()> {
    for (at, table) in chosen(report, metric, verbose).into_iter().enumerate() {
        if at > 0 {
            writeln!(out)?;
        }
        writeln!(out, "{}", label(&table.title).bold())?;
        if verbose && !table.note.is_empty() {
            writeln!(out, "{}", visible(&table.note).dimmed())?;
        }
        write_table(out, &table)?;
    }
    Ok(())
}

fn chosen(report: &Report, metric: Metric, verbose: bool) -> Vec<Table> {
    use Metric::*;
    if verbose {
        let mut tables = report.tables();
        if !matches!(metric, RelativeF1 | ShareOfBestF1) {
            tables.insert(1.min(tables.len()), report.comparison_table(metric));
        }
        return tables;
    }
    let mut kept = vec![RelativeF1, ShareOfBestF1, F1, Precision, Recall, Kept, CharactersKept];
    if report.options.beta != 1.0 {
        kept.insert(2, FBeta);
    }
    let means: [(&str, &[Metric]); 4] = [
        ("What is kept", &kept),
        ("Shares that came back empty", &[AnswerableEmpty, UnanswerableEmpty, ForeignEmpty, F1EveryQuery]),
        ("Probabilities", &[CalibrationError, Brier, LogLoss]),
        ("Stability and time", &[DepthChange, DepthUnchanged, Microseconds]),
    ];
    let means = means.map(|(title, metrics)| report.mean_table(title, "", metrics));
    let tables = [report.collection_table(), report.comparison_table(metric)].into_iter().chain(means);
    tables.filter(|table| !table.rows.is_empty()).collect()
}

/// Writes a table with names on the left and figures on the right, and a gap before the methods for reference.
fn write_table(out: &mut dyn Page, table: &Table) -> io::Result<()> {
    let heading = |(at, heading): (usize, &String)| format!("{}{}", if at == 0 { "" } else { ">" }, visible(heading));
    let headings: Vec<String> = table.header.iter().enumerate().map(heading).collect();
    let mut columns = Columns::new(&headings.iter().map(String::as_str).collect::<Vec<_>>());
    for (at, row) in table.rows.iter().enumerate() {
        if at > 0 && at == table.given {
            columns.row(row.iter().map(|_| String::new()));
        }
        columns.row(row.iter().map(|cell| visible(cell).into_owned()));
    }
    columns.write(out)
}
