//! Data written into a text: pictures, fonts and certificates as base64, which nobody searches for and which would fill dozens of
//! passages.

use std::borrow::Cow;
use std::ops::{Range, RangeInclusive};

/// The least length of data after `data:image/png;base64,` that is left out, and of data that nothing announces.
const ANNOUNCED: usize = 64;
const BARE: usize = 512;

/// The least number of lines of equal length that are data, such as the body of a certificate, and the length of each. Programs that
/// write base64 break it at multiples of four, mostly at 64 or 76.
const LINES: usize = 8;
const WIDTHS: RangeInclusive<usize> = 60..=256;

/// The language of the block in which Obsidian's Excalidraw keeps a drawing, and that of one that is not packed. What it says in
/// words stands before the block.
const DRAWINGS: [&str; 2] = ["```compressed-json", "```json"];

/// Most characters between `data:` and the comma.
const HEAD: usize = 100;

/// The text with `…` in place of such data. Its lines stay the same.
pub fn without_data(text: Cow<'_, str>) -> Cow<'_, str> {
    let text = without_drawings(text);
    let bytes = text.as_bytes();
    let mut kept: Option<String> = None;
    let (mut from, mut at) = (0, 0);
    while at < bytes.len() {
        if !is_base64(bytes[at]) {
            at += 1;
            continue;
        }
        let length = run_until(&bytes[at..], |byte| !is_base64(byte));
        let run = &bytes[at..at + length];
        if (length >= ANNOUNCED && is_announced(&bytes[..at])) || (length >= BARE && is_mixed(run)) {
            let kept = kept.get_or_insert_with(String::new);
            kept.push_str(&text[from..at]);
            kept.push('…');
            from = at + length;
        } else if WIDTHS.contains(&length) && length.is_multiple_of(4) {
            let lines = wrapped(bytes, at..at + length);
            if let [.., last] = lines.as_slice()
                && lines.len() >= LINES
            {
                let first = at;
                at = last.end;
                if is_mixed(&bytes[first..at]) {
                    let kept = kept.get_or_insert_with(String::new);
                    for line in lines {
                        kept.push_str(&text[from..line.start]);
                        kept.push_str(if line.start == first { "…" } else { "" });
                        from = line.end;
                    }
                }
                continue;
            }
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

/// The text with empty lines in place of the drawings in it.
fn without_drawings(text: Cow<'_, str>) -> Cow<'_, str> {
    let is_drawn = text.lines().take(20).any(|line| line.starts_with("excalidraw-plugin:"));
    if !is_drawn && !text.contains(DRAWINGS[0]) {
        return text;
    }
    let mut kept = String::with_capacity(text.len());
    let (mut in_block, mut below, mut headed) = (false, false, false);
    for line in text.split_inclusive('\n') {
        let bare = line.trim();
        let begins = bare == DRAWINGS[0] || (bare == DRAWINGS[1] && is_drawn && headed);
        // The comment that hides the block ends right after it.
        let is_left_out = in_block || begins || (below && bare == "%%");
        below = in_block && bare == "```";
        in_block = (in_block || begins) && !below;
        if bare.starts_with('#') {
            headed = bare.trim_start_matches('#').trim() == "Drawing";
        }
        match is_left_out {
            true => kept.push_str(if line.ends_with('\n') { "\n" } else { "" }),
            false => kept.push_str(line),
        }
    }
    Cow::Owned(kept)
}

fn run_until(bytes: &[u8], ends: impl Fn(u8) -> bool) -> usize {
    bytes.iter().position(|byte| ends(*byte)).unwrap_or(bytes.len())
}

/// Returns the data on each of the lines that a run of base64 begins: as long as the first, and perhaps a shorter one at the end.
/// Around it stand only white space and marks of quotations, comments and strings.
fn wrapped(bytes: &[u8], first: Range<usize>) -> Vec<Range<usize>> {
    let is_mark = |byte: &u8| byte.is_ascii_whitespace() || br#"\"'`,;.()>#*|"#.contains(byte);
    let is_padded = |data: &[u8]| data.contains(&b'=');
    let width = first.len();
    let mut lines = vec![first];
    // The length of what follows data on its line. A string ends with the sign of a line end, or goes on with a plus.
    let rest = |after: usize| {
        let length = run_until(&bytes[after..], |byte| byte == b'\n');
        bytes[after..after + length].iter().all(|byte| is_mark(byte) || b"nr+".contains(byte)).then_some(length)
    };
    while let Some(last) = lines.last().filter(|last| last.len() == width && !is_padded(&bytes[(*last).clone()])) {
        let Some(next) = rest(last.end).map(|length| last.end + length + 1).filter(|next| *next < bytes.len()) else {
            break;
        };
        // An empty line between two.
        let next = if bytes[next] == b'\n' { next + 1 } else { next };
        if next >= bytes.len() {
            break;
        }
        let start = next + run_until(&bytes[next..], |byte| byte == b'\n' || !is_mark(&byte));
        let data = start..start + run_until(&bytes[start..], |byte| !is_base64(byte));
        let of_data = &bytes[data.clone()];
        let is_end = data.len() < width && (is_padded(of_data) || has_all(of_data, 0));
        if data.len() % 4 != 0 || !(data.len() == width || is_end) || rest(data.end).is_none() {
            break;
        }
        lines.push(data);
    }
    lines
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
    has_all(run, run.len() / 50)
}

/// Returns `true` if there are more small letters, capital letters and digits each than this number.
fn has_all(run: &[u8], least: usize) -> bool {
    let count = |is: fn(&u8) -> bool| run.iter().filter(|byte| is(byte)).count();
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
        let plain = kept(&format!("data:text/plain,{data} and data:a/b;base64,{data}"));
        assert_eq!(plain, "data:text/plain,… and data:a/b;base64,…");
    }

    fn wrapped_data(width: usize, lines: usize) -> Vec<String> {
        let data: String = (0..width * lines)
            .map(|at| "MIIDdzCCAl+gAwIBAgIEbh7q/0aXkT5sZ9RwYv"[at * 7 % 38..].chars().next())
            .map(|c| c.unwrap_or('A'))
            .collect();
        let mut lines: Vec<String> =
            data.as_bytes().chunks(width).map(|line| String::from_utf8_lossy(line).into_owned()).collect();
        lines.push("aX0BAg==".to_owned());
        lines
    }

    #[test]
    fn data_over_many_lines_is_left_out() {
        for width in [60, 64, 76] {
            let lines = wrapped_data(width, 12);
            for (before, after) in [("", ""), ("    ", ""), ("> ", ""), ("    \"", "\\n\""), ("  '", "' +"), ("# ", "")]
            {
                let text = |line: &str| format!("{before}{line}{after}\n");
                let (head, end) = ("-----BEGIN CERTIFICATE-----\n", "-----END CERTIFICATE-----\nText\n");
                let body: String = lines.iter().map(|line| text(line)).collect();
                let rest = text("").repeat(lines.len() - 1);
                assert_eq!(kept(&format!("{head}{body}{end}")), format!("{head}{}{rest}{end}", text("…")));
            }
        }
    }

    #[test]
    fn lines_that_look_like_data_and_words_stay() {
        let data = wrapped_data(64, 12);
        let numbered = |line: &dyn Fn(usize) -> String| (0..40).map(|number| line(number) + "\n").collect::<String>();
        for text in [
            data[..LINES - 1].join("\n"),
            numbered(&|at| format!("{}  src/file{at}.rs", &data[at % 12])),
            numbered(&|at| format!("sha512-{}{:02}==", data[at % 12].repeat(2).split_at(84).0, at)),
            numbered(&|at| format!("{:064x}", at.wrapping_mul(0x9e37_79b9_7f4a_7c15))),
            numbered(&|at| format!("{at:08X} 4D 5A 90 00 03 00 00 00 04 00 00 00 FF FF 00 00 B8 00 00 00")),
            numbered(&|at| "TheVeryLongNameOfAnErrorThatNobodyWouldEverWant".to_owned() + &"x".repeat(at % 9 + 10)),
            numbered(&|_| "one of many lines of natural text, which are all of one length.".to_owned()),
            numbered(&|at| format!("path/to/the/{at:04}/{}", "directory".repeat(at % 3 + 4))),
        ] {
            assert_eq!(kept(&text), text);
        }
        let text = format!("{}\nA0b1 and text\nTextThatFollows\n", data[..12].join("\n"));
        assert!(kept(&text).ends_with("\nA0b1 and text\nTextThatFollows\n"), "{}", kept(&text));
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
