//! The samples of a group are the same conversation as long as their agents say the same, in all shipped scenarios: with tools of
//! users, sub-agents and faults.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::{Arc, LazyLock};

use domain::chat::{ChatReply, ChatRequest};
use domain::event::{Event, EventKind};
use domain::fault::{FaultKind, FaultRule};
use domain::message::ToolCall;
use domain::outcome::Outcome;
use domain::reward::{Penalties, reward};
use domain::role::Role;
use domain::task::{Resolution, Task, advance};
use domain::verdict::Verification;
use engine::Conversation;
use generation::plan::{Repertoire, RunConfig, case, planned};
use projects::library::{Files, Library};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use serde_json::json;
use strum::VariantArray;

use crate::support::project;

const SAMPLES: u32 = 8;
const SEED: i64 = 7;
/// No conversation is so long.
const MOST_EVENTS: usize = 1_000;
/// Among so many groups two differ.
const MOST_GROUPS: usize = 40;

static LIBRARY: LazyLock<Library> = LazyLock::new(|| {
    let (all, mut files) = (Files::read(&project()).unwrap(), Files::default());
    for (path, text) in ["playbooks", "scenarios", "personas", "judges"].iter().flat_map(|folder| all.under(folder)) {
        files.insert(path, text.clone());
    }
    Library::assemble_proved(files).ok().unwrap()
});

/// A run of all scenarios.
fn config(faults: &[FaultRule]) -> RunConfig {
    let (scenarios, personas): (Vec<_>, Vec<_>) =
        (LIBRARY.scenarios.keys().collect(), LIBRARY.profiles.keys().collect());
    let config = json!({
        "models": {}, "scenarios": scenarios, "personas": personas, "samples": SAMPLES, "faults": faults, "out": "",
    });
    serde_json::from_value(config).unwrap()
}

/// Each call meets it with this probability.
fn fault(kind: FaultKind, probability: f64) -> FaultRule {
    FaultRule { kind, tools: Vec::new(), calls: Vec::new(), probability: Some(probability) }
}

/// A sample of the group that plays a scenario, given by its number, for the `repeat`-th time.
fn sample(config: &RunConfig, seed: i64, (scenario, repeat): (usize, usize), sample: u32) -> Conversation {
    let repertoire = Repertoire::of(&LIBRARY, config).unwrap();
    let group = repeat * LIBRARY.scenarios.len() + scenario;
    let row = repertoire.plan(&LIBRARY, seed).row(group * SAMPLES as usize + sample as usize).unwrap();
    Conversation::new(Arc::new(case(&LIBRARY, config, seed, &planned(row).unwrap()).unwrap()))
}

struct Played {
    conversation: Conversation,
    events: Vec<Event>,
    /// What the agent under test said, turn by turn.
    said: Vec<Resolution>,
    /// What each role was asked.
    asked: Vec<(Role, Option<ChatRequest>)>,
}

/// Plays to the end. `agent` says what the agent under test says in a turn, given what its script says; all else is scripted.
fn play(mut conversation: Conversation, agent: impl Fn(usize, Resolution) -> Resolution) -> Played {
    let (mut events, mut said, mut asked) = (Vec::new(), Vec::new(), Vec::new());
    advance(
        &mut conversation,
        |conversation, request| {
            asked.push((request.to.role, conversation.ask()));
            let scripted = conversation.stand_in(request);
            if request.to.role != Role::Agent || request.to.sub_agent.is_some() {
                return Some(scripted);
            }
            let turn = agent(said.len(), scripted);
            said.push(turn.clone());
            Some(turn)
        },
        |_, event| {
            events.push(event);
            assert!(events.len() < MOST_EVENTS, "the conversation does not end");
            ControlFlow::Continue(())
        },
    );
    Played { conversation, events, said, asked }
}

/// Says the same once more.
fn repeat(said: &[Resolution]) -> impl Fn(usize, Resolution) -> Resolution {
    move |turn, _| {
        said.get(turn).cloned().unwrap_or_else(|| Resolution::Lost { reason: "nothing more was said".to_owned() })
    }
}

fn rewarded(conversation: &Conversation) -> (Option<u8>, Penalties) {
    let transcript = &conversation.state().transcript;
    let blame = match conversation.outcome() {
        Some(Outcome::Failed { blame, .. }) => Some(*blame),
        _ => None,
    };
    let passed = transcript.verification.as_ref().is_some_and(Verification::passed);
    (reward(blame, passed), Penalties::of(transcript))
}

/// Two samples of a group whose agents said the same.
fn check_alike(one: &Played, other: &Played) -> Result<(), TestCaseError> {
    prop_assert_eq!(&one.events, &other.events);
    prop_assert_eq!(one.conversation.state(), other.conversation.state());
    prop_assert_eq!(one.conversation.state().world_hash(), other.conversation.state().world_hash());
    prop_assert_eq!(rewarded(&one.conversation), rewarded(&other.conversation));
    prop_assert_eq!(one.asked.len(), other.asked.len());
    for ((role, one), (_, other)) in one.asked.iter().zip(&other.asked) {
        match (role, one, other) {
            (Role::Agent, Some(one), Some(other)) => {
                prop_assert_ne!(one.seed, other.seed, "the agent draws anew");
                prop_assert_eq!(&ChatRequest { seed: 0, ..one.clone() }, &ChatRequest { seed: 0, ..other.clone() });
            }
            _ => prop_assert_eq!(one, other, "nobody else does"),
        }
    }
    Ok(())
}

