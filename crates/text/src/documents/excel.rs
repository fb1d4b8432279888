//! Excel files (`.xlsx`): the rows of each sheet as lines with bars.

use std::borrow::Cow;
use std::collections::HashMap;

use jiff::civil::date;
use jiff::{Span, ToSpan};

use super::body::Body;
use super::package::{Archive, Node, entitle};
use super::{Extracted, MAX_TEXT, package};
use crate::Skip;

/// Most bytes of text of a file that people read; more is data.
const MAX_TABLE: usize = 256 << 10;

/// Most cells of a row that are counted, and of a sheet.
const MAX_CELLS: usize = 256;
const MAX_ALL_CELLS: usize = 1 << 20;

pub fn read(bytes: &[u8]) -> Result<Extracted, Skip> {
    let mut archive = Archive::open_office(bytes)?;
    let main = archive.main("xl/workbook.xml");
    let workbook = archive.require(&main)?;
    let sheets = archive.listed(&main, &workbook, "sheet")?;
    let shared = archive.each(&main, "sharedStrings").next().map(|shared| strings(&shared));
    let shared = shared.transpose()?.unwrap_or_default();
    let formats = archive.each(&main, "styles").next().map(|styles| formats(&styles)).unwrap_or_default();
    let since_1904 = counts_from_1904(&workbook);
    let mut extracted = Extracted::default();
    entitle(&mut archive, "docProps/core.xml", &mut extracted);
    for (name, sheet) in sheets {
        let Some(content) = archive.read(&sheet)? else { continue };
        let mut body = Body::new(&mut extracted);
        body.part(&format!("sheet {name}"));
        let values = Values { shared: &shared, formats: &formats, since_1904 };
        rows(&content, &values, &mut body)?;
        for part in archive.related(&sheet, "drawing") {
            if let Some(content) = archive.optional(&part) {
                extracted.gap();
                package::add_drawing(&content, &mut extracted);
                package::add_drawings(&mut archive, &part, &mut extracted);
            }
        }
        if extracted.text.len() > MAX_TABLE || !extracted.has_room(0) {
            return Err(Skip::Data);
        }
    }
    extracted.complete()
}

/// The texts that cells share. People read no file with more of them than text is taken from a document.
fn strings(xml: &[u8]) -> Result<Vec<String>, Skip> {
    let (mut strings, mut length) = (Vec::new(), 0);
    let (mut current, mut text, mut reading) = (String::new(), false, false);
    package::walk(xml, |node| match node {
        _ if length > MAX_TEXT || strings.len() > MAX_ALL_CELLS => {}
        Node::Start("rPh", _) => reading = true,
        Node::End("rPh") => reading = false,
        Node::Start("t", _) => text = !reading,
        Node::End("t") => text = false,
        Node::Text(part) if text => {
            length += part.len();
            current.push_str(part);
        }
        Node::End("si") => strings.push(unescaped(&std::mem::take(&mut current))),
        _ => {}
    })?;
    if length > MAX_TEXT || strings.len() > MAX_ALL_CELLS { Err(Skip::Data) } else { Ok(strings) }
}

/// Control characters in a text, such as `_x000D_`, in their own form.
fn unescaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("_x") {
        let code = rest.get(start + 2..start + 7).and_then(|code| code.strip_suffix('_'));
        match code.and_then(|digits| u32::from_str_radix(digits, 16).ok()).and_then(char::from_u32) {
            Some(character) => {
                plain.push_str(&rest[..start]);
                plain.push(character);
                rest = &rest[start + 7..];
            }
            None => {
                plain.push_str(&rest[..start + 2]);
                rest = &rest[start + 2..];
            }
        }
    }
    plain.push_str(rest);
    plain.replace("\r\n", "\n").replace('\r', "\n")
}

/// The formats of numbers that a file declares, and the number of the format of each style.
#[derive(Default)]
struct Formats {
    own: HashMap<u32, NumberFormat>,
    of_styles: Vec<u32>,
}

