//! Reads another engine's answer and keeps its lines byte for byte: JSON objects, a JSON array, CSV or TSV with a header, or bare
//! scores.

use super::row::{Cell, Fault, KNOWN, Row, SCORE, not_finite, read_entry};
use crate::print::text::counted;
use anyhow::{Result, bail};
use serde_json::Value;
use std::io::BufRead;
use tamis::lists::ListEntry;

/// U+FEFF as UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The most malformed lines listed; the rest is counted.
const LISTED: usize = 10;

/// The most names listed of a line that lacks the field.
const NAMES: usize = 10;

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
    let mut faults = Faults::new();
    let read = match first.map(|line| Format::detect(line, field)) {
        None => Input::default(),
        Some(Format::Table(delimiter)) => table(&bytes, delimiter, field, &mut faults),
        Some(Format::Numbers) => lines(&bytes, number, &mut faults),
        Some(Format::Array) => array(&bytes, field, &mut faults),
        Some(Format::Pretty) => values(&bytes, field, &mut faults),
        Some(Format::Objects) => lines(&bytes, |line| object(line, field), &mut faults),
        Some(Format::Unknown) => bail!(
            "the first line is neither JSON, a number, nor a header with {}; name the score's column with --score, and \
             separate columns with commas or tabs",
            field.map_or_else(|| format!("{SCORE}, similarity or bm25"), str::to_owned)
        ),
    };
    if faults.is_empty() {
        return Ok(read);
    }
    let whole = || serde_json::from_slice(&bytes).ok().filter(|_| read.rows.is_empty());
    if let Some(filter) = whole().as_ref().and_then(pairs) {
        bail!("each result is a list of its own; jq -c '{filter}' prints one per line; nothing is written");
    }
    let list = whole()
        .as_ref()
        .filter(|_| faults.len() == 1)
        .and_then(|whole| list_of_results(whole).or_else(|| columns(whole)));
    let mut said: Vec<String> = faults
        .iter()
        .take(LISTED)
        .map(|(number, fault)| {
            let reason = match fault {
                Fault::Malformed(reason) => reason.clone(),
                Fault::NoField { wanted, names } => no_field(wanted, names, read.rows.first(), list.as_deref()),
            };
            format!("line {number}: {reason}")
        })
        .collect();
    if faults.len() > LISTED {
        said.push(format!("and {}", counted((faults.len() - LISTED) as u64, "more line")));
    }
    bail!("{}; nothing is written", said.join("\n  "))
}

/// The faults of lines, each with the line's number.
type Faults = Vec<(usize, Fault)>;

/// The message for a line without the field. `example` is a line that has it, `list` the filter for a list of results in the only line.
fn no_field(wanted: &str, names: &[String], example: Option<&Row>, list: Option<&str>) -> String {
    if let Some(Row { number, .. }) = example {
        return format!("no field {wanted}, which line {number} has; give it to all lines, or leave this one out");
    }
    let names = names.iter().take(NAMES).cloned().collect::<Vec<_>>().join(", ");
    let way = match list {
        Some(list) => {
            let score = if list.contains("distance:") { "; then use --score distance" } else { "" };
            format!("the results seem to be inside; jq -c '{list}' prints one per line{score}")
        }
        None => "name the score's field with --score".to_owned(),
    };
    format!("no field {wanted}, only {names}; {way}")
}

/// The `jq` filter for a list of pairs of an object and its score.
fn pairs(whole: &Value) -> Option<&'static str> {
    let first = whole.as_array()?.first()?.as_array()?;
    let is_pair = matches!(first.as_slice(), [object, score] if object.is_object() && score.is_number());
    is_pair.then_some(".[] | .[0] + {score: .[1]}")
}

/// The `jq` filter for an object of columns of one length, each in a list for one query or not.
fn columns(whole: &Value) -> Option<String> {
    let column = |(key, value): (&String, &Value)| {
        let outer = value.as_array()?;
        let (inner, path) = outer.first()?.as_array().map_or((outer, ""), |inner| (inner, "[0]"));
        let is_plain = key.chars().all(|c| c.is_ascii_lowercase() || c == '_') && key != "included";
        let is_column = is_plain && inner.iter().all(|value| value.is_string() || value.is_number());
        is_column.then(|| (inner.len(), format!(".{key}{path}"), key.clone()))
    };
    let found: Vec<_> = whole.as_object()?.iter().filter_map(column).collect();
    let is_table = found.len() > 1 && found.iter().all(|(length, ..)| *length == found[0].0);
    let paths: Vec<&str> = found.iter().map(|(_, path, _)| path.as_str()).collect();
    // A record has one of each.
    let one = |key: &'_ str| key.strip_suffix('s').unwrap_or(key).to_owned();
    let fields: Vec<String> =
        found.iter().enumerate().map(|(at, (.., key))| format!("{}: .[{at}]", one(key))).collect();
    is_table.then(|| format!("[{}] | transpose[] | {{{}}}", paths.join(", "), fields.join(", ")))
}

