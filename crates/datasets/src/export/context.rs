//! What the rows of a run share, made once: its documents, its models, and what each agent of each scenario was told.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use anyhow::{Context as _, anyhow};
use domain::calibration::Correction;
use domain::patch::Patch;
use domain::playbook::AgentStyle;
use domain::role::Role;
use domain::row::{PlayConditions, Scenario, Tools, VersionedName};
use domain::transcript::Frame;
use engine::conversation_state::State;
use engine::{InitialWorld, Judge, Playbook, scripted};
use parking_lot::Mutex;
use sqlx::{PgConnection, PgPool};
use tokio::task::spawn_blocking;
use uuid::Uuid;

use domain::bad_input::BadInput;
use generation::plan::RunConfig;
use projects::library::{Files, Library};
use store::calibrations;
use store::judgings::Judging;
use store::runs::{self, Run};

pub struct Context {
    pub run_id: Arc<str>,
    pub created_at: Arc<str>,
    pub seed: i64,
    pub config: RunConfig,
    pub library: Arc<Library>,
    /// Models that judged.
    pub judges: Arc<Vec<String>>,
    /// Of all its judges: one that does not apply to a row is null there, so that columns are stable.
    pub criteria: BTreeSet<Arc<str>>,
    /// By version of the judge; empty unless corrected scores are asked for.
    pub corrections: BTreeMap<String, Correction>,
    /// Of a corpus: up to which version people's corrections of each conversation count, none of one that is not there.
    /// Otherwise all count.
    pub corrected: Option<Arc<BTreeMap<Uuid, u32>>>,
    scenes: Mutex<BTreeMap<String, Arc<Scene>>>,
}

/// What all rows of a scenario share.
pub struct Scene {
    pub playbook: Arc<VersionedName>,
    pub scenario: Arc<Scenario>,
    pub judge: Arc<Judge>,
    pub initial: Arc<InitialWorld>,
    now: String,
    compiled: Arc<Playbook>,
    voices: Mutex<BTreeMap<String, Arc<Voice>>>,
    ends: Mutex<Vec<(Vec<Patch>, Arc<str>)>>,
}

/// Ends of a scenario that are kept: most of its conversations come to one of a few.
const ENDS: usize = 8;

/// What one agent of a scenario was told, and who played it.
pub struct Voice {
    pub system: String,
    pub tools: Arc<Tools>,
    pub played: Arc<PlayConditions>,
}

impl Context {
    /// # Errors
    /// The documents of the judging cannot be read, or ([`BadInput`]) corrected scores are asked for and nobody has
    /// compared its judge with people.
    pub async fn load(
        pool: &PgPool,
        run: &Run,
        config: &RunConfig,
        library: &Arc<Library>,
        judging: &Judging,
        corrected: bool,
    ) -> anyhow::Result<Self> {
        let judged_by = if judging.library == run.library {
            Arc::clone(library)
        } else {
            let stored = runs::library(&mut *pool.acquire().await?, &judging.library).await?;
            let files: Files = serde_json::from_value(stored)?;
            let library = spawn_blocking(move || Library::assemble_proved(files)).await?;
            Arc::new(library.map_err(|_| anyhow!("this version does not accept the documents of the judging"))?)
        };
        let playbooks = run.playbook.split(", ").filter_map(|name| judged_by.playbook(name).ok());
        let judges: Vec<&Arc<Judge>> = playbooks.filter_map(|playbook| judged_by.judge_of(playbook).ok()).collect();
        let criteria = judges.iter().flat_map(|judge| &judge.spec.criteria);
        let criteria = criteria.map(|criterion| Arc::from(criterion.name.as_str())).collect();
        let names: BTreeSet<&str> = judges.iter().map(|judge| judge.spec.name.as_str()).collect();
        let corrections = if corrected {
            corrections(&mut *pool.acquire().await?, run.project, judging, names).await?
        } else {
            BTreeMap::new()
        };
        let models = judging.models.as_array().into_iter().flatten();
        Ok(Self {
            run_id: run.id.to_string().into(),
            created_at: run.created_at.to_rfc3339().into(),
            seed: run.seed,
            config: config.clone(),
            library: Arc::clone(library),
            judges: Arc::new(models.filter_map(|model| model.as_str().map(str::to_owned)).collect()),
            criteria,
            corrections,
            corrected: None,
            scenes: Mutex::default(),
        })
    }

    /// # Errors
    /// The run's documents hold no such scenario.
    pub fn scene(&self, scenario: &str) -> anyhow::Result<Arc<Scene>> {
        let mut scenes = self.scenes.lock();
        if let Some(scene) = scenes.get(scenario) {
            return Ok(Arc::clone(scene));
        }
        let scene = Arc::new(self.make_scene(scenario)?);
        scenes.insert(scenario.to_owned(), Arc::clone(&scene));
        Ok(scene)
    }

