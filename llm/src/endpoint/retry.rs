//! How long to wait before the next attempt.

use std::time::Duration;

use chrono::{DateTime, FixedOffset};
use reqwest::header::{DATE, HeaderMap, HeaderName, RETRY_AFTER};

use super::options::EndpointOptions;

/// The wait after attempt number `attempt` (from 1): exponential with jitter, or longer if the endpoint says so.
pub fn wait(options: &EndpointOptions, attempt: u32, seed: i64, retry_after: Option<Duration>) -> Duration {
    let doubled = 2_u32.saturating_pow(attempt.saturating_sub(1));
    let longest = options.backoff.saturating_mul(doubled).min(options.max_backoff);
    let wait = longest * jitter(seed, attempt) / 1000;
    retry_after.map_or(wait, |asked| asked.min(options.max_retry_after).max(wait))
}

/// Thousandths from 500 to 1000, by the ask's seed: asks that failed together do not come back together.
fn jitter(seed: i64, attempt: u32) -> u32 {
    // The finalizer of SplitMix64: neighbouring seeds give unrelated values.
    let mut bits = seed.cast_unsigned() ^ u64::from(attempt).rotate_right(8);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^= bits >> 31;
    500 + u32::try_from(bits % 501).unwrap_or_default()
}

/// What `Retry-After` asks for: seconds (some endpoints write fractions) or an HTTP date.
///
/// A date is compared with the answer's own `Date`, so that the two machines' clocks need not agree.
pub fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?;
    if let Ok(seconds) = text.trim().parse() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let wait = date(headers, RETRY_AFTER)? - date(headers, DATE)?;
    Some(wait.to_std().unwrap_or(Duration::ZERO))
}

fn date(headers: &HeaderMap, name: HeaderName) -> Option<DateTime<FixedOffset>> {
    DateTime::parse_from_rfc2822(headers.get(name)?.to_str().ok()?).ok()
}

#[cfg(test)]
mod tests {
    use reqwest::header::HeaderValue;

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

    #[test]
    fn retry_after_is_read_as_seconds_or_date() {
        let date = HeaderValue::from_static("Sun, 06 Nov 1994 08:49:37 GMT");
        for (text, expected) in [
            ("3", Some(3.0)),
            ("0.25", Some(0.25)),
            ("Sun, 06 Nov 1994 08:49:47 GMT", Some(10.0)),
            ("Sun, 06 Nov 1994 08:49:07 GMT", Some(0.0)),
            ("soon", None),
            ("-1", None),
        ] {
            let asked = HeaderValue::from_static(text);
            let headers = HeaderMap::from_iter([(DATE, date.clone()), (RETRY_AFTER, asked)]);
            let expected = expected.map(Duration::from_secs_f64);
            assert_eq!(retry_after(&headers), expected, "{text}");
        }
    }
}
