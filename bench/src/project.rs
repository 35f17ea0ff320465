//! The documents of a project, read as the server reads them and proved by the engine, without the server.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use domain::document;
use domain::message::Message;
use domain::persona::{Complexity, ComplexityMix, PersonaModel, Profile};
use domain::playbook::UserStyle;
use domain::problem::Problem;
use domain::scenario::Scenario;
use domain::seed::Seed;
use engine::plan::{Plan, Row, Shard};
use engine::playbook::{Sources, compile};
use engine::{Case, Conversation, InitialWorld, Judge, Playbook, validate};
use serde_json::Value;

/// As the persona model weighs it.
static MIX: ComplexityMix = BTreeMap::new();
/// The run's seed: every measurement plays the same conversations.
const SEED: i64 = 1;

pub struct Project {
    playbooks: BTreeMap<String, Arc<Playbook>>,
    /// By playbook, with the playbook's own criteria.
    judges: BTreeMap<String, Arc<Judge>>,
    personas: PersonaModel,
    profiles: BTreeMap<String, Profile>,
    scenarios: Vec<Arc<Scenario>>,
    /// By scenario.
    initial: BTreeMap<String, Arc<InitialWorld>>,
}

impl Project {
    /// Reads the folders of a project and keeps the scenarios of one playbook, or the one of that id; all by default.
    ///
    /// # Errors
    /// The first thing that is wrong with a document, or nothing is left to play.
    pub fn read(root: &Path, only: Option<&str>) -> Result<Self, String> {
        let (playbooks, judges) = compiled(root)?;
        let personas: PersonaModel = read(&root.join("personas/model.yaml"))?;
        let profiles = documents::<Profile>(&root.join("personas/profiles"))?;
        let (mut scenarios, mut initial) = (Vec::new(), BTreeMap::new());
        for playbook in playbooks.values() {
            for scenario in documents::<Scenario>(&root.join("scenarios").join(&playbook.spec.name))? {
                if only.is_none_or(|only| only == scenario.id || only == scenario.playbook) {
                    let world = playbook.initial_world(&scenario.system_facts);
                    initial.insert(scenario.id.clone(), Arc::new(InitialWorld::from(world)));
                    scenarios.push(Arc::new(scenario));
                }
            }
        }
        if scenarios.is_empty() {
            return Err(format!("{}: nothing to play", root.display()));
        }
        scenarios.sort_by(|a, b| a.id.cmp(&b.id));
        let profiles = profiles.into_iter().map(|profile| (profile.name.clone(), profile)).collect();
        Ok(Self { playbooks, judges, personas, profiles, scenarios, initial })
    }

    /// Everything that the engine finds wrong with the scenarios, and with who plays them.
    pub fn findings(&self) -> Vec<String> {
        let mut found: Vec<String> =
            self.personas.problems().into_iter().map(|(at, why)| format!("{at}: {why}")).collect();
        for profile in self.profiles.values() {
            found.extend(self.personas.problems_of(profile).into_iter().map(|(at, why)| format!("{at}: {why}")));
        }
        for scenario in &self.scenarios {
            let (playbook, judge) = (&self.playbooks[&scenario.playbook], &self.judges[&scenario.playbook]);
            let wrong = validate::scenario(playbook, judge, scenario);
            found.extend(wrong.into_iter().map(|f| format!("{}{}: {}", scenario.id, f.at, f.message)));
        }
        found
    }

    /// # Errors
    /// A scenario that no profile fits.
    pub fn plan(&self, conversations: usize) -> Result<Vec<Row<'_>>, String> {
        let Self { scenarios, profiles, personas, .. } = self;
        let plan = Plan { scenarios, profiles, model: personas, complexity: &MIX, seed: SEED };
        plan.rows(conversations, Shard::WHOLE)
    }

    /// The case of a planned conversation, made as a run makes it.
    pub fn case(&self, row: &Row<'_>) -> Case {
        let scenario =
            self.scenarios.iter().find(|scenario| scenario.id == row.scenario.id).unwrap_or(&self.scenarios[0]);
        let playbook = &self.playbooks[&scenario.playbook];
        let seed = Seed::new(SEED, &scenario.id, row.repeat);
        let persona = engine::plan::persona(&self.personas, row.profile, scenario, &seed);
        Case {
            playbook: Arc::clone(playbook),
            scenario: Arc::clone(scenario),
            judge: Arc::clone(&self.judges[&scenario.playbook]),
            initial: Arc::clone(&self.initial[&scenario.id]),
            guidance: self.personas.guidance(&persona),
            speech: self.personas.speech(&persona, row.complexity),
            persona,
            complexity: row.complexity,
            agent_style: playbook.spec.agent,
            user_style: UserStyle::Text,
            variant: None,
            judges: 1,
            attempt: 1,
            faults: scenario.faults.clone(),
            seed,
        }
    }
}

