//! Episodes: conversations whose agent is outside. Each is added to its run when somebody asks for it, and waits for its agent as
//! a row.

use std::collections::HashMap;
use std::sync::Arc;

use domain::api::RunState;
use domain::outcome::{Blame, Outcome};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use sqlx::PgConnection;
use uuid::Uuid;

use super::conversations::{self, PlannedConversation};
use super::{BadRow, Result, claims, events, runs};

/// Until the transaction ends nobody else looks for a run of episodes of the project, to make one if there is none.
pub async fn lock_runs(db: &mut PgConnection, project: Uuid) -> Result<()> {
    let (high, low) = project.as_u64_pair();
    sqlx::query!("SELECT pg_advisory_xact_lock($1)", (high ^ low).cast_signed()).fetch_one(db).await?;
    Ok(())
}

/// The newest run of episodes that plays these documents in this way, also if it is paused: its caps are those of all its episodes.
pub async fn open_run(
    db: &mut PgConnection,
    project: Uuid,
    library: &str,
    seed: i64,
    spec: &Value,
) -> Result<Option<Uuid>> {
    let run = sqlx::query_scalar!(
        "SELECT id FROM runs WHERE project_id = $1 AND kind = $2 AND library = $3 AND seed = $4 AND spec = $5
             AND state <> 'cancelled' AND finished_at IS NULL ORDER BY created_at DESC LIMIT 1",
        project,
        runs::EPISODES,
        library,
        seed,
        spec
    );
    Ok(run.fetch_optional(db).await?)
}

/// Adds `n` positions to a run: the first of them. `None` if the run takes no more.
pub async fn reserve(db: &mut PgConnection, run: Uuid, n: i32) -> Result<Option<i32>> {
    let first = sqlx::query_scalar!(
        r#"UPDATE runs SET planned = planned + $2::int, next_position = next_position + $2::int,
               started_at = coalesce(started_at, now())
           WHERE id = $1 AND kind = $3 AND state = 'running' AND finished_at IS NULL
               AND planned::bigint + $2::int <= coalesce((budget ->> 'conversations')::bigint, 2000000000)
           RETURNING planned - $2::int AS "first!""#,
        run,
        n,
        runs::EPISODES
    );
    Ok(first.fetch_optional(db).await?)
}

/// Why a run of episodes takes no more, if it is paused.
pub async fn paused_because(db: &mut PgConnection, run: Uuid) -> Result<Option<String>> {
    let found = sqlx::query_scalar!(
        r#"SELECT coalesce(paused_because, 'somebody paused it') AS "why!" FROM runs WHERE id = $1 AND state = 'paused'"#,
        run
    );
    Ok(found.fetch_optional(db).await?)
}

/// Begins episodes at positions that are reserved, each with the hash of its world.
pub async fn insert(db: &mut PgConnection, run: Uuid, new: &[(PlannedConversation, String)]) -> Result<()> {
    let column = |of: fn(&PlannedConversation) -> String| new.iter().map(|(one, _)| of(one)).collect::<Vec<_>>();
    let numbers = |of: fn(&PlannedConversation) -> i32| new.iter().map(|(one, _)| of(one)).collect::<Vec<_>>();
    sqlx::query!(
        "WITH new AS (
             SELECT * FROM unnest($2::uuid[], $3::int[], $4::text[], $5::int[], $6::text[], $7::text[], $8::text[])
                 AS new (id, position, scenario, repeat, persona, complexity, world)
         ), begun AS (
             INSERT INTO tasks (id, run_id, kind, position, scenario, repeat, persona, complexity, world, attempt)
             SELECT id, $1, 'conversation', position, scenario, repeat, persona, complexity, world, 1 FROM new
         ), claimable AS (
             INSERT INTO claims (run_id, first_position, last_position) SELECT $1, position, position FROM new
         ) SELECT pg_notify($9, $1::text)",
        run,
        &new.iter().map(|(one, _)| one.id).collect::<Vec<_>>(),
        &numbers(|one| one.position),
        &column(|one| one.scenario.clone()),
        &numbers(|one| one.repeat),
        &column(|one| one.persona.clone()),
        &column(|one| one.complexity.clone()),
        &new.iter().map(|(_, world)| world.clone()).collect::<Vec<_>>(),
        claims::CHANNEL
    )
    .fetch_one(db)
    .await?;
    Ok(())
}

/// Where an episode stands.
#[derive(Debug, Clone)]
pub struct Episode {
    pub run: Uuid,
    pub planned: PlannedConversation,
    /// What it waits for, if it waits for its agent.
    pub waiting: Option<AgentRequest>,
    /// Whether a server asks an endpoint for its agent's turns, or will.
    pub by_endpoint: bool,
    /// `None` while it is played.
    pub outcome: Option<Outcome>,
    pub run_state: RunState,
    pub paused_because: Option<String>,
    /// `None` if they were not asked for.
    pub events: Option<NewEvents>,
}

impl Episode {
    /// One that begins.
    pub fn new(run: Uuid, planned: PlannedConversation) -> Self {
        Self {
            run,
            planned,
            waiting: None,
            by_endpoint: false,
            outcome: None,
            run_state: RunState::Running,
            paused_because: None,
            events: None,
        }
    }
}

/// The events of an episode after one, as they were when the rest of it was read.
#[derive(Debug, Clone)]
pub struct NewEvents {
    /// All from the first one on after -1.
    pub after: i32,
    encoded: Arc<[String]>,
}

