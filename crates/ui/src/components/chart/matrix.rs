//! How scores go together, each with each. A table already, it is coloured and nothing more.

use leptos::prelude::*;

use crate::components::{FirstRows, MoreRows};

/// Shades on each side of none.
const SHADES: f64 = 5.0;

#[component]
pub fn Matrix(
    /// What it is, to screen readers.
    label: &'static str,
    names: Vec<String>,
    /// From -1 to 1, in the order of the names.
    cells: Vec<Vec<Option<f64>>>,
    /// Of how many, in the same order.
    n: Vec<Vec<u64>>,
) -> impl IntoView {
    let heads: Vec<String> = names.clone();
    let counts = counts(&names, &n);
    let head = heads.iter().map(|name| view! { <th scope="col"><span>{name.clone()}</span></th> }).collect_view();
    let row = |(a, (name, cells)): (usize, (String, Vec<Option<f64>>))| {
        let cell = |(b, value): (usize, Option<f64>)| {
            let of = n.get(a).and_then(|row| row.get(b)).copied().unwrap_or_default();
            let title = format!("{name} with {}: of {of} conversations", heads.get(b).cloned().unwrap_or_default());
            view! {
                <td class=format!("number {}", shade(value)) title=title>
                    {value.map_or_else(|| "–".to_owned(), |value| format!("{value:.2}"))}
                </td>
            }
        };
        let cells = cells.into_iter().enumerate().map(cell).collect_view();
        view! {
            <tr>
                <th scope="row">{name.clone()}</th>
                {cells}
            </tr>
        }
    };
    view! {
        <div class="scrolls whole" tabindex="0" role="region" aria-label=label>
            <table class="matrix">
                <caption class="muted">{label}</caption>
                <thead>
                    <tr>
                        <td></td>
                        {head}
                    </tr>
                </thead>
                <tbody>{names.clone().into_iter().zip(cells).enumerate().map(row).collect_view()}</tbody>
            </table>
        </div>
        <Counts counts />
    }
}

/// Of how many conversations each number is, for those who cannot point at it.
#[component]
fn Counts(counts: Vec<(String, u64)>) -> impl IntoView {
    let (first, all) = (FirstRows::new(), counts.len());
    let row = |(pair, n): (String, u64)| {
        view! {
            <tr>
                <th scope="row">{pair}</th>
                <td class="number">{n.to_string()}</td>
            </tr>
        }
    };
    view! {
        <details>
            <summary>"Of how many conversations"</summary>
            <div class="scrolls" tabindex="0" role="region" aria-label="Number of conversations for each correlation">
                <table class="figures">
                    <thead>
                        <tr>
                            <th scope="col">"Scores"</th>
                            <th scope="col">"Conversations"</th>
                        </tr>
                    </thead>
                    <tbody>{first.rows(counts, row)}</tbody>
                </table>
                <MoreRows first all=Signal::stored(all) />
            </div>
        </details>
    }
}

/// Each two of the names once, in their order.
fn counts(names: &[String], n: &[Vec<u64>]) -> Vec<(String, u64)> {
    let named = names.iter().enumerate();
    let pairs =
        named.flat_map(|(a, one)| names.iter().enumerate().skip(a + 1).map(move |(b, other)| (a, b, one, other)));
    let count = |a: usize, b: usize| n.get(a).and_then(|row| row.get(b)).copied().unwrap_or_default();
    pairs.map(|(a, b, one, other)| (format!("{one} with {other}"), count(a, b))).collect()
}

/// The class of a cell: from `minus-5` over `none` to `plus-5`.
pub fn shade(value: Option<f64>) -> String {
    let Some(value) = value.filter(|value| value.is_finite()) else { return "unknown".to_owned() };
    let strength = (value.abs().min(1.0) * SHADES).round();
    match strength {
        0.0 => "none".to_owned(),
        _ => format!("{}-{strength}", if value < 0.0 { "minus" } else { "plus" }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_two_are_counted_once() {
        let names = ["Goal", "Tone", "Style"].map(str::to_owned);
        let n = [vec![9, 8, 7], vec![8, 9, 6], vec![7, 6, 9]];
        let expected = [("Goal with Tone", 8), ("Goal with Style", 7), ("Tone with Style", 6)];
        assert_eq!(counts(&names, &n), expected.map(|(pair, n)| (pair.to_owned(), n)));
    }

    #[test]
    fn the_stronger_the_darker() {
        let all = [Some(-1.0), Some(-0.3), Some(0.05), Some(0.5), Some(1.2), None, Some(f64::NAN)].map(shade);
        assert_eq!(all, ["minus-5", "minus-2", "none", "plus-3", "plus-5", "unknown", "unknown"]);
    }
}
