//! One calibration: symbols → pairs → similarities → thresholds → the store and the configuration file.

use super::Calibrator;
use super::pairs::Pairs;
use super::report::{CalibrateReport, CalibrateRequest, LanguageCalibration, Outcome};
use super::statistics::Measurement;
use super::symbols::{Documents, Symbols, filter, groups, similarities};
use crate::Error;
use crate::config::{CalibratedConfig, Source, threshold_language};
use crate::progress::{Observer, Stage};
use crate::search::{Context, EVERYTHING, Thresholds, Under, covering};
use jiff::{Timestamp, Unit};
use tamis_embed::ModelInfo;
use tamis_eval::Random;
use tamis_store::Calibration;
use tamis_text::{LANGUAGES, Language};

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
        let documents = Documents::read(&*self.index.store)?;
        observer.stage(Stage::Calibrate, groups.len() as u64);
        for (language, members) in &groups {
            if observer.cancelled() {
                report.interrupted = true;
                return Ok(report);
            }
            let symbols = Symbols::read(&*self.index.store, &documents, &filter(members), &model.id)?;
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
        found.measured = Measurement::of(&same, &different, request.method);
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
        let best = covering(&Context::of(self.index), &filter(&languages), &mut Vec::new())?.best.map(|(name, _)| name);
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
