//! The likely duplicates of an issue.

use crate::api::verbs::Verbs;
use crate::call::Call;
use crate::operation::{Failure, Operation, Route};
use tamis::duplicates::DuplicatesRequest;

pub(crate) struct Duplicates;

impl Operation for Duplicates {
    const NAME: &'static str = "duplicates";
    type Request = DuplicatesRequest;
    type Answer = tamis::duplicates::Duplicates;

    fn call(call: &Call<'_>, request: DuplicatesRequest) -> Result<tamis::duplicates::Duplicates, Failure> {
        Ok(call.index.duplicates().find(
            &DuplicatesRequest {
                allowed_namespaces: call.allowed(),
                entry_point: Some(call.entry_point.to_owned()),
                ..request
            },
            call.observer,
        )?)
    }
}

impl Route for Duplicates {
    const PATH: &'static str = "/v1/duplicates";
    const VERBS: Verbs = Verbs::GetOrPost;
    const SUMMARY: &'static str = "List the likely duplicates of an issue";
    const DESCRIPTION: &'static str = "As `tamis duplicates --json`. Takes a number, or a title and a body.";
}
