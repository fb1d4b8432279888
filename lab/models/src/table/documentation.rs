//! Takes the documentation comment out of a function or type: its first sentence, the rest of it, and the code without it.

/// A documented piece of code, taken apart.
#[derive(Debug, PartialEq)]
pub struct Documented {
    /// The first sentence of the comment, without markup.
    pub sentence: String,
    /// The sentences after it, up to a list of parameters.
    pub rest: String,
    /// The code without the comment.
    pub code: String,
}

/// Takes a passage apart; `None` if it has no comment that says anything.
pub fn take(language: &str, text: &str) -> Option<Documented> {
    let (comment, code) = if language == "python" { docstring(text)? } else { leading(text)? };
    let (sentence, rest) = sentences(&comment);
    let words = sentence.split_whitespace().count();
    let plain = sentence.chars().filter(|c| c.is_ascii_alphabetic() || *c == ' ').count();
    let says = (3..=40).contains(&words) && sentence.len() <= 240 && plain * 10 >= sentence.len() * 8;
    let asks = ["TODO", "FIXME", "XXX", "Copyright", "eslint", "@ts-", "type:", "noqa", "SAFETY"];
    if !says || asks.iter().any(|word| sentence.contains(word)) {
        return None;
    }
    Some(Documented { sentence, rest, code })
}

/// The lines of comment above the code, in any of the styles that begin a line.
fn leading(text: &str) -> Option<(String, String)> {
    let (mut comment, mut code) = (String::new(), String::new());
    let (mut in_block, mut above) = (false, true);
    for line in text.lines() {
        let bare = line.trim_start();
        if above {
            if in_block || bare.starts_with("/*") {
                in_block = !bare.contains("*/");
                let end = bare.find("*/").unwrap_or(bare.len());
                let line = bare[..end].trim_start_matches('/').trim_start_matches(['*', '!']);
                comment.push_str(line.trim());
                comment.push('\n');
                continue;
            }
            let marks = ["///", "//!", "//", "##", "#"];
            if let Some(mark) = marks.into_iter().find(|mark| bare.starts_with(mark))
                && !bare.starts_with("#[")
                && !bare.starts_with("#include")
                && !bare.starts_with("#define")
                && !bare.starts_with("#if")
            {
                comment.push_str(bare[mark.len()..].trim());
                comment.push('\n');
                continue;
            }
            above = bare.is_empty() || ["#[", "@", "template", "["].iter().any(|start| bare.starts_with(start));
        }
        code.push_str(line);
        code.push('\n');
    }
    (!comment.trim().is_empty()).then_some((comment, code))
}

/// The string under the head of a Python function or class.
fn docstring(text: &str) -> Option<(String, String)> {
    let head = text.lines().position(|line| {
        let line = line.trim_start();
        ["def ", "class ", "async def "].iter().any(|start| line.starts_with(start))
    })?;
    let lines: Vec<&str> = text.lines().collect();
    let last = (head..lines.len()).find(|&at| lines[at].trim_end().ends_with(':'))?;
    let start = (last + 1..lines.len()).find(|&at| !lines[at].trim().is_empty())?;
    let first = lines[start].trim_start().trim_start_matches(['r', 'R', 'u', 'U', 'b']);
    let quotes = ["\"\"\"", "'''"].into_iter().find(|quotes| first.starts_with(quotes))?;
    let mut comment = String::new();
    let mut after = None;
    for (at, line) in lines.iter().enumerate().skip(start) {
        let line = if at == start { &first[3..] } else { line.trim() };
        let (content, ended) = match line.find(quotes) {
            Some(end) => (&line[..end], true),
            None => (line, false),
        };
        comment.push_str(content.trim());
        comment.push('\n');
        if ended {
            after = Some(at + 1);
            break;
        }
    }
    let after = after?;
    let mut code = lines[..start].join("\n");
    code.push('\n');
    code.push_str(&lines[after..].join("\n"));
    Some((comment, code))
}

