use insta::assert_snapshot;
use serde_json::{Value, json};

use super::*;

const TAGS: [&str; 2] = ["booking", "quote"];
const TOOLS: [&str; 2] = ["find_room", "book_room"];

fn filter(json: Value) -> Filter {
    serde_json::from_value(json).expect("a filter")
}

/// Whether a filter passes one conversation that has everything.
fn passes(json: Value) -> bool {
    let mut symbols = Symbols::default();
    let mut numbers = |names: &[&str]| names.iter().map(|name| symbols.intern(name)).collect::<Vec<_>>();
    let (tags, tools, models) = (numbers(&TAGS), numbers(&TOOLS), numbers(&["qwen", "agent:qwen", "judge:gpt-x"]));
    let scores = [("tone", 6), ("goal", 9)].map(|(name, score)| Scored { criterion: symbols.intern(name), score });
    let facts = Facts {
        run: symbols.intern("01890000-0000-7000-8000-000000000000"),
        position: 3,
        scenario: symbols.intern("book_board_meeting"),
        family: symbols.intern("book_and_confirm"),
        tags: &tags,
        playbook: symbols.intern("crm_assistant"),
        models: &models,
        persona: symbols.intern("newcomer"),
        complexity: Complexity::Vague,
        status: Status::Failed,
        blame: Some(Blame::Agent),
        reason: Some("overall 6 is below 7"),
        overall: Some(7),
        scores: &scores,
        goal_achieved: Some(true),
        verified: Some(false),
        agreement: None,
        reviewed: Reviewed { rated: true, annotated: false, corrected: true },
        finished: Some("2026-11-24T10:00:00.5Z".parse().expect("a time")),
        ending: Some(symbols.intern("user_ended")),
        turns: Some(4),
        tool_calls: Some(2),
        tools: &tools,
    };
    filter(json).compile(|name| symbols.get(name)).matches(&facts)
}

#[test]
fn everything_asked_for_must_hold() {
    for yes in [
        json!({}),
        json!({"runs": ["01890000-0000-7000-8000-000000000000"], "tags": ["quote", "refund"]}),
        json!({"scenarios": ["book_board_meeting"], "families": ["book_and_confirm"], "playbooks": ["crm_assistant"]}),
        json!({"personas": ["newcomer", "somebody"], "complexities": ["simple", "vague"]}),
        json!({"outcomes": ["failed"], "blames": ["agent"], "endings": ["user_ended"]}),
        json!({"min_scores": {"goal": 9, "tone": 6}, "min_overall": 7, "goal_achieved": true, "verified": false}),
        json!({"max_scores": {"goal": 9, "tone": 10}, "min_scores": {"goal": 9}, "max_overall": 7}),
        json!({"models": ["gpt-x", "qwen"], "reason": "is below"}),
        json!({"models": ["judge:gpt-x"]}),
        json!({"finished_from": "2026-11-24T10:00:00.5Z", "finished_before": "2026-11-24T11:00:00.6+01:00"}),
        json!({"rated": true, "annotated": false, "corrected": true}),
        json!({"turns": {"min": 4, "max": 4}, "tool_calls": {"max": 2}}),
        json!({"tools_any": ["book_room", "cancel"], "tools_all": ["book_room", "find_room"]}),
    ] {
        assert!(passes(yes.clone()), "{yes}");
    }
    for no in [
        json!({"personas": ["somebody"]}),
        json!({"tags": ["refund"]}),
        json!({"outcomes": ["accepted"]}),
        json!({"min_scores": {"goal": 10}}),
        json!({"min_scores": {"never_asked": 0}}),
        json!({"max_scores": {"goal": 8}}),
        json!({"max_scores": {"never_asked": 10}}),
        json!({"max_overall": 6}),
        json!({"models": ["gpt-x"]}),
        json!({"reason": "is Below"}),
        json!({"finished_from": "2026-11-24T10:00:00.6Z"}),
        json!({"finished_before": "2026-11-24T10:00:00.5Z"}),
        json!({"min_agreement": 0.0}),
        json!({"verified": true}),
        json!({"rated": false}),
        json!({"annotated": true}),
        json!({"corrected": false}),
        json!({"turns": {"min": 5}}),
        json!({"tools_all": ["book_room", "cancel"]}),
        json!({"personas": ["newcomer"], "tools_any": ["cancel"]}),
    ] {
        assert!(!passes(no.clone()), "{no}");
    }
}

