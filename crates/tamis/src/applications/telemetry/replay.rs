//! Replays recorded searches with other cuts, and compares the cuts.
//!
//! A replay reads the recorded candidates and decides with the present configuration: fusion, gate, and for the cut
//! `auto` what it has learned from labels. Some things were not recorded: the lengths of passages
//! (so a token budget cannot be replayed), the threshold of each candidate's language, the effect of language and age
//! under another cut (their effect on the recorded score is carried over as a factor), and anything that a deeper pool
//! or another model would have found.

use super::Statistics;
use super::comparison::{Compared, Outcome, Replay};
use super::stats::StatsRequest;
use super::verdicts::Verdicts;
use crate::Error;
use crate::config::Mode;
use crate::handle::Index;
use crate::models;
use crate::search::{
    Configured, Context, ReplayGrounds, TunedRule, fitted_prior, replacement, replayed, scoring_under,
};
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::HashMap;
use tamis_cut::{Gate, Relevance, Rule};
use tamis_embed::ModelInfo;
use tamis_rank::Fusion;
use tamis_store::{RecordedSearch, ScoringKey};

/// The default number of searches replayed, latest first.
pub const REPLAYED: usize = 2_000;

/// The name of the cut made at the time.
const RECORDED: &str = "recorded";

/// The searches to replay, and the cuts to try.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct ReplayRequest {
    /// Cuts to try, each as METHOD[:PARAM=VALUE,…]; parameters that are not given come from the configuration.
    #[schemars(length(min = 1, max = 6), inner(length(min = 1, max = 1000)), extend("x-whole" = true))]
    pub cuts: Vec<String>,
    /// The searches, by period and namespace.
    #[serde(flatten)]
    pub searches: StatsRequest,
    /// Most searches replayed, latest first.
    #[schemars(range(min = 1, max = 2000))]
    #[serde(default = "most")]
    pub limit: usize,
}

fn most() -> usize {
    REPLAYED
}

impl ReplayRequest {
    /// Creates a request for the last [`REPLAYED`] searches with these cuts.
    pub fn new(cuts: Vec<String>) -> Self {
        ReplayRequest { cuts, searches: StatsRequest::default(), limit: REPLAYED }
    }
}

/// A cut to replay.
struct Named {
    name: String,
    rule: Box<dyn Rule>,
}

impl Statistics<'_> {
    /// Decides recorded searches again with each of the cuts, by the gate and the rules of a search, and compares the
    /// candidates kept with those kept at the time and with each other. Nothing is searched and nothing is recorded.
    ///
    /// # Errors
    /// An unknown cut, a cut that needs unrecorded data, no cut at all, or a log that cannot be read.
    pub fn replay(&self, request: &ReplayRequest) -> Result<Replay, Error> {
        let cuts = self.named(&request.cuts)?;
        let log = self.index.usage.log()?;
        let (since, until) = request.searches.period_ms();
        let ids = log.search_ids(since, until, request.limit)?;
        let names = std::iter::once(RECORDED.to_owned()).chain(cuts.iter().map(|cut| cut.name.clone())).collect();
        let mut compared = Compared::new(names);
        let mut grounds = Grounds::new(self.index);
        let mut unreadable = 0;
        for id in ids {
            // Another process may have deleted it. One damaged record does not prevent a replay.
            let Ok(Some(search)) = log.search(&id) else {
                unreadable += 1;
                continue;
            };
            if request.searches.namespace.as_ref().is_some_and(|namespace| search.namespace != *namespace) {
                continue;
            }
            let judgements = log.judgements(&id)?;
            let mut outcomes = vec![Outcome::new((0..search.kept as usize).collect(), &search.method)];
            for cut in &cuts {
                outcomes.push(grounds.outcome(&search, cut.rule.as_ref())?);
            }
            compared.add(&search, &Verdicts::of(&search, &judgements), outcomes);
        }
        let auto = cuts.iter().any(|cut| cut.rule.name() == "auto");
        let tables =
            |cut: &Named| self.index.config.source_tables(cut.rule.as_ref()).is_ok_and(|tables| !tables.is_empty());
        let notes = notes(&cuts, auto && compared.judged() > 0, cuts.iter().any(tables), unreadable);
        Ok(compared.finish(unreadable, notes))
    }

    /// Parses the cuts as a search would.
    fn named(&self, specifications: &[String]) -> Result<Vec<Named>, Error> {
        if specifications.is_empty() {
            return Err(Error::argument("replay", "\"\"", "one cut or several, such as max_gap,auto"));
        }
        let named = |specification: &String| {
            let refused = |reason: String| Error::argument("replay", format!("{specification:?}"), reason);
            let rule = self.index.config.cut(specification).map_err(|error| refused(format!("a cut: {error}")))?;
            let asked = TunedRule::new(rule.as_ref(), self.index.config.search.want, &Default::default())?;
            if asked.rule().reads_sizes() {
                return Err(refused("without a budget of tokens: how long passages were is not recorded".into()));
            }
            Ok(Named { name: specification.clone(), rule: asked.rule().boxed() })
        };
        specifications.iter().map(named).collect()
    }
}

