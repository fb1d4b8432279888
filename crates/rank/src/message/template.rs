//! A text as its words, its placeholders and the marks around its strings.

/// Longest placeholder and longest expression between two strings, in bytes.
const LONGEST_PLACEHOLDER: usize = 80;

/// A piece of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece<'t> {
    /// A word in lower case.
    Word { text: std::borrow::Cow<'t, str>, in_string: bool },
    /// Something that the program fills in.
    Gap { in_string: bool },
    /// A quotation mark: a string begins or ends.
    Mark,
}

impl Piece<'_> {
    pub fn word(&self) -> Option<&str> {
        match self {
            Piece::Word { text, .. } => Some(text),
            _ => None,
        }
    }

    pub fn is_word(&self) -> bool {
        matches!(self, Piece::Word { .. })
    }

    pub fn is_gap(&self) -> bool {
        matches!(self, Piece::Gap { .. })
    }

    pub fn is_in_string(&self) -> bool {
        matches!(self, Piece::Word { in_string: true, .. } | Piece::Gap { in_string: true })
    }
}

/// Calls `each` with the words of a text: runs of letters, digits and underscores, so that an identifier is one.
pub fn each_word(text: &str, mut each: impl FnMut(&str)) {
    let words = text.split(|c: char| !is_of_word(c)).map(|word| word.trim_matches('_'));
    words.filter(|word| !word.is_empty()).for_each(&mut each);
}

fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The pieces of a text. O(its length).
pub fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let bytes = text.as_bytes();
    let mut open: Option<u8> = None;
    // A string without a space is a path or a key, whose words are no message.
    let mut is_name = false;
    // The mark of a string that three marks begin. It is documentation more often than a message.
    let mut long: Option<u8> = None;
    // The word that ends a here-document, whose lines are strings.
    let mut here: Option<&str> = None;
    let mut at = 0;
    while at < bytes.len() {
        let in_string = open.is_some() && !is_name;
        let rest = &text[at..];
        match bytes[at] {
            // An escaped character is no letter of a word. A line that ends so goes on.
            b'\\' => at += 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
            mark @ (b'"' | b'\'') if open.is_none() && bytes[at..].starts_with(&[mark; 3]) => {
                long = if long == Some(mark) { None } else { long.or(Some(mark)) };
                pieces.push(Piece::Mark);
                at += 3;
            }
            // Within such a string, a mark is one of speech.
            b'"' | b'\'' if long.is_some() => at += 1,
            mark @ (b'"' | b'\'' | b'`') => {
                let (length, kind) = marked(text, at, mark, open);
                match kind {
                    Marked::Begins => {
                        open = Some(mark);
                        is_name = has_no_space(&bytes[at + length..], mark);
                        pieces.push(Piece::Mark);
                    }
                    Marked::Ends => {
                        open = None;
                        pieces.push(Piece::Mark);
                    }
                    Marked::Joins => pieces.push(Piece::Gap { in_string: true }),
                    Marked::Nothing => {}
                }
                at += length;
            }
            b'<' if open.is_none() && here.is_none() && here_document(rest).is_some() => {
                here = here_document(rest);
                at += 2;
            }
            b'\n' if here.is_some() => {
                let ends = rest[1..].lines().next().map(without_end) == here;
                open = (!ends).then_some(b'\n');
                is_name = false;
                here = here.filter(|_| !ends);
                pieces.push(Piece::Mark);
                at += 1;
            }
            // Only template strings and long strings have lines. A mark that nothing closed was none.
            b'\n' => {
                if open == Some(b'\'') || open == Some(b'"') && !goes_on(text, at) {
                    open = None;
                }
                at += 1;
            }
            b'{' | b'%' | b'$' | b'#' => match placeholder(rest) {
                Some(length) => {
                    pieces.push(Piece::Gap { in_string });
                    at += length;
                    if in_string {
                        // What follows without a space is one word with what fills the gap: `{}s` becomes 5s.
                        at += text[at..].find(|c: char| !is_of_word(c)).unwrap_or(text.len() - at);
                    }
                }
                None => at += 1,
            },
            byte if byte.is_ascii() && !byte.is_ascii_alphanumeric() && byte != b'_' => at += 1,
            _ => {
                let (length, piece) = word_at(rest, in_string);
                pieces.extend(piece);
                at += length;
            }
        }
    }
    pieces
}

