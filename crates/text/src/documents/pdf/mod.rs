//! PDF: the text of each page in the order in which the file shows it.
//!
//! `lopdf` finds the objects of the file and unpacks its streams within limits. `load` bounds what it may keep. `content` reads
//! the operators of a page, `fonts` turns codes into characters and widths, and `layout` joins what was shown into lines.

mod cmap;
mod content;
mod encodings;
mod fonts;
mod layout;
mod load;

use std::collections::HashSet;
use std::ptr;
use std::rc::Rc;

use lopdf::{Dictionary, Document, Object, Stream};

use super::Extracted;
use crate::lines::has_end;
use crate::{Skip, limits};
use content::{Operand, Operators};
use fonts::{Font, Fonts};
use layout::{Layout, Matrix};
use load::File;

/// Most pages that are read.
const MAX_PAGES: usize = 20_000;

/// Most bytes of operators in one page or form. A whole file has as many as it is long, times a factor that no packed text
/// exceeds by much, and some for forms that are shown often.
const MAX_CONTENT: usize = 32 << 20;
const MAX_CONTENTS: usize = 512 << 20;
const LEAST_CONTENTS: usize = 8 << 20;
const PACKED: usize = 16;

/// Space after each letter, as a part of the size of a font, that sets letters apart.
const SPACED: f64 = 0.1;

/// Forms can show other forms; this is the depth up to which they are read.
const FORM_DEPTH: usize = 6;

/// Most forms and annotations that a page shows.
const MAX_FORMS: usize = 20_000;

pub fn read(bytes: &[u8]) -> Result<Extracted, Skip> {
    let document = load::load(bytes)?;
    let file = File(&document);
    let fonts = Fonts::new(file);
    let mut extracted = Extracted::default();
    if let Some(title) = title(&document) {
        extracted.entitle(&title);
    }
    let mut left = (bytes.len().saturating_mul(PACKED) + LEAST_CONTENTS).min(MAX_CONTENTS);
    let pages = pages(file);
    let mut has_text = false;
    for (index, page) in pages.iter().enumerate() {
        let mut shown = Shown {
            file,
            fonts: &fonts,
            page: page.resources,
            layout: Layout::default(),
            left: &mut left,
            forms: MAX_FORMS,
            covered: None,
        };
        shown.page(page.dictionary);
        let text = shown.layout.finish();
        has_text |= text.contains(char::is_alphanumeric);
        if text.is_empty() {
            continue;
        }
        extracted.gap();
        extracted.part(1, &format!("page {}", index + 1));
        extracted.line(&text);
    }
    match pages.len() {
        _ if left == 0 => Err(Skip::TooMuchWork),
        0 => Err(Skip::Damaged),
        // A file cut short has pages without their text, which is no scan.
        _ if !has_text && !ends(bytes) => Err(Skip::Damaged),
        _ if !has_text => Err(Skip::NoText),
        _ => extracted.complete(),
    }
}

/// Returns `true` if the file has its end mark among its last kilobyte, where readers look for it.
fn ends(bytes: &[u8]) -> bool {
    let tail = &bytes[bytes.len().saturating_sub(1024)..];
    tail.windows(5).any(|window| window == b"%%EOF")
}

/// A page, and its resources or those that it inherits.
struct Page<'a> {
    dictionary: &'a Dictionary,
    resources: Option<&'a Dictionary>,
}

