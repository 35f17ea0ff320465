//! What stands where data will be, or cannot be.

use domain::api::{FieldError, ProblemDetails};
use leptos::prelude::*;
use leptos_router::components::A;

use crate::api_client::ApiError;
use crate::components::{ToSignIn, sign_in_from_here};
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

/// An error in a few words, beside the form that it is about, and what to do about it.
pub fn explain(error: ApiError) -> String {
    match error {
        error if error.is_signed_out() => SIGNED_OUT.to_owned(),
        ApiError::Refused(problem) => match remedy(&problem) {
            Some(action) => format!("{} {action}", refusal(&problem)),
            None => refusal(&problem),
        },
        error => explain_outside(error),
    }
}

/// The server's own words are for programs, too.
const SIGNED_OUT: &str =
    "You are no longer signed in. Sign in again in another tab, then try again here. Your input is not lost.";

/// What somebody does whose change was refused, unless the server has said it.
fn remedy(problem: &ProblemDetails) -> Option<&'static str> {
    match problem.status {
        status @ (403 | 404 | 500..) => Some(next_step(status)),
        // Fields say what they take, and the server tells what is wrong from what to do by a semicolon.
        _ if !problem.errors.is_empty() || problem.detail.contains(';') => None,
        409 | 410 => Some(
            "It may have changed meanwhile: look at it in another tab, so that nothing is lost that you wrote here, \
             then correct your input and try again.",
        ),
        status @ 429 => Some(next_step(status)),
        _ => Some("Correct this, then try again."),
    }
}

/// The same to whoever is not signed in yet: nobody there has a role to ask for.
pub fn explain_outside(error: ApiError) -> String {
    match error {
        ApiError::Refused(problem) => refusal(&problem),
        error => {
            let Advice { title, action, .. } = advice(error);
            format!("{title} {action}")
        }
    }
}

/// Says that what is shown may be old, why, and what to do. Whoever is not signed in any more may be writing something
/// here, and is not led away.
#[component]
pub fn Stale(#[prop(into)] error: Signal<Option<ApiError>>) -> impl IntoView {
    let why = Memo::new(move |_| error.get().map(|error| (error.is_signed_out(), outdated(&error))));
    move || {
        let (signed_out, text) = why.get()?;
        let sign_in = signed_out.then(|| {
            view! {
                " "
                <A href=sign_in_from_here()>"Sign in again"</A>
            }
        });
        Some(view! {
            <p class="stale" role="status">
                {text}
                {sign_in}
            </p>
        })
    }
}

/// Why what was asked for again did not come.
fn outdated(error: &ApiError) -> String {
    let (why, action) = match error {
        ApiError::Unreachable(_) => {
            return "The server does not answer. This is its last answer; trying again.".to_owned();
        }
        ApiError::Refused(problem) => match problem.status {
            401 => return "You are no longer signed in; this is the previous content.".to_owned(),
            403 => ("You may no longer see this.".to_owned(), next_step(403)),
            404 => ("This no longer exists.".to_owned(), "Choose from a list."),
            status => (refusal(problem), next_step(status)),
        },
        ApiError::Unreadable { .. } => {
            let Advice { title, action, .. } = advice(error.clone());
            (title, action)
        }
    };
    format!("{why} This is the previous content. {action}")
}

/// What the server says, as sentences; each field that it is about is named.
fn refusal(problem: &ProblemDetails) -> String {
    if problem.errors.is_empty() {
        return sentence(&problem.detail);
    }
    let one = |error: &FieldError| {
        let field = words(error.parameter.as_deref().unwrap_or_else(|| error.pointer.trim_start_matches('/')));
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
            title: "The server's answer cannot be read.".to_owned(),
            detail: format!("Status {status}: {reason}"),
            action: "Reload the page: it may be older than the server. Otherwise check the proxies between them.",
        },
    }
}

/// What somebody does who was refused something to look at.
const fn next_step(status: u16) -> &'static str {
    match status {
        401 => "Sign in again.",
        403 => "Ask an admin of the project for another role, or ask an administrator.",
        404 => "Check the address, or choose from a list.",
        409 => "Something that this depends on is not ready yet. Wait until it is, then try again.",
        429 => "Wait a little, then try again.",
        500.. => "The server's log says more. Try again when the cause is fixed.",
        _ => "Correct the address, or go back and choose again.",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(status: u16, detail: &str, errors: Vec<FieldError>) -> ApiError {
        let (kind, title, detail) = (String::new(), String::new(), detail.to_owned());
        ApiError::Refused(ProblemDetails { kind, title, status, detail, errors })
    }

    fn refused(errors: &[(&str, &str)]) -> String {
        let errors = errors.iter().map(|(pointer, detail)| FieldError::at(pointer, *detail)).collect();
        explain(problem(422, "too many attempts; wait 4 seconds", errors))
    }

    #[test]
    fn what_is_refused_comes_with_what_to_do() {
        let said = |status: u16| explain(problem(status, "it is no good", Vec::new()));
        for status in [400, 413, 422] {
            assert_eq!(said(status), "It is no good. Correct this, then try again.", "{status}");
        }
        for status in [403, 404, 429, 500, 503] {
            assert_eq!(said(status), format!("It is no good. {}", next_step(status)));
        }
        assert!(
            said(409).contains("may have changed meanwhile") && said(409).contains("nothing is lost that you wrote")
        );
        assert!(said(401).contains("Sign in again") && said(401).contains("Your input is not lost"));
        assert!(explain(ApiError::Unreachable(String::new())).contains("can be reached from here"));
        let outside = explain_outside(problem(403, "it is no good", Vec::new()));
        assert_eq!(outside, "It is no good.");
    }

    #[test]
    fn what_the_server_says_to_do_is_not_said_twice() {
        let said = |status: u16, detail: &str| explain(problem(status, detail, Vec::new()));
        assert_eq!(said(429, "too many attempts; wait 4 seconds"), "Too many attempts; wait 4 seconds.");
        assert_eq!(said(409, "it is taken; take another name"), "It is taken; take another name.");
        let field = FieldError::at("/n", "take 1 to 10");
        assert_eq!(explain(problem(422, "take 1 to 10", vec![field])), "N: take 1 to 10.");
    }

    #[test]
    fn what_is_not_kept_up_any_more_says_why() {
        let said = |status: u16| outdated(&problem(status, "it is no good", Vec::new()));
        assert!(said(401).contains("no longer signed in"));
        assert!(said(403).contains("no longer see this") && said(403).contains("Ask an admin"));
        assert!(said(404).contains("no longer exists") && said(404).contains("list"));
        assert!(said(503).starts_with("It is no good.") && said(503).contains("log says more"));
        let blames_the_server = |error: &ApiError| outdated(error).contains("does not answer");
        assert!(blames_the_server(&ApiError::Unreachable(String::new())));
        assert!(![401, 403, 404, 500].map(|status| problem(status, "", Vec::new())).iter().any(blames_the_server));
        let unreadable = ApiError::Unreadable { status: 502, reason: String::new() };
        assert!(outdated(&unreadable).contains("cannot be read") && outdated(&unreadable).contains("Reload"));
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
        assert_eq!(refused(&[("/password", "use at least 10 characters")]), "Password: use at least 10 characters.");
        assert_eq!(
            refused(&[("", "is not an object"), ("/name", "is too long.")]),
            "Is not an object. Name: is too long."
        );
    }
}
