//! A server over an index of two namespaces, and a client that sends arbitrary bytes.

use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::ops::Deref;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// A word that only the secret namespace holds.
pub const SECRET: &str = "xylophonic";

pub fn tamis(root: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tamis"));
    command.current_dir(root).env("TAMIS_CONFIG_HOME", root.join("user")).env("TAMIS_CACHE", root.join("cache"));
    command.env("TAMIS_INDEX_MODELS", "static").env_remove("TAMIS_MCP_TOKEN").stdin(Stdio::null());
    command
}

/// Runs the program, which must succeed. Returns its standard output.
pub fn succeed(root: &Path, arguments: &[&str]) -> String {
    let output = tamis(root).args(arguments).output().expect("it runs");
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// The root of a project in a temporary directory, which goes with it.
pub struct Root(tempfile::TempDir);

impl Root {
    pub fn new() -> Root {
        let root = Root::empty();
        fs::create_dir_all(root.join(".tamis")).expect("made");
        root
    }

    /// A directory that is no project yet.
    pub fn empty() -> Root {
        Root(tempfile::tempdir().expect("a temporary directory"))
    }
}

impl Deref for Root {
    type Target = Path;

    fn deref(&self) -> &Path {
        self.0.path()
    }
}

/// A project with an index of the namespaces `open` and `secret`.
pub fn two_namespaces() -> Root {
    let root = Root::new();
    for (namespace, text) in [
        ("open", "# Oven\n\nHeat the oven to 220 degrees before baking bread.\n".to_owned()),
        ("secret", format!("# Vault\n\nThe {SECRET} oven code is 4711, never bake without it.\n")),
    ] {
        fs::create_dir_all(root.join(namespace)).expect("made");
        fs::write(root.join(namespace).join("note.md"), text).expect("written");
    }
    succeed(&root, &["index", "-q", "open", "secret"]);
    root
}

/// The same, and a server of it as it is.
pub fn two_served_namespaces() -> (Root, Server) {
    let root = two_namespaces();
    let server = Server::start(&root, &["--no-refresh"]);
    (root, server)
}

/// A fresh token, admitted by the user's configuration.
pub fn token(root: &Path, arguments: &[&str]) -> String {
    let text = succeed(root, &[&["mcp", "token"], arguments].concat());
    let (token, lines) = text.split_once("\n\n").expect("a token and lines");
    let user = root.join("user");
    fs::create_dir_all(&user).expect("made");
    let file = user.join("config.toml");
    let before = fs::read_to_string(&file).unwrap_or_default();
    fs::write(&file, format!("{before}{lines}")).expect("written");
    token.to_owned()
}

/// No machine is so loaded that a process which ends at all takes this long: waiting tests fail instead of hanging.
pub const PATIENCE: Duration = Duration::from_secs(600);

/// Asks a process to end.
pub fn terminate(process: &Child) {
    let killed = Command::new("kill").arg("-TERM").arg(process.id().to_string()).status().expect("it runs");
    assert!(killed.success());
}

/// Waits for the end of a process; `None` if it does not come.
pub fn end_of(child: &mut Child) -> Option<Option<i32>> {
    let started = Instant::now();
    while started.elapsed() < PATIENCE {
        if let Some(status) = child.try_wait().expect("its state") {
            return Some(status.code());
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().expect("killed");
    None
}

pub struct Server {
    pub child: Child,
    pub address: SocketAddr,
    log: Arc<Mutex<String>>,
}

impl Server {
    pub fn start(root: &Path, arguments: &[&str]) -> Server {
        let served = ["mcp", "--output-schemas", "--http", "127.0.0.1:0", "--log-format", "json"];
        Server::of(tamis(root).args(served).args(arguments))
    }

    pub fn of(command: &mut Command) -> Server {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
        let mut lines = BufReader::new(child.stderr.take().expect("piped"));
        let log = Arc::new(Mutex::new(String::new()));
        let address = loop {
            let mut line = String::new();
            assert!(lines.read_line(&mut line).expect("UTF-8") > 0, "it ended: {}", log.lock().unwrap());
            log.lock().unwrap().push_str(&line);
            let told = line.strip_prefix("tamis: serving http://").and_then(|rest| rest.split('/').next());
            if let Some(address) = told {
                break address.parse().expect("an address");
            }
        };
        let kept = log.clone();
        std::thread::spawn(move || {
            for line in lines.lines().map_while(Result::ok) {
                let mut log = kept.lock().unwrap();
                log.push_str(&line);
                log.push('\n');
            }
        });
        Server { child, address, log }
    }

    pub fn log(&self) -> String {
        self.log.lock().unwrap().clone()
    }

    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).expect("it listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("set");
        stream.set_nodelay(true).expect("set");
        stream
    }

    /// Sends bytes over a new connection and returns the reply once it is whole or the connection ends.
    pub fn send(&self, bytes: &[u8]) -> Reply {
        let mut stream = self.connect();
        // A server that refuses a request closes before it has read everything.
        let _ = stream.write_all(bytes);
        receive(&mut stream)
    }

    pub fn request(&self, line: &str, headers: &[(&str, &str)], body: &str) -> Reply {
        self.send(&request(line, headers, body))
    }

    /// Sends a message of the current protocol version.
    pub fn rpc(&self, token: Option<&str>, method: &str, params: Value) -> Reply {
        self.request("POST /mcp HTTP/1.1", &headers(token, method, &params), &message(method, params))
    }

    pub fn call(&self, token: Option<&str>, tool: &str, arguments: Value) -> Reply {
        self.rpc(token, "tools/call", json!({ "name": tool, "arguments": arguments }))
    }

    /// Asserts that the server lives and answers a good request.
    pub fn answers(&mut self, token: Option<&str>) {
        assert!(self.child.try_wait().expect("its state").is_none(), "it ended: {}", self.log());
        let reply = self.call(token, "search", json!({ "query": "how hot should the oven be" }));
        assert_eq!(reply.status, 200, "{reply:?}");
        assert!(reply.body.contains("220 degrees"), "{reply:?}");
    }

    pub fn terminate(&self) {
        terminate(&self.child);
    }

    /// Waits for the end; returns the exit status and the time it took.
    pub fn ended(&mut self) -> (Option<i32>, Duration) {
        let started = Instant::now();
        let code = end_of(&mut self.child).unwrap_or_else(|| panic!("it does not end: {}", self.log()));
        (code, started.elapsed())
    }

    /// Waits until something is so.
    pub fn until(&self, what: &str, mut is_so: impl FnMut() -> bool) {
        let started = Instant::now();
        while !is_so() {
            assert!(started.elapsed() < PATIENCE, "{what} does not come: {}", self.log());
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Waits until the log satisfies a condition.
    pub fn logs(&self, what: impl Fn(&str) -> bool) {
        self.until("a line of the log", || what(&self.log()));
    }

    /// Peak resident memory so far, in megabytes.
    pub fn peak_megabytes(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).expect("its state");
        let line = status.lines().find(|line| line.starts_with("VmHWM:")).expect("there");
        line.split_whitespace().nth(1).and_then(|kilobytes| kilobytes.parse::<u64>().ok()).expect("a number") / 1024
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let log = self.log();
        if !std::thread::panicking() {
            assert!(!log.contains("panicked"), "{log}");
        }
    }
}

/// The first message of a client with sessions, in a version of the protocol.
pub fn initialize(version: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": version, "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } } })
}