type Compiled = (BTreeMap<String, Arc<Playbook>>, BTreeMap<String, Arc<Judge>>);

fn compiled(root: &Path) -> Result<Compiled, String> {
    let (mut playbooks, mut judges) = (BTreeMap::new(), BTreeMap::new());
    for name in names(&root.join("playbooks"))? {
        let folder = format!("playbooks/{name}");
        let playbook =
            compile(&Sources { folder: &folder, files: &files(&root.join(&folder))? }).map_err(|own| first(&own))?;
        let folder = format!("judges/{}", playbook.spec.judge);
        let judge = Judge::compile(&folder, &files(&root.join(&folder))?).map_err(|own| first(&own))?;
        let judge = judge.adjusted(&playbook.spec.criteria).map_err(|own| format!("{folder}: {own:?}"))?;
        judges.insert(name.clone(), Arc::new(judge));
        playbooks.insert(name, Arc::new(playbook));
    }
    Ok((playbooks, judges))
}

/// All the documents of one folder.
fn documents<T: serde::de::DeserializeOwned + schemars::JsonSchema>(folder: &Path) -> Result<Vec<T>, String> {
    names(folder)?.iter().map(|name| read(&folder.join(name))).collect()
}

fn read<T: serde::de::DeserializeOwned + schemars::JsonSchema>(path: &Path) -> Result<T, String> {
    document::parse(&path.display().to_string(), &text(path)?).map_err(|problems| first(&problems))
}

/// The files of a folder and of those in it, by their names relative to it.
fn files(folder: &Path) -> Result<BTreeMap<String, String>, String> {
    let mut found = BTreeMap::new();
    for name in names(folder)? {
        let path = folder.join(&name);
        if path.is_dir() {
            found.extend(files(&path)?.into_iter().map(|(inner, text)| (format!("{name}/{inner}"), text)));
        } else {
            found.insert(name, text(&path)?);
        }
    }
    Ok(found)
}

fn names(folder: &Path) -> Result<Vec<String>, String> {
    let entries = fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut names: Vec<String> =
        entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    Ok(names)
}

fn text(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))
}

fn first(problems: &[Problem]) -> String {
    problems.first().map_or_else(String::new, ToString::to_string)
}

/// What an endpoint has to say to play the workload.
#[derive(Default)]
pub struct Lines {
    /// The agent's turns as messages, by hire and number of the turn.
    pub turns: BTreeMap<(String, usize), Value>,
    /// How the agent asks back.
    pub clarification: String,
    /// What tools answer that a model simulates, by the call as they are asked it: `tool({"argument":"value"})`.
    pub answers: BTreeMap<String, String>,
}

impl Project {
    /// What is said in every scenario, from playing them.
    ///
    /// # Errors
    /// A scenario that names no hire, or cannot be played.
    pub fn lines(&self) -> Result<Lines, String> {
        let mut lines = Lines::default();
        for row in self.plan(self.scenarios.len())? {
            let mut case = self.case(&row);
            case.complexity = Complexity::Medium;
            lines.clarification.clone_from(&case.playbook.spec.clarification);
            let hire = case.scenario.user_facts.get("hire_id").and_then(Value::as_str).ok_or("it names no hire")?;
            let hire = hire.to_owned();
            let (conversation, _) = validate::play(Conversation::new(Arc::new(case)));
            let state = conversation.state();
            let spoken = state.agent().messages.iter().filter(|message| matches!(message, Message::Assistant { .. }));
            for (turn, message) in spoken.enumerate() {
                let message = serde_json::to_value(message).map_err(|error| error.to_string())?;
                lines.turns.insert((hire.clone(), turn), message);
            }
            let answers = state.calls.iter();
            lines
                .answers
                .extend(answers.map(|call| (format!("{}({})", call.tool, call.arguments), call.content.clone())));
        }
        Ok(lines)
    }
}
