//! An address that leads nowhere.

use leptos::prelude::*;

use crate::app::set_title;
use crate::components::BackToRun;

#[component]
pub fn MissingPage() -> impl IntoView {
    set_title("No such page");
    view! {
        <BackToRun />
        <section class="notice">
            <h1>"There is no page at this address."</h1>
            <p>"Check the address, or go back to the last run."</p>
        </section>
    }
}
