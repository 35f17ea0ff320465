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
fn an_agent_with_tools_becomes_a_loop() {
    let draft = of_edges(&[
        ("__start__", "agent", None, false),
        ("tools", "agent", None, false),
        ("agent", "tools", Some("continue"), true),
        ("agent", "__end__", Some("exit"), true),
    ]);
    assert_snapshot!(draft.files[DOCUMENT], @r#"
    # Made from a drawing of a LangGraph graph. Replace what is marked with `Fill in`, here and in the templates.
    # docs/workflows.md explains every field.
    workflow: drawn
    description: Made from a graph of LangGraph
    # Fill in: what an input row holds. It is what the graph was invoked with.
    input: {message: text}
    steps:
      # The cycle of agent, tools. Fill in: `max`, and what happens after the last round (LangGraph fails there).
      agent_loop:
        loop: {max: 10, until: not to_agent}
        state: {last_agent: "''", last_tools: "''", to_agent: true}
        next: {last_agent: agent, last_tools: tools or last_tools, to_agent: "tools != None"}
        steps:
          # Fill in: agent.md.j2, and what the reply is (`returns`, `split`, `tools`).
          agent: {ask: {role: writer, prompt: agent.md.j2}}
          # Fill in: agent_route.md.j2, how one of these is chosen. Where code can say it, write `code` instead of `ask`.
          agent_route:
            ask:
              role: router
              prompt: agent_route.md.j2
              returns:
                type: object
                required: [next]
                properties: {next: {type: string, enum: [continue, exit]}}
              temperature: 0
          # Fill in: tools.md.j2, and what the reply is (`returns`, `split`, `tools`).
          tools: {when: "agent_route.next == 'continue'", ask: {role: writer, prompt: tools.md.j2}}
    # Fill in: what an output row holds. These led to the end of the graph.
    output: {agent: agent_loop.last_agent}
    stand_ins: {writer: write, router: route}
    # Fill in: real inputs, each with the `output` that it is to become.
    samples: [{input: {message: "Which bees make honey?"}}]
    "#);
    assert_snapshot!(draft.files["agent.md.j2"], @"
    {# Fill in: what the model is asked in the step `agent`. #}
    The request:
    {{ message }}

    {% if last_tools %}What `tools` gave in the round before:
    {{ last_tools }}
    {% endif %}
    ");
    assert_snapshot!(played(&draft), @r#"
    agent_loop[0].agent, agent_loop[0].agent_route
    {"agent":"what agent gives"}
    "#);
}

#[test]
fn a_cycle_within_a_cycle_is_a_loop_within_a_loop() {
    let draft = of_edges(&[
        ("__start__", "plan", None, false),
        ("plan", "write", None, false),
        ("write", "check", None, false),
        ("check", "write", Some("again"), true),
        ("check", "review", Some("good"), true),
        ("check", "give_up", Some("hopeless"), true),
        ("review", "plan", Some("replan"), true),
        ("review", "publish", Some("done"), true),
        ("publish", "__end__", None, false),
        ("give_up", "__end__", None, false),
    ]);
    assert_snapshot!(steps(&draft), @r#"
    steps:
      plan_loop:
        loop: {max: 10, until: not to_plan}
        state:
          last_check: "''"
          last_review: "''"
          to_plan: true
          to_give_up: false
          to_publish: false
        next:
          last_check: write_loop.last_check_2
          last_review: review or last_review
          to_plan: "review_route != None and review_route.next == 'replan'"
          to_give_up: write_loop.to_give_up_2
          to_publish: "review_route != None and review_route.next == 'done'"
        steps:
          plan: {ask: {role: writer, prompt: plan.md.j2}}
          write_loop:
            loop: {max: 3, until: not to_write}
            state: {last_check_2: "''", to_write: true, to_give_up_2: false, to_review: false}
            next:
              last_check_2: check
              to_write: "check_route.next == 'again'"
              to_give_up_2: "check_route.next == 'hopeless'"
              to_review: "check_route.next == 'good'"
            steps:
              write: {ask: {role: writer, prompt: write.md.j2}}
              check: {ask: {role: writer, prompt: check.md.j2}}
              check_route:
                ask:
                  role: router
                  prompt: check_route.md.j2
                  returns:
                    type: object
                    required: [next]
                    properties: {next: {type: string, enum: [again, good, hopeless]}}
                  temperature: 0
          review: {when: write_loop.to_review, ask: {role: writer, prompt: review.md.j2}}
          review_route:
            when: review != None
            ask:
              role: router
              prompt: review_route.md.j2
              returns:
                type: object
                required: [next]
                properties: {next: {type: string, enum: [done, replan]}}
              temperature: 0
      give_up: {when: plan_loop.to_give_up, ask: {role: writer, prompt: give_up.md.j2}}
      publish: {when: plan_loop.to_publish, ask: {role: writer, prompt: publish.md.j2}}
    output: {give_up: give_up, publish: publish}
    "#);
    assert_snapshot!(draft.files["publish.md.j2"], @"
    {# Fill in: what the model is asked in the step `publish`. #}
    The request:
    {{ message }}

    {% if plan_loop.last_review %}What `review` gave:
    {{ plan_loop.last_review }}
    {% endif %}
    ");
    assert_snapshot!(played(&draft), @r#"
    plan_loop[0].plan, plan_loop[0].write_loop[0].write, plan_loop[0].write_loop[0].check, plan_loop[0].write_loop[0].check_route, give_up
    {"give_up":"what give_up gives","publish":null}
    "#);
}

/// A graph of LangGraph's own tests. After `Researcher`, the cycle of the two others can be entered at each of them.
#[test]
fn a_cycle_with_several_entries_is_one_loop() {
    let draft = of_edges(&[
        ("Call Tool", "Chart Generator", None, true),
        ("Call Tool", "Researcher", None, true),
        ("Chart Generator", "Call Tool", Some("call_tool"), true),
        ("Chart Generator", "Researcher", Some("continue"), true),
        ("Chart Generator", "__end__", Some("end"), true),
        ("Researcher", "Call Tool", Some("call_tool"), true),
        ("Researcher", "Chart Generator", Some("continue"), true),
        ("Researcher", "__end__", Some("end"), true),
        ("__start__", "Researcher", None, false),
        ("Researcher", "Researcher", Some("redo"), true),
    ]);
    assert_snapshot!(steps(&draft), @r#"
    steps:
      researcher_loop:
        loop: {max: 10, until: not to_researcher}
        state:
          last_researcher: "''"
          last_call_tool: "''"
          last_chart_generator: "''"
          to_researcher: true
        next:
          last_researcher: researcher
          last_call_tool: call_tool_loop.last_call_tool_2 if call_tool_loop != None else last_call_tool
          last_chart_generator: call_tool_loop.last_chart_generator_2 if call_tool_loop != None else last_chart_generator
          to_researcher: "researcher_route.next == 'redo' or (call_tool_loop != None and call_tool_loop.to_researcher_2)"
        steps:
          researcher: {description: The node Researcher, ask: {role: writer, prompt: researcher.md.j2}}
          researcher_route:
            ask:
              role: router
              prompt: researcher_route.md.j2
              returns:
                type: object
                required: [next]
                properties: {next: {type: string, enum: [call_tool, continue, end, redo]}}
              temperature: 0
          call_tool_loop:
            when: "researcher_route.next == 'call_tool' or researcher_route.next == 'continue'"
            loop: {max: 3, until: "not (to_call_tool or to_chart_generator)"}
            state:
              last_call_tool_2: "''"
              last_chart_generator_2: "''"
              to_researcher_2: false
              to_call_tool: "researcher_route.next == 'call_tool'"
              to_chart_generator: "researcher_route.next == 'continue'"
            next:
              last_call_tool_2: call_tool or last_call_tool_2
              last_chart_generator_2: chart_generator or last_chart_generator_2
              to_researcher_2: "(call_tool_route != None and call_tool_route.next == 'Researcher') or (chart_generator_route != None and chart_generator_route.next == 'continue')"
              to_call_tool: "chart_generator_route != None and chart_generator_route.next == 'call_tool'"
              to_chart_generator: false
            steps:
              call_tool:
                when: to_call_tool
                description: The node Call Tool
                ask: {role: writer, prompt: call_tool.md.j2}
              call_tool_route:
                when: call_tool != None
                ask:
                  role: router
                  prompt: call_tool_route.md.j2
                  returns:
                    type: object
                    required: [next]
                    properties: {next: {type: string, enum: [Chart Generator, Researcher]}}
                  temperature: 0
              chart_generator:
                when: "(call_tool_route != None and call_tool_route.next == 'Chart Generator') or to_chart_generator"
                description: The node Chart Generator
                ask: {role: writer, prompt: chart_generator.md.j2}
              chart_generator_route:
                when: chart_generator != None
                ask:
                  role: router
                  prompt: chart_generator_route.md.j2
                  returns:
                    type: object
                    required: [next]
                    properties: {next: {type: string, enum: [call_tool, continue, end]}}
                  temperature: 0
    output:
      researcher: researcher_loop.last_researcher
      chart_generator: researcher_loop.last_chart_generator
    "#);
    assert_snapshot!(played(&draft), @r#"
    researcher_loop[0].researcher, researcher_loop[0].researcher_route
    {"researcher":"what researcher gives","chart_generator":""}
    "#);
    assert_snapshot!(draft.report.lost.join("\n"), @"
    what the nodes do, and the state that they share, is not part of a drawing
    Researcher: exactly one of call_tool, continue, end, redo is chosen after it; LangGraph may choose several at once
    Call Tool: exactly one of Chart Generator, Researcher is chosen after it; LangGraph may choose several at once
    Chart Generator: exactly one of call_tool, continue, end is chosen after it; LangGraph may choose several at once
    the cycle of Call Tool, Chart Generator: cycles within it share one loop
    ");
}

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
fn loops_of_subgraphs_are_loops_within_loops() {
    let draft = of_edges(&[
        ("__start__", "gp_one", None, false),
        ("gp_one", "__end__", Some("1"), true),
        ("gp_one", "gp_two:__start__", Some("0"), true),
        ("gp_two:__end__", "gp_one", None, false),
        ("gp_two:__start__", "gp_two:p_one", None, false),
        ("gp_two:p_one", "gp_two:__end__", Some("1"), true),
        ("gp_two:p_one", "gp_two:p_two:__start__", Some("0"), true),
        ("gp_two:p_two:__end__", "gp_two:p_one", None, false),
        ("gp_two:p_two:__start__", "gp_two:p_two:c_one", None, false),
        ("gp_two:p_two:c_one", "gp_two:p_two:__end__", Some("1"), true),
        ("gp_two:p_two:c_one", "gp_two:p_two:c_two", Some("0"), true),
        ("gp_two:p_two:c_two", "gp_two:p_two:c_one", None, false),
    ]);
    let made: Vec<String> = draft.report.made.iter().map(|(drawn, step)| format!("{drawn} -> {step}\n")).collect();
    assert_snapshot!(made.concat(), @"
    the cycle of gp_one, gp_two:p_one, gp_two:p_two:c_one, gp_two:p_two:c_two -> gp_one_loop
    gp_one -> gp_one_loop.gp_one
    the choice after gp_one (0, 1) -> gp_one_loop.gp_one_route
    the cycle of gp_two:p_one, gp_two:p_two:c_one, gp_two:p_two:c_two -> gp_one_loop.gp_two_p_one_loop
    gp_two:p_one -> gp_one_loop.gp_two_p_one_loop.gp_two_p_one
    the choice after gp_two:p_one (0, 1) -> gp_one_loop.gp_two_p_one_loop.gp_two_p_one_route
    the cycle of gp_two:p_two:c_one, gp_two:p_two:c_two -> gp_one_loop.gp_two_p_one_loop.gp_two_p_two_c_one_loop
    gp_two:p_two:c_one -> gp_one_loop.gp_two_p_one_loop.gp_two_p_two_c_one_loop.gp_two_p_two_c_one
    the choice after gp_two:p_two:c_one (0, 1) -> gp_one_loop.gp_two_p_one_loop.gp_two_p_two_c_one_loop.gp_two_p_two_c_one_route
    gp_two:p_two:c_two -> gp_one_loop.gp_two_p_one_loop.gp_two_p_two_c_one_loop.gp_two_p_two_c_two
    ");
    assert_snapshot!(played(&draft), @r#"
    gp_one_loop[0].gp_one, gp_one_loop[0].gp_one_route
    {"gp_one":"what gp_one gives"}
    "#);
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
