//! The report in Markdown: tables that read well as plain text too.

use crate::report::Report;

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
    fn json_comes_back_as_it_was_and_the_same_seed_gives_the_same_bytes() {
        let json = report().to_json().unwrap();
        assert_eq!(json, report().to_json().unwrap());
        assert_eq!(Report::from_json("a.json", &json).unwrap(), report());
        let other = evaluate(&example::collections(), &Options { seed: 1, ..report().options }).unwrap();
        assert_ne!(other.overall, report().overall);
    }

    #[test]
    fn what_is_no_report_is_refused_by_name() {
        let error = |text| Report::from_json("a.json", text).unwrap_err().to_string();
        assert!(error("{").starts_with("a.json is not an evaluation report: EOF"), "{}", error("{"));
        assert!(error("{}").contains("missing field `format`"));
        assert_eq!(error("{\"format\": 9}"), "a.json has report format 9, and this version reads 1; evaluate again");
    }
}
