//! The marks of a page in order, and the pairs among them.

use std::collections::HashMap;
use std::ops::Range;

use quick_xml::escape::resolve_html5_entity;

use crate::lines::{begins_with, has_word};

/// A mark: anything that is not text.
#[derive(Clone, PartialEq)]
pub struct Token {
    /// Its position, in bytes.
    pub range: Range<usize>,
    pub kind: Kind,
}

/// The kind of a mark.
#[derive(Clone, PartialEq)]
pub enum Kind {
    /// It is replaced by this text.
    Replaced(&'static str),
    /// `{{`, and the token that closes it.
    OpenTemplate(Option<usize>),
    /// `[[`, and the token that closes it.
    OpenLink(Option<usize>),
    /// `}}` or `]]`.
    Close,
    /// Verbatim text: its position, its language, and two flags: it is a block of its own, and entities count in it.
    Verbatim { body: Range<usize>, block: bool, language: Option<Range<usize>>, entities: bool },
}

/// The longest tag, in bytes.
const TAG_LENGTH: usize = 1_000;

/// Takes a page apart.
pub fn tokens(source: &str) -> Vec<Token> {
    let mut scanner = Scanner { source, bytes: source.as_bytes(), ..Scanner::default() };
    scanner.scan();
    scanner.tokens
}

/// A mark that waits for its closing one.
struct Open {
    token: usize,
    template: bool,
    /// Number of headings before it.
    headings: usize,
}

#[derive(Default)]
struct Scanner<'page> {
    source: &'page str,
    bytes: &'page [u8],
    at: usize,
    tokens: Vec<Token>,
    open: Vec<Open>,
    open_templates: usize,
    open_links: usize,
    headings: usize,
    /// End of the label of an external link.
    link_end: Option<usize>,
    /// The position of the next closing tag of each kind that was searched; none where no more follow.
    closings: HashMap<&'static str, Option<usize>>,
}

