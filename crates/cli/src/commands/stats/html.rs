//! The page of statistics on past queries, and that of cuts compared on recorded searches.

use super::figures::{self, Line, histogram, moment, plain, shortened};
use crate::layout::Page;
use crate::print::table::Columns;
use crate::print::text::{count, counted, maybe, milliseconds};
use jiff::tz::TimeZone;
use owo_colors::OwoColorize;
use std::io;
use tamis::search::percent;
use tamis::telemetry::{Replay, Share, Similarities, Stats};

/// A page is laid out for this many columns; a wider terminal shows more of long texts.
const COLUMNS: usize = 80;

/// Columns of a longer line are hard to read.
const MOST_COLUMNS: usize = 160;

/// Columns for text beyond those of a page.
fn spare_columns(out: &dyn Page) -> usize {
    out.columns().unwrap_or_default().clamp(COLUMNS, MOST_COLUMNS) - COLUMNS
}

/// Writes the statistics, with times in this zone.
///
/// # Errors
/// `out` cannot be written.
pub fn print(out: &mut dyn Page, stats: &Stats, zone: &TimeZone) -> io::Result<()> {
    summary(out, stats)?;
    days(out, stats)?;
    if let Some(kept) = &stats.kept {
        let figures = format!("mean {}, median {}, at most {}", plain(kept.mean), plain(kept.p50), plain(kept.max));
        heading(out, "Kept by the cut", &figures)?;
        histogram(out, kept, figures::whole_range)?;
    }
    methods(out, stats)?;
    if let Some(gaps) = &stats.gaps {
        let figures = format!("median {:.3}, at most {:.3}", gaps.p50, gaps.max);
        heading(out, "Largest gap between neighbours", &figures)?;
        histogram(out, gaps, figures::range)?;
    }
    latency(out, stats)?;
    sources(out, stats)?;
    slowest(out, stats, zone)?;
    fallbacks(out, stats)?;
    drift(out, stats, zone)
}

/// Writes an empty line and a heading with a remark beside it.
fn heading(out: &mut dyn Page, title: &str, beside: &str) -> io::Result<()> {
    let beside = if beside.is_empty() { String::new() } else { format!("  {beside}") };
    writeln!(out, "\n{}{}", title.bold(), beside.dimmed())
}

fn summary(out: &mut dyn Page, stats: &Stats) -> io::Result<()> {
    let days = match (stats.days.first(), stats.days.last()) {
        (Some(first), Some(last)) if first.date != last.date => format!(" from {} to {}", first.date, last.date),
        (Some(day), _) => format!(" on {}", day.date),
        _ => String::new(),
    };
    let different = if stats.distinct_queries < stats.queries {
        format!(", {} of them different", count(stats.distinct_queries))
    } else {
        String::new()
    };
    writeln!(out, "{}{days}{different}", counted(stats.queries, "query").bold())?;
    let nothing = format!("{} found nothing ({})", counted(stats.empty, "query"), percent(stats.empty_rate));
    if stats.empty > 0 {
        write!(out, "{}", nothing.yellow())?
    } else {
        write!(out, "every query found something")?
    }
    if stats.shortened > 0 {
        write!(out, "; the limit cut {} short", counted(stats.shortened, "query"))?;
    }
    writeln!(out)?;
    let found = [
        stats.lexical_candidates.map(|found| format!("{} by words", plain(found))),
        stats.semantic_candidates.map(|found| format!("{} by meaning", plain(found))),
        stats.candidates.map(|found| format!("{} together", plain(found))),
    ];
    let found: Vec<String> = found.into_iter().flatten().collect();
    writeln!(out, "{}", format!("candidates on average: {}", found.join(", ")).dimmed())?;
    if let Some(ratio) = stats.language_match_ratio {
        let ratio = format!("kept in the language hinted at: {}", percent(ratio));
        writeln!(out, "{}", ratio.dimmed())?;
    }
    if stats.opened.passages > 0 {
        let (results, searches) = (counted(stats.opened.passages, "result"), counted(stats.opened.searches, "search"));
        writeln!(out, "{}", format!("opened afterwards: {results} of {searches}").dimmed())?;
    }
    let judged = &stats.judgements;
    if judged.searches > 0 {
        let passages = counted(judged.relevant + judged.not_relevant, "passage");
        let (relevant, searches) = (count(judged.relevant), counted(judged.searches, "search"));
        let line = format!("judged: {passages} of {searches}, {relevant} of them relevant");
        let error = judged.reliability.as_ref().map(|reliability| reliability.calibration_error);
        let error = error.map_or_else(String::new, |error| format!("; calibration error {error:.2}"));
        writeln!(out, "{}", format!("{line}{error}").dimmed())?;
    }
    Ok(())
}

