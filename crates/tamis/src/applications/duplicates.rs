//! Likely duplicates of an issue; there may be none.
//!
//! Both retrievers propose issues (`search::issues`), `likeness` compares two of them, [`DuplicateFinder`] orders and cuts, and
//! [`Duplicates`] is the answer. `docs/research/duplicates.md` explains the choice of the measure and its floor.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use rust_stemmers::{Algorithm, Stemmer};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tamis_cut::{Background, Pool};
use tamis_store::{AttributeCondition, Filter};
use tamis_text::Issue;

use super::stored_issue::{issue, issue_records};
use super::troubleshoot::described;
use crate::Error;
use crate::collections::ISSUES;
use crate::handle::Index;
use crate::progress::Observer;
use crate::search::{
    Asker, Context, CutReport, EVERYTHING, FoundIssues, IssuePassages, IssueQuery, SearchRequest, Served, Stopwatch,
    issue_similarities, issues, other_similarities, record_issues, scope_of,
};

/// Finds likely duplicates of an issue. From [`Index::duplicates`].
#[derive(Clone, Copy)]
pub struct DuplicateFinder<'a> {
    pub(super) index: &'a Index,
}

// The request and the answer of a search for duplicates. The JSON form is a contract.

/// A search for duplicates of an issue of the index, or of one that is described by a title, a body or both.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct DuplicatesRequest {
    /// Number of an issue of the index.
    #[schemars(range(min = 1, max = 9_000_000_000_000_i64))]
    #[cfg_attr(feature = "clap", arg(value_name = "N"))]
    pub number: Option<u64>,
    /// Title of an issue that isn't in the index.
    #[schemars(length(max = 1000))]
    #[cfg_attr(feature = "clap", arg(long, value_name = "TITLE", conflicts_with = "number"))]
    pub title: Option<String>,
    /// Its body.
    #[schemars(length(max = 50_000))]
    #[cfg_attr(feature = "clap", arg(long, value_name = "TEXT", requires = "title", conflicts_with = "body_file"))]
    pub body: Option<String>,
    /// Only issues in one of these states, such as open or closed (default: any).
    #[schemars(length(max = 10), inner(length(max = 20)))]
    #[serde(default)]
    #[cfg_attr(feature = "clap", arg(long = "state", value_name = "STATE", value_delimiter = ','))]
    pub states: Vec<String>,
    /// Repository to search first (default: this one, or all).
    #[schemars(length(min = 1, max = 200))]
    #[cfg_attr(feature = "clap", arg(long, value_name = "NAME"))]
    pub namespace: Option<String>,
    /// Who asks.
    #[serde(skip)]
    #[cfg_attr(feature = "clap", arg(skip))]
    pub asker: Asker,
}

impl DuplicatesRequest {
    /// Creates a request for the duplicates of an issue of the index.
    #[must_use]
    pub fn issue(number: u64) -> Self {
        DuplicatesRequest { number: Some(number), ..DuplicatesRequest::default() }
    }

    /// Creates a request for the duplicates of an issue that is not in the index.
    #[must_use]
    pub fn text(title: impl Into<String>, body: impl Into<String>) -> Self {
        DuplicatesRequest { title: Some(title.into()), body: Some(body.into()), ..DuplicatesRequest::default() }
    }
}

/// The likely duplicates of an issue.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Duplicates {
    /// The number of the issue asked about; null for one that is not in the index.
    pub issue: Option<u64>,
    /// Its title.
    pub title: String,
    /// The identifier under which the search is recorded; null if it is not recorded.
    pub query_id: Option<String>,
    /// Likely duplicates, best first.
    pub duplicates: Vec<ConsideredDuplicate>,
    /// The reason for the number of duplicates, in one sentence.
    pub reason: String,
    /// The model that made the comparison, and why another one did not.
    #[serde(flatten)]
    pub compared_by: ModelUse,
    /// The least likeness of a duplicate, in [0, 1].
    pub min_likeness: f64,
    /// The number of passages searched.
    pub searched: u64,
    /// Every issue that was compared, best first.
    pub considered: Vec<ConsideredDuplicate>,
    /// The cut of the compared issues.
    pub cut: CutReport,
    /// Milliseconds by stage, and `total`; empty for a caller who may not read every namespace.
    pub timings_ms: BTreeMap<String, f64>,
}

/// The model that made a comparison, and why another one did not.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ModelUse {
    /// The reason another model, or words alone, made the comparison.
    pub fallback_reason: Option<String>,
    /// The model that made the comparison.
    pub model: Option<String>,
}

