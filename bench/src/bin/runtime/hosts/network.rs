//! Hosts as network namespaces of this machine, joined by a bridge. Their links can be cut, made slow, or made to lose all
//! that goes in one direction.

use std::fs::File;
use std::net::Ipv4Addr;
use std::path::Path;
use std::process::{Command as Blocking, Stdio};

use anyhow::{Context, bail, ensure};
use rustix::process::{Pid, Signal, geteuid, kill_process};
use tokio::process::Command;

/// All that is made here begins with this, and whatever begins with this is removed.
const PREFIX: &str = "gsbench";
const BRIDGE: &str = "gsbench0";
/// The link, as a host itself sees it.
const INSIDE: &str = "eth0";
/// Nothing passes: every packet is larger than the bucket, and is dropped without a word.
const LOSES_ALL: &str = "tbf rate 8bit burst 10b limit 10b";

/// The bridge and its hosts, which are removed when this is dropped.
pub struct Network {
    /// Two of these would share their addresses.
    _alone: File,
    names: Vec<&'static str>,
}

/// A network namespace with an address of its own.
#[derive(Clone)]
pub struct Host {
    pub name: &'static str,
    pub address: Ipv4Addr,
    /// The end of its link at the bridge.
    port: String,
}

/// Which way packets are lost.
#[derive(Clone, Copy)]
pub enum Direction {
    ToHost,
    FromHost,
}

impl Network {
    /// # Errors
    /// This user is not root, or another benchmark has its hosts here.
    pub fn new() -> anyhow::Result<Self> {
        ensure!(geteuid().is_root(), "network namespaces are made by root");
        let path = std::env::temp_dir().join("groundstate-bench-hosts.lock");
        let alone = File::create(path)?;
        alone.try_lock().context("another benchmark has its hosts on this machine")?;
        // A benchmark that was killed leaves its hosts behind.
        remove_all();
        ip(&format!("link add {BRIDGE} type bridge"))?;
        ip(&format!("address add {}/24 dev {BRIDGE}", address(1)))?;
        ip(&format!("link set {BRIDGE} up"))?;
        Ok(Self { _alone: alone, names: Vec::new() })
    }

    pub fn host(&mut self, name: &'static str) -> anyhow::Result<Host> {
        self.names.push(name);
        let number = u8::try_from(self.names.len())? + 1;
        let (host, space) = (Host { name, address: address(number), port: format!("{PREFIX}{number}") }, space(name));
        let port = &host.port;
        ip(&format!("netns add {space}"))?;
        ip(&format!("link add {port} type veth peer name {INSIDE} netns {space}"))?;
        ip(&format!("link set {port} master {BRIDGE} up"))?;
        ip(&format!("-n {space} address add {}/24 dev {INSIDE}", host.address))?;
        for link in ["lo", INSIDE] {
            ip(&format!("-n {space} link set {link} up"))?;
        }
        Ok(host)
    }

    /// Gives an address to a host, and lets all others forget who had it. In life the new owner announces it.
    pub fn give(&self, shared: Ipv4Addr, to: &Host) -> anyhow::Result<()> {
        ip(&format!("-n {} address add {shared}/24 dev {INSIDE}", space(to.name)))?;
        ip(&format!("neighbour flush dev {BRIDGE}"))?;
        for name in &self.names {
            ip(&format!("-n {} neighbour flush dev {INSIDE}", space(name)))?;
        }
        Ok(())
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        remove_all();
    }
}

impl Host {
    /// A program that runs on this host.
    pub fn command(&self, program: &Path) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &space(self.name)]).arg(program).stdin(Stdio::null()).kill_on_drop(true);
        command
    }

    /// Its processes stop without an end, as they do when they wait for a disk that hangs. The kernel still takes what comes.
    pub fn freeze(&self) {
        for pid in pids(&space(self.name)) {
            let _ = kill_process(pid, Signal::STOP);
        }
    }

    /// Nothing passes to this host, nor from it.
    pub fn cut(&self) -> anyhow::Result<()> {
        ip(&format!("link set {} down", self.port))
    }

    pub fn join(&self) -> anyhow::Result<()> {
        ip(&format!("link set {} up", self.port))
    }

    /// Drops all that goes one way.
    pub fn lose(&self, direction: Direction) -> anyhow::Result<()> {
        self.shape(direction, LOSES_ALL)
    }

    /// Lets so many kilobits pass in a second, each way.
    pub fn slow(&self, kilobits: u32) -> anyhow::Result<()> {
        for direction in [Direction::ToHost, Direction::FromHost] {
            self.shape(direction, &format!("tbf rate {kilobits}kbit burst 16kb latency 200ms"))?;
        }
        Ok(())
    }

    /// Ends [`lose`](Self::lose) and [`slow`](Self::slow).
    pub fn restore(&self) {
        for (space, link) in self.ends() {
            // One of the two may be as it was.
            let _ = run("tc", &format!("{space}qdisc del dev {link} root"));
        }
    }

    fn shape(&self, direction: Direction, discipline: &str) -> anyhow::Result<()> {
        let [to, from] = self.ends();
        let (space, link) = match direction {
            Direction::ToHost => to,
            Direction::FromHost => from,
        };
        run("tc", &format!("{space}qdisc replace dev {link} root {discipline}"))
    }

    /// The two ends of the link, as `tc` names them: what leaves at the first goes to the host, what leaves at the second
    /// comes from it.
    fn ends(&self) -> [(String, String); 2] {
        [(String::new(), self.port.clone()), (format!("-n {} ", space(self.name)), INSIDE.to_owned())]
    }
}

const fn address(number: u8) -> Ipv4Addr {
    Ipv4Addr::new(10, 77, 0, number)
}

/// An address that no host has of itself.
pub const SHARED: Ipv4Addr = address(100);

fn space(name: &str) -> String {
    format!("{PREFIX}-{name}")
}

fn ip(arguments: &str) -> anyhow::Result<()> {
    run("ip", arguments)
}

fn run(program: &str, arguments: &str) -> anyhow::Result<()> {
    let output = Blocking::new(program).args(arguments.split_whitespace()).output()?;
    if !output.status.success() {
        bail!("{program} {arguments}: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(())
}

/// The output of `ip`; empty if it fails.
fn said(arguments: &[&str]) -> String {
    let output = Blocking::new("ip").args(arguments).output();
    output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default()
}

/// The processes in a namespace.
fn pids(space: &str) -> Vec<Pid> {
    let text = said(&["netns", "pids", space]);
    text.lines().filter_map(|pid| pid.parse().ok()).filter_map(Pid::from_raw).collect()
}

/// Ends what runs on the hosts, and removes them and the bridge.
fn remove_all() {
    let spaces = said(&["netns", "list"]);
    let names = spaces.lines().filter_map(|line| line.split_whitespace().next());
    for space in names.filter(|name| name.starts_with(&format!("{PREFIX}-"))) {
        for pid in pids(space) {
            let _ = kill_process(pid, Signal::KILL);
        }
        let _ = ip(&format!("netns delete {space}"));
    }
    // A namespace lasts as long as its processes; its link is taken away at once.
    for line in said(&["-brief", "link", "show", "master", BRIDGE]).lines() {
        if let Some(port) = line.split(['@', ' ']).next() {
            let _ = ip(&format!("link delete {port}"));
        }
    }
    let _ = ip(&format!("link delete {BRIDGE}"));
}
