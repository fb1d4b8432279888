//! A page without the marks inside its lines.

use super::tokens::{Kind, Token, tokens};
use super::{BAR, BLOCK, LITERAL, Names, tokens};

/// The text that remains of a page.
#[derive(Default)]
pub struct Written {
    pub text: String,
    /// Verbatim blocks, each with its language. The text has their numbers.
    pub blocks: Vec<(String, String)>,
    pub categories: Vec<String>,
}

/// Greatest depth of nested templates and links. Deeper ones are dropped.
const DEPTH: usize = 32;

/// Writes a page again without the marks inside its lines.
pub fn write(source: &str, title: &str, names: &Names) -> Written {
    let mut writer = Writer { source, title, names, tokens: tokens(source), written: Written::default() };
    writer.range(0, source.len(), 0, 0);
    writer.written
}

struct Writer<'page> {
    source: &'page str,
    title: &'page str,
    names: &'page Names,
    tokens: Vec<Token>,
    written: Written,
}

/// A part of a template or link between two bars: its bytes, and the first token that is not before it.
#[derive(Clone, Copy)]
struct Part {
    start: usize,
    end: usize,
    token: usize,
}

impl Writer<'_> {
    /// Writes the bytes from `start` to `end`; `token` is the first that is not before them.
    fn range(&mut self, start: usize, end: usize, token: usize, depth: usize) {
        let mut at = start;
        let mut index = token;
        while let Some(token) = self.tokens.get(index).filter(|token| token.range.start < end).cloned() {
            self.written.text.push_str(&self.source[at.min(token.range.start)..token.range.start]);
            at = token.range.end;
            let mut next = index + 1;
            match token.kind {
                Kind::Replaced(text) => self.written.text.push_str(text),
                Kind::Verbatim { body, block, language, entities } => {
                    let language = language.map_or("", |range| &self.source[range]);
                    self.verbatim(&self.source[body], block, language, entities);
                }
                Kind::OpenTemplate(Some(close)) | Kind::OpenLink(Some(close)) => {
                    at = self.tokens[close].range.end;
                    next = close + 1;
                    if depth < DEPTH && matches!(token.kind, Kind::OpenTemplate(_)) {
                        self.template(index, close, depth);
                    } else if depth < DEPTH {
                        self.link(index, close, depth);
                    }
                }
                Kind::OpenTemplate(None) | Kind::OpenLink(None) | Kind::Close => {}
            }
            index = next;
            // A space after a mark that began a line would otherwise make the line a verbatim one.
            if self.written.text.is_empty() || self.written.text.ends_with('\n') {
                let rest = &self.source[at.min(end)..end];
                at += rest.len() - rest.trim_start_matches(' ').len();
            }
        }
        if at < end {
            self.written.text.push_str(&self.source[at..end]);
        }
    }

    fn verbatim(&mut self, body: &str, block: bool, language: &str, entities: bool) {
        let mut decoded = String::new();
        if entities {
            tokens::decode(body, &mut decoded);
        } else {
            decoded.push_str(body);
        }
        if block {
            let number = self.written.blocks.len();
            self.written.blocks.push((language.to_owned(), decoded));
            self.written.text.push_str(&format!("\n{BLOCK}{number}{BLOCK}\n"));
        } else {
            // An ampersand would be read as the beginning of an entity once more.
            let decoded = decoded.replace('&', "&amp;").replace('|', &BAR.to_string());
            self.written.text.push(LITERAL);
            self.written.text.push_str(&decoded.replace('\n', &format!("\n{LITERAL}")));
        }
    }

    /// The parts of a template or link, at most `most` of them; the last one holds all that is left.
    fn parts(&self, open: usize, close: usize, most: usize) -> Vec<Part> {
        let (first, last) = (&self.tokens[open], &self.tokens[close]);
        let end = last.range.start;
        let mut parts = Vec::new();
        let mut part = Part { start: first.range.end, end, token: open + 1 };
        let (mut at, mut index) = (part.start, open + 1);
        while at < end {
            let token = self.tokens.get(index).filter(|_| index < close);
            let until = token.map_or(end, |token| token.range.start);
            while let Some(bar) = self.source[at..until].find('|').filter(|_| parts.len() + 1 < most) {
                parts.push(Part { end: at + bar, ..part });
                at += bar + 1;
                part = Part { start: at, end, token: index };
            }
            match token.map(|token| (&token.kind, token.range.end)) {
                Some((Kind::OpenTemplate(Some(inner)) | Kind::OpenLink(Some(inner)), _)) => {
                    at = self.tokens[*inner].range.end;
                    index = inner + 1;
                }
                Some((_, after)) => {
                    at = after;
                    index += 1;
                }
                None => at = end,
            }
        }
        parts.push(part);
        parts
    }

    fn template(&mut self, open: usize, close: usize, depth: usize) {
        let (first, last) = (&self.tokens[open], &self.tokens[close]);
        // Three braces are a parameter of the page, which only another page would fill in.
        let parameter = first.range.len() == 3 && last.range.len() == 3;
        let head = &self.source[first.range.end..last.range.start];
        let head = &head.as_bytes()[..head.len().min(NAME_LENGTH)];
        let length = head.iter().position(|byte| matches!(byte, b'|' | b'{' | b'[' | b'<')).unwrap_or(head.len());
        let name = String::from_utf8_lossy(&head[..length]).trim().replace('_', " ").to_lowercase();
        let Some(shape) = shape(&name).filter(|_| !parameter) else {
            return;
        };
        match shape {
            Shape::Text(text) => self.written.text.push_str(text),
            Shape::Title => self.written.text.push_str(self.title),
            Shape::One(number) => {
                let parts = self.positional(open, close);
                if let Some(part) = parts.get(number - 1).or(parts.last()).copied() {
                    self.trimmed(part, depth);
                }
            }
            Shape::Joined(most, between) => {
                for (index, part) in self.positional(open, close).into_iter().take(most).enumerate() {
                    self.written.text.push_str(if index > 0 { between } else { "" });
                    self.trimmed(part, depth);
                }
            }
        }
    }

    /// The parameters of a template that have no name or a number for one. If all have names, the last of them: it is
    /// text with an equals sign in it.
    fn positional(&self, open: usize, close: usize) -> Vec<Part> {
        let parts = self.parts(open, close, usize::MAX);
        let mut given = Vec::new();
        for part in parts.iter().skip(1) {
            let inner =
                self.tokens.get(part.token).map_or(part.end, |token| token.range.start.clamp(part.start, part.end));
            match self.source[part.start..inner].split_once('=') {
                None => given.push(*part),
                Some((key, _)) if key.trim().bytes().all(|byte| byte.is_ascii_digit()) => {
                    given.push(Part { start: part.start + key.len() + 1, ..*part });
                }
                Some(_) => {}
            }
        }
        if given.is_empty() { parts.into_iter().skip(1).next_back().into_iter().collect() } else { given }
    }

    fn trimmed(&mut self, part: Part, depth: usize) {
        let text = &self.source[part.start..part.end];
        let start = part.start + (text.len() - text.trim_start().len());
        let end = part.end - (text.len() - text.trim_end().len());
        if start < end {
            self.range(start, end, part.token, depth + 1);
        }
    }

    fn link(&mut self, open: usize, close: usize, depth: usize) {
        let parts = self.parts(open, close, 2);
        let Some(target) = parts.first() else { return };
        let name = self.source[target.start..target.end].trim();
        let label = parts.get(1).filter(|label| !self.source[label.start..label.end].trim().is_empty()).copied();
        let plain = name.strip_prefix(':');
        if let Some((space, page)) = name.split_once(':').filter(|_| plain.is_none()) {
            let space = space.trim().to_lowercase();
            if self.names.files.contains(&space) {
                return;
            }
            if self.names.categories.contains(&space) {
                let category = page.trim().replace('_', " ");
                if !category.is_empty()
                    && !self.written.categories.contains(&category)
                    && self.written.categories.len() < 100
                {
                    self.written.categories.push(category);
                }
                return;
            }
            if label.is_none() && is_language(&space) && self.is_alone(open, close) {
                return;
            }
        }
        match label {
            Some(label) => self.range(label.start, label.end, label.token, depth + 1),
            None => {
                // The name of a page may itself be made of marks.
                let start = target.end - self.source[target.start..target.end].trim_start().len();
                let start = start + usize::from(plain.is_some());
                self.range(start, target.end, target.token, depth + 1);
            }
        }
    }

    /// Returns `true` if a link has a line of its own.
    fn is_alone(&self, open: usize, close: usize) -> bool {
        let (first, last) = (&self.tokens[open], &self.tokens[close]);
        let before = self.source[..first.range.start].chars().next_back();
        let after = self.source[last.range.end..].chars().next();
        before.is_none_or(|before| before == '\n') && after.is_none_or(|after| after == '\n')
    }
}