/// An issue that may be a duplicate.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct ConsideredDuplicate {
    /// Its number.
    pub number: u64,
    /// Its namespace.
    pub namespace: String,
    /// Its title.
    pub title: String,
    /// `issue` or `pull_request`.
    pub kind: String,
    /// `open`, `closed` or `merged`.
    pub state: String,
    /// The time it was written.
    #[schemars(with = "Option<String>")]
    pub created_at: Option<Timestamp>,
    /// Its address in a browser.
    pub url: Option<String>,
    /// Similarity and shared words combined, in [0, 1].
    pub likeness: f64,
    /// Cosine similarity of its body's best passage, averaged over the index's models.
    pub similarity: f64,
    /// The weighted share of words in common, averaged over both directions, in [0, 1].
    pub shared_words: f64,
    /// The score it is ranked by: likeness, plus a little for having been written at about the same time.
    pub score: f64,
}

// Finds the duplicates of an issue: both retrievers propose, likeness orders, the floor and the configured cut end the list.

/// The entry point recorded by default.
const ENTRY_POINT: &str = "duplicates";

/// The floor's name in cut reports.
const FLOOR: &str = "likeness_floor";

/// The constant of the fusion that selects issues to compare; likeness then orders them.
const RRF_K: f64 = 60.0;

/// Issues that each retriever proposes.
const CANDIDATES: usize = 50;

/// Fewest issues returned once the nearest one is like enough, for a person to compare.
const MIN_RESULTS: usize = 3;

/// Weight of the words that two issues share, against 1 for the similarity of their vectors.
const WORDS_WEIGHT: f64 = 0.45;

/// Weight of the similarity by each other model of the index, against 1 for the model that searches.
const OTHER_MODELS_WEIGHT: f64 = 0.5;

/// Score added for two issues written at the same time, and the days between two after which half of it is left.
const NEARNESS_WEIGHT: f64 = 0.05;
const NEARNESS_HALF_LIFE_DAYS: f64 = 180.0;

/// The part number of an issue's body.
const BODY: u32 = 0;

