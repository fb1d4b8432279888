//! The parts of office files and books: files in a ZIP archive, each read whole within what the archive may unpack to, their XML
//! as a row of events, and the relations among them.

use std::collections::HashMap;
use std::io::{Cursor, Read};
use std::str::FromStr;

use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};
use zip::ZipArchive;
use zip::result::ZipError;

use super::Extracted;
use super::body::Body;
use crate::decode::decode;
use crate::lines::{file_name, unescaped};
use crate::{Skip, limits};

/// Most bytes that all files read from an archive may have together. Sizes are counted as they are unpacked, whatever the archive
/// says.
const MAX_UNPACKED: u64 = 64 << 20;

/// Most files in an archive, and what the entry of one in its directory begins with.
const MAX_FILES: usize = 20_000;
const ENTRY: &[u8] = b"PK\x01\x02";

pub struct Archive<'bytes> {
    zip: ZipArchive<Cursor<&'bytes [u8]>>,
    /// The places of the files by their names in the form of [`key`].
    places: HashMap<String, usize>,
    left: u64,
}

impl<'bytes> Archive<'bytes> {
    pub fn open(bytes: &'bytes [u8]) -> Result<Self, Skip> {
        // Listing a file takes ten times what its entry does.
        let entries = bytes.windows(ENTRY.len()).filter(|window| *window == ENTRY).take(MAX_FILES + 1);
        if entries.count() > MAX_FILES {
            return Err(Skip::TooLarge);
        }
        let zip = ZipArchive::new(Cursor::new(bytes)).map_err(|_| Skip::Damaged)?;
        let mut places = HashMap::new();
        for (place, name) in zip.file_names().enumerate() {
            if let Ok(name) = name {
                places.entry(key(&name)).or_insert(place);
            }
        }
        Ok(Self { zip, places, left: MAX_UNPACKED })
    }

    /// The content of a file; `None` if there is none of this name.
    pub fn read(&mut self, name: &str) -> Result<Option<Vec<u8>>, Skip> {
        let Some(place) = self.places.get(&key(name)) else { return Ok(None) };
        let mut file = match self.zip.by_index(*place) {
            Ok(file) => file,
            Err(ZipError::FileNotFound) => return Ok(None),
            Err(ZipError::UnsupportedArchive(reason)) if reason == ZipError::PASSWORD_REQUIRED => {
                return Err(Skip::Encrypted);
            }
            Err(_) => return Err(Skip::Damaged),
        };
        if file.size() > self.left {
            return Err(Skip::TooLarge);
        }
        let mut content = Vec::with_capacity(usize::try_from(file.size()).unwrap_or(0));
        file.by_ref().take(self.left + 1).read_to_end(&mut content).map_err(|_| Skip::Damaged)?;
        let size = content.len() as u64;
        self.left = self.left.checked_sub(size).ok_or(Skip::TooLarge)?;
        Ok(Some(content))
    }

    /// The content of a file that a document can do without, if it is there and can be read.
    pub fn optional(&mut self, name: &str) -> Option<Vec<u8>> {
        self.read(name).ok().flatten()
    }

    /// The names of all files with slashes, in the order of the archive.
    pub fn names(&self) -> Vec<String> {
        self.zip.file_names().flatten().map(|name| name.replace('\\', "/")).collect()
    }

    pub fn has(&self, name: &str) -> bool {
        self.places.contains_key(&key(name))
    }

    /// The content of a file that the format requires.
    pub fn require(&mut self, name: &str) -> Result<Vec<u8>, Skip> {
        self.read(name)?.ok_or(Skip::Damaged)
    }
}

/// Takes the title of a document from the description of this name.
pub fn entitle(archive: &mut Archive<'_>, description: &str, extracted: &mut Extracted) {
    if let Some(title) = archive.optional(description).and_then(|xml| text_of(&xml, "title")) {
        extracted.entitle(&title);
    }
}

/// A name in the form that all spellings of it share. Some programs write backslashes, or other letters than the list of parts has.
fn key(name: &str) -> String {
    let name = name.replace('\\', "/").to_lowercase();
    name.trim_start_matches("./").trim_start_matches('/').to_owned()
}

