//! The tree that every round begins with, its changes, and the imports into its index.

use super::random::Random;
use super::sandbox::Sandbox;
use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// The number of files in the tree.
const FILES: u64 = 60;

/// A word in a file that no round changes, so that a search for it always finds something.
pub const KEPT_WORD: &str = "keepsake";

/// A word in the note that the index begins with.
pub const NOTE_WORD: &str = "zephyr";

const TOPICS: [&str; 8] = ["oven", "harbour", "violin", "glacier", "compiler", "orchard", "telescope", "ledger"];

/// An index of everything that Tamis stores: files, notes, issues, conversations, evidence, a judged search.
#[derive(Debug)]
pub struct Base {
    /// Its sandbox. Rounds work on copies.
    pub sandbox: Sandbox,
    /// The search whose results can be judged.
    pub query_id: String,
}

impl Base {
    /// Makes the index.
    ///
    /// # Errors
    /// The program fails.
    pub fn new(binary: &Path) -> Result<Base> {
        let sandbox = Sandbox::empty(binary)?;
        let mut random = Random(41);
        for number in 0..FILES {
            sandbox.write(&path(number), &text(number, &mut random))?;
        }
        let kept = format!("# Kept\n\nThe {KEPT_WORD} stays as it is: it lies in the drawer beside the window.\n");
        sandbox.write("kept.md", &kept)?;
        sandbox.done(&["index"])?;
        sandbox.done(&["remember", &format!("the {NOTE_WORD} blows from the west")])?;
        for what in Import::ALL {
            let input = what.write(&sandbox, 0)?;
            sandbox.done(&["import", what.name(), "--origin", what.name(), &input])?;
        }
        let answer = sandbox.json(&["search", "--json", "--cut", "fixed:k=5", "the glacier and the harbour"])?;
        let query_id = answer["query_id"].as_str().context("an answer without query_id")?.to_owned();
        ensure!(answer["results"].as_array().is_some_and(|results| results.len() >= 3), "{answer}");
        sandbox.done(&["feedback", &query_id, "1", "--relevant"])?;
        sandbox.done(&["index"])?;
        Ok(Base { sandbox, query_id })
    }
}

fn path(number: u64) -> String {
    match number % 5 {
        0 => format!("src/part{number}.rs"),
        _ => format!("notes/note-{number}.md"),
    }
}

/// Makes a version of a file.
fn text(number: u64, random: &mut Random) -> String {
    let version = random.next_u64();
    if number.is_multiple_of(5) {
        let functions = (0..2 + random.below(6)).map(|at| {
            let topic = random.pick(&TOPICS);
            format!(
                "/// Counts each {topic}.\npub fn {topic}_{number}_{at}() -> u64 {{\n    {}\n}}\n\n",
                random.next_u64()
            )
        });
        return format!("//! Part {number}, version {version}.\n\n{}", functions.collect::<String>());
    }
    let sections = (0..3 + random.below(6)).map(|section| {
        let topic = random.pick(&TOPICS);
        format!("\n## The {topic} {section}\n\nAbout the {topic}: {}.\n", random.next_u64())
    });
    format!("# Note {number}\n\nThis is note number {number}, version {version}.\n{}", sections.collect::<String>())
}

/// Changes the tree: some files are rewritten, some moved, some removed, some added.
///
/// # Errors
/// A file cannot be changed.
pub fn change(sandbox: &Sandbox, variant: u64) -> Result<()> {
    let mut random = Random(variant.wrapping_mul(977) + 5);
    // Some changes remove most files, so that the index compacts itself.
    let most_go = variant % 4 == 3;
    for _ in 0..FILES / 2 {
        let number = random.below(FILES);
        let here = sandbox.tree().join(path(number));
        match random.below(4) {
            0 => drop(fs::remove_file(&here)),
            1 => drop(fs::rename(&here, sandbox.tree().join(path(FILES + number)))),
            _ if most_go => drop(fs::remove_file(&here)),
            2 => sandbox.write(&path(2 * FILES + number), &text(number, &mut random))?,
            _ => sandbox.write(&path(number), &text(number, &mut random))?,
        }
    }
    Ok(())
}

