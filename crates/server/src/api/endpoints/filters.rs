//! Parameters that several routes share, and their translation for the library.

use crate::api::problem::{Kind, Problem};
use crate::tool::Call;
use jiff::Timestamp;
use tamis::dates;

/// The entry point that recorded searches name.
pub(super) const ENTRY_POINT: &str = "http";

/// A cut with its parameters; those that are not given come from the configuration.
pub(super) fn rule(call: &Call<'_>, text: &str) -> Result<Box<dyn tamis::cut::Rule>, Problem> {
    call.index.config().cut(text).map_err(|error| Problem::new(Kind::Parameter, format!("cut: {error}")))
}

/// The moment that a parameter names, relative to now.
pub(super) fn moment(name: &str, text: Option<&str>) -> Result<Option<Timestamp>, Problem> {
    let read = |text| {
        dates::moment(text, &dates::now()).map_err(|error| Problem::new(Kind::Parameter, format!("{name}: {error}")))
    };
    text.map(read).transpose()
}

/// The one namespace whose figures a caller may have: the one that it names, or its only one. `None`: all, for a caller who may
/// read all.
pub(super) fn one_namespace(call: &Call<'_>, wanted: Option<String>) -> Result<Option<String>, Problem> {
    let Some(allowed) = call.allowed() else { return Ok(wanted) };
    match (wanted, allowed.as_slice()) {
        (Some(wanted), allowed) if allowed.contains(&wanted) => Ok(Some(wanted)),
        (None, [one]) => Ok(Some(one.clone())),
        (wanted, []) => {
            Err(Problem::parameter("namespace", wanted.unwrap_or_default(), "one that you may read; there is none"))
        }
        (wanted, allowed) => {
            Err(Problem::parameter("namespace", wanted.unwrap_or_default(), format!("one of {}", allowed.join(", "))))
        }
    }
}