/// The `jq` filter for the longest list of objects within an object.
fn list_of_results(whole: &Value) -> Option<String> {
    /// The length of the longest list in a value, and its path from there.
    fn longest(value: &Value) -> Option<(usize, String)> {
        let within = value.as_object()?.iter().filter(|(key, _)| !key.contains('\''));
        let lists = within.filter_map(|(key, value)| {
            let is_plain = !key.starts_with(|c: char| c.is_ascii_digit())
                && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
            let key = if is_plain { key.clone() } else { format!("{key:?}") };
            match value.as_array() {
                Some(list) => list.first()?.is_object().then(|| (list.len(), format!(".{key}[]"))),
                None => longest(value).map(|(len, path)| (len, format!(".{key}{path}"))),
            }
        });
        lists.max_by_key(|(len, _)| *len)
    }
    longest(whole).map(|(_, path)| path)
}

/// The format of the lines.
enum Format {
    /// One object a line.
    Objects,
    /// All objects in one list.
    Array,
    /// Objects over several lines.
    Pretty,
    /// Fields between delimiters, their names in the first line.
    Table(u8),
    /// One score a line.
    Numbers,
    /// None of these.
    Unknown,
}

impl Format {
    /// The format by the first line.
    fn detect(first: &[u8], field: Option<&str>) -> Self {
        let first = String::from_utf8_lossy(first);
        let first = first.trim();
        if first.trim_matches('"').parse::<f64>().is_ok() {
            return Format::Numbers;
        }
        match first.as_bytes() {
            [b'[', ..] => return Format::Array,
            // The object ends on a later line.
            [b'{', ..] if serde_json::from_str::<Value>(first).is_err_and(|error| error.is_eof()) => {
                return Format::Pretty;
            }
            [b'{', ..] => return Format::Objects,
            _ => {}
        }
        let delimiter = if first.contains('\t') { '\t' } else { ',' };
        let mut names = first.split(delimiter).map(|name| name.trim().trim_matches('"'));
        if names.any(|name| KNOWN.contains(&name) || Some(name) == field) {
            return Format::Table(delimiter as u8);
        }
        Format::Unknown
    }
}

/// Reads one row from each line.
fn lines(bytes: &[u8], read: impl Fn(&[u8]) -> Result<ListEntry, Fault>, faults: &mut Faults) -> Input {
    let mut rows = Vec::new();
    for (line, number) in bytes.split_inclusive(|&byte| byte == b'\n').zip(1..) {
        if line.trim_ascii().is_empty() {
            continue;
        }
        match read(line) {
            Ok(values) => rows.push(Row { bytes: line.to_vec(), number, values }),
            Err(fault) => faults.push((number, fault)),
        }
    }
    Input { header: None, rows }
}

/// Reads one row from each element of a list, which becomes a line of its own.
fn array(bytes: &[u8], field: Option<&str>, faults: &mut Faults) -> Input {
    let (mut input, mut lines) = (Input::default(), Lines::new(bytes));
    let mut at = space(bytes, 0) + 1;
    loop {
        at = space(bytes, at);
        let number = lines.number(at);
        if input.rows.is_empty() && bytes.get(at) == Some(&b']') {
            break;
        }
        let Some(end) = value(&bytes[at..], number, field, &mut input, faults) else {
            if at == bytes.len() {
                faults.push((number, Fault::Malformed("the list breaks off".to_owned())));
            }
            break;
        };
        at = space(bytes, at + end);
        match bytes.get(at) {
            Some(b',') => at += 1,
            Some(b']') => break,
            _ => {
                faults.push((number, Fault::Malformed("the list breaks off after this element".to_owned())));
                break;
            }
        }
    }
    if bytes.get(at) == Some(&b']') && space(bytes, at + 1) < bytes.len() {
        let number = lines.number(space(bytes, at + 1));
        faults.push((number, Fault::Malformed("something follows the end of the list".to_owned())));
    }
    input
}

/// Reads one row from each of several objects, which becomes a line of its own.
fn values(bytes: &[u8], field: Option<&str>, faults: &mut Faults) -> Input {
    let (mut input, mut lines) = (Input::default(), Lines::new(bytes));
    let mut at = Some(space(bytes, 0));
    while let Some(start) = at {
        let number = lines.number(start);
        at = value(&bytes[start..], number, field, &mut input, faults).map(|end| space(bytes, start + end));
    }
    input
}

