//! Turns segments into passages.

use std::ops::Range;

use tree_sitter::Tree;

use super::boundaries::Boundaries;
use super::fingerprint::combined;
use super::item::{Item, ItemKind};
use super::segments::Segment;
use super::signature::signature;
use crate::document::{Passage, SYMBOL_SEPARATOR};
use crate::languages::grammar::Naming;
use crate::lines::Lines;
use crate::pack::{Piece, pack};
use crate::{Kind, Role};

/// Everything needed to make passages.
pub(super) struct Emission<'a> {
    pub(super) tree: &'a Tree,
    pub(super) lines: &'a Lines<'a>,
    pub(super) items: &'a [Item],
    pub(super) leads: &'a [bool],
    pub(super) max_tokens: usize,
    pub(super) role: Role,
    pub(super) naming: &'a Naming,
}

impl Emission<'_> {
    pub(super) fn passages(&self, segments: &[Segment]) -> Vec<Passage> {
        let large: Vec<Range<usize>> = segments
            .iter()
            .filter(|segment| self.is_large(segment))
            .map(|segment| self.lines.start(segment.first)..self.lines.start(segment.last + 1))
            .collect();
        let boundaries = (!large.is_empty()).then(|| Boundaries::new(self.tree, self.lines, self.leads, &large));
        let mut passages = Vec::with_capacity(segments.len());
        for segment in segments {
            match boundaries.as_ref().filter(|_| self.is_large(segment)) {
                None => {
                    let piece = Piece { first: segment.first, last: segment.last, part: None };
                    passages.push(self.passage(segment, &piece, segment.head));
                }
                Some(boundaries) => {
                    let rows = (segment.first, segment.last);
                    let begin = |row: usize| boundaries.badness(self.lines, row);
                    let pieces = pack(self.lines, rows, self.lines.token_sums(), self.max_tokens, begin);
                    self.pieces(segment, &pieces, &mut passages);
                }
            }
        }
        passages
    }

    /// The passages of a segment that is too large for one. Each is about the definitions of which it holds a part, so that
    /// together they do not repeat names more often than the text.
    fn pieces(&self, segment: &Segment, pieces: &[Piece], passages: &mut Vec<Passage>) {
        let members: Vec<usize> = segment.item.into_iter().chain(segment.others.iter().copied()).collect();
        let mut from = 0;
        for (index, piece) in pieces.iter().enumerate() {
            let bytes = self.bytes(piece);
            if members.len() <= 1 {
                let head = segment.head && index == 0;
                passages.push(self.passage_of(&members, piece, &bytes, head));
                continue;
            }
            // The definitions of a segment follow each other.
            while members.get(from).is_some_and(|member| self.items[*member].bytes.end <= bytes.start) {
                from += 1;
            }
            let rest = members.get(from..).unwrap_or_default();
            let count = rest.iter().take_while(|member| self.items[**member].bytes.start < bytes.end).count();
            let here = &rest[..count];
            let head = here.first().is_some_and(|first| self.items[*first].bytes.start >= bytes.start);
            passages.push(self.passage_of(here, piece, &bytes, head));
        }
    }

    fn bytes(&self, piece: &Piece) -> Range<usize> {
        piece.part.clone().unwrap_or_else(|| self.lines.start(piece.first)..self.lines.start(piece.last + 1))
    }

    fn is_large(&self, segment: &Segment) -> bool {
        self.lines.tokens(segment.first, segment.last) > self.max_tokens
    }

    fn passage(&self, segment: &Segment, piece: &Piece, head: bool) -> Passage {
        let members: Vec<usize> = segment.item.into_iter().chain(segment.others.iter().copied()).collect();
        self.passage_of(&members, piece, &(0..usize::MAX), head)
    }

    /// A passage of these definitions, named after their names within `bytes`. `head`: the first one's own
    /// beginning is in the piece.
    fn passage_of(&self, members: &[usize], piece: &Piece, bytes: &Range<usize>, head: bool) -> Passage {
        let mut passage = piece.passage(self.lines, Kind::Module, self.role);
        let Some(item) = members.first().map(|first| &self.items[*first]) else {
            return passage;
        };
        passage.kind =
            item.passage_kind(item.parent.map(|parent| self.items[parent].kind), self.naming.modules_have_methods);
        if item.test && self.role == Role::Main {
            passage.role = Role::Test;
        }
        let names = members.iter().flat_map(|member| self.items[*member].names_in(bytes));
        passage.symbol = Some(names.collect::<Vec<_>>().join(SYMBOL_SEPARATOR));
        let signature = match members {
            [_] => item.signature,
            _ => combined(members.iter().map(|member| self.items[*member].signature)),
        };
        passage.signature = Some(format!("{signature:016x}"));
        let mut context: Vec<String> = Vec::new();
        context.extend(self.enclosing(item).map(|enclosing| self.signature(enclosing)));
        if !head {
            context.push(self.signature(item));
        }
        context.retain(|line| !line.is_empty() && !passage.text.contains(line.as_str()));
        passage.context = Some(context.join("\n")).filter(|context| !context.is_empty());
        passage
    }

    /// The nearest definition around an item that says more than its name: not a module.
    fn enclosing(&self, item: &Item) -> Option<&Item> {
        let mut parent = item.parent;
        while let Some(index) = parent {
            let item = &self.items[index];
            if item.kind != ItemKind::Module {
                return Some(item);
            }
            parent = item.parent;
        }
        None
    }

    fn signature(&self, item: &Item) -> String {
        signature(&self.lines.text[item.head..item.bytes.end], self.naming.ends)
    }
}
