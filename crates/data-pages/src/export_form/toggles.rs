//! What differs from a profile's defaults. Only what the profile can honour is offered.

use std::fmt::Display;

use domain::export::{Arguments, Data, Profile, Reasoning, Shape as Settled, Toggles, ToolsAs};
use domain::verdict::MAX_SCORE;
use leptos::prelude::*;

use super::super::filters::Filters;
use super::super::inputs::{Choice, Number};
use super::query_params::{self, applicable};
use ui::components::Problems;

/// One of the toggles, by the means to change it.
struct Toggle<T: 'static> {
    /// In the address.
    name: &'static str,
    label: &'static str,
    all: &'static [(T, &'static str)],
    put: fn(&mut Toggles, Option<T>),
    get: fn(&Toggles) -> Option<T>,
    settled: fn(&Settled) -> T,
}

const REASONING: Toggle<Reasoning> = Toggle {
    name: "reasoning",
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
    name: "arguments",
    label: "Arguments of calls",
    all: &[(Arguments::String, "JSON text"), (Arguments::Object, "Objects")],
    put: |toggles, to| toggles.arguments = to,
    get: |toggles| toggles.arguments,
    settled: |shape| shape.arguments,
};
const TOOLS: Toggle<ToolsAs> = Toggle {
    name: "tools",
    label: "Descriptions of tools",
    all: &[(ToolsAs::Array, "An array"), (ToolsAs::Json, "JSON text")],
    put: |toggles, to| toggles.tools = to,
    get: |toggles| toggles.tools,
    settled: |shape| shape.tools,
};
const DATA: Toggle<Data> = Toggle {
    name: "data",
    label: "Data files",
    all: &[(Data::Jsonl, "JSON lines"), (Data::Parquet, "Parquet")],
    put: |toggles, to| toggles.data = to,
    get: |toggles| toggles.data,
    settled: |shape| shape.data,
};

#[component]
pub fn Shape(filters: Filters, profile: Memo<Profile>, problems: Problems) -> impl IntoView {
    view! {
        <section class="panel" aria-labelledby="shape">
            <h2 id="shape">"Format"</h2>
            <div class="fields">
                {move || choice(&REASONING, profile.get(), filters, problems.at("/toggles/reasoning"))}
                {move || choice(&ARGUMENTS, profile.get(), filters, problems.at("/toggles/arguments"))}
                {move || choice(&TOOLS, profile.get(), filters, problems.at("/toggles/tools"))}
                {move || choice(&DATA, profile.get(), filters, problems.at("/toggles/data"))}
            </div>
            <Show when=move || profile.get().is_of_pairs()>
                <PairOptions filters problems />
            </Show>
        </section>
    }
}

fn choice<T>(
    toggle: &'static Toggle<T>,
    profile: Profile,
    filters: Filters,
    wrong: Signal<Option<String>>,
) -> impl IntoView
where
    T: Copy + PartialEq + Display + Send + Sync + 'static,
{
    let offered = toggle.all.iter().filter(|(value, _)| {
        let mut only = Toggles::default();
        (toggle.put)(&mut only, Some(*value));
        profile.settle(&only).is_ok()
    });
    let options: Vec<(String, String)> = offered.map(|(value, says)| (value.to_string(), (*says).to_owned())).collect();
    let value = Signal::derive(move || {
        let chosen = (toggle.get)(&applicable(profile, query_params::toggles(&filters.params.read())));
        let default = || profile.settle(&Toggles::default()).ok().map(|shape| (toggle.settled)(&shape));
        chosen.or_else(default).map(|value| value.to_string()).unwrap_or_default()
    });
    let change = Callback::new(move |to: String| filters.choose(|params| params.with(toggle.name, Some(to))));
    view! { <Choice label=toggle.label options value change wrong /> }
}

/// When one answer is preferred to another.
#[component]
fn PairOptions(filters: Filters, problems: Problems) -> impl IntoView {
    let pairs = Memo::new(move |_| query_params::pairs(&filters.params.read()));
    let score = Signal::derive(move || pairs.read().score.to_string());
    let choose = Callback::new(move |to: String| filters.choose(|params| params.with("score", Some(to))));
    let part = Callback::new(move |margin: Option<f64>| {
        // A field that was emptied asks for any difference.
        let margin = margin.unwrap_or_default().to_string();
        filters.choose(|params| params.with("margin", Some(margin)));
    });
    let options = [("overall", "The judge's overall score"), ("weighted_mean", "The weighted mean of its criteria")];
    view! {
        <div class="fields">
            <Choice
                label="Compare by"
                options=options.map(|(key, says)| (key.to_owned(), says.to_owned()))
                value=score
                change=choose
            />
            <Number
                label="Minimum difference"
                hint="0 to 10; with 0 any difference is enough."
                value=Signal::derive(move || Some(pairs.read().margin))
                change=part
                max=f64::from(MAX_SCORE)
                step=0.5
                wrong=problems.at("/pairs/margin")
            />
        </div>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_profile_cannot_honour_falls_back_to_its_default() {
        let toggles = Toggles { reasoning: Some(Reasoning::Keep), data: Some(Data::Parquet), ..Toggles::default() };
        assert_eq!(applicable(Profile::Openai, toggles), Toggles::default());
        assert_eq!(applicable(Profile::Huggingface, toggles), toggles);
    }
}
