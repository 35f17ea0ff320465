//! Runs, played and looked at.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use ::projects::library::Library;
use datasets::export::{Choice, WrittenRows, write_jsonl};
use domain::api::RunState;
use domain::event::{Event, EventKind};
use domain::outcome::{Blame, Outcome};
use domain::playbook::UserStyle;
use domain::role::Role;
use generation::Player;
use generation::plan::RunConfig;
use generation::run::{self, Terms};
use generation::{ConversationRun, Conversations};
use llm::{EndpointOptions, ModelSpec};
use runtime::ModelClients;
use runtime::Options;
use serde_json::Value;
use sqlx::PgPool;
use sqlx::postgres::PgPoolOptions;
use store::claims::ClaimRequest;
use store::conversations::{self, PlannedConversation};
use store::runs::Run;
use store::{events, projects, runs};
use tokio_util::sync::CancellationToken;

use super::library;

/// Needs no verification, two tools at once, one of them simulated by a model.
pub const HELP: &str = "help_card_abroad";
/// Ends with a terminal tool.
pub const HANDOVER: &str = "bereavement_handover";
/// Changes the world.
pub const TRANSFER: &str = "transfer_rent_to_payee";

/// A claim of so many conversations, of any run.
pub fn wanted(most: i32) -> ClaimRequest<'static> {
    ClaimRequest { kinds: &["conversations"], most, ..ClaimRequest::default() }
}

/// After how long a silence others take over.
pub const LEASE: Duration = Duration::from_secs(15);

/// As in life, but for waits.
pub fn hasty() -> EndpointOptions {
    let ms = Duration::from_millis;
    EndpointOptions {
        max_attempts: 3,
        backoff: ms(1),
        max_retry_after: ms(5),
        patience: ms(50),
        ..EndpointOptions::default()
    }
}

/// Plays a run to its end, so many conversations at once.
pub async fn play_all(run: ConversationRun, concurrency: usize) -> Arc<ConversationRun> {
    let run = Arc::new(run);
    player(&run, concurrency).play(&CancellationToken::new()).await.unwrap();
    run
}

/// A player of this run alone.
pub fn player(run: &Arc<ConversationRun>, concurrency: usize) -> Player {
    let options = Options {
        concurrency,
        only: Some(run.control.run.id),
        poll: Duration::from_millis(100),
        drain: Duration::ZERO,
        ..Options::default()
    };
    let player = Player::new(run.control.pool.clone(), ModelClients::new(hasty()), options);
    player.know(Arc::clone(run));
    player
}

/// The run as another process finds it, with connections of its own.
pub async fn elsewhere(run: &ConversationRun) -> Arc<ConversationRun> {
    let pool = PgPoolOptions::new().connect_with((*run.control.pool.connect_options()).clone()).await.unwrap();
    Arc::new(ConversationRun::load(&pool, run.control.run.id, &ModelClients::new(hasty())).await.unwrap())
}

/// A stored run in which these models play some of the roles and `scripted` the others.
pub async fn planned(
    pool: &PgPool,
    scenarios: &[&str],
    n: usize,
    seed: i64,
    models: &[(Role, String)],
) -> ConversationRun {
    planned_as(pool, scenarios, n, seed, models, |_| {}).await
}

/// Like [`planned`], with a configuration of its own.
pub async fn planned_as(
    pool: &PgPool,
    scenarios: &[&str],
    n: usize,
    seed: i64,
    models: &[(Role, String)],
    configure: impl FnOnce(&mut RunConfig),
) -> ConversationRun {
    planned_of(pool, (library(), "retail_bank"), scenarios, n, seed, models, configure).await
}

/// Like [`planned_as`], of a playbook of other documents.
pub async fn planned_of(
    pool: &PgPool,
    (library, playbook): (Arc<Library>, &str),
    scenarios: &[&str],
    n: usize,
    seed: i64,
    models: &[(Role, String)],
    configure: impl FnOnce(&mut RunConfig),
) -> ConversationRun {
    let mut bound: BTreeMap<Role, ModelSpec> = Role::ALL.map(|role| (role, ModelSpec::Scripted)).into();
    bound.extend(models.iter().map(|(role, model)| (*role, model.parse().unwrap())));
    let mut config = RunConfig {
        models: bound,
        panel: Vec::new(),
        retries: 0,
        temperatures: BTreeMap::new(),
        max_tokens: BTreeMap::new(),
        agent_style: None,
        user_style: UserStyle::Text,
        variant: None,
        sub_agents: BTreeMap::new(),
        branch_of: None,
        forecast: None,
        idle_seconds: None,
        environment_budget: None,
        branches: false,
        faults: Vec::new(),
        services: BTreeMap::new(),
        scenarios: scenarios.iter().map(|id| (*id).to_owned()).collect(),
        personas: library.profiles.keys().cloned().collect(),
        complexity: BTreeMap::new(),
        samples: NonZeroU32::MIN,
        pools: Vec::new(),
        pipelining: true,
        criteria_apart: false,
        out: "rows.jsonl".to_owned(),
    };
    configure(&mut config);
    run::check(&library, &config, seed).unwrap();
    let terms =
        Terms { playbook: playbook.to_owned(), seed, planned: n, project: projects::DEFAULT, ..Terms::default() };
    let run = stored(pool, &library, &config, terms).await.unwrap();
    let kind = Conversations::new(library, config, &ModelClients::new(hasty())).unwrap();
    ConversationRun::new(pool, run, kind)
}

