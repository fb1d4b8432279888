//! One file a tool.

mod get;
mod search;

use crate::tool::Listed;

/// All tools, in the order in which they are listed.
pub(crate) fn all() -> Vec<Listed> {
    vec![Listed::of::<search::Search>(), Listed::of::<get::Get>()]
}
