//! One file in, one document out.

use crate::decode::decode;
use crate::document::{Document, Note, Options, Passage};
use crate::languages::{Category, Grammar, Language};
use crate::lines::Lines;
use crate::pack::Piece;
use crate::{Kind, Role, by_lines, code, prose, role, skip};

/// The smallest limit that leaves room for a sentence.
pub(crate) const MIN_TOKENS: usize = 32;

/// Reads the file at `path` (relative, with forward slashes), whose content is `bytes`.
///
/// Always succeeds: whatever can not be parsed is divided by lines and whatever can not be decoded is replaced, and
/// [`Document::notes`] says so. Whether a file should be read at all is for [`crate::skip_by_path`] and
/// [`crate::skip_by_content`] to say. Takes time linear in the size of the file.
///
/// ```
/// use tamis_text::{Kind, Options, read};
///
/// let source = b"/// Opens it.\nfn open() {}\n\nfn close() {}\n";
/// let document = read("src/door.rs", source, &Options::default());
/// assert_eq!(document.language, Some("rust"));
/// let passage = &document.passages[0];
/// assert_eq!((passage.kind, passage.symbol.as_deref()), (Kind::Function, Some("open")));
/// assert_eq!((passage.start_line, passage.end_line), (1, 2));
/// ```
#[must_use]
pub fn read(path: &str, bytes: &[u8], options: &Options) -> Document {
    let (text, mut notes) = decode(bytes);
    let lines = Lines::new(&text);
    let language = language_of(path, &text);
    let category = language.map_or(Category::Data, |language| language.category);
    let name = language.map(|language| language.name);
    let role = match role(path, name) {
        Role::Main if category != Category::Prose && skip::is_generated(bytes) => Role::Generated,
        Role::Main if category == Category::Code && skip::is_minified(bytes) => Role::Generated,
        role => role,
    };
    let max_tokens = options.max_tokens.max(MIN_TOKENS);
    let plain = |(title, passages)| prose::Prose { title, passages, ..prose::Prose::default() };
    let prose = match language {
        Some(language) => match language.grammar {
            Some(grammar) => plain(read_code(language, grammar, &lines, max_tokens, role, &mut notes)),
            None if category == Category::Prose => prose::read(language.name, &lines, max_tokens, role),
            None => plain((None, line_passages(&lines, max_tokens, role))),
        },
        None => plain((None, line_passages(&lines, max_tokens, role))),
    };
    notes.extend(prose.notes);
    Document {
        language: name,
        category,
        role,
        title: prose.title,
        severity: prose.severity,
        dated_ns: prose.dated_ns,
        attributes: Vec::new(),
        notes,
        passages: prose.passages,
    }
}

fn read_code(
    language: &'static Language,
    grammar: Grammar,
    lines: &Lines<'_>,
    max_tokens: usize,
    role: Role,
    notes: &mut Vec<Note>,
) -> (Option<String>, Vec<Passage>) {
    match code::read(grammar, lines, max_tokens, role) {
        Ok(code) => {
            if code.error_lines > 0 {
                notes.push(Note::PartlyParsed { language: language.name, lines: code.error_lines });
            }
            (code.title, code.passages)
        }
        Err(reason) => {
            notes.push(Note::NotParsed { language: language.name, reason });
            (None, line_passages(lines, max_tokens, role))
        }
    }
}

/// The language of a file by its name and its text.
pub(crate) fn language_of(path: &str, text: &str) -> Option<&'static Language> {
    Language::of(path, text.lines().next().unwrap_or_default()).map(|language| refine(language, path, text))
}

/// `.h` is C, C++ or Objective-C: how its lines begin and end tells.
fn refine(language: &'static Language, path: &str, text: &str) -> &'static Language {
    const CPP_ONLY: &[&str] = &[
        "class ",
        "namespace ",
        "template<",
        "template <",
        "using ",
        "public:",
        "private:",
        "protected:",
        "constexpr ",
    ];
    const OBJECTIVEC_ONLY: &[&str] = &["@interface ", "@protocol ", "@class ", "@import ", "#import "];
    const HEAD_LINES: usize = 2_000;
    let header = path.rsplit_once('.').is_some_and(|(_, extension)| extension.eq_ignore_ascii_case("h"));
    let cpp = |line: &str| {
        let line = line.trim();
        CPP_ONLY.iter().any(|start| line.starts_with(start)) && line.ends_with(['{', '}', ';', ':', '>', ','])
    };
    let objectivec = |line: &str| OBJECTIVEC_ONLY.iter().any(|start| line.starts_with(start));
    if header && text.lines().take(HEAD_LINES).any(objectivec) {
        return Language::named("objectivec").unwrap_or(language);
    }
    if header && text.lines().take(HEAD_LINES).any(cpp) {
        return Language::named("cpp").unwrap_or(language);
    }
    language
}

fn line_passages(lines: &Lines<'_>, max_tokens: usize, role: Role) -> Vec<Passage> {
    by_lines::windows(lines, max_tokens).iter().map(|piece| passage(lines, piece, Kind::Lines, role)).collect()
}

/// A passage that is nothing but its lines.
pub(crate) fn passage(lines: &Lines<'_>, piece: &Piece, kind: Kind, role: Role) -> Passage {
    let number = |row: usize| u32::try_from(row + 1).unwrap_or(u32::MAX);
    Passage {
        start_line: number(piece.first),
        end_line: number(piece.last),
        kind,
        symbol: None,
        heading: None,
        context: None,
        signature: None,
        text: piece.text(lines).to_owned(),
        role,
        author: None,
        dated_ns: None,
        part: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_read_in_the_language_it_is_written_in() {
        let language = |text: &str| read("a.h", text.as_bytes(), &Options::default()).language;
        assert_eq!(language("int f(void);\n"), Some("c"));
        assert_eq!(language("/* One\n   class of things, and\n   using them */\nint f(void);\n"), Some("c"));
        assert_eq!(language("class A {\n};\n"), Some("cpp"));
        assert_eq!(language("#ifdef X\n  template <class T>\nT f();\n#endif\n"), Some("cpp"));
        assert_eq!(language("#import <A/A.h>\n\n@interface B : A\n@end\n"), Some("objectivec"));
        assert_eq!(language("/// @interface of the thing\nint f(void);\n"), Some("c"));
        assert_eq!(read("a.c", b"namespace = 1;\nclass A;\n", &Options::default()).language, Some("c"));
    }

    #[test]
    fn what_no_name_tells_is_read_by_lines() {
        let document = read("data.xyzzy", b"one\ntwo\n", &Options::default());
        assert_eq!((document.language, document.category, document.collection()), (None, Category::Data, "code"));
        assert_eq!(document.passages[0].kind, Kind::Lines);
    }
}
