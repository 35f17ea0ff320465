//! The programs under measurement, and where they keep their data.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, bail};
use rustix::process::{Pid, Signal, kill_process};
use server::postgres::PrivatePostgres;
use sqlx::PgPool;
use store::runs;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::time::sleep;
use uuid::Uuid;

/// A project with the workload, and a database of its own, as durable as that of users.
pub struct Place {
    programs: PathBuf,
    dir: TempDir,
}

pub struct Database {
    /// The last one runs; those before it crashed.
    postgres: Vec<PrivatePostgres>,
    pub url: String,
    /// Where PostgreSQL says which process it is, as long as it is there.
    pid_file: PathBuf,
    pub pool: PgPool,
}

impl Place {
    pub fn new(programs: PathBuf) -> anyhow::Result<Self> {
        Self::of(programs, Path::new("bench/workload"), &["playbooks", "scenarios", "personas", "judges"])
    }

    /// A place with these folders of documents.
    pub fn of(programs: PathBuf, documents: &Path, folders: &[&str]) -> anyhow::Result<Self> {
        // Readable by PostgreSQL's user too, who is not root. Not in /tmp, which may be memory.
        let dir = tempfile::Builder::new().permissions(Permissions::from_mode(0o755)).tempdir_in("/var/tmp")?;
        // Commands do not run where this process does.
        let place = Self { programs: std::path::absolute(programs)?, dir };
        place.add(documents, folders)?;
        Ok(place)
    }

    /// Copies these folders of documents here.
    pub fn add(&self, documents: &Path, folders: &[&str]) -> anyhow::Result<()> {
        for folder in folders {
            copy(&documents.join(folder), &self.path().join(folder))?;
        }
        Ok(())
    }

    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    pub fn programs(&self) -> &Path {
        &self.programs
    }

    pub async fn database(&self) -> anyhow::Result<Database> {
        let postgres = self.postgres().await?;
        let (url, pid_file) = (postgres.url().to_owned(), self.data().join("postgres/data/postmaster.pid"));
        let pool = store::open(&url).await?;
        Ok(Database { postgres: vec![postgres], url, pid_file, pool })
    }

    fn data(&self) -> PathBuf {
        self.dir.path().join("data")
    }

    /// A PostgreSQL with a database that is empty the first time.
    pub async fn postgres(&self) -> anyhow::Result<PrivatePostgres> {
        Ok(PrivatePostgres::start(&self.data()).await?)
    }

    /// What `pg_ctl restart -m immediate` does: PostgreSQL goes without a word to anybody, and comes again.
    pub async fn restart(&self, db: &mut Database) -> anyhow::Result<()> {
        let pid = Pid::from_raw(db.postmaster()?.cast_signed());
        kill_process(pid.context("PostgreSQL does not run")?, Signal::QUIT)?;
        // Whoever came before it has gone would take it for one that runs.
        while db.pid_file.exists() {
            sleep(Duration::from_millis(10)).await;
        }
        db.postgres.push(self.postgres().await?);
        Ok(())
    }

    pub fn command(&self, program: &str) -> Command {
        let mut command = Command::new(self.programs.join(program));
        command.stdin(Stdio::null()).kill_on_drop(true);
        command
    }

    pub fn groundstate(&self, database_url: &str) -> Command {
        let mut command = self.command("groundstate");
        command.current_dir(self.dir.path()).env("DATABASE_URL", database_url).env_remove("GROUNDSTATE_DATA");
        command
    }

