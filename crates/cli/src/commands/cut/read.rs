//! Reads another engine's answer and keeps its lines byte for byte: JSON Lines, a JSON array, CSV or TSV with a header, or bare
//! scores.

use super::row::{Cell, KNOWN, Row, SCORE, read_entry};
use anyhow::{Result, bail};
use serde_json::Value;
use std::io::BufRead;
use tamis::lists::ListEntry;

/// U+FEFF as UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The most malformed lines listed; the rest is counted.
const LISTED: usize = 10;

/// All lines of an input.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Input {
    /// The line of names, where the format has one.
    pub header: Option<Vec<u8>>,
    /// The other lines, in order.
    pub rows: Vec<Row>,
}

/// Reads every line except blank ones. `field` names the score: a key of the object, keys separated by dots, or a column.
///
/// # Errors
/// Malformed lines and lines without a finite number in the field, each with its number.
pub fn read(mut input: impl BufRead, field: Option<&str>) -> Result<Input> {
    let mut bytes = Vec::new();
    input.read_to_end(&mut bytes)?;
    // Some programs begin a file with a mark for UTF-8, which belongs to no line.
    if bytes.starts_with(BYTE_ORDER_MARK) {
        bytes.drain(..BYTE_ORDER_MARK.len());
    }
    let first = bytes.split_inclusive(|&byte| byte == b'\n').find(|line| !line.trim_ascii().is_empty());
    let mut malformed = Vec::new();
    let read = match first.map(|line| Format::detect(line, field)) {
        None => Input::default(),
        Some(Format::Table(delimiter)) => table(&bytes, delimiter, field, &mut malformed),
        Some(Format::Numbers) => lines(&bytes, number, &mut malformed),
        Some(Format::Array) => array(&bytes, field, &mut malformed),
        Some(Format::Json) => lines(&bytes, |line| object(line, field), &mut malformed),
    };
    let more = malformed.len().saturating_sub(LISTED);
    malformed.truncate(LISTED);
    if more > 0 {
        malformed.push(format!("and {more} more lines"));
    }
    if !malformed.is_empty() {
        bail!("{}; nothing is written", malformed.join("\n  "));
    }
    Ok(read)
}

/// The format of the lines.
enum Format {
    /// One object a line.
    Json,
    /// All objects in one list.
    Array,
    /// Fields between delimiters, their names in the first line.
    Table(u8),
    /// One score a line.
    Numbers,
}

impl Format {
    /// The format of the first line; neither a number nor a line of known names, it counts as JSON.
    fn detect(first: &[u8], field: Option<&str>) -> Self {
        let first = String::from_utf8_lossy(first);
        let first = first.trim();
        if first.trim_matches('"').parse().is_ok_and(f64::is_finite) {
            return Format::Numbers;
        }
        if first.starts_with('[') {
            return Format::Array;
        }
        let delimiter = if first.contains('\t') { '\t' } else { ',' };
        let mut names = first.split(delimiter).map(|name| name.trim().trim_matches('"'));
        if names.any(|name| KNOWN.contains(&name) || Some(name) == field) {
            return Format::Table(delimiter as u8);
        }
        Format::Json
    }
}

/// Reads one row from each line.
fn lines(bytes: &[u8], read: impl Fn(&[u8]) -> Result<ListEntry, String>, malformed: &mut Vec<String>) -> Input {
    let mut rows = Vec::new();
    for (line, number) in bytes.split_inclusive(|&byte| byte == b'\n').zip(1..) {
        if line.trim_ascii().is_empty() {
            continue;
        }
        match read(line) {
            Ok(values) => rows.push(Row { bytes: line.to_vec(), number, values }),
            Err(reason) => malformed.push(format!("line {number}: {reason}")),
        }
    }
    Input { header: None, rows }
}

