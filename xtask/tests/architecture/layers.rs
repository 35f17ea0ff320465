//! What the modules of a crate may know of each other.

use std::collections::{BTreeMap, BTreeSet};

use crate::graph::Graph;
use crate::modules::Modules;

/// Who may name paths that begin in one of these ways.
pub struct UseRule<'a> {
    pub paths: &'a [&'a str],
    pub users: Users<'a>,
}

pub enum Users<'a> {
    Only(&'a [&'a str]),
    AllExcept(&'a [&'a str]),
}

impl Users<'_> {
    fn contain(&self, module: &str) -> bool {
        match self {
            Self::Only(users) => users.iter().any(|user| is_below(module, user)),
            Self::AllExcept(others) => !others.iter().any(|other| is_below(module, other)),
        }
    }
}

/// Cycles among modules that have the same parent, at any depth.
pub fn cycle_violations(krate: &str, modules: &Modules) -> Vec<String> {
    let edges = modules.edges();
    let mut problems = Vec::new();
    for (parent, graph) in Graph::of_siblings(&edges) {
        let place = [&[krate.to_owned()], parent].concat().join("::");
        problems.extend(graph.cycles().iter().map(|cycle| format!("{place} has a cycle: {}", graph.describe(cycle))));
    }
    problems
}

/// Modules that use one of a higher layer, or that stand in none. `layers`: the lowest first; modules of one layer may use each
/// other.
pub fn layer_violations(krate: &str, modules: &Modules, layers: &[&[&str]]) -> Vec<String> {
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
    let edges = modules.edges();
    let siblings = Graph::of_siblings(&edges);
    for (from, to, place) in siblings.get(&[][..]).into_iter().flat_map(Graph::edges) {
        if let (Some(low), Some(high)) = (heights.get(from), heights.get(to))
            && low < high
        {
            problems.push(format!("{krate}::{from} must not use {krate}::{to} ({place})"));
        }
    }
    problems
}

/// Modules that name what they must not.
pub fn use_violations(krate: &str, modules: &Modules, rules: &[UseRule<'_>]) -> Vec<String> {
    let qualified = |path: &[String]| [&[krate.to_owned()], path].concat().join("::");
    let inside = modules.edges().into_iter().map(|edge| (qualified(&edge.from), qualified(&edge.to), edge.place));
    let outside = modules.external_uses().into_iter().map(|used| (qualified(&used.from), used.path, used.place));
    let mut problems = Vec::new();
    for (from, to, place) in inside.chain(outside) {
        for rule in rules.iter().filter(|rule| rule.paths.iter().any(|path| to.starts_with(path))) {
            if !rule.users.contain(&from) {
                problems.push(format!("{from} must not use {to} ({place})"));
            }
        }
    }
    problems
}

fn is_below(module: &str, ancestor: &str) -> bool {
    module.strip_prefix(ancestor).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
}