/// The bytes up to the end of the word at the beginning of a text, or of another character, and the word.
fn word_at(text: &str, in_string: bool) -> (usize, Option<Piece<'_>>) {
    let length = text.find(|c: char| !is_of_word(c)).unwrap_or(text.len());
    let word = text[..length].trim_matches('_');
    if word.is_empty() {
        return (length.max(text.chars().next().map_or(1, char::len_utf8)), None);
    }
    let is_lower = word.bytes().all(|byte| byte.is_ascii_lowercase());
    let text = if is_lower { word.into() } else { word.to_lowercase().into() };
    (length, Some(Piece::Word { text, in_string }))
}

/// The word that ends the here-document that begins at the beginning of a text, if one does: `<<~EOM`, `<<-'END'`, `<<<EOT`.
fn here_document(text: &str) -> Option<&str> {
    let begun = text.strip_prefix("<<")?.trim_start_matches(['<', '-', '~']).trim_start_matches(['"', '\'']);
    let word = &begun[..begun.find(|c: char| !(c.is_ascii_uppercase() || c == '_')).unwrap_or(begun.len())];
    (word.len() > 1 && text.lines().skip(1).any(|line| without_end(line) == word)).then_some(word)
}

fn without_end(line: &str) -> &str {
    line.trim().trim_end_matches(';')
}

/// Returns `true` if a string that ends with a mark has no space before it. O(length of its first word).
fn has_no_space(string: &[u8], mark: u8) -> bool {
    let mut escaped = false;
    let ends = |byte: &&u8| {
        let ends = byte.is_ascii_whitespace() || **byte == mark && !escaped;
        escaped = **byte == b'\\' && !escaped;
        ends
    };
    string.iter().find(ends).is_none_or(|byte| *byte == mark)
}

/// The letters before a string of Python.
const STRING_PREFIXES: [&str; 6] = ["f", "r", "b", "u", "fr", "rb"];

/// The effect of a quotation mark.
enum Marked {
    Begins,
    Ends,
    /// The end of a string, something between, and the beginning of the next one.
    Joins,
    Nothing,
}

/// Returns the effect of the mark at a place, and its length in bytes.
fn marked(text: &str, at: usize, mark: u8, open: Option<u8>) -> (usize, Marked) {
    let rest = &text[at + 1..];
    match open {
        Some(open) if open != mark => (1, Marked::Nothing),
        Some(_) => match joined(rest, mark) {
            Some((length, true)) => (1 + length, Marked::Joins),
            Some((length, false)) => (1 + length, Marked::Nothing),
            None => (1, Marked::Ends),
        },
        None if mark == b'\'' => {
            // An apostrophe, a lifetime or a character is no string. One of Python can have letters before it.
            let word = text[..at].rsplit(|c: char| !is_of_word(c)).next().unwrap_or_default();
            let is_prefix = STRING_PREFIXES.iter().any(|prefix| word.eq_ignore_ascii_case(prefix));
            let before = text[..at].chars().next_back().filter(|_| !is_prefix);
            let line = rest.split('\n').next().unwrap_or_default();
            let quotes = line.find('\'').is_some_and(|end| end > 3);
            let begins = quotes && !before.is_some_and(|before| before.is_alphanumeric() || "<&".contains(before));
            (1, if begins { Marked::Begins } else { Marked::Nothing })
        }
        None => (1, Marked::Begins),
    }
}

/// The length of what joins a string to the next one, and whether something stands between: `" + name + "`, `" "`.
fn joined(rest: &str, mark: u8) -> Option<(usize, bool)> {
    let mut end = rest.len().min(LONGEST_PLACEHOLDER);
    while !rest.is_char_boundary(end) {
        end -= 1;
    }
    let next = rest[..end].find(char::from(mark))?;
    let between = rest[..next].trim();
    if between.is_empty() {
        // Two marks in a row are an empty string, not two that are joined.
        return (next > 0).then_some((next + 1, false));
    }
    const OPERATORS: [&str; 5] = ["+", "..", "<<", "&", "."];
    let operator = OPERATORS.into_iter().find(|operator| between.starts_with(operator))?;
    let inner = between.strip_prefix(operator)?.trim();
    match inner.strip_suffix(operator) {
        _ if inner.is_empty() => Some((next + 1, false)),
        Some(expression) if !expression.contains([';', '\n']) => Some((next + 1, true)),
        _ => None,
    }
}

/// Returns `true` if a string goes on after a line, which then ends with a backslash.
fn goes_on(text: &str, newline: usize) -> bool {
    text[..newline].trim_end_matches('\r').ends_with('\\')
}

