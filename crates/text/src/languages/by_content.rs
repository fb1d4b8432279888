//! The language of a file whose ending several languages share, by the form of its lines.

use super::language::Language;

/// Lines of a text that are read.
const HEAD_LINES: usize = 2_000;

/// The language of a text at `path`, of which its name alone says `language`.
pub(super) fn refined(language: &'static Language, path: &str, text: &str) -> &'static Language {
    let extension = path.rsplit_once('.').map_or("", |(_, extension)| extension).to_ascii_lowercase();
    let meant = match extension.as_str() {
        "h" => header(text),
        "m" => objective_c_or_others(text),
        "pl" => perl_or_prolog(text),
        "pro" => {
            any(text, |line| is_assigned(line, &["TEMPLATE", "SOURCES", "HEADERS", "QT", "CONFIG"])).then_some("qmake")
        }
        "ts" => text.trim_start().starts_with('<').then_some("xml"),
        "v" => verilog_or_others(text),
        _ => None,
    };
    meant.and_then(Language::named).unwrap_or(language)
}

/// Returns `true` if a line of the text has this form.
fn any(text: &str, is: impl Fn(&str) -> bool) -> bool {
    text.lines().take(HEAD_LINES).any(is)
}

fn starts(line: &str, words: &[&str]) -> bool {
    words.iter().any(|word| line.starts_with(word))
}

/// `QT += core`
fn is_assigned(line: &str, names: &[&str]) -> bool {
    let line = line.trim_start();
    names
        .iter()
        .any(|name| line.strip_prefix(name).is_some_and(|rest| starts(rest.trim_start(), &["=", "+=", "-=", "*="])))
}

/// C, C++ or Objective-C.
fn header(text: &str) -> Option<&'static str> {
    const CPP_ONLY: &[&str] = &[
        "class ", "namespace ", "template<", "template <", "using ", "public:", "private:", "protected:", "constexpr ",
    ];
    let cpp = |line: &str| {
        let line = line.trim();
        starts(line, CPP_ONLY) && line.ends_with(['{', '}', ';', ':', '>', ','])
    };
    if any(text, |line| starts(line, &["@interface ", "@protocol ", "@class ", "@import ", "#import "])) {
        return Some("objectivec");
    }
    any(text, cpp).then_some("cpp")
}

/// Objective-C, MATLAB or Mercury.
fn objective_c_or_others(text: &str) -> Option<&'static str> {
    let objective_c = |line: &str| {
        starts(line, &["#import", "#include", "@interface", "@implementation", "@protocol", "@import", "//", "/*"])
    };
    if any(text, |line| starts(line, &[":- module ", ":- interface.", ":- pred ", ":- func ", ":- type "])) {
        return Some("mercury");
    }
    let matlab = |line: &str| {
        let line = line.trim_start();
        starts(line, &["function ", "classdef ", "%", "disp(", "fprintf("])
            || (line.contains(" = ") && line.ends_with("];"))
    };
    (!any(text, objective_c) && any(text, matlab)).then_some("matlab")
}

/// Perl or Prolog. Clauses end with a full stop, and Perl has its sigils.
fn perl_or_prolog(text: &str) -> Option<&'static str> {
    let perl = |line: &str| {
        let line = line.trim_start();
        starts(line, &["#!", "use ", "my ", "our ", "sub ", "package ", "require ", "=pod", "=head"])
            || line.contains("$_")
    };
    let prolog = |line: &str| {
        let line = line.trim();
        starts(line, &[":- ", ":-", "?- "])
            || line.ends_with(":-")
            || (line.contains(" :- ") && line.ends_with(['.', ',']))
            || (line.ends_with(").") && line.starts_with(|first: char| first.is_ascii_lowercase()))
    };
    (!any(text, perl) && any(text, prolog)).then_some("prolog")
}

/// Verilog, Coq or V.
fn verilog_or_others(text: &str) -> Option<&'static str> {
    let verilog = |line: &str| {
        let line = line.trim_start();
        starts(line, &["endmodule", "always ", "always@", "always_", "assign ", "`timescale", "`define", "`include"])
            || (line.starts_with("module ") && line.ends_with(['(', ';', ')']))
    };
    let coq = |line: &str| {
        const WORDS: &[&str] = &[
            "Require ", "From ", "Import ", "Theorem ", "Lemma ", "Definition ", "Fixpoint ", "Inductive ", "Proof",
            "Qed.", "Section ", "Module ", "Notation ", "Ltac ", "Corollary ", "Variable ", "Record ", "Class ",
            "Instance ",
        ];
        starts(line.trim_start(), WORDS)
    };
    let v = |line: &str| {
        starts(line, &["module ", "import "]) && !line.ends_with(['(', ';', ')', ','])
            || (starts(line, &["fn ", "pub fn ", "struct ", "pub struct ", "enum ", "interface "])
                && line.ends_with('{'))
    };
    match () {
        () if any(text, verilog) => None,
        () if any(text, coq) => Some("coq"),
        () if any(text, v) => Some("v"),
        () => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ending_of_several_languages_is_told_by_the_content() {
        for (path, text, expected) in [
            ("a.m", "#import <Foundation/Foundation.h>\n\n@implementation A\n@end\n", "objectivec"),
            ("a.m", "// A note\nint main(void) { return 0; }\n", "objectivec"),
            ("a.m", "function y = square(x)\n% Squares a number.\ny = x.^2;\nend\n", "matlab"),
            ("a.m", "% Plots a wave\nt = 0:0.1:10;\nplot(t, sin(t))\n", "matlab"),
            ("a.m", ":- module hello.\n:- interface.\n:- import_module io.\n", "mercury"),
            ("a.v", "`timescale 1ns/1ps\nmodule top(input clk);\nendmodule\n", "verilog"),
            ("a.v", "Require Import List.\n\nLemma a : 1 = 1.\nProof. reflexivity. Qed.\n", "coq"),
            ("a.v", "module main\n\nimport os\n\nfn main() {\n\tprintln('a')\n}\n", "v"),
            ("a.v", "", "verilog"),
            ("a.pl", "#!/usr/bin/perl\nuse strict;\nmy $a = 1;\n", "perl"),
            ("a.pl", "print \"a\\n\";\n", "perl"),
            ("a.pl", "parent(tom, bob).\ngrandparent(X, Z) :- parent(X, Y), parent(Y, Z).\n", "prolog"),
            ("a.pl", ":- use_module(library(lists)).\n", "prolog"),
            ("a.ts", "export const a: number = 1;\n", "typescript"),
            ("a.ts", "<?xml version=\"1.0\"?>\n<!DOCTYPE TS>\n<TS version=\"2.1\"></TS>\n", "xml"),
            ("a.TS", "<!DOCTYPE TS><TS>\n", "xml"),
            ("a.pro", "QT += core gui\nTEMPLATE = app\n", "qmake"),
            ("a.pro", "likes(mary, wine).\n", "prolog"),
            ("a.rs", "#import\n", "rust"),
        ] {
            assert_eq!(Language::of_text(path, text).map(|language| language.name), Some(expected), "{path}: {text}");
        }
    }
}
