//! What a search holds of passages: candidates with their scores, and what the retrievers know of all passages.

use std::collections::BTreeSet;
use std::sync::Arc;

use tamis_rank::{Adjustment, BackgroundEvidence, Decay, Evidence, ExactFind};
use tamis_store::{Background, LexicalStatistics, PassageId, ScoringKey, StoredPassage};
use tamis_text::{Category, Language};

use super::plan::Plan;
use super::query::Query;
use crate::collections::{CODE, COMMITS, FILE_COLLECTIONS, ISSUES, SESSIONS};

/// The raw scores of a passage under one phrasing of the query.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Scores {
    /// Raw cosine similarity, in full precision.
    pub similarity: Option<f64>,
    /// Raw BM25, 0 if no term matches.
    pub bm25: Option<f64>,
    /// Share of the query's IDF mass that matches.
    pub coverage: Option<f64>,
}

impl Scores {
    /// Returns the scores adjusted by language and age.
    pub fn evidence(&self, adjustment: Adjustment) -> Evidence {
        Evidence {
            similarity: self.similarity.map(|similarity| adjustment.similarity(similarity)),
            bm25: self.bm25.map(|bm25| adjustment.bm25(bm25)),
        }
    }
}

/// A passage that a search considers, with what is known of it so far.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    pub passage: Arc<StoredPassage>,
    pub scores: Scores,
    /// Share of the query's required terms that it holds; `None` where the query has none.
    pub required: Option<f64>,
    /// What it is, if it is exactly what the query asks for.
    pub exact: Option<ExactFind>,
    /// Its place among the exact finds that come first.
    pub first: Option<usize>,
    /// What its language and age make of it.
    pub adjusted: Adjusted,
    /// Its place in the ranking of passages.
    pub place: usize,
    /// The value that ranks it.
    pub score: f64,
    /// The value that a cut reads; it differs from the score if reciprocal ranks order.
    pub value: f64,
    /// Its similarity to the query under the better model, as a share of what a passage on the query's subject has, if that model has
    /// embedded it.
    pub late: Option<f64>,
    /// What speaks for and against showing it.
    pub shown: Shown,
}

/// What the language and the age of a passage make of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Adjusted {
    /// The adjustment by language and age.
    pub adjustment: Adjustment,
    /// The decay factor of its age, in (0, 1].
    pub decay: f64,
    /// True if it falls short of the threshold of its language.
    pub short: bool,
}

/// What speaks for and against showing a passage, besides its scores.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Shown {
    /// True if people said for this question that it answers, false if they said that it does not.
    pub label: Option<bool>,
    /// True if no answer shows it below the best passage of its entry: a comment that says nothing, or what people refused.
    pub hidden: bool,
}

impl Candidate {
    /// A passage of which only the raw scores are known.
    pub fn new(passage: impl Into<Arc<StoredPassage>>, scores: Scores) -> Self {
        Candidate {
            passage: passage.into(),
            scores,
            required: None,
            exact: None,
            first: None,
            adjusted: Adjusted { adjustment: Adjustment::new(1.0, 1.0), decay: 1.0, short: false },
            place: 0,
            score: 0.0,
            value: 0.0,
            late: None,
            shown: Shown::default(),
        }
    }

    /// A passage that a score alone ranks.
    pub fn ranked_by(self, score: f64) -> Self {
        Candidate { score, value: score, ..self }
    }

    pub fn id(&self) -> PassageId {
        self.passage.passage
    }

    /// Returns the raw scores, adjusted by language and age.
    pub fn evidence(&self) -> Evidence {
        self.scores.evidence(self.adjusted.adjustment)
    }
}

impl Candidate {
    /// Returns the value after decay.
    pub fn aged(&self) -> f64 {
        Decay::apply(self.score, self.adjusted.decay)
    }
}

/// What each retriever knows of all passages.
#[derive(Clone, Debug, Default)]
pub(crate) struct Statistics {
    pub lexical: Option<LexicalStatistics>,
    pub semantic: Option<Background>,
    /// The number of candidates that each retriever found.
    pub found: Found,
}

/// The number of candidates that each retriever found; `None` if it took no part.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Found {
    pub lexical: Option<usize>,
    pub semantic: Option<usize>,
}

