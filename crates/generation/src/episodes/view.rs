//! An episode as its agent sees it.

use std::sync::Arc;

use domain::Event;
use domain::api::RunState;
use domain::api::episodes::{Episode, EpisodeResult, EpisodeState};
use domain::event::EventKind;
use domain::outcome::Outcome;
use domain::reward::{self, Penalties};
use domain::role::Role;
use domain::transcript::Transcript;
use domain::verdict::Verification;
use engine::Conversation;
use projects::library::{Cache, Library};
use sqlx::{PgConnection, PgPool};
use store::conversations::PlannedConversation;
use store::episodes::{AgentRequest, NewEvents};
use store::{StoreError, episodes as stored, events};
use uuid::Uuid;

use super::recent_conversations::{RecentConversations, last_seq};
use super::stored_environments::StoredEnvironments;
use crate::order::CheckedOrder;
use crate::plan;

/// Which messages are shown.
#[derive(Debug, Clone, Copy)]
pub enum Since {
    Start,
    /// Those after the first ones.
    Message(usize),
    /// Those from an event on.
    Turn(u32),
}

/// What followed a turn of the agent.
pub struct FollowedTurn {
    /// From the turn on, as JSON.
    pub events: Vec<String>,
    /// The next turn, unless the episode has ended.
    pub waiting: Option<AgentRequest>,
    pub outcome: Option<Outcome>,
}

/// Shows episodes, and remembers what the next look at one needs.
pub struct EpisodeViews {
    pool: PgPool,
    libraries: Cache,
    environments: StoredEnvironments,
    recent: RecentConversations,
}

impl EpisodeViews {
    pub fn new(pool: PgPool, libraries: Cache) -> Self {
        Self { pool, libraries, environments: StoredEnvironments::default(), recent: RecentConversations::default() }
    }

    /// Remembers an episode that begins, so that no look at it has to read more than what has followed.
    ///
    /// # Errors
    /// The documents do not hold what it plays.
    pub fn begin(
        &self,
        library: &Library,
        order: &CheckedOrder,
        (run, new): (Uuid, &PlannedConversation),
    ) -> anyhow::Result<()> {
        let case = plan::case(library, &order.config, order.terms.seed, new)?;
        self.recent.keep(stored::Episode::new(run, new.clone()), Conversation::new(Arc::new(case)));
        Ok(())
    }

    /// An episode after a turn that its player said was taken, with what followed. `None` if it was not looked at lately: the database
    /// knows.
    pub fn after_turn(&self, id: Uuid, turn: u32, followed: FollowedTurn) -> Option<stored::Episode> {
        let FollowedTurn { events, waiting, outcome } = followed;
        let (last, stored) = self.recent.get(id)?;
        let after = i32::try_from(turn).ok()? - 1;
        let events = Some(NewEvents::new(after, events));
        // Only a run that goes on has turns taken, however the episode stood when it was looked at.
        let running = stored::Episode { run_state: RunState::Running, paused_because: None, ..stored };
        (last == after).then_some(stored::Episode { waiting, outcome, events, ..running })
    }

    /// The number of the last event of an episode that is remembered here.
    pub fn last_seq(&self, id: Uuid) -> Option<i32> {
        self.recent.last_seq(id)
    }

