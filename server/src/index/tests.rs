//! What the columns say of rows, and filters of columns, is what filters say of rows.

use std::collections::BTreeMap;
use std::sync::Arc;

use domain::filter::{Bounds, Facts, Filter, Status, Top};
use domain::outcome::Blame;
use domain::persona::Complexity;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use uuid::Uuid;

use super::columns::{Row, Said};
use super::{About, By, Columns, Place, Query, Sort};
