//! Data written into a text: pictures and fonts as base64, which nobody searches for and which would fill dozens of passages.

use std::borrow::Cow;

/// The least length of data after `data:image/png;base64,` that is left out, and of data that nothing announces.
const ANNOUNCED: usize = 64;
const BARE: usize = 512;

/// Most characters between `data:` and the comma.
const HEAD: usize = 100;

/// The text with `…` in place of such data. Its lines stay the same.
pub(crate) fn without_data(text: Cow<'_, str>) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let mut kept: Option<String> = None;
    let (mut from, mut at) = (0, 0);
    while at < bytes.len() {
        if !is_base64(bytes[at]) {
            at += 1;
            continue;
        }
        let length = bytes[at..].iter().position(|byte| !is_base64(*byte)).unwrap_or(bytes.len() - at);
        let run = &bytes[at..at + length];
        if (length >= ANNOUNCED && is_announced(&bytes[..at])) || (length >= BARE && is_mixed(run)) {
            let kept = kept.get_or_insert_with(String::new);
            kept.push_str(&text[from..at]);
            kept.push('…');
            from = at + length;
        }
        at += length;
    }
    match kept {
        Some(mut kept) => {
            kept.push_str(&text[from..]);
            Cow::Owned(kept)
        }
        None => text,
    }
}

/// Characters of base64 in both alphabets, and those of an address that is written with percent signs.
fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'-' | b'_' | b'%')
}

/// Returns `true` if a text ends with the head of data, such as `data:image/png;base64,`.
fn is_announced(before: &[u8]) -> bool {
    let Some(head) = before.strip_suffix(b",") else { return false };
    let head = &head[head.len().saturating_sub(HEAD)..];
    head.windows(5).rposition(|window| window.eq_ignore_ascii_case(b"data:")).is_some_and(|start| {
        let kind = &head[start + 5..];
        kind.iter().all(|byte| byte.is_ascii_alphanumeric() || b"/;=+-._".contains(byte))
    })
}

/// Returns `true` if data has what a long word or path lacks: digits and letters of both cases throughout.
fn is_mixed(run: &[u8]) -> bool {
    let count = |is: fn(&u8) -> bool| run.iter().filter(|byte| is(byte)).count();
    let least = run.len() / 50;
    [u8::is_ascii_lowercase, u8::is_ascii_uppercase, u8::is_ascii_digit].into_iter().all(|is| count(is) > least)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(text: &str) -> String {
        without_data(Cow::Borrowed(text)).into_owned()
    }

    #[test]
    fn data_is_left_out_wherever_it_stands() {
        let data = "iVBORw0KGgoAAAANSUhEUgAA".repeat(40);
        for (before, after) in [
            ("![boiler](data:image/png;base64,", ")\nText"),
            ("<img src=\"data:image/svg+xml;charset=utf-8;base64,", "\">"),
            ("url('DATA:font/woff2;base64,", "')"),
            ("[1]: data:image/png;base64,", "\n"),
        ] {
            assert_eq!(kept(&format!("{before}{data}{after}")), format!("{before}…{after}"));
        }
        assert_eq!(kept(&format!("var icon = \"{data}\";\n// ü")), "var icon = \"…\";\n// ü", "without a head");
        assert_eq!(
            kept(&format!("data:text/plain,{data} and data:a/b;base64,{data}")),
            "data:text/plain,… and data:a/b;base64,…"
        );
    }

    #[test]
    fn words_stay() {
        for text in [
            "data:image/png;base64,iVBORw0KGgo=".to_owned(),
            "see data: a,b".to_owned(),
            "/usr/share/very/long/path".repeat(40),
            "=".repeat(900),
            "0123456789abcdef".repeat(60),
            format!("metadata:{}", "x".repeat(80)),
        ] {
            assert!(matches!(without_data(Cow::Borrowed(&text)), Cow::Borrowed(_)), "{text}");
        }
    }
}
