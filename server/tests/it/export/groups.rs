//! Groups of samples: what they share, how they differ, and what each is worth.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;

use datasets::export::Room;
use datasets::export::build::build;
use datasets::export::contents::Order;
use datasets::export::{order, preview};
use domain::export::{Data, ExportPart, ExportSpec, PairRule, Profile, RunRows, SourceSpec, Toggles};
use domain::role::Role;
use generation::ConversationRun;
use serde_json::{Value, json};
use sqlx::PgPool;

use crate::support::agent;
use crate::support::endpoint::{Endpoint, says, status};
use crate::support::play::{HELP, planned_as, play_all, stories};

const SAMPLES: u32 = 6;
const GROUPS: usize = 4;

/// An agent whose seed decides what becomes of its answer: it is lost, it tells nothing, or it is right.
async fn moody_agent() -> Endpoint {
    Endpoint::start(|request| {
        let answers = request["messages"].as_array().unwrap().last().unwrap()["role"] == "tool";
        match request["seed"].as_i64().unwrap() % 4 {
            0 if answers => status(400),
            1 if answers => says("I can not say."),
            _ => agent::help(request),
        }
    })
    .await
}

async fn sampled(pool: &PgPool, models: &[(Role, String)]) -> std::sync::Arc<ConversationRun> {
    let n = GROUPS * SAMPLES as usize;
    let configure = |config: &mut generation::plan::RunConfig| config.samples = NonZeroU32::new(SAMPLES).unwrap();
    play_all(planned_as(pool, &[HELP], n, 1, models, configure).await, 4).await
}

async fn order_of(run: &ConversationRun, profile: Profile, toggles: Toggles) -> Order {
    let pool = &run.control.pool;
    let rows =
        RunRows { id: run.control.run.id.to_string(), judging: None, corrected: false, all: false, branches: false };
    let source = SourceSpec::Run(rows);
    let spec = ExportSpec { source, profile, toggles, pairs: PairRule::default() };
    let checked = order::check(pool, &spec, None).await.unwrap().ok().unwrap();
    Order::of(pool, &spec, &checked).await.unwrap()
}

async fn groups(run: &ConversationRun) -> (ExportPart, Vec<Value>) {
    exported(run, Profile::Groups, Toggles::default()).await
}

