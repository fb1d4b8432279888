//! `tamis remember`, `tamis recall` and `tamis forget` on real trees.

use crate::support::{Kills, Tree, run};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Stdio;

/// Recalls without the gate, since a handful of passages is too few for it to judge by.
fn recall(tree: &Tree, arguments: &[&str]) -> (i32, String, String) {
    let mut command = tree.tamis(&[&["recall"], arguments].concat());
    command.env("TAMIS_SEARCH_GATE", "false");
    run(command)
}

fn remember(tree: &Tree, arguments: &[&str]) -> (i32, String, String) {
    run(tree.tamis(&[&["remember"], arguments].concat()))
}

/// Adds a note that must be accepted; returns its location.
fn noted(tree: &Tree, arguments: &[&str]) -> String {
    let (status, out, error) = remember(tree, arguments);
    assert_eq!((status, error.as_str()), (0, ""), "{arguments:?}");
    out.trim_end().to_owned()
}

fn path_of(place: &str) -> &str {
    place.split(':').next().unwrap_or_default()
}

fn read(tree: &Tree, place: &str) -> String {
    fs::read_to_string(tree.root().join(path_of(place))).expect("a file of notes")
}

/// Every file under a directory, with its content.
fn files(directory: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).expect("listed").flatten() {
        let path = entry.path();
        match path.is_dir() {
            true if path.ends_with(".tamis") => {}
            true => found.extend(files(&path)),
            false => found.push((path.to_string_lossy().into_owned(), fs::read(&path).expect("read"))),
        }
    }
    found.sort();
    found
}

#[test]
fn a_note_is_found_by_the_next_command_and_can_be_printed() {
    let tree = Tree::indexed();
    let first = noted(&tree, &["the", "staging database is called heron"]);
    assert!(first.starts_with("memory/") && first.ends_with(".md:3"), "{first}");
    let day = path_of(&first).trim_start_matches("memory/").trim_end_matches(".md").to_owned();
    let second = noted(&tree, &["--topic", "Backups", "they run at night\nand take an hour"]);
    assert_eq!(second, format!("memory/{day}.md:7-8"));
    let third = noted(&tree, &["--topic", "backups", "kept for a year"]);
    assert_eq!(third, format!("memory/{day}.md:9"));
    let text = read(&tree, &first);
    assert!(text.starts_with(&format!("# {day}\n\n- ")), "{text}");
    assert!(text.contains("\n\n## Backups\n\n- ") && text.matches("## ").count() == 1, "{text}");

    let (status, out, error) = recall(&tree, &["what is the name of the staging database", "--files", "--no-refresh"]);
    assert_eq!((status, out.trim_end()), (0, path_of(&first)), "{error}");
    let answer = tree.json(&["recall", "how long do backups take", "--topic", "backups", "--json"]);
    assert_eq!(answer["results"][0]["path"], Value::from(path_of(&second)));
    assert_eq!(answer["results"][0]["collection"], "notes");
    assert!(answer["results"][0]["dated_at"].as_str().is_some_and(|date| !date.is_empty()), "{answer}");

    let (_, lines, _) = run(tree.tamis(&["get", &second]));
    assert!(lines.ends_with("they run at night\n  and take an hour\n"), "{lines}");
    let (_, whole, _) = run(tree.tamis(&["get", path_of(&first)]));
    assert_eq!(whole, text);
    let report = tree.json(&["remember", "--json", "one more"]);
    assert_eq!(report["start_line"], 4);
    assert_eq!(report["created"], false);
    assert_eq!(report["not_indexed"], Value::Null);
}

#[test]
fn an_empty_memory_says_how_to_fill_it() {
    let tree = Tree::indexed();
    let (status, out, error) = recall(&tree, &["what did we decide"]);
    assert_eq!((status, error.as_str()), (1, ""));
    assert!(out.contains("No notes yet") && out.contains("tamis remember"), "{out}");
    assert!(out.contains("the Markdown files here are documentation, which `tamis search` searches"), "{out}");
    let (status, out, error) = recall(&tree, &["what did we decide", "--json"]);
    assert_eq!(status, 1);
    let answer: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!(answer["results"].as_array().map(Vec::len), Some(0));
    assert!(error.contains("No notes yet"), "{error}");
    noted(&tree, &["lunch at noon"]);
    let (status, out, _) = recall(&tree, &["lunch", "--since", "2099-01-01"]);
    assert_eq!(status, 1);
    assert!(out.contains("filters"), "there is a note, and the filter leaves it out: {out}");
}

