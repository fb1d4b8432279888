//! The operators of a page, one after another. Only the operands of the operator at hand are kept.

use crate::lines::unescaped;

/// Most operands of an operator, and most parts of an array.
const MAX_OPERANDS: usize = 64;
const MAX_PARTS: usize = 20_000;

/// An operand, as far as text needs it.
#[derive(Debug, Clone, PartialEq)]
pub enum Operand {
    Number(f64),
    Name(Vec<u8>),
    Text(Vec<u8>),
    Array(Vec<Operand>),
    /// A dictionary with text that stands for what is shown.
    ActualText(Vec<u8>),
    /// Other dictionaries and words.
    Other,
}

impl Operand {
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(*number),
            _ => None,
        }
    }

    pub fn name(&self) -> Option<&[u8]> {
        match self {
            Self::Name(name) => Some(name),
            _ => None,
        }
    }
}

pub struct Operators<'a> {
    bytes: &'a [u8],
    at: usize,
    operands: Vec<Operand>,
}

impl<'a> Operators<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0, operands: Vec::new() }
    }

    /// The next operator with its operands.
    pub fn next(&mut self) -> Option<(&'a [u8], &[Operand])> {
        self.operands.clear();
        loop {
            self.skip_space();
            let operand = match self.peek(0)? {
                b'[' => self.array(),
                first => match self.simple(first) {
                    Some(operand) => operand,
                    None => match self.word() {
                        b"true" | b"false" | b"null" => Operand::Other,
                        b"ID" => {
                            self.image();
                            self.operands.clear();
                            continue;
                        }
                        // A bracket that closes nothing.
                        b"" => {
                            self.at += 1;
                            continue;
                        }
                        word => return Some((word, &self.operands)),
                    },
                },
            };
            if self.operands.len() < MAX_OPERANDS {
                self.operands.push(operand);
            }
        }
    }

    /// An operand that begins with this byte, unless it is an array or a word.
    fn simple(&mut self, first: u8) -> Option<Operand> {
        Some(match first {
            b'(' => self.literal(),
            b'<' if self.peek(1) == Some(b'<') => self.dictionary(),
            b'<' => self.hexadecimal(),
            b'/' => self.name(),
            b'0'..=b'9' | b'+' | b'-' | b'.' => self.number(),
            _ => return None,
        })
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at + ahead).copied()
    }

    /// Passes over white space and comments.
    fn skip_space(&mut self) {
        let mut comment = false;
        while let Some(byte) = self.peek(0).filter(|byte| comment || is_space(*byte) || *byte == b'%') {
            comment = !matches!(byte, b'\n' | b'\r') && (comment || byte == b'%');
            self.at += 1;
        }
    }

    fn word(&mut self) -> &'a [u8] {
        let start = self.at;
        while self.peek(0).is_some_and(|byte| !is_space(byte) && !is_delimiter(byte)) {
            self.at += 1;
        }
        &self.bytes[start..self.at]
    }

    fn number(&mut self) -> Operand {
        let word = self.word();
        let number = std::str::from_utf8(word).ok().and_then(|word| word.parse().ok());
        number.filter(|number: &f64| number.is_finite()).map_or(Operand::Other, Operand::Number)
    }

    fn name(&mut self) -> Operand {
        self.at += 1;
        Operand::Name(unescaped(self.word(), b'#'))
    }

    /// `(text (with brackets) \( and \051)`
    fn literal(&mut self) -> Operand {
        self.at += 1;
        let mut text = Vec::new();
        let mut depth = 1;
        while let Some(byte) = self.peek(0) {
            self.at += 1;
            match byte {
                b'(' => depth += 1,
                b')' => {
                    depth -= 1;
                    if depth == 0 {
                        break;
                    }
                }
                b'\\' => {
                    self.escape(&mut text);
                    continue;
                }
                _ => {}
            }
            text.push(byte);
        }
        Operand::Text(text)
    }

    fn escape(&mut self, text: &mut Vec<u8>) {
        let Some(byte) = self.peek(0) else { return };
        self.at += 1;
        match byte {
            b'n' => text.push(b'\n'),
            b'r' => text.push(b'\r'),
            b't' => text.push(b'\t'),
            b'b' => text.push(8),
            b'f' => text.push(12),
            b'\r' => self.at += usize::from(self.peek(0) == Some(b'\n')),
            b'\n' => {}
            b'0'..=b'7' => {
                let mut code = u32::from(byte - b'0');
                for _ in 0..2 {
                    let Some(digit) = self.peek(0).filter(|digit| (b'0'..=b'7').contains(digit)) else { break };
                    code = code * 8 + u32::from(digit - b'0');
                    self.at += 1;
                }
                text.push((code & 0xff) as u8);
            }
            other => text.push(other),
        }
    }

    fn hexadecimal(&mut self) -> Operand {
        self.at += 1;
        let mut digits = Vec::new();
        while let Some(byte) = self.peek(0) {
            self.at += 1;
            if byte == b'>' {
                break;
            }
            digits.extend((byte as char).to_digit(16).and_then(|digit| u8::try_from(digit).ok()));
        }
        let bytes = digits.chunks(2).map(|pair| pair[0] << 4 | pair.get(1).copied().unwrap_or(0)).collect();
        Operand::Text(bytes)
    }

    /// The texts and numbers of an array. Arrays in it are left out.
    fn array(&mut self) -> Operand {
        self.at += 1;
        let mut parts = Vec::new();
        loop {
            self.skip_space();
            let Some(first) = self.peek(0) else { break };
            if first == b']' {
                self.at += 1;
                break;
            }
            match self.simple(first) {
                Some(part) if parts.len() < MAX_PARTS => parts.push(part),
                Some(_) => {}
                None if self.word().is_empty() => self.at += 1,
                None => {}
            }
        }
        Operand::Array(parts)
    }

    /// Passes over a dictionary, whose strings can have brackets in them, up to the text that it may have.
    fn dictionary(&mut self) -> Operand {
        let mut depth = 0_usize;
        let mut actual = None;
        while let Some(byte) = self.peek(0) {
            match byte {
                b'/' => {
                    let is_actual = self.name() == Operand::Name(b"ActualText".to_vec()) && depth == 1;
                    self.skip_space();
                    match self.peek(0).filter(|_| is_actual) {
                        Some(b'(') => actual = Some(self.literal()),
                        Some(b'<') if self.peek(1) != Some(b'<') => actual = Some(self.hexadecimal()),
                        _ => {}
                    }
                    continue;
                }
                b'(' => {
                    self.literal();
                    continue;
                }
                b'<' if self.peek(1) == Some(b'<') => {
                    depth += 1;
                    self.at += 1;
                }
                b'>' if self.peek(1) == Some(b'>') => {
                    depth -= 1;
                    self.at += 1;
                    if depth == 0 {
                        self.at += 1;
                        break;
                    }
                }
                _ => {}
            }
            self.at += 1;
        }
        match actual {
            Some(Operand::Text(text)) => Operand::ActualText(text),
            _ => Operand::Other,
        }
    }

    /// Passes over the data of an image: up to `EI` between white space.
    fn image(&mut self) {
        while self.at < self.bytes.len() {
            let ends = self.bytes[self.at..].starts_with(b"EI")
                && self.at.checked_sub(1).is_some_and(|before| is_space(self.bytes[before]))
                && self.peek(2).is_none_or(is_space);
            if ends {
                self.at += 2;
                return;
            }
            self.at += 1;
        }
    }
}

