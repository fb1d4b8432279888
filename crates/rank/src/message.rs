//! Runs of a query's words that a text holds literally, such as a pasted message and the line that makes it.
//!
//! A message is a template with its gaps filled in: `cannot open /tmp/x.toml: No such file` is made by `"cannot open {}: {}"`. So
//! a text's placeholders (`{}`, `{name}`, `%s`, `${x}`, `#{x}`, `" + x + "`) stand for any few words of the query, and everything
//! else must be the same, word by word. Case and punctuation do not count.
//!
//! A run counts only if it carries most of its line's weight, and not with words that stand in every text. A line of a form, which other
//! texts repeat, shows by the number of texts that hold it, and by its small part of a long query.

mod template;

use std::collections::HashMap;

use template::{Piece, pieces};

/// The number of words of a query that are read. Of a pasted log these are the first lines.
const MOST_WORDS: usize = 160;

/// The number of words of a line that are compared. Messages are shorter.
const MOST_WORDS_OF_A_LINE: usize = 48;

/// The number of lines that are compared.
const MOST_LINES: usize = 12;

/// The least number of words of a run without a placeholder, and of a run that is the whole line.
const FEWEST_WORDS: usize = 4;
const FEWEST_WORDS_OF_A_WHOLE: usize = 3;

/// The least number of words of a string that is all of a line, whatever they weigh.
const FEWEST_WORDS_OF_THE_SAME: usize = 3;

/// The least number of words of a template that is the whole text between quotation marks.
const FEWEST_WORDS_OF_A_TEMPLATE: usize = 2;

/// The least number of words of a run that are not function words, and their least weight together. A word of weight 0.7 stands in half
/// of the passages.
const FEWEST_INFORMATIVE: usize = 2;
/// The least number of them in a question, since a short string holds two words of a question by chance.
const FEWEST_INFORMATIVE_OF_A_QUESTION: usize = 3;
const INFORMATIVE: f64 = 0.5;
const LEAST_WEIGHT: f64 = 2.0;

/// The weight of a function word, which has no IDF.
const FUNCTION_WORD: f64 = 0.1;

/// The least share of a line's weight in a run, and in a run that is a whole string: other programs put words of their own around a
/// message.
const LEAST_SHARE: f64 = 0.6;
const LEAST_SHARE_OF_A_STRING: f64 = 0.3;

/// The most words of a query that one placeholder stands for.
const MOST_FILLED: usize = 12;

/// Words that begin a question. A text that repeats a question from its first word is an example of it, not a message.
const QUESTION_WORDS: [&str; 9] = ["does", "how", "what", "when", "where", "which", "who", "whose", "why"];

/// What says that a message follows its colon, alone (`error: …`) or at the end of a name: `TypeError: …`, `java.io.IOException: …`.
const SOURCES: [&str; 5] = ["error", "exception", "fatal", "panic", "warning"];

/// What messages say of something that went wrong.
const FAILURES: [&str; 22] = [
    "already exists", "can't", "cannot", "could not", "couldn't", "denied", "does not exist", "doesn't exist",
    "failed", "invalid", "is missing", "is nil", "is not", "is null", "is undefined", "no such", "not found",
    "refused", "unexpected", "unknown", "unrecognized", "unsupported",
];

/// What messages say besides, which people also say of what code does.
const DEMANDS: [&str; 4] = ["expected", "must", "should", "unable to"];

/// Words of a window; see [`LiteralText::windows`].
const WINDOW: usize = 3;

/// The most windows of a query.
const MOST_WINDOWS: usize = 32;

/// The words of a query in their order, line by line. A part between quotation marks, or between colons, is a line of its own as well,
/// since programs embed one message in another.
///
/// ```
/// use tamis_rank::LiteralText;
///
/// let message = LiteralText::from_query("error: cannot open /tmp/x.toml: No such file");
/// let weight = |_: &str| Some(3.0);
/// let found = message.runs("return Err(format!(\"cannot open {}: {}\", path, error));", weight);
/// assert!(found[0].in_string && found[0].share > 0.8);
/// assert!(message.runs("cannot find a file to open", weight).is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LiteralText {
    lines: Vec<TextLine>,
    /// The words of the query that are in no line, without those that may vary.
    others: Vec<String>,
}