// XML as a row of events. Nothing is nested here, so depth costs no stack, and only the five entities of XML are known: what a
// document defines itself is left out.

/// The text of a format, as its reader sees it.
pub enum Node<'a> {
    /// An element begins: its name without the namespace, and its attributes. An empty one ends right after.
    Start(&'a str, &'a Attributes<'a>),
    /// Text between tags.
    Text(&'a str),
    /// An element ends.
    End(&'a str),
}

/// The attributes of an element.
pub struct Attributes<'a>(&'a BytesStart<'a>);

impl Attributes<'_> {
    /// The value of an attribute, by its name without the namespace.
    pub fn get(&self, name: &str) -> Option<String> {
        self.values(name).next()
    }

    /// The values of all attributes of this name, which can be in several namespaces.
    pub fn all(&self, name: &str) -> Vec<String> {
        self.values(name).collect()
    }

    /// The value of an attribute that can be read as such a value.
    pub fn parsed<T: FromStr>(&self, name: &str) -> Option<T> {
        self.get(name)?.parse().ok()
    }

    fn values(&self, name: &str) -> impl Iterator<Item = String> {
        let mut attributes = self.0.attributes();
        attributes.with_checks(false);
        let found = attributes.flatten().filter(move |attribute| attribute.key.local_name().into_inner() == name);
        found.filter_map(|one| one.normalized_value(XmlVersion::Implicit1_0).ok().map(std::borrow::Cow::into_owned))
    }
}

/// Calls `each` for every part of a document, in order. A document that breaks off is damaged.
pub fn walk(bytes: &[u8], mut each: impl FnMut(Node<'_>)) -> Result<(), Skip> {
    let (text, _) = decode(bytes);
    let mut reader = Reader::from_str(&text);
    let mut depth = 0_usize;
    loop {
        if limits::is_exceeded() {
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
fn text_of(bytes: &[u8], wanted: &str) -> Option<String> {
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
pub fn resolved(directory: &str, file: &str) -> String {
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
    String::from_utf8_lossy(&unescaped(parts.join("/").as_bytes(), b'%')).into_owned()
}

// The parts of an office file in Microsoft's formats, which name each other in lists of relations.

/// The first bytes of the format of old office files and of encrypted new ones.
pub const COMPOUND_FILE: &[u8] = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1";

/// Most parts that a part is related to or lists, and the longest name of one, in bytes.
const MAX_PARTS: usize = 5_000;
const MAX_NAME: usize = 1_000;

impl<'bytes> Archive<'bytes> {
    /// Opens an office file.
    pub fn open_office(bytes: &'bytes [u8]) -> Result<Self, Skip> {
        if bytes.starts_with(COMPOUND_FILE) { Err(Skip::Encrypted) } else { Self::open(bytes) }
    }

    /// The main part; `usual` if the file does not name it.
    pub fn main(&mut self, usual: &str) -> String {
        let named = self.relations("").into_iter().find(|relation| relation.is("officeDocument"));
        named.map_or_else(|| usual.to_owned(), |relation| relation.target)
    }

    /// The parts that a part is related to in this way, in the order of the list; if there are none, the one that is named for it.
    pub fn related(&mut self, part: &str, kind: &str) -> Vec<String> {
        let relations = self.relations(part).into_iter().filter(|relation| relation.is(kind));
        let related: Vec<String> = relations.map(|relation| relation.target).collect();
        if related.is_empty() { vec![resolved(directory(part), &format!("{kind}.xml"))] } else { related }
    }

    /// The content of each part that a part is related to in this way, as far as it can be read.
    pub fn each(&mut self, part: &str, kind: &str) -> impl Iterator<Item = Vec<u8>> {
        self.related(part, kind).into_iter().filter_map(|name| self.optional(&name))
    }

    /// The names and parts that the main part lists in elements of this kind, in its order.
    pub fn listed(&mut self, main: &str, content: &[u8], element: &str) -> Result<Vec<(String, String)>, Skip> {
        let mut targets: HashMap<String, String> = HashMap::new();
        for relation in self.relations(main) {
            targets.entry(relation.id).or_insert(relation.target);
        }
        let mut listed = Vec::new();
        walk(content, |node| {
            if let Node::Start(name, attributes) = node
                && name == element
                && listed.len() < MAX_PARTS
            {
                let target = attributes.all("id").iter().find_map(|id| targets.get(id));
                listed.extend(target.map(|part| (attributes.get("name").unwrap_or_default(), part.clone())));
            }
        })?;
        Ok(listed)
    }

    /// All relations of a part to others of the file; the file's own for an empty name.
    fn relations(&mut self, part: &str) -> Vec<Relation> {
        let (directory, name) = part.rsplit_once('/').unwrap_or(("", part));
        let list =
            if directory.is_empty() { format!("_rels/{name}.rels") } else { format!("{directory}/_rels/{name}.rels") };
        let mut relations = Vec::new();
        let Some(list) = self.optional(&list) else { return relations };
        // A list that breaks off still has its first relations.
        let _ = walk(&list, |node| {
            if let Node::Start("Relationship", attributes) = node
                && relations.len() < MAX_PARTS
                && let (Some(kind), Some(target)) = (attributes.get("Type"), attributes.get("Target"))
                && attributes.get("TargetMode").is_none_or(|mode| mode != "External")
            {
                let target = match target.strip_prefix('/') {
                    Some(whole) => resolved("", whole),
                    None => resolved(directory, &target),
                };
                if target.len() <= MAX_NAME {
                    relations.push(Relation { id: attributes.get("Id").unwrap_or_default(), kind, target });
                }
            }
        });
        relations
    }
}

pub fn directory(part: &str) -> &str {
    part.rsplit_once('/').map_or("", |(directory, _)| directory)
}

/// A relation to another part.
struct Relation {
    id: String,
    kind: String,
    target: String,
}

impl Relation {
    fn is(&self, kind: &str) -> bool {
        file_name(&self.kind) == kind
    }
}

// The text of charts and diagrams, which office files hold in parts of their own.

/// Most charts and diagrams of a part.
const MAX_DRAWINGS: usize = 1_000;

/// Adds the text of the charts and diagrams that a part shows: titles, names of series and categories, but no figures. One that
/// cannot be read costs nothing.
pub fn add_drawings(archive: &mut Archive<'_>, part: &str, extracted: &mut Extracted) {
    for kind in ["diagramData", "chart", "chartEx"] {
        archive.each(part, kind).take(MAX_DRAWINGS).for_each(|content| add_drawing(&content, extracted));
    }
}

/// Adds the text of a drawing.
pub fn add_drawing(xml: &[u8], extracted: &mut Extracted) {
    let mut body = Body::new(extracted);
    // Names of categories are in a list of strings, which stands beside lists of numbers.
    let (mut text, mut listed) = (false, false);
    let _ = walk(xml, |node| match node {
        Node::Start("strCache" | "strDim", _) => listed = true,
        Node::End("strCache" | "strDim") => listed = false,
        Node::Start("p", _) => body.begin(None, false),
        Node::End("p") => body.end(),
        Node::Start("v" | "pt", _) if listed => {
            body.begin(None, false);
            text = true;
        }
        Node::End("v" | "pt") if listed => {
            body.end();
            text = false;
        }
        Node::Start("t", _) => text = true,
        Node::End("t") => text = false,
        Node::Text(part) if text => body.text(part),
        Node::Start("br", _) => body.text("\n"),
        _ => {}
    });
}

#[cfg(test)]
mod tests {
    use super::resolved;

    #[test]
    fn names_are_relative_to_a_directory() {
        assert_eq!(resolved("OEBPS", "text/one.xhtml#a"), "OEBPS/text/one.xhtml");
        assert_eq!([resolved("OEBPS/x", "../a%20b.xhtml"), resolved("", "../../a%")], ["OEBPS/a b.xhtml", "a%"]);
    }
}
