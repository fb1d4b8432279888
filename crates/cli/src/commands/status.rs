//! `tamis status`: shows what the index holds.

use super::import;
use crate::command_line::Global;
use crate::exit::Exit;
use crate::layout::Page;
use crate::output::Output;
use crate::print::report::{pending, skipped, unread};
use crate::print::table::Columns;
use crate::print::text::{ago, bytes, count, counted, label, visible};
use crate::session::Session;
use anyhow::Result;
use clap::Args;
use owo_colors::OwoColorize;
use std::borrow::Cow;
use std::io;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tamis::index::EmbeddingProgress;
use tamis::{IndexPlace, Status};
use tamis_text::Language;

/// Flags of `tamis status`.
#[derive(Debug, Args)]
pub struct StatusArguments {
    /// Print the status as JSON
    #[arg(long)]
    pub json: bool,
}

/// Shows the contents and the freshness of the index; changes nothing.
///
/// # Errors
/// There is no index, or it cannot be read.
pub fn run(arguments: &StatusArguments, global: &Global, output: &Output) -> Result<Exit> {
    let session = Session::start(global, Vec::new())?;
    let config = session.config()?;
    let index = session.open_existing(config)?;
    if let Some(full) = index.full_disk() {
        output.warn(&format!("opened read-only: {full}"));
    }
    let found = index.status()?;
    output.answer(arguments.json, &found, output.paged(), |out| {
        print(out, &found, SystemTime::now(), output.verbose())
    })?;
    Ok(Exit::Found)
}

/// Writes the whole status. `verbose` adds the kinds of files left out and the remarks on how files were read.
fn print(out: &mut dyn Page, status: &Status, now: SystemTime, verbose: bool) -> io::Result<()> {
    let summary = &status.summary;
    let IndexPlace { root, directory, database } = &status.place;
    let place = database.as_deref().map_or_else(|| root.to_string_lossy(), Cow::Borrowed);
    writeln!(out, "{}", label(&place).bold())?;
    let fresh = match status.files.stale {
        0 => "up to date".green().to_string(),
        stale => format!("{} since", counted(stale, "changed file")).yellow().to_string(),
    };
    let passages = counted(summary.passages, "passage");
    writeln!(out, "  {} in {passages}, {fresh}", counted(summary.documents, "document"))?;
    let sizes = summary.sizes;
    let directory = match database {
        Some(_) => String::new(),
        None => format!(" in {}", label(&directory.to_string_lossy())),
    };
    writeln!(
        out,
        "  index{directory}: {} (database {}, lexical index {}, vectors {})",
        bytes(sizes.database + sizes.lexical + sizes.vectors),
        bytes(sizes.database),
        bytes(sizes.lexical),
        bytes(sizes.vectors)
    )?;
    let published = summary.last_publish_ms.and_then(|at| u64::try_from(at).ok()).map(Duration::from_millis);
    if let Some(elapsed) = published.and_then(|at| now.duration_since(UNIX_EPOCH).ok()?.checked_sub(at)) {
        writeln!(out, "  last brought up to date {}", ago(elapsed))?;
    }
    skipped(out, &status.files.skipped, verbose)?;
    unread(out, &status.files.unread, status.sources.len() > 1, verbose)?;
    notes(out, status, verbose)?;
    sources(out, status)?;
    if !status.imported.is_empty() {
        writeln!(out)?;
        import::print_list(out, &status.imported)?;
    }
    evidence(out, status)?;
    let counts = &summary.counts;
    // Those of a directory are its sources, which are listed already.
    let namespaces = database.as_ref().map(|_| ("namespace", &counts.namespaces));
    let tables = namespaces.into_iter().chain([("collection", &counts.collections), ("language", &counts.languages)]);
    for (heading, counts) in tables {
        let mut table = Columns::new(&[heading, ">documents", ">passages"]);
        let mut counts: Vec<_> = counts.iter().collect();
        counts.sort_by(|a, b| b.passages.cmp(&a.passages).then_with(|| a.name.cmp(&b.name)));
        for entry in counts {
            // People read "C++", which every flag takes too; programs get the stored name.
            let language = Language::from_name(&entry.name).filter(|_| heading == "language");
            let name = language.map_or_else(|| label(&entry.name), |language| language.display.into());
            let name = if name.is_empty() { "(none)".into() } else { name };
            table.row([name.into_owned(), count(entry.documents), count(entry.passages)]);
        }
        writeln!(out)?;
        table.write(out)?;
    }
    models(out, status)
}

