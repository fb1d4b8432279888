//! A server in the same process that reacts to each request as a test says.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};

use serde_json::Value;

/// The server's reaction to one request.
pub enum Reply {
    /// Status, headers beyond the usual, body.
    Http(u16, &'static str, String),
    /// The requested vectors, with this many entries: text `n` gets the unit vector of axis `n`.
    Vectors(usize),
    /// The body that this function makes of the request's.
    Made(fn(&Value) -> Value),
    /// A content length larger than the body.
    CutShort(&'static str),
    /// Nothing, until the client gives up.
    Hang,
}

/// Serves the replies in order. Returns the address, and a channel that yields the requests.
pub fn serve(replies: Vec<Reply>) -> (String, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let (requests, received) = channel();
    std::thread::spawn(move || {
        for reply in replies {
            let (stream, _) = listener.accept().unwrap();
            answer(stream, reply, &requests);
        }
    });
    (address, received)
}

/// Returns the address of a server that is not there.
pub fn nobody() -> String {
    format!("http://{}", TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap())
}

fn answer(mut stream: TcpStream, reply: Reply, requests: &Sender<String>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        reader.read_line(&mut head).unwrap();
    }
    let lower = head.to_lowercase();
    let length = lower.split("content-length: ").nth(1).and_then(|rest| rest.lines().next()).map(str::trim);
    let mut body = vec![0; length.expect("a request has a length").parse().unwrap()];
    reader.read_exact(&mut body).unwrap();
    let body = String::from_utf8(body).unwrap();
    let sent: Value = serde_json::from_str(&body).unwrap();
    let count = sent["input"].as_array().map_or(0, Vec::len);
    // A test that has seen enough no longer listens.
    let _ = requests.send(format!("{head}{body}"));
    let http = |status: u16, headers: &str, missing: usize, body: &str| {
        let length = body.len() + missing;
        format!("HTTP/1.1 {status} X\r\nconnection: close\r\ncontent-length: {length}\r\n{headers}\r\n{body}")
    };
    let text = match reply {
        Reply::Http(status, headers, body) => http(status, headers, 0, &body),
        Reply::Vectors(dimension) => http(200, "", 0, &vectors(0..count, dimension)),
        Reply::Made(make) => http(200, "", 0, &make(&sent).to_string()),
        Reply::CutShort(body) => http(200, "", 100, body),
        Reply::Hang => {
            // Ends when the client closes the connection.
            let _ = reader.read(&mut [0]);
            return;
        }
    };
    let _ = stream.write_all(text.as_bytes());
}

/// Makes an answer with the given indices in the given order.
pub fn vectors(indices: impl IntoIterator<Item = usize>, dimension: usize) -> String {
    let entry = |index: usize| {
        let embedding: Vec<f32> = (0..dimension).map(|at| if at == index % dimension { 2.0 } else { 0.0 }).collect();
        serde_json::json!({"index": index, "embedding": embedding})
    };
    serde_json::json!({"data": indices.into_iter().map(entry).collect::<Vec<_>>()}).to_string()
}
