//! Corruption rounds: bits flip; files are cut, filled with zeros, swapped with others or removed.
//!
//! Derived files must be rebuilt. A damaged database must be an error or a finding of `tamis doctor`, never an index that holds less
//! than before and calls itself sound.

use super::check::{answers, doctor};
use super::fixture::KEPT_WORD;
use super::random::Random;
use super::sandbox::{Ended, Running, Sandbox};
use super::setup::{Setup, VARIANTS};
use super::snapshot::{Snapshot, search_results};
use super::table::Outcome;
use super::work::Work;
use anyhow::{Context, Result, bail, ensure};
use std::fs;
use std::path::{Path, PathBuf};

/// The file to damage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
    Lexical,
    Vectors,
    WriteAhead,
    SharedMemory,
    Usage,
    Cache,
    Database,
}

const TARGETS: [Target; 9] = [
    Target::Lexical,
    Target::Lexical,
    Target::Vectors,
    Target::Vectors,
    Target::WriteAhead,
    Target::SharedMemory,
    Target::Usage,
    Target::Cache,
    Target::Database,
];

/// Damages files of an index and checks the reaction of the program.
///
/// # Errors
/// Something was lost, or damage went unreported.
pub fn round(setup: &Setup, random: &mut Random, sandbox: &mut Option<Sandbox>) -> Result<Outcome> {
    let sandbox = &*sandbox.insert(Sandbox::copy_of(&setup.base.sandbox)?);
    let target = *random.pick(&TARGETS);
    let before = Snapshot::of(sandbox)?;
    let results = search_results(sandbox)?;
    let index = sandbox.index();
    let files = match target {
        Target::Lexical => files_below(&index.join("lexical"))?,
        Target::Vectors => files_below(&index.join("vectors"))?,
        Target::Usage => vec![index.join("usage.db")],
        Target::Database => vec![index.join("tamis.db")],
        Target::WriteAhead | Target::SharedMemory => {
            let suffix = if target == Target::WriteAhead { "tamis.db-wal" } else { "tamis.db-shm" };
            killed_while_writing(setup, sandbox, random)?;
            vec![index.join(suffix)].into_iter().filter(|file| file.exists()).collect()
        }
        Target::Cache => return cache(sandbox, random),
    };
    let Some(damage) = damage(&files, random)? else {
        return Ok(Outcome { landed: false, summary: format!("{target:?}: no file to damage") });
    };
    let summary = format!("{target:?}: {damage}");
    match target {
        Target::Database => database(sandbox, &before),
        Target::WriteAhead | Target::SharedMemory => recovered(sandbox),
        _ => derived(sandbox, target, &before, &results),
    }
    .with_context(|| summary.clone())?;
    Ok(Outcome { landed: true, summary })
}

fn files_below(directory: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        match path.is_dir() {
            true => files.extend(files_below(&path)?),
            false => files.push(path),
        }
    }
    files.sort();
    Ok(files)
}

/// Leaves a write-ahead log that is not yet part of the database.
fn killed_while_writing(setup: &Setup, sandbox: &Sandbox, random: &mut Random) -> Result<()> {
    let variant = random.below(VARIANTS);
    Work::Index.prepare(sandbox, variant)?;
    let arguments = Work::Index.arguments(&setup.base);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let running = Running::start(&mut sandbox.command(&arguments))?;
    while let Ok(line) = running.lines.recv() {
        if line.contains("indexing passages") {
            break;
        }
    }
    running.kill().map(drop)
}

/// Damages one of some files and describes the damage.
fn damage(files: &[PathBuf], random: &mut Random) -> Result<Option<String>> {
    let whole: Vec<&PathBuf> =
        files.iter().filter(|file| fs::metadata(file).is_ok_and(|data| data.len() > 0)).collect();
    if whole.is_empty() {
        return Ok(None);
    }
    let file = *random.pick(&whole);
    let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut bytes = fs::read(file)?;
    let length = bytes.len() as u64;
    let place = random.below(length) as usize;
    let summary = match random.below(7) {
        0 => {
            let bits = 1 + random.below(8);
            for _ in 0..bits {
                let at = random.below(length) as usize;
                bytes[at] ^= 1 << random.below(8);
            }
            format!("{bits} bits of {name} flip")
        }
        1 => {
            bytes.truncate(place);
            format!("{name} ends after {place} of {length} bytes")
        }
        2 => {
            bytes.clear();
            format!("{name} is empty")
        }
        3 => {
            let end = (place + 1 + random.below(8192) as usize).min(bytes.len());
            bytes[place..end].fill(0);
            format!("bytes {place} to {end} of {name} are zero")
        }
        4 => {
            for byte in &mut bytes[place..] {
                *byte = random.next_u64() as u8;
            }
            format!("{name} is noise from byte {place}")
        }
        5 => {
            let other = *random.pick(&whole);
            if other != file {
                let theirs = fs::read(other)?;
                fs::write(other, &bytes)?;
                bytes = theirs;
            } else {
                bytes.extend_from_within(..place);
            }
            format!("{name} and {} are swapped", other.file_name().unwrap_or_default().to_string_lossy())
        }
        _ => {
            fs::remove_file(file)?;
            return Ok(Some(format!("{name} is removed")));
        }
    };
    fs::write(file, bytes)?;
    Ok(Some(summary))
}

