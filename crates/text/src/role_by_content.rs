//! The role of a file by its name and its text together: a name can say `test` for what is none, and a file of tests can have any
//! name.

use crate::Role;
use crate::lines::has_start;
use crate::role::{TestName, test_name};

/// Bytes of a text that are read for signs of tests.
const REACH: usize = 256 << 10;

/// The role of a file in `language` at `path` with this text. [`crate::role`] alone judges by the name.
///
/// A name such as `test_functions.bash`, `MockHandler.php` or `mock/timers.ts` makes a test only of a text that uses a framework
/// for tests. A text most of whose functions are tests is a test whatever its name is, unless the tests stand beside the code that
/// they test.
pub fn role_of_text(path: &str, language: Option<&str>, text: &str) -> Role {
    let by_name = crate::role(path, language);
    let head = &text[..text.floor_char_boundary(REACH)];
    match by_name {
        Role::Test if test_name(path, language) == TestName::Likely => {
            let signs = Signs::count(language, head);
            if signs.tests > 0 || mentions_framework(head) { Role::Test } else { Role::Main }
        }
        Role::Main if Signs::count(language, head).are_most() => Role::Test,
        role => role,
    }
}

/// Words of frameworks for tests and for what stands in for the rest of a program in them.
const FRAMEWORKS: &str = "\
pytest
unittest
phpunit
xctest
junit
testng
mockito
mockk
gomock
mockgen
testify
minitest
rspec
vitest
jest.
@jest/
'sinon
\"sinon
'msw
\"msw
node:test
bun:test
nunit
xunit
nsubstitute
using moq
scalatest
munit
specs2
gtest
gmock
catch2
doctest.h
boost/test
hspec
tasty
exunit
shunit
bats
busted
\"testing\"";

fn mentions_framework(text: &str) -> bool {
    let lower = text[..text.floor_char_boundary(16 << 10)].to_ascii_lowercase();
    FRAMEWORKS.lines().any(|word| lower.contains(word))
}

/// Counts of lines in a text.
#[derive(Default, PartialEq)]
struct Signs {
    /// Lines that begin a test.
    tests: usize,
    /// Lines that begin a function, tests included; 0 where functions do not show in the first words of a line.
    functions: usize,
}

/// Tests that a file has at least, if most of it is tests.
const SEVERAL: usize = 2;

impl Signs {
    fn count(language: Option<&str>, text: &str) -> Self {
        let Some(read) = language.and_then(reader) else { return Self::default() };
        let mut signs = Self::default();
        let mut before = "";
        for line in without_own_tests(language, text).lines() {
            let line = line.trim();
            let (test, function) = read(line, before);
            signs.tests += usize::from(test);
            signs.functions += usize::from(function);
            if !line.is_empty() {
                before = line;
            }
        }
        signs
    }

    /// Returns `true` if most functions are tests.
    fn are_most(&self) -> bool {
        self.tests >= SEVERAL && self.tests * 2 > self.functions
    }
}

/// The text up to the tests of its own code, where a language keeps these in the same file. Their number says nothing of the file.
fn without_own_tests<'t>(language: Option<&str>, text: &'t str) -> &'t str {
    let (mut start, mut marked) = (0, None);
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim();
        match language {
            Some("rust") => {
                if trimmed.starts_with("#[cfg(") && has_keyword(&trimmed.replace(['(', ',', ')'], " "), "test ") {
                    marked = Some(start);
                }
                // The attribute can stand on the line of the module.
                let item = trimmed.rsplit(']').next().unwrap_or_default().trim();
                match marked {
                    Some(marked) if has_keyword(item, "mod ") && item.ends_with('{') => return &text[..marked],
                    _ if !item.is_empty() && !item.starts_with("//") => marked = None,
                    _ => {}
                }
            }
            // Tests stand between the functions, and only code is for others.
            Some("zig") if trimmed.starts_with("pub fn ") => return "",
            Some("javascript" | "jsx" | "typescript" | "tsx") if trimmed.contains("import.meta.vitest") => {
                return &text[..start];
            }
            _ => {}
        }
        start += line.len();
    }
    text
}