/// Reads a row from the value that a text begins with, on the line of this number; returns its end, `None` if there is no value.
fn value(bytes: &[u8], number: usize, field: Option<&str>, input: &mut Input, faults: &mut Faults) -> Option<usize> {
    let mut values = serde_json::Deserializer::from_slice(bytes).into_iter::<Value>();
    let value = match values.next()? {
        Ok(value) => value,
        Err(error) => {
            faults.push((number, not_json(bytes, &error)));
            return None;
        }
    };
    let end = values.byte_offset();
    // Only the space between two values can hold a line end.
    let spaced = |byte: &u8| if matches!(byte, b'\r' | b'\n') { b' ' } else { *byte };
    let line: Vec<u8> = bytes[..end].iter().map(spaced).chain([b'\n']).collect();
    let read = if value.is_object() { object(&line, field) } else { self::number(&line) };
    match read {
        Ok(values) => input.rows.push(Row { bytes: line, number, values }),
        Err(fault) => faults.push((number, fault)),
    }
    Some(end)
}

/// The end of the space from `at`.
fn space(bytes: &[u8], at: usize) -> usize {
    at + bytes[at..].iter().take_while(|byte| byte.is_ascii_whitespace()).count()
}

/// Counts the lines of a text from its beginning on.
struct Lines<'b> {
    bytes: &'b [u8],
    counted: usize,
    number: usize,
}

impl<'b> Lines<'b> {
    fn new(bytes: &'b [u8]) -> Self {
        Lines { bytes, counted: 0, number: 1 }
    }

    /// The number of the line that the byte at `at` is in, which lies no further back than the last one asked for.
    fn number(&mut self, at: usize) -> usize {
        self.number += self.bytes[self.counted..at].iter().filter(|&&byte| byte == b'\n').count();
        self.counted = at;
        self.number
    }
}

fn number(line: &[u8]) -> Result<ListEntry, Fault> {
    let text = String::from_utf8_lossy(line);
    let text = text.trim().trim_matches('"');
    match text.parse::<f64>() {
        Ok(score) if score.is_finite() => Ok(ListEntry { score: Some(score), ..ListEntry::default() }),
        Ok(_) => Err(Fault::Malformed(not_finite(text))),
        Err(_) => Err(Fault::Malformed("not a number, as the first line is".to_owned())),
    }
}

fn object(line: &[u8], field: Option<&str>) -> Result<ListEntry, Fault> {
    let value: Value = serde_json::from_slice(line).map_err(|error| not_json(line, &error))?;
    let Value::Object(object) = &value else {
        return Err(Fault::Malformed(format!("not a JSON object but {}", kind(&value))));
    };
    // A key that contains dots is stronger than a path through objects.
    let get = |name: &str| {
        let found = object.get(name).or_else(|| name.split('.').try_fold(&value, |value, key| value.get(key)));
        found.map(|found| match found {
            Value::Null => Cell::Empty,
            Value::Number(number) => number.as_f64().map_or_else(|| Cell::Text(number.to_string()), Cell::Number),
            Value::String(text) => Cell::Text(text.clone()),
            other => Cell::Other(kind(other)),
        })
    };
    read_entry(get, || object.keys().cloned().collect(), field)
}

