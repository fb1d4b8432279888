//! Web pages: the main text with its headings, without navigation, scripts and markup.
//!
//! The tokens of the page are enough: elements are matched by name on the way, and what a page leaves open ends with it. A line
//! of the text has the number of the line of the file that it begins on, unless the file has several paragraphs on one line.

use std::borrow::Cow;

use html5gum::emitters::default::DefaultEmitter;
use html5gum::{StartTag, Token, Tokenizer};

use super::Extracted;
use crate::decode::decode_words;
use crate::lines::{blank, has_word};
use crate::{Skip, limits};

/// Fewest letters of a page that is read as text. Programs that run in a browser have pages with less.
const LEAST: usize = 200;

/// Elements without text for a reader.
const LEFT_OUT: &str = "\
    script style template noscript svg math iframe object canvas audio video select button nav footer dialog";

/// Words in `class`, `id` or `role` of elements that lead around a site.
const BOILERPLATE: &str = "\
    sidebar sphinxsidebar navbar navigation nav breadcrumb breadcrumbs menu toc headerlink related footer skip-link \
    search banner contentinfo cookie cookies pagination";

/// Elements that begin on a line of their own.
const BLOCKS: &str = "\
    address article aside blockquote body br caption dd details div dl dt fieldset figcaption figure form h1 h2 h3 \
    h4 h5 h6 head header hr html li main ol option p pre section summary table tbody tfoot thead tr ul";

/// The text of a whole page; `None` for a template, a fragment or a page with little text.
pub fn page(bytes: &[u8]) -> Option<Extracted> {
    let (text, notes) = decode_words(bytes);
    let mut reader = Reader::read(&text, true);
    if reader.templated || !reader.whole || reader.too_much {
        return None;
    }
    // A page whose main part was taken for navigation.
    let everything = Reader::read(&text, false);
    if reader.letters * 10 < everything.letters {
        reader = everything;
    }
    if reader.letters < LEAST {
        return None;
    }
    let mut page = reader.finish();
    page.notes = notes;
    Some(page)
}

/// The text of a page of a book.
pub fn extract(text: &str) -> Result<Extracted, Skip> {
    let reader = Reader::read(text, false);
    match () {
        () if reader.too_much => Err(Skip::TooMuchWork),
        () if reader.lines.len() >= MAX_LINES => Err(Skip::TooLarge),
        () => Ok(reader.finish()),
    }
}

/// Most attributes of an element. The tokenizer needs some stack for each, and pages have a dozen.
const MAX_ATTRIBUTES: usize = 100;

/// Most lines of a page.
const MAX_LINES: usize = 400_000;

/// The text with spaces in place of further attributes of an element.
fn with_few_attributes(text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let mut kept: Option<Vec<u8>> = None;
    let mut at = 0;
    while let Some(start) = bytes[at..].iter().position(|byte| *byte == b'<').map(|found| at + found) {
        at = start + 1;
        at += bytes[at..].iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
        let (mut count, mut end) = (0, at);
        let mut beyond = None;
        while let Some(length) = attribute(&bytes[end..]).filter(|_| end > start + 1) {
            if count == MAX_ATTRIBUTES {
                beyond = Some(end);
            }
            count += 1;
            end += length;
        }
        if let Some(from) = beyond {
            let kept = kept.get_or_insert_with(|| bytes.to_vec());
            blank(&mut kept[from..end]);
        }
        at = at.max(end);
    }
    kept.and_then(|kept| String::from_utf8(kept).ok()).map_or(Cow::Borrowed(text), Cow::Owned)
}

/// The length of the attribute that a text begins with, and of the space before it.
fn attribute(bytes: &[u8]) -> Option<usize> {
    let count = |from: usize, is: fn(&u8) -> bool| bytes[from..].iter().take_while(|byte| is(byte)).count();
    let space = count(0, |byte| byte.is_ascii_whitespace() || *byte == b'/');
    let name = count(space, |byte| !byte.is_ascii_whitespace() && !b"\"'<>/=".contains(byte));
    let mut end = space + name;
    if name == 0 {
        return None;
    }
    let equals = end + count(end, u8::is_ascii_whitespace);
    if bytes.get(equals) != Some(&b'=') {
        return Some(end);
    }
    end = equals + 1 + count(equals + 1, u8::is_ascii_whitespace);
    match bytes.get(end) {
        Some(quote @ (b'"' | b'\'')) => {
            let value = bytes[end + 1..].iter().position(|byte| byte == quote)?;
            Some(end + value + 2)
        }
        _ => Some(end + count(end, |byte| !byte.is_ascii_whitespace() && *byte != b'>')),
    }
}

