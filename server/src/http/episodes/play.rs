//! What is done with episodes, however it is asked for.

use std::cmp::Ordering;
use std::sync::Arc;
use std::time::Duration;

use domain::api::RunState;
use domain::api::episodes::Environment;
use domain::chat::AgentTurn;
use domain::outcome::Outcome;
use domain::task::OutsideAnswer;
use generation::episodes::view::{FollowedTurn, is_turn};
use generation::episodes::{GROUPS_BY_CLIENTS, NewGroup, message};
use generation::plan::RunConfig;
use store::episodes::{AgentRequest, Episode};
use store::{outside_requests, players};
use tokio::time::{Instant, sleep, sleep_until};
use uuid::Uuid;

use super::PATIENCE;
use super::environment::{self, ProjectSettings};
use crate::http::app::App;
use crate::http::audit::Audit;
use crate::http::episode_signals::Signal;
use crate::http::error::{HttpError, Result};
use crate::http::opening_queue::{OpenedEpisode, OpenedGroup, Opening, with_tokens};
use crate::player_process::{EpisodeFailure, NextState, NextTurn, NoAnswer, TurnAnswer};

/// How often it is looked where an episode stands that nobody told of.
const POLL: Duration = Duration::from_secs(1);
/// How long an episode that is given up may take to end.
const TO_END: Duration = Duration::from_secs(10);
/// A client that can be kept waiting waits this long for users that are models, and for somebody who plays.
const LONG_PATIENCE: Duration = Duration::from_mins(10);

/// Opens episodes of one group of an environment. `tokens_of`: who is to have a token for each of them.
pub async fn open(
    app: &App,
    settings: &ProjectSettings,
    environment: &Environment,
    group: NewGroup,
    tokens_of: Option<Uuid>,
    audit: Audit,
) -> Result<Vec<OpenedEpisode>> {
    let order = settings.checked(app, environment).await.map_err(environment::within)?;
    let library = Arc::clone(&settings.library);
    open_checked(app, Opening { library, order: Arc::new(order), group, tokens_of, audit }).await
}

/// Opens episodes of one group of an order that was checked.
pub async fn open_checked(app: &App, opening: Opening) -> Result<Vec<OpenedEpisode>> {
    let Opening { library, order, group, .. } = &opening;
    check_group(&order.config, group)?;
    let (library, order) = (Arc::clone(library), Arc::clone(order));
    let OpenedGroup { run, planned, opened } = app.opening_queue().open(opening).await?;
    // One that is opened with many others may be looked at much later.
    if let [only] = planned.as_slice() {
        app.episode_views().begin(&library, &order, (run, only))?;
    }
    Ok(opened)
}

/// # Errors
/// The run plays no such scenario, or clients cannot number a group like this.
fn check_group(config: &RunConfig, group: &NewGroup) -> Result<()> {
    if let Some(scenario) = &group.scenario
        && !config.scenarios.iter().any(|known| known == scenario)
    {
        let hint = domain::problem::did_you_mean(scenario, config.scenarios.iter().map(String::as_str));
        return Err(HttpError::invalid("/scenario", format!("the environment does not play `{scenario}`{hint}")));
    }
    if group.group.is_some_and(|group| !(0..GROUPS_BY_CLIENTS).contains(&group)) {
        return Err(HttpError::invalid("/group", format!("must be from 0 to {}", GROUPS_BY_CLIENTS - 1)));
    }
    Ok(())
}

/// An episode that is open already. `tokens_of`: who is to have a token for it, in place of their earlier one.
pub async fn open_again(app: &App, id: Uuid, tokens_of: Option<Uuid>, audit: Audit) -> Result<Vec<OpenedEpisode>> {
    if tokens_of.is_none() {
        audit.nothing_changed();
        return Ok(vec![OpenedEpisode { id, token: None, signal: None }]);
    }
    let mut tx = app.pool().begin().await?;
    let opened = with_tokens(&mut tx, vec![id], tokens_of).await?;
    audit.subject(id);
    audit.commit(tx).await?;
    Ok(opened)
}

/// A turn of the agent that was taken.
pub struct TakenTurn {
    episode: Uuid,
    /// The event that it will be.
    pub turn: u32,
    followed: Followed,
}

/// Where it is found what follows a turn.
enum Followed {
    /// The player told it.
    Here(Box<Episode>),
    /// It is in the database, and `Signal` hears when.
    Stored(Signal),
}

