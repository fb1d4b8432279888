//! Macros among the words of a declaration: `API std::string name()`, `std::string API name()`, `name() NOEXCEPT {`.
//!
//! Without a preprocessor, such a macro looks like the type, and the type behind it like the name.

use std::ops::Range;

use super::c::{closed, is_lone_macro, is_name, skip_space, word_end};
use crate::lines::has_word;

/// Words of a declaration that name neither a type nor what is declared.
const QUALIFIERS: &str = "const volatile static inline constexpr extern friend mutable thread_local register __inline";
/// Words that begin something else, which a macro can precede.
const OTHERS: &str = "using namespace class struct union enum typedef concept";
/// Words of statements, and their values.
const STATEMENTS: &str = "\
    return if else for while do switch case default goto break continue throw new delete co_return co_yield co_await";

/// The places of such macros in a text.
pub fn declaration_macros(bytes: &[u8]) -> Vec<Range<usize>> {
    let (mut places, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        let mut declaration = Declaration { bytes, at, ..Declaration::default() };
        declaration.read(&mut places);
        at = next_statement(bytes, declaration.at);
    }
    places
}

/// The place after the next character that ends or encloses statements.
fn next_statement(bytes: &[u8], mut at: usize) -> usize {
    while let Some(byte) = bytes.get(at) {
        let quoted = *byte == b'"' || (*byte == b'\'' && (at == 0 || !is_name(bytes[at - 1])));
        at = match byte {
            b';' | b'{' | b'}' => return at + 1,
            _ if quoted => quote_end(bytes, at),
            b'/' | b'#' => skip_space(bytes, at).max(at + 1),
            _ => at + 1,
        };
    }
    at
}

/// The place after the quotation mark that closes the one at `at`, or at the end of its line.
fn quote_end(bytes: &[u8], at: usize) -> usize {
    let mut end = at + 1;
    while let Some(byte) = bytes.get(end).filter(|byte| **byte != b'\n') {
        match byte {
            b'\\' => end += 2,
            byte if *byte == bytes[at] => return end + 1,
            _ => end += 1,
        }
    }
    end
}

/// The words of a declaration up to what is declared.
#[derive(Default)]
struct Declaration<'text> {
    bytes: &'text [u8],
    at: usize,
    names: Vec<Range<usize>>,
    /// True if the last name needs no type.
    untyped: bool,
}

