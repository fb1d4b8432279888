//! Turns nested definitions into a row of segments. Every line belongs to exactly one.

use std::ops::Range;

use tree_sitter::{Node, Tree};

use super::collect::{Item, ItemKind};
use crate::languages::Naming;
use crate::limits;
use crate::lines::Lines;

/// Contiguous lines that become one passage, or several where they are too many.
pub struct Segment {
    pub first: usize,
    pub last: usize,
    /// Its definition; none between definitions.
    pub item: Option<usize>,
    /// True if the definition begins here. Its remainder after inner definitions does not.
    pub head: bool,
    /// Further definitions that share the segment.
    pub others: Vec<usize>,
}

impl Segment {
    /// Its definitions in order.
    pub fn members(&self) -> Vec<usize> {
        self.item.into_iter().chain(self.others.iter().copied()).collect()
    }
}

/// Opening lines of an `impl` or of a module up to this many tokens join the first definition inside.
const OPENING_TOKENS: usize = 80;
/// Tokens between definitions up to which they join the next one.
const LITTLE_TOKENS: usize = 8;
const LITTLE_LINE_TOKENS: usize = 16;
/// Module openings and implementations without a body of their own.
const LITTLE_OPENING_TOKENS: usize = 24;
/// Small declarations share a segment up to this size.
const GROUP_TOKENS: usize = 150;

/// The segments in the order of the file.
pub fn segments(lines: &Lines<'_>, items: &[Item], naming: &Naming) -> Vec<Segment> {
    let segments = runs(lines, items);
    let segments = join_little(lines, items, naming, segments);
    group_small(lines, items, segments)
}

/// Runs of lines that have the same innermost definition, without the blank lines at their ends.
fn runs(lines: &Lines<'_>, items: &[Item]) -> Vec<Segment> {
    const NONE: usize = usize::MAX;
    let mut owners = vec![NONE; lines.count()];
    // A line shared by two neighbours belongs to the first, which also gets the name of the second.
    let mut shared: Vec<(usize, usize)> = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let mut first = item.first;
        let parent = item.parent.unwrap_or(NONE);
        while first <= item.last && owners[first] != parent {
            first += 1;
        }
        if first > item.start && owners[item.start] != parent {
            shared.push((owners[item.start], index));
        }
        if first <= item.last {
            owners[first..=item.last].fill(index);
        }
    }
    let mut segments: Vec<Segment> = Vec::new();
    let mut row = 0;
    while row < owners.len() {
        let owner = owners[row];
        let mut end = row + 1;
        while end < owners.len() && owners[end] == owner {
            end += 1;
        }
        if let Some((first, last)) = lines.trim(row, end - 1) {
            let item = Some(owner).filter(|owner| *owner != NONE);
            let head = item.is_some_and(|item| (first..=last).contains(&items[item].start));
            segments.push(Segment { first, last, item, head, others: Vec::new() });
        }
        row = end;
    }
    let mut heads = vec![NONE; items.len()];
    for (index, segment) in segments.iter().enumerate() {
        if let Some(item) = segment.item.filter(|_| segment.head) {
            heads[item] = index;
        }
    }
    for (owner, other) in shared {
        if let Some(segment) = heads.get(owner).and_then(|head| segments.get_mut(*head)) {
            segment.others.push(other);
        }
    }
    segments
}

/// Joins closing brackets to what they close, and lone lines between definitions to the definition after them.
fn join_little(lines: &Lines<'_>, items: &[Item], naming: &Naming, segments: Vec<Segment>) -> Vec<Segment> {
    let mut joined: Vec<Segment> = Vec::with_capacity(segments.len());
    let mut opening: Option<usize> = None;
    let mut rest = segments.into_iter().peekable();
    while let Some(mut segment) = rest.next() {
        if !segment.head
            && opening.is_none()
            && closes(lines, &segment)
            && let Some(previous) = joined.last_mut()
        {
            previous.last = segment.last;
            continue;
        }
        let next = rest.peek();
        if next.is_some() && is_opening(lines, items, naming, &segment, next) {
            opening.get_or_insert(segment.first);
            continue;
        }
        if let Some(first) = opening.take() {
            segment.first = first;
        }
        let alone = next.is_none() && !segment.head && is_little(lines, &segment);
        match joined.last_mut().filter(|_| alone) {
            Some(previous) => previous.last = segment.last,
            None => joined.push(segment),
        }
    }
    joined
}