#[test]
fn many_at_once_lose_nothing() {
    const WRITERS: usize = 20;
    let tree = Tree::indexed();
    let start = |number: usize| {
        let topic = ["Night", "Day"][number % 2];
        let text = format!("entry number {number} of many, größer als 漢字");
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_tamis"));
        command.args(["remember", "--quiet", "--topic", topic, &text]).current_dir(tree.root());
        command.env("TAMIS_CONFIG_HOME", tree.home()).env("TAMIS_INDEX_MODELS", "static");
        command.env("TAMIS_CACHE", tree.home().join("cache")).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().expect("it starts")
    };
    let children: Vec<_> = (0..WRITERS).map(start).collect();
    let mut places = Vec::new();
    for child in children {
        let output = child.wait_with_output().expect("it ends");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        places.push(String::from_utf8_lossy(&output.stdout).trim_end().to_owned());
    }
    let text = read(&tree, &places[0]);
    for number in 0..WRITERS {
        assert_eq!(text.matches(&format!("entry number {number} of many, größer als 漢字\n")).count(), 1, "{text}");
    }
    assert_eq!(text.matches("## Night").count() + text.matches("## Day").count(), 2, "{text}");
    let names: Vec<_> = fs::read_dir(tree.root().join("memory")).expect("listed").flatten().collect();
    assert_eq!(names.len(), 1, "nothing is left behind: {names:?}");
    let (_, found, _) = recall(&tree, &["entry number 17 of many", "--jsonl", "-n", "1000"]);
    assert!(found.contains("entry number 17 of many"), "{found}");
}

#[test]
fn whatever_a_note_says_it_is_one_entry() {
    let tree = Tree::indexed();
    for (number, text) in [
        "# not a heading\n## nor this\n---\n===\n- a list\n  - in it",
        "```sh\nrm -r target\n",
        "<!-- an open comment",
        "<!-- forgotten 2020-01-01 -->\nstill here <!-- forgotten 2020-01-01 -->",
        "größer als 漢字 🦀 ❤️",
        "[x]: http://example.org\n> quoted\n| a | b |\n|---|---|",
        "</div><script>",
        "    four spaces",
        "---\ntitle: front matter\n---",
    ]
    .into_iter()
    .enumerate()
    {
        let before = number + 1;
        noted(&tree, &[&format!("entry{before}word\n{text}")]);
        let place = noted(&tree, &[&format!("after{before}word")]);
        let (_, line, _) = run(tree.tamis(&["get", &place]));
        assert!(line.contains(&format!("after{before}word")), "{place}: {line}");
    }
    let (_, listed, _) = run(tree.tamis(&["forget", "--list"]));
    assert_eq!(listed, "", "no text forgets itself");
}

#[test]
fn what_can_not_be_kept_is_refused_and_leaves_no_trace() {
    let tree = Tree::indexed();
    let long = "x".repeat(10_001);
    for (arguments, said) in [
        (&["  \n "][..], "something to remember"),
        (&[""], "something to remember"),
        (&["bell \u{7}"], "control characters"),
        (&["reversed \u{202e}txet"], "that do not show"),
        (&["tagged \u{e0041}\u{e0042}"], "that do not show"),
        (&[long.as_str()], "at most 10000 characters"),
        (&["--topic", "two\nlines", "x"], "topic"),
        (&["--file", "../x.md", "x"], "under the root"),
        (&["--file", "/etc/x.md", "x"], "under the root"),
        (&["--file", ".git/x.md", "x"], "hidden"),
        (&["--file", ".tamis/x.md", "x"], "hidden"),
        (&["--file", "memory/x.txt", "x"], "Markdown"),
        (&["--file", "src/retry.rs", "x"], "Markdown"),
        (&["--file", "docs/bread.md", "x"], "index.notes"),
        (&["--file", "memory/../../x.md", "x"], "under the root"),
        (&["--file", "memory", "x"], "Markdown"),
        (&["--namespace", "nowhere", "x"], "nowhere"),
    ] {
        let before = files(tree.root());
        let (status, out, error) = remember(&tree, arguments);
        assert_eq!((status, out.as_str()), (2, ""), "{arguments:?}: {error}");
        assert!(error.contains(said), "{arguments:?}: {error}");
        assert_eq!(files(tree.root()), before, "{arguments:?}");
        assert!(!tree.root().join("memory").exists());
    }
}

