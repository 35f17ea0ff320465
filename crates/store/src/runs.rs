//! Runs and the documents they were started with.

use std::collections::{BTreeMap, HashMap};

use chrono::{DateTime, Utc};
use domain::api::{RunState, RunSummary, UsageSummary};
use domain::budget::Budget;
use serde_json::Value;
use sqlx::PgConnection;
use sqlx::types::Json;
use uuid::Uuid;

use super::{Result, run_inputs};

/// As in `runs.kind`: conversations whose agent is outside.
pub const EPISODES: &str = "episodes";
/// As in `runs.kind`: rows of a workflow.
pub const WORKFLOW: &str = "workflow";
/// As in `runs.kind`: one row of a workflow that somebody waits for. The row tells of the parts of its output as they become known.
pub const ANSWER: &str = "answer";

/// Whether a run of this kind plays rows of a workflow.
pub fn plays_rows(kind: &str) -> bool {
    kind == WORKFLOW || kind == ANSWER
}

pub struct Run {
    pub id: Uuid,
    pub project: Uuid,
    pub library: String,
    /// Which kind of task it plays, such as `conversations`. It decides what [`Run::spec`] holds.
    pub kind: String,
    pub playbook: String,
    pub seed: i64,
    /// What it plays; see [`Run::kind`].
    pub spec: Value,
    pub planned: i32,
    pub priority: i32,
    /// Conversations that all players together play at once.
    pub max_in_flight: Option<i32>,
    pub budget: Budget,
    pub created_at: DateTime<Utc>,
    /// How long ago its first conversation was claimed, by the database's clock, when this was read.
    pub played_seconds: Option<f64>,
    /// Its own judging: what its judges say while it is played. `None` if nothing in it is judged.
    pub judging: Option<Uuid>,
}

impl Run {
    /// Its own judging; for a kind of run in which nothing is judged the nil id, which no judging has.
    pub fn own_judging(&self) -> Uuid {
        self.judging.unwrap_or_default()
    }
}

pub async fn insert_library(db: &mut PgConnection, hash: &str, files: &Value, now: DateTime<Utc>) -> Result<()> {
    sqlx::query!(
        "INSERT INTO libraries (hash, files, created_at) VALUES ($1, $2, $3) ON CONFLICT (hash) DO NOTHING",
        hash,
        files,
        now
    )
    .execute(db)
    .await?;
    Ok(())
}

pub async fn library(db: &mut PgConnection, hash: &str) -> Result<Value> {
    Ok(sqlx::query_scalar!("SELECT files FROM libraries WHERE hash = $1", hash).fetch_one(db).await?)
}

/// Stores a run within a transaction. `paused`: why it does not begin at once.
///
/// # Errors
/// [`StoreError::Deleted`](super::StoreError::Deleted): a dataset or an index that it reads is not there any more.
pub async fn insert(tx: &mut PgConnection, run: &Run, paused: Option<&str>) -> Result<()> {
    run_inputs::hold(&mut *tx, &run.spec).await?;
    sqlx::query!(
        "INSERT INTO runs
             (id, project_id, library, kind, playbook, seed, spec, planned, priority, max_in_flight, budget, created_at,
              state, paused_because)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)",
        run.id,
        run.project,
        run.library,
        run.kind,
        run.playbook,
        run.seed,
        run.spec,
        run.planned,
        run.priority,
        run.max_in_flight,
        Json(&run.budget) as _,
        run.created_at,
        if paused.is_some() { "paused" } else { "running" },
        paused
    )
    .execute(tx)
    .await?;
    Ok(())
}

pub async fn get(db: &mut PgConnection, id: Uuid) -> Result<Option<Run>> {
    let row = sqlx::query!(
        r#"SELECT runs.id, project_id, runs.library, kind, playbook, seed, spec, planned, priority, max_in_flight,
                  budget AS "budget: Json<Budget>", runs.created_at, judgings.id AS "judging?",
                  CASE WHEN started_at IS NOT NULL THEN
                      extract(epoch FROM played_for + coalesce(now() - running_since, '0'))::float8 END AS played_seconds
           FROM runs LEFT JOIN judgings ON run_id = runs.id AND original WHERE runs.id = $1"#,
        id
    );
    Ok(row.fetch_optional(db).await?.map(|row| Run {
        id: row.id,
        project: row.project_id,
        library: row.library,
        kind: row.kind,
        playbook: row.playbook,
        seed: row.seed,
        spec: row.spec,
        planned: row.planned,
        priority: row.priority,
        max_in_flight: row.max_in_flight,
        budget: row.budget.0,
        created_at: row.created_at,
        played_seconds: row.played_seconds,
        judging: row.judging,
    }))
}

