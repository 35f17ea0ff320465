//! A sub-agent with its tools, templates and records, from a description.
//!
//! What must be right is made by the program: definitions, places, schemas, the templates that `scripted` answers with.
//! A model may write the prose around it, and its words stand in templates as texts, never as templates.

mod changes;
mod lint;
mod prompt;
mod shapes;
mod spec_check;
mod templates;
mod tools;

use std::collections::BTreeMap;

use domain::document;
use domain::event::Usage;
use domain::problem::{Problem, unknown};
use domain::seed::Seed;
use domain::sub_agent::SubAgent;
use engine::Playbook;
use engine::author::sub_agent::{Prose, question, read};
use engine::author::{self, Sampling};
use engine::playbook::{Sources, compile};
use llm::Pool;

use crate::library::Files;
use domain::bad_input::BadInput;
use shapes::Shape;

/// Who writes the prose, and how.
pub struct Author<'a> {
    pub model: &'a Pool,
    pub attempts: u32,
    pub seed: i64,
    pub temperature: f32,
    pub max_tokens: u32,
}

/// Files by path, relative to the project, and the warnings about them. Nothing is written yet.
pub struct SubAgentDraft {
    pub spec: SubAgent,
    pub new: BTreeMap<String, String>,
    pub changed: BTreeMap<String, String>,
    /// What the linter says of them that it did not say before.
    pub warnings: Vec<Problem>,
    pub usage: Usage,
}

/// Makes the files of the sub-agent that `text`, the description in `file`, describes, and lints the playbook with them.
///
/// # Errors
/// [`BadInput`] with every problem of the description, or of the playbook that would come out; [`llm::ModelError`].
pub async fn draft_sub_agent(
    files: &Files,
    file: &str,
    text: &str,
    author: Option<Author<'_>>,
) -> anyhow::Result<SubAgentDraft> {
    let (spec, located) = document::located::<SubAgent>(file, text).map_err(BadInput)?;
    let folder = format!("playbooks/{}", spec.playbook);
    if files.get(&format!("{folder}/playbook.yaml")).is_none() {
        let message = unknown("playbook", &spec.playbook, files.folders("playbooks").iter());
        return Err(BadInput(vec![located.problem("/playbook", message)]).into());
    }
    let playbook = compile(&Sources { folder: &folder, files: &files.within(&folder) }).map_err(BadInput)?;
    let shapes = spec_check::shapes(&spec, &located, &playbook).map_err(BadInput)?;
    let draft = Draft { files, playbook: &playbook, spec: &spec, shapes: &shapes };
    let free = draft.free();
    free.map_err(BadInput)?;
    let (parts, usage) = match author {
        None => (draft.parts(None).map_err(BadInput)?, Usage::default()),
        Some(author) => draft.written_by(&author).await?,
    };
    Ok(SubAgentDraft { new: parts.new, changed: parts.changed, warnings: parts.warnings, usage, spec })
}

struct Draft<'a> {
    files: &'a Files,
    playbook: &'a Playbook,
    spec: &'a SubAgent,
    shapes: &'a [Shape],
}

struct Parts {
    new: BTreeMap<String, String>,
    changed: BTreeMap<String, String>,
    warnings: Vec<Problem>,
}

impl Draft<'_> {
    /// Nothing is overwritten.
    fn free(&self) -> Result<(), Vec<Problem>> {
        let taken = self.new_files(None).into_keys().filter(|path| self.files.get(path).is_some());
        let problems: Vec<Problem> =
            taken.map(|path| Problem::new(path, 0, "", "exists already; nothing is overwritten")).collect();
        if problems.is_empty() { Ok(()) } else { Err(problems) }
    }

    fn new_files(&self, prose: Option<&Prose>) -> BTreeMap<String, String> {
        let title = &self.playbook.spec.title;
        let path = |file: &str| format!("playbooks/{}/{file}", self.spec.playbook);
        let prompt = prompt::of(self.spec, title, prose);
        let mut made = BTreeMap::from([(path(&changes::prompt_file(self.playbook, &self.spec.name)), prompt)]);
        for tool in tools::of(self.spec, self.shapes) {
            let file = |ending: &str| path(&format!("templates/{}.{ending}.j2", tool.name()));
            let words = prose.and_then(|prose| prose.capabilities.get(tool.name()));
            let words = words.unwrap_or(&tool.capability.description);
            made.insert(file("md"), templates::capability(tool, title, words));
            made.insert(file("json"), templates::scripted(tool));
            if tool.writes() {
                made.insert(file("patch"), templates::scripted_patch(tool));
            }
        }
        made
    }

    /// All files, linted.
    fn parts(&self, prose: Option<&Prose>) -> Result<Parts, Vec<Problem>> {
        let prompt = changes::prompt_file(self.playbook, &self.spec.name);
        let changed = changes::of(self.files, self.playbook, self.spec, self.shapes, &prompt)?;
        let new = self.new_files(prose);
        let after = changes::applied(&changes::applied(self.files, &changed), &new);
        let warnings = lint::new_warnings(self.files, &after, &self.spec.playbook)?;
        Ok(Parts { new, changed, warnings })
    }

    /// With a model's prose. It is asked again until it keeps to the form and the linter has nothing new to say.
    async fn written_by(&self, author: &Author<'_>) -> anyhow::Result<(Parts, Usage)> {
        let seed = Seed::new(author.seed, &format!("author {} {}", self.spec.playbook, self.spec.name), 0);
        let question = question(self.spec, self.playbook);
        let (mut messages, mut usage, mut reasons) = (question.clone(), Usage::default(), Vec::new());
        for attempt in 0..author.attempts {
            let seed = seed.sampling(&format!("attempt {attempt}"));
            let sampling = Sampling { temperature: author.temperature, max_tokens: author.max_tokens, seed };
            let reply = author.model.ask(&author::ask(messages, sampling)).await?;
            usage += reply.usage;
            let last = attempt + 1 == author.attempts;
            reasons = match read(&reply.content, self.spec) {
                Ok(prose) => match self.parts(Some(&prose)) {
                    Ok(parts) if parts.warnings.is_empty() || last => return Ok((parts, usage)),
                    Ok(parts) => parts.warnings.iter().map(ToString::to_string).collect(),
                    Err(problems) => return Err(BadInput(problems).into()),
                },
                Err(reasons) => reasons,
            };
            messages = author::again(&question, &reply.content, &reasons);
        }
        let advice = "raise --attempts, or leave --model out to take the words of the description";
        Err(BadInput::one("--model", format!("wrote no usable texts ({}); {advice}", reasons.join("; "))).into())
    }
}
