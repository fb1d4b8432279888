//! Runs transcripts: commands in a shell, with what they print.
//!
//! A section of a file in `tests/commands/transcripts` is one case. Its blocks run in order in a tree of their own, which holds the
//! sample files of `support`, indexed; `<!-- not indexed -->` and `<!-- no files -->` before the first block say otherwise. A line
//! `! …` is standard error, `? 2` is an exit status other than 0, and `/tree` is the root, `/home` the user's directory
//! and `/bin/tamis` the program.
//!
//! What differs from run to run is left open as in the documentation, whose comparison this is: `…` stands for any text, a line of
//! it for any lines. `TAMIS_TRANSCRIPTS_WRITE=1` writes the outputs that differ into the files, to be read before they are kept.

#[path = "../documentation/compare.rs"]
mod compare;
#[path = "../documentation/page.rs"]
#[allow(dead_code, reason = "a transcript has other marks than a page")]
mod page;

use crate::support::{Tree, skipped};
use compare::Aliases;
use page::Block;
use regex::Regex;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/commands/transcripts")
}

macro_rules! transcripts {
    ($($name:ident)*) => {
        $(
            #[test]
            fn $name() {
                run(stringify!($name));
            }
        )*

        #[test]
        fn every_transcript_is_run() {
            let files = fs::read_dir(folder()).expect("a directory").map(|file| file.expect("an entry").path());
            let mut names: Vec<_> = files.filter_map(|file| Some(file.file_stem()?.to_str()?.to_owned())).collect();
            names.sort();
            assert_eq!(names, [$(stringify!($name)),*]);
        }
    };
}

transcripts! {
    agents
    cut
    eval
    evidence
    feedback
    files
    hostile
    import
    index
    install
    models
    notes
    search
    settings
    sources
    tracker
}

/// Runs the sections of a file, each in a tree of its own.
fn run(name: &str) {
    let path = folder().join(name).with_extension("md");
    let source = fs::read_to_string(&path).expect("a transcript");
    let (mut written, mut faults) = (String::new(), Vec::new());
    let (mut end, mut place) = (0, None);
    for block in page::blocks(&source) {
        let before = &source[end..block.text.start];
        if let Some(heading) = before.rfind("\n## ") {
            place = Some((tree(&before[heading..]), Aliases::default()));
        }
        let (tree, aliases) = place.as_mut().expect("a section");
        let lacks_jq = block.steps.iter().any(|step| step.command.contains("| jq ")) && !is_there("jq");
        if lacks_jq {
            skipped(&format!("{name}.md:{}", block.line), "jq is not installed");
        }
        written.push_str(before);
        written.push_str(&match lacks_jq {
            true => source[block.text.clone()].to_owned(),
            false => run_block(tree, aliases, &block, &mut faults),
        });
        end = block.text.end;
    }
    written.push_str(&source[end..]);
    if std::env::var_os("TAMIS_TRANSCRIPTS_WRITE").is_some() && written != source {
        fs::write(&path, written).expect("written");
    }
    assert!(faults.is_empty(), "{}:\n{}", path.display(), faults.join("\n"));
}

fn tree(introduction: &str) -> Tree {
    match introduction {
        text if text.contains("<!-- no files -->") => Tree::empty(),
        text if text.contains("<!-- not indexed -->") => Tree::new(),
        _ => Tree::indexed(),
    }
}

fn is_there(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok()
}

/// Runs a block. Returns its text with what was printed where that differs.
fn run_block(tree: &Tree, aliases: &mut Aliases, block: &Block, faults: &mut Vec<String>) -> String {
    let today = tamis::dates::now().with_time_zone(jiff::tz::TimeZone::UTC).date().to_string();
    let mut steps = block.steps.clone();
    for step in &mut steps {
        let printed = printed(tree, &aliases.apply(&step.command));
        let shown = step.output.len() - step.output.iter().rev().take_while(|line| line.is_empty()).count();
        if !aliases.equal(&step.output[..shown], &printed, &today) {
            faults.push(format!(
                "line {}: $ {}\nshould print\n  {}\nand prints\n  {}\n",
                block.line,
                step.command,
                step.output.join("\n  "),
                printed.join("\n  ")
            ));
            let blank = step.output.split_off(shown);
            // Shares and probabilities differ from machine to machine.
            let share = Regex::new(r"\b\d+%").expect("a regular expression");
            step.output = printed.iter().map(|line| share.replace_all(line, "…%").into_owned()).chain(blank).collect();
        }
    }
    page::text(&steps)
}

/// The lines of standard output, of standard error and of the exit status.
fn printed(tree: &Tree, command: &str) -> Vec<String> {
    let program = Path::new(assert_cmd::cargo::cargo_bin!("tamis"));
    let path = std::env::var("PATH").unwrap_or_default();
    let mut shell = tree.command("bash");
    shell.args(["-o", "pipefail", "-c", command]).env("HOME", tree.home()).env("TZ", "UTC").env("LC_ALL", "C");
    for place in ["XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPILOT_HOME", "GEMINI_CLI_HOME", "COLUMNS"] {
        shell.env_remove(place);
    }
    shell.env("FIXTURES", Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures"));
    shell.env("PATH", format!("{}:{path}", program.parent().expect("a directory").display()));
    let output = shell.output().expect("bash runs");
    let text = |bytes: &[u8]| {
        let places = [(program, "/bin/tamis"), (tree.home(), "/home"), (tree.root(), "/tree")];
        let text = String::from_utf8_lossy(bytes).into_owned();
        places.iter().fold(text, |text, (path, shown)| text.replace(path.to_str().expect("UTF-8"), shown))
    };
    let mut lines: Vec<String> = text(&output.stdout).lines().map(str::to_owned).collect();
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    lines.extend(text(&output.stderr).lines().map(|line| format!("! {line}").trim_end().to_owned()));
    let status = output.status.code().map_or("killed".into(), |code| code.to_string());
    lines.extend((status != "0").then(|| format!("? {status}")));
    lines
}
