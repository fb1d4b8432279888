//! Tags of HTML and of a wiki's extensions, with their treatment.

/// The treatment of a tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tag {
    /// It is dropped with its content.
    Dropped,
    /// Its content is kept verbatim, within its line.
    Literal,
    /// Its content is kept verbatim, in a block of its own if it has several lines.
    Code,
    /// Its content is kept verbatim except for entities, in a block of its own.
    Preformatted,
    /// It is replaced by this text.
    Replaced(&'static str),
}

/// Extensions and elements whose content is not text of the page.
const DROPPED: &[&str] = &[
    "ref", "gallery", "timeline", "imagemap", "templatedata", "score", "graph", "mapframe", "maplink", "includeonly",
    "hiero", "inputbox", "categorytree", "style", "script", "indicator", "dynamicpagelist",
];

/// Elements within a line, and marks of an extension around text.
const INLINE: &[&str] = &[
    "b", "i", "u", "s", "em", "strong", "small", "big", "sub", "sup", "span", "font", "code", "tt", "kbd", "var",
    "samp", "del", "ins", "abbr", "cite", "dfn", "mark", "q", "bdi", "bdo", "ruby", "rt", "rp", "rb", "wbr", "strike",
    "noinclude", "onlyinclude", "translate", "languages", "tvar", "time", "data", "references", "templatestyles",
    "section", "nobr",
];

/// Elements on lines of their own.
const BLOCKS: &[&str] = &[
    "p", "div", "blockquote", "center", "table", "tbody", "thead", "tr", "caption", "ul", "ol", "dl", "dt", "dd", "h1",
    "h2", "h3", "h4", "h5", "h6", "hr", "poem", "tabs", "tab", "tabber",
];

/// The treatment of the tag `name`, in lower case; `None` for a word in angle brackets that wikis do not know.
pub(super) fn tag(name: &str, closing: bool) -> Option<(&'static str, Tag)> {
    let find = |names: &[&'static str]| names.iter().copied().find(|known| *known == name);
    if let Some(name) = find(DROPPED) {
        return Some((name, Tag::Dropped));
    }
    if let Some(name) = find(&["nowiki", "math", "chem", "ce"]) {
        return Some((name, Tag::Literal));
    }
    if let Some(name) = find(&["syntaxhighlight", "source"]) {
        return Some((name, Tag::Code));
    }
    if let Some(name) = find(&["pre"]) {
        return Some((name, Tag::Preformatted));
    }
    if let Some(name) = find(INLINE) {
        return Some((name, Tag::Replaced("")));
    }
    if let Some(name) = find(BLOCKS) {
        return Some((name, Tag::Replaced("\n")));
    }
    match (name, closing) {
        ("li", false) => Some(("li", Tag::Replaced("\n* "))),
        ("li", true) => Some(("li", Tag::Replaced("\n"))),
        ("br", _) => Some(("br", Tag::Replaced(" "))),
        ("td" | "th", _) => Some(("td", Tag::Replaced(" "))),
        _ => None,
    }
}

/// Words between underscores that are switches of the wiki rather than names.
pub(super) const SWITCHES: &[&str] = &[
    "NOTOC", "FORCETOC", "TOC", "NOEDITSECTION", "NEWSECTIONLINK", "NONEWSECTIONLINK", "NOGALLERY", "HIDDENCAT",
    "INDEX", "NOINDEX", "STATICREDIRECT", "NOTITLECONVERT", "NOCONTENTCONVERT", "NOTC", "NOCC", "DISAMBIG",
    "EXPECTUNUSEDCATEGORY",
];
