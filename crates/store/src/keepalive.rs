//! Connections to a database whose host is lost are noticed.
//!
//! A host that is lost says no goodbye. If it had taken a statement before, there is nothing left to send, and the answer would be
//! waited for without end. So the kernel asks the other end now and then whether it is there. sqlx has no option for that
//! and gives its sockets to nobody; they are found among the open files of this process.

use std::fs;
use std::net::SocketAddr;
use std::os::fd::{BorrowedFd, RawFd};
use std::time::Duration;

use rustix::io;
use rustix::net::getpeername;
use rustix::net::sockopt::{
    set_socket_keepalive, set_tcp_keepcnt, set_tcp_keepidle, set_tcp_keepintvl, set_tcp_user_timeout,
};
use sqlx::{PgConnection, PgPool};

/// Of silence, before the other end is asked.
const IDLE: Duration = Duration::from_secs(10);
/// Between questions, and how many are not answered before the connection counts as lost.
const BETWEEN: Duration = Duration::from_secs(5);
const QUESTIONS: u32 = 3;
/// In milliseconds: how long what was sent may be unconfirmed.
const UNCONFIRMED: u32 = 25_000;

/// Has the kernel watch all open connections to the database of this pool. Whoever opens one calls it afterwards.
pub fn watch_connections(pool: &PgPool) {
    watch_connections_to(pool.connect_options().get_port());
}

/// Has the database watch this connection as well. The host of a player that is lost in the middle of a transaction would hold its
/// locks until then.
pub(crate) async fn be_watched(db: &mut PgConnection) -> sqlx::Result<()> {
    let names = ["tcp_keepalives_idle", "tcp_keepalives_interval", "tcp_keepalives_count", "tcp_user_timeout"];
    let values = [IDLE.as_secs(), BETWEEN.as_secs(), u64::from(QUESTIONS), u64::from(UNCONFIRMED)];
    sqlx::query!(
        "SELECT set_config(name, value, false) FROM unnest($1::text[], $2::text[]) AS setting (name, value)",
        &names.map(str::to_owned),
        &values.map(|value| value.to_string())
    )
    .fetch_all(db)
    .await?;
    Ok(())
}

/// All of this process that are connected to this port. Others are not harmed by it.
pub(crate) fn watch_connections_to(port: u16) {
    let open = fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
    for number in open.filter_map(|entry| entry.file_name().to_str()?.parse().ok()) {
        // What was closed meanwhile, or is no such socket, is none of ours.
        let _ = watch(number, port);
    }
}

#[expect(unsafe_code, reason = "sqlx lends its sockets to nobody")]
fn watch(number: RawFd, port: u16) -> io::Result<()> {
    if number < 0 {
        return Ok(());
    }
    // SAFETY: the number is not -1. If the file is closed meanwhile, the calls fail, or set options of another connection that is
    // to the same port; nothing is read, written or closed.
    let socket = unsafe { BorrowedFd::borrow_raw(number) };
    let peer = getpeername(socket)?.and_then(|peer| SocketAddr::try_from(peer).ok());
    if peer.is_none_or(|peer| peer.port() != port) {
        return Ok(());
    }
    set_socket_keepalive(socket, true)?;
    set_tcp_keepidle(socket, IDLE)?;
    set_tcp_keepintvl(socket, BETWEEN)?;
    set_tcp_keepcnt(socket, QUESTIONS)?;
    set_tcp_user_timeout(socket, UNCONFIRMED)
}
