//! Fonts, maps and places of text in PDF files, as programs write them.

use tamis_text::{Options, Skip, read_document};

use super::files::{pages, pdf, stream};

const SENTENCE: &str = "The quick marlin swims around the reef";

const HELVETICA: &str = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>";

/// The text of a file, without the line that names its page.
fn text(bytes: &[u8]) -> Result<String, Skip> {
    let document = read_document("a.pdf", bytes, &Options::default())?.expect("a document");
    let text: Vec<_> = document.passages.iter().map(|passage| passage.text.as_str()).collect();
    Ok(text.join("\n").lines().filter(|line| !line.starts_with("[page")).collect::<Vec<_>>().join("\n"))
}

/// A page that shows `content` with the font `F`, which is this object. More objects follow from 6 on.
fn shown(content: &str, font: &str, more: &[Vec<u8>]) -> Vec<u8> {
    let mut objects = pages(stream("", content.as_bytes()));
    objects[4] = font.as_bytes().to_vec();
    objects.extend_from_slice(more);
    pdf(&objects)
}

/// The numbers of glyphs for the sentence, and the lines of a map to Unicode for them.
fn coded(sentence: &str) -> (String, Vec<String>) {
    let mut letters: Vec<char> = sentence.chars().collect();
    letters.sort_unstable();
    letters.dedup();
    let number = |letter| letters.iter().position(|other| *other == letter).expect("listed") + 1;
    let codes = sentence.chars().map(|letter| format!("{:04x}", number(letter))).collect();
    let lines = letters.iter().map(|letter| format!("<{:04x}> <{:04x}>", number(*letter), u32::from(*letter)));
    (codes, lines.collect())
}

const WIDE: &str =
    "<< /Type /Font /Subtype /Type0 /BaseFont /X /Encoding /Identity-H /DescendantFonts [7 0 R] /ToUnicode 6 0 R >>";
const DESCENDANT: &[u8] = b"<< /Type /Font /Subtype /CIDFontType2 /BaseFont /X /DW 500 >>";

/// A map to Unicode with these lines, between some that programs write before and after.
fn map(lines: &[String]) -> String {
    format!(
        "/CIDInit /ProcSet findresource begin 12 dict begin begincmap\n1 begincodespacerange <0000> <ffff> \
         endcodespacerange\n{} beginbfchar\n{}\nendbfchar endcmap CMapName currentdict /CMap defineresource pop end end",
        lines.len(),
        lines.join("\n")
    )
}

#[test]
fn actual_text_stands_for_the_glyphs_that_it_covers() {
    let show = |content: &str| text(&shown(&format!("BT /F 12 Tf 72 700 Td {content} ET"), HELVETICA, &[]));
    let covered = "(A ) Tj /Span << /ActualText (fishladder) >> BDC (f1sh) Tj /P BMC (l@dder) Tj EMC EMC ( opens) Tj";
    assert_eq!(show(covered).as_deref(), Ok("A fishladder opens"));
    let wide = "/Span << /Lang (en) /ActualText <feff00fc> >> BDC (u) Tj EMC (ber) Tj";
    assert_eq!(show(wide).as_deref(), Ok("über"));
    assert_eq!(show("(soft) Tj /Span << /ActualText () >> BDC (-) Tj EMC (ware) Tj").as_deref(), Ok("software"));
    let mut objects = pages(stream("", b"BT /F 12 Tf 72 700 Td /Span /M BDC (x) Tj EMC ET"));
    objects[2] = b"<< /Type /Page /Parent 2 0 R /Contents 4 0 R /Resources << /Font << /F 5 0 R >> /Properties << /M << /ActualText (gate) >> >> >> >>".to_vec();
    assert_eq!(text(&pdf(&objects)).as_deref(), Ok("gate"));
}

#[test]
fn a_set_of_parameters_gives_the_font() {
    let mut objects = pages(stream("", format!("/G gs BT 72 700 Td ({SENTENCE}) Tj ET").as_bytes()));
    objects[2] =
        b"<< /Type /Page /Parent 2 0 R /Contents 4 0 R /Resources << /ExtGState << /G << /Font [5 0 R 12] >> >> >> >>"
            .to_vec();
    assert_eq!(text(&pdf(&objects)).as_deref(), Ok(SENTENCE));
}

