//! Projects: whose documents, runs and corpora are whose.

use uuid::Uuid;

/// Where commands work that name no project. The database is made with it.
pub const DEFAULT: Uuid = Uuid::from_u128(0x7000_8000_0000_0000_0001);
