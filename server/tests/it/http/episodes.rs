//! /api/v1/projects/{project}/episodes and /api/v1/episodes/{episode}.

mod closing;
mod endpoints;
mod kinds;
mod left;
mod mcp;
mod opening;
mod own_player;
mod tokens;

use domain::access::{Role, Scope};
use domain::api::episodes::{Episode, EpisodeState};
use domain::api::groups::{GroupsSummary, RunGroup};
use domain::api::{ConversationFacets, Page, RunState, RunSummary};
use domain::budget::Budget;
use domain::corpus::Report;
use domain::event::{Event, EventKind};
use domain::message::Message;
use domain::outcome::Blame;
use domain::reward::Penalties;
use llm::Registry;
use projects::archive::pack;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use sqlx::PgPool;
use store::{control, events, outside_requests};
use uuid::Uuid;

use super::answers::player;
use super::archive::put;
use super::{TestApp, somebody, token};
use crate::support::documents::{few, scenario};
use crate::support::play::{HELP, TRANSFER, played};
use crate::support::{ledger, library, until};

const EPISODES: &str = "/api/v1/projects/default/episodes";
pub const SEED: i64 = 4;

/// The app with a small project.
pub async fn filled(pool: &PgPool) -> TestApp {
    filled_with(pool, Registry::default()).await
}

/// And with models that environments may name.
pub async fn filled_with(pool: &PgPool, models: Registry) -> TestApp {
    let app = TestApp::with_models(pool, models).await;
    let (all, mut files) = (library(), few());
    let (path, text) = all.files.iter().find(|(path, _)| **path == scenario(TRANSFER)).unwrap();
    files.insert(path, text.clone());
    let _: Value = put(&app, "", pack(&files).unwrap(), StatusCode::OK).await;
    app
}

/// What the script says in a scenario, played as a run: its events.
pub async fn scripted(pool: &PgPool, id: &str) -> Vec<Event> {
    let run = played(pool, &[id], 1, SEED, &[]).await.control.run.id;
    let task = sqlx::query_scalar("SELECT id FROM tasks WHERE run_id = $1").bind(run).fetch_one(pool).await.unwrap();
    events_of(pool, task).await
}

pub async fn events_of(pool: &PgPool, id: Uuid) -> Vec<Event> {
    events::of(&mut pool.acquire().await.unwrap(), id).await.unwrap()
}

/// What the agent said in these events, and not its sub-agents.
pub fn words(events: &[Event]) -> Vec<Value> {
    let said = |event: &Event| match &event.kind {
        EventKind::AgentSpoke { content, reasoning, tool_calls, .. } => Some(
            json!({"role": "assistant", "content": content, "reasoning_content": reasoning, "tool_calls": tool_calls}),
        ),
        _ => None,
    };
    events.iter().filter(|event| event.ancestry.is_empty()).filter_map(said).collect()
}

fn of(scenario: &str) -> Value {
    json!({"environment": {"playbooks": ["retail_bank"], "seed": SEED}, "scenario": scenario, "group": 0})
}

async fn opened(app: &TestApp, body: &Value) -> Episode {
    app.post::<Vec<Episode>>(EPISODES, body).await.remove(0)
}

fn at(episode: &Episode, below: &str) -> String {
    format!("/api/v1/episodes/{}{below}", episode.id)
}

/// Says it all: the episode after the last word.
async fn say(app: &TestApp, episode: &Episode, words: Vec<Value>) -> Episode {
    let mut now = episode.clone();
    for mut message in words {
        assert_eq!(now.state, EpisodeState::Waiting, "{now:?}");
        message["turn"] = json!(now.turn);
        now = app.post(&at(episode, "/messages"), &message).await;
    }
    now
}

