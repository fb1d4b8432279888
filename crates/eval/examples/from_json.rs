//! Evaluates collections that another program wrote, and writes every form of the report beside them.
//!
//! ```text
//! cargo run --release -p tamis-eval --example from_json -- COLLECTIONS.json [BASELINE]
//! ```
//!
//! COLLECTIONS.json is a list of `Collection` as serde writes it: queries with their ranked documents and judgements, and
//! each method's decisions. The report is written to COLLECTIONS.report.json, .csv, .md and .html.

use std::error::Error;
use std::fs;
use std::path::PathBuf;

use tamis_eval::{Collection, Options, evaluate};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = PathBuf::from(arguments.next().ok_or("which file of collections?")?);
    let collections: Vec<Collection> = serde_json::from_str(&fs::read_to_string(&path)?)?;
    let mut options = Options::default();
    if let Some(baseline) = arguments.next() {
        options.baseline = baseline;
    }
    let report = evaluate(&collections, &options)?;
    for (extension, text) in [
        ("report.json", report.to_json()?),
        ("report.csv", report.csv()),
        ("report.md", report.markdown()),
        ("report.html", report.html()),
    ] {
        fs::write(path.with_extension(extension), text)?;
    }
    Ok(())
}
