//! How a worker does, as its parts tell each other: the supervisor says it, the member passes it on.

use domain::api::workers::{WorkerOrder, WorkerState};
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::watch;

use super::load::Sample;

/// Longest detail that the server takes, in bytes, and a little less.
const LONGEST: usize = 1900;

/// What one model's parts know of each other.
pub struct Status {
    state: watch::Sender<WorkerState>,
    /// The state that the server has heard last.
    heard: watch::Sender<Option<WorkerState>>,
    order: watch::Sender<WorkerOrder>,
    told: Mutex<StatusReport>,
}

#[derive(Debug, Clone, Default)]
pub struct StatusReport {
    pub detail: Option<String>,
    pub restarts: u32,
    pub sample: Sample,
}

impl Status {
    pub fn new() -> Self {
        Self {
            state: watch::Sender::new(WorkerState::Starting),
            heard: watch::Sender::new(None),
            order: watch::Sender::new(WorkerOrder::Serve),
            told: Mutex::default(),
        }
    }

    /// A new state is passed on at once, a new detail with the next heartbeat.
    pub fn set_state(&self, state: WorkerState, detail: Option<String>) {
        self.lock().detail = detail.map(cut);
        self.state.send_if_modified(|before| std::mem::replace(before, state) != state);
    }

    pub fn restarted(&self) -> u32 {
        let mut told = self.lock();
        told.restarts += 1;
        told.restarts
    }

    pub fn sampled(&self, sample: Sample) {
        self.lock().sample = sample;
    }

    pub fn state(&self) -> WorkerState {
        *self.state.borrow()
    }

    pub fn report(&self) -> StatusReport {
        self.lock().clone()
    }

    pub fn states(&self) -> watch::Receiver<WorkerState> {
        self.state.subscribe()
    }

    pub fn was_heard(&self, state: Option<WorkerState>) {
        self.heard.send_replace(state);
    }

    /// Waits until the server knows of the state.
    pub async fn heard(&self, state: WorkerState) {
        self.heard.subscribe().wait_for(|heard| *heard == Some(state)).await.ok();
    }

    pub fn ordered(&self, order: WorkerOrder) {
        self.order.send_if_modified(|before| std::mem::replace(before, order) != order);
    }

    /// Each change of what people want.
    pub fn orders(&self) -> watch::Receiver<WorkerOrder> {
        self.order.subscribe()
    }

    fn lock(&self) -> MutexGuard<'_, StatusReport> {
        self.told.lock()
    }
}

fn cut(mut text: String) -> String {
    if text.len() > LONGEST {
        let end = (0..=LONGEST).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
        text.truncate(end);
        text.push('…');
    }
    text
}
