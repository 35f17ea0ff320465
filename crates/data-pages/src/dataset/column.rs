//! A column of a dataset, and how its values are distributed.

use domain::dataset::{Column, ColumnStatistics, NumberStatistics, ValueCount};
use leptos::prelude::*;

use ui::components::chart::histogram::heights;
use ui::components::chart::{Bar, Bars, Figure, figure};
use ui::components::{FirstRows, MoreRows};
use ui::format;

/// Of the drawing, in its own units.
const WIDTH: f64 = 240.0;
const HEIGHT: f64 = 80.0;
/// Values that have a bar.
const VALUES: usize = 8;

#[component]
pub fn Columns(columns: Vec<Column>, total: i64) -> impl IntoView {
    let (first, all) = (FirstRows::new(), columns.len());
    view! {
        <div class="dataset-columns">{first.rows(columns, move |column| view! { <ColumnCard column total /> })}</div>
        <MoreRows first all=Signal::stored(all) />
    }
}

#[component]
fn ColumnCard(column: Column, total: i64) -> impl IntoView {
    let summary = summary(&column.statistics);
    let ColumnStatistics { values, numbers, lengths, .. } = column.statistics;
    // Values that occur once each say nothing by their counts.
    let repeated = values.first().is_some_and(|value| value.count > 1);
    view! {
        <article class="panel">
            <h2>
                <code dir="auto">{column.name}</code>
                " "
                <span class="muted">{column.kind.into_str()}</span>
            </h2>
            <p class="muted hint">{summary}</p>
            {repeated.then(|| view! { <Frequent values total /> })}
            {numbers.map(|numbers| view! { <Numbers title="Values" of=numbers /> })}
            {lengths.map(|lengths| view! { <Numbers title="Lengths" of=lengths /> })}
        </article>
    }
}

fn summary(statistics: &ColumnStatistics) -> String {
    let ColumnStatistics { nulls, distinct, distinct_at_least, .. } = statistics;
    let least = if *distinct_at_least { "at least " } else { "" };
    let without = if *nulls > 0 { format!(" · rows without a value: {}", count(*nulls)) } else { String::new() };
    format!("Different values: {least}{}{without}", count(*distinct))
}

fn count(n: u64) -> String {
    format::count(i64::try_from(n).unwrap_or(i64::MAX))
}

/// The most frequent values, each with its share of all rows.
#[component]
#[expect(clippy::cast_precision_loss, reason = "a drawing needs no more")]
fn Frequent(values: Vec<ValueCount>, total: i64) -> impl IntoView {
    let others = values.len().saturating_sub(VALUES);
    let bar = |ValueCount { value, count }: ValueCount| {
        let says = format::percent(count as f64 / total.max(1) as f64);
        let name = if value.is_empty() { "(empty)".to_owned() } else { value };
        Bar { name, value: count as f64, says, tone: "" }
    };
    let bars = values.into_iter().take(VALUES).map(bar).collect();
    view! {
        <Bars bars />
        {(others > 0).then(|| view! { <p class="muted hint">{format!("Other values, less frequent: {others}")}</p> })}
    }
}

/// How numbers are distributed.
#[component]
fn Numbers(title: &'static str, of: NumberStatistics) -> impl IntoView {
    if of.min >= of.max {
        return view! { <p class="muted hint">{format!("{title}: always {}", number(of.min))}</p> }.into_any();
    }
    let about = format!("From {} to {}, mean {}", number(of.min), number(of.max), number(of.mean));
    let says = format!("{title}: {about}");
    let bins = bins(&of);
    let tall = heights(bins.iter().map(|(_, count)| *count), HEIGHT - 6.0);
    let rows = bins.iter().map(|(name, n)| vec![name.clone(), count(*n)]).collect();
    #[expect(clippy::cast_precision_loss, reason = "bins are few")]
    let width = WIDTH / bins.len().max(1) as f64;
    let bar = move |(at, ((name, n), height)): (usize, ((String, u64), f64))| {
        #[expect(clippy::cast_precision_loss, reason = "bins are few")]
        let x = width * at as f64;
        view! {
            <rect class="bar" x=x + width * 0.08 y=HEIGHT - height width=width * 0.84 height=height>
                <title>{format!("{name}: {}", count(n))}</title>
            </rect>
        }
    };
    let bars = bins.into_iter().zip(tall).enumerate().map(bar).collect_view();
    view! {
        <Figure title about head=vec![title.to_owned(), "Rows".to_owned()] rows>
            <svg class="distribution" viewBox=format!("0 0 {WIDTH} {HEIGHT}") role="img" aria-label=says>
                {bars}
                <line class="axis" x1="0" x2=WIDTH y1=HEIGHT y2=HEIGHT />
            </svg>
        </Figure>
    }
    .into_any()
}

/// The range of each bin of a histogram, and how many values fall into it.
#[expect(clippy::cast_precision_loss, reason = "bins are few")]
fn bins(of: &NumberStatistics) -> Vec<(String, u64)> {
    let histogram = &of.histogram;
    let step = (histogram.to - histogram.from) / histogram.counts.len().max(1) as f64;
    let edge = |at: usize| number(histogram.from + step * at as f64);
    let bin = |(at, count): (usize, &u64)| (format!("{} to {}", edge(at), edge(at + 1)), *count);
    histogram.counts.iter().enumerate().map(bin).collect()
}

/// A whole number without decimals, others as figures of charts are.
fn number(value: f64) -> String {
    /// From here on not every whole number can be told from the next.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    #[expect(clippy::cast_possible_truncation, reason = "whole and exact")]
    let whole = (value.fract() == 0.0 && value.abs() < EXACT).then_some(value as i64);
    match whole {
        Some(whole) => format::count(whole),
        None if value.abs() >= EXACT => format!("{value:e}"),
        None => figure(value),
    }
}

#[cfg(test)]
mod tests {
    use domain::dataset::Histogram;

    use super::*;

    #[test]
    fn numbers_are_as_short_as_they_can_be() {
        let all = [3_000_000.0, -2.0, 0.25, 12.34, 1e300].map(number);
        assert_eq!(all, ["3,000,000", "-2", "0.25", "12.3", "1e300"]);
    }

    #[test]
    fn a_bin_is_named_by_its_edges() {
        let histogram = Histogram { from: 0.0, to: 5.0, counts: vec![7, 3] };
        let of = NumberStatistics { count: 10, min: 0.0, max: 5.0, mean: 2.0, histogram };
        assert_eq!(bins(&of), [("0 to 2.50".to_owned(), 7), ("2.50 to 5".to_owned(), 3)]);
    }

    #[test]
    fn a_column_is_summed_up_in_a_line() {
        let mut statistics = ColumnStatistics { distinct: 12_000, distinct_at_least: true, ..Default::default() };
        assert_eq!(summary(&statistics), "Different values: at least 12,000");
        statistics.nulls = 3;
        assert_eq!(summary(&statistics), "Different values: at least 12,000 · rows without a value: 3");
    }
}