    /// Shows an episode that was read before. Its events were read with it, or are read now, so they contain the turn that it waits
    /// for.
    ///
    /// # Errors
    /// The stored events are not those of an episode, or the database cannot be reached.
    pub async fn show(&self, stored: stored::Episode, since: Since) -> anyhow::Result<Episode> {
        let id = stored.planned.id;
        let (conversation, said) = self.conversation(&stored, since).await?;
        let transcript = &conversation.state().transcript;
        let agent = conversation.state().agent();
        // The instructions come before what was said.
        let skipped = match since {
            Since::Start => 0,
            Since::Message(skipped) => skipped.min(1 + agent.messages.len()),
            Since::Turn(_) => 1 + said,
        };
        let messages = match skipped.checked_sub(1) {
            None => conversation.messages(agent),
            Some(said) => agent.messages.iter().skip(said).cloned().collect(),
        };
        let refused = transcript.refused().last().filter(|refusal| refusal.role == Role::Agent);
        let state = match (&stored.outcome, stored.waiting) {
            (Some(_), _) => EpisodeState::Ended,
            (None, Some(_)) if !stored.by_endpoint => EpisodeState::Waiting,
            (None, _) => EpisodeState::Playing,
        };
        let episode = Episode {
            id: id.to_string(),
            run: stored.run.to_string(),
            playbook: conversation.case().playbook.spec.name.clone(),
            scenario: stored.planned.scenario.clone(),
            group: stored.planned.repeat,
            state,
            turn: stored.waiting.map(|waiting| waiting.turn),
            reward_if_ended: stored.waiting.and_then(|waiting| waiting.reward_if_ended),
            messages,
            skipped,
            tools: conversation.functions(agent),
            refused: refused.map(|refusal| refusal.reason.clone()),
            result: stored.outcome.as_ref().map(|outcome| result(transcript, outcome)),
            token: None,
        };
        if episode.state != EpisodeState::Ended {
            self.recent.keep(stored, conversation);
        }
        Ok(episode)
    }

    /// The conversation of an episode, and how many messages its agent had heard and said before the turn that is asked for.
    async fn conversation(&self, stored: &stored::Episode, since: Since) -> anyhow::Result<(Conversation, usize)> {
        let id = stored.planned.id;
        let turn = match since {
            Since::Turn(turn) => Some(turn),
            Since::Start | Since::Message(_) => None,
        };
        // One that has gone beyond the turn does not know what was said before it.
        let known = self.recent.take(id);
        let known = known.filter(|known| turn.is_none_or(|turn| known.state().transcript.next_seq <= turn));
        let mut conversation = match known {
            Some(known) => known,
            None => {
                let environment = self.environments.of_run(&self.pool, &self.libraries, stored.run).await?;
                let case =
                    plan::case(&environment.library, &environment.config, environment.run.seed, &stored.planned)?;
                Conversation::new(Arc::new(case))
            }
        };
        let last = last_seq(&conversation);
        let events: Vec<Event> = match stored.events.as_ref().filter(|new| new.after == last) {
            Some(new) => new.read(id)?,
            None => {
                let mut db = self.pool.acquire().await.map_err(StoreError::from)?;
                events::page(&mut db, id, last, i64::MAX).await?
            }
        };
        let (before, after) = events.split_at(turn.map_or(0, |turn| events.partition_point(|event| event.seq < turn)));
        conversation.follow(before)?;
        let said = conversation.state().agent().messages.len();
        conversation.follow(after)?;
        Ok((conversation, said))
    }
}

/// Whether an event is, or will be, a turn of the agent that was taken.
///
/// # Errors
/// The database is away, or what is stored are no events of a conversation.
pub async fn is_turn(db: &mut PgConnection, id: Uuid, turn: u32) -> store::Result<bool> {
    let events = events::of::<Event>(db, id).await?;
    let is_agents = |event: &Event| match &event.kind {
        EventKind::AgentSpoke { .. } => event.ancestry.is_empty(),
        EventKind::Refused { role, .. } => *role == Role::Agent && event.ancestry.is_empty(),
        _ => false,
    };
    // The last one may be on its way into the journal.
    let last = events.last().map_or(0, |event| event.seq + 1);
    Ok(turn == last || events.iter().any(|event| event.seq == turn && is_agents(event)))
}

/// The result of an episode.
fn result(transcript: &Transcript, outcome: &Outcome) -> EpisodeResult {
    let (blame, reason) = match outcome {
        Outcome::Accepted => (None, None),
        Outcome::Failed { blame, reason } => (Some(*blame), Some(reason.clone())),
    };
    let verification = transcript.verification.as_ref();
    let passed = verification.is_some_and(Verification::passed);
    let checks = verification.map(|verification| verification.items.clone()).unwrap_or_default();
    EpisodeResult {
        reward: reward::reward(blame, passed),
        reward_components: reward::components(&checks),
        blame,
        reason,
        ending: transcript.ending().map(|ending| ending.into_str().to_owned()),
        penalties: Penalties::of(transcript),
        checks,
    }
}
