//! What the modules of a crate may know of each other.

use std::collections::{BTreeMap, BTreeSet};

use crate::graph::Graph;
use crate::modules::Modules;

/// An edge that closes a circle and is borne with.
pub struct Circle<'a> {
    pub krate: &'a str,
    pub from: &'a str,
    pub to: &'a str,
    pub reason: &'a str,
}

/// Who may name what begins so.
pub struct Reserved<'a> {
    pub paths: &'a [&'a str],
    pub to: Users<'a>,
}

pub enum Users<'a> {
    Only(&'a [&'a str]),
    AllBut(&'a [&'a str]),
}

impl Users<'_> {
    fn contain(&self, module: &str) -> bool {
        match self {
            Self::Only(users) => users.iter().any(|user| is_below(module, user)),
            Self::AllBut(others) => !others.iter().any(|other| is_below(module, other)),
        }
    }
}

/// Which modules are in a circle, or a listed circle that is none.
pub fn circles(krate: &str, modules: &Modules, borne: &[Circle<'_>]) -> Vec<String> {
    let all = Graph::of_top_level(&modules.edges());
    let mut open = Graph::default();
    let is_borne = |from: &str, to: &str| borne.iter().any(|c| (c.krate, c.from, c.to) == (krate, from, to));
    for (from, to, place) in all.edges().filter(|(from, to, _)| !is_borne(from, to)) {
        open.insert(from, to, place);
    }
    let found = open.circles();
    let mut problems: Vec<String> =
        found.iter().map(|circle| format!("{krate} has a circle: {}", open.describe(circle))).collect();
    for circle in borne.iter().filter(|circle| circle.krate == krate) {
        if !all.edges().any(|(from, to, _)| (from, to) == (circle.from, circle.to)) {
            problems.push(format!(
                "{krate}: {} does not use {} any more, though {}",
                circle.from, circle.to, circle.reason
            ));
        }
    }
    problems
}

/// Which modules use one of a higher layer, or stand in none. `layers`: lowest first; modules of one layer may use each other.
pub fn broken_layers(krate: &str, modules: &Modules, layers: &[&[&str]]) -> Vec<String> {
    let heights: BTreeMap<&str, usize> =
        layers.iter().enumerate().flat_map(|(height, layer)| layer.iter().map(move |name| (*name, height))).collect();
    let found: BTreeSet<&str> = modules.modules.keys().filter_map(|path| path.first()).map(String::as_str).collect();
    let mut problems: Vec<String> = found
        .iter()
        .filter(|name| !heights.contains_key(**name))
        .map(|name| format!("{krate}::{name} stands in no layer"))
        .collect();
    problems.extend(
        heights.keys().filter(|name| !found.contains(**name)).map(|name| format!("{krate}::{name} is no module")),
    );
    for (from, to, place) in Graph::of_top_level(&modules.edges()).edges() {
        if let (Some(low), Some(high)) = (heights.get(from), heights.get(to))
            && low < high
        {
            problems.push(format!("{krate}::{from} must not use {krate}::{to} ({place})"));
        }
    }
    problems
}

/// Who names what is reserved for others.
pub fn trespasses(krate: &str, modules: &Modules, reserved: &[Reserved<'_>]) -> Vec<String> {
    let qualified = |path: &[String]| [&[krate.to_owned()], path].concat().join("::");
    let inside = modules.edges().into_iter().map(|edge| (qualified(&edge.from), qualified(&edge.to), edge.place));
    let outside = modules.external_uses().into_iter().map(|used| (qualified(&used.from), used.path, used.place));
    let mut problems = Vec::new();
    for (from, to, place) in inside.chain(outside) {
        for rule in reserved.iter().filter(|rule| rule.paths.iter().any(|path| to.starts_with(path))) {
            if !rule.to.contain(&from) {
                problems.push(format!("{from} must not use {to} ({place})"));
            }
        }
    }
    problems
}

fn is_below(module: &str, ancestor: &str) -> bool {
    module.strip_prefix(ancestor).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
}
