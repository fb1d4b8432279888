//! Where an answer goes on: a text that carries all there is to know, so that the server keeps nothing.
//!
//! A cursor holds the place, a hash of the tool with its arguments, and a hash of what was listed. It serves the call that it
//! came from and no other, also after a restart; where what is listed has changed in between, the answer says so.

use rmcp::model::JsonObject;
use serde_json::Value;

/// Arguments that say how an answer is given and not what is in it.
const OF_FORM: [&str; 2] = ["cursor", "max_chars"];

/// Digits of a hash.
const DIGITS: usize = 16;

/// Where a page begins, and how the next one is named.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place {
    /// How much was given before.
    pub start: usize,
    /// The call.
    call: String,
    /// What was listed when the cursor was made; `None` on the first page.
    listed: Option<String>,
}

impl Place {
    /// The place that the arguments of a call name: the beginning, or that of their cursor.
    ///
    /// # Errors
    /// The cursor is none, or of another call.
    pub fn of(tool: &str, arguments: &JsonObject) -> Result<Place, String> {
        let call = call(tool, arguments);
        let Some(cursor) = arguments.get("cursor").and_then(Value::as_str) else {
            return Ok(Place { start: 0, call, listed: None });
        };
        let parts: Vec<&str> = cursor.split('-').collect();
        let parts = match parts.as_slice() {
            ["1", start, made, listed] if listed.len() == DIGITS => {
                usize::from_str_radix(start, 16).ok().zip(Some((made, listed)))
            }
            _ => None,
        };
        let Some((start, (made, listed))) = parts else {
            return Err("cursor: not one that this tool gave; take next_cursor of its last answer as it is".to_owned());
        };
        if *made != call {
            let reason =
                "cursor: of a call with other arguments; give it with the arguments that it came from, or leave it out";
            return Err(reason.to_owned());
        }
        Ok(Place { start, call, listed: Some((*listed).to_owned()) })
    }

    /// The cursor of a later page of what is listed now.
    pub fn next(&self, start: usize, listed: &str) -> String {
        format!("1-{start:x}-{}-{listed}", self.call)
    }

    /// Whether what is listed is no longer what it was on the page before.
    pub fn has_changed(&self, listed: &str) -> bool {
        self.listed.as_ref().is_some_and(|before| before != listed)
    }
}

/// What an answer says where that is so.
pub(crate) const CHANGED: &str = "what is indexed has changed since the last page, so that results may be missing or come twice; begin again without a cursor to be sure";

/// A hash of what is listed, by the names of it in their order.
pub(crate) fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let mut hasher = blake3::Hasher::new();
    for name in names {
        hasher.update(&(name.len() as u64).to_le_bytes());
        hasher.update(name.as_bytes());
    }
    hasher.finalize().to_hex()[..DIGITS].to_owned()
}

fn call(tool: &str, arguments: &JsonObject) -> String {
    let mut given: Vec<(&String, &Value)> =
        arguments.iter().filter(|(name, _)| !OF_FORM.contains(&name.as_str())).collect();
    given.sort_by_key(|(name, _)| *name);
    let text = serde_json::to_string(&given).unwrap_or_default();
    listed([tool, text.as_str()].into_iter())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn place(arguments: Value) -> Result<Place, String> {
        let Value::Object(arguments) = arguments else { panic!("an object") };
        Place::of("search", &arguments)
    }

    #[test]
    fn a_cursor_goes_on_where_its_call_ended() {
        let first = place(json!({ "query": "x", "limit": 5 })).expect("the beginning");
        assert_eq!(first.start, 0);
        let listed = listed(["a", "b"].into_iter());
        let cursor = first.next(20, &listed);
        let second = place(json!({ "limit": 5, "query": "x", "cursor": cursor, "max_chars": 900 })).expect("its own");
        assert_eq!(second.start, 20);
        assert!(!second.has_changed(&listed));
        assert!(second.has_changed(&super::listed(["b", "a"].into_iter())));
    }

    #[test]
    fn trap_a_cursor_of_another_call_is_refused() {
        let cursor = place(json!({ "query": "x" })).expect("the beginning").next(3, &listed([].into_iter()));
        let refused = place(json!({ "query": "y", "cursor": cursor })).expect_err("of another call");
        assert!(refused.contains("other arguments"), "{refused}");
        let Value::Object(arguments) = json!({ "query": "x", "cursor": cursor }) else { panic!("an object") };
        assert!(Place::of("get", &arguments).is_err(), "of another tool");
        for odd in ["", "1", "1-zz-a-b", "9-1-a-b", "1-ffffffffffffffffffff-a-0000000000000000", "ä-ö-ü-ß"] {
            let refused = place(json!({ "query": "x", "cursor": odd })).expect_err("no cursor");
            assert!(refused.contains("next_cursor"), "{odd}: {refused}");
        }
    }
}