    /// Runs a command to its end, which must be a good one, and returns what it prints.
    pub async fn done(&self, database_url: &str, arguments: &[&str]) -> anyhow::Result<String> {
        let output = self.groundstate(database_url).args(arguments).output().await?;
        if !output.status.success() {
            bail!("groundstate {}: {}", arguments.join(" "), String::from_utf8_lossy(&output.stderr));
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Stores a run of the desk that nobody plays yet.
    pub async fn run(&self, db: &Database, n: u32, flags: &[&str]) -> anyhow::Result<runs::Run> {
        self.run_of(db, "desk", n, flags).await
    }

    /// Stores a run of a playbook that nobody plays yet.
    pub async fn run_of(&self, db: &Database, playbook: &str, n: u32, flags: &[&str]) -> anyhow::Result<runs::Run> {
        let n = n.to_string();
        let order = [&["generate", "--detach", "--playbook", playbook, "--n", &n][..], flags].concat();
        let said = self.done(&db.url, &order).await?;
        let id: Uuid = said.split_whitespace().find_map(|word| word.parse().ok()).context("no run id")?;
        runs::get(&mut *db.pool.acquire().await?, id).await?.context("the run is not there")
    }

    /// Starts a process that only plays.
    pub fn play(&self, db: &Database, concurrency: u32, flags: &[&str]) -> anyhow::Result<Child> {
        let mut command = self.groundstate(&db.url);
        command.args(["play", "--concurrency", &concurrency.to_string()]).args(flags).stdout(Stdio::null());
        Ok(command.spawn()?)
    }

    /// Starts an export of a run into a file of this place.
    pub fn export(&self, db: &Database, run: Uuid, out: &str, flags: &[&str]) -> anyhow::Result<(Child, PathBuf)> {
        let mut command = self.groundstate(&db.url);
        command.args(["export", "--run", &run.to_string(), "--out", out]).args(flags).stdout(Stdio::null());
        Ok((command.spawn()?, self.dir.path().join(out)))
    }

    /// Starts the API, and says where.
    pub async fn serve(&self, db: &Database, flags: &[&str]) -> anyhow::Result<(Child, String)> {
        let mut command = self.groundstate(&db.url);
        // Its exports must not lie in the data of others.
        command.arg("serve").args(flags).args(["--listen", "127.0.0.1:0", "--files", "files"]).stdout(Stdio::piped());
        let mut child = command.spawn()?;
        let mut said = BufReader::new(child.stdout.take().context("no output")?).lines();
        let line = said.next_line().await?.context("the server did not start")?;
        let url = line.split_whitespace().find(|word| word.starts_with("http://")).context("no address")?.to_owned();
        // What it says later is read and dropped: a full pipe would stop it.
        tokio::spawn(async move { while let Ok(Some(_)) = said.next_line().await {} });
        Ok((child, url))
    }

    /// Starts the model, and says where.
    pub async fn model(&self, flags: &[&str]) -> anyhow::Result<(Child, String)> {
        let mut child = self.command("mock_openai").args(flags).stdout(Stdio::piped()).spawn()?;
        let stdout = child.stdout.take().context("no output")?;
        let url = BufReader::new(stdout).lines().next_line().await?.context("the model did not start")?;
        Ok((child, url))
    }

    /// Names the model in models.yaml as one that workers serve.
    pub fn name_workers(&self) -> anyhow::Result<()> {
        Ok(fs::write(self.dir.path().join("models.yaml"), "models: [{name: mock, workers: true}]\n")?)
    }

    /// Names the model in models.yaml, with room for so many requests at once.
    pub fn name_model(&self, url: &str, at_once: u32) -> anyhow::Result<()> {
        let text = format!(
            "models:\n  - name: mock\n    replicas: [{url}/v1]\n    start_in_flight: {at_once}\n    max_in_flight: {at_once}\n    price: {{prompt: 1, completion: 3}}\n"
        );
        Ok(fs::write(self.dir.path().join("models.yaml"), text)?)
    }
}

impl Database {
    /// One that somebody else runs.
    pub async fn elsewhere(url: String) -> anyhow::Result<Self> {
        let pool = store::open(&url).await?;
        Ok(Self { postgres: Vec::new(), url, pid_file: PathBuf::new(), pool })
    }

    /// The first process of PostgreSQL.
    pub fn postmaster(&self) -> anyhow::Result<u32> {
        let text = fs::read_to_string(&self.pid_file)?;
        text.lines().next().and_then(|pid| pid.parse().ok()).context("PostgreSQL does not run")
    }

    pub async fn stop(self) {
        self.pool.close().await;
        for postgres in self.postgres {
            postgres.stop().await;
        }
    }
}

fn copy(from: &Path, to: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}
