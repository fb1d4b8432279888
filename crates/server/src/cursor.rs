//! Cursors: the start of an answer's next page.
//!
//! A cursor holds the position, a hash of the tool with its arguments, and a hash of the list. The server stores nothing, so a
//! cursor is valid after a restart. It works only for the call that it came from, and the answer says when the list has changed.

use rmcp::model::JsonObject;
use serde_json::Value;

/// Arguments that change the form of an answer, but not its content.
const PRESENTATION_ARGUMENTS: [&str; 2] = ["cursor", "max_chars"];

/// Hexadecimal digits of a hash.
const HASH_DIGITS: usize = 16;

/// The start of a page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cursor {
    /// Number of entries, or of characters, on the pages before.
    pub start: usize,
    /// True if the answer goes out as data too, which then has to fit as well.
    pub with_data: bool,
    /// Hash of the tool and its arguments.
    call: String,
    /// Hash of the list when the cursor was made; `None` on the first page.
    listed: Option<String>,
}

impl Cursor {
    /// The start that the arguments of a call ask for: their cursor, or the beginning.
    ///
    /// # Errors
    /// The cursor is invalid, or belongs to another call.
    pub fn of(tool: &str, arguments: &JsonObject) -> Result<Cursor, String> {
        let call = call(tool, arguments);
        let Some(cursor) = arguments.get("cursor").and_then(Value::as_str) else {
            return Ok(Cursor { call, ..Cursor::default() });
        };
        let parts: Vec<&str> = cursor.split('-').collect();
        let parts = match parts.as_slice() {
            ["1", start, made, listed] if listed.len() == HASH_DIGITS => {
                usize::from_str_radix(start, 16).ok().zip(Some((made, listed)))
            }
            _ => None,
        };
        let Some((start, (made, listed))) = parts else {
            return Err(
                "cursor: does not come from this tool; copy next_cursor of its last answer unchanged".to_owned()
            );
        };
        if *made != call {
            let reason =
                "cursor: comes from a call with other arguments; repeat those arguments, or leave the cursor out";
            return Err(reason.to_owned());
        }
        Ok(Cursor { start, call, listed: Some((*listed).to_owned()), with_data: false })
    }

    /// The text of a cursor for a later page of the list.
    pub fn next(&self, start: usize, listed: &str) -> String {
        format!("1-{start:x}-{}-{listed}", self.call)
    }

    /// True if the list has changed since the page before.
    pub fn has_changed(&self, listed: &str) -> bool {
        self.listed.as_ref().is_some_and(|before| before != listed)
    }
}

/// The warning when the list has changed between two pages.
pub(crate) const CHANGED: &str = "the index has changed since the last page, so results may be missing or repeated; start again without a cursor to be sure";

/// Hash of a list, by the names of its entries in order.
pub(crate) fn fingerprint<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let mut hasher = blake3::Hasher::new();
    for name in names {
        hasher.update(&(name.len() as u64).to_le_bytes());
        hasher.update(name.as_bytes());
    }
    hasher.finalize().to_hex()[..HASH_DIGITS].to_owned()
}

fn call(tool: &str, arguments: &JsonObject) -> String {
    let mut given: Vec<(&String, &Value)> =
        arguments.iter().filter(|(name, _)| !PRESENTATION_ARGUMENTS.contains(&name.as_str())).collect();
    given.sort_by_key(|(name, _)| *name);
    let text = serde_json::to_string(&given).unwrap_or_default();
    fingerprint([tool, text.as_str()].into_iter())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn cursor(arguments: Value) -> Result<Cursor, String> {
        let Value::Object(arguments) = arguments else { panic!("an object") };
        Cursor::of("search", &arguments)
    }

    #[test]
    fn a_cursor_continues_where_its_page_ended() {
        let first = cursor(json!({ "query": "x", "limit": 5 })).expect("the beginning");
        assert_eq!(first.start, 0);
        let listed = fingerprint(["a", "b"].into_iter());
        let next = first.next(20, &listed);
        let second = cursor(json!({ "limit": 5, "query": "x", "cursor": next, "max_chars": 900 })).expect("its own");
        assert_eq!(second.start, 20);
        assert!(!second.has_changed(&listed));
        assert!(second.has_changed(&super::fingerprint(["b", "a"].into_iter())));
    }

    #[test]
    fn trap_a_cursor_of_another_call_is_refused() {
        let next = cursor(json!({ "query": "x" })).expect("the beginning").next(3, &fingerprint([].into_iter()));
        let refused = cursor(json!({ "query": "y", "cursor": next })).expect_err("of another call");
        assert!(refused.contains("other arguments"), "{refused}");
        let Value::Object(arguments) = json!({ "query": "x", "cursor": next }) else { panic!("an object") };
        assert!(Cursor::of("get", &arguments).is_err(), "of another tool");
        for odd in ["", "1", "1-zz-a-b", "9-1-a-b", "1-ffffffffffffffffffff-a-0000000000000000", "ä-ö-ü-ß"] {
            let refused = cursor(json!({ "query": "x", "cursor": odd })).expect_err("no cursor");
            assert!(refused.contains("next_cursor"), "{odd}: {refused}");
        }
    }
}