/// Returns whether a line begins a test, and whether it begins a function. Gets the line and the one with text before it, trimmed.
type Reader = fn(&str, &str) -> (bool, bool);

fn reader(language: &str) -> Option<Reader> {
    Some(match language {
        "rust" => |line, before| {
            let function = has_keyword(line, "fn ");
            (function && before.starts_with("#[") && (before.contains("test]") || before.contains("test(")), function)
        },
        "python" => |line, _| {
            let line = line.strip_prefix("async ").unwrap_or(line);
            (line.starts_with("def test_"), line.starts_with("def "))
        },
        "go" => |line, _| {
            let test =
                line.starts_with("func Test") || line.starts_with("func Benchmark") || line.starts_with("func Fuzz");
            (test && line.contains("*testing."), line.starts_with("func "))
        },
        "javascript" | "jsx" | "typescript" | "tsx" | "lua" => |line, _| {
            let called = ["it(", "test(", "describe("].iter().find_map(|call| line.strip_prefix(call));
            let test = called.is_some_and(|rest| rest.starts_with(['"', '\'', '`']));
            (test, line.starts_with("export ") || line.starts_with("function "))
        },
        "java" | "kotlin" | "groovy" => |line, _| {
            let word = line.split(['(', ' ']).next().unwrap_or_default();
            let test = matches!(word, "@Test" | "@ParameterizedTest" | "@RepeatedTest" | "@TestFactory");
            (test, line.ends_with('{') && line.contains('(') && !is_branch(line))
        },
        "csharp" => |line, _| {
            (
                has_start(line, "[Fact [Theory [Test] [TestCase [TestMethod"),
                has_keyword(line, "public ") && line.contains('('),
            )
        },
        "php" => |line, before| {
            let function = has_keyword(line, "function ");
            (line.contains("function test") || (function && before.contains("#[Test")), function)
        },
        "swift" => |line, before| {
            let function = has_keyword(line, "func ");
            (line.starts_with("func test") || (function && before.starts_with("@Test")), function)
        },
        "scala" => |line, _| {
            let test = line.starts_with("test(\"")
                || (line.starts_with('"') && (line.contains("\" should ") || line.contains("\" in ")));
            (test, has_keyword(line, "def "))
        },
        "c" | "cpp" | "objectivec" | "objectivecpp" => |line, _| {
            const TESTS: &str = "TEST( TEST_F( TEST_P( TYPED_TEST( TEST_CASE( BOOST_AUTO_TEST_CASE( START_TEST(";
            let test = has_start(line, TESTS) || line.starts_with("- (void)test");
            (test, test || (line.ends_with(") {") && !is_branch(line)))
        },
        "ruby" => |line, _| {
            let test = line.starts_with("it \"")
                || line.starts_with("it '")
                || line.starts_with("def test_")
                || line.starts_with("test \"");
            (test, line.starts_with("def "))
        },
        "elixir" => |line, _| (line.starts_with("test \""), line.starts_with("def ")),
        "haskell" => |line, _| (line.starts_with("it \"") || line.starts_with("testCase \""), line.contains(" :: ")),
        "zig" => |line, _| (line.starts_with("test \""), has_keyword(line, "fn ")),
        "shell" => |line, _| {
            let function = line.strip_prefix("function ").unwrap_or(line);
            let test = line.starts_with("@test ") || (function.starts_with("test_") && function.contains("()"));
            (test, line.contains("()") || line.starts_with("function "))
        },
        _ => return None,
    })
}

/// Returns `true` if a line begins with a word, or has it after a space.
fn has_keyword(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| at == 0 || line[..at].ends_with(' '))
}

fn is_branch(line: &str) -> bool {
    has_start(line, "if for while switch catch } else do return")
}

// Licence headers: the comment at the beginning of a file that says under which terms it may be used. Every file of a project
// repeats it, and it says nothing about the code.

/// Words of a paragraph about a licence, in lower case.
const WORDS: [&str; 8] = [
    "copyright", "is part of ", "licence", "license", "permission is hereby granted", "redistribut", "spdx-", "warrant",
];