impl NewEvents {
    /// Events as JSON, the first of them right after `after`.
    pub fn new(after: i32, encoded: impl IntoIterator<Item = String>) -> Self {
        Self { after, encoded: encoded.into_iter().collect() }
    }

    /// # Errors
    /// They are no events of this type.
    pub fn read<E: DeserializeOwned>(&self, task: Uuid) -> Result<Vec<E>> {
        self.encoded.iter().map(|event| events::read(task, event)).collect()
    }
}

/// The turn of an agent that is waited for, as the body of its request says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct AgentRequest {
    /// The event that the turn will be.
    pub turn: u32,
    /// The reward if the agent ended the episode instead; `None`: somebody else has spoiled it.
    pub reward_if_ended: Option<u8>,
}

/// An episode, and the number of the event after which its events are read, too; `None`: none of them.
pub type EpisodeQuery = (Uuid, Option<i32>);

/// Where episodes stand. Those that are not there are left out.
pub async fn get_all(db: &mut PgConnection, wanted: &[EpisodeQuery]) -> Result<HashMap<EpisodeQuery, Episode>> {
    let (ids, after): (Vec<Uuid>, Vec<Option<i32>>) = wanted.iter().copied().unzip();
    // By `answered_at`, which is null when the answer is: PostgreSQL would else read the index of all that is open, with what was
    // answered since it was vacuumed.
    let rows = sqlx::query!(
        r#"SELECT wanted.task AS "id!", wanted.after_seq, run_id AS "run_id!", position AS "position!", scenario AS "scenario!",
                  repeat AS "repeat!", persona AS "persona!", complexity AS "complexity!", attempt AS "attempt!", outcome, blame,
                  reason, state AS "state!", paused_because, open.task_id IS NOT NULL AS "waits!",
                  (open.body ->> 'turn')::bigint AS turn, (open.body ->> 'reward_if_ended')::smallint AS reward,
                  EXISTS (SELECT FROM endpoint_agents AS agent WHERE agent.task_id = tasks.id
                          AND (endpoint IS NOT NULL OR leased_until > now())) AS "by_endpoint!",
                  ARRAY(SELECT event::text FROM events WHERE events.task_id = tasks.id AND seq > wanted.after_seq
                        ORDER BY seq) AS "events!"
           FROM unnest($1::uuid[], $2::int[]) AS wanted (task, after_seq)
           JOIN tasks ON tasks.id = wanted.task JOIN runs ON runs.id = run_id
           LEFT JOIN LATERAL (SELECT task_id, body FROM requests WHERE task_id = tasks.id AND answered_at IS NULL LIMIT 1) AS open ON true
           WHERE runs.kind = $3"#,
        &ids,
        &after as &[Option<i32>],
        runs::EPISODES
    );
    let mut episodes = HashMap::with_capacity(wanted.len());
    for row in rows.fetch_all(db).await? {
        let id = row.id;
        let outcome = conversations::outcome("tasks", id, row.outcome.as_deref(), row.blame.as_deref(), row.reason)?;
        let state = row.state.parse().map_err(|_| BadRow {
            table: "runs",
            column: "state",
            row: row.run_id.to_string(),
            reason: format!("`{}` is no state", row.state),
        })?;
        // What a cancelled run leaves behind is played by nobody.
        let cancelled = || Outcome::Failed { blame: Blame::Infrastructure, reason: "its run was cancelled".to_owned() };
        let outcome = outcome.or_else(|| (state == RunState::Cancelled).then(cancelled));
        let turn = row.turn.and_then(|turn| u32::try_from(turn).ok()).unwrap_or_default();
        let reward_if_ended = row.reward.and_then(|reward| u8::try_from(reward).ok());
        let episode = Episode {
            run: row.run_id,
            planned: PlannedConversation {
                id,
                position: row.position,
                scenario: row.scenario,
                repeat: row.repeat,
                persona: row.persona,
                complexity: row.complexity,
                attempt: row.attempt,
            },
            waiting: row.waits.then_some(AgentRequest { turn, reward_if_ended }),
            by_endpoint: row.by_endpoint,
            outcome,
            run_state: state,
            paused_because: row.paused_because,
            events: row.after_seq.map(|after| NewEvents { after, encoded: row.events.into() }),
        };
        episodes.insert((id, row.after_seq), episode);
    }
    Ok(episodes)
}

/// The requests by which episodes wait for these turns of their agents, where their runs go on.
pub async fn open_turns(db: &mut PgConnection, turns: &[(Uuid, u32)]) -> Result<HashMap<(Uuid, u32), i64>> {
    let (ids, numbers): (Vec<Uuid>, Vec<i64>) = turns.iter().map(|(id, turn)| (*id, i64::from(*turn))).unzip();
    // As texts: what stands in requests to others may be no number.
    let rows = sqlx::query!(
        r#"SELECT wanted.task AS "id!", wanted.turn AS "turn!", request
           FROM unnest($1::uuid[], $2::bigint[]) AS wanted (task, turn)
           JOIN requests ON task_id = wanted.task AND answered_at IS NULL AND body ->> 'turn' = wanted.turn::text
           JOIN runs ON runs.id = run_id WHERE state = 'running' AND runs.kind = $3"#,
        &ids,
        &numbers,
        runs::EPISODES
    );
    let rows = rows.fetch_all(db).await?.into_iter();
    Ok(rows.filter_map(|row| Some(((row.id, u32::try_from(row.turn).ok()?), row.request))).collect())
}
