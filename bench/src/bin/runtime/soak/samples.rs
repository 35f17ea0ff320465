//! What processes, database and disk take, written down while a soak lasts.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::Duration;

use super::super::cases::row;

/// The columns of which each sample has a number.
pub const COLUMNS: [&str; 14] = [
    "seconds",
    "conversations",
    "rows",
    "jobs",
    "kills",
    "server_bytes",
    "jobs_process_bytes",
    "player_bytes",
    "killed_players_bytes",
    "model_bytes",
    "postgres_bytes",
    "database_bytes",
    "storage_bytes",
    "free_disk_bytes",
];
/// Of processes that live as long as the soak.
const MEMORY: [(&str, &str); 4] = [
    ("server_bytes", "the server"),
    ("player_bytes", "the player that lives through it"),
    ("postgres_bytes", "PostgreSQL"),
    ("model_bytes", "the model"),
];

pub type Sample = [u64; COLUMNS.len()];

/// A CSV file, and what is in it.
pub struct Samples {
    file: File,
    all: Vec<Sample>,
}

impl Samples {
    pub fn new(path: &Path) -> anyhow::Result<Self> {
        let mut file = File::create(path)?;
        writeln!(file, "{}", COLUMNS.join(","))?;
        Ok(Self { file, all: Vec::new() })
    }

    pub fn add(&mut self, sample: Sample) -> anyhow::Result<()> {
        writeln!(self.file, "{}", sample.map(|number| number.to_string()).join(","))?;
        self.all.push(sample);
        Ok(())
    }

    /// The first quarter of the samples against the last one, and the most.
    pub fn report(&self) {
        let quarter = (self.all.len() / 4).max(1);
        for (column, what) in MEMORY {
            let values = self.column(column);
            let (first, last) = (mean(&values[..quarter]), mean(&values[values.len() - quarter..]));
            let most = values.iter().copied().fold(0.0, f64::max);
            row(
                &format!("memory of {what}, first quarter and last"),
                &format!(
                    "{:.0} and {:.0} MB ({:+.1} %), at most {:.0} MB",
                    first / 1e6,
                    last / 1e6,
                    100.0 * (last / first - 1.0),
                    most / 1e6
                ),
            );
        }
    }

    /// How a column grew with the conversations between two moments, in bytes each: least squares over the samples.
    pub fn growth(&self, column: &str, after: Duration) -> f64 {
        let skipped = self.column("seconds").iter().take_while(|at| **at < after.as_secs_f64()).count();
        let (x, y) = (self.column("conversations").split_off(skipped), self.column(column).split_off(skipped));
        let (x_mean, y_mean) = (mean(&x), mean(&y));
        let covered: f64 = x.iter().map(|x| (x - x_mean).powi(2)).sum();
        x.iter().zip(&y).map(|(x, y)| (x - x_mean) * (y - y_mean)).sum::<f64>() / covered
    }

    #[expect(clippy::cast_precision_loss, reason = "figures")]
    fn column(&self, name: &str) -> Vec<f64> {
        let index = COLUMNS.iter().position(|column| *column == name).unwrap_or(0);
        self.all.iter().map(|sample| sample[index] as f64).collect()
    }
}

#[expect(clippy::cast_precision_loss, reason = "a mean")]
fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}
