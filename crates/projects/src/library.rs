//! A project's documents: read from its folders, checked together, ready to play.

mod cache;
mod duplicates;
pub mod files;
mod lint;
pub mod project;
mod scenarios;
pub mod workflows;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use domain::document;
use domain::finding::LocatedFinding;
use domain::persona::{PersonaModel, Profile};
use domain::problem::{Problem, unknown};
use domain::scenario::Scenario;
use engine::playbook::{Sources, compile};
use engine::{Cases, InitialWorld, Judge, PlayableScenario, Playbook};

pub use cache::Cache;
pub use duplicates::Limits;
pub use files::Files;
pub use scenarios::readable as readable_scenarios;

use domain::bad_input::BadInput;
use workflow::Workflow;

/// A step of examining a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExaminationStep {
    /// The next scenario is proved.
    Scenario,
    /// The tools, hooks and rules of the next playbook are tried.
    Playbook,
    /// Scenarios are compared with each other.
    Duplicates,
}

/// Everything that conversations are played from. A run keeps the files, so that it can be continued and explained
/// when the folders have long changed.
pub struct Library {
    pub playbooks: BTreeMap<String, Arc<Playbook>>,
    pub judges: BTreeMap<String, Arc<Judge>>,
    /// By playbook: its judge, with the criteria that it adds, removes and weighs.
    judge_of: BTreeMap<String, Arc<Judge>>,
    pub personas: PersonaModel,
    pub profiles: BTreeMap<String, Profile>,
    /// By id.
    pub scenarios: BTreeMap<String, Arc<Scenario>>,
    /// By name.
    pub workflows: BTreeMap<String, Arc<Workflow>>,
    /// What conversations are made from.
    pub cases: Arc<Cases>,
    scenario_paths: BTreeMap<String, String>,
    pub files: Files,
}

impl Library {
    /// Reads and assembles a project.
    ///
    /// # Errors
    /// [`BadInput`] with every problem of every document, or files that cannot be read.
    pub fn load(project: &Path) -> anyhow::Result<Self> {
        Ok(Self::assemble(Files::read(project)?).map_err(BadInput)?)
    }

    /// Checks every document and proves every scenario.
    ///
    /// # Errors
    /// Every problem of every document, and all that is wrong with a scenario.
    pub fn assemble(files: Files) -> Result<Self, Vec<Problem>> {
        match Self::build(files, &Trials { proof: &|_| true, ..Trials::NONE }).whole()? {
            (library, findings) if findings.is_empty() => Ok(library),
            (_, findings) => Err(findings.into_iter().map(|found| found.problem).collect()),
        }
    }

    /// The documents of a run, which were proved when it was started.
    ///
    /// # Errors
    /// Every problem of every document: another version of the program may have accepted them.
    pub fn assemble_proved(files: Files) -> Result<Self, Vec<Problem>> {
        Ok(Self::build(files, &Trials::NONE).whole()?.0)
    }

    /// Checks every document and grades what is wrong with playbooks and scenarios, near-duplicates included. `wanted` is
    /// asked before each step; what is not wanted is left out.
    ///
    /// # Errors
    /// Documents that cannot be read: every problem, and all that is wrong with those that could be.
    pub fn examine(
        files: Files,
        limits: &Limits,
        wanted: &dyn Fn(ExaminationStep) -> bool,
    ) -> Result<(Self, Vec<LocatedFinding>), Vec<Problem>> {
        let trials = Trials {
            proof: &|_| wanted(ExaminationStep::Scenario),
            calls: &|_| wanted(ExaminationStep::Playbook),
            samples: &|_| true,
        };
        let (library, mut findings) = Self::build(files, &trials).whole()?;
        if wanted(ExaminationStep::Duplicates) {
            findings.extend(duplicates::find(&library, limits));
        }
        findings.sort();
        Ok((library, findings))
    }

    /// Checks and proves one scenario that may become part of the project, as it would be checked there. Whether its id
    /// is free, and whether it is nearly another one, is not asked.
    ///
    /// # Errors
    /// All that keeps it from being read.
    pub fn examine_scenario(
        &self,
        path: &str,
        text: &str,
    ) -> Result<(Arc<Scenario>, Vec<LocatedFinding>), Vec<Problem>> {
        let mut files = Files::default();
        files.insert(path, text.to_owned());
        let mut problems = Vec::new();
        let read = scenarios::read(&files, &self.playbooks, &self.judge_of, &self.profiles, &|_| true, &mut problems);
        match read.by_id.into_values().next() {
            Some(scenario) if problems.is_empty() => Ok((scenario, read.findings)),
            _ => Err(problems),
        }
    }

