//! The keyword arguments of a search, as the package's own files hand them on.

use tamis::config::Config;
use tamis::search::{Asker, SearchCaller};
use tamis::{Error, SearchRequest};

/// The entry point that recorded searches name.
const ENTRY_POINT: &str = "python";

/// The library's request. It asks for the whole pool, of which the scores draw the curve of an answer.
pub fn complete(request: SearchRequest, config: &Config, caller: SearchCaller) -> Result<SearchRequest, Error> {
    let request = request.explain().asker(Asker::at(ENTRY_POINT).called_by(caller));
    request.check()?;
    request.tuned_rule(config)?;
    Ok(request)
}
