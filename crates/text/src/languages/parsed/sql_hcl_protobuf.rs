//! Languages of data and configuration: SQL with its procedures, HCL, Protocol Buffers.

use std::ops::Range;

use crate::languages::{Language, code};
use crate::lines::{blank, has_word};

/// SQL. The grammar knows PostgreSQL best; what it does not know of other dialects is divided by lines.
#[rustfmt::skip]
pub const SQL: Language =
    code("sql", "SQL", "sql ddl psql pgsql mysql plsql pls hql")
        .aliases("postgresql mysql sqlite")
        .parsed(grammar!(
        "sql",
        tree_sitter_sequel::LANGUAGE,
        [r"
; The grammar has no tags of its own. The name follows the kind or `IF NOT EXISTS`; other names in a statement do not.

(create_table [(keyword_table) (keyword_exists)] . (object_reference) @name) @definition.class
(create_view [(keyword_view) (keyword_exists)] . (object_reference) @name) @definition.class
(create_materialized_view [(keyword_view) (keyword_exists)] . (object_reference) @name) @definition.class
(create_type (keyword_type) . (object_reference) @name) @definition.class
(create_function (keyword_function) . (object_reference) @name) @definition.function
(create_trigger (keyword_trigger) . (object_reference) @name) @definition.function
(create_index column: (identifier) @name) @definition.constant
(create_sequence [(keyword_sequence) (keyword_exists)] . (object_reference) @name) @definition.constant

[(comment) (marginalia)] @lead
"],
        [r"
; The grammar has no tags of its own.

(invocation (object_reference name: (identifier) @name)) @reference.call
(create_trigger (keyword_function) . (object_reference name: (identifier) @name)) @reference.call

(relation (object_reference name: (identifier) @name)) @reference.type
(from (object_reference name: (identifier) @name)) @reference.type
(insert (object_reference name: (identifier) @name)) @reference.type
(update (object_reference name: (identifier) @name)) @reference.type
(column_definition (object_reference name: (identifier) @name)) @reference.type
(constraint (object_reference name: (identifier) @name)) @reference.type
(create_index (object_reference name: (identifier) @name)) @reference.type
(alter_table (object_reference name: (identifier) @name)) @reference.type
"],
        depth: 6,
        rewrite: Some(blanked)
    ));

// Procedures, functions, triggers and packages in dialects of SQL whose bodies the grammar does not know: T-SQL, MySQL and PL/SQL.

/// The text with such a body as the string of a function of PostgreSQL, and without `GO` and `DELIMITER`; `None` if it has none.
pub fn blanked(text: &str) -> Option<String> {
    let mut out: Option<Vec<u8>> = None;
    let lines = lines(text);
    // Elsewhere, two dollars are the quotation marks of PostgreSQL.
    let dollars = text.to_ascii_uppercase().contains("DELIMITER $$");
    let is_separator = |upper: &str| is_separator(upper) || (dollars && upper == "$$");
    let mut row = 0;
    while let Some(line) = lines.get(row) {
        let upper = text[line.clone()].trim_end().to_ascii_uppercase();
        if is_separator(upper.trim()) {
            let written = out.get_or_insert_with(|| text.as_bytes().to_vec());
            blank(&mut written[line.clone()]);
            // It ends a statement that has no semicolon of its own.
            let before = written[..line.start].trim_ascii_end();
            if upper.trim() == "GO" && before.last().is_some_and(|last| !b";/".contains(last)) {
                written[line.start] = b';';
            }
            row += 1;
            continue;
        }
        match routine(&text[line.clone()], &upper) {
            Some(routine) => {
                let end = end(text, &lines, row, is_separator);
                let statement = line.start..lines[end].end;
                if routine.is_foreign(&text[statement.clone()]) {
                    let written = out.get_or_insert_with(|| text.as_bytes().to_vec());
                    routine.write(&text[statement.clone()], &mut written[statement]);
                }
                row = end + 1;
            }
            None => row += 1,
        }
    }
    // Only ASCII is written, and over whole names and bodies.
    String::from_utf8(out?).ok()
}

fn lines(text: &str) -> Vec<Range<usize>> {
    let mut start = 0;
    let line = |line: &str| {
        let range = start..start + line.trim_end_matches(['\r', '\n']).len();
        start += line.len();
        range
    };
    text.split_inclusive('\n').map(line).collect()
}

/// A line that tells a program where statements end.
fn is_separator(upper: &str) -> bool {
    matches!(upper, "GO" | "/" | "//" | ";;") || upper.starts_with("DELIMITER ")
}

/// The last line of the statement that begins on a line.
fn end(text: &str, lines: &[Range<usize>], first: usize, is_separator: impl Fn(&str) -> bool) -> usize {
    for (row, line) in lines.iter().enumerate().skip(first + 1) {
        let upper = text[line.clone()].trim_end().to_ascii_uppercase();
        let begins = ["CREATE ", "ALTER ", "DROP ", "DELIMITER "].iter().any(|word| upper.starts_with(word));
        if begins || is_separator(upper.trim()) {
            return row - 1;
        }
        let ends = upper.strip_prefix("END").is_some_and(|rest| {
            let word = rest.trim_start().split([' ', ';']).next().unwrap_or_default();
            let of_block = has_word("IF LOOP CASE WHILE REPEAT FOR TRY CATCH", word);
            let is_word = rest.starts_with(|one: char| one.is_alphanumeric() || one == '_');
            rest.is_empty() || (rest.ends_with([';', '/', '$']) && !is_word && !of_block)
        });
        if ends {
            return row;
        }
    }
    lines.len() - 1
}

/// What a statement creates: the places of its kind and of its name.
struct Routine {
    kind: &'static str,
    name: Range<usize>,
}

/// `CREATE OR ALTER PROCEDURE dbo.name`, `CREATE DEFINER=… FUNCTION name`.
fn routine(line: &str, upper: &str) -> Option<Routine> {
    const KINDS: [&str; 5] = ["PROCEDURE", "FUNCTION", "TRIGGER", "PACKAGE", "PROC"];
    if !upper.starts_with("CREATE ") {
        return None;
    }
    let words: Vec<Range<usize>> = words(upper);
    let place = words.iter().position(|word| KINDS.contains(&&upper[word.clone()]))?;
    // A name can be such a word, but only a few words come before the kind.
    let kind = KINDS.into_iter().find(|kind| *kind == &upper[words[place].clone()]).filter(|_| place <= 4)?;
    let mut name = place + 1;
    for optional in ["BODY", "IF", "NOT", "EXISTS"] {
        name += usize::from(words.get(name).is_some_and(|word| upper[word.clone()] == *optional));
    }
    let start = words.get(name)?.start;
    let mut end = start;
    let bytes = line.as_bytes();
    loop {
        let close = match bytes.get(end)? {
            b'[' => Some(b']'),
            quote @ (b'"' | b'`') => Some(*quote),
            _ => None,
        };
        let (from, length) = match close {
            Some(close) => (end + 1, bytes[end + 1..].iter().position(|byte| *byte == close)?),
            None => (
                end,
                bytes[end..]
                    .iter()
                    .take_while(|byte| byte.is_ascii_alphanumeric() || b"_$#@".contains(byte) || **byte >= 0x80)
                    .count(),
            ),
        };
        if length == 0 {
            return None;
        }
        let last = from..from + length;
        end = last.end + usize::from(close.is_some());
        if bytes.get(end) != Some(&b'.') {
            // In brackets, which the grammar does not know, the last part alone is the name.
            let name = if bytes[start..end].contains(&b'[') { last } else { start..end };
            return Some(Routine { kind, name });
        }
        end += 1;
    }
}

fn words(text: &str) -> Vec<Range<usize>> {
    let mut words = Vec::new();
    let mut at = 0;
    for part in text.split([' ', '\t', '(']) {
        if !part.is_empty() {
            words.push(at..at + part.len());
        }
        at += part.len() + 1;
    }
    words
}

impl Routine {
    /// Returns `true` for a statement that is not of PostgreSQL, or of a kind that the grammar does not know.
    fn is_foreign(&self, statement: &str) -> bool {
        let upper = statement.to_ascii_uppercase();
        match self.kind {
            "FUNCTION" => !upper.contains('$') && !upper.contains("LANGUAGE"),
            "TRIGGER" => !upper.contains("EXECUTE"),
            _ => true,
        }
    }

    /// Writes `CREATE FUNCTION name () RETURNS INT AS '…';`, if there is room.
    fn write(&self, statement: &str, out: &mut [u8]) {
        const HEAD: &[u8] = b"CREATE FUNCTION ";
        let bytes = statement.as_bytes();
        if self.name.start < HEAD.len() {
            return;
        }
        let mut written = bytes.to_vec();
        blank(&mut written[..self.name.start]);
        written[..HEAD.len()].copy_from_slice(HEAD);
        blank(&mut written[self.name.end..]);
        let mut at = self.name.end;
        for token in [&b"()"[..], b"RETURNS", b"INT", b"AS", b"'"] {
            let room = |at: &usize| {
                bytes.get(*at..at + token.len()).is_some_and(|room| !room.contains(&b'\n') && !room.contains(&b'\r'))
            };
            let Some(place) = (at..bytes.len()).find(room) else { return };
            written[place..place + token.len()].copy_from_slice(token);
            at = place + token.len() + 1;
        }
        let free: Vec<usize> =
            (at..bytes.len()).rev().filter(|at| !matches!(bytes[*at], b'\r' | b'\n')).take(2).collect();
        if let [semicolon, quote] = free[..] {
            written[quote] = b'\'';
            written[semicolon] = b';';
            out.copy_from_slice(&written);
        }
    }
}

/// HCL, the language of Terraform.
#[rustfmt::skip]
pub const HCL: Language = code("hcl", "HCL", "hcl tf tfvars").aliases("terraform")
    .parsed(grammar!(
        "hcl",
        tree_sitter_hcl::LANGUAGE,
        [r#"
; The grammar has no tags of its own. Blocks are named as expressions refer to them: `aws_instance.gateway`.

(config_file (body (block (string_lit) @scope . (string_lit) @name . (block_start)) @definition.class))
((config_file (body (block . (identifier) @scope . (string_lit) @name . (block_start)) @definition.class))
  (#not-any-of? @scope "variable" "output"))
((config_file (body (block . (identifier) @scope . (string_lit) @name . (block_start)) @definition.constant))
  (#any-of? @scope "variable" "output"))
((config_file (body (block . (identifier) @scope (body (attribute . (identifier) @name) @definition.constant))))
  (#eq? @scope "locals"))

(comment) @lead
"#],
        [r#"
; The grammar has no tags of its own.

(function_call (identifier) @name) @reference.call

; `var.region`, `aws_instance.gateway.id`, `data.aws_ami.base.id`
((expression . (variable_expr (identifier) @root) . (get_attr (identifier) @name)) @reference.type
  (#not-any-of? @root "data" "each" "self" "count" "path" "terraform"))
((expression . (variable_expr (identifier) @root) . (get_attr) . (get_attr (identifier) @name)) @reference.type
  (#eq? @root "data"))
((template_interpolation (expression . (variable_expr (identifier) @root) . (get_attr (identifier) @name))) @reference.type
  (#not-any-of? @root "data" "each" "self" "count" "path" "terraform"))
"#],
        depth: 5
    ));

/// Protocol Buffers.
#[rustfmt::skip]
pub const PROTOBUF: Language =
    code("protobuf", "Protocol Buffers", "proto").aliases("protocolbuffer").parsed(grammar!(
        "protobuf",
        tree_sitter_proto::LANGUAGE,
        [r"
; The grammar has no tags of its own.

(package (full_ident) @namespace)
(message (message_name) @name) @definition.class
(enum (enum_name) @name) @definition.class
(service (service_name) @name) @definition.interface
(rpc (rpc_name) @name) @definition.method

(comment) @lead
"],
        [r"
; The grammar has no tags of its own.

(message_or_enum_type) @name @reference.type
(extend (full_ident) @name) @reference.implementation
"],
        depth: 8
    ));

#[cfg(test)]
mod tests {
    use crate::{Options, read};

    fn symbols(text: &str) -> Vec<String> {
        let document = read("a.sql", text.as_bytes(), &Options::default());
        document.passages.into_iter().filter_map(|passage| passage.symbol).collect()
    }

    #[test]
    fn procedures_of_other_dialects_have_their_names() {
        let text = "CREATE OR ALTER PROCEDURE dbo.usp_OpenWeir @mm INT AS\nBEGIN\n  SET NOCOUNT ON;\n  SELECT TOP 10 * FROM dbo.Weirs WHERE Mm > @mm;\nEND\nGO\n\
            CREATE FUNCTION [dbo].[fn_Level](@x INT) RETURNS INT AS\nBEGIN\n  RETURN @x + 1;\nEND\nGO\n\
            DELIMITER //\nCREATE DEFINER=`a`@`b` PROCEDURE `close_weir`(IN id INT)\nBEGIN\n  UPDATE weirs SET shut = 'é' WHERE weirs.id = id;\nEND //\nDELIMITER ;\n\
            CREATE OR REPLACE PACKAGE BODY weir_pkg IS\n  PROCEDURE shut (a IN NUMBER) IS\n  BEGIN\n    NULL;\n  END;\nEND weir_pkg;\n/\n\
            CREATE OR REPLACE FUNCTION raise_level(x integer) RETURNS integer AS $$\nBEGIN\n  RETURN x + 1;\nEND;\n$$ LANGUAGE plpgsql;\n\
            CREATE TABLE weirs (id int);\n";
        assert_eq!(symbols(text), ["dbo.usp_OpenWeir", "fn_Level", "close_weir", "weir_pkg", "raise_level", "weirs"]);
        let document = read("a.sql", text.as_bytes(), &Options::default());
        let first = &document.passages[0];
        assert!(first.text.contains("SELECT TOP 10") && first.text.trim_end().ends_with("END"), "{}", first.text);
    }

    #[test]
    fn other_statements_stay() {
        for text in [
            "CREATE", "CREATE PROCEDURE", "CREATE PROCEDURE x", "CREATE TABLE procedure_log (id int);\n",
            "create function [x", "SELECT 1;\n/* go */\n",
        ] {
            assert!(super::blanked(text).is_none_or(|written| written == text), "{text}");
        }
    }
}
