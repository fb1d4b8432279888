//! The report of a calibration: one line for each language.

use super::table::Columns;
use super::text::{count, label};
use crate::page::Page;
use std::io;
use tamis::calibrate::{CalibrateReport, LanguageCalibration, Measurement, Outcome, ThresholdSource};

/// Writes the thresholds as a table, and the files that now hold them.
///
/// # Errors
/// `out` cannot be written.
pub fn calibrated(out: &mut dyn Page, report: &CalibrateReport) -> io::Result<()> {
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
        _ if report.dry_run => writeln!(out, "\nmeasured with {model}; nothing was written"),
        _ if written == 0 => writeln!(out, "\nmeasured with {model}; no threshold was written"),
        Some(file) => {
            writeln!(out, "\nmeasured with {model}; written to the index and {}", label(&file.to_string_lossy()))
        }
        None => writeln!(out, "\nmeasured with {model}; written to the index"),
    }
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
    use super::super::plain;
    use super::*;
    use tamis::calibrate::CalibrateMethod;

    fn language(language: &str, outcome: Outcome, measured: Option<(f64, f64)>) -> LanguageCalibration {
        LanguageCalibration {
            language: language.into(),
            outcome,
            measured: measured.map(|(threshold, separation)| Measurement {
                threshold,
                mean_same: threshold + 0.1,
                mean_different: threshold - 0.1,
                separation,
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
            warnings: Vec::new(),
        }
    }

    #[test]
    fn one_line_a_language_and_where_it_was_written() {
        use Outcome::{Calibrated, DoesNotSeparate, OneSideEmpty, TooFewSymbols};
        let report = report(vec![
            LanguageCalibration { without_vector: 1200, ..language("go", Calibrated, Some((0.3812, 0.712))) },
            LanguageCalibration { symbols: 40, different_file_pairs: 0, ..language("java", OneSideEmpty, None) },
            language("python", DoesNotSeparate, Some((0.5, 0.55))),
            LanguageCalibration {
                symbols: 12,
                same_file_pairs: 0,
                different_file_pairs: 0,
                ..language("ruby", TooFewSymbols, None)
            },
            LanguageCalibration {
                before: 0.72,
                before_source: ThresholdSource::Manual,
                ..language("rust", Calibrated, Some((0.4107, 0.81)))
            },
        ]);
        insta::assert_snapshot!(plain(|out| calibrated(out, &report)), @r"
         language  threshold  symbols      pairs  separation  before
         go           0.3812    3,120  500 + 500       0.712  0.65 built-in  1,200 more have no vector yet
         java              –       40    500 + 0           –  0.65 built-in  skipped: all symbols are in one file
         python       0.5000    3,120  500 + 500       0.550  0.65 built-in  kinds overlap; written only with --force
         ruby              –       12      0 + 0           –  0.65 built-in  skipped: at least 20 symbols are needed
         rust         0.4107    3,120  500 + 500       0.810  0.72 manual    your own 0.72 stays in effect

        measured with static-256-v1; written to the index and /here/.tamis/config.toml
        ");
    }

    #[test]
    fn a_dry_run_and_thresholds_nowhere_written_say_so() {
        let found = report(vec![LanguageCalibration {
            before: 0.4107,
            before_source: ThresholdSource::Calibrated,
            written: false,
            ..language("rust", Outcome::Calibrated, Some((0.4107, 0.81)))
        }]);
        let dry = CalibrateReport { dry_run: true, ..found.clone() };
        let shown = plain(|out| calibrated(out, &dry));
        assert!(
            shown.contains("0.4107 calibrated") && shown.ends_with("static-256-v1; nothing was written\n"),
            "{shown}"
        );
        let shown = plain(|out| calibrated(out, &found));
        assert!(shown.ends_with("no threshold was written\n"), "{shown}");
    }
}
