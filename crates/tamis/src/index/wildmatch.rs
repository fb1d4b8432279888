//! Matches a path with a pattern of an ignore file, by Git's own algorithm (`wildmatch.c`).
//!
//! Other matchers differ in small ways: in Git braces are ordinary characters, classes have POSIX names and escapes, and a
//! character is a byte.

/// Most steps of one match. A pattern of many stars could take forever.
const MOST_STEPS: u32 = 1 << 17;

/// How a match ended, with Git's names.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Match,
    NoMatch,
    /// No longer start can match either.
    AbortAll,
    /// No longer start within the same directory can match.
    AbortToStarStar,
}

/// Returns `true` if the whole text matches. `in_path`: wildcards end at slashes, and `**` stands for directories.
pub(crate) fn matches(pattern: &[u8], text: &[u8], in_path: bool) -> bool {
    Matcher { in_path, steps: 0 }.run(pattern, text) == Outcome::Match
}

/// Returns `true` for the characters with which something other than themselves can begin.
pub(crate) fn is_special(byte: u8) -> bool {
    matches!(byte, b'*' | b'?' | b'[' | b'\\')
}

/// The byte at a place; 0 behind the end, as in C.
fn at(bytes: &[u8], place: usize) -> u8 {
    bytes.get(place).copied().unwrap_or(0)
}

struct Matcher {
    in_path: bool,
    steps: u32,
}

impl Matcher {
    fn run(&mut self, pattern: &[u8], text: &[u8]) -> Outcome {
        let (mut p, mut t) = (0, 0);
        while at(pattern, p) != 0 {
            self.steps += 1;
            if self.steps > MOST_STEPS {
                return Outcome::AbortAll;
            }
            let (wanted, found) = (at(pattern, p), at(text, t));
            if found == 0 && wanted != b'*' {
                return Outcome::AbortAll;
            }
            match wanted {
                b'?' if self.in_path && found == b'/' => return Outcome::NoMatch,
                b'?' => {}
                b'*' => {
                    if let Some(outcome) = self.star(pattern, text, &mut p, &mut t) {
                        return outcome;
                    }
                }
                b'[' => match class(pattern, &mut p, found) {
                    None => return Outcome::AbortAll,
                    Some(matched) if !matched || self.in_path && found == b'/' => return Outcome::NoMatch,
                    Some(_) => {}
                },
                b'\\' => {
                    p += 1;
                    if at(pattern, p) != found {
                        return Outcome::NoMatch;
                    }
                }
                _ if wanted != found => return Outcome::NoMatch,
                _ => {}
            }
            p += 1;
            t += 1;
        }
        if at(text, t) == 0 { Outcome::Match } else { Outcome::NoMatch }
    }

    /// Matches stars, and returns the outcome; `None` if the slash after a single star is matched, and the match goes on there.
    fn star(&mut self, pattern: &[u8], text: &[u8], p: &mut usize, t: &mut usize) -> Option<Outcome> {
        let first = *p;
        *p += 1;
        let mut crosses = !self.in_path;
        if at(pattern, *p) == b'*' {
            while at(pattern, *p) == b'*' {
                *p += 1;
            }
            let begins = first == 0 || at(pattern, first - 1) == b'/';
            let ends = matches!((at(pattern, *p), at(pattern, *p + 1)), (0 | b'/', _) | (b'\\', b'/'));
            if self.in_path && begins && ends {
                // The stars and the slash can stand for nothing.
                if at(pattern, *p) == b'/' && self.run(&pattern[*p + 1..], &text[*t..]) == Outcome::Match {
                    return Some(Outcome::Match);
                }
                crosses = true;
            }
        }
        let next_slash = text[(*t).min(text.len())..].iter().position(|&byte| byte == b'/');
        if at(pattern, *p) == 0 {
            // The last star of a path matches to the end of the name.
            return Some(if crosses || next_slash.is_none() { Outcome::Match } else { Outcome::AbortToStarStar });
        }
        if !crosses && at(pattern, *p) == b'/' {
            let Some(slash) = next_slash else { return Some(Outcome::AbortAll) };
            *t += slash;
            return None;
        }
        let next = at(pattern, *p);
        while at(text, *t) != 0 {
            // Whatever comes before the next literal belongs to the star.
            if !is_special(next) {
                while at(text, *t) != 0 && at(text, *t) != next && (crosses || at(text, *t) != b'/') {
                    *t += 1;
                }
                if at(text, *t) != next {
                    return Some(if crosses { Outcome::AbortAll } else { Outcome::AbortToStarStar });
                }
            }
            match self.run(&pattern[*p..], &text[*t..]) {
                Outcome::NoMatch if !crosses && at(text, *t) == b'/' => return Some(Outcome::AbortToStarStar),
                Outcome::NoMatch => {}
                Outcome::AbortToStarStar if crosses => {}
                outcome => return Some(outcome),
            }
            *t += 1;
        }
        Some(Outcome::AbortAll)
    }
}

/// Returns `true` if the class that begins at `p` has the byte, and moves `p` to its last bracket; `None` if it does not end, or names
/// no class.
fn class(pattern: &[u8], p: &mut usize, found: u8) -> Option<bool> {
    *p += 1;
    let negated = matches!(at(pattern, *p), b'!' | b'^');
    *p += usize::from(negated);
    let (mut matched, mut before) = (false, 0);
    loop {
        let mut byte = at(pattern, *p);
        match byte {
            0 => return None,
            b'\\' => {
                *p += 1;
                byte = Some(at(pattern, *p)).filter(|&byte| byte != 0)?;
                matched |= found == byte;
            }
            b'-' if before != 0 && !matches!(at(pattern, *p + 1), 0 | b']') => {
                *p += 1;
                if at(pattern, *p) == b'\\' {
                    *p += 1;
                }
                let last = Some(at(pattern, *p)).filter(|&byte| byte != 0)?;
                matched |= (before..=last).contains(&found);
                byte = 0;
            }
            b'[' if at(pattern, *p + 1) == b':' => {
                let start = *p + 2;
                let end = start + pattern.get(start..)?.iter().position(|&byte| byte == b']')?;
                match pattern[start..end].strip_suffix(b":") {
                    Some(name) => {
                        matched |= is_in(name, found)?;
                        *p = end;
                        byte = 0;
                    }
                    // Without `:]` it is a bracket in a set.
                    None => matched |= found == b'[',
                }
            }
            _ => matched |= found == byte,
        }
        before = byte;
        *p += 1;
        if at(pattern, *p) == b']' {
            return Some(matched != negated);
        }
    }
}

/// Returns `true` if a POSIX class has the byte; `None` if there is no such class.
fn is_in(class: &[u8], byte: u8) -> Option<bool> {
    Some(match class {
        b"alnum" => byte.is_ascii_alphanumeric(),
        b"alpha" => byte.is_ascii_alphabetic(),
        b"blank" => matches!(byte, b' ' | b'\t'),
        b"cntrl" => byte.is_ascii_control(),
        b"digit" => byte.is_ascii_digit(),
        b"graph" => byte.is_ascii_graphic(),
        b"lower" => byte.is_ascii_lowercase(),
        b"print" => byte == b' ' || byte.is_ascii_graphic(),
        b"punct" => byte.is_ascii_punctuation(),
        b"space" => byte.is_ascii_whitespace() || byte == 11,
        b"upper" => byte.is_ascii_uppercase(),
        b"xdigit" => byte.is_ascii_hexdigit(),
        _ => return None,
    })
}
