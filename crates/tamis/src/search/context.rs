//! What every step of a search reads besides its data: the index, an observer, and the namespaces that a request covers.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::Instant;

use tamis_store::{Filter, Namespace};

use super::request::SearchRequest;
use crate::Error;
use crate::handle::Index;
use crate::progress::Observer;

/// What a step reads besides its data.
#[derive(Clone, Copy)]
pub(crate) struct Context<'a> {
    pub index: &'a Index,
    /// Can stop a search.
    pub observer: &'a dyn Observer,
}

impl<'a> Context<'a> {
    /// A context that nobody stops.
    pub fn unobserved(index: &'a Index) -> Self {
        Context::new(index, &())
    }

    /// A context that `observer` can stop: each step returns [`Error::Cancelled`] then.
    pub fn new(index: &'a Index, observer: &'a dyn Observer) -> Self {
        Context { index, observer }
    }
}

/// The time that each stage of a search takes, in milliseconds.
pub(crate) struct Stopwatch {
    started: Instant,
    lap: Instant,
    pub(crate) laps: BTreeMap<String, f64>,
}

impl Stopwatch {
    pub fn start() -> Self {
        let now = Instant::now();
        Stopwatch { started: now, lap: now, laps: BTreeMap::new() }
    }

    pub fn lap(&mut self, stage: &str) {
        let now = Instant::now();
        self.laps.insert(stage.to_owned(), (now - self.lap).as_secs_f64() * 1000.0);
        self.lap = now;
    }

    pub fn elapsed_ms(&self) -> f64 {
        self.started.elapsed().as_secs_f64() * 1000.0
    }

    pub fn finish(mut self) -> BTreeMap<String, f64> {
        self.laps.insert("total".to_owned(), self.elapsed_ms());
        self.laps
    }
}

/// Most shared namespaces that a search reads, the largest first.
const MOST_SHARED: usize = 5;

/// The namespaces of one search. Others are not read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Scope {
    /// The namespaces searched first; empty: everything in the index, so nothing else is left to read.
    pub own: Vec<String>,
    /// The namespaces shared by the same owner.
    pub shared: Vec<String>,
    /// All of them by name, the own ones first.
    pub names: Vec<String>,
}

impl Scope {
    /// Returns `filter` for the own namespaces.
    pub fn of_own(&self, filter: &Filter) -> Filter {
        Filter { namespaces: self.own.clone(), ..filter.clone() }
    }

    /// Returns `filter` for the shared ones.
    pub fn of_shared(&self, filter: &Filter) -> Filter {
        Filter { namespaces: self.shared.clone(), ..filter.clone() }
    }

    /// Returns `filter` for both.
    pub fn of_all(&self, filter: &Filter) -> Filter {
        Filter { namespaces: self.own.iter().chain(&self.shared).cloned().collect(), ..filter.clone() }
    }

    /// Returns the name under which a search is recorded, since results from one set of namespaces say nothing about another.
    pub fn label(&self, whole: &str) -> String {
        if self.own.is_empty() { whole.to_owned() } else { self.own.join(",") }
    }
}

/// Decides the scope of a request among `known` namespaces. `own` is the index's own, if it has one; it counts once it holds documents.
/// `most_shared` is the maximum number of shared ones, the largest first; 0: none.
///
/// # Errors
/// A namespace does not exist, or the caller may not read it. The error is the same for both, so it does not reveal which
/// namespaces exist.
pub(crate) fn scope_among(
    request: &SearchRequest,
    known: &[Namespace],
    own: Option<&str>,
    most_shared: usize,
) -> Result<Scope, Error> {
    let allowed: Option<HashSet<&str>> =
        request.asker.allowed_namespaces.as_ref().map(|allowed| allowed.iter().map(String::as_str).collect());
    let readable = |name: &str| allowed.as_ref().is_none_or(|allowed| allowed.contains(name));
    let by_name: HashMap<&str, &Namespace> = known.iter().map(|known| (known.name.as_str(), known)).collect();
    let named = |name: &str| match by_name.get(name).copied().filter(|_| readable(name)) {
        Some(namespace) => Ok(namespace),
        None => {
            let names: Vec<&str> =
                known.iter().map(|known| known.name.as_str()).filter(|name| readable(name)).collect();
            Err(Error::argument("namespace", format!("{name:?}"), format!("one of {}", names.join(", "))))
        }
    };
    // A search of everything needs no filter, which keeps the retrievers on their fast path. With access rights the filter stays, since
    // another namespace may be added meanwhile.
    let exactly = |mut own: Vec<String>| {
        own.sort();
        own.dedup();
        let whole = allowed.is_none() && known.iter().all(|known| own.binary_search(&known.name).is_ok());
        Scope { names: own.clone(), own: if whole { Vec::new() } else { own }, shared: Vec::new() }
    };
    if !request.filters.namespaces.is_empty() {
        let names = request.filters.namespaces.iter().map(|name| Ok(named(name)?.name.clone()));
        return Ok(exactly(names.collect::<Result<_, Error>>()?));
    }
    let asked = request.filters.namespace.as_deref();
    let Some(own) =
        asked.or_else(|| own.filter(|own| readable(own) && by_name.get(own).is_some_and(|own| own.documents > 0)))
    else {
        let all: Vec<String> = known.iter().map(|known| known.name.clone()).filter(|name| readable(name)).collect();
        if all.is_empty() && allowed.is_some() {
            return Err(Error::argument("namespace", "none", "one that exists and that this caller may read"));
        }
        return Ok(exactly(all));
    };
    let own = named(own)?;
    let mut shared: Vec<&Namespace> = known
        .iter()
        .filter(|other| other.shared && other.name != own.name && readable(&other.name))
        .filter(|other| own.owner.is_some() && other.owner == own.owner)
        .collect();
    shared.sort_by(|a, b| b.passages.cmp(&a.passages).then_with(|| a.name.cmp(&b.name)));
    shared.truncate(most_shared);
    let shared: Vec<String> = shared.into_iter().map(|namespace| namespace.name.clone()).collect();
    if shared.is_empty() {
        return Ok(exactly(vec![own.name.clone()]));
    }
    let names = std::iter::once(&own.name).chain(&shared).cloned().collect();
    Ok(Scope { own: vec![own.name.clone()], shared, names })
}

