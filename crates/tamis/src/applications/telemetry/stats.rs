//! Statistics of a period's queries, computed from their rows.

use std::collections::{BTreeMap, HashSet};

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tamis_store::{OpenedCount, QueryQuality};

use super::{Drift, Judgements, drifts};
#[cfg(feature = "clap")]
use crate::flag_values;
use crate::search::{since, until};

/// The lower bounds of the histogram of kept candidates.
const KEPT: [f64; 9] = [0.0, 1.0, 2.0, 3.0, 5.0, 9.0, 17.0, 33.0, 65.0];

/// The lower bounds of the histogram of gaps.
const GAPS: [f64; 7] = [0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4];

/// The number of slowest queries listed.
const SLOWEST: usize = 5;

/// The stages of a search in order. Others follow by name, and `total` is last.
const STAGES: [&str; 10] =
    ["query", "embed", "gather", "rank", "rerank", "relevance_prior", "cut", "guarantee", "present", "total"];

/// The queries to summarize.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct StatsRequest {
    /// Only queries since then: 2025-01-31, 7d, yesterday, 'last week' (default: all).
    #[schemars(with = "Option<String>", length(min = 1, max = 100))]
    #[serde(default, deserialize_with = "since")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "TIME", value_parser = flag_values::moment, allow_hyphen_values = true))]
    pub since: Option<Timestamp>,
    /// Only queries before then, in the same forms.
    #[schemars(with = "Option<String>", length(min = 1, max = 100))]
    #[serde(default, deserialize_with = "until")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "TIME", value_parser = flag_values::moment, allow_hyphen_values = true))]
    pub until: Option<Timestamp>,
    /// Only queries of this namespace (default: all).
    #[schemars(length(min = 1, max = 200))]
    #[cfg_attr(feature = "clap", arg(long, value_name = "NAME"))]
    pub namespace: Option<String>,
    /// The time zone whose days are counted; `None`: UTC.
    #[serde(skip)]
    #[cfg_attr(feature = "clap", arg(skip))]
    pub time_zone: Option<TimeZone>,
    /// The time of each model's last calibration, by its identifier, in milliseconds since 1970; `None`: read from the
    /// index.
    #[serde(skip)]
    #[cfg_attr(feature = "clap", arg(skip))]
    pub calibrated_at_ms: Option<BTreeMap<String, i64>>,
}

impl StatsRequest {
    /// The time zone whose days are counted.
    pub(crate) fn zone(&self) -> TimeZone {
        self.time_zone.clone().unwrap_or(TimeZone::UTC)
    }

    /// The period in milliseconds since 1970; either end may be open.
    pub(crate) fn period_ms(&self) -> (Option<i64>, Option<i64>) {
        (self.since.map(Timestamp::as_millisecond), self.until.map(Timestamp::as_millisecond))
    }

    /// Returns `true` for a search of the period and the namespace.
    pub(crate) fn covers(&self, at_ms: i64, namespace: &str) -> bool {
        let (since, until) = self.period_ms();
        since.is_none_or(|since| at_ms >= since)
            && until.is_none_or(|until| at_ms < until)
            && self.namespace.as_ref().is_none_or(|wanted| namespace == wanted)
    }
}

