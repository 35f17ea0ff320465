//! Traits that go together: a Gaussian copula, given as a matrix or fitted from vectors.

use std::collections::BTreeMap;

use super::TraitCorrelation;

/// Smaller pivots are rounding errors of a matrix that is singular, such as one of two traits that always agree.
const ROUNDING: f64 = 1e-9;

impl TraitCorrelation {
    /// The lower triangle whose product with its transpose is the matrix.
    ///
    /// # Errors
    /// Why the matrix is no correlation matrix.
    pub fn factor(&self) -> Result<Vec<Vec<f64>>, String> {
        self.check_shape()?;
        cholesky(&self.matrix).map_err(|row| {
            format!(
                "the matrix is not positive semi-definite: what `{}` has in common with the traits before it cannot be",
                self.traits[row]
            )
        })
    }

    fn check_shape(&self) -> Result<(), String> {
        let n = self.traits.len();
        if self.matrix.len() != n || self.matrix.iter().any(|row| row.len() != n) {
            return Err(format!("expected {n} rows of {n} numbers, one for each trait"));
        }
        for (i, row) in self.matrix.iter().enumerate() {
            if (row[i] - 1.0).abs() > ROUNDING {
                return Err(format!("`{}` with itself must be 1, found {}", self.traits[i], row[i]));
            }
            if let Some(j) = (0..i).find(|j| (row[*j] - self.matrix[*j][i]).abs() > ROUNDING) {
                let (a, b) = (&self.traits[i], &self.traits[j]);
                return Err(format!(
                    "not symmetric: `{a}` with `{b}` is {}, but `{b}` with `{a}` is {}",
                    row[j], self.matrix[j][i]
                ));
            }
        }
        Ok(())
    }

    /// Makes independent standard normal values correlated. A matrix that [`Self::factor`] refuses changes nothing:
    /// the model was checked when it was read.
    pub(super) fn correlate(&self, values: &mut BTreeMap<&str, f64>) {
        let Ok(factor) = self.factor() else { return };
        let independent: Vec<f64> =
            self.traits.iter().map(|name| values.get(name.as_str()).copied().unwrap_or_default()).collect();
        for (name, row) in self.traits.iter().zip(&factor) {
            if let Some(value) = values.get_mut(name.as_str()) {
                *value = row.iter().zip(&independent).map(|(weight, z)| weight * z).sum();
            }
        }
    }

    /// Fits the matrix to observed vectors, one value for each trait: Spearman's rank correlation, turned into the
    /// correlation of the normal values below by `2 sin(pi r / 6)` (Pearson 1907). What is then not positive
    /// semi-definite is drawn towards independence until it is.
    ///
    /// # Errors
    /// Too few vectors, or one of another length.
    pub fn fit(traits: Vec<String>, vectors: &[Vec<f64>]) -> Result<Self, String> {
        if vectors.len() < 3 {
            return Err(format!("expected at least 3 vectors, found {}", vectors.len()));
        }
        if let Some(i) = vectors.iter().position(|v| v.len() != traits.len() || !v.iter().all(|x| x.is_finite())) {
            return Err(format!("vector {} is not one of {} numbers", i + 1, traits.len()));
        }
        let ranks: Vec<Vec<f64>> =
            (0..traits.len()).map(|i| ranks(&vectors.iter().map(|v| v[i]).collect::<Vec<_>>())).collect();
        let normal = |i: usize, j: usize| 2.0 * (std::f64::consts::PI / 6.0 * pearson(&ranks[i], &ranks[j])).sin();
        let shrunk = |keep: f64| {
            let cell = |i: usize, j: usize| if i == j { 1.0 } else { round(keep * normal(i.max(j), i.min(j))) };
            (0..traits.len()).map(|i| (0..traits.len()).map(|j| cell(i, j)).collect()).collect::<Vec<Vec<f64>>>()
        };
        let kept = (0..=100).rev().map(|percent| shrunk(f64::from(percent) / 100.0));
        let matrix = kept.into_iter().find(|matrix| cholesky(matrix).is_ok()).unwrap_or_default();
        Ok(Self { traits, matrix })
    }

    /// Fits the matrix to a CSV file: a line of trait names, then one line of numbers for each person.
    ///
    /// # Errors
    /// A cell is not a number, or the vectors cannot be fitted.
    pub fn fit_csv(text: &str) -> Result<Self, String> {
        let mut lines = text.lines().filter(|line| !line.trim().is_empty());
        let cells = |line: &str| line.split(',').map(|cell| cell.trim().to_owned()).collect::<Vec<_>>();
        let traits = cells(lines.next().ok_or("expected a line of trait names")?);
        let number = |cell: String| cell.parse::<f64>().map_err(|_| format!("`{cell}` is not a number"));
        let vectors = lines.map(|line| cells(line).into_iter().map(number).collect()).collect::<Result<Vec<_>, _>>()?;
        Self::fit(traits, &vectors)
    }

    /// As it stands in personas/model.yaml: one row of the matrix a line, as people read it.
    pub fn to_yaml(&self) -> String {
        let cells = |row: &Vec<f64>| row.iter().map(f64::to_string).collect::<Vec<_>>().join(", ");
        let rows: String = self.matrix.iter().map(|row| format!("\n    - [{}]", cells(row))).collect();
        format!("trait_correlation:\n  traits: [{}]\n  matrix:{rows}", self.traits.join(", "))
    }
}

/// The lower triangle, or the first row that cannot be. Rows that say nothing new get a zero on the diagonal.
fn cholesky(matrix: &[Vec<f64>]) -> Result<Vec<Vec<f64>>, usize> {
    let mut lower = vec![vec![0.0; matrix.len()]; matrix.len()];
    for i in 0..matrix.len() {
        for j in 0..=i {
            let explained: f64 = (0..j).map(|k| lower[i][k] * lower[j][k]).sum();
            let rest = matrix[i][j] - explained;
            lower[i][j] = if i == j { root(rest) } else { share(rest, lower[j][j]) }.ok_or(i)?;
        }
    }
    Ok(lower)
}

fn root(rest: f64) -> Option<f64> {
    (rest >= -ROUNDING).then(|| if rest < ROUNDING { 0.0 } else { rest.sqrt() })
}

/// Beside a pivot of at most `ROUNDING`, which became 0, a sound matrix leaves at most its square root.
fn share(rest: f64, pivot: f64) -> Option<f64> {
    if pivot > 0.0 { Some(rest / pivot) } else { (rest.abs() <= 2.0 * ROUNDING.sqrt()).then_some(0.0) }
}

/// Ranks from 1; equal values share the mean of theirs.
fn ranks(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let place = |value: &f64| {
        let (first, end) = (sorted.partition_point(|v| v < value), sorted.partition_point(|v| v <= value));
        f64::midpoint(number(first + 1), number(end))
    };
    values.iter().map(place).collect()
}

fn number(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}

/// 0 if one of them never changes.
fn pearson(a: &[f64], b: &[f64]) -> f64 {
    let mean = |x: &[f64]| x.iter().sum::<f64>() / number(x.len());
    let (mean_a, mean_b) = (mean(a), mean(b));
    let product =
        |x: &[f64], mx: f64, y: &[f64], my: f64| x.iter().zip(y).map(|(x, y)| (x - mx) * (y - my)).sum::<f64>();
    let scale = (product(a, mean_a, a, mean_a) * product(b, mean_b, b, mean_b)).sqrt();
    if scale > 0.0 { product(a, mean_a, b, mean_b) / scale } else { 0.0 }
}

/// As people write it: three decimals.
fn round(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}
