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
    let body = "<d><p><pPr><pStyle val='A'/></pPr><r><t>Mill</t></r></p><p><r><t>Gristmill ledger.</t><footnoteReference id='2'/></r></p></d>";
    let file = archive(&[
        ("_rels/.rels", main.as_bytes()),
        ("word/_rels/document2.xml.rels", own.as_bytes()),
        ("word/document2.xml", body.as_bytes()),
        ("word/styles7.xml", styles.as_bytes()),
        ("notes/f.xml", b"<n><footnote id='2'><p><r><t>A note.</t></r></p></footnote></n>"),
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
fn text_that_was_moved_or_deleted_is_not_read_and_a_part_that_a_document_can_do_without_costs_nothing() {
    let body = "<w:p><w:moveFrom><w:r><w:t>Moved. </w:t></w:r></w:moveFrom><w:r><w:t>Kept. </w:t></w:r>
        <w:moveTo><w:r><w:t>Moved.</w:t></w:r></w:moveTo><w:del><w:r><w:delText>Gone</w:delText></w:r></w:del></w:p>";
    assert_eq!(text("a.docx", &word(body, "<s/>")).as_deref(), Ok("Kept. Moved."));
    let words = ("word/document.xml", &b"<d><p><r><t>Words</t></r></p></d>"[..]);
    let file = archive(&[words, ("docProps/core.xml", b"<a><title>"), ("word/styles.xml", b"<")]);
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
fn a_note_stands_where_the_text_refers_to_it() {
    let own = relations(&[("f", "footnotes", "footnotes.xml"), ("e", "endnotes", "endnotes.xml")]);
    let body = "<d><p><pPr><outlineLvl val='0'/></pPr><r><t>Alpha</t></r></p><p><r><t>Rivers</t><footnoteReference id='2'/></r><r><t>run.</t></r></p>
        <tbl><tr><tc><p><r><t>Hills</t><endnoteReference id='2'/></r></p></tc></tr></tbl></d>";
    let note = |kind: &str, text: &str| format!("<n><{kind} id='0'><p/></{kind}><{kind} id='2'>{text}</{kind}></n>");
    let file = archive(&[
        ("word/document.xml", body.as_bytes()),
        ("word/_rels/document.xml.rels", own.as_bytes()),
        ("word/footnotes.xml", note("footnote", "<p><r><t>One.</t></r></p><p><r><t>Two.</t></r></p>").as_bytes()),
        ("word/endnotes.xml", note("endnote", "<p><r><t>Three.</t></r></p>").as_bytes()),
    ]);
    assert_eq!(text("a.docx", &file).as_deref(), Ok("# Alpha\nRivers run.\nOne.\nTwo.\nHills Three."));
}

#[test]
fn parts_of_open_documents_have_names() {
    let sheet = "<d><spreadsheet><table name='Plan'><table-row><table-cell><p>37</p></table-cell></table-row></table></spreadsheet></d>";
    let slides = "<d><presentation><page name='p1'><frame class='title'><p>Swarms</p></frame><frame><p>At dusk.</p></frame></page></presentation></d>";
    for (path, content, expected) in
        [("a.ods", sheet, "[sheet Plan]\n37"), ("a.odp", slides, "[slide 1]\n## Swarms\nAt dusk.")]
    {
        assert_eq!(text(path, &archive(&[("content.xml", content.as_bytes())])).as_deref(), Ok(expected));
    }
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
fn a_deck_of_titles_has_text() {
    let own = relations(&[("s", "slide", "slides/slide1.xml")]);
    let title = "<s><sp><ph type='title'/><p><r><t>Winter</t></r><br/><r><t>plan</t></r></p></sp></s>";
    let deck = |slide: &str| {
        archive(&[
            ("ppt/presentation.xml", b"<p xmlns:r='r'><sldIdLst><sldId r:id='s'/></sldIdLst></p>"),
            ("ppt/_rels/presentation.xml.rels", own.as_bytes()),
            ("ppt/slides/slide1.xml", slide.as_bytes()),
        ])
    };
    assert_eq!(text("a.pptx", &deck(title)).as_deref(), Ok("[slide 1]\n## Winter plan"));
    assert_eq!(text("a.pptx", &deck("<s/>")), Err(Skip::NoText));
    let heading = "<w:p><w:pPr><w:pStyle w:val='Heading1'/></w:pPr><w:r><w:t>Winter plan</w:t></w:r></w:p>";
    assert_eq!(text("a.docx", &word(heading, "<s/>")).as_deref(), Ok("# Winter plan"));
}

#[test]
fn charts_and_diagrams_have_text() {
    let chart = "<c:chartSpace xmlns:c='c' xmlns:a='a'><c:title><a:p><a:r><a:t>Levels</a:t></a:r></a:p></c:title><c:ser><c:tx><c:strRef>\
        <c:strCache><c:pt><c:v>Upper gate</c:v></c:pt></c:strCache></c:strRef></c:tx><c:val><c:numRef><c:numCache><c:pt><c:v>7</c:v></c:pt>\
        </c:numCache></c:numRef></c:val></c:ser></c:chartSpace>";
    let diagram =
        "<m><ptLst><pt><t><p><r><t>Inspect</t></r></p></t></pt><pt><t><p><r><t>Repair</t></r></p></t></pt></ptLst></m>";
    let slide = relations(&[("c", "chart", "../charts/c.xml"), ("d", "diagramData", "../diagrams/d.xml")]);
    let deck = archive(&[
        ("ppt/presentation.xml", b"<p xmlns:r='r'><sldIdLst><sldId r:id='s'/></sldIdLst></p>"),
        ("ppt/_rels/presentation.xml.rels", relations(&[("s", "slide", "slides/slide1.xml")]).as_bytes()),
        ("ppt/slides/slide1.xml", b"<s/>"),
        ("ppt/slides/_rels/slide1.xml.rels", slide.as_bytes()),
        ("ppt/charts/c.xml", chart.as_bytes()),
        ("ppt/diagrams/d.xml", diagram.as_bytes()),
    ]);
    assert_eq!(text("a.pptx", &deck).as_deref(), Ok("[slide 1]\nInspect\nRepair\nLevels\nUpper gate"));
    let document = archive(&[
        ("word/document.xml", b"<d><p><r><t>Words</t></r></p></d>"),
        ("word/_rels/document.xml.rels", relations(&[("c", "chart", "charts/c.xml")]).as_bytes()),
        ("word/charts/c.xml", chart.as_bytes()),
    ]);
    assert_eq!(text("a.docx", &document).as_deref(), Ok("Words\nLevels\nUpper gate"));
}

#[test]
fn cells_show_what_people_see() {
    let [sheet, shared, styles] = ["worksheets/sheet1.xml", "sharedStrings.xml", "styles.xml"];
    let own = relations(&[("s", "worksheet", sheet), ("t", "sharedStrings", shared), ("y", "styles", styles)]);
    let styles = "<y><numFmts><numFmt numFmtId='164' formatCode='yyyy\\-mm\\-dd'/></numFmts><cellStyleXfs><xf numFmtId='9'/></cellStyleXfs>\
        <cellXfs><xf numFmtId='0'/><xf numFmtId='164'/><xf numFmtId='18'/><xf numFmtId='10'/><xf numFmtId='4'/></cellXfs></y>";
    let numbers = "0 3.3000000000000003,1 45365,2 0.5,3 0.5,4 1234567.891,9 1.23456789012345E+15".split(',');
    let numbers = numbers.map(|number| number.split_once(' ').expect("a style and a value"));
    let numbers: String = numbers.map(|(style, value)| format!("<c s='{style}'><v>{value}</v></c>")).collect();
    let sheet = format!(
        "<w><row>{numbers}<c t='b'><v>1</v></c><c t='e'><v>#DIV/0!</v></c><c t='str' s='1'><v>45365</v></c><c t='s'><v>0</v></c></row></w>"
    );
    let book = archive(&[
        ("xl/workbook.xml", b"<w xmlns:r='r'><sheets><sheet name='Plan' r:id='s'/></sheets></w>"),
        ("xl/_rels/workbook.xml.rels", own.as_bytes()),
        ("xl/sharedStrings.xml", b"<sst><si><t>one_x000D_\ntwo _x005F_x0041_ a_xb</t></si></sst>"),
        ("xl/styles.xml", styles.as_bytes()),
        ("xl/worksheets/sheet1.xml", sheet.as_bytes()),
    ]);
    let expected = "[sheet Plan]\n3.3 | 2024-03-14 | 12:00 | 50% | 1,234,567.89 | 1234567890123450 | TRUE | #DIV/0! | 45365 | one two _x0041_ a_xb";
    assert_eq!(text("a.xlsx", &book).as_deref(), Ok(expected));
}

#[test]
fn parts_are_found_in_any_case_and_with_any_slash() {
    let body = b"<d><p><r><t>Words</t></r></p></d>";
    for name in ["word\\document.xml", "Word/Document.XML", "/word/document.xml"] {
        assert_eq!(text("a.docx", &archive(&[(name, body)])).as_deref(), Ok("Words"), "{name}");
    }
    let chapter = "<html><body><p>About adderstongue.</p></body></html>";
    let package = "<package><manifest><item id='a' href='Text\\One.xhtml'/></manifest><spine><itemref idref='a'/></spine></package>";
    let book = archive(&[
        ("meta-inf/Container.xml", b"<c><rootfile full-path='OPS/Book.opf'/></c>"),
        ("ops/book.OPF", package.as_bytes()),
        ("OPS/text/one.xhtml", chapter.as_bytes()),
    ]);
    assert_eq!(text("a.epub", &book).as_deref(), Ok("[part 1]\nAbout adderstongue."));
}

#[test]
fn symbols_pictures_and_formulas_divide_words() {
    let run = |inside: &str| format!("<w:r>{inside}</w:r>");
    let words = |text: &str| run(&format!("<w:t xml:space='preserve'>{text}</w:t>"));
    let body = format!(
        "<w:p>{}{}{}{}{}{}<m:oMath xmlns:m='m'><m:f><m:num><m:r><m:t>a</m:t></m:r></m:num><m:den><m:r><m:t>b</m:t></m:r></m:den></m:f></m:oMath>{}</w:p>",
        words("Check list"),
        run("<w:sym w:char='F0FC'/>"),
        words("appr"),
        words("oved"),
        run("<w:drawing/>"),
        words("by"),
        words("two")
    );
    assert_eq!(text("a.docx", &word(&body, "<s/>")).as_deref(), Ok("Check list approved by a b two"));
    let content = "<d><p>Weir<frame><image/></frame>gate <span>keep</span>er</p></d>";
    assert_eq!(text("a.odt", &archive(&[("content.xml", content.as_bytes())])).as_deref(), Ok("Weir gate keeper"));
}

#[test]
fn the_first_bytes_of_a_file_say_what_it_is() {
    let page = b"<html><body><table><tr><td>Gate</td><td>open</td></tr></table></body></html>";
    assert_eq!(text("a.xls", page).as_deref(), Ok("Gate | open"));
    assert_eq!(text("a.doc", b"{\\rtf1\\ansi Sluice plan\\par}").as_deref(), Ok("Sluice plan"));
    let mail = b"MIME-Version: 1.0\r\nContent-Type: text/html\r\n\r\n<p>Sluice plan</p>";
    assert!(text("a.doc", mail).is_ok_and(|text| text.ends_with("Sluice plan")));
    let body = word("<w:p><w:r><w:t>Words</w:t></w:r></w:p>", "<s/>");
    for name in ["a.doc", "a.xlsx", "a.ppt"] {
        assert_eq!(text(name, &body).as_deref(), Ok("Words"), "{name}");
    }
    let old = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1 and more";
    assert_eq!([text("a.xls", old), text("a.xlsx", old)], [Err(Skip::Binary), Err(Skip::Encrypted)]);
    let table = read_document("a.xls", b"gate\topen\nupper\tyes\n", &Options::default());
    assert!(table.is_ok_and(|read| read.is_none()), "a plain text");
}

#[test]
fn mail_is_read_as_it_is_meant() {
    let mail = "From: =?utf-8?Q?J=C3=B6rg?= <joerg@weir.example>\r\nTo: ben@weir.example\r\nSubject: =?utf-8?B?QW5mcmFnZSB6dW0gU2Now7ZwZndlcms=?=\r\n\
        Date: Mon, 2 Nov 2026 09:00:00 +0000\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=\"b\"\r\n\r\n\
        --b\r\nContent-Type: text/plain; charset=iso-8859-1\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\nDie Pum=\r\npe l=E4uft.\r\n\
        --b\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\nVGhlIGltcGVsbGVyIGlzIGNyYWNrZWQu\r\n\
        --b\r\nContent-Type: image/png; name=\"gate.png\"\r\nContent-Disposition: attachment; filename=\"gate.png\"\r\nContent-Transfer-Encoding: base64\r\n\r\niVBORw0KGgo=\r\n--b--\r\n";
    let expected = "# Anfrage zum Schöpfwerk\nFrom: Jörg <joerg@weir.example>\nTo: ben@weir.example\nDate: 2026-11-02T09:00:00Z\n\
        Attachments: gate.png\nDie Pumpe läuft.\nThe impeller is cracked.";
    assert_eq!(text("a.eml", mail.as_bytes()).as_deref(), Ok(expected));
    let document = read_document("a.eml", mail.as_bytes(), &Options::default()).expect("text").expect("a document");
    assert_eq!(document.title.as_deref(), Some("Anfrage zum Schöpfwerk"));
    assert_eq!(document.dated_ns, Some(1_793_610_000_000_000_000));
    let page = "Subject: Weir\nContent-Type: text/html\n\n<p>Open the <b>gate</b>.</p><p>Now.</p>";
    assert_eq!(text("a.eml", page.as_bytes()).as_deref(), Ok("# Weir\nOpen the gate.\nNow."));
    let mailbox = "From a@weir.example Mon Nov  2 09:00:00 2026\nSubject: One\n\nFirst.\n\nFrom b@weir.example Mon Nov  2 10:00:00 2026\nSubject: Two\n\nSecond.\n";
    assert_eq!(text("a.mbox", mailbox.as_bytes()).as_deref(), Ok("# One\nFirst.\n# Two\nSecond."));
    let none = read_document("a.eml", b"Just some words\nwithout a head.\n", &Options::default());
    assert!(none.is_ok_and(|read| read.is_none()));
}

#[test]
fn cells_of_a_notebook_keep_their_symbols_and_languages() {
    let cell = |source: &str| format!(r#"{{"cell_type": "code", "source": {source:?}}}"#);
    let cells = [
        cell("%matplotlib inline\ndef load():\n    return 1\n"),
        cell("df = %sql select 1\nfoo?\ndef after(x):\n    return x\n"),
        cell("%%sql\nCREATE TABLE levels (id int);\n"),
        cell("%%bash\nopen_gate() { echo 1; }\n"),
        cell("%%writefile weir.py\ndef written():\n    pass\n"),
        cell("%%time\ndef timed():\n    pass\n"),
    ];
    let notebook = format!(r#"{{"cells": [{}]}}"#, cells.join(","));
    let document = read_document("a.ipynb", notebook.as_bytes(), &Options::default()).expect("text").expect("cells");
    let symbols = document.passages.iter().flat_map(|passage| {
        let language = passage.own.language.as_deref().unwrap_or_default();
        passage.symbols().map(move |symbol| format!("{symbol} {language}"))
    });
    let expected =
        ["load python", "df python", "after python", "levels sql", "open_gate shell", "written python", "timed python"];
    assert_eq!(symbols.collect::<Vec<_>>(), expected);
    let sql = document.passages.iter().find(|passage| passage.text.contains("levels")).expect("a passage");
    assert_eq!(sql.text, "[cell 3]\n%%sql\nCREATE TABLE levels (id int);");
    assert_eq!(sql.end_line - sql.start_line, 2);
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
    let mended = text("a.ipynb", br#"{"cells": [{"source": "a NaN \ud83d\ude00"}], "a": NaN}"#);
    assert_eq!(mended.as_deref(), Ok("[cell 1]\na NaN 😀"));
}
