//! A dataset of a file.

use domain::api::{DatasetUpload, FieldError, NewDataset};
use domain::dataset::{DatasetSource, UploadRows};
use leptos::ev::SubmitEvent;
use leptos::html::Input;
use leptos::prelude::*;
use web_sys::File;

use super::unfinished::Unfinished;
use super::upload::{Uploading, send_file};
use super::{NameField, check_name, to_dataset};
use crate::exports::size;
use crate::inputs::Switch;
use ui::api_client::{self, Answer, ApiError};
use ui::components::{FormError, FormField, Problems, Send, send};
use ui::session::Project;

#[component]
pub fn OfFile() -> impl IntoView {
    let project = Project::here();
    let (name, as_text) = (RwSignal::new(String::new()), RwSignal::new(false));
    let file: NodeRef<Input> = NodeRef::new();
    let (problems, busy, uploading) = (Problems::default(), RwSignal::new(false), Uploading::new());
    let chosen = move || file.get_untracked()?.files()?.get(0);
    // Most datasets are called like their file.
    let suggest = move |_| {
        if let Some(file) = chosen().filter(|_| name.read_untracked().is_empty()) {
            name.set(name_of(&file.name()));
        }
    };
    let lead = to_dataset();
    let submit = move |event: SubmitEvent| {
        let (project, dataset) = (project.0.get_untracked(), name.get_untracked());
        let (file, csv_as_text) = (chosen(), as_text.get_untracked());
        if !busy.get_untracked() {
            uploading.begin();
        }
        let made = async move {
            check_name(&dataset)?;
            let upload = send_file(&project, &the(file)?, uploading).await?;
            let source = DatasetSource::Upload(UploadRows { id: upload.id, csv_as_text });
            api_client::datasets::create(&project, &NewDataset { name: dataset, source }).await
        };
        send(&event, busy, problems, made, lead);
    };
    view! {
        <form class="panel" on:submit=submit>
            <FormError why=problems />
            <FormField
                label="File"
                hint="JSON lines, CSV, text or Parquet. All but Parquet may be packed with gzip or zstd."
                wrong=problems.at("/file_name")
            >
                <input
                    type="file"
                    required
                    accept=".jsonl,.ndjson,.json,.csv,.tsv,.txt,.parquet,.gz,.zst"
                    node_ref=file
                    on:change=suggest
                />
            </FormField>
            <NameField name problems />
            <Switch
                label="Keep all values of a CSV file as texts"
                hint="Otherwise numbers and booleans are read as such."
                value=as_text
                change=Callback::new(move |on| as_text.set(on))
            />
            <Show when=move || busy.get()>
                <Progress uploading />
            </Show>
            <div>
                <Send label="Upload and make the dataset" busy />
            </div>
        </form>
        // An upload that is in progress here is not unfinished.
        <Show when=move || !busy.get()>
            <Unfinished />
        </Show>
    }
}

#[component]
fn Progress(uploading: Uploading) -> impl IntoView {
    let upload = move |upload: DatasetUpload| {
        let DatasetUpload { file_name, bytes, received, .. } = upload;
        view! {
            <div class="progress">
                <progress aria-label="Uploaded" max=bytes value=received></progress>
                <p class="muted" role="status">
                    {format!("Uploading {file_name}: {} of {}", size(received), size(bytes))}
                </p>
            </div>
            <div>
                <button type="button" on:click=move |_| uploading.stop()>
                    "Stop"
                </button>
            </div>
        }
    };
    move || uploading.sent().map(upload)
}

fn the(file: Option<File>) -> Answer<File> {
    file.ok_or_else(|| ApiError::invalid(vec![FieldError::at("/file_name", "choose a file")]))
}

/// A name for the dataset of a file.
fn name_of(file: &str) -> String {
    let start = file.split('.').next().unwrap_or_default().to_lowercase();
    let plain = |c: char| if c.is_ascii_lowercase() || c.is_ascii_digit() { c } else { '-' };
    let name: String = start.chars().take(64).map(plain).collect();
    name.trim_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dataset_is_called_like_its_file() {
        assert_eq!(name_of("My Questions (2).jsonl.gz"), "my-questions--2");
        assert_eq!(name_of("Ä.csv"), "");
    }
}
