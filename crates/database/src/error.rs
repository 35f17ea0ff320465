use std::io;
use std::path::PathBuf;

/// Why a private PostgreSQL could not be had. Each message says what to do about it.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(
        "PostgreSQL{} was not found on this machine. Install it (Debian: apt-get install postgresql), or set \
         DATABASE_URL to a server that runs already",
        .version.as_ref().map(|version| format!(" {version}, which wrote the data directory,")).unwrap_or_default()
    )]
    NoBinaries { version: Option<String> },

    #[error(
        "the program `flock` (package util-linux) was not found; without it PostgreSQL could be left running. \
         Install it, or set DATABASE_URL to a server that runs already"
    )]
    NoFlock,

    #[error(
        "PostgreSQL refuses to run as root, and there is no user \"{user}\" to run it as. Install Debian's package \
         postgresql, start as an ordinary user, or set DATABASE_URL"
    )]
    NoAccount { user: &'static str },

    #[error(
        "PostgreSQL runs as the user \"{user}\", who may not pass through {} (mode {mode:o}). Choose a data \
         directory elsewhere (--data-dir /var/lib/groundstate), or set DATABASE_URL", .directory.display()
    )]
    Unreachable { user: String, directory: PathBuf, mode: u32 },

    #[error("{} exists and is not ours; remove it or set TMPDIR", .0.display())]
    ForeignSocketDirectory(PathBuf),

    #[error("initdb failed:\n{output}")]
    Initdb { output: String },

    #[error("PostgreSQL did not start; the end of {}:\n{tail}", .log.display())]
    NotStarted { log: PathBuf, tail: String },

    #[error("{action} {}: {source}", .path.display())]
    Io { action: &'static str, path: PathBuf, source: io::Error },
}

/// Adds what was done to which path, without which an `io::Error` helps nobody.
pub(crate) trait PathContext<T> {
    fn at(self, action: &'static str, path: impl Into<PathBuf>) -> Result<T, Error>;
}

impl<T> PathContext<T> for io::Result<T> {
    fn at(self, action: &'static str, path: impl Into<PathBuf>) -> Result<T, Error> {
        self.map_err(|source| Error::Io { action, path: path.into(), source })
    }
}
