mod loops;
mod names;
mod refusals;

use std::collections::BTreeSet;
use std::sync::Arc;

use insta::assert_snapshot;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::compile::{DOCUMENT, FUNCTIONS, Surroundings, compile};
use crate::row::RowEventKind;
use crate::samples::play_sample;

fn drafted(text: &str) -> Draft {
    draft("graph", text, "drawn").unwrap_or_else(|problem| panic!("{problem}"))
}

/// The document, without what is the same in each.
fn steps(draft: &Draft) -> String {
    let text = &draft.files[DOCUMENT];
    let (_, steps) = text.split_once("input: {message: text}\n").unwrap();
    let (steps, _) = steps.split_once("stand_ins:").unwrap();
    steps.lines().filter(|line| !line.trim_start().starts_with('#')).map(|line| format!("{line}\n")).collect()
}

/// What is asked of the stand-ins, in order, and what comes out.
fn played(draft: &Draft) -> String {
    let compiled = compile("workflows/drawn", &draft.files, Surroundings::NONE);
    let compiled = Arc::new(compiled.unwrap_or_else(|problems| panic!("{problems:#?}\n{}", draft.files[DOCUMENT])));
    let report = play_sample(&compiled, &compiled.spec.samples[0].input, 1).unwrap();
    assert!(report.ending.success, "{:?}\n{}", report.ending, draft.files[DOCUMENT]);
    let asked = report.events.iter().filter_map(|event| match &event.event {
        RowEventKind::Replied(reply) => Some(reply.at.step.clone()),
        _ => None,
    });
    format!("{}\n{}", asked.collect::<Vec<_>>().join(", "), json!(report.output))
}

fn node(id: &str) -> Value {
    match id {
        "__end__" => json!({"id": id}),
        _ => json!({"id": id, "type": "runnable", "data": {
            "id": ["langgraph", "_internal", "_runnable", "RunnableCallable"], "name": id}}),
    }
}

/// Source, target, label, and whether the edge is conditional.
type Edge<'a> = (&'a str, &'a str, Option<&'a str>, bool);

