//! Several servers and workers on one database, as a team runs them.

use crate::database::TestDatabase;
use crate::support::{Root, Server, Session, end_of, request};
use crate::{done, json_of, tamis, tree};
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// A database with the tree `mill` in it.
fn indexed() -> Option<(TestDatabase, Root)> {
    let database = TestDatabase::create()?;
    let directory = tree();
    run_jobs(&directory, &database, &["mill"]);
    Some((database, directory))
}

/// Queues trees and works until the queue is empty.
fn run_jobs(root: &Path, database: &TestDatabase, trees: &[&str]) {
    let paths = trees.iter().map(|tree| root.join(tree));
    done(tamis(root, Some(&database.url())).args(["jobs", "add"]).args(paths));
    let worked = worker(root, database).wait_with_output().expect("it ends");
    assert!(worked.status.success(), "{}", String::from_utf8_lossy(&worked.stderr));
}

/// A worker on the trees below a directory, which ends when nothing is left to do.
fn worker(root: &Path, database: &TestDatabase) -> Child {
    let mut command = tamis(root, Some(&database.url()));
    command.args(["jobs", "run", "--until-empty", "--json", "--root"]).arg(root);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts")
}

fn jobs(root: &Path, database: &TestDatabase) -> Vec<Value> {
    json_of(tamis(root, Some(&database.url())).args(["jobs", "list", "--json"])).as_array().expect("a list").clone()
}

/// A server that reads no tree itself.
fn server(root: &Path, database: &TestDatabase) -> Server {
    let mut command = tamis(root, Some(&database.url()));
    let arguments = "serve --http 127.0.0.1:0 --no-refresh --allow-feedback --log-format json";
    Server::of(command.args(arguments.split(' ')))
}

fn get(server: &Server, path: &str) -> Value {
    let reply = server.request(&format!("GET {path} HTTP/1.1"), &[("Host", "localhost")], "");
    assert_eq!(reply.status, 200, "{reply:?}\n{}", server.log());
    reply.json()
}

fn search(arguments: &Value) -> String {
    json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": { "name": "search", "arguments": arguments } })
        .to_string()
}

#[test]
fn a_directory_beside_the_trees_searches_all_of_them_and_becomes_none() {
    let Some((database, directory)) = indexed() else { return };
    let (root, url) = (&*directory, database.url());
    let front = root.join("front");
    fs::create_dir(&front).expect("made");
    fs::write(front.join("notes.md"), "# Oven\n\nNobody asked to index this.\n").expect("written");
    let there = |arguments: &[&str]| {
        let mut command = tamis(root, Some(&url));
        let output = command.current_dir(&front).args(arguments).output().expect("it runs");
        String::from_utf8(output.stdout).expect("UTF-8") + &String::from_utf8_lossy(&output.stderr)
    };
    let mut command = tamis(root, Some(&url));
    command.current_dir(&front).args("serve --http 127.0.0.1:0 --no-refresh --log-format json".split(' '));
    let served = Server::of(&mut command);
    for _ in 0..2 {
        let found = get(&served, "/v1/search?query=how+hot+should+the+oven+be");
        let first = &found["results"][0];
        assert_eq!((&first["namespace"], &first["path"]), (&json!("mill"), &json!("oven.md")));
        // What a command there does must not turn the server to an empty namespace of its own.
        for arguments in
            [&["search", "hot oven", "--files"][..], &["search", "hot oven", "--namespace", "mill", "--files"]]
        {
            assert!(there(arguments).starts_with("mill:oven.md\n"), "{arguments:?}");
        }
    }
    let found = there(&["grep", "220 degrees"]);
    assert!(found.starts_with("mill:oven.md:3:Heat the oven to 220 degrees"), "{found}");
    assert!(found.contains("searched the indexed text, not the files: mill"), "{found}");
    let found = get(&served, "/v1/grep?pattern=220+degrees");
    assert_eq!((&found["matches"], &found["complete"]), (&json!(1), &json!(true)));
    let status = there(&["status"]);
    assert!(status.starts_with("postgres://") && status.contains("\n mill ") && !status.contains(".tamis"), "{status}");
    let namespaces = json_of(tamis(root, Some(&url)).args(["store", "status", "--json"]));
    assert_eq!(namespaces["namespaces"].as_array().map(Vec::len), Some(1), "{namespaces}");
    // Who means the directory says so.
    assert!(there(&["index"]).starts_with("1 file: 1 added"));
    assert!(there(&["search", "nobody asked to index", "--files"]).starts_with("notes.md\n"));
}