fn is_space(byte: u8) -> bool {
    matches!(byte, 0 | b'\t' | b'\n' | 12 | b'\r' | b' ')
}

fn is_delimiter(byte: u8) -> bool {
    matches!(byte, b'(' | b')' | b'<' | b'>' | b'[' | b']' | b'{' | b'}' | b'/' | b'%')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(content: &[u8]) -> Vec<(String, Vec<Operand>)> {
        let mut operators = Operators::new(content);
        let mut found = Vec::new();
        while let Some((operator, operands)) = operators.next() {
            found.push((String::from_utf8_lossy(operator).into_owned(), operands.to_vec()));
        }
        found
    }

    #[test]
    fn reads_operators_with_their_operands() {
        use Operand::{ActualText, Array, Name, Number, Other, Text};
        let text = |text: &[u8]| Text(text.to_vec());
        let content = b"/F#31 12 Tf % x\n[(a\\)\\101(b)) -250.5 <4a4>] TJ /P <</M (>>)>> BDC /S<</A<</ActualText(no)>>/ActualText<41>>>BDC q";
        let expected = [
            ("Tf".to_owned(), vec![Name(b"F1".to_vec()), Number(12.0)]),
            ("TJ".to_owned(), vec![Array(vec![text(b"a)A(b)"), Number(-250.5), text(b"J@")])]),
            ("BDC".to_owned(), vec![Name(b"P".to_vec()), Other]),
            ("BDC".to_owned(), vec![Name(b"S".to_vec()), ActualText(b"A".to_vec())]),
            ("q".to_owned(), vec![]),
        ];
        assert_eq!(all(content), expected);
    }

    #[test]
    fn passes_over_images_and_rubbish() {
        let found = all(b"BI /W 1 ID \x00(EIx EI Q ]>)} (a) Tj (unclosed");
        let names: Vec<_> = found.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["BI", "Q", "Tj"]);
    }
}
