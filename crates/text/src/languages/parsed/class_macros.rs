//! Macros that only a preprocessor understands: those between `class` and the name, and those alone on a line.

use std::ops::Range;

/// Most bytes between the keyword and the body that are looked at.
const REACH: usize = 600;

/// The text with the macros of `class EXPORT Name final : Base {` and lines such as `BEGIN_NAMESPACE` blanked out; `None` if there
/// are none.
///
/// Without a preprocessor, such a class looks like a function or like an error, and a macro without a semicolon like the type of
/// what follows. In valid code nothing else stands in these places: a name followed by another before a body or the bases.
pub(super) fn blanked(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let mut places: Vec<Range<usize>> = lone_macros(text);
    let mut from = 0;
    while let Some(keyword) = next_keyword(bytes, from) {
        from = keyword;
        if let Some(macros) = macros(&bytes[keyword..bytes.len().min(keyword + REACH)]) {
            places.push(keyword..keyword + macros);
        }
    }
    if places.is_empty() {
        return None;
    }
    let mut blanked = bytes.to_vec();
    for place in places {
        for byte in blanked[place].iter_mut().filter(|byte| **byte != b'\n') {
            *byte = b' ';
        }
    }
    // Whole names and argument lists are replaced, so the rest is as it was.
    String::from_utf8(blanked).ok()
}

/// The lines that hold only the name of a macro, between two statements.
fn lone_macros(text: &str) -> Vec<Range<usize>> {
    let mut places: Vec<Range<usize>> = Vec::new();
    let mut start = 0;
    // True where a statement can begin, and the macro that waits for the next one.
    let (mut begins, mut waiting): (bool, Option<Range<usize>>) = (true, None);
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim();
        let at = start..start + line.trim_end().len();
        start += line.len();
        if trimmed.is_empty() || trimmed.starts_with("//") {
            continue;
        }
        if trimmed.starts_with('#') {
            begins = true;
        } else if begins && is_lone_macro(trimmed) {
            places.extend(waiting.replace(at));
            continue;
        } else {
            begins = trimmed.ends_with(['{', '}', ';', ':']) || trimmed.ends_with("*/");
        }
        if let Some(macros) = waiting.take()
            && trimmed.starts_with(|first: char| {
                first.is_alphabetic() || matches!(first, '_' | '~' | '#' | '/' | '[' | '}' | ':')
            })
        {
            places.push(macros);
        }
    }
    places.extend(waiting);
    places
}

/// `QT_BEGIN_NAMESPACE`.
fn is_lone_macro(line: &str) -> bool {
    line.len() > 3
        && line.contains('_')
        && line.starts_with(|first: char| first.is_ascii_uppercase())
        && line.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
}

/// The place after the next `class`, `struct`, `union` or `enum`.
fn next_keyword(bytes: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    while at < bytes.len() {
        if !is_name(bytes[at]) {
            at += 1;
            continue;
        }
        let start = at;
        at = word_end(bytes, at);
        if is_keyword(&bytes[start..at]) {
            return Some(at);
        }
    }
    None
}

fn is_keyword(word: &[u8]) -> bool {
    matches!(word, b"class" | b"struct" | b"union" | b"enum")
}

/// The number of bytes up to the name of the class, if only macros stand in front of it.
fn macros(head: &[u8]) -> Option<usize> {
    let mut at = skip_space(head, 0);
    // Start of the last name, and of whatever follows the keyword.
    let first = at;
    let mut name = None;
    let mut like_macros = true;
    loop {
        let start = at;
        if head.get(at..at + 2) == Some(b"[[") {
            at = closed(head, at, b'[', b']')?;
        } else if head.get(at).copied().is_some_and(is_name) {
            at = word_end(head, at);
            let word = &head[start..at];
            if matches!(word, b"final" | b"sealed" | b"abstract") {
                break;
            }
            // `enum class`, or the next class: the search for keywords comes to it.
            if is_keyword(word) {
                return None;
            }
            // The name before was a macro.
            if let Some(before) = name.replace(start) {
                like_macros &= is_macro(&head[before..word_end(head, before)]);
            }
            let next = skip_space(head, at);
            if head.get(next) == Some(&b'(') {
                at = closed(head, next, b'(', b')')?;
                // A word with arguments is not a name: `alignas(64)`, `EXPORT(1)`.
                name = None;
                like_macros &= is_macro(word) || matches!(word, b"alignas" | b"__declspec" | b"__attribute__");
            } else if head.get(next..next + 2) == Some(b"::") {
                at = skip_space(head, next + 2);
                at = word_end(head, at);
            }
        } else {
            break;
        }
        at = skip_space(head, at);
    }
    let name = name.filter(|name| *name > first)?;
    at = skip_space(head, at);
    while head.get(at) == Some(&b'<') {
        at = skip_space(head, closed(head, at, b'<', b'>')?);
        if head.get(at..at + 2) == Some(b"::") {
            at = skip_space(head, word_end(head, skip_space(head, at + 2)));
        }
    }
    while head.get(at).copied().is_some_and(is_name) {
        at = skip_space(head, word_end(head, at));
    }
    match head.get(at)? {
        b'{' => Some(name),
        // `for (struct entry one : all)` looks like it has bases.
        b':' if head.get(at + 1) != Some(&b':') && (like_macros || has_access(head, at + 1)) => Some(name),
        _ => None,
    }
}

