//! Runs the command blocks of the documentation and compares what they print with what the pages show.
//!
//! Every block ```` ```console ```` of a page is run, in order, by a reader who stands in the project of
//! `xtask/conformance/project`, indexed and with its issues and its evidence imported. A page that names `db.example` has an empty database
//! there. A command without output on the page must only
//! succeed, and a file that a page shows with `cat` is made. Comments right before a block say what else is special about it:
//!
//! - `<!-- not run: needs a network -->`: it cannot be run, for this reason.
//! - `<!-- run in ~/health -->`: it is run there, not in `~/mill`. The files there are those of `tests/documentation/home`.
//! - `<!-- run anew -->`: nothing that the blocks before it did is there.
//! - `<!-- run until it prints this -->`: the server needs time to get there. The block is run up to ten times.
//!
//! `TAMIS_PAGES=cli.md,http.md` runs these pages alone, and `TAMIS_PAGES_WRITE=1` writes the outputs that differ into the pages.
//! (trycmd does the same for programs that print the same text every time. It has no shell, and readers would see its placeholders.)
#![cfg(unix)]

mod compare;
mod links;
mod page;
#[path = "../postgres/private.rs"]
#[allow(dead_code)]
mod private;
mod python;
mod reader;
mod reference;
mod terminal;

use compare::Aliases;
use page::{Block, blocks};
use reader::{Database, Reader};
use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

/// Programs that a block may need besides the shell's own. Blocks are skipped without them.
const PROGRAMS: [&str; 4] = ["curl", "jq", "sqlite3", "git"];

/// What became of the blocks of a page.
#[derive(Default)]
struct Outcome {
    run: usize,
    /// The number of blocks that were not run, by reason.
    not_run: BTreeMap<String, usize>,
    faults: Vec<String>,
}

#[test]
fn commands_print_what_the_pages_show() {
    let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let only = std::env::var("TAMIS_PAGES").unwrap_or_default();
    let mut pages = pages(&checkout);
    pages.retain(|page| only.is_empty() || only.split(',').any(|name| page.ends_with(name)));
    assert!(!pages.is_empty(), "no page is called {only}");
    let todo = Mutex::new(pages.into_iter());
    let outcomes = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, |cores| cores.get().min(4)) {
            scope.spawn(|| {
                loop {
                    let Some(page) = todo.lock().expect("unharmed").next() else { break };
                    let outcome = run(&checkout, &page);
                    outcomes.lock().expect("unharmed").push(outcome);
                }
            });
        }
    });
    let outcomes = outcomes.into_inner().expect("unharmed");
    let mut reasons = BTreeMap::new();
    for (reason, count) in outcomes.iter().flat_map(|outcome| &outcome.not_run) {
        *reasons.entry(reason).or_insert(0) += count;
    }
    let mut summary = format!("{} command blocks run", outcomes.iter().map(|outcome| outcome.run).sum::<usize>());
    for (reason, count) in reasons {
        summary += &format!("\n  {count} not run: {reason}");
    }
    // Past the capture of test output. Without a reader, nothing is lost.
    let _ = writeln!(std::io::stderr(), "{summary}");
    let faults: Vec<_> = outcomes.into_iter().flat_map(|outcome| outcome.faults).collect();
    assert!(faults.is_empty(), "{}\n\nTAMIS_PAGES_WRITE=1 writes what was printed into the pages", faults.join("\n\n"));
}

/// The pages with blocks, relative to the checkout.
fn pages(checkout: &Path) -> Vec<PathBuf> {
    let mut pages = Vec::new();
    let mut folders = ["docs", "crates", "lab/models"].map(PathBuf::from).to_vec();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(checkout.join(&folder)).expect("a directory") {
            let entry = entry.expect("an entry");
            let path = folder.join(entry.file_name());
            if entry.file_type().expect("its type").is_dir() {
                let skipped = ["tests", "src", "target"].iter().any(|name| path.ends_with(name));
                folders.extend((!skipped).then_some(path));
            } else if path.extension().is_some_and(|extension| extension == "md") {
                pages.push(path);
            }
        }
    }
    pages.extend(["README.md", "CONTRIBUTING.md"].map(PathBuf::from));
    pages.sort();
    pages
}

