//! Regressions by Newton's method, on standardized values and with a small ridge.

/// The ridges, in relation to the weight of all samples: of a logistic regression, and of the two steps of a conditional logit.
const RIDGE: f64 = 3e-3;
const FIRST_RIDGE: f64 = 1e-4;
const FURTHER_RIDGE: f64 = 0.05;

/// Steps of at most this size end a fit.
const ENOUGH: f64 = 1e-7;

/// Rows of values with a label and a weight.
#[derive(Default)]
pub(super) struct Samples {
    pub values: Vec<Vec<f64>>,
    pub labels: Vec<f64>,
    pub weights: Vec<f64>,
}

/// Lists of rows of values, of which some are right. Each list has a weight.
#[derive(Default)]
pub(super) struct Lists {
    pub lists: Vec<Vec<(Vec<f64>, bool)>>,
    pub weights: Vec<f64>,
}

/// Weighted logistic regression: the bias, and the weight of each value.
pub(super) fn logistic(samples: &Samples) -> (f64, Vec<f64>) {
    let Samples { values, labels, weights } = samples;
    let features = values.first().map_or(0, Vec::len);
    let scale = Scale::of(values.iter().zip(weights.iter().copied()), features);
    let total: f64 = weights.iter().sum();
    let size = features + 1;
    let mut fitted = vec![0.0; size];
    for _ in 0..40 {
        let (mut gradient, mut hessian) = (vec![0.0; size], vec![vec![0.0; size]; size]);
        let mut row = vec![1.0; size];
        for ((values, label), weight) in values.iter().zip(labels).zip(weights) {
            scale.standardize(values, &mut row);
            let probability = 1.0 / (1.0 + (-dot(&fitted, &row)).exp());
            add(&mut gradient, &row, weight * (probability - label));
            add_square(&mut hessian, &row, weight * probability * (1.0 - probability));
        }
        for at in 0..features {
            gradient[at] += RIDGE * total * fitted[at];
            hessian[at][at] += RIDGE * total;
        }
        let step = solved(hessian, gradient);
        fitted.iter_mut().zip(&step).for_each(|(weight, step)| *weight -= step);
        if step.iter().all(|step| step.abs() < ENOUGH) {
            break;
        }
    }
    let raw: Vec<f64> = (0..features).map(|at| fitted[at] / scale.spreads[at]).collect();
    (fitted[features] - dot(&raw, &scale.means), raw)
}

/// Conditional logit: the weights whose softmax over each list gives its right rows the greatest mean logarithm of their shares. It is
/// first fitted to the values at the places `first`, then to all, with a ridge that draws towards the first fit: what little evidence
/// says of the other values must not spoil the order by these.
pub(super) fn conditional(lists: &Lists, first: &[usize]) -> Vec<f64> {
    let features = lists.lists.first().and_then(|list| list.first()).map_or(0, |(values, _)| values.len());
    let only = |values: &[f64]| first.iter().map(|&at| values[at]).collect();
    let few = Lists {
        lists: lists
            .lists
            .iter()
            .map(|list| list.iter().map(|(values, right)| (only(values), *right)).collect())
            .collect(),
        weights: lists.weights.clone(),
    };
    let of_first = newton(&few, &[], FIRST_RIDGE);
    let mut start = vec![0.0; features];
    first.iter().zip(of_first).for_each(|(&at, weight)| start[at] = weight);
    let further = newton(lists, &start, FURTHER_RIDGE);
    start.iter().zip(further).map(|(start, further)| start + further).collect()
}

/// The weights to add to those given, by Newton's method.
fn newton(lists: &Lists, given: &[f64], ridge: f64) -> Vec<f64> {
    let features = lists.lists.first().and_then(|list| list.first()).map_or(0, |(values, _)| values.len());
    let scale = Scale::of(lists.lists.iter().flatten().map(|(values, _)| (values, 1.0)), features);
    let total: f64 = lists.weights.iter().sum();
    let mut fitted = vec![0.0; features];
    for _ in 0..30 {
        let (mut gradient, mut hessian) = (vec![0.0; features], vec![vec![0.0; features]; features]);
        for (list, weight) in lists.lists.iter().zip(&lists.weights) {
            let rows: Vec<Vec<f64>> = list
                .iter()
                .map(|(values, _)| {
                    let mut row = vec![0.0; features];
                    scale.standardize(values, &mut row);
                    row
                })
                .collect();
            let values: Vec<f64> =
                rows.iter().zip(list).map(|(row, (values, _))| dot(&fitted, row) + dot(given, values)).collect();
            let best = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let all: f64 = values.iter().map(|value| (value - best).exp()).sum();
            let right = list.iter().filter(|(_, right)| *right).count() as f64;
            let mut mean = vec![0.0; features];
            for ((row, value), (_, is_right)) in rows.iter().zip(&values).zip(list) {
                let share = (value - best).exp() / all;
                let wanted = if *is_right { 1.0 / right } else { 0.0 };
                add(&mut gradient, row, weight * (share - wanted));
                add_square(&mut hessian, row, weight * share);
                add(&mut mean, row, share);
            }
            add_square(&mut hessian, &mean, -weight);
        }
        for at in 0..features {
            gradient[at] += ridge * total * fitted[at];
            hessian[at][at] += ridge * total;
        }
        let step = solved(hessian, gradient);
        // A step that leads too far would not come back.
        let longest = step.iter().fold(0.0_f64, |longest, step| longest.max(step.abs()));
        let share = if longest > 1.0 { 1.0 / longest } else { 1.0 };
        fitted.iter_mut().zip(&step).for_each(|(weight, step)| *weight -= share * step);
        if longest < ENOUGH {
            break;
        }
    }
    (0..features).map(|at| fitted[at] / scale.spreads[at]).collect()
}

