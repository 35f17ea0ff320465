//! Ends a process that does not get out of one step of a task: the thread that takes it cannot be ended otherwise.
//!
//! What authors write is bounded in steps, memory and time where it is evaluated. This is for what those bounds miss. The
//! task is then known by the claim that the process held, and is put in quarantine when it happens again.

use std::cell::OnceCell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Once, Weak};
use std::thread;
use std::time::Duration;

use parking_lot::Mutex;

const TICK: Duration = Duration::from_secs(1);
/// Ticks that one step may take. The longest legitimate ones are thousands of times shorter.
const MOST_TICKS: u32 = 30;

/// Odd while the thread takes a step.
type Steps = AtomicU64;

static THREADS: Mutex<Vec<Weak<Steps>>> = Mutex::new(Vec::new());
static START: Once = Once::new();

thread_local! {
    static OWN: OnceCell<Arc<Steps>> = const { OnceCell::new() };
}

/// Watches from here on, in a thread of its own.
pub fn start() {
    START.call_once(|| drop(thread::spawn(watch)));
}

/// Takes a step that must end soon.
pub fn step<T>(work: impl FnOnce() -> T) -> T {
    OWN.with(|own| {
        let steps = own.get_or_init(register);
        let _over = Step::begin(steps);
        work()
    })
}

struct Step<'a>(&'a Steps);

impl<'a> Step<'a> {
    fn begin(steps: &'a Steps) -> Self {
        steps.fetch_add(1, Ordering::Relaxed);
        Self(steps)
    }
}

impl Drop for Step<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

fn register() -> Arc<Steps> {
    let steps = Arc::<Steps>::default();
    THREADS.lock().push(Arc::downgrade(&steps));
    steps
}

fn watch() {
    let mut seen = Vec::new();
    loop {
        thread::sleep(TICK);
        if longest(&mut seen) >= MOST_TICKS {
            eprintln!(
                "a step of a task does not end: after {} s this process ends itself, and others take over",
                MOST_TICKS * u32::try_from(TICK.as_secs()).unwrap_or(1)
            );
            std::process::abort();
        }
    }
}

/// For how many looks a thread has been in the same step. Looks are counted and not time: a process that was stopped for a
/// while has not worked meanwhile.
fn longest(seen: &mut Vec<(Weak<Steps>, u64, u32)>) -> u32 {
    let mut threads = THREADS.lock();
    threads.retain(|thread| thread.strong_count() > 0);
    seen.retain(|(thread, ..)| thread.strong_count() > 0);
    for thread in threads.iter().filter_map(Weak::upgrade) {
        let now = thread.load(Ordering::Relaxed);
        let weak = Arc::downgrade(&thread);
        match seen.iter_mut().find(|(known, ..)| known.ptr_eq(&weak)) {
            Some((_, last, ticks)) if *last == now && now % 2 == 1 => *ticks += 1,
            Some((_, last, ticks)) => (*last, *ticks) = (now, 0),
            None => seen.push((weak, now, 0)),
        }
    }
    seen.iter().map(|(.., ticks)| *ticks).max().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn a_step_that_does_not_end_is_seen_and_one_that_ends_is_not() {
        let (begun, has_begun) = channel();
        let (end, ends) = channel::<()>();
        let stuck = thread::spawn(move || step(|| (begun.send(()), ends.recv())));
        has_begun.recv().expect("it begins");
        let mut seen = Vec::new();
        for _ in 0..5 {
            // Takes many, one after the other.
            step(|| {});
            longest(&mut seen);
        }
        assert_eq!(longest(&mut seen), 5, "each look but the first saw the same step");
        end.send(()).expect("it waits");
        stuck.join().expect("it ends").0.expect("it began");
        assert_eq!(longest(&mut seen), 0);
    }
}