/// A run that is stored, or nothing.
pub async fn stored(pool: &PgPool, library: &Library, config: &RunConfig, terms: Terms) -> anyhow::Result<Run> {
    let mut tx = pool.begin().await?;
    let run = run::insert(&mut tx, library, config, terms).await?;
    tx.commit().await?;
    Ok(run)
}

/// A run played to its end.
pub async fn played(
    pool: &PgPool,
    scenarios: &[&str],
    n: usize,
    seed: i64,
    models: &[(Role, String)],
) -> Arc<ConversationRun> {
    play_all(planned(pool, scenarios, n, seed, models).await, 4).await
}

/// Events of the turns of the agent under test, in order.
pub fn agent_turns(events: &[Event]) -> Vec<u32> {
    events.iter().filter(|event| event.whose_turn() == Some(Role::Agent)).map(|event| event.seq).collect()
}

/// A conversation that has ended.
pub struct Story {
    pub planned: PlannedConversation,
    pub events: Vec<Event>,
    pub outcome: Outcome,
}

impl Story {
    #[track_caller]
    pub fn assert_failed(&self, by: Blame, because: &str) {
        let Outcome::Failed { blame, reason } = &self.outcome else { panic!("{because}: it was accepted") };
        assert_eq!(*blame, by, "{reason}");
        assert!(reason.contains(because), "expected `{because}` in `{reason}`");
    }
}

/// All conversations of a run, which must all have ended, each with its events in order and without gaps.
pub async fn stories(player: &ConversationRun) -> Vec<Story> {
    let mut db = player.control.pool.acquire().await.unwrap();
    let state = runs::state_of(&mut db, player.control.run.id).await.unwrap();
    assert_eq!(state, Some(RunState::Finished), "the run did not go on");
    let mut stories = Vec::new();
    for planned in conversations::finished(&mut db, player.control.run.id).await.unwrap() {
        let events = events::of::<Event>(&mut db, planned.id).await.unwrap();
        let seqs: Vec<usize> = events.iter().map(|e| e.seq as usize).collect();
        assert_eq!(seqs, (0..events.len()).collect::<Vec<_>>());
        let (_, summary) = conversations::get(&mut db, planned.id).await.unwrap().unwrap();
        stories.push(Story { planned, events, outcome: summary.outcome.unwrap() });
    }
    stories
}

/// The connections by which players hear of changes of runs.
pub async fn listeners(pool: &PgPool) -> Vec<i32> {
    let listening = "SELECT pid FROM pg_stat_activity
                     WHERE datname = current_database() AND query LIKE 'LISTEN%' AND pid <> pg_backend_pid()";
    sqlx::query_scalar(listening).fetch_all(pool).await.unwrap()
}

/// How often the agent was heard in a run.
pub async fn heard(run: &ConversationRun) -> usize {
    let spoke = |event: &&Event| matches!(event.kind, EventKind::AgentSpoke { .. });
    stories(run).await.iter().map(|story| story.events.iter().filter(spoke).count()).sum()
}

/// What an export writes, and the text of the file.
pub async fn exported(player: &ConversationRun, all: bool) -> (WrittenRows, String) {
    exported_rows(player, Choice::to_imitate(all, false)).await
}

pub async fn exported_rows(player: &ConversationRun, choice: Choice) -> (WrittenRows, String) {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("rows.jsonl");
    let written =
        write_jsonl(&player.control.pool, &player.control.run, &player.kind.config, &player.kind.library, &out, choice)
            .await
            .unwrap();
    (written, std::fs::read_to_string(out).unwrap())
}

pub async fn rows(player: &ConversationRun) -> Vec<Value> {
    let (_, text) = exported(player, false).await;
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The export without what is given to a run from outside: ids and the time.
pub async fn timeless(player: &ConversationRun) -> String {
    let (_, text) = exported(player, true).await;
    let mut lines = Vec::new();
    for line in text.lines() {
        let mut row: Value = serde_json::from_str(line).unwrap();
        let metadata = row["metadata"].as_object_mut().unwrap();
        for key in ["id", "run_id", "created_at"] {
            metadata.shift_remove(key).unwrap();
        }
        lines.push(row.to_string());
    }
    lines.join("\n")
}

/// A run as another process takes it up.
pub async fn taken_up(run: &ConversationRun) -> ConversationRun {
    ConversationRun::load(&run.control.pool, run.control.run.id, &ModelClients::new(hasty())).await.unwrap()
}
