//! The body of an office document: paragraphs with their levels, paragraphs inside of paragraphs, and tables.

use std::collections::HashMap;

use super::Extracted;

/// Most paragraphs and tables that stand in one another. What is deeper is left out.
const MAX_DEPTH: usize = 64;

/// Most cells of a row, and most paragraphs that wait for the one around them.
const MAX_CELLS: usize = 1_000;
const MAX_INNER: usize = 10_000;

/// Most styles that lead from one to the next.
const MOST_BASES: usize = 16;

/// A paragraph that is open or waits for the one around it.
#[derive(Default)]
struct Paragraph {
    text: String,
    /// The level of a heading; 0 for the title.
    level: Option<usize>,
    listed: bool,
    /// Something else stands between the text so far and what comes.
    divided: bool,
    /// Paragraphs in text boxes and notes that stand in this one.
    inner: Vec<Paragraph>,
}

/// Writes a body, element by element.
pub struct Body<'a> {
    extracted: &'a mut Extracted,
    open: Vec<Paragraph>,
    /// Cells of the rows that are open, the innermost last.
    rows: Vec<Vec<String>>,
    /// Paragraphs and rows that are open beyond the depth.
    deeper: usize,
    deeper_rows: usize,
    /// True while a table has no row yet.
    table_begins: bool,
    /// Bytes of text in open paragraphs and rows. A small file can name a long text many times.
    waiting: usize,
}

impl<'a> Body<'a> {
    pub fn new(extracted: &'a mut Extracted) -> Self {
        Self {
            extracted,
            open: Vec::new(),
            rows: Vec::new(),
            deeper: 0,
            deeper_rows: 0,
            table_begins: true,
            waiting: 0,
        }
    }

    pub fn begin(&mut self, level: Option<usize>, listed: bool) {
        if self.open.len() >= MAX_DEPTH {
            self.deeper += 1;
            return;
        }
        self.settle();
        if let Some(around) = self.open.last_mut() {
            around.divided = true;
        }
        self.open.push(Paragraph { level, listed, ..Paragraph::default() });
    }

    /// Adds text to the innermost paragraph; text outside of one is none of the document's.
    pub fn text(&mut self, text: &str) {
        if let Some(paragraph) = self.open.last_mut() {
            if !self.extracted.has_room(self.waiting.saturating_add(text.len())) {
                return;
            }
            self.waiting += text.len();
            let (before, after) =
                (paragraph.text.ends_with(char::is_alphanumeric), text.starts_with(char::is_alphanumeric));
            if std::mem::take(&mut paragraph.divided) && before && after {
                paragraph.text.push(' ');
            }
            paragraph.text.push_str(text);
        }
    }

    /// Keeps the words before and after this place apart, such as around a picture, a symbol or a formula.
    pub fn divide(&mut self) {
        if let Some(paragraph) = self.open.last_mut() {
            paragraph.divided = true;
        }
    }

    /// Makes the innermost paragraph a heading or a title.
    pub fn level(&mut self, level: Option<usize>) {
        if let Some(paragraph) = self.open.last_mut() {
            paragraph.level = level.or(paragraph.level);
        }
    }

    /// Makes the innermost paragraph an item of a list.
    pub fn listed(&mut self) {
        if let Some(paragraph) = self.open.last_mut() {
            paragraph.listed = true;
        }
    }

    pub fn end(&mut self) {
        if self.deeper > 0 {
            self.deeper -= 1;
            return;
        }
        let Some(paragraph) = self.open.pop() else { return };
        match self.open.last_mut() {
            Some(_) if paragraph.text.trim().is_empty() && paragraph.inner.is_empty() => {}
            Some(around) if around.inner.len() < MAX_INNER => around.inner.push(paragraph),
            _ => self.add(paragraph),
        }
    }

    /// Adds a paragraph, and then those that stood in it.
    fn add(&mut self, paragraph: Paragraph) {
        let mut rest = vec![paragraph];
        while let Some(mut paragraph) = rest.pop() {
            rest.extend(std::mem::take(&mut paragraph.inner).into_iter().rev());
            let content = paragraph.text.trim();
            match self.rows.last_mut().and_then(|row| row.last_mut()) {
                Some(cell) => append(cell, content),
                None => add(self.extracted, content, paragraph.level, paragraph.listed),
            }
        }
    }

    /// Nothing waits where nothing is open.
    fn settle(&mut self) {
        if self.open.is_empty() && self.rows.is_empty() {
            self.waiting = 0;
        }
    }

    pub fn begin_row(&mut self) {
        self.settle();
        if self.rows.len() >= MAX_DEPTH {
            self.deeper_rows += 1;
        } else {
            self.rows.push(Vec::new());
        }
    }

    pub fn begin_cell(&mut self) {
        if let Some(row) = self.rows.last_mut().filter(|row| row.len() < MAX_CELLS && self.deeper_rows == 0) {
            row.push(String::new());
        }
    }

    /// Adds a row as a line with bars, or to the cell around it.
    pub fn end_row(&mut self) {
        if self.deeper_rows > 0 {
            self.deeper_rows -= 1;
            return;
        }
        let row = self.rows.pop().unwrap_or_default().join(" | ");
        match self.rows.last_mut().and_then(|row| row.last_mut()) {
            Some(cell) => append(cell, &row),
            None if row.trim_matches([' ', '|']).is_empty() => {}
            None => {
                let begins = std::mem::take(&mut self.table_begins);
                self.extracted.table_row(row.trim_end_matches([' ', '|']), begins);
            }
        }
    }

    /// Ends a list or a table.
    pub fn gap(&mut self) {
        if self.rows.is_empty() && self.open.is_empty() {
            self.table_begins = true;
            self.extracted.gap();
        }
    }

    /// Begins a part with a name: a slide, a sheet.
    pub fn part(&mut self, name: &str) {
        self.table_begins = true;
        self.extracted.gap();
        self.extracted.part(1, name);
    }
}

fn append(cell: &mut String, text: &str) {
    if !cell.is_empty() && !text.is_empty() {
        cell.push(' ');
    }
    cell.push_str(&text.replace('\n', " "));
}

fn add(extracted: &mut Extracted, content: &str, level: Option<usize>, listed: bool) {
    if content.is_empty() {
        return;
    }
    match level {
        Some(0) => {
            extracted.entitle(content);
            extracted.heading(1, content);
            extracted.has_title_line = true;
            extracted.gap();
        }
        Some(level) => {
            extracted.gap();
            // The headings of a document with a title are parts of it.
            extracted.heading(level + usize::from(extracted.has_title_line), content);
            extracted.gap();
        }
        None if listed => extracted.line(&format!("- {content}")),
        None => {
            extracted.line(content);
            extracted.gap();
        }
    }
}

/// Styles of paragraphs: the levels of headings, and the styles that others are based on.
#[derive(Default)]
pub struct Styles {
    /// `None` for a style that is no heading whatever it is based on.
    levels: HashMap<String, Option<usize>>,
    bases: HashMap<String, String>,
}

impl Styles {
    pub fn set_level(&mut self, style: &str, level: Option<usize>) {
        self.levels.entry(style.to_owned()).or_insert(level);
    }

    pub fn set_base(&mut self, style: &str, base: String) {
        self.bases.insert(style.to_owned(), base);
    }

    /// The level of a style, or of those that it is based on; 0 for the title.
    pub fn level(&self, style: &str) -> Option<usize> {
        let mut style = style;
        for _ in 0..MOST_BASES {
            if let Some(level) = self.levels.get(style) {
                return *level;
            }
            style = self.bases.get(style)?;
        }
        None
    }
}
