//! The report as comma-separated values: one figure a row, for spreadsheets and data frames.

use crate::report::{CollectionReport, Report};
use crate::resample::Difference;

const HEADER: [&str; 10] =
    ["scope", "collection", "model", "method", "reference", "metric", "value", "difference", "low", "high"];

impl Report {
    /// One row a figure, with a header (RFC 4180, lines ending in CR LF).
    ///
    /// `scope` is `collection` for a method on a collection, `mean` for a method over all collections, `ranking` for the
    /// order of a collection's pools, `queries` for how many of each kind it has. `difference` is that to the baseline, and
    /// `low` to `high` its 95% interval; what does not apply is empty. Numbers have all their digits.
    pub fn csv(&self) -> String {
        let mut text = row(&HEADER.map(String::from));
        for collection in &self.collections {
            self.collection_rows(collection, &mut text);
        }
        for method in &self.overall {
            for (metric, value) in &method.figures {
                let difference = method.differences.get(metric);
                let names = ["mean", "", "", &method.name, truth(method.reference), metric.name()];
                text.push_str(&figure(names, *value, difference));
            }
        }
        text
    }

    fn collection_rows(&self, collection: &CollectionReport, text: &mut String) {
        let name = collection.name.as_str();
        let model = collection.model.as_deref().unwrap_or_default();
        let counts = [
            ("answerable", collection.answerable),
            ("unanswerable", collection.unanswerable),
            ("foreign", collection.foreign),
        ];
        for (kind, count) in counts {
            text.push_str(&figure(["queries", name, model, "", "", kind], count as f64, None));
        }
        for (metric, value) in &collection.ranking {
            text.push_str(&figure(["ranking", name, model, "", "", metric], *value, None));
        }
        for method in &collection.methods {
            for (metric, value) in &method.figures {
                let names = ["collection", name, model, &method.name, truth(method.reference), metric.name()];
                text.push_str(&figure(names, *value, method.differences.get(metric)));
            }
        }
    }
}

fn truth(value: bool) -> &'static str {
    if value { "true" } else { "false" }
}

fn figure(names: [&str; 6], value: f64, difference: Option<&Difference>) -> String {
    let number = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
    let estimate = difference.map(|difference| difference.estimate);
    let low = difference.and_then(|difference| difference.low);
    let high = difference.and_then(|difference| difference.high);
    let numbers = [Some(value), estimate, low, high].map(number);
    row(&names.map(String::from).into_iter().chain(numbers).collect::<Vec<_>>())
}

fn row(fields: &[String]) -> String {
    let fields: Vec<String> = fields.iter().map(|field| quoted(field)).collect();
    format!("{}\r\n", fields.join(","))
}

fn quoted(field: &str) -> String {
    if field.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_with_commas_and_quotes_are_quoted() {
        assert_eq!(row(&["a,b".into(), "say \"x\"".into(), "plain".into()]), "\"a,b\",\"say \"\"x\"\"\",plain\r\n");
    }
}
