//! Counts of the server's work, in the text format of Prometheus.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Upper bounds of the histogram of durations, in seconds.
const BOUNDS: [f64; 13] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0];

/// Counts of requests and searches since the start.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    counts: Mutex<Counts>,
}

#[derive(Debug, Default)]
struct Counts {
    /// By route, method and status.
    requests: BTreeMap<(String, &'static str, u16), u64>,
    /// By route.
    durations: BTreeMap<String, Histogram>,
    /// By route and tool; the routes of the API have no tool.
    searches: BTreeMap<(&'static str, &'static str), Searches>,
    /// By tool: answered calls, and calls that ended with an error.
    tools: BTreeMap<String, [u64; 2]>,
}

#[derive(Debug, Default)]
struct Histogram {
    buckets: [u64; BOUNDS.len()],
    count: u64,
    seconds: f64,
}

#[derive(Debug, Default)]
struct Searches {
    count: u64,
    kept: u64,
    empty: u64,
}

/// The state of the index at the time of a report.
#[derive(Clone, Debug, Default)]
pub(crate) struct IndexState {
    /// The name of the phase of the background work.
    pub phase: &'static str,
    /// Number of documents, passages and calls in progress.
    pub documents: u64,
    pub passages: u64,
    pub active_calls: u64,
    /// Time of the last change, in milliseconds since 1970.
    pub last_change_ms: Option<i64>,
    /// Passages with a vector, by model.
    pub embedded: Vec<(String, u64)>,
}

/// The phases, each of which has a line.
const PHASES: [&str; 5] = ["off", "indexing", "embedding", "fresh", "failed"];

/// A method as a label. Clients can invent others, which must not fill the memory.
pub(crate) fn method_label(method: &str) -> &'static str {
    ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"]
        .into_iter()
        .find(|&known| known == method)
        .unwrap_or("other")
}

impl Metrics {
    /// Counts a request.
    pub fn request(&self, route: &str, method: &str, status: u16, took: Duration) {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        *counts.requests.entry((route.to_owned(), method_label(method), status)).or_default() += 1;
        let histogram = counts.durations.entry(route.to_owned()).or_default();
        let seconds = took.as_secs_f64();
        if let Some(bucket) = BOUNDS.iter().position(|&bound| seconds <= bound) {
            histogram.buckets[bucket] += 1;
        }
        histogram.count += 1;
        histogram.seconds += seconds;
    }

    /// Counts a call of a known tool.
    pub fn tool(&self, name: &str, answered: bool) {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        counts.tools.entry(name.to_owned()).or_default()[usize::from(!answered)] += 1;
    }

    /// Counts an answered search that kept this many. `tool` is empty for a route of the API.
    pub fn search(&self, route: &'static str, tool: &'static str, kept: usize) {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let searches = counts.searches.entry((route, tool)).or_default();
        searches.count += 1;
        searches.kept += kept as u64;
        searches.empty += u64::from(kept == 0);
    }

    /// The report.
    pub fn text(&self, index: &IndexState) -> String {
        let counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let mut text = String::new();
        head(&mut text, "tamis_http_requests_total", "counter", "Requests by route, method and status.");
        for ((route, method, status), count) in &counts.requests {
            let labels = format!("route=\"{}\",method=\"{method}\",status=\"{status}\"", escaped(route));
            line(&mut text, "tamis_http_requests_total", &labels, *count as f64);
        }
        head(&mut text, "tamis_http_request_duration_seconds", "histogram", "Time until an answer is ready, by route.");
        for (route, histogram) in &counts.durations {
            let route = escaped(route);
            let mut below = 0;
            for (bound, bucket) in BOUNDS.iter().zip(histogram.buckets) {
                below += bucket;
                let labels = format!("route=\"{route}\",le=\"{bound}\"");
                line(&mut text, "tamis_http_request_duration_seconds_bucket", &labels, below as f64);
            }
            let all = format!("route=\"{route}\",le=\"+Inf\"");
            line(&mut text, "tamis_http_request_duration_seconds_bucket", &all, histogram.count as f64);
            let labels = format!("route=\"{route}\"");
            line(&mut text, "tamis_http_request_duration_seconds_sum", &labels, histogram.seconds);
            line(&mut text, "tamis_http_request_duration_seconds_count", &labels, histogram.count as f64);
        }
        type Figure = fn(&Searches) -> u64;
        let figures: [(&str, &str, Figure); 3] = [
            ("tamis_searches_total", "Answered searches by route and tool.", |searches| searches.count),
            ("tamis_searches_empty_total", "Searches that kept nothing.", |searches| searches.empty),
            ("tamis_search_kept_total", "Candidates that cuts kept.", |searches| searches.kept),
        ];
        for (name, meaning, figure) in figures {
            head(&mut text, name, "counter", meaning);
            for ((route, tool), searches) in &counts.searches {
                let tool = if tool.is_empty() { String::new() } else { format!(",tool=\"{}\"", escaped(tool)) };
                line(&mut text, name, &format!("route=\"{}\"{tool}", escaped(route)), figure(searches) as f64);
            }
        }
        head(&mut text, "tamis_tool_calls_total", "counter", "Calls of tools of the protocol for agents, by outcome.");
        for (tool, calls) in &counts.tools {
            for (outcome, count) in ["answered", "error"].into_iter().zip(calls) {
                let labels = format!("tool=\"{}\",outcome=\"{outcome}\"", escaped(tool));
                line(&mut text, "tamis_tool_calls_total", &labels, *count as f64);
            }
        }
        drop(counts);
        index.write(&mut text);
        text
    }
}

