//! The locks by which processes share a data directory. The kernel releases them however their holder ends.

use std::fs::{File, OpenOptions};
use std::path::Path;

use crate::Result;
use crate::account::Account;
use crate::error::PathContext;

/// One starts, the others wait: held while PostgreSQL is looked for and started.
pub struct StartLock(#[expect(dead_code, reason = "held for its lock")] File);

impl StartLock {
    pub fn wait(path: &Path, account: &Account) -> Result<Self> {
        let file = open(path, account)?;
        file.lock().at("lock", path)?;
        Ok(Self(file))
    }
}

/// Says "PostgreSQL is in use" for as long as it lives. The watchdog waits until nobody says so.
pub struct InUse(File);

impl InUse {
    /// Also returns whether nobody else used it. Waits while the watchdog stops a former server.
    pub fn take(path: &Path, account: &Account) -> Result<(Self, bool)> {
        let file = open(path, account)?;
        let alone = file.try_lock().is_ok();
        file.lock_shared().at("lock", path)?;
        Ok((Self(file), alone))
    }

    /// Ends the use; whether that was the last one.
    pub fn release(self) -> bool {
        self.0.try_lock().is_ok()
    }
}

impl Drop for InUse {
    /// Closing would do, were it not for children of other threads that have been forked and have not closed it yet.
    fn drop(&mut self) {
        // It fails only for what was not locked.
        let _ = self.0.unlock();
    }
}

fn open(path: &Path, account: &Account) -> Result<File> {
    let file = OpenOptions::new().create(true).truncate(false).write(true).read(true).open(path).at("open", path)?;
    account.own(path)?;
    Ok(file)
}