/// Writes a sparkline for each figure that is known by day.
fn days(out: &mut dyn Page, stats: &Stats) -> io::Result<()> {
    if stats.days.len() < 2 {
        return Ok(());
    }
    let groups = figures::groups(&stats.days, out.columns_after(figures::LABEL, figures::MOST_GROUPS));
    let per = match groups.first().map_or(1, |group| group.len()) {
        1 => "a day".to_owned(),
        7 => "a week".to_owned(),
        days => format!("in {days} days"),
    };
    let counts: Vec<u64> = groups.iter().map(|group| group.iter().map(|day| day.queries).sum()).collect();
    let empty = groups.iter().zip(&counts).map(|(group, &count)| {
        let empty: u64 = group.iter().map(|day| day.empty).sum();
        (count > 0).then(|| empty as f64 / count as f64)
    });
    let slow = groups.iter().map(|group| group.iter().filter_map(|day| day.p95_ms).reduce(f64::max));
    let most = counts.iter().max().copied().unwrap_or_default();
    let empty: Vec<Option<f64>> = empty.collect();
    let slow: Vec<Option<f64>> = slow.collect();
    let largest = |values: &[Option<f64>]| values.iter().flatten().copied().fold(0.0, f64::max);
    writeln!(out)?;
    let lines = [
        Line {
            label: "queries",
            note: format!("up to {} {per}", count(most)),
            values: counts.iter().map(|&count| Some(count as f64)).collect(),
        },
        Line { label: "found nothing", note: format!("up to {}", percent(largest(&empty))), values: empty },
        Line { label: "95% within", note: format!("up to {}", milliseconds(largest(&slow))), values: slow },
    ];
    lines.iter().try_for_each(|line| line.write(out))
}

/// Columns of a query's text and of a reason.
const TEXT: usize = 24;
const REASON: usize = 64;

/// Most rows of a table of reasons.
const ROWS: usize = 8;

/// Writes which method decided.
fn methods(out: &mut dyn Page, stats: &Stats) -> io::Result<()> {
    heading(out, "Decided by", "")?;
    shares(out, &[" method", ">queries", ">share", ">found nothing", ">kept on average"], &stats.methods, stats.queries)
}

/// Writes the entry points of the queries and what they searched, each if it has several values.
fn sources(out: &mut dyn Page, stats: &Stats) -> io::Result<()> {
    let groups = [("Asked from", &stats.entry_points), ("Retrievers", &stats.modes), ("Searched", &stats.corpora)];
    for (title, shares) in groups {
        if shares.len() > 1 {
            heading(out, title, "")?;
            let headings = [" ", ">queries", ">share", ">found nothing", ">kept on average"];
            self::shares(out, &headings, shares, stats.queries)?;
        }
    }
    Ok(())
}

fn shares(out: &mut dyn Page, headings: &[&str], shares: &[Share], of: u64) -> io::Result<()> {
    let mut table = Columns::new(headings);
    for share in shares {
        table.row([
            format!(" {}", shortened(&share.name, 30)),
            count(share.queries),
            percent(share.queries as f64 / of.max(1) as f64),
            count(share.empty),
            format!("{:.1}", share.mean_kept),
        ]);
    }
    table.write(out)
}

/// Writes the time that each stage took.
fn latency(out: &mut dyn Page, stats: &Stats) -> io::Result<()> {
    heading(out, "Time", "")?;
    let mut table = Columns::new(&[" stage", ">half within", ">95% within", ">99% within", ">longest"]);
    for latency in &stats.latency {
        let times = [latency.p50_ms, latency.p95_ms, latency.p99_ms, latency.max_ms].map(milliseconds);
        table.row(std::iter::once(format!(" {}", latency.stage)).chain(times));
    }
    table.write(out)
}

