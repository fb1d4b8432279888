//! `tamis cut`: cuts the results of another search engine.
//!
//! All lines are read before any is written, so that a malformed last line does not leave half an answer.

mod read;
mod row;

use crate::args::{CutArguments, refused};
use crate::exit::Exit;
use crate::output::Output;
use anyhow::{Context, Error, Result, anyhow, bail};
use read::{Input, read};
use row::{Row, SCORE};
use std::fs::File;
use std::io::{self, BufReader, Write};
use tamis::lists::{ListCutter, ListEntry, ListError, Reading, Reference};
use tamis::search::TunedRule;
use tamis_cut::Orientation;

/// Keeps the relevant lines of standard input.
///
/// # Errors
/// A malformed line, lines that are not best first, or an aim that the method does not have.
pub fn run(arguments: &CutArguments, output: &Output) -> Result<Exit> {
    let asked = TunedRule::new(arguments.method.as_ref(), arguments.goal.wanted()?, &arguments.goal.aim);
    let asked = asked.map_err(|error| refused(error, "--method"))?;
    let sample = sample(arguments)?;
    let input = read(io::stdin().lock(), arguments.score.as_deref())?;
    let sample = sample.as_ref().map(entries);
    let cutter = ListCutter {
        reading: reading(arguments, &input)?,
        reference: match (&sample, arguments.background) {
            (Some(sample), _) => Reference::Sample(sample),
            (None, Some(mean)) => Reference::Mean(mean),
            (None, None) => Reference::None,
        },
        gate: !arguments.no_gate,
        ..ListCutter::new(&asked)
    };
    let cut = cutter.cut(&entries(&input)).map_err(|error| in_lines(error, &input.rows))?;
    let shown = cut.report.keep.min(arguments.limit.unwrap_or(usize::MAX));
    let kept: Vec<usize> = cut.ranked.iter().take(shown).map(|entry| entry.position).collect();
    let report = cut.into_report(|position| input.rows[position].number);
    match arguments.json {
        true => output.json(&report)?,
        false => write(&input, &kept, output)?,
    }
    output.note(&report.cut.sentence(shown, &[]));
    if arguments.explain {
        output.note(&format!("  method = {}", report.cut.method));
        for (name, value) in &report.cut.diagnostics {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            output.note(&format!("  {name} = {value}"));
        }
    }
    Ok(Exit::found(shown > 0))
}

/// The figures of the lines.
fn entries(input: &Input) -> Vec<&ListEntry> {
    input.rows.iter().map(|row| &row.values).collect()
}

/// The error in terms of the lines and flags.
fn in_lines(error: ListError, rows: &[Row]) -> Error {
    let line = |position: usize| rows[position].number;
    match error {
        ListError::Mixed { without, with } => anyhow!(
            "line {}: no field {SCORE}, which line {} has; give it to all lines or to none",
            line(without),
            line(with)
        ),
        ListError::Unsorted { position, value, previous, orientation } => {
            let better = if orientation == Orientation::Score { "higher" } else { "lower" };
            anyhow!(
                "line {}: {value} is better than {previous} before it ({better} is better); give the lines best first, or \
                 let --sort do it",
                line(position)
            )
        }
        ListError::NoSimilarity { method } => {
            anyhow!("--method {method}: it needs a similarity, and no line has one")
        }
        ListError::NoLength { position } => {
            anyhow!("line {}: a budget needs the number `tokens` or the `text` to count them in", line(position))
        }
        ListError::Sample(reason) => anyhow!("--background-sample: {reason}"),
        error => error.into(),
    }
}

/// Reads the sample of passages drawn at random.
fn sample(arguments: &CutArguments) -> Result<Option<Input>> {
    let Some(path) = &arguments.background_sample else { return Ok(None) };
    let file = File::open(path).with_context(|| format!("--background-sample {}: cannot be read", path.display()))?;
    let sample = read(BufReader::new(file), arguments.score.as_deref());
    sample.map(Some).with_context(|| format!("--background-sample {}", path.display()))
}

/// The reading of the rows by the flags and the score's name. A field called `distance` is one, at any depth.
fn reading(arguments: &CutArguments, input: &Input) -> Result<Reading> {
    let field = arguments.score.as_deref().unwrap_or(SCORE).rsplit('.').next().unwrap_or_default();
    let lower = arguments.lower_is_better || field == "distance";
    if arguments.lower_is_better && input.rows.iter().any(|row| row.values.score.is_none()) {
        bail!("--lower-is-better: a higher similarity and bm25 are better; name a score with --score");
    }
    let orientation = if lower { Orientation::Distance } else { Orientation::Score };
    Ok(Reading { orientation, sort: arguments.sort, weight: arguments.fusion_weight })
}

/// Writes the lines unchanged, under their header.
fn write(input: &Input, kept: &[usize], output: &Output) -> Result<()> {
    let mut out = output.exact();
    if let Some(header) = &input.header {
        out.write_all(header)?;
    }
    // The last line of the input may lack a line end, and sorting can move it up.
    let mut open = input.header.as_ref().is_some_and(|header| !header.ends_with(b"\n"));
    for &row in kept {
        if open {
            writeln!(out)?;
        }
        let bytes = &input.rows[row].bytes;
        out.write_all(bytes)?;
        open = !bytes.ends_with(b"\n");
    }
    out.flush()?;
    Ok(())
}
