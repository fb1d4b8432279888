//! Places to cut a definition that is too large: the statements of its syntax tree.

use std::ops::Range;

use tree_sitter::{Node, Tree};

use crate::bound;
use crate::lines::Lines;

/// The badness of each line as the beginning of a piece: the depth of the statement that begins there.
pub(super) struct Boundaries {
    depths: Vec<u8>,
}

/// A line that only continues something else.
const WITHIN: u8 = 250;
/// A line after a comment, which belongs to the line.
const AFTER_COMMENT: u8 = 200;

impl Boundaries {
    /// Looks only into those nodes that span several lines and touch one of `parts`, which are ranges of bytes in
    /// ascending order.
    pub(super) fn new(tree: &Tree, lines: &Lines<'_>, leads: &[bool], parts: &[Range<usize>]) -> Self {
        let mut depths = vec![WITHIN; lines.count()];
        let touches = |node: Node<'_>| {
            let part = parts.partition_point(|part| part.end <= node.start_byte());
            parts.get(part).is_some_and(|part| part.start < node.end_byte())
        };
        let mut cursor = tree.walk();
        let mut depth = 0_u8;
        'walk: loop {
            let node = cursor.node();
            if bound::is_exceeded() {
                break;
            }
            if node.is_named() {
                note(&mut depths, lines, node, depth);
            }
            let several = node.start_position().row < node.end_position().row;
            if several && touches(node) && cursor.goto_first_child() {
                depth = depth.saturating_add(1);
                continue;
            }
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    break 'walk;
                }
                depth = depth.saturating_sub(1);
            }
        }
        for row in 1..depths.len() {
            if leads[row - 1] {
                depths[row] = depths[row].max(AFTER_COMMENT);
            }
        }
        Self { depths }
    }

    /// Shallow statements first, and of those the ones after a blank line.
    pub(super) fn badness(&self, lines: &Lines<'_>, row: usize) -> u32 {
        u32::from(self.depths[row]) * 2 + u32::from(!lines.is_blank(row - 1))
    }
}

/// Records a node if it is the first one on its line.
fn note(depths: &mut [u8], lines: &Lines<'_>, node: Node<'_>, depth: u8) {
    let row = node.start_position().row;
    if row < depths.len() && depth < depths[row] {
        let before = &lines.text[lines.start(row)..node.start_byte()];
        if before.trim_ascii_end().is_empty() {
            depths[row] = depth.min(AFTER_COMMENT - 1);
        }
    }
}