fn formats(xml: &[u8]) -> Formats {
    let (mut formats, mut of_cells) = (Formats::default(), false);
    // Without its styles a sheet still has its numbers.
    let _ = package::walk(xml, |node| match node {
        Node::Start("numFmt", attributes) => {
            let code = attributes.get("formatCode").unwrap_or_default();
            formats.own.extend(attributes.parsed("numFmtId").map(|number| (number, NumberFormat::parse(&code))));
        }
        Node::Start("cellXfs", _) => of_cells = true,
        Node::End("cellXfs") => of_cells = false,
        Node::Start("xf", attributes) if of_cells => {
            formats.of_styles.push(attributes.parsed("numFmtId").unwrap_or(0));
        }
        _ => {}
    });
    formats
}

fn counts_from_1904(workbook: &[u8]) -> bool {
    let mut since_1904 = false;
    let _ = package::walk(workbook, |node| {
        if let Node::Start("workbookPr", attributes) = node {
            since_1904 = attributes.get("date1904").is_some_and(|value| matches!(value.as_str(), "1" | "true"));
        }
    });
    since_1904
}

/// What turns the content of cells into what they show.
struct Values<'a> {
    shared: &'a [String],
    formats: &'a Formats,
    since_1904: bool,
}

impl Values<'_> {
    /// What a cell of this type and style shows.
    fn shown(&self, stored: &str, kind: &str, style: usize) -> Cow<'_, str> {
        match kind {
            "s" => {
                let shared = stored.trim().parse().ok().and_then(|at: usize| self.shared.get(at));
                Cow::Borrowed(shared.map_or("", String::as_str))
            }
            "b" => Cow::Borrowed(if stored.trim() == "0" { "FALSE" } else { "TRUE" }),
            "" | "n" if !stored.is_empty() => {
                let number = self.formats.of_styles.get(style).copied().unwrap_or(0);
                Cow::Owned(match self.formats.own.get(&number) {
                    Some(format) => format.shown(stored, self.since_1904),
                    None => NumberFormat::built_in(number).shown(stored, self.since_1904),
                })
            }
            _ => Cow::Owned(unescaped(stored)),
        }
    }
}

fn rows(xml: &[u8], values: &Values<'_>, body: &mut Body<'_>) -> Result<(), Skip> {
    let (mut value, mut text, mut kind, mut style) = (String::new(), false, String::new(), 0);
    let (mut cells, mut all) = (0, 0);
    package::walk(xml, |node| match node {
        _ if all > MAX_ALL_CELLS => {}
        Node::Start("row", _) => {
            all += 1;
            cells = 0;
            body.begin_row();
        }
        Node::Start("c", attributes) => {
            let place = attributes.get("r").and_then(|place| column(&place)).unwrap_or(cells);
            // Empty cells are left out of the file.
            while cells <= place.min(MAX_CELLS) {
                body.begin_cell();
                cells += 1;
                all += 1;
            }
            kind = attributes.get("t").unwrap_or_default();
            style = attributes.parsed("s").unwrap_or(0);
        }
        Node::Start("v" | "t", _) => text = true,
        Node::End("v" | "t") => text = false,
        Node::Text(part) if text => value.push_str(part),
        Node::End("c") => {
            let own = std::mem::take(&mut value);
            body.begin(None, false);
            body.text(&values.shown(&own, &kind, style));
            body.end();
        }
        Node::End("row") => body.end_row(),
        _ => {}
    })?;
    if all > MAX_ALL_CELLS { Err(Skip::Data) } else { Ok(()) }
}

/// The column of a cell from 0 on: 27 of `AB12`.
fn column(place: &str) -> Option<usize> {
    let letters = place.bytes().take_while(u8::is_ascii_uppercase).take(3);
    letters.fold(0, |column, letter| column * 26 + usize::from(letter - b'A') + 1).checked_sub(1)
}

// Numbers of a spreadsheet as people see them: dates, times, percents and rounded numbers instead of what the file stores.
//
// Only what changes the words is known here: the kind of a format and its digits. Dates are written as `2024-03-14` in every
// format, since a sheet shows them in the language of its reader.