#[sqlx::test(migrations = "../migrations")]
async fn the_same_words_make_the_same_conversation_as_in_a_run(pool: PgPool) {
    let app = filled(&pool).await;
    let runner = app.member(Role::Runner).await;
    let _player = player(&pool, 4);
    for scenario in [HELP, TRANSFER] {
        let (expected, app) = (scripted(&pool, scenario).await, &runner);
        let episode = opened(app, &of(scenario)).await;
        assert_eq!((episode.scenario.as_str(), episode.group, episode.skipped), (scenario, 0, 0));
        assert!(matches!(&episode.messages[..], [Message::System { .. }, Message::User { .. }]), "{episode:?}");
        assert!(!episode.tools.is_empty());
        let last = say(app, &episode, words(&expected)).await;
        assert_eq!((last.state, last.turn), (EpisodeState::Ended, None), "{last:?}");
        let result = last.result.unwrap();
        assert_eq!(
            (result.reward, result.blame, result.penalties),
            (Some(1), None, Penalties::default()),
            "{result:?}"
        );
        assert!(result.reward_components.values().all(|share| *share >= 1.0), "{result:?}");
        assert_eq!(events_of(&pool, episode.id.parse().unwrap()).await, expected, "{scenario}");
        let whole: Episode = app.json(&at(&episode, "")).await;
        let later: Episode = app.json(&at(&episode, "?skip=1")).await;
        assert_eq!((later.skipped, &later.messages[..]), (1, &whole.messages[1..]));
    }
    // What ended is data like any other, and nothing is lost when the run is closed.
    let runs: Page<RunSummary> = app.json("/api/v1/projects/default/runs").await;
    let run = runs.items.iter().find(|run| run.kind == "episodes").unwrap();
    assert_eq!((run.planned, run.accepted, run.state), (2, 2, RunState::Running), "both share a run");
    let id: Uuid = run.id.parse().unwrap();
    control::cancel(&mut pool.acquire().await.unwrap(), id).await.unwrap();
    ledger::check(&pool, id).await;
}

#[sqlx::test(migrations = "../migrations")]
async fn an_answer_shows_what_followed_the_message(pool: PgPool) {
    let app = filled(&pool).await;
    let _player = player(&pool, 4);
    let episode = opened(&app, &of(HELP)).await;
    let call = json!({"id": "mine", "type": "function", "function": {"name": "no_such_tool", "arguments": "{}"}});
    let broken = json!({"function": {"name": "find_customer", "arguments": "{\"name\": "}});
    let message = json!({"role": "assistant", "content": null, "tool_calls": [call, broken], "refusal": null});
    let next: Episode = app.post(&at(&episode, "/messages"), &message).await;
    let [Message::Assistant { tool_calls, .. }, Message::Tool { tool_call_id, content }, Message::Tool { .. }] =
        &next.messages[..]
    else {
        panic!("{next:?}")
    };
    assert_eq!((next.skipped, &tool_calls[0].id), (2, tool_call_id), "calls have ids of their own");
    assert!(content.contains("no_such_tool"), "{content}");
    // Nothing said and nothing called: the agent is told, and its turn goes on.
    let empty: Episode = app.post(&at(&episode, "/messages"), &json!({"content": ""})).await;
    assert_eq!((empty.state, empty.messages.len()), (EpisodeState::Waiting, 0));
    assert!(empty.refused.unwrap().contains("empty"));
    let ended: Episode = app.post(&at(&episode, "/verify"), &json!({})).await;
    let result = ended.result.unwrap();
    assert_eq!(
        (result.reward, result.blame, result.penalties.malformed_calls),
        (Some(0), Some(Blame::Agent), 2),
        "{result:?}"
    );
    assert_eq!(result.ending.as_deref(), Some("agent_ended"));
    let again: Episode = app.post(&at(&episode, "/verify"), &json!({})).await;
    assert_eq!(again.result.unwrap(), result, "it is as it was");
}

#[sqlx::test(migrations = "../migrations")]
async fn samples_of_a_group_meet_the_same_user_and_world(pool: PgPool) {
    let app = filled(&pool).await;
    let _player = player(&pool, 8);
    let mut order = of(TRANSFER);
    order["samples"] = json!(3);
    let group: Vec<Episode> = app.post(EPISODES, &order).await;
    assert_eq!(group.len(), 3);
    assert!(group.iter().all(|one| one.messages == group[0].messages && one.group == 0 && one.run == group[0].run));
    // A group of its own, of the next scenario.
    let next = json!({"environment": {"playbooks": ["retail_bank"], "seed": SEED}});
    let (one, other) = (opened(&app, &next).await, opened(&app, &next).await);
    assert_eq!((one.group, other.group), (1_000_003, 1_000_004), "a number that no client gives");
    assert_ne!(one.scenario, other.scenario);
}

