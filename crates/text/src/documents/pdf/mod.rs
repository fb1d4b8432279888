//! PDF: the text of each page in the order in which the file shows it.
//!
//! `lopdf` finds the objects of the file and unpacks its streams within limits. `load` bounds what it may keep. `content` reads
//! the operators of a page, `fonts` turns codes into characters and widths, and `layout` joins what was shown into lines.

mod content;
mod fonts;
mod layout;
mod load;

use lopdf::{Dictionary, Document, Object, ObjectId};

use super::extracted::Extracted;
use crate::Skip;
use content::{Operand, Operators};
use fonts::{Font, Fonts};
use layout::{Layout, Matrix};

/// Most pages that are read.
const MAX_PAGES: usize = 20_000;

/// Most bytes of operators in one page or form, and in a whole file.
const MAX_CONTENT: usize = 32 << 20;
const MAX_CONTENTS: usize = 512 << 20;

/// Forms can show other forms; this is the depth up to which they are read.
const FORM_DEPTH: usize = 6;

/// Fewest letters and digits of a file with text. A scan has none, or a stamp of a few words.
const LEAST: usize = 20;

pub(super) fn read(bytes: &[u8]) -> Result<Extracted, Skip> {
    let document = load::load(bytes)?;
    let descriptions = fonts::descriptions(&document);
    let fonts = Fonts::of(&document, &descriptions);
    let mut extracted = Extracted::default();
    if let Some(title) = title(&document) {
        extracted.entitle(&title);
    }
    let mut left = MAX_CONTENTS;
    let mut letters = 0;
    let mut pages = 0;
    for (index, page) in document.page_iter().take(MAX_PAGES).enumerate() {
        pages += 1;
        let mut shown = Shown { document: &document, fonts: &fonts, layout: Layout::default(), left: &mut left };
        shown.page(page);
        let text = shown.layout.finish();
        letters += text.chars().filter(|character| character.is_alphanumeric()).count();
        if text.is_empty() {
            continue;
        }
        extracted.gap();
        extracted.part(1, &format!("page {}", index + 1));
        extracted.line(&text);
    }
    match pages {
        0 => Err(Skip::Damaged),
        _ if letters < LEAST => Err(Skip::NoText),
        _ => extracted.complete(),
    }
}

/// The title in the file's description of itself, unless a program made it up from the name of the source.
fn title(document: &Document) -> Option<String> {
    let info = document.trailer.get_deref(b"Info", document).and_then(Object::as_dict).ok()?;
    let title = lopdf::decode_text_string(info.get_deref(b"Title", document).ok()?).ok()?;
    let title = title.strip_prefix("Microsoft Word - ").unwrap_or(&title).trim();
    let ends =
        [".doc", ".docx", ".dvi", ".tex", ".indd", ".qxd", ".pdf", ".ps", ".ppt", ".pptx", ".rtf", ".odt", ".md"];
    let lower = title.to_lowercase();
    let made_up = lower.starts_with("untitled") || ends.iter().any(|end| lower.ends_with(end));
    (!title.is_empty() && !made_up).then(|| title.to_owned())
}

/// One page being shown.
struct Shown<'a> {
    document: &'a Document,
    fonts: &'a Fonts<'a>,
    layout: Layout,
    /// Bytes of operators that may still be read.
    left: &'a mut usize,
}

/// The part of the graphics state that text depends on.
#[derive(Clone)]
struct State<'a> {
    matrix: Matrix,
    font: Option<&'a Font<'a>>,
    size: f64,
    character_space: f64,
    word_space: f64,
    scale: f64,
    leading: f64,
    rise: f64,
}

impl Default for State<'_> {
    fn default() -> Self {
        Self {
            matrix: Matrix::IDENTITY,
            font: None,
            size: 1.0,
            character_space: 0.0,
            word_space: 0.0,
            scale: 1.0,
            leading: 0.0,
            rise: 0.0,
        }
    }
}

/// Most states that are saved at a time.
const SAVED: usize = 256;

impl<'a> Shown<'a> {
    fn page(&mut self, page: ObjectId) {
        let limit = MAX_CONTENT.min(*self.left);
        let Ok(content) = self.document.get_page_content_with_limit(page, limit) else { return };
        *self.left -= content.len().min(*self.left);
        let resources = self.resources_of_page(page);
        self.show(&content, resources, State::default(), 0);
    }

