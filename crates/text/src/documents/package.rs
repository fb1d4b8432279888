//! The parts of an office file in Microsoft's formats, which name each other in lists of relations.

use std::collections::HashMap;

use super::archive::Archive;
use super::xml::{self, Node};
use crate::Skip;

/// The first bytes of the format of old office files and of encrypted new ones.
pub(super) const COMPOUND_FILE: &[u8] = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1";

/// Most parts that a part is related to or lists, and the longest name of one, in bytes.
const MAX_PARTS: usize = 5_000;
const MAX_NAME: usize = 1_000;

pub(super) struct Package<'bytes> {
    pub(super) archive: Archive<'bytes>,
}

impl<'bytes> Package<'bytes> {
    pub(super) fn open(bytes: &'bytes [u8]) -> Result<Self, Skip> {
        if bytes.starts_with(COMPOUND_FILE) {
            return Err(Skip::Encrypted);
        }
        Ok(Self { archive: Archive::open(bytes)? })
    }

    /// The main part; `usual` if the file does not name it.
    pub(super) fn main(&mut self, usual: &str) -> String {
        let named = self.relations("").into_iter().find(|relation| relation.is("officeDocument"));
        named.map_or_else(|| usual.to_owned(), |relation| relation.target)
    }

    /// The parts that a part is related to in this way, in the order of the list; if there are none, the one that is named for it.
    pub(super) fn related(&mut self, part: &str, kind: &str) -> Vec<String> {
        let related =
            self.relations(part).into_iter().filter(|relation| relation.is(kind)).map(|relation| relation.target);
        let related: Vec<String> = related.collect();
        if related.is_empty() { vec![xml::resolved(directory(part), &format!("{kind}.xml"))] } else { related }
    }

    /// The names and parts that the main part lists in elements of this kind, in its order.
    pub(super) fn listed(&mut self, main: &str, content: &[u8], element: &str) -> Result<Vec<(String, String)>, Skip> {
        let mut targets: HashMap<String, String> = HashMap::new();
        for relation in self.relations(main) {
            targets.entry(relation.id).or_insert(relation.target);
        }
        let mut listed = Vec::new();
        xml::walk(content, |node| {
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
        let Some(list) = self.archive.optional(&list) else { return relations };
        // A list that breaks off still has its first relations.
        let _ = xml::walk(&list, |node| {
            if let Node::Start("Relationship", attributes) = node
                && relations.len() < MAX_PARTS
                && let (Some(kind), Some(target)) = (attributes.get("Type"), attributes.get("Target"))
                && attributes.get("TargetMode").is_none_or(|mode| mode != "External")
            {
                let target = match target.strip_prefix('/') {
                    Some(whole) => xml::resolved("", whole),
                    None => xml::resolved(directory, &target),
                };
                if target.len() <= MAX_NAME {
                    relations.push(Relation { id: attributes.get("Id").unwrap_or_default(), kind, target });
                }
            }
        });
        relations
    }
}

fn directory(part: &str) -> &str {
    part.rsplit_once('/').map_or("", |(directory, _)| directory)
}

/// A relation to another part.
pub(super) struct Relation {
    id: String,
    kind: String,
    target: String,
}

impl Relation {
    fn is(&self, kind: &str) -> bool {
        self.kind.rsplit('/').next() == Some(kind)
    }
}