/// How the numbers of a style are shown.
#[derive(Debug, PartialEq)]
pub enum NumberFormat {
    General,
    Date,
    Time,
    DateTime,
    /// Hours, which can be more than a day.
    Duration,
    Number {
        percent: bool,
        /// A comma between thousands.
        grouped: bool,
        /// The least number of digits before the point, and the least and the greatest after it.
        whole: usize,
        least: usize,
        most: usize,
        /// What is shown around the digits as it is, such as a currency.
        before: String,
        after: String,
    },
}

/// Most digits that a number has, and that a format gives it on each side of the point.
const DIGITS: usize = 15;

impl NumberFormat {
    /// A format that every file has, by its number. Those between 27 and 58 are dates and times of East Asia.
    pub fn built_in(number: u32) -> Self {
        match number {
            1 | 3 | 37 | 38 | 41 | 42 | 5 | 6 => Self::number(number != 1, 0),
            2 | 4 | 7 | 8 | 39 | 40 | 43 | 44 => Self::number(number != 2, 2),
            9 => Self::parse("0%"),
            10 => Self::parse("0.00%"),
            14..=17 | 27..=31 | 34..=36 | 50..=54 | 57 | 58 => Self::Date,
            18..=21 | 32 | 33 | 45 | 47 | 55 | 56 => Self::Time,
            22 => Self::DateTime,
            46 => Self::Duration,
            _ => Self::General,
        }
    }

    fn number(grouped: bool, digits: usize) -> Self {
        let (before, after) = (String::new(), String::new());
        Self::Number { percent: false, grouped, whole: 1, least: digits, most: digits, before, after }
    }

    /// A format by its code, such as `yyyy\-mm\-dd` or `#,##0.00`. The part for positive numbers decides.
    pub fn parse(code: &str) -> Self {
        if code.to_ascii_lowercase().contains("general") {
            return Self::General;
        }
        // Without what is shown as it is, before the digits or after them.
        let (mut bare, mut duration) = (String::new(), false);
        let (mut before, mut after) = (String::new(), String::new());
        let mut characters = code.chars();
        while let Some(character) = characters.next() {
            let literal = match character {
                ';' => break,
                '"' => characters.by_ref().take_while(|end| *end != '"').collect(),
                '\\' => characters.next().into_iter().collect(),
                // The width of the next character, or as many of it as the cell has room for.
                '_' | '*' => {
                    characters.next();
                    continue;
                }
                '[' => {
                    let unit: String = characters.by_ref().take_while(|end| *end != ']').collect();
                    let time = |one| unit.trim_matches(|letter: char| letter.eq_ignore_ascii_case(&one)).is_empty();
                    duration |= !unit.is_empty() && ['h', 'm', 's'].into_iter().any(time);
                    unit.strip_prefix('$')
                        .and_then(|currency| currency.split('-').next())
                        .unwrap_or_default()
                        .to_owned()
                }
                '0' | '#' | '?' => {
                    // Signs between digits are left out.
                    after.clear();
                    String::new()
                }
                character if character.is_ascii_alphanumeric() || ".,/@".contains(character) => String::new(),
                character => character.to_string(),
            };
            if !matches!(character, '"' | '\\' | '[') {
                bare.push(character.to_ascii_lowercase());
            }
            if bare.contains(['0', '#', '?']) { after.push_str(&literal) } else { before.push_str(&literal) }
        }
        let digits = |text: &str| {
            let (before, after) = text.split_once('.').unwrap_or((text, ""));
            (before.matches('0').count(), after.matches('0').count(), after.matches(['0', '#', '?']).count())
        };
        let has_digits = |text: &str| matches!(digits(text), (1.., ..) | (.., 1..));
        let (whole, least, most) = digits(&bare);
        // Years of an era, unless it is an exponent.
        let (exponent, fraction) = (bare.split_once('e'), bare.split_once('/'));
        let era = exponent.is_some_and(|(before, _)| !has_digits(before));
        let other = exponent.into_iter().chain(fraction).any(|(before, _)| has_digits(before));
        let (day, month, time) = (era || bare.contains(['y', 'd', 'g']), bare.contains('m'), bare.contains(['h', 's']));
        let percent = bare.contains('%');
        let grouped = bare.split('.').next().is_some_and(|before| before.contains(','));
        if bare.rsplit(['0', '#', '?']).next().is_some_and(|end| end.contains(',')) {
            // Shown in thousands, which the unit says. We show the number itself.
            (before, after) = (String::new(), String::new());
        }
        match () {
            () if bare.contains('@') => Self::General,
            () if duration => Self::Duration,
            () if day && time => Self::DateTime,
            () if time => Self::Time,
            () if day || month => Self::Date,
            () if other || whole + most == 0 && !percent && !grouped => Self::General,
            () => Self::Number {
                percent,
                grouped,
                whole: whole.min(DIGITS),
                least: if percent { 0 } else { least.min(DIGITS) },
                most: most.min(DIGITS),
                before,
                after,
            },
        }
    }

