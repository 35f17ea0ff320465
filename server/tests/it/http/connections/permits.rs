//! `server::http::connection_permits`, without connections.

use std::net::IpAddr;
use std::sync::Arc;

use server::http::connection_permits::{ConnectionPermit, ConnectionPermits, ConnectionRefusal, Limits};

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
    assert_eq!(permits.places(), 0, "who has left is forgotten");
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