/// Runs the blocks of a page.
fn run(checkout: &Path, path: &Path) -> Outcome {
    let source = fs::read_to_string(checkout.join(path)).expect("a page");
    let mut outcome = Outcome::default();
    let mut written = source.clone();
    let mut reader = None;
    let mut aliases = Aliases::default();
    let has_database = source.contains(reader::DATABASE_HOST);
    let database = has_database.then(Database::start).flatten();
    let untested = (has_database && database.is_none()).then(|| "needs a database".to_owned());
    let mut shifted = 0isize;
    for block in blocks(&source) {
        if let Some(reason) = untested.clone().or_else(|| block.not_run.clone()).or_else(|| lacks(&block)) {
            if reason.is_empty() {
                outcome.faults.push(format!("{}:{}: the marker gives no reason", path.display(), block.line));
            }
            *outcome.not_run.entry(reason).or_default() += 1;
            continue;
        }
        outcome.run += 1;
        if block.anew {
            reader = None;
        }
        let reader = reader.get_or_insert_with(|| Reader::new(database.as_ref()));
        let mut tries = if block.until_shown { 10 } else { 1 };
        let (text, faults) = loop {
            let (text, faults) = run_block(reader, &mut aliases, &block);
            tries -= 1;
            if faults.is_empty() || tries == 0 {
                break (text, faults);
            }
        };
        outcome.faults.extend(faults.into_iter().map(|fault| format!("{}:{}: {fault}", path.display(), block.line)));
        let range = |shift: isize, at: usize| at.checked_add_signed(shift).expect("within the page");
        written.replace_range(range(shifted, block.text.start)..range(shifted, block.text.end), &text);
        shifted += text.len() as isize - block.text.len() as isize;
    }
    if std::env::var_os("TAMIS_PAGES_WRITE").is_some() && written != source {
        fs::write(checkout.join(path), written).expect("written");
    }
    outcome
}

/// Runs a block. Returns its text with what was printed, and what is wrong with it.
fn run_block(reader: &mut Reader, aliases: &mut Aliases, block: &Block) -> (String, Vec<String>) {
    let today = tamis::dates::now().with_time_zone(jiff::tz::TimeZone::UTC).date().to_string();
    let mut steps = block.steps.clone();
    let mut faults = Vec::new();
    reader.start_block(&block.directory);
    for step in &mut steps {
        if let Some(name) = step.command.strip_prefix("cat ").filter(|name| !name.contains([' ', '>', '<'])) {
            reader.write(name, &step.output);
        }
        let (status, mut printed) = reader.run(&aliases.apply(&step.command));
        if step.output.is_empty() {
            // Status 1 of the program says that nothing was found.
            if status != 0 && !(status == 1 && step.command.contains("tamis")) {
                let printed = printed.join("\n");
                faults.push(format!("$ {}\nends with status {status} and prints\n{printed}", step.command));
            }
        } else if !aliases.equal(&step.output, &printed, &today) {
            aliases.keep_queries(&step.output, &mut printed);
            let shown = std::mem::replace(&mut step.output, printed.clone());
            let (shown, printed) = (shown.join("\n"), printed.join("\n"));
            faults.push(format!("$ {}\nthe page shows\n{shown}\nbut it prints\n{printed}", step.command));
        }
    }
    (page::text(&steps), faults)
}

/// The reason why a block cannot be run here, if a program is missing.
fn lacks(block: &Block) -> Option<String> {
    let named = |program: &&&str| {
        let words = |step: &page::Step| step.command.split([' ', '|', '(']).any(|word| word == **program);
        block.steps.iter().any(words)
    };
    let missing = |program: &&str| Command::new(program).arg("--version").output().is_err();
    PROGRAMS.iter().filter(named).find(|program| missing(program)).map(|program| format!("{program} is not installed"))
}