/// The queries of a period and their results. Times are UTC in RFC 3339; dates are days of the request's time zone.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Stats {
    /// The time of the first query; `None` without queries.
    pub from: Option<String>,
    /// The time of the last query; `None` without queries.
    pub to: Option<String>,
    /// The number of queries.
    pub queries: u64,
    /// The number of different queries, by their text.
    pub distinct_queries: u64,
    /// The number of queries that found nothing.
    pub empty: u64,
    /// The share of queries that found nothing, in [0, 1]; 0 without queries.
    pub empty_rate: f64,
    /// The number of queries with more relevant candidates than the limit allowed.
    pub shortened: u64,
    /// The number of searches of which a shown result was opened, and of the results opened.
    pub opened: OpenedCount,
    /// The judgements of the period's searches. Searches that were imported with their judgements count too.
    pub judgements: Judgements,
    /// Mean number of candidates found by the lexical retriever, over the queries that used it.
    pub lexical_candidates: Option<f64>,
    /// Mean number of candidates found by the semantic retriever, over the queries that used it.
    pub semantic_candidates: Option<f64>,
    /// Mean number of all candidates.
    pub candidates: Option<f64>,
    /// Mean share of kept candidates in the hinted language, over the queries with a hint that kept something.
    pub language_match_ratio: Option<f64>,
    /// Mean over queries of the mean distance of kept candidates, 1 − similarity.
    pub mean_kept_distance: Option<f64>,
    /// Figures day by day, including days without queries.
    pub days: Vec<Day>,
    /// The number of candidates that the cut kept.
    pub kept: Option<Distribution>,
    /// The methods that set the threshold, most frequent first: a cut, the way that a cut found it, or the gate.
    pub methods: Vec<Share>,
    /// The largest difference between neighbours, for cuts that look for one.
    pub gaps: Option<Distribution>,
    /// Durations by stage in order, the total last.
    pub latency: Vec<Latency>,
    /// The entry points of the queries, most frequent first.
    pub entry_points: Vec<Share>,
    /// The retrievers that took part, most frequent first.
    pub modes: Vec<Share>,
    /// The collections searched, most frequent first.
    pub corpora: Vec<Share>,
    /// The reasons for using another model or fewer retrievers than requested, most frequent first. Every number in a reason
    /// reads `N`.
    pub fallbacks: Vec<Share>,
    /// The slowest queries, slowest first.
    pub slowest: Vec<SlowQuery>,
    /// The drift of each model's similarities since its calibration.
    pub drift: Vec<Drift>,
}

/// A group of queries with something in common.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Share {
    /// The common property.
    pub name: String,
    /// The number of queries.
    pub queries: u64,
    /// The number of queries that found nothing.
    pub empty: u64,
    /// Mean number of candidates that the cut kept for them.
    pub mean_kept: f64,
}

/// A slow query.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct SlowQuery {
    /// The time of the query.
    pub at: String,
    /// Its duration, in milliseconds.
    pub total_ms: f64,
    /// The slowest stage, and its duration in milliseconds.
    pub stage: Option<(String, f64)>,
    /// The identifier of its search, for `tamis feedback`.
    pub search_id: Option<String>,
    /// The query text, if it was recorded.
    pub text: Option<String>,
}

impl Stats {
    /// Summarizes these queries, which come earliest first.
    pub(crate) fn new(rows: &[QueryQuality], request: &StatsRequest, calibrated_at_ms: &BTreeMap<String, i64>) -> Self {
        let at = |row: &QueryQuality| moment(row.at_ms).to_string();
        let empty = rows.iter().filter(|row| row.kept == 0).count() as u64;
        let average = |of: fn(&QueryQuality) -> Option<u32>| mean(rows.iter().filter_map(of).map(f64::from));
        Stats {
            from: rows.first().map(at),
            to: rows.last().map(at),
            queries: rows.len() as u64,
            distinct_queries: rows.iter().map(|row| row.query_hash).collect::<HashSet<_>>().len() as u64,
            empty,
            empty_rate: if rows.is_empty() { 0.0 } else { empty as f64 / rows.len() as f64 },
            opened: OpenedCount::default(),
            judgements: Judgements::default(),
            shortened: rows.iter().filter(|row| row.returned < row.kept).count() as u64,
            lexical_candidates: average(|row| row.lexical_candidates),
            semantic_candidates: average(|row| row.semantic_candidates),
            candidates: average(|row| Some(row.candidates)),
            language_match_ratio: mean(rows.iter().filter_map(|row| row.language_match_ratio)),
            mean_kept_distance: mean(rows.iter().filter_map(|row| row.mean_kept_distance)),
            days: by_day(rows, &request.zone()),
            kept: Distribution::new(rows.iter().map(|row| f64::from(row.kept)), &KEPT),
            methods: shares(rows, |row| Some(row.threshold_method.clone())),
            gaps: Distribution::new(rows.iter().filter_map(|row| row.gap_size), &GAPS),
            latency: latency(rows),
            entry_points: shares(rows, |row| Some(row.entry_point.clone())),
            modes: shares(rows, |row| Some(row.mode.clone())),
            corpora: shares(rows, |row| Some(row.corpus.clone())),
            fallbacks: shares(rows, |row| row.fallback_reason.as_deref().map(without_numbers)),
            slowest: slowest(rows),
            drift: drifts(rows, calibrated_at_ms),
        }
    }
}