    /// The resources of a page, or those that it inherits.
    fn resources_of_page(&self, page: ObjectId) -> Option<&'a Dictionary> {
        let mut node = self.document.get_dictionary(page).ok()?;
        for _ in 0..64 {
            if let Ok(resources) = node.get_deref(b"Resources", self.document).and_then(Object::as_dict) {
                return Some(resources);
            }
            node = node.get_deref(b"Parent", self.document).and_then(Object::as_dict).ok()?;
        }
        None
    }

    fn show(&mut self, content: &[u8], resources: Option<&'a Dictionary>, first: State<'a>, depth: usize) {
        let mut state = first;
        let mut saved: Vec<State<'a>> = Vec::new();
        let (mut text, mut line) = (Matrix::IDENTITY, Matrix::IDENTITY);
        let mut operators = Operators::new(content);
        while let Some((operator, operands)) = operators.next() {
            let number = |index: usize| operands.get(index).and_then(Operand::number).unwrap_or(0.0);
            match operator {
                b"q" if saved.len() < SAVED => saved.push(state.clone()),
                b"Q" => state = saved.pop().unwrap_or(state),
                b"cm" => state.matrix = matrix(operands).times(state.matrix),
                b"BT" => (text, line) = (Matrix::IDENTITY, Matrix::IDENTITY),
                b"Tf" => {
                    state.font = operands.first().and_then(Operand::name).and_then(|name| self.font(resources, name));
                    state.size = number(1);
                }
                b"Tc" => state.character_space = number(0),
                b"Tw" => state.word_space = number(0),
                b"Tz" => state.scale = number(0) / 100.0,
                b"TL" => state.leading = number(0),
                b"Ts" => state.rise = number(0),
                b"Td" | b"TD" => {
                    if operator == b"TD" {
                        state.leading = -number(1);
                    }
                    line = Matrix::translation(number(0), number(1)).times(line);
                    text = line;
                }
                b"Tm" => {
                    line = matrix(operands);
                    text = line;
                }
                b"T*" | b"'" | b"\"" => {
                    if operator == b"\"" {
                        state.word_space = number(0);
                        state.character_space = number(1);
                    }
                    line = Matrix::translation(0.0, -state.leading).times(line);
                    text = line;
                    if let Some(Operand::Text(bytes)) = operands.last() {
                        self.text(&state, &mut text, bytes);
                    }
                }
                b"Tj" => {
                    if let Some(Operand::Text(bytes)) = operands.first() {
                        self.text(&state, &mut text, bytes);
                    }
                }
                b"TJ" => {
                    let Some(Operand::Array(parts)) = operands.first() else { continue };
                    for part in parts {
                        match part {
                            Operand::Text(bytes) => self.text(&state, &mut text, bytes),
                            part => {
                                let by = -part.number().unwrap_or(0.0) / 1_000.0 * state.size * state.scale;
                                text = Matrix::translation(by, 0.0).times(text);
                            }
                        }
                    }
                }
                b"Do" if depth < FORM_DEPTH => {
                    let name = operands.first().and_then(Operand::name);
                    if let Some(name) = name.map(<[u8]>::to_vec) {
                        self.form(resources, &name, &state, depth);
                    }
                }
                _ => {}
            }
        }
    }

    fn text(&mut self, state: &State<'a>, text: &mut Matrix, bytes: &[u8]) {
        let Some(font) = state.font else { return };
        let start = Matrix::translation(0.0, state.rise).times(*text).times(state.matrix);
        let (mut shown, mut advance) = (String::new(), 0.0);
        font.each(bytes, |code, characters, width| {
            shown.push_str(characters);
            let space = if code == 32 { state.word_space } else { 0.0 };
            advance += (width * state.size + state.character_space + space) * state.scale;
        });
        *text = Matrix::translation(advance, 0.0).times(*text);
        let end = Matrix::translation(0.0, state.rise).times(*text).times(state.matrix);
        self.layout.add(&shown, start, end, state.size);
    }

    fn font(&self, resources: Option<&'a Dictionary>, name: &[u8]) -> Option<&'a Font<'a>> {
        let fonts = resources?.get_deref(b"Font", self.document).and_then(Object::as_dict).ok()?;
        self.fonts.get(fonts.get(name).ok()?)
    }

    fn form(&mut self, resources: Option<&'a Dictionary>, name: &[u8], state: &State<'a>, depth: usize) {
        let forms = resources
            .and_then(|resources| resources.get_deref(b"XObject", self.document).and_then(Object::as_dict).ok());
        let Some(form) = forms.and_then(|forms| forms.get_deref(name, self.document).and_then(Object::as_stream).ok())
        else {
            return;
        };
        if form.dict.get(b"Subtype").and_then(Object::as_name).ok() != Some(b"Form") {
            return;
        }
        let limit = MAX_CONTENT.min(*self.left);
        let Ok(content) = form.decompressed_content_with_limit(limit) else { return };
        *self.left -= content.len().min(*self.left);
        let own = form.dict.get_deref(b"Resources", self.document).and_then(Object::as_dict).ok().or(resources);
        let mut inner = state.clone();
        if let Ok(numbers) = form.dict.get_deref(b"Matrix", self.document).and_then(Object::as_array) {
            let numbers: Vec<f64> = numbers.iter().filter_map(|one| one.as_float().ok().map(f64::from)).collect();
            inner.matrix = Matrix::of(&numbers).times(inner.matrix);
        }
        self.show(&content, own, inner, depth + 1);
    }
}

fn matrix(operands: &[Operand]) -> Matrix {
    let numbers: Vec<f64> = operands.iter().filter_map(Operand::number).collect();
    Matrix::of(&numbers)
}
