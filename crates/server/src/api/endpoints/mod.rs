//! The routes, one file each.

mod filters;

use super::endpoint::RegisteredEndpoint;
use crate::operations;

/// Declares the module of each route and lists the routes in this order, which the description of the API has.
macro_rules! endpoints {
    ($($module:ident::{$($endpoint:ident),*};)*) => {
        $(mod $module;)*

        /// All endpoints.
        pub(super) fn all() -> Vec<RegisteredEndpoint> {
            vec![
                $($(RegisteredEndpoint::of::<$module::$endpoint>(),)*)*
                RegisteredEndpoint::of_operation::<operations::search::Search>(),
                RegisteredEndpoint::of_operation::<operations::recall::Recall>(),
                RegisteredEndpoint::of_operation::<operations::related::Related>(),
                RegisteredEndpoint::of_operation::<operations::pack::Pack>(),
                RegisteredEndpoint::of_operation::<operations::grep::Grep>(),
                RegisteredEndpoint::of_operation::<operations::files::Files>(),
                RegisteredEndpoint::of_operation::<operations::outline::Outline>(),
            ]
        }
    };
}

endpoints! {
    documents::{Document, DocumentByPath};
    troubleshoot::{Troubleshoot};
    duplicates::{Duplicates};
    cut::{Cut};
    evidence_rank::{EvidenceRank};
    evidence_search::{EvidenceSearch};
    evidence_views::{EvidenceViews, EvidenceView};
    evidence_sql::{EvidenceSql};
    feedback::{Feedback, Searches};
    remember::{Remember};
    stats::{Stats};
    replay::{Replay};
    status::{Status};
    namespaces::{Namespaces};
    refresh::{Refresh};
}
