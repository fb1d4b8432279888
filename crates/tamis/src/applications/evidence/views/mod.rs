//! Named queries on the evidence graph: SQL templates, some built in, others the user's own.
//!
//! This file finds views and parses the top of each, `template` renders the SQL for the parameters given and converts values by type, and
//! `query` runs it. A value is bound to the statement and never becomes part of its text: a template only knows whether a parameter is
//! given, and a template that prints anything is rejected.

mod query;
mod template;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tamis_store::SqlValue;

use crate::file::untrusted::read_regular;
use template::Template;

pub use query::{ViewDescription, ViewRequest, views};

// All views: the built-in ones and the user's own.

/// The directory of the user's own views, in the user's configuration directory.
const DIRECTORY: &str = "views";

/// The ending of a view's file name.
const SUFFIX: &str = ".sql.j2";

/// The largest file read, in bytes.
const LONGEST: u64 = 64 * 1024;

macro_rules! built_in {
    ($($name:literal)*) => {
        [$(($name, include_str!(concat!("templates/", $name, ".sql.j2")))),*]
    };
}

/// The built-in views: name and file.
pub(crate) const BUILT_IN: &[(&str, &str)] = &built_in![
    "v_contradictions"
    "v_claim_evidence_summary"
    "v_unsupported_claims"
    "v_claim_origins"
    "v_evidence_chain"
    "v_citation_flow"
    "v_citation_chains"
    "v_bibliographic_coupling"
    "v_orphan_sources"
    "v_citation_age_gap"
    "v_evidence_timeline"
    "v_evidence_freshness"
    "v_emerging_consensus"
    "v_outdated_evidence"
    "v_source_authority"
    "v_source_impact"
    "v_reference_candidates"
];

/// A view by name, usable or not.
pub(crate) struct Found {
    pub name: String,
    /// The user's file; `None` for a built-in view.
    pub file: Option<PathBuf>,
    /// The template, or the reason why the view is unusable.
    pub template: Result<Template, String>,
}

/// All views: the built-in ones, then the user's own by name. An unusable one does not affect the others.
pub(crate) fn all(user_directory: Option<&Path>) -> Vec<Found> {
    let built_in = BUILT_IN.iter().map(|(name, source)| Found {
        name: (*name).to_owned(),
        file: None,
        template: Template::load(name, source),
    });
    built_in.chain(user_directory.into_iter().flat_map(own)).collect()
}

fn own(user_directory: &Path) -> Vec<Found> {
    let Ok(entries) = fs::read_dir(user_directory.join(DIRECTORY)) else { return Vec::new() };
    let found = entries.filter_map(|entry| {
        let file = entry.ok()?.path();
        let name = file.file_name()?.to_string_lossy().strip_suffix(SUFFIX)?.to_owned();
        Some(Found { template: read(&name, &file), name, file: Some(file) })
    });
    let mut found: Vec<Found> = found.collect();
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found
}

fn read(name: &str, file: &Path) -> Result<Template, String> {
    let shown = file.display();
    if BUILT_IN.iter().any(|(built_in, _)| *built_in == name) {
        return Err(format!("{shown}: {name} is built in; give this view another name"));
    }
    if !is_name(name) {
        return Err(format!("{shown}: the name of a view is letters, digits and underscores"));
    }
    let bytes = read_regular(file, LONGEST).map_err(|error| format!("{shown}: cannot be read: {error}"))?;
    let source = String::from_utf8(bytes).map_err(|_| format!("{shown}: cannot be read: not UTF-8"))?;
    Template::load(&shown.to_string(), &source)
}

// The header of a view: the block at the top of its file.

/// The most optional parameters of a view: each doubles the number of texts that its template can produce.
const MOST_OPTIONAL: usize = 8;

/// A column of a view.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct ViewColumn {
    /// Its name.
    pub name: String,
    /// The meaning of its values.
    pub meaning: String,
}

/// A parameter of a view.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ViewParameter {
    /// Its name.
    pub name: String,
    /// The type of its values.
    #[serde(rename = "type")]
    pub kind: ParameterType,
    /// The value used if none is given; null: none.
    pub default: Option<SqlValue>,
    /// True if a value must be given.
    pub required: bool,
    /// The values allowed, which the meaning names; empty: any of the type.
    #[serde(skip)]
    pub values: Vec<SqlValue>,
    /// The effect of the parameter.
    pub meaning: String,
}