/// The means and the standard deviations of values.
struct Scale {
    means: Vec<f64>,
    spreads: Vec<f64>,
}

impl Scale {
    fn of<'v>(rows: impl Iterator<Item = (&'v Vec<f64>, f64)> + Clone, features: usize) -> Scale {
        let total: f64 = rows.clone().map(|(_, weight)| weight).sum();
        let (mut means, mut spreads) = (vec![0.0; features], vec![0.0; features]);
        for (values, weight) in rows.clone() {
            add(&mut means, values, weight / total);
        }
        for (values, weight) in rows {
            for at in 0..features {
                spreads[at] += weight / total * (values[at] - means[at]).powi(2);
            }
        }
        Scale { means, spreads: spreads.into_iter().map(|square| square.sqrt() + 1e-9).collect() }
    }

    fn standardize(&self, values: &[f64], row: &mut [f64]) {
        for (at, value) in values.iter().enumerate() {
            row[at] = (value - self.means[at]) / self.spreads[at];
        }
    }
}

pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn add(sum: &mut [f64], row: &[f64], weight: f64) {
    sum.iter_mut().zip(row).for_each(|(sum, value)| *sum += weight * value);
}

/// Adds the products of all pairs of values to the lower half of a matrix.
fn add_square(sum: &mut [Vec<f64>], row: &[f64], weight: f64) {
    for (at, value) in row.iter().enumerate() {
        add(&mut sum[at][..=at], row, weight * value);
    }
}

/// Solves `matrix · x = right` for a symmetric, positive matrix, of which the lower half is given (Cholesky).
fn solved(mut matrix: Vec<Vec<f64>>, right: Vec<f64>) -> Vec<f64> {
    let size = right.len();
    for row in 0..size {
        for column in 0..=row {
            let sum: f64 = (0..column).map(|at| matrix[row][at] * matrix[column][at]).sum();
            let rest = matrix[row][column] - sum;
            matrix[row][column] = if row == column { rest.max(1e-12).sqrt() } else { rest / matrix[column][column] };
        }
    }
    let mut x = right;
    for row in 0..size {
        let sum: f64 = (0..row).map(|at| matrix[row][at] * x[at]).sum();
        x[row] = (x[row] - sum) / matrix[row][row];
    }
    for row in (0..size).rev() {
        let sum: f64 = (row + 1..size).map(|at| matrix[at][row] * x[at]).sum();
        x[row] = (x[row] - sum) / matrix[row][row];
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_regression_finds_the_weights_that_made_the_labels() {
        let mut samples = Samples::default();
        for step in 0..2000 {
            let (x, y) = (f64::from(step % 40) / 10.0 - 2.0, f64::from(step % 7) / 3.0 - 1.0);
            let probability = 1.0 / (1.0 + (-(0.5 + 1.2 * x - 0.8 * y)).exp());
            for (relevant, weight) in [(1.0, probability), (0.0, 1.0 - probability)] {
                samples.values.push(vec![x, y]);
                samples.labels.push(relevant);
                samples.weights.push(weight);
            }
        }
        let (bias, weights) = logistic(&samples);
        assert!((bias - 0.5).abs() < 0.02 && (weights[0] - 1.2).abs() < 0.05 && (weights[1] + 0.8).abs() < 0.05);
    }

    #[test]
    fn a_conditional_logit_finds_the_weights_that_made_the_choices() {
        let mut lists = Lists::default();
        for step in 0..400 {
            let row =
                |at: usize| vec![((step * 7 + at * 13) % 31) as f64 / 10.0, ((step * 11 + at * 5) % 17) as f64 / 8.0];
            let rows: Vec<Vec<f64>> = (0..4).map(row).collect();
            let odds: Vec<f64> = rows.iter().map(|row| (1.5 * row[0] - 0.7 * row[1]).exp()).collect();
            let all: f64 = odds.iter().sum();
            for (right, own) in odds.iter().enumerate() {
                lists.lists.push(rows.iter().cloned().enumerate().map(|(at, row)| (row, at == right)).collect());
                lists.weights.push(own / all);
            }
        }
        let weights = conditional(&lists, &[0, 1]);
        assert!((weights[0] - 1.5).abs() < 0.05 && (weights[1] + 0.7).abs() < 0.05, "{weights:?}");
        let drawn = conditional(&lists, &[0]);
        assert!(drawn[1] < -0.1 && drawn[1] > weights[1], "{drawn:?}");
    }

    #[test]
    fn a_system_is_solved() {
        let x = solved(vec![vec![4.0, 0.0], vec![2.0, 3.0]], vec![2.0, -1.0]);
        assert!((4.0 * x[0] + 2.0 * x[1] - 2.0).abs() < 1e-12 && (2.0 * x[0] + 3.0 * x[1] + 1.0).abs() < 1e-12);
    }
}
