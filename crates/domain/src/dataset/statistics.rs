//! How the values of a column are distributed.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What is known of all values of a column.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ColumnStatistics {
    /// Rows without a value.
    pub nulls: u64,
    /// Different values; if there are more than are counted, `distinct_at_least` is true and there are at least so many.
    pub distinct: u64,
    #[serde(default)]
    pub distinct_at_least: bool,
    /// Every value with its count, most frequent first; only of columns with few different short values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<ValueCount>,
    /// Of the numbers among the values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub numbers: Option<NumberStatistics>,
    /// Of the lengths of the texts among the values, in characters, and of the lists, in elements.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lengths: Option<NumberStatistics>,
}

/// How often a value occurs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ValueCount {
    pub value: String,
    pub count: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct NumberStatistics {
    pub count: u64,
    pub min: f64,
    pub max: f64,
    pub mean: f64,
    pub histogram: Histogram,
}

/// Numbers counted in bins of the same width.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Histogram {
    /// Where the first bin begins.
    pub from: f64,
    /// Where the last bin ends.
    pub to: f64,
    pub counts: Vec<u64>,
}
