//! `--solve-rates`: scenarios by how often they were solved in an earlier run.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::str::FromStr;

use anyhow::Context;
use domain::filter::JudgingChoice;
use store::{corpora, runs};

use crate::commands::connection::{Connection, ConnectionArgs};
use crate::commands::generate;

const FLAG: &str = "--solve-rates";
const EXPECTED: &str = "expected RUN=MIN..MAX with numbers from 0 to 1, such as last=0.2..0.8";

#[derive(Debug, Clone, PartialEq)]
pub struct SolveRates {
    /// The id of a run; `None`: the last run of conversations.
    pub run: Option<String>,
    pub band: RangeInclusive<f64>,
}

impl FromStr for SolveRates {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (run, band) = text.rsplit_once('=').ok_or(EXPECTED)?;
        let (min, max) = band.split_once("..").ok_or(EXPECTED)?;
        let rate = |text: &str| text.parse().ok().filter(|rate| (0.0..=1.0).contains(rate)).ok_or(EXPECTED);
        let (min, max): (f64, f64) = (rate(min)?, rate(max)?);
        if min > max {
            return Err(format!("nothing is at least {min} and at most {max}"));
        }
        Ok(Self { run: (run != "last").then(|| run.to_owned()), band: min..=max })
    }
}

impl SolveRates {
    /// The scenarios whose solve rate is in the band.
    pub async fn scenarios(&self, connection: &ConnectionArgs) -> anyhow::Result<BTreeSet<String>> {
        let connection = Connection::open(connection).await?;
        let found = self.read(&connection).await;
        connection.close().await;
        found
    }

    async fn read(&self, connection: &Connection) -> anyhow::Result<BTreeSet<String>> {
        let run = generate::latest_conversations_or(&connection.pool, FLAG, self.run.as_deref()).await?;
        let mut db = connection.pool.acquire().await?;
        let project = runs::get(&mut db, run).await?.context("the run is gone")?.project;
        let found = corpora::runs(&mut db, project, Some(&[run]), &JudgingChoice::Own).await?;
        let rates = corpora::solve_rates(&mut db, found.first().context("the run has no conversations")?).await?;
        Ok(rates.into_iter().filter(|(_, rate)| self.band.contains(rate)).map(|(scenario, _)| scenario).collect())
    }
}
