//! Runs transcripts: commands in a shell, with what they print.
//!
//! A section (`## …`) of a file in `tests/commands/transcripts` is one case. Its blocks run in order in a tree of their own, which
//! holds the sample files of `support`, indexed; `<!-- not indexed -->` or `<!-- no files -->` between the heading and the first block
//! says otherwise. Each command runs in a shell of its own, so it keeps files but no variables. A block is written like this:
//!
//! ````text
//! ```console
//! $ for query in oven zeppelin; do              a command, which goes on in lines that begin with "> "
//! >   tamis search -q --files $query            and to the end of a here-document
//! > done
//! docs/bread.md                                 what it prints
//! ! tamis: 1 of 7 looks relevant (…%).          what it prints to standard error, below the rest
//! ? 1                                           its exit status, unless it is 0
//! ```
//! ````
//!
//! `/tree` is the root, `/home` the user's directory, `/bin/tamis` the program, and `$FIXTURES` is `tests/fixtures`. Files that no
//! case is about are written to `..`, outside the tree.
//!
//! What differs from run to run is left open as in the documentation, whose comparison this is: identifiers of queries, dates of
//! today, times, durations and sizes. `…` stands for any text, and a line of it for any lines. Scores are not left open: a case whose
//! texts hold the time of day, such as a new note, shows nothing that depends on them.
//!
//! `TAMIS_TRANSCRIPTS_WRITE=1` writes the lines that differ into the files, also below commands that have no output yet. Read them
//! before you keep them.

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
use std::slice::from_ref;
use std::sync::LazyLock;

/// Shares and probabilities, which differ from machine to machine and are not written.
static SHARE: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\b\d+%").expect("a regular expression"));

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/commands/transcripts")
}

macro_rules! transcripts {
    ($($(#[$attribute:meta])* $name:ident)*) => {
        $(
            #[test]
            $(#[$attribute])*
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
    answers
    cut
    eval
    evidence
    feedback
    files
    git
    #[cfg_attr(not(target_os = "linux"), ignore = "only Linux limits the memory of a process")]
    hostile
    import
    index
    #[cfg_attr(not(target_os = "linux"), ignore = "clients have other directories on other systems")]
    install
    memory
    models
    notes
    search
    settings
    sources
    tracker
}

/// Runs the sections of a file, each in a tree of its own.
fn run(name: &str) {
    if Command::new("jq").arg("--version").output().is_err() {
        return skipped(&format!("transcripts/{name}.md"), "jq is not installed");
    }
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
        written.push_str(before);
        written.push_str(&run_block(tree, aliases, &block, &mut faults));
        end = block.text.end;
    }
    written.push_str(&source[end..]);
    if std::env::var_os("TAMIS_TRANSCRIPTS_WRITE").is_some() && written != source {
        fs::write(&path, written).expect("written");
    }
    let faults: Vec<_> =
        faults.iter().map(|fault| format!("crates/cli/tests/commands/transcripts/{name}.md:{fault}")).collect();
    assert!(
        faults.is_empty(),
        "(-) what the transcript shows and (+) what is printed differ:\n\n{}\n\n\
         TAMIS_TRANSCRIPTS_WRITE=1 writes what is printed into the transcript",
        faults.join("\n\n")
    );
}

fn tree(introduction: &str) -> Tree {
    match introduction {
        text if text.contains("<!-- no files -->") => Tree::empty(),
        text if text.contains("<!-- not indexed -->") => Tree::new(),
        _ => Tree::indexed(),
    }
}

/// Runs a block. Returns its text with what was printed where that differs.
fn run_block(tree: &Tree, aliases: &mut Aliases, block: &Block, faults: &mut Vec<String>) -> String {
    let today = tamis::dates::now().with_time_zone(jiff::tz::TimeZone::UTC).date().to_string();
    let mut steps = block.steps.clone();
    let mut line = block.line + 1;
    for step in &mut steps {
        let mut printed = printed(tree, &aliases.apply(&step.command));
        let blank = step.output.iter().rev().take_while(|line| line.is_empty()).count();
        let shown = &step.output[..step.output.len() - blank];
        line += step.shown.len();
        let next = line + step.output.len();
        if !aliases.equal(shown, &printed, &today) {
            aliases.keep_queries(shown, &mut printed);
            let same = |(shown, printed): &(&String, &String)| {
                aliases.clone().equal(from_ref(*shown), from_ref(*printed), &today)
            };
            let begin = shown.iter().zip(&printed).take_while(same).count();
            let (shown_rest, printed_rest) = (&shown[begin..], &printed[begin..]);
            let end = shown_rest.iter().rev().zip(printed_rest.iter().rev()).take_while(same).count();
            let removed = &shown_rest[..shown_rest.len() - end];
            let added = &printed_rest[..printed_rest.len() - end];
            let signed = |sign, lines: &[String]| lines.iter().map(|one| format!("\n{sign} {one}")).collect::<String>();
            faults.push(format!("{}: $ {}{}{}", line + begin, step.command, signed('-', removed), signed('+', added)));
            let added: Vec<_> = added.iter().map(|line| SHARE.replace_all(line, "…%").into_owned()).collect();
            step.output.splice(begin..begin + removed.len(), added);
        }
        line = next;
    }
    page::text(&steps)
}

/// The lines of standard output, of standard error and of the exit status.
fn printed(tree: &Tree, command: &str) -> Vec<String> {
    let program = Path::new(env!("CARGO_BIN_EXE_tamis"));
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
