//! The one place that looks at the clock and makes ids. Everything else is given them.

use chrono::{DateTime, Utc};
use uuid::Uuid;

#[expect(clippy::disallowed_methods, reason = "the edge of the program: times are handed down from here")]
pub fn now() -> DateTime<Utc> {
    Utc::now()
}

/// A new id; ids sort by their time of making.
pub fn id() -> Uuid {
    Uuid::now_v7()
}
