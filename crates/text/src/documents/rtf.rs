//! Rich Text Format (`.rtf`, and files of old word processors that hold it): the paragraphs with their headings and tables.

use encoding_rs::{Encoding, WINDOWS_1252};

use super::Extracted;
use crate::Skip;
use crate::lines::{has_word, hexadecimal};

pub const MARK: &[u8] = b"{\\rtf";

/// Most groups that stand in one another.
const MAX_DEPTH: usize = 1_000;

/// Groups that hold no text of the document.
const LEFT_OUT: &str = "\
    fonttbl colortbl stylesheet pict object header headerl headerr headerf footer footerl footerr footerf generator \
    themedata colorschememapping datastore xmlnstbl listtable listoverridetable rsidtbl latentstyles filetbl revtbl \
    fldinst nonshppict bkmkstart bkmkend info pntext listtext annotation atnid atnauthor";

/// What counts until its group ends.
#[derive(Clone, Copy, Default)]
struct Group {
    left_out: bool,
    in_title: bool,
    hidden: bool,
    in_note: bool,
    /// The number of characters after one by its number, for programs that do not know it.
    stand_ins: usize,
}

#[derive(Default)]
struct Reader {
    extracted: Extracted,
    encoding: Option<&'static Encoding>,
    paragraph: String,
    title: String,
    /// Bytes in the encoding of the file that are not read yet.
    bytes: Vec<u8>,
    /// A high surrogate that waits for its other half.
    half: Option<u16>,
    group: Group,
    level: Option<usize>,
    in_table: bool,
    table_begins: bool,
    left: usize,
}

pub fn read(bytes: &[u8]) -> Result<Extracted, Skip> {
    let mut reader = Reader {
        extracted: Extracted::with_headings(),
        group: Group { stand_ins: 1, ..Group::default() },
        table_begins: true,
        ..Reader::default()
    };
    let mut groups: Vec<Group> = Vec::new();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        at += 1;
        match byte {
            b'{' if groups.len() >= MAX_DEPTH => return Err(Skip::TooMuchWork),
            b'{' => {
                reader.decode();
                groups.push(reader.group);
            }
            b'}' => {
                reader.decode();
                reader.left = 0;
                match groups.pop() {
                    Some(group) => {
                        let note_ends = reader.group.in_note && !group.in_note;
                        reader.group = group;
                        if note_ends {
                            reader.add(" ");
                        }
                    }
                    None => break,
                }
            }
            b'\\' => at = at.saturating_add(reader.control(&bytes[at..])),
            b'\r' | b'\n' => {}
            byte => reader.byte(*byte),
        }
    }
    reader.end(false);
    let title = std::mem::take(&mut reader.title);
    reader.extracted.entitle(&title);
    reader.extracted.complete()
}

