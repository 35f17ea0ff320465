//! The graph of a drawing: what can be reached, in an order that does not depend on the format of the drawing.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::drawing::{Drawing, DrawnEdge, END_NAME, START_NAME};

pub const START: usize = 0;
pub const END: usize = 1;

#[derive(Debug)]
pub struct Graph {
    /// Start and end first, then the others as they are reached from the start.
    pub nodes: Vec<Node>,
    /// The labels at which an edge is taken; none if it is always taken.
    pub edges: BTreeMap<(usize, usize), Vec<String>>,
    /// Conditional edges that are the only one of their node: there is nothing to choose.
    pub only_choices: Vec<(usize, usize)>,
    /// Nodes that no way leads to.
    pub unreachable: Vec<String>,
}

#[derive(Debug)]
pub struct Node {
    pub name: String,
    pub metadata: Vec<String>,
    /// The start or end of a subgraph, which does nothing but has edges to choose from.
    pub is_junction: bool,
}

impl Graph {
    pub fn new(drawing: &Drawing) -> Result<Self, String> {
        let missing =
            || format!("there is no node `{START_NAME}`: draw the compiled graph (`graph.compile().get_graph()`)");
        let start = drawing.find(START_NAME).ok_or_else(missing)?;
        let edges = contracted(drawing);
        let order = reached(drawing, start, &edges);
        if order.is_empty() {
            return Err(format!("no node can be reached from `{START_NAME}`"));
        }
        let is_left_out =
            |i: &usize| !order.contains(i) && !is_frame(drawing, *i) && !is_border(&drawing.nodes[*i].name);
        let unreachable = (0..drawing.nodes.len()).filter(is_left_out);
        let mut unreachable: Vec<String> = unreachable.map(|i| drawing.nodes[i].name.clone()).collect();
        unreachable.sort();
        let end = Node { name: END_NAME.to_owned(), metadata: Vec::new(), is_junction: false };
        let start_node = Node { name: START_NAME.to_owned(), metadata: Vec::new(), is_junction: false };
        let others = order.iter().map(|i| {
            let node = &drawing.nodes[*i];
            Node { name: node.name.clone(), metadata: node.metadata.clone(), is_junction: is_border(&node.name) }
        });
        let nodes: Vec<Node> = [start_node, end].into_iter().chain(others).collect();
        let number = |i: usize| match drawing.nodes[i].name.as_str() {
            START_NAME => Some(START),
            END_NAME => Some(END),
            _ => order.iter().position(|other| *other == i).map(|place| place + 2),
        };
        let edges = edges.into_iter().filter_map(|edge| Some((number(edge.source)?, number(edge.target)?, edge)));
        let (edges, only_choices) = merged(&nodes, edges.collect());
        let graph = Self { nodes, edges, only_choices, unreachable };
        if graph.outputs().is_empty() {
            return Err(format!("no way leads from `{START_NAME}` over a node to `{END_NAME}`"));
        }
        Ok(graph)
    }

    pub fn successors(&self, node: usize) -> impl Iterator<Item = usize> {
        self.edges.range((node, 0)..=(node, usize::MAX)).map(|((_, target), _)| *target)
    }

    pub fn predecessors(&self, node: usize) -> impl Iterator<Item = usize> {
        self.edges.keys().filter(move |(_, target)| *target == node).map(|(source, _)| *source)
    }

    /// The labels that are chosen from after a node, with where they lead.
    pub fn choices(&self, node: usize) -> BTreeMap<&str, Vec<usize>> {
        let mut choices = BTreeMap::<&str, Vec<usize>>::new();
        for ((_, target), labels) in self.edges.range((node, 0)..=(node, usize::MAX)) {
            labels.iter().for_each(|label| choices.entry(label).or_default().push(*target));
        }
        choices
    }

    /// Nodes that a way ends at.
    pub fn outputs(&self) -> Vec<usize> {
        let ends = |node: &usize| self.edges.contains_key(&(*node, END)) || self.successors(*node).next().is_none();
        (2..self.nodes.len()).filter(ends).collect()
    }

    /// How many edges each node is away from the end of a way.
    pub fn distances(&self) -> Vec<usize> {
        let mut distances = vec![usize::MAX; self.nodes.len()];
        let mut queue: VecDeque<usize> = self.outputs().into();
        queue.iter().for_each(|node| distances[*node] = 1);
        distances[END] = 0;
        while let Some(node) = queue.pop_front() {
            for before in self.predecessors(node) {
                if distances[before] == usize::MAX {
                    distances[before] = distances[node] + 1;
                    queue.push_back(before);
                }
            }
        }
        distances
    }
}

