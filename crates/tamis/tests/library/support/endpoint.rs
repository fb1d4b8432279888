//! A model's HTTP endpoint in the same process that answers by a rule, one request to a connection.

#![allow(dead_code)]

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

/// A received request.
#[derive(Clone, Debug)]
pub struct Request {
    pub head: String,
    pub body: Value,
}

/// The endpoint, and what it received.
pub struct Endpoint {
    /// The base address, which ends with `/v1`.
    pub url: String,
    requests: Arc<Mutex<Vec<Request>>>,
    stopped: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Endpoint {
    /// Answers each request by its number, from 1, with the status and the body that `reply` gives; `None`: not for two seconds.
    pub fn start(reply: impl Fn(&Request, usize) -> Option<(u16, String)> + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}/v1", listener.local_addr().expect("an address"));
        let requests = Arc::new(Mutex::new(Vec::new()));
        let received = requests.clone();
        let stopped = Arc::new(AtomicBool::new(false));
        let ends = stopped.clone();
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming() {
                if ends.load(Ordering::SeqCst) {
                    return;
                }
                let stream = stream.expect("a connection");
                let request = Request::read(&stream);
                let number = {
                    let mut received = received.lock().expect("no panic");
                    received.push(request.clone());
                    received.len()
                };
                match reply(&request, number) {
                    Some((status, body)) => respond(stream, status, &body),
                    None => std::thread::sleep(Duration::from_secs(2)),
                }
            }
        });
        Endpoint { url, requests, stopped, thread }
    }

    /// Stops it, so that its address refuses connections.
    pub fn stop(self) {
        self.stopped.store(true, Ordering::SeqCst);
        let address = self.url.trim_start_matches("http://").trim_end_matches("/v1");
        drop(TcpStream::connect(address).expect("it listens"));
        self.thread.join().expect("no panic");
    }

    /// The requests so far.
    pub fn requests(&self) -> Vec<Request> {
        self.requests.lock().expect("no panic").clone()
    }

    /// The number of requests so far.
    pub fn calls(&self) -> usize {
        self.requests.lock().expect("no panic").len()
    }
}

impl Request {
    fn read(stream: &TcpStream) -> Self {
        let mut reader = BufReader::new(stream);
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            reader.read_line(&mut head).expect("a head");
        }
        let lower = head.to_lowercase();
        let length = lower.split("content-length: ").nth(1).and_then(|rest| rest.lines().next()).map(str::trim);
        let mut body = vec![0; length.expect("a length").parse().expect("a number")];
        reader.read_exact(&mut body).expect("a body");
        Request { head, body: serde_json::from_slice(&body).expect("JSON") }
    }

    /// True if it carries the key `sesame`.
    pub fn has_key(&self) -> bool {
        self.head.to_lowercase().contains("authorization: bearer sesame\r\n")
    }

    /// The texts for a reranker.
    pub fn documents(&self) -> Vec<&str> {
        let documents = self.body["documents"].as_array().expect("documents");
        documents.iter().map(|text| text.as_str().expect("a text")).collect()
    }
}

/// The body of a reranker with these scores, the last document first.
pub fn scores(scores: impl DoubleEndedIterator<Item = f64> + ExactSizeIterator) -> String {
    let of = |(index, score)| json!({ "index": index, "relevance_score": score });
    json!({ "results": scores.enumerate().map(of).rev().collect::<Vec<_>>() }).to_string()
}

fn respond(mut stream: TcpStream, status: u16, body: &str) {
    let head = format!("HTTP/1.1 {status} X\r\nconnection: close\r\ncontent-length: {}\r\n\r\n", body.len());
    let _ = stream.write_all(format!("{head}{body}").as_bytes());
}
