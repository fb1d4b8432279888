//! Python, and the commands of IPython.

use super::{Ends, Naming};
use crate::languages::{Language, code};

/// Python.
#[rustfmt::skip]
pub const PYTHON: Language = code("python", "Python", "py pyi pyw wsgi gyp gypi")
    .files("sconstruct sconscript wscript")
    .interpreters("python pypy uv ipython")
    .aliases("python3")
    .parsed(grammar!(
        "python",
        tree_sitter_python::LANGUAGE,
        [tree_sitter_python::TAGS_QUERY, r"
; What the grammar's own tags leave out.

(module (expression_statement (assignment left: (identifier) @name)) @definition.constant)
(module (type_alias_statement left: (type (identifier) @name)) @definition.alias)

(decorated_definition) @wrap
(comment) @lead
"],
        [tree_sitter_python::TAGS_QUERY, r"
; What the grammar's own tags leave out.

(decorator [(identifier) @name (attribute attribute: (identifier) @name)]) @reference.call

(class_definition
  superclasses: (argument_list [
    (identifier) @name
    (attribute attribute: (identifier) @name)
    (subscript value: (identifier) @name)])) @reference.implementation

(type [
  (identifier) @name
  (attribute attribute: (identifier) @name)
  (subscript value: (identifier) @name)
  (generic_type (identifier) @name)
  (binary_operator (identifier) @name)]) @reference.type
(type (binary_operator (subscript value: (identifier) @name))) @reference.type
"],
        depth: 10,
        naming: Naming { ends: Ends::Colon, ..Naming::DOTS },
        rewrite: Some(blanked),
        title: Some(title)
    ));

/// The first line of the docstring.
fn title<'text>(rows: &[&'text str]) -> Option<&'text str> {
    let mut rows = rows.iter().copied();
    let first = rows.find(|line| !line.is_empty() && !line.starts_with('#'))?;
    let body = first.trim_start_matches(['r', 'R', 'u', 'U']);
    let quote = ["\"\"\"", "'''", "\"", "'"].into_iter().find(|quote| body.starts_with(quote))?;
    let text = body[quote.len()..].trim();
    let text = if text.is_empty() { rows.find(|line| !line.is_empty())? } else { text };
    Some(text.trim_end_matches(quote))
}

// Commands of IPython in Python: `%matplotlib inline`, `!pip install`, `name?`, `files = !ls`, and `%%time` on the first line.

/// The text with names in place of such commands, which a parser of Python takes for errors; `None` if there are none.
pub fn blanked(text: &str) -> Option<String> {
    let mut blanked: Option<String> = None;
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        if let Some(command) = command(line.trim_end()) {
            let end = start + line.trim_end().len();
            let blanked = blanked.get_or_insert_with(|| text.to_owned());
            blanked.replace_range(start + command..end, &"_".repeat(end - start - command));
        }
        start += line.len();
    }
    blanked
}

/// Where a command begins on a line.
fn command(line: &str) -> Option<usize> {
    let bare = line.trim_start();
    let indent = line.len() - bare.len();
    if is_command(bare) || is_question(bare) {
        return Some(indent);
    }
    let equals = bare.find('=')?;
    let (names, value) = (&bare[..equals], bare[equals + 1..].trim_start());
    let is_target = |one: char| one.is_alphanumeric() || "_., []'\"".contains(one);
    (is_command(value) && !names.trim().is_empty() && names.chars().all(is_target)).then(|| line.len() - value.len())
}

/// `%name`, `%%name`, `!command`; a remainder and a difference have something in front, or a space behind.
fn is_command(text: &str) -> bool {
    let starts = |rest: &str| rest.starts_with(|first: char| first.is_alphabetic() || first == '_');
    match text.as_bytes() {
        [b'%', ..] => starts(text.trim_start_matches('%')),
        [b'!', b'=', ..] => false,
        [b'!', ..] => text.len() > 1,
        _ => false,
    }
}

/// `name?`, `name.part??`, `?name`.
fn is_question(text: &str) -> bool {
    let name = text.trim_start_matches('?').trim_end_matches('?');
    name.len() < text.len()
        && name.starts_with(|first: char| first.is_alphabetic() || first == '_')
        && name.chars().all(|one| one.is_alphanumeric() || "_.%*".contains(one))
}

#[cfg(test)]
mod tests {
    use super::blanked;

    #[test]
    fn commands_become_names_and_python_stays() {
        for (line, expected) in [
            ("%matplotlib inline", "__________________"),
            ("    !pip install x", "    ______________"),
            ("df = %sql select 1", "df = _____________"),
            ("a, b['c'] = !ls é", "a, b['c'] = ______"),
            ("foo.bar??", "_________"),
            ("?foo", "____"),
        ] {
            assert_eq!(blanked(&format!("x = 1\n{line}\ny = 2\n")), Some(format!("x = 1\n{expected}\ny = 2\n")));
        }
        for line in [
            "x = a % b", "x %= 3", "    % (a, b))", "if a != b:", "f'{a = !r}'", "x = 'why?'", "print(a) # why?",
            "= !x",
        ] {
            assert_eq!(blanked(&format!("{line}\n")), None, "{line}");
        }
    }
}
