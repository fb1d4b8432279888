//! `/v1/namespaces`: the repositories and projects in the index.

use crate::api::endpoint::Endpoint;
use crate::api::problem::Problem;
use crate::tool::Call;
use schemars::JsonSchema;
use serde::Deserialize;
use tamis::store::Namespace;

pub(crate) struct Namespaces;

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Parameters {}

impl Endpoint for Namespaces {
    const NAME: &'static str = "namespaces";
    const PATH: &'static str = "/v1/namespaces";
    const SUMMARY: &'static str = "List the namespaces that the caller may read";
    const DESCRIPTION: &'static str = "A token that is limited to namespaces does not see their directories and owners.";
    const TAGGED: bool = true;
    type Parameters = Parameters;
    type Answer = Vec<Namespace>;

    fn call(call: &Call<'_>, _: Parameters) -> Result<Vec<Namespace>, Problem> {
        let mut namespaces = call.index.contents().namespaces()?;
        namespaces.retain(|namespace| call.may_read(&namespace.name));
        if call.caller.namespaces.is_some() {
            for namespace in &mut namespaces {
                (namespace.root, namespace.machine) = (None, None);
                namespace.owner = None;
            }
        }
        Ok(namespaces)
    }
}