#[cfg(unix)]
#[test]
fn no_link_leads_a_note_out_of_the_tree() {
    let tree = Tree::indexed();
    let outside = tempfile::tempdir().expect("a temporary directory");
    fs::write(outside.path().join("target.md"), "# Outside\n").expect("written");
    std::os::unix::fs::symlink(outside.path(), tree.root().join("memory")).expect("linked");
    std::os::unix::fs::symlink(outside.path().join("target.md"), tree.root().join("MEMORY.md")).expect("linked");
    for arguments in [&["x"][..], &["--file", "MEMORY.md", "x"], &["--file", "memory/target.md", "x"]] {
        let (status, _, error) = remember(&tree, arguments);
        assert_eq!(status, 2);
        assert!(error.contains("symbolic link"), "{error}");
    }
    assert_eq!(fs::read_to_string(outside.path().join("target.md")).expect("there"), "# Outside\n");
    assert_eq!(fs::read_dir(outside.path()).expect("listed").count(), 1);
}

#[test]
fn a_file_that_no_search_would_read_is_not_written_to() {
    let tree = Tree::indexed();
    tree.write(".gitignore", "memory/\n");
    let (status, _, error) = remember(&tree, &["a note"]);
    assert_eq!(status, 2);
    assert!(error.contains(".tamisignore"), "{error}");
    assert!(!tree.root().join("memory").exists(), "nothing is left behind");
    tree.write(".tamisignore", "!/memory/\n");
    let place = noted(&tree, &["a note that git does not see"]);
    let (_, found, _) = recall(&tree, &["note that git does not see", "--files"]);
    assert_eq!(found.trim_end(), path_of(&place));
}

#[test]
fn a_note_goes_to_a_file_of_ones_own_and_in_its_own_line_ends() {
    let tree = Tree::indexed();
    tree.write("MEMORY.md", "# Memory\r\n\r\n- the office closes at six\r\n");
    let place = noted(&tree, &["--file", "MEMORY.md", "coffee is on the second floor"]);
    assert_eq!(place, "MEMORY.md:4");
    let text = read(&tree, &place);
    assert!(
        text.ends_with(" coffee is on the second floor\r\n") && !text.replace("\r\n", "").contains('\n'),
        "{text:?}"
    );
    assert!(
        text.lines().nth(3).is_some_and(|line| line.starts_with("- 20")),
        "a file that says no day gets it: {text}"
    );
    let place = noted(&tree, &["--file", "memory/ideas.md", "--topic", "kitchen", "a bigger oven"]);
    assert_eq!((place.as_str(), read(&tree, &place).lines().next()), ("memory/ideas.md:5", Some("# ideas")));
    let (status, out, _) = run({
        let mut command = tree.tamis(&["remember", "-"]);
        command.write_stdin("from a pipe\nof two lines\n");
        command
    });
    assert_eq!(status, 0);
    assert!(read(&tree, out.trim_end()).ends_with(" from a pipe\n  of two lines\n"));
    // From a directory below, the notes are still those of the root.
    let mut command = tree.tamis(&["remember", "from below"]);
    command.current_dir(tree.root().join("docs"));
    let (_, below, _) = run(command);
    assert!(below.starts_with("../memory/"), "{below}");
}

#[test]
fn what_is_forgotten_is_found_no_more_until_it_is_remembered_again() {
    let tree = Tree::indexed();
    let old = noted(&tree, &["the door code of the workshop is 4711"]);
    let new = noted(&tree, &["the workshop is painted green"]);
    let before = read(&tree, &old);

    let (status, _, error) = run(tree.tamis(&["forget", &old]));
    assert_eq!(status, 2);
    assert!(error.contains("4711") && error.contains("--yes"), "it shows what is meant and asks: {error}");
    assert_eq!(read(&tree, &old), before);

    let (status, out, error) = run(tree.tamis(&["forget", &old, "--yes"]));
    assert_eq!(status, 0, "{error}");
    assert_eq!(out, format!("{old}  hidden\n"));
    assert!(read(&tree, &old).contains("4711 <!-- forgotten "), "it stays in the file");
    let (_, found, _) = recall(&tree, &["door code of the workshop", "--jsonl", "--no-refresh"]);
    assert!(!found.contains("4711") && found.contains("green"), "{found}");
    let (_, found, _) = run(tree.tamis(&["search", "4711", "--jsonl", "--no-refresh"]));
    assert!(!found.contains("the door code"), "{found}");

    let (status, listed, _) = run(tree.tamis(&["forget", "--list"]));
    assert_eq!(status, 0);
    assert!(listed.contains(&old) && listed.contains("4711") && !listed.contains("green"), "{listed}");
    let listed = tree.json(&["forget", "--list", "--json"]);
    assert_eq!(listed[0]["path"], Value::from(path_of(&old)));
    assert_eq!(listed[0]["forgotten"], true);

    let (status, _, error) = run(tree.tamis(&["forget", "--undo", "door code", "--yes"]));
    assert_eq!(status, 0, "{error}");
    assert_eq!(read(&tree, &old), before, "to the byte");
    let (_, found, _) = recall(&tree, &["door code of the workshop", "--jsonl", "--no-refresh"]);
    assert!(found.contains("4711"), "{found}");
    assert_eq!(run(tree.tamis(&["forget", "--list"])).0, 1);

    let (status, out, _) = run(tree.tamis(&["forget", "--delete", "--yes", &new]));
    assert_eq!((status, out), (0, format!("{new}  deleted\n")));
    assert!(!read(&tree, &new).contains("green"));
}

