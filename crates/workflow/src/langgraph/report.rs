//! What became of a graph.

use domain::problem::listed;

use super::drawing::Drawing;
use super::graph::Graph;

/// What was made of what, and what a workflow cannot take over from the drawing.
#[derive(Debug, Default)]
pub struct Report {
    /// What stands in the drawing -> the step, after the loops that it is in.
    pub made: Vec<(String, String)>,
    pub lost: Vec<String>,
}

impl Report {
    pub fn new(graph: &Graph, drawing: &Drawing) -> Self {
        let name = |node: &usize| graph.nodes[*node].name.as_str();
        let mut lost = vec!["what the nodes do, and the state that they share, is not part of a drawing".to_owned()];
        lost.extend(graph.unreachable.iter().map(|node| {
            format!("{node}: left out, because no edge leads to it (a `Command` goes where no edge is drawn)")
        }));
        lost.extend(graph.only_choices.iter().map(|(from, to)| {
            format!(
                "{} -> {}: is the only conditional edge of its node, and is always taken; if it is a `Send`, make the step a `map`",
                name(from),
                name(to)
            )
        }));
        for node in &graph.nodes {
            lost.extend(node.metadata.iter().map(|metadata| format!("{}: its metadata `{metadata}`", node.name)));
            if node.name == "tools" {
                lost.push("tools: if it is a `ToolNode`, give the tools to the `ask` before it (`tools`) in place of this step".to_owned());
            }
        }
        lost.extend(
            drawing
                .subgraphs()
                .into_iter()
                .map(|graph| format!("the subgraph {graph}: its steps stand among the others")),
        );
        Self { made: Vec::new(), lost }
    }

    pub fn node(&mut self, node: &str, step: &str) {
        self.made.push((node.to_owned(), step.to_owned()));
    }

    pub fn router(&mut self, node: &str, labels: &[String], step: &str) {
        let labels = listed(labels.iter().map(String::as_str));
        self.made.push((format!("the choice after {node} ({labels})"), step.to_owned()));
        self.lost
            .push(format!("{node}: exactly one of {labels} is chosen after it; LangGraph may choose several at once"));
    }

    /// `place`: before its nodes. Gives what is said beside the loop, too.
    pub fn cycle(&mut self, place: usize, nodes: &[&str], step: &str, [has_one_entry, ends]: [bool; 2]) -> Vec<String> {
        let nodes = listed(nodes.iter().copied());
        self.made.insert(place, (format!("the cycle of {nodes}"), step.to_owned()));
        let mut comments = vec![format!(
            "The cycle of {nodes}. Fill in: `max`, and what happens after the last round (LangGraph fails there)."
        )];
        if !has_one_entry {
            comments.push(
                "It can be entered at several nodes, or its cycles are too deep: one loop for all of them. `to_...` says which node comes \
                 next."
                    .to_owned(),
            );
            self.lost.push(format!("the cycle of {nodes}: cycles within it share one loop"));
        }
        if !ends {
            comments.push("Fill in: `until`. Nothing in the graph says when it ends.".to_owned());
            self.lost.push(format!("the cycle of {nodes}: nothing in the graph ends it; fill in `until` of {step}"));
        }
        comments
    }
}