    /// Reads all that can be read, and tries what is asked for.
    pub fn build(files: Files, trials: &Trials<'_>) -> LibraryReport {
        let mut problems = Vec::new();
        let read = ConversationDocuments::read(&files, trials.proof, &mut problems);
        let cases = read.cases();
        let (workflows, broken) = workflows::compile_with(&files, &|| Ok(Arc::clone(&cases)));
        let ConversationDocuments { playbooks, judges, judge_of, personas, profiles, scenarios } = read;
        problems.extend(broken);
        let tried = workflows.iter().filter(|(name, _)| (trials.samples)(name));
        problems.extend(tried.flat_map(|(_, workflow)| workflows::sample_problems(workflow)));
        let mut findings = scenarios.findings;
        for (name, playbook) in playbooks.iter().filter(|(name, _)| (trials.calls)(name)) {
            let own: Vec<_> = scenarios.by_id.values().filter(|scenario| scenario.playbook == *name).cloned().collect();
            findings.extend(lint::find(&files, playbook, &own));
        }
        findings.sort();
        findings.dedup();
        problems.sort();
        problems.dedup();
        let library = personas.filter(|_| problems.is_empty()).map(|personas| Self {
            playbooks,
            judges,
            judge_of,
            personas,
            profiles,
            scenarios: scenarios.by_id,
            workflows,
            cases,
            scenario_paths: scenarios.paths,
            files,
        });
        LibraryReport { library, problems, findings }
    }

    /// # Errors
    /// The name is unknown: says which one was likely meant.
    pub fn playbook(&self, name: &str) -> Result<&Arc<Playbook>, String> {
        self.playbooks.get(name).ok_or_else(|| unknown("playbook", name, self.playbooks.keys()))
    }

    /// The judge of a playbook's conversations.
    ///
    /// # Errors
    /// The playbook is not of this project.
    pub fn judge_of(&self, playbook: &Playbook) -> Result<&Arc<Judge>, String> {
        let name = &playbook.spec.name;
        self.judge_of.get(name).ok_or_else(|| unknown("playbook", name, self.playbooks.keys()))
    }

    pub fn scenario(&self, id: &str) -> Result<&Arc<Scenario>, String> {
        self.scenarios.get(id).ok_or_else(|| unknown("scenario", id, self.scenarios.keys()))
    }

    /// The world a scenario starts from, shared by all its conversations.
    pub fn initial(&self, scenario: &Scenario, playbook: &Playbook) -> Arc<InitialWorld> {
        self.cases.initial(scenario, playbook)
    }

    /// The version of a scenario: a hash of its file.
    pub fn scenario_version(&self, scenario: &Scenario) -> String {
        self.files.version(self.scenario_path(scenario))
    }

    /// The file of a scenario.
    pub fn scenario_path(&self, scenario: &Scenario) -> &str {
        self.scenario_paths.get(&scenario.id).map_or("", String::as_str)
    }

    pub fn scenarios_of<'a>(&'a self, playbook: &'a str) -> impl Iterator<Item = &'a Arc<Scenario>> {
        self.scenarios.values().filter(move |s| s.playbook == playbook)
    }
}

/// The documents that are tried after they were read.
pub struct Trials<'a> {
    /// Whether to prove this scenario.
    pub proof: &'a dyn Fn(&Scenario) -> bool,
    /// Whether to make sample calls of the tools, hooks and rules of the playbook with this name.
    pub calls: &'a dyn Fn(&str) -> bool,
    /// Whether to play the samples of the workflow with this name.
    pub samples: &'a dyn Fn(&str) -> bool,
}

impl Trials<'_> {
    /// Documents are only read.
    pub const NONE: Self = Trials { proof: &|_| false, calls: &|_| false, samples: &|_| false };
}

/// The library that was read, and its problems.
pub struct LibraryReport {
    /// `None` if there are problems.
    pub library: Option<Library>,
    /// All that keeps documents from being read, or from fitting together.
    pub problems: Vec<Problem>,
    /// Findings in the scenarios and playbooks that were tried.
    pub findings: Vec<LocatedFinding>,
}

impl LibraryReport {
    fn whole(self) -> Result<(Library, Vec<LocatedFinding>), Vec<Problem>> {
        if let Some(library) = self.library {
            return Ok((library, self.findings));
        }
        let mut problems = self.problems;
        problems.extend(self.findings.into_iter().map(|found| found.problem));
        problems.sort();
        problems.dedup();
        Err(problems)
    }
}

/// The documents that conversations are played from, as far as they could be read.
struct ConversationDocuments {
    playbooks: BTreeMap<String, Arc<Playbook>>,
    judges: BTreeMap<String, Arc<Judge>>,
    judge_of: BTreeMap<String, Arc<Judge>>,
    personas: Option<PersonaModel>,
    profiles: BTreeMap<String, Profile>,
    scenarios: scenarios::Scenarios,
}