/// Returns `true` if a segment holds only closing brackets or the like.
fn closes(lines: &Lines<'_>, segment: &Segment) -> bool {
    let closer = |row: usize| {
        let line = lines.line(row).trim_start();
        line.is_empty() || line.starts_with(['}', ')', ']']) || line.starts_with("#endif")
    };
    lines.tokens(segment.first, segment.last) <= LITTLE_OPENING_TOKENS && (segment.first..=segment.last).all(closer)
}

fn is_little(lines: &Lines<'_>, segment: &Segment) -> bool {
    let tokens = lines.tokens(segment.first, segment.last);
    tokens <= LITTLE_TOKENS || (segment.first == segment.last && tokens <= LITTLE_LINE_TOKENS)
}

/// Returns `true` if a segment is too small by itself and joins the next one.
fn is_opening(lines: &Lines<'_>, items: &[Item], naming: &Naming, segment: &Segment, next: Option<&Segment>) -> bool {
    let tokens = lines.tokens(segment.first, segment.last);
    let Some(item) = segment.item.filter(|_| segment.head) else {
        return is_little(lines, segment);
    };
    let leads_inside = next.and_then(|next| next.item).is_some_and(|next| items[next].parent == Some(item));
    match items[item].kind {
        ItemKind::Implementation => tokens <= LITTLE_OPENING_TOKENS || (leads_inside && tokens <= OPENING_TOKENS),
        ItemKind::Module => leads_inside && !naming.modules_are_types && tokens <= LITTLE_OPENING_TOKENS,
        _ => false,
    }
}

/// Lets small declarations that follow each other share a segment.
fn group_small(lines: &Lines<'_>, items: &[Item], segments: Vec<Segment>) -> Vec<Segment> {
    let mut grouped: Vec<Segment> = Vec::with_capacity(segments.len());
    for segment in segments {
        let small = |segment: &Segment| segment.head && segment.item.is_some_and(|item| items[item].small);
        if let Some(previous) = grouped.last_mut()
            && small(previous)
            && small(&segment)
            && belongs_together(lines, items, previous, &segment)
        {
            previous.last = segment.last;
            previous.others.extend(segment.item);
            previous.others.extend(segment.others);
        } else {
            grouped.push(segment);
        }
    }
    grouped
}

/// Returns `true` if two segments are of one kind and place, at most one blank line apart, and not too large together.
fn belongs_together(lines: &Lines<'_>, items: &[Item], previous: &Segment, next: &Segment) -> bool {
    let (Some(before), Some(after)) = (previous.item, next.item) else {
        return false;
    };
    let (before, after) = (&items[before], &items[after]);
    // Declared functions stay apart if they are documented.
    let documented = after.kind >= ItemKind::Function && (after.first < after.start || next.first > previous.last + 1);
    before.kind == after.kind
        && before.parent == after.parent
        && before.test == after.test
        && !documented
        && next.first <= previous.last + 2
        && lines.tokens(previous.first, next.last) <= GROUP_TOKENS
}

// Places to cut a definition that is too large: the statements of its syntax tree.

/// The badness of each line as the beginning of a piece: the depth of the statement that begins there.
pub struct Boundaries {
    depths: Vec<u8>,
}

/// A line that only continues something else.
const WITHIN: u8 = 250;
/// A line after a comment, which belongs to the line.
const AFTER_COMMENT: u8 = 200;

impl Boundaries {
    /// Looks only into those nodes that span several lines and touch one of `parts`, which are ranges of bytes in
    /// ascending order.
    pub fn new(tree: &Tree, lines: &Lines<'_>, leads: &[bool], parts: &[Range<usize>]) -> Self {
        let mut depths = vec![WITHIN; lines.count()];
        let touches = |node: Node<'_>| {
            let part = parts.partition_point(|part| part.end <= node.start_byte());
            parts.get(part).is_some_and(|part| part.start < node.end_byte())
        };
        let mut cursor = tree.walk();
        let mut depth = 0_u8;
        'walk: loop {
            let node = cursor.node();
            if limits::is_exceeded() {
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
    pub fn badness(&self, lines: &Lines<'_>, row: usize) -> u32 {
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
