//! The one place that looks at the clock and makes ids. Everything else is given them.

use chrono::{DateTime, SubsecRound, Utc};
use uuid::Uuid;

/// As exact as PostgreSQL keeps it: microseconds.
#[expect(clippy::disallowed_methods, reason = "the edge of the program: times are handed down from here")]
pub fn now() -> DateTime<Utc> {
    Utc::now().trunc_subsecs(6)
}

/// A new id; ids sort by their time of making.
pub fn id() -> Uuid {
    Uuid::now_v7()
}
