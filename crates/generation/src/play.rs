//! One conversation, from wherever it stands to its end.
//!
//! What a model said is kept before the next one is asked, so that a crash repeats the calls in flight and no other.
//! What the program does by itself, or `scripted` says, comes out the same again; it is kept with what follows.

use std::sync::Arc;

use domain::event::{Event, Usage};
use domain::message::ToolCall;
use domain::outcome::{Blame, Ending, Outcome};
use engine::{ChatReply, Conversation, Next, Who};
use llm::{Answer, Failure, ModelError};
use tracing::{Instrument, error_span, warn};

use super::active::{ActiveRun, Halt};
use super::ahead::{Ahead, InVain};
use super::cast::Cast;
use super::commit::{Committer, NotKept};
use super::{noted, plan};
use store::conversations::Planned;
use store::steps::{Again, End, Spent, Step, Written};
use store::verdicts::Judged;

/// Why a conversation is not played on here.
#[derive(Debug, thiserror::Error)]
pub enum Stopped {
    /// Somebody plays it later: all that was kept stays.
    #[error("stopped")]
    Halted(Halt),
    #[error(transparent)]
    NotKept(#[from] NotKept),
    /// What is stored is no conversation of this run.
    #[error("{0:#}")]
    Broken(anyhow::Error),
}

impl Stopped {
    /// Why it can neither be played nor be ended, if that is so.
    pub fn stuck(&self) -> Option<anyhow::Error> {
        match self {
            Self::Halted(_) | Self::NotKept(NotKept::GivenUp) => None,
            Self::NotKept(refused) => Some(refused.clone().into()),
            Self::Broken(error) => Some(anyhow::anyhow!("{error:#}")),
        }
    }
}

/// Plays one conversation to its end, and again if somebody else than the agent spoiled it. `past`: what is kept of it;
/// `None` if not even its row is.
pub async fn play(
    run: &ActiveRun,
    committer: &Committer,
    planned: Planned,
    mut past: Option<Vec<Event>>,
) -> Result<Outcome, Stopped> {
    let mut attempt = planned;
    loop {
        // Also of a run whose models cost nothing: its time may be over.
        run.may_ask().map_err(Stopped::Halted)?;
        // Of the highest level, so that whatever is logged says which conversation it is about.
        let span = error_span!("conversation", id = %attempt.id, run = %run.run.id, scenario = attempt.scenario);
        let playing = Play::new(run, committer, &attempt, past.take())?;
        let (outcome, again) = playing.finish().instrument(span).await?;
        let Some(again) = again else { return Ok(outcome) };
        past = Some(if again.from_judge {
            run.events_of(again.planned.id).await.map_err(|error| Stopped::Broken(error.into()))?
        } else {
            Vec::new()
        });
        attempt = again.planned;
    }
}

/// Ends a conversation that cannot be played: nobody is to try for ever.
pub async fn fail(
    run: &ActiveRun,
    committer: &Committer,
    planned: &Planned,
    begins: bool,
    reason: &str,
) -> Result<Outcome, NotKept> {
    let outcome = Outcome::Failed { blame: Blame::Infrastructure, reason: reason.to_owned() };
    let end = End { outcome: outcome.clone(), ending: None, user_turns: 0, noted: None, judged: None, again: None };
    let step = Step {
        run: run.run.id,
        judging: run.run.judging,
        planned: planned.clone(),
        world: run.world_of(planned),
        begins,
        events: Written::default(),
        end: Some(end),
        spent: Vec::new(),
    };
    committer.keep(step).await?;
    Ok(outcome)
}

/// The attempt that follows one with this outcome. Its id follows from the spoiled one, so that whoever asks is told
/// the same.
fn again(run: &ActiveRun, spoiled: &Planned, outcome: &Outcome) -> Option<Planned> {
    let Outcome::Failed { blame, .. } = outcome else { return None };
    let left = i64::from(spoiled.attempt) <= i64::from(run.config.retries);
    (blame.spoils() && left).then(|| spoiled.again())
}

/// One attempt.
struct Play<'a> {
    run: &'a ActiveRun,
    committer: &'a Committer,
    planned: &'a Planned,
    conversation: Conversation,
    /// Events that are not kept yet.
    events: Vec<Event>,
    spent: Vec<Spent>,
    begins: bool,
    world: Arc<str>,
    ahead: Ahead,
}

