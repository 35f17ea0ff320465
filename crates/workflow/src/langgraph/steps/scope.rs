//! What can be seen in a region.

use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug)]
pub struct Scope {
    /// The loop whose body it is.
    pub name: Option<String>,
    /// Where each node stands.
    pub units: BTreeMap<usize, Seen>,
    /// Edges that lead to the next round, and the states that hold what nodes gave in the round before.
    pub back: BTreeSet<(usize, usize)>,
    pub last: BTreeMap<usize, String>,
}

#[derive(Debug, Clone)]
pub enum Seen {
    /// A step of this region. It is certain if it is always done.
    Node { is_certain: bool },
    /// Within a loop of this region.
    Loop { names: LoopNames, is_certain: bool },
}

/// The names of a loop and of its state.
#[derive(Debug, Clone)]
pub struct LoopNames {
    pub name: String,
    /// What a node gave in the last round.
    pub last: BTreeMap<usize, String>,
    /// Whether a node comes next: in the next round, or after the loop.
    pub next: BTreeMap<usize, String>,
    /// Whether there is more than one node that may come after the loop.
    pub chooses: bool,
}

/// A value that a step reads.
#[derive(Debug, Clone)]
pub struct Read {
    /// The step that gave it.
    pub step: String,
    pub path: String,
    /// What has to be there, outermost first. Nothing if the value is always there.
    pub needs: Vec<String>,
    /// In the round before.
    pub is_before: bool,
}

impl Read {
    pub fn certain(step: &str, path: &str) -> Self {
        Self { step: step.to_owned(), path: path.to_owned(), needs: Vec::new(), is_before: false }
    }

    /// The value, or `None`.
    pub fn expression(&self) -> String {
        match &self.needs[..] {
            [around, _] => format!("({} if {around} != None else None)", self.path),
            _ => self.path.clone(),
        }
    }
}
