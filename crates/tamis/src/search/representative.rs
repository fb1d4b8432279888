//! The passage that stands for each entry, and the comments that no answer shows.

use super::candidate::Candidate;
use super::question::Question;
use tamis_rank::{
    NAMED, Standing, is_empty_comment, is_heading_alone, is_preamble_alone, is_signature_alone, representative,
};
use tamis_store::StoredPassage;
use tamis_text::{Kind, Role};

/// Returns the position, among the passages of an entry, of the one that stands for it. They come best first.
pub(super) fn chosen(passages: &[&Candidate], question: &Question, background: f64) -> usize {
    let standing = |candidate: &&Candidate| {
        let passage = &candidate.passage;
        let named = |symbol: &str| question.names.match_score(symbol) >= NAMED;
        Standing {
            value: candidate.value,
            exact: candidate.first.is_some() && !is_mute(passage, question),
            says: !is_empty(passage, question),
            head: head_of(passage, passages),
            named: passage.symbol.as_deref().is_some_and(named),
        }
    };
    let standing: Vec<Standing> = passages.iter().map(standing).collect();
    representative(&standing, background)
}

/// Returns `true` for a comment that says nothing, or that a program or a form wrote.
pub(super) fn is_mute(passage: &StoredPassage, question: &Question) -> bool {
    let by_nobody = [Role::Bot.as_str(), Role::Template.as_str()].contains(&passage.role.as_str());
    let title = passage.title.as_deref().or(passage.heading.as_deref()).unwrap_or_default();
    is_comment(passage) && (by_nobody || is_empty_comment(&passage.text, title, &question.text))
}

fn is_comment(passage: &StoredPassage) -> bool {
    [Kind::Comment.as_str(), Kind::Review.as_str()].contains(&passage.kind.as_str())
}

/// Returns `true` for a passage that says nothing by itself.
fn is_empty(passage: &StoredPassage, question: &Question) -> bool {
    match passage.kind.parse() {
        Ok(Kind::Comment | Kind::Review) => is_mute(passage, question),
        Ok(Kind::Section | Kind::Issue | Kind::PullRequest) => {
            passage.heading.as_deref().is_some_and(|heading| is_heading_alone(&passage.text, heading))
        }
        Ok(Kind::Function | Kind::Method) => is_signature_alone(&passage.text),
        Ok(Kind::Module | Kind::Constant) => is_preamble_alone(&passage.text),
        _ => false,
    }
}

/// Returns the position of the head of the definition that a passage continues: the nearest one before it with its symbol.
fn head_of(passage: &StoredPassage, passages: &[&Candidate]) -> Option<usize> {
    if !continues(passage) {
        return None;
    }
    let same = |head: &StoredPassage| {
        head.symbol == passage.symbol && head.kind == passage.kind && head.ordinal < passage.ordinal && !continues(head)
    };
    let heads = passages.iter().enumerate().filter(|(_, candidate)| same(&candidate.passage));
    heads.max_by_key(|(_, candidate)| candidate.passage.ordinal).map(|(at, _)| at)
}

/// Returns `true` for a later part of a definition: the last line of its context is the definition's own signature.
fn continues(passage: &StoredPassage) -> bool {
    let name = |symbol: &str| {
        let first = symbol.split(", ").next().unwrap_or_default();
        first.rsplit([':', '.', '#', '/']).next().unwrap_or_default().to_owned()
    };
    let signature = passage.context.as_deref().and_then(|context| context.lines().last());
    let name = passage.symbol.as_deref().map(name).filter(|name| !name.is_empty());
    signature.zip(name).is_some_and(|(signature, name)| holds_word(signature, &name))
}

fn holds_word(text: &str, word: &str) -> bool {
    let is_of_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut places = text.match_indices(word);
    places.any(|(at, _)| !text[..at].ends_with(is_of_word) && !text[at + word.len()..].starts_with(is_of_word))
}
