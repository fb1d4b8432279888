//! A chat endpoint in the same process that answers by a rule.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// What came and what is answered.
pub struct Endpoint {
    /// The base address.
    pub url: String,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Endpoint {
    /// Answers each prompt with the status and the text that `reply` gives.
    pub fn start(reply: impl Fn(&str, usize) -> (u16, String) + Send + 'static) -> Endpoint {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}/v1", listener.local_addr().expect("an address"));
        let requests = Arc::new(Mutex::new(Vec::new()));
        let received = requests.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let stream = stream.expect("a connection");
                let (head, prompt) = request(&stream);
                let number = {
                    let mut received = received.lock().expect("no panic");
                    received.push(format!("{head}{prompt}"));
                    received.len()
                };
                let (status, text) = reply(&prompt, number);
                respond(stream, status, &text);
            }
        });
        Endpoint { url, requests }
    }

    /// An endpoint that grades by the words of a passage: 3 for what says "oven", 1 for what says "bread", else 0.
    pub fn grading() -> Endpoint {
        Endpoint::start(|prompt, _| (200, grade_by_words(prompt)))
    }

    /// The requests so far: head and prompt of each.
    pub fn requests(&self) -> Vec<String> {
        self.requests.lock().expect("no panic").clone()
    }
}

/// The passage in a prompt.
pub fn passage(prompt: &str) -> &str {
    let (_, rest) = prompt.split_once("Passage:\n").expect("a passage");
    rest.split_once("\nSplit this problem").expect("steps").0
}

pub fn grade_by_words(prompt: &str) -> String {
    let passage = passage(prompt).to_lowercase();
    let (grade, reason) = match (passage.contains("oven"), passage.contains("bread")) {
        (true, _) => (3, "It is about the oven."),
        (_, true) => (1, "Only bread."),
        _ => (0, "Something else."),
    };
    format!("##reason: {reason}\n##final score: {grade}")
}

fn request(stream: &TcpStream) -> (String, String) {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        reader.read_line(&mut head).expect("a head");
    }
    let lower = head.to_lowercase();
    let length = lower.split("content-length: ").nth(1).and_then(|rest| rest.lines().next()).map(str::trim);
    let mut body = vec![0; length.expect("a length").parse().expect("a number")];
    reader.read_exact(&mut body).expect("a body");
    let body: Value = serde_json::from_slice(&body).expect("JSON");
    (head, body["messages"][0]["content"].as_str().expect("a prompt").to_owned())
}

fn respond(mut stream: TcpStream, status: u16, text: &str) {
    let body = match status {
        200 => json!({
            "choices": [{ "message": { "role": "assistant", "content": text }, "finish_reason": "stop" }],
            "usage": { "prompt_tokens": 500, "completion_tokens": 20 },
        })
        .to_string(),
        _ => text.to_owned(),
    };
    let head = format!("HTTP/1.1 {status} X\r\nconnection: close\r\ncontent-length: {}\r\n\r\n", body.len());
    let _ = stream.write_all(format!("{head}{body}").as_bytes());
}
