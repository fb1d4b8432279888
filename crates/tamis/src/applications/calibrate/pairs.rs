//! Pairs of related and unrelated passages in each language, and the similarities that they have.

use std::collections::{BTreeSet, HashMap};

use jiff::{Timestamp, Unit};
use tamis_embed::ModelInfo;
use tamis_eval::Random;
use tamis_store::{Calibration, DocumentId, Filter, PassageId, Store};
use tamis_text::{Kind, LANGUAGES, Language};

use super::{CalibrateReport, CalibrateRequest, Calibrator, LanguageCalibration, Measurement, Outcome};
use crate::Error;
use crate::config::{CalibratedConfig, Source, threshold_language};
use crate::progress::{Observer, Stage};
use crate::search::{Context, EVERYTHING, Thresholds, Under, covering};

/// The pairs of some symbols, which are numbered from 0, file after file.
#[derive(Debug)]
pub(crate) struct Pairs {
    /// The first symbol of each file, followed by the total number of symbols.
    starts: Vec<u64>,
    /// The number of same-file pairs in the files before each file, followed by the total.
    same: Vec<u64>,
    /// The number of different-file pairs whose first file comes before each file, followed by the total.
    different: Vec<u64>,
}

impl Pairs {
    /// The pairs of files with this many symbols each.
    pub(crate) fn new(sizes: &[usize]) -> Self {
        let sizes = || sizes.iter().map(|&size| size as u64);
        let all: u64 = sizes().sum();
        let cumulated = |counts: &mut dyn Iterator<Item = u64>| -> Vec<u64> {
            let mut sum = 0;
            let sums = counts.map(|count| {
                sum += count;
                sum
            });
            std::iter::once(0).chain(sums).collect()
        };
        let starts = cumulated(&mut sizes());
        let later = starts.iter().skip(1).map(|end| all - end);
        Pairs {
            same: cumulated(&mut sizes().map(|size| size * size.saturating_sub(1) / 2)),
            different: cumulated(&mut sizes().zip(later).map(|(size, later)| size * later)),
            starts,
        }
    }

    /// Returns the number of pairs that are of the same file.
    pub(crate) fn same_count(&self) -> u64 {
        self.same.last().copied().unwrap_or(0)
    }

    /// Returns the number of pairs that are of different files.
    pub(crate) fn different_count(&self) -> u64 {
        self.different.last().copied().unwrap_or(0)
    }

    /// The same-file pair with a number below [`Pairs::same_count`].
    fn same(&self, number: u64) -> (usize, usize) {
        let file = self.same.partition_point(|&before| before <= number) - 1;
        let within = number - self.same[file];
        // The pair (a, b) with a < b has the number b(b − 1)/2 + a: b is the largest whole number with b(b − 1)/2 ≤ number.
        let mut b = (((8 * within + 1) as f64).sqrt() as u64).div_ceil(2);
        while b * b.saturating_sub(1) / 2 > within {
            b -= 1;
        }
        while (b + 1) * b / 2 <= within {
            b += 1;
        }
        let a = within - b * (b - 1) / 2;
        ((self.starts[file] + a) as usize, (self.starts[file] + b) as usize)
    }

    /// The pair of different files with a number below [`Pairs::different_count`].
    fn different(&self, number: u64) -> (usize, usize) {
        let file = self.different.partition_point(|&before| before <= number) - 1;
        let within = number - self.different[file];
        let end = self.starts[file + 1];
        let later = self.starts[self.starts.len() - 1] - end;
        ((self.starts[file] + within / later) as usize, (end + within % later) as usize)
    }

    /// Draws `count` same-file pairs, each equally likely and none twice; all pairs if there are fewer.
    pub(crate) fn draw_same(&self, count: u64, random: &mut Random) -> Vec<(usize, usize)> {
        draw(self.same_count(), count, random).into_iter().map(|number| self.same(number)).collect()
    }

    /// Draws `count` pairs of different files, each equally likely and none twice; all pairs if there are fewer.
    pub(crate) fn draw_different(&self, count: u64, random: &mut Random) -> Vec<(usize, usize)> {
        draw(self.different_count(), count, random).into_iter().map(|number| self.different(number)).collect()
    }
}

/// Draws `count` numbers below `bound`, every set of them equally likely (Floyd's method, Bentley, *A sample of
/// brilliance*, 1987); all numbers if there are fewer.
fn draw(bound: u64, count: u64, random: &mut Random) -> BTreeSet<u64> {
    let mut drawn = BTreeSet::new();
    for last in bound.saturating_sub(count)..bound {
        if !drawn.insert(random.below_u64(last + 1)) {
            drawn.insert(last);
        }
    }
    drawn
}