#[test]
fn fonts_filters_and_resources_stand_anywhere() {
    let content = format!("BT /F 12 Tf 72 700 Td ({SENTENCE}) Tj ET");
    let plain = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>";
    let without_type = "<< /Subtype /Type1 /BaseFont /Helvetica >>";
    for font in [plain, without_type] {
        assert_eq!(text(&shown(&content, font, &[])).as_deref(), Ok(SENTENCE), "{font}");
    }
    let mut objects = pages(stream("", content.as_bytes()));
    objects[2] =
        format!("<< /Type /Page /Parent 2 0 R /Contents [4 0 R] /Resources << /Font << /F {plain} >> >> >>").into();
    assert_eq!(text(&pdf(&objects)).as_deref(), Ok(SENTENCE), "a font in its page");
    objects[2] = b"<< /Type /Page /Parent 2 0 R /Contents 4 0 R /Resources 6 0 R >>".to_vec();
    objects.push(b"<< /Font 7 0 R >>".to_vec());
    objects.push(b"<< /F 5 0 R >>".to_vec());
    assert_eq!(text(&pdf(&objects)).as_deref(), Ok(SENTENCE), "resources elsewhere");
    let packed = String::from_utf8_lossy(&objects[3]).contains("/Filter /FlateDecode");
    assert!(packed);
    let at = objects[3].windows(12).position(|window| window == b"/FlateDecode").expect("packed");
    objects[3].splice(at..at + 12, *b"[8 0 R]     ");
    objects.push(b"/FlateDecode".to_vec());
    assert_eq!(text(&pdf(&objects)).as_deref(), Ok(SENTENCE), "a filter elsewhere");
    objects[1] = b"<< /Type /Pages /Kids [9 0 R] /Count 1 >>".to_vec();
    assert_eq!(text(&pdf(&objects)).as_deref(), Ok(SENTENCE), "a page that is not listed");
}

#[test]
fn codes_that_a_map_lacks_have_the_characters_of_the_encoding() {
    let font = "<< /Type /Font /Subtype /TrueType /BaseFont /Arial /Encoding /WinAnsiEncoding /ToUnicode 6 0 R >>";
    let one = "1 begincodespacerange <00> <ff> endcodespacerange 1 beginbfchar <54> <0054> endbfchar";
    let file = shown(&format!("BT /F 12 Tf ({SENTENCE}) Tj ET"), font, &[stream("", one.as_bytes())]);
    assert_eq!(text(&file).as_deref(), Ok(SENTENCE));
    let identity = WIDE.replace("6 0 R", "/Identity-H");
    let codes: String = SENTENCE.chars().map(|letter| format!("{:04x}", u32::from(letter))).collect();
    let file = shown(&format!("BT /F 12 Tf <{codes}> Tj ET"), &identity, &[b"null".to_vec(), DESCENDANT.to_vec()]);
    assert_eq!(text(&file).as_deref(), Ok(SENTENCE), "a map by name");
}

#[test]
fn a_font_without_a_map_has_the_characters_of_its_program_or_of_most_fonts() {
    let font = "<< /Type /Font /Subtype /Type1 /BaseFont /CMMI10 /FontDescriptor 6 0 R >>";
    let program = "%!PS\n/Encoding 256 array 0 1 255 {1 index exch /.notdef put} for\ndup 11 /alpha put\ndup 12 /beta put\n\
        readonly def currentfile eexec dup 13 /gamma put";
    let more = [b"<< /FontFile 7 0 R >>".to_vec(), stream("", program.as_bytes())];
    assert_eq!(text(&shown("BT /F 12 Tf (\\013\\014\\015) Tj ET", font, &more)).as_deref(), Ok("αβ"));
    let font = "<< /Type /Font /Subtype /Type0 /BaseFont /Arial /Encoding /Identity-H /DescendantFonts [6 0 R] >>";
    let codes: String =
        "Weir Ä".chars().map(|one| format!("{:04x}", if one == 'Ä' { 98 } else { u32::from(one) - 29 })).collect();
    let descendant = b"<< /Subtype /CIDFontType2 /FontDescriptor << /FontName /Arial >> >>".to_vec();
    assert_eq!(text(&shown(&format!("BT /F 12 Tf <{codes}> Tj ET"), font, &[descendant])).as_deref(), Ok("Weir Ä"));
}