impl Declaration<'_> {
    fn read(&mut self, places: &mut Vec<Range<usize>>) {
        loop {
            self.at = skip_space(self.bytes, self.at);
            let rest = &self.bytes[self.at..];
            match rest {
                [b'*' | b'&', ..] => self.at += 1,
                [b'[', b'[', ..] => match closed(self.bytes, self.at, b'[', b']') {
                    Some(end) => self.at = end,
                    None => return,
                },
                [b':', b':', ..] | [b'~', ..] => self.name(),
                [byte, ..] if is_name(*byte) && !byte.is_ascii_digit() => {
                    if !self.word(places) {
                        return;
                    }
                }
                _ => break,
            }
            if self.untyped {
                break;
            }
        }
        self.parameters(places);
    }

    /// Reads a word; `false` if it cannot belong to a declaration.
    fn word(&mut self, places: &mut Vec<Range<usize>>) -> bool {
        let end = word_end(self.bytes, self.at);
        let word = std::str::from_utf8(&self.bytes[self.at..end]).unwrap_or_default();
        let next = skip_space(self.bytes, end);
        match word {
            "public" | "private" | "protected" if self.bytes.get(next) == Some(&b':') => {
                self.names.clear();
                self.at = next + 1;
            }
            "template" if self.bytes.get(next) == Some(&b'<') => {
                places.extend(self.macros());
                self.names.clear();
                let Some(end) = closed(self.bytes, next, b'<', b'>') else { return false };
                self.at = end;
            }
            "explicit" | "virtual" => {
                places.extend(self.macros());
                self.names.clear();
                self.at = end;
            }
            _ if has_word(OTHERS, word) => {
                places.extend(self.macros());
                return false;
            }
            _ if has_word(STATEMENTS, word) => return false,
            _ if has_word(QUALIFIERS, word) => self.at = end,
            _ => self.name(),
        }
        true
    }

    /// Reads a name with its qualifiers and arguments.
    fn name(&mut self) {
        let start = self.at;
        loop {
            if self.bytes[self.at..].starts_with(b"::") {
                self.at = skip_space(self.bytes, self.at + 2);
            }
            self.untyped |= self.bytes.get(self.at) == Some(&b'~');
            let part = self.at + usize::from(self.bytes.get(self.at) == Some(&b'~'));
            let before = start..self.at;
            self.at = word_end(self.bytes, part);
            self.untyped |= self.is_constructor(before, part..self.at);
            if self.bytes[part..self.at] == *b"operator" {
                let is_sign = |byte: &&u8| byte.is_ascii_punctuation() && **byte != b'(';
                self.at += self.bytes[self.at..].iter().take_while(is_sign).count();
            }
            let next = skip_space(self.bytes, self.at);
            if self.bytes.get(next) == Some(&b'<')
                && let Some(end) = closed(self.bytes, next, b'<', b'>')
            {
                self.at = end;
            }
            let next = skip_space(self.bytes, self.at);
            if !self.bytes[next..].starts_with(b"::") {
                break;
            }
            self.at = next;
        }
        self.names.push(start..self.at);
    }

    /// `a::shelf::shelf`, `shelf<T>::shelf`, `operator`.
    fn is_constructor(&self, before: Range<usize>, part: Range<usize>) -> bool {
        let part = &self.bytes[part];
        let before = self.bytes[before].strip_suffix(b"::").unwrap_or_default();
        let arguments = before.iter().position(|byte| *byte == b'<').unwrap_or(before.len());
        let owner = before[..arguments].rsplit(|byte| !is_name(*byte)).next();
        part == b"operator" || (!part.is_empty() && owner == Some(part))
    }

    /// The macros among the names.
    fn macros(&self) -> impl Iterator<Item = Range<usize>> {
        self.names.iter().filter(|name| self.is_macro(name)).cloned()
    }

    fn is_macro(&self, name: &Range<usize>) -> bool {
        std::str::from_utf8(&self.bytes[name.clone()]).is_ok_and(is_lone_macro)
    }

    /// Reads what follows the names, and tells the macros among all of it.
    fn parameters(&mut self, places: &mut Vec<Range<usize>>) {
        let is_alone = self.names.len() == 1;
        let declared = self.names.pop();
        let has_type = |name: &Range<usize>| self.bytes[name.clone()].iter().any(u8::is_ascii_lowercase);
        let mut typed = self.untyped || self.names.iter().any(has_type);
        if declared.is_some()
            && self.bytes.get(self.at) == Some(&b'(')
            && let Some(end) = closed(self.bytes, self.at, b'(', b')')
        {
            let mut macros = Vec::new();
            let mut next = skip_space(self.bytes, end);
            while self.bytes.get(next).copied().is_some_and(is_name) {
                let word = next..word_end(self.bytes, next);
                next = skip_space(self.bytes, word.end);
                macros.extend(Some(word).filter(|word| self.is_macro(word)));
            }
            // Only a constructor has its values here.
            typed |= self.bytes.get(next) == Some(&b':') && self.bytes.get(next + 1) != Some(&b':');
            if typed || self.bytes.get(next) == Some(&b'{') {
                places.extend(macros);
            }
        }
        if typed {
            places.extend(self.macros());
        }
        // `TRY {`, `FOREVER {`.
        if is_alone && self.bytes.get(self.at) == Some(&b'{') {
            places.extend(declared.filter(|name| self.is_macro(name)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::c::blanked_cpp;

    /// Macros are between at signs.
    const CASES: &str = r#"
@A_API@ std::string f(int a) {
std::string @A_API@ f() {
@A_API@ level::b get() const @A_NOEXCEPT@;
template <typename T, class = void> @A_INLINE@ c<T>::c(int a) : x_{a} {
@A_CONST@ auto f(); @A_INLINE@ d::~d() = default; @A_API@ e *f(); @A_BC@ @C_DE@ x &g();
class X { public: @A_CONST@ X(int a = {}) : b{a} { @A_TRY@ { } }
@A_BC@ static const a::b *const c = 1; @A_API@ a::b &operator=(int c) @A_NOEXCEPT@ {
@A_EXPORT@ template <class T> struct x; /* F. */ @A_API@ explicit operator bool() const;
SIZE_T f(); HRESULT WINAPI f(); DWORD_PTR WINAPI f(); SIZE_T A_CALL f(); static SIZE_T x = a; FILE_T *f();
int A_BC = 1; int A_BC(int c); A_TYPE b(c); f(A_BC x); typedef A_TYPE b; "; A_BC std::c d();"
return (int) A_BC; enum x { A_BC, C_DE }; if (a) A_BC = 1; unsigned x = a ? (b) A_BC : c;"#;

    #[test]
    fn macros_among_the_words_of_a_declaration_are_blanked_and_types_stay() {
        for case in CASES.lines().skip(1) {
            let plain = case.replace('@', "");
            let parts = case.split('@').enumerate();
            let expected: String =
                parts.map(|(at, part)| if at % 2 == 1 { " ".repeat(part.len()) } else { part.into() }).collect();
            assert_eq!(blanked_cpp(&plain).unwrap_or(plain), expected, "{case}");
        }
    }
}
