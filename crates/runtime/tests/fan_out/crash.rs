//! Players that are killed in the middle.

use std::collections::BTreeSet;
use std::time::Duration;

use domain::api::RunState;
use sqlx::PgPool;
use tokio::process::Child;
use uuid::Uuid;

use crate::support::endpoint::{Act, Endpoint};
use crate::support::kind::Spec;
use crate::support::outside::{Outside, answer_all, waiting};
use crate::support::play::{check, counted, kept, planned, play, start, stopped, summary};
use crate::support::process::{self, CONCURRENCY};
use crate::support::until;

/// Questions of a task, and so its most calls in flight.
const QUESTIONS: usize = 4;

async fn state(pool: &PgPool, run: Uuid) -> RunState {
    summary(pool, run).await.state
}

/// What a dead player had sent to the database is either kept or forgotten once its connections are gone.
async fn until_silent(pool: &PgPool) {
    until("the dead players are gone", async || {
        let connections = "SELECT count(*) FROM pg_stat_activity
                           WHERE datname = current_database() AND application_name LIKE 'groundstate player %'";
        sqlx::query_scalar::<_, i64>(connections).fetch_one(pool).await.unwrap() == 0
    })
    .await;
}

#[sqlx::test(migrations = "../../migrations")]
async fn players_are_killed_one_after_another_and_every_task_ends_once(pool: PgPool) {
    const TASKS: i32 = 60;
    let endpoint = Endpoint::start(|_| Act::AnswerAfter(Duration::from_millis(15))).await;
    let outside = Outside::start(&pool);
    let run = planned(&pool, &Spec::of(endpoint.model()), TASKS).await;
    let mut playing: Vec<Child> = (0..3).map(|_| process::play(&pool, run)).collect();
    let (mut killed, mut last) = (0, 0);
    while state(&pool, run).await != RunState::Finished {
        tokio::time::sleep(Duration::from_millis(50)).await;
        let now = summary(&pool, run).await.finished;
        // After each fifth of the run the oldest player is killed, and another one comes.
        if now / 12 > last / 12 && now < i64::from(TASKS) {
            process::kill(playing.remove(0)).await;
            playing.push(process::play(&pool, run));
            killed += 1;
        }
        last = now;
    }
    assert!(killed >= 2, "only {killed} were killed");
    check(&pool, run).await;
    let (asked, kept) = (endpoint.asked(), kept(&pool, run).await.len());
    assert_eq!(counted(&pool, run).await, kept, "usage is that of the replies that were kept");
    assert!(asked >= kept, "{asked} {kept}");
    let repeated = asked - kept;
    assert!(repeated <= killed * CONCURRENCY * QUESTIONS, "{repeated} calls were repeated after {killed} kills");
    assert_eq!(
        outside.answered().await.len(),
        2 * usize::try_from(TASKS).unwrap(),
        "each agent and each job answers once"
    );
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_call_that_was_kept_is_not_made_again_though_all_players_are_killed(pool: PgPool) {
    const TASKS: i32 = 24;
    let endpoint = Endpoint::start(|_| Act::AnswerAfter(Duration::from_millis(15))).await;
    let _outside = Outside::start(&pool);
    let run = planned(&pool, &Spec::of(endpoint.model()), TASKS).await;
    let (mut killed, mut in_flight) = (0, 0);
    // What was kept at each kill, and how many calls had been made by then.
    let mut kills: Vec<(BTreeSet<String>, usize)> = Vec::new();
    for _ in 0..4 {
        let children = [process::play(&pool, run), process::play(&pool, run)];
        let before = kept(&pool, run).await.len();
        until("a part is played", async || kept(&pool, run).await.len() >= before + 20).await;
        for child in children {
            process::kill(child).await;
            killed += 1;
        }
        until_silent(&pool).await;
        until("the endpoint knows that they are gone", async || endpoint.in_flight() == 0).await;
        let kept = kept(&pool, run).await;
        in_flight = endpoint.asked() - kept.len();
        kills.push((kept, endpoint.asked()));
    }
    play(&pool, run, CONCURRENCY).await;
    check(&pool, run).await;
    let prompts = endpoint.prompts();
    for (kept, asked) in &kills {
        let again = |prompt: &&String| kept.iter().any(|heading| prompt.starts_with(heading));
        assert_eq!(prompts[*asked..].iter().find(again), None, "it had been answered and kept");
    }
    assert!(in_flight > 0, "some calls were in flight");
    assert_eq!(prompts.len() - kept(&pool, run).await.len(), in_flight, "each of them is repeated, and no other");
    assert!(in_flight <= killed * CONCURRENCY * QUESTIONS, "{in_flight} after {killed} kills");
}

#[sqlx::test(migrations = "../../migrations")]
async fn requests_that_are_answered_while_nobody_plays_are_found_again(pool: PgPool) {
    const TASKS: i32 = 3;
    let endpoint = Endpoint::start(|_| Act::Answer).await;
    let run = planned(&pool, &Spec::of(endpoint.model()), TASKS).await;
    let child = process::play(&pool, run);
    until("an agent and a job of each task are asked", async || waiting(&pool).await.len() == 6).await;
    let before = waiting(&pool).await;
    process::kill(child).await;
    let asked = endpoint.asked();
    let answered = answer_all(&pool).await;
    assert_eq!(answered, before);
    play(&pool, run, CONCURRENCY).await;
    check(&pool, run).await;
    assert_eq!(waiting(&pool).await, [], "nobody outside was asked again");
    assert_eq!(endpoint.asked(), asked + usize::try_from(TASKS).unwrap(), "only the summaries were missing");
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_request_is_still_there_for_the_next_player_and_is_answered_once(pool: PgPool) {
    let endpoint = Endpoint::start(|_| Act::Answer).await;
    let run = planned(&pool, &Spec::of(endpoint.model()), 2).await;
    let child = process::play(&pool, run);
    until("they are asked", async || waiting(&pool).await.len() == 4).await;
    let before = waiting(&pool).await;
    process::kill(child).await;
    let playing = start(&pool, run, CONCURRENCY).await;
    until("others have taken over", async || {
        let held = "SELECT count(*) FROM claims JOIN players ON players.id = player WHERE pid = $1";
        let own = i32::try_from(std::process::id()).unwrap();
        sqlx::query_scalar::<_, i64>(held).bind(own).fetch_one(&pool).await.unwrap() > 0
    })
    .await;
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert_eq!(waiting(&pool).await, before, "they are not asked twice");
    let outside = Outside::start(&pool);
    stopped(playing).await;
    check(&pool, run).await;
    assert_eq!(outside.answered().await.len(), 4);
}

#[sqlx::test(migrations = "../../migrations")]
async fn requests_go_with_their_task_though_another_player_had_made_them(pool: PgPool) {
    let held = |prompt: &str| if prompt.starts_with("summary") { Act::Hold } else { Act::Answer };
    let endpoint = Endpoint::start(held).await;
    let outside = Outside::start(&pool);
    let run = planned(&pool, &Spec::of(endpoint.model()), 2).await;
    let child = process::play(&pool, run);
    // What the agents and the jobs answered is kept by then.
    until("the summaries are asked for", async || endpoint.in_flight() == 2).await;
    process::kill(child).await;
    endpoint.behave(|_| Act::Answer);
    play(&pool, run, CONCURRENCY).await;
    check(&pool, run).await;
    assert_eq!(outside.answered().await.len(), 4);
    let left: i64 = sqlx::query_scalar("SELECT count(*) FROM requests").fetch_one(&pool).await.unwrap();
    assert_eq!(left, 0);
}
