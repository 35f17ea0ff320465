//! What a row says about where it comes from.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use domain::calibration::OVERALL;
use domain::event::Usage;
use domain::outcome::{Ending, Outcome};
use domain::role::Role;
use domain::row::{Branch, Judge, Metadata, Seed, Worlds};
use domain::transcript::{Caller, Frame, Transcript};
use domain::verdict::Verdict;

use super::context::{Context, Voice};
use super::played::PlayedConversation;

/// `corrections`: versions of the corrections that the row reads by.
pub fn metadata(played: &PlayedConversation<'_>, frame: &Frame, voice: &Voice, corrections: Vec<u32>) -> Metadata {
    let PlayedConversation { context, scene, material, state, .. } = played;
    let branch = branch(frame);
    let failure = match played.outcome {
        Outcome::Accepted => None,
        Outcome::Failed { blame, reason } => Some((*blame, reason)),
    };
    let verdict = played.verdict;
    Metadata {
        id: match branch.call_id.as_str() {
            "" => material.id.to_string(),
            call => format!("{}/{call}", material.id),
        },
        run_id: Arc::clone(&context.run_id),
        created_at: Arc::clone(&context.created_at),
        generator: concat!("groundstate ", env!("CARGO_PKG_VERSION")),
        playbook: Arc::clone(&scene.playbook),
        scenario: Arc::clone(&scene.scenario),
        persona: Arc::clone(&played.start.persona),
        complexity: played.start.complexity,
        seed: Seed { run: context.seed, repeat: material.repeat },
        attempt: material.attempt,
        played: Arc::clone(&voice.played),
        branch,
        world: Worlds { initial: state.initial_hash.clone(), end: scene.end(state), version: state.world.version() },
        ending: state.transcript.ending().map_or("unfinished", Ending::into_str),
        user_turns: state.transcript.user_turns,
        tool_calls: state.transcript.agent_calls().count(),
        corrections,
        accepted: failure.is_none(),
        blame: failure.map_or("", |(blame, _)| blame.into_str()),
        reason: failure.map(|(_, reason)| reason.clone()).unwrap_or_default(),
        judge: judge(played),
        scores: by_criterion(context, |name| verdict?.score(name)),
        rationales: by_criterion(context, |name| {
            verdict?.scores.iter().find(|score| score.criterion == name).map(|score| score.rationale.clone())
        }),
        corrected_scores: corrected(played),
        overall: verdict.map_or(0, |v| v.overall),
        overall_rationale: verdict.map(|v| v.rationale.clone()).unwrap_or_default(),
        weighted_mean: verdict.map_or(0.0, |v| v.weighted_mean),
        goal_achieved: verdict.is_some_and(|v| v.goal_achieved),
        verifier: played.verification.clone().unwrap_or_default(),
        usage: usage(&state.transcript),
    }
}

/// Of all roles, so that columns are stable.
fn usage(transcript: &Transcript) -> BTreeMap<Cow<'static, str>, Usage> {
    let of = |role: Role| transcript.usage.get(&role).copied().unwrap_or_default();
    Role::ALL.into_iter().map(|role| (role.as_str().into(), of(role))).collect()
}

fn judge(played: &PlayedConversation<'_>) -> Judge {
    let own = &played.scene.judge;
    let said = played.material.said.as_ref();
    Judge {
        name: said.map_or_else(|| own.spec.name.clone(), |said| said.judge.clone()),
        version: said.map_or_else(|| own.version().to_owned(), |said| said.judge_version.clone()),
        models: Arc::clone(&played.context.judges),
        agreement: played.verdict.and_then(Verdict::agreement).unwrap_or(1.0),
    }
}

fn branch(frame: &Frame) -> Branch {
    let (sub_agent, call_id) = match &frame.caller {
        Caller::SubAgent { name, call_id } => (name.clone(), call_id.clone()),
        Caller::Agent | Caller::User => (String::new(), String::new()),
    };
    Branch { sub_agent, call_id, depth: frame.path.len() }
}

/// Beside the raw scores, never in their place.
fn corrected(played: &PlayedConversation<'_>) -> BTreeMap<Arc<str>, Option<f64>> {
    let context = played.context;
    if context.corrections.is_empty() {
        return BTreeMap::new();
    }
    let said = played.material.said.as_ref();
    let correction = said.and_then(|said| context.corrections.get(&said.judge_version));
    let both = correction.zip(played.verdict);
    let scores = both.map(|(correction, verdict)| correction.apply(&verdict.scores)).unwrap_or_default();
    let overall = both.and_then(|(correction, verdict)| correction.overall(verdict));
    let of = |name: &str| {
        let own = scores.iter().chain(&overall).find(|corrected| corrected.criterion == name);
        own.map(|corrected| corrected.corrected)
    };
    let mut all = by_criterion(context, of);
    all.insert(OVERALL.into(), of(OVERALL));
    all
}

fn by_criterion<T>(context: &Context, of: impl Fn(&str) -> Option<T>) -> BTreeMap<Arc<str>, Option<T>> {
    context.criteria.iter().map(|name| (Arc::clone(name), of(name))).collect()
}
