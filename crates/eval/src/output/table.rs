//! Tables of a report, before Markdown, HTML or a terminal give them a form.

use std::collections::BTreeSet;

use crate::bootstrap::Difference;
use crate::metrics::Metric;
use crate::report::{CollectionReport, Overall, Report};

/// The mark in place of a missing figure.
pub const NO_FIGURE: &str = "–";

/// A table of text: a name in the first column, figures in the others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// Title in a few words.
    pub title: String,
    /// One or two sentences on reading it; may be empty.
    pub note: String,
    /// Heads of the columns.
    pub header: Vec<String>,
    /// Rows as wide as the header.
    pub rows: Vec<Vec<String>>,
    /// Number of first rows for given methods; the others are for reference methods.
    pub given: usize,
}

impl Table {
    /// The table in Markdown, without its title: the note, then the rows, figures aligned to the right.
    pub fn markdown(&self) -> String {
        let mut text = String::new();
        if !self.note.is_empty() {
            text.push_str(&self.note);
            text.push_str("\n\n");
        }
        let line = |cells: &[String]| {
            let cells: Vec<String> = cells.iter().map(|cell| markdown_cell(cell)).collect();
            format!("| {} |\n", cells.join(" | "))
        };
        text.push_str(&line(&self.header));
        let aligned: Vec<&str> =
            (0..self.header.len()).map(|column| if column == 0 { "---" } else { "---:" }).collect();
        text.push_str(&format!("| {} |\n", aligned.join(" | ")));
        self.rows.iter().for_each(|row| text.push_str(&line(row)));
        text
    }
}

/// The text as one cell of a Markdown table, whatever it holds.
pub fn markdown_cell(text: &str) -> String {
    let mut cell = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let within_word = |next: Option<&char>| {
            cell.ends_with(char::is_alphanumeric) && next.is_some_and(|next| next.is_alphanumeric())
        };
        match character {
            '\n' | '\r' => cell.push(' '),
            // Markdown ignores an underscore inside a word.
            '_' if within_word(characters.peek()) => cell.push('_'),
            '_' | '|' | '\\' | '`' | '*' | '<' | '>' | '[' | ']' | '&' => cell.extend(['\\', character]),
            other => cell.push(other),
        }
    }
    cell
}

impl Report {
    /// The collections: the number of queries of each kind, and the quality of their pools' order.
    pub fn collection_table(&self) -> Table {
        let names: BTreeSet<&String> =
            self.collections.iter().flat_map(|collection| collection.ranking.keys()).collect();
        // Depths sort by size, not by name.
        let mut names: Vec<&String> = names.into_iter().collect();
        names.sort_by_key(|name| {
            let (metric, depth) = name.rsplit_once("_at_").unwrap_or((name, "0"));
            (["ndcg", "recall", "map", "mrr"].iter().position(|known| *known == metric), depth.parse::<usize>().ok())
        });
        let heads = names.iter().map(|name| match name.split_once("_at_") {
            Some(("ndcg", depth)) => format!("nDCG@{depth}"),
            Some((metric, depth)) => format!("{metric}@{depth}"),
            None => name.to_uppercase(),
        });
        let fixed = ["collection", "retrieved by", "answerable", "unanswerable", "foreign"].map(String::from);
        let row = |collection: &CollectionReport| {
            let counts = [collection.answerable, collection.unanswerable, collection.foreign];
            let figures = names
                .iter()
                .map(|name| collection.ranking.get(*name).map_or(NO_FIGURE.to_owned(), |value| format!("{value:.3}")));
            [collection.name.clone(), collection.model.clone().unwrap_or(NO_FIGURE.to_owned())]
                .into_iter()
                .chain(counts.iter().map(usize::to_string))
                .chain(figures)
                .collect()
        };
        Table {
            title: "Collections".into(),
            note: "Queries by kind, and the ranking of the answerable ones before any cut.".into(),
            header: fixed.into_iter().chain(heads).collect(),
            rows: self.collections.iter().map(row).collect(),
            given: 0,
        }
    }

    /// One metric of every method: on every collection, its mean, and the difference of the mean from the baseline.
    pub fn comparison_table(&self, metric: Metric) -> Table {
        let mut header = vec!["method".to_owned()];
        header.extend(self.collections.iter().map(|collection| collection.name.clone()));
        header.push("mean".into());
        let paired = Metric::PAIRED.contains(&metric);
        if paired {
            header.push(format!("less {}", self.options.baseline));
        }
        let row = |method: &Overall| {
            let mut row = vec![method.name.clone()];
            row.extend(self.collections.iter().map(|collection| {
                let figure = collection.method(&method.name).and_then(|method| method.figures.get(&metric));
                figure.map_or(NO_FIGURE.to_owned(), |&value| metric.format(value))
            }));
            row.push(self.mean_cell(&method.name, metric));
            if paired {
                row.push(
                    method.differences.get(&metric).map_or(NO_FIGURE.to_owned(), |it| difference_cell(metric, it)),
                );
            }
            row
        };
        let (rows, given) = self.method_rows(row);
        let interval = match self.options.resamples {
            _ if !paired => String::new(),
            0 => format!(" The last column is the mean less that of {}.", self.options.baseline),
            _ => format!(" The last column is the mean less that of {}, with its 95% interval.", self.options.baseline),
        };
        Table {
            title: metric.title(self.options.beta),
            note: format!("{}{interval}", metric.description()),
            header,
            rows,
            given,
        }
    }

