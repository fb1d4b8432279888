//! The clients: their names, their files, and the way each names the project.

use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::Surroundings;
use crate::index_location::System;

/// A program that starts servers for an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Client {
    /// Claude Code.
    ClaudeCode,
    /// Claude Desktop.
    ClaudeDesktop,
    /// Codex, the command and the extension for editors.
    Codex,
    /// Copilot on the command line.
    CopilotCli,
    /// Cursor.
    Cursor,
    /// Gemini CLI.
    GeminiCli,
    /// OpenCode.
    OpenCode,
    /// Visual Studio Code.
    VsCode,
    /// Windsurf.
    Windsurf,
    /// Zed.
    Zed,
}

/// The owner of a configuration file: the project or the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// The project's. The file is in the tree, and can be checked in for everyone.
    Project,
    /// The user's, for all projects.
    User,
}

/// The way in which a client names the open project to the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tells {
    /// It starts the server in the client's own working directory.
    Directory,
    /// It replaces this variable in the arguments.
    Variable(&'static str),
    /// Not at all, or unreliably: the entry has to name the project.
    Nothing,
}

/// The format of a file and the place of the servers in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// JSON, with or without comments: an object of servers under this key.
    Json(&'static str),
    /// TOML: a table of servers under this key.
    Toml(&'static str),
}

impl Client {
    /// All clients, by name.
    pub const ALL: [Client; 10] = [
        Client::ClaudeCode,
        Client::ClaudeDesktop,
        Client::Codex,
        Client::CopilotCli,
        Client::Cursor,
        Client::GeminiCli,
        Client::OpenCode,
        Client::VsCode,
        Client::Windsurf,
        Client::Zed,
    ];

    /// Returns the name used on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Client::ClaudeCode => "claude-code",
            Client::ClaudeDesktop => "claude-desktop",
            Client::Codex => "codex",
            Client::CopilotCli => "copilot-cli",
            Client::Cursor => "cursor",
            Client::GeminiCli => "gemini-cli",
            Client::OpenCode => "opencode",
            Client::VsCode => "vscode",
            Client::Windsurf => "windsurf",
            Client::Zed => "zed",
        }
    }

    /// Returns the client of this name.
    pub fn of_name(name: &str) -> Option<Client> {
        Client::ALL.into_iter().find(|client| client.name() == name)
    }

    /// Returns the step that the client needs before it uses a new entry.
    pub fn next_step(self) -> &'static str {
        match self {
            Client::ClaudeCode => "restart `claude`; it asks once whether to trust a project's servers",
            Client::ClaudeDesktop => "restart Claude Desktop",
            Client::Codex => "restart `codex`; it reads a project's file only where the project is trusted",
            Client::CopilotCli => "restart `copilot`",
            Client::Cursor => "switch the server on in Cursor's settings, under MCP",
            Client::GeminiCli => "restart `gemini`",
            Client::OpenCode => "restart `opencode`",
            Client::VsCode => "start the server from the line above the entry, or by the command `MCP: List Servers`",
            Client::Windsurf => "refresh the list of servers in Cascade",
            Client::Zed => "look at the list of servers in the settings of the agent panel",
        }
    }

    /// Returns `true` if the client has windows. The desktop starts such a program, often without the shell's search path.
    pub(crate) fn has_windows(self) -> bool {
        matches!(self, Client::ClaudeDesktop | Client::Cursor | Client::VsCode | Client::Windsurf | Client::Zed)
    }

    /// Returns the command that starts it from a shell, if it has one.
    pub(crate) fn program(self) -> Option<&'static str> {
        match self {
            Client::ClaudeCode => Some("claude"),
            Client::ClaudeDesktop => None,
            Client::Codex => Some("codex"),
            Client::CopilotCli => Some("copilot"),
            Client::Cursor => Some("cursor"),
            Client::GeminiCli => Some("gemini"),
            Client::OpenCode => Some("opencode"),
            Client::VsCode => Some("code"),
            Client::Windsurf => Some("windsurf"),
            Client::Zed => Some("zed"),
        }
    }

    pub(crate) fn form(self) -> Form {
        match self {
            Client::Codex => Form::Toml("mcp_servers"),
            Client::VsCode => Form::Json("servers"),
            Client::Zed => Form::Json("context_servers"),
            Client::OpenCode => Form::Json("mcp"),
            _ => Form::Json("mcpServers"),
        }
    }

    /// Returns the way in which it names the project to a server listed in a file of this scope.
    pub(crate) fn tells(self, scope: Scope) -> Tells {
        match (self, scope) {
            (Client::ClaudeCode | Client::Codex | Client::CopilotCli | Client::GeminiCli | Client::OpenCode, _) => {
                Tells::Directory
            }
            // Cursor replaces the variable by the directory that holds the file. For the user's file that is not a project.
            (Client::Cursor, Scope::Project) | (Client::VsCode, _) => Tells::Variable("${workspaceFolder}"),
            _ => Tells::Nothing,
        }
    }

    /// Returns the scopes that it has a file for, the default first. The project is the default where possible: a server in the
    /// user's file is started in every project, and would index each.
    pub fn scopes(self) -> &'static [Scope] {
        match self {
            Client::ClaudeDesktop | Client::CopilotCli | Client::Windsurf | Client::Zed => &[Scope::User],
            _ => &[Scope::Project, Scope::User],
        }
    }

    /// Returns its file for a scope; `None` if it has none, or if the user has no home directory.
    pub fn file(self, scope: Scope, project: &Path, around: &Surroundings) -> Option<PathBuf> {
        if !self.scopes().contains(&scope) {
            return None;
        }
        match scope {
            Scope::Project => Some(project.join(self.file_in_project(project))),
            Scope::User => self.file_of_user(around),
        }
    }

    fn file_in_project(self, project: &Path) -> &'static str {
        match self {
            Client::Codex => ".codex/config.toml",
            Client::Cursor => ".cursor/mcp.json",
            Client::GeminiCli => ".gemini/settings.json",
            Client::OpenCode if project.join("opencode.jsonc").exists() => "opencode.jsonc",
            Client::OpenCode => "opencode.json",
            Client::VsCode => ".vscode/mcp.json",
            _ => ".mcp.json",
        }
    }

    fn file_of_user(self, around: &Surroundings) -> Option<PathBuf> {
        let moved = |variable: &str| around.variable(variable).map(PathBuf::from);
        let home = |path: &str| around.home().map(|home| home.join(path));
        match self {
            Client::ClaudeCode => moved("CLAUDE_CONFIG_DIR").or_else(|| around.home()).map(|d| d.join(".claude.json")),
            Client::ClaudeDesktop => Some(
                around.application_data("Claude", Some("Claude_pzs8sxrjxfjjc"))?.join("claude_desktop_config.json"),
            ),
            Client::Codex => Some(moved("CODEX_HOME").or_else(|| home(".codex"))?.join("config.toml")),
            Client::CopilotCli => Some(moved("COPILOT_HOME").or_else(|| home(".copilot"))?.join("mcp-config.json")),
            Client::Cursor => home(".cursor/mcp.json"),
            Client::GeminiCli => {
                Some(moved("GEMINI_CLI_HOME").or_else(|| around.home())?.join(".gemini/settings.json"))
            }
            Client::OpenCode => {
                let directory = around.configuration()?.join("opencode");
                let commented = directory.join("opencode.jsonc");
                Some(if commented.exists() { commented } else { directory.join("opencode.json") })
            }
            Client::VsCode => Some(around.application_data("Code", None)?.join("User/mcp.json")),
            Client::Windsurf => home(".codeium/windsurf/mcp_config.json"),
            Client::Zed if around.system() == System::Windows => {
                Some(around.application_data("Zed", None)?.join("settings.json"))
            }
            Client::Zed => Some(around.configuration()?.join("zed/settings.json")),
        }
    }

    /// Returns `true` if the client seems to be installed: its files are in the user's directory, or its command is on the search
    /// path.
    pub fn is_here(self, around: &Surroundings) -> bool {
        let own = self.file_of_user(around).is_some_and(|file| match (self, file.parent()) {
            (Client::ClaudeCode, _) => file.exists(),
            (Client::VsCode, Some(user)) => user.exists(),
            (_, Some(directory)) => directory.exists(),
            _ => false,
        });
        own || self.program().is_some_and(|program| around.on_path(program).is_some())
    }
}