impl TakenTurn {
    /// Where the episode stands when it is the agent's turn again, or at its end, or after this time.
    pub async fn next(self, app: &App, patience: Duration) -> Result<Episode> {
        match self.followed {
            Followed::Here(episode) => Ok(*episode),
            Followed::Stored(signal) => next_turn_or_end(app, self.episode, signal, patience).await,
        }
    }

    /// Likewise, for clients that can be kept waiting.
    ///
    /// # Errors
    /// The run does not go on.
    pub async fn next_at_last(self, app: &App) -> Result<Episode> {
        let episode = self.episode;
        let now = self.next(app, PATIENCE).await?;
        at_last(app, episode, now).await
    }
}

/// Takes a turn of the agent. `turn`: the one that is meant, if that was said.
pub async fn send(app: &App, id: Uuid, turn: Option<u32>, said: &AgentTurn) -> Result<TakenTurn> {
    if let AgentTurn::Reply(reply) = said {
        message::check_size(reply)?;
    }
    let signal = app.episodes().of(id);
    let turn = match turn {
        Some(turn) => turn,
        None => open_turn(&get(app, id).await?)?.turn,
    };
    let said = serde_json::to_value(said).map_err(|error| HttpError::Internal(error.into()))?;
    let said = OutsideAnswer::Message(said);
    let is_lost = match to_own_player(app, id, turn, &said).await {
        PlayerSaid::Followed(next) => return Ok(followed(app, id, next, signal)),
        PlayerSaid::Taken => return Ok(TakenTurn { episode: id, turn, followed: Followed::Stored(signal) }),
        PlayerSaid::Refused => false,
        PlayerSaid::Lost => true,
    };
    match answer(app, id, turn, said).await {
        Err(HttpError::Conflict(why)) if is_lost => {
            // If the player kept it before it died, what follows is played by another one.
            let is_open = get(app, id).await?.waiting.is_some_and(|waiting| waiting.turn == turn);
            if is_open || !is_turn(&mut *app.pool().acquire().await?, id, turn).await? {
                return Err(HttpError::Conflict(why));
            }
        }
        answered => answered?,
    }
    Ok(TakenTurn { episode: id, turn, followed: Followed::Stored(signal) })
}

/// What this server's own player says to a turn of an agent.
enum PlayerSaid {
    /// It does not play the episode, or it is not its agent's turn. There may be no such player.
    Refused,
    /// The player ended meanwhile, or does not know whether it was kept.
    Lost,
    Taken,
    Followed(NextTurn),
}

/// Gives a turn to this server's own player, which plays most of its episodes: that is cheaper than to tell it by the database.
async fn to_own_player(app: &App, id: Uuid, turn: u32, said: &OutsideAnswer) -> PlayerSaid {
    let Some(player) = app.player() else { return PlayerSaid::Refused };
    let told = tokio::select! {
        told = player.turn(id, turn, said) => told,
        // A model that plays the user may take longer than anybody waits for an answer.
        () = sleep(PATIENCE) => Err(NoAnswer::Lost),
        () = app.stop().cancelled() => Err(NoAnswer::Lost),
    };
    match told {
        Ok(TurnAnswer::Followed(next)) => PlayerSaid::Followed(next),
        Ok(TurnAnswer::Taken) => PlayerSaid::Taken,
        Ok(TurnAnswer::Refused) | Err(NoAnswer::NotAsked) => PlayerSaid::Refused,
        Ok(TurnAnswer::Unknown) | Err(NoAnswer::Lost) => PlayerSaid::Lost,
    }
}

fn followed(app: &App, id: Uuid, next: NextTurn, signal: Signal) -> TakenTurn {
    app.episodes().tell(id);
    let turn = next.turn;
    let (waiting, outcome) = match next.state {
        NextState::Waits(request) => (serde_json::from_value(request).ok(), None),
        NextState::Ended(None) => (None, Some(Outcome::Accepted)),
        NextState::Ended(Some(EpisodeFailure { blame, reason })) => {
            (None, blame.parse().ok().map(|blame| Outcome::Failed { blame, reason }))
        }
    };
    let events = next.events.into_iter().map(|event| event.get().to_owned()).collect();
    let after = FollowedTurn { events, waiting, outcome };
    let followed = match app.episode_views().after_turn(id, turn, after) {
        Some(episode) if episode.waiting.is_some() || episode.outcome.is_some() => Followed::Here(Box::new(episode)),
        _ => Followed::Stored(signal),
    };
    TakenTurn { episode: id, turn, followed }
}

