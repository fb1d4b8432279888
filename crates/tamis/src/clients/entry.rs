//! The entry in a client's file that starts the server.

use super::client::{Client, Scope, Tells};
use super::surroundings::Surroundings;
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

/// The name of the program, which identifies an entry of ours.
const PROGRAM: &str = "tamis";

/// The subcommand that starts the server.
const COMMAND: &str = "mcp";

/// The command line with which a client starts the server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entry {
    /// The program.
    pub command: String,
    /// Its arguments.
    pub arguments: Vec<String>,
}

/// The values that an entry is made from.
#[derive(Clone, Debug, Default)]
pub struct EntryOptions {
    /// The root of the project, absolute.
    pub project: PathBuf,
    /// The directory of its index, if that is outside the project.
    pub index: Option<PathBuf>,
    /// The path of the running program.
    pub program: PathBuf,
    /// Further flags of `tamis mcp`.
    pub flags: Vec<String>,
}

impl Entry {
    /// Creates the entry for a client's file of a scope.
    ///
    /// The entry names the program by its path if the client may lack the shell's search path, or if the program is not on it.
    /// Otherwise it uses the name, so that the file also works for others.
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

    /// Returns `true` if the entry holds for any project that the client opens.
    pub fn is_for_any_project(client: Client, scope: Scope) -> bool {
        scope == Scope::User && client.tells(scope) != Tells::Nothing
    }

    /// Returns the entry in this client's format, key by key.
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

/// Returns `true` if an existing entry starts this program's server, whatever else it says.
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
    // Both separators count, since a file can come from another system.
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
