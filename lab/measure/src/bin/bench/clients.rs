//! A server of the program itself, and clients as thin as possible, so that measurements are the server's.

use serde_json::{Value, json};
use std::error::Error;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

pub type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// The program, with a configuration of its own.
fn program(tree: &Path, models: &str) -> Result<Command> {
    let program = std::env::current_exe()?.ancestors().nth(2).ok_or("no directory of the program")?.join("tamis");
    // Beside the tree: writing there does not change the tree.
    let user = tree.with_file_name("user");
    fs::create_dir_all(&user)?;
    fs::write(user.join("config.toml"), "[mcp]\nrequests_per_minute = 0\n")?;
    let mut command = Command::new(program);
    command
        .current_dir(tree)
        .env("TAMIS_CONFIG_HOME", &user)
        .env("TAMIS_CACHE", &user)
        .env("TAMIS_INDEX_MODELS", models);
    Ok(command)
}

/// Makes the index of a tree with the quick model.
pub fn index_of(tree: &Path) -> Result<()> {
    let status = program(tree, "static")?.args(["index", "-q"]).status()?;
    if status.success() { Ok(()) } else { Err("the tree could not be indexed".into()) }
}

/// A running server.
pub struct Server {
    pub child: Child,
    pub address: Option<SocketAddr>,
}

impl Server {
    /// Starts `tamis mcp` in a tree.
    pub fn start(tree: &Path, models: &str, arguments: &[&str]) -> Result<Server> {
        let over_http = arguments.contains(&"--http");
        Server::of(program(tree, models)?.arg("mcp").args(arguments), over_http)
    }

    /// Starts `tamis serve` in a tree.
    pub fn serve(tree: &Path) -> Result<Server> {
        Server::of(program(tree, "static")?.args(["serve", "--no-refresh", "--http", "127.0.0.1:0"]), true)
    }

    /// Starts `tamis serve` in a tree for callers with tokens, and returns these.
    pub fn serve_callers(tree: &Path, callers: usize) -> Result<(Server, Vec<String>)> {
        let user = tree.with_file_name("callers");
        fs::create_dir_all(&user)?;
        let (mut tokens, mut config) = (Vec::new(), "[mcp]\nrequests_per_minute = 0\n".to_owned());
        for number in 0..callers {
            let output = program(tree, "static")?.args(["mcp", "token", &format!("caller{number}")]).output()?;
            let text = String::from_utf8(output.stdout)?;
            let (token, lines) = text.split_once('\n').ok_or("no token")?;
            tokens.push(token.to_owned());
            config += lines;
        }
        fs::write(user.join("config.toml"), config)?;
        let mut command = program(tree, "static")?;
        command.env("TAMIS_CONFIG_HOME", &user).args(["serve", "--no-refresh", "--http", "127.0.0.1:0"]);
        Ok((Server::of(&mut command, true)?, tokens))
    }

    fn of(command: &mut Command, over_http: bool) -> Result<Server> {
        let mut child = command
            .args(["--log", "warn"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(if over_http { Stdio::piped() } else { Stdio::inherit() })
            .spawn()?;
        let mut address = None;
        if over_http {
            let mut line = String::new();
            let mut lines = BufReader::new(child.stderr.take().ok_or("no standard error")?);
            lines.read_line(&mut line)?;
            let told = line.strip_prefix("tamis: serving http://").and_then(|rest| rest.split('/').next());
            address = Some(told.ok_or_else(|| format!("not served: {line}"))?.parse()?);
            std::thread::spawn(move || {
                lines.lines().map_while(std::result::Result::ok).for_each(|line| println!("{line}"))
            });
        }
        Ok(Server { child, address })
    }

    /// Megabytes that are resident now.
    pub fn megabytes(&self) -> Result<f64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).ok_or("no VmRSS")?;
        Ok(line.split_whitespace().nth(1).ok_or("no number")?.parse::<f64>()? / 1000.0)
    }

    /// Processor time used so far.
    pub fn processor(&self) -> Result<Duration> {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.child.id()))?;
        let fields: Vec<&str> = stat.rsplit_once(')').ok_or("no stat")?.1.split_whitespace().collect();
        let ticks: u64 = fields[11].parse::<u64>()? + fields[12].parse::<u64>()?;
        Ok(Duration::from_millis(ticks * 10))
    }

    /// Stops it, or lets it continue.
    pub fn signal(&self, name: &str) -> Result<()> {
        Command::new("kill").arg(name).arg(self.child.id().to_string()).status()?;
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The message of a search.
pub fn search(query: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {
        "name": "search", "arguments": { "query": query },
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "bench", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": {},
        } } })
}

/// A client on standard input and output.
pub struct StdioClient {
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl StdioClient {
    pub fn of(server: &mut Server) -> Result<StdioClient> {
        let input = server.child.stdin.take().ok_or("no standard input")?;
        let output = BufReader::new(server.child.stdout.take().ok_or("no standard output")?);
        let mut client = StdioClient { input, output };
        let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "bench", "version": "1" } } });
        client.ask(&hello)?;
        writeln!(client.input, "{}", json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
        Ok(client)
    }

    /// The time until the whole answer has arrived.
    pub fn ask(&mut self, message: &Value) -> Result<Duration> {
        let text = format!("{message}\n");
        let started = Instant::now();
        self.input.write_all(text.as_bytes())?;
        self.input.flush()?;
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        let took = started.elapsed();
        if !line.contains("\"result\"") || line.contains("\"isError\":true") {
            return Err(format!("no answer: {line:.300}").into());
        }
        Ok(took)
    }
}

/// A client that keeps its connection.
pub struct HttpClient {
    stream: TcpStream,
    bytes: Vec<u8>,
}

impl HttpClient {
    pub fn of(address: SocketAddr) -> Result<HttpClient> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        Ok(HttpClient { stream, bytes: vec![0; 1 << 20] })
    }

    /// The time until the whole answer has arrived.
    pub fn ask(&mut self, message: &Value) -> Result<Duration> {
        let body = message.to_string();
        let request = format!(
            "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: application/json, text/event-stream\r\nContent-Type: application/json\r\n\
             MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: search\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        self.send(&request)
    }

    /// The time until the whole answer to a request has arrived.
    pub fn send(&mut self, request: &str) -> Result<Duration> {
        let started = Instant::now();
        self.stream.write_all(request.as_bytes())?;
        let (mut read, mut whole) = (0, None);
        while whole.is_none_or(|whole| read < whole) {
            if read == self.bytes.len() {
                self.bytes.resize(2 * read, 0);
            }
            let more = self.stream.read(&mut self.bytes[read..])?;
            if more == 0 {
                return Err("the connection ended".into());
            }
            read += more;
            if whole.is_none() {
                whole = length(&self.bytes[..read])?;
            }
        }
        let took = started.elapsed();
        if !self.bytes.starts_with(b"HTTP/1.1 200") {
            return Err(format!("no answer: {:.300}", String::from_utf8_lossy(&self.bytes[..read])).into());
        }
        Ok(took)
    }
}

/// The length of a whole answer, once its head has arrived.
fn length(bytes: &[u8]) -> Result<Option<usize>> {
    let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else { return Ok(None) };
    let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
    let length =
        head.lines().find_map(|line| line.strip_prefix("content-length:")).ok_or("an answer without a length")?;
    Ok(Some(end + 4 + length.trim().parse::<usize>()?))
}
