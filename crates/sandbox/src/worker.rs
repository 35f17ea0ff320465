//! The sandboxed process: it gives up what it does not need, and then does one piece of work after the other.

use std::any::Any;
use std::collections::BTreeMap;
use std::io::{self, stdin};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::thread;
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::Value;

use crate::Work;
use crate::confined::{confine, limit_cpu, send};
use crate::frame::{self, Frames, Kind};
use crate::limits::STACK;
use crate::stream::{Owner, StreamedWork};

type Run = fn(&[u8], &Owner) -> serde_json::Result<Vec<u8>>;

/// The kinds of work that this program knows.
#[derive(Default)]
pub struct Worker {
    kinds: BTreeMap<&'static str, (Duration, Run)>,
}

impl Worker {
    #[must_use]
    pub fn with<W: Work>(mut self) -> Self {
        let run: Run = |given, _| {
            let work: W = serde_json::from_slice(given)?;
            serde_json::to_vec(&work.work(&|value: Value| drop(send(Kind::Progress, value.to_string().as_bytes()))))
        };
        self.kinds.insert(W::NAME, (W::LIMITS.cpu, run));
        self
    }

    #[must_use]
    pub fn with_streamed<W: StreamedWork>(mut self) -> Self {
        let run: Run = |given, owner| {
            let work: W = serde_json::from_slice(given)?;
            serde_json::to_vec(&work.work(owner))
        };
        self.kinds.insert(W::NAME, (W::LIMITS.cpu, run));
        self
    }

    /// Works until the process that started this one is gone.
    ///
    /// # Errors
    /// The limits cannot be set.
    pub fn serve(self) -> io::Result<()> {
        confine()?;
        let (send, received) = sync_channel(1);
        let (reply, replies) = sync_channel(1);
        // Large enough for whatever nests as deeply as the checks in front allow.
        thread::Builder::new().stack_size(STACK).spawn(move || self.work_on(&received, replies))?;
        let mut from = stdin().lock();
        // When the other end closes, the work in hand is nobody's any more, and the process ends with this thread.
        while let Ok((kind, bytes)) = frame::receive_blocking(&mut from) {
            let to = if matches!(kind, Kind::Bytes | Kind::Unread) { &reply } else { &send };
            if to.send((kind, bytes)).is_err() {
                break;
            }
        }
        process::exit(0)
    }

    fn work_on(&self, received: &Frames, replies: Frames) {
        let replies = Arc::new(Mutex::new(replies));
        while let (Ok((Kind::Name, name)), Ok((Kind::Given, given))) = (received.recv(), received.recv()) {
            let (kind, bytes) = match self.answer(&name, &given, &replies) {
                Ok(answer) => (Kind::Answer, answer),
                Err(why) => (Kind::Broken, why.into_bytes()),
            };
            if send(kind, &bytes).is_err() {
                break;
            }
        }
        process::exit(0)
    }

    fn answer(&self, name: &[u8], given: &[u8], replies: &Arc<Mutex<Frames>>) -> Result<Vec<u8>, String> {
        let name = String::from_utf8_lossy(name);
        let (cpu, run) = self.kinds.get(&*name).ok_or_else(|| format!("no work is called {name}"))?;
        limit_cpu(*cpu).map_err(|error| error.to_string())?;
        let owner = Owner::new(Arc::clone(replies), *cpu);
        let worked = catch_unwind(AssertUnwindSafe(|| run(given, &owner)));
        worked.map_err(|panic| panicked(&*panic))?.map_err(|error| format!("{name}: {error}"))
    }
}

fn panicked(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    format!("panicked: {}", text.unwrap_or_default())
}