/// The number of unrelated passages assumed in addition to those of the corpus.
const UNRELATED: f64 = 20.0;

impl Statistics {
    /// Returns the raw scores of a passage that has nothing to do with the query.
    ///
    /// In a corpus of a few passages the answer itself makes up much of the mean. So we take the means over the corpus and
    /// [`UNRELATED`] further passages, which share no word with the query and have no similarity to it.
    pub fn background(&self) -> BackgroundEvidence {
        let diluted = |mean: f32, passages: u64| f64::from(mean) * passages as f64 / (passages as f64 + UNRELATED);
        BackgroundEvidence {
            similarity: self.semantic.as_ref().map(|background| diluted(background.mean, background.count)),
            bm25: self.lexical.as_ref().map(|statistics| diluted(statistics.expected_score, statistics.indexed)),
        }
    }
}

/// The results of one phrasing.
#[derive(Clone, Debug)]
pub(crate) struct Phrased {
    pub weight: f64,
    /// The passages that it found, with their raw scores under it.
    pub found: Vec<(PassageId, Scores)>,
    /// The raw scores of a passage that has nothing to do with it.
    pub background: BackgroundEvidence,
}

/// The candidates of a question, and the way they were found.
#[derive(Clone, Debug, Default)]
pub(crate) struct Retrieved {
    /// The prepared question.
    pub query: Query,
    /// The retrievers that took part.
    pub plan: Plan,
    /// The candidates with their raw scores, in the order of equal ones.
    pub candidates: Vec<Candidate>,
    /// What each retriever knows of all passages.
    pub statistics: Statistics,
    /// Each phrasing of the query with what it found, the query itself first; empty if there is only one.
    pub phrased: Vec<Phrased>,
    /// Problems that did not prevent an answer.
    pub warnings: Vec<String>,
}

/// Returns the namespaces of passages, by name.
pub(crate) fn namespaces_of<'p>(passages: impl Iterator<Item = &'p StoredPassage>) -> Vec<String> {
    let names: BTreeSet<&str> = passages.map(|passage| passage.namespace.as_str()).collect();
    names.into_iter().map(str::to_owned).collect()
}

/// Adds the kind of text that a search found to its key, since judgements teach only searches of the same kind. Prose, the usual
/// one, is not named.
pub(crate) fn scoring_of(key: ScoringKey, candidates: &[Candidate]) -> ScoringKey {
    let found: Vec<Option<&str>> = candidates.iter().map(|candidate| kind_of_code(&candidate.passage)).collect();
    let most = |kind: &str| 2 * found.iter().filter(|found| **found == Some(kind)).count() > found.len();
    match [SOURCE_TREE, FUNCTIONS].into_iter().find(|kind| most(kind)) {
        Some(kind) => key.with("text", kind),
        None => key,
    }
}

/// The files of a source tree, of which one or a few answer, and a collection of single functions, of which one of many look-alikes
/// does.
const SOURCE_TREE: &str = "code";
const FUNCTIONS: &str = "functions";

/// The product's own collections say what they hold. Of others, which a program put there, the text shows it.
fn kind_of_code(passage: &StoredPassage) -> Option<&'static str> {
    match passage.collection.as_str() {
        CODE => Some(SOURCE_TREE),
        ISSUES | SESSIONS | COMMITS => None,
        collection if FILE_COLLECTIONS.contains(&collection) => None,
        _ => looks_like_code(&passage.text).then_some(FUNCTIONS),
    }
}

/// Lines of a text that are looked at.
const LINES: usize = 24;

/// Returns `true` if at least half of the first lines with a word in them end or begin as statements do.
fn looks_like_code(text: &str) -> bool {
    let lines = text.lines().map(str::trim).filter(|line| line.chars().any(char::is_alphanumeric)).take(LINES);
    let (count, statements) =
        lines.fold((0, 0), |(count, statements), line| (count + 1, statements + usize::from(is_statement(line))));
    count >= 2 && 2 * statements >= count
}

/// Ends of lines that prose seldom has, and the words that statements of common languages begin with.
const ENDS: [char; 6] = ['{', '}', ';', ')', '(', '['];
const BEGINS: [&str; 18] = [
    "def ", "class ", "return ", "if ", "else:", "elif ", "for ", "while ", "try:", "except", "import ", "from ",
    "fn ", "func ", "let ", "const ", "var ", "public ",
];

