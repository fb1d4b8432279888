//! Prints the definitions and references of a file: `cargo run -p tamis-text --example references -- FILE`.

use std::env;
use std::error::Error;
use std::fs;
use std::time::Instant;

use tamis_text::{definitions, references};

fn main() -> Result<(), Box<dyn Error>> {
    let path = env::args().nth(1).ok_or("usage: references FILE")?;
    let text = String::from_utf8_lossy(&fs::read(&path)?).into_owned();
    for definition in definitions(&path, &text) {
        println!("{:>5}-{:<5} {:<14} {}", definition.line, definition.end_line, definition.kind, definition.name);
    }
    println!();
    let start = Instant::now();
    let found = references(&path, &text);
    let first = start.elapsed();
    for reference in &found {
        println!("{:>5}       {:<14} {}", reference.line, reference.kind, reference.name);
    }
    let start = Instant::now();
    let again = references(&path, &text).len();
    println!("\n{again} references in {:.1?}, the first time {first:.1?}", start.elapsed());
    Ok(())
}
