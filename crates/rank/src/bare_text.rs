//! Headings, signatures and preambles without what belongs below them.

/// The longest text that is looked at, in bytes. Longer ones say something.
const LONGEST: usize = 300;

/// Returns `true` if a section is its heading alone. `heading` is the path of headings, joined by ` > `. O(length).
///
/// ```
/// use tamis_rank::is_heading_alone;
///
/// assert!(is_heading_alone("## Behaviour changes\n", "Guide > Behaviour changes"));
/// assert!(!is_heading_alone("## Behaviour changes\n\nNone yet.", "Guide > Behaviour changes"));
/// ```
pub fn is_heading_alone(text: &str, heading: &str) -> bool {
    let letters = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).collect::<String>();
    let is_part = |line: &str| {
        let marks = line.len() - line.trim_start_matches('#').len();
        let line_letters = letters(line);
        (1..=6).contains(&marks) && line[marks..].starts_with(' ')
            || line_letters.is_empty()
            || line_letters == letters(heading)
            || heading.split(" > ").any(|part| letters(part) == line_letters)
    };
    text.len() <= LONGEST && !text.trim().is_empty() && text.lines().map(str::trim).all(is_part)
}

/// Returns `true` if the code of a function is its signature alone, without a body and without a comment: `fn open();`. O(length).
///
/// ```
/// use tamis_rank::is_signature_alone;
///
/// assert!(is_signature_alone("fn open(&self, path: &Path) -> Result<File>;"));
/// assert!(!is_signature_alone("/// Opens a file.\nfn open(&self, path: &Path) -> Result<File>;"));
/// assert!(!is_signature_alone("fn len(&self) -> usize { self.len }"));
/// ```
pub fn is_signature_alone(text: &str) -> bool {
    let text = text.trim();
    let comments = ["//", "/*", "*", "#", "--", "\"\"\"", "'''", "%"];
    let is_comment = |line: &str| comments.iter().any(|mark| line.starts_with(mark)) && !line.starts_with("#[");
    if text.len() > LONGEST || !text.contains('(') || text.lines().any(|line| is_comment(line.trim())) {
        return false;
    }
    let without_end = |end: &str| text.strip_suffix(end).map(str::trim_end);
    let signature = without_end("{}").or_else(|| without_end("{ }")).or_else(|| without_end(";"));
    let stub = || without_end("...").or_else(|| without_end("pass")).and_then(|text| text.strip_suffix(':'));
    // A string is what SQL and a default value have.
    let has_body = |text: &str| text.contains(['{', ';', '"', '\'', '`', '$']) || text.contains("=>");
    signature.or_else(stub).is_some_and(|signature| !has_body(&signature.replace("'_", "").replace("&'", "&")))
}

/// Returns `true` if code only names what it needs from elsewhere, or is the guard of a header: `#include <stdio.h>`, `use std::fs;`.
/// O(length).
///
/// ```
/// use tamis_rank::is_preamble_alone;
///
/// assert!(is_preamble_alone("#ifndef QUEUE_H\n#define QUEUE_H\n#include <stdio.h>"));
/// assert!(is_preamble_alone("from queue import (\n    Job,\n    retry,\n)\nimport os"));
/// assert!(!is_preamble_alone("#define MOST_RETRIES 5"));
/// assert!(!is_preamble_alone("//! Retries jobs.\nuse std::fs;"));
/// ```
pub fn is_preamble_alone(code: &str) -> bool {
    let (mut open, mut any) = (0_usize, false);
    for line in code.lines().map(str::trim).filter(|line| !line.is_empty()) {
        if open == 0 && !is_preamble(line) {
            return false;
        }
        any = true;
        open = (open + line.matches(['(', '{']).count()).saturating_sub(line.matches([')', '}']).count());
    }
    any
}

/// Returns `true` for the first line of a statement that names what a file needs from elsewhere.
fn is_preamble(line: &str) -> bool {
    const BEGINNINGS: [&str; 17] = [
        "#include", "#import", "#ifndef ", "#ifdef ", "#if ", "#endif", "#pragma once", "import ", "use ",
        "extern crate ", "package ", "using ", "require ", "require(", "require_relative ", "'use strict'",
        "\"use strict\"",
    ];
    let is_guard = || line.starts_with("#define ") && line.split_whitespace().count() == 2;
    let is_python = || line.starts_with("from ") && line.contains(" import");
    let is_node =
        || ["const ", "let ", "var "].iter().any(|start| line.starts_with(start)) && line.contains("= require(");
    BEGINNINGS.iter().any(|beginning| line.starts_with(beginning)) || is_guard() || is_python() || is_node()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn headings_without_text_are_known_in_every_markup() {
        for (text, heading) in [
            ("# Guide\n\n## Install", "Guide > Install"),
            ("Install\n=======", "Guide > Install"),
            ("== Install\n", "Guide > Install"),
            ("## Install {#install}", "Guide > Install"),
            ("Crash at start > resume", "Crash at start > resume"),
        ] {
            assert!(is_heading_alone(text, heading), "{text}");
        }
        for text in ["# Guide\n\nInstall it.", "#define X", "", "Installed\n======", "#!/bin/sh"] {
            assert!(!is_heading_alone(text, "Guide > Install"), "{text}");
        }
    }

    #[test]
    fn preambles_hold_nothing_but_what_comes_from_elsewhere() {
        for code in [
            "#include <assert.h>\n\n#include \"compile.h\"",
            "import fs from 'fs'\nconst path = require('path')",
            "use std::{\n    fs,\n    io,\n};",
            "from a import b",
        ] {
            assert!(is_preamble_alone(code), "{code}");
        }
        for code in
            ["", "#include <a.h>\nint a;", "use std::fs;\nfn main() {}", "#define A 1", "from = 3", "// a\nimport b"]
        {
            assert!(!is_preamble_alone(code), "{code}");
        }
    }

    #[test]
    fn signatures_have_no_body_and_no_comment() {
        for text in [
            "int open(const char *path,\n         int flags);",
            "virtual void f() const noexcept = 0;",
            "#[must_use]\nfn name(&self) -> &'static str;",
            "fn f(_: Formatter<'_>) {}",
            "def f(x: int) -> str: ...",
            "def f(self):\n    pass",
        ] {
            assert!(is_signature_alone(text), "{text}");
        }
        for text in [
            "int a(); int b();",
            "int Size() => 3;",
            "const LIMIT: u32 = 5;",
            "f(x) { return x; }",
            "def f(self):\n    \"\"\"Opens.\"\"\"\n    pass",
            "CREATE FUNCTION one() RETURNS int AS $$ select 1 $$ LANGUAGE sql;",
            "",
        ] {
            assert!(!is_signature_alone(text), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_judged(text in "\\PC{0,80}", other in "[#a-c >\n=(){};.]{0,30}") {
            is_heading_alone(&other, &text);
            is_signature_alone(&text);
            is_preamble_alone(&text);
            is_signature_alone(&other);
            let is_line = !other.trim().is_empty() && !other.contains('\n');
            prop_assert!(!is_line || is_heading_alone(&other, &other), "a heading is its own");
        }
    }
}
