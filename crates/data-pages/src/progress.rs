//! What goes on, and looking at it again until it is done.

use std::pin::pin;
use std::time::Duration;

use futures::channel::oneshot;
use futures::future::{Either, select};
use leptos::prelude::*;
use leptos::task::spawn_local;

use ui::api_client::{Answer, ApiError};

const AGAIN: Duration = Duration::from_millis(700);
/// A server that is busy answers within this time. What is not answered by then is asked anew: a request that is never
/// answered would else be the last one.
const PATIENCE: Duration = Duration::from_secs(10);

/// Asks again and again while `going` says so; a failure to answer is no reason to stop. Gives why the last answer did not
/// come, if it did not.
pub fn follow<T, F>(
    value: RwSignal<T>,
    going: impl Fn(&T) -> bool + Copy + Send + Sync + 'static,
    load: impl Fn() -> F + Copy + 'static,
) -> Signal<Option<ApiError>>
where
    T: Clone + PartialEq + Send + Sync + 'static,
    F: Future<Output = Answer<T>> + 'static,
{
    follow_part(value, going, load, |value, newest| {
        let other = *value != newest;
        *value = newest;
        other
    })
}

/// The same for what tells of a part only; `put` says whether it changed anything.
pub fn follow_part<T, A, F>(
    value: RwSignal<T>,
    going: impl Fn(&T) -> bool + Copy + Send + Sync + 'static,
    load: impl Fn() -> F + Copy + 'static,
    put: impl Fn(&mut T, A) -> bool + Copy + 'static,
) -> Signal<Option<ApiError>>
where
    T: Send + Sync + 'static,
    A: 'static,
    F: Future<Output = Answer<A>> + 'static,
{
    let goes = Memo::new(move |_| value.with(going));
    let (looking, lost) = (StoredValue::new(false), RwSignal::new(None));
    Effect::new(move |_| {
        if !goes.get() || looking.get_value() {
            return;
        }
        looking.set_value(true);
        spawn_local(async move {
            // Nothing is there any more once the reader has left the page; then it ends.
            loop {
                sleep(AGAIN).await;
                if value.try_with_untracked(going) != Some(true) {
                    break;
                }
                let answer = within(PATIENCE, load()).await.unwrap_or_else(late);
                lost.try_maybe_update(|known| changed(known, answer.as_ref().err().cloned()));
                if let Ok(newest) = answer {
                    value.try_maybe_update(|value| (put(value, newest), ()));
                }
            }
            looking.try_set_value(false);
        });
    });
    lost.into()
}

fn late<A>() -> Answer<A> {
    Err(ApiError::Unreachable(format!("no answer within {} seconds", PATIENCE.as_secs())))
}

/// What says the same as before changes nothing on the page.
fn changed<T: PartialEq>(known: &mut T, now: T) -> (bool, ()) {
    let other = *known != now;
    *known = now;
    (other, ())
}

/// What is not there in time is given up, and whatever was asked for it broken off.
async fn within<T>(time: Duration, work: impl Future<Output = T>) -> Option<T> {
    match select(pin!(work), pin!(sleep(time))).await {
        Either::Left((done, _)) => Some(done),
        Either::Right(_) => None,
    }
}

pub async fn sleep(time: Duration) {
    let (wake, woken) = oneshot::channel();
    let timer = set_timeout_with_handle(move || wake.send(()).unwrap_or_default(), time);
    // It ends also if there is no timer.
    woken.await.unwrap_or_default();
    if let Ok(timer) = timer {
        timer.clear();
    }
}