impl Scanner<'_> {
    fn scan(&mut self) {
        self.heading();
        while let Some(byte) = self.bytes.get(self.at) {
            if self.link_end == Some(self.at) {
                self.link_end = None;
                self.push(1, Kind::Replaced(""));
                continue;
            }
            match byte {
                b'{' => self.open_braces(),
                b'}' => self.close_braces(),
                b'[' => self.open_brackets(),
                b']' if self.next_is("]]") => self.close(2, false),
                b'<' => self.angle(),
                b'\'' if self.next_is("''") => self.push(self.run(b'\''), Kind::Replaced("")),
                b'_' if self.next_is("__") => self.switch(),
                b'\n' => {
                    self.at += 1;
                    self.heading();
                }
                _ => self.at += 1,
            }
        }
    }

    fn next_is(&self, text: &str) -> bool {
        self.bytes[self.at..].starts_with(text.as_bytes())
    }

    /// Number of repetitions of the current byte.
    fn run(&self, byte: u8) -> usize {
        self.bytes[self.at..].iter().take_while(|next| **next == byte).count()
    }

    fn push(&mut self, length: usize, kind: Kind) {
        self.tokens.push(Token { range: self.at..self.at + length, kind });
        self.at += length;
    }

    /// Counts a heading that begins here.
    fn heading(&mut self) {
        if self.next_is("==") && self.source[self.at..].lines().next().is_some_and(is_heading) {
            self.headings += 1;
        }
    }

    /// `{{` by twos, the last of an odd number by three: a template around a parameter.
    fn open_braces(&mut self) {
        let mut left = self.run(b'{');
        if left < 2 {
            self.at += left;
        }
        while left >= 2 {
            let length = if left == 3 { 3 } else { 2 };
            self.open.push(Open { token: self.tokens.len(), template: true, headings: self.headings });
            self.open_templates += 1;
            self.push(length, Kind::OpenTemplate(None));
            left -= length;
        }
    }

    /// `}}`, of an odd number three first.
    fn close_braces(&mut self) {
        let mut left = self.run(b'}');
        if left < 2 {
            self.at += left;
        }
        while left >= 2 {
            let length = if left.is_multiple_of(2) { 2 } else { 3 };
            self.close(length, true);
            left -= length;
        }
    }

    fn open_brackets(&mut self) {
        if self.next_is("[[") {
            self.open.push(Open { token: self.tokens.len(), template: false, headings: self.headings });
            self.open_links += 1;
            return self.push(2, Kind::OpenLink(None));
        }
        let rest = &self.bytes[self.at + 1..];
        let elsewhere =
            ["http://", "https://", "//", "ftp://", "mailto:"].iter().any(|scheme| rest.starts_with(scheme.as_bytes()));
        let end = elsewhere.then(|| rest.iter().position(|byte| matches!(byte, b']' | b'[' | b'\n'))).flatten();
        let Some(end) = end.filter(|end| rest.get(*end) == Some(&b']')) else {
            self.at += 1;
            return;
        };
        let address = rest[..end].iter().position(|byte| *byte == b' ').unwrap_or(0);
        let labelled = address > 0 && !rest[address..end].iter().all(u8::is_ascii_whitespace);
        self.link_end = Some(self.at + 1 + end);
        self.push(if labelled { address + 2 } else { 1 }, Kind::Replaced(""));
    }

    /// Closes the last open mark of this kind, and drops those that opened after it.
    fn close(&mut self, length: usize, template: bool) {
        let token = self.tokens.len();
        let count = if template { self.open_templates } else { self.open_links };
        if count > 0 {
            while let Some(open) = self.open.pop() {
                if open.template {
                    self.open_templates -= 1;
                } else {
                    self.open_links -= 1;
                }
                if open.template != template {
                    continue;
                }
                // A construct that holds a heading was never meant to be closed by this.
                if open.headings == self.headings {
                    self.tokens[open.token].kind =
                        if template { Kind::OpenTemplate(Some(token)) } else { Kind::OpenLink(Some(token)) };
                }
                break;
            }
        }
        self.push(length, Kind::Close);
    }

    fn switch(&mut self) {
        let word = &self.bytes[self.at + 2..];
        let length = word.iter().take(32).take_while(|byte| byte.is_ascii_uppercase()).count();
        let named = std::str::from_utf8(&word[..length]).is_ok_and(|word| has_word(SWITCHES, word));
        if named && word[length..].starts_with(b"__") {
            self.push(length + 4, Kind::Replaced(""));
        } else {
            self.at += self.run(b'_');
        }
    }

    /// A comment, a tag, or a plain angle bracket.
    fn angle(&mut self) {
        if self.next_is("<!--") {
            let end =
                self.closing("-->", self.at + 4, |source, from| source[from..].find("-->").map(|found| from + found));
            let length = end.map_or(4, |end| end + 3 - self.at);
            return self.push(length, Kind::Replaced(""));
        }
        let rest = &self.bytes[self.at + 1..];
        let closing = rest.first() == Some(&b'/');
        let named = &rest[usize::from(closing)..];
        let length = named.iter().take(20).take_while(|byte| byte.is_ascii_alphanumeric()).count();
        let name = std::str::from_utf8(&named[..length]).unwrap_or_default().to_ascii_lowercase();
        let Some((name, tag)) = tag(&name, closing) else {
            self.at += 1;
            return;
        };
        // The word must end there: `<preface>` is a word in angle brackets.
        let attributes = &named[length..];
        let end = attributes.iter().take(TAG_LENGTH).position(|byte| matches!(byte, b'>' | b'<'));
        let Some(end) = end.filter(|end| attributes[*end] == b'>') else {
            self.at += 1;
            return;
        };
        let empty = attributes[..end].ends_with(b"/");
        let whole = 1 + usize::from(closing) + length + end + 1;
        match tag {
            Tag::Replaced(text) => self.push(whole, Kind::Replaced(text)),
            _ if closing || empty => self.push(whole, Kind::Replaced("")),
            Tag::Dropped => self.dropped(name, whole),
            Tag::Literal | Tag::Code | Tag::Preformatted => {
                let attributes = self.at + 1 + length..self.at + whole - 1;
                self.verbatim(name, tag, whole, attributes);
            }
        }
    }

    /// A tag that is dropped with its content, or alone if it is opened again or a heading comes before it is closed.
    fn dropped(&mut self, name: &'static str, whole: usize) {
        let body = self.at + whole;
        let end = self.closing_tag(name, body).filter(|end| {
            let mut inside = &self.source[body..*end];
            // Both are searched at once, so that the same text is not searched for every tag in it.
            while let Some(next) = inside.find(['<', '\n']) {
                let after = &inside[next + 1..];
                let again = begins_with(after, name)
                    && !after[name.len()..].starts_with(|next: char| next.is_ascii_alphanumeric())
                    && !is_empty_tag(after);
                if inside.as_bytes()[next] == b'<' && again
                    || inside.as_bytes()[next] == b'\n'
                        && after.starts_with("==")
                        && after.lines().next().is_some_and(is_heading)
                {
                    return false;
                }
                inside = after;
            }
            true
        });
        let length = end.map_or(whole, |end| end - self.at + self.tag_length(end));
        self.push(length, Kind::Replaced(""));
    }

    /// A tag whose content is kept verbatim. Without a closing tag, it is dropped alone.
    fn verbatim(&mut self, name: &'static str, tag: Tag, whole: usize, attributes: Range<usize>) {
        let body = self.at + whole;
        let Some(end) = self.closing_tag(name, body) else {
            return self.push(whole, Kind::Replaced(""));
        };
        let inside = &self.source[body..end];
        let inline = self.source[attributes.clone()].split_ascii_whitespace().any(|word| word.starts_with("inline"));
        let block = match tag {
            Tag::Preformatted => true,
            Tag::Code => !inline && inside.contains('\n'),
            _ => false,
        };
        let language = language(&self.source[attributes.clone()]);
        let language = language.map(|found| attributes.start + found.start..attributes.start + found.end);
        let kind = Kind::Verbatim { body: body..end, block, language, entities: tag != Tag::Code };
        let length = end - self.at + self.tag_length(end);
        self.push(length, kind);
    }

    /// Length of the closing tag at `end`.
    fn tag_length(&self, end: usize) -> usize {
        let rest = &self.bytes[end..];
        rest.iter().take(TAG_LENGTH).position(|byte| *byte == b'>').map_or(rest.len(), |length| length + 1)
    }

    fn closing_tag(&mut self, name: &'static str, from: usize) -> Option<usize> {
        self.closing(name, from, |source, mut from| {
            while let Some(found) = source[from..].find("</") {
                let place = from + found;
                let after = &source[place + 2..];
                let named = begins_with(after, name);
                if named && after[name.len()..].trim_start().starts_with('>') {
                    return Some(place);
                }
                from = place + 2;
            }
            None
        })
    }

    /// The position of the next `name` from `from` on. A search result serves until it is passed.
    fn closing(
        &mut self,
        name: &'static str,
        from: usize,
        find: impl Fn(&str, usize) -> Option<usize>,
    ) -> Option<usize> {
        match self.closings.get(name) {
            Some(None) => None,
            Some(Some(known)) if *known >= from => Some(*known),
            _ => {
                let found = find(self.source, from);
                self.closings.insert(name, found);
                found
            }
        }
    }
}

