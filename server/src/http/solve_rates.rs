//! Bands of solve rates: scenarios by how often they were solved in a run.

use std::collections::BTreeSet;

use datasets::index::Columns;
use domain::api::SolveRateBand;
use domain::filter::JudgingChoice;
use domain::reward::SolveRate;

use super::access::{ProjectAccess, RequiredScope};
use super::app::App;
use super::conversations::params::Selection;
use super::conversations::scope::Scope;
use super::error::{HttpError, Result};
use super::extract;

/// Those of these scenarios whose solve rate is in the band, sorted; there is at least one. The band is the field `solve_rates` of
/// the request.
pub async fn within<N: RequiredScope>(
    app: &App,
    who: &ProjectAccess<N>,
    band: &SolveRateBand,
    scenarios: &[String],
) -> Result<Vec<String>> {
    let SolveRateBand { run, min, max } = band;
    for (name, rate) in [("min", min), ("max", max)] {
        if !(0.0..=1.0).contains(rate) {
            return Err(HttpError::invalid(&format!("/solve_rates/{name}"), "must be from 0 to 1"));
        }
    }
    if min > max {
        return Err(HttpError::invalid("/solve_rates/max", format!("nothing is at least {min} and at most {max}")));
    }
    let run = extract::id("/solve_rates/run", run)?;
    let scope = Scope::of_run(app, who, run, &JudgingChoice::Own).await;
    let scope = scope.map_err(|error| HttpError::invalid("/solve_rates/run", error.to_string()))?;
    let (min, max) = (*min, *max);
    let found = scope.ask(Selection::default().into(), move |query| {
        let in_band = |rate: &SolveRate| rate.share().is_some_and(|share| (min..=max).contains(&share));
        let of_run = |columns: &Columns| {
            let rates = columns.scenarios.iter().zip(columns.solve_rates()).filter(|(_, rate)| in_band(rate));
            rates.map(|(scenario, _)| columns.names.name(scenario.name).to_owned()).collect::<BTreeSet<_>>()
        };
        query.runs.first().map(|run| of_run(run.columns)).unwrap_or_default()
    });
    let mut found = found.await?;
    found.retain(|scenario| scenarios.contains(scenario));
    if found.is_empty() {
        let message = format!("no scenario of the order has a solve rate from {min} to {max} in that run");
        return Err(HttpError::invalid("/solve_rates", message));
    }
    Ok(found.into_iter().collect())
}
