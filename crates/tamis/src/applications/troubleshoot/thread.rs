//! Assembles an issue's conversation within a budget of characters.

use super::shorten::{BodyLengths, characters, fitted, shorten, with_line_feeds};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

/// The separator between the body and the comments, and between two comments.
const SEPARATOR: &str = "\n\n";

/// The author shown if none is known.
const UNKNOWN: &str = "unknown";

/// The rules for assembling a thread.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ThreadRules {
    /// The length limits of the body.
    pub body: BodyLengths,
    /// The share, 0 to 1, of the budget left by the body that the newest comments may take.
    pub tail_share: f64,
}

impl Default for ThreadRules {
    fn default() -> Self {
        ThreadRules { body: BodyLengths::default(), tail_share: 0.6 }
    }
}

/// A comment of the issue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Remark<'a> {
    /// Its author.
    pub author: Option<&'a str>,
    /// The time it was written.
    pub created_at: Option<Timestamp>,
    /// Its text.
    pub text: &'a str,
    /// True if a program wrote it. Such comments come after all human ones, whatever their age and similarity.
    pub bot: bool,
    /// Similarity to the problem, in [-1, 1]; 0 if unknown.
    pub similarity: f64,
}

/// An assembled thread.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Thread {
    /// The body, then the selected comments in order of time, each as `alice (2024-03-01): …`.
    pub text: String,
    /// The number of characters in the text, including authors, dates and blank lines.
    pub characters: usize,
    /// The most characters the text may have.
    pub budget: usize,
    /// True if the body is included in full.
    pub body_in_full: bool,
    /// Every comment of the issue in order of time, with the decision on it.
    pub comments: Vec<ThreadComment>,
}

/// A comment of the issue, and the decision on it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct ThreadComment {
    /// Its position among the issue's comments, from 1.
    pub number: usize,
    /// Its author.
    pub author: Option<String>,
    /// The time it was written.
    #[schemars(with = "Option<String>")]
    pub created_at: Option<Timestamp>,
    /// True if a program wrote it.
    pub bot: bool,
    /// Similarity to the problem, in [-1, 1].
    pub similarity: f64,
    /// The number of characters it takes in the text, with its author, date and separator.
    pub characters: usize,
    /// True if it is in the text.
    pub selected: bool,
    /// The reason for the decision.
    pub reason: CommentReason,
}

/// The reason a comment was selected or left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CommentReason {
    /// Selected: one of the newest.
    Tail,
    /// Selected: one of the most similar among the others.
    Similarity,
    /// Left out: it is longer than the remaining budget.
    TooLong,
    /// Left out: it has no text.
    Empty,
}

