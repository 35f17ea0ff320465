//! The journal of tasks: entries of many tasks, kept in one transaction, all of them or none.

mod encoded_events;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use domain::event::Usage;
use domain::outcome::Outcome;
use domain::role::RoleId;
use domain::timing::TaskSeconds;
use sqlx::{Connection, PgConnection};
use uuid::Uuid;

pub use self::encoded_events::EncodedEvents;
use super::copy::Rows;
use super::outside_requests::{AnsweredRequest, OpenRequest};
use super::tasks::PlannedTask;
use super::verdicts::{StoredVerdict, agreement, scores, weighted_mean};
use super::{Result, StoreError, conversations, events, outside_requests, players};

/// What happened next in one task.
#[derive(Debug, Clone)]
pub struct JournalEntry {
    pub run: Uuid,
    /// The run's own judging; `None` if nothing in it is judged.
    pub judging: Option<Uuid>,
    pub kind: &'static str,
    pub planned: PlannedTask,
    /// Hash of the world that a conversation starts from.
    pub world: Option<Arc<str>>,
    /// Nothing of the task was kept yet, not even its row.
    pub begins: bool,
    /// Empty if a task begins with a request, or ends because it could not be played.
    pub events: EncodedEvents,
    pub completion: Option<Completion>,
    pub usage: Vec<ModelUsage>,
    /// Requests to somebody outside whose answers the events hold.
    pub answered: Vec<AnsweredRequest>,
    /// Requests to somebody outside that follow from the events, and are there as soon as these are.
    pub opened: Vec<OpenRequest>,
    /// Whoever waits for what it opens, or for its end, is told without the database.
    pub is_told: bool,
}

/// How a task ended.
#[derive(Debug, Clone)]
pub struct Completion {
    /// `None`: it was accepted.
    pub failure: Option<TaskFailure>,
    /// The last of its events that another attempt may begin with; `None`: another attempt begins anew.
    pub keep_through: Option<i32>,
    /// `None` for other tasks than conversations, and for one that could not even be read.
    pub conversation: Option<ConversationSummary>,
    pub judged: Option<StoredVerdict>,
    /// Of a row of a workflow with an output: its metrics by name, as JSON.
    pub metrics: Option<String>,
    /// `None`: it was not played.
    pub seconds: Option<TaskSeconds>,
    pub retry: Option<PlannedTask>,
    /// Somebody outside was asked: those requests go with the task.
    pub asked_outside: bool,
}

/// Why a task failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskFailure {
    pub blame: Cow<'static, str>,
    pub reason: String,
}

impl TaskFailure {
    /// Whom an outcome blames; `None` if it is accepted.
    pub fn of(outcome: &Outcome) -> Option<Self> {
        match outcome {
            Outcome::Accepted => None,
            Outcome::Failed { blame, reason } => {
                Some(Self { blame: Cow::Borrowed(blame.into_str()), reason: reason.clone() })
            }
        }
    }
}

/// What lists and statistics say of a conversation, so that they need not read its events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConversationSummary {
    pub ending: Option<&'static str>,
    /// Turns of the user.
    pub user_turns: i32,
    /// Whether the verifier found nothing wrong; `None` if it never looked.
    pub verified: Option<bool>,
    /// Calls by the agent and its sub-agents.
    pub tool_calls: i32,
    /// The tools that they called, each once, sorted.
    pub tools: Vec<String>,
}

/// What was asked of a model, and what that took.
#[derive(Debug, Clone)]
pub struct ModelUsage {
    pub role: RoleId,
    pub model: Arc<str>,
    /// Replies that were used.
    pub calls: i64,
    /// Requests beyond the first that they took.
    pub retries: i64,
    pub tokens: Usage,
    /// In billionths of the unit of the prices.
    pub cost: i64,
}

impl ModelUsage {
    pub fn nothing(role: RoleId, model: Arc<str>) -> Self {
        Self { role, model, calls: 0, retries: 0, tokens: Usage::default(), cost: 0 }
    }
}

/// Who writes: a player, and which of its connections.
#[derive(Debug, Clone, Copy)]
pub struct Writer {
    pub player: i64,
    pub number: i16,
}

impl Writer {
    /// Whoever judges a run again is none of its players: all of them count it as spent by others.
    pub const JUDGING: Self = Self { player: -1, number: 0 };
}

