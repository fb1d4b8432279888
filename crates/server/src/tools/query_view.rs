//! `query_view`: a question to the evidence graph that has a name.

use super::query_sql::limit;
use crate::page::{MAX_CHARS, max_chars};
use crate::reply::{Refused, Reply};
use crate::rows::Rows;
use crate::tool::{Call, Tool};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use tamis::evidence::{SqlValue, ViewRequest};

pub(crate) struct QueryView;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// The name of a view, as list_views gives it.
    #[schemars(length(min = 1, max = 200))]
    view_name: String,
    /// Only what belongs to this task (default: all tasks).
    #[schemars(length(min = 1, max = 200))]
    task_id: Option<String>,
    /// Values of the view's other parameters, by name: texts or numbers.
    #[serde(default)]
    params: BTreeMap<String, Value>,
    /// Most rows, 1 to 200.
    #[schemars(range(min = 1, max = 200))]
    #[serde(default = "limit")]
    limit: usize,
    /// The repository or project whose evidence it is, by name (default: the one here).
    namespace: Option<String>,
    /// Most characters of the answer, 1000 to 100000.
    #[schemars(range(min = 1000, max = 100_000))]
    #[serde(default = "max_chars")]
    max_chars: usize,
}

impl Tool for QueryView {
    const NAME: &'static str = "query_view";
    const TITLE: &'static str = "Query a view";
    const DESCRIPTION: &'static str = "Ask the evidence graph a question that has a name, such as v_contradictions or \
        v_unsupported_claims: list_views says which there are and what each answers. Take query_sql for what none answers.";
    const MOST_CHARS: usize = MAX_CHARS;
    type Arguments = Arguments;
    type Answer = Rows;

    fn call(call: &Call<'_>, arguments: Arguments) -> Result<Reply<Rows>, Refused> {
        let parameters = arguments.params.into_iter().map(|(name, value)| {
            let value =
                sql(&value).ok_or_else(|| Refused::argument(&format!("params.{name}"), value, "a text or a number"))?;
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

/// A value as a statement takes it.
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