// The symbols of a language, in an order that depends only on the tree: by namespace, path and position in the file.
// The store's own numbers depend on the order of indexing.

/// The number of passages whose vectors are read at a time.
const PASSAGES_A_LOOK: usize = 4096;

/// Kinds of passage that are symbols: neither prose nor the code between symbols.
const KINDS: [Kind; 6] = [Kind::Function, Kind::Method, Kind::Type, Kind::Trait, Kind::Constant, Kind::Macro];

/// The position of each document in the order.
pub(crate) struct Documents(HashMap<DocumentId, usize>);

impl Documents {
    pub(crate) fn from_store(store: &dyn Store) -> Result<Self, Error> {
        let mut places = HashMap::new();
        for namespace in store.namespaces()? {
            for document in store.documents(&namespace.name)? {
                let place = places.len();
                places.insert(document.document, place);
            }
        }
        Ok(Documents(places))
    }
}

/// The calibrated languages by name, each with the languages that share its threshold.
pub(crate) fn groups() -> Vec<(&'static str, Vec<String>)> {
    let mut groups: Vec<(&str, Vec<String>)> = Vec::new();
    for language in LANGUAGES.iter().filter(|language| language.has_symbols()) {
        let name = threshold_language(language.name);
        match groups.iter_mut().find(|(group, _)| *group == name) {
            Some((_, members)) => members.push(language.name.to_owned()),
            None => groups.push((name, vec![language.name.to_owned()])),
        }
    }
    groups.sort_unstable();
    groups
}

/// A filter for all symbols of these languages.
pub(crate) fn filter(languages: &[String]) -> Filter {
    let kinds = KINDS.iter().map(|kind| kind.as_str().to_owned()).collect();
    Filter { languages: languages.to_vec(), kinds, ..Filter::default() }
}

/// The symbols of a language that a model has vectors of.
#[derive(Debug, Default)]
pub(crate) struct Symbols {
    /// Passages in order, file after file.
    pub(crate) passages: Vec<PassageId>,
    /// The number of symbols in each file.
    pub(crate) sizes: Vec<usize>,
    /// The number of further symbols without a vector of the model.
    pub(crate) without_vector: u64,
}

impl Symbols {
    pub(crate) fn from_store(
        store: &dyn Store,
        documents: &Documents,
        filter: &Filter,
        model: &str,
    ) -> Result<Self, Error> {
        let selected = store.select(filter)?;
        // Documents added since the listing are left out.
        let mut placed: Vec<(usize, PassageId)> =
            selected.iter().filter_map(|found| Some((*documents.0.get(&found.document)?, found.passage))).collect();
        // Within a file the store numbers passages in their order.
        placed.sort_unstable();
        let coverage = store.coverage(model, filter)?;
        if coverage.embedded < coverage.passages {
            placed = with_vector(store, model, placed)?;
        }
        Ok(Symbols {
            sizes: placed.chunk_by(|a, b| a.0 == b.0).map(<[_]>::len).collect(),
            without_vector: (selected.len() - placed.len()) as u64,
            passages: placed.into_iter().map(|(_, passage)| passage).collect(),
        })
    }
}

/// The symbols that have a vector.
fn with_vector(
    store: &dyn Store,
    model: &str,
    placed: Vec<(usize, PassageId)>,
) -> Result<Vec<(usize, PassageId)>, Error> {
    let mut kept = Vec::with_capacity(placed.len());
    for some in placed.chunks(PASSAGES_A_LOOK) {
        let ids: Vec<PassageId> = some.iter().map(|(_, passage)| *passage).collect();
        let vectors = store.vectors(model, &[], &ids)?;
        kept.extend(some.iter().zip(vectors).filter(|(_, vector)| vector.is_some()).map(|(placed, _)| *placed));
    }
    Ok(kept)
}

/// The cosine similarities of pairs of symbols, in their order; NaN for a pair that has lost a vector since.
pub(crate) fn similarities(
    store: &dyn Store,
    model: &str,
    symbols: &Symbols,
    pairs: &[(usize, usize)],
) -> Result<Vec<f64>, Error> {
    let mut places: Vec<usize> = pairs.iter().flat_map(|&(a, b)| [a, b]).collect();
    places.sort_unstable();
    places.dedup();
    let ids: Vec<PassageId> = places.iter().map(|&place| symbols.passages[place]).collect();
    let vectors: HashMap<usize, Option<Vec<f32>>> = places.into_iter().zip(store.vectors(model, &[], &ids)?).collect();
    let vector = |place: usize| vectors.get(&place).and_then(Option::as_deref);
    let similarity = |&(a, b): &(usize, usize)| match (vector(a), vector(b)) {
        // Vectors are of length one.
        (Some(a), Some(b)) => a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum(),
        _ => f64::NAN,
    };
    Ok(pairs.iter().map(similarity).collect())
}

