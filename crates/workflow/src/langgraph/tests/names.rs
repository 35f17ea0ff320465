//! How steps are named after nodes.

use insta::assert_snapshot;

use super::*;

/// A graph of LangGraph's own tests, as it draws it with subgraphs and styles.
const SUBGRAPHS: &str = "---
config:
  flowchart:
    curve: linear
---
graph TD;
\t__start__([<p>__start__</p>]):::first
\ttool_one(tool_one)
\ttool_three(tool_three<hr/><small><em>version = 2
__interrupt = before</em></small>)
\t__end__([<p>__end__</p>]):::last
\t__start__ -.-> tool_one;
\t__start__ -.-> tool_three;
\t__start__ -.-> tool_two\\3a__start__;
\ttool_one --> __end__;
\ttool_three --> __end__;
\ttool_two\\3a__end__ --> __end__;
\tsubgraph tool_two
\ttool_two\\3a__start__(<p>__start__</p>)
\ttool_two\\3atool_two_slow(tool_two_slow)
\ttool_two\\3atool_two_fast(tool_two_fast)
\ttool_two\\3a__end__(<p>__end__</p>)
\ttool_two\\3a__start__ -.-> tool_two\\3atool_two_fast;
\ttool_two\\3a__start__ -.-> tool_two\\3atool_two_slow;
\ttool_two\\3atool_two_fast --> tool_two\\3a__end__;
\ttool_two\\3atool_two_slow --> tool_two\\3a__end__;
\tend
\tclassDef default fill:#f2f0ff,line-height:1.2
\tclassDef first fill-opacity:0
\tclassDef last fill:#bfb6fc
";

