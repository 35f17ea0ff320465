//! The rows of a run in figures, as text.

use domain::api::RunSummary;
use domain::api::workflows::{MetricFigure, RowsSummary};
use domain::spending::Spending;
use domain::timing::{Percentiles, StageTimes};

/// Lines of text.
pub fn lines(run: &RunSummary, rows: &RowsSummary) -> Vec<String> {
    let mut lines: Vec<String> = Spending::per_accepted(run).map(spending).into_iter().collect();
    if rows.sampled {
        lines.push(format!("sample       the figures below are of {} rows, drawn by the run's seed", rows.rows));
    }
    if !rows.metrics.is_empty() {
        lines.push("metrics      over accepted rows, with the interval of 95 % confidence".to_owned());
    }
    for metric in &rows.metrics {
        lines.push(format!("  {:20} {}", metric.name, figure(&metric.accepted)));
        if metric.all != metric.accepted {
            lines.push(format!("  {:20} of all with an output: {}", "", figure(&metric.all)));
        }
    }
    if let Some(time) = &rows.time {
        lines.push(format!("{:22} {:>10} {:>18} {:>18}", "time", "P50", "P90", "P99"));
        stages(&mut lines, "a row", &time.all);
        stages(&mut lines, "a slow row", &time.slowest);
    }
    lines
}

fn spending(each: Spending) -> String {
    let (tokens, cost) = (number(each.tokens), number(each.cost));
    format!("for each     {tokens} tokens, {cost} in the unit of the prices: all that was spent, by accepted rows")
}

/// As in `0.83 (0.62 to 0.94) over 24 rows, 2 without a value`.
fn figure(figure: &MetricFigure) -> String {
    let mean = figure.mean.map_or_else(|| "no value".to_owned(), number);
    let interval = figure.interval.map(|interval| format!(" ({} to {})", number(interval.low), number(interval.high)));
    let rows = if figure.count == 1 { "row" } else { "rows" };
    let without = match figure.without_value {
        0 => String::new(),
        n => format!(", {n} without a value"),
    };
    format!("{mean}{} over {} {rows}{without}", interval.unwrap_or_default(), figure.count)
}

fn stages(lines: &mut Vec<String>, what: &str, times: &StageTimes) {
    let StageTimes { total, processing, queueing, initialising } = times;
    lines.push(time_line(&format!("  {what}"), total, None));
    for (name, stage) in [("processing", processing), ("queueing", queueing), ("initialisation", initialising)] {
        lines.push(time_line(&format!("    {name}"), &stage.seconds, Some(&stage.share)));
    }
}

fn time_line(name: &str, times: &Percentiles, shares: Option<&Percentiles>) -> String {
    let of: [fn(&Percentiles) -> f64; 3] = [|all| all.p50, |all| all.p90, |all| all.p99];
    let cell = |of: fn(&Percentiles) -> f64| {
        let share = shares.map(|shares| format!("{:.1} %", of(shares) * 100.0)).unwrap_or_default();
        format!("{:>10} {share:>7}", seconds(of(times)))
    };
    format!("{name:22} {}", of.map(cell).join(" ")).trim_end().to_owned()
}

fn seconds(seconds: f64) -> String {
    if seconds < 1.0 { format!("{:.1} ms", seconds * 1_000.0) } else { format!("{seconds:.2} s") }
}

/// With about three digits that say something.
fn number(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        size if !(0.0001..1e12).contains(&size) => format!("{value:.2e}"),
        size if size < 1.0 => format!("{value:.4}"),
        size if size < 100.0 => format!("{value:.2}"),
        _ => format!("{value:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use domain::analytics::Interval;
    use domain::api::workflows::MetricSummary;
    use domain::timing::{TaskSeconds, TimeBreakdown};
    use serde_json::json;

    use super::*;

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
}