/// Which kind of task a run plays.
pub async fn kind(db: &mut PgConnection, id: Uuid) -> Result<Option<String>> {
    Ok(sqlx::query_scalar!("SELECT kind FROM runs WHERE id = $1", id).fetch_optional(db).await?)
}

/// The newest run of a kind, or of all.
pub async fn latest(db: &mut PgConnection, kind: Option<&str>) -> Result<Option<Uuid>> {
    let id = sqlx::query_scalar!(
        "SELECT id FROM runs WHERE $1::text IS NULL OR kind = $1 ORDER BY created_at DESC, id DESC LIMIT 1",
        kind
    );
    Ok(id.fetch_optional(db).await?)
}

/// The newest run of a kind that has something left to play.
pub async fn latest_unfinished(db: &mut PgConnection, kind: &str) -> Result<Option<Uuid>> {
    let id = sqlx::query_scalar!(
        "SELECT id FROM runs WHERE kind = $1 AND finished_at IS NULL AND state <> 'cancelled'
         ORDER BY created_at DESC, id DESC LIMIT 1",
        kind
    );
    Ok(id.fetch_optional(db).await?)
}

/// The runs after one, newest first.
pub async fn list(db: &mut PgConnection, limit: i64) -> Result<Vec<Uuid>> {
    let ids = sqlx::query_scalar!("SELECT id FROM runs ORDER BY created_at DESC, id DESC LIMIT $1", limit);
    Ok(ids.fetch_all(db).await?)
}

/// The runs of a project of these kinds before one, newest first; of one playbook or workflow, if it is named.
pub async fn of_project(
    db: &mut PgConnection,
    project: Uuid,
    kinds: &[&str],
    played: Option<&str>,
    before: Option<Uuid>,
    limit: i64,
) -> Result<Vec<Uuid>> {
    let ids = sqlx::query_scalar!(
        "SELECT id FROM runs WHERE project_id = $1 AND kind = ANY($4) AND ($5::text IS NULL OR playbook = $5)
             AND ($2::uuid IS NULL OR (created_at, id) < (SELECT created_at, id FROM runs WHERE id = $2))
         ORDER BY created_at DESC, id DESC LIMIT $3",
        project,
        before,
        limit,
        kinds as &[&str],
        played
    );
    Ok(ids.fetch_all(db).await?)
}

/// How far a run is.
pub async fn summary(db: &mut PgConnection, run: &Run) -> Result<RunSummary> {
    let summary = summaries(db, &[run.id]).await?.pop();
    Ok(summary.ok_or(sqlx::Error::RowNotFound)?)
}

/// How far these runs are, in this order; a run that is not there is left out. It takes three statements for any number
/// of runs, and is cheap for large runs too: each conversation is counted when it ends.
pub async fn summaries(db: &mut PgConnection, ids: &[Uuid]) -> Result<Vec<RunSummary>> {
    let rows = sqlx::query!(
        "SELECT id, kind, playbook, seed, created_at, planned, state, paused_because, priority, started_at, finished_at
         FROM runs JOIN unnest($1::uuid[]) WITH ORDINALITY AS wanted (id, place) USING (id) ORDER BY place",
        ids
    );
    let rows = rows.fetch_all(&mut *db).await?;
    let mut outcomes = outcomes(db, ids).await?;
    let mut usage = usage_by_run(db, ids).await?;
    Ok(rows
        .into_iter()
        .map(|row| {
            let Outcomes { accepted, failures, played_again } = outcomes.remove(&row.id).unwrap_or_default();
            RunSummary {
                id: row.id.to_string(),
                kind: row.kind,
                playbook: row.playbook,
                seed: row.seed,
                created_at: row.created_at,
                planned: row.planned.into(),
                finished: accepted + failures.values().sum::<i64>(),
                accepted,
                failures,
                played_again,
                state: state(&row.state, row.finished_at.is_some()),
                paused_because: row.paused_because,
                priority: row.priority,
                started_at: row.started_at,
                finished_at: row.finished_at,
                usage: usage.remove(&row.id).unwrap_or_default(),
            }
        })
        .collect())
}

/// How the conversations of a run ended.
#[derive(Default)]
struct Outcomes {
    accepted: i64,
    /// By blame. So are those that another attempt has replaced.
    failures: BTreeMap<String, i64>,
    played_again: BTreeMap<String, i64>,
}

