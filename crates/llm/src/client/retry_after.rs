//! What an answer says about when to ask again.

use std::time::Duration;

use chrono::{DateTime, FixedOffset};
use reqwest::header::{DATE, HeaderMap, HeaderName, RETRY_AFTER};

/// What `Retry-After` asks for: seconds (some endpoints write fractions) or an HTTP date.
///
/// A date is compared with the answer's own `Date`, so that the two machines' clocks need not agree.
pub fn read(headers: &HeaderMap) -> Option<Duration> {
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
            assert_eq!(read(&headers), expected, "{text}");
        }
    }
}
