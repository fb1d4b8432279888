//! The report as comma-separated values, one figure per row, for spreadsheets and data frames.

use csv::{Terminator, Writer, WriterBuilder};

use crate::report::{CollectionReport, Report};
use crate::resample::Difference;

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

#[cfg(test)]
mod tests {
    use crate::{Options, evaluate, example};

    #[test]
    fn names_with_commas_quotes_and_lines_come_back() {
        let mut collections = example::collections();
        let nasty = "a,b \"c\"\r\nd";
        collections[0].name = nasty.into();
        let csv = evaluate(&collections, &Options::default()).unwrap().csv();
        assert!(
            csv.starts_with("scope,") && csv.contains("\r\nqueries,\"a,b \"\"c\"\"\r\nd\",words,,,answerable,"),
            "{csv}"
        );
        let mut reader = csv::Reader::from_reader(csv.as_bytes());
        assert!(reader.records().any(|record| &record.unwrap()[1] == nasty));
    }
}