/// Keeps the entries. False, and nothing is kept, if the player was given up: others play its tasks now.
pub async fn commit(
    db: &mut PgConnection,
    writer: Writer,
    entries: &[&JournalEntry],
    now: DateTime<Utc>,
) -> Result<bool> {
    let mut tx = db.begin().await?;
    let kept = write(&mut tx, writer, entries, now).await;
    match kept {
        Ok(true) => tx.commit().await?,
        // At once: what is played again from the journal would wait for what this transaction has written.
        Ok(false) | Err(_) => drop(tx.rollback().await),
    }
    kept
}

async fn write(db: &mut PgConnection, writer: Writer, entries: &[&JournalEntry], now: DateTime<Utc>) -> Result<bool> {
    if !players::hold(&mut *db, writer.player).await? {
        return Ok(false);
    }
    complete(&mut *db, entries, now).await?;
    copy(&mut *db, TASKS, tasks(entries, now)).await?;
    copy(&mut *db, EVENTS, Some(all_events(entries, now))).await?;
    keep_events_for_retries(&mut *db, entries).await?;
    close_requests(&mut *db, entries).await?;
    open_requests(&mut *db, entries).await?;
    copy(&mut *db, VERDICTS, verdicts(entries, now)?).await?;
    tally(&mut *db, writer, entries).await?;
    let usage = entries.iter().flat_map(|entry| entry.usage.iter().map(|usage| (entry.run, usage)));
    count_usage(&mut *db, writer, &usage.collect::<Vec<_>>()).await?;
    Ok(true)
}

/// Whether entries that were sent with no answer were kept: a transaction is kept whole.
pub async fn were_kept(db: &mut PgConnection, entries: &[&JournalEntry]) -> Result<bool> {
    let Some(entry) = entries.first() else { return Ok(true) };
    let task = entry.planned.id;
    let kept = if let Some(seq) = entry.events.last() {
        let event = sqlx::query!("SELECT seq FROM events WHERE task_id = $1 AND seq = $2", task, seq);
        event.fetch_optional(db).await?.is_some()
    } else {
        let ends = entry.completion.is_some();
        let row = sqlx::query!("SELECT id FROM tasks WHERE id = $1 AND (outcome IS NOT NULL OR NOT $2)", task, ends);
        row.fetch_optional(db).await?.is_some()
    };
    Ok(kept)
}

/// Gives retries the events of their spoiled attempts that they begin with.
async fn keep_events_for_retries(db: &mut PgConnection, entries: &[&JournalEntry]) -> Result<()> {
    let (mut from, mut to, mut through) = (Vec::new(), Vec::new(), Vec::new());
    for (entry, completion) in completions(entries) {
        if let Some((retry, last)) = completion.retry.as_ref().zip(completion.keep_through) {
            from.push(entry.planned.id);
            to.push(retry.id);
            through.push(last);
        }
    }
    if from.is_empty() { Ok(()) } else { events::copy_through(db, &from, &to, &through).await }
}

async fn close_requests(db: &mut PgConnection, entries: &[&JournalEntry]) -> Result<()> {
    let taken = entries.iter().flat_map(|entry| entry.answered.iter().map(|request| (entry.planned.id, *request)));
    let taken: Vec<(Uuid, AnsweredRequest)> = taken.collect();
    if !taken.is_empty() {
        outside_requests::forget(db, taken).await?;
    }
    let ended = completions(entries).filter(|(_, completion)| completion.asked_outside);
    let tasks: Vec<(Uuid, bool)> = ended.map(|(entry, _)| (entry.planned.id, entry.is_told)).collect();
    if tasks.is_empty() { Ok(()) } else { outside_requests::close(db, &tasks).await }
}

async fn open_requests(db: &mut PgConnection, entries: &[&JournalEntry]) -> Result<()> {
    let opened = entries.iter().flat_map(|entry| entry.opened.iter().map(|opened| (opened, entry.is_told)));
    let opened: Vec<(&OpenRequest, bool)> = opened.collect();
    if opened.is_empty() { Ok(()) } else { outside_requests::open_all(db, &opened).await }
}

/// Entries that end their tasks.
fn completions<'a>(entries: &'a [&JournalEntry]) -> impl Iterator<Item = (&'a JournalEntry, &'a Completion)> {
    entries.iter().filter_map(|entry| Some((*entry, entry.completion.as_ref()?)))
}