    /// Every method averaged over the collections, on the metrics of `metrics` that any method has.
    pub fn mean_table(&self, title: &str, note: &str, metrics: &[Metric]) -> Table {
        let metrics: Vec<Metric> = metrics
            .iter()
            .copied()
            .filter(|metric| self.overall.iter().any(|method| method.figures.contains_key(metric)))
            .collect();
        let (rows, given) = self.method_rows(|method| {
            let figures = metrics.iter().map(|&metric| self.mean_cell(&method.name, metric));
            std::iter::once(method.name.clone()).chain(figures).collect()
        });
        let heads = metrics.iter().map(|metric| metric.head(self.options.beta));
        Table {
            title: title.into(),
            note: note.into(),
            header: std::iter::once("method".to_owned()).chain(heads).collect(),
            rows,
            given,
        }
    }

    /// The rows of the methods that have any figure, and the number of those that are given.
    fn method_rows(&self, row: impl Fn(&Overall) -> Vec<String>) -> (Vec<Vec<String>>, usize) {
        let rows = self.overall.iter().map(|method| (method, row(method)));
        let rows: Vec<_> = rows.filter(|(_, row)| row.iter().skip(1).any(|cell| cell != NO_FIGURE)).collect();
        let given = rows.iter().filter(|(method, _)| !method.reference).count();
        (rows.into_iter().map(|(_, row)| row).collect(), given)
    }

    /// The tables that Markdown and HTML show, in order, without empty ones.
    pub fn tables(&self) -> Vec<Table> {
        use Metric::*;
        let mut metrics = vec![RelativeF1, ShareOfBestF1, F1, Precision, Recall, PenalisedDcg, Kept, CharactersKept];
        let mut in_pool = vec![F1, F1InPool, Recall, RecallInPool];
        if self.options.beta != 1.0 {
            metrics.insert(2, FBeta);
            in_pool.extend([FBeta, FBetaInPool]);
        }
        let answerable = "Means over the answerable queries of each collection, then over collections.";
        let empty = "Shares of queries that came back empty: right where nothing answers them, wrong where something does. \
            F1 over every query counts an empty answer to a query without one as 1.";
        let tables = [
            self.collection_table(),
            self.comparison_table(RelativeF1),
            self.comparison_table(ShareOfBestF1),
            self.mean_table("What is kept", answerable, &metrics),
            self.mean_table(
                "Knowing when there is nothing",
                empty,
                &[
                    AnswerableEmpty, UnanswerableEmpty, ForeignEmpty, F1EveryQuery, GateAurocUnanswerable,
                    GateAurocForeign,
                ],
            ),
            self.mean_table(
                "Against all relevant, and against those found",
                "The second of each pair forgives the cut what retrieval missed.",
                &in_pool,
            ),
            self.mean_table(
                "Probabilities",
                "Errors of the probabilities of relevance; less is better.",
                &[CalibrationError, Brier, LogLoss],
            ),
            self.mean_table(
                "Stability over retrieval depth",
                "The change in the number kept when retrieval goes less deep than the deepest tried.",
                &[DepthChange, DepthUnchanged],
            ),
            self.mean_table("Time", "Mean time of a decision in microseconds.", &[Microseconds]),
        ];
        tables.into_iter().filter(|table| !table.rows.is_empty()).collect()
    }

    fn mean_cell(&self, method: &str, metric: Metric) -> String {
        let Some(method) = self.method(method) else { return NO_FIGURE.to_owned() };
        let Some(&value) = method.figures.get(&metric) else { return NO_FIGURE.to_owned() };
        let has_metric = |collection: &&CollectionReport| {
            collection.methods.iter().any(|method| method.figures.contains_key(&metric))
        };
        let (over, of) = (method.collections.get(&metric), self.collections.iter().filter(has_metric).count());
        match over {
            Some(&over) if over < of => format!("{} ({over} of {of})", metric.format(value)),
            _ => metric.format(value),
        }
    }
}

/// A difference with its sign and its interval.
pub fn difference_cell(metric: Metric, difference: &Difference) -> String {
    let signed = |value: f64| {
        let text = metric.format(value.abs());
        let is_zero = text.bytes().all(|byte| matches!(byte, b'0' | b'.'));
        let sign = if value < 0.0 { "−" } else { "+" };
        if is_zero { text } else { format!("{sign}{text}") }
    };
    if difference.is_nothing() {
        return "same".into();
    }
    match (difference.low, difference.high) {
        (Some(low), Some(high)) => format!("{} ({} to {})", signed(difference.estimate), signed(low), signed(high)),
        _ => signed(difference.estimate),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_hold_any_text() {
        assert_eq!(markdown_cell("a|b\n<i>*max_gap _x_`"), "a\\|b \\<i\\>\\*max_gap \\_x\\_\\`");
    }

    #[test]
    fn differences_are_signed_once_they_show() {
        let cell = |estimate, low, high| difference_cell(Metric::F1, &Difference { estimate, low, high });
        assert_eq!(cell(0.0123, Some(-0.01), Some(0.0351)), "+0.012 (−0.010 to +0.035)");
        assert_eq!(cell(-0.0001, None, None), "0.000");
    }
}
