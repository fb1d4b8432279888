//! Messages of other people's servers and programs in our own errors.

/// Longest part of a message, in characters.
const LONGEST: usize = 200;

/// Returns a message on one line, shortened and without control characters.
pub(crate) fn shortened(message: &str) -> String {
    let mut message = message.split_whitespace().collect::<Vec<_>>().join(" ");
    message.retain(|character| !character.is_control());
    if let Some((end, _)) = message.char_indices().nth(LONGEST) {
        message.truncate(end);
        message.push('…');
    }
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_one_short_line() {
        assert_eq!(shortened(" no\r\n such\u{1b}[2J  model "), "no such[2J model");
        let long = shortened(&"ä".repeat(300));
        assert_eq!((long.chars().count(), long.ends_with('…')), (LONGEST + 1, true));
        assert_eq!(shortened(""), "");
    }
}