impl DuplicateFinder<'_> {
    /// Finds issues that are likely duplicates of one issue. An issue is compared with issues, a pull request with pull
    /// requests, in any state. An empty answer is not an error and states its reason. The index is searched as it
    /// stands; see [`Index::refresh_for_search`].
    ///
    /// ```no_run
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use tamis::{Index, Location};
    /// use tamis::config::Config;
    /// use tamis::duplicates::DuplicatesRequest;
    ///
    /// let index = Index::at(Location::at(std::path::Path::new("."), None), Config::built_in())?;
    /// let found = index.duplicates().find(&DuplicatesRequest::issue(12), &())?;
    /// for duplicate in &found.duplicates {
    ///     println!("#{} {:.2} {}", duplicate.number, duplicate.likeness, duplicate.title);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// A missing issue or namespace, an empty text, a damaged index, a model that fails, or [`Error::Cancelled`] if the observer
    /// stopped it.
    pub fn find(&self, request: &DuplicatesRequest, observer: &dyn Observer) -> Result<Duplicates, Error> {
        let context = Context::new(self.index, observer);
        let settings = self.index.config.triage.duplicates;
        let mut clock = Stopwatch::start();
        let mut search = SearchRequest::default().namespace(request.namespace.clone()).asker(request.asker.clone());
        let DuplicatesRequest { number, title, body, .. } = request;
        described("number", *number, title.as_deref(), body.as_deref())?;
        let (asked, own) = match number {
            Some(number) => {
                let stored = issue(&context, *number, &scope_of(&context, &search)?)?;
                (stored.issue, Some(stored.document))
            }
            None => {
                let title = title.as_deref().unwrap_or_default();
                (Issue { body: body.clone().unwrap_or_default(), ..Issue::new(0, title.trim()) }, None)
            }
        };
        search.query = text_of(&asked);
        let mut attributes = vec![AttributeCondition::new("type", [asked.kind.as_str()])];
        if !request.states.is_empty() {
            attributes.push(AttributeCondition::new("state", request.states.clone()));
        }
        let found = issues(
            &context,
            &IssueQuery {
                request: &search,
                filter: Filter { attributes, ..Filter::default() },
                own,
                candidates: CANDIDATES,
                rrf_k: RRF_K,
            },
            &mut clock,
        )?;
        let (order, considered) = compared(&context, &found, &asked)?;
        clock.lap("compare");
        let mut cut = self.cut_duplicates(&found, &considered, settings.min_likeness)?;
        found.explain_words(&mut cut);
        clock.lap("cut");
        let served = Served {
            entry_point: Some(request.asker.entry_point.as_deref().unwrap_or(ENTRY_POINT)),
            collections: &[ISSUES.to_owned()],
            kept: cut.keep,
            returned: cut.keep.min(settings.max_results),
            top_k: settings.max_results,
            fallback_reason: found.fallback_reason(),
        };
        let query_id = record_issues(&context, &found, &order, &cut, served, &clock);
        clock.lap("record");
        let limited = request.asker.allowed_namespaces.is_some();
        Ok(Duplicates {
            issue: own.map(|_| asked.number),
            title: asked.title,
            query_id,
            duplicates: considered.iter().take(cut.keep.min(settings.max_results)).cloned().collect(),
            reason: cut.reason.clone(),
            compared_by: ModelUse { fallback_reason: found.fallback_reason(), model: found.model() },
            min_likeness: settings.min_likeness,
            searched: found.searched(),
            considered,
            cut,
            timings_ms: if limited { BTreeMap::new() } else { clock.finish() },
        })
    }

    /// Keeps nothing if even the best is below the floor. Otherwise keeps what the configured cut keeps of the scores,
    /// but no more than are above the floor and no fewer than a person compares at a glance.
    fn cut_duplicates(
        &self,
        found: &FoundIssues,
        considered: &[ConsideredDuplicate],
        floor: f64,
    ) -> Result<CutReport, Error> {
        let best = considered.iter().max_by(|a, b| a.likeness.total_cmp(&b.likeness));
        let nothing = |reason: String| CutReport {
            method: FLOOR.to_owned(),
            threshold: Some(floor),
            reason,
            candidates: considered.len(),
            dropped: considered.len(),
            diagnostics: [("threshold_on".to_owned(), "likeness".into())].into(),
            ..CutReport::default()
        };
        let best = match best {
            None if found.searched() == 0 => return Ok(nothing("there is no other issue to compare with".to_owned())),
            None if found.model().is_none() => {
                return Ok(nothing(
                    "no similarity is known without a model that covers the issues, and words alone do not say whether two \
                     issues are the same"
                        .to_owned(),
                ));
            }
            None => return Ok(nothing("no other issue shares a word or a meaning with it".to_owned())),
            Some(best) if best.likeness < floor => {
                return Ok(nothing(format!(
                    "the nearest issue, #{}, has a likeness of {:.2}, below {floor:.2}",
                    best.number, best.likeness
                )));
            }
            Some(best) => best,
        };
        let wrong = |error: &dyn std::fmt::Display| Error::argument("pool", error.to_string(), "sorted and finite");
        let mut pool = Pool::scores(considered.iter().map(|one| one.score)).map_err(|error| wrong(&error))?;
        if let Some((mean, count)) = found.background() {
            // Without shared words, likeness depends on similarity alone.
            let background = Background { mean: likeness(mean, 0.0, WORDS_WEIGHT), deviation: 0.0, count };
            pool = pool.with_background(background).map_err(|error| wrong(&error))?;
        }
        let mut cut = CutReport::from(self.index.config.search.cut.as_deref().unwrap_or(&EVERYTHING).cut(&pool));
        let nearest =
            format!("the nearest issue, #{}, has a likeness of {:.2}, above {floor:.2}", best.number, best.likeness);
        // Issues below the floor are only shown so that a person has a few to compare.
        let alike_enough = considered.iter().rposition(|one| one.likeness >= floor).map_or(0, |last| last + 1);
        cut.keep = cut.keep.min(alike_enough).max(MIN_RESULTS).min(considered.len());
        cut.dropped = considered.len() - cut.keep;
        cut.reason = format!("{nearest}; {}", cut.reason.trim_end_matches('.'));
        Ok(cut)
    }
}

