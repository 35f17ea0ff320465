//! An engine as a process of ours: started in a group of its own, heard, and ended with all that it has started.

mod last_lines;

use std::ffi::OsString;
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use anyhow::Context;
use rustix::process::{Pid, Signal, kill_process_group};
use tempfile::NamedTempFile;
use tokio::process::{Child, Command};
use tokio::time::timeout;

pub use self::last_lines::LastLines;
use super::diagnosis::Exit;
use super::engine::{KeyTo, Launch};

/// The hidden command by which an engine begins; see [`become_engine`].
pub const BECOME: &str = "become-engine";
/// How long an ended engine's last words are waited for.
const LAST_WORDS: Duration = Duration::from_millis(500);

pub struct Process {
    child: Child,
    group: Option<Pid>,
    lines: LastLines,
    /// Holds the key; it is removed with this.
    _key_file: Option<NamedTempFile>,
}

impl Process {
    /// Starts the engine. Must be called on the thread that lives as long as the program: Linux ends an engine with the
    /// thread that started it.
    pub fn start(name: &str, launch: &Launch, key: Option<&str>) -> anyhow::Result<Self> {
        let us = std::env::current_exe().context("cannot tell where this program is")?;
        let mut command = Command::new(us);
        command.args([BECOME, "--parent", &std::process::id().to_string(), "--"]).arg(&launch.program);
        command.args(&launch.args).envs(launch.env.iter().map(|(name, value)| (name, value)));
        let key_file = tell_key(&mut command, launch.key, key)?;
        // Python keeps back what it writes to a pipe, and would take its last words with it.
        command.env("PYTHONUNBUFFERED", "1");
        // It is nobody's business but ours.
        command.env_remove("GROUNDSTATE_JOIN_TOKEN");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0).kill_on_drop(true);
        let mut child = command.spawn().with_context(|| format!("`{}` cannot be started", launch.program))?;
        let lines = LastLines::new(name, key);
        if let Some(output) = child.stdout.take() {
            lines.follow(output);
        }
        if let Some(complaints) = child.stderr.take() {
            lines.follow(complaints);
        }
        let group = child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        Ok(Self { child, group, lines, _key_file: key_file })
    }

    /// Waits until it ends by itself.
    pub async fn ended(&mut self) -> Exit {
        let status = self.child.wait().await;
        // What it has started holds its output open, maybe for ever.
        timeout(LAST_WORDS, self.lines.closed()).await.ok();
        status.map_or(Exit::Code(-1), exit)
    }

    pub fn lines(&self) -> Vec<String> {
        self.lines.all()
    }

    /// What it writes, from now on and before.
    pub fn output(&self) -> LastLines {
        self.lines.clone()
    }

    /// Asks it to end, and makes it end if it takes longer than this.
    pub async fn stop(mut self, patience: Duration) {
        self.signal(Signal::TERM);
        if timeout(patience, self.child.wait()).await.is_err() {
            self.signal(Signal::KILL);
            self.child.wait().await.ok();
        }
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = self.group {
            // It may have ended already.
            kill_process_group(group, signal).ok();
        }
    }
}

/// What it has started must not keep the GPU's memory.
impl Drop for Process {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
    }
}

fn tell_key(command: &mut Command, to: KeyTo, key: Option<&str>) -> anyhow::Result<Option<NamedTempFile>> {
    let Some(key) = key else { return Ok(None) };
    match to {
        KeyTo::Env(variable) => {
            command.env(variable, key);
            Ok(None)
        }
        KeyTo::File { flag, field } => {
            // Readable by us alone. JSON is YAML, too, and quotes whatever the key holds.
            let mut file = tempfile::Builder::new().suffix(".yaml").tempfile().context("cannot write the key")?;
            writeln!(file, "{field}: {}", serde_json::to_string(key)?).context("cannot write the key")?;
            command.arg(flag).arg(file.path());
            Ok(Some(file))
        }
    }
}

fn exit(status: ExitStatus) -> Exit {
    match (status.code(), status.signal()) {
        (Some(code), _) => Exit::Code(code),
        (None, signal) => Exit::Signal(signal.unwrap_or_default()),
    }
}

/// Turns this process into the engine, which ends when its parent does, however that ends. A process can only ask so for
/// itself, so a worker starts this program once more, which asks and then gives way to the engine.
///
/// Returns only if it cannot: why.
pub fn become_engine(parent: u32, command: &[OsString]) -> String {
    use std::os::unix::process::CommandExt;

    let Some((program, args)) = command.split_first() else { return "no engine is named".to_owned() };
    #[cfg(target_os = "linux")]
    {
        rustix::process::set_parent_process_death_signal(Some(Signal::TERM)).ok();
        // It may have ended before it could be asked for.
        let still = rustix::process::getppid().map(|pid| pid.as_raw_nonzero().get().cast_unsigned());
        if still != Some(parent) {
            return "the worker has ended".to_owned();
        }
    }
    let error = std::process::Command::new(program).args(args).exec();
    format!("`{}` cannot be started: {error}", program.to_string_lossy())
}
