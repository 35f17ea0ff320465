//! What stands beside a scenario that is written: its world, and others that are like it.

mod similar;
mod world;

use leptos::prelude::*;

use crate::components::{Tabs, use_tab};
use similar::Similar;
use world::World;

const SIDES: [(&str, &str); 2] = [("world", "World"), ("similar", "Similar scenarios")];

#[component]
pub fn ScenarioSide() -> impl IntoView {
    let (side, choose) = use_tab("side", &["world", "similar"]);
    view! {
        <aside class="beside-editor" aria-label="Beside the text">
            <Tabs label="Beside the text" tabs=&SIDES chosen=side choose />
            {move || {
                let name = side.get();
                let part = match name {
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
