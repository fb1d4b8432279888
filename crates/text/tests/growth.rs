//! Time and output grow no faster than the length of the text.

#![cfg(all(feature = "grammars", feature = "wiki"))]

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use tamis_text::{
    Document, Issue, IssueComment, NoteOptions, Options, WikiPage, definitions, read, read_note, references,
};

/// Lengths of the smallest inputs, in bytes. The largest are four times as long.
const LENGTH: usize = 16 << 10;

/// The most that one doubling may cost. Twice is linear and four times is quadratic; the margin allows for other load
/// on the machine.
const DOUBLING: f64 = 3.2;

/// Growth is not measured below this, where nobody notices it.
const NOTICEABLE: Duration = Duration::from_millis(25);

/// The processor time of this thread if the system reports it, or else the elapsed time, which includes other load.
fn spent() -> Duration {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let worked = told.and_then(|told| told.split(' ').next()?.parse().ok()).map(Duration::from_nanos);
    worked.unwrap_or_else(|| START.elapsed())
}

/// Compares the time of `work` at four times the length with that at once and twice the length. Each is the best of
/// some tries, and a failed measurement is repeated, since other processes can only slow it down. Returns a description
/// of the failure.
fn grows(name: &str, text: impl Fn(usize) -> String, work: impl Fn(&str)) -> Option<String> {
    let mut told = String::new();
    for attempt in 0..4 {
        let measured = |length: usize| {
            let text = text(length);
            let once = || {
                let started = spent();
                work(&text);
                spent().saturating_sub(started)
            };
            (0..2 + attempt).map(|_| once()).min().unwrap_or_default()
        };
        let [one, two, four] = [LENGTH, 2 * LENGTH, 4 * LENGTH].map(measured);
        let ratio = four.as_secs_f64() / one.max(NOTICEABLE / 4).as_secs_f64();
        if four < NOTICEABLE || ratio < DOUBLING * DOUBLING {
            return None;
        }
        told = format!("{one:?}, {two:?}, {four:?}");
    }
    Some(format!("{name}: one, two and four lengths take {told}"))
}

fn grows_linearly(name: &str, text: impl Fn(usize) -> String, work: impl Fn(&str)) {
    assert_eq!(grows(name, text, work), None);
}

/// `part`, with its number in place of `@`, as often as it fits into `length`.
fn repeated(part: &str, length: usize) -> String {
    let mut text = String::with_capacity(length + part.len());
    let mut number = 0;
    while text.len() < length {
        text.push_str(&part.replace('@', &number.to_string()));
        number += 1;
    }
    text
}

/// Files of a repeated part: name and part, or else text before, part and text after between signs.
const SHAPES: &[&str] = &[
    "a.js: function f@(a) { return a; } ", "a.js: §/* n@ */ §\nfunction f() {}\n",
    "a.js: §// n@\n§\nfunction f() {}\n", "a.js: const §name@=@,§last = 1;\n", "a.js: const §n@ = @,\n§last = 1;\n",
    "a.js: class A { §m@() {} §}\n", "a.js: §call@(name@); §\n", "a.js: f(", "a.js: x = §a + §b;\n", "a.js: {",
    "a.ts: interface A@ { a: string } ", "a.rs: #[test] §fn name@() {} §", "a.rs: §/// Line @\n§fn f() {}\n",
    "a.rs: mod m@ { ", "a.rs: impl Name@ { fn f() {} } ", "a.rs: §#[a] §fn f() {}", "a.rs: fn f() { §call@(); §}",
    "a.c: int name@(void) { return 0; } ", "a.c: #define NAME@ 1\n", "a.c: int §name@, §last;",
    "a.cpp: namespace n@ { ", "a.cpp: template<class T@ = ", "a.py: def name@(): pass\n", "a.py: §name@ = 1; §\n",
    "a.py: x = §[§", "a.php: <?php §function name@() {} §", "a.php: <?php const §A@ = 1, §Z = 2;",
    "a.rb: def name@; end; ", "a.go: package a; §func name@() {}; §", "A.java: class A { §void f@() {} §}",
    "a.kt: fun name@() {}; ", "a.swift: func name@() {}; ", "a.cs: class A { §void Name@() {} §}",
    "a.sh: name@() { :; }; ", "a.md: # Heading @\n\nText.\n\n", "a.md: §> §text", "a.md: §- §text", "a.md: * a\n",
    "a.md: [", "a.md: ![a](", "a.md: *a **b ", "a.md: `a``b", "a.md: <a ", "a.md: §| a §|\n| - |\n",
    "a.md: ---\n§key@: [a\n§---\n", "a.md: §\n§end", "a.md: word@ ", "a.rst: Title @\n=======\n\nText.\n\n",
    "a.tex: \\section{Name @} ", "a.json: [§{\"a@\": [@]}, §0]", "a.txt: word@ ", "a.txt: § §end",
    "a.txt: §\u{a0}§end", "a.txt: 検索。",
];

fn shaped(shape: &str, length: usize) -> String {
    match shape.split('§').collect::<Vec<_>>()[..] {
        [before, part, after] => format!("{before}{}{after}", repeated(part, length)),
        _ => repeated(shape, length),
    }
}

/// Each shape with its file's name.
fn shapes() -> impl Iterator<Item = (&'static str, &'static str)> {
    SHAPES.iter().map(|shape| shape.split_once(": ").expect("a name"))
}

