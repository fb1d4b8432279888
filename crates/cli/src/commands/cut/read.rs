//! JSON Lines with a score, kept byte for byte.

use anyhow::{Result, bail};
use serde_json::Value;
use std::io::BufRead;

/// Malformed lines listed before the rest is only counted.
const LISTED: usize = 10;

/// A line of the input.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// The line as it came, its end included.
    pub bytes: Vec<u8>,
    /// Its number, from 1.
    pub number: usize,
    /// Its score, finite.
    pub score: f64,
}

/// Reads every line; blank ones are left out. `field` names the score: a key of the object, or keys separated by dots.
///
/// # Errors
/// Lines that are no JSON objects or have no finite number in the field, each with its number.
pub fn read(mut input: impl BufRead, field: &str) -> Result<Vec<Line>> {
    let mut lines = Vec::new();
    let mut malformed = Vec::new();
    for number in 1.. {
        let mut bytes = Vec::new();
        if input.read_until(b'\n', &mut bytes)? == 0 {
            break;
        }
        if bytes.trim_ascii().is_empty() {
            continue;
        }
        match score(&bytes, field) {
            Ok(score) => lines.push(Line { bytes, number, score }),
            Err(reason) => malformed.push(format!("line {number}: {reason}")),
        }
    }
    if malformed.is_empty() {
        return Ok(lines);
    }
    let more = malformed.len().saturating_sub(LISTED);
    malformed.truncate(LISTED);
    if more > 0 {
        malformed.push(format!("and {more} more lines"));
    }
    bail!("{}; nothing is written", malformed.join("\n  "));
}

fn score(bytes: &[u8], field: &str) -> Result<f64, String> {
    let value: Value = serde_json::from_slice(bytes).map_err(|error| format!("not JSON: {error}"))?;
    let Value::Object(object) = &value else {
        return Err(format!("not a JSON object but {}", kind(&value)));
    };
    // A key with dots in it goes before a way through objects.
    let found = object.get(field).or_else(|| field.split('.').try_fold(&value, |value, key| value.get(key)));
    match found {
        Some(Value::Number(number)) => {
            number.as_f64().filter(|score| score.is_finite()).ok_or_else(|| format!("{field} = {number}: out of range"))
        }
        Some(other) => Err(format!("{field} must be a number and is {}", kind(other))),
        None => {
            let keys: Vec<&str> = object.keys().map(String::as_str).take(LISTED).collect();
            Err(format!("no field {field}, only {}; name the score's field with --score", keys.join(", ")))
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lines_are_kept_as_they_came_and_blank_ones_left_out() {
        let input = b"{\"score\": 2, \"b\":1 }\r\n\n  {\"score\":1.5}";
        let lines = read(&input[..], "score").expect("well formed");
        assert_eq!(lines.len(), 2);
        assert_eq!((lines[0].bytes.as_slice(), lines[0].score), (&b"{\"score\": 2, \"b\":1 }\r\n"[..], 2.0));
        assert_eq!((lines[1].number, lines[1].score), (3, 1.5));
    }

    #[test]
    fn a_field_can_lie_in_objects_and_have_dots_of_its_own() {
        let nested = br#"{"_additional": {"distance": 0.2}}"#;
        assert_eq!(read(&nested[..], "_additional.distance").expect("found")[0].score, 0.2);
        let dotted = br#"{"a.b": 1, "a": {"b": 2}}"#;
        assert_eq!(read(&dotted[..], "a.b").expect("found")[0].score, 1.0);
    }

    #[test]
    fn every_malformed_line_is_named_by_its_number() {
        let input =
            b"{\"score\":1}\nnope\n[1]\n{\"score\":null}\n{\"score\":\"1\"}\n{\"rank\":1}\n{\"score\":1e999}\n\xff\n";
        let error = read(&input[..], "score").expect_err("malformed").to_string();
        for part in [
            "line 2: not JSON",
            "line 3: not a JSON object but a list",
            "line 4: score must be a number and is null",
            "line 5: score must be a number and is a text",
            "line 6: no field score, only rank; name the score's field with --score",
            "line 7: not JSON: number out of range",
            "line 8: not JSON",
            "nothing is written",
        ] {
            assert!(error.contains(part), "{part} is not in:\n{error}");
        }
        let many = "x\n".repeat(50);
        assert!(read(many.as_bytes(), "score").expect_err("malformed").to_string().contains("and 40 more lines"));
    }

    proptest! {
        #[test]
        fn any_input_is_read_or_refused_and_never_changed(input in proptest::collection::vec(any::<u8>(), 0..200)) {
            if let Ok(lines) = read(&input[..], "score") {
                prop_assert!(lines.iter().all(|line| line.score.is_finite()));
            }
        }

        #[test]
        fn what_is_read_is_the_input(scores in proptest::collection::vec(-1e9f64..1e9, 0..40)) {
            let input: String = scores.iter().map(|score| format!("{{\"score\":{score:?}}}\n")).collect();
            let lines = read(input.as_bytes(), "score").expect("well formed");
            let bytes: Vec<u8> = lines.iter().flat_map(|line| line.bytes.clone()).collect();
            prop_assert_eq!(bytes, input.into_bytes());
            prop_assert_eq!(lines.iter().map(|line| line.score).collect::<Vec<_>>(), scores);
        }
    }
}
