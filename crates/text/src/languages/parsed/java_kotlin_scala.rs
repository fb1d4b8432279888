//! The languages of the Java virtual machine: Java, Kotlin, Scala.

use crate::languages::{Language, code};

/// Java.
#[rustfmt::skip]
pub const JAVA: Language =
    code("java", "Java", "java jsh").interpreters("java jbang").parsed(grammar!(
        "java",
        tree_sitter_java::LANGUAGE,
        [tree_sitter_java::TAGS_QUERY, r"
; What the grammar's own tags leave out.

(enum_declaration name: (identifier) @name) @definition.class
(record_declaration name: (identifier) @name) @definition.class
(annotation_type_declaration name: (identifier) @name) @definition.interface
(constructor_declaration name: (identifier) @name) @definition.method
(compact_constructor_declaration name: (identifier) @name) @definition.method

[(line_comment) (block_comment)] @lead
"],
        [tree_sitter_java::TAGS_QUERY, r#"
; What the grammar's own tags leave out.

(object_creation_expression type: (_) @name) @reference.call
(method_reference (identifier) @name .) @reference.call

(superclass (_) @name) @reference.implementation
(type_list (generic_type (type_identifier) @name)) @reference.implementation

(type_identifier) @name @reference.type
(marker_annotation name: (_) @name) @reference.type
(annotation name: (_) @name) @reference.type
((method_invocation object: (identifier) @name) @reference.type (#match? @name "^[A-Z]"))
"#],
        depth: 10
    ));

/// Kotlin, whose grammar has no tags of its own.
#[rustfmt::skip]
pub const KOTLIN: Language = code("kotlin", "Kotlin", "kt kts")
    .interpreters("kotlin kotlinc")
    .related_to("java")
    .parsed(grammar!(
        "kotlin",
        tree_sitter_kotlin_ng::LANGUAGE,
        [r#"
; The grammar has no tags of its own.

(class_declaration name: (identifier) @name) @definition.class
(class_declaration "interface" name: (identifier) @name) @definition.interface
(object_declaration name: (identifier) @name) @definition.class
(type_alias type: (identifier) @name) @definition.alias
(function_declaration name: (identifier) @name) @definition.function
(function_declaration (_) @scope . "." . name: (identifier) @name) @definition.method
(secondary_constructor "constructor" @name) @definition.method

; A property that computes is a method; one that only stores belongs to its type.
(property_declaration (variable_declaration (identifier) @name) [(getter) (setter)]) @definition.method
(property_declaration (_) @scope . "." . (variable_declaration (identifier) @name)) @definition.method
(source_file (property_declaration (variable_declaration (identifier) @name)) @definition.constant)

[(line_comment) (block_comment)] @lead
"#],
        [r#"
; The grammar has no tags of its own.

(call_expression . (identifier) @name) @reference.call
(call_expression . (navigation_expression (identifier) @name .)) @reference.call

(delegation_specifier (user_type (identifier) @name . (type_arguments)? .)) @reference.implementation
(delegation_specifier
  (constructor_invocation (user_type (identifier) @name . (type_arguments)? .))) @reference.implementation
(delegation_specifier
  (explicit_delegation (user_type (identifier) @name . (type_arguments)? .))) @reference.implementation

(user_type (identifier) @name . (type_arguments)? .) @reference.type
((navigation_expression . (identifier) @name) @reference.type (#match? @name "^[A-Z]"))
"#],
        rewrite: Some(closed)
    ));

/// Words that begin a definition with a body of members.
const WITH_MEMBERS: [&str; 3] = ["class", "interface", "object"];

/// The text with a `;` instead of the space before a brace that closes a class on the line of its last member: without it the
/// grammar, which looks for a line end, does not see the end of `class A { fun b() = 1 }`.
fn closed(text: &str) -> Option<String> {
    let mut closed: Option<Vec<u8>> = None;
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        if line.trim_end().ends_with('}') && WITH_MEMBERS.iter().any(|word| line.contains(word)) {
            for at in ends_of_members(line) {
                closed.get_or_insert_with(|| text.as_bytes().to_vec())[start + at] = b';';
            }
        }
        start += line.len();
    }
    closed.and_then(|bytes| String::from_utf8(bytes).ok())
}

/// The spaces in a line that stand before the closing brace of a class.
fn ends_of_members(line: &str) -> Vec<usize> {
    let bytes = line.as_bytes();
    let (mut ends, mut quoted) = (Vec::new(), false);
    // The place of each open brace, and whether it opens the body of a class.
    let mut open: Vec<(usize, bool)> = Vec::new();
    // The part of the line that says what the next brace opens.
    let mut head = 0;
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'"' => quoted = !quoted,
            _ if quoted => {}
            b'/' if bytes.get(at + 1) == Some(&b'/') => break,
            b'{' => {
                let words = line[head..at].split(|character: char| !character.is_alphanumeric());
                open.push((at, words.into_iter().any(|word| WITH_MEMBERS.contains(&word))));
                head = at + 1;
            }
            b'}' => {
                let before = at.checked_sub(1).filter(|before| bytes[*before] == b' ');
                let has_members = |start: usize| line[start..at].contains(|one: char| one.is_alphanumeric());
                if open.pop().is_some_and(|(start, members)| members && has_members(start)) {
                    ends.extend(before);
                }
                head = at;
            }
            b';' => head = at + 1,
            _ => {}
        }
    }
    ends
}

/// Scala 2 and 3.
#[rustfmt::skip]
pub const SCALA: Language = code("scala", "Scala", "scala sc sbt mill")
    .interpreters("scala scala-cli")
    .related_to("java")
    .parsed(grammar!(
        "scala",
        tree_sitter_scala::LANGUAGE,
        [r"
; Instead of the grammar's own tags, which leave out objects.

(class_definition name: (_) @name) @definition.class
(object_definition name: (_) @name) @definition.class
(enum_definition name: (_) @name) @definition.class
(trait_definition name: (_) @name) @definition.interface
(function_definition name: (_) @name) @definition.function
(function_declaration name: (_) @name) @definition.function
(type_definition name: (_) @name) @definition.alias
(compilation_unit (val_definition pattern: (identifier) @name) @definition.constant)
(given_definition name: (_) @name) @definition.class
(extension_definition parameters: (parameters (parameter type: (_) @name))) @definition.implementation

[(comment) (block_comment)] @lead
"],
        [r#"
; Instead of the grammar's own tags, which take what `new` creates for a supertype.

(call_expression function: (identifier) @name) @reference.call
(call_expression function: (field_expression field: (identifier) @name)) @reference.call
(call_expression function: (generic_function function: (identifier) @name)) @reference.call
(call_expression function: (generic_function function: (field_expression field: (identifier) @name))) @reference.call
(instance_expression (type_identifier) @name) @reference.call
(instance_expression (generic_type type: (type_identifier) @name)) @reference.call
(infix_expression operator: (identifier) @name) @reference.call
; A method without parentheses looks like a field.
(field_expression field: (identifier) @name) @reference.call

(extends_clause (type_identifier) @name) @reference.implementation
(extends_clause (generic_type type: (type_identifier) @name)) @reference.implementation
(extends_clause (compound_type (type_identifier) @name)) @reference.implementation
(extends_clause (compound_type (generic_type type: (type_identifier) @name))) @reference.implementation
(extends_clause (applied_constructor_type (type_identifier) @name)) @reference.implementation
(extends_clause (applied_constructor_type (generic_type type: (type_identifier) @name))) @reference.implementation

(type_identifier) @name @reference.type
((field_expression value: (identifier) @name) @reference.type (#match? @name "^[A-Z]"))
"#]
    ));

#[cfg(test)]
mod tests {
    use super::closed;

    #[test]
    fn a_class_on_one_line_gets_the_end_of_its_last_member() {
        for (text, expected) in [
            ("class A { fun b() = 1 }\n", "class A { fun b() = 1;}\n"),
            ("class A { companion object { fun b() = A() } }\n", "class A { companion object { fun b() = A();};}\n"),
            ("fun interface A { fun b() }", "fun interface A { fun b();}"),
        ] {
            assert_eq!(closed(text).as_deref(), Some(expected), "{text}");
        }
        for text in ["class A { }\n", "fun a() { b() }\n", "val a = \"class { b }\"\n", "class A {\n}\n"] {
            assert_eq!(closed(text), None, "{text}");
        }
    }
}