    fn make_scene(&self, id: &str) -> anyhow::Result<Scene> {
        let scenario = self.library.scenario(id).map_err(|e| anyhow!(e))?;
        let compiled = self.library.playbook(&scenario.playbook).map_err(|e| anyhow!(e))?;
        let judge = self.library.judge_of(compiled).map_err(|e| anyhow!(e))?;
        let name = compiled.spec.name.clone();
        let version = self.library.files.version(&format!("playbooks/{name}"));
        Ok(Scene {
            playbook: Arc::new(VersionedName { name, version }),
            scenario: Arc::new(Scenario {
                id: scenario.id.clone(),
                version: self.library.scenario_version(scenario),
                family: scenario.family().to_owned(),
                intent: scenario.intent.clone(),
                tags: scenario.tags.clone(),
            }),
            judge: Arc::clone(judge),
            initial: self.library.initial(scenario, compiled),
            now: compiled.now_in(scenario),
            compiled: Arc::clone(compiled),
            voices: Mutex::default(),
            ends: Mutex::default(),
        })
    }

    /// What the agent of a frame was told.
    pub fn voice(&self, scene: &Scene, frame: &Frame) -> Arc<Voice> {
        let sub_agent = frame.caller.sub_agent().unwrap_or_default();
        let mut voices = scene.voices.lock();
        if let Some(voice) = voices.get(sub_agent) {
            return Arc::clone(voice);
        }
        let variant = self.config.variant.as_deref();
        let agent = scene.compiled.who_calls(&frame.caller, variant);
        let told = agent.and_then(|agent| scene.compiled.instructions(agent, &scene.now).ok());
        let voice = Arc::new(Voice {
            // It was rendered once when the playbook was compiled.
            system: told.map(|told| told.text.clone()).unwrap_or_default(),
            tools: Arc::new(Tools::new(agent.map(|agent| scene.compiled.functions(agent)).unwrap_or_default())),
            played: Arc::new(self.played(sub_agent, scene.compiled.spec.agent)),
        });
        voices.insert(sub_agent.to_owned(), Arc::clone(&voice));
        voice
    }

    fn played(&self, sub_agent: &str, style: AgentStyle) -> PlayConditions {
        let models = self.models(sub_agent);
        let temperature = |role| (f64::from(self.config.temperature(role)) * 1000.0).round() / 1000.0;
        let scripted = models.iter().filter(|(_, model)| *model == scripted::NAME);
        PlayConditions {
            scripted_roles: scripted.map(|(role, _)| role.clone()).collect(),
            models,
            temperatures: Role::ALL.into_iter().map(|role| (role.to_string(), temperature(role))).collect(),
            agent_style: self.config.agent_style.unwrap_or(style),
            variant: self.config.variant.clone().unwrap_or_default(),
        }
    }

    /// Role -> model. In a branch the agent is the sub-agent.
    fn models(&self, sub_agent: &str) -> BTreeMap<String, String> {
        let mut models = self.config.model_names();
        // The judging that counts may have other judges than the run.
        models.retain(|role, _| role.split('.').next() != Some(Role::Judge.as_str()));
        for (i, judge) in self.judges.iter().enumerate() {
            let role = if i == 0 { Role::Judge.to_string() } else { format!("{}.{}", Role::Judge, i + 1) };
            models.insert(role, judge.clone());
        }
        if let Some(own) = self.config.sub_agents.get(sub_agent) {
            models.insert(Role::Agent.to_string(), own.to_string());
        }
        models
    }
}

impl Scene {
    /// Hash of the world that a conversation came to, by all its changes: to hash a world takes longer than to find it among
    /// those that others came to by the same.
    pub fn end(&self, state: &State) -> Arc<str> {
        let patches = || state.transcript.changes().map(|call| &call.patch);
        let known = || self.ends.lock();
        let found = known().iter().find(|(own, _)| own.iter().eq(patches())).map(|(_, hash)| Arc::clone(hash));
        let hash = found.unwrap_or_else(|| {
            let hash: Arc<str> = state.world_hash().into();
            let mut ends = known();
            ends.insert(0, (patches().cloned().collect(), Arc::clone(&hash)));
            ends.truncate(ENDS);
            hash
        });
        debug_assert_eq!(*hash, state.world_hash(), "the same changes come to the same world");
        hash
    }
}

/// By version of the judge: what is to be done to its scores.
///
/// # Errors
/// [`BadInput`] if nobody has compared one of the judges with people.
async fn corrections(
    db: &mut PgConnection,
    project: Uuid,
    judging: &Judging,
    judges: BTreeSet<&str>,
) -> anyhow::Result<BTreeMap<String, Correction>> {
    let mut found = BTreeMap::new();
    for judge in judges {
        let calibration =
            calibrations::of(db, project, judge, &judging.models).await.context("the calibration cannot be read")?;
        let Some(calibration) = calibration else {
            let message =
                format!("the judge `{judge}` was never compared with people; see groundstate calibrate sheet");
            return Err(BadInput::one("--corrected", message).into());
        };
        let correction = Correction::fit(&calibration.report);
        found.extend(calibration.judge_versions.into_iter().map(|version| (version, correction.clone())));
    }
    Ok(found)
}