impl<'a> Play<'a> {
    fn new(
        run: &'a ActiveRun,
        committer: &'a Committer,
        planned: &'a Planned,
        past: Option<Vec<Event>>,
    ) -> Result<Self, Stopped> {
        let case = plan::case(&run.library, &run.config, run.run.seed, planned).map_err(Stopped::Broken)?;
        let world = Arc::from(case.initial.hash.as_str());
        let begins = past.is_none();
        let conversation = Conversation::resume(Arc::new(case), past.iter().flatten());
        let conversation = conversation.map_err(|error| Stopped::Broken(error.into()))?;
        Ok(Self {
            run,
            committer,
            planned,
            conversation,
            events: Vec::new(),
            spent: Vec::new(),
            begins,
            world,
            ahead: Ahead::default(),
        })
    }

    /// The outcome, and the next attempt, if there is one.
    async fn finish(mut self) -> Result<(Outcome, Option<Again>), Stopped> {
        loop {
            let event = match self.conversation.next() {
                Next::Act => self.conversation.act(),
                Next::Ask(who) => self.ask(&who).await?,
                Next::Done(outcome) => return self.end(outcome).await,
            };
            self.events.extend(event);
        }
    }

    async fn ask(&mut self, who: &Who) -> Result<Option<Event>, Stopped> {
        let run = self.run;
        let missing = || Stopped::Broken(anyhow::anyhow!("no model plays {}", who.role));
        let cast = run.models.answering(who).ok_or_else(missing)?;
        if let Some(answer) = cast.model.at_once(who, &self.conversation) {
            return self.heard(who, cast, answer);
        }
        self.keep().await?;
        // What cannot even be asked is the program's to say.
        let Some(ask) = self.conversation.ask() else { return Ok(self.conversation.act()) };
        let ask = run.config.complete(ask);
        // What was asked before its turn is in flight already, and is waited for like all that is.
        if !self.ahead.has(&ask) {
            run.may_ask().map_err(Stopped::Halted)?;
        }
        let (ahead, conversation) = (&self.ahead, &self.conversation);
        if run.config.pipelining {
            ahead.ask(run, conversation, conversation.ahead());
        }
        let listen = |calls: &[ToolCall]| {
            if run.config.pipelining {
                ahead.ask(run, conversation, conversation.ahead_of(calls));
            }
        };
        let asking = error_span!("ask", role = %who.role, model = %cast.name);
        let answered = async {
            match ahead.answer(&ask).await {
                Some(answer) => answer,
                None => cast.model.stream(&ask, conversation, &listen).await,
            }
        };
        let answer = tokio::select! {
            answer = answered.instrument(asking) => answer,
            halt = run.halted_at_once() => return Err(Stopped::Halted(halt)),
        };
        self.heard(who, cast, answer)
    }

    fn heard(&mut self, who: &Who, cast: &Cast, answer: Result<Answer, ModelError>) -> Result<Option<Event>, Stopped> {
        let model = &cast.name;
        Ok(match answer {
            Ok(answer) => {
                cast.answered();
                self.paid(who, model, &answer);
                self.conversation.hear(answer.reply)
            }
            // The endpoint did its part; the model did not come to an end.
            Err(ModelError {
                failure: ref failure @ Failure::Stopped { ref reply, .. },
                attempts,
                replies,
                mut usage,
                ..
            }) => {
                cast.answered();
                usage += reply.usage;
                self.spend(who, model, replies + 1, attempts, usage);
                self.conversation.refuse(ChatReply::clone(reply), &failure.to_string())
            }
            Err(error) => {
                warn!(role = %who.role, %error, "a model call was lost");
                let of_the_model = !matches!(error.failure, Failure::Unplayable { .. });
                if of_the_model && cast.lost_one() {
                    self.run.pause_because(format!("a model does not answer any more: {error}"));
                    return Err(Stopped::Halted(Halt::Paused));
                }
                self.spend(who, model, error.replies + 1, error.attempts, error.usage);
                self.conversation.lose(&error.to_string())
            }
        })
    }

