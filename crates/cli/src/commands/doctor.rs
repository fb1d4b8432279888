//! `tamis doctor`: checks everything, and repairs what can be rebuilt.

use crate::command_line::Global;
use crate::exit::{Exit, described};
use crate::interrupt;
use crate::output::Output;
use crate::print::text::{count, counted, label, visible};
use crate::session::Session;
use anyhow::Result;
use clap::Args;
use owo_colors::OwoColorize;
use serde::Serialize;
use std::io::Write;
use std::path::Path;
use tamis::config::Config;
use tamis::index::{EmbeddingCacheCheck, check_embedding_cache};
use tamis::search::RerankedPassage;
use tamis::{Error, Index};
use tamis_store::{EmbeddedUsageLog, Findings, StoreError, UsageCheck};

/// Flags of `tamis doctor`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tamis doctor                 check, and repair what can be rebuilt
  tamis doctor --check-only    check, and change nothing

Exit status: 0 all is well or was repaired, 1 a problem is left, 2 the check itself failed.")]
pub struct DoctorArguments {
    /// Check only, and repair nothing
    #[arg(long)]
    pub check_only: bool,
    /// Print the findings as JSON
    #[arg(long)]
    pub json: bool,
}

/// All checks and their outcome.
#[derive(Debug, Serialize)]
struct Diagnosis {
    checks: Vec<Check>,
    healthy: bool,
}

/// One check.
#[derive(Debug, Serialize)]
struct Check {
    name: String,
    state: State,
    message: String,
}

impl Check {
    /// True if a problem is left.
    fn has_failed(&self) -> bool {
        matches!(self.state, State::Repairable | State::Wrong)
    }
}

/// The outcome of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum State {
    /// Nothing is wrong.
    Ok,
    /// Nothing is wrong, but something is worth knowing.
    Note,
    /// A problem was repaired.
    Repaired,
    /// A problem is left that `tamis doctor` can repair.
    Repairable,
    /// A problem is left.
    Wrong,
}

/// Checks everything, repairs what can be rebuilt (except with `--check-only`), and prints the findings.
///
/// # Errors
/// The directory to start from does not exist, or standard output cannot be written.
pub fn run(arguments: &DoctorArguments, global: &Global, output: &Output) -> Result<Exit> {
    interrupt::install()?;
    let session = Session::start(global, Vec::new())?;
    let mut checks = Vec::new();
    let config = configuration(&session, &mut checks);
    let (directory, has_index) = (session.location.directory.clone(), session.location.has_index());
    let mend = !arguments.check_only;
    // The files beside a damaged index may be sound.
    let opened = index(session, config.clone(), mend, &mut checks);
    if has_index || directory.is_dir() {
        usage(&directory, &mut checks);
    }
    if has_index {
        cache(&config, mend, &mut checks);
    }
    if let Some(index) = opened {
        freshness(&index, &mut checks);
    }
    let healthy = !checks.iter().any(Check::has_failed);
    let diagnosis = Diagnosis { checks, healthy };
    if arguments.json {
        output.json(&diagnosis)?;
    } else {
        print(&diagnosis, arguments.check_only, output)?;
    }
    Ok(Exit::found(healthy))
}

fn check(name: &str, state: State, message: impl Into<String>) -> Check {
    Check { name: name.into(), state, message: message.into() }
}

/// The configuration; the defaults where it is not valid, so that the other checks can run.
fn configuration(session: &Session, checks: &mut Vec<Check>) -> Config {
    match session.config() {
        Ok(config) => {
            let files = [&session.origins.user, &session.origins.project];
            let files: Vec<String> = files
                .into_iter()
                .flatten()
                .filter(|file| file.is_file())
                .map(|file| file.display().to_string())
                .collect();
            let message = if files.is_empty() {
                "valid; no files, defaults only".into()
            } else {
                format!("valid: {}", files.join(", "))
            };
            checks.push(check("configuration", State::Ok, message));
            config
        }
        Err(error) => {
            checks.push(check("configuration", State::Wrong, described(&error)));
            Config::built_in()
        }
    }
}

