//! Arguments that several tools take, as the library means them.

use crate::arguments::nearest;
use crate::reply::Refused;
use jiff::{Timestamp, Zoned};
use schemars::JsonSchema;
use serde::Deserialize;
use tamis::dates;
use tamis::text::{LANGUAGES, Language};

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Want {
    One,
    Some,
    All,
}

impl Want {
    /// The same for a cut.
    pub fn meant(self) -> tamis::cut::Want {
        match self {
            Want::One => tamis::cut::Want::One,
            Want::Some => tamis::cut::Want::Some,
            Want::All => tamis::cut::Want::All,
        }
    }
}

/// Languages by the names under which they are stored.
///
/// # Errors
/// A language that there is not.
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

/// The moment that an argument says, seen from now.
///
/// # Errors
/// It says none.
pub(crate) fn moment(name: &str, text: &str) -> Result<Timestamp, Refused> {
    dates::moment(text, &Zoned::now()).map_err(|error| Refused(format!("{name}: {error}")))
}