#[test]
fn words_name_the_one_entry_they_find_and_several_are_asked_about() {
    let tree = Tree::indexed();
    noted(&tree, &["the heron database is restored from the second site"]);
    noted(&tree, &["invoices are paid on fridays"]);
    let mut command = tree.tamis(&["forget", "invoices fridays", "--yes"]);
    command.env("TAMIS_SEARCH_GATE", "false");
    let (status, out, error) = run(command);
    assert_eq!(status, 0, "{error}");
    assert!(out.ends_with(":4  hidden\n"), "{out}");
    noted(&tree, &["invoices are paid on mondays"]);
    noted(&tree, &["invoices are never paid on sundays"]);
    let mut command = tree.tamis(&["forget", "invoices paid", "--yes"]);
    command.env("TAMIS_SEARCH_GATE", "false");
    let (status, _, error) = run(command);
    assert_eq!(status, 2);
    assert!(error.contains("2 entries") && error.contains("mondays") && error.contains("sundays"), "{error}");
    let before = files(&tree.root().join("memory"));
    let mut command = tree.tamis(&["forget", "recover stored tables after a crash", "--yes"]);
    command.env("TAMIS_SEARCH_GATE", "false");
    let (status, _, error) = run(command);
    assert_ne!(status, 0, "likeness alone forgets nothing unasked: {error}");
    assert_eq!(files(&tree.root().join("memory")), before);
    let (status, _, error) = run(tree.tamis(&["forget", "docs/bread.md:3", "--yes"]));
    assert_eq!(status, 2);
    assert!(error.contains("index.notes"), "only notes are ever written: {error}");
}

#[test]
fn each_repository_of_an_index_keeps_its_own_notes() {
    let tree = Tree::new();
    for (from, to) in [("src", "api/src"), ("docs", "kitchen/docs")] {
        fs::create_dir_all(tree.root().join(to).parent().expect("a parent")).expect("made");
        fs::rename(tree.root().join(from), tree.root().join(to)).expect("moved");
    }
    tree.tamis(&["index", "api", "kitchen"]).assert().success();
    let (status, _, error) = remember(&tree, &["which one"]);
    assert_eq!(status, 2);
    assert!(error.contains("api, kitchen"), "{error}");
    let place = noted(&tree, &["--namespace", "kitchen", "flour is ordered on tuesdays"]);
    assert!(place.starts_with("kitchen/memory/"), "{place}");
    let mut command = tree.tamis(&["remember", "the api answers in german"]);
    command.current_dir(tree.root().join("api/src"));
    let (_, out, error) = run(command);
    let day = place.trim_start_matches("kitchen/memory/").split(':').next().expect("a day");
    assert!(tree.root().join("api/memory").join(day).is_file(), "{out}{error}");
    let mut command = tree.tamis(&["recall", "when is flour ordered", "--files"]);
    command.current_dir(tree.root().join("kitchen")).env("TAMIS_SEARCH_GATE", "false");
    assert_eq!(run(command).1.trim_end(), format!("memory/{day}"));
    let (status, out, _) = run(tree.tamis(&["forget", "--namespace", "kitchen", &format!("memory/{day}:3"), "--yes"]));
    assert_eq!(status, 0);
    assert!(out.starts_with("kitchen/memory/"), "{out}");
}

#[cfg(unix)]
#[test]
fn an_index_that_can_not_be_written_takes_no_note() {
    use std::os::unix::fs::PermissionsExt;
    let tree = Tree::indexed();
    if crate::support::ignores_permissions(tree.root()) {
        crate::support::skipped("a note in a read-only index", "permissions do not stop this user");
        return;
    }
    let index = tree.root().join(".tamis");
    fs::set_permissions(&index, fs::Permissions::from_mode(0o555)).expect("set");
    for entry in fs::read_dir(&index).expect("listed").flatten().filter(|entry| entry.path().is_file()) {
        fs::set_permissions(entry.path(), fs::Permissions::from_mode(0o444)).expect("set");
    }
    let (status, _, error) = remember(&tree, &["x"]);
    assert_eq!(status, 2);
    assert!(error.contains("not writable") && error.contains("--index"), "{error}");
    assert!(!tree.root().join("memory").exists());
    fs::set_permissions(&index, fs::Permissions::from_mode(0o755)).expect("set");
}