#[sqlx::test(migrations = "../migrations")]
async fn families_are_in_one_part(pool: PgPool) {
    let app = filled(&pool).await;
    let scenarios = async |split: &str| -> Vec<String> {
        let order = json!({"environment": {"playbooks": ["retail_bank"], "split": split}, "samples": 65});
        let run = opened(&app, &order).await.run;
        let config: Value = app.json(&format!("/api/v1/runs/{run}/config")).await;
        serde_json::from_value(config["config"]["scenarios"].clone()).unwrap()
    };
    let (train, golden) = (scenarios("train").await, scenarios("golden").await);
    assert!(!train.is_empty() && !golden.is_empty());
    assert!(train.iter().all(|id| !golden.contains(id)), "{train:?} {golden:?}");
}

#[sqlx::test(migrations = "../migrations")]
async fn what_cannot_be_said_changes_nothing(pool: PgPool) {
    let app = filled(&pool).await;
    let _player = player(&pool, 4);
    let episode = opened(&app, &of(HELP)).await;
    let messages = at(&episode, "/messages");
    let refused = async |app: &TestApp, body: &Value| {
        let (status, problem) = app.send(Method::POST, &messages, body).await;
        (status, problem["detail"].as_str().unwrap_or_default().to_owned())
    };
    let (status, detail) = refused(&app, &json!({"turn": 99, "content": "Hello."})).await;
    assert_eq!(status, StatusCode::CONFLICT);
    assert_eq!(detail, format!("turn 99 has not come yet; the agent's turn is {}", episode.turn.unwrap()));
    let result = json!({"role": "tool", "content": "{}"});
    let wrong_call = json!({"tool_calls": [{"function": {"name": "x"}}]});
    for body in [json!({"content": 1}), wrong_call, json!("x"), json!([]), json!([null, "hello"]), result] {
        assert_eq!(refused(&app, &body).await.0, StatusCode::UNPROCESSABLE_ENTITY, "{body}");
    }
    let calls = vec![json!({"function": {"name": "x", "arguments": "{}"}}); 201];
    assert_eq!(refused(&app, &json!({"tool_calls": calls})).await.0, StatusCode::UNPROCESSABLE_ENTITY);
    let text = app.request(Method::POST, &messages).header("content-type", "application/json").body("{\"content\": ");
    assert_eq!(text.send().await.unwrap().status(), StatusCode::BAD_REQUEST);
    let long = json!({"content": "x".repeat(2 << 20)});
    assert_eq!(refused(&app, &long).await.0, StatusCode::PAYLOAD_TOO_LARGE);
    // Only who may run may speak, and others of the project only look.
    let reader = somebody(&pool, "looks", true).await;
    let reader = app.with_token(token(&pool, reader, &[Scope::Read]).await);
    assert_eq!(refused(&reader, &json!({"content": "Hello."})).await.0, StatusCode::FORBIDDEN);
    assert_eq!(reader.json::<Episode>(&at(&episode, "")).await, episode);
    assert_eq!(app.json::<Episode>(&at(&episode, "")).await, episode, "nothing was said");

    let [one, two] = ["One.", "Two."].map(|content| json!({"content": content}));
    let (one, other) = tokio::join!(refused(&app, &one), refused(&app, &two));
    let mut statuses = [one.0, other.0];
    statuses.sort();
    assert_eq!(statuses, [StatusCode::OK, StatusCode::CONFLICT], "{one:?} {other:?}");

    let closed = app.request(Method::DELETE, &at(&episode, "")).send().await.unwrap();
    assert_eq!(closed.status(), StatusCode::NO_CONTENT);
    let (status, detail) = refused(&app, &json!({"content": "Hello?"})).await;
    assert_eq!((status, detail.as_str()), (StatusCode::CONFLICT, "the episode has ended; open another one"));
    let ended: Episode = app.json(&at(&episode, "")).await;
    let result = ended.result.unwrap();
    assert_eq!((result.reward, result.blame), (None, Some(Blame::Infrastructure)), "{result:?}");
    let missing = app.get(&format!("/api/v1/episodes/{}", Uuid::nil())).await.status();
    assert_eq!(missing, StatusCode::NOT_FOUND);
}

