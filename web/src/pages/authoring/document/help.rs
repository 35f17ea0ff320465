//! What the editor helps with: the schema, and names that the schema cannot know.

use domain::document;
use domain::playbook::{Playbook, Tool};
use domain::project::Kind;
use leptos::prelude::*;

use crate::pages::authoring::draft::Draft;
use crate::pages::authoring::references::References;
use crate::pages::authoring::workflow;
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

/// `path`: of the file that is written.
pub fn completions(draft: Draft, references: References, path: String) -> Signal<Vec<Completions>> {
    let (kind, own) = (draft.kind(), draft.name());
    let in_workflow = of_workflow(draft, path);
    Signal::derive(move || {
        let playbook = references.playbook.get();
        let names = references.names.read();
        let of = |kind| names.get(&kind).map(Vec::as_slice).unwrap_or_default();
        let mut all = match kind {
            Kind::Scenario => playbook.as_deref().map(of_scenario).unwrap_or_default(),
            Kind::Playbook => playbook.as_deref().map(of_playbook).unwrap_or_default(),
            Kind::Workflow => in_workflow.get(),
            Kind::Persona | Kind::Judge => Vec::new(),
        };
        let others: Vec<String> = of(Kind::Workflow).iter().filter(|name| **name != own).cloned().collect();
        all.push(named("/playbook", of(Kind::Playbook)));
        all.push(named("/personas/*", of(Kind::Persona)));
        all.push(named("/judge", of(Kind::Judge)));
        all.push(named("/steps/**/call/workflow", &others));
        all.push(named("/steps/**/ask/tools/*/workflow", &others));
        all.retain(|one| !one.options.is_empty());
        all
    })
}

fn of_scenario(playbook: &Playbook) -> Vec<Completions> {
    let at = |pointer: &str, tools: &[Tool]| whole(pointer, tools.iter().map(tool).collect());
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
    let at = |pointer: &str| whole(pointer, tools.clone());
    vec![at("/uses/*"), at("/tools/*/uses/*"), at("/variants/*/uses/*"), at("")]
}

/// While a line is half typed nothing can be read; the names are still those of before.
fn of_workflow(draft: Draft, path: String) -> Memo<Vec<Completions>> {
    let main = draft.main();
    Memo::new(move |before: Option<&Vec<Completions>>| {
        let (main, text) = main.get();
        match document::value(&main, &text) {
            Ok(read) => workflow::names(&read.value, &path, &draft.files.read()),
            Err(_) => before.cloned().unwrap_or_default(),
        }
    })
}

fn tool(tool: &Tool) -> Completion {
    Completion { label: tool.name.clone(), info: Some(tool.description.clone()), ..Completion::default() }
}

fn named(pointer: &str, names: &[String]) -> Completions {
    let option = |name: &String| Completion { label: name.clone(), ..Completion::default() };
    whole(pointer, names.iter().map(option).collect())
}

fn whole(pointer: &str, options: Vec<Completion>) -> Completions {
    Completions { pointer: pointer.to_owned(), options, ..Completions::default() }
}
