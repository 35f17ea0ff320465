//! What stands where data will be, or cannot be.

use domain::api::{FieldError, ProblemDetails};
use leptos::prelude::*;
use leptos_router::components::A;

use crate::api_client::ApiError;
use crate::components::ToSignIn;
use crate::labels::words;

#[component]
pub fn Loading(what: &'static str) -> impl IntoView {
    view! {
        <p class="muted loading" role="status">
            {format!("Loading {what} …")}
        </p>
    }
}

/// An error, and what the reader can do about it. Whoever is not signed in is led to where they can.
#[component]
pub fn Failure(error: ApiError, retry: impl Fn() + 'static) -> impl IntoView {
    if error.is_signed_out() {
        return view! { <ToSignIn /> }.into_any();
    }
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
    .into_any()
}

/// What stands above a page, from the widest to the nearest: names and addresses.
#[component]
pub fn Crumbs(above: Vec<(String, String)>) -> impl IntoView {
    let crumb = |(name, href): (String, String)| {
        view! {
            <li>
                <A href>{name}</A>
            </li>
        }
    };
    view! {
        <nav class="crumbs" aria-label="Breadcrumb">
            <ol>{above.into_iter().map(crumb).collect_view()}</ol>
        </nav>
    }
}

/// Nothing is here yet; what it would be, and how it comes.
#[component]
pub fn Empty(title: &'static str, children: Children) -> impl IntoView {
    view! {
        <section class="notice">
            <h2>{title}</h2>
            {children()}
        </section>
    }
}

/// An error in a few words, beside the form that it is about.
pub fn explain(error: ApiError) -> String {
    match error {
        ApiError::Refused(problem) => refusal(&problem),
        error => {
            let Advice { title, action, .. } = advice(error);
            format!("{title} {action}")
        }
    }
}

/// What the server says, as sentences; each field that it is about is named.
fn refusal(problem: &ProblemDetails) -> String {
    if problem.errors.is_empty() {
        return sentence(&problem.detail);
    }
    let one = |error: &FieldError| {
        let field = words(error.pointer.trim_start_matches('/'));
        if field.is_empty() { sentence(&error.detail) } else { sentence(&format!("{field}: {}", error.detail)) }
    };
    problem.errors.iter().map(one).collect::<Vec<_>>().join(" ")
}

fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    let mut sentence: String = first.chain(letters).collect();
    if !sentence.ends_with(['.', '!', '?']) {
        sentence.push('.');
    }
    sentence
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
        ApiError::Refused(problem) => {
            Advice { title: problem.title, detail: problem.detail, action: next_step(problem.status) }
        }
        ApiError::Unreadable { status, reason } => Advice {
            title: "The server's answer makes no sense here.".to_owned(),
            detail: format!("Status {status}: {reason}"),
            action: "Reload the page: it may be older than the server. Otherwise check what stands between them.",
        },
    }
}

/// What somebody does who was refused something to look at.
const fn next_step(status: u16) -> &'static str {
    match status {
        401 => "Sign in again.",
        403 => "Ask an admin of the project for a role that may, or an administrator.",
        404 => "Check the address, or choose from a list.",
        409 => "It depends on something that is not ready: look there, then try again.",
        429 => "Wait a little, then try again.",
        500.. => "The server's log says more. Try again once its cause is gone.",
        _ => "Correct the address, or go back and choose anew.",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(errors: &[(&str, &str)]) -> String {
        let errors = errors.iter().map(|(pointer, detail)| FieldError::at(pointer, *detail)).collect();
        let detail = "too many attempts; wait 4 seconds".to_owned();
        explain(ApiError::Refused(ProblemDetails {
            kind: String::new(),
            title: String::new(),
            status: 422,
            detail,
            errors,
        }))
    }

    #[test]
    fn only_addresses_that_are_wrong_are_to_be_checked() {
        let blamed = |status: &u16| next_step(*status).contains("address");
        assert_eq!(
            [400, 401, 403, 404, 409, 422, 429, 500, 503].into_iter().filter(blamed).collect::<Vec<_>>(),
            [400, 404, 422]
        );
    }

    #[test]
    fn a_refusal_reads_as_sentences() {
        assert_eq!(refused(&[]), "Too many attempts; wait 4 seconds.");
        assert_eq!(refused(&[("/password", "take at least 10 letters")]), "Password: take at least 10 letters.");
        assert_eq!(refused(&[("", "is no object"), ("/name", "is too long.")]), "Is no object. Name: is too long.");
    }
}
