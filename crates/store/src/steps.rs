//! Steps of many conversations, kept in one transaction: all of them or none.

mod written;

use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use domain::outcome::Outcome;
use sqlx::{Connection, PgConnection};
use uuid::Uuid;

pub use self::written::Written;
use super::conversations::{Planned, columns};
use super::copy::Rows;
use super::verdicts::{Judged, agreement, scores, weighted_mean};
use super::{Result, events, players};

/// What happened next in one conversation.
#[derive(Debug, Clone)]
pub struct Step {
    pub run: Uuid,
    /// The run's own judging.
    pub judging: Uuid,
    pub planned: Planned,
    /// Hash of the world that it starts from.
    pub world: Arc<str>,
    /// Nothing of the conversation was kept yet, not even its row.
    pub begins: bool,
    /// Empty only if a conversation ends that could not be played.
    pub events: Written,
    pub end: Option<End>,
    pub spent: Vec<Spent>,
}

/// How a conversation ends.
#[derive(Debug, Clone)]
pub struct End {
    pub outcome: Outcome,
    pub ending: Option<&'static str>,
    pub user_turns: i32,
    /// `None` if it could not even be read.
    pub noted: Option<Noted>,
    pub judged: Option<Judged>,
    pub again: Option<Again>,
}

/// What lists and statistics say of a conversation, so that they need not read its events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Noted {
    /// Whether the verifier found nothing wrong; `None` if it never looked.
    pub verified: Option<bool>,
    /// Calls by the agent and its sub-agents.
    pub tool_calls: i32,
    /// The tools that they called, each once, sorted.
    pub tools: Vec<String>,
}

/// The attempt that takes its place.
#[derive(Debug, Clone)]
pub struct Again {
    pub planned: Planned,
    /// It begins with the events of this one, up to what the judge was to say.
    pub from_judge: bool,
}

/// What a model was asked for.
#[derive(Debug, Clone)]
pub struct Spent {
    pub role: &'static str,
    pub model: Arc<str>,
    pub calls: i64,
    pub retries: i64,
    pub prompt_tokens: i64,
    pub cached_tokens: i64,
    pub completion_tokens: i64,
    /// In billionths of the unit of the prices.
    pub cost: i64,
}

impl Spent {
    pub fn nothing(role: &'static str, model: Arc<str>) -> Self {
        Self { role, model, calls: 0, retries: 0, prompt_tokens: 0, cached_tokens: 0, completion_tokens: 0, cost: 0 }
    }
}

/// Who writes: a player, and which of its connections.
#[derive(Debug, Clone, Copy)]
pub struct Writer {
    pub player: i64,
    pub number: i16,
}

/// Keeps the steps. False, and nothing is kept, if the player was given up: others play its conversations now.
pub async fn commit(db: &mut PgConnection, writer: Writer, steps: &[&Step], now: DateTime<Utc>) -> Result<bool> {
    let mut tx = db.begin().await?;
    if !players::hold(&mut tx, writer.player).await? {
        return Ok(false);
    }
    finish(&mut tx, steps, now).await?;
    copy(&mut tx, CONVERSATIONS, conversations(steps, now)).await?;
    copy(&mut tx, EVENTS, Some(all_events(steps, now))).await?;
    let unjudged =
        steps.iter().filter_map(|step| again(step).filter(|again| again.from_judge).map(|again| (step, again)));
    let (from, to): (Vec<_>, Vec<_>) = unjudged.map(|(step, again)| (step.planned.id, again.planned.id)).unzip();
    if !from.is_empty() {
        events::copy_before_judge(&mut tx, &from, &to).await?;
    }
    copy(&mut tx, VERDICTS, verdicts(steps, now)?).await?;
    tally(&mut tx, writer, steps).await?;
    count_usage(&mut tx, writer, steps).await?;
    tx.commit().await?;
    Ok(true)
}

/// Whether steps that were sent with no answer were kept: a transaction is kept whole.
pub async fn were_kept(db: &mut PgConnection, steps: &[&Step]) -> Result<bool> {
    let Some(step) = steps.first() else { return Ok(true) };
    let kept = if let Some(seq) = step.events.last() {
        let event =
            sqlx::query!("SELECT seq FROM events WHERE conversation_id = $1 AND seq = $2", step.planned.id, seq);
        event.fetch_optional(db).await?.is_some()
    } else {
        let ended = sqlx::query!("SELECT id FROM conversations WHERE id = $1 AND outcome IS NOT NULL", step.planned.id);
        ended.fetch_optional(db).await?.is_some()
    };
    Ok(kept)
}

