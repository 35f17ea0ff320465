//! The form of a new queue, as somebody fills it in.

use leptos::prelude::*;

use super::filter::Filter;

/// Where its conversations come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    Run,
    Filter,
    Corpus,
}

/// What the form says.
#[derive(Clone, Copy)]
pub struct Order {
    pub name: RwSignal<String>,
    pub instructions: RwSignal<String>,
    pub raters_each: RwSignal<String>,
    pub blind: RwSignal<bool>,
    pub source: RwSignal<Source>,
    pub run: RwSignal<String>,
    pub corpus: RwSignal<String>,
    pub filter: Filter,
    pub n: RwSignal<String>,
}
