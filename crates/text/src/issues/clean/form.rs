//! Forms: instructions, questions without an answer, unticked boxes.

use super::words::{asks_for_boxes, is_instruction, is_no_response, is_question, is_statement};
use super::{Draft, Line};

/// The depth of a heading that is only set in bold.
const BOLD: usize = 7;

/// The depth of one that is a line with a colon at its end.
const COLON: usize = 8;

/// A heading and the lines up to the next one.
struct Section {
    row: usize,
    /// The position after the last line.
    end: usize,
    level: usize,
    question: bool,
    /// True if a form left text under it.
    asked: bool,
    /// True if a form marks a missing answer.
    unanswered: bool,
}

/// Removes instructions and unticked boxes, then questions with nothing left under them.
pub(super) fn clean(draft: &mut Draft) {
    let mut sections = sections(draft);
    let first = sections.first().map_or(draft.rows.len(), |section| section.row);
    for row in 0..first {
        take_out_of_form(draft, row, false);
    }
    for section in &mut sections {
        let boxes = asks_for_boxes(&heading_text(draft.text(section.row)));
        section.asked = draft.lines.get(section.row..section.end).is_some_and(|lines| lines.contains(&Line::Out));
        for row in section.row + 1..section.end {
            section.unanswered |= is_no_response(draft.text(row));
            section.asked |= take_out_of_form(draft, row, boxes);
        }
    }
    // A single heading with a comment under it may be the author's own.
    let is_form = sections.iter().filter(|section| section.question || section.asked).count() > 1;
    let mut deeper: Vec<(usize, bool)> = Vec::new();
    for section in sections.iter().rev() {
        // Deeper headings up to the next one of this level are under this one.
        let mut answered =
            (section.row + 1..section.end).any(|row| !draft.is_blank(row) && draft.lines.get(row) != Some(&Line::Form));
        let boxes_only = (section.row + 1..section.end).any(|row| !draft.is_blank(row));
        while let Some((_, below)) = deeper.pop_if(|(level, _)| *level > section.level) {
            answered |= below;
        }
        let empty = !answered && !boxes_only;
        let known = section.question || section.unanswered || (section.asked && is_form);
        if empty && known {
            draft.take_out(section.row);
        } else if section.question
            && let Some(line) = draft.lines.get_mut(section.row)
        {
            *line = Line::Form;
        }
        deeper.push((section.level, answered || boxes_only || !(empty && known)));
    }
}

/// Removes a line of a form. Returns `true` if it was one.
fn take_out_of_form(draft: &mut Draft, row: usize, boxes: bool) -> bool {
    if draft.is_code(row) || draft.is_blank(row) {
        return false;
    }
    let text = draft.text(row).to_owned();
    // A later step of a list can be the author's own if the first one is.
    let step = text.trim_start().starts_with(['2', '3', '4']);
    let goes_on = || row.checked_sub(1).is_some_and(|before| draft.lines.get(before) == Some(&Line::Out));
    if is_instruction(&text) && (!step || goes_on()) {
        draft.take_out(row);
        return true;
    }
    match checkbox(&text) {
        Some((false, statement)) if boxes || is_statement(statement) => {
            draft.take_out(row);
            true
        }
        Some((true, statement)) if is_statement(statement) => {
            if let Some(line) = draft.lines.get_mut(row) {
                *line = Line::Form;
            }
            true
        }
        _ => false,
    }
}

/// The text beside the box of a list item, and `true` if the box is ticked.
fn checkbox(line: &str) -> Option<(bool, &str)> {
    let line = line.trim_start();
    let item = line.strip_prefix(['-', '*', '+'])?.trim_start();
    if let Some(text) = item.strip_prefix("[ ]").or_else(|| item.strip_prefix("[]")) {
        return Some((false, text.trim()));
    }
    Some((true, item.strip_prefix("[x]").or_else(|| item.strip_prefix("[X]"))?.trim()))
}