fn is_statement(line: &str) -> bool {
    let begins = || BEGINS.iter().any(|word| line.starts_with(word)) && !line.ends_with('.');
    let assigns = || line.contains(" = ") && !line.ends_with('.');
    line.ends_with(ENDS) || begins() || assigns()
}

/// The role of ordinary text.
pub(crate) const MAIN: &str = "main";

/// Directories of documentation, whose scripts and pages show what the code of the project does.
const DOCUMENTATION: [&str; 4] = ["doc", "docs", "documentation", "website"];

/// Returns `true` for the source code of a project, as opposed to data, formats that are not known, and what belongs to its
/// documentation.
pub(crate) fn is_program(passage: &StoredPassage) -> bool {
    is_program_at(&passage.collection, passage.language.as_deref(), &passage.path)
}

fn is_program_at(collection: &str, language: Option<&str>, path: &str) -> bool {
    let category = language.and_then(Language::from_name).map(|language| language.category);
    let (directories, _) = path.rsplit_once('/').unwrap_or_default();
    let documents = |directory: &str| DOCUMENTATION.iter().any(|name| directory.eq_ignore_ascii_case(name));
    collection == CODE && category == Some(Category::Code) && !directories.split('/').any(documents)
}

#[cfg(test)]
pub(crate) mod test_support {
    use tamis_store::{DocumentId, PassageId, StoredPassage, TextForm, TextHash};

    /// A paragraph of a document of its own.
    pub(crate) fn passage(number: u64, path: &str, text: &str) -> StoredPassage {
        StoredPassage {
            passage: PassageId(number),
            id: number.to_string(),
            document: DocumentId(number as u32),
            namespace: "here".into(),
            collection: "docs".into(),
            path: path.into(),
            title: None,
            modified_ns: 0,
            dated_ns: None,
            severity: None,
            author: None,
            part: None,
            ordinal: 0,
            start_line: 1,
            end_line: 1,
            kind: "paragraph".into(),
            symbol: None,
            heading: None,
            context: None,
            text: text.into(),
            language: None,
            role: "main".into(),
            form: TextForm::Prose,
            text_hash: TextHash::from_text(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_code_and_paragraphs_are_not() {
        let python =
            "def read(path):\n    \"\"\"Reads a file.\"\"\"\n    with open(path) as file:\n        return file.read()";
        let rust = "pub fn read(path: &Path) -> io::Result<String> {\n    let text = fs::read_to_string(path)?;\n    Ok(text)\n}";
        let go = "func Read(path string) ([]byte, error) {\n\tdata, err := os.ReadFile(path)\n\tif err != nil {\n\t\treturn nil, err\n\t}\n\treturn data, nil\n}";
        for code in [python, rust, go] {
            assert!(looks_like_code(code), "{code}");
        }
        let paragraph = "Heat the oven to 220 degrees.\nIf the dough is cold, wait.\nFor a crisp crust, add steam.";
        let titled = "Noonan syndrome\n\nA genetic disorder (of many parts) that can be inherited. Symptoms vary.";
        let one_line = "while reading a file the program stops;";
        for prose in [paragraph, titled, one_line, ""] {
            assert!(!looks_like_code(prose), "{prose}");
        }
    }

    #[test]
    fn data_unknown_formats_and_documentation_are_no_programs() {
        for (collection, language, path) in [
            (CODE, Some("rust"), "src/docs.rs"),
            (CODE, Some("html"), "templates/page.html"),
            (CODE, Some("shell"), "doctor/run"),
        ] {
            assert!(is_program_at(collection, language, path), "{path}");
        }
        for (collection, language, path) in [
            (CODE, Some("yaml"), "ci.yml"),
            (CODE, None, "tests/site.caddyfiletest"),
            (CODE, Some("typescript"), "packages/docs/config/en.ts"),
            (CODE, Some("html"), "Docs/Classes/Request.html"),
            ("docs", Some("markdown"), "README.md"),
        ] {
            assert!(!is_program_at(collection, language, path), "{path}");
        }
    }
}
