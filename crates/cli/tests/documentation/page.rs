//! The command blocks of a Markdown page.

use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag, TagEnd};
use std::ops::Range;

/// The marker before a block that is not run. The reason follows.
const NOT_RUN: &str = "<!-- not run:";
/// The marker before a block that is run in another directory than `~/mill`, which follows.
const RUN_IN: &str = "<!-- run in ~";
/// The marker before a block whose reader has not run the blocks before it.
const ANEW: &str = "<!-- run anew -->";
/// The marker before a block that shows a state which a server reaches after some time.
const UNTIL_SHOWN: &str = "<!-- run until it prints this -->";

/// A fenced block of the language `console`.
#[derive(Debug)]
pub struct Block {
    /// The line of its fence in the page, from 1.
    pub line: usize,
    /// Its text within the page, without the fences.
    pub text: Range<usize>,
    /// Its commands with what they print.
    pub steps: Vec<Step>,
    /// The reason why it is not run, if a marker before it gives one.
    pub not_run: Option<String>,
    /// The directory, below the home directory, in which it is run.
    pub directory: String,
    /// Whether its reader has not run the blocks before it.
    pub anew: bool,
    /// Whether it is run again as long as it prints something else.
    pub until_shown: bool,
}

/// A command, and the output that the page shows below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The lines of the command as the page shows them.
    pub shown: Vec<String>,
    /// The command for the shell: without prompts.
    pub command: String,
    /// The lines that it prints.
    pub output: Vec<String>,
}

/// Returns the blocks of a page, in order.
pub fn blocks(page: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut inside = false;
    let mut comment = String::new();
    for (event, range) in Parser::new(page).into_offset_iter() {
        match event {
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(language))) if &*language == "console" => inside = true,
            Event::End(TagEnd::CodeBlock) if inside => {
                inside = false;
                blocks.push(block(page, range, &std::mem::take(&mut comment)));
            }
            Event::Start(Tag::HtmlBlock) | Event::End(TagEnd::HtmlBlock) => {}
            Event::Html(html) => comment += &html,
            _ if !inside => comment.clear(),
            _ => {}
        }
    }
    blocks
}

fn block(page: &str, fenced: Range<usize>, comment: &str) -> Block {
    let source = &page[fenced.clone()];
    let start = fenced.start + source.find('\n').map_or(source.len(), |end| end + 1);
    let end = fenced.start + source.trim_end().rfind('\n').map_or(source.len(), |end| end + 1);
    let text = start..end.max(start);
    let has = |marker: &str| comment.lines().any(|line| line.trim() == marker);
    let marker = |begin: &str| {
        let value = |line: &str| Some(line.strip_prefix(begin)?.strip_suffix("-->")?.trim().to_owned());
        comment.lines().find_map(|line| value(line.trim()))
    };
    Block {
        line: page[..fenced.start].matches('\n').count() + 1,
        steps: steps(&page[text.clone()]),
        text,
        not_run: marker(NOT_RUN),
        directory: marker(RUN_IN).map_or_else(|| "mill".to_owned(), |path| path.trim_start_matches('/').to_owned()),
        anew: has(ANEW),
        until_shown: has(UNTIL_SHOWN),
    }
}

/// Divides a block: `$ ` begins a command, which goes on after a backslash, after `> ` and to the end of a here-document.
fn steps(text: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let Some(first) = line.strip_prefix("$ ") else {
            if let Some(step) = steps.last_mut() {
                step.output.push(line.to_owned());
            }
            continue;
        };
        let mut step = Step { shown: vec![line.to_owned()], command: first.to_owned(), output: Vec::new() };
        loop {
            let next = lines.peek().copied();
            let ended = here_document(&step.command).is_none_or(|end| step.command.lines().any(|line| line == end));
            let more = match next {
                Some(next) if !ended || step.command.ends_with('\\') => next,
                Some(next) if next.starts_with("> ") => &next[2..],
                _ => break,
            };
            step.shown.extend(lines.next().map(str::to_owned));
            step.command.push('\n');
            step.command.push_str(more);
        }
        steps.push(step);
    }
    steps
}

/// The word that ends the here-document of a command.
fn here_document(command: &str) -> Option<&str> {
    let (_, word) = command.lines().next()?.split_once("<<")?;
    Some(word.trim_matches('\''))
}

/// Returns the text of a block with these outputs.
pub fn text(steps: &[Step]) -> String {
    let lines = steps.iter().flat_map(|step| step.shown.iter().chain(&step.output));
    lines.fold(String::new(), |text, line| text + line + "\n")
}

#[test]
fn a_block_is_divided_into_commands_and_outputs() {
    let page = "# A\n\n<!-- not run: too long -->\n```console\n$ a \\\n  b\nout\n$ cat > x <<'END'\n{ $ }\nEND\n$ c\n> d\n```\n\n```console\n$ e\n```\n";
    let blocks = blocks(page);
    let [first, second] = &blocks[..] else { panic!("{blocks:?}") };
    assert_eq!((first.line, first.not_run.as_deref()), (4, Some("too long")));
    let commands: Vec<_> = first.steps.iter().map(|step| step.command.as_str()).collect();
    assert_eq!(commands, ["a \\\n  b", "cat > x <<'END'\n{ $ }\nEND", "c\nd"]);
    assert_eq!(first.steps[0].output, ["out"]);
    assert_eq!(&page[first.text.clone()], text(&first.steps));
    assert_eq!((second.not_run.as_deref(), &page[second.text.clone()]), (None, "$ e\n"));
}
