//! Runs of conversations: what the runtime plays and asks for, from the run's documents and its spec.

use std::collections::BTreeSet;
use std::sync::Arc;

use anyhow::{Context, anyhow};
use domain::Event;
use domain::chat::{ChatReply, ChatRequest};
use domain::event::{Answer as CallAnswer, Usage};
use domain::outcome::{Blame, Ending, Outcome};
use domain::role::Role;
use domain::task::Request;
use domain::transcript::Transcript;
use domain::verdict::Verification;
use engine::{Conversation, Judge, Party, judge};
use futures::FutureExt;
use futures::future::{BoxFuture, join_all};
use llm::{Answer, CallTimes, ModelError};
use projects::library::Library;
use runtime::{LoadedRun, ModelBinding, ModelCall, ModelClients, RunKind, TaskOutcome};
use sqlx::PgPool;
use store::conversations::PlannedConversation;
use store::journal::{ConversationSummary, TaskFailure};
use store::runs::Run;
use store::tasks::PlannedTask;
use store::verdicts::StoredVerdict;
use tokio::time::Instant;

use crate::models::Models;
use crate::plan::{self, Repertoire, RunConfig};
use crate::stored_runs;

/// A run of conversations as a process plays it.
pub type ConversationRun = LoadedRun<Conversations>;

/// What the conversations of a run are played from.
pub struct Conversations {
    pub library: Arc<Library>,
    pub config: RunConfig,
    pub models: Models,
    repertoire: Repertoire,
}

impl Conversations {
    /// # Errors
    /// The run's documents do not hold what it plays, or its models cannot be set up.
    pub fn new(library: Arc<Library>, config: RunConfig, clients: &ModelClients) -> anyhow::Result<Self> {
        let (models, repertoire) = (Models::of(&config, clients)?, Repertoire::of(&library, &config)?);
        Ok(Self { library, config, models, repertoire })
    }

    /// What was played, for judges that the run did not have.
    ///
    /// # Errors
    /// The run's documents do not hold what it played.
    pub fn judged_by(library: Arc<Library>, config: RunConfig, judges: Models) -> anyhow::Result<Self> {
        let repertoire = Repertoire::of(&library, &config)?;
        Ok(Self { library, config, models: judges, repertoire })
    }
}

impl RunKind for Conversations {
    const NAME: &'static str = "conversations";
    const TASK: &'static str = "conversation";

    type Event = Event;
    type Responder = Party;
    type Resources = ModelClients;
    type Task = Conversation;

    async fn load(pool: &PgPool, run: &Run, clients: &ModelClients) -> anyhow::Result<Self> {
        let config = stored_runs::spec(run)?;
        let library = stored_runs::library(pool, run).await?;
        Self::new(Arc::new(library), config, clients)
    }

    fn planned(&self, run: &Run, position: i32) -> anyhow::Result<PlannedTask> {
        let plan = self.repertoire.plan(&self.library, run.seed);
        Ok(plan::planned(plan.row(usize::try_from(position)?).map_err(|e| anyhow!(e))?)?.into())
    }

    async fn begin(&self, run: &Run, planned: &PlannedTask, past: &[Event]) -> anyhow::Result<Conversation> {
        let planned = PlannedConversation::of_task(planned).context("the task is no conversation")?;
        let case = plan::case(&self.library, &self.config, run.seed, &planned)?;
        Ok(Conversation::resume(Arc::new(case), past)?)
    }

    fn seq(event: &Event) -> u32 {
        event.seq
    }

    /// Empty if the scenario is no more.
    fn world(&self, planned: &PlannedTask) -> Option<Arc<str>> {
        let scenario = self.library.scenario(&planned.conversation.as_ref()?.scenario);
        let found = scenario.and_then(|s| Ok(self.library.initial(s, self.library.playbook(&s.playbook)?)));
        Some(found.map_or_else(|_| Arc::from(""), |world| Arc::from(world.hash.as_str())))
    }

    fn binding(&self, to: &Party) -> Option<&ModelBinding> {
        self.models.answering(to)
    }

    fn complete(&self, to: &Party, chat: ChatRequest) -> ChatRequest {
        self.config.complete(to.role, chat)
    }

    fn call(
        &self,
        task: &Conversation,
        request: &Request<Party>,
        call: ModelCall,
    ) -> BoxFuture<'static, Result<Answer, ModelError>> {
        if self.config.criteria_apart && request.to.role == Role::Judge {
            judge_per_criterion(Arc::clone(&task.case().judge), call).boxed()
        } else {
            call.answer().boxed()
        }
    }

    fn cost(&self, model: &str, usage: Usage) -> i64 {
        self.config.cost(model, usage)
    }

    fn parks(&self) -> bool {
        self.config.plays_episodes()
    }

    fn retries(&self) -> u32 {
        self.config.retries
    }

    fn prefetches(&self) -> bool {
        self.config.pipelining
    }

    fn end(&self, task: &Conversation) -> TaskOutcome {
        let outcome = outcome(task);
        let blame = match &outcome {
            Outcome::Accepted => None,
            Outcome::Failed { blame, .. } => Some(*blame),
        };
        // What was played to its end is not played again because it could not be judged.
        let unjudged = matches!(blame, Some(Blame::Judge | Blame::Infrastructure));
        let keeps = unjudged && task.state().transcript.verification.is_some();
        TaskOutcome {
            failure: TaskFailure::of(&outcome),
            spoiled: blame.is_some_and(Blame::spoils),
            keep_through: keeps.then(|| i32::try_from(task.state().last_step).unwrap_or(i32::MAX)),
            conversation: Some(summary(&task.state().transcript)),
            judged: judged(task, &outcome),
            metrics: None,
        }
    }
}

