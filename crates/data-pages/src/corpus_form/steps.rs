//! What becomes of what the filter finds, step after step.

use domain::corpus::{Balance, NEAR, Treatment};
use leptos::prelude::*;

use super::super::inputs::{Choice, Number, Switch, whole};
use super::SelectionParams;
use ui::components::Problems;

#[component]
pub fn Steps(rest: SelectionParams, problems: Problems) -> impl IntoView {
    view! {
        <section class="panel" aria-labelledby="scan">
            <h2 id="scan">"Personal data and secrets"</h2>
            <Scanning rest />
        </section>
        <section class="panel" aria-labelledby="duplicates">
            <h2 id="duplicates">"Duplicates"</h2>
            <DuplicateOptions rest problems />
        </section>
        <section class="panel" aria-labelledby="balance">
            <h2 id="balance">"Balance and size"</h2>
            <Balancing rest problems />
        </section>
        <section class="panel" aria-labelledby="split">
            <h2 id="split">"Golden part"</h2>
            <Splitting rest problems />
        </section>
    }
}

#[component]
fn Scanning(rest: SelectionParams) -> impl IntoView {
    let options = || [("drop", "Drop the conversation"), ("keep", "Keep it, and count it")].map(owned);
    let word = |treatment: Treatment| if treatment == Treatment::Keep { "keep" } else { "drop" }.to_owned();
    let meant = |word: &str| if word == "keep" { Treatment::Keep } else { Treatment::Drop };
    view! {
        <div class="fields">
            <Choice
                label="Personal data"
                hint="E-mail addresses, phone numbers, IBANs, payment cards, national ids and IP addresses, unless a \
                      document contains them."
                options=options()
                value=Signal::derive(move || word(rest.read().scan.pii))
                change=Callback::new(move |to: String| rest.update(|spec| spec.scan.pii = meant(&to)))
            />
            <Choice
                label="Secrets"
                hint="Keys of providers, private keys, tokens, passwords."
                options=options()
                value=Signal::derive(move || word(rest.read().scan.secrets))
                change=Callback::new(move |to: String| rest.update(|spec| spec.scan.secrets = meant(&to)))
            />
        </div>
    }
}

#[component]
fn DuplicateOptions(rest: SelectionParams, problems: Problems) -> impl IntoView {
    view! {
        <Switch
            label="Keep only the best of identical conversations"
            value=Signal::derive(move || rest.read().duplicates.exact)
            change=Callback::new(move |on: bool| rest.update(|spec| spec.duplicates.exact = on))
        />
        <Switch
            label="Keep only the best of near-duplicates"
            value=Signal::derive(move || rest.read().duplicates.near.is_some())
            change=Callback::new(move |on: bool| rest.update(|spec| spec.duplicates.near = on.then_some(NEAR)))
        />
        <Show when=move || rest.read().duplicates.near.is_some()>
            <div class="fields">
                <Number
                    label="Minimum resemblance of near-duplicates"
                    hint="0.3 to 1; 0.8 is usual."
                    value=Signal::derive(move || rest.read().duplicates.near)
                    change=Callback::new(move |near: Option<f64>| {
                        rest.update(|spec| spec.duplicates.near = Some(near.unwrap_or(NEAR)));
                    })
                    min=0.3
                    max=1.0
                    step=0.05
                    wrong=problems.at("/duplicates/near")
                />
            </div>
        </Show>
    }
}

#[component]
fn Balancing(rest: SelectionParams, problems: Problems) -> impl IntoView {
    let options =
        [("", "Not balanced"), ("scenario", "By scenario"), ("persona", "By persona"), ("complexity", "By complexity")];
    let by = Signal::derive(move || rest.read().balance.map(|balance| balance.by.to_string()).unwrap_or_default());
    let choose = Callback::new(move |to: String| {
        let by = to.parse().ok();
        rest.update(|spec| {
            let at_most = spec.balance.and_then(|balance| balance.at_most);
            spec.balance = by.map(|by| Balance { by, at_most });
        });
    });
    let at_most = Signal::derive(move || rest.read().balance.and_then(|balance| balance.at_most).map(f64::from));
    let set_at_most = Callback::new(move |most: Option<f64>| {
        rest.update(|spec| {
            if let Some(balance) = &mut spec.balance {
                balance.at_most = whole(most);
            }
        });
    });
    view! {
        <div class="fields">
            <Choice
                label="Balance"
                hint="No group outweighs the others; the best of each are kept."
                options=options.map(owned)
                value=by
                change=choose
            />
            <Show when=move || rest.read().balance.is_some()>
                <Number
                    label="Maximum per group"
                    hint="Empty: as many as the smallest group has."
                    value=at_most
                    change=set_at_most
                    min=1.0
                    wrong=problems.at("/balance/at_most")
                />
            </Show>
            <Number
                label="Maximum in total"
                hint="Empty: no limit. The best overall are kept."
                value=Signal::derive(move || rest.read().limit.map(f64::from))
                change=Callback::new(move |most: Option<f64>| rest.update(|spec| spec.limit = whole(most)))
                min=1.0
                wrong=problems.at("/limit")
            />
        </div>
    }
}

#[component]
fn Splitting(rest: SelectionParams, problems: Problems) -> impl IntoView {
    let share = Signal::derive(move || Some((rest.read().split.golden * 10_000.0).round() / 100.0));
    view! {
        <p class="muted hint">
            "Kept apart to measure the effect of training. Families of scenarios stay whole, and near-duplicates stay in one part."
        </p>
        <div class="fields">
            <Number
                label="Golden share, in %"
                value=share
                change=Callback::new(move |share: Option<f64>| {
                    rest.update(|spec| spec.split.golden = share.unwrap_or_default() / 100.0);
                })
                max=99.0
                step=1.0
                wrong=problems.at("/split/golden")
            />
            <Number
                label="Minimum resemblance to stay in one part"
                hint="0.3 to 1; 0.8 is usual."
                value=Signal::derive(move || Some(rest.read().split.near))
                change=Callback::new(move |near: Option<f64>| {
                    rest.update(|spec| spec.split.near = near.unwrap_or(NEAR));
                })
                min=0.3
                max=1.0
                step=0.05
                wrong=problems.at("/split/near")
            />
            <Number
                label="Seed"
                hint="Another seed gives another split."
                value=Signal::derive(move || whole_seed(rest.read().split.seed))
                change=Callback::new(move |seed: Option<f64>| {
                    rest.update(|spec| spec.split.seed = whole(seed).unwrap_or_default().into());
                })
                wrong=problems.at("/split/seed")
            />
        </div>
    }
}

fn whole_seed(seed: u64) -> Option<f64> {
    u32::try_from(seed).ok().map(f64::from)
}

fn owned((key, says): (&str, &str)) -> (String, String) {
    (key.to_owned(), says.to_owned())
}