#[sqlx::test(migrations = "../migrations")]
async fn orders_are_checked_before_anything_is_opened(pool: PgPool) {
    let app = filled(&pool).await;
    for (body, pointer) in [
        (json!({"scenario": "help_card_abroat"}), "/scenario"),
        (json!({"group": -1}), "/group"),
        (json!({"group": 1_000_000}), "/group"),
        (json!({"environment": {"split": "train"}, "split": "golden"}), "/split"),
        (json!({"samples": 0}), "/samples"),
        (json!({"samples": 1001}), "/samples"),
        (json!({"environment": {"playbooks": ["retail"]}}), "/environment/playbooks"),
        (json!({"environment": {"models": {"agent": "scripted"}}}), "/environment/models/agent"),
        (json!({"environment": {"models": {"judge": "http://x"}}}), "/environment/models/judge"),
        (json!({"environment": {"idle_seconds": 0}}), "/environment/idle_seconds"),
        (json!({"environment": {"corpus": Uuid::nil()}}), "/environment/split"),
        (json!({"environment": {"corpus": Uuid::nil(), "split": "golden"}}), "/environment/corpus"),
        (json!({"agent": {"url": "http://169.254.169.254/v1", "model": "m"}}), "/agent/url"),
        (json!({"agent": {"url": "http://127.0.0.1:1/v1", "model": "m@x"}}), "/agent/model"),
        (json!({"agent": {"url": "http://127.0.0.1:1/v1", "model": "m"}, "samples": 2}), "/samples"),
        (json!({"agent": {"url": "http://127.0.0.1:1/v1", "model": "m"}, "token": true}), "/token"),
    ] {
        let refused = app.refused(EPISODES, &body).await;
        assert_eq!(refused[0].0, pointer, "{body}: {refused:?}");
    }
    let runs: i64 = sqlx::query_scalar("SELECT count(*) FROM runs").fetch_one(&pool).await.unwrap();
    assert_eq!(runs, 0);
}

#[sqlx::test(migrations = "../migrations")]
async fn a_waiting_episode_is_a_row_and_outlives_its_player(pool: PgPool) {
    let app = filled(&pool).await;
    let first = player(&pool, 4);
    let episode = opened(&app, &of(HELP)).await;
    until("it leaves its player", async || {
        sqlx::query_scalar::<_, i64>("SELECT count(*) FROM claims").fetch_one(&pool).await.unwrap() == 0
    })
    .await;
    drop(first);
    until("the player has gone", async || {
        sqlx::query_scalar::<_, i64>("SELECT count(*) FROM players WHERE plays").fetch_one(&pool).await.unwrap() == 0
    })
    .await;
    let (said, _second) = tokio::join!(
        async { app.post::<Episode>(&at(&episode, "/messages"), &json!({"content": "Good day."})).await },
        async {
            until("it may be claimed again", async || {
                sqlx::query_scalar::<_, i64>("SELECT count(*) FROM claims").fetch_one(&pool).await.unwrap() == 1
            })
            .await;
            player(&pool, 4)
        },
    );
    assert_eq!(said.state, EpisodeState::Waiting, "{said:?}");
    assert!(matches!(&said.messages[..], [Message::Assistant { .. }, Message::User { .. }]), "{said:?}");
}

#[sqlx::test(migrations = "../migrations")]
async fn an_agent_that_says_nothing_is_given_up(pool: PgPool) {
    let app = filled(&pool).await;
    let _player = player(&pool, 4);
    let mut order = of(HELP);
    order["environment"]["idle_seconds"] = json!(1);
    order["samples"] = json!(3);
    let group: Vec<Episode> = app.post(EPISODES, &order).await;
    until("nobody waits for them any more", async || {
        outside_requests::expire(&mut pool.acquire().await.unwrap()).await.unwrap();
        sqlx::query_scalar::<_, i64>("SELECT count(*) FROM tasks WHERE outcome IS NULL").fetch_one(&pool).await.unwrap()
            == 0
    })
    .await;
    for episode in group {
        let ended: Episode = app.json(&at(&episode, "")).await;
        let result = ended.result.unwrap();
        assert_eq!((result.reward, result.blame), (None, Some(Blame::Infrastructure)));
        assert_eq!(result.reason.as_deref(), Some("nobody answered within 1 seconds"));
    }
    let left: i64 = sqlx::query_scalar("SELECT count(*) FROM requests").fetch_one(&pool).await.unwrap();
    assert_eq!(left, 0);
}

