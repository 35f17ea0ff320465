//! Environments, their splits, and the tasks of a split: each is a scenario with one draw of its user and its world.

use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::State;
use domain::api::episodes::Environment;
use domain::corpus::Side;
use generation::episodes::NewGroup;
use generation::order::CheckedOrder;
use projects::library::Library;
use serde::Deserialize;
use serde_json::{Value, json};
use store::environments as stored;

use super::caller::TrainerOf;
use super::{OrsResult, body};
use crate::http::app::App;
use crate::http::audit::Audit;
use crate::http::episodes::environment::{self, ProjectSettings};
use crate::http::episodes::tools as tool_list;
use crate::http::error::{HttpError, Result};
use crate::http::opening_queue::Opening;

/// Tasks that are listed at once.
const MOST_LISTED: usize = 100_000;

/// One task of a list.
pub struct EpisodeTask {
    pub scenario: String,
    pub group: i32,
}

/// The tasks of a split: all scenarios in turn, and then again, each time with other users.
pub struct TaskList {
    pub environment: Environment,
    pub library: Arc<Library>,
    pub order: Arc<CheckedOrder>,
    groups: u32,
    name: String,
}

impl TaskList {
    /// `split`: `train`, or `golden` (also `test`).
    pub async fn of(app: &App, trainer: &TrainerOf, split: Option<&str>) -> Result<Self> {
        let side = match split {
            None => None,
            Some("train") => Some(Side::Train),
            Some("golden" | "test") => Some(Side::Golden),
            Some(_) => return Err(HttpError::BadRequest("Invalid split".to_owned())),
        };
        let settings = ProjectSettings::read(app, trainer.project, trainer.environment.as_deref()).await?;
        let mut environment = match &trainer.environment {
            None => Environment::default(),
            Some(name) => settings
                .named(name)
                .ok_or_else(|| HttpError::NotFound(format!("there is no environment or playbook `{name}`")))?,
        };
        environment::choose_split(&mut environment, side)?;
        let order = Arc::new(settings.checked(app, &environment).await?);
        let library = settings.library;
        let name = trainer.environment.clone().unwrap_or_else(|| "env".to_owned());
        let groups = environment.groups.unwrap_or(1);
        Ok(Self { environment, library, order, groups, name })
    }

    /// A group of its order that is to be opened.
    pub fn opening(&self, group: NewGroup, audit: Audit) -> Opening {
        Opening { library: Arc::clone(&self.library), order: Arc::clone(&self.order), group, tokens_of: None, audit }
    }

    fn scenarios(&self) -> &[String] {
        &self.order.config.scenarios
    }

    fn len(&self) -> usize {
        self.scenarios().len() * self.groups as usize
    }

    /// Negative indices count from the end.
    pub fn at(&self, index: i64) -> Result<EpisodeTask> {
        let len = i64::try_from(self.len()).unwrap_or(i64::MAX);
        let place = if index < 0 { index + len } else { index };
        let place = usize::try_from(place).ok().filter(|place| *place < self.len());
        place.map(|place| self.task(place)).ok_or_else(|| HttpError::BadRequest("Invalid index".to_owned()))
    }

    fn task(&self, place: usize) -> EpisodeTask {
        let scenario = self.scenarios()[place % self.scenarios().len()].clone();
        EpisodeTask { scenario, group: i32::try_from(place / self.scenarios().len()).unwrap_or(i32::MAX) }
    }

    /// The task that a specification of ours is about.
    pub fn of_spec(&self, spec: &Value) -> Result<EpisodeTask> {
        let scenario = spec["scenario"].as_str().filter(|id| self.scenarios().iter().any(|known| known == id));
        let group = spec["group"].as_i64().unwrap_or_default();
        let group = i32::try_from(group).ok().filter(|group| *group >= 0);
        match (scenario, group) {
            (Some(scenario), Some(group)) => Ok(EpisodeTask { scenario: scenario.to_owned(), group }),
            _ => Err(HttpError::BadRequest("the task_spec is no task of this environment".to_owned())),
        }
    }

    /// Flat and of the same types in all tasks: trainers make columns of them.
    fn spec(&self, task: &EpisodeTask) -> Value {
        let scenario = self.library.scenarios.get(&task.scenario);
        json!({
            "id": format!("{}/{}", task.scenario, task.group), "scenario": task.scenario, "group": task.group,
            "playbook": scenario.map(|scenario| scenario.playbook.as_str()).unwrap_or_default(),
            "family": scenario.map(|scenario| scenario.family()).unwrap_or_default(),
        })
    }

