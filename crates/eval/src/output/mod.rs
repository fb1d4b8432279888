//! The forms of a report for people and spreadsheets: tables, Markdown, CSV and one HTML page.

pub mod html;
mod table;

use csv::{Terminator, Writer, WriterBuilder};

use crate::bootstrap::Difference;
use crate::report::{CollectionReport, Report};

pub use table::{NO_FIGURE, Table, difference_cell};

// The report as comma-separated values, one figure per row, for spreadsheets and data frames.

const HEADER: [&str; 10] =
    ["scope", "collection", "model", "method", "reference", "metric", "value", "difference", "low", "high"];

impl Report {
    /// One row per figure, with a header (RFC 4180, lines ending in CR LF).
    ///
    /// `scope` is `collection` for a method on a collection, `mean` for a method over all collections, `ranking` for the
    /// order of a collection's pools, and `queries` for the number of queries of each kind. `difference` compares with the
    /// baseline, and `low` to `high` is its 95% interval. Fields that do not apply are empty. Numbers have all their digits.
    pub fn csv(&self) -> String {
        let rows = self.rows().expect("memory takes every row, and all rows are as long as the header");
        String::from_utf8(rows).expect("every field is text")
    }

    fn rows(&self) -> Result<Vec<u8>, csv::Error> {
        let mut writer = WriterBuilder::new().terminator(Terminator::CRLF).from_writer(Vec::new());
        writer.write_record(HEADER)?;
        for collection in &self.collections {
            collection_rows(collection, &mut writer)?;
        }
        for method in &self.overall {
            for (metric, value) in &method.figures {
                let names = ["mean", "", "", &method.name, truth(method.reference), metric.name()];
                figure(&mut writer, names, *value, method.differences.get(metric))?;
            }
        }
        writer.into_inner().map_err(|error| error.into_error().into())
    }
}

fn collection_rows(collection: &CollectionReport, writer: &mut Writer<Vec<u8>>) -> Result<(), csv::Error> {
    let name = collection.name.as_str();
    let model = collection.model.as_deref().unwrap_or_default();
    let counts = [
        ("answerable", collection.answerable),
        ("unanswerable", collection.unanswerable),
        ("foreign", collection.foreign),
    ];
    for (kind, count) in counts {
        figure(writer, ["queries", name, model, "", "", kind], count as f64, None)?;
    }
    for (metric, value) in &collection.ranking {
        figure(writer, ["ranking", name, model, "", "", metric], *value, None)?;
    }
    for method in &collection.methods {
        for (metric, value) in &method.figures {
            let names = ["collection", name, model, &method.name, truth(method.reference), metric.name()];
            figure(writer, names, *value, method.differences.get(metric))?;
        }
    }
    Ok(())
}

fn truth(value: bool) -> &'static str {
    if value { "true" } else { "false" }
}

fn figure(
    writer: &mut Writer<Vec<u8>>,
    names: [&str; 6],
    value: f64,
    difference: Option<&Difference>,
) -> Result<(), csv::Error> {
    let bound = |of: fn(&Difference) -> Option<f64>| difference.and_then(of);
    let numbers = [Some(value), bound(|it| Some(it.estimate)), bound(|it| it.low), bound(|it| it.high)];
    let numbers = numbers.map(|number| number.map_or(String::new(), |number| number.to_string()));
    writer.write_record(names.into_iter().chain(numbers.iter().map(String::as_str)))
}

// The report in Markdown: tables that read well as plain text too.

impl Report {
    /// The tables with their notes, as one Markdown document.
    pub fn markdown(&self) -> String {
        let mut text = format!("# Evaluation of cuts\n\n{}\n", self.preface());
        for table in self.tables() {
            text.push_str(&format!("\n## {}\n\n{}", table.title, table.markdown()));
        }
        text
    }

    /// Two sentences on how the report was made.
    pub(crate) fn preface(&self) -> String {
        let options = &self.options;
        let queries: usize = self.collections.iter().map(|collection| collection.queries.len()).sum();
        let counted = |count: usize, one: &str, many: &str| format!("{count} {}", if count == 1 { one } else { many });
        let intervals = match options.resamples {
            0 => "without intervals".to_owned(),
            resamples => format!("with paired bootstrap intervals from {resamples} resamples"),
        };
        format!(
            "{} over {}, seed {}, {intervals}. The methods `fixed-k` keep the same number for every query; `fixed-fitted` \
             the best such number, fitted on other queries; `fixed-known` the best with the answers known; `oracle` each \
             query's best.",
            counted(queries, "query", "queries"),
            counted(self.collections.len(), "collection", "collections"),
            options.seed,
        )
    }
}

#[cfg(test)]
mod tests {
    use crate::{Metric, Options, Report, evaluate, example};

    #[test]
    fn names_with_commas_quotes_and_lines_come_back() {
        let mut collections = example::collections();
        let nasty = "a,b \"c\"\r\nd";
        collections[0].name = nasty.into();
        let csv = evaluate(&collections, &Options::default()).unwrap().csv();
        assert!(csv.starts_with("scope,"), "{csv}");
        assert!(csv.contains("\r\nqueries,\"a,b \"\"c\"\"\r\nd\",words,,,answerable,"), "{csv}");
        let mut reader = csv::Reader::from_reader(csv.as_bytes());
        assert!(reader.records().any(|record| &record.unwrap()[1] == nasty));
    }

    fn report() -> Report {
        let options = Options { resamples: 200, baseline: "generous".into(), ..Options::default() };
        evaluate(&example::collections(), &options).unwrap()
    }

    #[test]
    fn markdown_of_a_small_evaluation() {
        insta::assert_snapshot!(report().markdown());
    }

    #[test]
    fn csv_of_a_small_evaluation() {
        let csv = report().csv();
        let lines: Vec<&str> = csv.lines().collect();
        assert_eq!(lines[0], "scope,collection,model,method,reference,metric,value,difference,low,high");
        assert!(lines.iter().all(|line| line.split(',').count() == 10));
        let kept = lines.iter().find(|line| line.starts_with("collection,second,,fixed-3,true,kept,")).unwrap();
        assert!(kept.starts_with("collection,second,,fixed-3,true,kept,3,-"), "{kept}");
        let metrics = lines.iter().filter(|line| line.starts_with("mean,,,cautious,false,")).count();
        assert_eq!(metrics, Metric::ALL.len() - 1, "everything but the time");
    }

    #[test]
    fn json_comes_back_with_the_same_bytes_and_what_is_no_report_is_refused_by_name() {
        let json = report().to_json().unwrap();
        assert_eq!(json, report().to_json().unwrap());
        assert_eq!(Report::from_json("a.json", &json).unwrap(), report());
        let other = evaluate(&example::collections(), &Options { seed: 1, ..report().options }).unwrap();
        assert_ne!(other.overall, report().overall);
        let error = |text| Report::from_json("a.json", text).unwrap_err().to_string();
        assert!(error("{").starts_with("a.json is not an evaluation report: EOF"), "{}", error("{"));
        assert!(error("{}").contains("missing field `format`"));
        assert_eq!(error("{\"format\": 9}"), "a.json has report format 9, and this version reads 1; evaluate again");
    }
}