async fn outcomes(db: &mut PgConnection, runs: &[Uuid]) -> Result<HashMap<Uuid, Outcomes>> {
    let counts = sqlx::query!(
        r#"SELECT run_id, superseded, outcome, sum(tasks)::bigint AS "count!" FROM tallies
           WHERE run_id = ANY($1) GROUP BY run_id, superseded, outcome HAVING sum(tasks) <> 0"#,
        runs
    );
    let mut by_run = HashMap::<Uuid, Outcomes>::new();
    for row in counts.fetch_all(db).await? {
        let outcomes = by_run.entry(row.run_id).or_default();
        match (row.outcome.as_str(), row.superseded) {
            ("accepted", false) => outcomes.accepted = row.count,
            ("accepted", true) => {}
            (_, false) => _ = outcomes.failures.insert(row.outcome, row.count),
            (_, true) => _ = outcomes.played_again.insert(row.outcome, row.count),
        }
    }
    Ok(by_run)
}

pub fn state(name: &str, finished: bool) -> RunState {
    match name {
        "cancelled" => RunState::Cancelled,
        _ if finished => RunState::Finished,
        "paused" => RunState::Paused,
        _ => RunState::Running,
    }
}

/// How long a run has been played, pauses not counted.
pub async fn seconds_played(db: &mut PgConnection, run: Uuid) -> Result<f64> {
    let seconds = sqlx::query_scalar!(
        "SELECT extract(epoch FROM played_for + coalesce(now() - running_since, '0'))::float8 FROM runs WHERE id = $1",
        run
    );
    Ok(seconds.fetch_one(db).await?.unwrap_or(0.0).max(0.0))
}

/// How many positions of a run, from the first one on, were claimed so far.
pub async fn claimed(db: &mut PgConnection, run: Uuid) -> Result<i32> {
    Ok(sqlx::query_scalar!("SELECT next_position FROM runs WHERE id = $1", run).fetch_one(db).await?)
}

/// What becomes of a run; `None` if there is none.
pub async fn state_of(db: &mut PgConnection, run: Uuid) -> Result<Option<RunState>> {
    let row = sqlx::query!("SELECT state, finished_at FROM runs WHERE id = $1", run);
    Ok(row.fetch_optional(db).await?.map(|row| state(&row.state, row.finished_at.is_some())))
}

/// How many of its conversations were accepted.
pub async fn accepted(db: &mut PgConnection, run: Uuid) -> Result<i64> {
    let accepted = sqlx::query_scalar!(
        r#"SELECT coalesce(sum(tasks), 0)::bigint AS "n!" FROM tallies
           WHERE run_id = $1 AND outcome = 'accepted' AND NOT superseded"#,
        run
    );
    Ok(accepted.fetch_one(db).await?)
}

/// Usage of models, by role and model.
pub async fn usage(db: &mut PgConnection, run: Uuid) -> Result<Vec<UsageSummary>> {
    Ok(usage_by_run(db, &[run]).await?.remove(&run).unwrap_or_default())
}

async fn usage_by_run(db: &mut PgConnection, runs: &[Uuid]) -> Result<HashMap<Uuid, Vec<UsageSummary>>> {
    let rows = sqlx::query!(
        r#"SELECT run_id, role, model, sum(calls)::bigint AS "calls!", sum(retries)::bigint AS "retries!",
                  sum(prompt_tokens)::bigint AS "prompt_tokens!", sum(cached_tokens)::bigint AS "cached_tokens!",
                  sum(completion_tokens)::bigint AS "completion_tokens!",
                  sum(cost)::float8 / 1e9 AS "cost!"
           FROM usage WHERE run_id = ANY($1) GROUP BY run_id, role, model ORDER BY run_id, role, model"#,
        runs
    );
    let mut by_run = HashMap::<Uuid, Vec<UsageSummary>>::new();
    for row in rows.fetch_all(db).await? {
        by_run.entry(row.run_id).or_default().push(UsageSummary {
            role: row.role,
            model: row.model,
            calls: row.calls,
            retries: row.retries,
            prompt_tokens: row.prompt_tokens,
            cached_tokens: row.cached_tokens,
            completion_tokens: row.completion_tokens,
            cost: row.cost,
        });
    }
    Ok(by_run)
}

/// The work that is left, over all runs.
pub struct Backlog {
    /// Tasks of runs that may be played which nobody has claimed.
    pub tasks: i64,
    /// Runs by state.
    pub runs: BTreeMap<&'static str, i64>,
}

