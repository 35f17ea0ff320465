//! All that the API says of a conversation.

use std::sync::Arc;

use domain::api::ConversationDetail;
use leptos::prelude::*;
use serde_json::Value;

use ui::api_client;
use ui::components::{CopyButton, JsonTree};

#[component]
pub fn Raw(detail: Signal<ConversationDetail>) -> impl IntoView {
    let href = api_client::conversations::address(&detail.read_untracked().summary.id);
    let value = Memo::new(move |_| Arc::new(serde_json::to_value(&*detail.read()).unwrap_or(Value::Null)));
    let text = Signal::derive(move || format!("{:#}", value.read()));
    view! {
        <div class="panel">
            <div class="inline">
                <CopyButton text label="Copy JSON" />
                // The router would look for a page there.
                <a href=href rel="external" target="_blank">
                    "Open as JSON"
                </a>
            </div>
            <JsonTree label="The conversation as JSON" document=value />
        </div>
    }
}
