//! The settings of episodes: the order of an environment, checked, and runs of episodes as they were stored.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use datasets::corpora::split::{self, Block};
use domain::api::episodes::Environment;
use domain::api::{FieldError, RunOrder};
use domain::corpus::{Side, Split};
use domain::role::Role;
use generation::order::{self, CheckedOrder};
use generation::{episodes, run};
use llm::Registry;
use projects::documents;
use projects::library::Library;
use store::{corpora, environments, models};
use uuid::Uuid;

use crate::http::app::App;
use crate::http::error::{HttpError, Result};
use crate::http::extract;

/// The longest time without a word of an agent: a week.
const MOST_IDLE_SECONDS: u32 = 604_800;
/// Groups of a scenario in a list of tasks.
const MOST_GROUPS: u32 = 10_000;

/// What episodes of a project are opened with: its documents, and the models that may be named.
pub struct ProjectSettings {
    pub library: Arc<Library>,
    pub project: Uuid,
    registry: Registry,
    /// The environment of the name that was asked for.
    named: Option<Environment>,
}

impl ProjectSettings {
    /// `name`: of an environment that is read, too.
    pub async fn read(app: &App, project: Uuid, name: Option<&str>) -> Result<Self> {
        let mut db = app.pool().acquire().await?;
        let named = match name {
            Some(name) => environments::get(&mut db, project, name).await?,
            None => None,
        };
        let registry = app.registry().with(models::all(&mut db).await?);
        let stamp = store::documents::stamp(&mut db, project).await?;
        drop(db);
        let library = documents::library_at(app.pool(), app.libraries(), project, stamp).await?;
        Ok(Self { library, project, registry, named })
    }

    /// The environment of the name that was asked for: one of the project's, or all scenarios of a playbook, with scripted users.
    pub fn named(&self, name: &str) -> Option<Environment> {
        let of_playbook = || Environment { playbooks: vec![name.to_owned()], ..Environment::default() };
        self.named.clone().or_else(|| self.library.playbooks.contains_key(name).then(of_playbook))
    }

    /// An order for a run of episodes, checked. Errors point into the environment.
    pub async fn checked(&self, app: &App, environment: &Environment) -> Result<CheckedOrder> {
        let Self { library, project, registry, .. } = self;
        let idle = environment.idle_seconds.unwrap_or(episodes::IDLE_SECONDS);
        let mut wrong = own_problems(environment, idle);
        let order = order::check(&as_run(environment), library, registry, app.tools(), *project);
        let mut order = match order {
            Ok(order) if wrong.is_empty() => episodes::outside(order, idle),
            Ok(_) => return Err(HttpError::Invalid(wrong)),
            Err(more) => {
                wrong.extend(more);
                return Err(HttpError::Invalid(wrong));
            }
        };
        if environment.split.is_some() || environment.corpus.is_some() {
            let golden = golden_families(app, *project, environment, library, &order.config.scenarios).await?;
            let wanted = environment.split.unwrap_or(Side::Train);
            let of =
                |id: &String| library.scenarios.get(id).map_or(id.as_str(), |scenario| scenario.family()).to_owned();
            order.config.scenarios.retain(|id| golden.contains(&of(id)) == (wanted == Side::Golden));
            if order.config.scenarios.is_empty() {
                let why = format!(
                    "no scenario of the environment is in the part `{wanted}`: the parts are drawn of all families of the \
                     project"
                );
                return Err(HttpError::invalid("/split", why));
            }
        }
        let config = &order.config;
        run::check(library, config, order.terms.seed)
            .map_err(|error| HttpError::invalid("/personas", error.to_string()))?;
        Ok(order)
    }
}

/// Takes a part of an environment: where it is of one part itself, no other.
pub fn choose_split(environment: &mut Environment, wanted: Option<Side>) -> Result<()> {
    match (environment.split, wanted) {
        (Some(own), Some(wanted)) if own != wanted => {
            Err(HttpError::invalid("/split", format!("the environment is of `{own}`; take another one")))
        }
        (own, wanted) => {
            environment.split = wanted.or(own);
            Ok(())
        }
    }
}

