//! The same agent, other users: what becomes of 400 scripted conversations with each profile.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::num::NonZeroU32;
use std::sync::Arc;

use domain::outcome::{Blame, Ending, Outcome};
use domain::persona::{Complexity, Profile};
use domain::role::Role;
use domain::scenario::Scenario;
use engine::Conversation;
use engine::plan::Plan;
use generation::plan::{self, RunConfig};
use llm::ModelSpec;
use projects::library::{Files, Library};
use store::conversations::PlannedConversation;
use uuid::Uuid;

use crate::support::project;

const CONVERSATIONS: usize = 400;

#[derive(Default)]
struct Outcomes {
    accepted: u32,
    walked_out: u32,
    vague: u32,
    turns: u32,
}

fn config() -> RunConfig {
    let models = Role::ALL.map(|role| (role.as_str().to_owned(), ModelSpec::Scripted.to_string()));
    let models: BTreeMap<_, _> = models.into();
    serde_json::from_value(serde_json::json!({"models": models, "out": "rows.jsonl"})).unwrap()
}

fn play(library: &Library, profile: &Profile) -> Outcomes {
    let profiles = [(profile.name.clone(), profile.clone())].into();
    let fits = |scenario: &Scenario| scenario.personas.is_empty() || scenario.personas.contains(&profile.name);
    let scenarios: Vec<_> = library.scenarios.values().filter(|scenario| fits(scenario)).cloned().collect();
    let plan = Plan {
        scenarios: &scenarios,
        profiles: &profiles,
        model: &library.personas,
        complexity: &BTreeMap::new(),
        samples: NonZeroU32::MIN,
        seed: 1,
    };
    let mut outcomes = Outcomes::default();
    for row in plan.rows(CONVERSATIONS).unwrap() {
        let planned = PlannedConversation {
            id: Uuid::nil(),
            position: 0,
            scenario: row.scenario.id.clone(),
            repeat: row.repeat.cast_signed(),
            persona: profile.name.clone(),
            complexity: row.complexity.to_string(),
            attempt: 1,
        };
        let case = plan::case(library, &config(), 1, &planned).unwrap();
        let (conversation, outcome) = engine::solvability::play(Conversation::new(Arc::new(case)));
        let transcript = &conversation.state().transcript;
        outcomes.vague += u32::from(row.complexity == Complexity::Vague);
        outcomes.turns += transcript.user_turns;
        let walked_out = transcript.ending() == Some(&Ending::WalkedOut);
        outcomes.walked_out += u32::from(walked_out);
        match outcome {
            Outcome::Accepted => outcomes.accepted += 1,
            // The script solves every case; only users who leave keep it from that.
            Outcome::Failed { blame, reason } => assert!(blame == Blame::Agent && walked_out, "{blame}: {reason}"),
        }
    }
    outcomes
}

#[test]
fn outcomes_differ_by_persona() {
    let library = &Library::assemble_proved(Files::read(&project()).unwrap()).ok().unwrap();
    let profiles: Vec<&Profile> = library.profiles.values().collect();
    let halves: Vec<_> = std::thread::scope(|scope| {
        let parts: Vec<_> = profiles
            .chunks(profiles.len().div_ceil(2))
            .map(|part| {
                scope.spawn(move || part.iter().map(|p| (p.name.clone(), play(library, p))).collect::<Vec<_>>())
            })
            .collect();
        parts.into_iter().flat_map(|part| part.join().unwrap()).collect()
    });
    let mut table = format!("{:22} accepted  walked out  opened vaguely  turns\n", "profile");
    for (name, o) in &halves {
        let turns = f64::from(o.turns) / f64::from(u32::try_from(CONVERSATIONS).unwrap());
        writeln!(table, "{name:22} {:8} {:11} {:15} {turns:6.2}", o.accepted, o.walked_out, o.vague).unwrap();
    }
    insta::assert_snapshot!(table, @"
    profile                accepted  walked out  opened vaguely  turns
    busy_professional           377          23              59   4.00
    careful_pensioner           398           2              60   4.16
    easygoing_traveller         399           1              55   4.22
    newcomer                    395           7             132   4.30
    sceptical_customer          391          13              49   4.26
    small_business_owner        392          12              37   3.99
    student_on_a_budget         387          17             126   4.41
    worried_parent              385          18             102   4.14
    ");
}
