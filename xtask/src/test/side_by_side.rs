//! Steps that leave a core idle, two at a time. Each is a process of its own, whose output is shown when it has ended.

use std::fs::{self, File};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use anyhow::{Context, Result, anyhow, bail};
use parking_lot::Mutex;

use super::Step;
use crate::places;
use crate::process::{check_interrupted, end_descendants};

const AT_ONCE: usize = 2;

/// A line for each step. The first that fails ends the others.
pub(super) fn run(steps: &[Step]) -> Result<Vec<String>> {
    let (waiting, lines) = (Mutex::new(steps.iter()), Mutex::new(Vec::new()));
    let failed = AtomicBool::new(false);
    let work = || -> Result<()> {
        while !failed.load(Ordering::SeqCst) {
            let Some(step) = waiting.lock().next() else { break };
            let (succeeded, said) = run_alone(*step)?;
            // Once one has failed, the others are ended, and have nothing to say.
            if !succeeded && failed.swap(true, Ordering::SeqCst) {
                break;
            }
            let mut lines = lines.lock();
            println!("{said}");
            if !succeeded {
                end_descendants();
                bail!("step {0} failed; repeat with `cargo xtask test --only {0}`", step.name());
            }
            lines.extend(said.lines().last().map(str::to_owned));
        }
        Ok(())
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..AT_ONCE).map(|_| scope.spawn(work)).collect();
        let ended = workers.into_iter().map(|worker| worker.join().map_err(|_| anyhow!("a step broke off"))?);
        ended.collect::<Vec<Result<()>>>().into_iter().collect::<Result<()>>()
    })?;
    Ok(lines.into_inner())
}

/// Whether it went well, and all that it said. Its last line sums it up.
fn run_alone(step: Step) -> Result<(bool, String)> {
    check_interrupted()?;
    let folder = places::target_dir().join("xtask/steps");
    fs::create_dir_all(&folder)?;
    let log = folder.join(format!("{}.log", step.name()));
    let output = File::create(&log).with_context(|| format!("cannot write {}", log.display()))?;
    // Not by its path: an earlier step compiles this program, too, and puts another file there.
    let mut child = Command::new("/proc/self/exe");
    child.args(["test", "--only", &step.name()]).stdin(Stdio::null()).stdout(output.try_clone()?).stderr(output);
    println!("\n==> {}: what it says follows when it has ended", step.name());
    let succeeded = child.status().with_context(|| format!("cannot run the step {}", step.name()))?.success();
    check_interrupted()?;
    Ok((succeeded, fs::read_to_string(&log)?.trim_end().to_owned()))
}