/// Writes the repositories; nothing if the index holds only the tree around it.
fn sources(out: &mut dyn Page, status: &Status) -> io::Result<()> {
    if matches!(status.sources.as_slice(), [only] if only.root == status.place.root) {
        return Ok(());
    }
    let mut table = Columns::new(&["namespace", "/root", "owner", "shared", ">documents", ">passages", ">stale"]);
    for source in &status.sources {
        table.row([
            label(&source.namespace).into_owned(),
            visible(&source.root.to_string_lossy()).into_owned(),
            source.owner.as_deref().map_or_else(|| "–".into(), |owner| visible(owner).into_owned()),
            if source.shared { "yes" } else { "no" }.into(),
            count(source.documents),
            count(source.passages),
            count(source.stale),
        ]);
    }
    writeln!(out)?;
    table.write(out)?;
    for source in &status.sources {
        if let Some(remark) = &source.remark {
            writeln!(out, " {}: {}", label(&source.namespace), visible(remark).yellow())?;
        }
    }
    Ok(())
}

/// Writes the evidence of each namespace that has any.
fn evidence(out: &mut dyn Page, status: &Status) -> io::Result<()> {
    for found in &status.evidence {
        let of = if status.evidence.len() == 1 { String::new() } else { format!(" of {}", label(&found.namespace)) };
        let graph =
            [(found.tasks, "task"), (found.claims, "claim"), (found.fragments, "fragment"), (found.pages, "page")];
        let graph: Vec<String> = graph.iter().map(|(number, noun)| counted(*number, noun)).collect();
        let relations = [(found.supporting, "supporting"), (found.refuting, "refuting"), (found.neutral, "neutral")];
        let relations: Vec<String> =
            relations.iter().map(|(number, relation)| format!("{} {relation}", count(*number))).collect();
        writeln!(out, "\n  evidence{of}: {}; edges to claims: {}", graph.join(", "), relations.join(", "))?;
        let mut table = Columns::new(&["domain", ">pages", ">fragments"]);
        for domain in &found.top_domains {
            table.row([label(&domain.name).into_owned(), count(domain.documents), count(domain.passages)]);
        }
        if !found.top_domains.is_empty() {
            table.write(out)?;
        }
    }
    Ok(())
}

fn notes(out: &mut dyn Page, status: &Status, verbose: bool) -> io::Result<()> {
    if status.files.notes.is_empty() {
        return Ok(());
    }
    let hint = if verbose { "" } else { " (-v lists them)" };
    writeln!(out, "  {} read with a remark{hint}", counted(status.files.notes.len() as u64, "file"))?;
    for (path, note) in status.files.notes.iter().filter(|_| verbose) {
        writeln!(out, "    {}: {}", label(path), visible(note))?;
    }
    Ok(())
}

fn models(out: &mut dyn Page, status: &Status) -> io::Result<()> {
    let mut table = Columns::new(&["model", ">dimensions", ">embedded", ">of passages", ""]);
    for entry in &status.summary.models {
        let coverage = entry.coverage;
        // The percentage is rounded down, so that a model with a gap never reads 100%.
        let percent = (coverage.embedded * 100).checked_div(coverage.passages).unwrap_or(100);
        table.row([
            entry.model.id.clone(),
            entry.model.dimension.to_string(),
            count(coverage.embedded),
            count(coverage.passages),
            format!("{percent}%"),
        ]);
    }
    writeln!(out)?;
    table.write(out)?;
    for (model, passages) in &status.pending {
        match status.embedding.as_ref().filter(|embedding| embedding.model == *model) {
            Some(embedding) => writeln!(out, " {}", in_progress(embedding))?,
            None => writeln!(out, " {}", pending(model, *passages))?,
        }
    }
    cache(out, status)
}

/// Returns the sentence on a model that is embedding in the background.
fn in_progress(embedding: &EmbeddingProgress) -> String {
    let EmbeddingProgress { model, embedded, passages, seconds_left, .. } = embedding;
    let time = seconds_left.map(|seconds| format!(", about {} left", rough(seconds))).unwrap_or_default();
    format!("{}, embedding: {} of {}{time}", label(model), count(*embedded), counted(*passages, "passage"))
}

/// Seconds as people say them.
fn rough(seconds: u64) -> String {
    match seconds {
        0..=119 => format!("{seconds} s"),
        120..=7199 => format!("{} min", seconds.div_ceil(60)),
        _ => format!("{} h", seconds.div_ceil(3600)),
    }
}

/// Writes the size of the cache of vectors that all of the user's indexes share.
fn cache(out: &mut dyn Page, status: &Status) -> io::Result<()> {
    let Some(cache) = &status.embedding_cache else { return Ok(()) };
    let size = format!("{} of at most {}", bytes(cache.bytes), bytes(cache.most_bytes));
    write!(
        out,
        "\n  cache of vectors in {}: {}, {size}",
        label(&cache.path.to_string_lossy()),
        counted(cache.vectors, "vector")
    )?;
    for (model, hits) in &cache.last_run {
        write!(out, "; {} of {} taken from it in the last run", counted(*hits, "text"), label(model))?;
    }
    writeln!(out)
}