#[sqlx::test(migrations = "../migrations")]
async fn a_paused_run_keeps_its_episodes(pool: PgPool) {
    let expected = scripted(&pool, TRANSFER).await;
    let app = filled(&pool).await;
    let _player = player(&pool, 4);
    let episode = opened(&app, &of(TRANSFER)).await;
    let (run, mut db): (Uuid, _) = (episode.run.parse().unwrap(), pool.acquire().await.unwrap());
    control::pause(&mut db, run, Some("lunch")).await.unwrap();
    let waited = app.get(&at(&episode, "?wait=1")).await;
    assert_eq!(waited.status(), StatusCode::CONFLICT);
    let problem: Value = waited.json().await.unwrap();
    assert!(problem["detail"].as_str().unwrap().contains("paused: lunch; resume it first"), "{problem}");
    let said = app.request(Method::POST, &at(&episode, "/messages")).json(&json!({"content": "Hello"})).send().await;
    assert_eq!(said.unwrap().status(), StatusCode::CONFLICT);
    let shown: Episode = app.json(&at(&episode, "")).await;
    assert_eq!(shown.messages, episode.messages);

    // Nobody could answer in this time.
    sqlx::query("UPDATE requests SET created_at = now() - interval '1 hour', expires_at = now() - interval '1 minute'")
        .execute(&pool)
        .await
        .unwrap();
    assert_eq!(outside_requests::expire(&mut db).await.unwrap(), 0);
    control::resume(&mut db, run).await.unwrap();
    assert_eq!(outside_requests::expire(&mut db).await.unwrap(), 0);
    assert_eq!(say(&app, &episode, words(&expected)).await.result.unwrap().reward, Some(1));
    let again = control::retry_failed(&mut db, run).await.unwrap_err();
    assert!(again.to_string().contains("nothing of a run of episodes is played again"), "{again}");
}

#[sqlx::test(migrations = "../migrations")]
async fn the_caps_of_an_environment_are_those_of_all_its_episodes(pool: PgPool) {
    let app = filled(&pool).await;
    let _player = player(&pool, 4);
    let mut order = of(HELP);
    order["environment"]["budget"] = json!({"conversations": 2, "tokens": 1_000});
    let first = opened(&app, &order).await;
    // As a player pauses it when a cap is reached.
    let run: Uuid = first.run.parse().unwrap();
    let mut db = pool.acquire().await.unwrap();
    control::pause(&mut db, run, Some("the budget of tokens is used up")).await.unwrap();
    let refused = async || {
        let (status, problem) = app.send(Method::POST, EPISODES, &order).await;
        assert_eq!(status, StatusCode::CONFLICT);
        problem["detail"].as_str().unwrap().to_owned()
    };
    let why = "the run of this environment is paused: the budget of tokens is used up; resume it first";
    assert_eq!(refused().await, why);
    control::resume(&mut db, run).await.unwrap();
    assert_eq!(opened(&app, &order).await.run, first.run);
    assert!(refused().await.contains("its budget of conversations is used up"));
    // If the budget of the run is raised, the same environment goes on in the same run.
    let raised = Budget { conversations: Some(3), ..Budget::default() };
    control::set_budget(&mut db, run, &raised).await.unwrap();
    assert_eq!(opened(&app, &order).await.run, first.run);
    assert!(refused().await.contains("its budget of conversations is used up"));

    // A cancelled run has no episodes that anybody waits for, and the next one begins another.
    let _: RunSummary = app.post(&format!("/api/v1/runs/{}/cancel", first.run), &json!({})).await;
    let ended: Episode = app.json(&at(&first, "?wait=1")).await;
    let result = ended.result.unwrap();
    assert_eq!((ended.state, result.reward, result.blame), (EpisodeState::Ended, None, Some(Blame::Infrastructure)));
    assert_eq!(result.reason.as_deref(), Some("its run was cancelled"));
    let closed = app.request(Method::DELETE, &at(&first, "")).send().await.unwrap();
    assert_eq!(closed.status(), StatusCode::NO_CONTENT);
    assert_ne!(opened(&app, &order).await.run, first.run);
}