/// As `json.dumps(graph.get_graph().to_json())` writes it.
fn to_json(edges: &[Edge<'_>]) -> String {
    let ids: BTreeSet<&str> = edges.iter().flat_map(|(from, to, ..)| [*from, *to]).collect();
    let edges = edges.iter().map(|(source, target, label, conditional)| {
        let mut edge = json!({"source": source, "target": target});
        label.iter().for_each(|label| edge["data"] = json!(label));
        if *conditional {
            edge["conditional"] = json!(true);
        }
        edge
    });
    json!({"nodes": ids.into_iter().map(node).collect::<Vec<_>>(), "edges": edges.collect::<Vec<_>>()}).to_string()
}

/// As `draw_mermaid(with_styles=False)` writes it.
fn to_mermaid(edges: &[Edge<'_>]) -> String {
    let mut text = "graph TD;\n".to_owned();
    let safe = |id: &str| id.replace(':', "\\3a").replace(' ', "\\20");
    for (source, target, label, conditional) in edges {
        let arrow = match (label, conditional) {
            (Some(label), true) => format!("-. &nbsp;{label}&nbsp; .->"),
            (Some(label), false) => format!("-- &nbsp;{label}&nbsp; -->"),
            (None, true) => "-.->".to_owned(),
            (None, false) => "-->".to_owned(),
        };
        text += &format!("\t{} {arrow} {};\n", safe(source), safe(target));
    }
    text
}

/// The draft of a graph, which is the same for both formats.
fn of_edges(edges: &[Edge<'_>]) -> Draft {
    let (json, mermaid) = (drafted(&to_json(edges)), drafted(&to_mermaid(edges)));
    assert_eq!(json.files, mermaid.files);
    assert_eq!((json.report.made, json.report.lost), (mermaid.report.made.clone(), mermaid.report.lost.clone()));
    mermaid
}

#[test]
fn a_chain_becomes_steps_one_after_the_other() {
    let draft = of_edges(&[
        ("__start__", "Write Draft", None, false),
        ("Write Draft", "review", None, false),
        ("review", "__end__", None, false),
    ]);
    assert_snapshot!(draft.files[DOCUMENT], @r#"
    # Made from a drawing of a LangGraph graph. Replace what is marked with `Fill in`, here and in the templates.
    # docs/workflows.md explains every field.
    workflow: drawn
    description: Made from a graph of LangGraph
    # Fill in: what an input row holds. It is what the graph was invoked with.
    input: {message: text}
    steps:
      # Fill in: write_draft.md.j2, and what the reply is (`returns`, `split`, `tools`).
      write_draft: {description: The node Write Draft, ask: {role: writer, prompt: write_draft.md.j2}}
      # Fill in: review.md.j2, and what the reply is (`returns`, `split`, `tools`).
      review: {ask: {role: writer, prompt: review.md.j2}}
    # Fill in: what an output row holds. These led to the end of the graph.
    output: {review: review}
    stand_ins: {writer: write}
    # Fill in: real inputs, each with the `output` that it is to become.
    samples: [{input: {message: "Which bees make honey?"}}]
    "#);
    assert_snapshot!(draft.files["review.md.j2"], @"
    {# Fill in: what the model is asked in the step `review`. #}
    The request:
    {{ message }}

    What `write_draft` gave:
    {{ write_draft }}
    ");
    assert_snapshot!(draft.files[FUNCTIONS], @r#"
    # Fill in: what answers in place of models in checks and demonstrations, a function of the request
    # (docs/workflows.md#stand-ins).

    def name_of(request):
        return request["step"].split(".")[-1]

    def write(request):
        return "what %s gives" % name_of(request)
    "#);
    assert_snapshot!(played(&draft), @r#"
    write_draft, review
    {"review":"what review gives"}
    "#);
    assert_snapshot!(format!("{:#?}", draft.report), @r#"
    Report {
        made: [
            (
                "Write Draft",
                "write_draft",
            ),
            (
                "review",
                "review",
            ),
        ],
        lost: [
            "what the nodes do, and the state that they share, is not part of a drawing",
        ],
    }
    "#);
}

#[test]
fn conditional_edges_become_a_router_and_conditions() {
    let draft = of_edges(&[
        ("__start__", "prepare", None, false),
        ("prepare", "fast", Some("it's easy"), true),
        ("prepare", "slow", None, true),
        ("prepare", "__end__", Some("none"), true),
        ("fast", "check", None, false),
        ("slow", "check", None, false),
        ("check", "__end__", None, false),
    ]);
    assert_snapshot!(steps(&draft), @r#"
    steps:
      prepare: {ask: {role: writer, prompt: prepare.md.j2}}
      prepare_route:
        ask:
          role: router
          prompt: prepare_route.md.j2
          returns:
            type: object
            required: [next]
            properties: {next: {type: string, enum: ["it's easy", none, slow]}}
          temperature: 0
      fast: {when: "prepare_route.next == \"it's easy\"", ask: {role: writer, prompt: fast.md.j2}}
      slow: {when: "prepare_route.next == 'slow'", ask: {role: writer, prompt: slow.md.j2}}
      check: {when: "fast != None or slow != None", ask: {role: writer, prompt: check.md.j2}}
    output: {prepare: prepare, check: check}
    "#);
    assert_snapshot!(draft.files["check.md.j2"], @"
    {# Fill in: what the model is asked in the step `check`. #}
    The request:
    {{ message }}

    {% if fast %}What `fast` gave:
    {{ fast }}
    {% endif %}

    {% if slow %}What `slow` gave:
    {{ slow }}
    {% endif %}
    ");
    assert_snapshot!(draft.files["prepare_route.md.j2"], @r#"
    {# Fill in: how the step `prepare_route` chooses what comes next. #}
    The request:
    {{ message }}

    What `prepare` gave:
    {{ prepare }}

    What comes next? Answer with one of these as JSON, {"next": "..."}:
    - it's easy
    - none
    - slow
    "#);
    assert_snapshot!(played(&draft), @r#"
    prepare, prepare_route
    {"prepare":"what prepare gives","check":null}
    "#);
}

#[test]
fn the_first_step_may_be_chosen_and_ways_that_meet_again_are_certain() {
    let draft = of_edges(&[
        ("__start__", "left", Some("go-left"), true),
        ("__start__", "right", Some("go-right"), true),
        ("left", "both", None, false),
        ("right", "both", None, false),
        ("both", "__end__", None, false),
    ]);
    assert_snapshot!(steps(&draft), @r#"
    steps:
      start_route:
        ask:
          role: router
          prompt: start_route.md.j2
          returns:
            type: object
            required: [next]
            properties: {next: {type: string, enum: [go-left, go-right]}}
          temperature: 0
      left: {when: "start_route.next == 'go-left'", ask: {role: writer, prompt: left.md.j2}}
      right: {when: "start_route.next == 'go-right'", ask: {role: writer, prompt: right.md.j2}}
      both: {ask: {role: writer, prompt: both.md.j2}}
    output: {both: both}
    "#);
    assert_snapshot!(played(&draft), @r#"
    start_route, left, both
    {"both":"what both gives"}
    "#);
}

#[test]
fn branches_run_side_by_side_and_join() {
    let draft = of_edges(&[
        ("__start__", "plan", None, false),
        ("plan", "a", None, false),
        ("plan", "b", None, false),
        ("a", "join", None, false),
        ("b", "join", None, false),
        ("join", "__end__", None, false),
    ]);
    assert_snapshot!(steps(&draft), @"
    steps:
      plan: {ask: {role: writer, prompt: plan.md.j2}}
      a: {ask: {role: writer, prompt: a.md.j2}}
      b: {ask: {role: writer, prompt: b.md.j2}}
      join: {ask: {role: writer, prompt: join.md.j2}}
    output: {join: join}
    ");
    assert_snapshot!(draft.files["join.md.j2"], @"
    {# Fill in: what the model is asked in the step `join`. #}
    The request:
    {{ message }}

    What `a` gave:
    {{ a }}

    What `b` gave:
    {{ b }}
    ");
    assert_snapshot!(played(&draft), @r#"
    plan, b, a, join
    {"join":"what join gives"}
    "#);
}

#[test]
fn large_graphs_are_drafted() {
    let ids: Vec<String> = (0..70).map(|i| format!("n{i:03}")).collect();
    let mut edges = vec![("__start__", ids[0].as_str(), None, false)];
    for pair in ids.windows(2) {
        edges.push((&pair[0], &pair[1], Some("on"), true));
        edges.push((&pair[1], &pair[0], Some("back"), true));
        edges.push((&pair[0], "__end__", Some("end"), true));
    }
    played(&of_edges(&edges));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    /// Whatever the graph, its draft is a workflow whose sample is accepted.
    #[test]
    fn each_graph_becomes_a_workflow_that_plays(
        drawn in prop::collection::vec((0_usize..7, 1_usize..8, any::<bool>(), prop::option::of("[a-c]")), 1..16),
    ) {
        let ids = ["__start__", "a", "b", "c", "d", "e:__start__", "e:f", "__end__"];
        let edges: Vec<Edge<'_>> = drawn
            .iter()
            .map(|(from, to, conditional, label)| (ids[*from], ids[*to], label.as_deref(), *conditional))
            .collect();
        match draft("graph", &to_mermaid(&edges), "drawn") {
            Ok(_) => drop(played(&of_edges(&edges))),
            Err(problem) => prop_assert!(problem.message.starts_with("no ") || problem.message.starts_with("there is no node"), "{problem}"),
        }
    }
}