/// The length of the placeholder at the beginning of a text.
fn placeholder(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    match bytes[0] {
        b'{' => braced(text, 0, false),
        b'$' | b'#' => match bytes.get(1)? {
            b'{' => braced(text, 1, true),
            b'(' if bytes[0] == b'$' => enclosed(text, 1, b'(', b')', true),
            first if bytes[0] == b'$' && (first.is_ascii_alphabetic() || *first == b'_') => {
                Some(1 + text[1..].find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(text.len() - 1))
            }
            _ => None,
        },
        _ => verb(text),
    }
}

/// `{}`, `{name}`, `{0:?}`, `{x!r:>10}`; with a mark before, any expression.
fn braced(text: &str, at: usize, marked: bool) -> Option<usize> {
    enclosed(text, at, b'{', b'}', marked)
}

fn enclosed(text: &str, at: usize, open: u8, close: u8, any: bool) -> Option<usize> {
    let mut depth = 0;
    for (offset, byte) in text.bytes().enumerate().skip(at).take(LONGEST_PLACEHOLDER) {
        match byte {
            byte if byte == open => depth += 1,
            byte if byte == close => {
                depth -= 1;
                if depth == 0 {
                    return Some(offset + 1);
                }
            }
            b'\n' => return None,
            byte if !(any || byte.is_ascii_alphanumeric() || b"_.:?#<>^!$*+-[]()'&".contains(&byte)) => return None,
            _ => {}
        }
    }
    None
}

/// `%s`, `%-5.2f`, `%(name)s`, `%v`.
fn verb(text: &str) -> Option<usize> {
    let mut at = 1;
    if text[at..].starts_with('(') {
        at += text[at..].find(')').filter(|end| *end < LONGEST_PLACEHOLDER)? + 1;
    }
    let bytes = text.as_bytes();
    while at < bytes.len() && b"-+#0123456789.*lhzqjt".contains(&bytes[at]) {
        at += 1;
    }
    // `q` and `t` are lengths in C, and verbs in Go.
    if at > 1 && b"qt".contains(&bytes[at - 1]) && !bytes.get(at).is_some_and(u8::is_ascii_alphabetic) {
        at -= 1;
    }
    let verb = bytes.get(at).is_some_and(|byte| b"sdiuvfFgGeExXopcrqTtwbUa".contains(byte));
    let ends = !bytes.get(at + 1).is_some_and(u8::is_ascii_alphanumeric);
    (verb && ends).then_some(at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Words as they are, gaps as `_`, marks as `|`.
    fn read(text: &str) -> String {
        let shown = |piece: &Piece<'_>| match piece {
            Piece::Word { text, .. } => text.to_string(),
            Piece::Gap { .. } => "_".to_owned(),
            Piece::Mark => "|".to_owned(),
        };
        pieces(text).iter().map(shown).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn placeholders_of_many_languages_are_gaps() {
        for (text, expected) in [
            ("\"open {}: {name} {0:?} {x:>10}\"", "| open _ _ _ _ |"),
            ("\"open %s %d %-5.2f %(name)s %v, 100% sure\"", "| open _ _ _ _ _ 100 sure |"),
            ("\"open %q as %t, %qd %5q\"", "| open _ as _ _ _ |"),
            ("`open ${path.join(a, b)} $name`", "| open _ _ |"),
            ("\"open #{path} here\"", "| open _ here |"),
            ("\"open \" + path + \" here\"", "| open _ here |"),
            ("\"open \" \"here\"", "| open here |"),
            ("\"open \" +\n    \"here\"", "| open here |"),
            ("'open ' . $path . ' here'", "| open _ here |"),
            ("\"open\\nhere \\\"x\\\"\"", "| open here x |"),
            ("\"open\", path", "| open | path"),
            ("fn f<'a>(x: &'a str) { 'x' }", "fn f a x a str x"),
            (
                "raise <<~EOM\n  open #{path} \"here\"\n  or there\n  EOM\nend",
                "raise eom | open _ here | or there | eom end",
            ),
            ("cout <<EOM << a\nopen", "cout eom a open"),
            ("it's a dog's life", "it s a dog s life"),
            ("if x { return y; }", "if x return y"),
        ] {
            assert_eq!(read(text), expected, "{text}");
        }
    }

    #[test]
    fn a_mark_that_nothing_closes_ends_with_its_line() {
        let pieces = pieces("a 5\" screen\nplain");
        assert!(!pieces.last().expect("a word").is_in_string(), "{pieces:?}");
    }
}