/// What an agent says in a turn.
#[derive(Debug, Clone)]
enum Turn {
    Scripted,
    Says(&'static str),
    /// Name and arguments.
    Calls(&'static str, &'static str),
    CutOff,
}

impl Turn {
    fn said(&self, scripted: Resolution) -> Resolution {
        let words = |content: &str| ChatReply { content: content.to_owned(), ..ChatReply::default() };
        match *self {
            Self::Scripted => scripted,
            Self::Says(content) => Resolution::Reply(words(content)),
            Self::Calls(name, arguments) => {
                let call = ToolCall::new("mine".to_owned(), name.to_owned(), arguments.to_owned());
                Resolution::Reply(ChatReply { tool_calls: vec![call], ..ChatReply::default() })
            }
            Self::CutOff => Resolution::Unusable { reply: words("and so on"), reason: "it was cut off".to_owned() },
        }
    }
}

fn any_turn() -> impl Strategy<Value = Turn> {
    let texts = ["", "Good day. Could you tell me more?", "Your balance is 12.34.", "That is all."];
    let calls = [
        ("get_session", "{}"),
        ("bookings", r#"{"task": "List the bookings."}"#),
        ("check_outages", r#"{"town": "Wexcombe"}"#),
        ("verify_customer", "not json"),
        ("get_line", "{}"),
        ("no_such_tool", "{}"),
    ];
    prop_oneof![
        6 => Just(Turn::Scripted),
        1 => prop::sample::select(texts.to_vec()).prop_map(Turn::Says),
        2 => prop::sample::select(calls.to_vec()).prop_map(|(name, arguments)| Turn::Calls(name, arguments)),
        1 => Just(Turn::CutOff),
    ]
}

fn any_fault() -> impl Strategy<Value = FaultRule> {
    (prop::sample::select(FaultKind::VARIANTS.to_vec()), 0.0..0.6_f64)
        .prop_map(|(kind, probability)| fault(kind, probability))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn samples_differ_in_nothing_but_what_the_agent_draws(
        seed in any::<i64>(),
        scenario in any::<prop::sample::Index>(),
        repeats in 0..4_usize,
        other in 1..SAMPLES,
        turns in prop::collection::vec(any_turn(), 0..8),
        faults in prop::collection::vec(any_fault(), 0..3),
    ) {
        let (config, group) = (config(&faults), (scenario.index(LIBRARY.scenarios.len()), repeats));
        let agent = |turn: usize, scripted| turns.get(turn).unwrap_or(&Turn::Scripted).said(scripted);
        let first = play(sample(&config, seed, group, 0), agent);
        let other = play(sample(&config, seed, group, other), repeat(&first.said));
        check_alike(&first, &other)?;
    }
}

/// And none of them is left out.
#[test]
fn samples_of_every_shipped_scenario_are_alike() {
    let config = config(&[fault(FaultKind::RateLimit, 0.1)]);
    let (mut acts, mut delegations, mut faults) = (0, 0, 0);
    for scenario in 0..LIBRARY.scenarios.len() {
        let first = play(sample(&config, SEED, (scenario, 0), 0), |_, scripted| scripted);
        let other = play(sample(&config, SEED, (scenario, 0), SAMPLES - 1), repeat(&first.said));
        check_alike(&first, &other).unwrap();
        for event in &first.events {
            match &event.kind {
                EventKind::UserActed { .. } => acts += 1,
                EventKind::Delegated { .. } => delegations += 1,
                EventKind::ToolAnswered { fault: Some(_), .. } => faults += 1,
                _ => {}
            }
        }
    }
    assert!(acts > 10 && delegations > 10 && faults > 10, "{acts} {delegations} {faults}");
}

/// Whether the first call of the agent met a fault; `None` if it called nothing.
fn first_call_fails(played: &Played) -> Option<bool> {
    let users = &played.conversation.case().playbook.spec.user_tools;
    played.events.iter().find_map(|event| match &event.kind {
        EventKind::ToolAnswered { tool, fault, answer, .. } => {
            let is_agents = !answer.malformed() && users.iter().all(|own| own.name != *tool);
            is_agents.then_some(fault.is_some())
        }
        _ => None,
    })
}

#[test]
fn groups_of_a_scenario_differ_in_users_faults_and_draws() {
    let config = config(&[fault(FaultKind::ServerError, 0.5)]);
    for scenario in 0..LIBRARY.scenarios.len() {
        let (mut users, mut failures, mut seeds) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        let mut groups = 0;
        while groups < 2 || (groups < MOST_GROUPS && failures.len() == 1) {
            let played = play(sample(&config, SEED, (scenario, groups), 0), |_, scripted| scripted);
            users.insert(serde_json::to_string(&played.events[0]).unwrap());
            failures.extend(first_call_fails(&played));
            seeds.extend(played.asked.iter().find_map(|(_, asked)| asked.as_ref().map(|asked| asked.seed)));
            groups += 1;
        }
        let (id, document) = LIBRARY.scenarios.iter().nth(scenario).unwrap();
        assert_eq!((users.len(), seeds.len()), (groups, groups), "{id}: each group has a user of its own");
        // The first call of one that plans faults itself may always fail.
        assert!(failures.len() != 1 || !document.faults.is_empty(), "{id}: what fails is drawn for each group");
    }
}