/// The reason why a text is not JSON. Some programs write numbers that JSON does not have.
fn not_json(text: &[u8], error: &serde_json::Error) -> Fault {
    let line = text.split(|&byte| byte == b'\n').nth(error.line().saturating_sub(1)).unwrap_or_default();
    let is_of_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'-';
    let at = error.column().saturating_sub(1).min(line.len());
    let first = line[..at].iter().rposition(|byte| !is_of_word(byte)).map_or(0, |before| before + 1);
    let word: Vec<u8> = line[first..].iter().copied().take_while(is_of_word).collect();
    let word = String::from_utf8_lossy(&word);
    let is_not_finite = word.parse().is_ok_and(|number: f64| !number.is_finite());
    Fault::Malformed(if is_not_finite { not_finite(&word) } else { format!("not JSON: {error}") })
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
fn table(bytes: &[u8], delimiter: u8, field: Option<&str>, faults: &mut Faults) -> Input {
    let mut reader =
        csv::ReaderBuilder::new().delimiter(delimiter).flexible(true).has_headers(false).from_reader(bytes);
    let records: Vec<csv::ByteRecord> = reader.byte_records().map_while(Result::ok).collect();
    let starts = records.iter().filter_map(|record| record.position());
    let ends = starts.clone().skip(1).map(|position| position.byte() as usize).chain([bytes.len()]);
    let spans = starts.zip(ends).map(|(start, end)| (start.byte() as usize, end));

    let (mut input, mut lines) = (Input::default(), Lines::new(bytes));
    let mut names: Vec<String> = Vec::new();
    for (record, (start, end)) in records.iter().zip(spans) {
        let (whole, skipped) = record_bytes(&bytes[start..end]);
        if input.header.is_none() {
            names = record.iter().map(|name| cell_text(name).trim().to_owned()).collect();
            input.header = Some(whole);
            continue;
        }
        // Blank lines before the record and lines within earlier fields count as well.
        let number = lines.number(start + skipped);
        match record_values(record, &names, field) {
            Ok(values) => input.rows.push(Row { bytes: whole, number, values }),
            Err(fault) => faults.push((number, fault)),
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

fn record_values(record: &csv::ByteRecord, names: &[String], field: Option<&str>) -> Result<ListEntry, Fault> {
    if record.len() != names.len() {
        let fields = counted(record.len() as u64, "field");
        return Err(Fault::Malformed(format!("{fields} where the header has {}", names.len())));
    }
    let get = |name: &str| {
        let cell = cell_text(record.get(names.iter().position(|known| known == name)?)?);
        Some(match cell.trim() {
            "" => Cell::Empty,
            text => match text.parse::<f64>() {
                Ok(number) if number.is_finite() => Cell::Number(number),
                _ => Cell::Text(cell),
            },
        })
    };
    read_entry(get, || names.to_vec(), field.or_else(|| names.iter().any(|name| name == SCORE).then_some(SCORE)))
}

fn cell_text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
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
            (b"[{\"score\": 1},\n{\"id\": 2,\n\"score\": -Infinity}]", "line 2: -Infinity is not a finite number"),
            (b"{\"score\": 1}\n{\"score\": NaN, \"id\": 2}", "line 2: NaN is not a finite number; give"),
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
            "line 4: score is empty, not a number",
            "line 5: score is the text \"high\", not a number",
            "line 6: no field score, which line 1 has; give it to all lines, or leave this one out",
            "line 7: 1e999 is not a finite number",
            "line 8: not JSON",
            "nothing is written",
        ] {
            assert!(error.contains(part), "{part} is not in:\n{error}");
        }
        let many = format!("1\n{}", "x\n".repeat(11));
        assert!(read(many.as_bytes(), None).expect_err("malformed").to_string().contains("and 1 more line;"));
    }

    #[test]
    fn a_list_within_an_object_is_pointed_to() {
        let error = |input: &[u8]| read(input, None).expect_err("malformed").to_string();
        let answer = br#"{"result": {"points-1": [{"score": 1}, {"score": 2}], "b": [{}]}, "c": ["no", "object"]}"#;
        let pretty = serde_json::from_slice::<Value>(answer).and_then(|answer| serde_json::to_vec_pretty(&answer));
        for text in [&answer[..], &pretty.expect("JSON")] {
            let said = "line 1: no field score (or similarity and bm25), only c, result; the results seem to be inside; \
                        jq -c '.result.\"points-1\"[]' prints one per line; nothing is written";
            assert_eq!(error(text), said);
        }
        assert!(error(b"{\"a\": 1}").contains("only a; name the score's field with --score"));
        let chroma = error(br#"{"ids": [["a", "b"]], "distances": [[0.1, 0.4]], "embeddings": null}"#);
        let way = "jq -c '[.distances[0], .ids[0]] | transpose[] | {distance: .[0], id: .[1]}' prints one per line; \
                   then use --score distance";
        assert!(chroma.contains(way), "{chroma}");
        let pairs = error(br#"[[{"page_content": "a"}, 0.9], [{"page_content": "b"}, 0.1]]"#);
        assert!(pairs.contains("jq -c '.[] | .[0] + {score: .[1]}' prints one per line"), "{pairs}");
    }

    #[test]
    fn objects_can_go_over_several_lines() {
        let rows = read(&b"{\n  \"score\": 2\n}\n{\n  \"score\": 1 }"[..], None).expect("well formed").rows;
        assert_eq!((&rows[0].bytes[..], rows[0].number), (&b"{   \"score\": 2 }\n"[..], 1));
        assert_eq!((&rows[1].bytes[..], rows[1].number), (&b"{   \"score\": 1 }\n"[..], 4));
        let error = read(&b"{\n  \"score\": 2\n}\n{\n  \"score\": "[..], None).expect_err("malformed").to_string();
        assert!(error.starts_with("line 4: not JSON"), "{error}");
    }

    #[test]
    fn what_has_no_known_format_is_refused_once() {
        for unknown in ["id;score\n1;2\n", "id,cost\n1,2\n", "nope"] {
            let error = read(unknown.as_bytes(), None).expect_err("unknown").to_string();
            assert!(error.ends_with("separate columns with commas or tabs") && error.lines().count() == 1, "{error}");
        }
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
            "line 4: score is empty, not a number",
            "line 5: score is the text \"high\", not a number",
            "line 6: score: inf is not a finite number; give a number, or leave the line out",
        ] {
            assert!(text.contains(part), "{part} is not in:\n{text}");
        }
        assert!(error(b"0.9\nhigh\n").contains("line 2: not a number, as the first line is"));
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
