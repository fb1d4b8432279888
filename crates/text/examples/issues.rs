//! Prints the issues read from a file, or the passages of one of them: `cargo run --release -p tamis-text --example
//! issues -- FILE [NUMBER]`.

use std::collections::BTreeMap;
use std::env;
use std::error::Error;
use std::fs;
use std::time::Instant;

use tamis_text::{Options, read_issues};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let path = arguments.next().ok_or("usage: issues FILE [NUMBER]")?;
    let bytes = fs::read(&path)?;
    let start = Instant::now();
    let archive = read_issues(&bytes)?;
    let read = start.elapsed();
    if let Some(number) = arguments.next() {
        let number: u64 = number.parse()?;
        let issue = archive.issues.iter().find(|issue| issue.number == number).ok_or("no issue of that number")?;
        println!("{}", issue.rendered());
        for passage in issue.document(&Options::default()).passages {
            let part = passage.part.unwrap_or_default();
            println!("=== {part}: {}-{} {} {}", passage.start_line, passage.end_line, passage.kind, passage.role);
            println!("{}", passage.embedded_text());
        }
        return Ok(());
    }
    let repository = archive.repository.as_deref().unwrap_or("no repository named");
    println!("{path}: {}, {repository}, {} bytes read in {read:.1?}", archive.format, bytes.len());
    for bad in &archive.bad {
        println!("bad: {}: {}", bad.position, bad.reason);
    }
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut count = |what: String| *counts.entry(what).or_default() += 1;
    let start = Instant::now();
    for issue in &archive.issues {
        count(format!("{} {}", issue.kind, issue.state));
        for comment in &issue.comments {
            count(format!("{} comment", comment.kind));
        }
        for passage in issue.document(&Options::default()).passages {
            count(format!("{} passage, {}", passage.kind, passage.role));
        }
    }
    println!("{} comments on issues that are not here; divided in {:.1?}", archive.comments.len(), start.elapsed());
    for (what, number) in counts {
        println!("{number:>8} {what}");
    }
    Ok(())
}