#[test]
fn trap_a_note_is_whole_or_not_there_when_the_process_is_killed() {
    let tree = Tree::indexed();
    let place = noted(&tree, &["the first"]);
    let whole = |text: &str| {
        let lines: Vec<&str> = text.lines().collect();
        lines
            .iter()
            .skip(2)
            .all(|line| line.starts_with("- ") && (line.ends_with("the first") || line.ends_with("end")))
            && text.ends_with('\n')
    };
    let long = format!("{} end", "word ".repeat(1_500));
    let spawned = || {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_tamis"));
        command.args(["remember", "--quiet", &long]).current_dir(tree.root());
        command.env("TAMIS_CONFIG_HOME", tree.home()).env("TAMIS_INDEX_MODELS", "static");
        command.env("TAMIS_CACHE", tree.home().join("cache")).stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().expect("it starts")
    };
    let mut kills = Kills::within(|| spawned().wait().expect("it ends").success());
    while kills.landed < 16 {
        let after = kills.kill(spawned());
        let text = read(&tree, &place);
        assert!(whole(&text), "killed after {after:?}: {text}");
    }
    noted(&tree, &["the last end"]);
    let names: Vec<_> = fs::read_dir(tree.root().join("memory")).expect("listed").flatten().collect();
    assert_eq!(names.len(), 1, "what was left half-written is gone: {names:?}");
    let (_, _, error) = run(tree.tamis(&["doctor"]));
    assert!(!error.contains("error"), "{error}");
}

#[test]
fn a_new_note_is_seen_by_whoever_watches() {
    let tree = Tree::indexed();
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_tamis"));
    command.args(["index", "--watch", "--json"]).current_dir(tree.root());
    command.env("TAMIS_CONFIG_HOME", tree.home()).env("TAMIS_INDEX_MODELS", "static");
    command.env("TAMIS_CACHE", tree.home().join("cache")).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut watching = command.spawn().expect("it starts");
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(watching.stdout.take().expect("a pipe")));
    let mut next = || -> Value {
        let line = lines.next().expect("a run").expect("text");
        serde_json::from_str(&line).expect("JSON")
    };
    assert_eq!(next()["added"], 0);
    // By hand, as an editor would.
    tree.write("memory/2026-05-06.md", "# 2026-05-06\n\n- the lease of the workshop ends in june\n");
    let mut added = 0;
    while added == 0 {
        added = next()["added"].as_u64().expect("a number");
    }
    let (_, found, error) = recall(&tree, &["when does the lease end", "--files", "--no-refresh"]);
    assert_eq!(found.trim_end(), "memory/2026-05-06.md", "{error}");
    watching.kill().expect("killed");
    watching.wait().expect("it ends");
}

#[test]
fn turns_around_a_turn_are_shown_as_context() {
    let tree = Tree::indexed();
    let turns: String = ["good morning", "did the parcel for the lighthouse arrive", "yes, at the harbour office", "then I fetch it", "bring the lamp oil too"]
        .iter()
        .enumerate()
        .map(|(minute, text)| {
            let speaker = ["Ann", "Ben"][minute % 2];
            format!("{{\"time\": \"2026-11-02T09:0{minute}:00Z\", \"speaker\": \"{speaker}\", \"text\": \"{text}\", \"session\": \"harbour\"}}\n")
        })
        .collect();
    let log = tree.write("log.jsonl", &turns);
    tree.tamis(&["import", "conversations", &log.to_string_lossy()]).assert().success();
    fs::remove_file(log).expect("removed");
    let snippet = |around: &str| {
        let mut command = tree.tamis(&["recall", "parcel lighthouse", "--json", "--context", around]);
        command.env("TAMIS_SEARCH_GATE", "false");
        let (_, out, error) = run(command);
        let answer: Value = serde_json::from_str(&out).expect(&error);
        assert_eq!(answer["results"][0]["path"], "session:harbour");
        answer["results"][0]["snippet"].as_str().expect("text").to_owned()
    };
    assert!(snippet("0").starts_with("Ben (") && snippet("0").ends_with("arrive"), "{}", snippet("0"));
    let one = snippet("1");
    assert!(one.starts_with("Ann (") && one.ends_with("harbour office") && one.contains("arrive"), "{one}");
    assert!(snippet("9").ends_with("lamp oil too"));
}