async fn copy(db: &mut PgConnection, into: &str, rows: Option<Rows>) -> Result<()> {
    let Some(rows) = rows else { return Ok(()) };
    let mut copy = db.copy_in_raw(into).await?;
    copy.send(rows.finish()).await?;
    copy.finish().await?;
    Ok(())
}

const TASKS: &str = "COPY tasks (id, run_id, kind, position, attempt, scenario, repeat, persona, complexity, world, \
     outcome, blame, reason, finished_at, keep_through, superseded, ending, user_turns, verified, tool_calls, tools, metrics, \
     seconds, seconds_processing, seconds_queueing, seconds_initialising) FROM STDIN (FORMAT BINARY)";
const TASK_COLUMNS: i16 = 26;

/// In the order of the columns.
const SECONDS: [fn(TaskSeconds) -> f32; 4] =
    [|seconds| seconds.total, |seconds| seconds.processing, |seconds| seconds.queueing, |seconds| seconds.initialising];

/// Rows of tasks that begin, among them the attempts that take the place of others.
fn tasks(entries: &[&JournalEntry], now: DateTime<Utc>) -> Option<Rows> {
    let mut rows = Rows::new();
    let mut any = false;
    for entry in entries {
        if entry.begins {
            any = true;
            begin(&mut rows, entry, &entry.planned);
            end(&mut rows, entry.completion.as_ref(), now);
        }
        if let Some(retry) = entry.completion.as_ref().and_then(|completion| completion.retry.as_ref()) {
            any = true;
            begin(&mut rows, entry, retry);
            end(&mut rows, None, now);
        }
    }
    any.then_some(rows)
}

/// The columns of a task that are known when it begins.
fn begin(rows: &mut Rows, entry: &JournalEntry, planned: &PlannedTask) {
    rows.row(TASK_COLUMNS).uuid(planned.id).uuid(entry.run).text(entry.kind);
    rows.int(planned.position).int(planned.attempt);
    match &planned.conversation {
        Some(plan) => rows.text(&plan.scenario).int(plan.repeat).text(&plan.persona).text(&plan.complexity),
        None => rows.null().null().null().null(),
    };
    rows.optional(entry.world.as_deref());
}

/// The columns of a task that are known when it ends.
fn end(rows: &mut Rows, completion: Option<&Completion>, now: DateTime<Utc>) {
    let Some(completion) = completion else {
        rows.null().null().null().null().null().bool(Some(false));
        rows.null().null().null().null().null();
        rows.null().null().null().null().null();
        return;
    };
    match &completion.failure {
        None => rows.text("accepted").null().null(),
        Some(failure) => rows.text("failed").text(&failure.blame).text(&failure.reason),
    };
    rows.time(now);
    match completion.keep_through {
        Some(seq) => rows.int(seq),
        None => rows.null(),
    };
    rows.bool(Some(completion.retry.is_some()));
    match &completion.conversation {
        Some(summary) => {
            rows.optional(summary.ending).int(summary.user_turns);
            rows.bool(summary.verified).int(summary.tool_calls).texts(Some(&summary.tools))
        }
        None => rows.null().null().null().null().null(),
    };
    rows.optional(completion.metrics.as_deref());
    for part in SECONDS {
        rows.real(completion.seconds.map(part));
    }
}

