//! `tamis calibrate`: similarity thresholds by language.

use crate::command_line::Global;
use crate::exit::Exit;
use crate::interrupt;
use crate::layout::Page;
use crate::output::Output;
use crate::print::table::Columns;
use crate::print::text::{count, counted, label};
use crate::progress::Progress;
use crate::session::Session;
use anyhow::Result;
use clap::Args;
use serde_json::json;
use std::io::{self, BufRead, IsTerminal, Write};
use tamis::Index;
use tamis::calibrate::{CalibrateReport, CalibrateRequest, LanguageCalibration, Measurement, Outcome, ThresholdSource};
use tamis::flag_values::language;

/// Flags of `tamis calibrate`.
#[derive(Debug, Args)]
#[command(
    long_about = "Measure the similarity at which two symbols of a language belong together, for the cut `language`.\n\n\
        Tamis draws pairs of symbols of the same file and of different files, and puts the threshold between the two kinds. A \
        threshold holds for one model. Tamis asks before it writes them to the index and to .tamis/config.toml under \
        [search.calibrated]; without a terminal to ask on, only --write does. Your own values under [search.thresholds] take precedence and are not changed.",
    after_help = "\
Examples:
  tamis calibrate                       measure all languages, show what would be written, and ask
  tamis calibrate --write               the same without asking
  tamis calibrate --lang rust,python --method p10
  tamis search \"open the store\" --cut language

Exit status: 0 done, even if no language could be calibrated, 2 an error."
)]
pub struct CalibrateArguments {
    /// Put the threshold half-way between the means of same-file and different-file pairs, or at the 10th percentile of same-file pairs
    #[arg(long, value_name = "METHOD", default_value = "midpoint", value_parser = ["midpoint", "p10"], conflicts_with = "clear")]
    pub method: String,
    /// Write the thresholds without asking
    #[arg(long, conflicts_with_all = ["clear", "dry_run"])]
    pub write: bool,
    /// Show what would be written, and write nothing
    #[arg(long, conflicts_with = "clear")]
    pub dry_run: bool,
    /// Write a threshold even where the two kinds of pairs overlap
    #[arg(long, conflicts_with = "clear")]
    pub force: bool,
    /// Measure only these languages, by name, alias or file extension
    #[arg(long = "lang", value_name = "LANG,…", value_delimiter = ',', value_parser = language, conflicts_with = "clear")]
    pub languages: Vec<String>,
    /// Measure with this model of the configuration, in place of the one that searches use
    #[arg(long, value_name = "NAME", conflicts_with = "clear")]
    pub model: Option<String>,
    /// Draw the pairs with this seed
    #[arg(long, value_name = "N", default_value = "0", conflicts_with = "clear")]
    pub seed: u64,
    /// Delete all calibrated thresholds
    #[arg(long)]
    pub clear: bool,
    /// Print the report as JSON
    #[arg(long)]
    pub json: bool,
}

/// Measures thresholds and writes them, or deletes them.
///
/// # Errors
/// No symbol has a vector of the model, the model is unknown, or the index cannot be read or written.
pub fn run(arguments: &CalibrateArguments, global: &Global, output: &Output) -> Result<Exit> {
    let session = Session::start(global, Vec::new())?;
    let config = session.config()?;
    if !session.has_index(&config) {
        // Nothing to calibrate is not a failure, and no reason to make an index.
        if arguments.json {
            output.json(&json!({ "languages": [] }))?;
        }
        output.note("no symbols to calibrate: nothing is indexed here yet; run `tamis index` first");
        return Ok(Exit::Found);
    }
    let index = session.open(config)?;
    if arguments.clear {
        return clear(&index, arguments, output);
    }
    let mut request = CalibrateRequest {
        method: arguments.method.parse().unwrap_or_default(),
        seed: arguments.seed,
        force: arguments.force,
        dry_run: !arguments.write,
        languages: arguments.languages.clone(),
        model: arguments.model.clone(),
    };
    interrupt::install()?;
    let measured = |request: &CalibrateRequest| index.calibration().run(request, &Progress::when_slow(output));
    let mut report = measured(&request)?;
    let calibrates = report.languages.iter().any(|language| language.measured.is_some());
    if request.dry_run && calibrates && !(report.interrupted || arguments.dry_run || arguments.json) {
        let mut out = output.styled();
        calibrated(&mut out, &report)?;
        out.flush()?;
        drop(out);
        if !agrees()? {
            output.note("nothing was written; `tamis calibrate --write` writes the thresholds");
            return Ok(Exit::Found);
        }
        request.dry_run = false;
        report = measured(&request)?;
    }
    report.warnings.iter().for_each(|warning| output.warn(warning));
    if arguments.json {
        output.json(&report)?;
    }
    if report.interrupted {
        output.note("stopped; nothing was written");
        return Ok(Exit::Interrupted);
    }
    if report.languages.is_empty() {
        output.note("no symbols to calibrate");
    } else if !arguments.json {
        let mut out = output.styled();
        calibrated(&mut out, &report)?;
        out.flush()?;
    }
    Ok(Exit::Found)
}