/// Groups the queries by the name that `name` gives each, most frequent first.
fn shares(rows: &[QueryQuality], name: impl Fn(&QueryQuality) -> Option<String>) -> Vec<Share> {
    let mut groups: BTreeMap<String, Vec<&QueryQuality>> = BTreeMap::new();
    for row in rows {
        if let Some(name) = name(row) {
            groups.entry(name).or_default().push(row);
        }
    }
    let share = |(name, rows): (String, Vec<&QueryQuality>)| Share {
        name,
        queries: rows.len() as u64,
        empty: rows.iter().filter(|row| row.kept == 0).count() as u64,
        mean_kept: mean(rows.iter().map(|row| f64::from(row.kept))).unwrap_or_default(),
    };
    let mut shares: Vec<Share> = groups.into_iter().map(share).collect();
    shares.sort_by_key(|share| std::cmp::Reverse(share.queries));
    shares
}

/// Replaces each separate number in a reason with `N`, so that reasons with different counts are equal. A number within
/// a name stays.
fn without_numbers(reason: &str) -> String {
    let plain = |word: &str| {
        let number = word.trim_matches(|c: char| c.is_ascii_punctuation());
        let digits = !number.is_empty() && number.chars().all(|c| c.is_ascii_digit() || ",.".contains(c));
        if digits { word.replacen(number, "N", 1) } else { word.to_owned() }
    };
    reason.split(' ').map(plain).collect::<Vec<_>>().join(" ")
}

/// The name of a stage. Older logs name one of them differently.
fn stage_name(stage: &str) -> &str {
    if stage == "beliefs" { "relevance_prior" } else { stage }
}

fn latency(rows: &[QueryQuality]) -> Vec<Latency> {
    let mut stages: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for row in rows {
        for (stage, &milliseconds) in &row.milliseconds {
            stages.entry(stage_name(stage)).or_default().push(milliseconds);
        }
        stages.entry("total").or_default().push(row.total_ms);
    }
    let last = STAGES.len() - 1;
    let place = |stage: &str| match STAGES.iter().position(|known| *known == stage) {
        Some(place) if place == last => last + 1,
        place => place.unwrap_or(last),
    };
    let mut latency: Vec<Latency> =
        stages.into_iter().filter_map(|(stage, milliseconds)| Latency::new(stage, milliseconds)).collect();
    latency.sort_by_key(|latency| place(&latency.stage));
    latency
}

fn slowest(rows: &[QueryQuality]) -> Vec<SlowQuery> {
    let mut slow: Vec<&QueryQuality> = rows.iter().collect();
    slow.sort_by(|a, b| b.total_ms.total_cmp(&a.total_ms));
    let query = |row: &QueryQuality| SlowQuery {
        at: moment(row.at_ms).to_string(),
        total_ms: row.total_ms,
        stage: row
            .milliseconds
            .iter()
            .max_by(|a, b| a.1.total_cmp(b.1))
            .map(|(stage, &ms)| (stage_name(stage).to_owned(), ms)),
        search_id: row.search_id.clone(),
        text: row.query_text.clone(),
    };
    slow.into_iter().take(SLOWEST).map(query).collect()
}

// Queries by day.

