//! One of many names: written, with suggestions of what fits.

use leptos::prelude::*;

use crate::components::FormField;

/// Suggestions that are there at once; whoever types on has others.
const SHOWN: usize = 50;

#[component]
pub fn Suggest(
    label: &'static str,
    /// Unique in its page.
    id: &'static str,
    names: Vec<String>,
    value: Signal<String>,
    /// Hears of names that there are, and of nothing if nothing may be chosen.
    choose: Callback<String>,
    /// What it stands for that nothing is chosen, if that may be.
    #[prop(optional)]
    none: Option<&'static str>,
) -> impl IntoView {
    let names = StoredValue::new(names);
    let typed = RwSignal::new(String::new());
    let wrong = RwSignal::new(None::<String>);
    Effect::new(move |_| {
        typed.set(value.get());
        wrong.set(None);
    });
    let fitting = Memo::new(move |_| names.with_value(|names| fitting(names, &typed.read(), &value.read())));
    let known = move |text: &String| names.with_value(|names| names.contains(text));
    let decide = move |text: String| {
        let text = text.trim().to_owned();
        if (text.is_empty() && none.is_some()) || known(&text) {
            wrong.set(None);
            choose.run(text);
        } else {
            wrong.set(Some(if text.is_empty() { "Choose one.".to_owned() } else { format!("There is no {text}.") }));
        }
    };
    view! {
        <FormField label wrong>
            <input
                type="search"
                list=id
                autocomplete="off"
                autocapitalize="none"
                spellcheck="false"
                placeholder=none.unwrap_or_default()
                prop:value=typed
                on:input:target=move |event| {
                    let text = event.target().value();
                    typed.set(text.clone());
                    if known(&text) {
                        decide(text);
                    }
                }
                on:change:target=move |event| decide(event.target().value())
            />
            <datalist id=id>
                <For each=move || fitting.get() key=Clone::clone let:name>
                    <option value=name />
                </For>
            </datalist>
        </FormField>
    }
}

/// Names that hold what is typed. What is chosen already narrows nothing: whoever looks for another one sees all.
fn fitting(names: &[String], typed: &str, chosen: &str) -> Vec<String> {
    let typed = if typed == chosen { String::new() } else { typed.trim().to_lowercase() };
    names.iter().filter(|name| name.to_lowercase().contains(&typed)).take(SHOWN).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_typed_narrows_and_what_is_chosen_does_not() {
        let names: Vec<String> = (0..200).map(|i| format!("Case_{i:03}")).collect();
        assert_eq!(fitting(&names, "", "").len(), SHOWN);
        assert_eq!(fitting(&names, " case_19", ""), names[190..]);
        assert_eq!(fitting(&names, "Case_007", "Case_007")[..2], names[..2]);
        assert_eq!(fitting(&names, "nothing", ""), [""; 0]);
    }
}
