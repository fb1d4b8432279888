//! PowerPoint files (`.pptx`): the text of each slide and its notes.

use super::body::Body;
use super::drawing;
use super::extracted::Extracted;
use super::package::Package;
use super::word::entitle;
use super::xml::{self, Node};
use crate::Skip;

/// Most slides that are read.
const MAX_SLIDES: usize = 5_000;

/// The level of the title of a slide, below that of the slide itself.
const TITLE_LEVEL: usize = 2;

pub(super) fn read(bytes: &[u8]) -> Result<Extracted, Skip> {
    let mut package = Package::open(bytes)?;
    let main = package.main("ppt/presentation.xml");
    let presentation = package.archive.require(&main)?;
    let slides = package.listed(&main, &presentation, "sldId")?;
    let mut extracted = Extracted::default();
    entitle(&mut package.archive, &mut extracted);
    for (index, (_, slide)) in slides.iter().take(MAX_SLIDES).enumerate() {
        let Some(content) = package.archive.read(slide)? else { continue };
        Body::new(&mut extracted).part(&format!("slide {}", index + 1));
        paragraphs(&content, &mut extracted)?;
        drawing::add(&mut package, slide, &mut extracted);
        for notes in package.related(slide, "notesSlide") {
            if let Some(notes) = package.archive.optional(&notes) {
                paragraphs(&notes, &mut extracted)?;
            }
        }
    }
    extracted.complete()
}

fn paragraphs(xml: &[u8], extracted: &mut Extracted) -> Result<(), Skip> {
    let mut body = Body::new(extracted);
    let (mut text, mut title) = (false, false);
    // Drawings once more for programs that do not know their format, and numbers of slides.
    let mut left_out = 0_usize;
    xml::walk(xml, |node| match node {
        Node::Start("Fallback" | "fld", _) => left_out += 1,
        Node::End("Fallback" | "fld") => left_out = left_out.saturating_sub(1),
        _ if left_out > 0 => {}
        Node::Start("sp", _) => title = false,
        Node::Start("ph", attributes) => {
            title = attributes.get("type").is_some_and(|kind| kind == "title" || kind == "ctrTitle");
        }
        Node::Start("p", _) => body.begin(title.then_some(TITLE_LEVEL), false),
        Node::End("p") => body.end(),
        Node::Start("t", _) => text = true,
        Node::End("t") => text = false,
        Node::Text(part) if text => body.text(part),
        Node::Start("br", _) => body.text("\n"),
        Node::Start("oMath", _) | Node::End("oMath") => body.divide(),
        Node::Start("tr", _) => body.begin_row(),
        Node::Start("tc", _) => body.begin_cell(),
        Node::End("tr") => body.end_row(),
        Node::End("tbl") => body.gap(),
        _ => {}
    })
}