/// A line, or a part of one.
#[derive(Clone, Debug, PartialEq, Eq)]
struct TextLine {
    words: Vec<Word>,
    /// True if it is all of its line.
    whole: bool,
}

/// A word of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Word {
    /// In lower case.
    text: String,
    /// As written, since capitals divide an identifier into words.
    spelled: String,
    /// True for what may have filled a gap: a path, a number, a quoted name.
    varies: bool,
    /// True if it follows a colon, where one program's words often end.
    after_colon: bool,
}

/// A run of words that a text holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LiteralRun {
    /// The number of its line, or of its part between marks or colons, from 0. Runs of equal numbers repeat the same words.
    pub line: usize,
    /// Words that are the same, without those that fill a gap.
    pub words: usize,
    /// The share of the weight of its line, or of its part between marks or colons, with what fills its gaps, in (0, 1].
    pub share: f64,
    /// The share of the weight of the whole query, in (0, 1].
    pub part: f64,
    /// True if the share is one of a whole line.
    pub of_line: bool,
    /// True if it begins between quotation marks, where a program's messages are.
    pub in_string: bool,
}

impl LiteralText {
    /// Reads a query. O(its length).
    pub fn from_query(query: &str) -> Self {
        let mut lines: Vec<TextLine> = Vec::new();
        let mut others: Vec<String> = Vec::new();
        let mut left = MOST_WORDS;
        for line in query.lines() {
            let quoted = line.split('"').enumerate().filter(|(at, _)| at % 2 == 1).map(|(_, quoted)| (quoted, true));
            let between = line.split(": ").map(|part| (part, false)).filter(|(part, _)| part.len() < line.len());
            for (part, quoted) in std::iter::once((line, false)).chain(quoted).chain(between) {
                let mut read = words(part, quoted);
                let whole = part.len() == line.len();
                let fixed = read.iter().filter(|word| !word.varies).count();
                let rest;
                if fixed >= FEWEST_WORDS_OF_A_TEMPLATE
                    && read.len() >= FEWEST_WORDS_OF_A_WHOLE
                    && lines.len() < MOST_LINES
                {
                    rest = read.split_off(MOST_WORDS_OF_A_LINE.min(left).min(read.len()));
                    left -= read.len();
                    lines.push(TextLine { words: read, whole });
                } else {
                    rest = read;
                }
                if whole {
                    let fixed = rest.into_iter().filter(|word| !word.varies).map(|word| word.text);
                    others.extend(fixed);
                }
            }
        }
        lines.retain(|line| !line.words.is_empty());
        LiteralText { lines, others }
    }

    /// Returns `true` if the first line begins as a question does.
    pub fn is_question(&self) -> bool {
        let first = self.lines.first().and_then(|line| line.words.first());
        first.is_some_and(|word| QUESTION_WORDS.contains(&word.text.as_str()))
    }

