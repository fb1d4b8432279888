//! Records as JSON Lines.

use crate::error::UnreadableRecord;
use crate::import::ImportInput;
use tamis_store::EvidenceRecord;

/// Passes on the record of each line that is not blank, with its position; unreadable lines go to `bad`.
pub(crate) fn read_lines(
    input: &ImportInput,
    mut each: impl FnMut(String, EvidenceRecord),
    bad: &mut Vec<UnreadableRecord>,
) {
    let bytes = input.bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&input.bytes);
    for (number, line) in (1_u64..).zip(bytes.split(|byte| *byte == b'\n')) {
        if line.trim_ascii().is_empty() {
            continue;
        }
        let position = format!("{}: line {number}", input.name);
        match std::str::from_utf8(line) {
            Err(_) => bad.push(UnreadableRecord { position, reason: "no UTF-8".to_owned() }),
            Ok(line) => match serde_json::from_str(line) {
                Ok(record) => each(position, record),
                Err(error) => bad.push(UnreadableRecord { position, reason: told(&error) }),
            },
        }
    }
}

/// The error of a line. The parser's own line number is always 1.
fn told(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let told = match text.rsplit_once(" at line ") {
        Some((reason, _)) if error.column() > 0 && !error.is_data() => format!("{reason} at byte {}", error.column()),
        Some((reason, _)) => reason.to_owned(),
        None => text,
    };
    without_middle(told)
}

/// The most characters kept at the beginning and at the end of a message.
const TOLD: usize = 200;

/// Shortens a message in the middle. It quotes the rejected value, of any length, and ends with the values allowed.
fn without_middle(told: String) -> String {
    let characters = told.chars().count();
    if characters <= 2 * TOLD {
        return told;
    }
    let beginning: String = told.chars().take(TOLD).collect();
    let end: String = told.chars().skip(characters - TOLD).collect();
    format!("{beginning} … {end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_is_read_by_itself() {
        let text = b"\xef\xbb\xbf{\"record\":\"task\",\"id\":\"t\",\"question\":\"?\"}\r\n\n  \n{\"record\":\"claim\",\"id\":\"c\"}\n\
            {\"record\":\"job\"}\n{\"record\":\"task\",\"id\":\"t\",\"question\":\"?\",\"why\":1}\n{\n\xff\n{\"id\":\"t\"}\n\
            {\"record\":\"task\",\"id\":\"t\",\"id\":\"u\",\"question\":\"?\"}\n"
            .to_vec();
        let (mut good, mut bad) = (Vec::new(), Vec::new());
        let input = ImportInput { name: "a.jsonl".into(), bytes: text };
        read_lines(&input, |position, record| good.push((position, record.key().to_string())), &mut bad);
        assert_eq!(good, [("a.jsonl: line 1".to_owned(), "task \"t\"".to_owned())]);
        let told: Vec<String> = bad.iter().map(ToString::to_string).collect();
        assert_eq!(
            told,
            [
                "a.jsonl: line 4: missing field `task_id`",
                "a.jsonl: line 5: unknown variant `job`, expected one of `task`, `work`, `page`, `fragment`, `claim`, `edge`",
                "a.jsonl: line 6: unknown field `why`, expected one of `id`, `question`, `status`, `created_at`",
                "a.jsonl: line 7: EOF while parsing an object at byte 1",
                "a.jsonl: line 8: no UTF-8",
                "a.jsonl: line 9: missing field `record`",
                "a.jsonl: line 10: duplicate field `id`",
            ]
        );

        let text = format!("{{\"record\": \"{}\"}}\n", "x".repeat(100_000));
        let mut bad = Vec::new();
        let input = ImportInput { name: "a.jsonl".into(), bytes: text.into_bytes() };
        read_lines(&input, |_, _| panic!("no record"), &mut bad);
        assert!(bad[0].reason.chars().count() < 500, "{}", bad[0].reason);
        assert!(bad[0].reason.starts_with("unknown variant `xxx"), "{}", bad[0].reason);
        assert!(bad[0].reason.ends_with("`claim`, `edge`"), "{}", bad[0].reason);
    }
}