/// Bytes of a template searched for its name.
const NAME_LENGTH: usize = 200;

/// Returns `true` if a prefix can be a language code, which makes a link to the same page in that language.
fn is_language(prefix: &str) -> bool {
    let main = prefix.split('-').next().unwrap_or(prefix);
    (2..=3).contains(&main.len()) && prefix.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-')
}

// Templates that hold text of the page. All others are dropped, since their text is elsewhere.

/// The text that replaces a template.
#[derive(Clone, Copy, PartialEq)]
enum Shape {
    /// The parameter of this number, from 1.
    One(usize),
    /// The first so many parameters without a name, with this separator.
    Joined(usize, &'static str),
    /// This text.
    Text(&'static str),
    /// The title of the page.
    Title,
}

/// Templates that wikis on software and encyclopedias commonly have around text.
const FIRST: &str = "\
ic
bc
code
tt
kbd
key
keypress
key press
samp
var
mono
codeline
inline code
nowrap
nobr
em
strong
small
big
smaller
larger
sup
sub
note
warning
tip
caution
important
attention
info
hint
danger
quote
blockquote
cquote
tq
abbr
tooltip
visible anchor
vanchor
pkg
aur
grp
app
path
package
cmd
command
rootcmd
term
url
ill
interlanguage link
link
math
mvar
ruby
box
message
notice
message box";

/// The shape of the template `name`, in lower case; `None` for one that is dropped.
fn shape(name: &str) -> Option<Shape> {
    if FIRST.lines().any(|known| known == name) {
        return Some(Shape::One(1));
    }
    Some(match name {
        "!" => Shape::Text("|"),
        "=" => Shape::Text("="),
        "pagename" | "fullpagename" | "basepagename" | "subpagename" => Shape::Title,
        "lang" | "langx" | "transl" | "transliteration" | "color" => Shape::One(2),
        "convert" | "cvt" | "man" | "as of" | "nihongo" => Shape::Joined(2, " "),
        "hc" | "collapse" | "hidden" | "spoiler" => Shape::Joined(8, "\n"),
        "plainlist" | "unbulleted list" | "ubl" | "flatlist" | "hlist" | "cslist" => Shape::Joined(100, ", "),
        "frac" => Shape::Joined(3, "/"),
        _ => return None,
    })
}