#[sqlx::test(migrations = "../migrations")]
async fn groups_tell_rewards_and_select_what_is_played_next(pool: PgPool) {
    let expected = scripted(&pool, TRANSFER).await;
    let app = filled(&pool).await;
    let _player = player(&pool, 8);
    let mut order = of(TRANSFER);
    order["samples"] = json!(4);
    let group: Vec<Episode> = app.post(EPISODES, &order).await;
    let [good, bad, gone, open] = &group[..] else { panic!() };
    say(&app, good, words(&expected)).await;
    let _: Episode = app.post(&at(bad, "/verify"), &json!({})).await;
    app.request(Method::DELETE, &at(gone, "")).send().await.unwrap();
    let groups = format!("/api/v1/runs/{}/groups", open.run);
    let listed: Page<RunGroup> = app.json(&groups).await;
    let [found] = &listed.items[..] else { panic!("{listed:?}") };
    let rewards: Vec<Option<u8>> = found.samples.iter().map(|sample| sample.reward).collect();
    assert_eq!(rewards, [Some(1), Some(0), None, None]);
    assert_eq!((found.scored, found.solve_rate, found.dead), (2, Some(0.5), false));
    let summary: GroupsSummary = app.json(&format!("{groups}/summary")).await;
    assert_eq!((summary.groups, summary.finished, summary.scored, summary.unscored), (1, 0, 2, 1));
    let ended: Episode = app.post(&at(open, "/verify"), &json!({})).await;
    assert_eq!(ended.state, EpisodeState::Ended, "{ended:?}");
    // What was read a moment ago is not read again at once.
    let summary_of = async || app.json::<GroupsSummary>(&format!("{groups}/summary")).await;
    until("all have ended", async || summary_of().await.finished == 1).await;
    let summary = summary_of().await;
    let spread = (summary.finished, summary.dead, summary.spread[3]);
    assert_eq!(spread, (1, 0, 1), "one of three, from 30 to 40 %: {summary:?}");
    for (query, count) in [("min_solve_rate=0.5", 0), ("max_solve_rate=0.5", 1), ("dead=true", 0), ("dead=false", 1)] {
        let listed: Page<RunGroup> = app.json(&format!("{groups}?{query}")).await;
        assert_eq!(listed.items.len(), count, "{query}");
    }
    let missing = app.get(&format!("{groups}?min_solve_rate=2")).await.status();
    assert_eq!(missing, StatusCode::BAD_REQUEST);

    let runs = "/api/v1/projects/default/runs";
    let order =
        |min: f64, max: f64| json!({"n": 2, "paused": true, "solve_rates": {"run": open.run, "min": min, "max": max}});
    let preview: Value = app.post(&format!("{runs}/preview"), &order(0.2, 0.8)).await;
    assert_eq!(preview["scenarios"], json!([TRANSFER]));
    let refused = app.refused(runs, &order(0.9, 1.0)).await;
    assert_eq!(refused[0].0, "/solve_rates");
    let refused = app.refused(runs, &order(-1.0, 1.0)).await;
    assert_eq!(refused[0].0, "/solve_rates/min");

    // One of three with a reward; a corpus reads the same from the database.
    let outcomes = ["accepted", "failed"];
    for (bound, rate, found) in
        [("min_solve_rate", 0.3, 4), ("min_solve_rate", 0.4, 0), ("max_solve_rate", 0.3, 0), ("max_solve_rate", 0.4, 4)]
    {
        let report: Report = app
            .post(
                "/api/v1/projects/default/corpora/preview",
                &json!({"filter": {"runs": [open.run], "outcomes": outcomes, bound: rate}}),
            )
            .await;
        assert_eq!(report.found, found, "{bound} {rate}");
        let facets = format!("/api/v1/runs/{}/conversations/facets?{bound}={rate}", open.run);
        assert_eq!(app.json::<ConversationFacets>(&facets).await.matching, found, "{bound} {rate}");
    }
}
