//! The directions of the transformer's space that the table keeps.

use super::teacher::WIDTH;

/// The leading eigenvectors of the second moment of a set of vectors. Not centred, so that the angle between two
/// projections approximates the angle between the vectors.
pub struct Space {
    /// One row of `WIDTH` entries a direction.
    directions: Vec<f64>,
    dimension: usize,
    kept: f64,
}

impl Space {
    pub fn of(vectors: &[f32], dimension: usize) -> Self {
        let mut moment = vec![0.0f64; WIDTH * WIDTH];
        for vector in vectors.chunks_exact(WIDTH) {
            for (row, &x) in moment.chunks_exact_mut(WIDTH).zip(vector) {
                for (entry, &y) in row.iter_mut().zip(vector) {
                    *entry += f64::from(x * y);
                }
            }
        }
        let total: f64 = (0..WIDTH).map(|at| moment[at * WIDTH + at]).sum();
        let (values, vectors) = eigen(moment, WIDTH);
        let mut order: Vec<usize> = (0..WIDTH).collect();
        order.sort_by(|&a, &b| values[b].total_cmp(&values[a]));
        order.truncate(dimension);
        let kept = order.iter().map(|&at| values[at]).sum::<f64>() / total;
        let directions = order
            .iter()
            .flat_map(|&at| (0..WIDTH).map(move |row| (row, at)))
            .map(|(row, at)| vectors[row * WIDTH + at])
            .collect();
        Self { directions, dimension, kept }
    }

    /// Returns the share of the squared length of the vectors that the directions hold.
    pub fn kept(&self) -> f64 {
        self.kept
    }

    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// Projects a vector onto the kept directions.
    pub fn project(&self, vector: &[f32]) -> Vec<f32> {
        self.directions
            .chunks_exact(WIDTH)
            .map(|direction| direction.iter().zip(vector).map(|(&x, &y)| x * f64::from(y)).sum::<f64>() as f32)
            .collect()
    }
}

/// Computes eigenvalues, and eigenvectors as columns, of a symmetric matrix by cyclic Jacobi rotations (Golub and Van Loan, Matrix
/// Computations, 8.5). Slow and simple: a second for 384 rows.
fn eigen(mut matrix: Vec<f64>, size: usize) -> (Vec<f64>, Vec<f64>) {
    let mut vectors = vec![0.0; size * size];
    for at in 0..size {
        vectors[at * size + at] = 1.0;
    }
    for _sweep in 0..12 {
        for p in 0..size {
            for q in p + 1..size {
                let off = matrix[p * size + q];
                if off.abs() < 1e-14 * (matrix[p * size + p] * matrix[q * size + q]).abs().sqrt() {
                    continue;
                }
                let theta = (matrix[q * size + q] - matrix[p * size + p]) / (2.0 * off);
                let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
                let c = 1.0 / (t * t + 1.0).sqrt();
                let s = t * c;
                let rotate = |a: f64, b: f64| (c * a - s * b, s * a + c * b);
                for k in 0..size {
                    let (a, b) = rotate(matrix[k * size + p], matrix[k * size + q]);
                    (matrix[k * size + p], matrix[k * size + q]) = (a, b);
                    let (a, b) = rotate(vectors[k * size + p], vectors[k * size + q]);
                    (vectors[k * size + p], vectors[k * size + q]) = (a, b);
                }
                for k in 0..size {
                    let (a, b) = rotate(matrix[p * size + k], matrix[q * size + k]);
                    (matrix[p * size + k], matrix[q * size + k]) = (a, b);
                }
            }
        }
    }
    ((0..size).map(|at| matrix[at * size + at]).collect(), vectors)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_matrix_is_decomposed() {
        let (mut values, vectors) = eigen(vec![2.0, 1.0, 1.0, 2.0], 2);
        assert!((vectors[0].abs() - 0.5f64.sqrt()).abs() < 1e-12);
        values.sort_by(f64::total_cmp);
        assert!((values[0] - 1.0).abs() < 1e-12 && (values[1] - 3.0).abs() < 1e-12, "{values:?}");
    }
}
