//! The part of a file that the parser could not read.

use tree_sitter::Tree;

use crate::bound;
use crate::lines::Lines;

/// Share of lines with errors above which a file is not in the language of its name.
const SHARE: f64 = 0.4;
/// Share of lines with errors that macros and dialects leave in many C files.
const NOTED_SHARE: f64 = 0.05;

/// A single error of more parts than this takes a query time that is quadratic in their number: it looks for a named
/// sibling after each of them.
const PARTS: u32 = 2_000;

/// The number of lines with errors; `None` if a query of the tree, or counting them, would take too long.
pub(super) fn lines(tree: &Tree) -> Option<usize> {
    let root = tree.root_node();
    if !root.has_error() {
        return Some(0);
    }
    let mut cursor = tree.walk();
    let mut count = 0;
    // Errors come in the order of the text: the line up to which they are counted.
    let mut counted = 0;
    loop {
        let node = cursor.node();
        if (node.is_error() && node.child_count() > PARTS) || bound::is_exceeded() {
            return None;
        }
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
                return Some(count);
            }
        }
    }
}

/// Returns `true` if too many lines have errors for the tree to be of use.
pub(super) fn are_too_many(errors: usize, lines: &Lines<'_>) -> bool {
    errors > 1 && share(errors, lines) > SHARE
}

/// Returns `true` if the errors are worth a note.
pub(super) fn are_notable(errors: usize, lines: &Lines<'_>) -> bool {
    share(errors, lines) >= NOTED_SHARE
}

fn share(errors: usize, lines: &Lines<'_>) -> f64 {
    let filled = (0..lines.count()).filter(|row| !lines.is_blank(*row)).count();
    errors as f64 / filled.max(1) as f64
}
