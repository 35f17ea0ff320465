//! What differs from a profile's defaults. Only what the profile can honour is offered.

use domain::export::{Arguments, Data, PairRule, Profile, Reasoning, Score, Shape as Settled, Toggles, ToolsAs};
use leptos::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::super::inputs::{Choice, Number};
use crate::components::Problems;

/// One of the toggles, by the means to change it.
struct Toggle<T: 'static> {
    label: &'static str,
    all: &'static [(T, &'static str)],
    put: fn(&mut Toggles, Option<T>),
    get: fn(&Toggles) -> Option<T>,
    settled: fn(&Settled) -> T,
}

const REASONING: Toggle<Reasoning> = Toggle {
    label: "Reasoning",
    all: &[
        (Reasoning::Keep, "In reasoning_content"),
        (Reasoning::Inline, "In <think> before the content"),
        (Reasoning::Drop, "Left out"),
    ],
    put: |toggles, to| toggles.reasoning = to,
    get: |toggles| toggles.reasoning,
    settled: |shape| shape.reasoning,
};
const ARGUMENTS: Toggle<Arguments> = Toggle {
    label: "Arguments of calls",
    all: &[(Arguments::String, "JSON text"), (Arguments::Object, "Objects")],
    put: |toggles, to| toggles.arguments = to,
    get: |toggles| toggles.arguments,
    settled: |shape| shape.arguments,
};
const TOOLS: Toggle<ToolsAs> = Toggle {
    label: "Descriptions of tools",
    all: &[(ToolsAs::Array, "An array"), (ToolsAs::Json, "JSON text")],
    put: |toggles, to| toggles.tools = to,
    get: |toggles| toggles.tools,
    settled: |shape| shape.tools,
};
const DATA: Toggle<Data> = Toggle {
    label: "Data files",
    all: &[(Data::Jsonl, "JSON lines"), (Data::Parquet, "Parquet")],
    put: |toggles, to| toggles.data = to,
    get: |toggles| toggles.data,
    settled: |shape| shape.data,
};

/// The toggles that a profile can honour; the others are its defaults.
pub fn kept(profile: Profile, toggles: Toggles) -> Toggles {
    let mut kept = Toggles::default();
    let mut take = |one: Toggles, into: fn(&mut Toggles, &Toggles)| {
        if profile.settle(&one).is_ok() {
            into(&mut kept, &one);
        }
    };
    take(Toggles { reasoning: toggles.reasoning, ..Toggles::default() }, |kept, one| kept.reasoning = one.reasoning);
    take(Toggles { arguments: toggles.arguments, ..Toggles::default() }, |kept, one| kept.arguments = one.arguments);
    take(Toggles { tools: toggles.tools, ..Toggles::default() }, |kept, one| kept.tools = one.tools);
    take(Toggles { data: toggles.data, ..Toggles::default() }, |kept, one| kept.data = one.data);
    kept
}

#[component]
pub fn Shape(
    profile: Memo<Profile>,
    toggles: RwSignal<Toggles>,
    pairs: RwSignal<PairRule>,
    problems: Problems,
) -> impl IntoView {
    view! {
        <section class="panel" aria-labelledby="shape">
            <h2 id="shape">"In which shape"</h2>
            <div class="fields">
                {move || choice(&REASONING, profile.get(), toggles, problems.at("/toggles/reasoning"))}
                {move || choice(&ARGUMENTS, profile.get(), toggles, problems.at("/toggles/arguments"))}
                {move || choice(&TOOLS, profile.get(), toggles, problems.at("/toggles/tools"))}
                {move || choice(&DATA, profile.get(), toggles, problems.at("/toggles/data"))}
            </div>
            <Show when=move || profile.get().is_of_pairs()>
                <Pairing pairs problems />
            </Show>
        </section>
    }
}

fn choice<T>(
    toggle: &'static Toggle<T>,
    profile: Profile,
    toggles: RwSignal<Toggles>,
    wrong: Signal<Option<String>>,
) -> impl IntoView
where
    T: Copy + PartialEq + Serialize + DeserializeOwned + Send + Sync + 'static,
{
    let offered = toggle.all.iter().filter(|(value, _)| {
        let mut only = Toggles::default();
        (toggle.put)(&mut only, Some(*value));
        profile.settle(&only).is_ok()
    });
    let options: Vec<(String, String)> = offered.map(|(value, says)| (word(value), (*says).to_owned())).collect();
    let value = Signal::derive(move || {
        let chosen = (toggle.get)(&kept(profile, toggles.get()));
        let default = || profile.settle(&Toggles::default()).ok().map(|shape| (toggle.settled)(&shape));
        chosen.or_else(default).map(|value| word(&value)).unwrap_or_default()
    });
    let change = Callback::new(move |to: String| {
        let to: Option<T> = serde_json::from_value(to.into()).ok();
        toggles.update(|toggles| (toggle.put)(toggles, to));
    });
    view! { <Choice label=toggle.label options value change wrong /> }
}

/// When one answer is preferred to another.
#[component]
fn Pairing(pairs: RwSignal<PairRule>, problems: Problems) -> impl IntoView {
    let score = Signal::derive(move || word(&pairs.read().score));
    let choose = Callback::new(move |to: String| {
        if let Ok(score) = serde_json::from_value::<Score>(to.into()) {
            pairs.update(|pairs| pairs.score = score);
        }
    });
    let options = [("overall", "The judge's overall score"), ("weighted_mean", "The weighted mean of its criteria")];
    view! {
        <div class="fields">
            <Choice
                label="Preferred by"
                options=options.map(|(key, says)| (key.to_owned(), says.to_owned()))
                value=score
                change=choose
            />
            <Number
                label="By at least"
                hint="0 to 10; with 0 any difference is enough."
                value=Signal::derive(move || Some(pairs.read().margin))
                change=Callback::new(move |margin: Option<f64>| pairs.update(|pairs| pairs.margin = margin.unwrap_or_default()))
                max=10.0
                step=0.5
                wrong=problems.at("/pairs/margin")
            />
        </div>
    }
}

/// As documents write it.
fn word(choice: &impl Serialize) -> String {
    serde_json::to_value(choice).ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_profile_cannot_honour_falls_back_to_its_default() {
        let toggles = Toggles { reasoning: Some(Reasoning::Keep), data: Some(Data::Parquet), ..Toggles::default() };
        assert_eq!(kept(Profile::Openai, toggles), Toggles::default());
        assert_eq!(kept(Profile::Huggingface, toggles), toggles);
    }
}