/// The headings outside of code: `## Text`, and `**Text**` or `Text:` if that is a question of a form.
fn sections(draft: &Draft) -> Vec<Section> {
    let mut sections: Vec<Section> = Vec::new();
    for row in 0..draft.rows.len() {
        if draft.is_code(row) {
            continue;
        }
        let line = draft.text(row);
        let text = heading_text(line);
        let question = is_question(&text);
        let marks = line.trim_start().bytes().take_while(|byte| *byte == b'#').count();
        let hashes = (1..=6).contains(&marks) && line.trim_start()[marks..].starts_with([' ', '\t']);
        let level = match () {
            () if hashes => marks,
            () if question && is_bold(line) => BOLD,
            () if question && line.trim_end().ends_with(':') => COLON,
            () => continue,
        };
        if let Some(before) = sections.last_mut() {
            before.end = row;
        }
        sections.push(Section { row, end: draft.rows.len(), level, question, asked: false, unanswered: false });
    }
    sections
}

fn is_bold(line: &str) -> bool {
    let line = line.trim();
    let line = line.strip_suffix(':').unwrap_or(line);
    ["**", "__"].iter().any(|mark| line.starts_with(mark) && line.ends_with(mark) && line.len() > 4)
}

fn heading_text(line: &str) -> String {
    line.trim().trim_matches(['#', '*', '_', ':', ' ', '\t']).to_owned()
}

#[cfg(test)]
mod tests {
    use crate::issues::clean::{Line, body};
    use crate::lines::Lines;

    /// The remaining lines that are not empty.
    fn left(text: &str) -> String {
        let clean = body(text);
        assert_eq!(clean.text.split('\n').count(), text.split('\n').count(), "lines moved");
        assert_eq!(clean.lines.len(), text.split('\n').count());
        clean.text.lines().filter(|line| !line.trim().is_empty()).collect::<Vec<_>>().join("\n")
    }

    const TEMPLATE: &str = "**Describe the bug**\nA clear and concise description of what the bug is.\n\n**To Reproduce**\nSteps to \
                    reproduce the behavior:\n1. Go to '...'\n2. Click on '....'\n3. Scroll down to '....'\n4. See error\n\n\
                    **Desktop (please complete the following information):**\n - OS: [e.g. iOS]\n - Version [e.g. 22]\n\n\
                    **Additional context**\nAdd any other context about the problem here.\n";

    #[test]
    fn what_a_form_says_leaves() {
        for (text, expected) in [
            (
                "### What happened?\n\nDie Tür klemmt.\n\n### Relevant log output\n\n_No response_\n\n### Where\n\n_No response_",
                "### What happened?\nDie Tür klemmt.",
            ),
            (TEMPLATE, ""),
            (
                &TEMPLATE.replace("1. Go to '...'", "1. Öffne die Tür"),
                "**To Reproduce**\nSteps to reproduce the behavior:\n1. Öffne die Tür\n2. Click on '....'\n3. Scroll down to '....'\n4. See error",
            ),
            ("# Crash at start\n<!-- describe it -->", "# Crash at start"),
            ("## Summary\n<!-- x -->\n## Crash in `f`\n<!-- y -->\nyes", "## Crash in `f`\nyes"),
            ("## Environment\n### Version\n1.2\n### Platform\n", "## Environment\n### Version\n1.2"),
            ("## Environment\n### Version\n### Platform\n", ""),
            (
                "- [ ] I have searched the issues\n- [ ] Port the parser\n- [x] Port the lexer",
                "- [ ] Port the parser\n- [x] Port the lexer",
            ),
            ("Words.\n\n## Checklist\n- [ ] Tests\n- [ ] Docs", "Words."),
        ] {
            assert_eq!(left(text), expected);
        }
    }

    #[test]
    fn steps_headings_tasks_and_code_of_ones_own_stay() {
        for text in [
            "1. Open the door\n2. Go in\n3. Wait\n4. See error",
            "# Crash at start",
            "## Plan\n- [ ] Tests\n- [ ] Docs",
            "```md\n## Summary\n<!-- x -->\n- [ ] I have read\n_No response_\n```",
        ] {
            assert_eq!(left(text), text);
        }
    }

    #[test]
    fn ticked_statements_stay_and_are_of_the_form() {
        let clean = body("## Checklist\n- [x] I have read the rules\n- [ ] I agree\n");
        assert_eq!(clean.text, "## Checklist\n- [x] I have read the rules\n\n");
        assert!(clean.is_form(&Lines::new(&clean.text), 0, 2));
        assert_eq!(clean.lines, [Line::Form, Line::Form, Line::Out, Line::Own]);
        let answered = body("## Checklist\n- [x] I have read the rules\nIt still crashes");
        assert!(!answered.is_form(&Lines::new(&answered.text), 0, 2));
    }
}
