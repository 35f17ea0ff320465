//! Drawings that leave something open, and input that is not a graph.

use insta::assert_snapshot;

use super::*;

#[test]
fn what_a_drawing_does_not_say_is_told() {
    let draft = of_edges(&[
        ("__start__", "human", None, false),
        ("agent", "human", None, false),
        ("human", "agent", None, false),
        ("agent", "__end__", None, true),
        ("lost", "agent", None, false),
    ]);
    assert_snapshot!(played(&draft), @r#"
    human_loop[0].human, human_loop[0].agent, human_loop#1.human, human_loop#1.agent
    {"agent":"what agent gives"}
    "#);
    assert_snapshot!(draft.report.lost.join("\n"), @"
    what the nodes do, and the state that they share, is not part of a drawing
    lost: left out, because no edge leads to it (a `Command` goes where no edge is drawn)
    agent -> __end__: is the only conditional edge of its node, and is always taken; if it is a `Send`, make the step a `map`
    the cycle of human, agent: nothing in the graph ends it; fill in `until` of human_loop
    ");
}

fn refused(text: &str) -> String {
    draft("graph", text, "drawn").map(|draft| format!("{draft:?}")).unwrap_err().to_string() + "\n"
}

#[test]
fn what_is_no_graph_is_refused_with_its_place() {
    let with = |nodes: &[&str], edges: Value| {
        json!({"nodes": nodes.iter().map(|id| node(id)).collect::<Vec<_>>(), "edges": edges}).to_string()
    };
    let ends = ["__start__", "a", "__end__"];
    let way = json!({"source": "__start__", "target": "a"});
    let texts = [
        "{'nodes': []}".to_owned(),
        "[1]".to_owned(),
        format!("{{\"nodes\": {}", "[".repeat(5_000)),
        json!({"nodes": [{"name": "a"}], "edges": []}).to_string(),
        with(&["a", "a"], json!([])),
        with(&["a\u{7}"], json!([])),
        with(&ends, json!([{"source": "__start__", "target": "aa"}])),
        with(&ends, json!([{"source": "a", "target": "__start__"}])),
        with(&ends, json!([{"source": "__end__", "target": "a"}])),
        with(&ends, json!([{"source": "__start__", "target": "a", "data": "x".repeat(500)}])),
        with(&["a", "__end__"], json!([])),
        with(&ends, json!([])),
        with(&ends, json!([way, {"source": "a", "target": "a"}])),
        with(&ends, json!(vec![way.clone(); MOST_EDGES + 1])),
        "x".repeat(MOST_BYTES + 1),
        "digraph { a -> b }".to_owned(),
        String::new(),
        "graph TD;\n\t__start__ --> a;\n\ta ~~~ b;\n".to_owned(),
        "graph TD;\n\ta(a)\n\tb(b)\n\ta(a)\n".to_owned(),
        "graph TD;\n\ta(a\n".to_owned(),
        "graph TD;\n\tend\n".to_owned(),
        "graph TD;\n\tsubgraph x\n".to_owned(),
        "graph TD;\n\ta --> <script>;\n".to_owned(),
        format!(
            "graph TD;\n__start__ --> n0;\n{}",
            (0..120).map(|i| format!("n{i} -.-> n{i};\nn{i} -.-> n{};\n", i + 1)).collect::<String>()
        ),
        format!("graph TD;\n{}", (0..=MOST_NODES).map(|i| format!("\tn{i}(n)\n")).collect::<String>()),
    ];
    assert_snapshot!(texts.iter().map(|text| refused(text)).collect::<String>(), @"
    graph:1: is no JSON: key must be a string at line 1 column 2; write it with `json.dumps(graph.get_graph().to_json())`
    graph: nodes: a list is expected; write it with `json.dumps(graph.get_graph().to_json())`
    graph:1: is no JSON: recursion limit exceeded at line 1 column 137; write it with `json.dumps(graph.get_graph().to_json())`
    graph: nodes[0].id: a text or a whole number is expected
    graph: nodes[1].id: there are two nodes `a`
    graph: nodes[0].id: expected a name of 1 to 200 bytes without control characters
    graph: edges[0].target: there is no node `aa` (did you mean `a`?)
    graph: edges[0]: leads to `__start__`; a graph only begins there
    graph: edges[0]: begins at `__end__`; a graph only ends there
    graph: edges[0]: has a label of more than 200 bytes
    graph: there is no node `__start__`: draw the compiled graph (`graph.compile().get_graph()`)
    graph: no node can be reached from `__start__`
    graph: no way leads from `__start__` over a node to `__end__`
    graph: edges[2000]: is one edge too many: at most 2000
    graph: is longer than 1048576 bytes
    graph:1: is no drawing of LangGraph: expected `graph TD;`, as `draw_mermaid()` begins, or the JSON of `to_json()`
    graph: holds no `graph TD;`
    graph:3: is no node, edge or subgraph as `draw_mermaid()` writes them
    graph:4: there are two nodes `a`; the other one stands on line 2
    graph:2: has a label that does not end with `)`
    graph:2: ends a subgraph that does not begin
    graph: ends within a subgraph: an `end` is missing
    graph:2: is no node, edge or subgraph as `draw_mermaid()` writes them
    graph: becomes 361 steps, choices and loops included, and a workflow has at most 300; draw a part of it
    graph:302: is one node too many: at most 300
    ");
}
