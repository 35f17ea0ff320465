//! The sandboxed process: it gives up what it does not need, and then does one piece of work after the other.

use std::any::Any;
use std::collections::BTreeMap;
use std::io::{self, Stdout, stdin, stdout};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;
use std::time::Duration;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::time::{ClockId, clock_gettime};
use serde_json::Value;

use crate::Work;
use crate::frame::{self, Kind};
use crate::limits::{MEMORY, STACK};

type Run = fn(&[u8], &dyn Fn(Value)) -> serde_json::Result<Vec<u8>>;

/// The kinds of work that this program knows.
#[derive(Default)]
pub struct Worker {
    kinds: BTreeMap<&'static str, (Duration, Run)>,
}

impl Worker {
    #[must_use]
    pub fn with<W: Work>(mut self) -> Self {
        let run: Run = |given, report| {
            let work: W = serde_json::from_slice(given)?;
            serde_json::to_vec(&work.work(report))
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
        // Large enough for whatever nests as deeply as the checks in front allow.
        thread::Builder::new().stack_size(STACK).spawn(move || self.work_on(&received))?;
        let mut from = stdin().lock();
        // When the other end closes, the work in hand is nobody's any more, and the process ends with this thread.
        while let (Ok((Kind::Name, name)), Ok((Kind::Given, given))) =
            (frame::receive_blocking(&mut from), frame::receive_blocking(&mut from))
        {
            if send.send((name, given)).is_err() {
                break;
            }
        }
        process::exit(0)
    }

    fn work_on(&self, received: &Receiver<(Vec<u8>, Vec<u8>)>) {
        while let Ok((name, given)) = received.recv() {
            let (kind, bytes) = match self.answer(&name, &given) {
                Ok(answer) => (Kind::Answer, answer),
                Err(why) => (Kind::Broken, why.into_bytes()),
            };
            if send(kind, &bytes).is_err() {
                break;
            }
        }
        process::exit(0)
    }

    fn answer(&self, name: &[u8], given: &[u8]) -> Result<Vec<u8>, String> {
        let name = String::from_utf8_lossy(name);
        let (cpu, run) = self.kinds.get(&*name).ok_or_else(|| format!("no work is called {name}"))?;
        limit_cpu(*cpu).map_err(|error| error.to_string())?;
        let report = |value: Value| drop(send(Kind::Progress, value.to_string().as_bytes()));
        let worked = catch_unwind(AssertUnwindSafe(|| run(given, &report)));
        worked.map_err(|panic| panicked(&*panic))?.map_err(|error| format!("{name}: {error}"))
    }
}

fn send(kind: Kind, bytes: &[u8]) -> io::Result<()> {
    let mut to: io::StdoutLock<'_> = Stdout::lock(&stdout());
    frame::send_blocking(&mut to, kind, bytes)
}

fn panicked(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    format!("panicked: {}", text.unwrap_or_default())
}

/// From here on no file and no connection can be opened: there is no descriptor left for one. The three that are open
/// lead to the process that started this one.
fn confine() -> io::Result<()> {
    limit(Resource::As, MEMORY)?;
    limit(Resource::Core, 0)?;
    limit(Resource::Fsize, 0)?;
    limit(Resource::Nofile, 0)
}

fn limit(resource: Resource, most: u64) -> io::Result<()> {
    Ok(setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) })?)
}

/// Computing time of the next piece of work, beside what was used before. The system ends the process that uses more.
fn limit_cpu(most: Duration) -> io::Result<()> {
    let used = clock_gettime(ClockId::ProcessCPUTime).tv_sec.cast_unsigned();
    let maximum = getrlimit(Resource::Cpu).maximum;
    Ok(setrlimit(Resource::Cpu, Rlimit { current: Some(used + most.as_secs() + 1), maximum })?)
}
