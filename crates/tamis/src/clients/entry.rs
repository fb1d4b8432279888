//! What is put into a client's file: how the server is started.

use super::client::{Client, Scope, Tells};
use super::surroundings::Surroundings;
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

/// The name of the program, by which an entry of ours is known.
const PROGRAM: &str = "tamis";

/// The command of the program that serves.
const COMMAND: &str = "mcp";

/// How a client starts the server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entry {
    /// The program.
    pub command: String,
    /// Its arguments.
    pub arguments: Vec<String>,
}

/// What an entry is made of.
#[derive(Clone, Debug, Default)]
pub struct EntryOptions {
    /// The root of the project, absolute.
    pub project: PathBuf,
    /// Where its index is, if that is not in the project.
    pub index: Option<PathBuf>,
    /// The program that runs now.
    pub program: PathBuf,
    /// Further flags of `tamis mcp`.
    pub flags: Vec<String>,
}

impl Entry {
    /// The entry for a client's file of a scope.
    ///
    /// The program is named by its path where the client may not have the shell's search path, and where it is not on that;
    /// else by its name, so that the file serves others, too.
    pub fn new(client: Client, scope: Scope, options: &EntryOptions, around: &Surroundings) -> Entry {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let on_path = around.on_path(PROGRAM).filter(|found| is_same(found, &options.program));
        let command = match on_path {
            Some(found) if scope == Scope::User && client.has_windows() => text(&found),
            Some(_) => PROGRAM.to_owned(),
            None => text(&options.program),
        };
        let mut arguments = vec![COMMAND.to_owned()];
        let directory = match client.tells(scope) {
            Tells::Directory => None,
            Tells::Variable(variable) => Some(variable.to_owned()),
            Tells::Nothing => Some(text(&options.project)),
        };
        arguments.extend(directory.into_iter().flat_map(|directory| ["--directory".to_owned(), directory]));
        arguments.extend(options.index.iter().flat_map(|index| ["--index".to_owned(), text(index)]));
        arguments.extend(options.flags.iter().cloned());
        Entry { command, arguments }
    }

    /// Returns `true` if it holds for any project that the client is opened in.
    pub fn is_for_any_project(client: Client, scope: Scope) -> bool {
        scope == Scope::User && client.tells(scope) != Tells::Nothing
    }

    /// The entry as this client writes it, key by key.
    pub(super) fn keys(&self, client: Client) -> Vec<(&'static str, Value)> {
        let split = |mut keys: Vec<(&'static str, Value)>| {
            keys.extend([("command", json!(self.command)), ("args", json!(self.arguments))]);
            keys
        };
        match client {
            Client::OpenCode => {
                let command: Vec<&str> =
                    [&self.command].into_iter().chain(&self.arguments).map(String::as_str).collect();
                vec![("type", json!("local")), ("command", json!(command)), ("enabled", json!(true))]
            }
            Client::ClaudeCode | Client::VsCode => split(vec![("type", json!("stdio"))]),
            Client::CopilotCli => {
                let mut keys = split(vec![("type", json!("local"))]);
                keys.push(("tools", json!(["*"])));
                keys
            }
            _ => split(Vec::new()),
        }
    }
}

/// Returns `true` if an entry that is there starts this program's server, whatever else it says.
pub(super) fn is_ours(entry: &Map<String, Value>) -> bool {
    let strings = |value: Option<&Value>| -> Vec<String> {
        match value {
            Some(Value::String(text)) => vec![text.clone()],
            Some(Value::Array(list)) => list.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            _ => Vec::new(),
        }
    };
    let mut words = strings(entry.get("command"));
    words.extend(strings(entry.get("args")));
    let Some((program, arguments)) = words.split_first() else { return false };
    // By either separator, since a file can have come from another system.
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program);
    let is_program = name == PROGRAM || name.eq_ignore_ascii_case("tamis.exe");
    is_program && arguments.iter().any(|argument| argument == COMMAND)
}

fn is_same(one: &Path, other: &Path) -> bool {
    match (dunce::canonicalize(one), dunce::canonicalize(other)) {
        (Ok(one), Ok(other)) => one == other,
        _ => false,
    }
}