#[test]
fn a_session_of_one_server_goes_on_at_another() {
    let Some((database, directory)) = indexed() else { return };
    let [one, other] = [(); 2].map(|()| server(&directory, &database));
    let session = Session::open(&one, None, "2025-06-18");
    let send = |server: &Server, method: &str, body: &str| {
        Session { server, token: None, id: session.id.clone() }.send(method, body)
    };
    let query = json!({ "query": "the tide near the mill", "all": true, "limit": 50, "max_chars": 1000 });
    let page = |server: &Server, query: &Value| {
        let reply = send(server, "POST", &search(query));
        let data = reply.body.lines().find_map(|it| it.strip_prefix("data: {")).unwrap_or_else(|| panic!("{reply:?}"));
        let message: Value = serde_json::from_str(&format!("{{{data}")).expect("a message");
        let is_error = message["result"]["isError"].as_bool().unwrap_or(false);
        let text = message["result"]["content"][0]["text"].as_str().expect("a text").to_owned();
        assert!(!is_error, "{text}");
        text
    };
    let first = page(&one, &query);
    let (_, offset) = first.rsplit_once("offset = ").unwrap_or_else(|| panic!("one page: {first}"));
    let mut next = query.clone();
    next["offset"] = json!(offset.trim_end().trim_end_matches('.').parse::<u64>().expect("a number"));
    let (there, here) = (page(&other, &next), page(&one, &next));
    let without_query = |text: &str| text.split(" [query ").next().unwrap_or_default().to_owned();
    assert_eq!(without_query(&there), without_query(&here));
    assert_ne!(without_query(&there), without_query(&first));
    // A third server, started later, knows it as well; and its end is the end everywhere.
    let third = server(&directory, &database);
    assert_eq!([send(&third, "POST", &search(&query)).status, send(&third, "DELETE", "").status], [200, 204]);
    for server in [&one, &other, &third] {
        assert_eq!(send(server, "POST", &search(&query)).status, 404);
    }
}

#[test]
fn a_server_follows_what_a_worker_indexes() {
    let Some((database, root)) = indexed() else { return };
    let server = server(&root, &database);
    let mut events = server.connect();
    events.write_all(&request("GET /v1/events HTTP/1.1", &[("Host", "localhost")], "")).expect("sent");
    let mut changes = BufReader::new(events)
        .lines()
        .map_while(Result::ok)
        .filter_map(|line| line.strip_prefix("data: {\"change\":")?.trim_end_matches('}').parse::<u64>().ok());
    let first = changes.next().expect("the number at the start");
    fs::write(root.join("mill/oven.md"), "# Oven\n\nHeat the oven to 240 degrees before baking.\n").expect("written");
    run_jobs(&root, &database, &["mill"]);
    assert!(changes.next().expect("a change") > first);
    let answer = get(&server, "/v1/search?query=how+hot+should+the+oven+be");
    assert!(answer["results"][0]["snippet"].to_string().contains("240"), "{answer}");
}

#[test]
fn ten_workers_share_the_trees_and_a_killed_one_loses_nothing() {
    const TREES: usize = 20;
    let Some(database) = TestDatabase::create() else { return };
    let root = tree();
    let names: Vec<String> = (0..TREES).map(|number| format!("tree{number}")).collect();
    for name in &names {
        fs::create_dir_all(root.join(name)).expect("made");
        for file in 0..30 {
            let text = format!("# {name} {file}\n\nThe {name} keeps the number {file} in its cellar.\n");
            fs::write(root.join(name).join(format!("{file}.md")), text).expect("written");
        }
    }
    done(tamis(&root, Some(&database.url())).args(["jobs", "add"]).args(names.iter().map(|name| root.join(name))));
    let mut workers: Vec<Child> = (0..10).map(|_| worker(&root, &database)).collect();
    // Three of them are killed, one after the other, as soon as they have a job.
    let mut killed = 0;
    let started = Instant::now();
    while killed < 3 && started.elapsed() < Duration::from_secs(60) {
        let running = jobs(&root, &database).into_iter().filter(|job| job["state"] == "running");
        let ids: Vec<u32> = running.filter_map(|it| it["worker"].as_str()?.rsplit(':').next()?.parse().ok()).collect();
        if let Some(at) = workers.iter().position(|worker| ids.contains(&worker.id())) {
            let mut worker = workers.swap_remove(at);
            worker.kill().expect("killed");
            worker.wait().expect("it ended");
            killed += 1;
        } else if jobs(&root, &database).iter().all(|job| job["state"] == "done") {
            break;
        }
    }
    for worker in &mut workers {
        assert_eq!(end_of(worker), Some(Some(0)), "a worker that was not killed");
    }
    assert!(killed > 0, "no worker was caught with a job");
    let ended = jobs(&root, &database);
    assert_eq!(ended.len(), TREES);
    assert!(ended.iter().all(|job| job["state"] == "done"), "{ended:?}");
    let status = json_of(tamis(&root, Some(&database.url())).args(["store", "status", "--json"]));
    let namespaces = status["namespaces"].as_array().expect("namespaces");
    assert_eq!(namespaces.iter().filter(|namespace| namespace["documents"] == 30).count(), TREES, "{status}");
    done(tamis(&root, Some(&database.url())).args(["store", "check", "--check-only"]));
}