/// The most empty days listed in a row, so that a clock once decades off does not fill the list.
const LONGEST_PAUSE: usize = 3660;

/// The queries of one day.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Day {
    /// The day in the time zone of the request, `2026-11-22`.
    pub date: String,
    /// The number of queries.
    pub queries: u64,
    /// The number of queries that found nothing.
    pub empty: u64,
    /// Median number of candidates that the cut kept; `None` on a day without queries.
    pub kept_p50: Option<f64>,
    /// 95th percentile of the duration, in milliseconds; `None` on a day without queries.
    pub p95_ms: Option<f64>,
}

/// The timestamp of `at_ms`, milliseconds since 1970, clamped to the calendar's range.
pub(crate) fn moment(at_ms: i64) -> Timestamp {
    let end = if at_ms < 0 { Timestamp::MIN } else { Timestamp::MAX };
    Timestamp::from_millisecond(at_ms).unwrap_or(end)
}

/// Every day from the first with a query to the last, including days without any.
pub(crate) fn by_day(rows: &[QueryQuality], zone: &TimeZone) -> Vec<Day> {
    let mut days: BTreeMap<Date, Vec<&QueryQuality>> = BTreeMap::new();
    for row in rows {
        days.entry(zone.to_datetime(moment(row.at_ms)).date()).or_default().push(row);
    }
    let mut listed = Vec::new();
    let mut previous: Option<Date> = None;
    for (date, rows) in days {
        let pause = previous.and_then(|previous| previous.tomorrow().ok()).into_iter();
        let pause = pause.flat_map(|next| next.series(1.day())).take_while(|between| *between < date);
        listed.extend(pause.take(LONGEST_PAUSE).map(|date| day(date, &[])));
        listed.push(day(date, &rows));
        previous = Some(date);
    }
    listed
}

fn day(date: Date, rows: &[&QueryQuality]) -> Day {
    let kept = ascending(rows.iter().map(|row| f64::from(row.kept)));
    let total = ascending(rows.iter().map(|row| row.total_ms));
    Day {
        date: date.to_string(),
        queries: rows.len() as u64,
        empty: rows.iter().filter(|row| row.kept == 0).count() as u64,
        kept_p50: percentile(&kept, 0.5),
        p95_ms: percentile(&total, 0.95),
    }
}

// Percentiles and histograms of plain numbers.

/// The percentile of values in ascending order by nearest rank: the smallest value that at least the share `share` of
/// all values does not exceed. It is always one that occurred. `None` for no values.
pub(crate) fn percentile(ascending: &[f64], share: f64) -> Option<f64> {
    let rank = (share * ascending.len() as f64).ceil() as usize;
    ascending.get(rank.max(1) - 1).or(ascending.last()).copied()
}

/// The mean; `None` for no values.
pub(crate) fn mean(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let (count, sum) = values.into_iter().fold((0usize, 0.0), |(count, sum), value| (count + 1, sum + value));
    (count > 0).then(|| sum / count as f64)
}

/// The finite values in ascending order.
pub(crate) fn ascending(values: impl IntoIterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.into_iter().filter(|value| value.is_finite()).collect();
    values.sort_by(f64::total_cmp);
    values
}

/// The distribution of some values.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Distribution {
    /// The number of values.
    pub count: u64,
    /// The mean.
    pub mean: f64,
    /// The median. Percentiles are by nearest rank, so each is a value that occurred.
    pub p50: f64,
    /// The 90th percentile.
    pub p90: f64,
    /// The largest value.
    pub max: f64,
    /// The number of values in each range, without gaps, from the lowest nonempty range to the highest.
    pub histogram: Vec<Bucket>,
}

/// A range of a histogram.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Bucket {
    /// Its lower bound, inclusive.
    pub from: f64,
    /// Its upper bound, exclusive; `None`: unbounded.
    pub below: Option<f64>,
    /// The number of values in it.
    pub count: u64,
}

