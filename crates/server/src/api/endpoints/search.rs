//! `/v1/search`: the relevant results, if any.

use super::filters::{QueryParameters, languages};
use crate::api::endpoint::{Endpoint, Verbs};
use crate::api::problem::{Kind, Problem};
use crate::tool::Call;
use schemars::JsonSchema;
use serde::Deserialize;
use tamis::text::Language;
use tamis::{Answer, Freshness, SearchRequest};

pub(crate) struct Search;

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Parameters {
    #[serde(flatten)]
    query: QueryParameters,
    /// Only these languages, by name or file extension.
    #[schemars(length(max = 50), inner(length(max = 50)))]
    #[serde(default)]
    languages: Vec<String>,
    /// Only these kinds of passage, such as function, method, type, section.
    #[schemars(length(max = 50), inner(length(max = 50)))]
    #[serde(default)]
    kinds: Vec<String>,
    /// Only passages of these roles: main, test, example, vendored, changelog, license, generated.
    #[schemars(length(max = 20), inner(length(max = 50)))]
    #[serde(default)]
    roles: Vec<String>,
    /// Only symbols of these names: whole (Store::open), the last part (open), or a prefix (op*).
    #[schemars(length(max = 50), inner(length(max = 1000)), extend("x-whole" = true))]
    #[serde(default)]
    symbols: Vec<String>,
    /// Return every relevant passage by itself, not under the file, issue or session that it belongs to.
    #[serde(default)]
    passages: bool,
    /// Keep this promise, calibrated on judged queries, in place of the cut's own choice: recall=0.9.
    #[schemars(length(min = 1, max = 200))]
    guarantee: Option<String>,
    /// The same in other words: intent:…, paths:… or code:….
    #[schemars(length(max = 8), inner(length(max = 10_000)), extend("x-whole" = true))]
    #[serde(default)]
    variants: Vec<String>,
    /// Rank this language higher without leaving others out.
    #[schemars(length(min = 1, max = 50))]
    prefer_lang: Option<String>,
    /// Rank the language of this file higher, such as the one being edited.
    #[schemars(length(min = 1, max = 4000))]
    from: Option<String>,
}

impl Endpoint for Search {
    const NAME: &'static str = "search";
    const PATH: &'static str = "/v1/search";
    const VERBS: Verbs = Verbs::GetOrPost;
    const SUMMARY: &'static str = "Search by words and meaning, and end where relevance ends";
    const DESCRIPTION: &'static str = "As `tamis search --json`. `results` are relevant and can be none, `nearest` are the \
        next, less likely ones, and `summary` says so in a sentence. The model and `rank.recency` are those of the server's configuration.";
    type Parameters = Parameters;
    type Answer = Answer;

    fn kept(answer: &Answer) -> Option<usize> {
        Some(answer.cut.keep)
    }

    fn call(call: &Call<'_>, parameters: Parameters) -> Result<Answer, Problem> {
        let variants = parameters.variants.iter().map(|variant| variant.parse());
        let guarantee = parameters.guarantee.as_deref().map(str::parse).transpose();
        let request = SearchRequest {
            languages: languages(&parameters.languages)?,
            kinds: parameters.kinds,
            roles: parameters.roles,
            symbols: parameters.symbols,
            passages: parameters.passages,
            guarantee: guarantee.map_err(|error| Problem::new(Kind::Parameter, format!("guarantee: {error}")))?,
            variants: variants.collect::<Result<_, tamis::Error>>()?,
            language_hint: parameters.prefer_lang.as_deref().map(preferred).transpose()?,
            caller_path: parameters.from,
            ..parameters.query.request(call, SearchRequest::new)?
        };
        request.check()?;
        let mut answer = call.index.search_with(&request, &Freshness::default(), call.observer)?;
        answer.warnings.splice(0..0, call.warnings());
        Ok(answer)
    }
}

fn preferred(name: &str) -> Result<String, Problem> {
    match Language::resolve(name) {
        Some(language) => Ok(language.name.to_owned()),
        None => Err(Problem::parameter("prefer_lang", name, "a language, such as rust, or a file extension such as rs")),
    }
}