/// The type of a parameter's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ParameterType {
    /// Any text.
    Text,
    /// A whole number.
    Integer,
    /// A number.
    Number,
    /// A date or a time in any common form.
    Time,
}

/// The block at the top of a view's file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Header {
    pub answers: String,
    pub columns: Vec<ViewColumn>,
    pub parameters: Vec<ViewParameter>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    answers: String,
    #[serde(default)]
    columns: Vec<(String, String)>,
    #[serde(default)]
    parameters: Vec<RawParameter>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawParameter {
    name: String,
    #[serde(rename = "type")]
    kind: ParameterType,
    #[serde(default)]
    default: Option<SqlValue>,
    #[serde(default)]
    values: Vec<SqlValue>,
    is: String,
}

impl Header {
    /// Reads the block at the top of `source`. The error is one line.
    pub fn parse(source: &str) -> Result<Header, String> {
        let block = source.strip_prefix("{#").and_then(|rest| rest.split_once("#}"));
        let Some((block, _)) = block else {
            return Err("must open with {# answers = \"…\" … #}, which says what the view answers".to_owned());
        };
        // The block begins on the first line of the file, so line numbers agree.
        let raw: Raw = toml::from_str(block).map_err(|error| {
            let line = error.span().map_or(1, |span| 1 + block[..span.start.min(block.len())].matches('\n').count());
            format!("line {line}: {}", error.message())
        })?;
        let mut known = BTreeSet::new();
        for parameter in &raw.parameters {
            if !is_name(&parameter.name) {
                return Err(format!("parameter {:?}: must be letters, digits and underscores", parameter.name));
            }
            if !known.insert(&parameter.name) {
                return Err(format!("parameter {}: is there twice", parameter.name));
            }
        }
        if raw.parameters.iter().filter(|parameter| parameter.default.is_none()).count() > MOST_OPTIONAL {
            return Err(format!("has more than {MOST_OPTIONAL} parameters without a default"));
        }
        let column = |(name, meaning)| ViewColumn { name, meaning };
        let parameter = |RawParameter { name, kind, default, values, is }| ViewParameter {
            name,
            kind,
            default,
            required: false,
            values,
            meaning: is,
        };
        Ok(Header {
            answers: raw.answers,
            columns: raw.columns.into_iter().map(column).collect(),
            parameters: raw.parameters.into_iter().map(parameter).collect(),
        })
    }
}

/// True if a text is a valid name for a view or a parameter.
pub(crate) fn is_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.len() <= 64
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

// The parameters that occur in a statement.

/// The names of the parameters of a statement: names after a colon, outside of strings, quoted names and comments.
///
/// # Errors
/// A parameter of another form (`?`, `@name`, `$name`).
pub(crate) fn parameters_of(sql: &str) -> Result<BTreeSet<&str>, String> {
    let mut names = BTreeSet::new();
    let mut rest = sql;
    while let Some(first) = rest.chars().next() {
        let after = &rest[first.len_utf8()..];
        let word = |text: &str| text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
        rest = match first {
            '\'' | '"' | '`' => beyond(after, &first.to_string()),
            '[' => beyond(after, "]"),
            '-' if after.starts_with('-') => beyond(after, "\n"),
            '/' if after.starts_with('*') => beyond(&after[1..], "*/"),
            ':' if word(after) > 0 => {
                names.insert(&after[..word(after)]);
                &after[word(after)..]
            }
            '?' | '@' | '$' => return Err(format!("{first}{}: parameters are written :name", &after[..word(after)])),
            // A dollar within a name is part of it.
            c if c.is_alphanumeric() || c == '_' => {
                let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '$').unwrap_or(rest.len());
                &rest[end..]
            }
            _ => after,
        };
    }
    Ok(names)
}

fn beyond<'a>(text: &'a str, end: &str) -> &'a str {
    text.split_once(end).map_or("", |(_, rest)| rest)
}

#[cfg(test)]
mod built_in {
    use super::*;

    const FIT: &str = "{# answers = \"how many claims?\" #}\nSELECT count(*) FROM claims";

