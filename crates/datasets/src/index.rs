//! The index of conversations: what lists, filters and facets ask of a run, in columns in memory.
//!
//! PostgreSQL stays the truth. A run is read when it is first asked for, and held; a million conversations take some
//! 60 MB and are looked through in milliseconds. Of a run that is still played, only what may have changed is read again:
//! positions that were claimed when it was last looked at, and those that were claimed since.

mod cache;
mod columns;
mod counting;
mod dimensions;
mod facets;
mod groups;
mod load;
mod order;
mod predicate;
mod query;
mod scenario_columns;
#[cfg(test)]
mod tests;

pub use cache::{Index, TooMany};
pub use columns::Columns;
pub use counting::counts;
pub use facets::Facets;
pub use groups::Groups;
pub use order::{Place, Sort, SortKey};
pub use query::Query;
pub use scenario_columns::ScenarioColumns;
