//! The models that scenarios are shown to, and what they are asked about.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use anyhow::bail;
use domain::Problem;
use domain::finding::{Grade, LocatedFinding};
use domain::review::Review;
use domain::scenario::Scenario;
use llm::Pool;

use super::super::models_file;
use super::progress::Progress;
use super::ratio;
use domain::bad_input::BadInput;
use projects::library::Library;
use projects::review::review_all;

#[derive(clap::Args)]
pub struct Reviewers {
    /// A model that votes on every sound scenario, `NAME@BASE_URL`, `NAME@BASE_URL@KEY_VARIABLE` or a name of models.yaml
    /// (repeat the flag)
    #[arg(long = "model", value_name = "MODEL")]
    models: Vec<String>,
    /// Share of the models that must answer a question with yes
    #[arg(long, value_name = "RATIO", default_value_t = 0.66, value_parser = ratio)]
    pub pass_ratio: f64,
    /// Show the models only these scenarios (repeat the flag)
    #[arg(long = "scenario", value_name = "ID", requires = "models")]
    pub scenarios: Vec<String>,
    /// Models asked at once
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=256))]
    concurrency: u32,
}

impl Reviewers {
    /// The models, ready to be asked. None: there is no review.
    ///
    /// # Errors
    /// Every flag that names no model that can review.
    pub fn models(&self, project: &Path) -> anyhow::Result<Vec<Pool>> {
        let registry = models_file::read(project)?;
        let mut models: Vec<Pool> = Vec::new();
        let mut problems = Vec::new();
        for text in &self.models {
            match models_file::pool(&registry, text) {
                Ok(model) if models.iter().any(|known| known.name() == model.name()) => {
                    let message = format!("`{text}` is named twice; its vote would count twice");
                    problems.push(Problem::new("--model", 0, "", message));
                }
                Ok(model) => models.push(model),
                Err(message) => problems.push(Problem::new("--model", 0, "", message)),
            }
        }
        if problems.is_empty() { Ok(models) } else { bail!(BadInput(problems)) }
    }

    /// The votes on the scenarios that the programs found sound.
    ///
    /// # Errors
    /// A scenario that is named does not exist.
    pub async fn ask(
        &self,
        models: &[Pool],
        library: &Library,
        found: &[LocatedFinding],
    ) -> anyhow::Result<Vec<Review>> {
        let scenarios = self.scenarios(library, found)?;
        if models.is_empty() || scenarios.is_empty() {
            return Ok(Vec::new());
        }
        let progress = Progress::new(scenarios.len() * models.len());
        let reviews = review_all(library, &scenarios, models, self.concurrency as usize, || progress.voted()).await;
        progress.finish();
        Ok(reviews)
    }

    fn scenarios(&self, library: &Library, found: &[LocatedFinding]) -> anyhow::Result<Vec<Arc<Scenario>>> {
        let unknown = self.scenarios.iter().filter_map(|id| library.scenario(id).err());
        let problems: Vec<Problem> = unknown.map(|message| Problem::new("--scenario", 0, "", message)).collect();
        if !problems.is_empty() {
            bail!(BadInput(problems));
        }
        let unsound: BTreeSet<&str> = found
            .iter()
            .filter(|found| found.rule.grade() >= Grade::Error)
            .map(|found| found.problem.file.as_str())
            .collect();
        let wanted = |scenario: &&Arc<Scenario>| {
            (self.scenarios.is_empty() || self.scenarios.contains(&scenario.id))
                && !unsound.contains(library.scenario_path(scenario))
        };
        Ok(library.scenarios.values().filter(wanted).map(Arc::clone).collect())
    }
}

/// Why there is no vote at all, if scenarios were shown to models.
pub fn all_failed(reviews: &[Review]) -> Option<&str> {
    if reviews.iter().any(|review| !review.votes.is_empty()) {
        return None;
    }
    reviews.iter().flat_map(|review| &review.abstentions).next().map(|abstention| abstention.reason.as_str())
}
