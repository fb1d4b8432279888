//! From headings to passages, for every format alike.

use super::{badness, kind};
use crate::document::{HEADING_LENGTH, HEADING_SEPARATOR, Passage};
use crate::lines::Lines;
use crate::pack::pack;
use crate::read::passage;
use crate::{Kind, Role};

/// A heading: the lines it takes, how deep it is (1 is outermost) and what it says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Heading {
    pub(super) first: usize,
    pub(super) last: usize,
    pub(super) level: usize,
    pub(super) text: String,
}

/// What a format's reader found.
#[derive(Debug, Default)]
pub(super) struct Outline {
    pub(super) headings: Vec<Heading>,
    /// The title that the metadata gives.
    pub(super) title: Option<String>,
    /// The severity that the metadata gives, in lower case.
    pub(super) severity: Option<String>,
    /// The last line of a metadata block that begins on the first line.
    pub(super) front_matter: Option<usize>,
    /// How bad it is to begin a piece at each line; empty where the lines themselves are to tell.
    pub(super) badness: Vec<u8>,
}

impl Outline {
    /// The title of the metadata, else the first of the outermost headings that nothing but metadata and lower
    /// headings come before.
    pub(super) fn title(&self) -> Option<String> {
        self.title.clone().or_else(|| {
            let top = self.headings.iter().map(|heading| heading.level).min()?;
            self.headings.iter().find(|heading| heading.level == top && top <= 2).map(|heading| heading.text.clone())
        })
    }
}

impl Outline {
    /// The path of the headings that are open where `row` begins, without one that stands there itself.
    pub(super) fn above(&self, row: usize) -> Option<String> {
        let mut path = Path { above: None, headings: Vec::new() };
        for heading in self.headings.iter().take_while(|heading| heading.first <= row) {
            path.enter(heading);
        }
        if path.headings.last().is_some_and(|heading| heading.first == row) {
            path.headings.pop();
        }
        path.joined()
    }
}

/// The lines of one section and its heading path.
struct Region {
    first: usize,
    last: usize,
    path: Option<String>,
    kind: Kind,
}

/// The passages of a text with this outline.
pub(super) fn divide(lines: &Lines<'_>, outline: &Outline, max_tokens: usize, role: Role) -> Vec<Passage> {
    let mut passages = Vec::new();
    for region in regions(lines, outline) {
        let begin = |row: usize| match outline.badness.get(row) {
            Some(bad) => u32::from(*bad),
            None => badness(lines, row),
        };
        for piece in pack(lines, (region.first, region.last), lines.token_sums(), max_tokens, begin) {
            let mut passage = passage(lines, &piece, region.kind, role);
            passage.heading.clone_from(&region.path);
            passages.push(passage);
        }
    }
    passages
}

/// The sections in order. A heading without a body joins the section after it, or the one before at the end.
fn regions(lines: &Lines<'_>, outline: &Outline) -> Vec<Region> {
    let Some(end) = lines.count().checked_sub(1) else {
        return Vec::new();
    };
    let mut regions: Vec<Region> = Vec::new();
    let mut first = 0;
    if let Some(last) = outline.front_matter {
        regions.push(Region { first, last, path: None, kind: Kind::FrontMatter });
        first = last + 1;
    }
    // The title of the metadata stands above all headings, unless a heading repeats it.
    let repeats = |title: &String| outline.headings.iter().any(|heading| heading.level == 1 && heading.text == *title);
    let title = outline.title.clone().filter(|title| !repeats(title));
    let mut path = Path { above: title, headings: Vec::new() };
    let first_heading = outline.headings.first().map_or(end + 1, |heading| heading.first);
    if first < first_heading && lines.trim(first, first_heading - 1).is_some() {
        regions.push(Region { first, last: first_heading - 1, path: path.joined(), kind: kind(false) });
        first = first_heading;
    }
    for (index, heading) in outline.headings.iter().enumerate() {
        path.enter(heading);
        let last = outline.headings.get(index + 1).map_or(end, |next| next.first.saturating_sub(1));
        let has_body = heading.last < last && lines.trim(heading.last + 1, last).is_some();
        if has_body {
            regions.push(Region { first, last, path: path.joined(), kind: kind(true) });
            first = last + 1;
        }
    }
    if first <= end && lines.trim(first, end).is_some() {
        match regions.last_mut().filter(|region| region.kind != Kind::FrontMatter) {
            Some(region) => region.last = end,
            None => regions.push(Region { first, last: end, path: path.joined(), kind: kind(path.joined().is_some()) }),
        }
    }
    regions
}

/// The headings that are open at a place.
struct Path<'outline> {
    above: Option<String>,
    headings: Vec<&'outline Heading>,
}

impl<'outline> Path<'outline> {
    fn enter(&mut self, heading: &'outline Heading) {
        self.headings.retain(|open| open.level < heading.level);
        self.headings.push(heading);
    }

    fn joined(&self) -> Option<String> {
        let texts = self.above.as_deref().into_iter().chain(self.headings.iter().map(|heading| heading.text.as_str()));
        let path = texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join(HEADING_SEPARATOR);
        match path.char_indices().nth(HEADING_LENGTH) {
            Some((end, _)) => Some(path[..end].to_owned()),
            None => Some(path).filter(|path| !path.is_empty()),
        }
    }
}
