//! Bands of solve rates: scenarios by how often they were solved in a run.

use std::collections::BTreeSet;

use datasets::index::Groups;
use domain::api::SolveRateBand;
use domain::filter::JudgingChoice;

use super::access::{ProjectAccess, RequiredScope};
use super::app::App;
use super::conversations::params::Selection;
use super::conversations::scope::Scope;
use super::error::{HttpError, Result};
use super::extract;

/// Those of these scenarios whose solve rate is in the band; of all scenarios of its run if none are given. There is at least one.
/// The band is the field `solve_rates` of the request.
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
    let run = extract::id("/solve_rates/run", run)?;
    let scope = Scope::of_run(app, who, run, &JudgingChoice::Own).await;
    let scope = scope.map_err(|error| HttpError::invalid("/solve_rates/run", error.to_string()))?;
    let (min, max) = (*min, *max);
    let found = scope.ask(Selection::default().into(), move |query| {
        let rates = query.runs.first().map(|run| Groups::of(run.columns).solve_rates()).unwrap_or_default();
        let in_band = rates.into_iter().filter(|(_, rate)| (min..=max).contains(rate));
        in_band.map(|(scenario, _)| scenario.to_owned()).collect::<BTreeSet<_>>()
    });
    let mut found = found.await?;
    if !scenarios.is_empty() {
        found.retain(|scenario| scenarios.contains(scenario));
    }
    if found.is_empty() {
        let message = format!("no scenario of the order has a solve rate from {min} to {max} in that run");
        return Err(HttpError::invalid("/solve_rates", message));
    }
    Ok(found.into_iter().collect())
}
