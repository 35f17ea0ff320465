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
pub fn number(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        size if !(0.0001..1e12).contains(&size) => format!("{value:.2e}"),
        size if size < 1.0 => format!("{value:.4}"),
        size if size < 100.0 => format!("{value:.2}"),
        _ => format!("{value:.0}"),
    }
}
