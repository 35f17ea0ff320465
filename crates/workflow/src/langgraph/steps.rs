//! Regions as steps: which values they read, and when they are done.

mod condition;
mod scope;

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::drawing::Drawing;
use super::graph::{END, Graph, START};
use super::names::{INPUT, Names, identifier};
use super::regions::{Loop, Region, Unit};
use super::report::Report;
use condition::{Condition, label};
use scope::{LoopNames, Read, Scope, Seen};

/// The roles of the draft.
pub const WRITER: &str = "writer";
pub const ROUTER: &str = "router";
/// Rounds of a loop, of a loop within a loop, and of a loop that nothing in the graph ends.
const ROUNDS: [u32; 3] = [10, 3, 2];

/// A step with what has to be said about it.
#[derive(Debug)]
pub struct DraftStep {
    pub name: String,
    pub comments: Vec<String>,
    pub fields: Map<String, Value>,
    pub steps: Vec<DraftStep>,
}

#[derive(Debug, Default)]
pub struct DraftParts {
    pub steps: Vec<DraftStep>,
    /// Name of the step -> its prompt.
    pub prompts: Vec<Prompt>,
    /// Router -> the label that leads to the end soonest.
    pub ways: BTreeMap<String, String>,
    pub output: Map<String, Value>,
}

#[derive(Debug)]
pub struct Prompt {
    pub step: String,
    /// Steps and states that it reads.
    pub reads: Vec<Read>,
    /// What a router chooses from.
    pub labels: Vec<String>,
}

pub fn template(step: &str) -> String {
    format!("{step}.md.j2")
}

pub fn build(graph: &Graph, drawing: &Drawing) -> (DraftParts, Report) {
    let mut names = Names::new();
    let steps: Vec<String> = graph
        .nodes
        .iter()
        .enumerate()
        .map(|(node, drawn)| match node {
            START | END => identifier(&drawn.name),
            _ => names.give(&identifier(&drawn.name)),
        })
        .collect();
    let routers = steps.iter().enumerate().map(|(node, step)| {
        if graph.choices(node).is_empty() { String::new() } else { names.give(&format!("{step}_route")) }
    });
    let routers = routers.collect();
    let mut builder = Builder {
        graph,
        steps,
        routers,
        names,
        distances: graph.distances(),
        scopes: Vec::new(),
        parts: DraftParts::default(),
        report: Report::new(graph, drawing),
    };
    let region = Region::of(graph);
    let mut made = Vec::new();
    if let Some(router) = builder.router(START, &Condition::Always) {
        made.push(router);
    }
    made.extend(builder.block(&region, None));
    builder.parts.steps = made;
    for node in graph.outputs() {
        let value = builder.read(node, END).expression();
        builder.parts.output.insert(builder.steps[node].clone(), value.into());
    }
    (builder.parts, builder.report)
}

struct Builder<'a> {
    graph: &'a Graph,
    /// Names of the steps that nodes become, and of the routers after them.
    steps: Vec<String>,
    routers: Vec<String>,
    names: Names,
    distances: Vec<usize>,
    /// The regions around what is being made, the innermost last.
    scopes: Vec<Scope>,
    parts: DraftParts,
    report: Report,
}