    /// A stored number as it is shown. `since_1904` if the days of the file are counted from 1904.
    pub fn shown(&self, stored: &str, since_1904: bool) -> String {
        let stored = stored.trim();
        let Some(number) = stored.parse::<f64>().ok().filter(|number| number.is_finite()) else {
            return stored.to_owned();
        };
        let dated = match self {
            // A number that is written in full can be a name, of which no digit is noise.
            Self::General if stored.bytes().all(|byte| byte.is_ascii_digit()) => Some(stored.to_owned()),
            Self::General => Some(general(number)),
            &Self::Number { percent, grouped, whole, least, most, ref before, ref after } => {
                let number = if percent { number * 100.0 } else { number };
                let digits = fixed(number, whole, least, most, grouped);
                let (sign, digits) = digits.strip_prefix('-').map_or(("", &*digits), |digits| ("-", digits));
                Some(format!("{sign}{before}{digits}{after}"))
            }
            Self::Duration => (number.abs() < 1e7).then(|| clock(seconds(number))),
            Self::Date | Self::Time | Self::DateTime => moment(self, number, since_1904),
        };
        dated.unwrap_or_else(|| general(number))
    }
}

/// The digits of a number without the noise of its storage.
fn general(number: f64) -> String {
    let rounded = format!("{number:.*e}", DIGITS - 1).parse::<f64>().unwrap_or(number);
    match rounded.abs() {
        0.0 => "0".to_owned(),
        size if (1e-9..1e21).contains(&size) => rounded.to_string(),
        _ => format!("{rounded:e}"),
    }
}

