//! Writes answers: JSON in the form of `--json`, with a tag that says if it changed.

use axum::http::header::{HeaderMap, IF_NONE_MATCH};
use serde::Serialize;
use serde_json::ser::{CompactFormatter, Serializer};
use tamis_text::safe::SafeJson;

/// A value as JSON on one line, the bytes that the command prints.
pub(crate) fn json(value: &impl Serialize) -> Vec<u8> {
    let mut body = Vec::new();
    // Writing to memory cannot fail, and the types of answers have no map keys but text.
    let _ = value.serialize(&mut Serializer::with_formatter(&mut body, SafeJson(CompactFormatter)));
    body.push(b'\n');
    body
}

/// The tag of an answer. It is weak, since the same answer can be sent compressed.
pub(crate) fn tag(body: &[u8]) -> String {
    format!("W/\"{}\"", &blake3::hash(body).to_hex()[..32])
}

/// True if the client already has the answer of this tag.
pub(crate) fn is_known(headers: &HeaderMap, tag: &str) -> bool {
    let opaque = |tag: &str| tag.trim().trim_start_matches("W/").to_owned();
    let wanted = opaque(tag);
    headers
        .get_all(IF_NONE_MATCH)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .any(|one| one.trim() == "*" || opaque(one) == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_is_found_in_a_list_weak_or_strong() {
        let tag = tag(b"x");
        let strong = tag.trim_start_matches("W/").to_owned();
        for (given, known) in [
            (tag.clone(), true),
            (strong.clone(), true),
            (format!("\"a\", {tag}"), true),
            ("*".into(), true),
            ("\"a\"".into(), false),
        ] {
            let headers = HeaderMap::from_iter([(IF_NONE_MATCH, given.parse().expect("a header"))]);
            assert_eq!(is_known(&headers, &tag), known, "{given}");
        }
        assert_ne!(tag, super::tag(b"y"));
    }
}
