//! Two processes on one index: one writes, others search without an error and without waiting for it.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

fn tamis(root: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tamis"));
    command.current_dir(root).stderr(Stdio::piped()).stdout(Stdio::piped());
    command.env("TAMIS_CONFIG_HOME", root.join(".tamis-user")).env("TAMIS_INDEX_MODELS", "static");
    command
}

#[test]
fn a_search_neither_fails_nor_waits_while_another_process_indexes() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let root = directory.path();
    let write = |number: usize, version: usize| {
        let topics = ["glacier moves", "violin sounds", "harbour fills", "oven heats", "orchard grows", "ledger lies"];
        let section = |part: usize| {
            let topic = topics[(number + part) % topics.len()];
            format!("\n## Part {part}\n\nHow the {topic}, part {part} of note {number}, draft {version}.\n")
        };
        let sections: String = (0..20).map(section).collect();
        fs::write(root.join(format!("note-{number}.md")), format!("# Note {number}\n{sections}")).expect("written");
    };
    (0..10).for_each(|number| write(number, 0));
    assert!(tamis(root).args(["index"]).status().expect("it runs").success());

    // A search that began and ended while the index was written did not wait for the writer.
    const WITHIN: usize = 3;
    let (mut searches, mut within, mut stale) = (0, 0, 0);
    for version in 1.. {
        assert!(version <= 30, "only {within} of {searches} searches ended while another process was indexing");
        (0..400).for_each(|number| write(number, version));
        let mut indexing = tamis(root).args(["index", "--verbose"]).spawn().expect("it starts");
        let mut stages = BufReader::new(indexing.stderr.take().expect("a pipe")).lines().map_while(Result::ok);
        assert!(stages.next().is_some(), "it is at work");
        while indexing.try_wait().expect("its state").is_none() {
            let output = tamis(root).args(["search", "how does the glacier move", "--json"]).output().expect("it runs");
            let errors = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(output.status.code(), Some(0), "{errors}");
            let answer: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
            assert!(answer["results"].as_array().is_some_and(|results| !results.is_empty()));
            searches += 1;
            within += usize::from(indexing.try_wait().expect("its state").is_none());
            stale += usize::from(answer["index"]["stale"].as_u64() > Some(0));
        }
        let rest: Vec<String> = stages.collect();
        assert!(indexing.wait().expect("it ends").success(), "{rest:?}");
        if within >= WITHIN {
            break;
        }
    }
    println!("{searches} searches, {within} within a run, {stale} on an index known to be stale");
}

#[test]
fn sixteen_that_index_at_once_are_served_one_after_the_other() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let root = directory.path();
    for number in 0..200 {
        fs::write(root.join(format!("{number}.md")), format!("# Note {number}\n\nText {number}.\n")).expect("written");
    }
    // The index does not exist yet, so the first processes create it at the same instant.
    let children: Vec<_> = (0..16).map(|_| tamis(root).args(["index"]).spawn().expect("it starts")).collect();
    let outputs: Vec<_> = children.into_iter().map(|child| child.wait_with_output().expect("it ends")).collect();
    for output in &outputs {
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{errors}");
        if errors.contains("waiting for") {
            assert!(errors.contains("which is writing this index"), "{errors}");
        }
    }
    let output = tamis(root).args(["status", "--json"]).output().expect("it runs");
    let status: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!((&status["documents"], &status["stale"]), (&200.into(), &0.into()));
}

#[test]
fn questions_that_start_while_the_first_index_is_written_wait_for_its_content() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let root = directory.path();
    for number in 0..300 {
        let text = format!("# Note {number}\n\nHeat the oven to 220 degrees before baking bread.\n");
        fs::write(root.join(format!("note-{number}.md")), text).expect("written");
    }
    let question = "heat the oven to how many degrees before baking bread";
    let commands: [&[&str]; 8] = [
        &["search", question],
        &["search", question, "--json"],
        &["grep", "220 degrees"],
        &["files", "note-7"],
        &["outline", "note-7.md"],
        &["pack", question],
        &["search", "baking bread"],
        &["search", question, "--no-gate"],
    ];
    let running = commands.map(|arguments| tamis(root).args(arguments).spawn().expect("it starts"));
    for (arguments, child) in commands.into_iter().zip(running) {
        let output = child.wait_with_output().expect("it ends");
        let (found, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {found}{errors}");
        assert!(found.contains("note-"), "{arguments:?}: {found}{errors}");
    }
}

#[test]
fn eight_first_searches_of_a_tree_wait_for_the_vectors_that_one_of_them_makes() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let root = directory.path();
    for number in 0..25 {
        let section = |part| format!("\n## Part {part}\n\nThe ferry number {number} leaves at dawn from {part}.\n");
        let sections: String = (0..100).map(section).collect();
        fs::write(root.join(format!("note-{number}.md")), format!("# Note {number}\n{sections}")).expect("written");
    }
    fs::write(root.join("oven.md"), "# Bread\n\nHeat the oven to 220 degrees.\n").expect("written");
    let search = || tamis(root).args(["search", "heat the oven to 220 degrees", "--json"]).spawn().expect("it starts");
    let running: Vec<_> = (0..8).map(|_| search()).collect();
    for child in running {
        let output = child.wait_with_output().expect("it ends");
        let errors = String::from_utf8_lossy(&output.stderr);
        let answer: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(output.status.code(), Some(0), "{answer} {errors}");
        assert_eq!(answer["results"][0]["path"], "oven.md", "{answer} {errors}");
        assert_eq!(answer["mode_used"], "hybrid", "{answer} {errors}");
        assert_eq!(answer["index"]["embedded"], answer["index"]["passages"], "{answer} {errors}");
    }
}

#[test]
fn a_search_of_an_index_that_is_being_written_says_in_json_too_that_it_is_behind() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let root = directory.path();
    fs::write(root.join("oven.md"), "# Oven\n\nHeat the oven to 220 degrees.\n").expect("written");
    assert!(tamis(root).arg("index").status().expect("it runs").success());
    let lock = fs::File::open(root.join(".tamis/write.lock")).expect("there");
    lock.lock().expect("free");
    fs::write(root.join("new.md"), "# Tide\n\nThe tide turns.\n").expect("written");
    let output = tamis(root).args(["search", "how hot should the oven be", "--json"]).output().expect("it runs");
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let warnings = answer["warnings"].to_string();
    assert!(warnings.contains("searched the index as it is, 1 changed file since: "), "{answer}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("1 changed file since"));
}
