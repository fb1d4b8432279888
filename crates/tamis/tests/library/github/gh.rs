//! A `gh` that asks the test in place of GitHub: lists sorted by the time of the last update, paged; and every way to fail.

#![allow(dead_code)]

use jiff::Timestamp;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, MutexGuard};
use tempfile::TempDir;

/// Hands its environment and arguments to the test, a line each, and prints what the test answers.
const SCRIPT: &str = r#"#!/bin/sh
cd "${0%/*}" || exit 9
printf '%s\n' "$GH_PROMPT_DISABLED$NO_COLOR$CLICOLOR_FORCE" "$@" > asked
read -r code < answered
if [ "$code" = silence ]; then
    echo $$ > silent
    exec sleep 600
fi
cat complaint >&2
cat output
exit "$code"
"#;

/// A failure in place of an answer.
#[derive(Clone)]
pub enum Fault {
    /// GitHub refuses with a status, headers and a message.
    Status(u16, Vec<(&'static str, String)>, &'static str),
    /// Only the first half of the answer arrives.
    Cut,
    /// `gh` prints this instead.
    Output(&'static str),
    /// `gh` ends with this exit status and these words.
    Exit(i32, &'static str),
    /// `gh` waits without an end.
    Silence,
}

/// The content of GitHub, and its planned faults.
#[derive(Default)]
pub struct World {
    pub issues: Vec<Value>,
    pub comments: Vec<Value>,
    pub remarks: Vec<Value>,
    pub reviews: BTreeMap<u64, Vec<Value>>,
    /// The root of the repository; requests to others get 404.
    pub root: String,
    /// Paths with these prefixes are redirected to the same path at another root, which `gh` follows.
    pub redirects: Vec<(String, String)>,
    /// The number of entries on a page.
    pub page: usize,
    /// The number of pages shown of a list.
    pub pages: usize,
    /// Faults by the number of the request, from 0.
    pub faults: BTreeMap<usize, Fault>,
    /// The request from which on all get this fault.
    pub broken_from: Option<(usize, Fault)>,
    /// Changes after a request was answered, by its number.
    pub changes: BTreeMap<usize, fn(&mut World)>,
    /// The environment and the arguments of each run.
    pub requests: Vec<Vec<String>>,
}

pub struct FakeGh {
    directory: TempDir,
    world: Arc<Mutex<World>>,
}

impl FakeGh {
    pub fn start(world: World) -> FakeGh {
        let directory = tempfile::tempdir().expect("a temporary directory");
        fs::write(directory.path().join("script"), SCRIPT).expect("written");
        // Another process copies the program: while one of ours has it open for writing, it cannot be run.
        let made = "mkfifo asked answered && cp script gh && chmod +x gh";
        let made = Command::new("sh").args(["-c", made]).current_dir(directory.path()).status();
        assert!(made.expect("runs").success());
        let world = Arc::new(Mutex::new(world));
        let (shared, at) = (world.clone(), directory.path().to_owned());
        // The thread ends with the test.
        std::thread::spawn(move || while serve(&at, &shared).is_ok() {});
        FakeGh { directory, world }
    }

    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    pub fn program(&self) -> PathBuf {
        self.directory().join("gh")
    }

    pub fn world(&self) -> MutexGuard<'_, World> {
        self.world.lock().expect("no test failed while it held this")
    }

    /// Returns the environment and the arguments of each run since the last call.
    pub fn requests(&self) -> Vec<Vec<String>> {
        std::mem::take(&mut self.world().requests)
    }

    /// Returns what they asked for.
    pub fn targets(&self) -> Vec<String> {
        self.requests().into_iter().filter_map(|mut request| request.pop()).collect()
    }
}

impl Drop for FakeGh {
    fn drop(&mut self) {
        if let Ok(silent) = fs::read_to_string(self.directory().join("silent")) {
            let _ = Command::new("kill").arg(silent.trim()).output();
        }
    }
}

fn serve(directory: &Path, world: &Mutex<World>) -> std::io::Result<()> {
    let request: Vec<String> = fs::read_to_string(directory.join("asked"))?.lines().map(str::to_owned).collect();
    let mut world = world.lock().expect("no test failed while it held this");
    let number = world.requests.len();
    let (mut status, mut headers, mut body) = answer(&world, request.last().map_or("", String::as_str));
    world.requests.push(request);
    let broken = world.broken_from.clone().filter(|(from, _)| number >= *from).map(|(_, fault)| fault);
    let fault = world.faults.remove(&number).or(broken);
    if let Some(Fault::Status(other, others, message)) = &fault {
        (status, headers, body) = (*other, others.clone(), json!({ "message": message }).to_string());
    }
    headers.push(("Date", "Sun, 01 Jun 2025 12:00:00 GMT".to_owned()));
    let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let mut output = format!("HTTP/2.0 {status} X\n{headers}\r\n{body}");
    let (mut code, mut complaint) = ("0".to_owned(), String::new());
    if status >= 400 {
        let message = serde_json::from_str::<Value>(&body).expect("JSON")["message"].clone();
        (code, complaint) = ("1".to_owned(), format!("gh: {} (HTTP {status})\n", message.as_str().expect("a text")));
    }
    match fault {
        Some(Fault::Cut) => {
            output.truncate(output.len() - body.len() / 2);
            (code, complaint) = ("1".to_owned(), "unexpected EOF\n".to_owned());
        }
        Some(Fault::Output(text)) => output = text.to_owned(),
        Some(Fault::Exit(other, words)) => (code, complaint, output) = (other.to_string(), words.into(), String::new()),
        Some(Fault::Silence) => code = "silence".to_owned(),
        Some(Fault::Status(..)) | None => {}
    }
    fs::write(directory.join("output"), output)?;
    fs::write(directory.join("complaint"), complaint)?;
    if let Some(change) = world.changes.remove(&number) {
        change(&mut world);
    }
    drop(world);
    fs::write(directory.join("answered"), format!("{code}\n"))
}

type Reply = (u16, Vec<(&'static str, String)>, String);

fn answer(world: &World, target: &str) -> Reply {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let moved = world.redirects.iter().find(|(old, _)| path.starts_with(old.as_str()));
    let path = moved.map_or_else(|| path.to_owned(), |(old, new)| path.replacen(old.as_str(), new, 1));
    let missing = || (404, Vec::new(), json!({ "message": "Not Found" }).to_string());
    let Some(below) = path.strip_prefix(world.root.as_str()) else { return missing() };
    let parameters: BTreeMap<&str, &str> = query.split('&').filter_map(|part| part.split_once('=')).collect();
    let parts: Vec<&str> = below.trim_start_matches('/').split('/').collect();
    let of = |entries: &[Value], field: &str, number: &str| -> Vec<Value> {
        let end = format!("/{number}");
        entries.iter().filter(|entry| entry[field].as_str().is_some_and(|url| url.ends_with(&end))).cloned().collect()
    };
    let entries = match parts.as_slice() {
        ["issues"] => {
            let state = parameters.get("state").copied().unwrap_or("open");
            world.issues.iter().filter(|issue| state == "all" || issue["state"] == state).cloned().collect()
        }
        ["issues", "comments"] => world.comments.clone(),
        ["pulls", "comments"] => world.remarks.clone(),
        ["issues", number, "comments"] => of(&world.comments, "issue_url", number),
        ["pulls", number, "comments"] => of(&world.remarks, "pull_request_url", number),
        ["pulls", number, "reviews"] => {
            number.parse().ok().and_then(|number: u64| world.reviews.get(&number)).cloned().unwrap_or_default()
        }
        _ => return missing(),
    };
    paged(world, entries, &parameters)
}

fn paged(world: &World, mut entries: Vec<Value>, parameters: &BTreeMap<&str, &str>) -> Reply {
    let updated = |entry: &Value| entry["updated_at"].as_str().unwrap_or_default().to_owned();
    if let Some(since) = parameters.get("since") {
        entries.retain(|entry| updated(entry).as_str() >= *since);
    }
    entries.sort_by_key(|entry| (updated(entry), entry["number"].as_u64(), entry["id"].as_u64()));
    let number: usize = parameters.get("page").and_then(|page| page.parse().ok()).unwrap_or(1);
    if number > world.pages {
        return (422, Vec::new(), json!({ "message": "pagination is limited for this resource" }).to_string());
    }
    let start = (number - 1) * world.page;
    let shown: Vec<&Value> = entries.iter().skip(start).take(world.page).collect();
    let more = entries.len() > start + world.page;
    let link = more.then(|| ("Link", format!("<https://api.github.com/x?page={}>; rel=\"next\"", number + 1)));
    (200, link.into_iter().collect(), serde_json::to_string(&shown).expect("JSON"))
}

/// The moment so many minutes after the beginning of 2025, as GitHub writes it.
pub fn minute(minutes: i64) -> String {
    Timestamp::from_second(1_735_689_600 + minutes * 60).expect("a time").to_string()
}

/// An issue written and updated at these minutes.
pub fn issue(number: u64, title: &str, created: i64, updated: i64) -> Value {
    json!({
        "repository_url": API, "html_url": format!("https://github.com/ada/engine/issues/{number}"),
        "id": 1000 + number, "number": number, "title": title, "body": format!("{title}. It happens each time."),
        "user": { "login": "ada", "type": "User" }, "labels": [{ "name": "bug" }],
        "state": "open", "locked": false, "comments": 1,
        "created_at": minute(created), "updated_at": minute(updated), "closed_at": null,
    })
}

/// A pull request that was merged.
pub fn pull(number: u64, title: &str, created: i64, updated: i64) -> Value {
    let mut pull = issue(number, title, created, updated);
    pull["html_url"] = json!(format!("https://github.com/ada/engine/pull/{number}"));
    pull["state"] = json!("closed");
    pull["closed_at"] = json!(minute(updated));
    pull["pull_request"] = json!({ "url": format!("{API}/pulls/{number}"), "merged_at": minute(updated) });
    pull
}

/// What grace wrote at an address of the repository, with the fields that its kind has of its own.
fn written(id: u64, address: &str, body: &str, mut own: Value) -> Value {
    own["id"] = json!(id);
    own["html_url"] = json!(format!("https://github.com/ada/engine/{address}"));
    own["user"] = json!({ "login": "grace", "type": "User" });
    own["body"] = json!(body);
    own
}

const API: &str = "https://api.github.com/repos/ada/engine";

pub fn comment(id: u64, number: u64, updated: i64, body: &str) -> Value {
    let (issue, time) = (format!("{API}/issues/{number}"), minute(updated));
    let own = json!({ "issue_url": issue, "created_at": time, "updated_at": time });
    written(id, &format!("issues/{number}#issuecomment-{id}"), body, own)
}

pub fn remark(id: u64, number: u64, updated: i64, body: &str) -> Value {
    let (pull, time) = (format!("{API}/pulls/{number}"), minute(updated));
    let own = json!({
        "pull_request_review_id": 9, "diff_hunk": "@@ -1 +1 @@", "path": "src/valve.rs", "line": 3,
        "pull_request_url": pull, "created_at": time, "updated_at": time,
    });
    written(id, &format!("pull/{number}#discussion_r{id}"), body, own)
}

pub fn review(id: u64, number: u64, submitted: i64, body: &str) -> Value {
    let pull = format!("{API}/pulls/{number}");
    let own = json!({ "state": "APPROVED", "pull_request_url": pull, "submitted_at": minute(submitted) });
    written(id, &format!("pull/{number}#pullrequestreview-{id}"), body, own)
}