/// Beginnings of the lines that load other code. They can stand beside a header in one passage.
const IMPORTS: [&str; 9] =
    ["\"use strict", "'use strict", "#include", "from ", "import ", "namespace ", "package ", "use ", "using "];

/// Least share of the letters of a text that a licence has, where the text is one.
const LEAST: f64 = 0.8;

/// Returns `true` if a text without a symbol of its own is a licence header, with nothing besides but imports. O(its length).
pub fn is_license_header(text: &str) -> bool {
    let (mut of_license, mut other) = (0, 0);
    let mut paragraph = String::new();
    let mut finish = |paragraph: &mut String| {
        let lower = paragraph.to_lowercase();
        let letters = lower.chars().filter(|c| c.is_alphabetic()).count();
        match WORDS.iter().any(|word| lower.contains(word)) {
            true => of_license += letters,
            false => other += letters,
        }
        paragraph.clear();
    };
    for line in text.lines().map(str::trim) {
        if !line.contains(char::is_alphabetic) {
            finish(&mut paragraph);
        } else if !IMPORTS.iter().any(|start| line.starts_with(start)) {
            paragraph.push_str(line);
            paragraph.push(' ');
        }
    }
    finish(&mut paragraph);
    of_license > 0 && f64::from(of_license as u32) >= LEAST * f64::from((of_license + other) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(path: &str, text: &str) -> Role {
        let language = crate::Language::detect(path, "").map(|language| language.name);
        role_of_text(path, language, text)
    }

    #[test]
    fn a_name_alone_makes_no_test() {
        for (path, text) in [
            ("lib/test_functions.bash", "retry() {\n  \"$@\" || \"$@\"\n}\n\nlog() {\n  echo \"$1\"\n}\n"),
            ("src/Handler/MockHandler.php", "<?php\nclass MockHandler {\n  public function append($value) {}\n}\n"),
            ("src/mock/timers.ts", "export class FakeTimers {\n  advance(by: number) {}\n}\n"),
            ("src/TestScheduler.kt", "class TestScheduler {\n  fun advance(by: Long) {}\n}\n"),
            ("tools/test_runner.py", "def run(files):\n    return [open(file) for file in files]\n"),
        ] {
            let by_name = crate::role(path, crate::Language::detect(path, "").map(|language| language.name));
            assert_eq!((by_name, told(path, text)), (Role::Test, Role::Main), "{path}");
        }
    }

    #[test]
    fn a_name_and_a_framework_make_a_test() {
        for (path, text) in [
            ("app/test_views.py", "def test_opens():\n    assert True\n"),
            ("app/test_helpers.py", "import pytest\n\ndef client():\n    return 1\n"),
            ("pkg/mock_store.go", "// Code generated by MockGen. DO NOT EDIT.\npackage pkg\n"),
            ("src/mock/server.ts", "import { setupServer } from 'msw/node'\n"),
            ("org/TestOpen.java", "class TestOpen {\n  @Test\n  void opens() {}\n}\n"),
            // Where tests are kept, everything is for tests.
            ("tests/helpers.rs", "pub fn open() {}\n"),
            ("src/open.test.ts", "export const rows = [];\n"),
            ("pkg/open_test.go", "package pkg\n"),
        ] {
            assert_eq!(told(path, text), Role::Test, "{path}");
        }
    }

    #[test]
    fn a_text_full_of_tests_is_one_whatever_its_name() {
        for (path, text) in [
            ("src/checks.rs", "#[test]\nfn a() {}\n\n#[tokio::test]\nasync fn b() {}\n\nfn help() {}\n"),
            ("app/checks.py", "def test_a():\n    pass\n\nasync def test_b():\n    pass\n\ndef help():\n    pass\n"),
            ("pkg/all.go", "func TestA(t *testing.T) {}\nfunc TestB(t *testing.T) {}\nfunc help() {}\n"),
            ("src/checks.js", "describe('a', () => {\n  it('b', () => {})\n  it(\"c\", () => {})\n})\n"),
            ("org/Checks.java", "class Checks {\n  @Test\n  void a() {\n  }\n  @Test\n  void b() {\n  }\n}\n"),
            ("src/checks.cc", "TEST(A, B) {\n}\nTEST_F(A, C) {\n}\n"),
            ("lib/checks.ex", "test \"a\" do\nend\ntest \"b\" do\nend\n"),
            ("src/Checks.cs", "[Fact]\npublic void A() {}\n[Fact]\npublic void B() {}\n"),
            ("src/Checks.swift", "func testA() {}\nfunc testB() {}\n"),
            ("checks.sh", "test_a() {\n  :\n}\ntest_b() {\n  :\n}\nhelp() {\n  :\n}\n"),
        ] {
            assert_eq!(told(path, text), Role::Test, "{path}");
        }
    }

    #[test]
    fn a_source_with_some_tests_stays_a_source() {
        let source = "fn a() {}\nfn b() {}\nfn c() {}\n#[test]\nfn d() {}\n#[test]\nfn e() {}\n";
        assert_eq!(told("src/a.rs", source), Role::Main);
        let tests = "#[test]\nfn a() {}\n#[test]\nfn b() {}\n#[test]\nfn c() {}\n";
        for module in [
            "#[cfg(test)]\nmod tests {",
            "#[cfg(all(test, unix))]\n#[allow(dead_code)]\npub mod checks {",
            "#[cfg(test)] mod tests {",
        ] {
            assert_eq!(told("src/a.rs", &format!("fn own() {{}}\n\n{module}\n{tests}}}\n")), Role::Main, "{module}");
        }
        for module in ["#[cfg(test)]\nmod tests;", "mod tests {", "#[cfg(feature = \"x\")]\nmod tests {"] {
            assert_eq!(told("src/a.rs", &format!("fn own() {{}}\n\n{module}\n{tests}")), Role::Test, "{module}");
        }
        let zig = "test \"a\" {\n}\ntest \"b\" {\n}\n";
        assert_eq!(told("src/a.zig", &format!("pub fn own() void {{}}\n{zig}")), Role::Main);
        assert_eq!(told("src/a.zig", zig), Role::Test);
        let vitest = "describe('a', () => {\n  it('b', () => {})\n  it('c', () => {})\n})\n";
        let own = "export function own() {}\nif (import.meta.vitest) {\n";
        assert_eq!(told("src/a.ts", &format!("{own}{vitest}}}\n")), Role::Main);
        for (path, text) in [
            ("src/framework.js", "export function it(name) {}\nexport function test(name) {}\n"),
            ("src/Runner.java", "/** Finds methods with\n * @Test\n * @Test\n */\nclass Runner {}\n"),
        ] {
            assert_eq!(told(path, text), Role::Main, "{path}");
        }
        assert_eq!(told("notes.md", "it('a')\nit('b')\n"), Role::Main);
    }

    #[test]
    fn headers_are_licences_and_what_says_more_is_none() {
        for text in [
            "// SPDX-License-Identifier: MIT",
            "// Copyright 2020 The Authors. All rights reserved.\n// Use of this source code is governed by a BSD licence.\n\npackage a\n\nimport \"fmt\"\n",
            "/*\n * Copyright 2019 A\n *\n * Licensed under the Apache License, Version 2.0 (the \"License\");\n * you may not use this file except in compliance with the License.\n *\n * Unless required by applicable law, software is distributed WITHOUT WARRANTIES.\n */",
            "# This file is part of Shop.\n#\n# Shop is free software: you can redistribute it and/or modify it.\n#\n# You should have received a copy of the GNU General Public License.\n\nimport os\n",
        ] {
            assert!(is_license_header(text), "{text}");
        }
        for text in [
            "// Copyright 2020 A\n\n//! Opens the store, and keeps it open while somebody reads from it.\n",
            "const LICENSE: &str = \"MIT\";\n\nconst NAME_OF_THE_STORE_AND_ITS_OWNER: &str = \"shop\";\n",
            "import os\n",
            "",
        ] {
            assert!(!is_license_header(text), "{text}");
        }
    }
}