/// The proposed issues by likeness, best first, and the position of each in `found`. Issues whose similarity or
/// record is unknown are left out.
fn compared(
    context: &Context<'_>,
    found: &FoundIssues,
    asked: &Issue,
) -> Result<(Vec<usize>, Vec<ConsideredDuplicate>), Error> {
    let passages = issue_similarities(context, found)?;
    let others = other_similarities(context, found, &passages)?;
    // An empty body has a passage of its title. Without a passage of the body, the best passage stands in.
    let of_body = |issue: &IssuePassages| issue.of_part(BODY).or_else(|| issue.best());
    let documents: Vec<_> = found.issues.iter().map(|issue| issue.document).collect();
    let records = issue_records(context, found.scope(), &documents)?;
    let own_words = words(&text_of(asked));
    let mut texts: Vec<BTreeSet<String>> = records.iter().flatten().map(|issue| words(&text_of(issue))).collect();
    texts.push(own_words.clone());
    let weights = Weights::from_texts(&texts);
    let now = crate::dates::present();
    let asked_at = asked.created_at.or((asked.number == 0).then_some(now));
    let mut compared: Vec<(usize, ConsideredDuplicate)> = Vec::new();
    let known = records.into_iter().enumerate().filter_map(|(at, record)| Some((at, record?)));
    for ((at, issue), its_words) in known.zip(&texts) {
        let Some(similarity) = of_body(&passages[at]) else { continue };
        let views = others.iter().filter_map(|view| of_body(&view[at]));
        let similarity = mean_similarity(similarity, views, OTHER_MODELS_WEIGHT);
        let shared_words = weights.shared(&own_words, its_words);
        let likeness = likeness(similarity, shared_words, WORDS_WEIGHT);
        let apart = asked_at.zip(issue.created_at).map(|(a, b)| a.duration_since(b).as_secs_f64() / 86_400.0);
        let near = apart.map_or(0.0, |days| nearness(days, NEARNESS_HALF_LIFE_DAYS));
        compared.push((
            at,
            ConsideredDuplicate {
                number: issue.number,
                namespace: found.issues[at].passage().namespace.clone(),
                title: issue.title,
                kind: issue.kind.to_string(),
                state: issue.state.to_string(),
                created_at: issue.created_at,
                url: issue.url,
                likeness,
                similarity,
                shared_words,
                score: likeness + NEARNESS_WEIGHT * near,
            },
        ));
    }
    compared.sort_by(|a, b| b.1.score.total_cmp(&a.1.score).then(a.1.number.cmp(&b.1.number)));
    Ok(compared.into_iter().unzip())
}

/// The text of an issue, as it is compared.
fn text_of(issue: &Issue) -> String {
    format!("{}\n\n{}", issue.title.trim(), issue.body.trim()).trim().to_owned()
}

// Likeness of two texts by their words.

/// The words of a text: letters, digits and underscores in lower case, English words by their stem. An identifier
/// counts as a whole and by its parts.
pub(crate) fn words(text: &str) -> BTreeSet<String> {
    let stemmer = Stemmer::create(Algorithm::English);
    let mut words = BTreeSet::new();
    for word in text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty()) {
        let whole = word.to_lowercase();
        words.insert(stemmer.stem(&whole).into_owned());
        let parts = parts(word);
        if parts.len() > 1 {
            words.extend(parts.into_iter().map(|part| stemmer.stem(&part.to_lowercase()).into_owned()));
        }
    }
    words
}

/// Splits `parseConfig2` into `parse`, `Config`, `2`; `HTTPServer` into `HTTP`, `Server`; `max_size` into `max`,
/// `size`.
fn parts(word: &str) -> Vec<String> {
    let characters: Vec<char> = word.chars().collect();
    let mut parts: Vec<String> = Vec::new();
    let mut part = String::new();
    for (at, &c) in characters.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|before| characters.get(before)).copied();
        let after = characters.get(at + 1).copied();
        let begins = match before {
            Some(before) if c.is_uppercase() => {
                !before.is_uppercase() || after.is_some_and(|after| after.is_lowercase())
            }
            Some(before) => c.is_numeric() != before.is_numeric(),
            None => false,
        };
        if (begins || c == '_') && !part.is_empty() {
            parts.push(std::mem::take(&mut part));
        }
        if c != '_' {
            part.push(c);
        }
    }
    parts.extend(Some(part).filter(|part| !part.is_empty()));
    parts
}

/// Word weights over a set of texts: ln(1 + (n − f + ½) / (f + ½)), where f of the n texts hold the word. Among texts
/// on one subject the subject's own words weigh little, and distinguishing words weigh much.
pub(crate) struct Weights(BTreeMap<String, f64>);

impl Weights {
    /// Computes the weights of all words of these texts.
    pub fn from_texts(texts: &[BTreeSet<String>]) -> Self {
        let mut frequencies: BTreeMap<&String, usize> = BTreeMap::new();
        for word in texts.iter().flatten() {
            *frequencies.entry(word).or_default() += 1;
        }
        let total = texts.len() as f64;
        let weight = |frequency: usize| (1.0 + (total - frequency as f64 + 0.5) / (frequency as f64 + 0.5)).ln();
        Weights(frequencies.into_iter().map(|(word, frequency)| (word.clone(), weight(frequency))).collect())
    }