fn again(step: &Step) -> Option<&Again> {
    step.end.as_ref()?.again.as_ref()
}

async fn copy(db: &mut PgConnection, into: &str, rows: Option<Rows>) -> Result<()> {
    let Some(rows) = rows else { return Ok(()) };
    let mut copy = db.copy_in_raw(into).await?;
    copy.send(rows.finish()).await?;
    copy.finish().await?;
    Ok(())
}

const CONVERSATIONS: &str = "COPY conversations (id, run_id, position, scenario, repeat, persona, complexity, world, \
     attempt, outcome, blame, reason, finished_at, ending, user_turns, superseded, verified, tool_calls, tools) FROM STDIN (FORMAT BINARY)";

/// Rows of conversations that begin, among them the attempts that take the place of others.
fn conversations(steps: &[&Step], now: DateTime<Utc>) -> Option<Rows> {
    let mut rows = Rows::new();
    let mut any = false;
    for step in steps {
        if step.begins {
            any = true;
            begun(&mut rows, step, &step.planned);
            match &step.end {
                Some(end) => {
                    let (outcome, blame, reason) = columns(&end.outcome);
                    rows.text(outcome).optional(blame).optional(reason).time(now);
                    rows.optional(end.ending).int(end.user_turns).bool(Some(end.again.is_some()));
                    note(&mut rows, end.noted.as_ref());
                }
                None => unfinished(&mut rows),
            }
        }
        if let Some(again) = again(step) {
            any = true;
            begun(&mut rows, step, &again.planned);
            unfinished(&mut rows);
        }
    }
    any.then_some(rows)
}

fn begun(rows: &mut Rows, step: &Step, planned: &Planned) {
    rows.row(19).uuid(planned.id).uuid(step.run).int(planned.position).text(&planned.scenario).int(planned.repeat);
    rows.text(&planned.persona).text(&planned.complexity).text(&step.world).int(planned.attempt);
}

fn unfinished(rows: &mut Rows) {
    rows.null().null().null().null().null().null().bool(Some(false));
    note(rows, None);
}

fn note(rows: &mut Rows, noted: Option<&Noted>) {
    match noted {
        Some(noted) => rows.bool(noted.verified).int(noted.tool_calls).texts(Some(&noted.tools)),
        None => rows.null().null().null(),
    };
}

fn column<'a, T>(ends: &[(Uuid, &'a End)], field: impl Fn(&'a End) -> T) -> Vec<T> {
    ends.iter().map(|(_, end)| field(end)).collect()
}

/// Ends of conversations that have a row already.
async fn finish(db: &mut PgConnection, steps: &[&Step], now: DateTime<Utc>) -> Result<()> {
    let ends: Vec<(Uuid, &End)> = steps
        .iter()
        .filter(|step| !step.begins)
        .filter_map(|step| Some((step.planned.id, step.end.as_ref()?)))
        .collect();
    if ends.is_empty() {
        return Ok(());
    }
    let optional = |text: Option<&str>| text.map(str::to_owned);
    let noted = |end: &End| end.noted.clone();
    // An array of arrays would be one: names of tools hold no comma.
    let tools = |end: &End| noted(end).map(|noted| noted.tools.join(","));
    sqlx::query!(
        "UPDATE conversations SET outcome = ended.outcome, blame = ended.blame, reason = ended.reason, finished_at = $8,
             ending = ended.ending, user_turns = ended.user_turns, superseded = ended.superseded,
             verified = ended.verified, tool_calls = ended.tool_calls, tools = string_to_array(ended.tools, ',')
         FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::int[], $7::bool[], $9::bool[],
                     $10::int[], $11::text[])
              AS ended (id, outcome, blame, reason, ending, user_turns, superseded, verified, tool_calls, tools)
         WHERE conversations.id = ended.id AND conversations.outcome IS NULL",
        &ends.iter().map(|(id, _)| *id).collect::<Vec<_>>(),
        &column(&ends, |end| columns(&end.outcome).0.to_owned()),
        &column(&ends, |end| optional(columns(&end.outcome).1)) as &[Option<String>],
        &column(&ends, |end| optional(columns(&end.outcome).2)) as &[Option<String>],
        &column(&ends, |end| optional(end.ending)) as &[Option<String>],
        &column(&ends, |end| end.user_turns),
        &column(&ends, |end| end.again.is_some()),
        now,
        &column(&ends, |end| noted(end)?.verified) as &[Option<bool>],
        &column(&ends, |end| noted(end).map(|noted| noted.tool_calls)) as &[Option<i32>],
        &column(&ends, tools) as &[Option<String>]
    )
    .execute(db)
    .await?;
    Ok(())
}

