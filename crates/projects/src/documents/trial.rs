//! What authors try before they save it: the documents of a project with drafts in place of some of them. Nothing is kept.

mod calls;
mod graph;
mod prompts;

use std::sync::Arc;

use anyhow::bail;
use domain::api::Provenance;
use domain::api::trials::{PlayScenario, Rehearsal, Trace};
use domain::problem::{Problem, did_you_mean};
use domain::project::{DocumentId, Kind};
use domain::scenario::Scenario;
use domain::transcript::Transcript;
use engine::World;
use engine::rehearsal::{self, RehearsalOptions};
use sandbox::{Sandbox, Work};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sqlx::PgPool;
use uuid::Uuid;

pub use calls::{CallTools, attempt, reason};
pub use graph::{DrawSteps, graph};
pub use prompts::{RenderTemplates, prompts};

use crate::library::project::{Documents, Texts};
use crate::library::{Files, Library};
use crate::provenance;
use crate::sandboxed::{Fault, LIBRARIES, answer};
use domain::bad_input::BadInput;
use store::documents;

/// Whose documents they are, and where they are tried.
pub struct Place<'a> {
    pub pool: &'a PgPool,
    pub sandbox: &'a Sandbox,
    pub project: Uuid,
}

/// Plays the script of a scenario.
///
/// # Errors
/// [`BadInput`] with everything that keeps it from being played.
pub async fn play(place: &Place<'_>, id: &str, mut wanted: PlayScenario) -> anyhow::Result<Rehearsal> {
    let named = [DocumentId { kind: Kind::Scenario, name: id.to_owned() }];
    let drafts = std::mem::take(&mut wanted.drafts);
    tried(place, &named, drafts, |files| PlayScript { files, scenario: id.to_owned(), wanted }).await
}

/// Does work on the project with its drafts, in the sandbox. The first document that is named is the one that a limit is
/// reported of.
async fn tried<W: Work<Answer = Result<T, Fault>>, T>(
    place: &Place<'_>,
    named: &[DocumentId],
    drafts: Texts,
    work: impl FnOnce(Files) -> W,
) -> anyhow::Result<T> {
    let files = files(place, named, drafts).await?;
    answer(&named[0].path(None), place.sandbox.run(place.project, work(files)).await)
}

/// Plays the script of a scenario.
#[derive(Serialize, Deserialize)]
pub struct PlayScript {
    files: Files,
    scenario: String,
    wanted: PlayScenario,
}

impl Work for PlayScript {
    const NAME: &'static str = "play a script";
    type Answer = Result<Rehearsal, Fault>;

    fn work(self, _: &dyn Fn(Value)) -> Self::Answer {
        let PlayScenario { complexity, agent_style, variant, trace, .. } = self.wanted;
        let way = RehearsalOptions { complexity, agent_style, variant };
        Ok(rehearse(&*library(self.files)?, &self.scenario, way, trace.as_ref())?)
    }
}

fn rehearse(library: &Library, id: &str, way: RehearsalOptions, trace: Option<&Trace>) -> anyhow::Result<Rehearsal> {
    let scenario = library.scenario(id).map_err(|why| BadInput::one("scenario", why))?;
    let played = played(library, scenario, way)?;
    let initial = &played.conversation.case().initial.world;
    let transcript = &played.conversation.state().transcript;
    let traced = trace.map(|trace| traced(initial, transcript, trace)).transpose()?;
    Ok(Rehearsal {
        playbook: scenario.playbook.clone(),
        world: initial.to_json(),
        verification: transcript.verification.clone(),
        events: played.events,
        outcome: played.outcome,
        prompts: played.prompts.into_iter().map(prompts::role_prompt).collect(),
        traced,
    })
}

fn played(library: &Library, scenario: &Arc<Scenario>, way: RehearsalOptions) -> anyhow::Result<rehearsal::Rehearsal> {
    let said = |message: String| BadInput::one("scenario", message);
    let playbook = library.playbook(&scenario.playbook).map_err(said)?;
    let judge = library.judge_of(playbook).map_err(said)?;
    if let Some(name) = &way.variant
        && !playbook.spec.variants.iter().any(|variant| variant.name == *name)
    {
        let known = playbook.spec.variants.iter().map(|variant| variant.name.as_str());
        bail!(field("variant", format!("there is no variant `{name}`{}", did_you_mean(name, known))));
    }
    Ok(rehearsal::rehearse(playbook, judge, scenario, &library.initial(scenario, playbook), way))
}

/// Where a value of the world comes from, after the event that is named.
fn traced(initial: &World, transcript: &Transcript, trace: &Trace) -> anyhow::Result<Provenance> {
    let pointer = trace.pointer.as_str();
    if domain::patch::segments(pointer).is_none() {
        bail!(field("trace.pointer", format!("`{pointer}` is not a JSON pointer: it starts with `/`")));
    }
    let changes = transcript.changes().filter(|call| trace.seq.is_none_or(|seq| call.seq <= seq));
    let found = provenance::of(initial, &changes.collect::<Vec<_>>(), pointer)?;
    Ok(found.ok_or_else(|| field("trace.pointer", format!("there is nothing at {pointer}")))?)
}

/// What is wrong with a field of what was sent.
fn field(name: &str, message: impl Into<String>) -> BadInput {
    BadInput(vec![Problem::new("", 0, name, message)])
}

/// The documents that are taken as they are written now.
fn named(playbook: &str, scenario: Option<&str>) -> Vec<DocumentId> {
    let named = |kind, name: &str| DocumentId { kind, name: name.to_owned() };
    let scenario = scenario.map(|id| named(Kind::Scenario, id));
    [named(Kind::Playbook, playbook)].into_iter().chain(scenario).collect()
}

/// What is promoted, the newest versions of the documents that are named, and the drafts over both.
async fn files(place: &Place<'_>, named: &[DocumentId], drafts: Texts) -> anyhow::Result<Files> {
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
        bail!(BadInput(vec![Problem::new(path, 0, "", "is not a file of a document")]));
    }
    for (id, texts) in drafts.by_id {
        let known = all.entry(id.clone()).or_default();
        if id.kind.is_one_file() {
            known.clear();
        }
        known.extend(texts);
    }
    Ok(Documents::of(all.into_values().flatten()).map_err(BadInput)?.files())
}

fn library(files: Files) -> anyhow::Result<Arc<Library>> {
    Ok(LIBRARIES.assemble_here(files).map_err(BadInput)?)
}
