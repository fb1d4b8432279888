//! The operations, one file each.

use crate::api::RegisteredEndpoint;
use crate::operation::{RegisteredTool, Route, Tool};

/// The operations in their two forms.
#[derive(Default)]
pub(crate) struct Registry {
    /// The tools, in the order that clients see.
    pub tools: Vec<RegisteredTool>,
    /// The routes of the API.
    pub routes: Vec<RegisteredEndpoint>,
}

impl Registry {
    fn tool<T: Tool>(&mut self) {
        self.tools.push(RegisteredTool::new::<T>());
    }

    fn route<R: Route>(&mut self) {
        self.routes.push(RegisteredEndpoint::new::<R>());
    }
}

/// Declares the module of each operation, and registers it in its forms: as a route, as a tool, or both. Clients see tools in this order.
macro_rules! operations {
    ($($module:ident::{$($operation:ident: $($form:ident)+),+};)*) => {
        $(mod $module;)*

        /// All operations.
        pub(crate) fn all() -> Registry {
            let mut registry = Registry::default();
            $($($(registry.$form::<$module::$operation>();)+)+)*
            registry
        }
    };
}

operations! {
    search::{Search: route tool};
    get::{Get: route tool, GetByPath: route};
    grep::{Grep: route tool};
    files::{Files: route tool};
    outline::{Outline: route tool};
    pack::{Pack: route tool};
    related::{Related: route tool};
    troubleshoot::{Troubleshoot: route tool, Duplicates: route};
    recall::{Recall: route tool};
    remember::{Remember: route tool};
    cut::{Cut: route};
    evidence_search::{EvidenceRank: route, EvidenceSearch: route tool};
    evidence_sql::{EvidenceSql: route tool};
    evidence_views::{EvidenceViews: route tool, EvidenceView: route tool};
    explain_cut::{ExplainCut: tool};
    feedback::{Feedback: route tool, Searches: route};
    stats::{Stats: route, Replay: route};
    status::{Status: route tool, Namespaces: route, Refresh: route};
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    /// Collects what some clients refuse, at any depth of a schema.
    fn unsupported(schema: &Value, path: &str, found: &mut Vec<String>) {
        match schema {
            Value::Object(object) => {
                for (key, value) in object {
                    let path = format!("{path}/{key}");
                    let kind = key == "type" && !path.ends_with("/properties/type");
                    if ["$ref", "$defs", "anyOf", "oneOf", "allOf"].contains(&key.as_str())
                        || (kind && !value.is_string())
                    {
                        found.push(path.clone());
                    }
                    unsupported(value, &path, found);
                }
            }
            Value::Array(values) => values.iter().for_each(|value| unsupported(value, path, found)),
            Value::Null => found.push(format!("{path}: null")),
            Value::String(text) if text == "null" => found.push(format!("{path}: null")),
            _ => {}
        }
    }

    #[test]
    fn trap_no_schema_has_unions_references_or_nulls() {
        for tool in all().tools {
            let described = tool.described(true);
            let input = Value::Object((*tool.description.input_schema).clone());
            let output = Value::Object((*described.output_schema.clone().expect("one")).clone());
            for (what, schema) in [("input", &input), ("output", &output)] {
                let mut found = Vec::new();
                unsupported(schema, what, &mut found);
                assert!(found.is_empty(), "{}: {found:?}\n{schema:#}", tool.name());
                assert_eq!(schema["type"], "object", "{}", tool.name());
            }
            assert_eq!(input["additionalProperties"], false, "{}", tool.name());
        }
    }

    /// Most characters of the list that every agent reads.
    const MOST_LISTED: usize = 9_000;

    #[test]
    fn trap_the_core_list_leaves_room_for_the_task() {
        let core = all().tools.into_iter().filter(|tool| tool.need == crate::operation::Need::Nothing);
        let core = core.filter(|tool| (tool.is_for)(&crate::Caller::default()));
        let listed: Vec<_> = core.map(|tool| tool.described(false)).collect();
        let characters = serde_json::to_string(&listed).expect("JSON").chars().count();
        println!("{} tools, {characters} characters", listed.len());
        assert!(listed.iter().all(|tool| tool.output_schema.is_none()));
        assert!(characters <= MOST_LISTED, "{characters} characters; shorten descriptions");
    }

    #[test]
    fn every_argument_has_a_short_description_and_every_tool_says_when_to_use_it() {
        for tool in all().tools {
            let name = tool.name();
            assert!(name.chars().all(|c| c.is_ascii_lowercase() || c == '_'), "{name}");
            let description = tool.description.description.clone().unwrap_or_default();
            assert!((60..400).contains(&description.len()), "{name}: {description}");
            let schema = &tool.description.input_schema;
            let arguments = schema.get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
            assert!(arguments.len() <= 15, "{name} takes {} arguments", arguments.len());
            let required = schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
            for (argument, schema) in arguments {
                let described = schema["description"].as_str().unwrap_or_default();
                let is_line = !described.is_empty() && described.len() < 140 && !described.contains('\n');
                assert!(is_line, "{name}.{argument}");
                let optional = !required.iter().any(|name| *name == argument);
                let has_default = schema.get("default").is_some()
                    || described.contains("(default: ")
                    || ["boolean", "array"].contains(&schema["type"].as_str().unwrap_or_default());
                assert!(!optional || has_default, "{name}.{argument} has no default: {schema}");
                if ["integer", "number"].contains(&schema["type"].as_str().unwrap_or_default()) {
                    let is_bounded = schema.get("minimum").is_some() && schema.get("maximum").is_some();
                    assert!(is_bounded, "{name}.{argument}: {schema}");
                }
            }
        }
    }
}