#[test]
fn the_best_are_all_that_are_as_good_as_the_last_of_them() {
    let filter = filter(json!({"top": [{"share": 0.1}, {"criterion": "tone", "share": 0.5}]}));
    let overall = [9, 9, 8, 8, 7, 7, 7, 7, 5, 0];
    let tone = [3, 8, 9, 9, 9, 9, 9, 0, 0, 0];
    let both = |keep: &mut dyn FnMut(&Facts<'_>)| {
        for (overall, tone) in overall.iter().zip(tone) {
            keep(&Facts {
                run: 0,
                position: 0,
                scenario: 0,
                family: 0,
                tags: &[],
                playbook: 0,
                models: &[],
                persona: 0,
                complexity: Complexity::Medium,
                status: Status::Accepted,
                blame: None,
                reason: None,
                overall: Some(*overall),
                scores: &[Scored { criterion: 1, score: tone }],
                goal_achieved: None,
                verified: None,
                agreement: None,
                reviewed: Reviewed::default(),
                finished: None,
                ending: None,
                turns: None,
                tool_calls: None,
                tools: &[],
            });
        }
    };
    let mut tops = filter.tops(|_| Some(1));
    both(&mut |facts| tops.count(facts));
    let cutoffs = tops.cutoffs();
    assert_eq!(cutoffs.scores().collect::<Vec<_>>(), [9, 9]);
    let mut found = 0;
    both(&mut |facts| found += usize::from(cutoffs.reached(facts)));
    assert_eq!(found, 0, "the two best overall are not among the best in tone");
}

#[test]
fn what_is_out_of_range_is_said_with_its_place() {
    let filter = filter(json!({
        "runs": ["last"],
        "personas": [""],
        "min_scores": {"a/b": 11, "tone": 6},
        "max_scores": {"goal": 11, "tone": 5},
        "min_overall": 12,
        "max_overall": 2,
        "models": ["qwen", ""],
        "reason": "\n",
        "finished_from": "2026-11-24T10:00:00Z",
        "finished_before": "2026-11-24T10:00:00Z",
        "top": [{"share": 0.1}, {"share": 0}],
        "min_agreement": 1.5,
        "turns": {"min": 5, "max": 2},
        "judging": "somebody's"
    }));
    let said: Vec<String> = filter.problems().iter().map(|(at, message)| format!("{at}: {message}")).collect();
    assert_snapshot!(said.join("\n"), @r"
    /models/1: expected a name of 1 to 200 bytes without control characters
    /personas/0: expected a name of 1 to 200 bytes without control characters
    /runs/0: `last` is no run's id
    /judging: expected `own`, `latest` or a judging's id, found `somebody's`
    /min_scores/a~1b: expected 0 to 10, found 11
    /max_scores/goal: expected 0 to 10, found 11
    /min_overall: expected 0 to 10, found 12
    /max_scores/tone: nothing is at least 6 and at most 5
    /max_overall: nothing is at least 12 and at most 2
    /top/1/share: expected a share above 0, up to 1; found 0
    /min_agreement: expected 0 to 1, found 1.5
    /reason: expected 1 to 200 bytes without control characters
    /finished_before: nothing is finished from 2026-11-24 10:00:00 UTC on and before 2026-11-24 10:00:00 UTC
    /turns: nothing is at least 5 and at most 2
    ");
}

#[test]
fn it_is_written_as_it_is_read() {
    let written = json!({"tags": ["quote"], "top": [{"share": 0.1}], "judging": "latest"});
    assert_eq!(serde_json::to_value(filter(written.clone())).expect("JSON"), written);
    assert_eq!(serde_json::to_value(Filter::default()).expect("JSON"), json!({}));
    let unknown = serde_json::from_value::<Filter>(json!({"persona": []})).expect_err("a field that is none");
    assert!(unknown.to_string().contains("unknown field `persona`"), "{unknown}");
}