impl Distribution {
    /// Computes the distribution of the finite `values`. Ranges begin at each of `starts`, in ascending order; a value
    /// below the first start counts in the first range. `None` for no values.
    pub(crate) fn new(values: impl IntoIterator<Item = f64>, starts: &[f64]) -> Option<Self> {
        let values = ascending(values);
        let mean = mean(values.iter().copied())?;
        let at = |value: f64| starts.partition_point(|&start| start <= value).max(1) - 1;
        let last = at(*values.last()?);
        let ends = starts.iter().skip(1).map(|&end| Some(end)).chain([None]);
        let buckets = starts.iter().zip(ends).take(last + 1);
        let mut histogram: Vec<Bucket> = buckets.map(|(&from, below)| Bucket { from, below, count: 0 }).collect();
        for &value in &values {
            if let Some(bucket) = histogram.get_mut(at(value)) {
                bucket.count += 1;
            }
        }
        let at_share = |share| percentile(&values, share).unwrap_or_default();
        Some(Distribution {
            count: values.len() as u64,
            mean,
            p50: at_share(0.5),
            p90: at_share(0.9),
            max: at_share(1.0),
            histogram,
        })
    }
}

/// Durations of a stage, in milliseconds.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Latency {
    /// The stage of a search, or `total`.
    pub stage: String,
    /// The number of queries that went through the stage.
    pub queries: u64,
    /// The median.
    pub p50_ms: f64,
    /// The 95th percentile.
    pub p95_ms: f64,
    /// The 99th percentile.
    pub p99_ms: f64,
    /// The longest duration.
    pub max_ms: f64,
}

