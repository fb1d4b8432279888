//! Mail (`.eml`, `.mbox`): the subject, who wrote it to whom and when, and the text, whatever they are encoded in.

use std::io::Cursor;

use mail_parser::mailbox::mbox::MessageIterator;
use mail_parser::{Address, Message, MessageParser, MimeHeaders, PartType};

use super::{Extracted, html};
use crate::Skip;

/// Most messages of a mailbox, and most messages that stand in one another.
const MAX_MESSAGES: usize = 20_000;
const DEPTH: usize = 4;

/// Most names of people or files that a line lists.
const MAX_NAMES: usize = 20;

/// The text of a message or of all in a mailbox; `None` for a text without the head of a message.
pub fn read(bytes: &[u8]) -> Result<Option<Extracted>, Skip> {
    let mut extracted = Extracted::with_headings();
    let parser = MessageParser::default();
    if bytes.starts_with(b"From ") {
        let messages = MessageIterator::new(Cursor::new(bytes)).map_while(Result::ok);
        for message in messages.take(MAX_MESSAGES) {
            if let Some(message) = parser.parse(message.contents()) {
                add(&message, &mut extracted, DEPTH);
            }
        }
    } else if let Some(message) = parser.parse(bytes).filter(is_headed) {
        add(&message, &mut extracted, DEPTH);
    }
    if extracted.rows == 0 { Ok(None) } else { extracted.complete().map(Some) }
}

/// Returns `true` if the lines before the text are those of a message. The parser takes any line with a colon for one.
fn is_headed(message: &Message<'_>) -> bool {
    message.from().is_some() || message.subject().is_some() || message.content_type().is_some()
}

fn add(message: &Message<'_>, extracted: &mut Extracted, depth: usize) {
    extracted.gap();
    extracted.heading(1, message.subject().unwrap_or("(no subject)"));
    let people = [("From", message.from()), ("To", message.to()), ("Cc", message.cc())];
    for (label, people) in people {
        if let Some(people) = people.map(names).filter(|people| !people.is_empty()) {
            extracted.line(&format!("{label}: {people}"));
        }
    }
    if let Some(date) = message.date() {
        extracted.line(&format!("Date: {}", date.to_rfc3339()));
        let dated_ns = date.to_timestamp().checked_mul(1_000_000_000);
        extracted.dated_ns = extracted.dated_ns.max(dated_ns);
    }
    let files: Vec<_> = message.attachments().filter_map(|part| part.attachment_name()).take(MAX_NAMES).collect();
    if !files.is_empty() {
        extracted.line(&format!("Attachments: {}", files.join(", ")));
    }
    for part in message.text_bodies() {
        extracted.gap();
        match &part.body {
            PartType::Text(text) => lines(text, extracted),
            PartType::Html(text) => {
                if let Ok(page) = html::extract(text) {
                    lines(&page.text, extracted);
                }
            }
            _ => {}
        }
    }
    for part in message.attachments() {
        if let (PartType::Message(inner), true) = (&part.body, depth > 0) {
            add(inner, extracted, depth - 1);
        }
    }
}

fn lines(text: &str, extracted: &mut Extracted) {
    extracted.line(text.replace('\r', "").trim_matches('\n'));
}

/// The names of people with their addresses.
fn names(people: &Address<'_>) -> String {
    let name = |person: &mail_parser::Addr<'_>| match (person.name(), person.address()) {
        (Some(name), Some(address)) => format!("{name} <{address}>"),
        (name, address) => name.or(address).unwrap_or_default().to_owned(),
    };
    people.iter().take(MAX_NAMES).map(name).collect::<Vec<_>>().join(", ")
}
