//! Turns of agents that the server gives to its own player, and not by the database.

use domain::api::episodes::{Episode, EpisodeState};
use domain::chat::AgentTurn;
use domain::task::OutsideAnswer;
use generation::episodes::message;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use sqlx::PgPool;
use store::{control, outside_requests};
use uuid::Uuid;

use super::{at, events_of, filled, of, opened, say, scripted, words};
use crate::http::answers::{own_player, player};
use crate::support::play::{HELP, TRANSFER};
use crate::support::{ledger, until};

/// From here on no answer can be written to a request.
async fn without_answers_in_the_database(pool: &PgPool) {
    sqlx::raw_sql(
        "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'an answer by the database'; END $$;
         CREATE TRIGGER refuse BEFORE UPDATE ON requests FOR EACH ROW EXECUTE FUNCTION refuse()",
    )
    .execute(pool)
    .await
    .unwrap();
}

async fn run_of(pool: &PgPool, episode: &Episode) -> Uuid {
    let run: Uuid = episode.run.parse().unwrap();
    control::cancel(&mut pool.acquire().await.unwrap(), run).await.unwrap();
    run
}

#[sqlx::test(migrations = "../migrations")]
async fn the_same_words_make_the_same_conversation_as_in_a_run(pool: PgPool) {
    let app = filled(&pool).await;
    let _player = own_player(&app, 16);
    let expected = [scripted(&pool, HELP).await, scripted(&pool, TRANSFER).await];
    without_answers_in_the_database(&pool).await;
    let mut run = Uuid::nil();
    for (scenario, expected) in [HELP, TRANSFER].into_iter().zip(expected) {
        let episode = opened(&app, &of(scenario)).await;
        let last = say(&app, &episode, words(&expected)).await;
        assert_eq!((last.state, last.result.unwrap().reward), (EpisodeState::Ended, Some(1)));
        assert_eq!(events_of(&pool, episode.id.parse().unwrap()).await, expected, "{scenario}");
        let shown: Episode = app.json(&at(&episode, "")).await;
        assert_eq!(shown.state, EpisodeState::Ended);
        run = run_of(&pool, &episode).await;
    }
    ledger::check(&pool, run).await;
}

#[sqlx::test(migrations = "../migrations")]
async fn a_turn_that_is_over_or_has_not_come_is_refused_with_the_number_of_the_next(pool: PgPool) {
    let app = filled(&pool).await;
    let _player = own_player(&app, 16);
    let words = words(&scripted(&pool, TRANSFER).await);
    let episode = opened(&app, &of(TRANSFER)).await;
    let (path, turn) = (at(&episode, "/messages"), episode.turn.unwrap());
    let send = async |turn: u32| {
        let mut message = words[0].clone();
        message["turn"] = json!(turn);
        app.send(Method::POST, &path, &message).await
    };
    let (status, answer) = send(turn + 1).await;
    assert_eq!(status, StatusCode::CONFLICT, "{answer}");
    assert!(answer["detail"].as_str().unwrap().contains(&format!("the agent's turn is {turn}")), "{answer}");
    let (first, second) = tokio::join!(send(turn), send(turn));
    let mut statuses = [first.0, second.0];
    statuses.sort_unstable();
    assert_eq!(statuses, [StatusCode::OK, StatusCode::CONFLICT], "{first:?} {second:?}");
}

/// Another server has answered the request, and the player has not heard of it yet: that answer counts, and what was played on the
/// other one is forgotten.
#[sqlx::test(migrations = "../migrations")]
async fn an_answer_that_another_server_took_first_counts(pool: PgPool) {
    let app = filled(&pool).await;
    let _player = own_player(&app, 16);
    let expected = scripted(&pool, TRANSFER).await;
    let words = words(&expected);
    let episode = opened(&app, &of(TRANSFER)).await;
    let id: Uuid = episode.id.parse().unwrap();
    let (_, first) = message::reply(serde_json::from_value(words[0].clone()).unwrap()).unwrap();
    let first = OutsideAnswer::Message(serde_json::to_value(AgentTurn::Reply(first)).unwrap());
    let taken =
        sqlx::query("UPDATE requests SET answer = $2, answered_at = now() WHERE task_id = $1 AND answered_at IS NULL");
    let taken = taken.bind(id).bind(serde_json::to_value(first).unwrap()).execute(&pool).await.unwrap();
    assert_eq!(taken.rows_affected(), 1);
    let late = json!({"turn": episode.turn, "content": "Something else."});
    let (status, answer) = app.send(Method::POST, &at(&episode, "/messages"), &late).await;
    assert_eq!(status, StatusCode::CONFLICT, "{answer}");
    let next: Episode = app.json(&at(&episode, "?wait=20")).await;
    assert_eq!(next.state, EpisodeState::Waiting);
    let last = say(&app, &next, words[1..].to_vec()).await;
    assert_eq!(last.result.unwrap().reward, Some(1));
    assert_eq!(events_of(&pool, id).await, expected);
    ledger::check(&pool, run_of(&pool, &episode).await).await;
}

/// The player that the server keeps does not play the episode: the message goes by the database.
#[sqlx::test(migrations = "../migrations")]
async fn an_episode_of_another_player_is_answered_as_well(pool: PgPool) {
    let app = filled(&pool).await;
    let _elsewhere = player(&pool, 16);
    let expected = scripted(&pool, TRANSFER).await;
    let words = words(&expected);
    let episode = opened(&app, &of(TRANSFER)).await;
    let own = own_player(&app, 16);
    let next = say(&app, &episode, words[..1].to_vec()).await;
    // And a server whose player has gone goes on, too.
    drop(own);
    let last = say(&app, &next, words[1..].to_vec()).await;
    assert_eq!(last.result.unwrap().reward, Some(1));
    assert_eq!(events_of(&pool, episode.id.parse().unwrap()).await, expected);
}

/// An agent that thinks for longer than its episode is kept waiting in the player while others need the room.
#[sqlx::test(migrations = "../migrations")]
async fn an_episode_that_has_left_its_player_is_taken_up_again(pool: PgPool) {
    let app = filled(&pool).await;
    // With room for one nothing waits in the player for long.
    let _player = own_player(&app, 1);
    let words = words(&scripted(&pool, TRANSFER).await);
    let episode = opened(&app, &of(TRANSFER)).await;
    let claims = async || sqlx::query_scalar::<_, i64>("SELECT count(*) FROM claims").fetch_one(&pool).await.unwrap();
    until("it has left its player", async || claims().await == 0).await;
    let last = say(&app, &episode, words).await;
    assert_eq!(last.result.unwrap().reward, Some(1));
}

#[sqlx::test(migrations = "../migrations")]
async fn an_episode_that_has_ended_leaves_no_request(pool: PgPool) {
    let app = filled(&pool).await;
    let _player = own_player(&app, 16);
    let words = words(&scripted(&pool, HELP).await);
    let episode = opened(&app, &of(HELP)).await;
    let last = say(&app, &episode, words).await;
    assert_eq!(last.state, EpisodeState::Ended);
    let open = outside_requests::waiting(&mut pool.acquire().await.unwrap(), "agent", 10).await.unwrap();
    assert!(open.is_empty(), "{open:?}");
    let (status, answer): (StatusCode, Value) =
        app.send(Method::POST, &at(&episode, "/messages"), &json!({"content": "Hello?"})).await;
    assert_eq!(status, StatusCode::CONFLICT);
    assert!(answer["detail"].as_str().unwrap().contains("the episode has ended"), "{answer}");
}
