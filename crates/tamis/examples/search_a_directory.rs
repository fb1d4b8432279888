//! Searches a directory: `cargo run --example search_a_directory -- DIRECTORY QUERY`.

use std::error::Error;
use tamis::{Index, SearchRequest};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(directory), Some(query)) = (arguments.next(), arguments.next()) else {
        return Err("usage: search_a_directory DIRECTORY QUERY".into());
    };
    let index = Index::open(directory)?;
    let report = index.refresh()?;
    println!("{} files added, {} changed", report.counts.added, report.counts.changed);

    let answer = index.search(SearchRequest::new(query).limit(5))?;
    for hit in &answer.results {
        println!("{}:{}-{}", hit.path, hit.start_line, hit.end_line);
        println!("{}\n", hit.snippet);
    }
    println!("{}", answer.cut.reason);
    Ok(())
}
