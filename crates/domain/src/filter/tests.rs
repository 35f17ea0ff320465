use insta::assert_snapshot;
use serde_json::json;
use strum::VariantArray;

use super::*;

fn filter(json: serde_json::Value) -> Filter {
    serde_json::from_value(json).expect("a filter")
}

/// A conversation that has a value of everything but the agreement of judges.
struct Whole(Symbols);

impl Whole {
    fn new() -> Self {
        let mut symbols = Symbols::default();
        for name in RUN.into_iter().chain(NAMES).chain(TAGS).chain(MODELS).chain(TOOLS) {
            symbols.intern(name);
        }
        Self(symbols)
    }
}

const RUN: [&str; 1] = ["01890000-0000-7000-8000-000000000000"];
const NAMES: [&str; 7] =
    ["book_board_meeting", "book_and_confirm", "crm_assistant", "newcomer", "user_ended", "tone", "goal"];
const TAGS: [&str; 2] = ["booking", "quote"];
const MODELS: [&str; 3] = ["qwen", "agent:qwen", "judge:gpt-x"];
const TOOLS: [&str; 2] = ["find_room", "book_room"];
/// The numbers of those names.
const NUMBERS: [u32; 15] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14];

impl Row for Whole {
    fn value(&self, dimension: Dimension, criterion: Option<u32>) -> Value<'_> {
        match dimension {
            Dimension::Run => Value::Name(NUMBERS[0]),
            Dimension::Scenario => Value::Name(NUMBERS[1]),
            Dimension::Family => Value::Name(NUMBERS[2]),
            Dimension::Playbook => Value::Name(NUMBERS[3]),
            Dimension::Persona => Value::Name(NUMBERS[4]),
            Dimension::Ending => Value::Name(NUMBERS[5]),
            Dimension::Tag => Value::Names(&NUMBERS[8..10]),
            Dimension::Model => Value::Names(&NUMBERS[10..13]),
            Dimension::Tool => Value::Names(&NUMBERS[13..]),
            Dimension::Complexity => Value::Name(Complexity::Vague as u32),
            Dimension::Outcome => Value::Name(Status::Failed as u32),
            Dimension::Blame => Value::Name(Blame::Agent as u32),
            Dimension::Reason => Value::Text("overall 6 is below 7"),
            Dimension::Finished => Value::Time("2026-11-24T10:00:00.5Z".parse().expect("a time")),
            Dimension::Score => match criterion.map(|criterion| self.0.name(criterion)) {
                None => Value::Number(7),
                Some("tone") => Value::Number(6),
                Some("goal") => Value::Number(9),
                Some(_) => Value::Missing,
            },
            Dimension::GoalAchieved | Dimension::Rated | Dimension::Corrected => Value::Flag(true),
            Dimension::Verified | Dimension::Annotated => Value::Flag(false),
            Dimension::Agreement => Value::Missing,
            Dimension::SolveRate => Value::Share(0.25),
            Dimension::Turns => Value::Number(4),
            Dimension::ToolCalls => Value::Number(2),
        }
    }
}

