//! The repositories and projects in the index.

use crate::call::Call;
use crate::operation::{Failure, Nothing, Operation, Route};
use tamis_store::Namespace;

pub(crate) struct Namespaces;

impl Operation for Namespaces {
    const NAME: &'static str = "namespaces";
    type Request = Nothing;
    type Answer = Vec<Namespace>;

    fn call(call: &Call<'_>, _: Nothing) -> Result<Vec<Namespace>, Failure> {
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

impl Route for Namespaces {
    const PATH: &'static str = "/v1/namespaces";
    const SUMMARY: &'static str = "List the namespaces that the caller may read";
    const DESCRIPTION: &'static str =
        "A token that is limited to namespaces does not see their directories and owners.";
    const TAGGED: bool = true;
}
