//! Turns nested definitions into a row of segments. Every line belongs to exactly one.

use super::item::{Item, ItemKind};
use crate::lines::Lines;

/// Contiguous lines that become one passage, or several where they are too many.
#[derive(Debug)]
pub(super) struct Segment {
    pub(super) first: usize,
    pub(super) last: usize,
    /// Its definition; none between definitions.
    pub(super) item: Option<usize>,
    /// True if the definition begins here. Its remainder after inner definitions does not.
    pub(super) head: bool,
    /// Further definitions that share the segment.
    pub(super) others: Vec<usize>,
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
pub(super) fn segments(lines: &Lines<'_>, items: &[Item]) -> Vec<Segment> {
    let segments = runs(lines, items);
    let segments = join_little(lines, items, segments);
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
fn join_little(lines: &Lines<'_>, items: &[Item], segments: Vec<Segment>) -> Vec<Segment> {
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
        if next.is_some() && is_opening(lines, items, &segment, next) {
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
fn is_opening(lines: &Lines<'_>, items: &[Item], segment: &Segment, next: Option<&Segment>) -> bool {
    let tokens = lines.tokens(segment.first, segment.last);
    let Some(item) = segment.item else {
        return is_little(lines, segment);
    };
    if !segment.head {
        return is_little(lines, segment);
    }
    let leads_inside = next.and_then(|next| next.item).is_some_and(|next| items[next].parent == Some(item));
    match items[item].kind {
        ItemKind::Implementation => tokens <= LITTLE_OPENING_TOKENS || (leads_inside && tokens <= OPENING_TOKENS),
        ItemKind::Module => leads_inside && tokens <= LITTLE_OPENING_TOKENS,
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
