//! Turns wikitext into readable text: the content of the page without its markup.
//!
//! Two passes. The first takes the text apart into marks ([`tokens`]) and writes it again without them ([`inline`]): links
//! become their labels, templates become their content or are dropped, comments and references are dropped. The second reads lines
//! ([`blocks`]): headings, lists and tables. An unclosed construct loses only its own mark. Every step
//! takes time linear in the length of the page.

mod blocks;
mod inline;
mod tokens;

use crate::prose::Heading;

/// The readable text of a page.
#[derive(Debug, Default, PartialEq)]
pub struct Readable {
    /// The text, with `\n` line ends and no blank lines at its ends.
    pub text: String,
    /// Its headings; levels begin at 2, since the title of a page is level 1.
    pub headings: Vec<Heading>,
    /// The first and the last line of each table whose first line is a header.
    pub tables: Vec<(usize, usize)>,
    /// The categories that the page is in.
    pub categories: Vec<String>,
}

/// The names of namespaces, in lower case, whose links are not text.
#[derive(Clone, PartialEq)]
pub struct Names {
    pub files: Vec<String>,
    pub categories: Vec<String>,
}

impl Default for Names {
    fn default() -> Self {
        let files = ["file", "image", "media"].map(str::to_owned);
        Self { files: files.into(), categories: vec!["category".to_owned()] }
    }
}

/// Marks text that only looks like markup. Removed at the end.
const LITERAL: char = '\u{1}';
/// Replaces a bar that is not a separator.
const BAR: char = '\u{2}';
/// Delimits the number of a block that is kept verbatim.
const BLOCK: char = '\u{0}';