/// Gives up an episode whose agent cannot answer.
pub async fn lose(app: &App, id: Uuid, turn: Option<u32>, reason: String) -> Result<()> {
    let waiting = open_turn(&get(app, id).await?)?;
    if turn.is_some_and(|turn| turn != waiting.turn) {
        return Ok(());
    }
    answer(app, id, waiting.turn, OutsideAnswer::Lost(reason)).await?;
    agents_turn_or_end(app, id, PATIENCE).await?;
    Ok(())
}

async fn answer(app: &App, id: Uuid, turn: u32, answer: OutsideAnswer) -> Result<()> {
    if app.agents_answers().answer(id, turn, answer).await? {
        return Ok(());
    }
    // Nearly every message is taken, so only now it is read why one is not.
    let waiting = open_turn(&get(app, id).await?)?;
    Err(HttpError::Conflict(match turn.cmp(&waiting.turn) {
        Ordering::Less => format!("turn {turn} is over; the agent's turn is {}", waiting.turn),
        Ordering::Greater => format!("turn {turn} has not come yet; the agent's turn is {}", waiting.turn),
        Ordering::Equal => format!("turn {turn} has come only now; send the message again"),
    }))
}

/// # Errors
/// Nothing of the episode is played any more, although it has not ended.
pub fn check_played(episode: &Episode) -> Result<()> {
    let refused = |detail: String| Err(HttpError::Conflict(detail));
    match episode.run_state {
        _ if episode.outcome.is_some() => Ok(()),
        RunState::Running => Ok(()),
        RunState::Paused => {
            let why = episode.paused_because.as_deref().map(|why| format!(": {why}")).unwrap_or_default();
            refused(format!("the run of the episode is paused{why}; resume it first"))
        }
        RunState::Finished | RunState::Cancelled => refused("the run of the episode was closed".to_owned()),
    }
}

/// The turn of the agent that an episode waits for.
pub fn open_turn(episode: &Episode) -> Result<AgentRequest> {
    if episode.outcome.is_some() {
        return Err(HttpError::Conflict("the episode has ended; open another one".to_owned()));
    }
    check_played(episode)?;
    let refused = |detail: String| Err(HttpError::Conflict(detail));
    match episode.waiting {
        Some(waiting) => Ok(waiting),
        None => refused(format!(
            "it is not the agent's turn yet; wait for it with GET /api/v1/episodes/{}?wait=50",
            episode.planned.id
        )),
    }
}

/// How an episode is ended from outside.
pub enum Closing {
    /// The agent has done all that it wants to do.
    Verified,
    GivenUp,
}

/// Ends an episode. Nothing is done with one that has ended.
pub async fn end(app: &App, id: Uuid, how: &Closing) -> Result<()> {
    match how {
        Closing::Verified => verify(app, id).await,
        Closing::GivenUp => give_up(app, id).await,
    }
}

/// Ends an episode once it is its agent's turn.
async fn verify(app: &App, id: Uuid) -> Result<()> {
    let deadline = Instant::now() + PATIENCE;
    let left = || deadline.saturating_duration_since(Instant::now());
    let episode = agents_turn_or_end(app, id, left()).await?;
    if episode.outcome.is_some() {
        return Ok(());
    }
    let waiting = open_turn(&episode)?;
    let end = serde_json::to_value(AgentTurn::End).map_err(|error| HttpError::Internal(error.into()))?;
    answer(app, id, waiting.turn, OutsideAnswer::Message(end)).await?;
    agents_turn_or_end(app, id, left()).await?;
    Ok(())
}

/// Ends an episode where it stands. What is asked for it is not waited for.
async fn give_up(app: &App, id: Uuid) -> Result<()> {
    let mut signal = app.episodes().of(id);
    let mut episode = get(app, id).await?;
    if episode.outcome.is_none() {
        check_played(&episode)?;
        outside_requests::end_early(&mut *app.pool().acquire().await?, id, "it was closed before its end").await?;
    }
    let deadline = Instant::now() + TO_END;
    while episode.outcome.is_none() && Instant::now() < deadline && !app.stop().is_cancelled() {
        let is_told = tokio::select! {
            () = signal.told() => true,
            () = app.stop().cancelled() => true,
            () = sleep(POLL / 4) => false,
        };
        episode = get(app, id).await?;
        if !is_told && !players::any(&mut *app.pool().acquire().await?).await? {
            break;
        }
    }
    Ok(())
}

