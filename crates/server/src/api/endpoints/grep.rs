//! `/v1/grep`: exact text in the files of the index.

use super::filters::languages;
use crate::api::endpoint::{Endpoint, Verbs};
use crate::api::problem::Problem;
use crate::lanes::Lane;
use crate::tool::Call;
use schemars::JsonSchema;
use serde::Deserialize;
use std::time::Duration;
use tamis::tree::{GrepAnswer, GrepRequest, LetterCase, Pattern, TreeScope};

pub(crate) struct Grep;

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Parameters {
    /// Regular expression, within one line.
    #[schemars(length(min = 1, max = 10_000))]
    pattern: String,
    /// Take the pattern as it is.
    #[serde(default)]
    fixed_strings: bool,
    /// Ignore case.
    #[serde(default)]
    ignore_case: bool,
    /// Ignore case if the pattern is all lower case.
    #[serde(default)]
    smart_case: bool,
    /// Whole words only.
    #[serde(default)]
    word_regexp: bool,
    /// Files, directories or globs; `!` excludes.
    #[schemars(length(max = 50), inner(length(max = 4000)), extend("x-whole" = true))]
    #[serde(default)]
    paths: Vec<String>,
    /// Only these languages, by name or file extension.
    #[schemars(length(max = 50), inner(length(max = 50)))]
    #[serde(default)]
    languages: Vec<String>,
    /// Lines before each match (default: context).
    #[schemars(range(min = 0, max = 100))]
    before_context: Option<usize>,
    /// Lines after each match (default: context).
    #[schemars(range(min = 0, max = 100))]
    after_context: Option<usize>,
    /// Lines around each match.
    #[schemars(range(min = 0, max = 100))]
    #[serde(default)]
    context: usize,
    /// Most matching lines listed; all are counted.
    #[schemars(range(min = 0, max = 10_000))]
    #[serde(default = "limit")]
    limit: usize,
    /// Repository (default: the server's own, or all).
    #[schemars(length(min = 1, max = 200))]
    namespace: Option<String>,
}

fn limit() -> usize {
    1000
}

/// The time after which the totals are those of the files read so far.
const TIME_LIMIT: Duration = Duration::from_secs(20);

/// Most characters shown of a line.
const LINE_CHARS: usize = 4000;

impl Endpoint for Grep {
    const NAME: &'static str = "grep";
    const PATH: &'static str = "/v1/grep";
    const VERBS: Verbs = Verbs::GetOrPost;
    const SUMMARY: &'static str = "Find exact text or a regular expression, with exact totals";
    const DESCRIPTION: &'static str = "As `tamis grep --json`. The files are read from the disk.";
    const LANE: Lane = Lane::Slow;
    type Parameters = Parameters;
    type Answer = GrepAnswer;

    fn call(call: &Call<'_>, parameters: Parameters) -> Result<GrepAnswer, Problem> {
        let case = match (parameters.ignore_case, parameters.smart_case) {
            (true, _) => LetterCase::Insensitive,
            (_, true) => LetterCase::Smart,
            _ => LetterCase::Sensitive,
        };
        let request = GrepRequest {
            pattern: Pattern {
                text: parameters.pattern,
                literal: parameters.fixed_strings,
                case,
                word: parameters.word_regexp,
            },
            scope: TreeScope {
                paths: parameters.paths,
                languages: languages(&parameters.languages)?,
                namespace: parameters.namespace,
                allowed_namespaces: call.allowed(),
            },
            before: parameters.before_context.unwrap_or(parameters.context),
            after: parameters.after_context.unwrap_or(parameters.context),
            limit: parameters.limit,
            line_chars: LINE_CHARS,
            time_limit: Some(TIME_LIMIT),
        };
        Ok(call.index.tree().grep(&request, call.observer)?)
    }
}