impl Reader {
    /// Reads what follows a backslash and returns its length.
    fn control(&mut self, rest: &[u8]) -> usize {
        let letters = rest.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
        if letters == 0 {
            return self.sign(rest);
        }
        let word = std::str::from_utf8(&rest[..letters]).unwrap_or_default();
        let sign = usize::from(rest.get(letters) == Some(&b'-'));
        let digits = rest[letters + sign..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let mut end = letters;
        let mut number = None;
        if digits > 0 {
            end += sign + digits;
            number = std::str::from_utf8(&rest[letters..end]).ok().and_then(|text| text.parse::<i64>().ok());
        }
        end += usize::from(rest.get(end) == Some(&b' '));
        if word == "bin" {
            return end.saturating_add(usize::try_from(number.unwrap_or(0)).unwrap_or(0));
        }
        self.word(word, number);
        end
    }

    /// A control of one character.
    fn sign(&mut self, rest: &[u8]) -> usize {
        match rest.first() {
            Some(b'\'') => {
                if let Some(byte) = hexadecimal(&rest[1..]) {
                    self.byte(byte);
                }
                return rest.len().min(3);
            }
            Some(b'~') => self.text(" "),
            Some(b'_') => self.text("-"),
            Some(b'\r' | b'\n') => self.end(false),
            // A group that only some programs know; its text is seldom the document's.
            Some(b'*') => self.group.left_out = true,
            Some(byte @ (b'\\' | b'{' | b'}')) => self.byte(*byte),
            _ => {}
        }
        usize::from(!rest.is_empty())
    }

    fn word(&mut self, word: &str, number: Option<i64>) {
        // What comes before belongs to the state before.
        self.decode();
        let is_on = number != Some(0);
        match word {
            "u" => self.unicode(number.unwrap_or(0)),
            "uc" => self.group.stand_ins = usize::try_from(number.unwrap_or(1)).unwrap_or(0),
            "ansicpg" => self.encoding = number.and_then(encoding).or(self.encoding),
            "mac" => self.encoding = Some(encoding_rs::MACINTOSH),
            // The title is the only part of the description that counts.
            "title" if self.group.left_out => self.group = Group { left_out: false, in_title: true, ..self.group },
            "shptxt" => self.group.left_out = false,
            "v" | "deleted" => self.group.hidden = is_on,
            "plain" => self.group.hidden = false,
            "par" | "sect" | "page" => self.end(false),
            // A note stands in the text that refers to it.
            "footnote" => {
                self.add(" ");
                self.group.in_note = true;
            }
            "line" | "lbr" => self.text("\n"),
            "tab" => self.text("\t"),
            "cell" | "nestcell" => self.text(" | "),
            "row" | "nestrow" => self.end(true),
            "intbl" => self.in_table = is_on,
            "pard" => (self.in_table, self.level) = (false, None),
            "outlinelevel" => {
                let level = number.and_then(|level| usize::try_from(level).ok());
                self.level = level.filter(|level| *level < 9).map(|level| level + 1);
            }
            "emdash" => self.text("—"),
            "endash" => self.text("–"),
            "lquote" => self.text("‘"),
            "rquote" => self.text("’"),
            "ldblquote" => self.text("“"),
            "rdblquote" => self.text("”"),
            "bullet" => self.text("•"),
            "emspace" | "enspace" | "qmspace" => self.text(" "),
            word if has_word(LEFT_OUT, word) => self.group.left_out = true,
            _ => {}
        }
    }

    /// A character by its number in UTF-16, which is negative beyond the half.
    fn unicode(&mut self, number: i64) {
        self.decode();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the number is one of 16 bits")]
        let unit = number as u16;
        let units: Vec<u16> = self.half.take().into_iter().chain([unit]).collect();
        if (0xd800..0xdc00).contains(&unit) {
            self.half = Some(unit);
        } else {
            self.text(&String::from_utf16_lossy(&units));
        }
        self.left = self.group.stand_ins;
    }

    /// A byte in the encoding of the file.
    fn byte(&mut self, byte: u8) {
        if self.left > 0 {
            self.left -= 1;
        } else {
            self.bytes.push(byte);
        }
    }

    fn decode(&mut self) {
        if !self.bytes.is_empty() {
            let bytes = std::mem::take(&mut self.bytes);
            let (text, _) = self.encoding.unwrap_or(WINDOWS_1252).decode_without_bom_handling(&bytes);
            self.add(&text);
        }
    }

    fn text(&mut self, text: &str) {
        self.decode();
        self.left = 0;
        self.add(text);
    }

    fn add(&mut self, text: &str) {
        let Group { left_out, in_title, hidden, .. } = self.group;
        if in_title {
            self.title.push_str(text);
        } else if !left_out && !hidden {
            self.paragraph.push_str(text);
        }
    }

    /// Ends a paragraph or a row.
    fn end(&mut self, row: bool) {
        self.decode();
        self.left = 0;
        if self.group.left_out {
            return;
        }
        if self.in_table && !row {
            // A paragraph in a cell.
            return self.add(" ");
        }
        let paragraph = std::mem::take(&mut self.paragraph);
        let text = paragraph.trim();
        if row {
            let text = text.trim_end_matches([' ', '|']).replace('\n', " ");
            if !text.is_empty() {
                self.extracted.table_row(&text, std::mem::take(&mut self.table_begins));
            }
        } else if !text.is_empty() {
            self.table_begins = true;
            match self.level {
                Some(level) => {
                    self.extracted.gap();
                    self.extracted.heading(level, text);
                }
                None => self.extracted.line(text),
            }
            self.extracted.gap();
        }
    }
}

/// The encoding of a code page.
fn encoding(page: i64) -> Option<&'static Encoding> {
    let label = match page {
        932 => "shift_jis",
        936 => "gbk",
        949 => "euc-kr",
        950 => "big5",
        866 => "ibm866",
        10_000 => "macintosh",
        65_001 => "utf-8",
        page => &format!("windows-{page}"),
    };
    Encoding::for_label(label.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(rtf: &str) -> String {
        let read = read(rtf.as_bytes()).expect("text");
        read.text.lines().filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn paragraphs_headings_and_tables_are_read() {
        let rtf = r"{\rtf1\ansi\ansicpg1252{\fonttbl{\f0 Arial;}}{\info{\title Weir plan}{\author Ann}}
{\pard\outlinelevel0 Weir\par}\pard Sch\'f6pfwerk, {\b gate}keeper\'92s {\v gone}\u8220?plan\u8221?.\par
\pard\intbl Part\cell Year\cell\row\intbl Pump\par and hose\cell 1990\cell\row\pard{\*\generator x;}End{\footnote {\b Not} yet.}of \{a\}\par}";
        let expected =
            "# Weir\nSchöpfwerk, gatekeeper’s “plan”.\nPart | Year\nPump and hose | 1990\nEnd Not yet. of {a}";
        assert_eq!(text(rtf), expected);
        assert_eq!(read(rtf.as_bytes()).expect("text").title.as_deref(), Some("Weir plan"));
    }

    #[test]
    fn other_encodings_and_damage_are_read() {
        assert_eq!(text(r"{\rtf1\ansicpg1251 \'cf\'eb\'ee\'f2\'e8\'ed\'e0\par}"), "Плотина");
        assert_eq!(text(r"{\rtf1\ansicpg932 \'90\'85\'96\'e5\par}"), "水門");
        assert_eq!(text(r"{\rtf1\uc2\u-10179??\u-8704??x}"), "😀x");
        for broken in [
            r"{\rtf1 a", r"{\rtf1 a}}b", r"{\rtf1 a\", r"{\rtf1 a\'", r"{\rtf1 a\bin99999999999999999999 b",
            r"{\rtf1 a\u",
        ] {
            assert!(text(broken).starts_with('a'), "{broken}");
        }
        assert_eq!(read("{".repeat(9_999).as_bytes()).err(), Some(Skip::TooMuchWork));
    }
}
