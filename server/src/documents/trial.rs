//! What authors try before they save it: the documents of a project with drafts in place of some of them. Nothing is kept.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::bail;
use domain::Message;
use domain::api::trials::{PlayScenario, Rehearsal, RolePrompt, Tried, TriedReply, TriedResult, TryCall, TryCalls};
use domain::problem::{Problem, did_you_mean};
use domain::project::{DocumentId, Kind};
use engine::World;
use engine::attempt::{Attempt, Reply, Why};
use engine::playbook::{Sources, compile};
use engine::rehearsal::{self, Way};
use serde_json::Value;
use sqlx::PgPool;
use tokio::task::spawn_blocking;
use uuid::Uuid;

use crate::bad_input::BadInput;
use crate::library::project::{Documents, Texts};
use crate::library::{Cache, Library};
use crate::store::documents;

/// Most calls that are tried at once.
const MOST_CALLS: usize = 100;

/// Whose documents they are, and how they are read.
pub struct Place<'a> {
    pub pool: &'a PgPool,
    pub cache: &'a Cache,
    pub project: Uuid,
}

/// Plays the script of a scenario.
///
/// # Errors
/// [`BadInput`] with everything that keeps it from being played.
pub async fn play(place: &Place<'_>, id: &str, wanted: PlayScenario) -> anyhow::Result<Rehearsal> {
    let named = [DocumentId { kind: Kind::Scenario, name: id.to_owned() }];
    let library = library(place, &named, wanted.drafts).await?;
    let (id, variant) = (id.to_owned(), wanted.variant);
    let way = Way { complexity: wanted.complexity, agent_style: wanted.agent_style, variant };
    spawn_blocking(move || rehearse(&library, &id, way)).await?
}

fn rehearse(library: &Library, id: &str, way: Way) -> anyhow::Result<Rehearsal> {
    let said = |message: String| BadInput::one("scenario", message);
    let scenario = library.scenario(id).map_err(said)?;
    let playbook = library.playbook(&scenario.playbook).map_err(said)?;
    let judge = library.judge_of(playbook).map_err(said)?;
    if let Some(name) = &way.variant
        && !playbook.spec.variants.iter().any(|variant| variant.name == *name)
    {
        let known = playbook.spec.variants.iter().map(|variant| variant.name.as_str());
        bail!(BadInput::one("variant", format!("there is no variant `{name}`{}", did_you_mean(name, known))));
    }
    let initial = library.initial(scenario, playbook);
    let played = rehearsal::rehearse(playbook, judge, scenario, &initial, way);
    Ok(Rehearsal {
        playbook: scenario.playbook.clone(),
        world: initial.world.to_json(),
        verification: played.conversation.state().verification.clone(),
        events: played.events,
        outcome: played.outcome,
        prompts: played.prompts.into_iter().map(prompt).collect(),
    })
}

fn prompt(prompt: rehearsal::Prompt) -> RolePrompt {
    let messages: Vec<Message> = prompt.messages;
    RolePrompt { role: prompt.who.role, sub_agent: prompt.who.sub_agent, messages, tools: prompt.tools }
}

/// Makes calls on a scenario's world, or the base world.
///
/// # Errors
/// [`BadInput`] with everything that keeps them from being made.
pub async fn attempt(place: &Place<'_>, playbook: &str, wanted: TryCalls) -> anyhow::Result<Tried> {
    if wanted.calls.is_empty() || wanted.calls.len() > MOST_CALLS {
        bail!(BadInput::one("calls", format!("give 1 to {MOST_CALLS} calls")));
    }
    let named = |kind, name: &str| DocumentId { kind, name: name.to_owned() };
    let scenario = wanted.scenario.as_deref().map(|id| named(Kind::Scenario, id));
    let named: Vec<DocumentId> = [named(Kind::Playbook, playbook)].into_iter().chain(scenario).collect();
    let library = library(place, &named, wanted.drafts).await?;
    let name = playbook.to_owned();
    spawn_blocking(move || calls(&library, &name, wanted.scenario.as_deref(), &wanted.calls)).await?
}