fn clear(index: &Index, arguments: &CalibrateArguments, output: &Output) -> Result<Exit> {
    let (cleared, warnings) = index.calibration().clear()?;
    warnings.iter().for_each(|warning| output.warn(warning));
    if arguments.json {
        output.json(&json!({ "cleared": cleared }))?;
    } else {
        output.note(&format!("deleted {}", counted(cleared, "calibrated threshold")));
    }
    Ok(Exit::Found)
}

/// Asks if the thresholds should be written. Without a terminal they are not.
fn agrees() -> Result<bool> {
    if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
        return Ok(false);
    }
    let mut terminal = io::stderr().lock();
    write!(terminal, "Write the thresholds? [y/N] ")?;
    terminal.flush()?;
    drop(terminal);
    let mut said = String::new();
    io::stdin().lock().read_line(&mut said)?;
    Ok(matches!(said.trim().to_lowercase().as_str(), "y" | "yes"))
}

/// Writes the thresholds as a table, and the files that now hold them.
fn calibrated(out: &mut dyn Page, report: &CalibrateReport) -> io::Result<()> {
    let mut table = Columns::new(&["language", ">threshold", ">symbols", ">pairs", ">separation", "before", ""]);
    for language in &report.languages {
        let measured = |show: fn(&Measurement) -> String| language.measured.as_ref().map_or_else(|| "–".into(), show);
        table.row([
            language.language.clone(),
            measured(|measured| format!("{:.4}", measured.threshold)),
            count(language.symbols),
            format!("{} + {}", language.same_file_pairs, language.different_file_pairs),
            measured(|measured| format!("{:.3}", measured.separation)),
            format!("{} {}", threshold(language.before), language.before_source),
            remark(language, report.dry_run),
        ]);
    }
    table.write(out)?;
    let written = report.languages.iter().filter(|language| language.written).count();
    let model = label(&report.model);
    match &report.config_file {
        _ if report.dry_run => writeln!(out, "\nmeasured with {model}; nothing was written")?,
        _ if written == 0 => return writeln!(out, "\nmeasured with {model}; no threshold was written"),
        Some(file) => {
            writeln!(out, "\nmeasured with {model}; written to the index and {}", label(&file.to_string_lossy()))?;
        }
        None => writeln!(out, "\nmeasured with {model}; written to the index")?,
    }
    let when = if report.dry_run { "once written, under the" } else { "from now on, under the" };
    writeln!(out, "{when} {}", report.effect)
}

/// A threshold with two decimals, or four where these differ.
fn threshold(value: f64) -> String {
    let short = format!("{value:.2}");
    if short.parse() == Ok(value) { short } else { format!("{value:.4}") }
}

