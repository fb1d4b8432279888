//! Addresses of documents: `tamis://NAMESPACE/PATH`, percent-encoded.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// Prefix of every address.
const SCHEME: &str = "tamis://";

/// Characters that stay as they are besides letters and digits: the unreserved ones.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// In a path, separators and the characters in the names of issues stay too.
const PLAIN_IN_PATH: &AsciiSet = &PLAIN.remove(b'/').remove(b':').remove(b'@');

/// The address of a document.
pub(crate) fn of(namespace: &str, path: &str) -> String {
    format!("{SCHEME}{}/{}", utf8_percent_encode(namespace, PLAIN), utf8_percent_encode(path, PLAIN_IN_PATH))
}

/// The namespace and the path of an address; `None` for any other text.
pub(crate) fn read(uri: &str) -> Option<(String, String)> {
    let (namespace, path) = uri.strip_prefix(SCHEME)?.split_once('/')?;
    let decoded = |text: &str| percent_decode_str(text).decode_utf8().ok().map(|text| text.into_owned());
    let (namespace, path) = (decoded(namespace)?, decoded(path)?);
    (!namespace.is_empty() && !path.is_empty()).then_some((namespace, path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_read_back() {
        for (namespace, path) in [
            ("app", "src/main.rs"),
            ("app", "issue:12"),
            ("my repo/ü", "docs/a b#c?d%e.md"),
            ("app", "%2e%2e/x"),
            ("a", "odd\nname\u{1b}"),
            ("a:b", "wiki:Home/Page"),
        ] {
            let uri = of(namespace, path);
            assert!(uri.is_ascii() && !uri.contains(' '), "{uri}");
            assert_eq!(read(&uri), Some((namespace.to_owned(), path.to_owned())), "{uri}");
        }
        assert_eq!(of("app", "issue:12"), "tamis://app/issue:12");
    }

    #[test]
    fn other_texts_are_not_addresses() {
        for odd in [
            "", "tamis://", "tamis://app", "tamis://app/", "tamis:///x", "file:///etc/passwd", "tamis://a/%ff",
            "TAMIS://a/b",
        ] {
            assert_eq!(read(odd), None, "{odd}");
        }
    }
}
