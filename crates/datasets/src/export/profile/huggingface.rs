//! The data of a bundle for the Hub. Whatever the toggles say, arguments, tools and metadata stand in it as JSON text,
//! which is exact everywhere; the card (`super::super::card`) declares as what they load.

use domain::export::Shape;
use domain::row::Row;

use super::{UnfitReason, json_strings};

pub fn record(shape: &Shape, row: &Row, out: &mut Vec<u8>) -> Result<(), UnfitReason> {
    json_strings::record(shape, row, out)
}
