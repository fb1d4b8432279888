//! The numbers of one input line, whatever its format.

use tamis::lists::ListEntry;
use tamis_text::estimate_tokens;

/// The default field of a single score.
pub const SCORE: &str = "score";

/// The fields of the two retrievers' raw scores.
pub const RAW_SCORES: [&str; 2] = ["similarity", "bm25"];

/// The field of the share of the query's weight that a passage matches.
pub const COVERAGE: &str = "coverage";

/// The field of a passage's length in tokens.
const TOKENS: &str = "tokens";

/// The field of a passage's text. Without a length, it gives that too.
const TEXT: &str = "text";

/// Fields that identify a line of names as a header.
pub const KNOWN: [&str; 4] = [SCORE, RAW_SCORES[0], RAW_SCORES[1], COVERAGE];

/// The most characters shown of a text that is not a number.
const SHOWN: usize = 30;

/// A line of the input.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The line unchanged, with its line end if it has one.
    pub bytes: Vec<u8>,
    /// The line's number, from 1.
    pub number: usize,
    /// The line's numbers, all finite, and its text.
    pub values: ListEntry,
}

/// A value under a name.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// Nothing, `null` or an empty cell.
    Empty,
    /// A finite number.
    Number(f64),
    /// A text, which can spell a number.
    Text(String),
    /// Something else, described.
    Other(&'static str),
}

/// The reason why a line has no numbers to cut by.
#[derive(Clone, Debug, PartialEq)]
pub enum Fault {
    /// It has none of these fields, only others.
    NoField { wanted: String, names: Vec<String> },
    /// Any other reason, in words.
    Malformed(String),
}

impl Cell {
    /// The number; the error describes any other value.
    fn number(&self, name: &str) -> Result<Option<f64>, Fault> {
        let reason = match self {
            Cell::Empty => return Ok(None),
            Cell::Number(number) => return Ok(Some(*number)),
            // Some engines write their scores in quotes.
            Cell::Text(text) => match text.trim().parse() {
                Ok(number) if f64::is_finite(number) => return Ok(Some(number)),
                Ok(_) => format!("{name}: {}", not_finite(text.trim())),
                Err(_) => {
                    let more = if text.chars().nth(SHOWN).is_some() { "…" } else { "" };
                    let start: String = text.chars().take(SHOWN).chain(more.chars()).collect();
                    format!("{name} is the text {start:?}, not a number")
                }
            },
            Cell::Other(what) => format!("{name} is {what}, not a number"),
        };
        Err(Fault::Malformed(reason))
    }
}

/// The reason why `NaN`, an infinity or a number too large for one is refused.
pub fn not_finite(number: &str) -> String {
    format!("{number} is not a finite number; give a number, or leave the line out")
}

/// Reads a line by name. `get` returns `None` for a name that the line does not have; `names` are the ones it has.
/// `field` is the score's name, if the user gave one.
///
/// # Errors
/// A field is missing or not a number.
pub fn read_entry(
    get: impl Fn(&str) -> Option<Cell>,
    names: impl FnOnce() -> Vec<String>,
    field: Option<&str>,
) -> Result<ListEntry, Fault> {
    let score = match (field.unwrap_or(SCORE), get(field.unwrap_or(SCORE))) {
        (name, Some(cell)) => match cell.number(name)? {
            Some(score) => Some(score),
            None => return Err(Fault::Malformed(format!("{name} is empty, not a number"))),
        },
        (_, None) => None,
    };
    // With a score, the other fields belong to the engine and may hold anything; without one they must be numbers.
    let number = |name: &str| {
        let read = get(name).map_or(Ok(None), |cell| cell.number(name));
        if score.is_some() { Ok(read.unwrap_or_default()) } else { read }
    };
    let (similarity, bm25) = match field {
        Some(_) if score.is_none() => (None, None),
        _ => (number(RAW_SCORES[0])?, number(RAW_SCORES[1])?),
    };
    if score.or(similarity).or(bm25).is_none() {
        let wanted = field.map_or_else(|| format!("{SCORE} (or similarity and bm25)"), str::to_owned);
        return Err(Fault::NoField { wanted, names: names() });
    }
    let coverage = number(COVERAGE)?.map(|coverage| coverage.clamp(0.0, 1.0));
    Ok(ListEntry { score, similarity, bm25, coverage, tokens: tokens(&get) })
}

/// The length in the line, or the length of its text.
fn tokens(get: impl Fn(&str) -> Option<Cell>) -> Option<usize> {
    match get(TOKENS) {
        Some(Cell::Number(tokens)) if tokens >= 0.0 => Some(tokens.ceil() as usize),
        _ => match get(TEXT)? {
            Cell::Text(text) => Some(estimate_tokens(&text)),
            Cell::Number(number) => Some(estimate_tokens(&number.to_string())),
            Cell::Empty => Some(0),
            Cell::Other(_) => None,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(cells: &[(&str, Cell)], field: Option<&str>) -> Result<ListEntry, Fault> {
        let get = |name: &str| cells.iter().find(|(known, _)| *known == name).map(|(_, cell)| cell.clone());
        read_entry(get, || cells.iter().map(|(name, _)| (*name).to_owned()).collect(), field)
    }

    #[test]
    fn a_score_goes_before_the_raw_scores_and_they_stand_in_for_it() {
        let fields = [("similarity", Cell::Number(0.5)), ("bm25", Cell::Empty), ("coverage", Cell::Number(1.5))];
        let values = read(&fields, None).expect("one retriever is enough");
        assert_eq!((values.score, values.similarity, values.bm25), (None, Some(0.5), None));
        assert_eq!(values.coverage, Some(1.0));
        let both = [("score", Cell::Number(2.0)), ("similarity", Cell::Text("high".into()))];
        assert_eq!(read(&both, None).map(|values| (values.score, values.similarity)), Ok((Some(2.0), None)));
    }

    #[test]
    fn a_value_that_must_be_a_number_is_named() {
        let error = |cells: &[(&str, Cell)], field| read(cells, field).expect_err("no number");
        let high = [("similarity", Cell::Text("high".into())), ("bm25", Cell::Number(1.0))];
        let reason = "similarity is the text \"high\", not a number".to_owned();
        assert_eq!(error(&high, None), Fault::Malformed(reason));
        let no_field = |wanted: &str, name: &str| Fault::NoField { wanted: wanted.into(), names: vec![name.into()] };
        let rank = [("rank", Cell::Number(1.0))];
        assert_eq!(error(&rank, None), no_field("score (or similarity and bm25)", "rank"));
        let similarity = [("similarity", Cell::Number(1.0))];
        assert_eq!(error(&similarity, Some("_score")), no_field("_score", "similarity"));
    }

    #[test]
    fn lengths_are_given_or_those_of_the_text() {
        let score = ("score", Cell::Number(1.0));
        let tokens = |cells: &[(&str, Cell)]| read(cells, None).expect("a score").tokens;
        assert_eq!(tokens(&[score.clone(), ("tokens", Cell::Number(12.0))]), Some(12));
        assert_eq!(tokens(&[score.clone(), ("text", Cell::Text("where relevance ends".into()))]), Some(4));
        assert_eq!([tokens(&[score.clone(), ("tokens", Cell::Number(-1.0))]), tokens(&[score])], [None, None]);
    }
}