#[test]
fn a_subgraph_becomes_steps_with_its_name_before_theirs() {
    let draft = drafted(SUBGRAPHS);
    assert_snapshot!(steps(&draft), @r#"
    steps:
      start_route:
        ask:
          role: router
          prompt: start_route.md.j2
          returns:
            type: object
            required: [next]
            properties: {next: {type: string, enum: [tool_one, tool_three, tool_two]}}
          temperature: 0
      tool_one: {when: "start_route.next == 'tool_one'", ask: {role: writer, prompt: tool_one.md.j2}}
      tool_three:
        when: "start_route.next == 'tool_three'"
        ask: {role: writer, prompt: tool_three.md.j2}
      tool_two_start: {when: "start_route.next == 'tool_two'", code: "message or ''"}
      tool_two_start_route:
        when: tool_two_start != None
        ask:
          role: router
          prompt: tool_two_start_route.md.j2
          returns:
            type: object
            required: [next]
            properties:
              next: {type: string, enum: ["tool_two:tool_two_fast", "tool_two:tool_two_slow"]}
          temperature: 0
      tool_two_tool_two_fast:
        when: "tool_two_start_route != None and tool_two_start_route.next == 'tool_two:tool_two_fast'"
        description: "The node tool_two:tool_two_fast"
        ask: {role: writer, prompt: tool_two_tool_two_fast.md.j2}
      tool_two_tool_two_slow:
        when: "tool_two_start_route != None and tool_two_start_route.next == 'tool_two:tool_two_slow'"
        description: "The node tool_two:tool_two_slow"
        ask: {role: writer, prompt: tool_two_tool_two_slow.md.j2}
    output:
      tool_one: tool_one
      tool_three: tool_three
      tool_two_tool_two_fast: tool_two_tool_two_fast
      tool_two_tool_two_slow: tool_two_tool_two_slow
    "#);
    assert_snapshot!(played(&draft), @r#"
    start_route, tool_one
    {"tool_one":"what tool_one gives","tool_three":null,"tool_two_tool_two_fast":null,"tool_two_tool_two_slow":null}
    "#);
    assert_snapshot!(draft.report.lost.join("\n"), @"
    what the nodes do, and the state that they share, is not part of a drawing
    tool_three: its metadata `version = 2`
    tool_three: its metadata `__interrupt = before`
    the subgraph tool_two: its steps stand among the others
    __start__: exactly one of tool_one, tool_three, tool_two is chosen after it; LangGraph may choose several at once
    tool_two:__start__: exactly one of tool_two:tool_two_fast, tool_two:tool_two_slow is chosen after it; LangGraph may choose several at once
    ");
    let ids = [
        "__start__",
        "tool_one",
        "tool_two:__start__",
        "tool_two:tool_two_slow",
        "tool_two:tool_two_fast",
        "tool_two:__end__",
        "__end__",
    ];
    let mut nodes: Vec<Value> = ids.iter().map(|id| node(id)).collect();
    let metadata = json!({"version": 2, "__interrupt": "before"});
    nodes.push(json!({"id": "tool_three", "type": "runnable", "data": {"name": "tool_three"}, "metadata": metadata}));
    let edge = |source: &str, target: &str, conditional: bool| json!({"source": source, "target": target, "conditional": conditional});
    let edges = json!([
        edge("__start__", "tool_one", true),
        edge("__start__", "tool_two:__start__", true),
        edge("__start__", "tool_three", true),
        edge("tool_one", "__end__", false),
        edge("tool_two:__end__", "__end__", false),
        edge("tool_three", "__end__", false),
        edge("tool_two:__start__", "tool_two:tool_two_slow", true),
        edge("tool_two:__start__", "tool_two:tool_two_fast", true),
        edge("tool_two:tool_two_slow", "tool_two:__end__", false),
        edge("tool_two:tool_two_fast", "tool_two:__end__", false),
    ]);
    let json = drafted(&json!({"nodes": nodes, "edges": edges}).to_string());
    assert_eq!((json.files, json.report.lost), (draft.files, draft.report.lost));
}

#[test]
fn nodes_without_ids_of_their_own_have_numbers() {
    let json = json!({
        "nodes": [
            {"id": "__start__", "type": "schema", "data": "__start__"},
            {"id": 1, "type": "schema", "data": "Parallel<agent_outcome>Input"},
            {"id": 2, "type": "runnable", "data": {"id": ["langchain", "prompts", "prompt", "PromptTemplate"], "name": "PromptTemplate"}},
            {"id": "__end__", "type": "schema", "data": "__end__"},
        ],
        "edges": [{"source": "__start__", "target": 1}, {"source": 1, "target": 2}, {"source": 2, "target": "__end__"}],
    });
    let mermaid = "%%{init: {'flowchart': {'curve': 'linear'}}}%%\ngraph TD;\n\t__start__[__start__]:::startclass;\n\
                   \tParallel_agent_outcome_Input([Parallel_agent_outcome_Input]):::otherclass;\n\
                   \tPromptTemplate([PromptTemplate]):::otherclass;\n\t__end__[__end__]:::endclass;\n\
                   \t__start__ --> Parallel_agent_outcome_Input;\n\
                   \tParallel_agent_outcome_Input --> PromptTemplate;\n\tPromptTemplate --> __end__;\n\
                   \tclassDef startclass fill:#ffdfba;\n";
    for text in [json.to_string(), mermaid.to_owned()] {
        let names: Vec<String> = drafted(&text).report.made.into_iter().map(|(_, step)| step).collect();
        assert_eq!(names, ["parallel_agent_outcome_input", "prompttemplate"]);
    }
}

#[test]
fn names_that_cannot_be_names_of_steps_are_changed() {
    let long = "x".repeat(100);
    let draft = of_edges(&[
        ("__start__", "for", None, false),
        ("for", "2nd try", None, false),
        ("2nd try", "message", None, false),
        ("message", "A", None, false),
        ("A", "a", None, false),
        ("a", "range", None, false),
        ("range", &long, None, false),
        (&long, "end", None, false),
        ("end", "__end__", None, false),
    ]);
    let made: Vec<String> = draft.report.made.iter().map(|(drawn, step)| format!("{drawn} -> {step}\n")).collect();
    assert_snapshot!(made.concat(), @"
    for -> for_2
    2nd try -> step_2nd_try
    message -> message_2
    A -> a
    a -> a_2
    range -> range_2
    xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx -> xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
    end -> end
    ");
    played(&draft);
    let hostile = json!({
        "nodes": [node("__start__"), node("{{ x }} {% for %} #} \u{4e2d} \u{2028} '\"\\"), node("b"), node("c"), node("__end__")],
        "edges": [
            {"source": "__start__", "target": "{{ x }} {% for %} #} \u{4e2d} \u{2028} '\"\\"},
            {"source": "{{ x }} {% for %} #} \u{4e2d} \u{2028} '\"\\", "target": "b", "conditional": true, "data": "{{ x }} {% '\"\\ \n# #}"},
            {"source": "{{ x }} {% for %} #} \u{4e2d} \u{2028} '\"\\", "target": "c", "conditional": true, "data": {"deep": [1, null]}},
            {"source": "b", "target": "__end__"},
        ],
    });
    assert_snapshot!(played(&drafted(&hostile.to_string())), @r#"
    x_for, x_for_route, c
    {"b":null,"c":"what c gives"}
    "#);
}