/// Returns `true` if what follows a colon is the access to a base.
fn has_access(head: &[u8], at: usize) -> bool {
    let start = skip_space(head, at);
    matches!(&head[start..word_end(head, start)], b"public" | b"protected" | b"private" | b"virtual")
}

/// A name in capitals.
fn is_macro(word: &[u8]) -> bool {
    word.len() > 1 && !word.iter().any(u8::is_ascii_lowercase)
}

/// The place after the bracket that closes the one at `at`.
pub(super) fn closed(bytes: &[u8], at: usize, open: u8, close: u8) -> Option<usize> {
    let mut depth = 0_usize;
    for (offset, byte) in bytes.get(at..)?.iter().enumerate() {
        match *byte {
            b'{' | b';' => return None,
            byte if byte == open => depth += 1,
            byte if byte == close => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at + offset + 1);
                }
            }
            _ => {}
        }
    }
    None
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

fn word_end(bytes: &[u8], at: usize) -> usize {
    at + bytes.get(at..).unwrap_or_default().iter().take_while(|byte| is_name(**byte)).count()
}

/// The place after white space, comments and the lines of a preprocessor.
fn skip_space(bytes: &[u8], mut at: usize) -> usize {
    loop {
        let rest = bytes.get(at..).unwrap_or_default();
        let line = || rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
        at += match rest {
            [byte, ..] if byte.is_ascii_whitespace() => 1,
            [b'/', b'/', ..] | [b'#', ..] => line(),
            [b'/', b'*', ..] => match rest.windows(2).skip(2).position(|end| end == b"*/") {
                Some(length) => length + 4,
                None => rest.len(),
            },
            _ => return at,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::blanked;

    #[test]
    fn macros_before_the_name_of_a_class_are_blanked() {
        for (text, expected) in [
            ("class EXPORT A {", "class        A {"),
            ("class Q_CORE_EXPORT A : public B {", "class               A : public B {"),
            ("struct ABSL_X\nABSL_Y(1, (2)) A final : B {", "struct       \n               A final : B {"),
            ("class X_API ns::A<int> {", "class       ns::A<int> {"),
            ("class alignas(64) X A {", "class               A {"),
            ("class qt_export A {", "class           A {"),
            ("union PACKED A {", "union        A {"),
            ("class VIEW A<T>::B : C {", "class      A<T>::B : C {"),
            ("class my_export A : public B {", "class           A : public B {"),
            ("class X_API A // of all\n  : public B {", "class       A // of all\n  : public B {"),
            ("class X_API /* an A */ A /* final */ {", "class                  A /* final */ {"),
            ("class X\n#ifdef Y\n  Y_OWNER\n#endif\n  A {", "class  \n        \n         \n      \n  A {"),
            ("enum X_API A : int {", "enum       A : int {"),
            ("enum class X_API A {", "enum class       A {"),
        ] {
            assert_eq!(blanked(text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn macros_alone_on_a_line_are_blanked() {
        let text = "namespace a {\nNS_BEGIN\n// Opens.\nclass A {\n  Q_OBJECT\n  B_CD\n  int a;\n};\nNS_END\n}\n";
        let expected = text.replace("NS_BEGIN", "        ").replace("Q_OBJECT", "        ").replace("B_CD", "    ");
        assert_eq!(blanked(text), Some(expected.replace("NS_END", "      ")));
        for text in ["f(a,\n  A_B\n);\n", "int a =\n  A_B\n  + 1;\n", "{\n  A_B\n  = 1,\n}\n", "RED\nint a;\n"] {
            assert_eq!(blanked(text), None, "{text}");
        }
    }

    #[test]
    fn other_code_stays() {
        for text in [
            "class A {", "class A : public B {", "class A final : public B {", "class A;", "class EXPORT A;",
            "struct point p = { 1, 2 };", "struct point f(void) {", "for (const struct entry one : all) {",
            "template <class T, class U> void f() {", "enum class Color : int {", "enum class Color {",
            "enum Color : int {", "struct /* a", "class X_API A // { }", "for (struct entry one : public_ones) {",
            "class A::B : C {", "int a(struct A b) {", "class", "class é é", "class X(",
        ] {
            assert_eq!(blanked(text), None, "{text}");
        }
    }
}