/// The first sentence and those after it. A blank line ends a sentence, and a list of parameters ends the whole.
fn sentences(comment: &str) -> (String, String) {
    let mut text = String::new();
    for line in comment.lines().map(str::trim) {
        let ends = [
            "@", ":param", ":return", ":rtype", ":type", "Args:", "Arguments:", "Parameters", "Returns:", "#", "---",
            "===", "```", ">>>", "\\param",
        ];
        if ends.iter().any(|end| line.starts_with(end)) && !line.starts_with("@brief") {
            if text.trim().is_empty() && (line.starts_with("@description") || line.starts_with("#")) {
                continue;
            }
            break;
        }
        if line.is_empty() {
            if !text.trim().is_empty() {
                text.push('\u{1}');
            }
            continue;
        }
        text.push_str(line.trim_start_matches("@brief").trim_start_matches("\\brief"));
        text.push(' ');
        if text.len() > 1_500 {
            break;
        }
    }
    let text = without_markup(&text);
    let text = text.trim_matches(|c: char| c == '\u{1}' || c.is_whitespace());
    let bytes = text.as_bytes();
    let end = (0..bytes.len())
        .find(|&at| {
            bytes[at] == 1
                || (matches!(bytes[at], b'.' | b':' | b'!' | b'?')
                    && bytes.get(at + 1).is_none_or(|next| next.is_ascii_whitespace() || *next == 1)
                    && !text[..at].ends_with("e.g")
                    && !text[..at].ends_with("i.e"))
        })
        .unwrap_or(bytes.len());
    let tidy = |part: &str| part.replace('\u{1}', " ").split_whitespace().collect::<Vec<_>>().join(" ");
    (tidy(&text[..end]), tidy(text.get(end + 1..).unwrap_or_default()))
}

/// Text without HTML tags, links, roles and marks of code.
fn without_markup(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['<', '{', '`', '*', '[', ']', ':', '(']) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let tag = rest.starts_with('<') && rest[1..].starts_with(|c: char| c.is_ascii_alphabetic() || c == '/');
        let until = |end: char| rest.find(end).filter(|&end| end < 200).map(|end| end + 1);
        if tag && let Some(end) = until('>') {
            rest = &rest[end..];
        } else if rest.starts_with("{@")
            && let Some(end) = until('}')
        {
            out.push_str(rest[..end - 1].split_once(' ').map_or("", |(_, name)| name));
            rest = &rest[end..];
        } else if rest.starts_with(['`', '*', '[', ']']) {
            let link = rest.starts_with("](").then(|| until(')')).flatten();
            rest = &rest[link.unwrap_or(1)..];
        } else if rest.starts_with(':')
            && let Some((role, _)) = rest[1..].split_once(":`")
            && role.len() < 12
            && role.chars().all(|c| c.is_ascii_alphabetic() || c == ':')
        {
            rest = &rest[role.len() + 3..];
        } else {
            out.push_str(&rest[..1]);
            rest = &rest[1..];
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_of_several_languages_come_off() {
        for (language, text, sentence, code) in [
            (
                "rust",
                "/// Opens the [`Door`]. Slowly.\n#[must_use]\nfn open() {}\n",
                "Opens the Door",
                "#[must_use]\nfn open() {}\n",
            ),
            (
                "java",
                "/**\n * Closes <code>this</code> {@link Door}.\n * @param x it\n */\nvoid close() {}",
                "Closes this Door",
                "void close() {}\n",
            ),
            (
                "go",
                "// Knock knocks on it, twice\nfunc Knock() {\n// not this\n}",
                "Knock knocks on it, twice",
                "func Knock() {\n// not this\n}\n",
            ),
            (
                "python",
                "def f(a,\n      b):\n    r\"\"\"Add a and b: all.\n\n    :param a: it\n    \"\"\"\n    return a + b",
                "Add a and b",
                "def f(a,\n      b):\n    return a + b",
            ),
        ] {
            let found = take(language, text).unwrap();
            assert_eq!((found.sentence.as_str(), found.code.as_str()), (sentence, code));
        }
        assert_eq!(take("python", "def f():\n    \"\"\"Short.\"\"\"\n    return 1\n"), None);
        assert_eq!(take("rust", "fn f() {}"), None);
    }

    #[test]
    fn the_rest_of_the_comment_is_kept_apart() {
        let found =
            take("rust", "/// Opens the big door. It creaks.\n///\n/// # Errors\n/// None.\nfn open() {}").unwrap();
        assert_eq!((found.sentence.as_str(), found.rest.as_str()), ("Opens the big door", "It creaks."));
    }
}
