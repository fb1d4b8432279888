//! Finds the duplicates of an issue: both legs propose, likeness orders, the floor and the configured cut end the list.

use super::DuplicateFinder;
use super::answer::{ConsideredDuplicate, Duplicates, DuplicatesRequest};
use super::likeness::{Weights, likeness, mean_similarity, nearness, words};
use crate::Error;
use crate::applications::stored_issue::{issue, issue_records};
use crate::applications::troubleshoot::described;
use crate::collections::ISSUES;
use crate::progress::Observer;
use crate::search::{
    Context, CutReport, EVERYTHING, FoundIssues, IssuePassages, IssueQuery, SearchRequest, Served, Stopwatch,
    issue_similarities, issues, other_similarities, record_issues, scope_of,
};
use std::collections::{BTreeMap, BTreeSet};
use tamis_cut::{Background, Pool};
use tamis_store::{AttributeCondition, Filter};
use tamis_text::Issue;

/// The entry point recorded by default.
const ENTRY_POINT: &str = "duplicates";

/// The floor's name in cut reports.
const FLOOR: &str = "likeness_floor";

/// The constant of the fusion that selects issues to compare; likeness then orders them.
const RRF_K: f64 = 60.0;

/// Issues that each leg proposes.
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
        let mut search = SearchRequest {
            namespace: request.namespace.clone(),
            allowed_namespaces: request.allowed_namespaces.clone(),
            ..SearchRequest::default()
        };
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
            entry_point: Some(request.entry_point.as_deref().unwrap_or(ENTRY_POINT)),
            collections: &[ISSUES.to_owned()],
            kept: cut.keep,
            returned: cut.keep.min(settings.max_results),
            top_k: settings.max_results,
            fallback_reason: found.fallback_reason(),
        };
        let query_id = record_issues(&context, &found, &order, &cut, served, &clock);
        clock.lap("record");
        let limited = request.allowed_namespaces.is_some();
        Ok(Duplicates {
            issue: own.map(|_| asked.number),
            title: asked.title,
            query_id,
            duplicates: considered.iter().take(cut.keep.min(settings.max_results)).cloned().collect(),
            reason: cut.reason.clone(),
            fallback_reason: found.fallback_reason(),
            model: found.model(),
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
            keep: 0,
            threshold: Some(floor),
            reason,
            candidates: considered.len(),
            dropped: considered.len(),
            dropped_non_finite: 0,
            diagnostics: [("threshold_on".to_owned(), "likeness".into())].into(),
            probabilities: Vec::new(),
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
                    "the nearest issue, #{}, has likeness {:.2}, below {floor:.2}",
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
            format!("the nearest issue, #{}, has likeness {:.2} of at least {floor:.2}", best.number, best.likeness);
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
    let weights = Weights::of(&texts);
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