/// The readable text of the page called `title`.
pub fn readable(wikitext: &str, title: &str, names: &Names) -> Readable {
    let marked = |character: char| matches!(character, LITERAL | BAR | BLOCK);
    let clean: String;
    let source = if wikitext.contains(|character| marked(character) || character == '\r') {
        clean = wikitext.replace("\r\n", "\n").replace(marked, "");
        clean.as_str()
    } else {
        wikitext
    };
    let written = inline::write(source, title, names);
    let (text, headings, tables) = blocks::blocks(&written.text, &written.blocks);
    Readable { text, headings, tables, categories: written.categories }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn text(wikitext: &str) -> String {
        readable(wikitext, "The Page", &Names::default()).text
    }

    #[test]
    fn markup_goes_and_words_stay_and_headings_come_with_their_levels_and_rows() {
        for (wikitext, expected) in [
            ("'''Bold''' and ''italic'' it's", "Bold and italic it's"),
            ("[[Page]], [[Page|label]], [[Page#Part|]], [[:Category:X]]", "Page, label, Page#Part, Category:X"),
            ("See [https://example.org the site] or [https://example.org].", "See the site or https://example.org."),
            ("Fast{{citation needed|date=May 2020}}.<ref>A book</ref><ref name=\"x\" /> Yes.", "Fast. Yes."),
            ("Run {{ic|ls -l}} in {{nowrap|the [[Shell|shell]]}}.", "Run ls -l in the shell."),
            ("{{Note|Keep '''this''' {{x|y}}one.}}", "Keep this one."),
            ("[[File:A.png|thumb|A [[link]] in a {{caption}}]]Text[[Category:Tools|sort]]", "Text"),
            ("a<!-- hidden -->b &amp; c&nbsp;d &lt;br&gt; &#x41; &unknown; &", "ab & c d <br> A &unknown; &"),
            ("<nowiki>[[x]] ''y''</nowiki> <code>z</code> Vec<T>", "[[x]] ''y'' z Vec<T>"),
            ("__NOTOC__ a __init__ {{DEFAULTSORT:x}}", "a __init__"),
            ("* a\n** b\n# c\n# d\n:e\n;f: g", "- a\n  - b\n1. c\n2. d\ne\nf: g"),
            ("a<br>b<br/>c", "a b c"),
            ("The town ({{lang-de|X}}) is ({{x}}; a) old.", "The town is (a) old."),
            ("[[de:Seite]]\n[[rfc:2119]] says", "rfc:2119 says"),
            ("{{PAGENAME}} is {{{1|x}}}this", "The Page is this"),
        ] {
            assert_eq!(text(wikitext), expected, "{wikitext}");
        }
        let readable = readable("Lead.\n== A [[b|c]] ==\nx\n=== D ===  <!-- e -->\ny\n=F=\nz", "T", &Names::default());
        assert_eq!(readable.text, "Lead.\n\n## A c\nx\n\n### D\ny\n\n## F\nz");
        let texts: Vec<_> = readable.headings.iter().map(|one| (one.first, one.level, one.text.as_str())).collect();
        assert_eq!(texts, [(2, 2, "A c"), (5, 3, "D"), (8, 2, "F")]);
    }

    #[test]
    fn code_is_kept_as_it_is_and_tables_become_lines() {
        let source = "Use:<syntaxhighlight lang=\"rust\">\nlet a = &b; // [[x]] {{y}}\n== no ==\n</syntaxhighlight>then\n<pre>\n a &lt; b\n</pre>";
        let expected = "Use:\n```rust\nlet a = &b; // [[x]] {{y}}\n== no ==\n```\nthen\n\n```\n a < b\n```";
        assert_eq!(text(source), expected);
        assert_eq!(text("a <syntaxhighlight inline>x[[1]]</syntaxhighlight> b"), "a x[[1]] b");
        let source = "{| class=\"wikitable\"\n|+ Sizes\n! Name !! style=\"x\" | Size\n|-\n| a || 1\n|-\n| [[b|B]]\n| 2\nmore\n|}\nafter";
        let page = readable(source, "T", &Names::default());
        assert_eq!(page.text, "Sizes\nName | Size\na | 1\nB | 2 more\nafter");
        assert_eq!(page.tables, [(1, 3)], "from its header to its last row");
        let headless = readable("{|\n! A\n| 1\n|-\n! B\n| 2\n|}", "T", &Names::default());
        assert!(headless.tables.is_empty(), "each row has a header of its own");
    }

    #[test]
    fn categories_are_collected_once_and_names_of_namespaces_are_the_wikis_own() {
        let readable = readable("x [[Category:A b]] [[category:A b|s]] [[Category:C]]", "T", &Names::default());
        assert_eq!(readable.categories, ["A b", "C"]);
        let names = Names { files: vec!["datei".to_owned()], categories: vec!["kategorie".to_owned()] };
        let readable = super::readable("a[[Datei:X.png|mini|b]] [[Kategorie:C]]", "T", &names);
        assert_eq!((readable.text.as_str(), readable.categories.as_slice()), ("a", &["C".to_owned()][..]));
    }

    #[test]
    fn what_is_not_closed_takes_nothing_with_it() {
        for open in [
            "{{", "{{x|", "{{{", "[[", "[[File:x|", "<ref>", "<ref name=\"a", "<!--", "<pre>", "<nowiki>", "{|", "''",
            "[http://x ", "<syntaxhighlight lang=c>", "<gallery>", "{|\n| a\n", "{{a {{b", "}}", "]]", "|}", "</ref>",
            "{{{{{", "<div ",
        ] {
            let readable =
                readable(&format!("Before.\n\n{open} here\n\n== Later ==\nStill there.\n"), "T", &Names::default());
            assert!(readable.text.contains("Before."), "{open}: {}", readable.text);
            assert!(readable.text.contains("here"), "{open}: {}", readable.text);
            assert!(readable.text.ends_with("## Later\nStill there."), "{open}: {}", readable.text);
        }
        // Nor does one that is closed far after it.
        let far = "{{x\n\n== A ==\nKept.\n\nA stray }} and a <ref>x\n\n== B ==\nKept too.\n\n<ref>zebra</ref>";
        let text = text(far);
        assert!(text.contains("Kept.") && text.contains("Kept too.") && !text.contains("zebra"), "{text}");
    }

    #[test]
    fn a_page_of_open_brackets_is_quick() {
        assert_eq!(text(&"{{".repeat(1 << 19)), "");
        // Quadratic work would not end on these.
        let size = 1 << 18;
        for part in [
            "{{", "[[", "{|\n", "<ref>", "<!--", "<pre>", "''", "[http://", "{{x|", "[[a|", "<nowiki>", "<b ", "*",
            "=", "&", "{{{", "{{ic|",
        ] {
            let open = part.repeat(size / part.len());
            let closed = format!("{open}{}", "}}".repeat(size / 2));
            let links = format!("{open}{}", "]]".repeat(size / 2));
            for source in [open, closed, links] {
                assert!(text(&source).len() <= 8 * source.len());
            }
        }
    }

    /// Marks and words; without `keeping`, only marks that neither keep their content verbatim nor hide it on purpose.
    fn source(keeping: bool) -> impl Strategy<Value = String> {
        let parts = [
            "{{", "}}", "{{{", "}}}", "[[", "]]", "|", "[http://a b", "]", "<ref>", "</ref>", "<ref/>", "<!--", "-->",
            "<pre>", "</pre>", "<nowiki>", "</nowiki>", "<nowiki/>", "''", "'''", "{|", "|}", "|-", "||", "!!", "! a",
            "\n", "\n\n", "== A ==", "=", "* ", "# ", "; a : b", "word ", "é語", "File:x", "Category:y", "ic|",
            "Note|", "<syntaxhighlight lang=c>", "</syntaxhighlight>", "&amp;", "&#0;", "&#x110000;", "__TOC__",
            "<br>", "<li>", "\u{0}", "\u{1}", "\u{2}", "\r\n", " ", "----",
        ];
        let keeps = |part: &&str| !["<!--", "<pre>", "<nowiki>", "<syntaxhighlight lang=c>"].contains(part);
        let parts: Vec<&str> = parts.into_iter().filter(|part| keeping || keeps(part)).collect();
        prop::collection::vec(prop::sample::select(parts), 0..80).prop_map(|parts| parts.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1000))]

        #[test]
        fn any_markup_is_read(source in source(true)) {
            let readable = readable(&source, "T", &Names::default());
            let rows: Vec<&str> = readable.text.lines().collect();
            for heading in &readable.headings {
                prop_assert!(rows[heading.first].starts_with("##"), "{:?}", readable);
            }
            prop_assert!(!readable.text.contains([LITERAL, BAR, BLOCK]));
        }

        #[test]
        fn plain_words_are_never_lost(before in source(false), after in source(true)) {
            // A word between two blank lines and headings is in no mark that could remove it.
            let marked = format!("{before}\n\n== A ==\n\nlighthouse\n\n== B ==\n\n{after}");
            prop_assert!(text(&marked).contains("lighthouse"), "{}", marked);
        }
    }
}
