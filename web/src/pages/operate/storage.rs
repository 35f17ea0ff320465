//! What a project takes of the disk, and what it may take.

use domain::storage::{ProjectStorage, StorageLimits, exact_bytes, parse_bytes, readable_bytes};
use leptos::ev::SubmitEvent;
use leptos::prelude::*;

use super::naming;
use ui::components::{AsyncView, FormError, Problems, Send, TextField, Toasts, send, set_title};
use ui::session::{Project, Session};
use ui::{api_client, format};

#[component]
pub fn StoragePage() -> impl IntoView {
    set_title("Storage");
    let project = Project::here();
    let load = move || {
        let name = project.name();
        async move { api_client::projects::storage(&name).await }
    };
    view! {
        <h1>"Storage"</h1>
        <p class="muted lead">
            "A project that has reached its limit keeps what it has: its runs pause, and exports and saved documents that need \
             more room are refused."
        </p>
        <AsyncView what="what the project stores" load let:storage>
            <Storage storage=RwSignal::new(storage) />
        </AsyncView>
    }
}

#[component]
fn Storage(storage: RwSignal<ProjectStorage>) -> impl IntoView {
    view! {
        <section class="panel stack narrow" aria-labelledby="storage-used">
            <h2 id="storage-used">"Used"</h2>
            {move || view! { <Used storage=storage.get() /> }}
        </section>
        {move || if Session::here().is_administrator() {
            view! { <Limits storage /> }.into_any()
        } else {
            view! { <p class="muted">"Administrators of the installation can change the limits."</p> }.into_any()
        }}
    }
}

#[component]
fn Used(storage: ProjectStorage) -> impl IntoView {
    let ProjectStorage { used, limits } = storage;
    let total = used.total();
    let of = limits.bytes.map_or_else(
        || format!("{}, without a limit", readable_bytes(total)),
        |most| format!("{} of {}", readable_bytes(total), readable_bytes(most)),
    );
    #[expect(clippy::cast_precision_loss, reason = "a bar shows no single bytes")]
    let bar = limits.bytes.map(|most| {
        view! { <meter aria-label="Used of the limit" min="0" max="1" value=(total as f64 / most as f64).min(1.0) /> }
    });
    let most = |limit: Option<i64>| limit.map_or_else(|| "no limit".to_owned(), format::count);
    let export = limits.export_bytes.map_or_else(|| "no limit".to_owned(), readable_bytes);
    let rows = [
        ("Runs", readable_bytes(used.runs)),
        ("Exports", readable_bytes(used.exports)),
        ("Datasets and indexes", readable_bytes(used.datasets)),
        ("Versions of documents", readable_bytes(used.documents)),
        ("Conversations of one run, at most", most(limits.conversations)),
        ("Rows of one run of a workflow, at most", most(limits.rows)),
        ("Size of one export, at most", export),
    ];
    let row = |(name, value): (&'static str, String)| {
        view! {
            <tr>
                <th scope="row">{name}</th>
                <td class="number">{value}</td>
            </tr>
        }
    };
    view! {
        <p class="score">{bar} <strong>{of}</strong></p>
        <table class="rows">
            <tbody>{rows.map(row).into_iter().collect_view()}</tbody>
        </table>
    }
}

#[component]
fn Limits(storage: RwSignal<ProjectStorage>) -> impl IntoView {
    let limits = storage.get_untracked().limits;
    let text = |limit: Option<String>| RwSignal::new(limit.unwrap_or_default());
    let bytes = text(limits.bytes.map(exact_bytes));
    let conversations = text(limits.conversations.map(|most| most.to_string()));
    let rows = text(limits.rows.map(|most| most.to_string()));
    let export = text(limits.export_bytes.map(exact_bytes));
    let (project, problems, busy, toasts) =
        (Project::here(), Problems::default(), RwSignal::new(false), Toasts::here());
    let submit = move |event: SubmitEvent| {
        let typed = TypedLimits {
            bytes: &bytes.read_untracked(),
            conversations: &conversations.read_untracked(),
            rows: &rows.read_untracked(),
            export: &export.read_untracked(),
        };
        let wanted = match typed.read() {
            Ok(wanted) => wanted,
            Err((pointer, why)) => {
                event.prevent_default();
                return problems.set(naming::wrong(pointer, &why));
            }
        };
        let name = project.0.get_untracked();
        let ask = async move { api_client::projects::set_storage_limits(&name, &wanted).await };
        send(&event, busy, problems, ask, move |now| {
            toasts.good("The limits were changed.");
            storage.try_set(now);
        });
    };
    view! {
        <form class="panel stack narrow" on:submit=submit>
            <h2>"Limits"</h2>
            <FormError why=problems />
            <TextField
                label="Runs, exports and documents together"
                value=bytes
                hint="Such as 500 GiB; empty: no limit but the disk."
                wrong=problems.at("/bytes")
            />
            <TextField
                label="Conversations of one run"
                value=conversations
                hint="Empty: no limit."
                wrong=problems.at("/conversations")
            />
            <TextField
                label="Rows of one run of a workflow"
                value=rows
                hint="Empty: no limit."
                wrong=problems.at("/rows")
            />
            <TextField
                label="Size of one export"
                value=export
                hint="Such as 20 GiB; empty: no limit."
                wrong=problems.at("/export_bytes")
            />
            <div class="actions">
                <Send label="Save the limits" busy />
            </div>
        </form>
    }
}

/// The limits as they were typed.
#[derive(Default)]
struct TypedLimits<'a> {
    bytes: &'a str,
    conversations: &'a str,
    rows: &'a str,
    export: &'a str,
}

impl TypedLimits<'_> {
    /// # Errors
    /// The field that cannot be read, and why.
    fn read(&self) -> Result<StorageLimits, (&'static str, String)> {
        let size = |pointer, text: &str| {
            let text = text.trim();
            (!text.is_empty()).then(|| parse_bytes(text).map_err(|why| (pointer, why))).transpose()
        };
        let number = |pointer, text: &str| {
            let text = text.trim().replace(',', "");
            let wrong = |_| (pointer, "expected a whole number".to_owned());
            (!text.is_empty()).then(|| text.parse().map_err(wrong)).transpose()
        };
        Ok(StorageLimits {
            bytes: size("/bytes", self.bytes)?,
            conversations: number("/conversations", self.conversations)?,
            rows: number("/rows", self.rows)?,
            export_bytes: size("/export_bytes", self.export)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read_as_people_type_them() {
        let none = TypedLimits::default;
        let limits =
            StorageLimits { bytes: Some(3 << 29), conversations: Some(20_000), rows: Some(5), export_bytes: None };
        let typed = TypedLimits { bytes: "1.5 GiB", conversations: "20,000", rows: " 5 ", export: " " };
        assert_eq!(typed.read(), Ok(limits));
        assert_eq!(none().read(), Ok(StorageLimits::UNLIMITED));
        for (typed, pointer) in [
            (TypedLimits { bytes: "much", ..none() }, "/bytes"),
            (TypedLimits { conversations: "many", ..none() }, "/conversations"),
            (TypedLimits { rows: "1.5", ..none() }, "/rows"),
            (TypedLimits { export: "5 GB", ..none() }, "/export_bytes"),
        ] {
            assert_eq!(typed.read().unwrap_err().0, pointer);
        }
    }
}
