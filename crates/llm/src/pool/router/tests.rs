use std::pin::Pin;
use std::task::Poll;

use domain::api::Health;
use futures::poll;
use proptest::prelude::*;

use super::*;
use crate::error::Wait;
use crate::pool::breaker::Breaker;
use crate::pool::limit::Limit;

const SECOND: Duration = Duration::from_secs(1);

fn router(replicas: usize, slots: u32) -> Arc<Router> {
    let urls = || (0..replicas).map(|index| format!("http://host{index}/v1"));
    let replica = |url| Replica::new(url, Limit::new(slots, Some(slots)), Breaker::new(1, SECOND, SECOND));
    let meters = Arc::new(Meters::new("m".into(), urls()));
    Arc::new(Router::new(urls().map(replica).collect(), EndpointOptions::default(), None, meters))
}

fn in_flight(router: &Router) -> u32 {
    router.inspect(|replica, _| replica.in_flight).1.into_iter().sum()
}

fn waiting(router: &Router) -> usize {
    router.inspect(|_, _| ()).0
}

/// Waits for a slot and holds it.
type Holding = Pin<Box<dyn Future<Output = Permit>>>;

fn holding(router: &Arc<Router>, sticky: u64) -> Holding {
    wanting(router, CallPreferences { sticky: Some(sticky), ..CallPreferences::default() })
}

fn wanting(router: &Arc<Router>, wanted: CallPreferences) -> Holding {
    let router = Arc::clone(router);
    Box::pin(async move {
        router.slot(&wanted, &mut None, Instant::now()).await.unwrap_or_else(|_| panic!("nothing is down"))
    })
}

#[derive(Debug, Clone, Copy)]
enum Step {
    Enter(u64),
    /// The same of a call that this replica has failed or, if there is another, refused.
    Return(u64, usize, bool),
    /// Looks whether it is this one's turn.
    Poll(usize),
    /// Gives up, in line or in flight or between the two.
    Drop(usize),
    Answer(usize),
    Fail(usize),
    Pass(u64),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => any::<u64>().prop_map(Step::Enter),
        2 => (any::<u64>(), any::<usize>(), any::<bool>()).prop_map(|(sticky, n, refused)| Step::Return(sticky, n, refused)),
        4 => any::<usize>().prop_map(Step::Poll),
        3 => any::<usize>().prop_map(Step::Drop),
        2 => any::<usize>().prop_map(Step::Answer),
        1 => any::<usize>().prop_map(Step::Fail),
        1 => (0_u64..3_000).prop_map(Step::Pass),
    ]
}

/// Plays the steps. Slots are never given out twice, and none is free while somebody waits who would take it.
async fn play(router: &Arc<Router>, replicas: usize, steps: Vec<Step>) {
    let mut waiters: Vec<Holding> = Vec::new();
    let mut held: Vec<Permit> = Vec::new();
    let failure = Failure::CutStream;
    for step in steps {
        match step {
            Step::Enter(sticky) => waiters.push(holding(router, sticky)),
            Step::Return(sticky, n, refused) => {
                let (n, refused) = (n % replicas, refused && replicas > 1);
                let (failed, refused) = if refused { (vec![], vec![n]) } else { (vec![n], vec![]) };
                waiters.push(wanting(
                    router,
                    CallPreferences { sticky: Some(sticky), urgent: sticky.is_multiple_of(4), failed, refused },
                ));
            }
            Step::Poll(n) if !waiters.is_empty() => {
                let n = n % waiters.len();
                if let Poll::Ready(permit) = poll!(&mut waiters[n]) {
                    drop(waiters.swap_remove(n));
                    held.push(permit);
                }
            }
            Step::Drop(n) if n % 2 == 0 && !waiters.is_empty() => drop(waiters.swap_remove(n % waiters.len())),
            Step::Drop(n) if !held.is_empty() => drop(held.swap_remove(n % held.len())),
            Step::Answer(n) if !held.is_empty() => held.swap_remove(n % held.len()).answered(SECOND),
            Step::Fail(n) if !held.is_empty() => held.swap_remove(n % held.len()).failed(&failure, None),
            Step::Pass(ms) => tokio::time::sleep(Duration::from_millis(ms)).await,
            _ => {}
        }
        {
            let state = router.lock();
            assert_eq!(state.line.first(&state.replicas, Instant::now()), None, "{router:?}");
        }
        assert!(in_flight(router) as usize >= held.len());
    }
}

proptest! {
    #[test]
    fn dropped_calls_leak_nothing(
        replicas in 1_usize..4,
        slots in 1_u32..4,
        steps in prop::collection::vec(step(), 0..200),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(async {
            let router = router(replicas, slots);
            play(&router, replicas, steps).await;
            assert_eq!((in_flight(&router), waiting(&router)), (0, 0));
            // And a new call still gets a slot, if after the wait of a breaker.
            tokio::time::timeout(2 * SECOND, holding(&router, 1)).await.unwrap();
        });
    }
}

#[tokio::test(start_paused = true)]
async fn turns_come_in_order() {
    let router = router(1, 1);
    let first = holding(&router, 0).await;
    let mut others: Vec<Holding> = (1..50).map(|sticky| holding(&router, sticky)).collect();
    for other in &mut others {
        assert!(poll!(other).is_pending());
    }
    let mut permit = first;
    for mut other in others {
        permit.answered(SECOND);
        let Poll::Ready(next) = poll!(&mut other) else { panic!("it was somebody else's turn") };
        permit = next;
    }
}

