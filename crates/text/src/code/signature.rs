//! The first line of a definition, as context for passages separate from it.

use crate::languages::grammar::Ends;

/// Longest signature, in characters.
const LENGTH: usize = 160;
/// Bytes of the text that a signature may span.
const REACH: usize = 2_000;

/// The text of a definition up to its body, in one line.
///
/// Ends before an opening brace, `=` or `;` outside brackets, and before the character that `ends` it in its language.
pub(super) fn signature(text: &str, ends: Ends) -> String {
    let mut depth = 0_i32;
    let mut signature = String::new();
    let mut space = false;
    let mut characters = text.char_indices().peekable();
    while let Some((offset, character)) = characters.next() {
        match character {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            '{' | ';' if depth <= 0 => break,
            ':' if ends == Ends::Colon && depth <= 0 => break,
            '\n' if ends == Ends::Line && depth <= 0 => break,
            '=' if depth <= 0
                && !matches!(characters.peek(), Some((_, '=' | '>')))
                && !after_operator(text, offset) =>
            {
                break;
            }
            _ => {}
        }
        if offset > REACH {
            break;
        }
        if character.is_whitespace() {
            space = !signature.is_empty();
            continue;
        }
        if std::mem::take(&mut space) {
            signature.push(' ');
        }
        signature.push(character);
    }
    match signature.char_indices().nth(LENGTH) {
        Some((end, _)) => signature[..end].to_owned(),
        None => signature,
    }
}

/// `==`, `<=` and `operator=` do not begin a value.
fn after_operator(text: &str, offset: usize) -> bool {
    text[..offset].ends_with(['=', '<', '>', '!']) || text[..offset].ends_with("operator")
}

#[cfg(test)]
mod tests {
    use super::{Ends, signature};

    #[test]
    fn ends_before_the_body() {
        for (definition, ends, expected) in [
            (
                "pub fn open(\n    path: &Path,\n) -> Result<Self> {\n body }",
                Ends::Brace,
                "pub fn open( path: &Path, ) -> Result<Self>",
            ),
            ("def get(self, key: str = ':') -> int:\n    pass", Ends::Colon, "def get(self, key: str = ':') -> int"),
            ("class Store extends Base {", Ends::Brace, "class Store extends Base"),
            ("def open(path,\n         mode)\n  File.new(path)", Ends::Line, "def open(path, mode)"),
            ("const open = ({ path }) => {", Ends::Brace, "const open"),
            ("bool operator==(const A& b) const { }", Ends::Brace, "bool operator==(const A& b) const"),
            ("A& operator=(const A& b) {", Ends::Brace, "A& operator=(const A& b)"),
            (
                "impl<T: Fn(u8) -> u8> Run for T\nwhere T: Clone {",
                Ends::Brace,
                "impl<T: Fn(u8) -> u8> Run for T where T: Clone",
            ),
        ] {
            assert_eq!(signature(definition, ends), expected);
        }
    }

    #[test]
    fn is_never_long() {
        assert_eq!(signature(&"é".repeat(5_000), Ends::Brace).chars().count(), 160);
        assert_eq!(signature("", Ends::Brace), "");
    }
}
