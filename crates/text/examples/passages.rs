//! Prints the passages of a file: `cargo run -p tamis-text --example passages -- FILE [MAX_TOKENS]`.

use std::env;
use std::error::Error;
use std::fs;

use tamis_text::{Limits, Options, estimate_tokens, read, skip_by_content, skip_by_path};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let path = arguments.next().ok_or("usage: passages FILE [MAX_TOKENS]")?;
    let mut options = Options::default();
    if let Some(max_tokens) = arguments.next() {
        options.max_tokens = max_tokens.parse()?;
    }
    let bytes = fs::read(&path)?;
    let skip = skip_by_path(&path, bytes.len() as u64, &Limits::default()).or_else(|| skip_by_content(&path, &bytes));
    if let Some(reason) = skip {
        println!("would be left out: {reason}");
    }
    let document = read(&path, &bytes, &options);
    let language = document.language.unwrap_or("unknown");
    println!("{path}: {language}, {}, title {:?}", document.role, document.title.as_deref().unwrap_or_default());
    for note in &document.notes {
        println!("note: {note}");
    }
    for passage in &document.passages {
        let name = passage.symbol.as_deref().or(passage.heading.as_deref()).unwrap_or_default();
        let tokens = estimate_tokens(&passage.text);
        println!(
            "{:>5}-{:<5} {:>4} tokens  {:<9} {:<5} {name}",
            passage.start_line, passage.end_line, tokens, passage.kind, passage.role
        );
        for line in passage.context.iter().flat_map(|context| context.lines()) {
            println!("{:>36} {line}", "in");
        }
    }
    Ok(())
}
