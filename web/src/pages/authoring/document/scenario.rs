//! What stands beside a scenario that is written: its world, and others that are like it.

mod play;
mod similar;
mod step_selection;
mod steps;
mod world;

use leptos::prelude::*;

use play::Play;
use similar::Similar;
use ui::components::{Tabs, use_tab};
use world::World;

const SIDES: [(&str, &str); 3] = [("world", "World"), ("play", "Play"), ("similar", "Similar scenarios")];

#[component]
pub fn ScenarioSide() -> impl IntoView {
    let (side, choose) = use_tab("side", &["world", "play", "similar"]);
    view! {
        <aside class="beside-editor" aria-label="Beside the text">
            <Tabs label="Beside the text" tabs=&SIDES chosen=side choose />
            {move || {
                let name = side.get();
                let part = match name {
                    "play" => view! { <Play /> }.into_any(),
                    "similar" => view! { <Similar /> }.into_any(),
                    _ => view! { <World /> }.into_any(),
                };
                view! {
                    <section role="tabpanel" id=format!("panel-{name}") aria-labelledby=format!("tab-{name}")>
                        {part}
                    </section>
                }
            }}
        </aside>
    }
}
