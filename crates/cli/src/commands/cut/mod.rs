//! `tamis cut`: cuts the results of another search engine.
//!
//! All lines are read before any is written, so that a malformed last line does not leave half an answer.

mod evidence;
mod read;
mod row;

use crate::args::{CutArguments, refused};
use crate::exit::Exit;
use crate::output::Output;
use anyhow::{Context, Result, anyhow, bail};
use evidence::{Candidates, Reading, Reference};
use read::{Input, read};
use row::{Row, SCORE};
use serde::Serialize;
use std::fs::File;
use std::io::{self, BufReader, Write};
use tamis::CutReport;
use tamis::config::JUDGE_DEPTH;
use tamis::cut::{Cut, Gate, Orientation, Rule, Value};
use tamis::search::{JudgedPassage, TunedRule, built_in_judge};

/// Keeps the relevant lines of standard input.
///
/// # Errors
/// A malformed line, lines that are not best first, or an aim that the method does not have.
pub fn run(arguments: &CutArguments, output: &Output) -> Result<Exit> {
    let asked = TunedRule::new(arguments.method.as_ref(), arguments.goal.want(), &arguments.goal.aim());
    let asked = asked.map_err(|error| refused(error, "--method"))?;
    let sample = sample(arguments)?;
    let input = read(io::stdin().lock(), arguments.score.as_deref())?;
    check_lengths(&input.rows, &asked)?;
    let reference = match (&sample, arguments.background) {
        (Some(sample), _) => Reference::Sample(sample),
        (None, Some(mean)) => Reference::Mean(mean),
        (None, None) => Reference::None,
    };
    let mut candidates = Candidates::of(&input.rows, &reference, asked.rule(), reading(arguments, &input)?)?;
    let judged = match &arguments.judge {
        Some(query) => Some(read_by_judge(query, &mut candidates, &input.rows, asked.rule())?),
        None => None,
    };
    let mut cut = decide(&candidates, &asked, arguments.no_gate);
    if let Some(judged) = judged {
        cut.diagnostics.insert("judged".into(), judged.into());
    }
    if let Some(order) = &cut.order {
        candidates.rearrange(order);
    }
    let shown = cut.keep.min(arguments.limit.unwrap_or(usize::MAX));
    let report = Report::of(cut, &candidates, &input.rows);
    match arguments.json {
        true => output.json(&report)?,
        false => write(&input, &candidates.order[..shown], output)?,
    }
    output.note(&report.cut.sentence(shown, None));
    if arguments.explain {
        output.note(&format!("  method = {}", report.cut.method));
        for (name, value) in &report.cut.diagnostics {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            output.note(&format!("  {name} = {value}"));
        }
    }
    Ok(Exit::found(shown > 0))
}

/// Reads the sample of passages drawn at random.
fn sample(arguments: &CutArguments) -> Result<Option<Input>> {
    let Some(path) = &arguments.background_sample else { return Ok(None) };
    let file = File::open(path).with_context(|| format!("--background-sample {}: cannot be read", path.display()))?;
    let sample = read(BufReader::new(file), arguments.score.as_deref());
    sample.map(Some).with_context(|| format!("--background-sample {}", path.display()))
}

/// Refuses a budget for lines of unknown length.
fn check_lengths(rows: &[Row], asked: &TunedRule) -> Result<()> {
    match rows.iter().find(|row| row.values.tokens.is_none()) {
        Some(row) if asked.rule().reads_sizes() => {
            bail!("line {}: a budget needs the number `tokens` or the `text` to count them in", row.number)
        }
        _ => Ok(()),
    }
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

/// Has the built-in judge read the first lines. Returns how many it read.
fn read_by_judge(query: &str, candidates: &mut Candidates, rows: &[Row], rule: &dyn Rule) -> Result<usize> {
    if !rule.reads_relevance() {
        bail!("--judge: the method {} does not read probabilities; use --method auto", rule.name());
    }
    let judge = built_in_judge(JUDGE_DEPTH, None);
    let passage = |&row: &usize| match &rows[row].values.text {
        Some(text) => Ok(JudgedPassage::new("", text)),
        None => bail!("line {}: --judge reads the field text, and there is none", rows[row].number),
    };
    let passages = candidates.order.iter().take(JUDGE_DEPTH).map(passage).collect::<Result<Vec<_>>>()?;
    let probabilities = judge.judge(query, &passages).map_err(|reason| anyhow!("--judge: {reason}"))?;
    let judged = probabilities.iter().flatten().count();
    candidates.pool = candidates.pool.clone().with_judgements(judge.judgements(probabilities));
    Ok(judged)
}

/// Decides: for `auto` the gate first, then the rule.
fn decide(candidates: &Candidates, asked: &TunedRule, no_gate: bool) -> Cut {
    let Candidates { pool, evidence, values, .. } = candidates;
    let asks = asked.rule().reads_relevance() && !no_gate;
    let mut cut = if asks { Gate::default().cut(evidence, asked.rule(), pool) } else { asked.rule().cut(pool) };
    cut.diagnostics.insert("values".into(), Value::from(values.clone()));
    if asks && !cut.gated && !pool.is_empty() {
        // A gate without evidence stays open because it knows nothing.
        let known = cut.diagnostics.contains_key("gate_evidence");
        cut.diagnostics
            .insert("gate".into(), Value::from(if known { "open" } else { "not asked: there is no evidence" }));
    }
    if let Some(note) = asked.note(&cut.method) {
        cut.reason = format!("{}; {note}", cut.reason);
        cut.diagnostics.insert("want".into(), Value::from(asked.want().name()));
    }
    cut
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

/// The cut in the form that a search's answer has it, with the lines.
#[derive(Serialize)]
struct Report {
    #[serde(flatten)]
    cut: CutReport,
    /// The probability that each candidate is relevant, best first, where the method estimates them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    probabilities: Vec<f64>,
    /// The candidates, best first.
    lines: Vec<LineReport>,
}

#[derive(Serialize)]
struct LineReport {
    /// Number of the line in the input, from 1.
    line: usize,
    /// The value on the scale of the method.
    value: f64,
    kept: bool,
}

impl Report {
    fn of(cut: Cut, candidates: &Candidates, rows: &[Row]) -> Self {
        let line = |(rank, (&row, &value)): (usize, (&usize, &f64))| LineReport {
            line: rows[row].number,
            value,
            kept: cut.keeps(rank),
        };
        let places = candidates.order.iter().zip(&candidates.ranked);
        let lines = places.enumerate().map(line).collect();
        Report { probabilities: cut.probabilities.clone(), cut: cut.into(), lines }
    }
}
