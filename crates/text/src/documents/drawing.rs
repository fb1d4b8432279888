//! The text of charts and diagrams, which office files hold in parts of their own.

use super::body::Body;
use super::extracted::Extracted;
use super::package::Package;
use super::xml::{self, Node};

/// Most charts and diagrams of a part.
const MAX_DRAWINGS: usize = 1_000;

/// Adds the text of the charts and diagrams that a part shows: titles, names of series and categories, but no figures. One that
/// cannot be read costs nothing.
pub(super) fn add(package: &mut Package<'_>, part: &str, extracted: &mut Extracted) {
    for kind in ["diagramData", "chart", "chartEx"] {
        for name in package.related(part, kind).into_iter().take(MAX_DRAWINGS) {
            if let Some(content) = package.archive.optional(&name) {
                text(&content, extracted);
            }
        }
    }
}

/// Adds the text of a drawing.
pub(super) fn text(xml: &[u8], extracted: &mut Extracted) {
    let mut body = Body::new(extracted);
    // Names of categories are in a list of strings, which stands beside lists of numbers.
    let (mut text, mut listed) = (false, false);
    let _ = xml::walk(xml, |node| match node {
        Node::Start("strCache" | "strDim", _) => listed = true,
        Node::End("strCache" | "strDim") => listed = false,
        Node::Start("p", _) => body.begin(None, false),
        Node::End("p") => body.end(),
        Node::Start("v" | "pt", _) if listed => {
            body.begin(None, false);
            text = true;
        }
        Node::End("v" | "pt") if listed => {
            body.end();
            text = false;
        }
        Node::Start("t", _) => text = true,
        Node::End("t") => text = false,
        Node::Text(part) if text => body.text(part),
        Node::Start("br", _) => body.text("\n"),
        _ => {}
    });
}