fn notes(cuts: &[Named], learnt: bool, tables: bool, unreadable: u64) -> Vec<String> {
    let mut notes = Vec::new();
    if cuts.iter().any(|cut| cut.rule.reads_relevance()) {
        notes.push("auto decides by what it knows of the collection now, not by what it knew then".to_owned());
    }
    if learnt {
        notes.push(
            "auto has learnt from these judgements, so its precision and recall on them are a little too good"
                .to_owned(),
        );
    }
    if cuts.iter().any(|cut| cut.rule.reads_thresholds()) {
        notes.push(
            "the thresholds of languages are not recorded: language is replayed with its default alone".to_owned(),
        );
    }
    if tables {
        notes.push("what collection a passage is of is not recorded: top_score is replayed with one table".to_owned());
    }
    if unreadable > 0 {
        notes.push(format!("{unreadable} searches were left out: their records cannot be read"));
    }
    notes
}

/// The inputs of decisions, computed once for searches that share them.
struct Grounds<'a> {
    index: &'a Index,
    built_in: Vec<ModelInfo>,
    relevances: HashMap<PriorKey, Relevance>,
}

/// The key of a fitted relevance: namespace, model, mode and scoring.
type PriorKey = (String, Option<String>, String, ScoringKey);

impl<'a> Grounds<'a> {
    fn new(index: &'a Index) -> Self {
        Grounds { index, built_in: models::built_in(), relevances: HashMap::new() }
    }

    /// The candidates of a search that a rule keeps.
    fn outcome(&mut self, search: &RecordedSearch, rule: &dyn Rule) -> Result<Outcome, Error> {
        let index = self.index;
        let mode: Mode = search.mode.parse()?;
        // Without vectors a rule that reads similarities is replaced, as in a search.
        let replacement = replacement(&Context::of(index), rule, mode)?;
        let rule = replacement.as_deref().unwrap_or(rule);

        let model = self.built_in.iter().find(|model| search.model.as_ref() == Some(&model.id));
        let own = model.map_or(0.5, |model| f64::from(model.fusion_weight));
        let settings = &index.config.search;
        let weight = settings.fusion_weight.unwrap_or(own);
        let fusion = Fusion::named(&settings.fusion, weight)
            .map_err(|error| Error::argument("search.fusion", &settings.fusion, error.to_string()))?;
        let reference = model.and_then(models::reference);
        let configured = Configured { fusion, weight };
        let relevance = self.relevance(search, mode, scoring_under(search, rule, configured));
        let gate = settings.gate.then(Gate::default);
        let decided = replayed(search, rule, &ReplayGrounds { gate: gate.as_ref(), configured, reference, relevance })?;
        Ok(Outcome::new(decided.kept, &decided.method))
    }

    fn relevance(&mut self, search: &RecordedSearch, mode: Mode, scoring: ScoringKey) -> Relevance {
        let index = self.index;
        let key = (search.namespace.clone(), search.model.clone(), search.mode.clone(), scoring);
        let fitted = |(namespace, model, _, scoring): &PriorKey| {
            fitted_prior(&Context::of(index), namespace, model.as_deref(), mode, scoring)
        };
        *self.relevances.entry(key).or_insert_with_key(fitted)
    }
}
