//! Office documents, books and notebooks, as programs write them.

use tamis_text::{Options, Skip, read_document};

use super::files::archive;

/// The headings and the text of a file.
fn text(path: &str, bytes: &[u8]) -> Result<String, Skip> {
    let document = read_document(path, bytes, &Options::default())?.expect("a document");
    let text: Vec<_> = document.passages.iter().map(|passage| passage.text.as_str()).collect();
    Ok(text.join("\n").lines().filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n"))
}

fn relations(all: &[(&str, &str, &str)]) -> String {
    let relation = |(id, kind, target): &(&str, &str, &str)| {
        format!("<Relationship Id='{id}' Type='http://schemas.example/relationships/{kind}' Target='{target}'/>")
    };
    format!("<Relationships>{}</Relationships>", all.iter().map(relation).collect::<String>())
}

fn word(body: &str, styles: &str) -> Vec<u8> {
    let body = format!("<w:document xmlns:w='w'><w:body>{body}</w:body></w:document>");
    archive(&[("word/document.xml", body.as_bytes()), ("word/styles.xml", styles.as_bytes())])
}

#[test]
fn the_parts_of_a_word_file_are_found_by_its_relations() {
    let main = relations(&[("r", "officeDocument", "/word/document2.xml")]);
    let own = relations(&[("a", "styles", "styles7.xml"), ("b", "footnotes", "../notes/f.xml")]);
    let styles = "<styles><style styleId='A'><name val='heading 2'/></style></styles>";
    let body = "<d><p><pPr><pStyle val='A'/></pPr><r><t>Mill</t></r></p><p><r><t>Gristmill ledger.</t></r></p></d>";
    let file = archive(&[
        ("_rels/.rels", main.as_bytes()),
        ("word/_rels/document2.xml.rels", own.as_bytes()),
        ("word/document2.xml", body.as_bytes()),
        ("word/styles7.xml", styles.as_bytes()),
        ("notes/f.xml", b"<n><p><r><t>A note.</t></r></p></n>"),
    ]);
    assert_eq!(text("a.docx", &file).as_deref(), Ok("## Mill\nGristmill ledger.\nA note."));
}

#[test]
fn a_text_box_glues_no_words() {
    let boxed = "<w:p><w:r><w:t>Before</w:t></w:r><w:r><drawing><w:p><w:r><w:t>In the box.</w:t></w:r></w:p>
        <w:p><w:r><w:t>More.</w:t></w:r></w:p></drawing></w:r><w:r><w:t>after</w:t></w:r></w:p>";
    assert_eq!(text("a.docx", &word(boxed, "<s/>")).as_deref(), Ok("Before after\nIn the box.\nMore."));
    let content = "<d><p>Before<frame><text-box><p>In the box.</p></text-box><title>A picture</title></frame>after<note>\
        <note-citation>1</note-citation><note-body><p>A note.</p></note-body></note>.</p></d>";
    let file = archive(&[("content.xml", content.as_bytes())]);
    assert_eq!(text("a.odt", &file).as_deref(), Ok("Before after.\nIn the box.\nA picture\nA note."));
}

#[test]
fn a_style_based_on_a_heading_is_one() {
    let styles = "<w:styles xmlns:w='w'><w:style w:styleId='H'><w:name w:val='heading 1'/></w:style>
        <w:style w:styleId='Own'><w:basedOn w:val='Between'/></w:style><w:style w:styleId='Between'><w:basedOn w:val='H'/></w:style>
        <w:style w:styleId='Body'><w:basedOn w:val='H'/><w:pPr><w:outlineLvl w:val='9'/></w:pPr></w:style>
        <w:style w:styleId='Loop'><w:basedOn w:val='Loop'/></w:style></w:styles>";
    let paragraph = |style: &str, text: &str| {
        format!("<w:p><w:pPr><w:pStyle w:val='{style}'/></w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>")
    };
    let body = paragraph("Own", "Weir") + &paragraph("Body", "Text") + &paragraph("Loop", "More");
    assert_eq!(text("a.docx", &word(&body, styles)).as_deref(), Ok("# Weir\nText\nMore"));
    let unstyled = paragraph("Heading2", "Weir") + &paragraph("BodyText", "Text");
    assert_eq!(text("a.docx", &word(&unstyled, "<s/>")).as_deref(), Ok("## Weir\nText"), "without styles");
    let content = "<d><styles><style name='P1' parent-style-name='Heading_20_2'/></styles>
        <p style-name='P1'>Weir</p><p>Text</p></d>";
    let styles = "<styles><style name='Heading_20_2'/></styles>";
    let file = archive(&[("content.xml", content.as_bytes()), ("styles.xml", styles.as_bytes())]);
    assert_eq!(text("a.odt", &file).as_deref(), Ok("## Weir\nText"));
}

#[test]
fn text_that_was_moved_or_deleted_is_not_read() {
    let body = "<w:p><w:moveFrom><w:r><w:t>Moved. </w:t></w:r></w:moveFrom><w:r><w:t>Kept. </w:t></w:r>
        <w:moveTo><w:r><w:t>Moved.</w:t></w:r></w:moveTo><w:del><w:r><w:delText>Gone</w:delText></w:r></w:del></w:p>";
    assert_eq!(text("a.docx", &word(body, "<s/>")).as_deref(), Ok("Kept. Moved."));
}

#[test]
fn a_part_that_a_document_can_do_without_costs_nothing() {
    let file = archive(&[
        ("word/document.xml", b"<d><p><r><t>Words</t></r></p></d>"),
        ("docProps/core.xml", b"<a><title>"),
        ("word/styles.xml", b"<"),
    ]);
    assert_eq!(text("a.docx", &file).as_deref(), Ok("Words"));
}

#[test]
fn slides_are_read_in_their_order_with_their_notes() {
    let main = relations(&[("r", "officeDocument", "ppt/presentation.xml")]);
    let own = relations(&[("s1", "slide", "slides/slide1.xml"), ("s2", "slide", "slides/slide2.xml")]);
    let list = "<p xmlns:r='r'><sldIdLst><sldId id='256' r:id='s2'/><sldId id='257' r:id='s1'/></sldIdLst></p>";
    let first = "<s><sp><ph type='title'/><p><r><t>Weirs</t></r></p></sp><sp><p><r><t>They hold </t></r><r><t>water.</t></r></p></sp>
        <tbl><tr><tc><p><r><t>Name</t></r></p></tc><tc><p><r><t>Year</t></r></p></tc></tr></tbl></s>";
    let notes = "<n><sp><p><r><t>Speak slowly.</t></r></p></sp><sp><p><fld type='slidenum'><t>7</t></fld></p></sp></n>";
    let file = archive(&[
        ("_rels/.rels", main.as_bytes()),
        ("ppt/presentation.xml", list.as_bytes()),
        ("ppt/_rels/presentation.xml.rels", own.as_bytes()),
        ("ppt/slides/slide2.xml", first.as_bytes()),
        ("ppt/slides/slide1.xml", b"<s><p><r><t>Thanks</t></r></p></s>"),
        ("ppt/slides/_rels/slide2.xml.rels", relations(&[("n", "notesSlide", "../notesSlides/n.xml")]).as_bytes()),
        ("ppt/notesSlides/n.xml", notes.as_bytes()),
    ]);
    let expected = "[slide 1]\n## Weirs\nThey hold water.\nName | Year\nSpeak slowly.\n[slide 2]\nThanks";
    assert_eq!(text("a.pptx", &file).as_deref(), Ok(expected));
}

#[test]
fn sheets_are_read_by_their_rows() {
    let own = relations(&[("s", "worksheet", "worksheets/sheet1.xml"), ("t", "sharedStrings", "sharedStrings.xml")]);
    let shared = "<sst><si><t>Crop</t></si><si><r><t>Broad </t></r><r><t>beans</t></r><rPh><t>no</t></rPh></si></sst>";
    let sheet = "<w><sheetData><row><c r='A1' t='s'><v>0</v></c><c r='C1' t='inlineStr'><is><t>Year</t></is></c></row>
        <row><c r='A2' t='s'><v>1</v></c><c r='C2'><v>2024</v></c></row><row><c r='A3'/></row></sheetData></w>";
    let book = |sheet: &[u8]| {
        archive(&[
            ("xl/workbook.xml", b"<w xmlns:r='r'><sheets><sheet name='Plan' sheetId='1' r:id='s'/></sheets></w>"),
            ("xl/_rels/workbook.xml.rels", own.as_bytes()),
            ("xl/sharedStrings.xml", shared.as_bytes()),
            ("xl/worksheets/sheet1.xml", sheet),
        ])
    };
    let expected = "[sheet Plan]\nCrop |  | Year\nBroad beans |  | 2024";
    assert_eq!(text("a.xlsx", &book(sheet.as_bytes())).as_deref(), Ok(expected));
    let long = format!("<w>{}</w>", "<row><c><v>1234567890</v></c></row>".repeat(30_000));
    assert_eq!(text("a.xlsx", &book(long.as_bytes())), Err(Skip::Data));
}

#[test]
fn a_book_without_an_order_is_read_as_it_is_listed() {
    let chapter = |text: &str| format!("<html><body><p>{text}</p></body></html>");
    let package = "<package><metadata><title>Book</title></metadata><manifest><item id='b' href='b.xhtml'/>
        <item id='a' href='a.xhtml' media-type='application/xhtml+xml'/></manifest><spine/></package>";
    let (one, two) = (chapter("About adderstongue."), chapter("About moonwort."));
    let files =
        [("OEBPS/c.opf", package.as_bytes()), ("OEBPS/a.xhtml", one.as_bytes()), ("OEBPS/b.xhtml", two.as_bytes())];
    let expected = "[part 1]\nAbout moonwort.\n[part 2]\nAbout adderstongue.";
    assert_eq!(text("a.epub", &archive(&files)).as_deref(), Ok(expected), "without a container");
    let container = ("META-INF/container.xml", &b"<c><rootfile full-path='gone.opf'/></c>"[..]);
    assert_eq!(text("a.epub", &archive(&[&[container], &files[..]].concat())).as_deref(), Ok(expected), "a wrong one");
    let expected = "[part 1]\nAbout adderstongue.\n[part 2]\nAbout moonwort.";
    assert_eq!(text("a.epub", &archive(&files[1..])).as_deref(), Ok(expected), "without a package");
}

#[test]
fn an_odd_cell_or_value_costs_no_notebook() {
    let good = r#"{"cell_type": "markdown", "source": ["About ", "tongs."]}"#;
    for odd in [
        r#"{"cell_type": "markdown", "metadata": {"score": NaN, "low": -Infinity}, "source": []}"#,
        r#"{"cell_type": "code", "source": null, "outputs": []}"#,
        r#"{"cell_type": 7, "source": {"a": 1}}"#,
        r#"{"cell_type": "markdown", "source": [1, null]}"#,
        r#"{"cell_type": "raw"}"#,
        "null",
        "\"text\"",
        r#"{"source": "\q \ud83d \u00"}"#,
        "{\"metadata\": \"a\tb\"}",
    ] {
        let notebook = format!(r#"{{"cells": [{odd}, {good}], "metadata": {{"kernelspec": 3}}}}"#);
        let read = text("a.ipynb", notebook.as_bytes());
        assert!(read.as_ref().is_ok_and(|text| text.ends_with("[cell 2]\nAbout tongs.")), "{odd}: {read:?}");
    }
    assert_eq!(
        text("a.ipynb", br#"{"cells": [{"source": "a NaN \ud83d\ude00"}], "a": NaN}"#).as_deref(),
        Ok("[cell 1]\na NaN 😀")
    );
}
