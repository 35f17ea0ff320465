//! Which replica a call goes to.

use std::cmp::Reverse;

use tokio::time::Instant;

use super::replica::Replica;
use crate::retry::mixed;

/// Which replicas a call prefers and which it avoids.
#[derive(Debug, Clone, Default)]
pub struct CallPreferences {
    /// Calls with the same number go to the same replica where they can: it has read the conversation already. `None`: to the
    /// one with the least to do.
    pub sticky: Option<u64>,
    /// Somebody waits for it: it stands before all calls of which that is not so.
    pub urgent: bool,
    /// Replicas that have failed this call; it goes elsewhere, and waits for it, while any other does well.
    pub failed: Vec<usize>,
    /// Replicas that have refused this call for good; it never goes there again.
    pub refused: Vec<usize>,
}

/// The replica that a call goes to now: its home, if that has room and is not much fuller than the others, else the one
/// with the least to do.
pub fn choose(replicas: &[Replica], wanted: &CallPreferences, now: Instant) -> Option<usize> {
    let elsewhere = has_another(replicas, wanted, now);
    let lost = only_lost(replicas, wanted, now);
    let may = |index: &usize| {
        let skipped = elsewhere && wanted.failed.contains(index);
        replicas[*index].is_up(now) && replicas[*index].is_lost() == lost && !wanted.refused.contains(index) && !skipped
    };
    if let Some(home) = home(replicas, wanted, now)
        && replicas[home].has_room()
        && !wanted.failed.contains(&home)
        && !is_crowded(replicas, home, now)
    {
        return Some(home);
    }
    // Breaks ties: by the number of the call, so that it goes to the same replica again, or else by one that changes with each call.
    let tie = wanted.sticky.unwrap_or_else(|| replicas.iter().map(Replica::sent).sum());
    let open = (0..replicas.len()).filter(may).filter(|index| replicas[*index].has_room());
    open.min_by_key(|index| {
        let replica = &replicas[*index];
        // In millionths, because loads are compared, and fractions have no order.
        let load = u64::from(replica.in_flight) * 1_000_000 / u64::from(replica.limit());
        (load, Reverse(score(replica, tie)))
    })
}

/// Whether a replica does well that has not failed this call.
pub fn has_another(replicas: &[Replica], wanted: &CallPreferences, now: Instant) -> bool {
    replicas.iter().enumerate().any(|(index, replica)| {
        replica.is_healthy(now) && !wanted.failed.contains(&index) && !wanted.refused.contains(&index)
    })
}

/// Where a call would go if there were room; `None` if any replica will do. Rendezvous hashing (Thaler and Ravishankar 1998):
/// when a replica goes, only its own conversations move.
pub fn home(replicas: &[Replica], wanted: &CallPreferences, now: Instant) -> Option<usize> {
    let sticky = wanted.sticky?;
    let lost = only_lost(replicas, wanted, now);
    let up = (0..replicas.len()).filter(|index| {
        replicas[*index].is_up(now) && replicas[*index].is_lost() == lost && !wanted.refused.contains(index)
    });
    up.max_by_key(|index| score(&replicas[*index], sticky))
}

/// Whether all that could be asked are lost: then those are asked.
fn only_lost(replicas: &[Replica], wanted: &CallPreferences, now: Instant) -> bool {
    let mut up = replicas.iter().enumerate().filter(|(_, replica)| replica.is_up(now));
    !up.any(|(index, replica)| !replica.is_lost() && !wanted.refused.contains(&index))
}

fn score(replica: &Replica, sticky: u64) -> u64 {
    mixed(mixed(sticky).wrapping_add(replica.hash))
}

/// More than 1.25 times the average and one: consistent hashing with bounded loads (Mirrokni, Thorup and Zadimoghaddam
/// 2018), so that no replica is asked much more than the others because of its conversations.
fn is_crowded(replicas: &[Replica], home: usize, now: Instant) -> bool {
    let up = || replicas.iter().filter(|replica| replica.is_up(now));
    let total: u64 = up().map(|replica| u64::from(replica.in_flight)).sum();
    let count = up().count() as u64;
    4 * count * u64::from(replicas[home].in_flight) > 5 * total + 4 * count
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::pool::breaker::Breaker;
    use crate::pool::limit::Limit;

    fn replicas(in_flight: &[u32]) -> Vec<Replica> {
        let replica = |(index, in_flight): (usize, &u32)| {
            let breaker = Breaker::new(1, Duration::from_secs(1), Duration::from_secs(1));
            let mut replica = Replica::new(format!("http://host{index}/v1"), Limit::new(10, None), breaker);
            for _ in 0..*in_flight {
                replica.send();
            }
            replica
        };
        in_flight.iter().enumerate().map(replica).collect()
    }

    fn wanted(sticky: u64) -> CallPreferences {
        CallPreferences { sticky: Some(sticky), ..CallPreferences::default() }
    }

    #[test]
    fn a_call_without_a_home_goes_where_least_is_to_be_done() {
        let now = Instant::now();
        let wanted = CallPreferences::default();
        let mut replicas = replicas(&[2, 1, 3]);
        assert_eq!((choose(&replicas, &wanted, now), home(&replicas, &wanted, now)), (Some(1), None));
        // Equally loaded, they get equally many, whatever they were sent before.
        let mut counts = [0; 3];
        for _ in 0..3000 {
            let chosen = choose(&replicas, &wanted, now).unwrap();
            replicas[chosen].send();
            counts[chosen] += 1;
            replicas.iter_mut().for_each(|replica| replica.in_flight = 0);
        }
        assert!(counts.iter().all(|count| (900..1100).contains(count)), "{counts:?}");
    }

    #[test]
    fn homes_are_spread_and_stay_when_another_replica_goes() {
        let now = Instant::now();
        let mut counts = [0; 4];
        for sticky in 0..4000 {
            let wanted = wanted(sticky);
            let home = home(&replicas(&[0; 4]), &wanted, now).unwrap();
            counts[home] += 1;
            let without_last = super::home(&replicas(&[0; 3]), &wanted, now).unwrap();
            assert!(home == 3 || home == without_last);
        }
        assert!(counts.iter().all(|count| (900..1100).contains(count)), "{counts:?}");
    }

    #[test]
    fn a_home_that_is_full_crowded_or_has_failed_is_left() {
        let now = Instant::now();
        let sticky = (0..99).find(|sticky| home(&replicas(&[0; 3]), &wanted(*sticky), now) == Some(0)).unwrap();
        for (in_flight, failed, expected) in [
            ([0, 0, 0], vec![], Some(0)),
            // At most 1.25 * 4 + 1 may be there already.
            ([6, 3, 3], vec![], Some(0)),
            ([7, 3, 2], vec![], Some(2)),
            ([10, 9, 10], vec![], Some(1)),
            ([10, 10, 10], vec![], None),
            ([0, 5, 4], vec![0], Some(2)),
            // A dead replica has slots at any time.
            ([0, 10, 10], vec![0], None),
            ([0, 10, 10], vec![0, 1, 2], Some(0)),
        ] {
            let wanted = CallPreferences { failed, ..wanted(sticky) };
            assert_eq!(choose(&replicas(&in_flight), &wanted, now), expected, "{in_flight:?}");
        }
        let refused = CallPreferences { refused: vec![0], ..wanted(sticky) };
        assert_eq!(choose(&replicas(&[0, 10, 10]), &refused, now), None);
    }
}