/// Whether a filter passes it.
fn passes(json: serde_json::Value) -> bool {
    let row = Whole::new();
    filter(json).conditions(|name| row.0.get(name)).iter().all(|condition| condition.holds(&row))
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
        json!({"min_solve_rate": 0.25, "max_solve_rate": 0.25}),
        json!({"turns": {"min": 4, "max": 4}, "tool_calls": {"max": 2}}),
        json!({"tools_any": ["book_room", "cancel"], "tools_all": ["book_room", "find_room"]}),
    ] {
        assert!(passes(yes.clone()), "{yes}");
    }
    for no in [
        json!({"runs": ["01890000-0000-7000-8000-000000000001"]}),
        json!({"scenarios": ["somebody"]}),
        json!({"families": ["book_board_meeting"]}),
        json!({"playbooks": ["newcomer"]}),
        json!({"personas": ["somebody"]}),
        json!({"complexities": ["simple"]}),
        json!({"blames": ["judge"]}),
        json!({"endings": ["terminal"]}),
        json!({"tags": ["refund"]}),
        json!({"min_overall": 8}),
        json!({"goal_achieved": false}),
        json!({"tool_calls": {"max": 1}}),
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
        json!({"min_solve_rate": 0.26}),
        json!({"max_solve_rate": 0.24}),
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
    let least = |share: f64, scores: [u8; 10]| {
        let mut best = ScoreHistogram::of(&TopShare { criterion: None, share });
        scores.into_iter().for_each(|score| best.count(score));
        best.least()
    };
    assert_eq!(least(0.1, [9, 9, 8, 8, 7, 7, 7, 7, 5, 0]), 9);
    assert_eq!(least(0.3, [9, 9, 8, 8, 7, 7, 7, 7, 5, 0]), 8);
    assert_eq!(least(0.5, [3, 8, 9, 9, 9, 9, 9, 0, 0, 0]), 9);
    assert_eq!(least(1.0, [3, 8, 9, 9, 9, 9, 9, 0, 0, 0]), 0);
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
        "min_solve_rate": 0.5,
        "max_solve_rate": 0.4,
        "turns": {"min": 5, "max": 2},
        "judging": "somebody's"
    }));
    let said: Vec<String> = filter.problems().iter().map(|(at, message)| format!("{at}: {message}")).collect();
    assert_snapshot!(said.join("\n"), @r"
    /runs/0: `last` is not the id of a run
    /models/1: expected a name of 1 to 200 bytes without control characters
    /personas/0: expected a name of 1 to 200 bytes without control characters
    /reason: expected 1 to 200 bytes without control characters
    /finished_before: nothing is finished from 2026-11-24 10:00:00 UTC on and before 2026-11-24 10:00:00 UTC
    /turns: nothing is at least 5 and at most 2
    /min_agreement: expected 0 to 1, found 1.5
    /max_solve_rate: nothing is at least 0.5 and at most 0.4
    /min_overall: expected 0 to 10, found 12
    /max_overall: nothing is at least 12 and at most 2
    /min_scores/a~1b: expected 0 to 10, found 11
    /max_scores/goal: expected 0 to 10, found 11
    /max_scores/tone: nothing is at least 6 and at most 5
    /top/1/share: expected a share above 0, up to 1; found 0
    /judging: expected `own`, `latest` or a judging's id, found `somebody's`
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

/// A value of a parameter as a query has it, and as the conditions say it that a filter with it has.
fn sample(parameter: &Parameter) -> &'static str {
    match &parameter.comparison {
        Comparison::AnyOf(_) | Comparison::AllOf(_) | Comparison::Contains(_) => "tone",
        Comparison::Words(_) => {
            parameter.dimension.and_then(Dimension::words).and_then(|words| words.last().copied()).expect("words")
        }
        Comparison::Is(_) => "false",
        Comparison::MinScore(_) | Comparison::MaxScore(_) | Comparison::Min(_) | Comparison::Max(_) => "7",
        Comparison::MinScores(_) | Comparison::MaxScores(_) => "tool: usage:7",
        Comparison::MinShare(_) | Comparison::MaxShare(_) => "0.8",
        Comparison::From(_) | Comparison::Before(_) => "2026-11-24T18:00:00.500Z",
        Comparison::Best(_) => "tone:0.1",
        Comparison::Judging(_) => "latest",
    }
}

#[test]
fn each_parameter_is_written_as_it_is_read_and_asks_about_its_dimension() {
    for parameter in &PARAMETERS {
        let (name, text) = (parameter.name, sample(parameter));
        let (filter, problems) = Filter::from_query([(name, text), ("search", "card")]);
        assert!(problems.is_empty(), "{name}: {problems:?}");
        assert_eq!(filter.query().collect::<Vec<_>>(), [(name, text.to_owned())]);
        let json = serde_json::to_value(&filter).expect("JSON");
        assert_eq!(json.as_object().expect("an object").keys().collect::<Vec<_>>(), [parameter.field], "{name}");
        let conditions = filter.conditions(|_| Some(0));
        let asked: Vec<Dimension> = conditions.iter().map(|condition| condition.dimension).collect();
        // Both bounds of a length are one condition, which is named by the field that keeps them.
        let wanted = parameter.dimension.filter(|_| !matches!(parameter.comparison, Comparison::Best(_)));
        assert_eq!(asked, wanted.into_iter().collect::<Vec<_>>(), "{name}");
        assert!(conditions.iter().all(|condition| condition.name.starts_with(parameter.field)), "{name}");
        let mut over = filter.clone();
        let flag = text.replace("usage:", "usage=").replace("tone:", "tone=");
        parameter.read_over(&mut over, [flag.as_str()], Notation::Flag).expect("a value of a flag");
        assert_eq!(over, filter, "{name}: a flag takes the place of what a file says");
    }
}

#[test]
fn every_field_has_a_parameter_and_every_dimension_too() {
    let schema = serde_json::to_value(schemars::schema_for!(Filter)).expect("JSON");
    let fields = schema["properties"].as_object().expect("an object");
    for field in fields.keys() {
        assert!(PARAMETERS.iter().any(|parameter| parameter.field == field), "{field} has no parameter");
    }
    for dimension in Dimension::VARIANTS {
        let asks = |parameter: &Parameter| parameter.dimension == Some(*dimension);
        assert!(PARAMETERS.iter().any(asks), "nothing asks about {dimension}");
    }
    let mut names: Vec<&str> = list_parameters().collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), PARAMETERS.len() + 1, "each name is one parameter's");
}

#[test]
fn conditions_are_looked_at_in_this_order() {
    let whole: Vec<(&str, &str)> = PARAMETERS.iter().map(|parameter| (parameter.name, sample(parameter))).collect();
    let (filter, _) = Filter::from_query(whole);
    let conditions = filter.conditions(|_| None);
    let names: Vec<&str> = conditions.iter().map(|condition| condition.name.as_str()).collect();
    assert_snapshot!(names.chunks(7).map(|some| some.join(" ")).collect::<Vec<_>>().join("\n"), @"
    runs scenarios families tags playbooks models personas
    complexities outcomes blames reason endings finished_from finished_before
    turns goal_achieved min_agreement min_solve_rate max_solve_rate rated annotated
    corrected min_overall max_overall min_scores.tool: usage max_scores.tool: usage verified tool_calls
    tools_any tools_all
    ");
}

#[test]
fn what_cannot_be_read_is_said_of_its_parameter() {
    let (filter, problems) = Filter::from_query([
        ("min_overall", "1e9"),
        ("max_turns", "-1"),
        ("verified", "maybe"),
        ("outcome", "won"),
        ("min_score", "tone"),
        ("max_score", "tone:1"),
        ("max_score", "tone:2"),
        ("top", "best"),
        ("finished_from", "today"),
        ("reason", "a"),
        ("reason", "b"),
        ("persona", "a"),
        ("persona", "a"),
    ]);
    assert_eq!(
        serde_json::to_value(filter).expect("JSON"),
        json!({
            "personas": ["a", "a"], "reason": "a", "max_scores": {"tone": 1}
        })
    );
    let said: Vec<String> =
        problems.iter().map(|(parameter, problem)| format!("{}: {problem}", parameter.name)).collect();
    assert_snapshot!(said.join("\n"), @"
    min_overall: expected a whole number from 0 to 10, found `1e9`
    max_turns: expected a whole number up to 4294967295, found `-1`
    verified: expected `true` or `false`, found `maybe`
    outcome: expected one of `accepted`, `failed`, `unfinished`, found `won`
    min_score: expected CRITERION:SCORE, found `tone`
    max_score: the criterion `tone` is given twice
    top: expected a share above 0, up to 1, such as 0.1 or tool_usage:0.1, found `best`
    finished_from: expected a day, such as 2026-11-24, or RFC 3339: 2026-11-24T18:00:00Z, found `today`
    reason: is given twice
    ");
}

#[test]
fn a_day_is_its_first_moment() {
    let read = |text: &str| {
        let (filter, problems) = Filter::from_query([("finished_from", text)]);
        problems.is_empty().then_some(filter.finished_from).flatten()
    };
    assert_eq!(read("2026-11-24"), read("2026-11-24T01:00:00+01:00"));
    assert!(read("2026-11-24").is_some());
    for bad in ["", "2026-11-31", "2026-11-24 18:00", "2026-11-24T18:00:00", "yesterday"] {
        assert_eq!(read(bad), None, "{bad}");
    }
}
