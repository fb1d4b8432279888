//! `cargo xtask agent-tasks`: sixteen tasks of an agent through `tamis mcp` alone, and the characters that they take.
//!
//! Each task has its calls, the facts that the answers must contain, and the commands with which ripgrep and reading of lines
//! finish the same task. Their output is computed here, with ripgrep's own matcher, so the comparison needs no other program: what
//! `rg -n` prints into a pipe, and of a file only the lines that are read, without numbers. A model reads and writes the name and
//! arguments of a call and the text of its answer, or a command line and its output; these characters are counted.

use anyhow::{Context, Result, bail, ensure};
use grep_matcher::Matcher;
use grep_regex::RegexMatcher;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, ChildStdout, Command, Stdio};
use xtask::run::{Owned, root};

/// A command of the comparison.
enum Step {
    /// `rg -n PATTERN PATH…`: lines that match, in files below the paths.
    Rg(&'static str, &'static [&'static str]),
    /// `rg --files | rg PATTERN`: paths that match.
    Files(&'static str),
    /// Lines of a file.
    Read(&'static str, usize, usize),
}

/// A task.
struct Task {
    question: &'static str,
    source: &'static str,
    calls: Vec<(&'static str, Value)>,
    facts: &'static [&'static str],
    steps: &'static [Step],
}

/// Most characters of all tasks through the server, as a multiple of those of the comparison.
const MOST: f64 = 1.0;

const MARK: (&str, &str) = ("<!-- tasks: made by `cargo xtask agent-tasks --write` -->", "<!-- tasks end -->");

fn tasks() -> Vec<Task> {
    use Step::{Files, Read, Rg};
    vec![
        Task {
            question: "What is the limit of chunk extensions, and where is it checked?",
            source: "hyper-1.12.0",
            calls: vec![
                ("search", json!({ "query": "limit of the length of chunk extensions", "limit": 1 })),
                ("grep", json!({ "pattern": "CHUNKED_EXTENSIONS_LIMIT", "paths": ["src"], "context": 2 })),
            ],
            facts: &["1024 * 16", "src/proto/h1/decode.rs", ">= CHUNKED_EXTENSIONS_LIMIT"],
            steps: &[
                Rg("(?i)chunk.*extension|extension.*(chunk|limit)", &["src"]),
                Read("src/proto/h1/decode.rs", 15, 30),
                Read("src/proto/h1/decode.rs", 430, 460),
            ],
        },
        Task {
            question: "Where is the variant BackTab of KeyCode used?",
            source: "crossterm-0.29.0",
            calls: vec![("grep", json!({ "pattern": "BackTab", "word": true }))],
            facts: &[
                "6 matches in 3 files", "event.rs", "src/event/sys/unix/parse.rs", "src/event/sys/windows/parse.rs",
            ],
            steps: &[Rg(r"\bBackTab\b", &["."])],
        },
        Task {
            question: "List every use of unsafe.",
            source: "crossterm-0.29.0",
            calls: vec![("grep", json!({ "pattern": "unsafe", "word": true, "paths": ["src"] }))],
            facts: &["17 matches in 7 files", "BorrowedFd", "WaitForMultipleObjects", "GetConsoleTitleW"],
            steps: &[Rg(r"\bunsafe\b", &["src"])],
        },
        Task {
            question: "What is the default of the header read timeout of HTTP/1, and where is it applied?",
            source: "hyper-1.12.0",
            calls: vec![
                ("grep", json!({ "pattern": "h1_header_read_timeout", "paths": ["src"] })),
                ("get", json!({ "id": "src/proto/h1/conn.rs:220-250" })),
            ],
            facts: &["Duration::from_secs(30)", "src/server/conn/http1.rs", "src/proto/h1/conn.rs", "deadline"],
            steps: &[Rg("h1_header_read_timeout", &["src"]), Read("src/proto/h1/conn.rs", 220, 250)],
        },
        Task {
            question: "Outline walk.rs, a file of 94 kB.",
            source: "ignore-0.4.34",
            calls: vec![("outline", json!({ "path": "src/walk.rs", "max_chars": 20000 }))],
            facts: &[
                "pub struct WalkBuilder",
                "pub fn build_parallel(&self) -> WalkParallel",
                "pub trait ParallelVisitor",
                "2775 lines",
            ],
            steps: &[Rg(
                r"^\s*(pub(\([a-z]+\))? )?(unsafe |const |async )*(fn|struct|enum|trait|impl|type|mod)\b",
                &["src/walk.rs"],
            )],
        },
        Task {
            question: "Which files are for Windows?",
            source: "crossterm-0.29.0",
            calls: vec![("files", json!({ "pattern": "windows" }))],
            facts: &["src/event/sys/windows/waker.rs", "src/terminal/sys/windows.rs", "8 files"],
            steps: &[Files("windows")],
        },
        Task {
            question: "Where is a new file type added, and which test has to pass?",
            source: "ignore-0.4.34",
            calls: vec![
                ("grep", json!({ "pattern": "DEFAULT_TYPES", "paths": ["src"] })),
                ("get", json!({ "id": "src/default_types.rs:1-24" })),
                ("get", json!({ "id": "src/default_types.rs:348-378" })),
            ],
            facts: &["pub(crate) const DEFAULT_TYPES", "default_types_are_sorted", "should be sorted"],
            steps: &[
                Rg("DEFAULT_TYPES", &["src"]),
                Read("src/default_types.rs", 1, 24),
                Read("src/default_types.rs", 348, 378),
            ],
        },
        Task {
            question: "How do the client and the cookie store work together?",
            source: "reqwest-0.13.5",
            calls: vec![
                ("get", json!({ "id": "src/cookie.rs:10-31" })),
                ("related", json!({ "id": "src/cookie.rs:14", "by": "reference" })),
                ("get", json!({ "id": "src/cookie.rs:236-310" })),
            ],
            facts: &[
                "pub trait CookieStore", "src/async_impl/client.rs", "add_cookie_header", "set_cookies(&mut cookies",
            ],
            steps: &[Read("src/cookie.rs", 10, 31), Rg(r"\bCookieStore\b", &["src"]), Read("src/cookie.rs", 236, 310)],
        },
        Task {
            question: "Where is it decided that a file being written needs ZIP64?",
            source: "zip-9.8.2",
            calls: vec![
                ("search", json!({ "query": "decide that a file being written needs ZIP64", "limit": 3 })),
                ("get", json!({ "id": "src/extra_fields/zip64_extended_information.rs:46-90" })),
                ("grep", json!({ "pattern": "ZIP64_(BYTES|ENTRY)_THR", "paths": ["src/write.rs"] })),
            ],
            facts: &[
                "pub(crate) fn local_header",
                "|| uncompressed_size >= ZIP64_BYTES_THR",
                "header_start >= ZIP64_BYTES_THR",
                "let is64 = self.files.len() > ZIP64_ENTRY_THR",
            ],
            steps: &[
                Rg("ZIP64_(BYTES|ENTRY)_THR", &["src"]),
                Read("src/extra_fields/zip64_extended_information.rs", 46, 90),
            ],
        },
        Task {
            question: "What happens when the event queue of inotify overflows?",
            source: "notify-8.2.1",
            calls: vec![(
                "search",
                json!({ "query": "what happens when the inotify event queue overflows", "limit": 3 }),
            )],
            facts: &["EventMask::Q_OVERFLOW", "EventKind::Other", "Flag::Rescan"],
            steps: &[Rg("(?i)overflow", &["src"]), Read("src/inotify.rs", 210, 216)],
        },
        Task {
            question: "List every caller of ProgressDrawTarget::is_hidden.",
            source: "indicatif-0.18.6",
            calls: vec![("grep", json!({ "pattern": "is_hidden", "word": true }))],
            facts: &["8 matches in 3 files", "src/multi.rs", "self.state().draw_target.is_hidden()"],
            steps: &[Rg(r"\bis_hidden\b", &["."])],
        },
        Task {
            question: "What must change to add another way to arrange content, beside Disabled and Dynamic?",
            source: "comfy-table-8.0.1",
            calls: vec![
                ("search", json!({ "query": "choose how content is arranged: disabled or dynamic", "limit": 3 })),
                ("get", json!({ "id": "src/style/table.rs:10-29" })),
                ("get", json!({ "id": "src/utils/arrangement/mod.rs:45-62" })),
                ("grep", json!({ "pattern": "DynamicFullWidth", "paths": ["src", "tests"] })),
            ],
            facts: &[
                "pub enum ContentArrangement",
                "mod disabled;",
                "dynamic::arrange(",
                "matches!(table.arrangement, ContentArrangement::DynamicFullWidth)",
                "Just(ContentArrangement::DynamicFullWidth)",
            ],
            steps: &[
                Rg("DynamicFullWidth|^mod (disabled|dynamic)", &["src", "tests"]),
                Read("src/style/table.rs", 10, 29),
                Read("src/utils/arrangement/mod.rs", 45, 62),
            ],
        },
        Task {
            question: "Which error is returned for an encrypted document and a wrong password?",
            source: "lopdf-0.47.0",
            calls: vec![
                ("search", json!({ "query": "error for an encrypted document with a wrong password", "limit": 3 })),
                ("grep", json!({ "pattern": "InvalidPassword|IncorrectPassword" })),
                ("get", json!({ "id": "src/reader.rs:1317-1329" })),
            ],
            facts: &[
                "return Err(Error::InvalidPassword)",
                "Err(DecryptionError::IncorrectPassword)",
                "require_password",
            ],
            steps: &[Rg("(?i)(wrong|invalid|incorrect).?password", &["."]), Read("src/reader.rs", 1317, 1329)],
        },
        Task {
            question: "Which tests cover the rejection of a cookie for a public suffix?",
            source: "cookie_store-0.22.1",
            calls: vec![
                ("search", json!({ "query": "test that a cookie for a public suffix is rejected", "limit": 3 })),
                ("grep", json!({ "pattern": "PublicSuffix|suffix_list|is_public_suffix|mod tests", "paths": ["src"] })),
            ],
            facts: &["return Err(CookieError::PublicSuffix)", "cookie.domain.is_public_suffix(psl)"],
            steps: &[Rg("(?i)public.?suffix|mod tests", &["src"])],
        },
        Task {
            question: "Which extensions of JSON are accepted by default, and where is each refused?",
            source: "jsonc-parser-0.34.0",
            calls: vec![
                ("search", json!({ "query": "default options: which extensions of JSON are accepted", "limit": 3 })),
                ("get", json!({ "id": "src/parse_to_ast.rs:74-89" })),
                ("grep", json!({ "pattern": r"(self|context)\.allow_", "paths": ["src"] })),
            ],
            facts: &[
                "allow_comments: true", "allow_extended_string_escapes: true", "!self.allow_hexadecimal_numbers",
                "!context.allow_trailing_commas",
            ],
            steps: &[Rg(r"(self|context)\.allow_", &["src"]), Read("src/parse_to_ast.rs", 74, 89)],
        },
        Task {
            question: "How does a keyed rate limiter forget keys that are no longer used?",
            source: "governor-0.10.4",
            calls: vec![
                (
                    "search",
                    json!({ "query": "forget keys of a keyed rate limiter that are no longer used", "limit": 3 }),
                ),
                ("get", json!({ "id": "src/state/keyed.rs:215-241" })),
                ("grep", json!({ "pattern": "retain_recent|is_older_than" })),
            ],
            facts: &["saturating_sub(self.gcra.t())", "!v.is_older_than(drop_below)", "lim.retain_recent()"],
            steps: &[Rg("retain_recent|is_older_than", &["."]), Read("src/state/keyed.rs", 215, 241)],
        },
    ]
}

/// Runs the tasks. `--write` puts the table into `docs/agents.md`.
fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let writes = match arguments.as_slice() {
        [] => false,
        [flag] if flag == "--write" => true,
        _ => bail!("usage: cargo xtask agent-tasks [--write]"),
    };
    let directory = tempfile::tempdir()?;
    let mut table = String::from(
        "| task | on | calls | characters | with ripgrep and reading | times |\n| --- | --- | ---: | ---: | ---: | ---: |\n",
    );
    let (mut counts, mut listed) = (Vec::new(), 0);
    for task in tasks() {
        let tree = copied(task.source, directory.path())?;
        let mut session = Session::start(&tree)?;
        listed = session.listed;
        let (mut characters, mut answers) = (0, String::new());
        for (tool, arguments) in &task.calls {
            let text = session.call(tool, arguments)?;
            characters += tool.len() + arguments.to_string().chars().count() + text.chars().count();
            answers.push_str(&text);
        }
        for fact in task.facts {
            ensure!(answers.contains(fact), "{}: the answers lack {fact:?}:\n{answers}", task.question);
        }
        let compared = task.steps.iter().map(|step| step_characters(&tree, step)).sum::<Result<usize>>()?;
        let times = characters as f64 / compared as f64;
        counts.push((characters, compared));
        let calls = task.calls.len();
        let _ = writeln!(
            table,
            "| {} | {} | {calls} | {characters} | {compared} | {times:.2} |",
            task.question, task.source
        );
    }
    let (characters, compared): (Vec<usize>, Vec<usize>) = counts.into_iter().unzip();
    let mean =
        characters.iter().zip(&compared).map(|(&of, &to)| of as f64 / to as f64).sum::<f64>() / characters.len() as f64;
    let (characters, compared) = (characters.iter().sum::<usize>(), compared.iter().sum::<usize>());
    let all = characters as f64 / compared as f64;
    let _ = writeln!(table, "| all | | | {characters} | {compared} | {all:.2} |");
    let _ = writeln!(table, "| mean of the tasks' times | | | | | {mean:.2} |");
    println!("{table}\ntools/list: {listed} characters");
    if writes {
        let path = root().join("docs/agents.md");
        let page = fs::read_to_string(&path)?;
        let (before, rest) = page.split_once(MARK.0).context("docs/agents.md: no mark where the tasks begin")?;
        let (_, after) = rest.split_once(MARK.1).context("docs/agents.md: no mark where the tasks end")?;
        let (begin, end) = MARK;
        fs::write(
            path,
            format!("{before}{begin}\n{table}\nThe list of tools took {listed} characters.\n{end}{after}"),
        )?;
    }
    ensure!(all <= MOST, "{all:.2} times the characters, above {MOST}");
    Ok(())
}

/// A copy of a crate's source from cargo's registry, which cargo downloads where it is missing.
fn copied(source: &str, to: &Path) -> Result<PathBuf> {
    let target = to.join(source);
    if target.exists() {
        return Ok(target);
    }
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| std::env::home_dir().map(|home| home.join(".cargo"))).context("no home directory")?;
    let registries = fs::read_dir(home.join("registry/src"))?;
    let found = registries.flatten().map(|registry| registry.path().join(source)).find(|path| path.is_dir());
    let (name, version) = source.rsplit_once('-').unwrap_or((source, ""));
    let found =
        found.with_context(|| format!("{source}: not in cargo's registry; run `cargo info {name}@{version}`"))?;
    copy(&found, &target)?;
    Ok(target)
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else if entry.file_type()?.is_file() {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

/// Characters of a command of the comparison and of its output.
fn step_characters(tree: &Path, step: &Step) -> Result<usize> {
    let mut output = String::new();
    let command = match step {
        Step::Rg(pattern, paths) => {
            let matcher = RegexMatcher::new(pattern)?;
            let mut files = Vec::new();
            paths.iter().try_for_each(|path| list(tree, &tree.join(path), &mut files))?;
            let single = matches!(paths, [path] if tree.join(path).is_file());
            for file in files {
                let Ok(text) = fs::read_to_string(tree.join(&file)) else { continue };
                for (line, content) in (1..).zip(text.lines()) {
                    if matcher.is_match(content.as_bytes())? {
                        let path = if single { String::new() } else { format!("{file}:") };
                        let _ = writeln!(output, "{path}{line}:{content}");
                    }
                }
            }
            format!("rg -n '{pattern}' {}", paths.join(" "))
        }
        Step::Files(pattern) => {
            let matcher = RegexMatcher::new(pattern)?;
            let mut files = Vec::new();
            list(tree, tree, &mut files)?;
            for file in files {
                if matcher.is_match(file.as_bytes())? {
                    let _ = writeln!(output, "{file}");
                }
            }
            format!("rg --files | rg {pattern}")
        }
        Step::Read(path, first, last) => {
            let text = fs::read_to_string(tree.join(path))?;
            for line in text.lines().skip(first - 1).take(last - first + 1) {
                let _ = writeln!(output, "{line}");
            }
            format!("sed -n {first},{last}p {path}")
        }
    };
    ensure!(!output.is_empty(), "{command}: nothing found, so there is nothing to compare with");
    Ok(command.chars().count() + output.chars().count())
}

/// Lists the files below a path, without hidden ones.
fn list(tree: &Path, at: &Path, files: &mut Vec<String>) -> Result<()> {
    if at.is_file() {
        let path = at.strip_prefix(tree)?.components().filter(|part| part.as_os_str() != ".");
        let path: PathBuf = path.collect();
        files.push(path.to_string_lossy().into_owned());
        return Ok(());
    }
    let mut entries: Vec<PathBuf> = fs::read_dir(at)?.flatten().map(|entry| entry.path()).collect();
    entries.sort();
    let is_hidden = |path: &Path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
    entries.iter().filter(|path| !is_hidden(path)).try_for_each(|path| list(tree, path, files))
}

/// A session with a server.
struct Session {
    _child: Owned,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    next: u64,
    /// Characters of the list of tools.
    listed: usize,
}

impl Session {
    /// Indexes a tree and starts a session there.
    fn start(tree: &Path) -> Result<Session> {
        let here = std::env::current_exe()?;
        let binary = here.with_file_name(format!("tamis{}", std::env::consts::EXE_SUFFIX));
        let command = |arguments: &[&str]| {
            let mut command = Command::new(&binary);
            command
                .args(arguments)
                .current_dir(tree)
                .env("TAMIS_INDEX_MODELS", "static")
                .env("TAMIS_INDEX", tree.join(".tamis"));
            command
        };
        ensure!(command(&["index", "--quiet"]).status()?.success(), "{}: not indexed", tree.display());
        let mut child = Owned(command(&["mcp", "--no-refresh"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?);
        let input = child.stdin.take().context("no standard input")?;
        let output = BufReader::new(child.stdout.take().context("no standard output")?);
        let mut session = Session { _child: child, input, output, next: 0, listed: 0 };
        let client = json!({ "name": "agent-tasks", "version": "1" });
        session.request(
            "initialize",
            json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client }),
        )?;
        writeln!(session.input, "{}", json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
        session.listed = session.request("tools/list", json!({}))?["result"].to_string().chars().count();
        Ok(session)
    }

    fn request(&mut self, method: &str, params: Value) -> Result<Value> {
        self.next += 1;
        let id = self.next;
        writeln!(self.input, "{}", json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))?;
        loop {
            let mut line = String::new();
            ensure!(self.output.read_line(&mut line)? > 0, "the server ended");
            let message: Value = serde_json::from_str(&line)?;
            if message["id"] == json!(id) {
                return Ok(message);
            }
        }
    }

    /// The text of an answer.
    fn call(&mut self, tool: &str, arguments: &Value) -> Result<String> {
        let answer = self.request("tools/call", json!({ "name": tool, "arguments": arguments }))?;
        let result = &answer["result"];
        ensure!(result["isError"] != json!(true), "{tool} {arguments}: {answer}");
        ensure!(result.get("structuredContent").is_none(), "{tool}: the answer comes twice");
        Ok(result["content"][0]["text"].as_str().with_context(|| format!("{tool}: {answer}"))?.to_owned())
    }
}
