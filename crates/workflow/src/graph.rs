//! The steps of a workflow and what they read, for a drawing.

use domain::api::workflows::{GraphStep, StepKind, WorkflowGraph};

use crate::plan::{Action, Block, Place, Ref, RoleOf, Step, Workflow};

impl Workflow {
    pub fn graph(&self) -> WorkflowGraph {
        let inputs = self.blocks.first().map(|block| block.bindings.clone()).unwrap_or_default();
        let mut lists = Lists { blocks: &self.blocks, around: Vec::new() };
        let steps = lists.steps(0, String::new());
        let mut output = Vec::new();
        self.output.reads(&mut output);
        lists.around.push((0, String::new()));
        WorkflowGraph { inputs, steps, output: lists.addresses(&output) }
    }
}

/// The lists of steps that are being walked through, the innermost last.
struct Lists<'a> {
    blocks: &'a [Block],
    /// The number of a block, and what stands before the names of its steps.
    around: Vec<(usize, String)>,
}

impl Lists<'_> {
    fn steps(&mut self, block: usize, prefix: String) -> Vec<GraphStep> {
        let blocks = self.blocks;
        self.around.push((block, prefix));
        let steps = blocks.get(block).map(|block| {
            let steps = block.steps.iter().filter(|step| !step.is_join());
            steps.map(|step| self.step(step)).collect()
        });
        self.around.pop();
        steps.unwrap_or_default()
    }

    fn step(&mut self, step: &Step) -> GraphStep {
        let (kind, about) = self.described(&step.action);
        let mut reads = step.reads.clone();
        step.when.iter().for_each(|when| when.reads(&mut reads));
        // Seen from within, it is one list further out.
        reads.extend(step.action.reads_when_complete().into_iter().map(|of| Ref { up: of.up - 1, ..of }));
        let reads = self.addresses(&reads);
        let after = step.barrier.and_then(|end| self.address(Ref { up: 0, place: Place::Step(end) }));
        let prefix = self.around.last().map(|(_, prefix)| prefix.as_str()).unwrap_or_default();
        let address = format!("{prefix}{}", step.name);
        let block = step.action.block();
        let steps = block.map(|block| self.steps(block, format!("{address}."))).unwrap_or_default();
        GraphStep { address, kind, about, conditional: step.when.is_some(), reads, after, steps }
    }

    /// Its kind, and what is to be said of it beside its name.
    fn described(&self, action: &Action) -> (StepKind, String) {
        match action {
            Action::Ask(ask) => {
                let role = match &ask.role {
                    RoleOf::One(role) => role.to_string(),
                    RoleOf::OneOf(_, roles) => roles.join(" or "),
                };
                (StepKind::Ask, role)
            }
            // A join is not drawn.
            Action::Code(_) | Action::Join => (StepKind::Code, String::new()),
            Action::Search(search) => (StepKind::Search, search.index.clone()),
            Action::Embed(embed) => (StepKind::Embed, embed.role.to_string()),
            Action::Rerank(rerank) => (StepKind::Rerank, rerank.role.to_string()),
            Action::Tool(call) => (StepKind::Tool, call.name.clone()),
            Action::Converse(_) => (StepKind::Converse, String::new()),
            Action::Map(map) => {
                let item = self.blocks.get(map.block).and_then(|block| block.bindings.first());
                (StepKind::Map, item.cloned().unwrap_or_default())
            }
            Action::Loop(own) => (StepKind::Loop, format!("at most {} rounds", own.max)),
            Action::Call(call) => (StepKind::Call, call.workflow.clone()),
            Action::End(end) => (StepKind::End, end.name.clone()),
        }
    }

    /// Each once. The item of a map and the state of a loop are no steps: they stand for what the map or loop reads.
    fn addresses(&self, reads: &[Ref]) -> Vec<String> {
        let mut found = Vec::new();
        for address in reads.iter().filter_map(|of| self.address(*of)) {
            if !found.contains(&address) {
                found.push(address);
            }
        }
        found
    }

    fn address(&self, of: Ref) -> Option<String> {
        let (number, prefix) = self.around.get(self.around.len().checked_sub(of.up + 1)?)?;
        let block = self.blocks.get(*number)?;
        match of.place {
            Place::Step(at) => Some(format!("{prefix}{}", block.steps.get(at)?.name)),
            Place::Binding(at) if *number == 0 => block.bindings.get(at).cloned(),
            Place::Binding(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::{DOCUMENT, Surroundings, compile};

    const CHECKED: &str = r#"
workflow: checked
input: {prompt: text}
steps:
  answer: {ask: {role: writer, prompt: "{{ prompt }}"}}
  claims: {ask: {role: extractor, prompt: "{{ answer }}", split: lines}}
  none: {end: {when: "answer == ''", as: unanswered}}
  verdicts:
    map: claims
    as: claim
    steps:
      found: {search: {index: wiki, query: claim}}
      best: {code: "found[:3]", when: "len(found) > 3"}
      verdict: {ask: {roles: [strict, kind], role: "'kind'", prompt: "{{ prompt }} {{ claim }} {{ found }}"}}
    yields: {verdict: verdict, late: late, prompt: prompt}
  late: {ask: {role: writer, prompt: late}}
output: {answer: answer, verdicts: verdicts}
"#;

    #[test]
    fn steps_say_what_they_read_and_what_is_within_them() {
        let files = BTreeMap::from([(DOCUMENT.to_owned(), CHECKED.to_owned())]);
        let workflow = compile("workflows/checked", &files, Surroundings::NONE).unwrap();
        let graph = workflow.graph();
        assert_eq!(
            (graph.inputs, graph.output),
            (vec!["prompt".to_owned()], vec!["answer".to_owned(), "verdicts".to_owned()])
        );
        let mut lines = Vec::new();
        describe(&graph.steps, &mut lines);
        assert_eq!(
            lines,
            [
                "ask answer (writer) reads prompt",
                "ask claims (extractor) reads answer",
                "end none (unanswered) reads answer",
                "map verdicts (claim) reads claims, late, prompt after none",
                "search verdicts.found (wiki) reads ",
                "code verdicts.best () reads verdicts.found?",
                "ask verdicts.verdict (strict or kind) reads prompt, verdicts.found",
                "ask late (writer) reads  after none",
            ]
        );
    }

    fn describe(steps: &[GraphStep], into: &mut Vec<String>) {
        for step in steps {
            let GraphStep { address, kind, about, .. } = step;
            let mut reads = step.reads.clone();
            reads.sort();
            let mark = if step.conditional { "?" } else { "" };
            let after = step.after.as_ref().map(|end| format!(" after {end}")).unwrap_or_default();
            into.push(format!("{kind} {address} ({about}) reads {}{mark}{after}", reads.join(", ")));
            describe(&step.steps, into);
        }
    }
}