    /// Returns `true` if there is no line to look for.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Returns windows of a few consecutive words, and in a short line the words around each one that may have filled a gap. A text with
    /// a run has all words of at least one window, in any order. Only a longer template with fewer words between its placeholders has
    /// none. `weight` is the IDF of a word in lower case, or `None` for one that was not weighed. The rarest come first.
    pub fn windows(&self, weight: impl Fn(&str) -> Option<f64>) -> Vec<String> {
        let mut found: Vec<(f64, String)> = Vec::new();
        for TextLine { words, .. } in &self.lines {
            // A part that may vary may also stand in the text.
            let parts = words.chunk_by(|_, next| !next.after_colon);
            let fixed = words.split(|word| word.varies).chain([words.as_slice()]).chain(parts);
            let telling: Vec<&Word> =
                words.iter().filter(|word| word.varies || is_informative(&word.text, &weight)).collect();
            let around = telling.windows(WINDOW).filter(|three| !three[0].varies && !three[2].varies);
            let around = around.filter(|_| words.len() <= 2 * WINDOW).map(|three| vec![three[0], three[2]]);
            let consecutive = fixed.flat_map(|run| run.windows(WINDOW.min(run.len().max(1))));
            let known = found.len();
            for words in consecutive.map(|window| window.iter().collect()).chain(around) {
                let texts = words.iter().map(|word| word.text.as_str());
                let sum: f64 = texts.clone().map(|word| weighed(word, &weight)).sum();
                let informative = texts.clone().filter(|word| is_informative(word, &weight)).count();
                if informative < FEWEST_INFORMATIVE || sum < LEAST_WEIGHT {
                    continue;
                }
                let text = spelled(words.iter().copied());
                if found.iter().all(|(_, known)| *known != text) {
                    found.push((sum, text));
                }
            }
            // A message of common words, and one whose rare words stand far apart.
            let content = words.iter().filter(|word| !word.varies && weight(&word.text).is_some());
            let text = spelled(content);
            let is_new = found.len() == known && found.iter().all(|(_, other)| *other != text);
            if is_new && !text.is_empty() && !self.is_question() {
                found.push((0.0, text));
            }
        }
        found.sort_by(|(a, _), (b, _)| b.total_cmp(a));
        found.truncate(MOST_WINDOWS);
        found.into_iter().map(|(_, text)| text).collect()
    }

    /// The best run of a text with each line, best first; none that say nothing. `weight` is as in [`windows`](LiteralText::windows).
    /// O(length of the text · words of the query) where its words repeat often, and nearly O(length of the text) otherwise.
    pub fn runs(&self, text: &str, weight: impl Fn(&str) -> Option<f64>) -> Vec<LiteralRun> {
        let pieces = pieces(text);
        let lines: Vec<Line<'_>> = self.lines.iter().map(|line| Line::new(&line.words, &weight)).collect();
        let others: f64 = self.others.iter().map(|word| weighed(word, &weight)).sum();
        // Parts of a line repeat its words.
        let whole = self.lines.iter().zip(&lines).filter(|(line, _)| line.whole).map(|(_, line)| line.total);
        let all = others + whole.sum::<f64>();
        let run = |(at, line): (usize, &Line<'_>)| {
            let best = line.best(&pieces)?;
            let part = if all > 0.0 { (best.share * line.total / all).min(1.0) } else { 0.0 };
            Some(LiteralRun { line: at, part, of_line: self.lines[at].whole, ..best })
        };
        let mut runs: Vec<LiteralRun> = lines.iter().enumerate().filter_map(run).collect();
        runs.sort_by(|a, b| b.rank().total_cmp(&a.rank()));
        runs
    }
}

/// Returns `true` if a text says that something went wrong, as messages do: "cannot", "no such", "is not". O(its length).
pub fn says_failure(text: &str) -> bool {
    says_any(text, &FAILURES)
}

fn says_any(text: &str, phrases: &[&str]) -> bool {
    let words = text.split_whitespace().map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase());
    let text = format!(" {} ", words.collect::<Vec<_>>().join(" "));
    phrases.iter().any(|phrase| text.contains(&format!(" {phrase} ")))
}

/// Returns the message in a query that is one line of a program's output, by what programs put before it: the class of an error
/// (`TypeError: …`), the thread that panicked, or the mere word (`error: …`), which people write before a title, too, so that the rest
/// must read like a message. O(its length).
///
/// ```
/// use tamis_rank::pasted_message;
///
/// assert_eq!(pasted_message("app: TypeError: visitor is no function"), Some("visitor is no function"));
/// assert_eq!(pasted_message("error: visitor must be a function"), Some("visitor must be a function"));
/// assert_eq!(pasted_message("Error: log rotation stops at midnight"), None);
/// ```
pub fn pasted_message(query: &str) -> Option<&str> {
    let query = query.trim();
    if query.contains('\n') || query.ends_with('?') {
        return None;
    }
    let mut rest = query;
    while let Some((before, after)) = rest.split_once(": ") {
        let (source, message) = (before.trim(), after.trim());
        let first = message.split_whitespace().next().unwrap_or_default().to_lowercase();
        let asks = QUESTION_WORDS.contains(&first.as_str());
        let quotes = || message.contains(['"', '`']) || says_any(message, &DEMANDS);
        let is_message = match SOURCES.iter().any(|word| source.eq_ignore_ascii_case(word)) {
            true => says_failure(message) || quotes(),
            false => is_class(source) || source.starts_with("thread '") && source.contains("' panicked"),
        };
        if is_message && !asks && message.split_whitespace().count() >= FEWEST_WORDS_OF_A_TEMPLATE {
            return Some(message);
        }
        rest = after;
    }
    None
}