/// The remarks on a language beside its numbers.
fn remark(language: &LanguageCalibration, dry_run: bool) -> String {
    let mut remarks = Vec::new();
    match language.outcome {
        Outcome::Calibrated => {}
        Outcome::DoesNotSeparate if language.written => {
            remarks.push("kinds overlap; written because of --force".to_owned())
        }
        Outcome::DoesNotSeparate if dry_run => remarks.push("kinds overlap".into()),
        Outcome::DoesNotSeparate => remarks.push("kinds overlap; written only with --force".into()),
        Outcome::TooFewSymbols => {
            remarks.push(format!("skipped: at least {} symbols are needed", LanguageCalibration::LEAST_SYMBOLS));
        }
        Outcome::OneSideEmpty if language.same_file_pairs == 0 => {
            remarks.push("skipped: no file has two symbols".into());
        }
        Outcome::OneSideEmpty => remarks.push("skipped: all symbols are in one file".into()),
        Outcome::NotFinite => remarks.push("skipped: a similarity is not a number".into()),
    }
    if language.before_source == ThresholdSource::Manual {
        remarks.push(format!("your own {} stays in effect", threshold(language.before)));
    }
    if language.without_vector > 0 {
        remarks.push(format!("{} more have no vector yet", count(language.without_vector)));
    }
    remarks.join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::print::plain;
    use tamis::calibrate::CalibrateMethod;

    fn language(language: &str, outcome: Outcome, measured: Option<(f64, f64)>) -> LanguageCalibration {
        LanguageCalibration {
            language: language.into(),
            outcome,
            measured: measured.map(|(threshold, separation)| {
                let (mean_same, mean_different) = (threshold + 0.1, threshold - 0.1);
                Measurement { threshold, mean_same, mean_different, separation }
            }),
            symbols: 3120,
            without_vector: 0,
            same_file_pairs: 500,
            different_file_pairs: 500,
            before: 0.65,
            before_source: ThresholdSource::BuiltIn,
            written: outcome == Outcome::Calibrated,
        }
    }

    fn report(languages: Vec<LanguageCalibration>) -> CalibrateReport {
        CalibrateReport {
            provider: "static".into(),
            model: "static-256-v1".into(),
            method: CalibrateMethod::Midpoint,
            seed: 0,
            calibrated_at: "2026-01-31T12:00:00Z".into(),
            languages,
            dry_run: false,
            interrupted: false,
            config_file: Some("/here/.tamis/config.toml".into()),
            effect: "cut auto: something changes".into(),
            warnings: Vec::new(),
        }
    }

    #[test]
    fn one_line_a_language_and_where_it_was_written() {
        use Outcome::{Calibrated, DoesNotSeparate, OneSideEmpty, TooFewSymbols};
        let ruby = LanguageCalibration { symbols: 12, same_file_pairs: 0, ..language("ruby", TooFewSymbols, None) };
        let rust = LanguageCalibration { before: 0.72, ..language("rust", Calibrated, Some((0.4107, 0.81))) };
        let found = report(vec![
            LanguageCalibration { without_vector: 1200, ..language("go", Calibrated, Some((0.3812, 0.712))) },
            LanguageCalibration { symbols: 40, different_file_pairs: 0, ..language("java", OneSideEmpty, None) },
            language("python", DoesNotSeparate, Some((0.5, 0.55))),
            LanguageCalibration { different_file_pairs: 0, ..ruby },
            LanguageCalibration { before_source: ThresholdSource::Manual, ..rust },
        ]);
        insta::assert_snapshot!(plain(|out| calibrated(out, &found)), @r"
         language  threshold  symbols      pairs  separation  before
         go           0.3812    3,120  500 + 500       0.712  0.65 built-in  1,200 more have no vector yet
         java              –       40    500 + 0           –  0.65 built-in  skipped: all symbols are in one file
         python       0.5000    3,120  500 + 500       0.550  0.65 built-in  kinds overlap; written only with --force
         ruby              –       12      0 + 0           –  0.65 built-in  skipped: at least 20 symbols are needed
         rust         0.4107    3,120  500 + 500       0.810  0.72 manual    your own 0.72 stays in effect

        measured with static-256-v1; written to the index and /here/.tamis/config.toml
        from now on, under the cut auto: something changes
        ");
        let unwritten = language("rust", Outcome::Calibrated, Some((0.4107, 0.81)));
        let nowhere = report(vec![LanguageCalibration { written: false, ..unwritten }]);
        let shown = plain(|out| calibrated(out, &nowhere));
        assert!(shown.ends_with("no threshold was written\n"), "{shown}");
    }
}
