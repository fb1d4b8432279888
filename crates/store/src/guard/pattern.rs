//! Patterns of LIKE and GLOB.

/// The time limit passed while matching.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Interrupted;

/// Comparisons between two polls of the clock.
const STRIDE: u32 = 8192;

/// One part of a pattern.
#[derive(Debug, PartialEq)]
enum Part {
    /// Any number of characters.
    Any,
    /// Any single character.
    One,
    /// This character.
    Character(char),
    /// One of these, or none of these, as ranges.
    Set { ranges: Vec<(char, char)>, negated: bool },
}

/// A parsed pattern.
#[derive(Debug, PartialEq)]
pub(super) struct Pattern {
    parts: Vec<Part>,
    /// ASCII letters match regardless of case.
    folded: bool,
    /// It ends in an escape character or an open set, and matches nothing.
    broken: bool,
    /// The character that makes the next one literal.
    pub(super) escape: Option<char>,
}

impl Pattern {
    /// The pattern of `x LIKE pattern ESCAPE escape`.
    pub(super) fn like(pattern: &str, escape: Option<char>) -> Pattern {
        let mut parts = Vec::new();
        let mut characters = pattern.chars();
        let mut broken = false;
        while let Some(character) = characters.next() {
            parts.push(match character {
                _ if Some(character) == escape => match characters.next() {
                    Some(meant) => Part::Character(meant.to_ascii_lowercase()),
                    None => {
                        broken = true;
                        break;
                    }
                },
                '%' => Part::Any,
                '_' => Part::One,
                other => Part::Character(other.to_ascii_lowercase()),
            });
        }
        Pattern { parts, folded: true, broken, escape }
    }

    /// The pattern of `x GLOB pattern`.
    pub(super) fn glob(pattern: &str) -> Pattern {
        let mut parts = Vec::new();
        let mut characters = pattern.chars();
        let mut broken = false;
        while let Some(character) = characters.next() {
            parts.push(match character {
                '*' => Part::Any,
                '?' => Part::One,
                '[' => match set(&mut characters) {
                    Some(set) => set,
                    None => {
                        broken = true;
                        break;
                    }
                },
                other => Part::Character(other),
            });
        }
        Pattern { parts, folded: false, broken, escape: None }
    }

    /// Returns `true` if all of `text` matches. Takes O(length of the text · length of the pattern) and polls `is_over`
    /// now and then.
    pub(super) fn matches(&self, text: &str, is_over: &dyn Fn() -> bool) -> Result<bool, Interrupted> {
        if self.broken {
            return Ok(false);
        }
        let mut rest = text;
        let mut at = 0;
        // The position after the last part that matches any number of characters, and the text it has not consumed yet.
        // Only that part can ever need to consume more.
        let mut retry: Option<(usize, &str)> = None;
        let mut compared = 0_u32;
        loop {
            compared += 1;
            if compared.is_multiple_of(STRIDE) && is_over() {
                return Err(Interrupted);
            }
            if self.parts.get(at) == Some(&Part::Any) {
                at += 1;
                if at == self.parts.len() {
                    return Ok(true);
                }
                retry = Some((at, rest));
                continue;
            }
            let mut characters = rest.chars();
            match (self.parts.get(at), characters.next()) {
                (None, None) => return Ok(true),
                (Some(part), Some(character)) if self.is_match(part, character) => {
                    at += 1;
                    rest = characters.as_str();
                    continue;
                }
                // A later start reaches the end of the text no earlier.
                (_, None) => return Ok(false),
                _ => {}
            }
            let Some((part, from)) = retry else {
                return Ok(false);
            };
            let mut characters = from.chars();
            characters.next();
            retry = Some((part, characters.as_str()));
            rest = characters.as_str();
            at = part;
        }
    }

    fn is_match(&self, part: &Part, character: char) -> bool {
        match part {
            Part::Any => false,
            Part::One => true,
            Part::Character(wanted) if self.folded => character.to_ascii_lowercase() == *wanted,
            Part::Character(wanted) => character == *wanted,
            Part::Set { ranges, negated } => {
                ranges.iter().any(|(from, to)| (*from..=*to).contains(&character)) != *negated
            }
        }
    }
}

/// The set after a `[`; `None` if it is not closed.
fn set(characters: &mut std::str::Chars<'_>) -> Option<Part> {
    let mut ranges = Vec::new();
    let mut next = characters.next()?;
    let negated = next == '^';
    if negated {
        next = characters.next()?;
    }
    // A bracket in first position belongs to the set.
    let mut last: Option<char> = None;
    if next == ']' {
        ranges.push((']', ']'));
        next = characters.next()?;
    }
    while next != ']' {
        let following = characters.clone().next()?;
        match last {
            Some(from) if next == '-' && following != ']' => {
                characters.next();
                ranges.push((from, following));
                last = None;
            }
            _ => {
                ranges.push((next, next));
                last = Some(next);
            }
        }
        next = characters.next()?;
    }
    Some(Part::Set { ranges, negated })
}
