//! Who claims tasks of this kind, and how many at once.

use std::collections::BTreeSet;
use std::time::Duration;

use anyhow::bail;
use domain::api::RunState;
use runtime::drive::StopReason;
use runtime::{ModelClients, Options, Place, Player, RunControl, Runnable};
use sqlx::PgPool;
use store::claims::{self, ClaimRequest};
use store::journal::TaskFailure;
use store::players;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::support::endpoint::{Act, Endpoint};
use crate::support::kind::Spec;
use crate::support::outside::Outside;
use crate::support::play::{
    KINDS, LEASE, check, clients, connections, options, planned, play, start, stopped, summary,
};
use crate::support::until;

/// Runs of another kind.
#[derive(Clone)]
struct Other;

impl Runnable for Other {
    type Resources = ModelClients;
    const KINDS: &'static [&'static str] = &["others"];

    async fn load(_pool: &PgPool, _id: Uuid, _clients: &ModelClients) -> anyhow::Result<Self> {
        bail!("it is not played here")
    }

    fn control(&self) -> &RunControl {
        unreachable!("none is loaded")
    }

    async fn play(&self, _place: Place) -> Result<Option<TaskFailure>, StopReason> {
        unreachable!("none is loaded")
    }
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_process_that_plays_other_kinds_leaves_it_alone(pool: PgPool) {
    let run = planned(&pool, &Spec::of_stand_ins(), 10).await;
    let mut db = pool.acquire().await.unwrap();
    // There is something left behind, too.
    let gone = players::register(&mut db, "gone", 1, LEASE).await.unwrap();
    assert_eq!(
        claims::claim(
            &mut db,
            gone,
            &ClaimRequest { kinds: &["others", "conversations"], most: 4, ..ClaimRequest::default() }
        )
        .await
        .unwrap(),
        None
    );
    let claim = claims::claim(&mut db, gone, &ClaimRequest { kinds: &KINDS, most: 4, ..ClaimRequest::default() })
        .await
        .unwrap()
        .unwrap();
    players::leave(&mut db, gone).await.unwrap();

    let options = Options { only: None, poll: Duration::from_millis(20), ..options(run, 4) };
    let player = Player::<Other>::new(connections(&pool).await, clients(), options);
    let stop = CancellationToken::new();
    let looking = async {
        until("it is there", async || !players::list(&mut db).await.unwrap().is_empty()).await;
        tokio::time::sleep(Duration::from_millis(500)).await;
        let left: (i32, i32, Option<i64>) =
            sqlx::query_as("SELECT first_position, last_position, player FROM claims").fetch_one(&pool).await.unwrap();
        assert_eq!(left, (claim.first_position, claim.last_position, None));
        assert_eq!(summary(&pool, run).await.state, RunState::Running, "it was not refused either");
        stop.cancel();
    };
    let (played, ()) = tokio::join!(player.play(&stop), looking);
    played.unwrap();
    play(&pool, run, 4).await;
    check(&pool, run).await;
}

#[sqlx::test(migrations = "../../migrations")]
async fn no_more_tasks_are_played_at_once_than_the_run_allows(pool: PgPool) {
    const MOST: usize = 2;
    let endpoint = Endpoint::start(|_| Act::Hold).await;
    let outside = Outside::start(&pool);
    let run = planned(&pool, &Spec::of(endpoint.model()), 8).await;
    sqlx::query("UPDATE runs SET max_in_flight = $1").bind(i32::try_from(MOST).unwrap()).execute(&pool).await.unwrap();
    let players = [start(&pool, run, 8).await, start(&pool, run, 8).await];
    let tasks = || -> BTreeSet<String> {
        let of = |prompt: &String| prompt.split_once(" of ").unwrap().1.split(',').next().unwrap().to_owned();
        endpoint.prompts().iter().map(of).collect()
    };
    until("as many ask as may", async || endpoint.in_flight() == 4 * MOST).await;
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert_eq!((endpoint.in_flight(), tasks().len()), (4 * MOST, MOST), "no others have begun");
    // The first task is answered at last only: what ends beside it makes room.
    endpoint.behave(|prompt| if prompt.contains("task 0,") { Act::Hold } else { Act::Answer });
    until("all others have ended", async || summary(&pool, run).await.finished == 7).await;
    endpoint.behave(|_| Act::Answer);
    for playing in players {
        stopped(playing).await;
    }
    check(&pool, run).await;
    assert!(endpoint.most_in_flight() <= 4 * MOST, "{}", endpoint.most_in_flight());
    assert_eq!(outside.answered().await.len(), 16);
}