// The entry in a client's file that starts the server.

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
    pub(crate) fn keys(&self, client: Client) -> Vec<(&'static str, Value)> {
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
pub(crate) fn is_ours(entry: &Map<String, Value>) -> bool {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn user_file(client: Client, system: System, variables: &'static [(&str, &str)]) -> String {
        let value = |name: &str| variables.iter().find(|(one, _)| *one == name).map(|(_, value)| (*value).to_owned());
        let file = client.file(Scope::User, Path::new("/p"), &Surroundings::new(system, value));
        file.map(|file| file.to_string_lossy().replace('\\', "/")).unwrap_or_default()
    }

    #[test]
    fn each_system_has_its_places_and_variables_move_them() {
        const HOME: &[(&str, &str)] = &[("HOME", "/h")];
        const MOVED: &[(&str, &str)] = &[
            ("HOME", "/h"),
            ("XDG_CONFIG_HOME", "/x"),
            ("CLAUDE_CONFIG_DIR", "/c"),
            ("CODEX_HOME", "/d"),
            ("COPILOT_HOME", "/o"),
            ("GEMINI_CLI_HOME", "/g"),
        ];
        const WINDOWS: &[(&str, &str)] = &[("USERPROFILE", "U:/a"), ("APPDATA", "U:/a/AppData/Roaming")];
        let (config, support, roaming) = ("/h/.config", "/h/Library/Application Support", "U:/a/AppData/Roaming");
        let cases = [
            (Client::ClaudeCode, ["/h", "/c", "/h", "U:/a"].map(str::to_owned), ".claude.json"),
            (
                Client::ClaudeDesktop,
                [config, "/x", support, roaming].map(|root| format!("{root}/Claude")),
                "claude_desktop_config.json",
            ),
            (Client::Codex, ["/h/.codex", "/d", "/h/.codex", "U:/a/.codex"].map(str::to_owned), "config.toml"),
            (
                Client::CopilotCli,
                ["/h/.copilot", "/o", "/h/.copilot", "U:/a/.copilot"].map(str::to_owned),
                "mcp-config.json",
            ),
            (Client::GeminiCli, ["/h", "/g", "/h", "U:/a"].map(|root| format!("{root}/.gemini")), "settings.json"),
            (
                Client::OpenCode,
                [config, "/x", config, "U:/a/.config"].map(|root| format!("{root}/opencode")),
                "opencode.json",
            ),
            (Client::VsCode, [config, "/x", support, roaming].map(|root| format!("{root}/Code/User")), "mcp.json"),
            (
                Client::Zed,
                ["/h/.config/zed", "/x/zed", "/h/.config/zed", "U:/a/AppData/Roaming/Zed"].map(str::to_owned),
                "settings.json",
            ),
        ];
        for (client, roots, file) in cases {
            let systems =
                [(System::Linux, HOME), (System::Linux, MOVED), (System::Mac, HOME), (System::Windows, WINDOWS)];
            let found = systems.map(|(system, variables)| user_file(client, system, variables));
            assert_eq!(found, roots.map(|root| format!("{root}/{file}")));
            assert_eq!(user_file(client, System::Linux, &[]), "", "no home, no file");
        }
    }
}