/// The message that no answer follows.
pub fn initialized() -> String {
    json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string()
}

/// A session, as one caller sends it to one server.
#[derive(Clone)]
pub struct Session<'s> {
    pub server: &'s Server,
    pub token: Option<String>,
    /// Empty without a session.
    pub id: String,
}

impl<'s> Session<'s> {
    pub fn open(server: &'s Server, token: Option<&str>, version: &str) -> Session<'s> {
        let mut session = Session::none(server, token);
        let opened = session.send("POST", &initialize(version).to_string());
        session.id = opened.header("mcp-session-id").expect("a session").to_owned();
        assert_eq!(session.send("POST", &initialized()).status, 202);
        session
    }

    /// Messages without a session.
    pub fn none(server: &'s Server, token: Option<&str>) -> Session<'s> {
        Session { server, token: token.map(str::to_owned), id: String::new() }
    }

    /// The bytes of a request.
    pub fn request(&self, method: &str, body: &str) -> Vec<u8> {
        let authorization = self.token.as_ref().map(|token| format!("Bearer {token}"));
        let accepted = ("Accept", "application/json, text/event-stream");
        let mut headers = vec![("Host", "localhost"), accepted, ("Content-Type", "application/json")];
        headers.extend(authorization.as_deref().map(|value| ("Authorization", value)));
        headers.extend((!self.id.is_empty()).then_some(("Mcp-Session-Id", self.id.as_str())));
        request(&format!("{method} /mcp HTTP/1.1"), &headers, body)
    }

    pub fn send(&self, method: &str, body: &str) -> Reply {
        self.server.send(&self.request(method, body))
    }
}

pub fn message(method: &str, mut params: Value) -> String {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string()
}

pub fn headers(token: Option<&str>, method: &str, params: &Value) -> Vec<(&'static str, &'static str)> {
    let leak = |text: String| -> &'static str { Box::leak(text.into_boxed_str()) };
    let mut headers = vec![
        ("Host", "localhost"),
        ("Accept", "application/json, text/event-stream"),
        ("Content-Type", "application/json"),
        ("MCP-Protocol-Version", "2026-07-28"),
        ("Mcp-Method", leak(method.to_owned())),
    ];
    if let Some(name) = params["name"].as_str().or(params["uri"].as_str()) {
        headers.push(("Mcp-Name", leak(name.to_owned())));
    }
    if let Some(token) = token {
        headers.push(("Authorization", leak(format!("Bearer {token}"))));
    }
    headers
}

pub fn request(line: &str, headers: &[(&str, &str)], body: &str) -> Vec<u8> {
    let mut text = format!("{line}\r\n");
    for (name, value) in headers {
        text += &format!("{name}: {value}\r\n");
    }
    if !body.is_empty() && !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-length")) {
        text += &format!("Content-Length: {}\r\n", body.len());
    }
    format!("{text}\r\n{body}").into_bytes()
}

#[derive(Debug, Default)]
pub struct Reply {
    /// 0: the connection ended without an answer.
    pub status: u16,
    pub head: String,
    pub bytes: Vec<u8>,
    /// The bytes as text.
    pub body: String,
}

impl Reply {
    fn new(head: &[u8], bytes: Vec<u8>) -> Reply {
        let head = String::from_utf8_lossy(head).into_owned();
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        Reply { status, head, body: String::from_utf8_lossy(&bytes).into_owned(), bytes }
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(':'));
        lines.filter(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim()).next()
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.bytes).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

/// The data of a body in chunks; `None` before the last one.
fn joined(mut chunks: &[u8]) -> Option<Vec<u8>> {
    let mut whole = Vec::new();
    loop {
        let line = chunks.windows(2).position(|two| two == b"\r\n")?;
        let length = usize::from_str_radix(std::str::from_utf8(&chunks[..line]).ok()?, 16).ok()?;
        let data = chunks.get(line + 2..line + 2 + length)?;
        chunks = chunks.get(line + 4 + length..)?;
        if length == 0 {
            return Some(whole);
        }
        whole.extend_from_slice(data);
    }
}

/// Reads one answer: up to its declared length, or else to the last chunk or the end.
pub fn receive(stream: &mut TcpStream) -> Reply {
    let mut bytes = Vec::new();
    let mut buffer = [0; 65536];
    loop {
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").unwrap_or(bytes.len());
        let sent = bytes.get(end + 4..).unwrap_or_default();
        let reply = Reply::new(&bytes[..end], Vec::new());
        let length = reply.header("content-length").and_then(|length| length.parse::<usize>().ok());
        let whole = match (length, reply.header("transfer-encoding")) {
            (Some(length), _) => sent.get(..length).map(<[u8]>::to_vec),
            (None, Some(_)) => joined(sent),
            (None, None) => [202, 204, 304].contains(&reply.status).then(Vec::new),
        };
        if let Some(whole) = whole.filter(|_| end < bytes.len()) {
            return Reply::new(&bytes[..end], whole);
        }
        match stream.read(&mut buffer) {
            Ok(read) if read > 0 => bytes.extend_from_slice(&buffer[..read]),
            _ => return Reply::new(&bytes[..end], sent.to_vec()),
        }
    }
}
