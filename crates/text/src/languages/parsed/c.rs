//! C and C++, and the macros that only a preprocessor understands.

use std::ops::Range;

use super::Naming;
use super::c_declarations::declaration_macros;
use crate::languages::{Language, code};
use crate::lines::{blank, contains};

const C_DEFINITIONS: &str = r"
; What the grammar's own tags leave out.

(union_specifier name: (type_identifier) @name body: (_)) @definition.class
(preproc_def name: (identifier) @name) @definition.constant
(preproc_function_def name: (identifier) @name) @definition.macro
(translation_unit (declaration declarator: (init_declarator declarator: (_) @name)) @definition.constant)
(preproc_ifdef (declaration declarator: (init_declarator declarator: (_) @name)) @definition.constant)
(preproc_if (declaration declarator: (init_declarator declarator: (_) @name)) @definition.constant)
(declaration_list (declaration declarator: (init_declarator declarator: (_) @name)) @definition.constant)

; A declaration in a block is a variable, also where no function is around it, as after `TEST_CASE(…)`.
(function_definition) @wrap
(translation_unit (declaration) @wrap)
(declaration_list (declaration) @wrap)
(linkage_specification (declaration) @wrap)
(preproc_if (declaration) @wrap)
(preproc_ifdef (declaration) @wrap)
(preproc_elif (declaration) @wrap)
(preproc_else (declaration) @wrap)
(ERROR (declaration) @wrap)
(comment) @lead
";

const C_REFERENCES: &str = r"
; The grammar's own tags have no references.

(call_expression function: (identifier) @name) @reference.call
(call_expression function: (field_expression field: (field_identifier) @name)) @reference.call

(type_identifier) @name @reference.type
";

/// C.
#[rustfmt::skip]
pub const C: Language = code("c", "C", "c h").related_to("cpp").parsed(grammar!(
        "c",
        tree_sitter_c::LANGUAGE,
        [tree_sitter_c::TAGS_QUERY, C_DEFINITIONS],
        [C_REFERENCES],
        naming: Naming::COLONS,
        rewrite: Some(blanked_c)
    ));