/// Writes the queries that took longest.
fn slowest(out: &mut dyn Page, stats: &Stats, zone: &TimeZone) -> io::Result<()> {
    heading(out, "Slowest", "")?;
    let mut table = Columns::new(&[" when", ">took", "mostly", "query", "text"]);
    for slow in &stats.slowest {
        let mostly = slow.stage.as_ref();
        table.row([
            format!(" {}", moment(&slow.at, zone)),
            milliseconds(slow.total_ms),
            mostly.map(|(stage, took)| format!("{stage} {}", milliseconds(*took))).unwrap_or_default(),
            slow.search_id.clone().unwrap_or_default(),
            slow.text.as_deref().map(|text| shortened(text, TEXT + spare_columns(out))).unwrap_or_default(),
        ]);
    }
    table.write(out)
}

/// Writes the reasons for using another model or mode than the user chose.
fn fallbacks(out: &mut dyn Page, stats: &Stats) -> io::Result<()> {
    if stats.fallbacks.is_empty() {
        return Ok(());
    }
    heading(out, "Answered with another model or mode", "")?;
    let mut table = Columns::new(&["> queries", "why"]);
    for share in stats.fallbacks.iter().take(ROWS) {
        table.row([count(share.queries), shortened(&share.name, REASON + spare_columns(out))]);
    }
    table.write(out)?;
    match stats.fallbacks.len().saturating_sub(ROWS) {
        0 => Ok(()),
        more => writeln!(out, "  and {more} more reasons"),
    }
}

/// Writes the similarities before and after the calibration of each model.
fn drift(out: &mut dyn Page, stats: &Stats, zone: &TimeZone) -> io::Result<()> {
    if stats.drift.is_empty() {
        return Ok(());
    }
    heading(out, "Similarity", "mean of the best candidate and of all passages")?;
    let mut table = Columns::new(&[" model", "since", ">queries", ">best", ">background"]);
    let mut row = |model: String, since: String, similarities: &Similarities| {
        let Similarities { queries, best, background } = similarities;
        table.row([format!(" {model}"), since, count(*queries), maybe(*best), maybe(*background)]);
    };
    let mut moved = Vec::new();
    for drift in &stats.drift {
        let calibrated = drift.calibrated_at.as_ref().map(|at| moment(at, zone));
        if let Some(before) = &drift.before {
            row(drift.model.clone(), "before its calibration".into(), before);
        }
        if let Some(after) = &drift.after {
            let since = calibrated.map_or_else(|| "never calibrated".into(), |at| format!("calibrated {at}"));
            row(drift.model.clone(), since, after);
        }
        let best = |similarities: &Option<Similarities>| similarities.as_ref().and_then(|known| known.best);
        if let Some((before, after)) = best(&drift.before).zip(best(&drift.after)) {
            moved.push(format!("{} moved by {:+.3} since its calibration", drift.model, after - before));
        }
    }
    table.write(out)?;
    moved.iter().try_for_each(|line| writeln!(out, "  {line}"))
}

