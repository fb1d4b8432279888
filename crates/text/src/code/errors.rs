//! How much of a file the parser could not read.

use tree_sitter::Tree;

use crate::lines::Lines;

/// Above this share of lines with errors a file is not taken for what its name says.
const SHARE: f64 = 0.4;

/// The lines that errors cover.
pub(super) fn lines(tree: &Tree) -> usize {
    let root = tree.root_node();
    if !root.has_error() {
        return 0;
    }
    let mut cursor = tree.walk();
    let mut count = 0;
    // Errors come in the order of the text: the line up to which they are counted.
    let mut counted = 0;
    loop {
        let node = cursor.node();
        if (node.is_error() && node.id() != root.id()) || node.is_missing() {
            let first = node.start_position().row.max(counted);
            let after = node.end_position().row + 1;
            count += after.saturating_sub(first);
            counted = counted.max(after);
        } else if node.has_error() && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return count;
            }
        }
    }
}

pub(super) fn are_too_many(errors: usize, lines: &Lines<'_>) -> bool {
    let filled = (0..lines.count()).filter(|row| !lines.is_blank(*row)).count();
    errors > 1 && errors as f64 > filled as f64 * SHARE
}
