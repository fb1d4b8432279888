//! Files made to take much memory or time.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::time::{Duration, Instant};

use tamis_text::{Options, Skip, read_document};

use super::files::{archive, pages, pdf, stream};

/// Counts the memory that a thread holds, and the most that it held.
struct Counting;

thread_local! {
    static HELD: Cell<isize> = const { Cell::new(0) };
    static MOST: Cell<isize> = const { Cell::new(0) };
}

fn count(change: isize) {
    let held = HELD.get() + change;
    HELD.set(held);
    MOST.set(MOST.get().max(held));
}

// SAFETY: The system's allocator does the work.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size().cast_signed());
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        count(-layout.size().cast_signed());
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size.cast_signed() - layout.size().cast_signed());
        unsafe { System.realloc(block, layout, size) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Asserts that a document is refused for a reason, or for the time that it took until then, as on a busy machine.
#[track_caller]
fn assert_refused(refused: Option<Skip>, reason: Skip) {
    assert!(refused == Some(reason) || refused == Some(Skip::TooMuchWork), "{refused:?} for {reason:?}");
}

/// Reads a document within the memory that any file may take.
fn outcome(path: &str, bytes: &[u8]) -> Option<Skip> {
    const MEMORY: isize = 256 << 20;
    let (started, before) = (Instant::now(), HELD.get());
    MOST.set(before);
    let read = read_document(path, bytes, &Options::default());
    let took = MOST.get() - before;
    assert!(started.elapsed() < Duration::from_secs(60), "{path} took {:?}", started.elapsed());
    assert!(took < MEMORY, "{path} of {} bytes took {} MiB", bytes.len(), took >> 20);
    read.err()
}

/// A workbook of one sheet.
fn workbook(sheet: &str, shared: &str) -> Vec<u8> {
    archive(&[
        ("xl/workbook.xml", &b"<w xmlns:r='r'><sheet name='a' r:id='s'/></w>"[..]),
        ("xl/_rels/workbook.xml.rels", b"<r><Relationship Id='s' Type='t/worksheet' Target='s.xml'/></r>"),
        ("xl/sharedStrings.xml", shared.as_bytes()),
        ("xl/s.xml", sheet.as_bytes()),
    ])
}

#[test]
fn a_long_text_that_is_named_often_is_not_copied_as_often() {
    for (cells, length) in [(20_000, 240_000), (2_000, 2_400_000), (300, 20_000_000)] {
        let cells = "<c t='s'><v>0</v></c>".repeat(cells);
        let shared = format!("<sst><si><t>{}</t></si></sst>", "boiler ".repeat(length / 7));
        for sheet in [
            format!("<s><row>{cells}</row></s>"),
            format!("<s><row>{}</row></s>", cells.replace("<c", "</row><row><c")),
        ] {
            // Without optimisation the time is up before.
            assert_refused(outcome("a.xlsx", &workbook(&sheet, &shared)), Skip::Data);
        }
    }
    assert_refused(outcome("a.xlsx", &workbook("<s/>", &format!("<s>{}</s>", "<si/>".repeat(5 << 20)))), Skip::Data);
    // Spaces by their number.
    let spaces = format!("<d><p>{}a</p></d>", "<s c='100'/>".repeat(3 << 20));
    assert_refused(outcome("a.odt", &archive(&[("content.xml", spaces.as_bytes())])), Skip::TooLarge);
    // Parts of a long name.
    let relation = format!("<r><Relationship Id='s' Type='t/slide' Target='{}'/></r>", "s".repeat(1 << 20));
    let slides = format!("<p xmlns:r='r'>{}</p>", "<sldId r:id='s'/>".repeat(100_000));
    let files = [("ppt/presentation.xml", slides.as_bytes()), ("ppt/_rels/presentation.xml.rels", relation.as_bytes())];
    assert_eq!(outcome("a.pptx", &archive(&files)), Some(Skip::NoText));
    let (name, items) = ("a".repeat(1 << 20), "<itemref idref='a'/>".repeat(100_000));
    let manifest = format!("<manifest><item id='a' href='{name}.xhtml'/></manifest>");
    let package = format!("<package>{manifest}<spine>{items}</spine></package>");
    let container = b"<container><rootfile full-path='c.opf'/></container>";
    let files = [("META-INF/container.xml", &container[..]), ("c.opf", package.as_bytes())];
    assert!(outcome("a.epub", &archive(&files)).is_some());
    // A code that stands for a long text, and a value of many fields.
    let map = format!("1 beginbfchar <61> <{}> endbfchar", "0041".repeat(100_000));
    let mut objects = pages(stream("", &[&b"BT /F 12 Tf "[..], &b"(aaaaaaaaaaaaaaaaaaaa) Tj ".repeat(2_000)].concat()));
    objects[4] = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /ToUnicode 7 0 R >>".to_vec();
    objects.truncate(5);
    objects.push(stream("/Type /XObject /Subtype /Form", b""));
    objects.push(stream("", map.as_bytes()));
    outcome("a.pdf", &pdf(&objects));
    let mut objects = pages(stream("", b""));
    let fields = "<< /Subtype /Widget /Rect [0 0 9 9] /V 7 0 R >> ".repeat(2_000);
    objects[2] = format!("<< /Type /Page /Parent 2 0 R /Contents 4 0 R /Annots [{fields}] >>").into_bytes();
    objects.truncate(5);
    objects.push(stream("/Type /XObject /Subtype /Form", b""));
    objects.push(format!("({})", "boiler ".repeat(30_000)).into_bytes());
    outcome("a.pdf", &pdf(&objects));
}

#[test]
fn small_values_of_a_notebook_are_not_kept() {
    for (before, part, after) in [
        (r#"{"cells": [{"source": ["#, r#""","#, r#"""]}]}"#),
        (r#"{"cells": [{"outputs": ["#, "[],", "[]]}]}"),
        (r#"{"worksheets": ["#, "{},", "{}]}"),
        (r#"{"metadata": ["#, "0,", "0]}"),
        ("[", "0,", "0]"),
    ] {
        let notebook = format!("{before}{}{after}", part.repeat((8 << 20) / part.len()));
        let before = HELD.get();
        MOST.set(before);
        assert!(outcome("a.ipynb", notebook.as_bytes()).is_some());
        assert!(MOST.get() - before < 16 << 20, "{part} took {} MiB", (MOST.get() - before) >> 20);
    }
}

#[test]
fn an_archive_of_very_many_files_or_that_unpacks_to_much_is_too_large() {
    let entry = [&b"PK\x01\x02"[..], &[0; 42]].concat();
    let many = [entry.repeat(100_000), b"PK\x05\x06".to_vec(), vec![0xff; 8], vec![0; 10]].concat();
    assert_refused(outcome("a.docx", &many), Skip::TooLarge);
    let zeros = vec![b' '; 80 << 20];
    let mut bomb = archive(&[("word/document.xml", &zeros)]);
    assert!(bomb.len() < 1 << 20);
    assert_refused(outcome("a.docx", &bomb), Skip::TooLarge);
    // The sizes that the archive states, in the central directory, are small.
    let size = u32::try_from(zeros.len()).expect("small").to_le_bytes();
    while let Some(at) = bomb.windows(4).position(|window| window == size) {
        bomb[at..at + 4].copy_from_slice(&1_000_u32.to_le_bytes());
    }
    assert!(matches!(outcome("a.docx", &bomb), Some(Skip::TooLarge | Skip::Damaged)));
}

#[test]
fn entities_of_a_document_are_not_expanded_and_deep_nesting_takes_no_stack() {
    let bomb = br#"<?xml version="1.0"?><!DOCTYPE d [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">
        <!ENTITY f SYSTEM "file:///etc/passwd">]><document><body><p><r><t>One &b; two &f; three</t></r></p></body></document>"#;
    let document = read_document("a.docx", &archive(&[("word/document.xml", bomb)]), &Options::default());
    let document = document.expect("text").expect("a document");
    assert_eq!(document.passages[0].text, "One  two  three");
    let deep = format!("<d>{}<p><r><t>word</t></r></p>{}</d>", "<a>".repeat(500_000), "</a>".repeat(500_000));
    assert_eq!(outcome("a.docx", &archive(&[("word/document.xml", deep.as_bytes())])), None);
    let page = format!("<!DOCTYPE html>{}{}", "<div>".repeat(500_000), "<p>Words in a page. ".repeat(100));
    assert_eq!(outcome("a.html", page.as_bytes()), None);
    let json = format!("{{\"cells\": {}{}}}", "[".repeat(500_000), "]".repeat(500_000));
    assert_eq!(outcome("a.ipynb", json.as_bytes()), Some(Skip::NoText));
}

#[test]
fn documents_of_many_small_parts_are_bounded() {
    let container = b"<container><rootfile full-path='c.opf'/></container>";
    let package =
        b"<package><manifest><item id='a' href='a.xhtml'/></manifest><spine><itemref idref='a'/></spine></package>";
    let chapter = "<p>a</p>".repeat(500_000);
    let files = [("META-INF/container.xml", &container[..]), ("c.opf", package), ("a.xhtml", chapter.as_bytes())];
    assert_refused(outcome("a.epub", &archive(&files)), Skip::TooLarge);
    // One chapter that the order names again and again, and one that the list names under many names.
    let chapter = format!("<p>{}</p>", "Words of the chapter. ".repeat(20_000));
    let items = "<itemref idref='a'/>".repeat(10_000);
    let order = format!("<package><manifest><item id='a' href='a.xhtml'/></manifest><spine>{items}</spine></package>");
    let list: String = (0..10_000).map(|number| format!("<item id='{number}' href='a.xhtml'/>")).collect();
    for package in [order, format!("<package><manifest>{list}</manifest></package>")] {
        let (package, chapter) = (package.as_bytes(), chapter.as_bytes());
        let files = [("META-INF/container.xml", &container[..]), ("c.opf", package), ("a.xhtml", chapter)];
        assert_eq!(outcome("a.epub", &archive(&files)), None);
    }
    let cells = format!("{{\"cells\": [{}1]}}", "1,".repeat(100_000));
    assert_refused(outcome("a.ipynb", cells.as_bytes()), Skip::TooLarge);
    let rows = "<row><c r='IV1'/></row>".repeat(10_000);
    let relation = b"<r><Relationship Id='s' Type='t/worksheet' Target='s.xml'/></r>";
    let book = b"<w xmlns:r='r'><sheet name='a' r:id='s'/></w>";
    let files =
        [("xl/workbook.xml", &book[..]), ("xl/_rels/workbook.xml.rels", relation), ("xl/s.xml", rows.as_bytes())];
    assert_refused(outcome("a.xlsx", &archive(&files)), Skip::Data);
    let headings = "<p><pPr><outlineLvl val='0'/></pPr><t>a</t></p><p><t>b</t></p>".repeat(30_000);
    let file = archive(&[("word/document.xml", format!("<d>{headings}</d>").as_bytes())]);
    let document = read_document("a.docx", &file, &Options::default()).expect("text").expect("a document");
    assert!(document.passages.len() < 25_000, "{} passages", document.passages.len());
}

#[test]
fn deep_paragraphs_and_many_attributes_take_no_stack() {
    for (open, close) in [("<p>", "</p>"), ("<tr><tc>", "</tc></tr>")] {
        let deep = format!("<d>{}<p><t>word</t></p>{}<p><t>z</t></p></d>", open.repeat(200_000), close.repeat(200_000));
        assert_eq!(outcome("a.docx", &archive(&[("word/document.xml", deep.as_bytes())])), None);
    }
    let small = std::thread::Builder::new().stack_size(1 << 20);
    let page = format!("<!DOCTYPE html><p {}>b</p>{}", "a=\"\" ".repeat(100_000), "<p>Words in a page. ".repeat(100));
    let read = small.spawn(move || outcome("a.html", page.as_bytes())).expect("a thread");
    assert_eq!(read.join().expect("no overflow"), None);
}

#[test]
fn a_small_file_takes_a_small_time() {
    let show = b"/X Do ".repeat(400);
    let mut objects = pages(stream("", &show));
    let own = "/Type /XObject /Subtype /Form /Resources << /XObject << /X 6 0 R >> /Font << /F 5 0 R >> >>";
    objects.push(stream(own, &b"BT /F 12 Tf (ab) Tj ET /X Do ".repeat(400)));
    let file = pdf(&objects);
    assert!(file.len() < 2_000);
    let started = Instant::now();
    assert_eq!(outcome("a.pdf", &file), Some(Skip::TooMuchWork));
    assert!(started.elapsed() < Duration::from_secs(15), "{:?}", started.elapsed());
    // Each of many pages shows the same long content.
    let content = stream("", &[&b"BT /F 12 Tf "[..], &b"(ab cd) Tj ".repeat(20_000)].concat());
    let mut objects = pages(content);
    let page = objects[2].clone();
    objects[1] =
        format!("<< /Type /Pages /Kids [{}] >>", (6..2_006).map(|id| format!("{id} 0 R ")).collect::<String>()).into();
    objects.extend(std::iter::repeat_n(page, 2_000));
    assert_eq!(outcome("a.pdf", &pdf(&objects)), Some(Skip::TooMuchWork));
}

#[test]
fn a_page_that_unpacks_to_much_is_too_much_work_and_objects_are_too_large() {
    let show = b"BT /F 12 Tf 50 700 Td (The quick brown fox jumps) Tj ET";
    assert_eq!(outcome("a.pdf", &pdf(&pages(stream("", show)))), None);
    let bomb = vec![b' '; 200 << 20];
    assert_eq!(outcome("a.pdf", &pdf(&pages(stream("", &bomb)))), Some(Skip::TooMuchWork));
    let mut objects = pages(stream("", b""));
    let list = [b"9 0 [".to_vec(), b"1 ".repeat(20 << 20), b"]".to_vec()].concat();
    objects.push(stream("/Type /ObjStm /N 1 /First 4", &list));
    assert_refused(outcome("a.pdf", &pdf(&objects)), Skip::TooLarge);
    let mut objects = pages(stream("", b""));
    objects.push([b"[".to_vec(), b"1 ".repeat(5 << 20), b"]".to_vec()].concat());
    assert_refused(outcome("a.pdf", &pdf(&objects)), Skip::TooLarge);
}

#[test]
fn forms_that_show_themselves_end_and_nested_objects_take_no_stack() {
    let mut objects = pages(stream("", b"/X Do /X Do"));
    let own = "/Type /XObject /Subtype /Form /Resources << /XObject << /X 6 0 R >> >>";
    objects.push(stream(own, &b"/X Do ".repeat(40)));
    assert_refused(outcome("a.pdf", &pdf(&objects)), Skip::NoText);
    let mut objects = pages(stream("", b"q "));
    objects[1] = b"<< /Type /Pages /Kids [2 0 R 3 0 R] /Parent 2 0 R /Count 1 >>".to_vec();
    assert!(outcome("a.pdf", &pdf(&objects)).is_some());
    let mut objects = pages(stream("", b""));
    objects.push([b"[".repeat(200_000), b"]".repeat(200_000)].concat());
    assert!(outcome("a.pdf", &pdf(&objects)).is_some());
    let content = [b"[".repeat(200_000), b"<<".repeat(200_000)].concat();
    assert_eq!(outcome("a.pdf", &pdf(&pages(stream("", &content)))), Some(Skip::NoText));
}
