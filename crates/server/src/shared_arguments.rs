//! Arguments that several tools share, and their translation for the library.

use schemars::JsonSchema;
use serde::Deserialize;

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