    /// The weighted share of one text's words that the other has, averaged over both directions, in [0, 1]. Averaging
    /// keeps a long text from containing everything and a short one from being contained in everything. 0 if either has
    /// no words.
    pub fn shared(&self, a: &BTreeSet<String>, b: &BTreeSet<String>) -> f64 {
        let weight = |word: &String| self.0.get(word).copied().unwrap_or_default();
        let mass = |words: &BTreeSet<String>| words.iter().map(weight).sum::<f64>();
        let (of_a, of_b) = (mass(a), mass(b));
        if of_a <= 0.0 || of_b <= 0.0 {
            return 0.0;
        }
        let shared: f64 = a.intersection(b).map(weight).sum();
        ((shared / of_a + shared / of_b) / 2.0).clamp(0.0, 1.0)
    }
}

/// The mean of one model's similarity and the others', each of the others weighted by `weight`.
pub(crate) fn mean_similarity(similarity: f64, others: impl Iterator<Item = f64>, weight: f64) -> f64 {
    let (sum, count) = others.fold((similarity, 1.0), |(sum, count), other| (sum + weight * other, count + weight));
    sum / count
}

/// Combines similarity and shared words into one value in [0, 1]; 1 is the same text.
pub(crate) fn likeness(similarity: f64, shared_words: f64, words_weight: f64) -> f64 {
    (similarity.clamp(0.0, 1.0) + words_weight * shared_words) / (1.0 + words_weight)
}

/// Exponential decay from 1, halved after each half-life.
pub(crate) fn nearness(days: f64, half_life_days: f64) -> f64 {
    (-days.abs() / half_life_days).exp2()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn set(words: &[&str]) -> BTreeSet<String> {
        words.iter().map(|&word| word.to_owned()).collect()
    }

    #[test]
    fn likeness_weighs_rare_parts_and_near_times() {
        assert_eq!(parts("HTTPServer2"), ["HTTP", "Server", "2"]);
        assert_eq!(parts("max_size"), ["max", "size"]);
        assert_eq!(words("parseConfig fails"), set(&["parseconfig", "pars", "config", "fail"]));
        assert_eq!(words("crashes crashed"), set(&["crash"]));
        assert!(words("… !?").is_empty());

        let texts = [set(&["upgrade", "jetty"]), set(&["upgrade", "jackson"]), set(&["upgrade", "jetty", "now"])];
        let weights = Weights::from_texts(&texts);
        assert!(weights.0["upgrade"] < weights.0["jetty"] && weights.0["jetty"] < weights.0["jackson"]);
        let (near, far) = (weights.shared(&texts[0], &texts[2]), weights.shared(&texts[0], &texts[1]));
        assert!(near > 2.0 * far, "{near} {far}");

        assert_eq!((nearness(0.0, 180.0), nearness(-180.0, 180.0), nearness(360.0, 180.0)), (1.0, 0.5, 0.25));
        assert_eq!((mean_similarity(0.6, [0.9].into_iter(), 0.5) * 10.0).round(), 7.0);
        assert_eq!(mean_similarity(0.6, [].into_iter(), 0.5), 0.6);
        assert_eq!((likeness(1.0, 1.0, 0.7), likeness(-0.5, 0.0, 0.7)), (1.0, 0.0));
    }

    proptest! {
        #[test]
        fn shared_words_are_a_share_and_the_same_both_ways(texts in proptest::collection::vec("[a-eA-E_0-2 ]{0,40}", 1..8)) {
            let texts: Vec<BTreeSet<String>> = texts.iter().map(|text| words(text)).collect();
            let weights = Weights::from_texts(&texts);
            for (a, b) in texts.iter().zip(texts.iter().skip(1)) {
                let shared = weights.shared(a, b);
                prop_assert!((0.0..=1.0).contains(&shared));
                prop_assert_eq!(shared, weights.shared(b, a));
            }
            prop_assert!(texts[0].is_empty() || (weights.shared(&texts[0], &texts[0]) - 1.0).abs() < 1e-9);
        }

        #[test]
        fn any_text_has_words(text in "\\PC{0,80}") {
            prop_assert!(words(&text).iter().all(|word| !word.is_empty()) || text.is_empty());
        }
    }
}
