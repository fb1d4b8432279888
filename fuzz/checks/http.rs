//! The first byte selects the form of the rest: `r`, a whole request as sent over the wire; else the message of a good
//! request.
//!
//! The server stays up, answers every good request afterwards, and never fails by itself (5xx).

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, LazyLock, mpsc};
use std::time::Duration;
use tamis::config::Config;
use tamis::{Index, Location};
use tamis_server::{Caller, HttpOptions, Server, ServerOptions, serve_http};
use tokio_util::sync::CancellationToken;

/// The number of inputs between two good requests.
const GOOD_EVERY: u32 = 64;

static PANICKED: AtomicBool = AtomicBool::new(false);
static CHECKED: AtomicU32 = AtomicU32::new(0);

static ADDRESS: LazyLock<SocketAddr> = LazyLock::new(|| {
    // A task that panics takes only itself down, so the panic has to be noticed here.
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |information| {
        PANICKED.store(true, SeqCst);
        before(information);
    }));
    let (told, address) = mpsc::channel();
    std::thread::spawn(move || {
        let directory = tempfile::tempdir().expect("a directory");
        let text = "# Oven\n\nHeat the oven to 220 degrees before baking.\n";
        std::fs::write(directory.path().join("oven.md"), text).expect("written");
        let mut config = Config::built_in();
        config.index.models = vec!["static".into()];
        let index = Index::at(Location::at(directory.path(), None), config).expect("an index");
        index.refresh().expect("indexed");
        let caller = Caller { namespaces: None, may_remember: false, may_judge: true, may_refresh: false };
        let server = Server::new(Arc::new(index), ServerOptions { parallel_calls: 2, caller, output_schemas: true });
        let options = HttpOptions { requests_per_minute: None, ..HttpOptions::at(([127, 0, 0, 1], 0).into()) };
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let stop = CancellationToken::new();
        let served = serve_http(server, options, stop, move |address| told.send(address).expect("somebody waits"));
        runtime.expect("a runtime").block_on(served).expect("served");
    });
    address.recv().expect("the server listens")
});

const GOOD: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search","arguments":{"query":"oven degrees"},
"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"fuzz",
"version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}"#;

pub fn check(data: &[u8]) {
    let reply = match data.split_first() {
        Some((b'r', raw)) => send(raw, true),
        Some((_, message)) => post(message),
        None => return,
    };
    let status = reply.split(' ').nth(1).and_then(|status| status.parse::<u16>().ok()).unwrap_or_default();
    let is_message = data.first() != Some(&b'r');
    assert!(!is_message || status != 0, "no answer: {reply:?}");
    assert!(status < 500 || status == 505, "{reply}");
    if is_message && serde_json::from_slice::<serde_json::Value>(&data[1..]).is_err() {
        let refused = (400..500).contains(&status) || reply.contains("\"error\"");
        assert!(refused, "no JSON and no error: {reply}");
    }
    if CHECKED.fetch_add(1, SeqCst).is_multiple_of(GOOD_EVERY) {
        let reply = post(GOOD.as_bytes());
        assert!(reply.contains("220 degrees"), "{reply}");
    }
    assert!(!PANICKED.load(SeqCst), "the server panicked");
}

/// A message with its required headers, so that it gets as far as possible.
fn post(message: &[u8]) -> String {
    let value: serde_json::Value = serde_json::from_slice(message).unwrap_or_default();
    let plain = |text: Option<&str>| {
        text.filter(|text| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic())).map(str::to_owned)
    };
    let method = plain(value["method"].as_str()).unwrap_or_else(|| "tools/list".into());
    let params = &value["params"];
    let name = plain(params["name"].as_str().or(params["uri"].as_str()));
    let name = name.map(|name| format!("Mcp-Name: {name}\r\n")).unwrap_or_default();
    let version = plain(params["protocolVersion"].as_str()).unwrap_or_else(|| "2026-07-28".into());
    let mut raw = format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: application/json, text/event-stream\r\nContent-Type: \
         application/json\r\nMCP-Protocol-Version: {version}\r\nMcp-Method: {method}\r\n{name}Connection: \
         close\r\nContent-Length: {}\r\n\r\n",
        message.len()
    )
    .into_bytes();
    raw.extend_from_slice(message);
    send(&raw, false)
}

/// Sends bytes and reads until the server closes the connection, has sent a whole answer, or begins a stream.
///
/// A server takes a client that falls silent for one that is gone, and may drop its request. So a possible half request
/// is ended explicitly, since the server would wait for its rest.
fn send(raw: &[u8], ends: bool) -> String {
    let mut stream = TcpStream::connect(*ADDRESS).expect("it listens");
    stream.set_read_timeout(Some(Duration::from_secs(120))).expect("set");
    // A server that refuses closes before it has read all.
    let _ = stream.write_all(raw);
    if ends {
        let _ = stream.shutdown(Shutdown::Write);
    }
    let (mut bytes, mut buffer) = (Vec::new(), [0; 1 << 16]);
    loop {
        match stream.read(&mut buffer) {
            Ok(read) if read > 0 => bytes.extend_from_slice(&buffer[..read]),
            _ => break,
        }
        let text = String::from_utf8_lossy(&bytes);
        if let Some((head, _)) = text.split_once("\r\n\r\n")
            && head.contains("text/event-stream")
        {
            break;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
