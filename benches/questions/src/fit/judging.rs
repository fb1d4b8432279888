//! Simulates people who judge the answers to some questions of a list, and says how the shift that their judgements justify changes the
//! answers to its other questions.

use super::{Evidence, Predicted, kept};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use tamis_cut::Gate;
use tamis_rank::{JudgedEntry, Shift, probability};

/// The numbers of judgements after which the other questions are asked, and the draws of questions to judge.
const JUDGEMENTS: [usize; 5] = [3, 10, 30, 100, 200];
const DRAWS: usize = 40;

/// Lists with fewer questions are left out, and so is a draw that leaves less than a third of them to ask.
const LEAST_QUESTIONS: usize = 20;

/// The most results that an answer shows.
const SHOWN: usize = 10;

/// What somebody says of a result, by its place and whether it is relevant.
type Judge = fn(usize, bool) -> Option<bool>;

const JUDGES: [(&str, Judge); 4] = [
    ("everything", |_, relevant| Some(relevant)),
    ("what is relevant", |_, relevant| relevant.then_some(true)),
    ("what is not", |_, relevant| (!relevant).then_some(false)),
    ("the first result", |place, relevant| (place == 0).then_some(relevant)),
];

/// Figures of an answer; `None` where a question has none.
const FIGURES: [&str; 5] = ["log loss", "F2", "found", "empty", "not empty"];
type Figures = [Option<f64>; FIGURES.len()];

/// One question: log odds and relevance of its entries, best first, and the number of those above the line.
struct Asked {
    entries: Vec<(f64, bool)>,
    keep: usize,
    answerable: bool,
}

impl Asked {
    fn of((evidence, log_odds): &(&Evidence, Vec<f64>)) -> Asked {
        let relevant = evidence.entries.iter().map(|entry| entry.relevant);
        let mut entries: Vec<(f64, bool)> = log_odds.iter().copied().zip(relevant).collect();
        entries.sort_by(|a, b| b.0.total_cmp(&a.0));
        let keep = kept(entries.iter().map(|entry| probability(entry.0)).collect());
        Asked { entries, keep, answerable: evidence.topic == "answerable" }
    }

    fn judged(&self, judge: Judge) -> Vec<JudgedEntry> {
        let shown = self.entries.iter().take(self.keep.min(SHOWN)).enumerate();
        shown.map(|(place, &(log_odds, relevant))| (log_odds, judge(place, relevant))).collect()
    }

    /// The log loss is of what is above the line without a shift. A question without an answer has an F2 of 1 if its answer is empty.
    fn figures(&self, shift: &Shift) -> Figures {
        let gate = Gate::default();
        let best = self.entries.first().map_or(0.0, |best| best.0);
        let shift = shift.for_list(best, gate.min_probability, gate.min_each);
        let probabilities: Vec<f64> =
            self.entries.iter().map(|(odds, _)| probability(odds + shift.added(*odds))).collect();
        let loss = |(&(_, relevant), &probability): (&(f64, bool), &f64)| {
            -(if relevant { probability } else { 1.0 - probability }).max(1e-6).ln()
        };
        let losses: f64 = self.entries[..self.keep].iter().zip(&probabilities).map(loss).sum();
        let keep = kept(probabilities);
        let count = |entries: &[(f64, bool)]| entries.iter().filter(|(_, relevant)| *relevant).count() as f64;
        let (found, all) = (count(&self.entries[..keep]), count(&self.entries).max(1.0));
        let empty = f64::from(u8::from(keep == 0));
        let f2 = if self.answerable { 5.0 * found / (keep as f64 + 4.0 * all) } else { empty };
        [
            (self.keep > 0).then(|| losses / self.keep as f64),
            Some(f2),
            self.answerable.then_some(found / all),
            self.answerable.then_some(empty),
            (!self.answerable).then_some(1.0 - empty),
        ]
    }
}

