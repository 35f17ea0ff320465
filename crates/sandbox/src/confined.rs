//! What a sandboxed process does to itself, and how it speaks.

use std::io::{self, Stdout, stdout};
use std::time::Duration;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::time::{ClockId, clock_gettime};

use crate::frame::{self, Kind};
use crate::limits::MEMORY;

pub fn send(kind: Kind, bytes: &[u8]) -> io::Result<()> {
    let mut to: io::StdoutLock<'_> = Stdout::lock(&stdout());
    frame::send_blocking(&mut to, kind, bytes)
}

/// From here on no file and no connection can be opened: there is no descriptor left for one. The three that are open
/// lead to the process that started this one.
pub fn confine() -> io::Result<()> {
    limit(Resource::As, MEMORY)?;
    limit(Resource::Core, 0)?;
    limit(Resource::Fsize, 0)?;
    limit(Resource::Nofile, 0)
}

fn limit(resource: Resource, most: u64) -> io::Result<()> {
    Ok(setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) })?)
}

/// Computing time of the next piece of work, beside what was used before. The system ends the process that uses more.
pub fn limit_cpu(most: Duration) -> io::Result<()> {
    let used = clock_gettime(ClockId::ProcessCPUTime).tv_sec.cast_unsigned();
    let maximum = getrlimit(Resource::Cpu).maximum;
    Ok(setrlimit(Resource::Cpu, Rlimit { current: Some(used + most.as_secs() + 1), maximum })?)
}