#[test]
fn maps_of_chinese_japanese_and_korean_are_known_by_name() {
    for (map, ordering, codes, expected) in [
        ("UniJIS-UCS2-H", "Japan1", "65e5672c8a9e306e6587", "日本語の文"),
        ("90ms-RKSJ-H", "Japan1", "93fa967b8cea82cc95b6", "日本語の文"),
        ("90ms-RKSJ-H", "Japan1", "618a43b1", "a海ｱ"),
        ("EUC-H", "Japan1", "61b3a4", "a海"),
        ("H", "Japan1", "3324", "海"),
        ("UniJIS-UTF16-H", "Japan1", "d83dde006d77", "😀海"),
        ("GBK-EUC-H", "GB1", "b8dbbfdacae8bfa3", "港口疏浚"),
        ("ETen-B5-H", "CNS1", "a4a4a4e5", "中文"),
        ("ETen-B5-V", "CNS1", "aefc", "海"),
        ("KSCms-UHC-H", "Korea1", "c7d1b1b9", "한국"),
        ("Identity-H", "Japan1", "00220023", "AB"),
    ] {
        let font = format!("<< /Type /Font /Subtype /Type0 /BaseFont /X /Encoding /{map} /DescendantFonts [6 0 R] >>");
        let descendant = format!(
            "<< /Type /Font /Subtype /CIDFontType0 /CIDSystemInfo << /Registry (Adobe) /Ordering ({ordering}) /Supplement 4 >> >>"
        );
        let file = shown(&format!("BT /F 12 Tf <{codes}> Tj ET"), &font, &[descendant.into_bytes()]);
        assert_eq!(text(&file).as_deref(), Ok(expected), "{map}");
    }
}

#[test]
fn lines_from_right_to_left_are_read_as_written() {
    let written = "שלום עולם";
    let shown_as: String = written.chars().rev().collect();
    let (codes, lines) = coded(&shown_as);
    let more = [stream("", map(&lines).as_bytes()), DESCENDANT.to_vec()];
    let file = shown(&format!("BT /F 12 Tf 72 700 Td <{codes}> Tj ET"), WIDE, &more);
    assert_eq!(text(&file).as_deref(), Ok(written));
    // Word by word, from the right edge on.
    let (last, first) = codes.split_at(4 * 4);
    let words = format!("BT /F 12 Tf 1 0 0 1 110 700 Tm <{}> Tj 1 0 0 1 72 700 Tm <{last}> Tj ET", &first[4..]);
    assert_eq!(text(&shown(&words, WIDE, &more)).as_deref(), Ok(written));
}

#[test]
fn only_the_trailer_says_that_a_file_is_encrypted() {
    let content = format!("BT /F 12 Tf ({SENTENCE}) Tj ET");
    let mut objects = pages(content.clone().into_bytes());
    objects[3] = format!("<< /Length {} >>\nstream\n/Encrypt Do {content}\nendstream", content.len() + 12).into_bytes();
    assert_eq!(text(&pdf(&objects)).as_deref(), Ok(SENTENCE));
}

#[test]
fn a_stream_without_a_length_reaches_to_its_end() {
    let mut objects = pages(Vec::new());
    objects[3] = format!("<< >>\nstream\nBT /F 12 Tf ({SENTENCE}) Tj ET\nendstream").into_bytes();
    assert_eq!(text(&pdf(&objects)).as_deref(), Ok(SENTENCE));
}

