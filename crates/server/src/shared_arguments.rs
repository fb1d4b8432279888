//! Arguments that several tools share, and their translation for the library.

use crate::arguments::nearest;
use crate::reply::Refused;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Deserialize;
use tamis::dates;
use tamis::text::{LANGUAGES, Language};

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Want {
    One,
    Best,
    All,
}

impl Want {
    /// The same value for a cut.
    pub fn meant(self) -> tamis::cut::Want {
        match self {
            Want::One => tamis::cut::Want::One,
            Want::Best => tamis::cut::Want::Best,
            Want::All => tamis::cut::Want::All,
        }
    }
}

/// Translates languages into their stored names.
///
/// # Errors
/// A language is unknown.
pub(crate) fn languages(names: &[String]) -> Result<Vec<String>, Refused> {
    let stored = |name: &String| match Language::named(name) {
        Some(language) => Ok(language.name.to_owned()),
        None => {
            let known = LANGUAGES.iter().map(|language| language.name);
            let nearest = nearest(&name.to_lowercase(), known.clone());
            let nearest = nearest.map(|nearest| format!(" (did you mean {nearest}?)")).unwrap_or_default();
            let known = known.collect::<Vec<_>>().join(", ");
            Err(Refused::argument("languages", name, format!("one of {known}{nearest}")))
        }
    };
    names.iter().map(stored).collect()
}

/// The moment that an argument names, relative to now.
///
/// # Errors
/// The text is not a date or time.
pub(crate) fn moment(name: &str, text: &str) -> Result<Timestamp, Refused> {
    dates::moment(text, &dates::now()).map_err(|error| Refused::from(format!("{name}: {error}")))
}
