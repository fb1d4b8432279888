//! The keyword arguments of a search, as the package's own files hand them on.

use serde::Deserialize;
use tamis::config::Config;
use tamis::search::{QueryParameters, SearchCaller, SearchParameters};
use tamis::{Error, SearchRequest};

/// The entry point that recorded searches name.
const ENTRY_POINT: &str = "python";

/// The arguments of a search: the library's, and two that it has in another form.
#[derive(Debug, Deserialize)]
pub struct Search {
    #[serde(flatten)]
    parameters: SearchParameters,
    gate: Option<bool>,
    snippet_lines: Option<usize>,
}

impl Search {
    /// The library's request. It asks for the whole pool, of which the scores draw the curve of an answer.
    pub fn request(self, config: &Config, caller: SearchCaller) -> Result<SearchRequest, Error> {
        let common = QueryParameters {
            explain: true,
            entry_point: Some(ENTRY_POINT.to_owned()),
            caller: Some(caller),
            ..self.parameters.common
        };
        let request = SearchParameters { common, ..self.parameters }.request(config)?;
        let request = SearchRequest { gate: self.gate, snippet_lines: self.snippet_lines, ..request };
        request.tuned_rule(config)?;
        Ok(request)
    }
}
