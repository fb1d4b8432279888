//! XML as a row of events. Nothing is nested here, so depth costs no stack, and only the five entities of XML are known: what a
//! document defines itself is left out.

use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

use crate::Skip;
use crate::bound;
use crate::decode::decode;

/// The text of a format, as its reader sees it.
pub(super) enum Node<'a> {
    /// An element begins: its name without the namespace, and its attributes. An empty one ends right after.
    Start(&'a str, &'a Attributes<'a>),
    /// Text between tags.
    Text(&'a str),
    /// An element ends.
    End(&'a str),
}

/// The attributes of an element.
pub(super) struct Attributes<'a>(&'a BytesStart<'a>);

impl Attributes<'_> {
    /// The value of an attribute, by its name without the namespace.
    pub(super) fn get(&self, name: &str) -> Option<String> {
        self.values(name).next()
    }

    /// The values of all attributes of this name, which can be in several namespaces.
    pub(super) fn all(&self, name: &str) -> Vec<String> {
        self.values(name).collect()
    }

    fn values(&self, name: &str) -> impl Iterator<Item = String> {
        let mut attributes = self.0.attributes();
        attributes.with_checks(false);
        let found = attributes.flatten().filter(move |attribute| attribute.key.local_name().into_inner() == name);
        found.filter_map(|one| one.normalized_value(XmlVersion::Implicit1_0).ok().map(std::borrow::Cow::into_owned))
    }
}

/// Calls `each` for every part of a document, in order. A document that breaks off is damaged.
pub(super) fn walk(bytes: &[u8], mut each: impl FnMut(Node<'_>)) -> Result<(), Skip> {
    let (text, _) = decode(bytes);
    let mut reader = Reader::from_str(&text);
    let mut depth = 0_usize;
    loop {
        if bound::is_exceeded() {
            return Err(Skip::TooMuchWork);
        }
        match reader.read_event().map_err(|_| Skip::Damaged)? {
            Event::Start(element) => {
                depth += 1;
                each(Node::Start(element.local_name().into_inner(), &Attributes(&element)));
            }
            Event::Empty(element) => {
                let name = element.local_name().into_inner();
                each(Node::Start(name, &Attributes(&element)));
                each(Node::End(name));
            }
            Event::End(element) => {
                depth = depth.checked_sub(1).ok_or(Skip::Damaged)?;
                each(Node::End(element.local_name().into_inner()));
            }
            Event::Text(text) => each(Node::Text(&text)),
            Event::CData(text) => each(Node::Text(&text)),
            Event::GeneralRef(reference) => match reference.resolve_char_ref() {
                Ok(Some(character)) => each(Node::Text(character.encode_utf8(&mut [0; 4]))),
                _ => {
                    if let Some(text) = quick_xml::escape::resolve_predefined_entity(&reference) {
                        each(Node::Text(text));
                    }
                }
            },
            Event::Eof if depth == 0 => return Ok(()),
            Event::Eof => return Err(Skip::Damaged),
            _ => {}
        }
    }
}

/// The text of the first element of this name.
pub(super) fn text_of(bytes: &[u8], wanted: &str) -> Option<String> {
    let (mut inside, mut done, mut found) = (false, false, String::new());
    let walked = walk(bytes, |node| match node {
        Node::Start(name, _) if name == wanted => inside = !done,
        Node::End(name) if name == wanted => {
            done |= inside;
            inside = false;
        }
        Node::Text(text) if inside => found.push_str(text),
        _ => {}
    });
    walked.ok().map(|()| found).filter(|found| !found.trim().is_empty())
}

/// The name in the archive of a file that another names: relative to the directory of that, with `%20` for a space.
pub(super) fn resolved(directory: &str, file: &str) -> String {
    let file = file.split('#').next().unwrap_or_default();
    let mut parts: Vec<&str> = directory.split('/').filter(|part| !part.is_empty()).collect();
    for part in file.split(['/', '\\']) {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    let bytes = parts.join("/").into_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let digits = bytes.get(at + 1..at + 3).and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.filter(|_| bytes[at] == b'%').and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                decoded.push(byte);
                at += 3;
            }
            None => {
                decoded.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

#[cfg(test)]
mod tests {
    use super::resolved;

    #[test]
    fn names_are_relative_to_a_directory() {
        assert_eq!(resolved("OEBPS", "text/one.xhtml#a"), "OEBPS/text/one.xhtml");
        assert_eq!(resolved("OEBPS/x", "../a%20b.xhtml"), "OEBPS/a b.xhtml");
        assert_eq!(resolved("", "../../a%"), "a%");
    }
}
