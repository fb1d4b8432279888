//! The wording of forms and templates for issues that most projects use.

/// Questions of the forms that trackers propose and projects adapt. Lower case, without marks at the ends.
const QUESTIONS: &[&str] = &[
    "actual behavior",
    "actual behaviour",
    "actual result",
    "actual results",
    "additional context",
    "additional info",
    "additional information",
    "additional notes",
    "alternatives",
    "alternatives considered",
    "any other comments",
    "anything else",
    "before submitting",
    "browser",
    "bug description",
    "checklist",
    "code of conduct",
    "context",
    "contact details",
    "current behavior",
    "current behaviour",
    "describe alternatives you've considered",
    "describe the bug",
    "describe the feature",
    "describe the issue",
    "describe the problem",
    "describe the solution you'd like",
    "description",
    "desktop (please complete the following information)",
    "does this pr introduce a breaking change",
    "does this pull request introduce a breaking change",
    "environment",
    "expected behavior",
    "expected behaviour",
    "expected result",
    "expected results",
    "how can this be tested",
    "how has this been tested",
    "how to reproduce",
    "is there an existing issue for this",
    "is your feature request related to a problem? please describe",
    "issue description",
    "link to minimal reproducible example",
    "log output",
    "logs",
    "minimal reproducible example",
    "minimal reproduction",
    "motivation",
    "motivation and context",
    "notes",
    "operating system",
    "other information",
    "platform",
    "possible fix",
    "possible solution",
    "pr checklist",
    "pre-submission checklist",
    "prerequisites",
    "problem description",
    "proposed changes",
    "proposed solution",
    "pull request checklist",
    "related issue",
    "related issues",
    "relevant log output",
    "release notes",
    "reproducible example",
    "reproduction",
    "reproduction steps",
    "reproduction url",
    "screenshots",
    "screenshots (if appropriate)",
    "smartphone (please complete the following information)",
    "steps to reproduce",
    "steps to reproduce (for bugs)",
    "steps to reproduce the behavior",
    "suggested solution",
    "summary",
    "system info",
    "system information",
    "test plan",
    "to reproduce",
    "type of change",
    "types of changes",
    "use case",
    "version",
    "versions",
    "what browsers are you seeing the problem on",
    "what did you do",
    "what did you expect",
    "what did you expect to happen",
    "what did you expect to see",
    "what did you see instead",
    "what happened",
    "what is the current behavior",
    "what is the expected behavior",
    "what is the new behavior",
    "what kind of change does this pr introduce",
    "your environment",
];

/// Questions whose answer is to tick boxes.
const BOXES: &[&str] = &[
    "before submitting",
    "checklist",
    "code of conduct",
    "is there an existing issue for this",
    "pr checklist",
    "pre-submission checklist",
    "prerequisites",
    "pull request checklist",
    "type of change",
    "types of changes",
    "what kind of change does this pr introduce",
];

/// Lines of templates that explain a question.
const INSTRUCTIONS: &[&str] = &[
    "_no response_",
    "*no response*",
    "a clear and concise description of any alternative solutions or features you've considered.",
    "a clear and concise description of what the bug is.",
    "a clear and concise description of what the problem is. ex. i'm always frustrated when [...]",
    "a clear and concise description of what you expected to happen.",
    "a clear and concise description of what you want to happen.",
    "add any other context about the problem here.",
    "add any other context or screenshots about the feature request here.",
    "if applicable, add screenshots to help explain your problem.",
    "- os: [e.g. ios]",
    "- browser [e.g. chrome, safari]",
    "- browser [e.g. stock browser, safari]",
    "- device: [e.g. iphone6]",
    "- os: [e.g. ios8.1]",
    "- version [e.g. 22]",
    "1. go to '...'",
    "2. click on '....'",
    "3. scroll down to '....'",
    "4. see error",
];

/// Beginnings of statements that contributors are asked to tick.
const STATEMENTS: &[&str] = &[
    "any dependent changes", "breaking change (", "bug fix (", "bugfix (", "by submitting", "docs have been",
    "i agree to", "i am able to", "i am using the latest", "i am willing", "i confirm", "i did not find",
    "i made sure", "i searched", "i understand", "i will submit", "i would be willing", "i would like to work",
    "i'd be willing", "i'm willing", "my change requires", "my changes generate", "my code follows",
    "new and existing", "new feature (", "tests for the changes have been", "tests have been",
    "the commit message follows", "there are no similar", "this change requires a documentation",
];

/// Things that contributors are asked to have done: "I have read …", "I've read …".
const DONE: &[&str] = &[
    "added", "checked", "commented", "confirmed", "discussed", "followed", "included", "looked", "made", "performed",
    "provided", "read", "reviewed", "run", "searched", "signed", "tested", "tried", "updated", "verified", "written",
];

/// Statements that are complete. A task can begin with the same words.
const SHORT: &[&str] = &[
    "added tests", "breaking change", "bug fix", "bugfix", "code style update", "documentation update", "i agree",
    "new feature",
];

/// Returns `true` if a heading is the question of a form.
pub(super) fn is_question(heading: &str) -> bool {
    QUESTIONS.contains(&bare(heading).as_str())
}

/// Returns `true` if a heading asks for boxes to be ticked.
pub(super) fn asks_for_boxes(heading: &str) -> bool {
    BOXES.contains(&bare(heading).as_str())
}

/// Returns `true` if a line is an instruction of a template, word by word.
pub(super) fn is_instruction(line: &str) -> bool {
    let line = straight(line);
    let words = line.split_whitespace().collect::<Vec<_>>().join(" ");
    INSTRUCTIONS.contains(&words.as_str())
}

/// Returns `true` if a form leaves such a line in place of an answer.
pub(super) fn is_no_response(line: &str) -> bool {
    matches!(straight(line).trim(), "_no response_" | "*no response*")
}

/// Returns `true` if the text beside a box is a form's.
pub(super) fn is_statement(text: &str) -> bool {
    let text = straight(text);
    let text = text.trim_start_matches(['*', '_', '`', ' ']);
    let have = ["i have ", "i've "].iter().find_map(|start| text.strip_prefix(start));
    let done = have.and_then(|rest| rest.split(|letter: char| !letter.is_alphabetic()).next());
    STATEMENTS.iter().any(|start| text.starts_with(start))
        || done.is_some_and(|word| DONE.contains(&word))
        || SHORT.contains(&text.trim_end_matches(['*', '_', '`', '.', ' ']))
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

    #[test]
    fn questions_differ_from_headings_of_ones_own() {
        for heading in ["Steps to Reproduce", "🐛 Describe the bug", "1. What happened?", "2) Version:", "__Logs__"] {
            assert!(is_question(heading), "{heading}");
        }
        for heading in ["Version 2.0", "Logs of 2024", "Summary of the crash", "", "1."] {
            assert!(!is_question(heading), "{heading}");
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
            assert!(words.iter().all(|word| *word == straight(word)), "{words:?}");
        }
        for question in QUESTIONS.iter().chain(BOXES) {
            assert!(is_question(question), "{question}");
        }
    }
}