/// A line of text, before it is known which part of the page counts.
struct Line {
    row: usize,
    text: String,
    /// The level of a heading.
    level: Option<usize>,
    main: bool,
    /// The number of the table that it is a row of.
    table: Option<usize>,
}

#[derive(Default)]
struct Reader {
    lines: Vec<Line>,
    /// The line being written, and the row of the file on which it began.
    line: String,
    row: usize,
    title: String,
    in_title: bool,
    level: Option<usize>,
    /// The element whose content is left out, and the number of open elements of its name.
    left_out: Option<(Vec<u8>, usize)>,
    main: usize,
    preformatted: usize,
    code: usize,
    /// True in the reading of a sign, whose element often ends without a tag.
    reading: bool,
    /// Something without text stands between the line so far and what comes.
    divided: bool,
    /// Tables that are open, and all so far.
    open_tables: usize,
    tables: usize,
    letters: usize,
    main_letters: usize,
    /// Marks of a template engine outside of code.
    templated: bool,
    /// True if it is a page rather than a part of one.
    whole: bool,
    /// True if the page is written in XML.
    xml: bool,
    /// Reading has taken all the time that a file may.
    too_much: bool,
}

/// Returns `true` for a page that says that it is XML.
fn is_xml(text: &str) -> bool {
    let head = &text[..text.floor_char_boundary(2000)];
    text.trim_start().starts_with("<?xml") || head.contains("\"http://www.w3.org/1999/xhtml\"")
}

impl Reader {
    /// Reads all tokens. `choosy` leaves out what leads around a site.
    fn read(text: &str, choosy: bool) -> Self {
        let mut emitter = DefaultEmitter::<usize>::new_with_span();
        let mut reader = Self { xml: is_xml(text), ..Self::default() };
        // In XML, `<title/>` and `<style/>` end at once, and nothing but a tag begins with `<`.
        emitter.naively_switch_states(!reader.xml);
        let text = &*with_few_attributes(text);
        let mut rows = Rows { text: text.as_bytes(), offset: 0, row: 0 };
        for (number, token) in Tokenizer::new_with_emitter(text, emitter).enumerate() {
            let Ok(token) = token;
            // Looking at the clock costs as much as a token.
            reader.too_much |= number % 64 == 0 && limits::is_exceeded();
            if reader.too_much || reader.lines.len() >= MAX_LINES {
                break;
            }
            match token {
                Token::Doctype(_) => reader.whole = true,
                Token::StartTag(tag) => reader.start(&tag, rows.at(tag.span.start), choosy),
                Token::EndTag(tag) => reader.end(&tag.name),
                Token::String(text) => {
                    let row = rows.at(text.span.start);
                    reader.text(&String::from_utf8_lossy(&text.value), row);
                }
                Token::Comment(_) | Token::Error(_) => {}
            }
        }
        reader.flush();
        reader
    }

    fn start(&mut self, tag: &StartTag<usize>, row: usize, choosy: bool) {
        let name = tag.name.as_slice();
        if let Some((open, depth)) = &mut self.left_out {
            *depth += usize::from(open == name && !tag.self_closing);
            return;
        }
        let named = std::str::from_utf8(name).unwrap_or_default();
        self.templated |= tag.attributes.values().any(|value| has_template_marks(&String::from_utf8_lossy(value)));
        let is_void =
            tag.self_closing && (self.xml || matches!(named, "script" | "svg" | "iframe" | "object" | "canvas"));
        let boilerplate =
            choosy && matches!(named, "aside" | "div" | "ul" | "ol" | "a" | "section" | "header" | "form" | "p");
        if (has_word(LEFT_OUT, named) && !is_void) || (boilerplate && is_boilerplate(tag)) {
            self.break_line(named);
            self.divided = true;
            self.left_out = Some((name.to_vec(), 1));
            return;
        }
        self.break_line(named);
        match named {
            "rt" | "rp" | "rtc" => self.reading = true,
            "rb" | "ruby" => self.reading = false,
            "img" | "input" | "embed" => self.divided = true,
            "html" | "body" => self.whole = true,
            "title" => self.in_title = !is_void,
            "li" => self.push("- ", row),
            "td" | "th" if !self.line.trim().is_empty() => self.push(" | ", row),
            _ => self.level = heading(named).or(self.level),
        }
        self.tables += usize::from(named == "table");
        if let Some(open) = self.open(named) {
            *open += 1;
        }
    }

    /// The number of open elements of the kind of this one, if it counts.
    fn open(&mut self, name: &str) -> Option<&mut usize> {
        Some(match name {
            "main" | "article" => &mut self.main,
            "table" => &mut self.open_tables,
            "pre" => &mut self.preformatted,
            "code" | "kbd" | "samp" => &mut self.code,
            _ => return None,
        })
    }

