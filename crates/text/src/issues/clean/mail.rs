//! What mail programs and the tracker's own mails add to an answer.

use super::Draft;

/// How the lines begin that a tracker writes under its mails, or a telephone under everything.
const FOOTERS: &[&str] = &[
    "You are receiving this because",
    "You received this message because",
    "Reply to this email directly",
    "Reply to this message directly",
    "Triage notifications on the go with GitHub Mobile",
    "Message ID: <",
    "Sent from my iPhone",
    "Sent from my iPad",
    "Sent from my Android",
    "Get Outlook for",
];

/// How many lines one of these can be wrapped into.
const WRAPPED: usize = 5;

/// Takes out the footers of mails, with the line that sets them off.
pub(super) fn clean(draft: &mut Draft) {
    for row in 0..draft.rows.len() {
        let begins = FOOTERS.iter().any(|start| draft.text(row).trim_start().starts_with(start));
        if !begins || draft.is_code(row) {
            continue;
        }
        take_out_separator(draft, row);
        // A sentence that goes on after its line does so with an address.
        let mut last = draft.text(row).trim_end().to_owned();
        draft.take_out(row);
        for next in row + 1..(row + WRAPPED).min(draft.rows.len()) {
            let text = draft.text(next).trim().to_owned();
            let address = text.starts_with("<http") || text.contains("mute the thread") || text.contains("nsubscribe");
            if last.ends_with('.') || !address || draft.is_code(next) {
                break;
            }
            draft.take_out(next);
            last = text;
        }
    }
}

fn take_out_separator(draft: &mut Draft, row: usize) {
    let before = (0..row).rev().find(|before| !draft.is_blank(*before));
    if let Some(before) = before
        && !draft.is_code(before)
        && matches!(draft.text(before).trim(), "—" | "--" | "---" | "___" | "________________________________")
    {
        draft.take_out(before);
    }
}

/// Whether the lines up to `row` end with what says whose words follow, and where that begins.
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

fn says_who_wrote(text: &str) -> bool {
    let ends = ["wrote:", "a écrit :", "a écrit :", "escribió:"].iter().any(|end| text.ends_with(end));
    ends || (text.ends_with(':') && text.contains(" schrieb "))
}
