//! How long to wait before the next attempt.

use std::time::Duration;

use crate::EndpointOptions;

/// The wait after attempt number `attempt` (from 1): exponential with jitter, or longer if the endpoint says so.
pub fn wait(options: &EndpointOptions, attempt: u32, seed: i64, retry_after: Option<Duration>) -> Duration {
    let wait = doubled(options.backoff, options.max_backoff, attempt, seed);
    retry_after.map_or(wait, |asked| asked.min(options.max_retry_after).max(wait))
}

/// Wait number `attempt` (from 1) of waits that double up to a longest one, with jitter.
pub fn doubled(first: Duration, longest: Duration, attempt: u32, seed: i64) -> Duration {
    let doubled = 2_u32.saturating_pow(attempt.saturating_sub(1));
    first.saturating_mul(doubled).min(longest) * jitter(seed, attempt) / 1000
}

/// Thousandths from 500 to 1000, by the ask's seed: asks that failed together do not come back together.
fn jitter(seed: i64, attempt: u32) -> u32 {
    let bits = mixed(seed.cast_unsigned() ^ u64::from(attempt).rotate_right(8));
    500 + u32::try_from(bits % 501).unwrap_or_default()
}

/// The finalizer of `SplitMix64`: neighbouring numbers give unrelated values.
pub const fn mixed(mut bits: u64) -> u64 {
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backoff_doubles_with_jitter_up_to_its_cap() {
        let options = EndpointOptions {
            backoff: Duration::from_millis(100),
            max_backoff: Duration::from_millis(300),
            ..EndpointOptions::default()
        };
        for (attempt, longest) in [(1, 100), (2, 200), (3, 300), (4, 300), (u32::MAX, 300)] {
            for seed in -50..50 {
                let wait = wait(&options, attempt, seed, None);
                assert_eq!(wait, super::wait(&options, attempt, seed, None));
                assert!(wait >= Duration::from_millis(longest / 2), "{attempt}: {wait:?}");
                assert!(wait <= Duration::from_millis(longest), "{attempt}: {wait:?}");
            }
        }
        assert_ne!(wait(&options, 1, 1, None), wait(&options, 1, 2, None));
    }

    #[test]
    fn retry_after_is_honoured_up_to_its_cap() {
        let options = EndpointOptions::default();
        for (asked, expected) in [(7, 7), (3600, 60)] {
            let waited = wait(&options, 1, 0, Some(Duration::from_secs(asked)));
            assert_eq!(waited, Duration::from_secs(expected));
        }
        assert!(wait(&options, 1, 0, Some(Duration::ZERO)) > Duration::ZERO);
    }
}