/// Waits until it is the agent's turn, or the episode has ended, or nothing of it is played: its run does not go on, or nobody
/// plays at all. Where it stands then.
pub async fn agents_turn_or_end(app: &App, id: Uuid, patience: Duration) -> Result<Episode> {
    let deadline = Instant::now() + patience;
    // What is told from now on is heard.
    let signal = app.episodes().of(id);
    let episode = get(app, id).await?;
    if is_played(&episode) { until_turn_or_end(app, id, signal, deadline).await } else { Ok(episode) }
}

/// Like [`agents_turn_or_end`], of an episode that is to be played on since `signal` was made: the player tells when it has been.
pub async fn next_turn_or_end(
    app: &App,
    id: Uuid,
    signal: impl Into<Option<Signal>>,
    patience: Duration,
) -> Result<Episode> {
    let Some(signal) = signal.into().filter(Signal::hears_all) else {
        return agents_turn_or_end(app, id, patience).await;
    };
    until_turn_or_end(app, id, signal, Instant::now() + patience).await
}

/// Whether something has to happen before it is the agent's turn or the end, and somebody may do it.
fn is_played(episode: &Episode) -> bool {
    episode.outcome.is_none() && episode.waiting.is_none() && episode.run_state == RunState::Running
}

async fn until_turn_or_end(app: &App, id: Uuid, mut signal: Signal, deadline: Instant) -> Result<Episode> {
    loop {
        let is_told = tokio::select! {
            () = signal.told() => true,
            () = app.stop().cancelled() => true,
            () = sleep_until(deadline.min(Instant::now() + POLL)) => false,
        };
        let episode = get(app, id).await?;
        if !is_played(&episode) || Instant::now() >= deadline || app.stop().is_cancelled() {
            return Ok(episode);
        }
        if !is_told && !players::any(&mut *app.pool().acquire().await?).await? {
            return Ok(episode);
        }
    }
}

/// Like [`agents_turn_or_end`], for clients that can be kept waiting: also while nobody plays.
///
/// # Errors
/// The run does not go on.
pub async fn agents_turn_or_end_at_last(app: &App, id: Uuid) -> Result<Episode> {
    let now = agents_turn_or_end(app, id, PATIENCE).await?;
    at_last(app, id, now).await
}

/// Like [`next_turn_or_end`], for clients that can be kept waiting.
///
/// # Errors
/// The run does not go on.
pub async fn next_turn_or_end_at_last(app: &App, id: Uuid, signal: impl Into<Option<Signal>>) -> Result<Episode> {
    let now = next_turn_or_end(app, id, signal, PATIENCE).await?;
    at_last(app, id, now).await
}

async fn at_last(app: &App, id: Uuid, mut now: Episode) -> Result<Episode> {
    let deadline = Instant::now() + LONG_PATIENCE;
    loop {
        check_played(&now)?;
        if now.outcome.is_some() || now.waiting.is_some() || Instant::now() >= deadline || app.stop().is_cancelled() {
            return Ok(now);
        }
        sleep(POLL).await;
        now = agents_turn_or_end(app, id, PATIENCE).await?;
    }
}

/// Like [`agents_turn_or_end`], for clients: the turns of an endpoint are not theirs.
pub async fn clients_turn_or_end(app: &App, id: Uuid, patience: Duration) -> Result<()> {
    let deadline = Instant::now() + patience;
    loop {
        let episode = agents_turn_or_end(app, id, deadline.saturating_duration_since(Instant::now())).await?;
        let is_theirs = episode.waiting.is_some() && !episode.by_endpoint;
        let is_played = episode.outcome.is_none() && !is_theirs && episode.run_state == RunState::Running;
        if !is_played || Instant::now() >= deadline || app.stop().is_cancelled() {
            return Ok(());
        }
        sleep_until(deadline.min(Instant::now() + POLL / 4)).await;
    }
}

/// Where an episode stands, with what has followed since it was last looked at, if that was lately.
pub async fn get(app: &App, id: Uuid) -> Result<Episode> {
    let found = app.lookups().episodes.get((id, app.episode_views().last_seq(id))).await?;
    found.ok_or_else(|| HttpError::missing("episode", &id.to_string()))
}