/// Returns what judgements change, for each way of judging: means over lists, without and with the shift, and the numbers of lists whose
/// F2 is better and worse by more than two standard errors.
pub(super) fn table(predicted: &Predicted<'_>) -> String {
    let mut lists: BTreeMap<&str, Vec<Asked>> = BTreeMap::new();
    predicted.iter().for_each(|one| lists.entry(&one.0.list).or_default().push(Asked::of(one)));
    lists.retain(|_, questions| questions.len() >= LEAST_QUESTIONS);
    let mut table = format!("{:<18}{:>10}{:>7}", "judged", "judgements", "lists");
    FIGURES.iter().for_each(|figure| table += &format!("{figure:>14}"));
    table += "  better   worse\n";
    for (name, judge) in JUDGES {
        for judgements in JUDGEMENTS {
            let pairs: Vec<Vec<[Figures; 2]>> = lists.values().map(|list| measured(list, judge, judgements)).collect();
            let pairs: Vec<&Vec<[Figures; 2]>> = pairs.iter().filter(|pairs| pairs.len() > 1).collect();
            let _ = write!(table, "{name:<18}{judgements:>10}{:>7}", pairs.len());
            for at in 0..FIGURES.len() {
                let of = |side: usize| {
                    mean(pairs.iter().filter_map(|pairs| mean(pairs.iter().filter_map(|pair| pair[side][at]))))
                };
                let [without, with] =
                    [of(0), of(1)].map(|mean| mean.map_or("–".to_owned(), |mean| format!("{mean:.3}")));
                let _ = write!(table, "{without:>8} {with:<5}");
            }
            let gains = |pairs: &&Vec<[Figures; 2]>| -> f64 {
                let gains: Vec<f64> = pairs.iter().filter_map(|[without, with]| Some(with[1]? - without[1]?)).collect();
                let gain = mean(gains.iter().copied()).unwrap_or(0.0);
                let variance = mean(gains.iter().map(|one| (one - gain).powi(2))).unwrap_or(0.0);
                gain / (variance / (gains.len() - 1) as f64).sqrt().max(1e-3)
            };
            let gains: Vec<f64> = pairs.iter().map(gains).collect();
            let count = |holds: fn(&f64) -> bool| gains.iter().filter(|gain| holds(gain)).count();
            let _ = writeln!(table, "{:>8}{:>8}", count(|gain| *gain > 2.0), count(|gain| *gain < -2.0));
        }
    }
    table
}

/// Returns the figures of each question of a list without and with the shift, as means over the draws that did not judge it.
fn measured(list: &[Asked], judge: Judge, judgements: usize) -> Vec<[Figures; 2]> {
    let without: Vec<Figures> = list.iter().map(|asked| asked.figures(&Shift::NONE)).collect();
    let mut with: Vec<Vec<Figures>> = vec![Vec::new(); list.len()];
    for draw in 0..DRAWS {
        let mut order: Vec<usize> = (0..list.len()).collect();
        order.sort_by_key(|at| BuildHasherDefault::<DefaultHasher>::default().hash_one((draw, at)));
        let (mut said, mut judged) = (0, Vec::new());
        for &at in &order {
            if said >= judgements {
                break;
            }
            let entries = list[at].judged(judge);
            said += entries.iter().filter(|(_, label)| label.is_some()).count();
            judged.push(entries);
        }
        if said >= judgements && 3 * judged.len() <= 2 * list.len() {
            let shift = Shift::fit(&judged);
            order[judged.len()..].iter().for_each(|&at| with[at].push(list[at].figures(&shift)));
        }
    }
    let paired = without.into_iter().zip(with).filter(|(_, with)| !with.is_empty());
    paired
        .map(|(without, with)| [without, std::array::from_fn(|at| mean(with.iter().filter_map(|one| one[at])))])
        .collect()
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (count, sum) = values.fold((0, 0.0), |(count, sum), value| (count + 1, sum + value));
    (count > 0).then(|| sum / f64::from(count))
}
