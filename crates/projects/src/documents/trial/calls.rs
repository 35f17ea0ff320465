//! Calls of a playbook's tools, one after the other on one world.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::bail;
use domain::api::trials::{TracedValue, TrialCall, TrialCalls, TrialReply, TrialReport, TrialResult};
use domain::origin::Origin;
use domain::patch::Patch;
use domain::project::Kind;
use domain::transcript::Call;
use engine::World;
use engine::playbook::{Sources, compile};
use engine::trial_call::{Attempt, RefusalSource, Reply, TracedOrigin};
use engine::world::PatchError;
use sandbox::Work;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Place, field, library, named, traced, tried};
use crate::library::{Files, Library};
use crate::provenance::{history, writer};
use crate::sandboxed::Fault;
use domain::bad_input::BadInput;

/// Most calls that are tried at once.
const MOST_CALLS: usize = 100;

/// Makes calls on a scenario's world, or the base world.
///
/// # Errors
/// [`BadInput`] with everything that keeps them from being made.
pub async fn attempt(place: &Place<'_>, playbook: &str, mut wanted: TrialCalls) -> anyhow::Result<TrialReport> {
    if wanted.calls.is_empty() || wanted.calls.len() > MOST_CALLS {
        bail!(field("calls", format!("give 1 to {MOST_CALLS} calls")));
    }
    let (named, drafts) = (named(playbook, wanted.scenario.as_deref()), std::mem::take(&mut wanted.drafts));
    tried(place, &named, drafts, |files| CallTools { files, playbook: playbook.to_owned(), wanted }).await
}

/// Makes calls of a playbook's tools.
#[derive(Serialize, Deserialize)]
pub struct CallTools {
    files: Files,
    playbook: String,
    wanted: TrialCalls,
}

impl Work for CallTools {
    const NAME: &'static str = "call tools";
    type Answer = Result<TrialReport, Fault>;

    fn work(self, _: &dyn Fn(Value)) -> Self::Answer {
        Ok(called(&*library(self.files)?, &self.playbook, self.wanted)?)
    }
}

fn called(library: &Library, playbook: &str, wanted: TrialCalls) -> anyhow::Result<TrialReport> {
    let TrialCalls { scenario, calls, trace, .. } = wanted;
    let mut attempt = begun(library, playbook, scenario.as_deref())?;
    let mut tried = made(&mut attempt, &calls)?;
    let found = trace.map(|trace| traced(attempt.initial(), attempt.transcript(), &trace));
    tried.traced = found.transpose()?;
    if scenario.is_none() {
        tried.note = unfit(&attempt);
    }
    Ok(tried)
}

fn begun(library: &Library, playbook: &str, scenario: Option<&str>) -> anyhow::Result<Attempt> {
    let unknown = |message: String| BadInput::one(Kind::Playbook.to_string(), message);
    let playbook = library.playbook(playbook).map_err(unknown)?;
    let judge = library.judge_of(playbook).map_err(unknown)?;
    let scenario = scenario.map(|id| library.scenario(id)).transpose().map_err(|why| field("scenario", why))?;
    if let Some(other) = scenario.filter(|scenario| scenario.playbook != playbook.spec.name) {
        bail!(field("scenario", format!("belongs to the playbook `{}`", other.playbook)));
    }
    // One of its own: an attempt lifts the limits on how long an agent may go on.
    let folder = format!("playbooks/{}", playbook.spec.name);
    let own = compile(&Sources { folder: &folder, files: &library.files.within(&folder) }).map_err(BadInput)?;
    Ok(Attempt::new(own, Arc::clone(judge), scenario.cloned()))
}

/// What is wrong with the base world by itself.
fn unfit(attempt: &Attempt) -> Option<String> {
    let fault = attempt.check_world().err()?;
    Some(format!("The base world alone is not valid ({fault}). Call on the world of a scenario."))
}

fn made(attempt: &mut Attempt, wanted: &[TrialCall]) -> anyhow::Result<TrialReport> {
    let mut replies = Vec::new();
    for (i, call) in wanted.iter().enumerate() {
        let (before, known) = (attempt.world().clone(), attempt.transcript().calls.len());
        let last = i + 1 == wanted.len();
        let reply = match attempt.call(&call.tool, &call.arguments) {
            // What comes before the last call is only the way to it.
            Some(Reply::Asks { .. }) if !last => attempt.answer_as_scripted().map_err(|why| field("calls", why))?,
            reply => reply,
        };
        let Some(reply) = reply else { break };
        let earlier = &attempt.transcript().calls[..known];
        replies.push(CallReport { attempt, before: &before, earlier }.to_reply(reply)?);
    }
    Ok(TrialReport { replies, note: None, world: attempt.world().to_json(), traced: None })
}

/// The last call, and what was before it.
struct CallReport<'a> {
    attempt: &'a Attempt,
    before: &'a World,
    earlier: &'a [Call],
}

impl CallReport<'_> {
    fn to_reply(&self, reply: Reply) -> Result<TrialReply, PatchError> {
        let plain = |result, content| TrialReply {
            result,
            seq: self.attempt.transcript().next_seq.saturating_sub(1),
            content,
            why: None,
            printed: self.attempt.printed(),
            patch: Vec::new(),
            before: BTreeMap::new(),
            values: Vec::new(),
            written: Vec::new(),
        };
        Ok(match reply {
            Reply::Answered { content, patch } => TrialReply {
                values: self.values(self.attempt.origins_of_content(&content))?,
                written: self.values(self.attempt.origins_of_patch(&patch))?,
                before: self.old(&patch),
                patch,
                ..plain(TrialResult::Answered, content)
            },
            Reply::Ended => plain(TrialResult::Ended, String::new()),
            Reply::Refused { content, why } => {
                TrialReply { why: Some(reason(&why)), ..plain(TrialResult::Refused, content) }
            }
            Reply::Broken { content, why } => TrialReply { why: Some(why), ..plain(TrialResult::Broken, content) },
            Reply::Asks { prompt } => plain(TrialResult::Asks, prompt),
        })
    }

    /// What stood at the places that a patch changes.
    fn old(&self, patch: &Patch) -> BTreeMap<String, Value> {
        let old = |path: &str| Some((path.to_owned(), self.before.get(path)?.to_json()));
        patch.iter().filter_map(|op| old(op.path())).collect()
    }

    /// Values with their origins, and of those in the world which call wrote them.
    fn values(&self, traced: Vec<TracedOrigin>) -> Result<Vec<TracedValue>, PatchError> {
        let changes: Vec<&Call> = self.earlier.iter().filter(|call| !call.patch.is_empty()).collect();
        let history = history(self.attempt.initial(), &changes)?;
        let to_api = |TracedOrigin { pointer, value, origin }| {
            let wrote = match &origin {
                Origin::World { pointer, .. } => history.writer(pointer)?,
                _ => None,
            };
            Ok(TracedValue { pointer, value, origin, written_by: wrote.map(writer) })
        };
        traced.into_iter().map(to_api).collect()
    }
}

/// Who refused a call, in words.
pub fn reason(why: &RefusalSource) -> String {
    match why {
        RefusalSource::UnknownTool => "the playbook has no such tool".to_owned(),
        RefusalSource::Arguments => "the arguments do not fit the tool's `parameters`".to_owned(),
        RefusalSource::Fail => "the tool's function called fail()".to_owned(),
        RefusalSource::Hook(name) => format!("the hook `{name}` called fail()"),
        RefusalSource::Schema => "the world would no longer fit its schema".to_owned(),
        RefusalSource::Invariants(names) => format!("the world would break the invariant {}", names.join(", ")),
    }
}
