//! Cuts compared on recorded searches.

use super::figures::{moment, percent, plain, shortened};
use super::{heading, spare_columns};
use crate::page::Page;
use crate::print::table::Columns;
use crate::print::text::{count, counted, maybe};
use jiff::tz::TimeZone;
use owo_colors::OwoColorize;
use std::io;
use tamis::telemetry::Replay;

/// Columns of a cut's name and of a query's text.
const NAME: usize = 26;
const TEXT: usize = 24;

/// Writes the comparison, with times in this zone.
///
/// # Errors
/// `out` cannot be written.
pub fn print_replay(out: &mut dyn Page, replay: &Replay, zone: &TimeZone) -> io::Result<()> {
    let period =
        replay.period.as_ref().map(|(first, last)| format!(" from {} to {}", moment(first, zone), moment(last, zone)));
    let judged = if replay.judged > 0 { format!(", {} of them judged", count(replay.judged)) } else { String::new() };
    writeln!(out, "{}{}{judged}", counted(replay.searches, "search").bold(), period.unwrap_or_default())?;
    cuts(out, replay)?;
    comparisons(out, replay)?;
    examples(out, replay, zone)?;
    if !replay.notes.is_empty() {
        writeln!(out)?;
    }
    replay.notes.iter().try_for_each(|note| writeln!(out, "{}", format!("note: {note}").dimmed()))
}

fn cuts(out: &mut dyn Page, replay: &Replay) -> io::Result<()> {
    heading(out, "Each cut", "candidates kept: mean, median, and the most in nine of ten searches")?;
    let judged = replay.judged > 0;
    let mut headings = vec![" cut", ">mean", ">median", ">90%", ">nothing"];
    if judged {
        headings.extend([">precision", ">recall"]);
    }
    let mut table = Columns::new(&headings);
    for (cut, number) in replay.cuts.iter().zip(1..) {
        let mut cells = vec![
            format!(" {number} {}", shortened(&cut.cut, NAME + spare_columns(out))),
            format!("{:.1}", cut.kept_mean),
            plain(cut.kept_p50),
            plain(cut.kept_p90),
            percent(cut.empty_rate),
        ];
        if judged {
            cells.extend([maybe(cut.precision), maybe(cut.recall)]);
        }
        table.row(cells);
    }
    table.write(out)
}

fn comparisons(out: &mut dyn Page, replay: &Replay) -> io::Result<()> {
    heading(out, "Each two", "overlap: candidates that both keep, of those that one keeps")?;
    let mut table = Columns::new(&[" cuts", ">differ", ">overlap", ">only 1st answers", ">only 2nd"]);
    let named = |cut: &str| {
        let number = replay.cuts.iter().position(|known| known.cut == cut).map_or(0, |place| place + 1);
        format!("{number} {}", shortened(cut.split(':').next().unwrap_or(cut), NAME / 2))
    };
    for pair in &replay.comparisons {
        table.row([
            format!(" {} · {}", named(&pair.a), named(&pair.b)),
            percent(pair.differ_rate),
            percent(pair.overlap),
            count(pair.only_a_answers),
            count(pair.only_b_answers),
        ]);
    }
    table.write(out)
}

fn examples(out: &mut dyn Page, replay: &Replay, zone: &TimeZone) -> io::Result<()> {
    if replay.examples.is_empty() {
        return Ok(());
    }
    let numbers: Vec<String> = (1..=replay.cuts.len()).map(|number| number.to_string()).collect();
    heading(out, "Where the last two differ most", &format!("kept by {}", numbers.join(" · ")))?;
    let mut table = Columns::new(&[" query", "when", ">kept", ">overlap", "text"]);
    for example in &replay.examples {
        let kept: Vec<String> = example.kept.iter().map(u64::to_string).collect();
        table.row([
            format!(" {}", example.search_id),
            moment(&example.at, zone),
            kept.join(" · "),
            percent(example.overlap),
            example.text.as_deref().map(|text| shortened(text, TEXT + spare_columns(out))).unwrap_or_default(),
        ]);
    }
    table.write(out)
}
