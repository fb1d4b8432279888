//! A reader of a page: a home directory with the small project `mill` in it, and a shell.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;
use tempfile::TempDir;

use crate::private::{PrivateServer, ask};

/// A command that takes longer fails.
const LIMIT: Duration = Duration::from_secs(120);
/// The home directory in the pages.
const HOME: &str = "/home/ada";
/// The address of a server in the pages.
const ADDRESS: &str = "127.0.0.1:8765";
/// The host of the database in the pages.
pub const DATABASE_HOST: &str = "db.example";

/// A server of PostgreSQL with an empty database `tamis`.
pub struct Database(PrivateServer);

impl Database {
    /// Starts it; `None` without the programs of a server.
    pub fn start() -> Option<Database> {
        let server = PrivateServer::start("")?;
        ask(&server.url(), "CREATE DATABASE tamis");
        Some(Database(server))
    }

    fn address(&self) -> String {
        format!("127.0.0.1:{}", self.0.port)
    }
}

/// The reader. Its directories and its servers go with it.
pub struct Reader {
    home: TempDir,
    /// Where the current block began.
    directory: PathBuf,
    shell: Child,
    input: ChildStdin,
    lines: Receiver<String>,
    /// What stands in the pages, and here.
    places: Vec<(&'static str, String)>,
}

impl Reader {
    /// Makes the home directory and starts the shell.
    pub fn new(database: Option<&Database>) -> Self {
        let home = tempfile::tempdir().expect("a temporary directory");
        let program = Path::new(env!("CARGO_BIN_EXE_tamis"));
        let path = std::env::var_os("PATH").unwrap_or_default();
        let programs = std::iter::once(program.parent().expect("a directory").to_owned());
        let programs = programs.chain(database.map(|database| database.0.programs.clone()));
        let path = programs.chain(std::env::split_paths(&path));
        let mut command = Command::new("bash");
        for (name, _) in std::env::vars_os() {
            let name = name.to_string_lossy();
            if ["TAMIS_", "XDG_", "GIT_", "GITHUB_", "HF_"].iter().any(|prefix| name.starts_with(prefix)) {
                command.env_remove(&*name);
            }
        }
        command.args(["--noprofile", "--norc"]).env("PATH", std::env::join_paths(path).expect("a search path"));
        command.env("HOME", home.path()).env("NO_COLOR", "1").env("LC_ALL", "C.UTF-8").env("TZ", "UTC");
        // The projects are so small that a command embeds all of them itself.
        command.env("TAMIS_INDEX_BACKGROUND", "false");
        let identity = [("NAME", "Ada"), ("EMAIL", "ada@example.org")];
        for (role, (name, value)) in ["AUTHOR", "COMMITTER"].iter().flat_map(|role| identity.map(|pair| (role, pair))) {
            command.env(format!("GIT_{role}_{name}"), value);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).current_dir(home.path());
        let mut shell = command.spawn().expect("bash starts");
        let output = BufReader::new(shell.stdout.take().expect("piped"));
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in output.split(b'\n').map_while(Result::ok) {
                if sender.send(String::from_utf8_lossy(&line).into_owned()).is_err() {
                    break;
                }
            }
        });
        let input = shell.stdin.take().expect("piped");
        let mut places = vec![(ADDRESS, free_address()), (HOME, home.path().to_str().expect("UTF-8").to_owned())];
        places.extend(database.map(|database| (DATABASE_HOST, database.address())));
        let mut reader = Reader { directory: home.path().join("mill"), home, shell, input, lines, places };
        reader.make_project();
        reader
    }

    /// Copies and indexes the project.
    fn make_project(&mut self) {
        let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let project = self.home.path().join("mill");
        copy(&checkout.join("xtask/conformance/project"), &project);
        copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/documentation/home"), self.home.path());
        copy(&checkout.join("xtask/conformance/imports"), &self.home.path().join("imports"));
        make_root(&project);
        copy(&checkout.join("xtask/conformance/imports"), &self.home.path().join("tracker"));
        for name in ["heating.pdf", "minutes.docx"] {
            let document = checkout.join("crates/text/tests/documents/fixtures").join(name);
            fs::copy(document, self.home.path().join("vault").join(name)).expect("copied");
        }
        // Where the README leads.
        copy(&project, &self.home.path().join("your/project"));
        let imports =
            "tamis import issues -q ~/imports/issues.jsonl && tamis import evidence -q ~/imports/evidence.jsonl";
        let made = self.run(&format!("cd ~/mill && tamis index -q && {imports}"));
        assert_eq!(made.0, 0, "the project cannot be indexed: {:?}", made.1);
    }

    /// Goes to where a block begins: a directory of the home directory, which is made a project if it is none.
    pub fn start_block(&mut self, directory: &str) {
        self.directory = self.home.path().join(directory);
        if !self.directory.join(".git").exists() {
            make_root(&self.directory);
        }
        self.run(&format!("cd ~/{directory}"));
    }

    /// Writes a file that a page shows with `cat`.
    pub fn write(&self, name: &str, lines: &[String]) {
        let path = match name.strip_prefix("~/") {
            Some(name) => self.home.path().join(name),
            None => self.directory.join(name),
        };
        if !path.exists() {
            fs::create_dir_all(path.parent().expect("a directory")).expect("made");
            fs::write(path, lines.join("\n") + "\n").expect("written");
        }
    }

    /// Runs a command. Returns its exit status and its lines, with the reader's places named as in the pages.
    ///
    /// A command that does not end by itself, such as a server, goes on in the background once it has said where it serves.
    pub fn run(&mut self, command: &str) -> (i32, Vec<String>) {
        let mut command = self.places.iter().fold(command.to_owned(), |text, (shown, here)| text.replace(shown, here));
        if is_server(&command) {
            if !command.contains("--http") {
                command += &format!(" --http {}", self.places[0].1);
            }
            let wait =
                "for i in $(seq 200); do grep -qs serving ~/server.log && break; sleep 0.05; done; cat ~/server.log";
            // The page's server before this one has the same address.
            let stop = "kill $server 2> /dev/null; wait $server; rm -f ~/server.log";
            command = format!("{stop}\n(exec env {command}\n) > ~/server.log 2>&1 & server=$!\n{wait}");
        } else if command.contains(" --watch") {
            command = format!("(exec env {command}\n) > /dev/null 2>&1 &");
        }
        // The mark of the end is on a line of its own, and also follows an unfinished line.
        writeln!(self.input, "{{ {command}\n}} < /dev/null 2>&1; printf '\\n\\036%s\\n' $?").expect("bash listens");
        let mut lines = Vec::new();
        loop {
            let line = self.lines.recv_timeout(LIMIT).unwrap_or_else(|_| panic!("does not end: {command}\n{lines:#?}"));
            if let Some(status) = line.strip_prefix('\u{1e}') {
                // The line break before the mark, and empty lines, which a page does not show at the end.
                while lines.last().is_some_and(String::is_empty) {
                    lines.pop();
                }
                return (status.parse().expect("a number"), lines);
            }
            lines.push(self.places.iter().fold(line, |text, (shown, here)| text.replace(here, shown)));
        }
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        // Its servers and watchers first.
        let _ = writeln!(self.input, "kill $(jobs -p) 2> /dev/null; exit");
        let _ = self.shell.wait();
    }
}

/// Marks a directory as a root. The commands' own files are not part of the project.
fn make_root(directory: &Path) {
    let excluded = ["/*.jsonl", "/*.json", "/*.csv", "/*.txt", "/report.md"].map(|pattern| pattern.to_owned() + "\n");
    fs::create_dir_all(directory.join(".git/info")).expect("made");
    fs::write(directory.join(".git/info/exclude"), excluded.concat()).expect("written");
}

/// Whether a command serves until it is stopped.
fn is_server(command: &str) -> bool {
    let mut words = command.split(' ').skip_while(|word| word.contains('='));
    let words = [(); 4].map(|()| words.next().unwrap_or_default());
    matches!(words, ["tamis", "serve", ..])
        || (words[..3] == ["tamis", "mcp", "--http"] && words[3].starts_with("127."))
}

fn free_address() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("its address").to_string()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("made");
    for entry in fs::read_dir(from).unwrap_or_else(|error| panic!("{}: {error}", from.display())) {
        let entry = entry.expect("an entry");
        let target = to.join(entry.file_name());
        match entry.file_type().expect("its type").is_dir() {
            true => copy(&entry.path(), &target),
            false => drop(fs::copy(entry.path(), target).expect("copied")),
        }
    }
}