fn fixed(number: f64, whole: usize, least: usize, most: usize, grouped: bool) -> String {
    if number.abs() >= 1e21 {
        return general(number);
    }
    // A half is rounded up, also one like 1.005, whose binary form is less.
    let text = format!("{:.most$}", number.abs() * (1.0 + 4.0 * f64::EPSILON));
    let (before, after) = text.split_once('.').unwrap_or((&text, ""));
    let kept = after.trim_end_matches('0').len().max(least);
    let before = format!("{before:0>whole$}");
    let mut shown = String::new();
    if number < 0.0 && text.bytes().any(|byte| (b'1'..=b'9').contains(&byte)) {
        shown.push('-');
    }
    for (index, digit) in before.chars().enumerate() {
        if grouped && index > 0 && (before.len() - index).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    if kept > 0 {
        shown.push('.');
        shown.push_str(&after[..kept]);
    }
    shown
}

#[expect(clippy::cast_possible_truncation, reason = "callers bound the days")]
fn seconds(days: f64) -> i64 {
    (days * 86_400.0).round() as i64
}

/// Hours and minutes, and seconds if there are any.
fn clock(seconds: i64) -> String {
    let sign = if seconds < 0 { "-" } else { "" };
    let all = seconds.unsigned_abs();
    let (hours, minutes, rest) = (all / 3_600, all / 60 % 60, all % 60);
    if rest == 0 {
        format!("{sign}{hours:02}:{minutes:02}")
    } else {
        format!("{sign}{hours:02}:{minutes:02}:{rest:02}")
    }
}

fn moment(format: &NumberFormat, days: f64, since_1904: bool) -> Option<String> {
    // Days before the first and after the year 9999 are shown as marks.
    let total = (0.0..2_958_466.0).contains(&days).then(|| seconds(days))?;
    let (day, time) = (total / 86_400, clock(total % 86_400));
    if *format == NumberFormat::Time || (day == 0 && !since_1904) {
        return Some(time);
    }
    let first = match since_1904 {
        true => date(1904, 1, 1),
        // The 29th of February 1900 counts as a day.
        false if day < 60 => date(1899, 12, 31),
        false => date(1899, 12, 30),
    };
    let after: Span = day.days();
    let day = first.checked_add(after).ok()?;
    Some(if *format == NumberFormat::Date { day.to_string() } else { format!("{day} {time}") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_shown_by_their_formats() {
        for (code, stored, expected) in [
            ("General", "3.3000000000000003", "3.3"),
            ("General", "1.23456789012345E+15", "1234567890123450"),
            ("General", "4.4999999999999998E-2", "0.045"),
            ("General", "12345678901234567890", "12345678901234567890"),
            ("General", "-0.1", "-0.1"),
            ("General", "1e300", "1e300"),
            ("General", "about", "about"),
            ("0", "2.5", "3"),
            ("0.00", "1.005", "1.01"),
            ("#,##0.00", "1234567.891", "1,234,567.89"),
            ("#,##0.00;[Red](#,##0.00)", "-1234.5", "-1,234.50"),
            ("[$€-407] #,##0", "999.6", "€ 1,000"),
            ("#,##0.00\\ \"€\";[Red]-#,##0.00", "-1234.5", "-1,234.50 €"),
            ("_(\"US$\"* #,##0.00_);@", "-2", "-US$2.00"),
            ("$#,##0.0,\"k\"", "1500", "1,500.0"),
            ("000-00\" kg\"", "12345", "12345 kg"),
            ("0.0 %", "0.5", "50 %"),
            ("00000", "123", "00123"),
            ("0.0##", "1.25", "1.25"),
            ("0%", "0.5", "50%"),
            ("0.00%", "0.5", "50%"),
            ("0.0%", "0.1234", "12.3%"),
            ("0.00", "-0.001", "0.00"),
            ("0.00E+00", "1234.5", "1234.5"),
            ("# ?/?", "0.5", "0.5"),
            ("yyyy\\-mm\\-dd", "45365", "2024-03-14"),
            ("[$-409]mmmm\\ d\\,\\ yyyy;@", "45365", "2024-03-14"),
            ("yyyy\"年\"m\"月\"d\"日\";@", "45365.75", "2024-03-14"),
            ("[$-411]ge.m.d;@", "45365", "2024-03-14"),
            ("mmm", "45365", "2024-03-14"),
            ("h:mm AM/PM", "0.5", "12:00"),
            ("mm:ss", "45365.000011574", "00:00:01"),
            ("m/d/yy h:mm", "45365.75", "2024-03-14 18:00"),
            ("m/d/yy h:mm", "0.25", "06:00"),
            ("[h]:mm", "1.5", "36:00"),
            ("d.m.yyyy", "59", "1900-02-28"),
            ("d.m.yyyy", "61", "1900-03-01"),
            ("d.m.yyyy", "-5", "-5"),
            ("d.m.yyyy", "1e12", "1000000000000"),
            ("\"Day\" 0", "7", "Day 7"),
            ("@", "007", "007"),
            ("\"", "1.0", "1"),
            ("", "1.0", "1"),
        ] {
            assert_eq!(NumberFormat::parse(code).shown(stored, false), expected, "{code} of {stored}");
        }
        assert_eq!(NumberFormat::built_in(14).shown("43903", true), "2024-03-14");
        assert_eq!(NumberFormat::built_in(31).shown("45365", false), "2024-03-14");
        assert_eq!(NumberFormat::built_in(4).shown("1234567.891", false), "1,234,567.89");
        assert_eq!(NumberFormat::built_in(10).shown("0.5", false), "50%");
    }
}
