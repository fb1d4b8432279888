//! The kinds of passages.

use crate::names::named;

named! {
    /// The kind of a passage: a symbol of code, a part of a text, or plain lines.
    Kind is a "kind" {
        /// A free function, or a group of declarations without bodies.
        Function = "function",
        /// A function inside a type, trait, class or implementation.
        Method = "method",
        /// A struct, class, enum, union, record or type alias: its head and fields, without its methods.
        Type = "type",
        /// A trait or an interface: its head and signatures, without default methods.
        Trait = "trait",
        /// Constants, statics and top-level assignments; small neighbours share a passage.
        Constant = "constant",
        /// A macro definition.
        Macro = "macro",
        /// Code between the symbols: imports, top-level statements, the opening of a module.
        Module = "module",
        /// Text under a heading.
        Section = "section",
        /// Paragraphs without a heading.
        Paragraph = "paragraph",
        /// The metadata block in front of a Markdown document.
        FrontMatter = "front_matter",
        /// Lines of a file whose structure is not read.
        Lines = "lines",
        /// The body of an issue, with its title.
        Issue = "issue",
        /// The body of a pull request or merge request, with its title.
        PullRequest = "pull_request",
        /// A comment on an issue or a pull request.
        Comment = "comment",
        /// A review of a pull request, or a remark on its lines.
        Review = "review",
        /// Lines of a note.
        Note = "note",
        /// Turns of a conversation.
        Turns = "turns",
        /// A piece of a page that supports or refutes a claim, or may do so.
        Fragment = "fragment",
        /// A statement that may be true or not.
        Claim = "claim",
    }
}