impl ConversationDocuments {
    fn read(files: &Files, proof: &dyn Fn(&Scenario) -> bool, problems: &mut Vec<Problem>) -> Self {
        let playbooks = folders(files, "playbooks", problems, |folder, own| compile(&Sources { folder, files: own }));
        let judges = folders(files, "judges", problems, Judge::compile);
        let judge_of = judges_of(files, &playbooks, &judges, problems);
        let personas = personas(files, problems);
        let profiles = profiles(files, personas.as_ref(), problems);
        let scenarios = scenarios::read(files, &playbooks, &judge_of, &profiles, proof, problems);
        Self { playbooks, judges, judge_of, personas, profiles, scenarios }
    }

    /// The scenarios that can be played.
    fn cases(&self) -> Arc<Cases> {
        let playable = self.scenarios.by_id.values().filter_map(|scenario| {
            Some(PlayableScenario {
                scenario: Arc::clone(scenario),
                playbook: Arc::clone(self.playbooks.get(&scenario.playbook)?),
                judge: Arc::clone(self.judge_of.get(&scenario.playbook)?),
            })
        });
        Arc::new(Cases::new(playable, self.personas.clone().unwrap_or_default(), self.profiles.clone()))
    }
}

/// Compiles each folder under `root`; a document must be named like its folder.
fn folders<T>(
    files: &Files,
    root: &str,
    problems: &mut Vec<Problem>,
    compile: impl Fn(&str, &BTreeMap<String, String>) -> Result<T, Vec<Problem>>,
) -> BTreeMap<String, Arc<T>> {
    let mut found = BTreeMap::new();
    for name in files.folders(root) {
        let folder = format!("{root}/{name}");
        match compile(&folder, &files.within(&folder)) {
            Ok(compiled) => {
                found.insert(name, Arc::new(compiled));
            }
            Err(own) => problems.extend(own),
        }
    }
    found
}

/// Each playbook's judge with the playbook's own criteria.
fn judges_of(
    files: &Files,
    playbooks: &BTreeMap<String, Arc<Playbook>>,
    judges: &BTreeMap<String, Arc<Judge>>,
    problems: &mut Vec<Problem>,
) -> BTreeMap<String, Arc<Judge>> {
    let mut found = BTreeMap::new();
    for (name, playbook) in playbooks {
        let path = format!("playbooks/{name}/playbook.yaml");
        let judge = match judges.get(&playbook.spec.judge) {
            None => Err(vec![("/judge".to_owned(), unknown("judge", &playbook.spec.judge, judges.keys()))]),
            Some(judge) => judge.adjusted(&playbook.spec.criteria).map_err(|own| {
                own.into_iter().map(|(at, message)| (format!("/criteria{at}"), message)).collect::<Vec<_>>()
            }),
        };
        match (judge, files.get(&path).map(|text| document::value(&path, text))) {
            (Ok(judge), _) => drop(found.insert(name.clone(), Arc::new(judge))),
            (Err(own), Some(Ok(located))) => {
                problems.extend(own.into_iter().map(|(at, message)| located.problem(&at, message)));
            }
            // A playbook that compiled was read.
            (Err(_), _) => {}
        }
    }
    found
}

/// What all profiles share.
const MODEL: &str = "personas/model.yaml";

fn personas(files: &Files, problems: &mut Vec<Problem>) -> Option<PersonaModel> {
    let Some(text) = files.get(MODEL) else {
        // Workflows alone are played by nobody in particular.
        let has = |root: &str| files.under(root).next().is_some();
        if has("workflows") && !["playbooks", "scenarios", "personas"].into_iter().any(has) {
            return Some(PersonaModel::default());
        }
        problems.push(Problem::new(MODEL, 0, "", "the file is missing"));
        return None;
    };
    let (model, located) = document::located::<PersonaModel>(MODEL, text).map_err(|own| problems.extend(own)).ok()?;
    problems.extend(model.problems().into_iter().map(|(at, message)| located.problem(&at, message)));
    Some(model)
}

fn profiles(files: &Files, model: Option<&PersonaModel>, problems: &mut Vec<Problem>) -> BTreeMap<String, Profile> {
    let mut profiles = BTreeMap::new();
    for (path, text) in files.under("personas/profiles") {
        match document::located::<Profile>(path, text) {
            Ok((profile, located)) => {
                let found = model.map(|model| model.problems_of(&profile)).unwrap_or_default();
                problems.extend(found.into_iter().map(|(at, message)| located.problem(&at, message)));
                profiles.insert(profile.name.clone(), profile);
            }
            Err(own) => problems.extend(own),
        }
    }
    if profiles.is_empty() && problems.is_empty() && files.get(MODEL).is_some() {
        problems.push(Problem::new("personas/profiles", 0, "", "holds no profile"));
    }
    profiles
}