#[test]
fn a_worker_reads_nothing_outside_of_its_roots() {
    let Some(database) = TestDatabase::create() else { return };
    let root = tree();
    fs::create_dir_all(root.join("secret")).expect("made");
    fs::write(root.join("secret/key.md"), "# Key\n\nThe secret key is under the mat.\n").expect("written");
    fs::create_dir_all(root.join("trees/plain")).expect("made");
    fs::write(root.join("trees/plain/a.md"), "# Plain\n\nNothing to see.\n").expect("written");
    #[cfg(unix)]
    std::os::unix::fs::symlink(root.join("secret"), root.join("trees/link")).expect("linked");
    let url = database.url();
    let queue = |namespace: &str, path: &Path| {
        done(tamis(&root, Some(&url)).args(["jobs", "add", "--namespace", namespace]).arg(path));
    };
    queue("outside", &root.join("secret"));
    queue("plain", &root.join("trees/plain"));
    queue("poisoned", &root.join("trees/plain"));
    // Whoever can write to the database can change all of it.
    database.execute(&format!(
        "UPDATE tamis.jobs SET path = '{0}/trees/link' WHERE namespace = 'outside'; \
         INSERT INTO tamis.jobs(namespace, path, added_ms) VALUES ('up', '{0}/trees/../secret', 0), ('dots', '{0}/secret', 0); \
         INSERT INTO tamis.properties(namespace, name, value) VALUES ('poisoned', 'sources', \
         '[{{\"namespace\":\"poisoned\",\"root\":\"{0}/secret\"}}]'); \
         UPDATE tamis.jobs SET failures = 2 WHERE namespace <> 'plain'",
        root.display()
    ));
    let mut work = tamis(&root, Some(&url));
    work.args(["jobs", "run", "--until-empty", "--root"]).arg(root.join("trees"));
    let worked = work.output().expect("it runs");
    let said = String::from_utf8_lossy(&worked.stderr);
    assert_eq!(worked.status.code(), Some(1), "{said}");
    for job in jobs(&root, &database) {
        let is_plain = job["namespace"] == "plain";
        assert_eq!(job["state"], if is_plain { "done" } else { "failed" }, "{job}");
        assert!(is_plain || job["reason"].to_string().contains("may read"), "{job}");
    }
    let found =
        json_of(tamis(&root, Some(&url)).args(["search", "--json", "--no-refresh", "--mode", "lexical", "secret"]));
    assert_eq!(found["results"], json!([]), "{found}");
}

#[test]
fn what_others_write_into_the_queue_steers_no_terminal() {
    let Some(database) = TestDatabase::create() else { return };
    let root = tree();
    let url = database.url();
    assert_eq!(jobs(&root, &database), Vec::<Value>::new());
    let hostile = "\u{1b}[31mPWN\u{202e}\u{7}\n";
    database.execute(&format!(
        "INSERT INTO tamis.jobs(namespace, path, state, worker, reason, failures, added_ms) \
         VALUES ('n{hostile}', '/p{hostile}', 'failed', 'w{hostile}', 'r{hostile}', 3, 0), ('m{hostile}', '/q{hostile}', 'waiting', NULL, NULL, 2, 0)"
    ));
    let listed = tamis(&root, Some(&url)).args(["jobs", "list", "--color", "always"]).output().expect("it runs");
    let worked = tamis(&root, Some(&url)).args(["jobs", "run", "--root", ".", "--until-empty"]).output();
    let worked = worked.expect("it runs");
    assert_eq!((listed.status.code(), worked.status.code()), (Some(0), Some(1)));
    for output in [listed.stdout, worked.stdout, worked.stderr] {
        let text = String::from_utf8(output).expect("UTF-8");
        assert!(!text.contains(['\u{1b}', '\u{202e}', '\u{7}']), "{text:?}");
    }
}

