//! What authors try before they save it. Nothing of this is kept.

use domain::api::trials::{
    ImportInterface, ImportedDraft, PlayScenario, Prompts, Rehearsal, RenderPrompts, Tried, TryCalls,
};

use super::{Answer, End, post, post_over};
use crate::address::segment;
use crate::api_client::documents::Place;

/// Plays a scenario's script, with drafts in place of what is saved.
pub async fn play(place: &Place, wanted: &PlayScenario) -> Answer<Rehearsal> {
    post(&format!("{}/play", path(place)), wanted).await
}

/// The same over a line.
pub async fn play_over(end: &End, place: &Place, wanted: &PlayScenario) -> Answer<Rehearsal> {
    post_over(end, &format!("{}/play", path(place)), wanted).await
}

/// Renders what each role of a playbook is told.
pub async fn prompts(place: &Place, wanted: &RenderPrompts) -> Answer<Prompts> {
    post(&format!("{}/prompts", path(place)), wanted).await
}

/// Makes calls of a playbook's tools, one after the other.
pub async fn calls(end: &End, place: &Place, wanted: &TryCalls) -> Answer<Tried> {
    post_over(end, &format!("{}/try", path(place)), wanted).await
}

/// Reads an interface as the draft of a playbook with this name.
pub async fn import(end: &End, place: &Place, wanted: &ImportInterface) -> Answer<ImportedDraft> {
    post_over(end, &format!("{}/import", path(place)), wanted).await
}

fn path(place: &Place) -> String {
    format!("/projects/{}/{}/{}", segment(&place.project), place.id.kind.folder(), segment(&place.id.name))
}