/// C++.
#[rustfmt::skip]
pub const CPP: Language = code("cpp", "C++", "cpp cc cxx c++ hpp hh hxx h++ ipp inl tpp cu cuh tcc txx ixx cppm ino hip")
    .aliases("cplusplus cuda")
    .related_to("c")
    .parsed(grammar!(
        "cpp",
        tree_sitter_cpp::LANGUAGE,
        [tree_sitter_cpp::TAGS_QUERY, C_DEFINITIONS, r"
; What neither the grammar's own tags nor the additions for C have.

(namespace_definition name: (_) @name) @definition.module
(alias_declaration name: (type_identifier) @name) @definition.alias
(concept_definition name: (identifier) @name) @definition.interface
(function_declarator declarator: (qualified_identifier) @name) @definition.method
(function_declarator declarator: [(destructor_name) (operator_name) (template_function)] @name) @definition.function
(function_definition declarator: (operator_cast) @name) @definition.method
(struct_specifier name: (template_type) @name body: (_)) @definition.class
(class_specifier name: (template_type) @name body: (_)) @definition.class
(struct_specifier name: (qualified_identifier) @name body: (_)) @definition.class
(class_specifier name: (qualified_identifier) @name body: (_)) @definition.class

(template_declaration) @wrap
(template_declaration (declaration) @wrap)
"],
        [C_REFERENCES, r#"
; What C has not.

(call_expression function: (qualified_identifier name: (_) @name)) @reference.call
(call_expression function: (template_function name: (_) @name)) @reference.call
(call_expression function: (field_expression field: (template_method name: (_) @name))) @reference.call
(new_expression type: (_) @name) @reference.call

(base_class_clause [(type_identifier) (qualified_identifier) (template_type)] @name) @reference.implementation
((qualified_identifier scope: (namespace_identifier) @name) @reference.type (#match? @name "^[A-Z]"))
"#],
        depth: 16,
        naming: Naming::COLONS,
        rewrite: Some(blanked_cpp)
    ));

// Macros that only a preprocessor understands: those between `class` and the name, and those alone on a line.

/// Most bytes between the keyword and the body that are looked at.
const CLASS_REACH: usize = 600;

/// The text with the macros of `class EXPORT Name final : Base {` and lines such as `BEGIN_NAMESPACE` blanked out; `None` if there
/// are none.
///
/// Without a preprocessor, such a class looks like a function or like an error, and a macro without a semicolon like the type of
/// what follows. In valid code nothing else stands in these places: a name followed by another before a body or the bases.
pub fn without_class_macros(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let mut places: Vec<Range<usize>> = lone_macros(text);
    let mut from = 0;
    while let Some(keyword) = next_keyword(bytes, from) {
        from = keyword;
        if let Some(macros) = macros(&bytes[keyword..bytes.len().min(keyword + CLASS_REACH)]) {
            places.push(keyword..keyword + macros);
        }
    }
    without(places, text)
}

/// The text with these places blanked out, which hold whole names and argument lists; `None` if there are none.
fn without(places: Vec<Range<usize>>, text: &str) -> Option<String> {
    let mut blanked = (!places.is_empty()).then(|| text.as_bytes().to_vec())?;
    for place in places {
        blank(&mut blanked[place]);
    }
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
pub fn is_lone_macro(line: &str) -> bool {
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
            // Past comments, in which such words are none.
            at = skip_space(bytes, at).max(at + 1);
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
pub fn closed(bytes: &[u8], at: usize, open: u8, close: u8) -> Option<usize> {
    let mut depth = 0_usize;
    for (offset, byte) in bytes.get(at..)?.iter().enumerate() {
        match *byte {
            // An empty value of a parameter is no body.
            b'{' if bytes.get(at + offset + 1) == Some(&b'}') => {}
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

pub fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

pub fn word_end(bytes: &[u8], at: usize) -> usize {
    at + bytes.get(at..).unwrap_or_default().iter().take_while(|byte| is_name(**byte)).count()
}

/// The place after white space, comments and the lines of a preprocessor.
pub fn skip_space(bytes: &[u8], mut at: usize) -> usize {
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

// Macros that define functions: `SYSCALL_DEFINE2(open, …) {` of kernels, `TEST_F(Fixture, Opens) {` of tests. Without a preprocessor, each
// looks like a function of the macro's name, or like an error.

/// Most bytes of the arguments that are looked at.
const FUNCTION_REACH: usize = 4_000;

/// The text of C for its parser; `None` if it can stay.
pub fn blanked_c(text: &str) -> Option<String> {
    blanked(text, false)
}

/// The text of C++ for its parser; `None` if it can stay.
pub fn blanked_cpp(text: &str) -> Option<String> {
    blanked(text, true)
}

fn blanked(text: &str, scoped: bool) -> Option<String> {
    let defined = defined(text, scoped);
    let classes = without_class_macros(defined.as_deref().unwrap_or(text)).or(defined);
    let known = classes.as_deref().unwrap_or(text);
    without(declaration_macros(known.as_bytes()), known).or(classes)
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
        let end = bytes.len().min(open + FUNCTION_REACH);
        let close = closed(&bytes[..end], open, b'(', b')')? - 1;
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
        let of_fixture = [&b"TEST"[..], b"METHOD", b"BENCHMARK"].iter().any(|word| contains(macro_name, word));
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
    use super::{blanked_c, blanked_cpp, without_class_macros};

    #[test]
    fn macros_before_the_name_of_a_class_or_alone_on_a_line_are_blanked() {
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
            assert_eq!(without_class_macros(text).as_deref(), Some(expected), "{text}");
        }
        let text = "namespace a {\nNS_BEGIN\n// Opens.\nclass A {\n  Q_OBJECT\n  B_CD\n  int a;\n};\nNS_END\n}\n";
        let expected = text.replace("NS_BEGIN", "        ").replace("Q_OBJECT", "        ").replace("B_CD", "    ");
        assert_eq!(without_class_macros(text), Some(expected.replace("NS_END", "      ")));
        for text in ["f(a,\n  A_B\n);\n", "int a =\n  A_B\n  + 1;\n", "{\n  A_B\n  = 1,\n}\n", "RED\nint a;\n"] {
            assert_eq!(without_class_macros(text), None, "{text}");
        }
    }

    #[test]
    fn other_code_stays() {
        for text in [
            "class A {", "class A : public B {", "class A final : public B {", "class A;", "class EXPORT A;",
            "struct point p = { 1, 2 };", "struct point f(void) {", "for (const struct entry one : all) {",
            "template <class T, class U> void f() {", "enum class Color : int {", "enum class Color {",
            "enum Color : int {", "struct /* a", "class X_API A // { }", "for (struct entry one : public_ones) {",
            "class A::B : C {", "int a(struct A b) {", "class", "class é é", "class X(", "// A class\nnamespace a {",
        ] {
            assert_eq!(without_class_macros(text), None, "{text}");
        }
    }

    #[test]
    fn macros_that_define_functions_become_functions_and_others_stay() {
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
        for text in [
            "MODULE_LICENSE(\"GPL\");\n", "  TEST(a, b) {\n", "TEST_CASE(\"opens\") {\n", "LOOP(a; b) {\n",
            "INT_MAX + 1\n", "FOUR(", "FOUR(a)",
        ] {
            assert!(blanked_c(text).is_none_or(|written| written == text), "{text}");
        }
    }
}
