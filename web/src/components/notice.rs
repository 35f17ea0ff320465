//! What stands where data will be, or cannot be.

use leptos::prelude::*;
use leptos_router::components::A;

use crate::api_client::ApiError;

#[component]
pub fn Loading(what: &'static str) -> impl IntoView {
    view! {
        <p class="muted loading" role="status">
            {format!("Loading {what} …")}
        </p>
    }
}

/// An error, and what the reader can do about it.
#[component]
pub fn Failure(error: ApiError, retry: impl Fn() + 'static) -> impl IntoView {
    let Advice { title, detail, action } = advice(error);
    view! {
        <section class="notice" role="alert">
            <h2>{title}</h2>
            <p>{action}</p>
            <p class="muted text">{detail}</p>
            <button type="button" on:click=move |_| retry()>
                "Try again"
            </button>
        </section>
    }
}

#[component]
pub fn BackToRun() -> impl IntoView {
    view! {
        <nav class="back" aria-label="Breadcrumb">
            <A href="/">"← Last run"</A>
        </nav>
    }
}

struct Advice {
    title: String,
    detail: String,
    action: &'static str,
}

fn advice(error: ApiError) -> Advice {
    match error {
        ApiError::Unreachable(detail) => Advice {
            title: "The server does not answer.".to_owned(),
            detail,
            action: "Check that groundstate serve is still running and can be reached from here.",
        },
        ApiError::Refused(problem) => Advice {
            title: problem.title,
            detail: problem.detail,
            action: match problem.status {
                404 => "Check the address, or choose a conversation from the last run.",
                500.. => "The server's log says more. Try again once its cause is gone.",
                _ => "Check the address.",
            },
        },
        ApiError::Unreadable { status, reason } => Advice {
            title: "The server's answer makes no sense here.".to_owned(),
            detail: format!("Status {status}: {reason}"),
            action: "Reload the page: it may be older than the server. Otherwise check what stands between them.",
        },
    }
}