/// Returns `true` for the class of an error: `TypeError`, `java.io.IOException`, `error[E0308]`.
fn is_class(text: &str) -> bool {
    let name = text.split('[').next().unwrap_or_default().to_ascii_lowercase();
    !name.contains(char::is_whitespace) && SOURCES.iter().any(|kind| name.ends_with(kind))
}

impl LiteralRun {
    /// Orders runs: text between quotation marks first, then whole lines, then the greatest share.
    fn rank(&self) -> f64 {
        self.share + 0.1 * f64::from(u8::from(self.of_line)) + f64::from(u8::from(self.in_string))
    }
}

/// A line of the query with the weights of its words.
struct Line<'a> {
    words: &'a [Word],
    weights: Vec<f64>,
    informative: Vec<bool>,
    places: HashMap<&'a str, Vec<usize>>,
    total: f64,
}

impl<'a> Line<'a> {
    fn new(words: &'a [Word], weight: &impl Fn(&str) -> Option<f64>) -> Self {
        let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
        for (at, word) in words.iter().enumerate() {
            places.entry(&word.text).or_default().push(at);
        }
        // A word that may have filled a gap has no weight, since a text need not have it.
        let weights: Vec<f64> =
            words.iter().map(|word| if word.varies { 0.0 } else { weighed(&word.text, weight) }).collect();
        let informative = words.iter().map(|word| !word.varies && is_informative(&word.text, weight)).collect();
        Line { total: weights.iter().sum(), words, weights, informative, places }
    }

