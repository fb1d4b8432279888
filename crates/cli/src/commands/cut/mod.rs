//! `tamis cut`: a filter for any other search engine. Its results in, the relevant ones out.
//!
//! All lines are read before any is written, so that a malformed one at the end does not leave half an answer.

mod evidence;
mod read;
mod row;

use crate::args::{CutArguments, refused};
use crate::exit::Exit;
use crate::output::Output;
use anyhow::{Context, Result, bail};
use evidence::{Candidates, Reading, Reference};
use read::{Input, read};
use row::{Row, SCORE};
use serde::Serialize;
use std::fs::File;
use std::io::{self, BufReader, Write};
use tamis::cut::{Cut, Gate, Orientation, Value};
use tamis::search::TunedRule;

/// Keeps the relevant lines of standard input.
///
/// # Errors
/// A malformed line, lines that are not best first, or an aim that the method has not.
pub fn run(arguments: &CutArguments, output: &Output) -> Result<Exit> {
    let asked = TunedRule::new(arguments.method.as_ref(), arguments.aim.want(), &arguments.aim.aim());
    let asked = asked.map_err(|error| refused(error, "--method"))?;
    let sample = sample(arguments)?;
    let input = read(io::stdin().lock(), arguments.score.as_deref())?;
    check_lengths(&input.rows, &asked)?;
    let reference = match (&sample, arguments.background) {
        (Some(sample), _) => Reference::Sample(sample),
        (None, Some(mean)) => Reference::Mean(mean),
        (None, None) => Reference::None,
    };
    let candidates = Candidates::of(&input.rows, &reference, asked.rule(), reading(arguments, &input)?)?;
    let cut = decide(&candidates, &asked, arguments.no_gate);
    let shown = cut.keep.min(arguments.limit.unwrap_or(usize::MAX));
    match arguments.json {
        true => output.json(&Report::of(&cut, &candidates, &input.rows))?,
        false => write(&input, &candidates.order[..shown], output)?,
    }
    output.note(&summary(&cut, shown));
    if arguments.explain {
        for (name, value) in &cut.diagnostics {
            output.note(&format!("  {name} = {value}"));
        }
    }
    Ok(Exit::found(shown > 0))
}

/// The passages drawn at random.
fn sample(arguments: &CutArguments) -> Result<Option<Input>> {
    let Some(path) = &arguments.background_sample else { return Ok(None) };
    let file = File::open(path).with_context(|| format!("--background-sample {}: cannot be read", path.display()))?;
    let sample = read(BufReader::new(file), arguments.score.as_deref());
    sample.map(Some).with_context(|| format!("--background-sample {}", path.display()))
}

/// A budget needs to know what each line costs.
fn check_lengths(rows: &[Row], asked: &TunedRule) -> Result<()> {
    match rows.iter().find(|row| row.values.tokens.is_none()) {
        Some(row) if asked.rule().reads_sizes() => bail!(
            "line {}: neither tokens, a number, nor text to count them in; without one of them no budget can be kept",
            row.number
        ),
        _ => Ok(()),
    }
}

/// A field called `distance` is one, wherever in the object it is.
fn reading(arguments: &CutArguments, input: &Input) -> Result<Reading> {
    let field = arguments.score.as_deref().unwrap_or(SCORE).rsplit('.').next().unwrap_or_default();
    let lower = arguments.lower_is_better || field == "distance";
    if arguments.lower_is_better && input.rows.iter().any(|row| row.values.score.is_none()) {
        bail!("--lower-is-better: a similarity and a bm25 are better when they are higher; name a score with --score");
    }
    let orientation = if lower { Orientation::Distance } else { Orientation::Score };
    Ok(Reading { orientation, sort: arguments.sort, weight: arguments.fusion_weight })
}

/// The gate's answer where `auto` has evidence to ask it, and otherwise the rule's.
fn decide(candidates: &Candidates, asked: &TunedRule, no_gate: bool) -> Cut {
    let Candidates { pool, evidence, values, .. } = candidates;
    let asks = asked.rule().reads_relevance() && !no_gate;
    let mut cut = if asks { Gate::default().cut(evidence, asked.rule(), pool) } else { asked.rule().cut(pool) };
    cut.diagnostics.insert("values".into(), Value::from(values.clone()));
    if asks && !cut.gated && !pool.is_empty() {
        // Without a figure to hold against a bound, the gate stayed open because it knew nothing.
        let known = cut.diagnostics.contains_key("gate_evidence");
        cut.diagnostics.insert("gate".into(), Value::from(if known { "open" } else { "not asked: nothing to go by" }));
    }
    if let Some(note) = asked.note(&cut.method) {
        cut.reason = format!("{}; {note}", cut.reason);
        cut.diagnostics.insert("want".into(), Value::from(asked.want().name()));
    }
    cut
}

/// The lines as they came, under their header.
fn write(input: &Input, kept: &[usize], output: &Output) -> Result<()> {
    let mut out = output.exact();
    if let Some(header) = &input.header {
        out.write_all(header)?;
    }
    // Only the last line of the input may lack its end, and ordering can move it up.
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

/// The cut for programs.
#[derive(Serialize)]
struct Report<'a> {
    #[serde(flatten)]
    cut: &'a Cut,
    /// The candidates, best first, as the cut's `probabilities` are.
    lines: Vec<LineReport>,
}

#[derive(Serialize)]
struct LineReport {
    /// Number of the line in the input, from 1.
    line: usize,
    /// Its value on the scale of the method.
    value: f64,
    kept: bool,
}

impl<'a> Report<'a> {
    fn of(cut: &'a Cut, candidates: &Candidates, rows: &[Row]) -> Self {
        let line = |(rank, (&row, &value)): (usize, (&usize, &f64))| LineReport {
            line: rows[row].number,
            value,
            kept: cut.keeps(rank),
        };
        let places = candidates.order.iter().zip(&candidates.ranked);
        Report { cut, lines: places.enumerate().map(line).collect() }
    }
}

fn summary(cut: &Cut, shown: usize) -> String {
    let limited = if shown < cut.keep { format!(", the first {shown} written") } else { String::new() };
    format!("kept {} of {}{limited} ({}): {}", cut.keep, cut.candidates, cut.method, cut.reason)
}