/// Ends tasks that have a row already.
///
/// # Errors
/// [`StoreError::EndedAlready`]: one of them has ended.
async fn complete(db: &mut PgConnection, entries: &[&JournalEntry], now: DateTime<Utc>) -> Result<()> {
    let ends: Vec<(Uuid, &Completion)> = completions(entries)
        .filter(|(entry, _)| !entry.begins)
        .map(|(entry, completion)| (entry.planned.id, completion))
        .collect();
    if ends.is_empty() {
        return Ok(());
    }
    let column = |field: fn(&Completion) -> Option<String>| ends.iter().map(|(_, end)| field(end)).collect::<Vec<_>>();
    let numbers = |field: fn(&Completion) -> Option<i32>| ends.iter().map(|(_, end)| field(end)).collect::<Vec<_>>();
    let seconds = |part: fn(TaskSeconds) -> f32| ends.iter().map(|(_, end)| end.seconds.map(part)).collect::<Vec<_>>();
    let [total, processing, queueing, initialising] = SECONDS.map(seconds);
    let verified: Vec<Option<bool>> =
        ends.iter().map(|(_, end)| end.conversation.as_ref().and_then(|summary| summary.verified)).collect();
    let ended = sqlx::query!(
        "UPDATE tasks SET outcome = CASE WHEN ended.blame IS NULL THEN 'accepted' ELSE 'failed' END,
             blame = ended.blame, reason = ended.reason, finished_at = $10, keep_through = ended.keep_through,
             superseded = ended.superseded, ending = ended.ending, user_turns = ended.user_turns,
             verified = ended.verified, tool_calls = ended.tool_calls, tools = string_to_array(ended.tools, ','),
             metrics = ended.metrics::json, seconds = ended.seconds, seconds_processing = ended.processing,
             seconds_queueing = ended.queueing, seconds_initialising = ended.initialising
         FROM unnest($1::uuid[], $2::text[], $3::text[], $4::int[], $5::bool[], $6::text[], $7::int[], $8::bool[],
                     $9::int[], $11::text[], $12::text[], $13::real[], $14::real[], $15::real[], $16::real[])
              AS ended (id, blame, reason, keep_through, superseded, ending, user_turns, verified, tool_calls, tools,
                        metrics, seconds, processing, queueing, initialising)
         WHERE tasks.id = ended.id AND tasks.outcome IS NULL",
        &ends.iter().map(|(id, _)| *id).collect::<Vec<_>>(),
        &column(|end| end.failure.as_ref().map(|failure| failure.blame.to_string())) as &[Option<String>],
        &column(|end| end.failure.as_ref().map(|failure| failure.reason.clone())) as &[Option<String>],
        &numbers(|end| end.keep_through) as &[Option<i32>],
        &ends.iter().map(|(_, end)| end.retry.is_some()).collect::<Vec<_>>(),
        &column(|end| Some(end.conversation.as_ref()?.ending?.to_owned())) as &[Option<String>],
        &numbers(|end| Some(end.conversation.as_ref()?.user_turns)) as &[Option<i32>],
        &verified as &[Option<bool>],
        &numbers(|end| Some(end.conversation.as_ref()?.tool_calls)) as &[Option<i32>],
        now,
        // An array of arrays would be one: names of tools hold no comma.
        &column(|end| Some(end.conversation.as_ref()?.tools.join(","))) as &[Option<String>],
        &column(|end| end.metrics.clone()) as &[Option<String>],
        &total as &[Option<f32>],
        &processing as &[Option<f32>],
        &queueing as &[Option<f32>],
        &initialising as &[Option<f32>]
    )
    .execute(db)
    .await?;
    // Else an end without events would be counted twice.
    if ended.rows_affected() == ends.len() as u64 { Ok(()) } else { Err(StoreError::EndedAlready) }
}

/// Bytes of an event's row besides its text: four fields with their lengths.
const EVENT_FRAME: usize = 2 + 4 * 4 + 16 + 4 + 8;
const EVENTS: &str = "COPY events (task_id, seq, event, created_at) FROM STDIN (FORMAT BINARY)";

fn all_events(entries: &[&JournalEntry], now: DateTime<Utc>) -> Rows {
    let bytes = entries.iter().map(|entry| entry.events.bytes() + entry.events.len() * EVENT_FRAME).sum();
    let mut rows = Rows::with_capacity(bytes);
    for entry in entries {
        for (seq, event) in entry.events.each() {
            rows.row(4).uuid(entry.planned.id).int(seq).text(event).time(now);
        }
    }
    rows
}

const VERDICTS: &str = "COPY verdicts (conversation_id, judging_id, judge, judge_version, overall, goal_achieved, \
     verdict, outcome, blame, reason, created_at, scores, weighted_mean, agreement) FROM STDIN (FORMAT BINARY)";

fn verdicts(entries: &[&JournalEntry], now: DateTime<Utc>) -> Result<Option<Rows>> {
    let mut rows = Rows::new();
    let mut any = false;
    for (entry, completion) in completions(entries) {
        let Some((judged, judging)) = completion.judged.as_ref().zip(entry.judging) else { continue };
        any = true;
        let verdict = judged.verdict.as_ref();
        let body = verdict.map(serde_json::to_string).transpose();
        let body = body.map_err(|error| super::verdicts::bad(entry.planned.id, &error))?;
        let (outcome, blame, reason) = conversations::columns(&judged.outcome);
        rows.row(14).uuid(entry.planned.id).uuid(judging).text(&judged.judge).text(&judged.judge_version);
        rows.small(verdict.map(|v| v.overall.into())).bool(verdict.map(|v| v.goal_achieved)).jsonb(body.as_deref());
        rows.text(outcome).optional(blame).optional(reason).time(now);
        rows.smalls(verdict.map(scores).as_deref()).real(verdict.map(weighted_mean)).real(verdict.and_then(agreement));
    }
    Ok(any.then_some(rows))
}