    fn best(&self, pieces: &[Piece<'_>]) -> Option<LiteralRun> {
        let mut best: Option<LiteralRun> = None;
        for (at, piece) in pieces.iter().enumerate() {
            let Some(word) = piece.word() else { continue };
            for &place in self.places.get(word).into_iter().flatten() {
                // A run that began before goes through here.
                let before = at.checked_sub(1).and_then(|at| pieces[at].word()).zip(place.checked_sub(1));
                if before.is_some_and(|(word, place)| self.words[place].text == word) {
                    continue;
                }
                if let Some(run) = self.run(pieces, at, place)
                    && best.is_none_or(|best| run.rank() > best.rank())
                {
                    best = Some(run);
                }
            }
        }
        best
    }

    /// The run that begins at a piece of the text and a word of the line.
    fn run(&self, pieces: &[Piece<'_>], from: usize, first: usize) -> Option<LiteralRun> {
        let asks = QUESTION_WORDS.contains(&self.words[0].text.as_str());
        if asks && first == 0 {
            return None;
        }
        let (mut at, mut place) = (from, first);
        let (mut words, mut informative, mut gaps) = (0, 0, 0);
        let (mut covered, mut weight) = (0.0, 0.0);
        let mut whole = from.checked_sub(1).is_none_or(|before| !pieces[before].is_word());
        // The words before a text that begins with a gap have filled it.
        if from > 0 && pieces[from - 1].is_gap() && first > 0 {
            covered += self.weights[first.saturating_sub(MOST_FILLED)..first].iter().sum::<f64>();
            gaps += 1;
        }
        loop {
            match pieces.get(at) {
                Some(Piece::Word { text, .. }) if self.words.get(place).is_some_and(|word| word.text == *text) => {
                    words += 1;
                    informative += usize::from(self.informative[place]);
                    covered += self.weights[place];
                    weight += self.weights[place];
                    (at, place) = (at + 1, place + 1);
                }
                Some(Piece::Gap { .. }) => {
                    let next = at + pieces[at..].iter().take_while(|piece| piece.is_gap()).count();
                    let end = (place + MOST_FILLED).min(self.words.len());
                    let filled = match pieces.get(next).and_then(Piece::word) {
                        Some(word) => (place..end).find(|&place| self.goes_on(pieces, next, place, word)),
                        // Nothing follows in the text, so the gap takes the rest.
                        None => Some(end),
                    };
                    let Some(filled) = filled else { break };
                    gaps += usize::from(filled > place);
                    covered += self.weights[place..filled].iter().sum::<f64>();
                    (at, place) = (next, filled);
                }
                Some(Piece::Word { .. }) => {
                    whole = false;
                    break;
                }
                Some(Piece::Mark) | None => break,
            }
        }
        let share = if self.total > 0.0 { (covered / self.total).min(1.0) } else { 0.0 };
        let in_string = pieces[from].is_in_string();
        let is_string = whole && in_string;
        let (fewest, least) = match () {
            () if is_string && gaps > 0 && share >= LEAST_SHARE => (FEWEST_WORDS_OF_A_TEMPLATE, LEAST_SHARE),
            () if is_string => (FEWEST_WORDS_OF_A_WHOLE, LEAST_SHARE_OF_A_STRING),
            () if share >= 0.95 && !asks => (FEWEST_WORDS_OF_A_WHOLE, LEAST_SHARE),
            () => (FEWEST_WORDS, LEAST_SHARE),
        };
        let fewest_informative = if asks { FEWEST_INFORMATIVE_OF_A_QUESTION } else { FEWEST_INFORMATIVE };
        let says = words >= fewest && informative >= fewest_informative && weight >= LEAST_WEIGHT && share >= least;
        // Common words say enough if they are all of a string and all of the line.
        let same = is_string && share >= 0.95 && words >= FEWEST_WORDS_OF_THE_SAME && !asks;
        let says = says || same && (gaps == 0 || informative > 0);
        says.then_some(LiteralRun { line: 0, words, share, part: share, in_string, of_line: true })
    }

    /// Returns `true` if a run can go on after a gap: with this word, and with one more unless the text ends there.
    fn goes_on(&self, pieces: &[Piece<'_>], next: usize, place: usize, word: &str) -> bool {
        let second = pieces.get(next + 1).and_then(Piece::word);
        let follows = |second: &str| self.words.get(place + 1).is_some_and(|word| word.text == second);
        self.words[place].text == word && second.is_none_or(follows)
    }
}

/// Words as written, with spaces between.
fn spelled<'w>(words: impl Iterator<Item = &'w Word>) -> String {
    words.map(|word| &*word.spelled).collect::<Vec<_>>().join(" ")
}

fn weighed(word: &str, weight: &impl Fn(&str) -> Option<f64>) -> f64 {
    weight(word).filter(|weight| weight.is_finite()).unwrap_or(FUNCTION_WORD)
}

fn is_informative(word: &str, weight: &impl Fn(&str) -> Option<f64>) -> bool {
    weighed(word, weight) >= INFORMATIVE
}

/// The words of a line. `quoted`: it stood between quotation marks, so single marks are all that can quote in it.
fn words(line: &str, quoted: bool) -> Vec<Word> {
    let mut words = Vec::new();
    let mut inside: Option<char> = None;
    let mut after_colon = false;
    for term in line.split_whitespace() {
        let opening = term.trim_start_matches(['(', '[', '{', '<']).chars().next();
        let opens = opening.filter(|mark| ['\'', '`', '"'].contains(mark)).filter(|mark| !quoted || *mark != '"');
        // A long quotation is text; a short one is a name.
        let closes = |mark: char| term.trim_end_matches(|c: char| ".,:;!?)]}>".contains(c)).ends_with(mark);
        let single = opens.is_some_and(|mark| closes(mark) && term.len() > 1);
        if inside.is_none() && !single {
            inside = opens.filter(|mark| is_short(line, term, *mark));
        }
        let varies = single || inside.is_some() || is_variable(term);
        template::each_word(term, |word| {
            words.push(Word { text: word.to_lowercase(), spelled: word.to_owned(), varies, after_colon });
            after_colon = false;
        });
        after_colon |= term.ends_with(':');
        if inside.is_some_and(closes) {
            inside = None;
        }
    }
    words
}

/// Returns `true` if the quotation that begins with a term ends within three terms.
fn is_short(line: &str, term: &str, mark: char) -> bool {
    let from =
        (term.as_ptr() as usize - line.as_ptr() as usize) + term.find(mark).unwrap_or_default() + mark.len_utf8();
    let rest = line.get(from..).unwrap_or_default();
    rest.find(mark).is_some_and(|end| rest[..end].split_whitespace().count() <= 3)
}

/// Returns `true` for what looks like the value of something: a path, a number, an address, an assignment.
fn is_variable(term: &str) -> bool {
    let name = term.trim_matches(|c: char| !c.is_alphanumeric() && c != '/' && c != '\\' && c != '~');
    let digits = name.chars().filter(char::is_ascii_digit).count();
    let letters = name.chars().filter(|c| c.is_alphabetic()).count();
    let inner = |mark: char| name.find(mark).is_some_and(|at| at + 1 < name.len());
    name.starts_with(['/', '~', '\\'])
        || inner('/') && !name.eq_ignore_ascii_case("and/or") && !name.eq_ignore_ascii_case("i/o")
        || inner('\\')
        || inner('@')
        || inner('=')
        || inner('.')
        || digits > 0 && digits >= letters
        || name.len() >= 6 && digits > 0 && name.chars().all(|c| c.is_ascii_hexdigit() || c == '-' || c == 'x')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn weight(word: &str) -> Option<f64> {
        (!["a", "the", "is", "of", "to", "in", "too", "how", "do", "i"].contains(&word)).then_some(3.0)
    }

    fn run(query: &str, text: &str) -> Option<LiteralRun> {
        LiteralText::from_query(query).runs(text, weight).first().copied()
    }

    #[test]
    fn a_message_finds_the_text_that_makes_it() {
        for (query, text) in [
            ("message head is too large", "Parse::TooLarge => \"message head is too large\","),
            ("cannot open /tmp/x.toml: No such file", "format!(\"cannot open {}: {}\", path, error)"),
            ("error: unknown field `colour`, expected one of `a`, `b`", "\"unknown field `{}`, expected one of {}\""),
            ("open config.yaml: permission denied here", "fmt.Errorf(\"open %s: permission denied here\", name)"),
            ("Cannot find module './x' from 'index.js'", "`Cannot find module '${request}' from '${from}'`"),
            ("undefined method foo for class Bar", "raise \"undefined method #{name} for class #{self}\""),
            ("cannot parse 17 as a date", "throw new Error(\"cannot parse \" + value + \" as a date\")"),
            ("index 7 out of range of slice of length 3", "panic!(\"index {} out of range of slice of length {n:?}\")"),
            ("can't pickle weakref objects here", "raise TypeError('can\\'t pickle weakref objects here')"),
            ("http: error: Request timed out (5.0s).", "f'Request timed out ({args.timeout}s).'"),
            ("server closed the connection", "\"server closed \\\n        the connection\""),
            ("bad line\nrequest body was too short: 3\nat main.rs:3", "\"request body was too short: {}\""),
            ("where does \"request body was too short\" come from", "\"request body was too short\""),
            ("why do I get connection timed out", "\"connection timed out\""),
            ("panicked: the is of", "\"the is of\""),
            ("Could not compile \"a.html\": end", "f'Could not compile \"{name}\": {e}'"),
        ] {
            let found = run(query, text).unwrap_or_else(|| panic!("{query}: {:?}", template::pieces(text)));
            assert!(found.in_string, "{query}: {found:?}");
        }
    }

    #[test]
    fn other_texts_have_no_run_but_prose_can_hold_a_message_too() {
        for (query, text) in [
            ("how do I open the file", "how do I close the door, and where is the file"),
            ("how is the message head parsed", "/// Parses the message head."),
            ("message head is too large", "the head of a large message is too long"),
            ("cannot open the config", "\"cannot close {}\""),
            ("retry limit", "\"retry limit\""),
            ("remove uploaded files after an error", "require('./remove-uploaded-files')"),
            ("how is a stale index detected", "embed(\"how is a stale index detected\")"),
            ("how is a stale index detected", "$ search stale index detected"),
            ("how is a stale index detected", "embed_query(\"a stale index\")"),
            ("", "\"\""),
            ("where are retries handled", "fn handled() { {} }"),
            ("the limit of connections", "\"{} {}\""),
        ] {
            assert_eq!(run(query, text), None, "{query}: {text}");
        }
        let found = run("message head is too large", "On: message head is too large, raise it.").expect("a run");
        assert!(!found.in_string && found.share > 0.99, "{found:?}");
    }

    #[test]
    fn a_line_of_a_form_is_a_small_part_of_a_report() {
        let report = "Tabs vanish after sleep\nUser Agent: Mozilla (Linux)\nThe window comes back without its tabs, and closing it \
                      crashes the session manager until the profile is made anew.\nActual results: crash";
        let text = "Scrolling is slow\nUser Agent: Mozilla (Linux)\nPages jump.";
        let form = run(report, text).expect("a run");
        assert!(form.share > 0.99 && form.part < 0.25, "{form:?}");
        let alone = run("User Agent: Mozilla (Linux)", text).expect("a run");
        assert!(alone.part > 0.99, "{alone:?}");
        let same = LiteralText::from_query(report).runs(report, weight);
        let whole: f64 = same.iter().filter(|run| run.of_line).map(|run| run.part).sum();
        assert!(same.len() > 1 && whole <= 1.0 + 1e-9, "{same:?}");
        assert!(same.iter().all(|run| same.iter().filter(|other| other.line == run.line).count() == 1));
    }

    #[test]
    fn windows_are_of_fixed_words_that_say_something_and_values_vary_and_words_do_not() {
        let windows = |query: &str| LiteralText::from_query(query).windows(weight);
        assert_eq!(windows("message head is too large"), ["message head is", "message large"]);
        assert!(windows("key userId is too old").contains(&"key old".to_owned()), "with its gap filled");
        assert!(windows("key 'user' is too old").contains(&"key old".to_owned()));
        let found = windows("cannot open /tmp/x.toml: No such device").join(", ");
        let expected =
            "No such device, cannot open tmp, open tmp x, tmp x toml, x toml No, toml No such, cannot open, No device";
        assert_eq!(found, expected);
        // What follows a colon may have filled a gap.
        assert!(windows("Unsupported protocol: ftp").contains(&"Unsupported protocol".to_owned()));
        assert!(windows("how do I do the").is_empty() && windows("retry").is_empty());
        for term in ["/tmp/x.toml:", "17,", "0x7fff12", "a@b.c", "key=value", "src\\main.rs", "10ms", "config.toml"] {
            assert!(is_variable(term), "{term}");
        }
        for term in ["open", "i/o", "such", "file:", "utf8", "don't", "...", "x:"] {
            assert!(!is_variable(term), "{term}");
        }
    }

    proptest! {
        #[test]
        fn any_texts_are_compared(query in "\\PC{0,60}", text in "[a-c\"'{}%#$+\\\\ \n]{0,80}", same in "[a-c ]{0,20}") {
            run(&query, &text);
            run(&same, &text);
        }

        #[test]
        fn the_text_itself_is_a_run(words in prop::collection::vec("[a-z]{4,9}", 4..12)) {
            let text = words.join(" ");
            let found = run(&text, &format!("let x = \"{text}\";"));
            prop_assert!(found.is_some_and(|found| found.in_string && found.share > 0.99));
        }
    }
}
