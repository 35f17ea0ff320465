use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{self, Child};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use crate::account::Account;
use crate::error::PathContext;
use crate::files::Files;
use crate::initdb::{NAME, initdb};
use crate::lock::{InUse, StartLock};
use crate::postmaster::{Postmaster, Settings, check_flock, start, stop_orphan, wait_until_stopped};
use crate::{Result, binaries, percent};

/// PostgreSQL writes a last checkpoint; that takes longer than this only on a sick disk.
const STOP: Duration = Duration::from_secs(30);

/// Our use of a private PostgreSQL. It runs until [`PrivatePostgres::stop`], drop or death of its last user.
pub struct PrivatePostgres {
    files: Files,
    url: String,
    bin: PathBuf,
    in_use: InUse,
    watchdog: Option<Child>,
}

impl PrivatePostgres {
    /// Starts PostgreSQL in `data_dir/postgres`, or joins the one that another process started there. The first
    /// start makes the cluster and the database `groundstate`.
    pub fn start(data_dir: &Path) -> Result<Self> {
        Self::start_with(data_dir, &Settings { durable: true })
    }

    /// One for tests: in the system's temporary directory, not written through to disk, removed afterwards.
    pub fn throwaway() -> Result<Self> {
        Self::throwaway_in(&env::temp_dir())
    }

    /// The same in another directory.
    pub fn throwaway_in(directory: &Path) -> Result<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let data_dir = directory.join(format!("groundstate-throwaway-{}-{count}", process::id()));
        fs::create_dir(&data_dir).at("create", &data_dir)?;
        // The watchdog, which runs as the same user as PostgreSQL, removes it.
        Account::find()?.own(&data_dir)?;
        Self::start_with(&data_dir, &Settings { durable: false }).inspect_err(|_| drop(fs::remove_dir_all(&data_dir)))
    }

    fn start_with(data_dir: &Path, settings: &Settings) -> Result<Self> {
        check_flock()?;
        let account = Account::find()?;
        let files = Files::prepare(data_dir, &account)?;
        let _starting = StartLock::wait(&files.start_lock(), &account)?;
        let (in_use, alone) = InUse::take(&files.lock(), &account)?;
        let version = fs::read_to_string(files.cluster().join("PG_VERSION")).ok();
        let bin = binaries::find(version.as_deref().map(str::trim))?;
        if alone && Postmaster::running(&files).is_some() {
            stop_orphan(&bin, &files, &account)?;
        }
        if version.is_none() {
            initdb(&bin, &files, &account, settings)?;
        }
        let (watchdog, postmaster) = match Postmaster::running(&files) {
            Some(postmaster) => (None, postmaster),
            None => start(&bin, &files, &account, settings).map(|(child, ready)| (Some(child), ready))?,
        };
        let url = format!("postgres://{NAME}@{}/{NAME}", percent::encode(&postmaster.sockets.to_string_lossy()));
        Ok(Self { files, url, bin, in_use, watchdog })
    }

    /// For sqlx and libpq alike.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The directory of PostgreSQL's programs, `psql` among them where the client is installed beside the server.
    pub fn bin(&self) -> &Path {
        &self.bin
    }

    /// Ends our use and waits until PostgreSQL has stopped, unless others use it still.
    pub fn stop(self) {
        let Self { files, in_use, watchdog, .. } = self;
        if !in_use.release() {
            return;
        }
        wait_until_stopped(&files, STOP);
        if let Some(mut watchdog) = watchdog {
            // It ends right after the server, and only then is nothing left.
            let _ = watchdog.wait();
        }
    }
}