/// Bytes of an event's row besides its text: four fields with their lengths.
const EVENT_FRAME: usize = 2 + 4 * 4 + 16 + 4 + 8;
const EVENTS: &str = "COPY events (conversation_id, seq, event, created_at) FROM STDIN (FORMAT BINARY)";

fn all_events(steps: &[&Step], now: DateTime<Utc>) -> Rows {
    let bytes = steps.iter().map(|step| step.events.bytes() + step.events.len() * EVENT_FRAME).sum();
    let mut rows = Rows::with_capacity(bytes);
    for step in steps {
        for (seq, event) in step.events.each() {
            rows.row(4).uuid(step.planned.id).int(seq).text(event).time(now);
        }
    }
    rows
}

const VERDICTS: &str = "COPY verdicts (conversation_id, judging_id, judge, judge_version, overall, goal_achieved, \
     verdict, outcome, blame, reason, created_at, scores, weighted_mean, agreement) FROM STDIN (FORMAT BINARY)";

fn verdicts(steps: &[&Step], now: DateTime<Utc>) -> Result<Option<Rows>> {
    let mut rows = Rows::new();
    let mut any = false;
    for step in steps {
        let Some(judged) = step.end.as_ref().and_then(|end| end.judged.as_ref()) else { continue };
        any = true;
        let verdict = judged.verdict.as_ref();
        let body = verdict.map(serde_json::to_string).transpose();
        let body = body.map_err(|error| super::verdicts::bad(step.planned.id, &error))?;
        let (outcome, blame, reason) = columns(&judged.outcome);
        rows.row(14).uuid(step.planned.id).uuid(step.judging).text(&judged.judge).text(&judged.judge_version);
        rows.small(verdict.map(|v| v.overall.into())).bool(verdict.map(|v| v.goal_achieved)).jsonb(body.as_deref());
        rows.text(outcome).optional(blame).optional(reason).time(now);
        rows.smalls(verdict.map(scores).as_deref()).real(verdict.map(weighted_mean)).real(verdict.and_then(agreement));
    }
    Ok(any.then_some(rows))
}

/// Counts what ended how.
async fn tally(db: &mut PgConnection, writer: Writer, steps: &[&Step]) -> Result<()> {
    let mut counts: BTreeMap<(Uuid, &str, bool), i64> = BTreeMap::new();
    for (step, end) in steps.iter().filter_map(|step| Some((step, step.end.as_ref()?))) {
        let (outcome, blame, _) = columns(&end.outcome);
        *counts.entry((step.run, blame.unwrap_or(outcome), end.again.is_some())).or_default() += 1;
    }
    let (runs, outcomes, superseded): (Vec<Uuid>, Vec<String>, Vec<bool>) =
        counts.keys().map(|(run, outcome, superseded)| (*run, (*outcome).to_owned(), *superseded)).collect();
    if runs.is_empty() {
        return Ok(());
    }
    sqlx::query!(
        "INSERT INTO tallies (run_id, player, writer, outcome, superseded, conversations)
         SELECT run, $1, $2, outcome, superseded, n
         FROM unnest($3::uuid[], $4::text[], $5::bool[], $6::bigint[]) AS new (run, outcome, superseded, n)
         ON CONFLICT (run_id, player, writer, outcome, superseded)
         DO UPDATE SET conversations = tallies.conversations + EXCLUDED.conversations",
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

/// Counts what models were asked for.
async fn count_usage(db: &mut PgConnection, writer: Writer, steps: &[&Step]) -> Result<()> {
    let mut sums: BTreeMap<(Uuid, &str, &str), [i64; 6]> = BTreeMap::new();
    for (step, spent) in steps.iter().flat_map(|step| step.spent.iter().map(move |spent| (step, spent))) {
        let sum = sums.entry((step.run, spent.role, &spent.model)).or_default();
        let tokens = [spent.prompt_tokens, spent.cached_tokens, spent.completion_tokens];
        let own = [spent.calls, spent.retries, tokens[0], tokens[1], tokens[2], spent.cost];
        sum.iter_mut().zip(own).for_each(|(sum, own)| *sum += own);
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