/// How a conversation ended.
pub(crate) fn outcome(conversation: &Conversation) -> Outcome {
    let never = || Outcome::Failed { blame: Blame::Infrastructure, reason: "it was not played to its end".to_owned() };
    conversation.outcome().cloned().unwrap_or_else(never)
}

/// What its judges said of a conversation that has ended; `None` if it was never theirs to judge.
pub(crate) fn judged(conversation: &Conversation, outcome: &Outcome) -> Option<StoredVerdict> {
    let (case, transcript) = (conversation.case(), &conversation.state().transcript);
    // A panel of which some have spoken has said nothing yet.
    let verdict = (transcript.verdicts.len() >= case.judges).then(|| transcript.verdict()).flatten();
    let failed = matches!(outcome, Outcome::Failed { blame: Blame::Judge, .. });
    (verdict.is_some() || failed).then(|| StoredVerdict {
        judge: case.judge.spec.name.clone(),
        judge_version: case.judge.version().to_owned(),
        verdict: verdict.filter(|_| !failed),
        verification: None,
        outcome: outcome.clone(),
    })
}

/// What lists and statistics say of a conversation.
pub fn summary(transcript: &Transcript) -> ConversationSummary {
    let known = transcript.agent_calls().filter(|call| call.answer != CallAnswer::UnknownTool).map(|call| &call.tool);
    ConversationSummary {
        ending: transcript.ending().map(Ending::into_str),
        user_turns: i32::try_from(transcript.user_turns).unwrap_or(i32::MAX),
        verified: transcript.verification.as_ref().map(Verification::passed),
        tool_calls: i32::try_from(transcript.agent_calls().count()).unwrap_or(i32::MAX),
        tools: known.collect::<BTreeSet<_>>().into_iter().cloned().collect(),
    }
}

/// A verdict that is asked for in parts, one for each criterion, all at once. The parts begin alike, so that an endpoint
/// that keeps what it has read reads the conversation once.
async fn judge_per_criterion(judge: Arc<Judge>, call: ModelCall) -> Result<Answer, ModelError> {
    let parts = judge::per_criterion_requests(&judge, &call.chat);
    // Also when one has no answer: what the others say was asked for, and is paid for.
    let answers = join_all(parts.iter().map(|part| call.pool.answer(part, call.caller))).await;
    let answers = all_answers(answers)?;
    let times = answers.iter().fold(CallTimes::at(Instant::now()), |all, answer| all.joined(answer.times));
    let replies = answers.iter().map(|answer| answer.replies).sum();
    let attempts = answers.iter().map(|answer| answer.attempts).sum();
    let parts: Vec<ChatReply> = answers.into_iter().map(|answer| answer.reply).collect();
    Ok(Answer { reply: judge::merge_replies(&judge, &parts), replies, attempts, times })
}

/// All answers, or the first error with what the others cost.
fn all_answers(answers: Vec<Result<Answer, ModelError>>) -> Result<Vec<Answer>, ModelError> {
    let (mut parts, mut lost, mut failed_attempts) = (Vec::new(), None, 0);
    for answer in answers {
        match answer {
            Ok(answer) => parts.push(answer),
            Err(error) => {
                failed_attempts += error.attempts;
                lost.get_or_insert(error);
            }
        }
    }
    let Some(error) = lost else { return Ok(parts) };
    let mut usage = Usage::default();
    parts.iter().for_each(|part| usage += part.reply.usage);
    let replies = parts.iter().map(|part| part.replies).sum();
    let attempts = failed_attempts + parts.iter().map(|part| part.attempts).sum::<u32>();
    Err(ModelError { attempts, replies, usage, ..error })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use llm::Failure;

    use super::*;

    fn reply(tokens: u64) -> Answer {
        let usage = Usage { prompt_tokens: tokens, ..Usage::default() };
        let times = CallTimes::at(Instant::now());
        Answer { reply: ChatReply { usage, ..ChatReply::default() }, replies: 1, attempts: 2, times }
    }

    fn error(failure: Failure) -> ModelError {
        let (usage, waited) = (Usage::default(), Duration::ZERO);
        ModelError { model: "m".into(), attempts: 5, failure, replies: 0, usage, waited }
    }

    #[test]
    fn what_the_other_parts_cost_is_known_when_one_is_lost() {
        let all = all_answers(vec![Ok(reply(3)), Ok(reply(4))]).unwrap();
        assert_eq!(all.len(), 2);
        let lost = [Ok(reply(3)), Err(error(Failure::CutStream)), Ok(reply(4)), Err(error(Failure::NoWorker))];
        let lost = all_answers(lost.into()).unwrap_err();
        assert_eq!((lost.replies, lost.attempts, lost.usage.prompt_tokens), (2, 14, 7));
        assert_eq!(lost.failure, Failure::CutStream);
    }
}
