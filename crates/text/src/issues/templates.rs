//! The templates of trackers, which a reporter fills in: instructions, questions without an answer, unticked boxes.

use super::clean::{Draft, Line};
use crate::lines::{has_word, one_line};

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
pub fn remove_form(draft: &mut Draft) {
    let mut sections = sections(draft);
    let first = sections.first().map_or(draft.rows.len(), |section| section.row);
    for row in 0..first {
        take_out_of_form(draft, row, false);
    }
    for section in &mut sections {
        let boxes = asks(BOXES, heading_text(draft.text(section.row)));
        section.asked = draft.lines[section.row..section.end].contains(&Line::Out);
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
            (section.row + 1..section.end).any(|row| !draft.is_blank(row) && draft.lines[row] != Line::Form);
        let boxes_only = (section.row + 1..section.end).any(|row| !draft.is_blank(row));
        while let Some((_, below)) = deeper.pop_if(|(level, _)| *level > section.level) {
            answered |= below;
        }
        let empty = !answered && !boxes_only;
        let known = section.question || section.unanswered || (section.asked && is_form);
        if empty && known {
            draft.take_out(section.row);
        } else if section.question {
            draft.lines[section.row] = Line::Form;
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
    let goes_on = || row.checked_sub(1).is_some_and(|before| draft.lines[before] == Line::Out);
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
            draft.lines[row] = Line::Form;
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
        let question = asks(QUESTIONS, text);
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

fn heading_text(line: &str) -> &str {
    line.trim().trim_matches(['#', '*', '_', ':', ' ', '\t'])
}

// The wording of forms and templates for issues that most projects use.

/// Questions of the forms that trackers propose and projects adapt. Lower case, without marks at the ends.
const QUESTIONS: &str = "\
actual behavior
actual behaviour
actual result
actual results
additional context
additional info
additional information
additional notes
alternatives
alternatives considered
any other comments
anything else
before submitting
browser
bug description
checklist
code of conduct
context
contact details
current behavior
current behaviour
describe alternatives you've considered
describe the bug
describe the feature
describe the issue
describe the problem
describe the solution you'd like
description
desktop (please complete the following information)
does this pr introduce a breaking change
does this pull request introduce a breaking change
environment
expected behavior
expected behaviour
expected result
expected results
how can this be tested
how has this been tested
how to reproduce
is there an existing issue for this
is your feature request related to a problem? please describe
issue description
link to minimal reproducible example
log output
logs
minimal reproducible example
minimal reproduction
motivation
motivation and context
notes
operating system
other information
platform
possible fix
possible solution
pr checklist
pre-submission checklist
prerequisites
problem description
proposed changes
proposed solution
pull request checklist
related issue
related issues
relevant log output
release notes
reproducible example
reproduction
reproduction steps
reproduction url
screenshots
screenshots (if appropriate)
smartphone (please complete the following information)
steps to reproduce
steps to reproduce (for bugs)
steps to reproduce the behavior
suggested solution
summary
system info
system information
test plan
to reproduce
type of change
types of changes
use case
version
versions
what browsers are you seeing the problem on
what did you do
what did you expect
what did you expect to happen
what did you expect to see
what did you see instead
what happened
what is the current behavior
what is the expected behavior
what is the new behavior
what kind of change does this pr introduce
your environment";

/// Questions whose answer is to tick boxes.
const BOXES: &str = "\
before submitting
checklist
code of conduct
is there an existing issue for this
pr checklist
pre-submission checklist
prerequisites
pull request checklist
type of change
types of changes
what kind of change does this pr introduce";

/// Lines of templates that explain a question.
const INSTRUCTIONS: &str = "\
_no response_
*no response*
a clear and concise description of any alternative solutions or features you've considered.
a clear and concise description of what the bug is.
a clear and concise description of what the problem is. ex. i'm always frustrated when [...]
a clear and concise description of what you expected to happen.
a clear and concise description of what you want to happen.
add any other context about the problem here.
add any other context or screenshots about the feature request here.
if applicable, add screenshots to help explain your problem.
- os: [e.g. ios]
- browser [e.g. chrome, safari]
- browser [e.g. stock browser, safari]
- device: [e.g. iphone6]
- os: [e.g. ios8.1]
- version [e.g. 22]
1. go to '...'
2. click on '....'
3. scroll down to '....'
4. see error";

/// Beginnings of statements that contributors are asked to tick.
const STATEMENTS: &str = "\
any dependent changes
breaking change (
bug fix (
bugfix (
by submitting
docs have been
i agree to
i am able to
i am using the latest
i am willing
i confirm
i did not find
i made sure
i searched
i understand
i will submit
i would be willing
i would like to work
i'd be willing
i'm willing
my change requires
my changes generate
my code follows
new and existing
new feature (
tests for the changes have been
tests have been
the commit message follows
there are no similar
this change requires a documentation";

/// Things that contributors are asked to have done: "I have read …", "I've read …".
const DONE: &str = "\
    added checked commented confirmed discussed followed included looked made performed provided read reviewed run \
    searched signed tested tried updated verified written";

/// Statements that are complete. A task can begin with the same words.
const SHORT: &str = "\
added tests
breaking change
bug fix
bugfix
code style update
documentation update
i agree
new feature";

/// Returns `true` if a heading is one of these.
fn asks(questions: &str, heading: &str) -> bool {
    let heading = bare(heading);
    questions.lines().any(|question| question == heading)
}

/// Returns `true` if a line is an instruction of a template, word by word.
fn is_instruction(line: &str) -> bool {
    let words = one_line(&straight(line));
    INSTRUCTIONS.lines().any(|instruction| instruction == words)
}

/// Returns `true` if a form leaves such a line in place of an answer.
fn is_no_response(line: &str) -> bool {
    matches!(straight(line).trim(), "_no response_" | "*no response*")
}

/// Returns `true` if the text beside a box is a form's.
fn is_statement(text: &str) -> bool {
    let text = straight(text);
    let text = text.trim_start_matches(['*', '_', '`', ' ']);
    let have = ["i have ", "i've "].iter().find_map(|start| text.strip_prefix(start));
    let done = have.and_then(|rest| rest.split(|letter: char| !letter.is_alphabetic()).next());
    STATEMENTS.lines().any(|start| text.starts_with(start))
        || done.is_some_and(|word| has_word(DONE, word))
        || SHORT.lines().any(|short| short == text.trim_end_matches(['*', '_', '`', '.', ' ']))
}

/// In lower case, with apostrophes of one kind.
fn straight(text: &str) -> String {
    text.to_lowercase().replace('’', "'")
}

/// A heading without decoration: marks and pictographs at the ends, a number before it.
fn bare(heading: &str) -> String {
    let decorates = |character: char| !character.is_alphanumeric() && !matches!(character, '(' | ')');
    let heading = straight(heading);
    let heading = heading.trim_matches(decorates);
    let after_number = heading.trim_start_matches(|digit: char| digit.is_ascii_digit());
    let heading =
        after_number.strip_prefix(['.', ')']).filter(|_| after_number.len() < heading.len()).unwrap_or(heading);
    heading.trim_matches(decorates).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
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

    #[test]
    fn questions_differ_from_headings_of_ones_own() {
        for heading in ["Steps to Reproduce", "🐛 Describe the bug", "1. What happened?", "2) Version:", "__Logs__"] {
            assert!(asks(QUESTIONS, heading), "{heading}");
        }
        for heading in ["Version 2.0", "Logs of 2024", "Summary of the crash", "", "1."] {
            assert!(!asks(QUESTIONS, heading), "{heading}");
        }
    }

    #[test]
    fn statements_differ_from_tasks() {
        for text in [
            "I have searched the issues", "I've read the rules", "I agree to the code of conduct",
            "Bug fix (non-breaking)", "New feature",
        ] {
            assert!(is_statement(text), "{text}");
        }
        for text in [
            "I have to port the parser", "New feature for doors", "Breaking change of the API", "Tests",
            "Ich habe gesucht",
        ] {
            assert!(!is_statement(text), "{text}");
        }
    }

    #[test]
    fn lists_are_in_lower_case() {
        for words in [QUESTIONS, BOXES, INSTRUCTIONS, STATEMENTS, DONE, SHORT] {
            assert!(words.lines().all(|word| *word == straight(word)), "{words:?}");
        }
        for question in QUESTIONS.lines().chain(BOXES.lines()) {
            assert!(asks(QUESTIONS, question), "{question}");
        }
    }
}
