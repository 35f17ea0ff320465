//! Corrections of what agents said: checked before they are kept, as far as that can be done without playing on.

pub mod view;

use std::sync::Arc;

use anyhow::Context;
use domain::correction::{self, CorrectedTurn, Correction};
use domain::event::Event;
use domain::message::{Message, ToolCall};
use domain::problem::Problem;
use domain::row;
use domain::transcript::Transcript;
use engine::Conversation;
use serde_json::{Map, Value};
use sqlx::PgPool;
use uuid::Uuid;

use super::{plan, stored_runs};
use domain::bad_input::BadInput;
use store::{conversations, corrections, events};

/// What is not done again when a turn is corrected.
pub const NOT_RECHECKED: [&str; 4] = [
    "the turns that follow are not played again: the answers of tools are those that the original calls got, and the user \
     answers what was said originally",
    "the world and its versions are those that were played",
    "verdicts and the verifier's findings are those of the original",
    "the playbook's policy rules are not evaluated again, and reasoning is not traced to its sources",
];

/// The parts of a turn that are to read differently.
pub struct TurnEdit {
    pub content: Option<String>,
    pub reasoning: Option<String>,
    /// Name and arguments of each of its calls.
    pub tool_calls: Option<Vec<(String, Map<String, Value>)>>,
}

/// The turn as it is to be kept: parts that are not wanted otherwise stay as they read now.
///
/// # Errors
/// [`BadInput`]: all that is wrong with it, by field.
pub async fn checked(pool: &PgPool, id: Uuid, seq: u32, wanted: TurnEdit) -> anyhow::Result<CorrectedTurn> {
    let (run, planned, events, known) = {
        let mut db = pool.acquire().await?;
        let (run, planned) = conversations::planned(&mut db, id).await?.context("the conversation is gone")?;
        (run, planned, events::of::<Event>(&mut db, id).await?, corrections::latest(&mut db, id).await?)
    };
    let original = turn(&events.iter().cloned().collect(), seq)?;
    let change = wanted.change(&original)?;
    let (run, config, library) = stored_runs::load(pool, run).await?;
    let case = Arc::new(plan::case(&library, &config, run.seed, &planned)?);
    let before = Conversation::resume(case, events.iter().take_while(|event| event.seq < seq))?;
    let faults = before
        .turn_faults(change.content.as_deref().unwrap_or_default(), change.tool_calls.as_deref().unwrap_or_default());
    if !faults.is_empty() {
        return Err(BadInput(faults.into_iter().map(|(at, what)| problem(&at, &what)).collect()).into());
    }
    over(&known, seq, change, original)
}

/// The agent's turn that an event is.
pub fn turn(transcript: &Transcript, seq: u32) -> anyhow::Result<Message> {
    let turns = transcript.agent_turns();
    if let Some((_, turn)) = turns.iter().find(|(own, _)| *own == seq) {
        return Ok(Message::clone(turn));
    }
    let turns: Vec<String> = turns.iter().map(|(seq, _)| seq.to_string()).collect();
    let message = match turns.join(", ") {
        turns if turns.is_empty() => "no agent ever spoke in this conversation".to_owned(),
        turns if seq < transcript.next_seq => {
            format!("event {seq} is not a turn of an agent, and only those are corrected: {turns}")
        }
        turns => format!("there is no event {seq}; the agents' turns are {turns}"),
    };
    Err(BadInput(vec![problem("seq", &message)]).into())
}

impl TurnEdit {
    /// The calls keep the ids of the original ones, whose answers follow.
    fn change(self, original: &Message) -> anyhow::Result<CorrectedTurn> {
        let made = match original {
            Message::Assistant { tool_calls, .. } => tool_calls.as_slice(),
            _ => &[],
        };
        if let Some(calls) = &self.tool_calls
            && calls.len() != made.len()
        {
            let message = format!(
                "the turn made {} calls, whose answers follow: correct each in its place, and add or drop none",
                made.len()
            );
            return Err(BadInput(vec![problem("tool_calls", &message)]).into());
        }
        let call = |(old, (name, arguments)): (&ToolCall, (String, Map<String, Value>))| {
            ToolCall::new(old.id.clone(), name, Value::Object(arguments).to_string())
        };
        let tool_calls = self.tool_calls.map(|calls| made.iter().zip(calls).map(call).collect());
        Ok(CorrectedTurn { content: self.content, reasoning: self.reasoning, tool_calls })
    }
}

/// The change together with what was corrected before.
fn over(known: &[Correction], seq: u32, change: CorrectedTurn, original: Message) -> anyhow::Result<CorrectedTurn> {
    let now = correction::in_force(known, u32::MAX).get(&seq).and_then(|found| found.turn.clone()).unwrap_or_default();
    let turn = CorrectedTurn {
        content: change.content.or_else(|| now.content.clone()),
        reasoning: change.reasoning.or_else(|| now.reasoning.clone()),
        tool_calls: change.tool_calls.or_else(|| now.tool_calls.clone()),
    };
    let (mut reads, mut corrected) = (original.clone(), original);
    now.over(&mut reads);
    turn.over(&mut corrected);
    let fault = match &corrected {
        same if *same == reads => Some(("", "the turn is like that already: nothing would be corrected".to_owned())),
        Message::Assistant { content, tool_calls, .. } if content.trim().is_empty() && tool_calls.is_empty() => {
            Some(("content", "an agent that makes no call must say something".to_owned()))
        }
        // What no trainer could use is no correction.
        _ => row::fault_of(&[corrected]).map(|fault| ("", fault)),
    };
    match fault {
        None => Ok(turn),
        Some((field, message)) => Err(BadInput(vec![problem(field, &message)]).into()),
    }
}

fn problem(field: &str, message: &str) -> Problem {
    Problem::new("", 0, field, message)
}
