//! An address that leads nowhere.

use leptos::prelude::*;
use leptos_router::components::A;

use ui::address::HOME;
use ui::components::set_title;

#[component]
pub fn MissingPage() -> impl IntoView {
    set_title("No such page");
    view! {
        <main class="page">
            <section class="notice">
                <h1>"There is no page at this address."</h1>
                <p>"Check the address, or " <A href=HOME>"go to the start page"</A> "."</p>
            </section>
        </main>
    }
}
