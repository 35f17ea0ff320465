//! The figures that `groundstate workflow run` and `rows --summary` write.

use domain::analytics::Interval;
use domain::api::workflows::{MetricFigure, MetricSummary, RowsSummary};
use domain::timing::{TaskSeconds, TimeBreakdown};
use serde_json::json;
use server::commands::workflow::summary::{lines, number};

#[test]
fn a_run_is_summarised_in_lines() {
    let run = json!({
        "id": "r", "playbook": "p", "seed": 1, "created_at": "2026-05-04T10:00:00Z", "planned": 9, "finished": 9,
        "accepted": 4, "failures": {"empty": 5}, "state": "finished", "priority": 0,
        "usage": [{"role": "writer", "model": "m", "calls": 1, "retries": 0, "prompt_tokens": 4_000,
                   "completion_tokens": 900, "cost": 0.01}],
    });
    let accepted = MetricFigure {
        count: 4,
        without_value: 0,
        mean: Some(0.75),
        interval: Some(Interval { low: 0.300_6, high: 0.954_4 }),
        boolean: true,
    };
    let all = MetricFigure { count: 5, without_value: 1, mean: Some(0.6), interval: None, boolean: true };
    let task = TaskSeconds { total: 2.0, processing: 1.5, queueing: 0.45, initialising: 0.05 };
    let rows = RowsSummary {
        rows: 6,
        sampled: true,
        metrics: vec![MetricSummary { name: "agreement".into(), description: String::new(), accepted, all }],
        time: TimeBreakdown::of(vec![task]),
    };
    let lines = lines(&serde_json::from_value(run).unwrap(), &rows);
    insta::assert_snapshot!(lines.join("\n"), @"
    for each     1225 tokens, 0.0025 in the unit of the prices: all that was spent, by accepted rows
    sample       the figures below are of 6 rows, drawn by the run's seed
    metrics      over accepted rows, with the interval of 95 % confidence
      agreement            0.7500 (0.3006 to 0.9544) over 4 rows
                           of all with an output: 0.6000 over 5 rows, 1 without a value
    time                          P50                P90                P99
      a row                    2.00 s             2.00 s             2.00 s
        processing             1.50 s  75.0 %     1.50 s  75.0 %     1.50 s  75.0 %
        queueing             450.0 ms  22.5 %   450.0 ms  22.5 %   450.0 ms  22.5 %
        initialisation        50.0 ms   2.5 %    50.0 ms   2.5 %    50.0 ms   2.5 %
      a slow row               2.00 s             2.00 s             2.00 s
        processing             1.50 s  75.0 %     1.50 s  75.0 %     1.50 s  75.0 %
        queueing             450.0 ms  22.5 %   450.0 ms  22.5 %   450.0 ms  22.5 %
        initialisation        50.0 ms   2.5 %    50.0 ms   2.5 %    50.0 ms   2.5 %
    ");
}

#[test]
fn numbers_are_short() {
    let all = [0.0, 0.123_456, 7.0, 1234.5, -42.0, 1e-9, 1e300].map(number);
    assert_eq!(all, ["0", "0.1235", "7.00", "1234", "-42.00", "1.00e-9", "1.00e300"]);
}
