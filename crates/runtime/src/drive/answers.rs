//! Taking the answers to the requests of a task, and counting what they cost.

use std::sync::Arc;

use anyhow::anyhow;
use domain::chat::ChatReply;
use domain::event::Usage;
use domain::role::RoleId;
use domain::task::{OutsideAnswer, Request, Resolution, Task};
use llm::{Answer, Failure, ModelError};
use store::journal::ModelUsage;
use store::outside_requests::AnsweredRequest;
use tokio::time::Instant;
use tracing::warn;

use super::{Drive, RequestTimes, StopReason};
use crate::binding::ModelBinding;
use crate::loaded_run::LoadedRun;
use crate::local_answers::GivenAnswer;
use crate::prefetch::UnusedPrefetch;
use crate::request_answer::RequestAnswer;
use crate::run_kind::RunKind;

impl<K: RunKind> Drive<'_, K> {
    /// Takes an answer: the event that follows.
    pub(super) fn take(
        &mut self,
        request: &Request<K::Responder>,
        answered: RequestAnswer,
        mut times: RequestTimes,
    ) -> Result<Option<K::Event>, StopReason> {
        let run = self.run;
        let missing = || StopReason::Broken(anyhow!("no model plays {}", request.role));
        let binding = run.kind.binding(&request.to).ok_or_else(missing)?;
        let resolution = match answered {
            RequestAnswer::Parked if self.open.is_empty() => return Err(StopReason::Parked),
            // What else is open comes first; then a parked one is asked again.
            RequestAnswer::LeftOpen | RequestAnswer::Parked => return Ok(None),
            RequestAnswer::StandIn(resolution) => stood_in(run, &mut self.usage, request.role, binding, resolution),
            RequestAnswer::Service(Ok(message)) => {
                binding.answered();
                spend(run, &mut self.usage, request.role, &binding.name, [1, 1], Usage::default());
                Resolution::Message(message)
            }
            RequestAnswer::Service(Err(reason)) => {
                if run.control.was_paused_since(times.asked()) {
                    return Ok(None);
                }
                if self.queue.is_some() && binding.lost_one() {
                    run.control.pause_because(format!("a service does not answer any more: {reason}"));
                    return Ok(None);
                }
                Resolution::Lost { reason }
            }
            RequestAnswer::Outside(Ok(GivenAnswer { answer, receipt })) => {
                let is_local = receipt.is_some();
                self.answered.push(AnsweredRequest { request: request.id.0.cast_signed(), is_local });
                self.receipt = receipt;
                match answer {
                    OutsideAnswer::Message(message) => Resolution::Message(message),
                    OutsideAnswer::Lost(reason) => Resolution::Lost { reason },
                }
            }
            RequestAnswer::Outside(Err(error)) => return Err(StopReason::Broken(error.into())),
            RequestAnswer::Model(answer) => {
                times = match &answer {
                    Ok(answer) => times.replied(answer.times),
                    Err(error) => times.failed(error.waited),
                };
                match self.taken_from_model(request, binding, answer, times.asked()) {
                    Some(resolution) => resolution,
                    None => return Ok(None),
                }
            }
        };
        self.watch.answered(&times);
        let begun = Instant::now();
        let mut event = self.task.resolve(request, resolution);
        self.watch.computed_since(begun);
        if let Some(event) = event.as_mut().filter(|_| K::TIMES_REQUESTS) {
            K::note_timing(event, self.watch.timing(&times));
        }
        Ok(event)
    }

    /// `None` if the model is out of order: the run is paused, and the request is made again when it goes on. So is one that
    /// was lost before people resumed the run: they may have mended the model.
    fn taken_from_model(
        &mut self,
        request: &Request<K::Responder>,
        binding: &ModelBinding,
        answer: Result<Answer, ModelError>,
        asked: Instant,
    ) -> Option<Resolution> {
        Some(match answer {
            Ok(answer) => {
                binding.answered();
                self.paid(request.role, &binding.name, &answer);
                Resolution::Reply(answer.reply)
            }
            // The endpoint did its part; the model did not come to an end.
            Err(ModelError {
                failure: ref failure @ (Failure::Stopped { ref reply, .. } | Failure::Unusable { ref reply, .. }),
                attempts,
                replies,
                usage,
                ..
            }) => {
                binding.answered();
                let mut all = usage;
                all += reply.usage;
                spend(self.run, &mut self.usage, request.role, &binding.name, [replies + 1, attempts], all);
                Resolution::Unusable { reply: ChatReply::clone(reply), reason: failure.to_string() }
            }
            Err(error) => {
                warn!(role = %request.role, %error, "a model call was lost");
                let control = &self.run.control;
                if control.was_paused_since(asked) {
                    return None;
                }
                // What is not kept, such as judging again, pauses nothing that others play.
                if self.queue.is_some() && binding.lost_one() {
                    control.pause_because(format!("a model does not answer any more: {error}"));
                    return None;
                }
                let calls = [error.replies + 1, error.attempts];
                spend(self.run, &mut self.usage, request.role, &binding.name, calls, error.usage);
                Resolution::Lost { reason: error.to_string() }
            }
        })
    }

    fn paid(&mut self, role: RoleId, model: &Arc<str>, answer: &Answer) {
        spend(self.run, &mut self.usage, role, model, [answer.replies, answer.attempts], answer.reply.usage);
    }

    pub(super) fn pay_for_unused(&mut self) {
        for UnusedPrefetch { request, model, answer } in self.prefetched.unused() {
            self.paid(request.role, &model, &answer);
        }
    }
}

/// Counts what a stand-in answered, and names it in the reason if it could not.
pub(super) fn stood_in<K: RunKind>(
    run: &LoadedRun<K>,
    usage: &mut Vec<ModelUsage>,
    role: RoleId,
    binding: &ModelBinding,
    resolution: Resolution,
) -> Resolution {
    let name = &binding.name;
    let tokens = match &resolution {
        Resolution::Reply(reply) | Resolution::Unusable { reply, .. } => reply.usage,
        Resolution::Lost { .. } | Resolution::Message(_) => Usage::default(),
    };
    spend(run, usage, role, name, [1, 1], tokens);
    match resolution {
        Resolution::Lost { reason } => {
            let reason = format!("{name} cannot play on: {reason}");
            warn!(%role, reason, "a stand-in has no answer");
            Resolution::Lost { reason }
        }
        other => other,
    }
}

/// Counts replies and the requests that they took.
fn spend<K: RunKind>(
    run: &LoadedRun<K>,
    all: &mut Vec<ModelUsage>,
    role: RoleId,
    model: &Arc<str>,
    [calls, attempts]: [u32; 2],
    usage: Usage,
) {
    let cost = run.kind.cost(model, usage);
    run.control.spending.add(usage, cost);
    let own = all.iter().position(|spent| spent.role == role && spent.model == *model);
    let own = own.unwrap_or_else(|| {
        all.push(ModelUsage::nothing(role, Arc::clone(model)));
        all.len() - 1
    });
    let spent = &mut all[own];
    spent.calls += i64::from(calls);
    spent.retries += i64::from(attempts.saturating_sub(calls));
    spent.tokens += usage;
    spent.cost += cost;
}