    #[test]
    fn every_built_in_view_is_fit_for_use() {
        let views = all(None);
        for view in views {
            let template = view.template.unwrap_or_else(|error| panic!("{error}"));
            assert!(template.header.answers.ends_with(['?', '.']), "{}", view.name);
        }
    }

    #[test]
    fn one_of_the_users_that_is_not_fit_keeps_no_other_from_being_used() {
        let user = tempfile::tempdir().expect("a directory");
        let directory = user.path().join(DIRECTORY);
        fs::create_dir(&directory).expect("made");
        let write = |name: &str, text: &[u8]| fs::write(directory.join(name), text).expect("written");
        write("counted.sql.j2", FIT.as_bytes());
        write("spliced.sql.j2", b"{# answers = \"x\" #}\nSELECT {{ 1 }}");
        write("bytes.sql.j2", b"{# answers = \"\xff\" #}");
        write("v_contradictions.sql.j2", FIT.as_bytes());
        write("odd-name.sql.j2", FIT.as_bytes());
        write("long.sql.j2", &vec![b' '; 70_000]);
        write("notes.txt", b"no view");
        fs::create_dir(directory.join("directory.sql.j2")).expect("made");
        #[cfg(unix)]
        std::os::unix::fs::symlink("/dev/zero", directory.join("endless.sql.j2")).expect("linked");
        let views = all(Some(user.path()));
        let own: Vec<(&str, bool)> =
            views[BUILT_IN.len()..].iter().map(|view| (view.name.as_str(), view.template.is_ok())).collect();
        let expected = [
            ("bytes", false),
            ("counted", true),
            ("directory", false),
            #[cfg(unix)]
            ("endless", false),
            ("long", false),
            ("odd-name", false),
            ("spliced", false),
            ("v_contradictions", false),
        ];
        assert_eq!(own, expected);
        let error = |name: &str| {
            let view = views[BUILT_IN.len()..].iter().find(|view| view.name == name).expect("listed");
            view.template.clone().expect_err("not fit")
        };
        assert!(error("spliced").contains("spliced.sql.j2: line 2: "), "{}", error("spliced"));
        assert!(error("v_contradictions").ends_with("give this view another name"));
        assert!(views[0].template.is_ok() && views[0].name == "v_contradictions", "the built-in one stands");
        assert!(all(Some(&user.path().join("nowhere"))).len() == BUILT_IN.len());
    }

    #[test]
    fn the_block_is_read_and_what_is_wrong_has_its_line() {
        let good = "{#\nanswers = \"a\"\nparameters = [{ name = \"n\", type = \"integer\", default = 3, is = \"b\" }]\n#}\nSELECT 1";
        let header = Header::parse(good).expect("a header");
        assert_eq!(header.parameters[0].default, Some(SqlValue::Integer(3)));
        let error = |source: &str| Header::parse(source).expect_err("refused");
        assert!(error("SELECT 1").contains("must open with {#"));
        assert!(error(&good.replace("integer", "whole")).starts_with("line 3: unknown variant `whole`"));
        assert!(error(&good.replace("answers =", "answer =")).starts_with("line 2: unknown field `answer`"));
        assert!(error(&good.replace("\"n\"", "\"n-1\"")).contains("letters, digits"));
        let twice = good.replace("[{", "[{ name = \"n\", type = \"text\", is = \"c\" }, {");
        assert!(error(&twice).contains("is there twice"));
    }

    fn names(sql: &str) -> Vec<&str> {
        parameters_of(sql).expect("parameters by name").into_iter().collect()
    }

    #[test]
    fn parameters_are_told_from_what_looks_like_them() {
        assert_eq!(names("SELECT :a, x=:b_2,:a FROM t WHERE y<:Ünder"), ["a", "b_2", "Ünder"]);
        assert_eq!(names("SELECT '12:30', ':no', 'it''s :no', \":no\", [:no], `:no`, :yes"), ["yes"]);
        assert_eq!(names("-- :no\nSELECT /* :no */ :yes -- :no"), ["yes"]);
        assert_eq!(names("SELECT 'never closed :no"), [] as [&str; 0]);
        assert_eq!(names("SELECT a$b, json->>'$.x' : x"), [] as [&str; 0]);
        for other in ["SELECT ?", "SELECT ?1", "SELECT @a", "SELECT $a"] {
            assert!(parameters_of(other).is_err(), "{other}");
        }
    }
}
