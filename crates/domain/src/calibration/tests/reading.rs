//! What is read from files of ratings, and what is said of those that cannot be.

use insta::assert_snapshot;

use crate::calibration::ratings::{Format, MAX_BYTES, Ratings, read};

const CRITERIA: [&str; 3] = ["goal_achievement", "tool_usage", "consistency"];

fn csv(text: &str) -> String {
    shown(read("r.csv", text, Format::Csv, &CRITERIA))
}

fn json(text: &str) -> String {
    shown(read("r.json", text, Format::Json, &CRITERIA))
}

fn shown(read: Result<Ratings, Vec<crate::Problem>>) -> String {
    let lines: Vec<String> = match read {
        Ok(ratings) => {
            let row = |r: &super::super::Rating| {
                format!("{} {:?} {:?} {:?}", r.conversation, r.rater, r.scores, r.goal_achieved)
            };
            [format!("{:?}", ratings.criteria)].into_iter().chain(ratings.rows.iter().map(row)).collect()
        }
        Err(problems) => problems.iter().map(ToString::to_string).collect(),
    };
    lines.join("\n")
}

#[test]
fn a_table_is_read_however_a_spreadsheet_wrote_it() {
    let plain = "conversation,rater,tool_usage,goal_achievement,overall,goal_achieved\n\
                 c1,ana,7,,8,true\n\
                 c1,ben,10,0,9,NO\n";
    assert_snapshot!(csv(plain), @r#"
    ["goal_achievement", "tool_usage", "overall"]
    c1 "ana" {"overall": 8, "tool_usage": 7} Some(true)
    c1 "ben" {"goal_achievement": 0, "overall": 9, "tool_usage": 10} Some(false)
    "#);
    let spreadsheet =
        format!("\u{feff}{}", plain.replace('\n', "\r\n").replace("c1", "\"c1\"").replace(",7,", ",7.0,"));
    assert_eq!(csv(&spreadsheet), csv(plain));
    assert_snapshot!(csv("conversation,tool_usage\n\"c\"\"1, late\",3"), @r#"
    ["tool_usage"]
    c"1, late "" {"tool_usage": 3} None
    "#);
}

#[test]
fn a_list_of_objects_says_the_same() {
    assert_snapshot!(json(r#"[
      {"conversation": "c1", "rater": "ana", "tool_usage": 7, "goal_achievement": null, "goal_achieved": true},
      {"overall": "9", "rater": "ben", "conversation": "c1", "goal_achieved": 0}
    ]"#), @r#"
    ["goal_achievement", "tool_usage", "overall"]
    c1 "ana" {"tool_usage": 7} Some(true)
    c1 "ben" {"overall": 9} Some(false)
    "#);
}

#[test]
fn every_problem_of_a_table_is_said_at_once() {
    let table = "conversation,rater,tool_usge,consistency,goal_achieved\r\n\
                 c1,ana,3,11,maybe\r\n\
                 \r\n\
                 ,ana,3,six,yes\r\n\
                 c1,ana,3,\"7\r\n8\",yes\r\n\
                 c2,ana,3\r\n\
                 c3,ana,3,-1,\r\n";
    assert_snapshot!(csv(table), @"
    r.csv:1: tool_usge: is not a criterion of the judge (did you mean `tool_usage`?); columns are goal_achievement, tool_usage, consistency, overall, goal_achieved, conversation, rater
    r.csv:2: consistency: `11` is not a whole number from 0 to 10; leave it empty if it was not rated
    r.csv:2: goal_achieved: `maybe` is neither true nor false (nor yes, no, 1, 0)
    r.csv:4: consistency: `six` is not a whole number from 0 to 10; leave it empty if it was not rated
    r.csv:4: conversation: is empty; it names the conversation that is rated
    r.csv:5: consistency: `7  8` is not a whole number from 0 to 10; leave it empty if it was not rated
    r.csv:5: conversation: `c1` is rated twice by `ana`; name the raters or drop one
    r.csv:7: has 3 cells, the header has 5
    r.csv:8: consistency: `-1` is not a whole number from 0 to 10; leave it empty if it was not rated
    ");
    assert_snapshot!(csv("conversaton,tool_usage,tool_usage\nc1,3,4\n"), @"
    r.csv:1: conversation: the column is missing: it names what is rated (did you mean `conversaton`?)
    r.csv:1: conversaton: is not a criterion of the judge (did you mean `conversation`?); columns are goal_achievement, tool_usage, consistency, overall, goal_achieved, conversation, rater
    r.csv:1: tool_usage: is the name of two columns
    ");
}

#[test]
fn every_problem_of_a_list_is_said_at_once() {
    assert_snapshot!(json(r#"[
      {"conversation": "c1 ] , [", "tool_usage": 7.5, "weather": "\",["},
      7,
      {"conversation": "c2", "tool_usage": [1, {"a": [2]}], "goal_achieved": 2},

      {"tool_usage": 7}, {"conversation": "c2",
        "tool_usage": 12}
    ]"#), @"
    r.json: weather: is not a criterion of the judge (did you mean `rater`?); columns are goal_achievement, tool_usage, consistency, overall, goal_achieved, conversation, rater
    r.json:2: tool_usage: `7.5` is not a whole number from 0 to 10; leave it empty if it was not rated
    r.json:3: entry 2 is not an object
    r.json:4: goal_achieved: `2` is neither true nor false (nor yes, no, 1, 0)
    r.json:4: tool_usage: is a list or an object, expected one value
    r.json:6: conversation: `c2` is rated twice; name the raters or drop one
    r.json:6: conversation: is empty; it names the conversation that is rated
    r.json:6: tool_usage: `12` is not a whole number from 0 to 10; leave it empty if it was not rated
    ");
}

#[test]
fn what_is_no_table_is_refused() {
    assert_snapshot!(csv(""), @"r.csv: is empty; its first line names the columns");
    assert_snapshot!(csv("conversation,overall\n"), @"r.csv: holds no rating");
    assert_snapshot!(csv("conversation;overall\nc1;8\n"), @"r.csv:1: columns are separated by commas, found ';'");
    assert_snapshot!(csv(&"x,".repeat(300)), @"r.csv:1: has 301 columns; at most 200 are read");
    assert_snapshot!(json("{}"), @"r.json:1: is not a list; expected a list of objects, one for each rating");
    assert_snapshot!(json("[{]"), @"r.json: is not valid JSON: key must be a string at line 1 column 3");
    assert_snapshot!(json(r#"[{"conversation": "a", "conversation": "b"}]"#), @"r.json: is not valid JSON: the key `conversation` is written twice in one object");
    assert_snapshot!(csv(&" ".repeat(MAX_BYTES + 1)), @"r.csv: is 8388609 bytes long; at most 8388608 are read");
    let columns: Vec<String> = (0..300).map(|i| format!(r#"{{"c{i}": 1}}"#)).collect();
    assert_snapshot!(json(&format!("[{}]", columns.join(","))), @"r.json:1: brings in column 201; at most 200 are read");
    let wrong = format!("conversation,overall\n{}", "c,x\n".repeat(5_000));
    assert_eq!(csv(&wrong).lines().count(), 1_000);
}

#[test]
fn the_format_is_in_the_name() {
    assert_eq!(Format::of_file("a/ratings.CSV"), Some(Format::Csv));
    assert_eq!(Format::of_file("ratings.v2.json"), Some(Format::Json));
    assert_eq!(Format::of_file("csv"), None);
}