// One calibration: symbols → pairs → similarities → thresholds → the store and the configuration file.

/// Most pairs drawn of each kind.
const PAIRS: u64 = 500;

impl Calibrator<'_> {
    /// Measures, for each language of the whole index, the similarity above which two symbols are related under a
    /// model, and stores it: in the index and, as `[search.calibrated]`, in the project's configuration file.
    /// Thresholds set by hand in `[search.thresholds]` still take precedence. A configuration file that cannot be
    /// written is a warning.
    ///
    /// A running process reads its configuration once; it takes the new thresholds from the index.
    ///
    /// # Errors
    /// An unknown language or model, no symbol with a vector of the model, or an index that cannot be read or written.
    /// An index without symbols is not an error: the report is empty.
    pub fn run(&self, request: &CalibrateRequest, observer: &dyn Observer) -> Result<CalibrateReport, Error> {
        let groups = asked(&request.languages)?;
        let model = self.model_to_calibrate(request.model.as_deref(), &groups)?;
        let under = Under::new(&model);
        let now = crate::dates::present().round(Unit::Second).unwrap_or_else(|_| crate::dates::present());
        let mut report = CalibrateReport {
            provider: under.provider.to_owned(),
            model: under.model,
            method: request.method,
            seed: request.seed,
            calibrated_at: now.to_string(),
            languages: Vec::new(),
            dry_run: request.dry_run,
            interrupted: false,
            config_file: None,
            effect: self.effect(),
            warnings: Vec::new(),
        };
        let before = self.thresholds_now(&model)?;
        let documents = Documents::from_store(&*self.index.store)?;
        observer.stage(Stage::Calibrate, groups.len() as u64);
        for (language, members) in &groups {
            if observer.cancelled() {
                report.interrupted = true;
                return Ok(report);
            }
            let symbols = Symbols::from_store(&*self.index.store, &documents, &filter(members), &model.id)?;
            let is_there = !symbols.passages.is_empty() || symbols.without_vector > 0;
            if is_there || !request.languages.is_empty() {
                report.languages.push(self.calibrate_language(language, &symbols, &model.id, &before, request)?);
            }
            observer.advance(1);
        }
        let count = |count: fn(&LanguageCalibration) -> u64| report.languages.iter().map(count).sum::<u64>();
        if count(|language| language.symbols) == 0 {
            let without = count(|language| language.without_vector);
            if without == 0 {
                report.languages.clear();
                return Ok(report);
            }
            return Err(Error::NotEmbedded { model: model.id, symbols: without });
        }
        if !request.dry_run {
            self.keep(&mut report, request.force, now)?;
        }
        Ok(report)
    }

    /// Removes stored calibrations from the index and from the project's configuration file. Returns the number of
    /// thresholds the index held, and warnings for the user.
    ///
    /// # Errors
    /// The index cannot be written.
    pub fn clear(&self) -> Result<(u64, Vec<String>), Error> {
        let cleared = self.index.store.clear_calibrations()?;
        let warnings = self.index.config.write_calibrated(None).err();
        Ok((cleared, warnings.map(|error| self.unwritten(&error)).into_iter().collect()))
    }

    fn calibrate_language(
        &self,
        language: &str,
        symbols: &Symbols,
        model: &str,
        before: &Thresholds,
        request: &CalibrateRequest,
    ) -> Result<LanguageCalibration, Error> {
        let (before, before_source) = before.entry(language);
        let mut found = LanguageCalibration {
            language: language.to_owned(),
            outcome: Outcome::TooFewSymbols,
            measured: None,
            symbols: symbols.passages.len() as u64,
            without_vector: symbols.without_vector,
            same_file_pairs: 0,
            different_file_pairs: 0,
            before,
            before_source,
            written: false,
        };
        if found.symbols < LanguageCalibration::LEAST_SYMBOLS {
            return Ok(found);
        }
        let pairs = Pairs::new(&symbols.sizes);
        let same = pairs.draw_same(PAIRS, &mut Random::new(request.seed, "same file", language));
        let different = pairs.draw_different(PAIRS, &mut Random::new(request.seed, "different files", language));
        (found.same_file_pairs, found.different_file_pairs) = (same.len() as u64, different.len() as u64);
        if same.is_empty() || different.is_empty() {
            found.outcome = Outcome::OneSideEmpty;
            return Ok(found);
        }
        let same = similarities(&*self.index.store, model, symbols, &same)?;
        let different = similarities(&*self.index.store, model, symbols, &different)?;
        found.measured = Measurement::new(&same, &different, request.method);
        found.outcome = match &found.measured {
            None => Outcome::NotFinite,
            Some(measured) if measured.separates() => Outcome::Calibrated,
            Some(_) => Outcome::DoesNotSeparate,
        };
        Ok(found)
    }

    /// The thresholds in force, without a warning about a changed model.
    fn thresholds_now(&self, model: &ModelInfo) -> Result<Thresholds, Error> {
        Ok(crate::search::resolve(
            &self.index.config.thresholds,
            &self.index.store.calibrations()?,
            Some(&Under::new(model)),
        )
        .0)
    }

    /// Finds a model by name. Without a name it is the one that a search over all symbols uses, or the best one
    /// configured if none has vectors.
    fn model_to_calibrate(
        &self,
        name: Option<&str>,
        groups: &[(&'static str, Vec<String>)],
    ) -> Result<ModelInfo, Error> {
        if let Some(name) = name {
            return self.index.models.described(name);
        }
        let languages: Vec<String> = groups.iter().flat_map(|(_, members)| members.clone()).collect();
        let best = covering(&Context::unobserved(self.index), &filter(&languages), &mut Vec::new())?
            .best
            .map(|(name, _)| name);
        let configured = match self.index.config.search.model.as_str() {
            "auto" => self.index.config.index.models.last().map(String::as_str),
            name => Some(name),
        };
        let none = || Error::argument("index.models", "[]", "at least one model, since thresholds are of a model");
        self.index.models.described(best.or(configured).ok_or_else(none)?)
    }

    /// Stores the thresholds.
    fn keep(&self, report: &mut CalibrateReport, force: bool, now: Timestamp) -> Result<(), Error> {
        let mut rows = Vec::new();
        for language in &mut report.languages {
            let is_meant = match language.outcome {
                Outcome::Calibrated => true,
                Outcome::DoesNotSeparate => force,
                _ => false,
            };
            let Some(measured) = language.measured.filter(|_| is_meant) else { continue };
            language.written = true;
            rows.push(Calibration {
                language: language.language.clone(),
                threshold: measured.threshold,
                sample_size: language.symbols,
                provider: report.provider.clone(),
                model: report.model.clone(),
                calibrated_at_ms: now.as_millisecond(),
            });
        }
        if rows.is_empty() {
            return Ok(());
        }
        self.index.store.put_calibrations(&rows)?;
        let calibrated = CalibratedConfig {
            provider: report.provider.clone(),
            model: report.model.clone(),
            calibrated_at: Some(now),
            thresholds: rows.into_iter().map(|row| (row.language, row.threshold)).collect(),
            source: Source::BuiltIn,
        };
        match self.index.config.write_calibrated(Some(&calibrated)) {
            Ok(path) => report.config_file = path,
            Err(error) => report.warnings.push(self.unwritten(&error)),
        }
        Ok(())
    }

    /// What thresholds change in answers under the configured cut.
    fn effect(&self) -> String {
        let rule = self.index.config.search.cut.as_deref().unwrap_or(&EVERYTHING);
        let name = rule.name();
        if rule.heeds_measured_thresholds() {
            format!(
                "cut {name}: a code passage that shares no word with the query must be as similar to it as its language's \
                 threshold; what words find stays as it is"
            )
        } else if rule.reads_thresholds() {
            format!(
                "cut {name}: a passage must be as similar to the query as its language's threshold, or match in words"
            )
        } else {
            format!("cut {name}: nothing changes; the cuts auto and language read thresholds")
        }
    }

    fn unwritten(&self, error: &std::io::Error) -> String {
        let file = self.index.config.project_file().map(|path| path.display().to_string()).unwrap_or_default();
        format!("{file}: not written ({error}); only the index is up to date")
    }
}

/// The requested languages, each with the languages that share its threshold.
fn asked(languages: &[String]) -> Result<Vec<(&'static str, Vec<String>)>, Error> {
    let mut wanted = Vec::new();
    for text in languages {
        let found = Language::resolve(text).map(|language| threshold_language(language.name));
        wanted.push(found.filter(|name| groups().iter().any(|(group, _)| group == name)).ok_or_else(|| {
            let with_symbols = LANGUAGES.iter().filter(|language| language.has_symbols());
            let names: Vec<&str> = with_symbols.map(|language| language.name).collect();
            Error::argument("language", format!("{text:?}"), format!("one with symbols: {}", names.join(", ")))
        })?);
    }
    Ok(groups().into_iter().filter(|(group, _)| wanted.is_empty() || wanted.contains(group)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The file of each symbol.
    fn files(sizes: &[usize]) -> Vec<usize> {
        sizes.iter().enumerate().flat_map(|(file, &size)| std::iter::repeat_n(file, size)).collect()
    }

    proptest! {
        #[test]
        fn every_pair_has_one_number(sizes in prop::collection::vec(0usize..7, 0..8)) {
            let (pairs, files) = (Pairs::new(&sizes), files(&sizes));
            let expected = |same: bool| {
                let every = (0..files.len()).flat_map(|b| (0..b).map(move |a| (a, b)));
                every.filter(|&(a, b)| (files[a] == files[b]) == same).collect::<BTreeSet<_>>()
            };
            let same: Vec<_> = (0..pairs.same_count()).map(|number| pairs.same(number)).collect();
            let different: Vec<_> = (0..pairs.different_count()).map(|number| pairs.different(number)).collect();
            prop_assert_eq!(same.len(), expected(true).len());
            prop_assert_eq!(same.into_iter().collect::<BTreeSet<_>>(), expected(true));
            prop_assert_eq!(different.len(), expected(false).len());
            prop_assert_eq!(different.into_iter().collect::<BTreeSet<_>>(), expected(false));
        }

        #[test]
        fn large_numbers_lead_to_pairs_of_their_file(size in 2usize..3_000_000, share in 0.0f64..1.0) {
            let pairs = Pairs::new(&[3, size, 5]);
            let number = 3 + ((pairs.same_count() - 13) as f64 * share) as u64;
            let (a, b) = pairs.same(number);
            prop_assert!((3..3 + size).contains(&a) && a < b && b < 3 + size);
            let (a, b) = (a as u64 - 3, b as u64 - 3);
            prop_assert_eq!(3 + b * (b - 1) / 2 + a, number);
        }

        #[test]
        fn a_draw_has_as_many_as_asked_for_and_none_twice(bound in 0u64..2000, count in 0u64..600, seed: u64) {
            let drawn = draw(bound, count, &mut Random::new(seed, "test", ""));
            prop_assert_eq!(drawn.len() as u64, bound.min(count));
            prop_assert!(drawn.iter().all(|&number| number < bound));
        }
    }

    /// The trap: the first 500 pairs by path all come from the first few files.
    #[test]
    fn trap_the_first_pairs_by_path_are_of_the_first_few_files() {
        let sizes = vec![20; 400];
        let (pairs, files) = (Pairs::new(&sizes), files(&sizes));
        let of = |drawn: Vec<(usize, usize)>| -> (BTreeSet<usize>, f64) {
            let touched = drawn.iter().flat_map(|&(a, b)| [files[a], files[b]]).collect();
            (touched, drawn.iter().map(|&(a, _)| files[a] as f64).sum::<f64>() / drawn.len() as f64)
        };
        // 190 pairs a file: the first 500 would touch 3 files of 400. 500 draws of 400 files touch 400 · (1 − e^(−1.25)) = 285.
        let (touched, mean) = of(pairs.draw_same(500, &mut Random::new(0, "same", "rust")));
        assert!((250..=320).contains(&touched.len()), "{}", touched.len());
        assert!((170.0..=230.0).contains(&mean), "{mean}");
        let (touched, _) = of(pairs.draw_different(500, &mut Random::new(0, "different", "rust")));
        assert!(touched.len() > 330, "{}", touched.len());
    }

    #[test]
    fn a_file_weighs_as_many_as_its_pairs() {
        // 45 pairs in the first file and 1,225 in the second.
        let pairs = Pairs::new(&[10, 50]);
        let mut in_first = 0;
        for seed in 0..40 {
            let drawn = pairs.draw_same(100, &mut Random::new(seed, "same", "rust"));
            in_first += drawn.iter().filter(|(a, _)| *a < 10).count();
        }
        // 4,000 · 45 / 1,270 = 142, with a deviation of 12.
        assert!((100..=185).contains(&in_first), "{in_first}");
    }
}
