//! What authors try before they save it. Nothing of this is kept.

use domain::api::trials::{
    ImportInterface, ImportedDraft, PlayScenario, Prompts, Rehearsal, RenderPrompts, TrialCalls, TrialReport,
};

use super::{AbortSignal, Answer, post, post_abortable};
use crate::address::segment;
use crate::api_client::documents::DocumentRef;

/// Plays a scenario's script, with drafts in place of what is saved.
pub async fn play(place: &DocumentRef, wanted: &PlayScenario) -> Answer<Rehearsal> {
    post(&format!("{}/play", path(place)), wanted).await
}

/// The same over a line.
pub async fn play_abortable(signal: &AbortSignal, place: &DocumentRef, wanted: &PlayScenario) -> Answer<Rehearsal> {
    post_abortable(signal, &format!("{}/play", path(place)), wanted).await
}

/// Renders what each role of a playbook is told.
pub async fn prompts(place: &DocumentRef, wanted: &RenderPrompts) -> Answer<Prompts> {
    post(&format!("{}/prompts", path(place)), wanted).await
}

/// Makes calls of a playbook's tools, one after the other.
pub async fn calls(signal: &AbortSignal, place: &DocumentRef, wanted: &TrialCalls) -> Answer<TrialReport> {
    post_abortable(signal, &format!("{}/try", path(place)), wanted).await
}

/// Reads an interface as the draft of a playbook with this name.
pub async fn import(signal: &AbortSignal, place: &DocumentRef, wanted: &ImportInterface) -> Answer<ImportedDraft> {
    post_abortable(signal, &format!("{}/import", path(place)), wanted).await
}

fn path(place: &DocumentRef) -> String {
    format!("/projects/{}/{}/{}", segment(&place.project), place.id.kind.folder(), segment(&place.id.name))
}