#[test]
fn a_file_takes_time_in_proportion_to_its_length() {
    let mut wrong = Vec::new();
    for (path, shape) in shapes() {
        let read = |text: &str| drop(read(path, text.as_bytes(), &Options::default()));
        wrong.extend(grows(&format!("{path}: {shape:?}"), |length| shaped(shape, length), read));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_long_heading_and_a_long_name_are_not_read_again_for_all_below_them() {
    let heading = |length: usize| {
        format!("# {}\n\n{}", repeated("word@ ", length / 2), repeated("## Part @\n\nText.\n\n", length / 2))
    };
    grows_linearly("a long heading", heading, |text| drop(read("a.md", text.as_bytes(), &Options::default())));
    let class = |length: usize| {
        let methods = repeated("    void name@() { run(); }\n\n", length / 2);
        format!("class {} {{\n{methods}}}\n", "A".repeat(length / 2))
    };
    grows_linearly("a long name", class, |text| drop(read("A.java", text.as_bytes(), &Options::default())));
}

#[test]
fn what_a_text_refers_to_and_defines_takes_time_in_proportion_to_its_length() {
    for (language, part) in
        [("javascript", "call@(); "), ("rust", "call@(Name@); "), ("c", "int a@ = f@(g); "), ("python", "f@(g@); ")]
    {
        let text = |length: usize| repeated(part, length);
        grows_linearly(&format!("references of {language}"), text, |text| drop(references(language, text)));
        grows_linearly(&format!("definitions of {language}"), text, |text| drop(definitions(language, text)));
    }
}

/// The size in bytes of everything that passages carry.
fn said(document: &Document) -> usize {
    let of = |text: &Option<String>| text.as_ref().map_or(0, String::len);
    let passage = |passage: &tamis_text::Passage| {
        passage.text.len() + of(&passage.symbol) + of(&passage.heading) + of(&passage.context) + of(&passage.signature)
    };
    document.passages.iter().map(passage).sum()
}

#[test]
fn passages_say_no_more_than_a_few_times_the_text() {
    for (path, shape) in shapes() {
        let sizes =
            [LENGTH, 4 * LENGTH].map(|length| said(&read(path, shaped(shape, length).as_bytes(), &Options::default())));
        assert!(sizes[1] <= 6 * sizes[0].max(LENGTH), "{path}: {shape:?}: {sizes:?} bytes");
    }
}

#[test]
fn a_piece_of_a_long_line_has_the_names_that_stand_in_it() {
    let text = repeated("function name@(a, b) { return a + b; } ", LENGTH);
    let document = read("a.js", text.as_bytes(), &Options::default());
    assert!(document.passages.len() > 10);
    let mut names = Vec::new();
    for passage in &document.passages {
        for name in passage.symbol.as_deref().unwrap_or_default().split(", ").filter(|name| !name.is_empty()) {
            let number = name.strip_prefix("name").expect("a name");
            names.push(number.parse::<usize>().expect("a number"));
            // A definition that began in the previous piece is named in both.
            let continued = passage.text.starts_with(|first: char| first != 'f');
            assert!(passage.text.contains(name) || continued, "{name} is not in {}", passage.text);
        }
    }
    names.dedup();
    let all: Vec<usize> = (0..names.len()).collect();
    assert_eq!(names, all, "every name, in the order of the text");
    assert!(text.contains(&format!("name{}(", names.len() - 1)) && !text.contains(&format!("name{}(", names.len())));
}

/// Constructs of issues, notes and wiki pages besides words.
const PROSE: &[&str] = &[
    "word@ ", "> quoted @\n", "> §quoted@ §", "§>§ a", "> a\n\nb@\n\n", "- [ ] I have read @\n",
    "### Question @\n\n_No response_\n\n", "<!-- ", "<!-- @ --> ", "<details><summary>@</summary>",
    "On Tue, Ada wrote:\n> a@\n\n", "On Tue, ", "```\ncode @\n```\n", "````", "{{a|", "{{a|b@}} ", "§{{ic|§}}", "[[a|",
    "[[File:a|", "{{hc|§b@|§}}", "{|\n| a@\n", "<ref>", "<ref name=\"", "== H@ ==\n", "''", "&amp", "(", "__", "* @\n",
    "§:§a", "§\n§end", "§ §end", "- 2026-11-22T10:00:00Z entry @\n", "## 2026-11-22\n\n- entry @\n\n",
];

fn prose_grows_linearly(name: &str, work: impl Fn(&str)) {
    for shape in PROSE {
        grows_linearly(&format!("{name} of {shape:?}"), |length| shaped(shape, length), &work);
    }
}

#[test]
fn an_issue_and_many_comments_take_time_in_proportion_to_length_and_number() {
    let options = Options::default();
    let issue = Issue::new(1, "Title");
    prose_grows_linearly("a body", |text| drop(Issue { body: text.to_owned(), ..issue.clone() }.document(&options)));
    prose_grows_linearly("a comment", |text| {
        drop(Issue { comments: vec![IssueComment::new(text); 2], ..issue.clone() }.document(&options));
    });
    let text = |length| repeated("word@ and more of it\n", length);
    grows_linearly("comments that quote each other", text, |text| {
        let mut comments = Vec::new();
        let mut said = "the first";
        for line in text.lines() {
            comments.push(IssueComment::new(format!("> {said}\n\n{line}")));
            said = line;
        }
        drop(Issue { comments, ..Issue::new(1, "Title") }.document(&Options::default()));
    });
}

#[test]
fn a_page_of_a_wiki_and_a_note_take_time_in_proportion_to_their_length() {
    prose_grows_linearly("a page", |text| {
        let wikitext = text.to_owned();
        let (id, revision, timestamp, author, site) = Default::default();
        let page = WikiPage { id, namespace: 0, title: "Page".into(), revision, timestamp, author, wikitext, site };
        drop(page.document(&Options::default()));
    });
    let options = NoteOptions::default();
    prose_grows_linearly("a note", |text| drop(read_note("memory/a.md", text.as_bytes(), &options)));
}