    /// The tools of all tasks: those of each playbook, and the one that speaks to the user.
    pub fn tools(&self) -> Vec<Value> {
        let mut playbooks: Vec<&str> = Vec::new();
        for scenario in self.scenarios() {
            let playbook = self.library.scenarios.get(scenario).map_or("", |scenario| scenario.playbook.as_str());
            if !playbooks.contains(&playbook) {
                playbooks.push(playbook);
            }
        }
        let variant = self.environment.variant.as_deref();
        let functions = playbooks.iter().filter_map(|name| self.library.playbooks.get(*name));
        let functions: Vec<_> = functions.flat_map(|playbook| playbook.functions(playbook.agent(variant))).collect();
        tool_list::of(&functions)
    }

    fn specs(&self, from: usize, to: usize) -> Vec<Value> {
        (from..to.min(self.len())).take(MOST_LISTED).map(|place| self.spec(&self.task(place))).collect()
    }
}

/// Names of environments, those of playbooks among them.
pub async fn environments(State(app): State<App>, trainer: TrainerOf) -> OrsResult<Json<Vec<String>>> {
    let named = stored::list(&mut *app.pool().acquire().await?, trainer.project).await?;
    let mut names: Vec<String> = named.into_iter().map(|environment| environment.name).collect();
    let library = projects::documents::library(app.pool(), app.libraries(), trainer.project).await?;
    names.extend(library.playbooks.keys().cloned());
    names.sort();
    names.dedup();
    Ok(Json(names))
}

pub async fn splits(State(app): State<App>, trainer: TrainerOf) -> OrsResult<Json<Value>> {
    let mut splits = Vec::new();
    for (name, kind) in [("train", "train"), ("golden", "test")] {
        match TaskList::of(&app, &trainer, Some(name)).await {
            Ok(_) => splits.push(json!({"name": name, "type": kind})),
            // A project with one family has nothing to test with.
            Err(HttpError::Invalid(errors)) if errors.iter().all(|error| error.pointer == "/split") => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(Json(Value::Array(splits)))
}

#[derive(Deserialize)]
struct SplitBody {
    split: String,
    #[serde(default)]
    index: i64,
    #[serde(default)]
    start: Option<i64>,
    #[serde(default)]
    stop: Option<i64>,
}

async fn listed(app: &App, trainer: &TrainerOf, bytes: &Bytes) -> OrsResult<(TaskList, SplitBody)> {
    let asked: SplitBody = body(bytes)?;
    Ok((TaskList::of(app, trainer, Some(&asked.split)).await?, asked))
}

pub async fn all(State(app): State<App>, trainer: TrainerOf, audit: Audit, bytes: Bytes) -> OrsResult<Json<Value>> {
    audit.nothing_changed();
    let (list, _) = listed(&app, &trainer, &bytes).await?;
    if list.len() > MOST_LISTED {
        let message = format!("{} tasks are too many for one list; use /num_tasks and /task_range", list.len());
        return Err(HttpError::BadRequest(message).into());
    }
    Ok(Json(json!({"tasks": list.specs(0, list.len()), "env_name": list.name})))
}

pub async fn count(State(app): State<App>, trainer: TrainerOf, audit: Audit, bytes: Bytes) -> OrsResult<Json<Value>> {
    audit.nothing_changed();
    let (list, _) = listed(&app, &trainer, &bytes).await?;
    Ok(Json(json!({"num_tasks": list.len()})))
}

pub async fn one(State(app): State<App>, trainer: TrainerOf, audit: Audit, bytes: Bytes) -> OrsResult<Json<Value>> {
    audit.nothing_changed();
    let (list, asked) = listed(&app, &trainer, &bytes).await?;
    Ok(Json(json!({"task": list.spec(&list.at(asked.index)?), "env_name": list.name})))
}

/// As Python cuts a list.
pub async fn range(State(app): State<App>, trainer: TrainerOf, audit: Audit, bytes: Bytes) -> OrsResult<Json<Value>> {
    audit.nothing_changed();
    let (list, asked) = listed(&app, &trainer, &bytes).await?;
    let len = i64::try_from(list.len()).unwrap_or(i64::MAX);
    let place = |given: Option<i64>, otherwise: i64| {
        let place = given.unwrap_or(otherwise);
        usize::try_from((if place < 0 { place + len } else { place }).clamp(0, len)).unwrap_or_default()
    };
    Ok(Json(json!({"tasks": list.specs(place(asked.start, 0), place(asked.stop, len)), "env_name": list.name})))
}

pub async fn tools(State(app): State<App>, trainer: TrainerOf) -> OrsResult<Json<Value>> {
    let list = TaskList::of(&app, &trainer, None).await?;
    Ok(Json(json!({"tools": list.tools()})))
}
