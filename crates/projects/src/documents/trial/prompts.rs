//! What each role of a playbook is told, rendered for one of its scenarios.

use std::sync::Arc;

use anyhow::bail;
use domain::Message;
use domain::api::FieldError;
use domain::api::trials::{Prompts, RenderPrompts, RolePrompt};
use domain::outcome::{Blame, Outcome};
use domain::role::Role;
use domain::scenario::Scenario;
use domain::transcript::Transcript;
use engine::playbook::Playbook;
use engine::rehearsal::{self, RehearsalOptions};
use engine::templates;
use sandbox::Work;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Place, field, library, named, played, tried};
use crate::library::{Files, Library};
use crate::sandboxed::Fault;
use domain::bad_input::BadInput;

/// Renders what each role is told when the script of a scenario is played.
///
/// # Errors
/// [`BadInput`] with everything that keeps it from being played: templates that are none stand there with their lines.
pub async fn prompts(place: &Place<'_>, playbook: &str, mut wanted: RenderPrompts) -> anyhow::Result<Prompts> {
    let (named, drafts) = (named(playbook, wanted.scenario.as_deref()), std::mem::take(&mut wanted.drafts));
    tried(place, &named, drafts, |files| RenderTemplates { files, playbook: playbook.to_owned(), wanted }).await
}

/// Renders the prompts of a playbook's roles.
#[derive(Serialize, Deserialize)]
pub struct RenderTemplates {
    files: Files,
    playbook: String,
    wanted: RenderPrompts,
}

impl Work for RenderTemplates {
    const NAME: &'static str = "render templates";
    type Answer = Result<Prompts, Fault>;

    fn work(self, _: &dyn Fn(Value)) -> Self::Answer {
        let RenderPrompts { scenario, complexity, agent_style, variant, .. } = self.wanted;
        let way = RehearsalOptions { complexity, agent_style, variant };
        Ok(rendered(&*library(self.files)?, &self.playbook, scenario.as_deref(), way)?)
    }
}

fn rendered(
    library: &Library,
    playbook: &str,
    scenario: Option<&str>,
    way: RehearsalOptions,
) -> anyhow::Result<Prompts> {
    let playbook = library.playbook(playbook).map_err(|why| BadInput::one("playbook", why))?;
    let scenario = chosen(library, playbook, scenario)?;
    let rehearsal = played(library, scenario, way)?;
    let mut prompts: Vec<RolePrompt> = rehearsal.prompts.into_iter().map(role_prompt).collect();
    for name in playbook.sub_agents() {
        if !prompts.iter().any(|prompt| prompt.sub_agent.as_deref() == Some(name)) {
            prompts.extend(instructed(playbook, name, &playbook.now_in(scenario)));
        }
    }
    let files = library.files.within(&format!("playbooks/{}", playbook.spec.name));
    let faults = faults(&rehearsal.conversation.state().transcript).map(|why| {
        let place = templates::place(why).filter(|(file, _)| files.contains_key(*file));
        let file = place.map(|(file, _)| format!("playbooks/{}/{file}", playbook.spec.name));
        FieldError { file, line: place.map(|(_, line)| line), ..FieldError::at("", why) }
    });
    Ok(Prompts { scenario: scenario.id.clone(), prompts, faults: faults.collect() })
}

/// The scenario that is named, or the playbook's first.
fn chosen<'a>(library: &'a Library, playbook: &Playbook, id: Option<&str>) -> anyhow::Result<&'a Arc<Scenario>> {
    let name = &playbook.spec.name;
    let Some(id) = id else {
        let first = library.scenarios.values().find(|scenario| scenario.playbook == *name);
        let none = || field("scenario", "no scenario of this playbook is in use; write one, or name a draft");
        return Ok(first.ok_or_else(none)?);
    };
    let scenario = library.scenario(id).map_err(|why| field("scenario", why))?;
    if scenario.playbook != *name {
        bail!(field("scenario", format!("belongs to the playbook `{}`", scenario.playbook)));
    }
    Ok(scenario)
}

pub fn role_prompt(prompt: rehearsal::Prompt) -> RolePrompt {
    let rehearsal::Prompt { who, tool, messages, tools } = prompt;
    RolePrompt { role: who.role, sub_agent: who.sub_agent, tool, messages, tools }
}

/// What a sub-agent is told whoever calls it.
fn instructed(playbook: &Playbook, name: &str, now: &str) -> Option<RolePrompt> {
    let agent = playbook.sub_agent(name)?;
    let told = playbook.instructions(agent, now).ok()?;
    Some(RolePrompt {
        role: Role::Agent,
        sub_agent: Some(name.to_owned()),
        tool: None,
        messages: vec![Message::System { content: told.text.clone() }],
        tools: playbook.functions(agent).len(),
    })
}

/// Why somebody could not be asked.
fn faults(transcript: &Transcript) -> impl Iterator<Item = &str> {
    let failed = match &transcript.outcome {
        Some(Outcome::Failed { blame: Blame::Judge | Blame::Infrastructure, reason }) => Some(reason.as_str()),
        _ => None,
    };
    transcript.calls.iter().filter_map(|call| call.note.as_deref()).chain(failed)
}