/// Searches the damaged index. The search may answer, or fail with a message.
fn search(sandbox: &Sandbox) -> Result<Ended> {
    let ended = sandbox.run(&["search", "--json", "--mode", "lexical", KEPT_WORD])?;
    match ended.fault() {
        Some(fault) => bail!("a search {fault}"),
        None => Ok(ended),
    }
}

/// Checks a derived file or a log: after `tamis doctor` everything is there again, and nothing else was touched.
fn derived(sandbox: &Sandbox, target: Target, before: &Snapshot, results: &[String]) -> Result<()> {
    // A missing or empty log belongs to a new index: users delete it to erase their history.
    let is_new = fs::metadata(sandbox.index().join("usage.db")).map_or(true, |log| log.len() == 0);
    search(sandbox)?;
    let repaired = sandbox.run(&["doctor"])?;
    if let Some(fault) = repaired.fault() {
        bail!("doctor {fault}");
    }
    let healthy = sandbox.run(&["doctor", "--check-only"])?.code() == Some(0);
    if target == Target::Usage {
        answers(sandbox, false)?;
        let judgements = Snapshot::of(sandbox).map(|print| print.judgements).unwrap_or_default();
        ensure!(
            !healthy || is_new || before.judgements.is_subset(&judgements),
            "judgements are lost, and doctor finds nothing: {repaired}"
        );
        return Ok(());
    }
    ensure!(healthy, "doctor does not repair it: {repaired}");
    let after = Snapshot::of(sandbox)?;
    ensure!(after == *before, "the database differs: {}", before.difference(&after));
    let found = search_results(sandbox)?;
    ensure!(found == results, "searches find {found:?}, before {results:?}");
    Ok(())
}

/// Checks a damaged write-ahead log: the database is in an earlier whole state.
fn recovered(sandbox: &Sandbox) -> Result<()> {
    search(sandbox)?;
    sandbox.done(&["index"])?;
    sandbox.run(&["doctor"])?;
    doctor(sandbox, true)?;
    Snapshot::of(sandbox)?;
    answers(sandbox, false)
}

/// Checks a damaged database. Nothing can bring it back, but the damage must not go unnoticed.
fn database(sandbox: &Sandbox, before: &Snapshot) -> Result<()> {
    // Without the file a new index is made: the program advises to move a damaged file away.
    let is_gone = !sandbox.index().join("tamis.db").exists();
    search(sandbox)?;
    for arguments in [&["doctor", "--check-only"][..], &["index"], &["doctor"], &["status"]] {
        let ended = sandbox.run(arguments)?;
        if let Some(fault) = ended.fault() {
            bail!("tamis {} {fault}", arguments.join(" "));
        }
    }
    let diagnosis = sandbox.run(&["doctor", "--check-only", "--json"])?;
    if diagnosis.code() == Some(0) && !is_gone {
        let after = Snapshot::of(sandbox).context("doctor finds nothing")?;
        let gone = before.documents.keys().find(|path| !after.documents.contains_key(*path));
        ensure!(gone.is_none(), "{} is lost, and doctor finds nothing: {diagnosis}", gone.map_or("", String::as_str));
        ensure!(
            after.evidence.len() >= before.evidence.len(),
            "evidence is lost, and doctor finds nothing: {diagnosis}"
        );
    }
    Ok(())
}

/// Checks a damaged cache of vectors: only time may be lost.
fn cache(sandbox: &Sandbox, random: &mut Random) -> Result<Outcome> {
    fs::remove_dir_all(sandbox.index())?;
    for name in ["notes", "src", "memory"] {
        fs::remove_dir_all(sandbox.tree().join(name))?;
    }
    // Only slow models use the cache, so this round takes one, on a single file.
    let with_model = |arguments: &[&str]| -> Result<Ended> {
        let mut command = sandbox.command(arguments);
        command.env("TAMIS_INDEX_MODELS", "static,minilm");
        Running::start(&mut command)?.end()
    };
    ensure!(with_model(&["index", "--wait"])?.code() == Some(0), "the index is made");
    let files = files_below(&sandbox.home().join("cache"))?;
    let Some(damage) = damage(&files, random)? else {
        return Ok(Outcome { landed: false, summary: "Cache: no file to damage".into() });
    };
    let summary = format!("Cache: {damage}");
    fs::remove_dir_all(sandbox.index())?;
    let again = with_model(&["index", "--wait"])?;
    ensure!(again.code() == Some(0), "{summary}: the index is not made: {again}");
    answers(sandbox, false).with_context(|| summary.clone())?;
    if let Some(fault) = with_model(&["doctor"])?.fault() {
        bail!("{summary}: doctor {fault}");
    }
    Ok(Outcome { landed: true, summary })
}
