//! Commands that may take only so long.
//!
//! Each is a process group of its own, so that what it has started ends with it. Such a group does not hear the terminal's Ctrl-C: a
//! signal that reaches us is passed on to all of them.

use std::fs::File;
use std::io::{Read, Seek};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use parking_lot::Mutex;
use rustix::process::{Pid, Signal, kill_process_group};

use super::{check_interrupted, show};

/// The groups that run now.
static GROUPS: Mutex<Vec<Pid>> = Mutex::new(Vec::new());

/// How often it is looked whether a command has ended.
const POLL: Duration = Duration::from_millis(20);
/// How long a command that took too long has to end by SIGTERM.
const PATIENCE: Duration = Duration::from_secs(5);

/// Runs a command whose output the user sees, and fails if it fails. If it takes longer than `limit`, it is ended with all that it has
/// started, and that is a failure, too.
pub fn run_within(limit: Duration, command: &mut Command) -> Result<()> {
    let status = ended_within(limit, command)?;
    ensure!(status.success(), "failed ({status}): {}", show(command));
    Ok(())
}

/// Like [`run_within`], but the user sees the output only if it fails; returns what it wrote to stdout.
pub fn quiet_within(limit: Duration, command: &mut Command) -> Result<String> {
    let (stdout, stderr) = (tempfile::tempfile()?, tempfile::tempfile()?);
    command.stdout(stdout.try_clone()?).stderr(stderr.try_clone()?);
    let ended = ended_within(limit, command);
    let said = written(stdout)?;
    let failure = match ended {
        Ok(status) if status.success() => return Ok(said),
        Ok(status) => format!("failed ({status}): {}", show(command)),
        Err(error) => format!("{error:#}"),
    };
    check_interrupted()?;
    let output = said + &written(stderr)?;
    let text = format!("{}\n{failure}", output.trim_end());
    bail!("{}", text.trim_start())
}

/// Tells all commands that have a limit.
pub(super) fn tell_all(signal: Signal) {
    for group in GROUPS.lock().iter() {
        // It fails only for a group that has ended meanwhile.
        let _ = kill_process_group(*group, signal);
    }
}

fn ended_within(limit: Duration, command: &mut Command) -> Result<ExitStatus> {
    let begun = Instant::now();
    let mut group = Group::start(command)?;
    let status = loop {
        if let Some(status) = group.leader.try_wait()? {
            break status;
        }
        if begun.elapsed() >= limit {
            group.end()?;
            check_interrupted()?;
            bail!("took longer than {limit:?} and was ended: {}", show(command));
        }
        thread::sleep(POLL);
    };
    check_interrupted()?;
    Ok(status)
}

/// All that was written to a file that has no name.
fn written(mut file: File) -> Result<String> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// A command with all that it starts.
struct Group {
    leader: Child,
    id: Pid,
}

impl Group {
    fn start(command: &mut Command) -> Result<Self> {
        // A signal that comes now is passed on once the group is in the list.
        let mut groups = GROUPS.lock();
        check_interrupted()?;
        let leader = command.stdin(Stdio::null()).process_group(0).spawn();
        let leader = leader.with_context(|| format!("cannot run: {}", show(command)))?;
        let id = Pid::from_child(&leader);
        groups.push(id);
        Ok(Self { leader, id })
    }

    /// Ends the command and all that it has started.
    fn end(&mut self) -> Result<()> {
        // Both fail only if all of it has ended meanwhile.
        let _ = kill_process_group(self.id, Signal::TERM);
        let asked = Instant::now();
        while asked.elapsed() < PATIENCE && self.leader.try_wait()?.is_none() {
            thread::sleep(POLL);
        }
        let _ = kill_process_group(self.id, Signal::KILL);
        self.leader.wait()?;
        Ok(())
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        GROUPS.lock().retain(|group| *group != self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Duration = Duration::from_mins(1);

    fn shell(script: &str) -> Command {
        let mut shell = Command::new("sh");
        shell.args(["-c", script]);
        shell
    }

    #[test]
    fn a_command_that_takes_too_long_is_ended_with_what_it_has_started() {
        let folder = tempfile::tempdir().unwrap();
        let begun = Instant::now();
        let mut slow = shell("(sleep 2; touch late) & echo waits; wait");
        let error = quiet_within(Duration::from_secs(1), slow.current_dir(folder.path())).unwrap_err().to_string();
        assert!(error.contains("waits\ntook longer than 1s and was ended:"), "{error}");
        assert!(error.contains("touch late"), "{error}");
        thread::sleep(Duration::from_secs(3).saturating_sub(begun.elapsed()));
        assert!(!folder.path().join("late").exists(), "what it has started went on");
    }

    #[test]
    fn a_command_that_does_not_listen_is_killed() {
        let begun = Instant::now();
        let mut deaf = shell("trap '' TERM; while true; do sleep 1; done");
        let error = run_within(Duration::from_millis(200), &mut deaf).unwrap_err().to_string();
        assert!(error.contains("took longer than 200ms"), "{error}");
        assert!(begun.elapsed() < MINUTE);
    }

    #[test]
    fn a_command_in_time_is_as_without_a_limit() {
        run_within(MINUTE, &mut shell("exit 0")).unwrap();
        assert_eq!(quiet_within(MINUTE, &mut shell("echo said; echo why >&2")).unwrap(), "said\n");
        let error = quiet_within(MINUTE, &mut shell("echo said; echo why >&2; exit 3")).unwrap_err().to_string();
        assert!(error.starts_with("said\nwhy\nfailed (exit status: 3): sh -c"), "{error}");
        let error = run_within(MINUTE, &mut Command::new("there-is-no-such-program")).unwrap_err().to_string();
        assert!(error.starts_with("cannot run: there-is-no-such-program"), "{error}");
    }
}
