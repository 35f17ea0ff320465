//! The canonical rows of one conversation: the agent's under test, and its sub-agents'.
//!
//! A row is made from the events alone, by the same fold that plays and resumes conversations, with what people wrote over
//! the agent's turns in its place. What else it says (prompt, tools, documents) was fixed before the first word, and is made
//! once for all rows of a scenario.

use std::mem;
use std::sync::Arc;

use anyhow::Context as _;
use domain::correction::{self, in_force};
use domain::event::Event;
use domain::message::Message;
use domain::outcome::Outcome;
use domain::reward::Penalties;
use domain::row::{Row, Verifier};
use domain::sampling::SampledTokens;
use domain::transcript::Frame;
use domain::verdict::{Verdict, Verification};
use engine::conversation_state::State;
use serde_json::Deserializer;

use super::context::Context;
use super::metadata;
use super::played::PlayedConversation;
use super::source::Source;
use super::wanted_rows::{Purpose, WantedRows};
use store::material::{JudgingResult, Material};

/// What became of a conversation.
pub enum RowOutcome {
    Rows {
        /// Its own row first; or why no trainer could use it.
        rows: Vec<Result<Row, String>>,
        /// Whether the verifier found nothing wrong.
        passed: bool,
    },
    NotAccepted,
    /// It came to its end, and the judging that counts has no verdict on it.
    NotJudged,
    /// It could not be played to an end.
    Unfinished,
}

/// # Errors
/// Its events are damaged, or the run's documents are.
pub fn rows(context: &Context, material: &Material, wanted: WantedRows) -> anyhow::Result<RowOutcome> {
    let WantedRows { all, branches, purpose } = wanted;
    let said = material.said.as_ref();
    let accepted = said.map_or(&material.outcome, |said| &said.outcome) == &Outcome::Accepted;
    let Some(text) = &material.events else {
        return Ok(if accepted { RowOutcome::Unfinished } else { RowOutcome::NotAccepted });
    };
    let broken = || format!("conversation {} of run {}", material.position, material.run);
    let scene = context.scene(&material.scenario)?;
    let mut state = State::new(&scene.initial);
    for event in Deserializer::from_str(text).into_iter::<Event>() {
        state.apply(event.with_context(broken)?).with_context(broken)?;
    }
    let Some(start) = &state.transcript.start else { return Ok(RowOutcome::Unfinished) };
    let outcome = match (said, &state.transcript.outcome) {
        (Some(said), _) => &said.outcome,
        (None, Some(_)) if !material.original && state.transcript.end.is_some() => return Ok(RowOutcome::NotJudged),
        (None, Some(outcome)) => outcome,
        (None, None) => return Ok(RowOutcome::Unfinished),
    };
    if !all && *outcome != Outcome::Accepted {
        return Ok(RowOutcome::NotAccepted);
    }
    let own =
        if state.transcript.verdicts.len() == 1 { state.transcript.verdicts.pop() } else { state.transcript.verdict() };
    // The agent under test stands first.
    let (agents, sub_agents) = (mem::take(&mut state.transcript.agents), mem::take(&mut state.transcript.branches));
    // Who judges again verifies again.
    let verification = said.and_then(|said| said.verification.clone()).or_else(|| state.transcript.verification.take());
    let played = PlayedConversation {
        context,
        scene: &scene,
        material,
        start,
        state: &state,
        outcome,
        verdict: said.and_then(|said| verdict(said, material.original, own.as_ref())),
        verification: verification.map(verifier),
    };
    // One that was stopped has calls that nobody answered.
    let done = sub_agents.into_iter().filter(|frame| branches && frame.pending.is_empty());
    let passed = played.verification.as_ref().is_some_and(|verifier| verifier.passed);
    let rows = agents.into_iter().take(1).chain(done).map(|frame| row(&played, frame, purpose)).collect();
    Ok(RowOutcome::Rows { rows, passed })
}

/// The row of the agent under test, whether it was accepted or not.
///
/// # Errors
/// It has none, or as [`rows`].
pub fn own_row(source: &Source, material: &Material) -> anyhow::Result<Row> {
    let context = source.contexts.get(&material.run).context("a conversation is of another run")?;
    match rows(context, material, WantedRows { all: true, branches: false, ..source.wanted })? {
        RowOutcome::Rows { rows, .. } => {
            rows.into_iter().next().and_then(Result::ok).context("a row changed while it was read")
        }
        _ => anyhow::bail!("a row changed while it was read"),
    }
}

fn verifier(found: Verification) -> Verifier {
    Verifier { passed: found.passed(), items: found.items.into() }
}

fn verdict<'a>(said: &'a JudgingResult, original: bool, own: Option<&'a Verdict>) -> Option<&'a Verdict> {
    if original { own.filter(|_| said.judged) } else { said.verdict.as_ref() }
}

/// # Errors
/// Why no trainer could use what this agent did.
fn row(played: &PlayedConversation<'_>, mut frame: Frame, purpose: Purpose) -> Result<Row, String> {
    let transcript = &played.state.transcript;
    let mut calls = transcript.calls.iter().filter(|call| call.caller == frame.caller);
    if let Some(call) = calls.find(|call| call.answer.malformed() && purpose == Purpose::Imitation) {
        return Err(format!("the agent made a call that `{}` does not accept", call.tool));
    }
    let corrected = correction::apply(&mut frame, &in_force(&played.material.corrections, version(played)));
    let sampled = sampled(&frame).filter(|_| corrected.is_empty());
    let corrections = corrected.into_iter().map(|correction| correction.version).collect();
    let voice = played.context.voice(played.scene, &frame);
    let mut messages = vec![Message::System { content: voice.system.clone() }];
    messages.append(&mut frame.messages);
    // What the user says after the agent's last turn teaches nothing, and trainers want the last word to be the agent's.
    let teaches_nothing = |message: &Message| match message {
        Message::User { .. } => true,
        Message::Tool { .. } => purpose == Purpose::Reward,
        Message::System { .. } | Message::Assistant { .. } => false,
    };
    while messages.last().is_some_and(teaches_nothing) {
        messages.pop();
    }
    let tools = Arc::clone(&voice.tools);
    let metadata = metadata::metadata(played, &frame, &voice, corrections);
    let row = Row { messages, tools, metadata, sampled, penalties: Penalties::of(transcript) };
    row.fault().map_or(Ok(row), Err)
}

/// The tokens of all turns of an agent.
fn sampled(frame: &Frame) -> Option<Vec<Arc<SampledTokens>>> {
    let mut known = frame.sampled.as_ref()?.turns.iter();
    let turns = frame.entries().filter(|(_, message)| matches!(message, Message::Assistant { .. }));
    let tokens = |seq: u32| known.find(|(known, _)| *known == seq).and_then(|(_, sampling)| sampling.tokens().cloned());
    turns.map(|(seq, _)| seq).map(tokens).collect()
}

/// Up to which version corrections count. What people wrote after a corpus was made was neither scanned nor compared.
fn version(played: &PlayedConversation<'_>) -> u32 {
    let Some(corrected) = &played.context.corrected else { return u32::MAX };
    corrected.get(&played.material.id).copied().unwrap_or_default()
}
