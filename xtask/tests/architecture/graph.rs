//! Who depends on whom, by name, and where it says so.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::resolve::Edge;

#[derive(Default)]
pub struct Graph {
    /// From one to another, and a place for it.
    edges: BTreeMap<(String, String), String>,
}

impl Graph {
    pub fn insert(&mut self, from: &str, to: &str, place: &str) {
        self.edges.entry((from.to_owned(), to.to_owned())).or_insert_with(|| place.to_owned());
    }

    /// For each module, what the modules right below it use of each other, each with all that stands below it.
    pub fn of_siblings(edges: &[Edge]) -> BTreeMap<&[String], Self> {
        let mut graphs = BTreeMap::<_, Self>::new();
        for edge in edges {
            let shared = edge.from.iter().zip(&edge.to).take_while(|(from, to)| from == to).count();
            if let (Some(from), Some(to)) = (edge.from.get(shared), edge.to.get(shared)) {
                graphs.entry(&edge.from[..shared]).or_default().insert(from, to, &edge.place);
            }
        }
        graphs
    }

    pub fn edges(&self) -> impl Iterator<Item = (&str, &str, &str)> {
        self.edges.iter().map(|((from, to), place)| (from.as_str(), to.as_str(), place.as_str()))
    }

    fn names(&self) -> BTreeSet<&str> {
        self.edges().map(|(from, _, _)| from).collect()
    }

    /// One cycle through each node that is on any, the shortest; none twice.
    pub fn cycles(&self) -> Vec<Vec<&str>> {
        let mut cycles = Vec::<Vec<&str>>::new();
        for name in self.names() {
            if !cycles.iter().flatten().any(|seen| *seen == name)
                && let Some(cycle) = self.cycle_through(name)
            {
                cycles.push(cycle);
            }
        }
        cycles
    }

    fn cycle_through<'a>(&'a self, start: &'a str) -> Option<Vec<&'a str>> {
        let mut came_from = BTreeMap::<&str, &str>::new();
        let mut queue = VecDeque::from([start]);
        while let Some(node) = queue.pop_front() {
            for (_, to, _) in self.edges().filter(|(from, _, _)| *from == node) {
                if to == start {
                    let mut cycle = vec![node];
                    while let Some(before) = came_from.get(cycle[cycle.len() - 1]) {
                        cycle.push(before);
                    }
                    cycle.reverse();
                    return Some(cycle);
                }
                if !came_from.contains_key(to) {
                    came_from.insert(to, node);
                    queue.push_back(to);
                }
            }
        }
        None
    }

    /// A cycle in words, with a place for each of its edges.
    pub fn describe(&self, cycle: &[&str]) -> String {
        let next = cycle.iter().cycle().skip(1);
        let edges = cycle.iter().zip(next).map(|(from, to)| {
            let place = self.edges.get(&((*from).to_owned(), (*to).to_owned())).map_or("", String::as_str);
            format!("{from} uses {to} ({place})")
        });
        edges.collect::<Vec<_>>().join(", ")
    }
}
