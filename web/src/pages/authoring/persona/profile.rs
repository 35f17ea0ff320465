//! A profile as sliders: each change is written into its text at once.

use std::sync::Arc;

use domain::persona::{PersonaModel, Spread};
use leptos::prelude::*;
use serde_json::json;

use super::dimensions::{Profile, base, emotion_pointer, of_emotion, of_trait, range, rounded, trait_pointer};
use super::mixture::Mixture;
use super::model::with_model;
use super::plot::{Plot, description};
use super::sample::Sample;
use super::slider::Slider;
use crate::pages::authoring::draft::Draft;
use ui::labels::words;

#[component]
pub fn ProfilePanel() -> impl IntoView {
    let profile = Profile::of(Draft::here());
    view! {
        <Show when=move || !profile.readable.get()>
            <p class="refusal" role="alert">
                "The source cannot be read, so nothing can be set here. Its problems are listed below the source."
            </p>
        </Show>
        {with_model(move |model| view! { <Sliders profile model /> })}
    }
}

#[component]
fn Sliders(profile: Profile, model: Arc<PersonaModel>) -> impl IntoView {
    let (sigma, breakpoints) = (model.sigma, model.breakpoints);
    let traits: Vec<String> = model.traits.keys().cloned().collect();
    let emotions: Vec<String> = model.emotions.keys().cloned().collect();
    let attributes = model.demographics.clone();
    let about = format!(
        "Base values. Each persona is drawn around them with sigma {sigma} and clipped to 0 and 1; \
         lines separate low, medium and high."
    );
    let trait_row = move |name: String| view! { <Trait profile name sigma breakpoints /> };
    let emotion_row = move |name: String| view! { <Emotion profile name breakpoints /> };
    view! {
        <div class="profile">
            <div class="dimensions">
                <section class="panel" aria-labelledby="traits">
                    <h2 id="traits">"Behaviour"</h2>
                    <p class="muted">{about}</p>
                    {traits.into_iter().map(trait_row).collect_view()}
                </section>
                <section class="panel" aria-labelledby="emotions">
                    <h2 id="emotions">"Emotions"</h2>
                    <p class="muted">"The range from which each persona starts, before the intent shifts it."</p>
                    {emotions.into_iter().map(emotion_row).collect_view()}
                </section>
                <section class="panel" aria-labelledby="attributes">
                    <h2 id="attributes">"Demographics"</h2>
                    <div class="fields">
                        {attributes
                            .into_iter()
                            .map(|(name, options)| view! { <Mixture profile name options /> })
                            .collect_view()}
                    </div>
                </section>
            </div>
            <Sample profile model />
        </div>
    }
}

#[component]
fn Trait(profile: Profile, name: String, sigma: f64, breakpoints: [f64; 2]) -> impl IntoView {
    let label = words(&name);
    let name = StoredValue::new(name);
    let value = Memo::new(move |_| name.with_value(|name| base(&profile.value.read(), name)).unwrap_or(0.5));
    let spread = Memo::new(move |_| name.with_value(|name| of_trait(&profile.value.read(), name, sigma)));
    let set = move |value: f64| name.with_value(|name| profile.set(&trait_pointer(name), &json!(rounded(value))));
    view! {
        <div class="dimension">
            <Slider label=label.clone() shown=label value profile set />
            <Spreading spread breakpoints />
        </div>
    }
}

#[component]
fn Emotion(profile: Profile, name: String, breakpoints: [f64; 2]) -> impl IntoView {
    let word = words(&name);
    let name = StoredValue::new(name);
    let ends = Memo::new(move |_| name.with_value(|name| range(&profile.value.read(), name)).unwrap_or([0.3, 0.5]));
    let spread = Memo::new(move |_| name.with_value(|name| of_emotion(&profile.value.read(), name)));
    let set =
        move |ends: [f64; 2]| name.with_value(|name| profile.set(&emotion_pointer(name), &json!(ends.map(rounded))));
    // One end pushes the other before it.
    let low = move |low: f64| set([low, ends.get_untracked()[1].max(low)]);
    let high = move |high: f64| set([ends.get_untracked()[0].min(high), high]);
    let (from, to) = (Signal::derive(move || ends.get()[0]), Signal::derive(move || ends.get()[1]));
    view! {
        <div class="dimension">
            <div>
                <Slider label=format!("{word}, from") shown=format!("{word} from") value=from profile set=low />
                <Slider label=format!("{word}, to") shown="to".to_owned() value=to profile set=high />
            </div>
            <Spreading spread breakpoints />
        </div>
    }
}

#[component]
fn Spreading(spread: Memo<Option<Spread>>, breakpoints: [f64; 2]) -> impl IntoView {
    let says = move || spread.get().map_or_else(|| "missing".to_owned(), |spread| description(spread, breakpoints));
    view! {
        <div class="spreading">
            <Plot first=spread breakpoints />
            <p class="muted" aria-hidden="true">
                {says}
            </p>
        </div>
    }
}