/// A kind of import.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Import {
    /// Issues with comments.
    Issues,
    /// A log of sessions.
    Conversations,
    /// A graph of claims.
    Evidence,
}

impl Import {
    /// All of them.
    pub const ALL: [Import; 3] = [Import::Issues, Import::Conversations, Import::Evidence];

    /// Returns its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Import::Issues => "issues",
            Import::Conversations => "conversations",
            Import::Evidence => "evidence",
        }
    }

    /// Writes a version of it next to the tree and returns the file's name.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(self, sandbox: &Sandbox, variant: u64) -> Result<String> {
        let mut random = Random(variant.wrapping_mul(1231) + 17);
        let lines: Vec<Value> = match self {
            Import::Issues => issues(&mut random),
            Import::Conversations => turns(&mut random),
            Import::Evidence => evidence(&mut random),
        };
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        let file = sandbox.directory().join(format!("{}.jsonl", self.name()));
        fs::write(&file, text)?;
        // Relative to the tree, since a copy of the sandbox has another path.
        Ok(format!("../{}.jsonl", self.name()))
    }
}

fn issues(random: &mut Random) -> Vec<Value> {
    let issue = |number: u64, random: &mut Random| {
        let topic = random.pick(&TOPICS);
        let comments: Vec<Value> = (0..random.below(4))
            .map(|at| {
                json!({ "author": "grace", "created_at": format!("2026-10-02T09:{at:02}:00Z"),
                              "body": format!("The {topic} was mended by part {}.", random.next_u64()) })
            })
            .collect();
        json!({ "number": number, "title": format!("The {topic} stands still"), "state": "closed", "author": "ada",
                "body": format!("Since release {} the {topic} does not move.", random.next_u64()),
                "created_at": "2026-10-02T08:00:00Z", "closed_at": "2026-10-03T10:00:00Z",
                "updated_at": format!("2026-10-03T10:{:02}:00Z", random.below(60)),
                "url": format!("https://example.org/mill/issues/{number}"), "comments": comments })
    };
    let given: Vec<u64> = (1..=40).filter(|_| random.below(8) > 0).collect();
    given.into_iter().map(|number| issue(number, random)).collect()
}

fn turns(random: &mut Random) -> Vec<Value> {
    let sessions = 12;
    (0..sessions * 8)
        .map(|at| {
            let topic = random.pick(&TOPICS);
            json!({ "time": format!("2026-11-{:02}T09:{:02}:00Z", 1 + at / 8, at % 60), "session": format!("s{}", at / 8),
                    "speaker": if at % 2 == 0 { "Ann" } else { "Ben" },
                    "text": format!("What of the {topic}, part {}?", random.next_u64()) })
        })
        .collect()
}

fn evidence(random: &mut Random) -> Vec<Value> {
    let mut lines = Vec::new();
    for number in 0..15 + random.below(5) {
        let topic = random.pick(&TOPICS);
        let version = random.next_u64();
        lines.push(
            json!({ "record": "task", "id": format!("t{number}"), "question": format!("Does the {topic} help?") }),
        );
        lines
            .push(json!({ "record": "work", "id": format!("w{number}"), "title": format!("On the {topic}, {version}"),
                           "authors": ["E. Noether"], "year": 2000 + number }));
        lines.push(json!({ "record": "page", "id": format!("p{number}"), "title": format!("The {topic}"),
                           "work_id": format!("w{number}"), "url": format!("https://example.org/{number}") }));
        lines.push(json!({ "record": "claim", "id": format!("c{number}"), "task_id": format!("t{number}"),
                           "text": format!("The {topic} helps in case {version}.") }));
        for at in 0..3 {
            let id = format!("f{number}-{at}");
            lines.push(json!({ "record": "fragment", "id": id, "page_id": format!("p{number}"), "position": at,
                               "text": format!("In trial {at} the {topic} helped {version} times.") }));
            lines.push(json!({ "record": "edge", "source_type": "fragment", "source_id": id, "target_type": "claim",
                               "target_id": format!("c{number}"),
                               "relation": if at == 2 { "refutes" } else { "supports" } }));
        }
    }
    lines
}
