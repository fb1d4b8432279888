//! `tamis cut`: a filter for any other search engine. JSON Lines in, the relevant ones out.
//!
//! All lines are read before any is written, so that a malformed one at the end does not leave half an answer.

mod read;

use crate::args::CutArguments;
use crate::exit::Exit;
use crate::output::Output;
use anyhow::{Result, bail};
use read::{Line, read};
use std::io::{self, Write};
use tamis::cut::{Background, Cut, Orientation, Pool, PoolError};

/// Keeps the relevant lines of standard input.
///
/// # Errors
/// A malformed line, or lines that are not best first.
pub fn run(arguments: &CutArguments, output: &Output) -> Result<Exit> {
    let orientation = orientation(arguments);
    let mut lines = read(io::stdin().lock(), &arguments.score)?;
    if arguments.sort {
        sort(&mut lines, orientation);
    }
    let cut = arguments.method.cut(&pool(&lines, orientation, arguments.background)?);
    let shown = cut.keep.min(arguments.limit.unwrap_or(usize::MAX));
    let mut out = output.plain();
    for (index, line) in lines[..shown].iter().enumerate() {
        out.write_all(&line.bytes)?;
        // Only the last line of the input may lack its end, and sorting can move it up.
        if index + 1 < shown && !line.bytes.ends_with(b"\n") {
            writeln!(out)?;
        }
    }
    out.flush()?;
    output.note(&summary(&cut, shown));
    if arguments.explain {
        for (name, value) in &cut.diagnostics {
            output.note(&format!("  {name} = {value}"));
        }
    }
    Ok(Exit::found(shown > 0))
}

/// A field called `distance` is one, wherever in the object it is.
fn orientation(arguments: &CutArguments) -> Orientation {
    let field = arguments.score.rsplit('.').next().unwrap_or_default();
    if arguments.lower_is_better || field == "distance" { Orientation::Distance } else { Orientation::Score }
}

fn sort(lines: &mut [Line], orientation: Orientation) {
    lines.sort_by(|a, b| match orientation {
        Orientation::Score => b.score.total_cmp(&a.score),
        Orientation::Distance => a.score.total_cmp(&b.score),
    });
}

fn pool(lines: &[Line], orientation: Orientation, background: Option<f64>) -> Result<Pool> {
    let pool = match Pool::new(lines.iter().map(|line| line.score), orientation) {
        Ok(pool) => pool,
        Err(PoolError::Unsorted { position, value, previous, .. }) => {
            let number = lines[position].number;
            let better = match orientation {
                Orientation::Score => "higher",
                Orientation::Distance => "lower",
            };
            bail!(
                "line {number}: {value} is better than {previous} before it ({better} is better); give the lines best \
                 first, or let --sort do it"
            );
        }
        Err(error) => bail!(error),
    };
    let Some(mean) = background else { return Ok(pool) };
    Ok(pool.with_background(Background { mean, deviation: 0.0, count: 0 })?)
}

fn summary(cut: &Cut, shown: usize) -> String {
    let limited = if shown < cut.keep { format!(", the first {shown} written") } else { String::new() };
    format!("kept {} of {}{limited} ({}): {}", cut.keep, cut.candidates, cut.method, cut.reason)
}
