//! `query_view`: a predefined question about the evidence.

use super::query_sql::limit;
use crate::lanes::Lane;
use crate::page::{DEFAULT_MAX_CHARS, max_chars};
use crate::reply::{Refused, Reply};
use crate::rows::Rows;
use crate::tool::{Call, Need, Tool};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use tamis::evidence::{SqlValue, ViewRequest};

pub(crate) struct QueryView;

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Arguments {
    /// Name of a view, from list_views.
    #[schemars(length(min = 1, max = 200))]
    view_name: String,
    /// Only evidence of this task (default: all tasks).
    #[schemars(length(min = 1, max = 200))]
    task_id: Option<String>,
    /// Values of the view's other parameters, by name: text or numbers.
    #[serde(default)]
    params: BTreeMap<String, Value>,
    /// Most rows, 1 to 200.
    #[schemars(range(min = 1, max = 200))]
    #[serde(default = "limit")]
    limit: usize,
    /// Repository (default: this one).
    namespace: Option<String>,
    /// Most characters of the answer, 1000 to 100000.
    #[schemars(range(min = 1000, max = 100_000))]
    #[serde(default = "max_chars")]
    max_chars: usize,
}

impl Tool for QueryView {
    const NAME: &'static str = "query_view";
    const NEED: Need = Need::Evidence;
    const TITLE: &'static str = "Query a view";
    const DESCRIPTION: &'static str = "Ask the evidence graph a predefined question, such as v_contradictions or \
        v_unsupported_claims. list_views lists them with what each answers. Use query_sql for any other question.";
    const MAX_CHARS: usize = DEFAULT_MAX_CHARS;
    const LANE: Lane = Lane::Slow;
    type Arguments = Arguments;
    type Answer = Rows;

    fn call(call: &Call<'_>, arguments: Arguments) -> Result<Reply<Rows>, Refused> {
        let parameters = arguments.params.into_iter().map(|(name, value)| {
            let value =
                sql(&value).ok_or_else(|| Refused::argument(&format!("params.{name}"), value, "text or a number"))?;
            Ok::<_, Refused>((name, value))
        });
        let request = ViewRequest {
            namespace: arguments.namespace,
            allowed_namespaces: call.allowed(),
            task: arguments.task_id,
            parameters: parameters.collect::<Result<_, _>>()?,
            limit: arguments.limit,
            ..ViewRequest::new(arguments.view_name)
        };
        let answer = call.index.evidence().query_view_until(&request, &|| call.observer.cancelled())?;
        Ok(Rows::reply(answer, arguments.max_chars))
    }
}

/// A value in the form that a statement takes.
fn sql(value: &Value) -> Option<SqlValue> {
    Some(match value {
        Value::Null => SqlValue::Null,
        Value::String(text) => SqlValue::Text(text.clone()),
        Value::Number(number) => match number.as_i64() {
            Some(whole) => SqlValue::Integer(whole),
            None => SqlValue::Real(number.as_f64()?),
        },
        Value::Bool(_) | Value::Array(_) | Value::Object(_) => return None,
    })
}
