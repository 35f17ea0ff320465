//! A categorical attribute: always the same option, or a mixture of them by weights.

use std::collections::BTreeMap;

use domain::patch::join;
use leptos::prelude::*;
use serde_json::{Map, Value, json};

use super::dimensions::{Profile, rounded};
use super::slider::Slider;
use crate::pages::authoring::words::option as shown;
use ui::format;
use ui::labels::words;

type Weights = BTreeMap<String, f64>;

const WIDTH: f64 = 100.0;
const HEIGHT: f64 = 6.0;
/// Between two parts of the bar.
const GAP: f64 = 0.6;

#[component]
pub fn Mixture(
    profile: Profile,
    name: String,
    /// And what whoever plays the user is told.
    options: BTreeMap<String, String>,
) -> impl IntoView {
    let label = words(&name);
    let attribute = StoredValue::new(name);
    let weights =
        Memo::new(move |_| attribute.with_value(|name| read(&profile.value.read()["demographics"][name.as_str()])));
    // The one option that has a weight; empty: several have.
    let only = Memo::new(move |_| {
        let weights = weights.read();
        let mut some = weights.iter().filter(|(_, weight)| **weight > 0.0).map(|(option, _)| option);
        let first = some.next().cloned().unwrap_or_default();
        if some.next().is_none() { first } else { String::new() }
    });
    let refused = RwSignal::new(false);
    let set = move |weights: Weights| {
        // What has no weight is left out, as people leave it out.
        let some = weights.into_iter().filter(|(_, weight)| *weight > 0.0);
        let some: Map<String, Value> = some.map(|(option, weight)| (option, json!(weight))).collect();
        refused.set(some.is_empty());
        if !some.is_empty() {
            profile.set(&join("/demographics", &attribute.get_value()), &Value::Object(some));
        }
    };
    let names = StoredValue::new(options.keys().cloned().collect::<Vec<_>>());
    let choose = move |option: String| {
        let fits = |name: &String| option.is_empty() || *name == option;
        set(names.get_value().into_iter().filter(fits).map(|name| (name, 1.0)).collect());
    };
    let always = move |option: String| {
        let says = format!("always {}", shown(&option));
        let (value, selected) = (option.clone(), move || *only.read() == option);
        view! {
            <option value=value prop:selected=selected>
                {says}
            </option>
        }
    };
    let row = move |(option, guidance): (String, String)| {
        let shown = shown(&option);
        let option = StoredValue::new(option);
        let weight = Memo::new(move |_| option.with_value(|option| weights.read().get(option).copied()).unwrap_or(0.0));
        let share = Signal::derive(move || {
            let all: f64 = weights.read().values().sum();
            if all > 0.0 { format::percent(weight.get() / all) } else { String::new() }
        });
        let change = move |weight: f64| {
            let mut changed = weights.get_untracked();
            changed.insert(option.get_value(), rounded(weight));
            set(changed);
        };
        view! {
            <div title=guidance>
                <Slider label=format!("Weight of {shown}") shown value=weight says=share profile set=change />
            </div>
        }
    };
    view! {
        <fieldset class="mixture">
            <legend>{label.clone()}</legend>
            <select
                aria-label=label
                disabled=move || !profile.may_write()
                on:change:target=move |event| choose(event.target().value())
            >
                <option value="" prop:selected=move || only.read().is_empty()>
                    "a mixture"
                </option>
                {options.keys().cloned().map(always).collect_view()}
            </select>
            <Shares weights />
            {options.into_iter().map(row).collect_view()}
            <Show when=move || refused.get()>
                <p class="wrong" role="alert">
                    "At least one option needs a weight above 0. Raise another one first."
                </p>
            </Show>
        </fieldset>
    }
}

/// How often each option is drawn: parts of one bar, in the order of the options.
#[component]
fn Shares(weights: Memo<Weights>) -> impl IntoView {
    let parts = Memo::new(move |_| {
        let weights = weights.read();
        let all: f64 = weights.values().sum();
        let mut left = 0.0;
        let part = |(option, weight): (&String, &f64)| {
            let (from, share) = (left, weight / all);
            left += share;
            (option.clone(), from, share)
        };
        weights.iter().filter(|(_, weight)| **weight > 0.0).map(part).collect::<Vec<_>>()
    });
    let says = move || {
        let part = |(option, _, share): &(String, f64, f64)| format!("{} {}", shown(option), format::percent(*share));
        parts.read().iter().map(part).collect::<Vec<_>>().join(", ")
    };
    let bar = |(option, from, share): (String, f64, f64)| {
        let title = format!("{}: {}", shown(&option), format::percent(share));
        view! {
            <rect x=from * WIDTH y="0" width=(share * WIDTH - GAP).max(0.0) height=HEIGHT>
                <title>{title}</title>
            </rect>
        }
    };
    view! {
        <svg
            class="plot shares"
            viewBox=format!("0 0 {WIDTH} {HEIGHT}")
            preserveAspectRatio="none"
            role="img"
            aria-label=says
        >
            {move || parts.get().into_iter().map(bar).collect_view()}
        </svg>
    }
}

fn read(weights: &Value) -> Weights {
    let weight = |(option, weight): (&String, &Value)| Some((option.clone(), weight.as_f64()?));
    weights.as_object().into_iter().flatten().filter_map(weight).collect()
}
