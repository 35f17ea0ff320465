//! Uploads that are no datasets yet: they take room, and go on or are deleted.

use domain::api::DatasetUpload;
use leptos::prelude::*;

use crate::exports::size;
use ui::components::{AsyncView, Confirm, act};
use ui::session::Project;
use ui::{api_client, format};

#[component]
pub fn Unfinished() -> impl IntoView {
    let project = Project::here();
    let read = RwSignal::new(0_u32);
    let load = move || {
        read.track();
        let name = project.name();
        async move { api_client::datasets::uploads(&name).await }
    };
    let again = Callback::new(move |()| read.update(|read| *read += 1));
    view! {
        <AsyncView what="uploads" load let:uploads>
            {(!uploads.is_empty()).then(|| view! { <List uploads again /> })}
        </AsyncView>
    }
}

#[component]
fn List(uploads: Vec<DatasetUpload>, again: Callback<()>) -> impl IntoView {
    view! {
        <section class="panel" aria-labelledby="uploads">
            <h2 id="uploads">"Unfinished uploads"</h2>
            <p class="muted">
                "An upload continues where it was cut off: choose the same file again, in the same browser. What is whole is kept until a dataset was made of it. An upload of which nothing more comes is deleted when it expires."
            </p>
            <table class="rows">
                <thead>
                    <tr>
                        <th scope="col">"File"</th>
                        <th scope="col">"Uploaded"</th>
                        <th scope="col">"Begun"</th>
                        <th scope="col">"Expires"</th>
                        <td></td>
                    </tr>
                </thead>
                <tbody>{uploads.into_iter().map(|upload| view! { <Row upload again /> }).collect_view()}</tbody>
            </table>
        </section>
    }
}

#[component]
fn Row(upload: DatasetUpload, again: Callback<()>) -> impl IntoView {
    let (project, sure, busy) = (Project::here(), RwSignal::new(false), RwSignal::new(false));
    let DatasetUpload { id, file_name, bytes, received, created_by, created_at, expires_at } = upload;
    let delete = move |()| {
        let (project, id) = (project.0.get_untracked(), id.clone());
        let deleted = async move { api_client::datasets::remove_upload(&project, &id).await };
        act(busy, "The upload was deleted.", deleted, move |()| again.run(()));
    };
    view! {
        <tr>
            <td class="scenario text">{file_name.clone()}</td>
            <td>{format!("{} of {}", size(received), size(bytes))}</td>
            <td>{format!("{} by {created_by}", format::time(created_at))}</td>
            <td>{format::time(expires_at)}</td>
            <td>
                <button
                    type="button"
                    class="danger"
                    aria-label=format!("Delete the upload of {file_name}")
                    on:click=move |_| sure.set(true)
                >
                    "Delete …"
                </button>
                <Confirm
                    title="Delete the upload?"
                    text="What was uploaded of the file is deleted. The file on your computer is kept."
                    yes_says="Delete the upload"
                    open=sure
                    yes=delete
                />
            </td>
        </tr>
    }
}