#[test]
fn a_few_letters_are_a_text() {
    let read = |letters: &str| text(&shown(&format!("BT /F 12 Tf ({letters}) Tj ET"), HELVETICA, &[]));
    assert_eq!(read("Invoice 4711 paid").as_deref(), Ok("Invoice 4711 paid"));
    assert_eq!(read("- . -"), Err(Skip::NoText));
}

#[test]
fn text_in_fields_and_text_shown_twice_is_read_once() {
    let twice = "BT /F 12 Tf 72 700 Td (Bold) Tj ET BT /F 12 Tf 72.2 700 Td (Bold) Tj ET";
    assert_eq!(text(&shown(twice, HELVETICA, &[])).as_deref(), Ok("Bold"));
    let mut objects = pages(stream("", b""));
    objects[2] = b"<< /Type /Page /Parent 2 0 R /Contents 4 0 R /Annots [6 0 R 7 0 R 9 0 R] >>".to_vec();
    objects.push(b"<< /Subtype /Widget /Rect [50 600 90 620] /AP << /N 8 0 R >> >>".to_vec());
    objects.push(b"<< /Subtype /Widget /Rect [50 500 90 520] /V (Berlin) >>".to_vec());
    let form = "/Type /XObject /Subtype /Form /BBox [0 0 40 20] /Resources << /Font << /F 5 0 R >> >>";
    objects.push(stream(form, b"BT /F 12 Tf 2 2 Td (Ada) Tj ET"));
    objects.push(b"<< /Subtype /Widget /Rect [50 400 90 420] /V (Rome) /AP << /N 10 0 R >> >>".to_vec());
    objects.push(stream("/Type /XObject /Subtype /Form /BBox [0 0 40 20]", b"/Tx BMC EMC"));
    assert_eq!(text(&pdf(&objects)).as_deref(), Ok("Ada\n\nBerlin\n\nRome"));
}

#[test]
fn widths_that_a_file_does_not_tell_are_those_of_its_font() {
    for (font, wide, accented) in [
        ("Helvetica", 16.7, 11.1),
        ("Helvetica-Bold", 16.7, 11.1),
        ("Times-Roman", 17.8, 8.9),
        ("Times-Bold", 18.9, 8.9),
        ("Times-Italic", 16.7, 8.9),
    ] {
        let font = format!("<< /Type /Font /Subtype /Type1 /BaseFont /{font} /Encoding /WinAnsiEncoding >>");
        for (letters, width) in [("MM", wide), ("\\351\\351", accented)] {
            let shown_at = |x: f64| {
                shown(&format!("BT /F 10 Tf 1 0 0 1 9 9 Tm ({letters}) Tj 1 0 0 1 {x} 9 Tm (end) Tj ET"), &font, &[])
            };
            let spaces = |x: f64| text(&shown_at(x)).expect("text").matches(' ').count();
            assert_eq!([spaces(9.0 + width + 0.8), spaces(9.0 + width + 1.3)], [0, 1], "{font} {letters}");
        }
    }
}

#[test]
fn the_size_of_a_font_of_type_3_is_that_of_its_glyphs() {
    let font = "<< /Type /Font /Subtype /Type3 /FontMatrix [1 0 0 1 0 0] /FirstChar 97 /Widths [50 50 50 50] /Encoding << /Differences [97 /a /b /c /d] >> >>";
    let content = "BT /F 0.1 Tf [(ab) -5000 (cd)] TJ [-30000 (ab)] TJ ET";
    assert_eq!(text(&shown(content, font, &[])).as_deref(), Ok("abcd ab"));
}

#[test]
fn letters_set_wide_and_turned_text_are_words() {
    let font = "<< /Type /Font /Subtype /Type1 /BaseFont /Courier >>";
    let wide = "BT /F 10 Tf 0 700 Td 30 Tc (12) Tj 0 Tc (ab) Tj ET";
    assert_eq!(text(&shown(wide, font, &[])).as_deref(), Ok("1 2 ab"));
    let turned = "BT /F 10 Tf 0 1 -1 0 300 100 Tm (Turned) Tj 0 1 -1 0 300 142 Tm (text) Tj ET";
    assert_eq!(text(&shown(turned, font, &[])).as_deref(), Ok("Turned text"));
}
