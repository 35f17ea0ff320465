//! A PostgreSQL on a host of its own, with a standby on another one that takes over.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::time::Duration;

use anyhow::{Context, bail};
use tokio::process::{Child, Command};
use tokio::time::{Instant, sleep};

use super::network::{Host, Network, SHARED};

/// Nothing here takes nearly so long.
const PATIENCE: Duration = Duration::from_mins(1);

/// How long the primary hangs before its host is lost.
const HANGS: Duration = Duration::from_secs(2);

const SETTINGS: &str = "
listen_addresses = '*'
unix_socket_directories = ''
max_connections = 200
shared_buffers = 256MB
max_wal_size = 4GB
checkpoint_timeout = 15min
wal_keep_size = 1GB
jit = off
";

/// A primary that confirms nothing without its standby. Whoever is the primary has the shared address.
pub struct Cluster {
    primary: Server,
    standby: Server,
}

struct Server {
    host: Host,
    folder: PathBuf,
    _child: Child,
}

/// Where the primary is, whichever it is.
pub fn url() -> String {
    format!("postgres://groundstate@{SHARED}/groundstate?sslmode=disable")
}

impl Cluster {
    pub async fn start(place: &Path, network: &Network, primary: Host, standby: Host) -> anyhow::Result<Self> {
        let folder = folder(place, "primary").await?;
        let initdb = ["--username=groundstate", "--encoding=UTF8", "--locale=C.UTF-8", "--auth=trust", "--no-sync"];
        done(postgres(&primary, "initdb").args(initdb).arg("--pgdata").arg(&folder)).await?;
        append(&folder.join("postgresql.conf"), SETTINGS)?;
        let all = "host all all 10.77.0.0/24 trust\nhost replication all 10.77.0.0/24 trust\n";
        append(&folder.join("pg_hba.conf"), all)?;
        network.give(SHARED, &primary)?;
        let primary = Server::start(primary, folder).await?;
        done(client(&primary.host, "createdb").arg("groundstate")).await?;
        let standby = copy(place, &primary, standby).await?;
        primary.wait_for(&standby).await?;
        Ok(Self { primary, standby })
    }

    pub const fn primary(&self) -> &Host {
        &self.primary.host
    }

    /// The primary hangs, its host is lost for good, and its standby takes over. Returns how long there was no primary.
    pub async fn fail_over(&mut self, network: &Network, noticed_after: Duration) -> anyhow::Result<Duration> {
        let begun = Instant::now();
        // The frozen host still receives requests, and never answers them.
        self.primary.host.freeze();
        sleep(HANGS).await;
        self.primary.host.cut()?;
        sleep(noticed_after).await;
        let folder = &self.standby.folder;
        done(postgres(&self.standby.host, "pg_ctl").args(["promote", "--wait", "--silent", "--pgdata"]).arg(folder))
            .await?;
        network.give(SHARED, &self.standby.host)?;
        std::mem::swap(&mut self.primary, &mut self.standby);
        Ok(begun.elapsed())
    }
}

impl Server {
    async fn start(host: Host, folder: PathBuf) -> anyhow::Result<Self> {
        let log = fs::File::create(folder.with_extension("log"))?;
        let mut command = postgres(&host, "postgres");
        command.arg("-D").arg(&folder).stdout(log.try_clone()?).stderr(log);
        let server = Self { _child: command.spawn()?, host, folder };
        server
            .until("is ready", async || Ok(client(&server.host, "pg_isready").output().await?.status.success()))
            .await?;
        Ok(server)
    }

    /// Confirms nothing from now on that the standby has not written.
    async fn wait_for(&self, standby: &Self) -> anyhow::Result<()> {
        append(&self.folder.join("postgresql.auto.conf"), "synchronous_standby_names = '*'\n")?;
        done(postgres(&self.host, "pg_ctl").args(["reload", "--silent", "--pgdata"]).arg(&self.folder)).await?;
        self.until("has a standby that it waits for", async || {
            let mut ask = client(&self.host, "psql");
            ask.args(["--dbname=groundstate", "--tuples-only", "--no-align", "--command"]);
            let said = done(ask.arg("SELECT sync_state FROM pg_stat_replication")).await?;
            Ok(String::from_utf8_lossy(&said.stdout).trim() == "sync")
        })
        .await
        .with_context(|| format!("the standby is {}", standby.host.name))
    }

    async fn until(&self, what: &str, mut reached: impl AsyncFnMut() -> anyhow::Result<bool>) -> anyhow::Result<()> {
        let begun = Instant::now();
        while !reached().await? {
            if begun.elapsed() > PATIENCE {
                let log = fs::read_to_string(self.folder.with_extension("log")).unwrap_or_default();
                bail!("PostgreSQL on {} never {what}:\n{log}", self.host.name);
            }
            sleep(Duration::from_millis(100)).await;
        }
        Ok(())
    }
}

/// A copy of the primary that follows it.
async fn copy(place: &Path, primary: &Server, host: Host) -> anyhow::Result<Server> {
    let folder = folder(place, "standby").await?;
    let mut command = postgres(&host, "pg_basebackup");
    command.args(["--username=groundstate", "--write-recovery-conf", "--wal-method=stream", "--checkpoint=fast"]);
    command.args(["--no-sync", "--host", &primary.host.address.to_string(), "--pgdata"]).arg(&folder);
    done(&mut command).await?;
    Server::start(host, folder).await
}

/// A folder for PostgreSQL, which is not root.
async fn folder(place: &Path, name: &str) -> anyhow::Result<PathBuf> {
    let folder = place.join(name);
    let mut make = Command::new("install");
    done(make.args(["--directory", "--owner=postgres", "--group=postgres", "--mode=700"]).arg(&folder)).await?;
    Ok(folder)
}

/// A program of PostgreSQL on a host, as the user that PostgreSQL runs as.
fn postgres(host: &Host, program: &str) -> Command {
    let mut command = host.command(Path::new("setpriv"));
    command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups"]).arg(database::program(program));
    command.current_dir("/");
    command
}

/// A program that asks the server of a host.
fn client(host: &Host, program: &str) -> Command {
    let mut command = Command::new(database::program(program));
    command.args(["--username=groundstate", "--host", &host.address.to_string()]).stdin(Stdio::null());
    command
}

async fn done(command: &mut Command) -> anyhow::Result<Output> {
    let output = command.output().await?;
    if !output.status.success() {
        bail!("{:?}: {}", command.as_std(), String::from_utf8_lossy(&output.stderr));
    }
    Ok(output)
}

fn append(file: &Path, text: &str) -> anyhow::Result<()> {
    Ok(OpenOptions::new().append(true).open(file)?.write_all(text.as_bytes())?)
}
