//! From segments to passages.

use std::ops::Range;

use tree_sitter::Tree;

use super::boundaries::Boundaries;
use super::fingerprint::combined;
use super::grammar::Naming;
use super::item::{Item, ItemKind};
use super::segments::Segment;
use super::signature::signature;
use crate::document::{Passage, SYMBOL_SEPARATOR};
use crate::lines::Lines;
use crate::pack::{Piece, pack};
use crate::read::passage;
use crate::{Kind, Role};

/// All that passages are made of.
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
                    for (index, piece) in pieces.iter().enumerate() {
                        passages.push(self.passage(segment, piece, segment.head && index == 0));
                    }
                }
            }
        }
        passages
    }

    fn is_large(&self, segment: &Segment) -> bool {
        self.lines.tokens(segment.first, segment.last) > self.max_tokens
    }

    /// `head` says that the definition's own beginning is part of the piece.
    fn passage(&self, segment: &Segment, piece: &Piece, head: bool) -> Passage {
        let mut passage = passage(self.lines, piece, Kind::Module, self.role);
        let Some(index) = segment.item else {
            return passage;
        };
        let item = &self.items[index];
        passage.kind =
            item.passage_kind(item.parent.map(|parent| self.items[parent].kind), self.naming.modules_have_methods);
        if item.test && self.role == Role::Main {
            passage.role = Role::Test;
        }
        let names = std::iter::once(&index).chain(&segment.others).map(|index| self.items[*index].symbol.as_str());
        passage.symbol = Some(names.collect::<Vec<_>>().join(SYMBOL_SEPARATOR));
        let others = segment.others.iter().map(|index| self.items[*index].signature);
        let signature = match segment.others.is_empty() {
            true => item.signature,
            false => combined(std::iter::once(item.signature).chain(others)),
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
