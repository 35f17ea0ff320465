//! A conversation that a filter may find, before its events are read and after.

use std::collections::HashMap;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use domain::filter::{Dimension, ReviewFlags, Row, Status, Symbols, Value};
use domain::outcome::Blame;
use domain::persona::Complexity;
use domain::verdict::Verdict;
use uuid::Uuid;

use super::{Candidate, Findings};
use crate::corpora::authored_values::{AuthoredDocuments, AuthoredValues};
use projects::library::Files;
use store::BadRow;
use store::corpora::EndedConversation;

/// Values that all conversations of a scenario have in common.
pub struct ScenarioValues {
    name: u32,
    family: u32,
    tags: Vec<u32>,
    playbook: u32,
    pub playbook_name: String,
    pub authored: AuthoredValues,
}

/// Values that all conversations of a run have in common.
pub struct RunValues {
    pub id: Uuid,
    pub number: u32,
    /// Who plays it and judges it.
    pub models: Vec<u32>,
    /// By scenario, from 0 to 1; empty if nothing asks for it.
    pub solve_rates: HashMap<String, f64>,
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

/// Values that are known only after the events are read.
pub struct EventValues {
    pub tools: Vec<u32>,
    pub tool_calls: u32,
    pub verified: Option<bool>,
}

/// A conversation before its events are read.
pub struct CandidateRow {
    pub id: Uuid,
    pub scenario: Arc<ScenarioValues>,
    /// The verifier's result from judging the conversation again; `None` if it was not judged again.
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
    /// By criterion.
    scores: Box<[(u32, u8)]>,
    goal_achieved: Option<bool>,
    reviewed: ReviewFlags,
    agreement: Option<f32>,
    solve_rate: Option<f32>,
    ending: Option<u32>,
    turns: Option<u32>,
}

impl CandidateRow {
    pub fn new(
        run: &Arc<RunValues>,
        own: EndedConversation,
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
        #[expect(clippy::cast_possible_truncation, reason = "shares need not be exact")]
        let share = |share: f64| share as f32;
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
            scores: scores.map(|score| (symbols.intern(&score.criterion), score.score)).collect(),
            goal_achieved: own.goal_achieved,
            reviewed: own.reviewed,
            agreement: own.verdict.as_ref().and_then(Verdict::agreement).map(share),
            solve_rate: run.solve_rates.get(&own.scenario).copied().map(share),
            ending: own.ending.as_deref().map(|ending| symbols.intern(ending)),
            turns: own.turns,
        })
    }

    pub const fn with<'a>(&'a self, events: &'a EventValues) -> ReadRow<'a> {
        ReadRow { row: self, events }
    }

    /// The score for a criterion, or the overall score.
    fn score(&self, criterion: Option<u32>) -> Option<u8> {
        match criterion {
            None => self.overall,
            Some(criterion) => self.scores.iter().find(|(own, _)| *own == criterion).map(|(_, score)| *score),
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

impl Row for CandidateRow {
    fn value(&self, dimension: Dimension, criterion: Option<u32>) -> Value<'_> {
        let flag = |flag: Option<bool>| flag.map_or(Value::Missing, Value::Flag);
        match dimension {
            Dimension::Run => Value::Name(self.run.number),
            Dimension::Model => Value::Names(&self.run.models),
            Dimension::Scenario => Value::Name(self.scenario.name),
            Dimension::Family => Value::Name(self.scenario.family),
            Dimension::Tag => Value::Names(&self.scenario.tags),
            Dimension::Playbook => Value::Name(self.scenario.playbook),
            Dimension::Persona => Value::Name(self.persona),
            Dimension::Complexity => Value::Name(self.complexity as u32),
            Dimension::Outcome => Value::Name(self.status as u32),
            Dimension::Blame => self.blame.map_or(Value::Missing, |blame| Value::Name(blame as u32)),
            Dimension::Reason => self.reason.as_deref().map_or(Value::Missing, Value::Text),
            Dimension::Ending => self.ending.map_or(Value::Missing, Value::Name),
            Dimension::Finished => self.finished.map_or(Value::Missing, Value::Time),
            Dimension::Turns => self.turns.map_or(Value::Missing, Value::Number),
            Dimension::Score => self.score(criterion).map_or(Value::Missing, |score| Value::Number(score.into())),
            Dimension::GoalAchieved => flag(self.goal_achieved),
            Dimension::Agreement => self.agreement.map_or(Value::Missing, Value::Share),
            Dimension::SolveRate => self.solve_rate.map_or(Value::Missing, Value::Share),
            Dimension::Rated => Value::Flag(self.reviewed.rated),
            Dimension::Annotated => Value::Flag(self.reviewed.annotated),
            Dimension::Corrected => Value::Flag(self.reviewed.corrected),
            Dimension::Verified | Dimension::ToolCalls | Dimension::Tool => Value::Missing,
        }
    }
}

/// A conversation whose events were read.
pub struct ReadRow<'a> {
    row: &'a CandidateRow,
    events: &'a EventValues,
}

impl Row for ReadRow<'_> {
    fn value(&self, dimension: Dimension, criterion: Option<u32>) -> Value<'_> {
        match dimension {
            Dimension::Verified => self.events.verified.map_or(Value::Missing, Value::Flag),
            Dimension::ToolCalls => Value::Number(self.events.tool_calls),
            Dimension::Tool => Value::Names(&self.events.tools),
            other => self.row.value(other, criterion),
        }
    }
}
