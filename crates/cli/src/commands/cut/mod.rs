//! `tamis cut`: cuts the results of another search engine.
//!
//! All lines are read before any is written, so that a malformed last line does not leave half an answer.

mod read;
mod row;

use crate::command_line::at_least_one;
use crate::exit::Exit;
use crate::output::Output;
use anyhow::{Context, Error, Result, anyhow, bail};
use clap::Args;
use read::{Input, read};
use row::{Row, SCORE};
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufReader, Write};
use std::path::PathBuf;
use tamis::flag_values::{finite, share};
use tamis::lists::{ListCutter, ListEntry, ListError, Reading, Reference};
use tamis::search::{AimError, CutGoal, TunedRule};
use tamis_cut::{METHODS, Orientation, Rule, RuleError, parse};

const EXAMPLES: &str = "\
Examples:
  curl … | jq -c '.hits.hits[]' | tamis cut --score _score
  my-vector-search \"query\" | tamis cut --score distance --method max_gap
  jq -c '.data.Get.Page[]' answer.json | tamis cut --score _additional.distance
  tamis cut --background-sample random.csv --want all < hybrid.csv

The input is JSON objects, a JSON array, CSV or TSV with a header, or one score a line; the relevant lines come out unchanged. Lines with \
a score must come best first. Lines without one are ordered by their similarity and bm25, fused. A malformed line stops \
everything, and nothing is written.
Exit status: 0 kept some lines, 1 kept none, 2 an error.";

/// Flags of `tamis cut`.
#[derive(Debug, Args)]
#[command(
    after_help = EXAMPLES,
    after_long_help = format!("{EXAMPLES}\n\n{}", method_help()),
    mut_arg("want", |flag| {
        flag.help("Keep the one answer, the best ones, or all on the topic [default: the method's own choice]")
    })
)]
pub struct CutArguments {
    /// Choose where relevance ends (--help lists the methods)
    #[arg(short, long, value_name = "METHOD[:PARAM=VALUE,…]", default_value = "auto", value_parser = cut)]
    pub method: Box<dyn Rule>,
    /// Read the score from this field, with dots leading into objects; higher is better, except in a field called distance
    /// [default: score, else similarity and bm25]
    #[arg(short, long, value_name = "distance|similarity|NAME")]
    pub score: Option<String>,
    /// Treat a lower score as better, whatever the field is called
    #[arg(long)]
    pub lower_is_better: bool,
    /// Give similarity this share when it is fused with bm25, 0 to 1; methods on another scale have their own
    #[arg(long, value_name = "SHARE", default_value_t = tamis::lists::FUSION_WEIGHT, value_parser = share, allow_negative_numbers = true)]
    pub fusion_weight: f64,
    /// Write at most N lines; never changes what the cut keeps
    #[arg(short = 'n', long, value_name = "N", value_parser = at_least_one, allow_negative_numbers = true)]
    pub limit: Option<usize>,
    /// Sort the lines best first; without it, another order is an error
    #[arg(long)]
    pub sort: bool,

    #[command(flatten)]
    pub reference: BackgroundFlags,
    #[command(flatten)]
    pub goal: CutGoal,

    /// Print the cut as one JSON object in place of the lines: how many, why, and the line numbers in order
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    /// Print the method's own figures too, on standard error
    #[arg(long, help_heading = "Output")]
    pub explain: bool,
}

/// What irrelevant results look like, and the check against it.
#[derive(Debug, Args)]
pub struct BackgroundFlags {
    /// Take this as the mean score of irrelevant results
    #[arg(long, value_name = "MEAN", value_parser = finite, allow_negative_numbers = true, help_heading = "Background")]
    pub background: Option<f64>,
    /// Read the scores of passages drawn at random from this file, in the form of the input
    #[arg(long, value_name = "FILE", conflicts_with = "background", help_heading = "Background")]
    pub background_sample: Option<PathBuf>,
    /// Skip the check of the method auto that anything stands out at all
    #[arg(long, help_heading = "Background")]
    pub no_gate: bool,
}

/// A cut method with its parameters.
fn cut(text: &str) -> Result<Box<dyn Rule>, String> {
    parse(text).map_err(|error| error.to_string())
}

/// Keeps the relevant lines of standard input.
///
/// # Errors
/// A malformed line, lines that are not best first, or an aim that the method does not have.
pub fn run(arguments: &CutArguments, output: &Output) -> Result<Exit> {
    let asked = TunedRule::new(arguments.method.as_ref(), arguments.goal.want.unwrap_or_default(), &arguments.goal.aim);
    let asked = asked.map_err(|error| refused(error, "--method"))?;
    let sample = sample(arguments)?;
    let input = read(io::stdin().lock(), arguments.score.as_deref())?;
    let sample = sample.as_ref().map(entries);
    let cutter = ListCutter {
        reading: reading(arguments, &input)?,
        reference: match (&sample, arguments.reference.background) {
            (Some(sample), _) => Reference::Sample(sample),
            (None, Some(mean)) => Reference::Mean(mean),
            (None, None) => Reference::None,
        },
        gate: !arguments.reference.no_gate,
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
    match input.rows.is_empty() {
        true => output.note("No lines to cut."),
        false => output.note(&report.cut.sentence(shown, &[])),
    }
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
    let Some(path) = &arguments.reference.background_sample else { return Ok(None) };
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

/// The error in terms of the flags that were typed. `cut` is the flag that chooses the method.
pub fn refused(error: AimError, cut: &str) -> Error {
    let flag = |parameter: &str| format!("--{}", parameter.replace('_', "-"));
    match error {
        AimError::NoSuchAim { aim, method, able } => {
            anyhow!("{}: not supported by the cut {method}; use {cut} {able}", flag(aim))
        }
        AimError::NotAllowed(RuleError::OutOfRange { parameter, value, range, .. }) => {
            anyhow!("{} must be {range} and is {value}", flag(parameter))
        }
        AimError::NotAllowed(error) => anyhow!(error),
    }
}

/// The names of all methods, for the other commands' help.
pub fn method_names() -> String {
    let names: Vec<&str> = METHODS.iter().map(|method| method.name).collect();
    format!("Cut methods: {}. `tamis cut --help` describes them and their parameters.", names.join(", "))
}

/// Every method with its parameters, their ranges and their defaults.
fn method_help() -> String {
    let mut text = String::from("Cut methods, with their parameters:\n");
    for method in METHODS {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "\n  {}: {}", method.name, method.summary);
        for parameter in method.parameters {
            let _ = writeln!(
                text,
                "      {}={}  {} ({})",
                parameter.name,
                parameter.default(),
                parameter.doc.trim_end_matches('.'),
                parameter.range,
            );
        }
    }
    text.truncate(text.trim_end().len());
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_method_and_parameter_is_listed() {
        let text = method_help();
        for method in METHODS {
            assert!(text.contains(&format!("\n  {}: ", method.name)), "{}", method.name);
            for parameter in method.parameters {
                assert!(text.contains(&format!("{}={}  ", parameter.name, parameter.default())), "{}", parameter.name);
            }
        }
    }
}