#[test]
fn a_namespace_of_two_trees_is_refused_and_nothing_is_queued() {
    let Some(database) = TestDatabase::create() else { return };
    let root = tree();
    let url = database.url();
    let add = |more: &[&str]| tamis(&root, Some(&url)).args(["jobs", "add"]).args(more).output().expect("it runs");
    for (arguments, said) in [
        (&["/a/api", "/b/api"][..], "--namespace NAME"),
        (&["no/such/tree"], "whole path"),
        (&["/a", "/b", "--namespace", "x"], "one by one"),
        (&["/a", "--namespace", "a,b"], "--namespace"),
        (&["/"], "--namespace"),
    ] {
        let refused = add(arguments);
        let text = String::from_utf8_lossy(&refused.stderr);
        assert_eq!(refused.status.code(), Some(2), "{text}");
        assert!(text.contains(said), "{arguments:?}: {text}");
    }
    assert!(add(&["/a/api"]).status.success());
    assert_eq!(add(&["/a/web", "/b/api"]).status.code(), Some(2));
    let queued: Vec<Value> = jobs(&root, &database).iter().map(|job| job["path"].clone()).collect();
    assert_eq!(queued, [json!("/a/api")]);
}

#[test]
fn no_tree_takes_over_the_namespace_of_another_one() {
    let Some((database, root)) = indexed() else { return };
    let url = database.url();
    let documents = || {
        let mut files = tamis(&root, Some(&url));
        let files = files.current_dir(&*root).args(["files", "--json", "--no-refresh", "--namespace", "mill"]);
        let listed = json_of(files);
        listed.to_string().matches("tide-").count()
    };
    let before = documents();
    assert!(before >= 80, "{before}");
    // A directory of the same name, by hand.
    let other = root.join("others/mill");
    fs::create_dir_all(other.join(".git")).expect("made");
    fs::write(other.join("a.md"), "# Sails\n\nThe sails turn.\n").expect("written");
    let there = |arguments: &[&str]| {
        let mut command = tamis(&root, Some(&url));
        command.current_dir(&other).args(arguments).output().expect("it runs")
    };
    let refused = there(&["index"]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(2), "{said}");
    for named in ["others/mill", "TAMIS_STORE_NAMESPACE", "--moved"] {
        assert!(said.contains(named), "{named}: {said}");
    }
    let searched = there(&["search", "how hot should the oven be"]);
    let said = String::from_utf8_lossy(&searched.stderr).into_owned();
    let parts = ["as it is", "mill holds the files of ", "where `tamis index` updates it"];
    assert!(parts.iter().all(|part| said.contains(part)), "{said}");
    assert_eq!(documents(), before);
    // The tree that has moved, and its workers.
    let moved = root.join("moved");
    fs::create_dir(&moved).expect("made");
    fs::rename(root.join("mill"), moved.join("mill")).expect("moved");
    let add = |flags: &[&str]| {
        let mut command = tamis(&root, Some(&url));
        command.current_dir(&moved).args(["jobs", "add", "mill"]).args(flags).output().expect("it runs")
    };
    assert_eq!(add(&[]).status.code(), Some(2));
    assert!(add(&["--moved"]).status.success());
    let mut work = tamis(&root, Some(&url));
    let worked = work.current_dir(&moved).args(["jobs", "run", "--until-empty", "--root", "."]).output();
    assert_eq!(worked.expect("it runs").status.code(), Some(0));
    assert_eq!(documents(), before);
}

#[test]
fn a_directory_that_is_not_here_may_be_on_another_machine() {
    let Some(database) = TestDatabase::create() else { return };
    let root = tree();
    for name in ["ferry", "ferry-copy"] {
        fs::create_dir(root.join(name)).expect("made");
        fs::write(root.join(name).join("pier.md"), "# Pier\n\nThe ferry leaves the pier at dawn.\n").expect("written");
    }
    let run = |arguments: &[&str]| {
        let output = tamis(&root, Some(&database.url())).args(arguments).output().expect("it runs");
        let [out, err] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        (output.status.code(), out, err)
    };
    assert_eq!(run(&["index", "../ferry"]).0, Some(0));
    // To this machine, a colleague's directory looks like one that is gone.
    fs::rename(root.join("ferry"), root.join("elsewhere")).expect("renamed");
    let (code, out, warned) = run(&["search", "when does the ferry leave", "--namespace", "ferry"]);
    assert!(code == Some(0) && !warned.contains("gone"), "{out}{warned}");
    let (code, out, error) = run(&["index", "../ferry-copy"]);
    assert_eq!(code, Some(0), "{error}");
    assert!(out.contains("ferry-copy: 1 file: 1 added"), "a copy is a namespace of its own: {out}{error}");
}