    fn end(&mut self, name: &[u8]) {
        if let Some((open, depth)) = &mut self.left_out {
            if open == name {
                *depth -= 1;
                if *depth == 0 {
                    self.left_out = None;
                }
            }
            return;
        }
        let named = std::str::from_utf8(name).unwrap_or_default();
        self.break_line(named);
        match named {
            "rt" | "rp" | "rtc" | "ruby" => self.reading = false,
            "title" => self.in_title = false,
            _ if heading(named).is_some() => self.level = None,
            _ => {}
        }
        if let Some(open) = self.open(named) {
            *open = open.saturating_sub(1);
        }
    }

    fn text(&mut self, text: &str, row: usize) {
        if self.left_out.is_some() || self.reading {
            return;
        }
        if self.in_title {
            self.title.push_str(text);
            return;
        }
        if self.code == 0 && self.preformatted == 0 {
            self.templated |= has_template_marks(text);
        }
        let glued = self.line.ends_with(char::is_alphanumeric) && text.starts_with(char::is_alphanumeric);
        if std::mem::take(&mut self.divided) && glued {
            self.line.push(' ');
        }
        for (offset, part) in text.split('\n').enumerate() {
            // A heading is one line, however it is written.
            if offset > 0 && self.level.is_none() {
                self.flush();
            }
            if self.preformatted > 0 {
                if self.line.is_empty() {
                    self.row = row + offset;
                }
                self.line.push_str(part);
                continue;
            }
            let mut words = part.split_whitespace().peekable();
            let spaced = part.starts_with(char::is_whitespace) || offset > 0;
            if spaced && !self.line.is_empty() && !self.line.ends_with(' ') {
                self.line.push(' ');
            }
            while let Some(word) = words.next() {
                self.push(word, row + offset);
                if words.peek().is_some() || part.ends_with(char::is_whitespace) {
                    self.line.push(' ');
                }
            }
        }
    }

    fn push(&mut self, text: &str, row: usize) {
        if self.line.is_empty() {
            self.row = row;
        }
        self.line.push_str(text);
    }

    fn break_line(&mut self, element: &str) {
        if has_word(BLOCKS, element) {
            self.reading = false;
            self.flush();
        }
    }

    fn flush(&mut self) {
        let line = std::mem::take(&mut self.line);
        let text = line.trim_end();
        if text.trim().is_empty() || text == "-" {
            return;
        }
        let letters = text.chars().filter(|character| character.is_alphanumeric()).map(letters_of).sum::<usize>();
        self.letters += letters;
        if self.main > 0 {
            self.main_letters += letters;
        }
        let table = (self.open_tables > 0).then_some(self.tables);
        let (text, main) = (text.to_owned(), self.main > 0);
        self.lines.push(Line { row: self.row, text, level: self.level, main, table });
    }

    /// Only the main part, if it holds most of the text.
    fn finish(self) -> Extracted {
        let only_main = self.main_letters * 2 > self.letters;
        let mut extracted = Extracted::with_headings();
        extracted.entitle(&self.title);
        let mut last = None;
        for line in self.lines.iter().filter(|line| line.main || !only_main) {
            extracted.reach(line.row);
            match (line.level, line.table) {
                (Some(level), _) => extracted.heading(level, line.text.trim_start_matches("- ")),
                (None, Some(table)) => extracted.table_row(&line.text, last.replace(table) != Some(table)),
                (None, None) => extracted.line(&line.text),
            }
        }
        extracted
    }
}

/// The letters of an alphabet that a character says as much as: a sign of Chinese, Japanese or Korean is a syllable or a word.
fn letters_of(character: char) -> usize {
    if matches!(character, '\u{2e80}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
    {
        3
    } else {
        1
    }
}

/// Counts the lines before a place. Places come in order.
struct Rows<'text> {
    text: &'text [u8],
    offset: usize,
    row: usize,
}

impl Rows<'_> {
    fn at(&mut self, offset: usize) -> usize {
        let offset = offset.min(self.text.len());
        if let Some(passed) = self.text.get(self.offset..offset) {
            self.row += passed.iter().filter(|byte| **byte == b'\n').count();
            self.offset = offset;
        }
        self.row
    }
}

fn heading(name: &str) -> Option<usize> {
    let level = name.strip_prefix('h')?.parse().ok()?;
    (1..=6).contains(&level).then_some(level)
}

/// `{{ name }}`, `{% if %}`, `<% %>`, `<?php`: a page that a program fills in.
fn has_template_marks(text: &str) -> bool {
    ["{{", "{%", "<%", "<?php"].iter().any(|mark| text.contains(mark))
}

