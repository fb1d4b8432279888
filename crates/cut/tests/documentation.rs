//! The page on cuts matches the code: every method, parameter, default and range.

use std::fs;
use std::path::Path;

use tamis_cut::{Gate, METHODS, Parameter, Range};

fn page() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/cuts.md");
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The part of the page under the heading, up to the next one.
fn section<'a>(page: &'a str, heading: &str) -> &'a str {
    let start = page.find(&format!("\n## {heading}\n")).unwrap_or_else(|| panic!("no section {heading}"));
    let rest = &page[start + 4..];
    &rest[..rest.find("\n## ").unwrap_or(rest.len())]
}

fn row(parameter: &Parameter) -> String {
    let range = match parameter.range {
        Range::Number { min, max } => format!("{min} to {max}"),
        Range::Integer { min, max } => format!("{min} to {max}"),
        range => range.to_string(),
    };
    format!("| `{}` | {} | {range} | {} |", parameter.name, parameter.default(), parameter.doc)
}

fn assert_parameters(section: &str, heading: &str, parameters: &[Parameter]) {
    for parameter in parameters {
        let row = row(parameter);
        assert!(section.contains(&row), "section {heading} lacks the row\n{row}");
    }
    let rows = section.split("| parameter | default |").skip(1).flat_map(str::lines);
    assert_eq!(rows.filter(|line| line.starts_with("| `")).count(), parameters.len(), "rows in section {heading}");
}

#[test]
fn every_method_has_its_row_and_its_section() {
    let page = page();
    for method in METHODS {
        let row = format!("| [`{0}`](#{0}) | {1} |", method.name, method.summary.trim_start_matches("keeps "));
        let line = page.lines().find(|line| line.starts_with(&row)).unwrap_or_else(|| panic!("no row\n{row}"));
        assert!(line.ends_with(&format!("| {} |", method.scale)), "{line}");
        let section = section(&page, method.name);
        assert_parameters(section, method.name, method.parameters);
        assert!(section.contains("**Source.**") && section.contains("**Weak**"), "section {}", method.name);
    }
    assert_eq!(page.matches("| [`").count(), METHODS.len());
}

#[test]
fn the_gate_has_its_section() {
    let page = page();
    let section = section(&page, "The gate");
    let Gate { min_evidence, min_coverage, min_similarity, level } = Gate::default();
    for (bound, value) in [
        ("min_evidence", min_evidence),
        ("min_coverage", min_coverage),
        ("min_similarity", min_similarity),
        ("level", level),
    ] {
        assert!(section.contains(&format!("| `{bound}` | {value} |")), "{bound}");
    }
}