impl IndexState {
    fn write(&self, text: &mut String) {
        head(text, "tamis_index_phase", "gauge", "1 for the phase of the background work.");
        for phase in PHASES {
            line(text, "tamis_index_phase", &format!("phase=\"{phase}\""), f64::from(u8::from(phase == self.phase)));
        }
        for (name, meaning, value) in [
            ("tamis_index_documents", "Documents in the index.", Some(self.documents as f64)),
            ("tamis_index_passages", "Passages in the index.", Some(self.passages as f64)),
            ("tamis_active_calls", "Calls in progress.", Some(self.active_calls as f64)),
            (
                "tamis_index_last_change_timestamp_seconds",
                "Time of the last change of the index.",
                self.last_change_ms.map(|at| at as f64 / 1000.0),
            ),
        ] {
            head(text, name, "gauge", meaning);
            if let Some(value) = value {
                line(text, name, "", value);
            }
        }
        head(text, "tamis_index_embedded_passages", "gauge", "Passages with a vector, by model.");
        for (model, embedded) in &self.embedded {
            line(text, "tamis_index_embedded_passages", &format!("model=\"{}\"", escaped(model)), *embedded as f64);
        }
    }
}

fn head(text: &mut String, name: &str, kind: &str, meaning: &str) {
    let _ = writeln!(text, "# HELP {name} {meaning}\n# TYPE {name} {kind}");
}

fn line(text: &mut String, name: &str, labels: &str, value: f64) {
    let labels = if labels.is_empty() { String::new() } else { format!("{{{labels}}}") };
    let _ = writeln!(text, "{name}{labels} {value}");
}

/// A label's value with its quotes, backslashes and line ends as escapes.
fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_by_hand() {
        let metrics = Metrics::default();
        metrics.request("/v1/search", "GET", 200, Duration::from_millis(3));
        metrics.request("/v1/search", "GET", 200, Duration::from_millis(30));
        metrics.request("/v1/search", "BREW", 405, Duration::from_secs(20));
        metrics.search("/v1/search", "", 4);
        metrics.search("/mcp", "search", 2);
        let embedded = vec![("a\"b".into(), 2)];
        let fresh = IndexState { phase: "fresh", documents: 3, ..IndexState::default() };
        let state = IndexState { last_change_ms: Some(1500), embedded, ..fresh };
        let text = metrics.text(&state);
        for expected in [
            "tamis_http_requests_total{route=\"/v1/search\",method=\"other\",status=\"405\"} 1\n",
            "tamis_http_request_duration_seconds_bucket{route=\"/v1/search\",le=\"0.0025\"} 0\n",
            "tamis_http_request_duration_seconds_bucket{route=\"/v1/search\",le=\"0.005\"} 1\n",
            "tamis_http_request_duration_seconds_bucket{route=\"/v1/search\",le=\"10\"} 2\n",
            "tamis_http_request_duration_seconds_bucket{route=\"/v1/search\",le=\"+Inf\"} 3\n",
            "tamis_search_kept_total{route=\"/v1/search\"} 4\n",
            "tamis_search_kept_total{route=\"/mcp\",tool=\"search\"} 2\n",
            "tamis_index_phase{phase=\"fresh\"} 1\n",
            "tamis_index_phase{phase=\"failed\"} 0\n",
            "tamis_index_documents 3\n",
            "tamis_index_last_change_timestamp_seconds 1.5\n",
            "tamis_index_embedded_passages{model=\"a\\\"b\"} 2\n",
        ] {
            assert!(text.contains(expected), "{expected} is not in:\n{text}");
        }
        let is_sample = |line: &str| line.rsplit_once(' ').is_some_and(|(_, value)| value.parse::<f64>().is_ok());
        assert!(text.lines().all(|line| line.starts_with("# ") || is_sample(line)), "{text}");
    }
}
