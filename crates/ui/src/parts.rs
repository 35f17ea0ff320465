//! Parts of the app whose code is fetched when the first of their pages is opened. `cargo xtask web` splits the app at the
//! functions that `pages!` makes: what only they reach is not in what everybody downloads first.

use leptos::prelude::*;
pub use wasm_split_helpers::{SplitLoaderError, wasm_split};

use crate::api_client::ApiError;
use crate::components::Loading;

impl From<SplitLoaderError> for ApiError {
    fn from(_: SplitLoaderError) -> Self {
        Self::Unreachable("a part of the app did not come".to_owned())
    }
}

/// A page, unless its code did not come.
pub type Page = Result<AnyView, SplitLoaderError>;

/// The pages of a part: functions to hand to `part`, each with what it shows.
#[macro_export]
macro_rules! pages {
    ($part:ident: $($name:ident($($arg:ident: $kind:ty)?) => $view:expr,)+) => {$(
        #[$crate::parts::wasm_split($part, fallible)]
        fn $name($($arg: $kind)?) -> $crate::parts::Page {
            Ok(leptos::prelude::IntoAny::into_any($view))
        }
    )+};
}
pub use pages;

/// Shows a page once its code is there.
pub fn part<F>(page: impl Fn() -> F + Send + 'static) -> AnyView
where
    F: Future<Output = Page> + Send + 'static,
{
    let tries = RwSignal::new(0);
    let retry = move || tries.update(|tries| *tries += 1);
    view! {
        {move || {
            tries.track();
            let coming = RwSignal::new(true);
            let page = page();
            let page = Suspend::new(async move {
                let page = page.await;
                coming.set(false);
                page.unwrap_or_else(|_| view! { <Missing retry /> }.into_any())
            });
            view! {
                <Show when=move || coming.get()>
                    <Loading what="the page" />
                </Show>
                {page}
            }
        }}
    }
    .into_any()
}

/// The code of a page did not come.
#[component]
fn Missing(retry: impl Fn() + 'static) -> impl IntoView {
    view! {
        <section class="notice" role="alert">
            <h2>"The page's code could not be fetched."</h2>
            <p>
                "Check that groundstate serve is still running and can be reached from here, and try again. If the server was \
                 updated since you opened this page, reload it."
            </p>
            <button type="button" on:click=move |_| retry()>
                "Try again"
            </button>
        </section>
    }
}
