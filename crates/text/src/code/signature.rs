//! The first line of a definition, as context for what stands apart from it.

/// Longest signature, in characters.
const LENGTH: usize = 160;
/// How far a signature may reach into the text, in bytes.
const REACH: usize = 2_000;

/// The text of a definition up to its body, in one line.
///
/// Ends before an opening brace, after the colon of Python's `def` and `class`, before `=` or `;` outside of brackets.
/// Decorators and annotations on lines of their own are left out.
pub(super) fn signature(definition: &str, colon_ends: bool) -> String {
    let text = skip_decorators(definition);
    let mut depth = 0_i32;
    let mut signature = String::new();
    let mut space = false;
    let mut characters = text.char_indices().peekable();
    while let Some((offset, character)) = characters.next() {
        match character {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            '{' | ';' if depth <= 0 => break,
            ':' if colon_ends && depth <= 0 => break,
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

fn skip_decorators(mut text: &str) -> &str {
    while text.starts_with('@') && !text.starts_with("@interface") {
        match text.split_once('\n') {
            Some((_, rest)) => text = rest.trim_start(),
            None => break,
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::signature;

    #[test]
    fn ends_before_the_body() {
        for (definition, colon_ends, expected) in [
            (
                "pub fn open(\n    path: &Path,\n) -> Result<Self> {\n body }",
                false,
                "pub fn open( path: &Path, ) -> Result<Self>",
            ),
            (
                "@cached\n@wraps(f)\ndef get(self, key: str = ':') -> int:\n    pass",
                true,
                "def get(self, key: str = ':') -> int",
            ),
            ("class Store extends Base {", false, "class Store extends Base"),
            ("const open = ({ path }) => {", false, "const open"),
            ("bool operator==(const A& b) const { }", false, "bool operator==(const A& b) const"),
            ("A& operator=(const A& b) {", false, "A& operator=(const A& b)"),
            (
                "impl<T: Fn(u8) -> u8> Run for T\nwhere T: Clone {",
                false,
                "impl<T: Fn(u8) -> u8> Run for T where T: Clone",
            ),
        ] {
            assert_eq!(signature(definition, colon_ends), expected);
        }
    }

    #[test]
    fn is_never_long() {
        assert_eq!(signature(&"é".repeat(5_000), false).chars().count(), 160);
        assert_eq!(signature("", false), "");
    }
}
