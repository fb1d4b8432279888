//! A chat model that grades passages by their words.

use crate::support::endpoint::{Endpoint, Request, message, passage};

/// Grades each prompt with the status and the text that `reply` gives.
pub fn chat(reply: impl Fn(&Request, usize) -> (u16, String) + Send + 'static) -> Endpoint {
    Endpoint::start(move |request, number| {
        let (status, text) = reply(request, number);
        Some((status, if status == 200 { message(&text) } else { text }))
    })
}

/// Grades by the words of a passage: 3 for what says "oven", 1 for what says "bread", else 0.
pub fn grading() -> Endpoint {
    chat(|request, _| (200, grade_by_words(request.prompt())))
}

pub fn grade_by_words(prompt: &str) -> String {
    let passage = passage(prompt).to_lowercase();
    let (grade, reason) = match (passage.contains("oven"), passage.contains("bread")) {
        (true, _) => (3, "It is about the oven."),
        (_, true) => (1, "Only bread."),
        _ => (0, "Something else."),
    };
    format!("##reason: {reason}\n##final score: {grade}")
}
