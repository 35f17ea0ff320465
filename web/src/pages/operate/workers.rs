//! What does the work: workers, which serve models, and players, which play conversations.

use leptos::prelude::*;

use super::players::Players;
use super::serving::Serving;
use ui::components::set_title;

#[component]
pub fn WorkersPage() -> impl IntoView {
    set_title("Workers");
    view! {
        <h1>"Workers"</h1>
        <Serving />
        <Players />
    }
}
