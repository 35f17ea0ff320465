//! Where the values of an answer come from, and those that a call wrote.

use domain::api::trials::TracedValue;
use domain::origin::Origin;
use leptos::prelude::*;

use ui::components::WrittenBy;

/// Rows that are shown before somebody asks for all.
const FIRST: usize = 50;

#[component]
pub fn Values(
    heading: &'static str,
    values: Vec<TracedValue>,
    /// How a call is named by its event.
    call: Callback<u32, String>,
) -> impl IntoView {
    if values.is_empty() {
        return ().into_any();
    }
    let (all, many) = (RwSignal::new(false), values.len());
    let summary = counted(&values);
    let values = StoredValue::new(values);
    let rows = move || {
        let shown = if all.get() { many } else { FIRST.min(many) };
        values.with_value(|values| values[..shown].iter().cloned().map(|value| row(value, call)).collect_view())
    };
    view! {
        <details class="origin">
            <summary>{heading} " " <span class="muted">{summary}</span></summary>
            <table class="plain">
                <thead>
                    <tr>
                        <th scope="col">"Place"</th>
                        <th scope="col">"Value"</th>
                        <th scope="col">"Comes from"</th>
                    </tr>
                </thead>
                <tbody>{rows}</tbody>
            </table>
            <Show when=move || { many > FIRST && !all.get() }>
                <button type="button" class="small" on:click=move |_| all.set(true)>
                    {format!("Show all {many}")}
                </button>
            </Show>
        </details>
    }
    .into_any()
}

fn row(value: TracedValue, call: Callback<u32, String>) -> impl IntoView {
    let TracedValue { pointer, value, origin, written_by } = value;
    let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let place = if pointer.is_empty() { "the text".to_owned() } else { pointer };
    let from = match origin {
        Origin::World { pointer, others } => {
            let others = match others {
                0 => ". ".to_owned(),
                1 => " (or another place that holds the same). ".to_owned(),
                some => format!(" (or one of {some} other places that hold the same). "),
            };
            view! { "The world, " <code>{pointer}</code> {others} <WrittenBy writer=written_by place=call /> }
                .into_any()
        }
        Origin::Argument { pointer } => view! { "The call's argument " <code>{pointer}</code> "." }.into_any(),
        other => sentence(&other).into_any(),
    };
    view! {
        <tr>
            <th scope="row">
                <code>{place}</code>
            </th>
            <td class="text" dir="auto">
                {value}
            </td>
            <td>{from}</td>
        </tr>
    }
}

fn sentence(origin: &Origin) -> &'static str {
    match origin {
        Origin::World { .. } => "The world.",
        Origin::Argument { .. } => "The call's arguments.",
        Origin::Clock => "The clock of the scenario, or of the playbook.",
        Origin::FreshId => "A new id, made from the seed.",
        Origin::Playbook => "The playbook: the tool always gives this answer.",
        Origin::Function => "Made by the tool's function.",
        Origin::Model => "Said by the model.",
        Origin::Service => "Said by the service's stand-in: the tool's `scripted` template.",
    }
}

/// "3 from the world, 1 from the call".
fn counted(values: &[TracedValue]) -> String {
    type OriginTest = fn(&Origin) -> bool;
    let kinds: [(&str, OriginTest); 8] = [
        ("from the world", |origin| matches!(origin, Origin::World { .. })),
        ("from the call", |origin| matches!(origin, Origin::Argument { .. })),
        ("from the clock", |origin| *origin == Origin::Clock),
        ("new", |origin| *origin == Origin::FreshId),
        ("from the playbook", |origin| *origin == Origin::Playbook),
        ("made by the function", |origin| *origin == Origin::Function),
        ("said by the model", |origin| *origin == Origin::Model),
        ("said by the service's stand-in", |origin| *origin == Origin::Service),
    ];
    let told = kinds.iter().filter_map(|(name, is)| {
        let many = values.iter().filter(|value| is(&value.origin)).count();
        (many > 0).then(|| format!("{many} {name}"))
    });
    told.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn origins_are_counted_by_kind() {
        let world = || Origin::World { pointer: "/a".to_owned(), others: 0 };
        let values: Vec<TracedValue> = [Origin::Clock, world(), Origin::Function, world()]
            .map(|origin| TracedValue { pointer: String::new(), value: Value::Null, origin, written_by: None })
            .into();
        assert_eq!(counted(&values), "2 from the world, 1 from the clock, 1 made by the function");
        assert_eq!(counted(&[]), "");
    }
}