/// Assembles an issue's thread in at most `budget` characters.
///
/// The body comes first, shortened if it is long. The newest comments follow as long as they fit in their share of the
/// rest. The remaining budget goes to the comments most similar to the problem. A comment that does not fit is skipped
/// for the next. `comments` are those of this issue, in order of time.
///
/// ```
/// use tamis::troubleshoot::{Remark, ThreadRules, assemble};
///
/// let remark = |text| Remark { author: Some("alice"), created_at: None, text, bot: false, similarity: 0.0 };
/// let thread = assemble("It fails.", &[remark("Which version?"), remark("Fixed in 2.1.")], 1000, ThreadRules::default());
/// assert_eq!(thread.text, "It fails.\n\nalice: Which version?\n\nalice: Fixed in 2.1.");
/// ```
#[must_use]
pub fn assemble(body: &str, comments: &[Remark<'_>], budget: usize, rules: ThreadRules) -> Thread {
    let whole = with_line_feeds(body);
    let body = fitted(&shorten(body, rules.body), budget);
    let mut room = budget - characters(&body);
    let texts: Vec<Option<String>> = comments.iter().map(written).collect();
    // Without a body the first comment needs no separator; counting one for each then leaves two characters unused.
    let lengths: Vec<usize> =
        texts.iter().map(|text| text.as_ref().map_or(0, |text| characters(SEPARATOR) + characters(text))).collect();
    let mut reasons: Vec<CommentReason> =
        texts.iter().map(|text| if text.is_some() { CommentReason::TooLong } else { CommentReason::Empty }).collect();

    let mut select = |at: usize, room: &mut usize, reason: CommentReason| {
        if reasons[at] == CommentReason::TooLong && lengths[at] <= *room {
            *room -= lengths[at];
            reasons[at] = reason;
        }
    };
    let share = if rules.tail_share.is_finite() { rules.tail_share.clamp(0.0, 1.0) } else { 0.0 };
    let tail_room = (room as f64 * share).floor() as usize;
    let mut left = tail_room;
    for at in (0..comments.len()).rev().filter(|&at| !comments[at].bot) {
        select(at, &mut left, CommentReason::Tail);
    }
    room -= tail_room - left;
    let similarity = |at: usize| Some(comments[at].similarity).filter(|value| value.is_finite()).unwrap_or(0.0);
    let mut others: Vec<usize> = (0..comments.len()).collect();
    // The newest first among equally similar ones.
    others.sort_by(|&a, &b| {
        let by_similarity = similarity(b).total_cmp(&similarity(a));
        comments[a].bot.cmp(&comments[b].bot).then(by_similarity).then(b.cmp(&a))
    });
    for at in others {
        select(at, &mut room, CommentReason::Similarity);
    }

    let is_selected = |reason: CommentReason| matches!(reason, CommentReason::Tail | CommentReason::Similarity);
    let chosen =
        texts.iter().zip(&reasons).filter(|(_, reason)| is_selected(**reason)).filter_map(|(text, _)| text.as_deref());
    let parts: Vec<&str> = Some(body.as_str()).filter(|body| !body.is_empty()).into_iter().chain(chosen).collect();
    let text = parts.join(SEPARATOR);
    let comment = |(at, remark): (usize, &Remark<'_>)| ThreadComment {
        number: at + 1,
        author: remark.author.map(str::to_owned),
        created_at: remark.created_at,
        bot: remark.bot,
        similarity: similarity(at),
        characters: lengths[at],
        selected: is_selected(reasons[at]),
        reason: reasons[at],
    };
    Thread {
        characters: characters(&text),
        text,
        budget,
        body_in_full: body == whole,
        comments: comments.iter().enumerate().map(comment).collect(),
    }
}

/// A comment as it is written in a thread; `None` if it has no text.
fn written(remark: &Remark<'_>) -> Option<String> {
    let text = with_line_feeds(remark.text);
    let author: String = remark.author.unwrap_or(UNKNOWN).split_whitespace().collect::<Vec<_>>().join(" ");
    let date = remark.created_at.map(|at| format!(" ({})", at.strftime("%Y-%m-%d"))).unwrap_or_default();
    (!text.is_empty()).then(|| format!("{author}{date}: {text}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const RULES: ThreadRules = ThreadRules { body: BodyLengths { whole: 500, paragraphs: 750 }, tail_share: 0.6 };

    fn remark(text: &str, similarity: f64) -> Remark<'_> {
        let created_at = "2024-03-01T10:00:00Z".parse().ok();
        Remark { author: Some("al"), created_at, text, bot: false, similarity }
    }

    fn reasons(thread: &Thread) -> Vec<CommentReason> {
        thread.comments.iter().map(|comment| comment.reason).collect()
    }

    #[test]
    fn a_thread_is_the_body_and_its_comments_with_author_and_date() {
        let thread = assemble("Body", &[remark("one", 0.1), remark("two", 0.2)], 1000, RULES);
        assert_eq!(thread.text, "Body\n\nal (2024-03-01): one\n\nal (2024-03-01): two");
        assert_eq!(reasons(&thread), [CommentReason::Tail, CommentReason::Tail]);
        assert!(thread.body_in_full);

        let thread = assemble("Body", &[], 1000, RULES);
        assert_eq!((thread.text.as_str(), thread.characters), ("Body", 4));

        let thread = assemble("", &[remark(" \n", 0.5), remark("yes", f64::NAN)], 100, RULES);
        assert_eq!(thread.text, "al (2024-03-01): yes");
        assert_eq!(reasons(&thread), [CommentReason::Empty, CommentReason::Tail]);
    }

    #[test]
    fn trap_the_budget_covers_the_body_and_skips_what_does_not_fit() {
        let body = "ö".repeat(400);
        let thread = assemble(&body, &[remark("never", 1.0)], 100, RULES);
        assert_eq!(thread.characters, 100);
        assert!(thread.text.ends_with("...") && !thread.body_in_full);
        assert_eq!(reasons(&thread), [CommentReason::TooLong]);

        let long = "x".repeat(700);
        let thread = assemble("Body", &[remark("early", 0.0), remark(&long, 0.9), remark("late", 0.0)], 600, RULES);
        assert_eq!(reasons(&thread), [CommentReason::Tail, CommentReason::TooLong, CommentReason::Tail]);
        assert!(thread.text.find("early") < thread.text.find("late"), "kept in the order of time");

        let text = "x".repeat(81);
        let bot = Remark { bot: true, ..remark(&text, 0.9) };
        let thread = assemble("Body", &[remark(&text, 0.1), remark(&text, 0.1), bot], 250, RULES);
        assert_eq!(reasons(&thread), [CommentReason::Similarity, CommentReason::Tail, CommentReason::TooLong]);
        let thread = assemble("Body", &[bot], 250, RULES);
        assert_eq!(reasons(&thread), [CommentReason::Similarity], "better than nothing");
    }

    #[test]
    fn the_newest_fill_their_share_and_the_most_similar_the_rest() {
        // Each takes 2 + 17 + 81 = 100 characters; the body leaves 496, of which 297 are the tail's.
        let text = "x".repeat(81);
        let comments: Vec<Remark> =
            [0.9, 0.1, 0.5, 0.2, 0.3, 0.0].iter().map(|&similarity| remark(&text, similarity)).collect();
        let thread = assemble("Body", &comments, 500, RULES);
        use CommentReason::{Similarity, Tail, TooLong};
        assert_eq!(reasons(&thread), [Similarity, TooLong, Similarity, TooLong, Tail, Tail]);
        assert_eq!(thread.characters, 404);
    }

    proptest! {
        #[test]
        fn trap_an_assembled_thread_never_exceeds_its_budget(
            body in "[\\PC\n]{0,900}",
            texts in proptest::collection::vec(("[\\PC\n]{0,300}", -1.0f64..1.0, any::<bool>()), 0..12),
            budget in 0usize..2500,
        ) {
            let comments: Vec<Remark> = texts
                .iter()
                .map(|(text, similarity, bot)| Remark { bot: *bot, ..remark(text, *similarity) })
                .collect();
            let thread = assemble(&body, &comments, budget, RULES);
            prop_assert_eq!(thread.characters, thread.text.chars().count());
            prop_assert!(thread.characters <= budget);
            let room = budget - thread.characters;
            let body_length = characters(&fitted(&shorten(&body, RULES.body), budget));
            let tail: usize = thread.comments.iter().filter(|c| c.reason == CommentReason::Tail).map(|c| c.characters).sum();
            prop_assert!(tail as f64 <= 0.6 * (budget - body_length) as f64);
            let mut from = 0;
            for (comment, remark) in thread.comments.iter().zip(&comments) {
                if comment.reason == CommentReason::TooLong {
                    prop_assert!(comment.characters > room.saturating_sub(2), "{comment:?} would have fitted in {room}");
                } else if comment.selected {
                    let text = written(remark).unwrap_or_default();
                    let at = thread.text[from..].find(&text);
                    prop_assert!(at.is_some(), "in full, and in the order of time");
                    from += at.unwrap_or(0) + text.len();
                }
            }
        }
    }
}
