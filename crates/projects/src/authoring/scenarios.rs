//! Scenarios, drafted by a model and proved before they are kept.

mod draft;
mod neighbours;
mod text;

use std::collections::BTreeSet;
use std::sync::Arc;

use anyhow::anyhow;
use domain::event::Usage;
use domain::message::Message;
use domain::scenario::Scenario;
use domain::seed::Seed;
use engine::Playbook;
use engine::author::scenario::{Brief, question};
use futures::{StreamExt, stream};
use llm::Pool;
use parking_lot::Mutex;

use crate::library::{Library, Limits};
use draft::{Draft, Drafting};
use neighbours::Neighbours;

/// What is to be drafted.
pub struct Order<'a> {
    pub playbook: &'a str,
    pub n: usize,
    /// What the scenarios are to be about, in words.
    pub brief: &'a str,
    /// Each draft is asked for one of these, in turn.
    pub intents: &'a [String],
    /// How often a model may try to mend a draft, the first reply included.
    pub attempts: u32,
    pub concurrency: usize,
    /// Every draft's sampling seed derives from it.
    pub seed: i64,
    pub temperature: f32,
    /// Longest reply, in tokens.
    pub max_tokens: u32,
    /// From how alike on a draft is dropped.
    pub limits: Limits,
    /// Ids that are taken beside those of the library.
    pub taken: BTreeSet<String>,
}

/// A scenario that was proved and is unlike all others.
pub struct ProvedScenario {
    pub scenario: Arc<Scenario>,
    /// The document, as it is to be written.
    pub text: String,
}

/// A draft that failed.
#[derive(Debug)]
pub struct FailedDraft {
    /// Its description, or what it was asked to be.
    pub what: String,
    /// Replies that were read.
    pub attempts: u32,
    pub reasons: Vec<String>,
}

/// Whether a draft was kept.
pub enum DraftOutcome<'a> {
    Kept(&'a ProvedScenario),
    Dropped(&'a FailedDraft),
}

#[derive(Default)]
pub struct Report {
    pub kept: Vec<ProvedScenario>,
    pub dropped: Vec<FailedDraft>,
    pub usage: Usage,
}

/// The question of the first draft, as it would be asked.
pub fn first_question(library: &Library, order: &Order<'_>) -> anyhow::Result<Vec<Message>> {
    Ok(Author::new(library, order)?.question(0, &[]))
}

/// Drafts so many scenarios, several at a time, and tells of each as soon as it is known what becomes of it, in the order
/// of their numbers: the same replies give the same scenarios. Dropping the future loses only what was not told yet.
///
/// # Errors
/// [`llm::ModelError`]: the endpoint refuses all that it is asked first, as it does with a wrong key. Else: `told` failed.
pub async fn draft_scenarios(
    library: &Library,
    model: &Pool,
    order: &Order<'_>,
    mut told: impl FnMut(&DraftOutcome<'_>) -> anyhow::Result<()>,
) -> anyhow::Result<Report> {
    let author = Author::new(library, order)?;
    let mut report = Report::default();
    // As long as nobody has answered: how many drafts were refused for good.
    let mut refused = Some(0);
    let neighbours = Mutex::new(Neighbours::new(library, order));
    let known = || neighbours.lock();
    // A draft begins when an earlier one is settled, so which descriptions it is shown depends on nobody's speed.
    let drafts = stream::iter(0..order.n).map(|i| author.drafting(i, known().descriptions()).run(model));
    let first = order.concurrency.clamp(1, order.n.max(1));
    let mut drafts = drafts.buffered(first);
    while let Some((draft, usage)) = drafts.next().await {
        report.usage += usage;
        refused = refused.filter(|_| draft.is_refused()).map(|n| n + 1);
        let settled = match draft {
            Draft::Unanswered { error, .. } if refused == Some(first) => return Err(error.into()),
            Draft::Unanswered { error, dropped } => Err(FailedDraft { reasons: vec![error.to_string()], ..dropped }),
            Draft::Unsound(dropped) => Err(dropped),
            Draft::Sound(fields, dropped) => known().settle(fields, dropped),
        };
        match settled {
            Ok(kept) => {
                told(&DraftOutcome::Kept(&kept))?;
                report.kept.push(kept);
            }
            Err(dropped) => {
                told(&DraftOutcome::Dropped(&dropped))?;
                report.dropped.push(dropped);
            }
        }
    }
    Ok(report)
}

/// What all drafts of an order share.
struct Author<'a> {
    library: &'a Library,
    order: &'a Order<'a>,
    playbook: &'a Playbook,
    code: &'a str,
}

impl<'a> Author<'a> {
    fn new(library: &'a Library, order: &'a Order<'a>) -> anyhow::Result<Self> {
        let playbook = library.playbook(order.playbook).map_err(|e| anyhow!(e))?;
        library.judge_of(playbook).map_err(|e| anyhow!(e))?;
        let code = playbook.spec.code.as_ref().map(|file| format!("playbooks/{}/{file}", order.playbook));
        let code = code.and_then(|path| library.files.get(&path)).map_or("", String::as_str);
        Ok(Self { library, order, playbook, code })
    }

    fn intent(&self, i: usize) -> &'a str {
        self.order.intents.get(i % self.order.intents.len().max(1)).map_or("", String::as_str)
    }

    fn drafting(&'a self, i: usize, known: Vec<String>) -> Drafting<'a> {
        Drafting {
            library: self.library,
            order: self.order,
            intent: self.intent(i),
            question: self.question(i, &known),
            seed: Seed::new(self.order.seed, &format!("author {}", self.order.playbook), u32::try_from(i).unwrap_or(0)),
        }
    }

    fn question(&self, i: usize, drafted: &[String]) -> Vec<Message> {
        let scenarios: Vec<&Arc<Scenario>> = self.library.scenarios_of(self.order.playbook).collect();
        let known = scenarios.iter().map(|scenario| &scenario.description).chain(drafted);
        question(&Brief {
            playbook: self.playbook,
            code: self.code,
            personas: self.library.profiles.keys().map(String::as_str).collect(),
            intent: self.intent(i),
            words: self.order.brief,
            examples: self.examples(i, &scenarios),
            known: known.map(String::as_str).collect(),
        })
    }

    /// One scenario of the same intent, if there is one, and another one, each time the next.
    fn examples(&self, i: usize, scenarios: &[&'a Arc<Scenario>]) -> Vec<&'a str> {
        let same = scenarios.iter().position(|scenario| scenario.intent == self.intent(i));
        let others: Vec<usize> = (0..scenarios.len()).filter(|place| Some(*place) != same).collect();
        let other = others.get(i % others.len().max(1)).copied();
        let chosen = same.into_iter().chain(other).map(|place| self.library.scenario_path(scenarios[place]));
        chosen.filter_map(|path| self.library.files.get(path)).map(String::as_str).collect()
    }
}