async fn exported(run: &ConversationRun, profile: Profile, toggles: Toggles) -> (ExportPart, Vec<Value>) {
    let folder = tempfile::tempdir().unwrap();
    let order = order_of(run, profile, toggles).await;
    let built = build(&run.control.pool, &order, folder.path(), &Room::default(), &mut |_| {}).await.unwrap();
    let part = built.report.parts.into_iter().next().unwrap();
    let text = std::fs::read_to_string(folder.path().join(&part.path)).unwrap();
    (part, text.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

#[sqlx::test(migrations = "../migrations")]
async fn each_sample_has_its_reward_and_nobody_elses_fault_is_one(pool: PgPool) {
    let agent = moody_agent().await;
    let run = sampled(&pool, &[(Role::Agent, agent.model())]).await;
    let (part, groups) = groups(&run).await;
    assert_eq!(groups.len(), GROUPS);
    let (mut seen, mut means, mut lost) = (BTreeMap::<String, usize>::new(), BTreeSet::new(), 0);
    for group in &groups {
        let completions = group["completions"].as_array().unwrap();
        let mut rewards = Vec::new();
        for completion in completions {
            if completion["reward"].is_null() {
                assert_eq!(completion["blame"], "infrastructure", "{completion}");
                lost += 1;
                continue;
            }
            let messages = completion["messages"].as_array().unwrap();
            let right = messages.iter().all(|message| message["content"] != "I can not say.");
            let expected = u8::from(right);
            assert_eq!(completion["reward"], json!(expected), "{completion}");
            assert_eq!(completion["reward_components"]["fact_told"] == json!(1.0), right, "{completion}");
            rewards.push(expected);
        }
        #[expect(clippy::cast_precision_loss, reason = "few")]
        let mean = f64::from(rewards.iter().sum::<u8>()) / rewards.len() as f64;
        assert!((group["solve_rate"].as_f64().unwrap() - mean).abs() < 1e-12);
        assert_eq!(group["scored"], json!(rewards.len()));
        assert_eq!((&group["samples"], &group["off_policy"]), (&json!(SAMPLES), &json!(true)));
        assert_eq!(group["dead"], json!(rewards.windows(2).all(|two| two[0] == two[1])));
        let prompt = group["prompt"].as_array().unwrap().iter();
        assert_eq!(prompt.map(|one| one["role"].as_str().unwrap()).collect::<Vec<_>>(), ["system", "user"]);
        means.insert(group["solve_rate"].to_string());
        for key in ["group_id", "task_key"] {
            *seen.entry(group[key].to_string()).or_default() += 1;
        }
    }
    assert!(seen.len() == 2 * GROUPS && seen.values().all(|times| *times == 1), "{seen:?}");
    assert!(means.len() > 1, "the groups differ in how often they are solved");
    let report = part.groups.unwrap();
    assert!(lost > 0, "some answers are lost");
    assert_eq!((report.groups, report.samples, report.without_reward), (4, 24, lost));
    assert_eq!(part.written.rows, 4);
}

/// The user is asked the same with the same seed in all samples of a group, and the agent never.
#[sqlx::test(migrations = "../migrations")]
async fn samples_differ_in_nothing_but_what_the_agent_draws(pool: PgPool) {
    let user = Endpoint::start(|request| {
        let begins = request["messages"].as_array().unwrap().len() == 2;
        says(if begins { "Hello, can you help me?" } else { "[END]" })
    })
    .await;
    let agent = Endpoint::start(agent::help).await;
    let run = sampled(&pool, &[(Role::SimulatedUser, user.model()), (Role::Agent, agent.model())]).await;
    let first = |endpoint: &Endpoint, messages: usize| {
        let all = endpoint.requests().into_iter();
        all.filter(move |request| request["messages"].as_array().unwrap().len() == messages).collect::<Vec<_>>()
    };
    let (asked_users, asked_agents) = (first(&user, 2), first(&agent, 2));
    assert_eq!(asked_users.len(), GROUPS * SAMPLES as usize);
    // The turn gate refuses a first message in all samples of a group or in none.
    assert!(!asked_agents.is_empty() && asked_agents.len().is_multiple_of(SAMPLES as usize), "{}", asked_agents.len());
    let seeds =
        |asked: &[Value]| asked.iter().map(|request| request["seed"].as_i64().unwrap()).collect::<BTreeSet<_>>();
    assert_eq!(seeds(&asked_users).len(), GROUPS);
    assert_eq!(seeds(&asked_agents).len(), asked_agents.len());
    let starts: BTreeSet<String> = asked_users.iter().map(Value::to_string).collect();
    assert_eq!(starts.len(), GROUPS, "a group has one user, who is told the same");
    let stories = stories(&run).await;
    for group in stories.chunks(SAMPLES as usize) {
        let start = |story: &crate::support::play::Story| {
            let planned = &story.planned;
            (planned.scenario.clone(), planned.repeat, planned.persona.clone(), planned.complexity.clone())
        };
        assert!(group.iter().all(|story| start(story) == start(&group[0])));
        // The first event says who the user is and in which world.
        assert!(group.iter().all(|story| story.events[0].kind == group[0].events[0].kind));
    }
}

#[sqlx::test(migrations = "../migrations")]
async fn a_preview_shows_the_first_group(pool: PgPool) {
    let agent = moody_agent().await;
    let run = sampled(&pool, &[(Role::Agent, agent.model())]).await;
    let (_, groups) = groups(&run).await;
    let preview = preview::preview(&pool, &order_of(&run, Profile::Groups, Toggles::default()).await).await.unwrap();
    assert_eq!(preview.record.as_ref(), groups.first());
}

/// Without samples each conversation is a group of its own, from which nothing can be learned by comparing.
#[sqlx::test(migrations = "../migrations")]
async fn a_run_without_samples_has_groups_of_one(pool: PgPool) {
    let run = play_all(planned_as(&pool, &[HELP], 3, 1, &[], |_| {}).await, 4).await;
    let (part, groups) = groups(&run).await;
    assert_eq!(groups.len(), 3);
    assert!(groups.iter().all(|group| group["dead"] == json!(true) && group["samples"] == json!(1)));
    assert_eq!(part.groups.unwrap().dead, 3);
}

/// The trainer learns every token of a completion, so the words of others are in the prompt.
#[sqlx::test(migrations = "../migrations")]
async fn each_turn_of_the_agent_is_labelled_by_the_reward_of_its_sample(pool: PgPool) {
    let agent = moody_agent().await;
    let run = sampled(&pool, &[(Role::Agent, agent.model())]).await;
    let (_, groups) = groups(&run).await;
    let mut expected = Vec::new();
    for group in &groups {
        for completion in group["completions"].as_array().unwrap().iter().filter(|one| !one["reward"].is_null()) {
            let messages =
                [&group["prompt"], &completion["messages"]].map(|part| part.as_array().unwrap().clone()).concat();
            for (turn, _) in messages.iter().enumerate().filter(|(_, message)| message["role"] == "assistant") {
                let place = (completion["id"].clone(), completion["sample"].clone(), turn);
                expected.push((place, completion["reward"] == json!(1)));
            }
        }
    }
    let (part, turns) = exported(&run, Profile::TrlKto, Toggles::default()).await;
    assert_eq!(turns.len(), expected.len());
    assert_eq!(usize::try_from(part.written.rows).unwrap(), turns.len());
    for (record, ((id, sample, turn), good)) in turns.iter().zip(&expected) {
        let metadata: Value = serde_json::from_str(record["metadata"].as_str().unwrap()).unwrap();
        assert_eq!((&metadata["id"], &metadata["sample"], &metadata["turn"]), (id, sample, &json!(turn)));
        assert_eq!((&record["label"], &metadata["off_policy"]), (&json!(good), &json!(true)));
        assert_eq!(record["prompt"].as_array().unwrap().len(), *turn);
        let completion = record["completion"].as_array().unwrap();
        assert!(completion.len() == 1 && completion[0]["role"] == "assistant", "{record}");
    }
    assert!(expected.iter().any(|(_, good)| *good) && expected.iter().any(|(_, good)| !good), "both labels are there");
}

#[sqlx::test(migrations = "../migrations")]
async fn groups_are_prompts_with_solve_rates(pool: PgPool) {
    let agent = Endpoint::start(|request| {
        let answers = request["messages"].as_array().unwrap().last().unwrap()["role"] == "tool";
        if answers && request["seed"].as_i64().unwrap() % 4 != 3 {
            says("I can not say.")
        } else {
            agent::help(request)
        }
    })
    .await;
    let run = sampled(&pool, &[(Role::Agent, agent.model())]).await;
    let (_, groups) = groups(&run).await;
    let lines = Toggles { data: Some(Data::Jsonl), ..Toggles::default() };
    let (part, prompts) = exported(&run, Profile::VerlGroups, lines).await;
    assert_eq!((prompts.len(), part.groups.unwrap().groups), (GROUPS, 4));
    for (prompt, group) in prompts.iter().zip(&groups) {
        let extra = &prompt["extra_info"];
        assert_eq!(extra["id"], group["group_id"]);
        for figure in ["solve_rate", "reward_std", "samples", "scored", "dead", "split"] {
            assert_eq!(extra[figure], group[figure], "{figure}");
        }
        let roles: Vec<&Value> = prompt["prompt"].as_array().unwrap().iter().map(|message| &message["role"]).collect();
        assert_eq!(roles, [&json!("system"), &json!("user")]);
        let truth: Value = serde_json::from_str(prompt["reward_model"]["ground_truth"].as_str().unwrap()).unwrap();
        assert_eq!(truth["calls"].is_array(), group["solve_rate"].as_f64().unwrap() > 0.0, "{truth}");
    }
}