pub async fn waiting(db: &mut PgConnection) -> Result<Backlog> {
    let rows = sqlx::query!(
        r#"SELECT state, finished_at IS NOT NULL AS "finished!", count(*) AS "runs!",
                  sum(planned - next_position) FILTER (WHERE state = 'running' AND finished_at IS NULL)::bigint AS left
           FROM runs GROUP BY 1, 2"#
    );
    let left = sqlx::query_scalar!(
        r#"SELECT coalesce(sum(last_position - first_position + 1), 0)::bigint AS "left!"
           FROM claims JOIN runs ON runs.id = run_id WHERE player IS NULL AND state = 'running'"#
    );
    let rows = rows.fetch_all(&mut *db).await?;
    let mut waiting = Backlog { tasks: left.fetch_one(db).await?, runs: BTreeMap::new() };
    for row in rows {
        waiting.tasks += row.left.unwrap_or_default();
        *waiting.runs.entry(state(&row.state, row.finished).into_str()).or_default() += row.runs;
    }
    Ok(waiting)
}

/// What a run has spent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RunSpending {
    pub tokens: i64,
    /// In billionths of the unit of the prices.
    pub cost: i64,
}

/// The state and budget that are set for a run, and what other players have spent on it.
pub struct RunInstructions {
    pub id: Uuid,
    pub state: RunState,
    pub budget: Budget,
    /// How long ago its first conversation was claimed, by the database's clock.
    pub played_seconds: Option<f64>,
    pub others: RunSpending,
}

/// What is asked of these runs now.
pub async fn instructions(db: &mut PgConnection, player: i64, runs: &[Uuid]) -> Result<Vec<RunInstructions>> {
    let rows = sqlx::query!(
        r#"SELECT id, state, budget AS "budget: Json<Budget>", finished_at,
                  CASE WHEN started_at IS NOT NULL THEN
                      extract(epoch FROM played_for + coalesce(now() - running_since, '0'))::float8 END AS played_seconds,
                  spent.tokens AS "tokens!", spent.cost AS "cost!"
           FROM runs CROSS JOIN LATERAL (
               SELECT coalesce(sum(prompt_tokens + completion_tokens), 0)::bigint AS tokens,
                      coalesce(sum(cost), 0)::bigint AS cost
               FROM usage WHERE run_id = id AND player <> $1) AS spent
           WHERE id = ANY($2)"#,
        player,
        runs
    );
    let rows = rows.fetch_all(db).await?.into_iter();
    Ok(rows
        .map(|row| RunInstructions {
            id: row.id,
            state: state(&row.state, row.finished_at.is_some()),
            budget: row.budget.0,
            played_seconds: row.played_seconds,
            others: RunSpending { tokens: row.tokens, cost: row.cost },
        })
        .collect())
}

/// What a player has spent on a run, as far as it is kept.
pub async fn spent_by(db: &mut PgConnection, player: i64, run: Uuid) -> Result<RunSpending> {
    let spent = sqlx::query_as!(
        RunSpending,
        r#"SELECT coalesce(sum(prompt_tokens + completion_tokens), 0)::bigint AS "tokens!",
                  coalesce(sum(cost), 0)::bigint AS "cost!"
           FROM usage WHERE run_id = $1 AND player = $2"#,
        run,
        player
    );
    Ok(spent.fetch_one(db).await?)
}

/// How conversations ended with one kind of user.
pub struct PersonaOutcomes {
    pub persona: String,
    pub played: i64,
    pub accepted: i64,
    pub failed_by_agent: i64,
    pub walked_out: i64,
    /// Mean turns of the user, in what was accepted or failed by the agent. So is the score.
    pub turns: f64,
    /// Mean overall score; `None` if nothing was judged.
    pub overall: Option<f64>,
}

/// Outcomes by persona profile, of conversations that have ended.
pub async fn by_persona(db: &mut PgConnection, run: &Run) -> Result<Vec<PersonaOutcomes>> {
    let outcomes = sqlx::query_as!(
        PersonaOutcomes,
        r#"SELECT persona AS "persona!", count(*) AS "played!", count(*) FILTER (WHERE c.outcome = 'accepted') AS "accepted!",
                  count(*) FILTER (WHERE c.blame = 'agent') AS "failed_by_agent!",
                  count(*) FILTER (WHERE ending = 'walked_out') AS "walked_out!",
                  coalesce(avg(user_turns) FILTER (WHERE c.blame IS NULL OR c.blame = 'agent'), 0)::float8 AS "turns!",
                  avg(overall) FILTER (WHERE c.blame IS NULL OR c.blame = 'agent')::float8 AS overall
           FROM tasks c LEFT JOIN verdicts v ON v.conversation_id = c.id AND judging_id = $2
           WHERE run_id = $1 AND c.outcome IS NOT NULL AND NOT superseded GROUP BY persona ORDER BY persona"#,
        run.id,
        run.judging
    );
    Ok(outcomes.fetch_all(db).await?)
}
