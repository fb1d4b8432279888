//! Templates that hold text of the page. All others are dropped, since their text is elsewhere.

/// The text that replaces a template.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// The parameter of this number, from 1.
    One(usize),
    /// The first so many parameters without a name, with this separator.
    Joined(usize, &'static str),
    /// This text.
    Text(&'static str),
    /// The title of the page.
    Title,
}

/// Templates that wikis on software and encyclopedias commonly have around text.
const FIRST: &[&str] = &[
    "ic", "bc", "code", "tt", "kbd", "key", "keypress", "key press", "samp", "var", "mono", "codeline", "inline code",
    "nowrap", "nobr", "em", "strong", "small", "big", "smaller", "larger", "sup", "sub", "note", "warning", "tip",
    "caution", "important", "attention", "info", "hint", "danger", "quote", "blockquote", "cquote", "tq", "abbr",
    "tooltip", "visible anchor", "vanchor", "pkg", "aur", "grp", "app", "path", "package", "cmd", "command", "rootcmd",
    "term", "url", "ill", "interlanguage link", "link", "math", "mvar", "ruby", "box", "message", "notice",
    "message box",
];

/// The shape of the template `name`, in lower case; `None` for one that is dropped.
pub(super) fn shape(name: &str) -> Option<Shape> {
    if FIRST.contains(&name) {
        return Some(Shape::One(1));
    }
    Some(match name {
        "!" => Shape::Text("|"),
        "=" => Shape::Text("="),
        "pagename" | "fullpagename" | "basepagename" | "subpagename" => Shape::Title,
        "lang" | "langx" | "transl" | "transliteration" | "color" => Shape::One(2),
        "convert" | "cvt" => Shape::Joined(2, " "),
        "man" | "as of" => Shape::Joined(2, " "),
        "hc" | "collapse" | "hidden" | "spoiler" => Shape::Joined(8, "\n"),
        "plainlist" | "unbulleted list" | "ubl" | "flatlist" | "hlist" | "cslist" => Shape::Joined(100, ", "),
        "frac" => Shape::Joined(3, "/"),
        "nihongo" => Shape::Joined(2, " "),
        _ => return None,
    })
}
