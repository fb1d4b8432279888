//! The page on evaluation names every metric and reference method, as the reports do.

use std::fs;
use std::path::Path;

use tamis_eval::{Direction, FIXED_FITTED, FIXED_KNOWN, Metric, ORACLE};

#[test]
fn every_metric_has_its_row() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/evaluation.md");
    let page = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let section = page.split("\n## ").find(|section| section.starts_with("Metrics\n")).unwrap();
    let rows: Vec<&str> = section.lines().filter(|line| line.starts_with("| `")).collect();
    assert_eq!(rows.len(), Metric::ALL.len());
    for (row, metric) in rows.iter().zip(Metric::ALL) {
        let better = match metric.direction() {
            Direction::Higher => "higher",
            Direction::Lower => "lower",
            Direction::Neither => "–",
        };
        assert!(row.starts_with(&format!("| `{metric}` | ")), "{metric}: {row}");
        assert!(row.ends_with(&format!(" | {better} |")), "{metric}: {row}");
    }
    for method in [FIXED_FITTED, FIXED_KNOWN, ORACLE] {
        assert!(page.contains(&format!("| `{method}` | ")), "{method}");
    }
}
