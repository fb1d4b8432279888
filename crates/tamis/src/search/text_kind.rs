//! The kind of text that a query found: source code or prose.

use super::candidate::Candidate;
use crate::collections::{CODE, FILE_COLLECTIONS, ISSUES, SESSIONS};
use tamis_cut::TextKind;
use tamis_store::{ScoringKey, StoredPassage};

/// The kind of most of these passages.
pub(super) fn text_kind(candidates: &[Candidate]) -> TextKind {
    let is = |candidate: &&Candidate, kind| kind_of_passage(&candidate.passage) == kind;
    let most = |kind| 2 * candidates.iter().filter(|candidate| is(candidate, kind)).count() > candidates.len();
    [TextKind::Code, TextKind::Functions].into_iter().find(|&kind| most(kind)).unwrap_or_default()
}

/// The setting of a scoring key that says it: judgements teach only searches of the same kind of text.
const SETTING: &str = "text";

/// Adds the kind of text to the key of a search.
pub(super) fn scoring_of(key: ScoringKey, kind: TextKind) -> ScoringKey {
    if kind == TextKind::default() { key } else { key.with(SETTING, kind) }
}

/// Returns the kind of text of a recorded search.
pub(super) fn kind_of(scoring: &ScoringKey) -> TextKind {
    scoring.settings.get(SETTING).and_then(|kind| kind.parse().ok()).unwrap_or_default()
}

/// The product's own collections say what they hold. Of others, which a program put there, the text shows it.
fn kind_of_passage(passage: &StoredPassage) -> TextKind {
    match passage.collection.as_str() {
        CODE => TextKind::Code,
        ISSUES | SESSIONS => TextKind::Prose,
        collection if FILE_COLLECTIONS.contains(&collection) => TextKind::Prose,
        _ if looks_like_code(&passage.text) => TextKind::Functions,
        _ => TextKind::Prose,
    }
}

/// Lines of a text that are looked at.
const LINES: usize = 24;

/// Returns `true` if at least half of the first lines with a word in them end or begin as statements do.
fn looks_like_code(text: &str) -> bool {
    let lines = text.lines().map(str::trim).filter(|line| line.chars().any(char::is_alphanumeric)).take(LINES);
    let (count, statements) =
        lines.fold((0, 0), |(count, statements), line| (count + 1, statements + usize::from(is_statement(line))));
    count >= 2 && 2 * statements >= count
}

/// Ends of lines that prose seldom has, and the words that statements of common languages begin with.
const ENDS: [char; 6] = ['{', '}', ';', ')', '(', '['];
const BEGINS: [&str; 18] = [
    "def ", "class ", "return ", "if ", "else:", "elif ", "for ", "while ", "try:", "except", "import ", "from ",
    "fn ", "func ", "let ", "const ", "var ", "public ",
];

fn is_statement(line: &str) -> bool {
    let begins = || BEGINS.iter().any(|word| line.starts_with(word)) && !line.ends_with('.');
    let assigns = || line.contains(" = ") && !line.ends_with('.');
    line.ends_with(ENDS) || begins() || assigns()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_code_and_paragraphs_are_not() {
        let python =
            "def read(path):\n    \"\"\"Reads a file.\"\"\"\n    with open(path) as file:\n        return file.read()";
        let rust = "pub fn read(path: &Path) -> io::Result<String> {\n    let text = fs::read_to_string(path)?;\n    Ok(text)\n}";
        let go = "func Read(path string) ([]byte, error) {\n\tdata, err := os.ReadFile(path)\n\tif err != nil {\n\t\treturn nil, err\n\t}\n\treturn data, nil\n}";
        for code in [python, rust, go] {
            assert!(looks_like_code(code), "{code}");
        }
        let paragraph = "Heat the oven to 220 degrees.\nIf the dough is cold, wait.\nFor a crisp crust, add steam.";
        let titled = "Noonan syndrome\n\nA genetic disorder (of many parts) that can be inherited. Symptoms vary.";
        let one_line = "while reading a file the program stops;";
        for prose in [paragraph, titled, one_line, ""] {
            assert!(!looks_like_code(prose), "{prose}");
        }
    }
}