fn calls(library: &Library, playbook: &str, scenario: Option<&str>, wanted: &[TryCall]) -> anyhow::Result<Tried> {
    let said = |place: &'static str| move |message: String| BadInput::one(place, message);
    let playbook = library.playbook(playbook).map_err(said("playbook"))?;
    let judge = library.judge_of(playbook).map_err(said("playbook"))?;
    let scenario = scenario.map(|id| library.scenario(id)).transpose().map_err(said("scenario"))?;
    if let Some(other) = scenario.filter(|scenario| scenario.playbook != playbook.spec.name) {
        bail!(BadInput::one("scenario", format!("belongs to the playbook `{}`", other.playbook)));
    }
    // One of its own: an attempt lifts the limits on how long an agent may go on.
    let folder = format!("playbooks/{}", playbook.spec.name);
    let own = compile(&Sources { folder: &folder, files: &library.files.within(&folder) }).map_err(BadInput)?;
    let mut attempt = Attempt::new(own, Arc::clone(judge), scenario.cloned());
    let unfit = |fault| format!("The base world alone is not valid ({fault}). Call on the world of a scenario.");
    let note = scenario.is_none().then(|| attempt.playbook().check_world(attempt.world()).err().map(unfit)).flatten();
    let mut replies = Vec::new();
    for (i, call) in wanted.iter().enumerate() {
        let before = attempt.world().clone();
        let last = i + 1 == wanted.len();
        let reply = match attempt.call(&call.tool, &call.arguments) {
            // What comes before the last call is only the way to it.
            Some(Reply::Asks { .. }) if !last => attempt.answer_as_scripted().map_err(said("calls"))?,
            reply => reply,
        };
        let Some(reply) = reply else { break };
        replies.push(told(reply, &before));
    }
    Ok(Tried { replies, note, world: attempt.world().to_json() })
}

fn told(reply: Reply, before: &World) -> TriedReply {
    let plain = |result, content| TriedReply { result, content, why: None, patch: Vec::new(), before: BTreeMap::new() };
    match reply {
        Reply::Answered { content, patch } => {
            let old = |path: &str| Some((path.to_owned(), before.get(path)?.to_json()));
            let before: BTreeMap<String, Value> = patch.iter().filter_map(|op| old(op.path())).collect();
            TriedReply { patch, before, ..plain(TriedResult::Answered, content) }
        }
        Reply::Ended => plain(TriedResult::Ended, String::new()),
        Reply::Refused { content, why } => {
            TriedReply { why: Some(reason(&why)), ..plain(TriedResult::Refused, content) }
        }
        Reply::Broken { content, why } => TriedReply { why: Some(why), ..plain(TriedResult::Broken, content) },
        Reply::Asks { prompt } => plain(TriedResult::Asks, prompt),
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

/// What is promoted, the newest versions of the documents that are named, and the drafts over both.
async fn library(place: &Place<'_>, named: &[DocumentId], drafts: Texts) -> anyhow::Result<Arc<Library>> {
    let mut db = place.pool.acquire().await?;
    let mut all = documents::promoted(&mut db, place.project).await?;
    for id in named {
        if let Some(newest) = documents::get(&mut db, place.project, id, None).await?
            && !newest.saved.deleted
        {
            all.insert(id.clone(), newest.files);
        }
    }
    drop(db);
    let drafts = Documents::of(drafts).map_err(BadInput)?;
    if let Some(path) = drafts.ignored.first() {
        bail!(BadInput(vec![Problem::new(path, 0, "", "is no file of a document")]));
    }
    for (id, texts) in drafts.by_id {
        let known = all.entry(id.clone()).or_default();
        if id.kind.is_one_file() {
            known.clear();
        }
        known.extend(texts);
    }
    let cache = place.cache.clone();
    let assemble = move || cache.assemble_here(Documents::of(all.into_values().flatten())?.files());
    Ok(spawn_blocking(assemble).await?.map_err(BadInput)?)
}