/// `ref name="x" />`: an empty tag.
fn is_empty_tag(after: &str) -> bool {
    let end = after.bytes().take(TAG_LENGTH).position(|byte| matches!(byte, b'>' | b'<'));
    end.is_some_and(|end| after[..end].ends_with('/'))
}

/// `== Text ==`, with only white space or a comment behind it.
fn is_heading(line: &str) -> bool {
    let line = line.split_once("<!--").map_or(line, |(line, _)| line).trim_end();
    line.len() > 4 && line.starts_with("==") && line.ends_with("==")
}

/// The value of `lang=…` among attributes.
fn language(attributes: &str) -> Option<Range<usize>> {
    let start = attributes.find("lang=")? + "lang=".len();
    let quoted = attributes[start..].trim_start_matches(['"', '\'']);
    let start = attributes.len() - quoted.len();
    let end = quoted.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || b"+-_#.".contains(byte)).count();
    (end > 0).then_some(start..start + end)
}

// Tags of HTML and of a wiki's extensions, with their treatment.

/// The treatment of a tag.
#[derive(Clone, Copy, PartialEq)]
enum Tag {
    /// It is dropped with its content.
    Dropped,
    /// Its content is kept verbatim, within its line.
    Literal,
    /// Its content is kept verbatim, in a block of its own if it has several lines.
    Code,
    /// Its content is kept verbatim except for entities, in a block of its own.
    Preformatted,
    /// It is replaced by this text.
    Replaced(&'static str),
}

/// Extensions and elements whose content is not text of the page.
const DROPPED: &str = "\
    ref gallery timeline imagemap templatedata score graph mapframe maplink includeonly hiero inputbox categorytree \
    style script indicator dynamicpagelist";

/// Elements within a line, and marks of an extension around text.
const INLINE: &str = "\
    b i u s em strong small big sub sup span font code tt kbd var samp del ins abbr cite dfn mark q bdi bdo ruby rt \
    rp rb wbr strike noinclude onlyinclude translate languages tvar time data references templatestyles section nobr";

/// Elements on lines of their own.
const BLOCKS: &str = "\
    p div blockquote center table tbody thead tr caption ul ol dl dt dd h1 h2 h3 h4 h5 h6 hr poem tabs tab tabber";

/// The treatment of the tag `name`, in lower case; `None` for a word in angle brackets that wikis do not know.
fn tag(name: &str, closing: bool) -> Option<(&'static str, Tag)> {
    let kinds = [
        (DROPPED, Tag::Dropped),
        ("nowiki math chem ce", Tag::Literal),
        ("syntaxhighlight source", Tag::Code),
        ("pre", Tag::Preformatted),
        (INLINE, Tag::Replaced("")),
        (BLOCKS, Tag::Replaced("\n")),
        ("br td th", Tag::Replaced(" ")),
        ("li", Tag::Replaced(if closing { "\n" } else { "\n* " })),
    ];
    kinds.into_iter().find_map(|(names, tag)| Some((names.split(' ').find(|known| *known == name)?, tag)))
}

/// Words between underscores that are switches of the wiki rather than names.
const SWITCHES: &str = "\
    NOTOC FORCETOC TOC NOEDITSECTION NEWSECTIONLINK NONEWSECTIONLINK NOGALLERY HIDDENCAT INDEX NOINDEX \
    STATICREDIRECT NOTITLECONVERT NOCONTENTCONVERT NOTC NOCC DISAMBIG EXPECTUNUSEDCATEGORY";

// Entities: `&amp;`, `&#65;`, `&#x41;`.

/// The longest name of an entity.
const NAME_LENGTH: usize = 32;

/// Replaces entities, and leaves text that only looks like one.
pub fn decode(text: &str, out: &mut String) {
    let mut rest = text;
    while let Some(start) = rest.find('&') {
        out.push_str(&rest[..start]);
        rest = &rest[start..];
        let name =
            rest.bytes().skip(1).take(NAME_LENGTH).position(|byte| !byte.is_ascii_alphanumeric() && byte != b'#');
        let entity =
            name.filter(|length| rest.as_bytes().get(length + 1) == Some(&b';')).map(|length| &rest[1..=length]);
        match entity.and_then(resolve) {
            Some(decoded) => {
                out.push_str(&decoded);
                rest = &rest[entity.map_or(1, |name| name.len() + 2)..];
            }
            None => {
                out.push('&');
                rest = &rest[1..];
            }
        }
    }
    out.push_str(rest);
}

fn resolve(name: &str) -> Option<String> {
    let code = match name.strip_prefix('#') {
        Some(code) => match code.strip_prefix(['x', 'X']) {
            Some(code) => u32::from_str_radix(code, 16).ok()?,
            None => code.parse().ok()?,
        },
        // A space that does not break is a space.
        None if matches!(name, "nbsp" | "ensp" | "emsp" | "thinsp") => return Some(" ".to_owned()),
        None if matches!(name, "shy" | "zwnj" | "zwj" | "lrm" | "rlm") => return Some(String::new()),
        None => return resolve_html5_entity(name).map(str::to_owned),
    };
    let character =
        char::from_u32(code).filter(|character| !character.is_control() || matches!(character, '\t' | '\n'))?;
    Some(if character == '\u{a0}' { " ".to_owned() } else { character.to_string() })
}
