//! Writes answers: JSON in the form of `--json`, compressed where the client takes that, with a tag that says if it changed.

use flate2::Compression;
use flate2::write::GzEncoder;
use hyper::header::{ACCEPT_ENCODING, HeaderMap, IF_NONE_MATCH};
use serde::Serialize;
use serde_json::ser::{CompactFormatter, Serializer};
use std::io::Write;
use tamis::text::safe::SafeJson;

/// Shorter answers are sent as they are.
const LEAST_COMPRESSED: usize = 1024;

/// Level of compression: JSON shrinks about as well as at the highest, in a fraction of the time.
const LEVEL: u32 = 4;

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

/// The body compressed; `None` if it is short or the client does not take that.
pub(crate) fn compressed(headers: &HeaderMap, body: &[u8]) -> Option<Vec<u8>> {
    if body.len() < LEAST_COMPRESSED || !takes_gzip(headers) {
        return None;
    }
    let mut encoder = GzEncoder::new(Vec::with_capacity(body.len() / 4), Compression::new(LEVEL));
    encoder.write_all(body).ok()?;
    encoder.finish().ok()
}

/// True if the client names gzip, or anything, with a weight above 0.
fn takes_gzip(headers: &HeaderMap) -> bool {
    let mut any = false;
    for value in headers.get_all(ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok()) {
        for coding in value.split(',') {
            let (name, parameters) = coding.split_once(';').unwrap_or((coding, ""));
            let weight =
                parameters.trim().strip_prefix("q=").map_or(1.0, |weight| weight.trim().parse().unwrap_or(0.0));
            match name.trim().to_ascii_lowercase().as_str() {
                "gzip" | "x-gzip" => return weight > 0.0,
                "*" => any = weight > 0.0,
                _ => {}
            }
        }
    }
    any
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::header::{HeaderName, HeaderValue};
    use std::io::Read;

    fn headers(name: HeaderName, value: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(name, HeaderValue::from_str(value).expect("a header"));
        headers
    }

    #[test]
    fn gzip_is_used_only_where_it_is_wanted_and_pays() {
        for (accepted, wanted) in [
            ("gzip", true),
            ("br, gzip;q=0.5", true),
            ("deflate", false),
            ("gzip;q=0", false),
            ("*", true),
            ("*;q=0", false),
            ("gzip;q=x", false),
            ("identity", false),
        ] {
            let headers = headers(ACCEPT_ENCODING, accepted);
            assert_eq!(compressed(&headers, &[b'a'; 2000]).is_some(), wanted, "{accepted}");
            assert!(compressed(&headers, b"short").is_none());
        }
        assert!(compressed(&HeaderMap::new(), &[b'a'; 2000]).is_none());
        let zipped = compressed(&headers(ACCEPT_ENCODING, "gzip"), &[b'a'; 2000]).expect("compressed");
        let mut whole = Vec::new();
        flate2::read::GzDecoder::new(&zipped[..]).read_to_end(&mut whole).expect("gzip");
        assert_eq!(whole, [b'a'; 2000]);
    }

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
            assert_eq!(is_known(&headers(IF_NONE_MATCH, &given), &tag), known, "{given}");
        }
        assert_ne!(tag, super::tag(b"y"));
    }
}