/// Counts what ended how.
async fn tally(db: &mut PgConnection, writer: Writer, entries: &[&JournalEntry]) -> Result<()> {
    let mut counts: BTreeMap<(Uuid, &str, bool), i64> = BTreeMap::new();
    for (entry, completion) in completions(entries) {
        let outcome = completion.failure.as_ref().map_or("accepted", |failure| &failure.blame);
        *counts.entry((entry.run, outcome, completion.retry.is_some())).or_default() += 1;
    }
    let (runs, outcomes, superseded): (Vec<Uuid>, Vec<String>, Vec<bool>) =
        counts.keys().map(|(run, outcome, superseded)| (*run, (*outcome).to_owned(), *superseded)).collect();
    if runs.is_empty() {
        return Ok(());
    }
    sqlx::query!(
        "INSERT INTO tallies (run_id, player, writer, outcome, superseded, tasks)
         SELECT run, $1, $2, outcome, superseded, n
         FROM unnest($3::uuid[], $4::text[], $5::bool[], $6::bigint[]) AS new (run, outcome, superseded, n)
         ON CONFLICT (run_id, player, writer, outcome, superseded)
         DO UPDATE SET tasks = tallies.tasks + EXCLUDED.tasks",
        writer.player,
        writer.number,
        &runs,
        &outcomes,
        &superseded,
        &counts.into_values().collect::<Vec<_>>()
    )
    .execute(db)
    .await?;
    Ok(())
}

/// Counts what models were asked for, each for its run.
pub async fn count_usage(db: &mut PgConnection, writer: Writer, usage: &[(Uuid, &ModelUsage)]) -> Result<()> {
    let mut sums: BTreeMap<(Uuid, &str, &str), [i64; 6]> = BTreeMap::new();
    for (run, spent) in usage {
        let sum = sums.entry((*run, spent.role.as_str(), &spent.model)).or_default();
        let Usage { prompt_tokens, cached_tokens, completion_tokens } = spent.tokens;
        let [prompt, cached, completion] =
            [prompt_tokens, cached_tokens, completion_tokens].map(|tokens| i64::try_from(tokens).unwrap_or(i64::MAX));
        let own = [spent.calls, spent.retries, prompt, cached, completion, spent.cost];
        sum.iter_mut().zip(own).for_each(|(sum, own)| *sum = sum.saturating_add(own));
    }
    let column = |i: usize| sums.values().map(|sum| sum[i]).collect::<Vec<i64>>();
    let (runs, roles, models): (Vec<Uuid>, Vec<String>, Vec<String>) =
        sums.keys().map(|(run, role, model)| (*run, (*role).to_owned(), (*model).to_owned())).collect();
    if runs.is_empty() {
        return Ok(());
    }
    sqlx::query!(
        "INSERT INTO usage (run_id, player, writer, role, model, calls, retries,
                            prompt_tokens, cached_tokens, completion_tokens, cost)
         SELECT run, $1, $2, role, model, calls, retries, prompt, cached, completion, cost
         FROM unnest($3::uuid[], $4::text[], $5::text[], $6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[],
                     $10::bigint[], $11::bigint[])
             AS new (run, role, model, calls, retries, prompt, cached, completion, cost)
         ON CONFLICT (run_id, player, writer, role, model) DO UPDATE SET
             calls = usage.calls + EXCLUDED.calls, retries = usage.retries + EXCLUDED.retries,
             prompt_tokens = usage.prompt_tokens + EXCLUDED.prompt_tokens,
             cached_tokens = usage.cached_tokens + EXCLUDED.cached_tokens,
             completion_tokens = usage.completion_tokens + EXCLUDED.completion_tokens,
             cost = usage.cost + EXCLUDED.cost",
        writer.player,
        writer.number,
        &runs,
        &roles,
        &models,
        &column(0),
        &column(1),
        &column(2),
        &column(3),
        &column(4),
        &column(5)
    )
    .execute(db)
    .await?;
    Ok(())
}
