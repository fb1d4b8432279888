//! The checks after a disturbance: nothing acknowledged is lost, nothing is applied in part, and everything works.

use super::fixture::{KEPT_WORD, NOTE_WORD};
use super::sandbox::{Ended, Sandbox};
use super::setup::Setup;
use super::snapshot::{Snapshot, search_results};
use super::work::{NEW_NOTE_WORD, Reference, Work, note};
use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;

/// Checks that a search finds the file that no round changes.
///
/// # Errors
/// It finds something else.
pub fn answers(sandbox: &Sandbox, refresh: bool) -> Result<()> {
    let mut arguments = vec!["search", "--json", "--mode", "lexical", "--cut", "fixed:k=3", KEPT_WORD];
    if !refresh {
        arguments.push("--no-refresh");
    }
    let ended = sandbox.run(&arguments)?;
    ensure!(ended.code() == Some(0) && ended.out.contains("kept.md"), "the search for the unchanged file: {ended}");
    Ok(())
}

/// Checks that `tamis doctor` finds nothing beyond repair.
///
/// # Errors
/// It fails, or finds more.
pub fn doctor(sandbox: &Sandbox, must_be_healthy: bool) -> Result<()> {
    let diagnosis = sandbox.json(&["doctor", "--check-only", "--json"])?;
    let checks = diagnosis["checks"].as_array().context("checks")?;
    let wrong = checks.iter().find(|check| check["state"] == "wrong");
    ensure!(wrong.is_none(), "doctor: {}", wrong.unwrap_or(&diagnosis));
    ensure!(!must_be_healthy || diagnosis["healthy"] == true, "doctor: {diagnosis}");
    Ok(())
}

/// Checks that `tamis doctor` runs on a full disk and finds no other fault.
///
/// # Errors
/// It fails, or finds more.
pub fn doctor_without_room(sandbox: &Sandbox) -> Result<()> {
    let diagnosis = sandbox.json(&["doctor", "--check-only", "--json"])?;
    let checks = diagnosis["checks"].as_array().context("checks")?;
    let is_about_room =
        |check: &Value| check["message"].as_str().is_some_and(|message| message.contains("no space left"));
    let wrong = checks.iter().find(|check| check["state"] == "wrong" && !is_about_room(check));
    ensure!(wrong.is_none(), "doctor: {}", wrong.unwrap_or(&diagnosis));
    Ok(())
}

/// Checks everything that must hold after a piece of work was stopped or disturbed, and after it is done again.
///
/// # Errors
/// One of the checks fails.
pub fn survived(
    setup: &Setup,
    sandbox: &Sandbox,
    work: Work,
    reference: &Reference,
    ended: &Ended,
    refresh: bool,
) -> Result<()> {
    // The index as it was left, before anything opens it again.
    let left = Snapshot::of(sandbox).context("right after it stopped")?;
    whole(work, &left, reference, ended).context("right after it stopped")?;
    notes(sandbox, work, ended).context("right after it stopped")?;
    if work != Work::IndexNew || refresh {
        answers(sandbox, refresh).context("right after it stopped")?;
    }
    doctor(sandbox, false).context("right after it stopped")?;

    let arguments = work.arguments(&setup.base);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let again = sandbox.run(&arguments)?;
    ensure!(work.is_done_again(&again), "done again, it {again}");
    sandbox.done(&["index"]).context("an index run afterwards")?;
    doctor(sandbox, true).context("done again")?;
    let after = Snapshot::of(sandbox).context("done again")?;
    if work.is_repeatable() {
        ensure!(
            after == reference.after,
            "done again, it differs from undisturbed work: {}",
            after.difference(&reference.after)
        );
        let results = search_results(sandbox)?;
        ensure!(
            results == reference.results,
            "done again, searches find {results:?}, undisturbed {:?}",
            reference.results
        );
    }
    ensure!(left.judgements.is_subset(&after.judgements), "judgements were lost: {}", left.difference(&after));
    if work == Work::Remember {
        let found =
            sandbox.done(&["search", "--json", "--mode", "lexical", NEW_NOTE_WORD]).context("the note again")?;
        ensure!(found.out.contains("corner of the street"), "the note is not found: {found}");
    }
    Ok(())
}

/// Checks that every document is in its state before or after, that an import is whole or absent, and that acknowledged work is there.
fn whole(work: Work, left: &Snapshot, reference: &Reference, ended: &Ended) -> Result<()> {
    let Reference { before, after, .. } = reference;
    let is_run = matches!(work, Work::Index | Work::IndexNew);
    if is_run {
        for (path, document) in &left.documents {
            let known = [before.documents.get(path), after.documents.get(path)].contains(&Some(document));
            ensure!(known, "{path} matches neither the state before nor the one after: {document}");
        }
        for (path, document) in &before.documents {
            let stays = after.documents.get(path) == Some(document);
            ensure!(!stays || left.documents.get(path) == Some(document), "{path} was lost, though nothing changed it");
        }
    } else if work.is_repeatable() {
        let of = |print: &Snapshot| (print.documents.clone(), print.evidence.clone());
        let applied = of(left) == of(after);
        ensure!(applied || of(left) == of(before), "applied in part: {}", left.difference(after));
    }
    if work != Work::IndexNew {
        ensure!(before.judgements.is_subset(&left.judgements), "judgements were lost: {}", before.difference(left));
    }
    let new: BTreeSet<_> = left.judgements.difference(&before.judgements).collect();
    if work == Work::Feedback {
        ensure!(new.is_empty() || new.len() == 3, "judgements stored in part: {new:?}");
    }
    if !work.is_acknowledged(ended) {
        return Ok(());
    }
    match work {
        Work::Remember => {}
        Work::Feedback => ensure!(new.len() == 3, "acknowledged judgements are missing: {ended}"),
        _ if is_run && ended.out.contains("could not be read") => {
            // A file that cannot be read is named, and the rest is indexed.
            let missing = after.documents.iter().filter(|(path, document)| left.documents.get(*path) != Some(document));
            for (path, _) in missing {
                let named = path.rsplit(' ').next().is_some_and(|path| ended.out.contains(path));
                ensure!(named, "acknowledged and missing: {path}: {ended}");
            }
        }
        _ => {
            let same = left.documents == after.documents && left.evidence == after.evidence;
            ensure!(same, "acknowledged and missing: {}", left.difference(after));
        }
    }
    Ok(())
}

/// Checks that the files of notes hold every acknowledged note, each whole.
fn notes(sandbox: &Sandbox, work: Work, ended: &Ended) -> Result<()> {
    let mut text = String::new();
    for entry in fs::read_dir(sandbox.tree().join("memory"))? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "md") {
            text.push_str(&fs::read_to_string(&path).with_context(|| path.display().to_string())?);
        }
    }
    ensure!(text.contains(&format!("the {NOTE_WORD} blows from the west\n")), "a note was lost: {text:?}");
    if text.contains("lamp") && !text.contains(&format!("{}\n", note())) {
        bail!("a note in part: {text:?}");
    }
    if work == Work::Remember && work.is_acknowledged(ended) {
        ensure!(text.contains(&note()), "an acknowledged note is missing: {text:?}");
    }
    Ok(())
}
