//! What the editor helps with: the schema, and names that the schema cannot know.

use domain::playbook::{Playbook, Tool};
use domain::project::Kind;
use leptos::prelude::*;

use crate::pages::authoring::draft::Draft;
use crate::pages::authoring::references::References;
use ui::components::{Completion, Completions, Language};

pub fn language(path: &str) -> Language {
    match path.rsplit_once('.').map(|(_, ending)| ending) {
        Some("star") => Language::Starlark,
        Some("yaml" | "yml") => Language::Yaml,
        Some("json") => Language::Json,
        // Plain text reads well with the words of a template, too.
        _ => Language::Jinja,
    }
}

pub fn completions(draft: Draft, references: References) -> Signal<Vec<Completions>> {
    let kind = draft.kind();
    Signal::derive(move || {
        let playbook = references.playbook.get();
        let names = references.names.read();
        let of = |kind| names.get(&kind).map(Vec::as_slice).unwrap_or_default();
        let mut all = match kind {
            Kind::Scenario => playbook.as_deref().map(of_scenario).unwrap_or_default(),
            Kind::Playbook => playbook.as_deref().map(of_playbook).unwrap_or_default(),
            Kind::Persona | Kind::Judge | Kind::Workflow => Vec::new(),
        };
        all.push(named("/playbook", of(Kind::Playbook)));
        all.push(named("/personas/*", of(Kind::Persona)));
        all.push(named("/judge", of(Kind::Judge)));
        all.retain(|one| !one.options.is_empty());
        all
    })
}

fn of_scenario(playbook: &Playbook) -> Vec<Completions> {
    let at = |pointer: &str, tools: &[Tool]| Completions {
        pointer: pointer.to_owned(),
        options: tools.iter().map(tool).collect(),
    };
    let every: Vec<Tool> = playbook.all_tools().cloned().collect();
    vec![
        named("/intent", &playbook.intents),
        at("/script/*/calls/*/tool", &playbook.tools),
        at("/script/*/user_calls/*/tool", &playbook.user_tools),
        at("/expected_outcome/actions/*/tool", &every),
        at("/expected_outcome/forbidden/*/tool", &every),
        at("/faults/*/tools/*", &playbook.tools),
    ]
}

fn of_playbook(playbook: &Playbook) -> Vec<Completions> {
    let tools: Vec<Completion> = playbook.tools.iter().map(tool).collect();
    let at = |pointer: &str| Completions { pointer: pointer.to_owned(), options: tools.clone() };
    vec![at("/uses/*"), at("/tools/*/uses/*"), at("/variants/*/uses/*"), at("")]
}

fn tool(tool: &Tool) -> Completion {
    Completion { label: tool.name.clone(), info: Some(tool.description.clone()), ..Completion::default() }
}

fn named(pointer: &str, names: &[String]) -> Completions {
    let option = |name: &String| Completion { label: name.clone(), ..Completion::default() };
    Completions { pointer: pointer.to_owned(), options: names.iter().map(option).collect() }
}
