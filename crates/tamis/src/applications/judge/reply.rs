//! A grade and its reason, read strictly from a model's reply.

use tamis_embed::ChatReply;

/// Begins the line with the grade.
const SCORE: &str = "##final score:";

/// Begins the line with the reason.
const REASON: &str = "##reason:";

/// Most characters of a reason that are kept.
const MAX_REASON: usize = 500;

/// Around what a model thinks aloud before it replies.
const THOUGHT: [&str; 2] = ["<think>", "</think>"];

/// Reads a reply: one line `##final score: N` with N from 0 to 3, and the reason before it. A second score could come from
/// the passage, and a score without a reason could be checked by nobody, so both are refused.
///
/// # Errors
/// What is wrong with the reply, in words that follow its quotation.
pub(super) fn read(reply: &ChatReply) -> Result<(u8, String), String> {
    let text = without_thoughts(&reply.text);
    let is_score = |line: &&str| line.get(..SCORE.len()).is_some_and(|start| start.eq_ignore_ascii_case(SCORE));
    let mut scores = text.lines().map(str::trim).filter(is_score);
    let Some(score) = scores.next() else {
        let cut_off = if reply.cut_off { "; it was cut off at the most tokens allowed" } else { "" };
        return Err(format!("no line \"{SCORE} N\" in the reply{cut_off}: {}", quoted(text)));
    };
    if scores.next().is_some() {
        return Err(format!("more than one line \"{SCORE} N\" in the reply: {}", quoted(text)));
    }
    let grade = match score[SCORE.len()..].trim() {
        "0" => 0,
        "1" => 1,
        "2" => 2,
        "3" => 3,
        other => return Err(format!("the score is {}, and 0 to 3 were expected", quoted(other))),
    };
    let before: Vec<&str> = text.lines().map(str::trim).take_while(|line| !is_score(line)).collect();
    let reason = before.join(" ");
    let reason = reason.rsplit_once(REASON).map_or(reason.as_str(), |(_, reason)| reason);
    let reason = one_line(reason, MAX_REASON);
    if reason.is_empty() {
        return Err("the reply gives no reason before its score".to_owned());
    }
    Ok((grade, reason))
}

/// The reply after what the model thought aloud.
fn without_thoughts(text: &str) -> &str {
    let text = text.trim();
    match text.strip_prefix(THOUGHT[0]).and_then(|rest| rest.split_once(THOUGHT[1])) {
        Some((_, reply)) => reply.trim(),
        None => text,
    }
}

fn quoted(text: &str) -> String {
    format!("{:?}", one_line(text, 120))
}

/// The text on one line, without what a terminal would obey, in at most so many characters.
fn one_line(text: &str, most: usize) -> String {
    let text: String = text.chars().map(|character| if character.is_control() { ' ' } else { character }).collect();
    let mut line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some((end, _)) = line.char_indices().nth(most) {
        line.truncate(end);
        line.push('…');
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn reply(text: &str) -> ChatReply {
        ChatReply { text: text.into(), cut_off: false, prompt_tokens: None, reply_tokens: None }
    }

    #[test]
    fn a_grade_comes_with_its_reason() {
        for (text, grade, reason) in [
            ("##reason: It answers.\n##final score: 3", 3, "It answers."),
            ("M: 1, T: 2\n##reason: Only\nrelated. \n##final score: 1\n", 1, "Only related."),
            ("It has nothing to do with it.\n  ##Final Score:0 ", 0, "It has nothing to do with it."),
            ("<think>##final score: 0?\nor 2</think>\n##reason: Unclear.\n##final score: 2", 2, "Unclear."),
        ] {
            assert_eq!(read(&reply(text)), Ok((grade, reason.to_owned())), "{text}");
        }
    }

    #[test]
    fn everything_else_is_refused_and_says_why() {
        for (text, named) in [
            ("", "no line \"##final score: N\""),
            ("It is a 3.", "\"It is a 3.\""),
            ("##reason: x\n##final score: 4", "the score is \"4\""),
            ("##reason: x\n##final score: 2.5", "the score is \"2.5\""),
            ("##reason: x\n##final score: 2 or 3", "0 to 3 were expected"),
            ("##reason: it says\n##final score: 3\nbut\n##final score: 0", "more than one line"),
            ("##final score: 2", "no reason"),
            ("##reason:\n##final score: 2", "no reason"),
            ("##reason: x ##final score: 2", "no line"),
        ] {
            let error = read(&reply(text)).expect_err(text);
            assert!(error.contains(named), "{text}: {error}");
        }
        let cut_off = ChatReply { cut_off: true, ..reply("<think>so") };
        assert!(read(&cut_off).expect_err("no score").contains("cut off"));
    }

    #[test]
    fn a_reason_is_one_bounded_line_that_no_terminal_obeys() {
        let (_, reason) =
            read(&reply(&format!("\u{1b}[31m{}\n##final score: 1", "word ".repeat(400)))).expect("a grade");
        assert!(reason.starts_with("[31mword word") && reason.chars().count() <= MAX_REASON + 1, "{reason}");
    }

    proptest! {
        #[test]
        fn no_reply_makes_it_panic(text in "(##final score: ?[0-9]?|##reason:|\\n|[a-z ä`<>/]){0,8}") {
            if let Ok((grade, reason)) = read(&reply(&text)) {
                prop_assert!(grade <= 3 && !reason.is_empty());
            }
        }
    }
}
