//! What is known of a conversation before its events are read.

use std::collections::HashMap;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use domain::filter::{Facts, Reviewed, Scored, Status, Symbols};
use domain::outcome::Blame;
use domain::persona::Complexity;
use domain::verdict::Verdict;
use uuid::Uuid;

use super::{Candidate, Findings};
use crate::corpora::authored_values::{AuthoredDocuments, AuthoredValues};
use projects::library::Files;
use store::BadRow;
use store::corpora::Found;

/// What conversations of one scenario share.
pub struct ScenarioValues {
    name: u32,
    family: u32,
    tags: Vec<u32>,
    playbook: u32,
    pub playbook_name: String,
    pub authored: AuthoredValues,
}

/// What conversations of one run share.
pub struct RunValues {
    pub id: Uuid,
    pub number: u32,
    /// Who plays it and judges it.
    pub models: Vec<u32>,
}

/// The scenarios of one library.
pub struct Scenarios {
    documents: AuthoredDocuments,
    read: HashMap<String, Arc<ScenarioValues>>,
}

impl Scenarios {
    pub async fn read(files: Files) -> anyhow::Result<Self> {
        let documents = tokio::task::spawn_blocking(move || AuthoredDocuments::read(&files)).await?;
        Ok(Self { documents, read: HashMap::new() })
    }

    fn of(&mut self, id: &str, symbols: &mut Symbols) -> Arc<ScenarioValues> {
        if let Some(scenario) = self.read.get(id) {
            return Arc::clone(scenario);
        }
        let origin = self.documents.of(id);
        let scenario = Arc::new(ScenarioValues {
            name: symbols.intern(id),
            family: symbols.intern(&origin.family),
            tags: origin.tags.iter().map(|tag| symbols.intern(tag)).collect(),
            playbook: symbols.intern(&origin.playbook),
            playbook_name: origin.playbook,
            authored: origin.authored,
        });
        self.read.insert(id.to_owned(), Arc::clone(&scenario));
        scenario
    }
}

/// What only the events tell; nothing, as long as they are not read.
#[derive(Default)]
pub struct EventValues {
    pub tools: Vec<u32>,
    pub tool_calls: Option<u32>,
    pub verified: Option<bool>,
}

pub struct CandidateRow {
    pub id: Uuid,
    pub scenario: Arc<ScenarioValues>,
    /// What the verifier found when it was judged again.
    pub verified: Option<bool>,
    run: Arc<RunValues>,
    position: i32,
    persona: u32,
    complexity: Complexity,
    status: Status,
    blame: Option<Blame>,
    reason: Option<String>,
    finished: Option<DateTime<Utc>>,
    overall: Option<u8>,
    scores: Box<[Scored]>,
    goal_achieved: Option<bool>,
    reviewed: Reviewed,
    agreement: Option<f32>,
    ending: Option<u32>,
    turns: Option<u32>,
}

impl CandidateRow {
    pub fn new(
        run: &Arc<RunValues>,
        own: Found,
        scenarios: &mut Scenarios,
        symbols: &mut Symbols,
    ) -> Result<Self, BadRow> {
        let complexity = own.complexity.parse().ok();
        let complexity = complexity.ok_or_else(|| BadRow {
            table: "conversations",
            column: "complexity",
            row: own.id.to_string(),
            reason: format!("`{}` is no complexity", own.complexity),
        })?;
        let scores = own.verdict.iter().flat_map(|verdict| &verdict.scores);
        #[expect(clippy::cast_possible_truncation, reason = "a share, which need not be exact")]
        let agreement = own.verdict.as_ref().and_then(Verdict::agreement).map(|agreement| agreement as f32);
        Ok(Self {
            id: own.id,
            scenario: scenarios.of(&own.scenario, symbols),
            verified: own.verified,
            run: Arc::clone(run),
            position: own.position,
            persona: symbols.intern(&own.persona),
            complexity,
            status: own.status,
            blame: own.blame,
            reason: own.reason,
            finished: own.finished_at,
            overall: own.overall,
            scores: scores
                .map(|score| Scored { criterion: symbols.intern(&score.criterion), score: score.score })
                .collect(),
            goal_achieved: own.goal_achieved,
            reviewed: own.reviewed,
            agreement,
            ending: own.ending.as_deref().map(|ending| symbols.intern(ending)),
            turns: own.turns,
        })
    }

    pub fn facts<'a>(&'a self, events: &'a EventValues) -> Facts<'a> {
        Facts {
            run: self.run.number,
            position: self.position,
            scenario: self.scenario.name,
            family: self.scenario.family,
            tags: &self.scenario.tags,
            playbook: self.scenario.playbook,
            models: &self.run.models,
            persona: self.persona,
            complexity: self.complexity,
            status: self.status,
            blame: self.blame,
            reason: self.reason.as_deref(),
            overall: self.overall,
            scores: &self.scores,
            goal_achieved: self.goal_achieved,
            verified: events.verified,
            agreement: self.agreement,
            reviewed: self.reviewed,
            finished: self.finished,
            ending: self.ending,
            turns: self.turns,
            tool_calls: events.tool_calls,
            tools: &events.tools,
        }
    }

    pub fn candidate(&self, hash: [u8; 16], findings: Findings) -> Candidate {
        Candidate {
            id: self.id,
            run: self.run.id,
            position: self.position,
            scenario: self.scenario.name,
            family: self.scenario.family,
            persona: self.persona,
            complexity: self.complexity,
            overall: self.overall,
            hash,
            findings,
        }
    }
}
