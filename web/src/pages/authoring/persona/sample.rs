//! A user as the profile may be drawn now, saved or not, and what whoever plays it is told.

use std::sync::Arc;

use domain::persona::{Persona, PersonaModel, Profile as Definition};
use domain::seed::Seed;
use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::hooks::query_signal_with_options;

use super::dimensions::Profile;
use crate::pages::authoring::words::option as option_words;
use ui::components::{Badge, FormField};
use ui::labels::{Tone, words};

#[component]
pub fn Sample(profile: Profile, model: Arc<PersonaModel>) -> impl IntoView {
    // Each number that is tried is no step on the way back.
    let options = || NavigateOptions { replace: true, scroll: false, ..NavigateOptions::default() };
    let (named_seed, name_seed) = query_signal_with_options::<i64>("seed", options());
    let (named_intent, name_intent) = query_signal_with_options::<String>("intent", options());
    let seed = Memo::new(move |_| named_seed.get().unwrap_or_default());
    let intent = Memo::new(move |_| named_intent.get().unwrap_or_default());
    let intents: Vec<String> = model.intent_deltas.keys().cloned().collect();
    let drawn = Memo::new(move |_| {
        let definition: Definition = serde_json::from_value(profile.value.get()).ok()?;
        let mut generator = Seed::new(seed.get(), &definition.name, 0).rng("persona");
        let persona = model.draw(&definition, &intent.read(), &mut generator);
        let guidance = model.guidance(&persona);
        Some((persona, guidance))
    });
    let option = move |name: String| {
        let (is, says) = (name.clone(), words(&name));
        view! {
            <option value=name prop:selected=move || *intent.read() == is>
                {says}
            </option>
        }
    };
    view! {
        <aside class="panel persona-sample" aria-labelledby="sample">
            <h2 id="sample">"Sample user"</h2>
            <div class="drawing">
                <FormField label="Seed">
                    <input
                        type="number"
                        step="1"
                        prop:value=move || seed.get().to_string()
                        on:input:target=move |event| {
                            if let Ok(value) = event.target().value().parse() {
                                name_seed.set(Some(value));
                            }
                        }
                    />
                </FormField>
                <button type="button" on:click=move |_| name_seed.set(Some(seed.get_untracked().wrapping_add(1)))>
                    "Another"
                </button>
                <FormField label="Intent">
                    <select on:change:target=move |event| name_intent.set(Some(event.target().value()).filter(|name| !name.is_empty()))>
                        <option value="">"none"</option>
                        {intents.into_iter().map(option).collect_view()}
                    </select>
                </FormField>
            </div>
            <div aria-live="polite">
                {move || match drawn.get() {
                    None => {
                        view! { <p class="muted">"No persona can be drawn until the profile's problems are fixed."</p> }
                            .into_any()
                    }
                    Some((persona, guidance)) => view! { <PersonaCard persona guidance /> }.into_any(),
                }}
            </div>
        </aside>
    }
}

#[component]
fn PersonaCard(persona: Persona, guidance: Vec<String>) -> impl IntoView {
    let Persona { demographics, traits, emotions, .. } = persona;
    let attribute = |(_, option): (String, String)| view! { <Badge tone=Tone::Neutral text=option_words(&option) /> };
    let number = |(name, value): (String, f64)| {
        view! {
            <div>
                <dt class="muted">{words(&name)}</dt>
                <dd>{format!("{value:.3}")}</dd>
            </div>
        }
    };
    view! {
        <p class="badges">{demographics.into_iter().map(attribute).collect_view()}</p>
        <dl class="numbers">{traits.into_iter().chain(emotions).map(number).collect_view()}</dl>
        <h3>"Instructions for the model"</h3>
        <ul class="guidance">
            {guidance.into_iter().map(|line| view! { <li class="text">{line}</li> }).collect_view()}
        </ul>
    }
}
