//! Cycles as loops. A region is the whole graph or the body of a loop; its units are nodes and loops, and no way leads from
//! a unit back to itself.

use std::collections::{BTreeMap, BTreeSet};

use super::MOST_LEVELS;
use super::graph::{END, Graph, START};

type Nodes = BTreeSet<usize>;
type Edges = BTreeSet<(usize, usize)>;

#[derive(Debug)]
pub struct Region {
    pub nodes: Nodes,
    /// In an order in which each one comes after those that lead to it.
    pub units: Vec<Unit>,
    /// Edges that lead to the next round.
    pub back: Edges,
    /// Where a round begins: one node, unless the cycle can be entered at several.
    pub heads: Vec<usize>,
}

#[derive(Debug)]
pub enum Unit {
    Node(usize),
    Loop(Loop),
}

#[derive(Debug)]
pub struct Loop {
    pub body: Region,
    /// Nodes outside that its nodes lead to.
    pub exits: Nodes,
    /// Nodes within that the next round or something outside reads.
    pub exports: Nodes,
    /// Loops around it, and itself.
    pub level: usize,
}

impl Unit {
    pub fn contains(&self, node: usize) -> bool {
        match self {
            Self::Node(own) => *own == node,
            Self::Loop(own) => own.body.nodes.contains(&node),
        }
    }
}

impl Region {
    pub fn of(graph: &Graph) -> Self {
        let nodes: Nodes = (2..graph.nodes.len()).collect();
        let heads = graph.successors(START).collect();
        region(graph, nodes, Edges::new(), heads, &Edges::new(), 0)
    }

    pub fn unit_of(&self, node: usize) -> Option<usize> {
        self.units.iter().position(|unit| unit.contains(node))
    }

    /// Edges from a unit to others of this region.
    fn inner_edges(&self, graph: &Graph, unit: usize) -> (Vec<usize>, bool) {
        let (mut inner, mut leaves) = (Vec::new(), false);
        let own = &self.units[unit];
        let goes =
            |edge: &&(usize, usize)| own.contains(edge.0) && (!own.contains(edge.1) || self.back.contains(*edge));
        for edge in graph.edges.keys().filter(goes) {
            match self.unit_of(edge.1) {
                Some(next) if !self.back.contains(edge) => inner.push(next),
                _ => leaves = true,
            }
        }
        (inner, leaves)
    }

    /// Whether each way through the region leads over a unit.
    pub fn is_unavoidable(&self, graph: &Graph, unit: usize) -> bool {
        if self.heads.contains(&END) {
            return false;
        }
        let mut open: Vec<usize> = self.heads.iter().filter_map(|head| self.unit_of(*head)).collect();
        let mut seen = BTreeSet::from([unit]);
        while let Some(next) = open.pop() {
            if !seen.insert(next) {
                continue;
            }
            let (inner, leaves) = self.inner_edges(graph, next);
            if leaves || inner.is_empty() {
                return false;
            }
            open.extend(inner);
        }
        true
    }
}

/// `ignored`: edges that lead to the next round of loops around it.
fn region(graph: &Graph, nodes: Nodes, back: Edges, heads: Vec<usize>, ignored: &Edges, level: usize) -> Region {
    let ignored: Edges = ignored.union(&back).copied().collect();
    let reach: BTreeMap<usize, Nodes> =
        nodes.iter().map(|node| (*node, reachable(graph, *node, &nodes, &ignored))).collect();
    let (mut units, mut done) = (Vec::new(), Nodes::new());
    for node in &nodes {
        if done.contains(node) {
            continue;
        }
        let cycle: Nodes = reach[node].iter().copied().filter(|other| reach[other].contains(node)).collect();
        done.insert(*node);
        done.extend(&cycle);
        units.push(if cycle.is_empty() {
            Unit::Node(*node)
        } else {
            Unit::Loop(cycle_as_loop(graph, cycle, &ignored, level + 1))
        });
    }
    Region { units: ordered(graph, units, &ignored), nodes, back, heads }
}

/// Each unit after those that lead to it, and otherwise as their nodes stand in the graph.
fn ordered(graph: &Graph, units: Vec<Unit>, ignored: &Edges) -> Vec<Unit> {
    let place = |node: usize| units.iter().position(|unit| unit.contains(node));
    let edges = graph.edges.keys().filter(|edge| !ignored.contains(edge));
    let edges: Edges =
        edges.filter_map(|(from, to)| Some((place(*from)?, place(*to)?))).filter(|(a, b)| a != b).collect();
    let mut left: Vec<(usize, Unit)> = units.into_iter().enumerate().collect();
    let mut order = Vec::new();
    while !left.is_empty() {
        let waits = |unit: usize| left.iter().any(|(before, _)| edges.contains(&(*before, unit)));
        let next = left.iter().position(|(unit, _)| !waits(*unit)).unwrap_or_default();
        order.push(left.remove(next).1);
    }
    order
}

/// Nodes that at least one edge leads to from here.
fn reachable(graph: &Graph, from: usize, within: &Nodes, ignored: &Edges) -> Nodes {
    let (mut found, mut open) = (Nodes::new(), vec![from]);
    while let Some(node) = open.pop() {
        for target in graph.successors(node) {
            if within.contains(&target) && !ignored.contains(&(node, target)) && found.insert(target) {
                open.push(target);
            }
        }
    }
    found
}

fn cycle_as_loop(graph: &Graph, nodes: Nodes, ignored: &Edges, level: usize) -> Loop {
    let is_entry = |node: &usize| graph.predecessors(*node).any(|before| !nodes.contains(&before));
    let entries: Vec<usize> = nodes.iter().copied().filter(is_entry).collect();
    let inner = graph.edges.keys().filter(|(from, to)| nodes.contains(from) && nodes.contains(to));
    let (back, heads): (Edges, Vec<usize>) = match entries[..] {
        [head] if level < MOST_LEVELS => (inner.filter(|(_, to)| *to == head).copied().collect(), vec![head]),
        _ => {
            let back = retreating(graph, &nodes, &entries, ignored);
            let heads: Nodes = entries.iter().copied().chain(back.iter().map(|(_, to)| *to)).collect();
            (back, heads.into_iter().collect())
        }
    };
    let leaving = || graph.edges.keys().filter(|(from, to)| nodes.contains(from) && !nodes.contains(to));
    let exits: Nodes = leaving().map(|(_, to)| *to).collect();
    let exports: Nodes = leaving().chain(&back).map(|(from, _)| *from).collect();
    Loop { body: region(graph, nodes, back, heads, ignored, level), exits, exports, level }
}

/// Edges without which there is no cycle: those that lead to a node which the search came from.
fn retreating(graph: &Graph, nodes: &Nodes, entries: &[usize], ignored: &Edges) -> Edges {
    let mut search = Search { graph, nodes, ignored, seen: Nodes::new(), way: Nodes::new(), back: Edges::new() };
    entries.iter().for_each(|entry| search.visit(*entry));
    search.back
}

struct Search<'a> {
    graph: &'a Graph,
    nodes: &'a Nodes,
    ignored: &'a Edges,
    seen: Nodes,
    way: Nodes,
    back: Edges,
}

impl Search<'_> {
    fn visit(&mut self, node: usize) {
        if !self.seen.insert(node) {
            return;
        }
        self.way.insert(node);
        for target in self.graph.successors(node) {
            if !self.nodes.contains(&target) || self.ignored.contains(&(node, target)) {
                continue;
            }
            if self.way.contains(&target) {
                self.back.insert((node, target));
            } else {
                self.visit(target);
            }
        }
        self.way.remove(&node);
    }
}
