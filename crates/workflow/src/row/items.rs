//! The output of a row, told item by item as it is known, for somebody who waits for it.

use std::collections::{HashMap, VecDeque};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::fold::{Fold, KnownField};

/// A field of the output, or an item of a field that is a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OutputItem {
    pub field: String,
    /// Place in the list, from 0. Items of a list are told in order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<usize>,
    pub value: Value,
}

/// How much of a field is told.
#[derive(Clone, Copy)]
enum Told {
    Items(usize),
    Whole,
}

// Cloned with its row, by tests.
#[derive(Clone, Default)]
pub struct Items {
    told: HashMap<String, Told>,
    /// Those that are known, and whose events were not given.
    waiting: VecDeque<OutputItem>,
}

impl Items {
    pub fn is_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    pub fn next(&mut self) -> Option<OutputItem> {
        self.waiting.pop_front()
    }

    /// An event of before told it.
    pub fn was_told(&mut self, item: &OutputItem) {
        let told = item.index.map_or(Told::Whole, |index| Told::Items(index + 1));
        self.told.insert(item.field.clone(), told);
    }

    /// Takes up what has become known.
    pub fn look(&mut self, fold: &Fold) {
        let told = |field: &str| match self.told.get(field) {
            Some(Told::Items(items)) => *items,
            _ => 0,
        };
        for (field, known) in fold.known_output(told) {
            match known {
                KnownField::Items(new) => self.add(&field, new),
                KnownField::Whole(_) if self.told.contains_key(&field) => {}
                KnownField::Whole(value) => {
                    self.told.insert(field.clone(), Told::Whole);
                    self.waiting.push_back(OutputItem { field, index: None, value: value.json().clone() });
                }
            }
        }
    }

    fn add(&mut self, field: &str, items: Vec<Value>) {
        for value in items {
            let told = self.told.entry(field.to_owned()).or_insert(Told::Items(0));
            let Told::Items(index) = *told else { return };
            *told = Told::Items(index + 1);
            self.waiting.push_back(OutputItem { field: field.to_owned(), index: Some(index), value });
        }
    }
}