fn is_frame(drawing: &Drawing, node: usize) -> bool {
    matches!(drawing.nodes[node].name.as_str(), START_NAME | END_NAME)
}

/// The start or end of a subgraph. Older drawings write `_` for `:`.
fn is_border(name: &str) -> bool {
    [START_NAME, END_NAME].iter().any(|border| {
        let before = name.strip_suffix(border);
        before.is_some_and(|before| before.ends_with([':', '_']))
    })
}

/// The subgraph that a border belongs to.
fn subgraph_of(border: &str) -> &str {
    border.trim_end_matches(START_NAME).trim_end_matches(END_NAME).trim_end_matches([':', '_'])
}

/// The edges without the starts and ends of subgraphs: what leads to one leads to what comes after it. They stay where there
/// is something to choose.
fn contracted(drawing: &Drawing) -> Vec<DrawnEdge> {
    let mut edges = drawing.edges.clone();
    for (border, node) in drawing.nodes.iter().enumerate().filter(|(_, node)| is_border(&node.name)) {
        edges.retain(|edge| edge.source != border || edge.target != border);
        let (after, others): (Vec<_>, Vec<_>) = edges.into_iter().partition(|edge| edge.source == border);
        let targets: BTreeSet<usize> = after.iter().filter(|e| e.conditional).map(|edge| edge.target).collect();
        if targets.len() > 1 || after.is_empty() {
            edges = others.into_iter().chain(after).collect();
            continue;
        }
        let (before, mut kept): (Vec<_>, Vec<_>) = others.into_iter().partition(|edge| edge.target == border);
        for edge in &before {
            let name = (edge.conditional && after.len() > 1).then(|| subgraph_of(&node.name).to_owned());
            let label = edge.label.clone().or(name);
            kept.extend(after.iter().map(|after| DrawnEdge {
                target: after.target,
                label: label.clone(),
                ..edge.clone()
            }));
        }
        edges = kept;
    }
    edges
}

/// What can be reached, nearest first; what is equally near, by name.
fn reached(drawing: &Drawing, start: usize, edges: &[DrawnEdge]) -> Vec<usize> {
    let (mut order, mut queue) = (Vec::new(), VecDeque::from([start]));
    while let Some(node) = queue.pop_front() {
        let targets = edges.iter().filter(|edge| edge.source == node).map(|edge| edge.target);
        let mut targets: Vec<usize> = targets.filter(|target| !is_frame(drawing, *target)).collect();
        targets.sort_by_key(|target| (&drawing.nodes[*target].name, *target));
        for target in targets {
            if !order.contains(&target) {
                order.push(target);
                queue.push_back(target);
            }
        }
    }
    order
}

type Merged = (BTreeMap<(usize, usize), Vec<String>>, Vec<(usize, usize)>);

/// One edge between two nodes. An edge that is always taken needs no labels, and neither does a choice of one.
fn merged(nodes: &[Node], drawn: Vec<(usize, usize, DrawnEdge)>) -> Merged {
    let always: BTreeSet<_> = drawn.iter().filter(|(.., edge)| !edge.conditional).map(|(a, b, _)| (*a, *b)).collect();
    let mut labels = BTreeMap::<(usize, usize), BTreeSet<String>>::new();
    for (source, target, edge) in drawn {
        let own = labels.entry((source, target)).or_default();
        if !always.contains(&(source, target)) {
            let name = match &nodes[target] {
                _ if target == END => "end",
                node if node.is_junction => subgraph_of(&node.name),
                node => &node.name,
            };
            own.insert(edge.label.unwrap_or_else(|| name.to_owned()));
        }
    }
    let choices = |source: usize| labels.range((source, 0)..=(source, usize::MAX)).filter(|(_, own)| !own.is_empty());
    let is_only =
        |(source, target): &(usize, usize)| !labels[&(*source, *target)].is_empty() && choices(*source).count() == 1;
    let only: Vec<(usize, usize)> = labels.keys().filter(|edge| is_only(edge)).copied().collect();
    let labels = labels.into_iter().map(|(edge, own)| {
        let own = if only.contains(&edge) { Vec::new() } else { own.into_iter().collect() };
        (edge, own)
    });
    (labels.collect(), only)
}
