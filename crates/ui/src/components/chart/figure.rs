//! What stands around every chart: its name, what it shows, and its figures.

use leptos::prelude::*;

use crate::components::{FirstRows, MoreRows};

#[component]
pub fn Figure(
    #[prop(into)] title: String,
    /// What it shows, for those who do not see it and those who wonder.
    #[prop(into)]
    about: String,
    /// Heads of the table's columns.
    head: Vec<String>,
    rows: Vec<Vec<String>>,
    children: Children,
) -> impl IntoView {
    let column = |name: String| view! { <th scope="col">{name}</th> };
    let row = |cells: Vec<String>| {
        let mut cells = cells.into_iter();
        let first = cells.next();
        view! {
            <tr>
                <th scope="row">{first}</th>
                {cells.map(|cell| view! { <td class="number">{cell}</td> }).collect_view()}
            </tr>
        }
    };
    let (first, all) = (FirstRows::new(), rows.len());
    let named = format!("Figures: {title}");
    view! {
        <figure class="chart">
            <figcaption>
                <h3>{title}</h3>
                <p class="muted hint">{about}</p>
            </figcaption>
            {children()}
            <details>
                <summary>"Figures"</summary>
                <div class="scrolls" tabindex="0" role="region" aria-label=named>
                    <table class="figures">
                        <thead>
                            <tr>{head.into_iter().map(column).collect_view()}</tr>
                        </thead>
                        <tbody>{first.rows(rows, row)}</tbody>
                    </table>
                    <MoreRows first all=Signal::stored(all) />
                </div>
            </details>
        </figure>
    }
}

/// A number as figures stand in charts.
pub fn figure(value: f64) -> String {
    let digits = if value.abs() < 10.0 { 2 } else { 1 };
    let text = format!("{value:.digits$}");
    if text.trim_start_matches('-').chars().all(|c| matches!(c, '0' | '.')) { "0".to_owned() } else { text }
}

/// With its sign.
pub fn signed(value: f64) -> String {
    let text = figure(value);
    if value > 0.0 && text != "0" { format!("+{text}") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_short_and_nothing_is_less_than_nothing() {
        assert_eq!([0.0, -0.001, 7.254, 123.45].map(figure), ["0", "0", "7.25", "123.5"]);
        assert_eq!([0.0, 0.5, -0.5].map(signed), ["0", "+0.50", "-0.50"]);
    }
}
