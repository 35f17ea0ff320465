//! What somebody says of a queue that is to be.

use domain::api::{FieldError, LARGEST_QUEUE, QueueState};
use serde::Deserialize;
use sqlx::PgConnection;
use utoipa::ToSchema;
use uuid::Uuid;

use super::LONGEST_INSTRUCTIONS;
use crate::http::error::{HttpError, Result};
use crate::http::words;
use generation::review_queue::Choice;
use store::clock;
use store::reviews::Queue;
use store::{projects, runs};

/// How many conversations of a run, if nothing else is said: what `groundstate calibrate sheet` takes.
const SAMPLE: u32 = 50;

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewQueue {
    /// 1 to 200 letters, of no other queue of the project.
    name: String,
    /// What raters are told.
    #[serde(default)]
    instructions: String,
    /// By how many people each conversation is to be rated, 1 to 10; default: 1.
    #[serde(default = "one")]
    #[schema(minimum = 1, maximum = 10)]
    raters_each: u8,
    /// Default: true.
    #[serde(default = "yes")]
    blind: bool,
    /// These conversations, in this order, at most 10000.
    conversations: Option<Vec<Uuid>>,
    /// Conversations of this run.
    run: Option<Uuid>,
    /// With `run`: over whose scores they are spread; default: those of the run itself.
    judging: Option<Uuid>,
    /// What this corpus keeps.
    corpus: Option<Uuid>,
    /// How many of the run (default: 50) or of the corpus (default: all).
    #[schema(minimum = 1, maximum = 10000)]
    n: Option<u32>,
}

const fn one() -> u8 {
    1
}

const fn yes() -> bool {
    true
}

impl NewQueue {
    pub async fn checked(self, db: &mut PgConnection, project: Uuid, by: &str) -> Result<(Queue, Choice)> {
        words::check("/name", &self.name, 200)?;
        if self.name.contains(['\n', '\r', '\t']) {
            return Err(HttpError::invalid("/name", "take one line"));
        }
        words::check_letters("/instructions", &self.instructions, LONGEST_INSTRUCTIONS)?;
        if !(1..=10).contains(&self.raters_each) {
            return Err(HttpError::invalid("/raters_each", format!("{} is not from 1 to 10", self.raters_each)));
        }
        let choice = self.choice(db, project).await?;
        let queue = Queue {
            id: clock::id(),
            project_id: project,
            name: self.name,
            instructions: self.instructions,
            raters_each: self.raters_each.into(),
            judging_id: if let Choice::Run { judging, .. } = &choice { Some(*judging) } else { None },
            blind: self.blind,
            state: QueueState::Open.as_str().to_owned(),
            created_by: by.to_owned(),
            created_at: clock::now(),
        };
        Ok((queue, choice))
    }

    async fn choice(&self, db: &mut PgConnection, project: Uuid) -> Result<Choice> {
        let n = self.n.map(|n| n as usize);
        if n.is_some_and(|n| !(1..=LARGEST_QUEUE).contains(&n)) {
            return Err(HttpError::invalid("/n", format!("take 1 to {LARGEST_QUEUE}")));
        }
        if let (Some(_), None) = (self.judging, self.run) {
            return Err(HttpError::invalid("/judging", "a judging goes with a `run`"));
        }
        match (&self.conversations, self.run, self.corpus) {
            (Some(_), None, None) if n.is_some() => Err(HttpError::invalid("/n", "these are named already")),
            (Some(ids), None, None) if ids.len() > LARGEST_QUEUE => {
                Err(HttpError::invalid("/conversations", format!("a queue holds at most {LARGEST_QUEUE}")))
            }
            (Some(ids), None, None) => Ok(Choice::Conversations(ids.clone())),
            (None, Some(run), None) => {
                let known = projects::of_run(db, run).await? == Some(project);
                let found = if known { runs::get(db, run).await? } else { None };
                let missing = || HttpError::invalid("/run", format!("there is no run {run} in this project"));
                let judging = self.judging.unwrap_or(found.ok_or_else(missing)?.own_judging());
                Ok(Choice::Run { run, judging, n: n.unwrap_or(SAMPLE as usize) })
            }
            (None, None, Some(corpus)) => Ok(Choice::Corpus { corpus, n }),
            _ => Err(HttpError::Invalid(vec![FieldError::at("", "name one of `conversations`, `run` and `corpus`")])),
        }
    }
}
