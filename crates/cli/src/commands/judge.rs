//! `tamis judge`: has a chat model grade candidates, and says how far it agrees with people.

use crate::args::{Global, JudgeArguments};
use crate::exit::Exit;
use crate::interrupt;
use crate::output::Output;
use crate::print::judge;
use crate::progress::Progress;
use crate::session::{Session, setting};
use anyhow::Result;
use std::io::Write;
use std::path::Path;
use tamis::Index;
use tamis::judge::{JudgeBudget, JudgeQueries, JudgeRequest, JudgeStop, queries_from_file};

/// Grades, checks, lists or deletes.
///
/// # Errors
/// There is no index, no model is configured, it cannot be asked, or a file or the log cannot be used.
pub fn run(arguments: &JudgeArguments, global: &Global, output: &Output) -> Result<Exit> {
    // Deleting needs no model, and takes the name of one that is not configured any more.
    let model = arguments.model.as_deref().filter(|_| !arguments.remove && !arguments.list);
    let session = Session::start(global, setting("judge.model", "--model", model).into_iter().collect())?;
    let config = session.config()?;
    let index = session.open_existing(config)?;
    if arguments.list {
        return list(&index, arguments, output);
    }
    if arguments.remove {
        return remove(&index, arguments, output);
    }
    let request = request(arguments)?;
    interrupt::install()?;
    match &arguments.check {
        Some(directory) if arguments.dry_run => {
            plan(&index.judge().plan_check(directory, &arguments.split, &request)?, arguments, output)
        }
        Some(directory) => check(&index, directory, &request, arguments, output),
        None if arguments.dry_run => plan(&index.judge().plan(&request)?, arguments, output),
        None => grade(&index, &request, arguments, output),
    }
}

fn request(arguments: &JudgeArguments) -> Result<JudgeRequest> {
    let queries = match &arguments.queries {
        Some(path) => JudgeQueries::Given(queries_from_file(path)?),
        None => JudgeQueries::Past(arguments.last),
    };
    Ok(JudgeRequest {
        queries,
        depth: arguments.depth.map(usize::from),
        relevant_from: arguments.relevant_from,
        budget: JudgeBudget { calls: arguments.max_calls, tokens: arguments.max_tokens },
        retry_failed: arguments.retry_failed,
    })
}

fn grade(index: &Index, request: &JudgeRequest, arguments: &JudgeArguments, output: &Output) -> Result<Exit> {
    let progress = Progress::when_slow(output);
    let report = index.judge().run(request, &progress);
    drop(progress);
    let report = report?;
    if arguments.json {
        output.json(&report)?;
    } else if report.grades.is_empty() && report.stopped.is_none() {
        output.note("no query with candidates to grade");
    } else {
        let mut out = output.paged();
        judge::graded(&mut out, &report)?;
        out.flush()?;
    }
    Ok(ended(report.stopped, !report.grades.is_empty(), output))
}

fn check(
    index: &Index,
    directory: &Path,
    request: &JudgeRequest,
    arguments: &JudgeArguments,
    output: &Output,
) -> Result<Exit> {
    let progress = Progress::when_slow(output);
    let report = index.judge().check(directory, &arguments.split, request, &progress);
    drop(progress);
    let report = report?;
    report.notes.iter().for_each(|note| output.warn(note));
    if arguments.json {
        output.json(&report)?;
    } else {
        let mut out = output.styled();
        judge::checked(&mut out, &report)?;
        out.flush()?;
    }
    Ok(ended(report.stopped, !report.checked.is_empty(), output))
}

/// The exit status of a run, after a note on why it ended early.
fn ended(stopped: Option<JudgeStop>, found: bool, output: &Output) -> Exit {
    if let Some(stop) = stopped {
        output.note(&format!("stopped: {stop}; what is graded is kept, and the next run goes on from there"));
    }
    if stopped == Some(JudgeStop::Interrupted) { Exit::Interrupted } else { Exit::found(found) }
}

fn plan(plan: &tamis::judge::JudgePlan, arguments: &JudgeArguments, output: &Output) -> Result<Exit> {
    if arguments.json {
        output.json(plan)?;
    } else {
        let mut out = output.paged();
        judge::planned(&mut out, plan)?;
        out.flush()?;
    }
    Ok(Exit::found(plan.pairs > 0))
}

fn list(index: &Index, arguments: &JudgeArguments, output: &Output) -> Result<Exit> {
    let graded = index.judge().graded(arguments.limit)?;
    if arguments.json {
        output.json(&graded)?;
    } else if graded.is_empty() {
        output.note("no judgement was made from a model's grades");
    } else {
        let mut out = output.paged();
        judge::listed(&mut out, &graded)?;
        out.flush()?;
    }
    Ok(Exit::found(!graded.is_empty()))
}

fn remove(index: &Index, arguments: &JudgeArguments, output: &Output) -> Result<Exit> {
    let removed = index.judge().remove(arguments.model.as_deref())?;
    if arguments.json {
        output.json(&removed)?;
    } else {
        output.note(&judge::removed(removed));
    }
    Ok(Exit::found(removed.grades > 0))
}
