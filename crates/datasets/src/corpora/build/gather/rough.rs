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
use crate::corpora::known::{Documents, Known};
use projects::library::Files;
use store::BadRow;
use store::corpora::Found;

/// What conversations of one scenario share.
pub struct Case {
    scenario: u32,
    family: u32,
    tags: Vec<u32>,
    playbook: u32,
    pub playbook_name: String,
    pub known: Known,
}

/// What conversations of one run share.
pub struct Run {
    pub id: Uuid,
    pub number: u32,
    /// Who plays it and judges it.
    pub models: Vec<u32>,
}

/// The scenarios of one library.
pub struct Cases {
    documents: Documents,
    known: HashMap<String, Arc<Case>>,
}

impl Cases {
    pub async fn read(files: Files) -> anyhow::Result<Self> {
        let documents = tokio::task::spawn_blocking(move || Documents::read(&files)).await?;
        Ok(Self { documents, known: HashMap::new() })
    }

    fn of(&mut self, scenario: &str, symbols: &mut Symbols) -> Arc<Case> {
        if let Some(case) = self.known.get(scenario) {
            return Arc::clone(case);
        }
        let origin = self.documents.of(scenario);
        let case = Arc::new(Case {
            scenario: symbols.intern(scenario),
            family: symbols.intern(&origin.family),
            tags: origin.tags.iter().map(|tag| symbols.intern(tag)).collect(),
            playbook: symbols.intern(&origin.playbook),
            playbook_name: origin.playbook,
            known: origin.known,
        });
        self.known.insert(scenario.to_owned(), Arc::clone(&case));
        case
    }
}

/// What only the events tell; nothing, as long as they are not read.
#[derive(Default)]
pub struct Course {
    pub tools: Vec<u32>,
    pub tool_calls: Option<u32>,
    pub verified: Option<bool>,
}

pub struct Rough {
    pub id: Uuid,
    pub case: Arc<Case>,
    /// What the verifier found when it was judged again.
    pub verified: Option<bool>,
    run: Arc<Run>,
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

impl Rough {
    pub fn new(run: &Arc<Run>, own: Found, cases: &mut Cases, symbols: &mut Symbols) -> Result<Self, BadRow> {
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
            case: cases.of(&own.scenario, symbols),
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

    pub fn facts<'a>(&'a self, course: &'a Course) -> Facts<'a> {
        Facts {
            run: self.run.number,
            position: self.position,
            scenario: self.case.scenario,
            family: self.case.family,
            tags: &self.case.tags,
            playbook: self.case.playbook,
            models: &self.run.models,
            persona: self.persona,
            complexity: self.complexity,
            status: self.status,
            blame: self.blame,
            reason: self.reason.as_deref(),
            overall: self.overall,
            scores: &self.scores,
            goal_achieved: self.goal_achieved,
            verified: course.verified,
            agreement: self.agreement,
            reviewed: self.reviewed,
            finished: self.finished,
            ending: self.ending,
            turns: self.turns,
            tool_calls: course.tool_calls,
            tools: &course.tools,
        }
    }

    pub fn candidate(&self, hash: [u8; 16], findings: Findings) -> Candidate {
        Candidate {
            id: self.id,
            run: self.run.id,
            position: self.position,
            scenario: self.case.scenario,
            family: self.case.family,
            persona: self.persona,
            complexity: self.complexity,
            overall: self.overall,
            hash,
            findings,
        }
    }
}