#[tokio::test(start_paused = true)]
async fn urgent_calls_come_before_those_that_can_wait() {
    let router = router(1, 1);
    let mut permit = holding(&router, 0).await;
    let calls = [("usual", false), ("later", false), ("urgent", true), ("as urgent", true)];
    let mut waiters = Vec::new();
    for (name, urgent) in calls {
        let mut waiter = wanting(&router, CallPreferences { urgent, ..CallPreferences::default() });
        assert!(poll!(&mut waiter).is_pending());
        waiters.push((name, waiter));
    }
    let mut turns = Vec::new();
    while !waiters.is_empty() {
        permit.answered(SECOND);
        let mut next = None;
        for (at, (_, waiter)) in waiters.iter_mut().enumerate() {
            if let Poll::Ready(got) = poll!(waiter) {
                next = Some((at, got));
            }
        }
        let (at, got) = next.expect("somebody's turn");
        turns.push(waiters.remove(at).0);
        permit = got;
    }
    assert_eq!(turns, ["urgent", "as urgent", "usual", "later"]);
}

#[tokio::test(start_paused = true)]
async fn who_waits_for_another_replica_holds_up_nobody_behind() {
    let router = router(2, 40);
    let full = futures::future::join_all((0..80).map(|sticky| holding(&router, sticky))).await;
    let (of_a, of_b): (Vec<Permit>, Vec<Permit>) = full.into_iter().partition(|permit| permit.replica() == 0);
    // More than are looked through at the head of the line have failed at the second, and wait for the first.
    let avoids = CallPreferences { failed: vec![1], ..CallPreferences::default() };
    let mut avoiding: Vec<Holding> = (0..100).map(|_| wanting(&router, avoids.clone())).collect();
    for one in &mut avoiding {
        assert!(poll!(one).is_pending());
    }
    let mut newcomer = holding(&router, 1);
    assert!(poll!(&mut newcomer).is_pending());
    of_b.into_iter().next().unwrap().answered(SECOND);
    let Poll::Ready(permit) = poll!(&mut newcomer) else { panic!("the second has room, and nobody else wants it") };
    assert_eq!(permit.replica(), 1);
    drop(of_a);
}

#[tokio::test(start_paused = true)]
async fn an_alarm_wakes_the_line_when_a_replica_has_rested() {
    let router = router(1, 3);
    let begin = Instant::now();
    let limited = Failure::RateLimited { message: String::new() };
    holding(&router, 0).await.failed(&limited, Some(7 * SECOND));
    let permits = futures::future::join_all((0..2).map(|sticky| holding(&router, sticky))).await;
    assert_eq!((Instant::now() - begin).as_secs(), 7);
    assert_eq!(permits.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_half_open_replica_gets_one_call_at_a_time() {
    let router = router(1, 8);
    holding(&router, 0).await.answered(SECOND);
    let permits = futures::future::join_all((0..5).map(|sticky| holding(&router, sticky))).await;
    for permit in permits {
        permit.failed(&Failure::CutStream, None);
    }
    let health = || router.inspect(Replica::health).1[0];
    assert_eq!(health(), Health::Open);
    let mut second = holding(&router, 1);
    let probe = holding(&router, 0).await;
    assert!(probe.is_probe() && health() == Health::HalfOpen);
    assert!(poll!(&mut second).is_pending());
    probe.answered(SECOND);
    assert_eq!(health(), Health::Closed);
    assert!(poll!(&mut second).is_ready());
}

fn limit(router: &Router) -> u32 {
    router.inspect(|replica, _| replica.limit()).1[0]
}

fn refused(status: u16) -> Failure {
    Failure::Refused { status, message: String::new() }
}

#[tokio::test(start_paused = true)]
async fn failures_that_less_work_might_have_helped_shrink_the_limit() {
    let timeout = |wait| Failure::Timeout { wait, limit: SECOND };
    for (failure, expected) in [
        (refused(500), 7),
        (refused(503), 7),
        (timeout(Wait::FirstByte), 7),
        (timeout(Wait::WholeReply), 7),
        (Failure::RateLimited { message: String::new() }, 7),
        (Failure::Unreachable { reason: String::new() }, 7),
        (refused(400), 10),
        (refused(401), 10),
        (Failure::CutStream, 10),
        (Failure::Garbled { found: String::new() }, 10),
    ] {
        let router = router(1, 10);
        holding(&router, 0).await.failed(&failure, None);
        assert_eq!(limit(&router), expected, "{failure}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_limit_that_shrank_grows_by_one_for_each_round_of_replies() {
    let router = router(1, 10);
    holding(&router, 0).await.failed(&refused(500), None);
    let mut held = Vec::new();
    for expected in [8, 9, 10] {
        while router.inspect(|replica, _| replica.has_room()).1[0] {
            held.push(holding(&router, 0).await);
        }
        for _ in 0..limit(&router) {
            assert_eq!(limit(&router), expected - 1);
            held.remove(0).answered(SECOND);
            held.push(holding(&router, 0).await);
        }
        assert_eq!(limit(&router), expected);
    }
}