impl Latency {
    /// Computes the percentiles of the finite `milliseconds`; `None` for no values.
    pub(crate) fn new(stage: &str, milliseconds: impl IntoIterator<Item = f64>) -> Option<Self> {
        let values = ascending(milliseconds);
        Some(Latency {
            stage: stage.to_owned(),
            queries: values.len() as u64,
            p50_ms: percentile(&values, 0.5)?,
            p95_ms: percentile(&values, 0.95)?,
            p99_ms: percentile(&values, 0.99)?,
            max_ms: percentile(&values, 1.0)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn row(at_ms: i64, method: &str, kept: u32, total_ms: f64) -> QueryQuality {
        QueryQuality {
            at_ms,
            query_hash: [(at_ms % 3) as u8; 32],
            threshold_method: method.into(),
            entry_point: "cli".into(),
            mode: "hybrid".into(),
            corpus: "all".into(),
            candidates: 10,
            kept,
            returned: kept.min(4),
            milliseconds: [("gather".to_owned(), total_ms / 2.0), ("cut".to_owned(), 0.5), ("odd".to_owned(), 0.1)]
                .into(),
            total_ms,
            ..QueryQuality::default()
        }
    }

    fn rows() -> Vec<QueryQuality> {
        vec![row(0, "auto", 2, 10.0), row(1, "gate", 0, 4.0), row(2, "auto", 6, 30.0), row(3, "adaptive", 1, 8.0)]
    }

    #[test]
    fn figures_by_hand() {
        let mut rows = rows();
        rows[0].lexical_candidates = Some(4);
        rows[2].lexical_candidates = Some(8);
        rows[3].gap_size = Some(0.15);
        let stats = Stats::new(&rows, &StatsRequest::default(), &BTreeMap::new());
        assert_eq!((stats.queries, stats.distinct_queries, stats.empty, stats.empty_rate), (4, 3, 1, 0.25));
        assert_eq!((stats.shortened, stats.candidates, stats.lexical_candidates), (1, Some(10.0), Some(6.0)));
        assert_eq!((stats.semantic_candidates, stats.language_match_ratio), (None, None));
        assert_eq!(stats.from.as_deref(), Some("1970-01-01T00:00:00Z"));
        assert_eq!(stats.to.as_deref(), Some("1970-01-01T00:00:00.003Z"));
        let methods: Vec<_> = stats.methods.iter().map(|m| (&*m.name, m.queries, m.empty, m.mean_kept)).collect();
        assert_eq!(methods, [("auto", 2, 0, 4.0), ("adaptive", 1, 0, 1.0), ("gate", 1, 1, 0.0)]);
        let kept = stats.kept.expect("four queries");
        let counts: Vec<(f64, u64)> = kept.histogram.iter().map(|bucket| (bucket.from, bucket.count)).collect();
        assert_eq!(counts, [(0.0, 1), (1.0, 1), (2.0, 1), (3.0, 0), (5.0, 1)]);
        assert_eq!(stats.gaps.expect("one").max, 0.15);
    }

    #[test]
    fn latency_is_by_stage_in_order_with_the_slowest_queries() {
        let latency = latency(&rows());
        let stages: Vec<&str> = latency.iter().map(|latency| latency.stage.as_str()).collect();
        assert_eq!(stages, ["gather", "cut", "odd", "total"]);
        let total = latency.last().expect("a total");
        assert_eq!((total.p50_ms, total.p95_ms, total.max_ms, total.queries), (8.0, 30.0, 30.0, 4));

        let mut old = row(0, "auto", 2, 10.0);
        old.milliseconds = [("beliefs".to_owned(), 4.0), ("cut".to_owned(), 1.0)].into();
        let mut new = old.clone();
        new.milliseconds = [("relevance_prior".to_owned(), 2.0)].into();
        let rows = [old, new];
        let latency = self::latency(&rows);
        assert_eq!((latency[0].stage.as_str(), latency[0].queries, latency[0].max_ms), ("relevance_prior", 2, 4.0));
        assert_eq!(slowest(&rows)[0].stage, Some(("relevance_prior".to_owned(), 4.0)));

        let slow = slowest(&self::rows());
        assert_eq!((slow[0].total_ms, slow[0].stage.clone()), (30.0, Some(("gather".to_owned(), 15.0))));
        assert_eq!(slow.last().expect("four").total_ms, 4.0);
    }

    #[test]
    fn fallbacks_are_one_by_their_words_and_nothing_gives_nothing() {
        let mut rows = rows();
        rows[0].fallback_reason = Some("minilm-l6-v2 covers 12 of 1,300 passages; run `tamis index`".into());
        rows[1].fallback_reason = Some("minilm-l6-v2 covers 40 of 1300 passages; run `tamis index`".into());
        let stats = Stats::new(&rows, &StatsRequest::default(), &BTreeMap::new());
        assert_eq!(stats.fallbacks.len(), 1);
        assert_eq!(stats.fallbacks[0].name, "minilm-l6-v2 covers N of N passages; run `tamis index`");
        assert_eq!((stats.fallbacks[0].queries, stats.fallbacks[0].empty), (2, 1));

        let stats = Stats::new(&[], &StatsRequest::default(), &BTreeMap::new());
        assert_eq!((stats.queries, stats.empty_rate, stats.from, stats.kept), (0, 0.0, None, None));
        assert!(stats.days.is_empty() && stats.latency.is_empty() && stats.drift.is_empty());
    }

    #[test]
    fn distributions_and_latencies_by_hand() {
        let values: Vec<f64> = (1..=20).map(f64::from).collect();
        let at = |share| percentile(&values, share);
        assert_eq!((at(0.5), at(0.95), at(0.99), at(1.0)), (Some(10.0), Some(19.0), Some(20.0), Some(20.0)));
        assert_eq!((at(0.0), at(0.05), at(0.051)), (Some(1.0), Some(1.0), Some(2.0)));
        assert_eq!([percentile(&[7.0], 0.99), percentile(&[], 0.5)], [Some(7.0), None]);

        let values = [0.0, 1.0, 1.0, 3.0, 5.0, f64::NAN];
        let distribution = Distribution::new(values, &[0.0, 1.0, 2.0, 4.0, 8.0]).expect("five values");
        assert_eq!((distribution.count, distribution.mean, distribution.p50), (5, 2.0, 1.0));
        assert_eq!((distribution.p90, distribution.max), (5.0, 5.0));
        let expected = [(0.0, 1.0, 1), (1.0, 2.0, 2), (2.0, 4.0, 1), (4.0, 8.0, 1)];
        let expected = expected.map(|(from, below, count)| Bucket { from, below: Some(below), count });
        assert_eq!(distribution.histogram, expected, "no empty ranges behind the last value");
        assert_eq!(Distribution::new([f64::NAN], &[0.0]), None);

        let distribution = Distribution::new([-1.0, 99.0], &[0.0, 1.0]).expect("two values");
        let counts: Vec<_> = distribution.histogram.iter().map(|bucket| (bucket.below, bucket.count)).collect();
        assert_eq!(counts, [(Some(1.0), 1), (None, 1)]);

        let latency = Latency::new("cut", (1..=200).map(f64::from)).expect("values");
        assert_eq!((latency.p50_ms, latency.p95_ms, latency.p99_ms), (100.0, 190.0, 198.0));
        assert_eq!((latency.max_ms, latency.queries), (200.0, 200));
    }

    proptest! {
        #[test]
        fn every_value_is_counted_once(values in prop::collection::vec(-5.0f64..200.0, 1..60)) {
            let distribution = Distribution::new(values.iter().copied(), &[0.0, 1.0, 8.0, 64.0]).expect("values");
            prop_assert_eq!(distribution.histogram.iter().map(|bucket| bucket.count).sum::<u64>(), values.len() as u64);
            prop_assert!(values.contains(&distribution.p50) && values.contains(&distribution.p90));
            prop_assert!(distribution.p50 <= distribution.p90 && distribution.p90 <= distribution.max);
        }
    }
}

#[cfg(test)]
mod days_tests {
    use super::*;

    fn row(at: &str, kept: u32, total_ms: f64) -> QueryQuality {
        let at_ms = at.parse::<Timestamp>().expect("a time").as_millisecond();
        QueryQuality { at_ms, kept, total_ms, ..QueryQuality::default() }
    }

    #[test]
    fn days_of_the_zone_by_hand_with_those_between() {
        let rows = [
            row("2026-02-27T00:00:00Z", 3, 10.0),
            row("2026-02-27T23:59:59.999Z", 0, 30.0),
            row("2026-02-27T12:00:00Z", 5, 20.0),
            row("2026-03-02T08:00:00Z", 1, 5.0),
        ];
        let days = by_day(&rows, &TimeZone::UTC);
        let dates: Vec<&str> = days.iter().map(|day| day.date.as_str()).collect();
        assert_eq!(dates, ["2026-02-27", "2026-02-28", "2026-03-01", "2026-03-02"]);
        let first = Day { date: "2026-02-27".into(), queries: 3, empty: 1, kept_p50: Some(3.0), p95_ms: Some(30.0) };
        assert_eq!(days[0], first);
        assert_eq!((days[1].queries, days[1].kept_p50, days[1].p95_ms), (0, None, None));

        let rows = [row("2026-11-21T23:30:00Z", 1, 1.0), row("2026-11-22T00:30:00Z", 1, 1.0)];
        let east = TimeZone::fixed(jiff::tz::offset(1));
        assert_eq!(by_day(&rows, &TimeZone::UTC).len(), 2);
        let days = by_day(&rows, &east);
        assert_eq!((days.len(), days[0].date.as_str(), days[0].queries), (1, "2026-11-22", 2));

        let far = |at_ms| QueryQuality { at_ms, ..QueryQuality::default() };
        let days = by_day(&[far(i64::MIN), far(0), far(i64::MAX)], &TimeZone::UTC);
        assert!(days.len() <= 3 + 2 * LONGEST_PAUSE);
        assert_eq!(days.iter().map(|day| day.queries).sum::<u64>(), 3);
        assert_eq!(by_day(&[], &TimeZone::UTC), []);
    }
}