/// Checks the index and its models, and returns the index where it opens.
fn index(session: Session, config: Config, mend: bool, checks: &mut Vec<Check>) -> Option<Index> {
    if !session.has_index(&config) {
        let directory = session.location.directory.display();
        checks.push(check("index", State::Note, format!("none in {directory} yet; run `tamis index` to make one")));
        return None;
    }
    let index = match session.open(config) {
        Ok(index) => index,
        Err(error) => {
            checks.push(check("index", State::Wrong, described(&error)));
            return None;
        }
    };
    if let Some(elsewhere) = index.elsewhere() {
        checks.push(check("tree", State::Note, elsewhere));
    }
    if let Some(full) = index.full_disk() {
        checks.push(check("disk", State::Wrong, full.to_string()));
    }
    // Nothing can be repaired until there is space again.
    store(&index, mend && index.full_disk().is_none(), checks);
    models(&index, checks);
    reranker(&index, checks);
    Some(index)
}

/// Checks the log of searches and judgements, which cannot be rebuilt.
fn usage(directory: &Path, checks: &mut Vec<Check>) {
    let name = "log of searches";
    checks.push(match EmbeddedUsageLog::check(directory) {
        Ok(None) => return,
        Ok(Some(UsageCheck { path, searches, judgements, .. })) => {
            let (searches, judgements) = (counted(searches, "search"), counted(judgements, "judgement"));
            check(name, State::Ok, format!("sound: {searches} and {judgements} in {}", path.display()))
        }
        Err(error @ StoreError::Full { .. }) => check(name, State::Note, format!("not checked: {error}")),
        Err(error) => check(name, State::Wrong, error.to_string()),
    });
}

/// Checks the database and the files derived from it.
fn store(index: &Index, mend: bool, checks: &mut Vec<Check>) {
    let before = match index.check() {
        Ok(findings) => findings,
        Err(error) => return checks.push(check("index", State::Wrong, error.to_string())),
    };
    if before.problems.is_empty() {
        let message = format!("sound: {} checked", counted(before.passages, "passage"));
        return checks.push(check("index", State::Ok, message));
    }
    // Nothing is damaged that was never made.
    let is_begun = || index.contents().summary().is_ok_and(|summary| summary.last_publish_ms.is_none());
    if !mend && before.problems.iter().all(|problem| problem.mendable) && is_begun() {
        let passages = counted(before.passages, "passage");
        let message =
            format!("its first run was interrupted after {passages}; the next search or `tamis index` goes on");
        return checks.push(check("index", State::Note, message));
    }
    if !mend || !before.problems.iter().any(|problem| problem.mendable) {
        return checks.extend(left(&before));
    }
    match index.mend(&mut |_| Ok(())) {
        Ok(after) => {
            let mended = before.problems.iter().filter(|problem| !after.problems.contains(problem));
            checks.extend(mended.map(|problem| check(&part(problem), State::Repaired, problem.message.as_str())));
            checks.extend(left(&after));
        }
        Err(error) => {
            checks.extend(left(&before));
            checks.push(check("index", State::Wrong, format!("cannot be repaired: {error}")));
        }
    }
}

fn left(findings: &Findings) -> impl Iterator<Item = Check> + '_ {
    findings.problems.iter().map(|problem| {
        let state = if problem.mendable { State::Repairable } else { State::Wrong };
        check(&part(problem), state, problem.message.as_str())
    })
}

fn part(problem: &tamis::evidence::Problem) -> String {
    match problem.part {
        tamis::evidence::Part::Database => "database",
        tamis::evidence::Part::Lexical => "lexical index",
        tamis::evidence::Part::Vectors => "vectors",
    }
    .into()
}

