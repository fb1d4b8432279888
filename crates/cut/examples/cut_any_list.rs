//! Cuts a list of scores, as any search engine returns them, with every method:
//!
//! ```text
//! cargo run -p tamis-cut --example cut_any_list -- 9.1 8.7 8.5 2.0 1.9 1.8 1.7
//! ```
//!
//! Without arguments it cuts a small list of its own, whose background is known.

use std::error::Error;

use tamis_cut::{Background, METHODS, Pool, parse};

/// BM25 scores of seven passages on baking, and the mean score of passages drawn at random.
const SCORES: [f64; 7] = [14.2, 13.1, 12.7, 6.0, 3.1, 2.9, 2.8];
const BACKGROUND: Background = Background { mean: 2.0, deviation: 1.0, count: 5_000 };

fn main() -> Result<(), Box<dyn Error>> {
    let scores = std::env::args().skip(1).map(|score| score.parse()).collect::<Result<Vec<f64>, _>>()?;
    let pool = match scores.is_empty() {
        true => Pool::scores(SCORES)?.with_background(BACKGROUND)?,
        false => Pool::scores(scores)?,
    };
    for method in METHODS {
        let cut = parse(method.name)?.cut(&pool);
        println!("{:<12} Kept {} of {}: {}.", method.name, cut.keep, cut.candidates, cut.reason);
    }
    Ok(())
}
