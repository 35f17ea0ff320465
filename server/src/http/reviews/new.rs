//! Checks a queue that somebody asks for.

use domain::api::{FieldError, LARGEST_QUEUE, NewQueue, QueueState};
use sqlx::PgConnection;
use uuid::Uuid;

use super::LONGEST_INSTRUCTIONS;
use crate::http::error::{HttpError, Result};
use crate::http::extract::id;
use crate::http::words;
use generation::review_queue::Choice;
use store::clock;
use store::reviews::Queue;
use store::{projects, runs};

/// How many conversations of a run, if nothing else is said: what `groundstate calibrate sheet` takes.
const SAMPLE: u32 = 50;

pub async fn checked(new: NewQueue, db: &mut PgConnection, project: Uuid, by: &str) -> Result<(Queue, Choice)> {
    words::check("/name", &new.name, 200)?;
    if new.name.contains(['\n', '\r', '\t']) {
        return Err(HttpError::invalid("/name", "use one line"));
    }
    words::check_letters("/instructions", &new.instructions, LONGEST_INSTRUCTIONS)?;
    if !(1..=10).contains(&new.raters_each) {
        return Err(HttpError::invalid("/raters_each", format!("{} is not from 1 to 10", new.raters_each)));
    }
    let choice = choice(&new, db, project).await?;
    let queue = Queue {
        id: clock::id(),
        project_id: project,
        name: new.name,
        instructions: new.instructions,
        raters_each: new.raters_each.into(),
        judging_id: if let Choice::Run { judging, .. } = &choice { Some(*judging) } else { None },
        blind: new.blind,
        state: QueueState::Open.to_string(),
        created_by: by.to_owned(),
        created_at: clock::now(),
    };
    Ok((queue, choice))
}

async fn choice(new: &NewQueue, db: &mut PgConnection, project: Uuid) -> Result<Choice> {
    let n = new.n.map(|n| n as usize);
    if n.is_some_and(|n| !(1..=LARGEST_QUEUE).contains(&n)) {
        return Err(HttpError::invalid("/n", format!("expected 1 to {LARGEST_QUEUE}")));
    }
    let run = new.run.as_deref().map(|text| id("/run", text)).transpose()?;
    let judging = new.judging.as_deref().map(|text| id("/judging", text)).transpose()?;
    let corpus = new.corpus.as_deref().map(|text| id("/corpus", text)).transpose()?;
    if let (Some(_), None) = (judging, run) {
        return Err(HttpError::invalid("/judging", "`judging` can be given only with `run`"));
    }
    match (&new.conversations, run, corpus) {
        (Some(_), None, None) if n.is_some() => {
            Err(HttpError::invalid("/n", "`n` cannot be given with `conversations`"))
        }
        (Some(ids), None, None) if ids.len() > LARGEST_QUEUE => {
            Err(HttpError::invalid("/conversations", format!("a queue holds at most {LARGEST_QUEUE}")))
        }
        (Some(ids), None, None) => {
            let ids = ids.iter().enumerate().map(|(i, text)| id(&format!("/conversations/{i}"), text));
            Ok(Choice::Conversations(ids.collect::<Result<_>>()?))
        }
        (None, Some(run), None) => {
            let known = projects::of_run(db, run).await? == Some(project);
            let found = if known { runs::get(db, run).await? } else { None };
            let missing = || HttpError::invalid("/run", format!("there is no run {run} in this project"));
            let judging = judging.unwrap_or(found.ok_or_else(missing)?.own_judging());
            Ok(Choice::Run { run, judging, n: n.unwrap_or(SAMPLE as usize) })
        }
        (None, None, Some(corpus)) => Ok(Choice::Corpus { corpus, n }),
        _ => Err(HttpError::Invalid(vec![FieldError::at("", "name one of `conversations`, `run` and `corpus`")])),
    }
}