/// Reads one row from each element of a list, which becomes a line of its own.
fn array(bytes: &[u8], field: Option<&str>, malformed: &mut Vec<String>) -> Input {
    let mut rows = Vec::new();
    let space = |at: usize| at + bytes[at..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    let mut at = space(0) + 1;
    loop {
        at = space(at);
        if rows.is_empty() && bytes.get(at) == Some(&b']') {
            break;
        }
        let number = 1 + bytes[..at].iter().filter(|&&byte| byte == b'\n').count();
        let mut values = serde_json::Deserializer::from_slice(&bytes[at..]).into_iter::<Value>();
        let value = match values.next() {
            Some(Ok(value)) => value,
            Some(Err(error)) => {
                malformed.push(format!("line {number}: {}", not_json(&bytes[at..], &error)));
                break;
            }
            None => {
                malformed.push(format!("line {number}: the list breaks off"));
                break;
            }
        };
        let end = at + values.byte_offset();
        // Only the space between two values can hold a line end.
        let spaced = |byte: &u8| if matches!(byte, b'\r' | b'\n') { b' ' } else { *byte };
        let line: Vec<u8> = bytes[at..end].iter().map(spaced).chain([b'\n']).collect();
        let read = if value.is_object() { object(&line, field) } else { self::number(&line) };
        match read {
            Ok(values) => rows.push(Row { bytes: line, number, values }),
            Err(reason) => malformed.push(format!("line {number}: {reason}")),
        }
        at = space(end);
        match bytes.get(at) {
            Some(b',') => at += 1,
            Some(b']') => break,
            _ => {
                malformed.push(format!("line {number}: the list breaks off after this element"));
                break;
            }
        }
    }
    if bytes.get(at) == Some(&b']') && space(at + 1) < bytes.len() {
        malformed.push("something follows the end of the list".to_owned());
    }
    Input { header: None, rows }
}

fn number(line: &[u8]) -> Result<ListEntry, String> {
    let text = String::from_utf8_lossy(line);
    let text = text.trim().trim_matches('"');
    let score = text.parse().ok().filter(|score: &f64| score.is_finite());
    match score {
        Some(_) => Ok(ListEntry { score, ..ListEntry::default() }),
        None => Err("not a finite number, as the first line is".to_owned()),
    }
}

fn object(line: &[u8], field: Option<&str>) -> Result<ListEntry, String> {
    let value: Value = serde_json::from_slice(line).map_err(|error| not_json(line, &error))?;
    let Value::Object(object) = &value else {
        return Err(format!("not a JSON object but {}", kind(&value)));
    };
    // A key that contains dots is stronger than a path through objects.
    let get = |name: &str| {
        let found = object.get(name).or_else(|| name.split('.').try_fold(&value, |value, key| value.get(key)));
        found.map(|found| match found {
            Value::Null => Cell::Empty,
            Value::Number(number) => match number.as_f64().filter(|number| number.is_finite()) {
                Some(number) => Cell::Number(number),
                None => Cell::Other("out of range".into()),
            },
            Value::String(text) => Cell::Text(text.clone()),
            other => Cell::Other(kind(other).into()),
        })
    };
    read_entry(get, || object.keys().cloned().collect(), field)
}

/// The reason why a text is not JSON. Some programs write numbers that JSON does not have.
fn not_json(text: &[u8], error: &serde_json::Error) -> String {
    let line = text.split(|&byte| byte == b'\n').nth(error.line().saturating_sub(1)).unwrap_or_default();
    let is_of_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'-';
    let at = error.column().saturating_sub(1).min(line.len());
    let first = line[..at].iter().rposition(|byte| !is_of_word(byte)).map_or(0, |before| before + 1);
    let word: Vec<u8> = line[first..].iter().copied().take_while(is_of_word).collect();
    match String::from_utf8_lossy(&word) {
        word if word.parse().is_ok_and(|number: f64| !number.is_finite()) => {
            format!("not JSON: {word} is not a finite number; give a number, or leave the line out")
        }
        _ => format!("not JSON: {error}"),
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// Reads records under a header; a quoted field may hold delimiters and line ends.
fn table(bytes: &[u8], delimiter: u8, field: Option<&str>, malformed: &mut Vec<String>) -> Input {
    let mut reader =
        csv::ReaderBuilder::new().delimiter(delimiter).flexible(true).has_headers(false).from_reader(bytes);
    let records: Vec<csv::ByteRecord> = reader.byte_records().map_while(Result::ok).collect();
    let starts = records.iter().filter_map(|record| record.position());
    let ends = starts.clone().skip(1).map(|position| position.byte() as usize).chain([bytes.len()]);
    let spans = starts.zip(ends).map(|(start, end)| (start.byte() as usize, end));

    let mut input = Input::default();
    let mut names: Vec<String> = Vec::new();
    for (record, (start, end)) in records.iter().zip(spans) {
        let (whole, skipped) = record_bytes(&bytes[start..end]);
        if input.header.is_none() {
            names = record.iter().map(|name| cell_text(name).trim().to_owned()).collect();
            input.header = Some(whole);
            continue;
        }
        // Blank lines before the record and lines within earlier fields count as well.
        let number = 1 + bytes[..start + skipped].iter().filter(|&&byte| byte == b'\n').count();
        match record_values(record, &names, field) {
            Ok(values) => input.rows.push(Row { bytes: whole, number, values }),
            Err(reason) => malformed.push(format!("line {number}: {reason}")),
        }
    }
    input
}

/// A record with its own line end but not the blank lines around it, and the number of bytes of these before it.
fn record_bytes(span: &[u8]) -> (Vec<u8>, usize) {
    let is_end = |byte: &u8| matches!(byte, b'\r' | b'\n');
    let start = span.iter().position(|byte| !is_end(byte)).unwrap_or(span.len());
    let end = span.iter().rposition(|byte| !is_end(byte)).map_or(start, |last| last + 1);
    let line_end: &[u8] = match &span[end..] {
        [b'\r', b'\n', ..] => b"\r\n",
        [b'\n', ..] => b"\n",
        [b'\r', ..] => b"\r\n",
        _ => b"",
    };
    ([&span[start..end], line_end].concat(), start)
}

fn record_values(record: &csv::ByteRecord, names: &[String], field: Option<&str>) -> Result<ListEntry, String> {
    if record.len() != names.len() {
        return Err(format!("{} where the header has {}", fields(record.len()), names.len()));
    }
    let get = |name: &str| {
        let cell = cell_text(record.get(names.iter().position(|known| known == name)?)?);
        Some(match cell.trim() {
            "" => Cell::Empty,
            text => match text.parse::<f64>() {
                Ok(number) if number.is_finite() => Cell::Number(number),
                Ok(_) => Cell::Other("out of range".into()),
                Err(_) => Cell::Text(cell),
            },
        })
    };
    read_entry(get, || names.to_vec(), field.or_else(|| names.iter().any(|name| name == SCORE).then_some(SCORE)))
}

fn cell_text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn fields(count: usize) -> String {
    if count == 1 { "1 field".into() } else { format!("{count} fields") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn scores(input: &[u8], field: Option<&str>) -> Vec<Option<f64>> {
        read(input, field).expect("well formed").rows.iter().map(|row| row.values.score).collect()
    }

    #[test]
    fn a_field_can_lie_in_objects_and_contain_dots() {
        let nested = br#"{"_additional": {"distance": 0.2}}"#;
        assert_eq!(scores(&nested[..], Some("_additional.distance")), [Some(0.2)]);
        let dotted = br#"{"a.b": 1, "a": {"b": 2}}"#;
        assert_eq!(scores(&dotted[..], Some("a.b")), [Some(1.0)]);
    }

    #[test]
    fn a_list_is_read_element_by_element_and_scores_can_be_in_quotes() {
        let list = b"\n[ {\"score\": \"0.9\",\r\n  \"b\": 1}, {\"score\": 0.5} ]\n";
        let rows = read(&list[..], None).expect("well formed").rows;
        assert_eq!(rows[0].bytes, b"{\"score\": \"0.9\",    \"b\": 1}\n");
        assert_eq!(rows[1].bytes, b"{\"score\": 0.5}\n");
        assert_eq!((rows[0].values.score, rows[1].values.score, rows[1].number), (Some(0.9), Some(0.5), 3));
        let quoted = b"{\"_additional\":{\"score\":\"0.97\"}}\n{\"_additional\":{\"score\":\"0.2\"}}\n";
        assert_eq!(scores(&quoted[..], Some("_additional.score")), [Some(0.97), Some(0.2)]);
        assert_eq!(scores(b"\"0.9\"\n\"0.5\"\n", None), [Some(0.9), Some(0.5)]);
        assert_eq!(scores(b"[0.9, 0.5]", None), [Some(0.9), Some(0.5)]);
        assert_eq!(scores(b"[]", None), []);
        for (broken, part) in [
            (&b"[{\"score\": 1}, {\"score\""[..], "line 1: not JSON"),
            (b"[{\"score\": 1}\n{\"score\": 2}]", "line 1: the list breaks off after this element"),
            (b"[", "line 1: the list breaks off"),
            (b"[{\"score\": 1},]", "line 1: not JSON"),
            (
                b"[{\"score\": 1},\n{\"id\": 2,\n\"score\": -Infinity}]",
                "line 2: not JSON: -Infinity is not a finite number",
            ),
            (b"{\"score\": 1}\n{\"score\": NaN, \"id\": 2}", "line 2: not JSON: NaN is not a finite number; give"),
            (b"[1] 2", "something follows the end of the list"),
        ] {
            let error = read(broken, None).expect_err("malformed").to_string();
            assert!(error.contains(part), "{part} is not in:\n{error}");
        }
    }

    #[test]
    fn every_malformed_line_is_named_by_its_number() {
        let input =
            b"{\"score\":1}\nnope\n[1]\n{\"score\":null}\n{\"score\":\"high\"}\n{\"rank\":1}\n{\"score\":1e999}\n\xff\n";
        let error = read(&input[..], Some("score")).expect_err("malformed").to_string();
        for part in [
            "line 2: not JSON",
            "line 3: not a JSON object but a list",
            "line 4: score must be a number and is null",
            "line 5: score must be a number and is a text",
            "line 6: no field score, only rank; name the score's field with --score",
            "line 7: not JSON: 1e999 is not a finite number",
            "line 8: not JSON",
            "nothing is written",
        ] {
            assert!(error.contains(part), "{part} is not in:\n{error}");
        }
        let many = "x\n".repeat(50);
        assert!(read(many.as_bytes(), None).expect_err("malformed").to_string().contains("and 40 more lines"));
    }

    #[test]
    fn a_table_keeps_its_header_its_quotes_and_its_line_ends_and_tabs_bare_scores_and_columns_of_any_name() {
        let input = b"id,score,text\r\n1,0.9,\"one, and\r\nmore\"\r\n\r\n2,0.5,two\r\n3,0.1,three";
        let Input { header, rows } = read(&input[..], None).expect("well formed");
        assert_eq!(header.as_deref(), Some(&b"id,score,text\r\n"[..]));
        let lines: Vec<&[u8]> = rows.iter().map(|row| &row.bytes[..]).collect();
        assert_eq!(lines, [&b"1,0.9,\"one, and\r\nmore\"\r\n"[..], b"2,0.5,two\r\n", b"3,0.1,three"]);
        assert_eq!(rows.iter().map(|row| row.number).collect::<Vec<_>>(), [2, 5, 6]);
        assert_eq!(rows[1].values.score, Some(0.5));
        assert_eq!(rows[1].values.tokens, Some(tamis_text::estimate_tokens("two")));
        let tabs = read(&b"similarity\tbm25\n0.5\t\n0.25\t3\n"[..], None).expect("well formed").rows;
        assert_eq!((tabs[0].values.similarity, tabs[0].values.bm25), (Some(0.5), None));
        assert_eq!(tabs[1].values.bm25, Some(3.0));
        assert_eq!(scores(b"0.9\n\n-0.5\n", None), [Some(0.9), Some(-0.5)]);
        assert_eq!(scores(b"cost,id\n3,a\n", Some("cost")), [Some(3.0)]);
    }

    #[test]
    fn malformed_records_and_numbers_are_named() {
        let error = |input: &[u8]| read(input, None).expect_err("malformed").to_string();
        let text = error(b"id,score\n1,0.9\n2\n3,\n4,high\n5,inf\n");
        for part in [
            "line 3: 1 field where the header has 2",
            "line 4: score must be a number and is null",
            "line 5: score must be a number and is a text",
            "line 6: score must be a number and is out of range",
        ] {
            assert!(text.contains(part), "{part} is not in:\n{text}");
        }
        assert!(error(b"0.9\nhigh\n").contains("line 2: not a finite number"));
    }

    proptest! {
        #[test]
        fn any_input_is_read_or_refused(input in proptest::collection::vec(any::<u8>(), 0..200)) {
            if let Ok(input) = read(&input[..], None) {
                prop_assert!(input.rows.iter().all(|row| row.values.score.is_none_or(f64::is_finite)));
            }
        }

        #[test]
        fn any_table_is_read_or_refused(input in "score,a\n([0-9.,\"a\r\n]{0,60})") {
            if let Ok(Input { header, rows }) = read(input.as_bytes(), None) {
                let kept: Vec<u8> = header.into_iter().chain(rows.into_iter().map(|row| row.bytes)).flatten().collect();
                let text = |bytes: &[u8]| -> Vec<u8> {
                    bytes.iter().copied().filter(|byte| !matches!(byte, b'\r' | b'\n')).collect()
                };
                prop_assert_eq!(text(&kept), text(input.as_bytes()));
            }
        }

        #[test]
        fn what_is_read_is_the_input(scores in proptest::collection::vec(-1e9f64..1e9, 0..40), table: bool) {
            let line = |score: &f64| if table { format!("{score:?}\n") } else { format!("{{\"score\":{score:?}}}\n") };
            let input: String = table.then(|| "score\n".to_owned()).into_iter().chain(scores.iter().map(line)).collect();
            let Input { header, rows } = read(input.as_bytes(), None).expect("well formed");
            let bytes: Vec<u8> = header.into_iter().chain(rows.iter().map(|row| row.bytes.clone())).flatten().collect();
            prop_assert_eq!(bytes, input.into_bytes());
            prop_assert_eq!(rows.iter().filter_map(|row| row.values.score).collect::<Vec<_>>(), scores);
        }
    }
}
