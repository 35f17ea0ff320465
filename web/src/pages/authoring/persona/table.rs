//! What two profiles say of each dimension.

use std::sync::Arc;

use domain::persona::{PersonaModel, Spread};
use leptos::prelude::*;
use serde_json::Value;

use super::dimensions::{Profile, of_emotion, of_trait};
use super::plot::Plot;
use crate::pages::authoring::draft::Draft;
use crate::pages::authoring::words::option as option_words;
use ui::format;
use ui::labels::words;

/// From here on two means are told apart at a glance.
const FAR: f64 = 0.2;

#[component]
pub fn Table(other: Arc<Value>, name: String, model: Arc<PersonaModel>) -> impl IntoView {
    let draft = Draft::here();
    let own = Profile::of(draft);
    let (sigma, breakpoints) = (model.sigma, model.breakpoints);
    let traits = model.traits.keys().cloned().map(|name| {
        let (shown, theirs) = (words(&name), of_trait(&other, &name, sigma));
        let ours = Signal::derive(move || of_trait(&own.value.read(), &name, sigma));
        view! { <Row name=shown ours theirs breakpoints /> }
    });
    let traits = traits.collect_view();
    let emotions = model.emotions.keys().cloned().map(|name| {
        let (shown, theirs) = (words(&name), of_emotion(&other, &name));
        let ours = Signal::derive(move || of_emotion(&own.value.read(), &name));
        view! { <Row name=shown ours theirs breakpoints /> }
    });
    let emotions = emotions.collect_view();
    let attributes = model.demographics.keys().cloned().map(|name| {
        let (shown, theirs) = (words(&name), mixture(&other["demographics"][name.as_str()]));
        let ours = move || mixture(&own.value.read()["demographics"][name.as_str()]);
        view! {
            <tr>
                <th scope="row">{shown}</th>
                <td>{ours}</td>
                <td>{theirs}</td>
                <td></td>
                <td></td>
            </tr>
        }
    });
    let attributes = attributes.collect_view();
    view! {
        <div class="wide" role="region" tabindex="0" aria-label="Comparison">
            <table class="plain comparison">
                <thead>
                    <tr>
                        <th scope="col">"Dimension"</th>
                        <th scope="col">{draft.name()}</th>
                        <th scope="col">{name}</th>
                        <th scope="col" class="number">
                            "Difference"
                        </th>
                        <th scope="col">"This profile is filled, the other is a line"</th>
                    </tr>
                </thead>
                <tbody>{traits} {emotions} {attributes}</tbody>
            </table>
        </div>
    }
}

#[component]
fn Row(name: String, ours: Signal<Option<Spread>>, theirs: Option<Spread>, breakpoints: [f64; 2]) -> impl IntoView {
    let difference = Memo::new(move |_| Some(ours.get()?.middle() - theirs?.middle()));
    let far = move || difference.get().is_some_and(|difference| difference.abs() >= FAR);
    let shown = move || difference.get().map(|difference| format!("{difference:+.2}")).unwrap_or_default();
    let plot = match theirs {
        Some(second) => view! { <Plot first=ours second breakpoints /> }.into_any(),
        None => view! { <Plot first=ours breakpoints /> }.into_any(),
    };
    view! {
        <tr class:far=far>
            <th scope="row">{name}</th>
            <td>{move || spread_text(ours.get())}</td>
            <td>{spread_text(theirs)}</td>
            <td class="number">{shown}</td>
            <td>{plot}</td>
        </tr>
    }
}

fn spread_text(spread: Option<Spread>) -> String {
    match spread {
        None => "missing".to_owned(),
        Some(Spread::Normal { base, .. }) => format!("{base:.2}"),
        Some(Spread::Uniform { low, high }) => format!("{low:.2} to {high:.2}"),
    }
}

/// "fluent 70 %, basic 30 %", the likeliest first.
fn mixture(weights: &Value) -> String {
    let weight = |(option, weight): (&String, &Value)| Some((weight.as_f64()?, option_words(option)));
    let mut weights: Vec<(f64, String)> = weights.as_object().into_iter().flatten().filter_map(weight).collect();
    weights.sort_by(|a, b| b.0.total_cmp(&a.0));
    let all: f64 = weights.iter().map(|(weight, _)| weight).sum();
    let one = |(weight, option): &(f64, String)| format!("{option} {}", format::percent(weight / all));
    weights.iter().map(one).collect::<Vec<_>>().join(", ")
}
