//! Limits the connections, in all and from one address.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;

use axum::http::StatusCode;
use parking_lot::Mutex;

/// Connections in all, however many descriptors there are: each takes some 20 KB while it waits, and up to half a megabyte
/// while it is answered.
const MOST: u64 = 4_096;
/// The other half is for files, the database, and the models that a server asks when it plays.
const SHARE_OF_DESCRIPTORS: u64 = 2;
/// So many places together can take all connections. A browser takes six, so an eighth is an office of eighty people.
const PLACES: usize = 8;

/// How many connections there may be at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    pub in_all: usize,
    /// From one address, or from one IPv6 network (/64), which is what one customer gets. `None` behind a proxy: all come from
    /// its address, and it alone knows where from.
    pub per_place: Option<usize>,
}

impl Limits {
    /// What so many file descriptors allow.
    pub fn of(descriptors: u64, behind_proxy: bool) -> Self {
        let in_all = usize::try_from((descriptors / SHARE_OF_DESCRIPTORS).clamp(1, MOST)).unwrap_or(1);
        Self { in_all, per_place: (!behind_proxy).then(|| (in_all / PLACES).max(1)) }
    }
}

/// Why a connection is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ConnectionRefusal {
    #[error("the server has as many connections as it takes; try again in a few seconds")]
    House,
    #[error("there are too many connections from your address; close some, or use one for several requests")]
    Place,
}

impl ConnectionRefusal {
    pub const fn status(self) -> StatusCode {
        match self {
            Self::House => StatusCode::SERVICE_UNAVAILABLE,
            Self::Place => StatusCode::TOO_MANY_REQUESTS,
        }
    }
}

pub struct ConnectionPermits {
    limits: Limits,
    taken: Mutex<Taken>,
}

#[derive(Default)]
struct Taken {
    in_all: usize,
    by_place: HashMap<IpAddr, usize>,
}

/// The right to a connection, until it is dropped.
pub struct ConnectionPermit {
    permits: Arc<ConnectionPermits>,
    place: IpAddr,
}

impl ConnectionPermits {
    pub fn new(limits: Limits) -> Self {
        Self { limits, taken: Mutex::default() }
    }

    /// # Errors
    /// There are too many.
    pub fn take(self: &Arc<Self>, address: IpAddr) -> Result<ConnectionPermit, ConnectionRefusal> {
        let place = place(address);
        let mut taken = self.taken.lock();
        if taken.in_all >= self.limits.in_all {
            return Err(ConnectionRefusal::House);
        }
        let here = taken.by_place.get(&place).copied().unwrap_or_default();
        if self.limits.per_place.is_some_and(|most| here >= most) {
            return Err(ConnectionRefusal::Place);
        }
        taken.in_all += 1;
        taken.by_place.insert(place, here + 1);
        Ok(ConnectionPermit { permits: Arc::clone(self), place })
    }

    /// From how many addresses or networks there are connections.
    pub fn places(&self) -> usize {
        self.taken.lock().by_place.len()
    }
}

impl Drop for ConnectionPermit {
    fn drop(&mut self) {
        let mut taken = self.permits.taken.lock();
        taken.in_all -= 1;
        if let Entry::Occupied(mut here) = taken.by_place.entry(self.place) {
            *here.get_mut() -= 1;
            if *here.get() == 0 {
                here.remove();
            }
        }
    }
}

/// What one customer of a network has: an IPv4 address, or a /64.
fn place(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX)).into(),
        v4 @ IpAddr::V4(_) => v4,
    }
}