/// Returns the namespaces that a request reads.
pub(crate) fn scope_of(context: &Context<'_>, request: &SearchRequest) -> Result<Scope, Error> {
    let known = context.index.store.namespaces()?;
    let sharing = context.index.config.search.sharing && !request.filters.no_sharing;
    let most = if sharing { MOST_SHARED } else { 0 };
    scope_among(request, &known, context.index.searched_namespace(), most)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::Asker;

    fn namespace(name: &str, owner: Option<&str>, shared: bool, passages: u64) -> Namespace {
        let (name, owner) = (name.into(), owner.map(str::to_owned));
        Namespace { name, owner, shared, documents: 1, passages, ..Namespace::default() }
    }

    fn team() -> Vec<Namespace> {
        vec![
            namespace("api", Some("team"), true, 50),
            namespace("web", Some("team"), true, 400),
            namespace("wiki", Some("team"), true, 90),
            namespace("salaries", Some("team"), false, 10),
            namespace("elsewhere", Some("others"), true, 70),
            namespace("lone", None, true, 70),
        ]
    }

    fn scoped(request: &SearchRequest, own: Option<&str>, most: usize) -> Result<(Vec<String>, Vec<String>), String> {
        scope_among(request, &team(), own, most)
            .map(|scope| (scope.own, scope.shared))
            .map_err(|error| error.to_string())
    }

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn ones_own_first_and_then_what_its_owner_shares_the_largest_first() {
        let request = SearchRequest::new("x");
        assert_eq!(scoped(&request, Some("api"), 5), Ok((names(&["api"]), names(&["web", "wiki"]))));
        assert_eq!(scoped(&request, Some("api"), 1), Ok((names(&["api"]), names(&["web"]))));
        assert_eq!(scoped(&request, Some("api"), 0), Ok((names(&["api"]), vec![])));
        assert_eq!(scoped(&request, Some("lone"), 5), Ok((names(&["lone"]), vec![])), "no owner, no pool");
        let named = SearchRequest::new("x").namespace(Some("salaries".into()));
        assert_eq!(scoped(&named, Some("api"), 5), Ok((names(&["salaries"]), names(&["web", "wiki", "api"]))));
    }

    #[test]
    fn without_an_own_one_all_are_equal() {
        assert_eq!(scoped(&SearchRequest::new("x"), None, 5), Ok((vec![], vec![])));
        let two = SearchRequest::new("x").namespaces(["web", "api", "web"]);
        assert_eq!(scoped(&two, Some("wiki"), 5), Ok((names(&["api", "web"]), vec![])));
        let empty = Namespace { documents: 0, ..namespace("front", None, false, 0) };
        let known: Vec<Namespace> = team().into_iter().chain([empty]).collect();
        let scope = scope_among(&SearchRequest::new("x"), &known, Some("front"), 5).expect("a scope");
        assert!(scope.own.is_empty(), "an empty one is no place to search: {scope:?}");
    }

    #[test]
    fn what_may_not_be_read_is_as_if_it_were_not_there() {
        let limited = |allowed| SearchRequest::new("x").asker(Asker::with_rights(Some(allowed)));
        let request = |own: Option<&str>| limited(names(&["api", "web"])).namespace(own.map(str::to_owned));
        assert_eq!(scoped(&request(Some("api")), None, 5), Ok((names(&["api"]), names(&["web"]))));
        assert_eq!(scoped(&request(None), None, 5), Ok((names(&["api", "web"]), vec![])));
        assert_eq!(scoped(&request(None), Some("wiki"), 5), Ok((names(&["api", "web"]), vec![])));
        let everything = team().into_iter().map(|namespace| namespace.name).collect();
        let rights = limited(everything);
        assert_eq!(scoped(&rights, None, 5).map(|(own, _)| own.len()), Ok(6), "rights to all are still a filter");
        let there = scoped(&request(Some("salaries")), None, 5).expect_err("not readable");
        let not_there = scoped(&request(Some("nowhere")), None, 5).expect_err("not there");
        assert_eq!(there.replace("salaries", ""), not_there.replace("nowhere", ""));
        assert!(there.contains("one of api, web"), "{there}");
        assert!(scoped(&limited(Vec::new()), None, 5).is_err());
    }
}
