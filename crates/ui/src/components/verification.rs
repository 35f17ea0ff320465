//! What the verifier found.

use domain::verdict::{Check, Verification};
use leptos::prelude::*;

use crate::components::{Badge, FirstRows, LongText, MoreRows};
use crate::labels::{self, Tone};

#[component]
pub fn VerificationList(verification: Option<Verification>, played: bool) -> impl IntoView {
    let body = match verification {
        Some(Verification { items }) if items.is_empty() => {
            view! { <p class="muted">"The scenario names nothing to verify."</p> }.into_any()
        }
        Some(Verification { items }) => {
            let (first, all) = (FirstRows::new(), items.len());
            view! {
                <ul class="checks">{first.rows(items, |check| view! { <Item check /> })}</ul>
                <MoreRows first all=Signal::stored(all) />
            }
            .into_any()
        }
        None if played => view! { <p class="muted">"The conversation was not verified."</p> }.into_any(),
        None => view! { <p class="muted">"It will be verified when it has ended."</p> }.into_any(),
    };
    view! {
        <section class="panel" aria-labelledby="verifier">
            <h2 id="verifier">"Verifier"</h2>
            {body}
        </section>
    }
}

#[component]
fn Item(check: Check) -> impl IntoView {
    let (tone, result) = if check.passed { (Tone::Good, "passed") } else { (Tone::Bad, "failed") };
    view! {
        <li>
            <Badge tone text=result />
            <div>
                <strong>{labels::rule(check.rule)}</strong>
                <LongText text=check.detail muted=true />
            </div>
        </li>
    }
}