/// Checks that each configured model loads, embeds, and covers the passages.
fn models(index: &Index, checks: &mut Vec<Check>) {
    for name in &index.config().index.models {
        let label = format!("model {name}");
        let tried = index
            .models()
            .embed_query(name, "a word")
            .and_then(|(model, _)| index.contents().coverage(&model.model().id, &Default::default()));
        checks.push(match tried {
            Err(Error::Model { reason, .. }) => check(&label, State::Wrong, format!("cannot be used: {reason}")),
            Err(error) => check(&label, State::Wrong, error.to_string()),
            Ok(coverage) if coverage.embedded < coverage.passages => {
                let missing = coverage.passages - coverage.embedded;
                check(&label, State::Note, format!("works; {} not embedded yet", counted(missing, "passage")))
            }
            Ok(coverage) => {
                check(&label, State::Ok, format!("works; covers all {} passages", count(coverage.passages)))
            }
        });
    }
}

/// Checks that the reranker of searches loads and answers, if there is one.
fn reranker(index: &Index, checks: &mut Vec<Check>) {
    let Some(reranker) = index.reranker() else { return };
    let (state, message) = match reranker.probabilities("a word", &[RerankedPassage::new("", "a word")]) {
        Ok(_) => (State::Ok, "works".to_owned()),
        Err(reason) => (State::Wrong, format!("cannot be used: {reason}")),
    };
    checks.push(check(&format!("reranker {}", reranker.name()), state, message));
}

/// Checks the cache of vectors that all of the user's indexes share; losing it costs only time.
fn cache(config: &Config, mend: bool, checks: &mut Vec<Check>) {
    let name = "cache of vectors";
    checks.push(match check_embedding_cache(&config.index.embedding_cache, mend) {
        Ok(None) => return,
        Ok(Some(EmbeddingCacheCheck { damage: Some(damage), .. })) => match mend {
            true => check(name, State::Repaired, format!("was damaged ({damage}); a new one took its place")),
            false => check(name, State::Repairable, format!("damaged: {damage}")),
        },
        Ok(Some(EmbeddingCacheCheck { damage: None, path, vectors })) => {
            check(name, State::Ok, format!("sound: {} in {}", counted(vectors, "vector"), path.display()))
        }
        Err(error) => check(name, State::Note, format!("not used: {error}")),
    });
}

fn freshness(index: &Index, checks: &mut Vec<Check>) {
    checks.push(match index.stale() {
        Ok(0) => check("freshness", State::Ok, "no file has changed since the last run"),
        Ok(stale) => {
            let message = format!("{} since the last run; the next search reads them", counted(stale, "changed file"));
            check("freshness", State::Note, message)
        }
        Err(error) => check("freshness", State::Wrong, error.to_string()),
    });
}

fn print(diagnosis: &Diagnosis, check_only: bool, output: &Output) -> Result<()> {
    let mut out = output.styled();
    for Check { name, state, message } in &diagnosis.checks {
        let word = match state {
            State::Ok => "ok".green().to_string(),
            State::Note => "note".cyan().to_string(),
            State::Repaired => "repaired".green().bold().to_string(),
            State::Repairable => "repairable".yellow().bold().to_string(),
            State::Wrong => "wrong".red().bold().to_string(),
        };
        writeln!(out, "{word}: {}: {}", label(name), visible(message))?;
    }
    // Without --check-only, another line says what kept it from being repaired.
    if check_only && diagnosis.checks.iter().any(|check| check.state == State::Repairable) {
        writeln!(out, "Run `tamis doctor` without --check-only to repair what is repairable; nothing is lost by it.")?;
    }
    let checks = counted(diagnosis.checks.len() as u64, "check");
    match diagnosis.checks.iter().filter(|check| check.has_failed()).count() {
        0 => writeln!(out, "All is well: {checks} passed.")?,
        failed => writeln!(out, "{failed} of {checks} failed.")?,
    }
    out.flush()?;
    Ok(())
}
