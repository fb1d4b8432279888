//! `cargo xtask bench rivals`: other search tools on the same trees and questions.
//!
//! The trees are sources of crates that the build has, the questions those of `lab/questions/lists`. Every tool gets the same
//! queries and its own defaults, offline and within a time limit. One that fails is a row with its reason.

mod measure;
mod run;
mod server;
mod table;
mod tools;
mod trees;

use anyhow::{Context, Result, bail};
use run::Place;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tamis_questions::place::root;

const USAGE: &str = "\
Usage: cargo xtask bench rivals [OPTIONS]

Asks ripgrep, SIFS, Probe, Semble and qmd the questions that this project asks itself, and prints a table. The tools are
installed into target/rivals, which the first run downloads and builds.

  --tree NAME    only this list; may be repeated (default: all lists about crates)
  --only NAME    only tools whose name begins so; may be repeated
  --limit N      the longest time of one command, in seconds (default: 120)
  --patience N   the longest time for all questions of a tool, in seconds (default: 600); the rest is not asked
  --install      only install the tools
  --write        write the tables into docs/comparison.md and docs/research/rivals.md, or with --only the one of README.md
";

#[derive(Default)]
struct Arguments {
    trees: Vec<String>,
    only: Vec<String>,
    limit: Option<u64>,
    patience: Option<u64>,
    install: bool,
    write: bool,
}

fn main() -> Result<()> {
    let Some(arguments) = arguments(std::env::args().skip(1))? else {
        print!("{USAGE}");
        return Ok(());
    };
    let started = Instant::now();
    let directory = root().join("target/rivals");
    let work = directory.join("work");
    if work.exists() {
        fs::remove_dir_all(&work).with_context(|| format!("cannot remove {}", work.display()))?;
    }
    let program = std::env::current_exe()?.parent().context("no directory of the program")?.join("tamis");
    let limit = Duration::from_secs(arguments.limit.unwrap_or(120));
    let patience = Duration::from_secs(arguments.patience.unwrap_or(600));
    let place = Place { home: work.join("home"), limit, patience };
    let mut all = tools::all(&directory.join("tools"), &program, &place);
    all.retain(|(_, tool)| {
        arguments.only.is_empty() || arguments.only.iter().any(|name| tool.name().starts_with(name))
    });
    if arguments.install {
        for (_, tool) in &all {
            match tool.install() {
                Ok(()) => println!("{}: installed", tool.name()),
                Err(error) => println!("{}: {error:#}", tool.name()),
            }
        }
        return Ok(());
    }
    let mut measured = Vec::new();
    for (place, tool) in &all {
        // Each tool gets fresh copies, so that none indexes what another one wrote.
        let copies = work.join("trees");
        let _ = fs::remove_dir_all(&copies);
        let trees = trees::copied(&copies.join("single"), &arguments.trees)?;
        let together = trees::together(&trees, &copies.join("all"))?;
        let began = Instant::now();
        let row = measure::measure(tool.as_ref(), place, &trees, &together);
        eprintln!("{}: {:.0?} {}", tool.name(), began.elapsed(), row.failed.as_deref().unwrap_or("done"));
        measured.push(row);
    }
    let questions: usize =
        trees::copied(&work.join("count"), &arguments.trees)?.iter().map(|tree| tree.questions.len()).sum();
    let heading = format!("{questions} questions, {} s in all", started.elapsed().as_secs());
    let (short, whole) =
        (table::short(&measured), format!("{}\n{}", table::whole(&measured), table::by_tree(&measured)));
    let answers = table::answers(&measured);
    println!("{answers}\n{short}\n{whole}\n{heading}");
    match (arguments.write, arguments.only.is_empty()) {
        (true, true) => {
            write(&root().join("docs/comparison.md"), &short)?;
            write(&root().join("docs/research/rivals.md"), &whole)?;
        }
        (true, false) => write(&root().join("README.md"), &answers)?,
        (false, _) => {}
    }
    fs::remove_dir_all(&work).with_context(|| format!("cannot remove {}", work.display()))
}

fn arguments(mut given: impl Iterator<Item = String>) -> Result<Option<Arguments>> {
    let mut arguments = Arguments::default();
    while let Some(argument) = given.next() {
        let mut value = || given.next().with_context(|| format!("{argument} needs a value\n\n{USAGE}"));
        match argument.as_str() {
            "--tree" => arguments.trees.push(value()?),
            "--only" => arguments.only.push(value()?),
            "--limit" => arguments.limit = Some(value()?.parse().context("--limit: expected seconds")?),
            "--patience" => {
                arguments.patience = Some(value()?.parse().context("--patience: expected seconds")?);
            }
            "--install" => arguments.install = true,
            "--write" => arguments.write = true,
            "--help" | "-h" => return Ok(None),
            other => bail!("{other}: unknown argument\n\n{USAGE}"),
        }
    }
    Ok(Some(arguments))
}

const BEGIN: &str = "<!-- rivals: written by `cargo xtask bench rivals --write` -->\n";
const END: &str = "<!-- /rivals -->";

/// Replaces the table between the marks of a file.
fn write(path: &Path, table: &str) -> Result<()> {
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let marked = |path: &PathBuf| format!("{} lacks the marks of the table", path.display());
    let start = text.find(BEGIN).with_context(|| marked(&path.to_owned()))? + BEGIN.len();
    let end = start + text[start..].find(END).with_context(|| marked(&path.to_owned()))?;
    Ok(fs::write(path, format!("{}{table}{}", &text[..start], &text[end..]))?)
}
