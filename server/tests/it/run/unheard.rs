//! Players whom PostgreSQL tells nothing, as behind a pooler that keeps notifications to itself: they look by themselves.

use std::time::Duration;

use domain::api::RunState;
use domain::role::Role;
use sqlx::PgPool;
use sqlx::postgres::{PgListener, PgPoolOptions};
use store::control::{self, CHANNEL};
use store::{players, runs};

use crate::support::endpoint::Endpoint;
use crate::support::play::{HELP, planned};
use crate::support::process::play;
use crate::support::{agent, ledger, until};

/// Whoever connects from now on tells nobody anything: another function is found first.
const MUFFLED: &str = "
    CREATE FUNCTION public.pg_notify(text, text) RETURNS void LANGUAGE sql AS 'SELECT';
    DO $$ BEGIN
        EXECUTE format('ALTER DATABASE %I SET search_path = public, pg_catalog', current_database());
    END $$";

#[sqlx::test(migrations = "../migrations")]
async fn players_that_are_told_nothing_look_by_themselves(pool: PgPool) {
    let mut listener = PgListener::connect_with(&pool).await.unwrap();
    listener.listen(CHANNEL).await.unwrap();
    sqlx::raw_sql(MUFFLED).execute(&pool).await.unwrap();
    let muffled = PgPoolOptions::new().connect_with((*pool.connect_options()).clone()).await.unwrap();
    let mut db = muffled.acquire().await.unwrap();
    let mut player = play(&pool);
    until("it waits for work", async || !players::list(&mut db).await.unwrap().is_empty()).await;

    let run = planned(&muffled, &[HELP], 3, 1, &[]).await;
    let played = async || runs::state_of(&mut muffled.acquire().await.unwrap(), run.control.run.id).await.unwrap();
    until("what was stored is played", async || played().await == Some(RunState::Finished)).await;
    ledger::check(&muffled, run.control.run.id).await;

    // Nobody would wait for these calls; whoever hears that the run is cancelled does not.
    let endpoint = Endpoint::start_slow(Duration::from_mins(10), agent::help).await;
    let run = planned(&muffled, &[HELP], 30, 1, &[(Role::Agent, endpoint.model())]).await;
    until("models are asked", async || endpoint.requests().len() == 4).await;
    control::cancel(&mut db, run.control.run.id).await.unwrap();
    let given_up = async || {
        let held: Result<i64, _> =
            sqlx::query_scalar("SELECT count(*) FROM claims WHERE player IS NOT NULL").fetch_one(&muffled).await;
        held.unwrap() == 0
    };
    until("its calls are given up", given_up).await;
    player.kill().await.unwrap();

    // Notifications come in order: that this is the first says that there was none before.
    let aloud = sqlx::query("SELECT pg_catalog.pg_notify($1, 'aloud')").bind(CHANNEL);
    aloud.execute(&muffled).await.unwrap();
    assert_eq!(listener.recv().await.unwrap().payload(), "aloud");
}
