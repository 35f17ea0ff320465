//! What a role is told, as the model reads it.

use domain::Message;
use domain::api::trials::RolePrompt;
use leptos::prelude::*;

use ui::components::LongText;
use ui::labels::words;

#[component]
pub fn Prompt(prompt: RolePrompt, #[prop(optional)] open: bool) -> impl IntoView {
    let RolePrompt { role, sub_agent, tool, messages, tools } = prompt;
    let (name, whose) = match (sub_agent, tool) {
        (Some(name), _) => ("Sub-agent".to_owned(), Some(name)),
        (None, tool) => (words(role.as_str()), tool),
    };
    let with = match tools {
        0 => String::new(),
        1 => "with 1 tool".to_owned(),
        some => format!("with {some} tools"),
    };
    view! {
        <details class="prompt" open=open>
            <summary>
                {name} " " {whose.map(|whose| view! { <code>{whose}</code> " " })} <span class="muted">{with}</span>
            </summary>
            {messages.into_iter().map(message).collect_view()}
        </details>
    }
}

/// The first message is the template, rendered; what follows was said.
fn message(message: Message) -> impl IntoView {
    let whose = match &message {
        Message::System { .. } => "System",
        Message::User { .. } => "User",
        Message::Assistant { .. } => "Assistant",
        Message::Tool { .. } => "Tool",
    };
    view! {
        <p class="muted">{whose}</p>
        <LongText text=message.content().to_owned() name=whose />
    }
}
