//! Running other programs, so that none outlives us.
//!
//! Children stay in our process group: the terminal's Ctrl-C reaches them by itself, and we only wait. A signal that
//! was sent to us alone is passed on. Commands with a limit are groups of their own, and every signal is passed on to them.

use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use rustix::process::{Signal, kill_process};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

mod descendants;
mod limited;

pub use limited::{quiet_within, run_within};

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// How long children have to end by the terminal's Ctrl-C, then by SIGTERM, then after SIGKILL.
const PATIENCE: [Duration; 3] = [Duration::from_secs(2), Duration::from_secs(15), Duration::from_secs(30)];

#[derive(Debug, thiserror::Error)]
#[error("interrupted")]
pub struct Interrupted;

pub fn watch_signals() -> Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    thread::spawn(move || {
        for signal in signals.forever() {
            if !INTERRUPTED.swap(true, Ordering::SeqCst) {
                thread::spawn(move || end_children(signal));
            }
        }
    });
    Ok(())
}

/// Runs beside the main thread, which waits for its child and then leaves in order, most often long before the end
/// of this function.
fn end_children(signal: i32) {
    if signal == SIGINT {
        thread::sleep(PATIENCE[0]);
    }
    for (signal, patience) in [(Signal::TERM, PATIENCE[1]), (Signal::KILL, PATIENCE[2])] {
        tell_descendants(signal);
        thread::sleep(patience);
    }
    std::process::exit(130);
}

fn tell_descendants(signal: Signal) {
    for process in descendants::in_our_group() {
        // It fails only for a process that has ended meanwhile.
        let _ = kill_process(process, signal);
    }
    limited::tell_all(signal);
}

/// For what was begun beside others and is not waited for any more.
pub fn end_descendants() {
    tell_descendants(Signal::TERM);
}

/// Runs a command whose output the user sees, and fails if it fails.
pub fn run(command: &mut Command) -> Result<()> {
    check_interrupted()?;
    let status = command.stdin(Stdio::null()).status().with_context(|| format!("cannot run: {}", show(command)))?;
    check_interrupted()?;
    ensure!(status.success(), "failed ({status}): {}", show(command));
    Ok(())
}

/// Runs a command whose output the user sees only if it fails; returns what it wrote to stdout.
pub fn quiet(command: &mut Command) -> Result<String> {
    let output = output(command)?;
    if !output.status.success() {
        let text = [output.stdout, output.stderr].concat();
        bail!("{}\nfailed ({}): {}", String::from_utf8_lossy(&text).trim_end(), output.status, show(command));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Whether a command ends well; for questions like "is it installed?".
pub fn succeeds(command: &mut Command) -> bool {
    output(command).is_ok_and(|output| output.status.success())
}

fn output(command: &mut Command) -> Result<Output> {
    check_interrupted()?;
    let output = command.stdin(Stdio::null()).output().with_context(|| format!("cannot run: {}", show(command)))?;
    check_interrupted()?;
    Ok(output)
}

/// Fails if somebody wants us to end.
pub fn check_interrupted() -> Result<()> {
    if INTERRUPTED.load(Ordering::SeqCst) { Err(Interrupted.into()) } else { Ok(()) }
}

/// As one would type it, to be repeated.
fn show(command: &Command) -> String {
    let environment = command
        .get_envs()
        .filter_map(|(name, value)| Some(format!("{}={}", name.to_string_lossy(), quote(&value?.to_string_lossy()))));
    let words =
        [command.get_program()].into_iter().chain(command.get_args()).map(|word| quote(&word.to_string_lossy()));
    let line = environment.chain(words).collect::<Vec<_>>().join(" ");
    match command.get_current_dir() {
        Some(dir) => format!("(cd {} && {line})", quote(&dir.to_string_lossy())),
        None => line,
    }
}

fn quote(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_=./:,@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_shown_as_one_would_type_it() {
        let mut command = Command::new("node");
        command.args(["--test", "a b.mjs"]).env("BIN", "/x").env_remove("CARGO").current_dir("e2e");
        assert_eq!(show(&command), "(cd e2e && BIN=/x node --test 'a b.mjs')");
    }

    #[test]
    fn a_failing_command_is_named_with_its_output() {
        let error = quiet(Command::new("sh").args(["-c", "echo why; exit 3"])).unwrap_err().to_string();
        assert!(error.starts_with("why\n") && error.contains("exit status: 3"), "{error}");
    }
}