    fn paid(&mut self, who: &Who, model: &Arc<str>, answer: &Answer) {
        self.spend(who, model, answer.replies, answer.attempts, answer.reply.usage);
    }

    fn spend(&mut self, who: &Who, model: &Arc<str>, calls: u32, attempts: u32, usage: Usage) {
        let cost = self.run.config.cost(model, usage);
        self.run.spending.add(usage, cost);
        let count = |tokens: u64| i64::try_from(tokens).unwrap_or(i64::MAX);
        let own = self.spent.iter().position(|spent| spent.role == who.role.as_str() && spent.model == *model);
        let own = own.unwrap_or_else(|| {
            self.spent.push(Spent::nothing(who.role.as_str(), Arc::clone(model)));
            self.spent.len() - 1
        });
        let spent = &mut self.spent[own];
        spent.calls += i64::from(calls);
        spent.retries += i64::from(attempts.saturating_sub(calls));
        spent.prompt_tokens += count(usage.prompt_tokens);
        spent.cached_tokens += count(usage.cached_tokens);
        spent.completion_tokens += count(usage.completion_tokens);
        spent.cost += cost;
    }

    async fn end(mut self, outcome: Outcome) -> Result<(Outcome, Option<Again>), Stopped> {
        for InVain { who, model, answer } in self.ahead.in_vain() {
            self.paid(&who, &model, &answer);
        }
        let again = again(self.run, self.planned, &outcome).map(|planned| {
            // What was played to its end is not played again because it could not be judged.
            let unjudged = matches!(outcome, Outcome::Failed { blame: Blame::Judge | Blame::Infrastructure, .. });
            let from_judge = unjudged && self.conversation.state().verification.is_some();
            Again { planned, from_judge }
        });
        let state = self.conversation.state();
        let end = End {
            ending: state.ending.as_ref().map(Ending::as_str),
            user_turns: i32::try_from(state.user_turns).unwrap_or(i32::MAX),
            noted: Some(noted::of(state)),
            judged: judged(&self.conversation, &outcome),
            outcome: outcome.clone(),
            again: again.clone(),
        };
        let (step, committer) = (self.step(Some(end))?, self.committer);
        // Hundreds wait here at a time: what they were goes first, so that the next ones are played in the same memory.
        drop(self);
        committer.keep(step).await?;
        Ok((outcome, again))
    }

    /// Keeps what has happened since the last time.
    async fn keep(&mut self) -> Result<(), Stopped> {
        if self.events.is_empty() {
            return Ok(());
        }
        let step = self.step(None)?;
        Ok(self.committer.keep(step).await?)
    }

    /// What has happened since the last time.
    fn step(&mut self, end: Option<End>) -> Result<Step, Stopped> {
        let events = Written::all(&std::mem::take(&mut self.events)).map_err(Stopped::Broken)?;
        Ok(Step {
            run: self.run.run.id,
            judging: self.run.run.judging,
            planned: self.planned.clone(),
            world: Arc::clone(&self.world),
            begins: std::mem::take(&mut self.begins),
            events,
            end,
            spent: std::mem::take(&mut self.spent),
        })
    }
}

/// What its judges said of a conversation that has ended; `None` if it was never theirs to judge.
pub(super) fn judged(conversation: &Conversation, outcome: &Outcome) -> Option<Judged> {
    let (case, state) = (conversation.case(), conversation.state());
    // A panel of which some have spoken has said nothing yet.
    let verdict = (state.verdicts.len() >= case.judges).then(|| state.verdict()).flatten();
    let failed = matches!(outcome, Outcome::Failed { blame: Blame::Judge, .. });
    (verdict.is_some() || failed).then(|| Judged {
        judge: case.judge.spec.name.clone(),
        judge_version: case.judge.version().to_owned(),
        verdict: verdict.filter(|_| !failed),
        verification: None,
        outcome: outcome.clone(),
    })
}