/// Columns of a cut's name.
const NAME: usize = 26;

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::print::{plain as printed, plain_in};
    use tamis::telemetry::{
        Bucket, Day, Distribution, Drift, Judgements, Latency, OpenedCount, Reliability, SlowQuery,
    };

    fn share(name: &str, queries: u64, empty: u64, mean_kept: f64) -> Share {
        Share { name: name.into(), queries, empty, mean_kept }
    }

    fn stats() -> Stats {
        let counts = [(3, 0), (0, 0), (12, 2), (20, 3), (9, 0), (41, 9)];
        let day = |(at, &(queries, empty)): (usize, &(u64, u64))| Day {
            date: format!("2026-11-{:02}", 17 + at),
            queries,
            empty,
            kept_p50: (queries > 0).then_some(2.0),
            p95_ms: (queries > 0).then_some(8.0 + at as f64),
        };
        let bucket = |from, below, count| Bucket { from, below, count };
        let kept = [(0.0, 1.0, 14), (1.0, 2.0, 30), (2.0, 3.0, 20), (3.0, 5.0, 0), (5.0, 9.0, 20), (9.0, 17.0, 1)];
        let latency = |stage: &str, p50_ms: f64| {
            let (stage, p95_ms, p99_ms, max_ms) = (stage.into(), 2.0 * p50_ms, 3.0 * p50_ms, 40.0 * p50_ms);
            Latency { stage, queries: 85, p50_ms, p95_ms, p99_ms, max_ms }
        };
        Stats {
            from: Some("2026-11-17T08:00:00Z".into()),
            to: Some("2026-11-22T08:00:00Z".into()),
            queries: 85,
            distinct_queries: 61,
            empty: 14,
            empty_rate: 14.0 / 85.0,
            shortened: 7,
            opened: OpenedCount { searches: 31, passages: 44 },
            judgements: Judgements {
                searches: 9,
                relevant: 14,
                not_relevant: 6,
                days: Vec::new(),
                reliability: Some(Reliability { bins: Vec::new(), calibration_error: 0.118, brier: 0.2 }),
            },
            lexical_candidates: Some(61.24),
            semantic_candidates: Some(100.0),
            candidates: Some(143.0),
            language_match_ratio: Some(0.9),
            mean_kept_distance: Some(0.4),
            days: counts.iter().enumerate().map(day).collect(),
            kept: Some(Distribution {
                count: 85,
                mean: 3.24,
                p50: 2.0,
                p90: 8.0,
                max: 12.0,
                histogram: kept.map(|(from, below, count)| bucket(from, Some(below), count)).into(),
            }),
            methods: vec![share("auto", 60, 0, 4.2), share("gate", 14, 14, 0.0), share("adaptive", 11, 0, 1.5)],
            gaps: Some(Distribution {
                count: 11,
                mean: 0.08,
                p50: 0.07,
                p90: 0.12,
                max: 0.15,
                histogram: vec![bucket(0.0, Some(0.05), 3), bucket(0.05, Some(0.1), 6), bucket(0.1, None, 2)],
            }),
            latency: vec![latency("embed", 0.21), latency("gather", 1.8), latency("total", 2.6)],
            entry_points: vec![share("cli", 80, 14, 3.0), share("library", 5, 0, 6.5)],
            modes: vec![share("hybrid", 85, 14, 3.2)],
            corpora: vec![share("all", 85, 14, 3.2)],
            fallbacks: vec![share("minilm-l6-v2 covers N of N passages", 6, 1, 2.0)],
            slowest: vec![SlowQuery {
                at: "2026-11-21T09:30:00Z".into(),
                total_ms: 104.0,
                stage: Some(("gather".into(), 80.0)),
                search_id: Some("7k2m9qrt".into()),
                text: Some("where does the cut\u{1b}[31m read the background of a query".into()),
            }],
            drift: vec![Drift {
                model: "static-256-v1".into(),
                calibrated_at: Some("2026-11-19T00:00:00Z".into()),
                before: Some(Similarities { queries: 15, best: Some(0.62), background: Some(0.11) }),
                after: Some(Similarities { queries: 70, best: Some(0.58), background: Some(0.12) }),
            }],
        }
    }

    #[test]
    fn a_single_query_has_no_course_of_days() {
        let one = Stats {
            queries: 1,
            distinct_queries: 1,
            empty: 0,
            empty_rate: 0.0,
            shortened: 0,
            opened: OpenedCount::default(),
            days: stats().days.into_iter().take(1).collect(),
            gaps: None,
            fallbacks: Vec::new(),
            drift: Vec::new(),
            ..stats()
        };
        let page = printed(|out| print(out, &one, &TimeZone::UTC));
        assert!(page.starts_with("1 query on 2026-11-17\nevery query found something\n"), "{page}");
        assert!(!page.contains("Similarity") && !page.contains("95% within  █"), "{page}");
    }

    #[test]
    fn a_wide_terminal_shows_more_of_a_text_and_every_page_fits() {
        let page = |columns| plain_in(columns, |out| print(out, &stats(), &TimeZone::UTC));
        let wide = page(120);
        assert!(wide.contains("read the background of a query") && wide.contains("covers N of N passages"), "{wide}");
        for (columns, most) in [(40, 40), (60, 60), (80, 80), (1000, 160)] {
            assert!(page(columns).lines().all(|line| line.chars().count() <= most), "{columns}:\n{}", page(columns));
        }
    }
}
