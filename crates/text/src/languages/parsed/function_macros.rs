//! Macros that define functions: `SYSCALL_DEFINE2(open, …) {` of kernels, `TEST_F(Fixture, Opens) {` of tests. Without a preprocessor, each
//! looks like a function of the macro's name, or like an error.

use super::class_macros;

/// Most bytes of the arguments that are looked at.
const REACH: usize = 4_000;

/// The text of C for its parser; `None` if it can stay.
pub(super) fn blanked_c(text: &str) -> Option<String> {
    blanked(text, false)
}

/// The text of C++ for its parser; `None` if it can stay.
pub(super) fn blanked_cpp(text: &str) -> Option<String> {
    blanked(text, true)
}

fn blanked(text: &str, scoped: bool) -> Option<String> {
    let defined = defined(text, scoped);
    class_macros::blanked(defined.as_deref().unwrap_or(text)).or(defined)
}

/// The text with such definitions as functions, and without calls of macros that stand between them and end without a semicolon.
fn defined(text: &str, scoped: bool) -> Option<String> {
    let bytes = text.as_bytes();
    let mut out: Option<Vec<u8>> = None;
    let mut at = 0;
    while at < bytes.len() {
        if let Some(call) = Call::at(bytes, at) {
            let written = out.get_or_insert_with(|| bytes.to_vec());
            at = call.close + 1;
            match bytes.get(call.next) {
                Some(b'{') => call.define(bytes, written, scoped),
                _ => blank(&mut written[call.start..=call.close]),
            }
        }
        at += bytes[at..].iter().position(|byte| *byte == b'\n').map_or(bytes.len() - at, |end| end + 1);
    }
    // Only ASCII is written, and over whole arguments.
    String::from_utf8(out?).ok()
}

fn blank(bytes: &mut [u8]) {
    bytes.iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
}

/// A call of a macro at the start of a line, which a body or another line follows.
struct Call {
    start: usize,
    open: usize,
    close: usize,
    /// What follows, without white space.
    next: usize,
}

impl Call {
    fn at(bytes: &[u8], start: usize) -> Option<Self> {
        let is_capital = |byte: &u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_';
        let name = bytes[start..].iter().take_while(|byte| is_capital(byte)).count();
        let open = start + name;
        if name < 4 || bytes[start].is_ascii_digit() || bytes.get(open) != Some(&b'(') {
            return None;
        }
        let end = bytes.len().min(open + REACH);
        let close = class_macros::closed(&bytes[..end], open, b'(', b')')? - 1;
        let next = close + 1 + bytes[close + 1..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        let is_alone = bytes[close + 1..next].contains(&b'\n');
        let goes_on =
            bytes.get(next).is_some_and(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'/' | b'#' | b'}'));
        (bytes.get(next) == Some(&b'{') || (is_alone && goes_on)).then_some(Self { start, open, close, next })
    }

    /// Writes `int name(` in place of the macro and its first arguments, and `)` before the body.
    fn define(&self, bytes: &[u8], out: &mut [u8], scoped: bool) {
        let arguments = self.arguments(bytes);
        let Some(first) = arguments.first().filter(|range| is_identifier(&bytes[(*range).clone()])) else { return };
        let macro_name = &bytes[self.start..self.open];
        let of_fixture = [&b"TEST"[..], b"METHOD", b"BENCHMARK"]
            .iter()
            .any(|word| macro_name.windows(word.len()).any(|window| window == *word));
        let second = arguments
            .get(1)
            .filter(|range| of_fixture && arguments.len() == 2 && is_identifier(&bytes[(*range).clone()]));
        let (name, end) = match second {
            Some(second) if scoped && &bytes[first.end..second.start] == b", " => (first.start, second.end),
            Some(second) => (second.start, second.end),
            None => (first.start, first.end),
        };
        // The places between the name and the body that a bracket can take.
        let free: Vec<usize> = (end..self.next).filter(|at| bytes[*at] != b'\n').collect();
        let brackets = match free.as_slice() {
            [open, .., close] => Some((*open, *close, self.next)),
            // Only the bracket of the macro: the body begins a little later.
            [open] => {
                let inside = self.next + 1 + usize::from(bytes.get(self.next + 1) == Some(&b'\n'));
                let is_space = matches!(bytes.get(inside), Some(b' ' | b'\t'));
                is_space.then_some((*open, self.next, inside))
            }
            [] => None,
        };
        let kind: &[u8] = if second.is_some() { b"void" } else { b"int" };
        let Some((open, close, body)) = brackets.filter(|_| name - self.start > kind.len()) else { return };
        blank(&mut out[self.start..name]);
        out[self.start..self.start + kind.len()].copy_from_slice(kind);
        if let Some(second) = second.filter(|_| name == first.start) {
            out[first.end..second.start].copy_from_slice(b"::");
        }
        blank(&mut out[end..self.next]);
        out[body] = b'{';
        out[open] = b'(';
        out[close] = b')';
    }

    /// The arguments without white space around them.
    fn arguments(&self, bytes: &[u8]) -> Vec<std::ops::Range<usize>> {
        let (mut arguments, mut depth, mut start) = (Vec::new(), 0_usize, self.open + 1);
        for at in self.open + 1..=self.close {
            match bytes[at] {
                b'(' => depth += 1,
                b')' if depth > 0 => depth -= 1,
                b',' | b')' if depth == 0 => {
                    let argument = &bytes[start..at];
                    let before = argument.len() - argument.trim_ascii_start().len();
                    let length = argument.trim_ascii().len();
                    arguments.push(start + before..start + before + length);
                    start = at + 1;
                }
                _ => {}
            }
        }
        arguments
    }
}

fn is_identifier(bytes: &[u8]) -> bool {
    bytes.first().is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_')
        && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::{blanked_c, blanked_cpp};

    #[test]
    fn macros_that_define_functions_become_functions() {
        for (text, expected) in [
            (
                "SYSCALL_DEFINE2(weirshut, const char *, name,\n\tint, flags)\n{\n",
                "int             weirshut(                    \n           )\n{\n",
            ),
            ("SYSCALL_DEFINE0(getpid)\n{\n\treturn 0;\n}\n", "int             getpid(\n)\n{return 0;\n}\n"),
            (
                "DEFINE_FREE(weir, struct weir *, if (_T) put(_T))\n\nint f(void) {\n",
                "                                                 \n\nint f(void) {\n",
            ),
        ] {
            assert_eq!(blanked_c(text).as_deref(), Some(expected), "{text}");
        }
        let test = "TEST_F(WeirTest, Opens) {\n}\n";
        assert_eq!(blanked_cpp(test).as_deref(), Some("void   WeirTest::Opens(){\n}\n"));
        assert_eq!(blanked_c(test).as_deref(), Some("void             Opens(){\n}\n"));
    }

    #[test]
    fn other_macros_stay() {
        for text in [
            "MODULE_LICENSE(\"GPL\");\n", "  TEST(a, b) {\n", "TEST_CASE(\"opens\") {\n", "LOOP(a; b) {\n",
            "INT_MAX + 1\n", "FOUR(", "FOUR(a)",
        ] {
            assert!(blanked_c(text).is_none_or(|written| written == text), "{text}");
        }
    }
}