fn is_boilerplate(tag: &StartTag<usize>) -> bool {
    ["class", "id", "role"].iter().any(|name| {
        tag.attributes.get(name.as_bytes()).is_some_and(|value| {
            let value = String::from_utf8_lossy(value).to_ascii_lowercase();
            value.split_whitespace().any(|word| has_word(BOILERPLATE, word))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(text: &str) -> String {
        format!("<!DOCTYPE html>\n<html><head><title>Boiler &amp; pump</title></head><body>\n{text}\n</body></html>\n")
    }

    fn long() -> String {
        "<p>Bleed the radiators before the first frost and write down the pressure. </p>\n".repeat(6)
    }

    #[test]
    fn a_page_is_its_main_text_on_its_own_lines_and_a_main_part_leaves_out_the_rest() {
        let text = body(&format!(
            "<nav><a href='/'>Home</a></nav>\n<div class=\"sidebar\">Other <div>pages</div></div>\n<h1>Boiler\n  care</h1>\n<p>Open\nthe <b>valve</b>.</p>\n<ul><li>One</li>\n<li>Two</li></ul>\n<pre>\nif a &lt; b {{\n    c();\n}}</pre>\n<table><tr><th>Part</th><th>Years</th></tr>\n<tr><td>Pump</td><td>12</td></tr></table>\n{}<script>no()</script><footer>no</footer>",
            long()
        ));
        let page = page(text.as_bytes()).expect("a page");
        assert_eq!(page.title.as_deref(), Some("Boiler & pump"));
        let lines: Vec<_> = page.text.lines().collect();
        let shown = "# Boiler care\n\nOpen\nthe valve.\n- One\n- Two\n\nif a < b {\n    c();\n}\nPart | Years";
        assert_eq!(lines[4..15].join("\n"), shown);
        assert_eq!(lines[15], "Pump | 12");
        assert!(!page.text.contains("Home") && !page.text.contains("pages") && !page.text.contains("no"));
        let source: Vec<_> = text.lines().collect();
        assert!(source[4].contains("Boiler") && source[8].contains("One") && source[15].contains("Pump"));
        let text = body(&format!("<div>Welcome to the site</div><main>{}</main><div>Our partners</div>", long()));
        let page = super::page(text.as_bytes()).expect("a page");
        assert!(page.text.contains("radiators") && !page.text.contains("Welcome") && !page.text.contains("partners"));
    }

    #[test]
    fn templates_fragments_and_shells_are_no_pages() {
        for text in [
            body(&format!("<p>{{{{ name }}}}</p>{}", long())),
            body(&format!("<p {{% if a %}} class=\"{{% b %}}\">x</p>{}", long())),
            long(),
            body("<div id=\"app\"></div><script src=\"app.js\"></script>"),
            String::new(),
        ] {
            assert!(page(text.as_bytes()).is_none(), "{text}");
        }
        let quoted = body(&format!("<p>Write <code>{{{{ name }}}}</code>.</p>{}", long()));
        assert!(page(quoted.as_bytes()).is_some(), "code may show a template");
    }

    #[test]
    fn readings_of_signs_are_left_out_and_pictures_divide_words() {
        let text = body(&format!(
            "<p><ruby>水<rt>すい</rt>門<rt>もん</rt></ruby>の点検</p><p><ruby>閘<rp>(<rt>こう<rp>)</ruby>を開く</p><p><ruby>水<rt>すい<p>Weir<img src='a'>gate<svg><path/></svg>keeper <b>one</b>self</p>{}",
            long()
        ));
        let page = page(text.as_bytes()).expect("a page");
        let lines: Vec<_> = page.text.lines().filter(|line| !line.is_empty()).collect();
        assert_eq!(&lines[..4], ["水門の点検", "閘を開く", "水", "Weir gate keeper oneself"]);
    }

    #[test]
    fn a_short_page_in_signs_and_one_inside_of_navigation_are_read() {
        let page = |sentence: &str, times: usize| {
            page(body(&format!("<p>{}</p>", sentence.repeat(times))).as_bytes()).is_some()
        };
        for (text, times) in [("水門の点検は毎月行う。", 8), ("수문은 매달 점검한다. ", 8), ("闸门每月检查一次。", 9)]
        {
            assert!(page(text, times), "{text}");
        }
        assert!(!page("水門。", 8) && !page("Open gates. ", 8));
        let text = body(&format!("<div class=\"menu\">{}", long()));
        assert!(super::page(text.as_bytes()).is_some_and(|page| page.text.contains("radiators")));
    }
}
