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

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn one_place_leaves_connections_for_others() {
        let permits = Arc::new(ConnectionPermits::new(Limits { in_all: 3, per_place: Some(2) }));
        let take = |from: &str| permits.take(address(from));
        let mine: Vec<ConnectionPermit> =
            ["2001:db8:0:1::1", "2001:db8:0:1:ffff::2"].map(|from| take(from).unwrap()).into();
        assert_eq!(take("2001:db8:0:1::3").err(), Some(ConnectionRefusal::Place), "it is the same network");
        let other = take("2001:db8:0:2::1").unwrap();
        assert_eq!(take("192.0.2.1").err(), Some(ConnectionRefusal::House));
        drop(other);
        let fourth = take("192.0.2.1").unwrap();
        drop(mine);
        let fifth = take("::ffff:192.0.2.1").unwrap();
        assert_eq!(
            take("192.0.2.1").err(),
            Some(ConnectionRefusal::Place),
            "it is the same address, however it is written"
        );
        drop((fourth, fifth));
        assert!(permits.taken.lock().by_place.is_empty(), "who has left is forgotten");
    }

    #[test]
    fn all_come_from_the_address_of_a_proxy() {
        let permits = Arc::new(ConnectionPermits::new(Limits { in_all: 20, per_place: None }));
        let all: Vec<ConnectionPermit> = (0..20).map(|_| permits.take(address("127.0.0.1")).unwrap()).collect();
        assert_eq!(permits.take(address("127.0.0.1")).err(), Some(ConnectionRefusal::House));
        drop(all);
    }

    #[test]
    fn connections_leave_descriptors_for_everything_else() {
        assert_eq!(Limits::of(1_024, false), Limits { in_all: 512, per_place: Some(64) });
        assert_eq!(Limits::of(1_024, true), Limits { in_all: 512, per_place: None });
        assert_eq!(Limits::of(65_536, false), Limits { in_all: 4_096, per_place: Some(512) });
        assert_eq!(Limits::of(3, false), Limits { in_all: 1, per_place: Some(1) });
        assert_eq!(Limits::of(u64::MAX, false).in_all, 4_096);
    }
}
