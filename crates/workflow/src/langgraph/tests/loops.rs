//! Cycles become loops.

use insta::assert_snapshot;

use super::*;

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
