//! The documents of a project and what a run plays of them, by the code that runs use.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Context;
use domain::message::Message;
use domain::persona::Complexity;
use domain::role::Role;
use engine::plan::Row;
use engine::{Case, Conversation, solvability};
use generation::plan::{self, Repertoire, RunConfig};
use projects::library::{Files, Library};
use serde_json::{Value, json};

/// The run's seed: every measurement plays the same conversations.
const SEED: i64 = 1;

pub struct Project {
    library: Library,
    config: RunConfig,
    repertoire: Repertoire,
}

impl Project {
    /// Reads and proves the documents of a project; the scenarios of one playbook are played, or the one of that id, all
    /// by default, with every role scripted.
    ///
    /// # Errors
    /// Everything that is wrong with the documents, or nothing is left to play.
    pub fn read(root: &Path, only: Option<&str>) -> anyhow::Result<Self> {
        let library = Library::assemble(Files::read(root)?).map_err(|problems| {
            anyhow::anyhow!(problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
        })?;
        let fits = |id: &str, playbook: &str| only.is_none_or(|only| only == id || only == playbook);
        let scenarios = library.scenarios.values().filter(|scenario| fits(&scenario.id, &scenario.playbook));
        let scenarios: Vec<&str> = scenarios.map(|scenario| scenario.id.as_str()).collect();
        anyhow::ensure!(!scenarios.is_empty(), "{}: nothing to play", root.display());
        let personas: Vec<&String> = library.profiles.keys().collect();
        let models: BTreeMap<Role, &str> = Role::ALL.into_iter().map(|role| (role, "scripted")).collect();
        let spec = json!({"models": models, "scenarios": scenarios, "personas": personas, "out": ""});
        let config: RunConfig = serde_json::from_value(spec)?;
        let repertoire = Repertoire::of(&library, &config)?;
        Ok(Self { library, config, repertoire })
    }

    /// # Errors
    /// A scenario that no profile fits.
    pub fn plan(&self, conversations: usize) -> anyhow::Result<Vec<Row<'_>>> {
        let plan = self.repertoire.plan(&self.library, SEED);
        (0..conversations).map(|position| plan.row(position).map_err(anyhow::Error::msg)).collect()
    }

    /// The case of a planned conversation, as a run makes it.
    ///
    /// # Errors
    /// The documents do not hold what was planned.
    pub fn case(&self, row: Row<'_>) -> anyhow::Result<Case> {
        plan::case(&self.library, &self.config, SEED, &plan::planned(row)?)
    }
}

/// What an endpoint has to say to play the workload.
#[derive(Default)]
pub struct Lines {
    /// The agent's turns as messages, by hire and number of the turn.
    pub turns: BTreeMap<(String, usize), Value>,
    /// The hire that each scenario is about.
    pub hires: BTreeMap<String, String>,
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
    pub fn lines(&self) -> anyhow::Result<Lines> {
        let mut lines = Lines::default();
        for row in self.plan(self.config.scenarios.len())? {
            let mut case = self.case(row)?;
            case.complexity = Complexity::Medium;
            lines.clarification.clone_from(&case.playbook.spec.clarification);
            let hire = case.scenario.user_facts.get("hire_id").and_then(Value::as_str).context("it names no hire")?;
            let hire = hire.to_owned();
            lines.hires.insert(case.scenario.id.clone(), hire.clone());
            let (conversation, _) = solvability::play(Conversation::new(case.into()));
            let state = conversation.state();
            let spoken = state.agent().messages.iter().filter(|message| matches!(message, Message::Assistant { .. }));
            for (turn, message) in spoken.enumerate() {
                let message = serde_json::to_value(message)?;
                lines.turns.insert((hire.clone(), turn), message);
            }
            let answers = state.transcript.calls.iter();
            lines
                .answers
                .extend(answers.map(|call| (format!("{}({})", call.tool, call.arguments), call.content.clone())));
        }
        Ok(lines)
    }
}
