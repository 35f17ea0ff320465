//! The form as it stands in the address, so that a link, a reload and the browser's way back know it. What is as usual is
//! left out.

use std::collections::BTreeSet;

use domain::role::Role;
use leptos::prelude::*;
use leptos::reactive::owner::WeakOwner;
use leptos_router::NavigateOptions;
use leptos_router::hooks::{use_location, use_navigate};

use super::draft::{Draft, Fault, SCRIPTED};
use ui::address;

/// A name, and one of its values.
type Pair = (String, String);
/// A parameter, what it is of the form, and what it usually is.
type Text = (String, RwSignal<String>, &'static str);

const SCENARIO: &str = "scenario";
const SUB_AGENT: &str = "sub_agent";
const FAULT: &str = "fault";
/// Servers and what stands before them take no address that is much longer.
const LONGEST: usize = 8_000;

/// Keeps the form and the address the same, from now on. The address goes first: somebody followed it, or went back to it.
pub fn sync(draft: Draft) {
    let (location, navigate) = (use_location(), use_navigate());
    let own = location.pathname.get_untracked();
    // The last word of a page that is left is not about the next one's address.
    let path = StoredValue::new(own);
    let here = move || path.with_value(|own| *own == *location.pathname.read_untracked());
    let now = Memo::new(move |_| in_address(write(draft)));
    // What was written into the address and was not seen there yet: a form may be a letter ahead of it.
    let sent = StoredValue::new(Vec::<String>::new());
    let taken = StoredValue::new(None::<Vec<Pair>>);
    // Faults that the address names are the form's: an effect's own would go when it runs again.
    let form = Owner::current().as_ref().map(Owner::downgrade);
    Effect::new(move |_| {
        let pairs = address::pairs(&location.search.read());
        if !here() || came_back(sent, &address::query(&pairs)) || pairs == now.get_untracked() {
            return;
        }
        if let Some(form) = form.as_ref().and_then(WeakOwner::upgrade) {
            form.with(|| take(draft, &pairs));
        }
        taken.set_value(Some(now.get_untracked()));
    });
    Effect::new(move |last: Option<(Vec<Pair>, Vec<String>)>| {
        let pairs = now.get();
        let from_address = taken.try_update_value(Option::take).flatten().as_ref() == Some(&pairs);
        let (before, changed_before) = last.unwrap_or_else(|| (pairs.clone(), Vec::new()));
        let changed = changed(&before, &pairs);
        if from_address || changed.is_empty() || !here() {
            return (pairs, Vec::new());
        }
        let replace = changed == changed_before && changed.iter().all(|name| is_typed(name));
        let query = address::query(&pairs);
        let to = format!("{}{query}", path.get_value());
        sent.update_value(|sent| sent.push(query));
        navigate(&to, NavigateOptions { scroll: false, replace, ..NavigateOptions::default() });
        (pairs, changed)
    });
}

/// Whether an address is one that the form wrote, and is now seen. What was written before it was passed over.
fn came_back(sent: StoredValue<Vec<String>>, query: &str) -> bool {
    let seen = |sent: &mut Vec<String>| match sent.iter().position(|own| own == query) {
        Some(at) => sent.drain(..=at).count() > 0,
        None => false,
    };
    sent.try_update_value(seen).unwrap_or(false)
}

/// The form without what no address can hold: of many scenarios the page alone knows which.
fn in_address(mut pairs: Vec<Pair>) -> Vec<Pair> {
    let length: usize = pairs.iter().map(|(name, value)| name.len() + value.len() + 2).sum();
    if length > LONGEST {
        pairs.retain(|(name, _)| name != SCENARIO);
    }
    pairs
}

/// Names of what one of them says differently.
fn changed(before: &[Pair], now: &[Pair]) -> Vec<String> {
    let names: BTreeSet<&String> = before.iter().chain(now).map(|(name, _)| name).collect();
    let differs = |name: &&String| !all(before, name).eq(all(now, name));
    names.into_iter().filter(differs).cloned().collect()
}

fn all<'a>(pairs: &'a [Pair], name: &'a str) -> impl Iterator<Item = &'a String> {
    pairs.iter().filter(move |(own, _)| own == name).map(|(_, value)| value)
}

/// What is typed a letter at a time: the way back takes it away as a whole. All else is chosen.
fn is_typed(name: &str) -> bool {
    let chosen = ["criteria_apart", "paused", "every_scenario", "agent_style", "user_style", "variant", SUB_AGENT];
    let names = ["playbook", SCENARIO, "persona", "panel", "family", "tag"];
    !chosen.contains(&name) && !names.contains(&name) && !name.starts_with("model_")
}

fn texts(draft: Draft) -> Vec<Text> {
    let single = [
        ("search", draft.search, ""),
        ("family", draft.family, ""),
        ("tag", draft.tag, ""),
        ("solved_in", draft.solved_in, ""),
        ("solved_from", draft.solved_from, ""),
        ("solved_to", draft.solved_to, ""),
        ("n", draft.n, "24"),
        ("samples", draft.samples, ""),
        ("seed", draft.seed, "1"),
        ("agent_style", draft.agent_style, ""),
        ("user_style", draft.user_style, ""),
        ("variant", draft.variant, ""),
        ("tokens", draft.tokens, ""),
        ("money", draft.money, ""),
        ("conversations", draft.conversations, ""),
        ("minutes", draft.minutes, ""),
        ("priority", draft.priority, ""),
        ("max_in_flight", draft.max_in_flight, ""),
        ("retries", draft.retries, ""),
        ("forecast", draft.forecast, ""),
    ];
    let of_role = |what: &str, role: Role| format!("{what}_{role}");
    let parts = draft.parts.into_iter().flat_map(|part| {
        [
            (of_role("model", part.role), part.model, SCRIPTED),
            (of_role("temperature", part.role), part.temperature, ""),
            (of_role("max_tokens", part.role), part.max_tokens, ""),
        ]
    });
    let mix = draft.complexity.into_iter().map(|(name, weight)| (format!("complexity_{name}"), weight, ""));
    single.into_iter().map(|(name, text, usual)| (name.to_owned(), text, usual)).chain(parts).chain(mix).collect()
}

fn names(draft: Draft) -> [(&'static str, RwSignal<BTreeSet<String>>); 4] {
    [("playbook", draft.playbooks), (SCENARIO, draft.scenarios), ("persona", draft.personas), ("panel", draft.panel)]
}

/// Also what it usually is.
fn flags(draft: Draft) -> [(&'static str, RwSignal<bool>, bool); 3] {
    [
        ("every_scenario", draft.every_scenario, true),
        ("criteria_apart", draft.criteria_apart, false),
        ("paused", draft.paused, false),
    ]
}

/// All that is not as usual.
fn write(draft: Draft) -> Vec<Pair> {
    let mut pairs = Vec::new();
    for (name, chosen) in names(draft) {
        pairs.extend(chosen.get().into_iter().map(|one| (name.to_owned(), one)));
    }
    for (name, flag, usual) in flags(draft) {
        pairs.extend((flag.get() != usual).then(|| (name.to_owned(), (!usual).to_string())));
    }
    for (name, text, usual) in texts(draft) {
        let text = text.get();
        pairs.extend((text != usual).then_some((name, text)));
    }
    let models = draft.sub_agents.get().into_iter();
    pairs.extend(models.map(|(name, model)| (SUB_AGENT.to_owned(), format!("{name}:{model}"))));
    pairs.extend(draft.faults.get().into_iter().map(|fault| (FAULT.to_owned(), fault.to_text())));
    pairs
}

/// Makes the form what an address says; what it does not name is as usual.
fn take(draft: Draft, pairs: &[Pair]) {
    let one = |name: &str| all(pairs, name).next().cloned();
    for (name, flag, usual) in flags(draft) {
        put(flag, one(name).and_then(|value| value.parse().ok()).unwrap_or(usual));
    }
    for (name, chosen) in names(draft) {
        let named: BTreeSet<String> = all(pairs, name).cloned().collect();
        // An address that had no room for the scenarios leaves them as they are.
        if name != SCENARIO || draft.every_scenario.get_untracked() || !named.is_empty() {
            put(chosen, named);
        }
    }
    for (name, text, usual) in texts(draft) {
        put(text, one(&name).unwrap_or_else(|| usual.to_owned()));
    }
    let pair = |text: &String| text.split_once(':').map(|(name, model)| (name.to_owned(), model.to_owned()));
    put(draft.sub_agents, all(pairs, SUB_AGENT).filter_map(pair).collect());
    let faults = draft.faults.get_untracked();
    if !faults.iter().map(|fault| untrack(|| fault.to_text())).eq(all(pairs, FAULT).cloned()) {
        draft.faults.set(all(pairs, FAULT).map(|text| Fault::from_text(draft.next_fault(), text)).collect());
    }
}

/// What says the same makes nobody look again.
fn put<T: PartialEq + Send + Sync + 'static>(signal: RwSignal<T>, to: T) {
    if signal.with_untracked(|now| *now != to) {
        signal.set(to);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(all: &[(&str, &str)]) -> Vec<Pair> {
        all.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn a_form_is_written_as_it_is_read() {
        Owner::new().with(|| {
            let draft = Draft::new();
            assert_eq!(write(draft), pairs(&[]), "the usual is left out");
            let all = pairs(&[
                ("playbook", "retail_bank"),
                ("scenario", "a"),
                ("scenario", "b"),
                ("every_scenario", "false"),
                ("paused", "true"),
                ("search", "card"),
                ("family", "dispute"),
                ("solved_in", "some-run"),
                ("solved_to", "0.8"),
                ("n", ""),
                ("samples", "8"),
                ("seed", "7"),
                ("model_agent", "house"),
                ("temperature_agent", "0.3"),
                ("complexity_vague", "2.5"),
                ("sub_agent", "finance:house"),
                ("fault", "timeout:calls:1, 2:get_card,get_account"),
                ("fault", "outage:chance:0.2:"),
            ]);
            take(draft, &all);
            assert_eq!(write(draft), all);
            take(draft, &pairs(&[("n", "9")]));
            assert_eq!(write(draft), pairs(&[("n", "9")]), "what is not named is as usual again");
        });
    }

    #[test]
    fn only_typing_on_in_one_field_is_one_step() {
        let before = pairs(&[("playbook", "a"), ("playbook", "b"), ("n", "1")]);
        let now = pairs(&[("playbook", "a"), ("n", "12"), ("seed", "2")]);
        assert_eq!(changed(&before, &now), ["n", "playbook", "seed"]);
        assert_eq!(["n", "temperature_agent", "fault", "complexity_vague"].map(is_typed), [true; 4]);
        assert_eq!(["playbook", "model_agent", "paused", "sub_agent"].map(is_typed), [false; 4]);
    }

    #[test]
    fn too_many_scenarios_are_kept_by_the_page_alone() {
        let many: Vec<Pair> = (0..1_000).map(|i| (SCENARIO.to_owned(), format!("scenario_{i}"))).collect();
        assert_eq!(in_address([many, pairs(&[("n", "9")])].concat()), pairs(&[("n", "9")]));
    }
}