impl Builder<'_> {
    /// The steps of a region. Its scope stays open, for what reads them.
    fn block(&mut self, region: &Region, around: Option<&LoopNames>) -> Vec<DraftStep> {
        self.scopes.push(Scope {
            name: around.map(|own| own.name.clone()),
            units: BTreeMap::new(),
            back: region.back.clone(),
            last: around.map(|own| own.last.clone()).unwrap_or_default(),
        });
        let mut made = Vec::new();
        for (i, unit) in region.units.iter().enumerate() {
            let mut when = self.condition(region, around, unit);
            if region.is_unavoidable(self.graph, i) {
                when = Condition::Always;
            }
            match unit {
                Unit::Node(node) => made.extend(self.node(*node, &when)),
                Unit::Loop(own) => made.push(self.cycle(own, &when)),
            }
        }
        made
    }

    /// When a unit is done: if one of the edges to it is taken.
    fn condition(&self, region: &Region, around: Option<&LoopNames>, unit: &Unit) -> Condition {
        let mut when = Condition::Never;
        for (from, to) in self.graph.edges.keys() {
            let enters = unit.contains(*to) && !unit.contains(*from) && !region.back.contains(&(*from, *to));
            if enters && (region.nodes.contains(from) || around.is_none() && *from == START) {
                when = when.or(self.taken(*from, *to));
            }
        }
        let heads: Vec<usize> = region.heads.iter().copied().filter(|head| unit.contains(*head)).collect();
        match around {
            Some(own) if region.heads.len() > 1 => {
                heads.iter().fold(when, |when, head| when.or(Condition::when(own.next[head].clone())))
            }
            Some(_) if !heads.is_empty() => Condition::Always,
            _ => when,
        }
    }

    /// When an edge from a unit of the innermost region is taken.
    fn taken(&self, from: usize, to: usize) -> Condition {
        let labels = self.graph.edges.get(&(from, to)).map(Vec::as_slice).unwrap_or_default();
        let router = &self.routers[from];
        let chosen = match labels {
            [] => None,
            [one] => Some(format!("{router}.next == {}", label(one))),
            many => {
                let many: Vec<String> = many.iter().map(|one| label(one)).collect();
                Some(format!("{router}.next in [{}]", many.join(", ")))
            }
        };
        let seen = self.scopes.last().and_then(|scope| scope.units.get(&from));
        match (seen, chosen) {
            (Some(Seen::Loop { names, is_certain }), _) => {
                let next = names.next.get(&to).filter(|_| names.chooses);
                match (next, is_certain) {
                    (None, true) => Condition::Always,
                    (None, false) => Condition::when(format!("{} != None", names.name)),
                    (Some(next), true) => Condition::when(format!("{}.{next}", names.name)),
                    (Some(next), false) => Condition::when(format!("{0} != None and {0}.{next}", names.name)),
                }
            }
            (Some(Seen::Node { is_certain: false }), None) => Condition::when(format!("{} != None", self.steps[from])),
            (Some(Seen::Node { is_certain: false }), Some(chosen)) => {
                Condition::when(format!("{router} != None and {chosen}"))
            }
            (_, Some(chosen)) => Condition::when(chosen),
            (_, None) => Condition::Always,
        }
    }

    /// Where what a node gave is read by another one.
    fn read(&self, from: usize, to: usize) -> Read {
        if from == START {
            return Read::certain(INPUT, INPUT);
        }
        let step = &self.steps[from];
        let innermost = self.scopes.last().filter(|scope| scope.back.contains(&(from, to)));
        if let Some(last) = innermost.and_then(|scope| scope.last.get(&from)) {
            return Read { step: step.clone(), path: last.clone(), needs: vec![last.clone()], is_before: true };
        }
        let seen = self.scopes.iter().rev().find_map(|scope| scope.units.get(&from));
        match seen {
            Some(Seen::Loop { names, is_certain }) => {
                let path = format!("{}.{}", names.name, names.last[&from]);
                let needs = if *is_certain { vec![path.clone()] } else { vec![names.name.clone(), path.clone()] };
                Read { step: step.clone(), path, needs, is_before: false }
            }
            Some(Seen::Node { is_certain: false }) => {
                Read { step: step.clone(), path: step.clone(), needs: vec![step.clone()], is_before: false }
            }
            _ => Read::certain(step, step),
        }
    }

    fn reads(&self, node: usize) -> Vec<Read> {
        self.graph.predecessors(node).map(|before| self.read(before, node)).collect()
    }

    fn see(&mut self, node: usize, seen: Seen) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.units.insert(node, seen);
        }
    }

    /// The step of a node, and the router after it.
    fn node(&mut self, node: usize, when: &Condition) -> Vec<DraftStep> {
        let (name, drawn) = (self.steps[node].clone(), &self.graph.nodes[node]);
        let reads = self.reads(node);
        let mut fields = Map::new();
        when.write(&mut fields);
        let comments = if drawn.is_junction {
            let values: Vec<String> = reads.iter().map(Read::expression).chain(["''".to_owned()]).collect();
            fields.insert("code".to_owned(), values.join(" or ").into());
            vec!["The border of a subgraph: it hands on what stands before it.".to_owned()]
        } else {
            if drawn.name != name {
                fields.insert("description".to_owned(), format!("The node {}", drawn.name).into());
            }
            fields.insert("ask".to_owned(), json!({"role": WRITER, "prompt": template(&name)}));
            self.parts.prompts.push(Prompt { step: name.clone(), reads, labels: Vec::new() });
            vec![format!("Fill in: {}, and what the reply is (`returns`, `split`, `tools`).", template(&name))]
        };
        self.report.node(&drawn.name, &self.path(&name));
        self.see(node, Seen::Node { is_certain: *when == Condition::Always });
        let step = DraftStep { name, comments, fields, steps: Vec::new() };
        let done = match when {
            Condition::Always => Condition::Always,
            _ => Condition::when(format!("{} != None", step.name)),
        };
        [step].into_iter().chain(self.router(node, &done)).collect()
    }

    /// The step that chooses from the edges of a node, if there is a choice.
    fn router(&mut self, node: usize, when: &Condition) -> Option<DraftStep> {
        let choices = self.graph.choices(node);
        let distance = |targets: &Vec<usize>| targets.iter().map(|target| self.distances[*target]).min();
        let soonest = choices.iter().min_by_key(|(_, targets)| distance(targets))?.0;
        let name = self.routers[node].clone();
        let labels: Vec<String> = choices.keys().map(|label| (*label).to_owned()).collect();
        self.parts.ways.insert(name.clone(), (*soonest).to_owned());
        let reads = if node == START { Vec::new() } else { vec![Read::certain(&self.steps[node], &self.steps[node])] };
        let mut fields = Map::new();
        when.write(&mut fields);
        let returns =
            json!({"type": "object", "required": ["next"], "properties": {"next": {"type": "string", "enum": labels}}});
        fields.insert(
            "ask".to_owned(),
            json!({"role": ROUTER, "prompt": template(&name), "returns": returns, "temperature": 0}),
        );
        self.report.router(&self.graph.nodes[node].name, &labels, &self.path(&name));
        let comments = vec![format!(
            "Fill in: {}, how one of these is chosen. Where code can say it, write `code` instead of `ask`.",
            template(&name)
        )];
        self.parts.prompts.push(Prompt { step: name.clone(), reads, labels });
        Some(DraftStep { name, comments, fields, steps: Vec::new() })
    }

    fn path(&self, step: &str) -> String {
        let loops = self.scopes.iter().filter_map(|scope| scope.name.as_deref());
        loops.chain([step]).collect::<Vec<_>>().join(".")
    }

    fn cycle(&mut self, own: &Loop, when: &Condition) -> DraftStep {
        let names = self.name_loop(own);
        let mut state = Map::new();
        state.extend(names.last.values().map(|name| (name.clone(), json!("''"))));
        let is_one = own.body.heads.len() == 1;
        for (target, name) in &names.next {
            let first = if is_one { Condition::Always } else { self.entered(own, *target) };
            let first = if own.body.heads.contains(target) { first } else { Condition::Never };
            state.insert(name.clone(), first.value());
        }
        let path = self.path(&names.name);
        let place = self.report.made.len();
        let steps = self.block(&own.body, Some(&names));
        let (next, ends) = self.next_round(own, &names);
        self.scopes.pop();
        let again: Vec<&str> = own.body.heads.iter().map(|head| names.next[head].as_str()).collect();
        let until = if is_one { format!("not {}", again[0]) } else { format!("not ({})", again.join(" or ")) };
        let rounds = if ends { ROUNDS[usize::from(own.level > 1)] } else { ROUNDS[2] };
        let mut fields = Map::new();
        when.write(&mut fields);
        fields.insert("loop".to_owned(), json!({"max": rounds, "until": until}));
        fields.insert("state".to_owned(), Value::Object(state));
        fields.insert("next".to_owned(), Value::Object(next));
        let nodes: Vec<&str> = own.body.nodes.iter().map(|node| self.graph.nodes[*node].name.as_str()).collect();
        let comments = self.report.cycle(place, &nodes, &path, [is_one, ends]);
        let is_certain = *when == Condition::Always;
        for node in &own.body.nodes {
            self.see(*node, Seen::Loop { names: names.clone(), is_certain });
        }
        DraftStep { name: names.name, comments, fields, steps }
    }

    fn name_loop(&mut self, own: &Loop) -> LoopNames {
        let head = own.body.heads.first().copied().unwrap_or_default();
        let mut give =
            |before: &str, node: usize, after: &str| self.names.give(&format!("{before}{}{after}", self.steps[node]));
        let chooses = own.exits.len() > 1;
        let asked = own.exits.iter().filter(|exit| chooses && **exit != END);
        LoopNames {
            name: give("", head, "_loop"),
            last: own.exports.iter().map(|node| (*node, give("last_", *node, ""))).collect(),
            next: own.body.heads.iter().chain(asked).map(|node| (*node, give("to_", *node, ""))).collect(),
            chooses,
        }
    }

    /// Whether a cycle that can be entered at several nodes is entered at this one.
    fn entered(&self, own: &Loop, head: usize) -> Condition {
        let before = self.graph.predecessors(head).filter(|before| !own.body.nodes.contains(before));
        before.fold(Condition::Never, |when, before| when.or(self.taken(before, head)))
    }

    /// The state of the next round, and whether there is a way out.
    fn next_round(&self, own: &Loop, names: &LoopNames) -> (Map<String, Value>, bool) {
        let mut next = Map::new();
        for (node, last) in &names.last {
            let value = match self.scopes.last().and_then(|scope| scope.units.get(node)) {
                Some(Seen::Loop { names: inner, is_certain: true }) => format!("{}.{}", inner.name, inner.last[node]),
                Some(Seen::Loop { names: inner, .. }) => {
                    format!("{0}.{1} if {0} != None else {last}", inner.name, inner.last[node])
                }
                Some(Seen::Node { is_certain: true }) => self.steps[*node].clone(),
                _ => format!("{} or {last}", self.steps[*node]),
            };
            next.insert(last.clone(), value.into());
        }
        let mut ends = !own.exits.is_empty();
        for (target, name) in &names.next {
            let is_head = own.body.heads.contains(target);
            let edges = self.graph.predecessors(*target).map(|from| (from, *target));
            let edges =
                edges.filter(|edge| own.body.nodes.contains(&edge.0) && (!is_head || own.body.back.contains(edge)));
            let taken = edges.fold(Condition::Never, |when, (from, to)| when.or(self.taken(from, to)));
            ends &= !(is_head && taken == Condition::Always);
            next.insert(name.clone(), taken.value());
        }
        (next, ends)
    }
}

/// How many steps there are, those of loops included.
pub fn count(steps: &[DraftStep]) -> usize {
    steps.iter().map(|step| 1 + count(&step.steps)).sum()
}
