//! Calls of a playbook's tools, one after the other on one world.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::bail;
use domain::api::trials::{TracedValue, Tried, TriedReply, TriedResult, TryCall, TryCalls};
use domain::origin::Origin;
use domain::patch::Patch;
use domain::project::Kind;
use domain::transcript::Call;
use engine::World;
use engine::playbook::{Sources, compile};
use engine::tried_call::{Attempt, Reply, Traced, Why};
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
pub async fn attempt(place: &Place<'_>, playbook: &str, mut wanted: TryCalls) -> anyhow::Result<Tried> {
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
    wanted: TryCalls,
}

impl Work for CallTools {
    const NAME: &'static str = "call tools";
    type Answer = Result<Tried, Fault>;

    fn work(self, _: &dyn Fn(Value)) -> Self::Answer {
        Ok(called(&*library(self.files)?, &self.playbook, self.wanted)?)
    }
}

fn called(library: &Library, playbook: &str, wanted: TryCalls) -> anyhow::Result<Tried> {
    let TryCalls { scenario, calls, trace, .. } = wanted;
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

fn made(attempt: &mut Attempt, wanted: &[TryCall]) -> anyhow::Result<Tried> {
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
        replies.push(Telling { attempt, before: &before, earlier }.told(reply)?);
    }
    Ok(Tried { replies, note: None, world: attempt.world().to_json(), traced: None })
}

/// The last call, and what was before it.
struct Telling<'a> {
    attempt: &'a Attempt,
    before: &'a World,
    earlier: &'a [Call],
}

impl Telling<'_> {
    fn told(&self, reply: Reply) -> Result<TriedReply, PatchError> {
        let plain = |result, content| TriedReply {
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
            Reply::Answered { content, patch } => TriedReply {
                values: self.values(self.attempt.origins_of_content(&content))?,
                written: self.values(self.attempt.origins_of_patch(&patch))?,
                before: self.old(&patch),
                patch,
                ..plain(TriedResult::Answered, content)
            },
            Reply::Ended => plain(TriedResult::Ended, String::new()),
            Reply::Refused { content, why } => {
                TriedReply { why: Some(reason(&why)), ..plain(TriedResult::Refused, content) }
            }
            Reply::Broken { content, why } => TriedReply { why: Some(why), ..plain(TriedResult::Broken, content) },
            Reply::Asks { prompt } => plain(TriedResult::Asks, prompt),
        })
    }

    /// What stood at the places that a patch changes.
    fn old(&self, patch: &Patch) -> BTreeMap<String, Value> {
        let old = |path: &str| Some((path.to_owned(), self.before.get(path)?.to_json()));
        patch.iter().filter_map(|op| old(op.path())).collect()
    }

    /// Values with their origins, and of those in the world which call wrote them.
    fn values(&self, traced: Vec<Traced>) -> Result<Vec<TracedValue>, PatchError> {
        let changes: Vec<&Call> = self.earlier.iter().filter(|call| !call.patch.is_empty()).collect();
        let history = history(self.attempt.initial(), &changes)?;
        let told = |Traced { pointer, value, origin }| {
            let wrote = match &origin {
                Origin::World { pointer, .. } => history.writer(pointer)?,
                _ => None,
            };
            Ok(TracedValue { pointer, value, origin, written_by: wrote.map(writer) })
        };
        traced.into_iter().map(told).collect()
    }
}

/// Who refused a call, in words.
pub fn reason(why: &Why) -> String {
    match why {
        Why::UnknownTool => "the playbook has no such tool".to_owned(),
        Why::Arguments => "the arguments do not fit the tool's `parameters`".to_owned(),
        Why::Fail => "the tool's function called fail()".to_owned(),
        Why::Schema => "the world would no longer fit its schema".to_owned(),
        Why::Invariants(names) => format!("the world would break the invariant {}", names.join(", ")),
    }
}