/// The pages in their order; if the file does not list them, all objects that say they are pages.
fn pages(file: File<'_>) -> Vec<Page<'_>> {
    let mut pages = Vec::new();
    let mut seen = HashSet::new();
    let root = file.0.catalog().ok().and_then(|catalog| file.get(catalog, b"Pages"));
    let mut rest: Vec<_> = root.and_then(|root| file.dictionary(root)).map(|root| (root, None)).into_iter().collect();
    while let Some((node, inherited)) = rest.pop() {
        if pages.len() >= MAX_PAGES || !seen.insert(ptr::from_ref(node)) {
            continue;
        }
        let own = file.get_dictionary(node, b"Resources");
        let resources = own.or(inherited);
        match file.get(node, b"Kids") {
            Some(Object::Array(kids)) => {
                let kids = kids.iter().rev().filter_map(|kid| file.dictionary(kid));
                rest.extend(kids.map(|kid| (kid, resources)));
            }
            _ if node.has_type(b"Pages") => {}
            _ => pages.push(Page { dictionary: node, resources }),
        }
    }
    if pages.is_empty() {
        let all = file.0.objects.values().filter_map(|object| object.as_dict().ok());
        pages.extend(all.filter(|object| object.has_type(b"Page")).take(MAX_PAGES).map(|dictionary| {
            let resources = file.get_dictionary(dictionary, b"Resources");
            Page { dictionary, resources }
        }));
    }
    pages
}

/// The title in the file's description of itself, unless a program made it up from the name of the source.
fn title(document: &Document) -> Option<String> {
    let info = document.trailer.get_deref(b"Info", document).and_then(Object::as_dict).ok()?;
    let title = lopdf::decode_text_string(info.get_deref(b"Title", document).ok()?).ok()?;
    let title = title.strip_prefix("Microsoft Word - ").unwrap_or(&title).trim();
    const ENDS: &str = ".doc .docx .dvi .tex .indd .qxd .pdf .ps .ppt .pptx .rtf .odt .md";
    let lower = title.to_lowercase();
    let made_up = lower.starts_with("untitled") || has_end(&lower, ENDS);
    (!title.is_empty() && !made_up).then(|| title.to_owned())
}

/// One page being shown.
struct Shown<'a, 'b> {
    file: File<'a>,
    fonts: &'a Fonts<'a>,
    /// The resources of the page, for forms without their own.
    page: Option<&'a Dictionary>,
    layout: Layout,
    /// Bytes of operators that may still be read, and forms that may still be shown.
    left: &'b mut usize,
    forms: usize,
    covered: Option<Covered>,
}

/// Glyphs that another text stands for, such as an ornate letter or a divided word.
struct Covered {
    text: String,
    /// Where the glyphs begin and end, and their size.
    place: Option<(Matrix, Matrix, f64)>,
}

impl Covered {
    fn reach(&mut self, start: Matrix, end: Matrix, size: f64) {
        match &mut self.place {
            None => self.place = Some((start, end, size)),
            Some((first, last, _)) if first.is_level_with(start) => *last = end,
            Some(_) => {}
        }
    }
}

/// The part of the graphics state that text depends on.
#[derive(Clone)]
struct State {
    matrix: Matrix,
    font: Option<Rc<Font>>,
    size: f64,
    character_space: f64,
    word_space: f64,
    scale: f64,
    leading: f64,
    rise: f64,
}

impl Default for State {
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

impl<'a> Shown<'a, '_> {
    fn page(&mut self, page: &'a Dictionary) {
        let mut content = Vec::new();
        let parts = match self.file.get(page, b"Contents") {
            Some(Object::Array(parts)) => parts.iter().collect(),
            part => Vec::from_iter(part),
        };
        for part in parts {
            if let Some(Object::Stream(stream)) = self.file.resolved(part) {
                // An operator can begin in one part and end in the next.
                content.extend(self.content(stream));
                content.push(b'\n');
            }
        }
        self.show(&content, self.page, State::default(), 0);
        if let Some(Object::Array(annotations)) = self.file.get(page, b"Annots") {
            for annotation in annotations {
                self.annotation(annotation);
            }
        }
    }

    /// The unpacked operators of a stream. They count against what the file may have.
    fn content(&mut self, stream: &'a Stream) -> Vec<u8> {
        match self.file.content(stream, MAX_CONTENT.min(*self.left)) {
            Ok(content) => {
                *self.left -= content.len();
                content
            }
            Err(refused) => {
                if refused == Skip::TooLarge && *self.left < MAX_CONTENT {
                    *self.left = 0;
                }
                Vec::new()
            }
        }
    }

    fn show(&mut self, content: &[u8], resources: Option<&'a Dictionary>, first: State, depth: usize) {
        let mut state = first;
        let mut saved: Vec<State> = Vec::new();
        // Marked parts that are open: whether a text began with each that stands for what it shows.
        let mut marked: Vec<bool> = Vec::new();
        let (mut text, mut line) = (Matrix::IDENTITY, Matrix::IDENTITY);
        let mut operators = Operators::new(content);
        while let Some((operator, operands)) = operators.next() {
            if limits::is_exceeded() {
                *self.left = 0;
                return;
            }
            let number = |index: usize| operands.get(index).and_then(Operand::number).unwrap_or(0.0);
            let name = || operands.first().and_then(Operand::name);
            match operator {
                b"q" if saved.len() < SAVED => saved.push(state.clone()),
                b"Q" => state = saved.pop().unwrap_or(state),
                b"cm" => state.matrix = matrix(operands).times(state.matrix),
                b"BT" => (text, line) = (Matrix::IDENTITY, Matrix::IDENTITY),
                b"Tf" => {
                    state.font = name().and_then(|name| self.font(resources, name));
                    state.size = number(1);
                }
                b"gs" => {
                    if let Some((font, size)) = name().and_then(|name| self.set_font(resources, name)) {
                        state.font = Some(font);
                        state.size = size;
                    }
                }
                b"BMC" => marked.push(false),
                b"BDC" => {
                    let actual = operands.get(1).and_then(|operand| self.actual_text(resources, operand));
                    marked.push(actual.is_some() && self.covered.is_none());
                    self.covered = self.covered.take().or(actual.map(|text| Covered { text, place: None }));
                }
                b"EMC" if marked.pop() == Some(true) => self.uncover(text.times(state.matrix)),
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
                b"Tj" | b"T*" | b"'" | b"\"" => {
                    if operator == b"\"" {
                        state.word_space = number(0);
                        state.character_space = number(1);
                    }
                    if operator != b"Tj" {
                        line = Matrix::translation(0.0, -state.leading).times(line);
                        text = line;
                    }
                    // What a damaged page has behind the text is no part of it.
                    if let Some(Operand::Text(bytes)) = operands.iter().rfind(|one| matches!(one, Operand::Text(_))) {
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
                    if let Some(name) = name() {
                        self.form(resources, name, &state, depth);
                    }
                }
                _ => {}
            }
        }
    }

    fn text(&mut self, state: &State, text: &mut Matrix, bytes: &[u8]) {
        let Some(font) = &state.font else { return };
        let at = |text: Matrix| Matrix::translation(0.0, state.rise).times(text).times(state.matrix);
        let (mut start, mut end) = (*text, *text);
        let mut shown = String::new();
        let (layout, covered) = (&mut self.layout, &mut self.covered);
        let size = state.size * font.em;
        let mut add = |shown: &str, start: Matrix, end: Matrix| match covered {
            Some(covered) => covered.reach(start, end, size),
            None => layout.add(shown, start, end, size),
        };
        let spaced = state.character_space.abs() > SPACED * size.abs();
        font.each(bytes, |characters, width, is_space| {
            // A glyph that shows nothing is a distance between two pieces, as is the space between letters set wide.
            if (characters.is_empty() || spaced) && !shown.is_empty() {
                add(&shown, at(start), at(end));
                shown.clear();
            }
            if shown.is_empty() {
                start = *text;
            }
            // A long text for each of many codes.
            if shown.len() <= layout::MAX_TEXT {
                shown.push_str(characters);
            }
            let advance = width * state.size * state.scale;
            end = Matrix::translation(advance, 0.0).times(*text);
            let space = state.character_space + if is_space { state.word_space } else { 0.0 };
            *text = Matrix::translation(space * state.scale, 0.0).times(end);
        });
        add(&shown, at(start), at(end));
    }

    /// Shows the text that stood for glyphs, in their place, or `here` if there were none.
    fn uncover(&mut self, here: Matrix) {
        if let Some(Covered { text, place }) = self.covered.take() {
            let (start, end, size) = place.unwrap_or((here, here, 1.0));
            self.layout.add(&text, start, end, size);
            if text.is_empty() {
                self.layout.reach(end);
            }
        }
    }

    /// The text that stands for what is shown, by the properties of a marked part.
    fn actual_text(&self, resources: Option<&'a Dictionary>, properties: &Operand) -> Option<String> {
        let text = match properties {
            Operand::ActualText(text) => return decoded(text),
            Operand::Name(name) => {
                let properties = self.resource(resources, b"Properties", name)?.as_dict().ok()?;
                self.file.get(properties, b"ActualText")?
            }
            _ => return None,
        };
        lopdf::decode_text_string(text).ok()
    }

    /// The font and its size that a set of parameters gives.
    fn set_font(&self, resources: Option<&'a Dictionary>, name: &[u8]) -> Option<(Rc<Font>, f64)> {
        let parameters = self.resource(resources, b"ExtGState", name)?.as_dict().ok()?;
        let Some(Object::Array(parts)) = self.file.get(parameters, b"Font") else { return None };
        let [font, size] = parts.as_slice() else { return None };
        Some((self.fonts.get(font)?, self.file.number(size)?))
    }

    fn font(&self, resources: Option<&'a Dictionary>, name: &[u8]) -> Option<Rc<Font>> {
        self.fonts.get(self.resource(resources, b"Font", name)?)
    }

    /// A resource of the form at hand, or else of its page.
    fn resource(&self, resources: Option<&'a Dictionary>, kind: &[u8], name: &[u8]) -> Option<&'a Object> {
        [resources, self.page].into_iter().flatten().find_map(|resources| {
            let all = self.file.get_dictionary(resources, kind)?;
            self.file.get(all, name)
        })
    }

    fn form(&mut self, resources: Option<&'a Dictionary>, name: &[u8], state: &State, depth: usize) {
        if let Some(Object::Stream(form)) = self.resource(resources, b"XObject", name)
            && self.file.get_name(&form.dict, b"Subtype") == Some(b"Form")
        {
            self.show_form(form, resources, state.clone(), depth);
        }
    }

    fn show_form(&mut self, form: &'a Stream, resources: Option<&'a Dictionary>, mut state: State, depth: usize) {
        if self.forms == 0 {
            return;
        }
        self.forms -= 1;
        let content = self.content(form);
        let own = self.file.get_dictionary(&form.dict, b"Resources");
        state.matrix = Matrix::new(&self.numbers(&form.dict, b"Matrix")).times(state.matrix);
        self.show(&content, own.or(resources), state, depth + 1);
    }

    /// What an annotation shows, such as the text in the field of a form.
    fn annotation(&mut self, annotation: &'a Object) {
        const HIDDEN: i64 = 2 | 32;
        let Some(annotation) = self.file.dictionary(annotation) else { return };
        let flags = self.file.get(annotation, b"F").and_then(|flags| flags.as_i64().ok()).unwrap_or(0);
        let popup = self.file.get_name(annotation, b"Subtype") == Some(b"Popup");
        if flags & HIDDEN != 0 || popup {
            return;
        }
        let place = self.numbers(annotation, b"Rect");
        let looks = self.file.get_dictionary(annotation, b"AP");
        let normal = looks.and_then(|looks| self.file.get(looks, b"N"));
        let form = match normal {
            Some(Object::Stream(form)) => form,
            // One look for each state.
            Some(Object::Dictionary(states)) => {
                let state = self.file.get_name(annotation, b"AS");
                let Some(Object::Stream(form)) = state.and_then(|state| self.file.get(states, state)) else {
                    return;
                };
                form
            }
            _ => return self.field(annotation, &place),
        };
        let bounds = self.numbers(&form.dict, b"BBox");
        let mut state = State::default();
        if let ([x, y, ..], [left, bottom, ..]) = (&place[..], &bounds[..]) {
            state.matrix = Matrix::translation(x - left, y - bottom);
        }
        self.layout.end_line();
        let before = self.layout.length;
        self.show_form(form, None, state, 0);
        if self.layout.length == before {
            self.field(annotation, &place);
        }
    }

    /// Shows the value of a field whose look does not.
    fn field(&mut self, annotation: &'a Dictionary, place: &[f64]) {
        if let ([x, y, ..], Some(value)) = (place, self.value(annotation)) {
            // Many fields can have one value.
            *self.left = self.left.saturating_sub(value.len());
            if *self.left == 0 {
                return;
            }
            let at = Matrix::translation(*x, *y);
            self.layout.add(&value, at, at, 1.0);
            self.layout.end_line();
        }
    }

    /// The text in a field of a form, or of a note on the page, that nothing shows yet.
    fn value(&self, annotation: &'a Dictionary) -> Option<String> {
        let kind = self.file.get_name(annotation, b"Subtype")?;
        let key: &[u8] = match kind {
            b"Widget" => b"V",
            b"FreeText" => b"Contents",
            _ => return None,
        };
        let own = self.file.get(annotation, key);
        let parent = || self.file.get(self.file.get_dictionary(annotation, b"Parent")?, key);
        own.or_else(parent).and_then(|value| lopdf::decode_text_string(value).ok())
    }

    fn numbers(&self, dictionary: &'a Dictionary, key: &[u8]) -> Vec<f64> {
        let Some(Object::Array(parts)) = self.file.get(dictionary, key) else { return Vec::new() };
        parts.iter().filter_map(|part| self.file.number(part)).collect()
    }
}

/// A string of the file as text.
fn decoded(text: &[u8]) -> Option<String> {
    lopdf::decode_text_string(&Object::String(text.to_vec(), lopdf::StringFormat::Literal)).ok()
}

fn matrix(operands: &[Operand]) -> Matrix {
    let numbers: Vec<f64> = operands.iter().filter_map(Operand::number).collect();
    Matrix::new(&numbers)
}
