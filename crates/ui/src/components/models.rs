//! Which model played which role.

use std::collections::BTreeMap;

use leptos::prelude::*;

use crate::components::Badge;
use crate::labels;

#[component]
pub fn Models(models: BTreeMap<String, String>) -> impl IntoView {
    let role = |(role, model): (String, String)| {
        let (tone, name) = labels::model(&model);
        view! {
            <div>
                <dt>{labels::words(&role)}</dt>
                <dd>
                    <Badge tone text=name />
                </dd>
            </div>
        }
    };
    view! {
        <section class="panel" aria-labelledby="models">
            <h2 id="models">"Models"</h2>
            <dl class="pairs">{models.into_iter().map(role).collect_view()}</dl>
        </section>
    }
}
