//! Text that mail programs and the tracker's own mails add to an answer.

use super::Draft;

/// Beginnings of lines that trackers write under their mails, and telephones under everything.
const FOOTERS: &[&str] = &[
    "You are receiving this because",
    "You received this message because",
    "Reply to this email directly",
    "Reply to this message directly",
    "Triage notifications on the go with GitHub Mobile",
    "Sent from my iPhone",
    "Sent from my iPad",
    "Sent from my Android",
    "Get Outlook for",
];

/// Most lines that one of these can be wrapped into.
const WRAPPED: usize = 5;

/// Number of lines above a line that are searched for its beginning.
pub(super) const ABOVE: usize = 4;

/// Removes the footers of mails with the line that sets them off, even if an answer quotes them.
pub(super) fn clean(draft: &mut Draft) {
    for row in 0..draft.rows.len() {
        if draft.is_code(row) || !is_footer(unquoted(draft.text(row))) {
            continue;
        }
        take_out_separator(draft, row);
        let mut last = unquoted(draft.text(row)).to_owned();
        draft.take_out(row);
        for next in row + 1..(row + WRAPPED).min(draft.rows.len()) {
            let text = unquoted(draft.text(next)).to_owned();
            if draft.is_code(next) || last.ends_with('.') || !continues_footer(&text) {
                break;
            }
            draft.take_out(next);
            last = text;
        }
    }
}

fn is_footer(text: &str) -> bool {
    FOOTERS.iter().any(|start| text.starts_with(start)) || (text.starts_with("Message ID:") && text.contains('@'))
}

/// Continuations of a sentence after its line: an address, or the words between two.
fn continues_footer(text: &str) -> bool {
    let address = ["<http", "http", "or unsubscribe", "unsubscribe", "thread", "or mute the thread", "mute the thread"];
    address.iter().any(|start| text.starts_with(start)) || matches!(text, "." | ">." | "> .")
}

/// Without the marks of quotation.
pub(super) fn unquoted(text: &str) -> &str {
    text.trim_start_matches([' ', '>']).trim_end()
}

fn take_out_separator(draft: &mut Draft, row: usize) {
    let before = (row.saturating_sub(ABOVE)..row).rev().find(|before| !unquoted(draft.text(*before)).is_empty());
    if let Some(before) = before
        && !draft.is_code(before)
        && matches!(unquoted(draft.text(before)), "—" | "--" | "---" | "___" | "________________________________")
    {
        draft.take_out(before);
    }
}

/// The first row of an attribution that ends at `row`, if there is one.
pub(super) fn attribution(draft: &Draft, row: usize) -> Option<usize> {
    let text = draft.text(row).trim();
    if draft.is_code(row) || !says_who_wrote(text) {
        return None;
    }
    let begins =
        |row: usize| ["On ", "Am ", "Le ", "El "].iter().any(|start| draft.text(row).trim_start().starts_with(start));
    let wrapped = row.checked_sub(1).filter(|before| !draft.is_blank(*before) && begins(*before));
    if begins(row) { Some(row) } else { wrapped }
}

/// Returns `true` if a line attributes the words that follow.
pub(super) fn says_who_wrote(text: &str) -> bool {
    let ends = ["wrote:", "a écrit :", "a écrit :", "escribió:"].iter().any(|end| text.ends_with(end));
    ends || (text.ends_with(':') && text.contains(" schrieb "))
}