fn own_problems(environment: &Environment, idle: u32) -> Vec<FieldError> {
    let mut wrong = Vec::new();
    if environment.groups.is_some_and(|groups| !(1..=MOST_GROUPS).contains(&groups)) {
        wrong.push(FieldError::at("/groups", format!("must be from 1 to {MOST_GROUPS}")));
    }
    if !(1..=MOST_IDLE_SECONDS).contains(&idle) {
        let detail = format!("must be from 1 to {MOST_IDLE_SECONDS}");
        wrong.push(FieldError::at("/idle_seconds", detail));
    }
    if environment.models.contains_key(&Role::Agent) {
        wrong.push(FieldError::at("/models/agent", "the agent of an episode is outside; leave it out"));
    }
    if environment.corpus.is_some() && environment.split.is_none() {
        wrong.push(FieldError::at("/split", "say which part of the corpus: `train` or `golden`"));
    }
    wrong
}

/// The same as an order for a run of conversations.
fn as_run(environment: &Environment) -> RunOrder {
    let Environment { playbooks, scenarios, personas, complexity, seed, models, sub_agents, temperatures, .. } =
        environment.clone();
    RunOrder {
        playbooks,
        scenarios,
        personas,
        complexity,
        seed,
        models,
        sub_agents,
        temperatures,
        user_style: environment.user_style,
        variant: environment.variant.clone(),
        faults: environment.faults.clone(),
        budget: environment.budget.clone(),
        n: Some(1),
        ..RunOrder::default()
    }
}

/// The families that nothing is trained on.
async fn golden_families(
    app: &App,
    project: Uuid,
    environment: &Environment,
    library: &Library,
    scenarios: &[String],
) -> Result<BTreeSet<String>> {
    let Some(corpus) = &environment.corpus else { return Ok(drawn(library)) };
    let pointer = "/corpus";
    let id = extract::id(pointer, corpus)?;
    let mut db = app.pool().acquire().await?;
    let found = corpora::get(&mut db, id).await?.filter(|(of, _)| *of == project);
    found.ok_or_else(|| HttpError::invalid(pointer, format!("there is no corpus {corpus}")))?;
    let golden = corpora::scenarios(&mut db, id, Side::Golden).await?;
    if golden.is_empty() {
        return Err(HttpError::invalid(pointer, "this corpus has no golden part, or is not built yet"));
    }
    let family = |id: &String| library.scenarios.get(id).map_or(id.as_str(), |scenario| scenario.family()).to_owned();
    let families: BTreeSet<String> = golden.iter().map(family).collect();
    drop(db);
    tracing::debug!(families = families.len(), scenarios = scenarios.len(), "golden families of a corpus");
    Ok(families)
}

/// A tenth of a project's families, drawn as corpora draw theirs. All environments of the project draw the same.
fn drawn(library: &Library) -> BTreeSet<String> {
    let mut sizes: BTreeMap<&str, usize> = BTreeMap::new();
    for scenario in library.scenarios.values() {
        *sizes.entry(scenario.family()).or_default() += 1;
    }
    let blocks = sizes.into_iter().map(|(name, conversations)| Block { name: name.to_owned(), conversations });
    let blocks: Vec<Block> = blocks.collect();
    let Split { golden, seed, .. } = Split::default();
    let drawn = split::golden(&blocks, golden, seed);
    blocks.into_iter().zip(drawn).filter(|(_, golden)| *golden).map(|(block, _)| block.name).collect()
}

/// Errors of an environment as those of what it is a field of.
pub fn within(error: HttpError) -> HttpError {
    match error {
        HttpError::Invalid(errors) => {
            let outer = |error: FieldError| FieldError { pointer: format!("/environment{}", error.pointer), ..error };
            HttpError::Invalid(errors.into_iter().map(outer).collect())
        }
        other => other,
    }
}
