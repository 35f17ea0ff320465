//! What an export would look like, a moment after it was last changed.

use std::time::Duration;

use domain::api::ExportPreview;
use domain::export::ExportSpec;
use leptos::prelude::*;
use leptos::task::spawn_local;

use super::commands;
use ui::api_client::AbortGuard;
use ui::components::{Command, CopyButton, FormError, LongText, Problems, Working};
use ui::session::Project;
use ui::{api_client, format};

/// As long as people pause between two changes.
const PAUSE: Duration = Duration::from_millis(250);
/// A record may hold messages of hundreds of kilobytes; the copy has them whole.
const SHOWN: usize = 40_000;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Nothing is chosen that it could be of.
    Nothing,
    Asking,
    Answered,
    Cancelled,
}

#[derive(Clone, Copy)]
pub struct Preview {
    /// Of what is asked for now or, until that is answered, of what was asked for before.
    found: RwSignal<Option<ExportPreview>>,
    stage: RwSignal<Stage>,
    pub problems: Problems,
    /// What is asked over now; another line takes its place, and the server looks no further for what was asked over it.
    guard: StoredValue<Option<AbortGuard>, LocalStorage>,
    latest: StoredValue<u32>,
    again: RwSignal<()>,
}

impl Preview {
    pub fn of(spec: Memo<Option<ExportSpec>>) -> Self {
        let preview = Self {
            found: RwSignal::new(None),
            stage: RwSignal::new(Stage::Nothing),
            problems: Problems::default(),
            guard: StoredValue::new_local(None),
            latest: StoredValue::new(0),
            again: RwSignal::new(()),
        };
        let project = Project::here();
        Effect::new(move |_| {
            preview.again.track();
            let (project, spec) = (project.name(), spec.get());
            let own = preview.begin(if spec.is_some() { Stage::Asking } else { Stage::Nothing });
            if let Some(spec) = spec {
                set_timeout(move || preview.ask(project, spec, own), PAUSE);
            }
        });
        preview
    }

    /// Whatever was asked before is asked no longer.
    fn begin(self, stage: Stage) -> u32 {
        let own = self.latest.get_value() + 1;
        self.latest.set_value(own);
        self.guard.set_value(None);
        self.stage.set(stage);
        if stage != Stage::Asking {
            self.problems.clear();
            self.found.set(None);
        }
        own
    }

    fn ask(self, project: String, spec: ExportSpec, own: u32) {
        // What was changed since then is asked for by itself; and the reader may have left.
        let here = move || self.latest.try_get_value() == Some(own);
        if !here() {
            return;
        }
        let guard = AbortGuard::new();
        let signal = guard.signal();
        self.guard.set_value(Some(guard));
        spawn_local(async move {
            let answer = api_client::exports::preview(&project, &spec, &signal).await;
            if !here() {
                return;
            }
            self.stage.set(Stage::Answered);
            match answer {
                Ok(found) => {
                    self.problems.clear();
                    self.found.set(Some(found));
                }
                Err(error) => {
                    self.problems.set(error);
                    self.found.set(None);
                }
            }
        });
    }

    fn cancel(self) {
        self.begin(Stage::Cancelled);
    }
}

#[component]
pub fn PreviewPanel(preview: Preview, spec: Memo<Option<ExportSpec>>) -> impl IntoView {
    let Preview { found, stage, problems, again, .. } = preview;
    let busy = Memo::new(move |_| stage.get() == Stage::Asking);
    let project = Project::here();
    let file = move || {
        let answered = stage.get() == Stage::Answered;
        let name = found.read().as_ref().filter(|_| answered).map(|found| found.file_name.clone());
        name.or_else(|| spec.read().as_ref().map(|spec| commands::file_name(spec.profile).to_owned()))
            .unwrap_or_default()
    };
    let cli = Signal::derive(move || spec.get().map(|spec| commands::cli(&spec, &file())).unwrap_or_default());
    let curl =
        Signal::derive(move || spec.get().map(|spec| commands::curl(&project.name(), &spec)).unwrap_or_default());
    view! {
        <section class="preview" aria-labelledby="preview" aria-busy=move || busy.get().to_string()>
            <h2 id="preview">"The first record"</h2>
            <FormError why=problems />
            <Show when=move || busy.get()>
                <div class="changing">
                    <Working what="Reading" doing=Signal::stored(None) cancel=move || preview.cancel() />
                </div>
            </Show>
            <Show when=move || stage.get() == Stage::Nothing>
                <p class="muted">"Choose a corpus or a run to see it."</p>
            </Show>
            <Show when=move || stage.get() == Stage::Cancelled>
                <p class="muted" role="status">
                    "The preview is not complete."
                </p>
                <div>
                    <button type="button" on:click=move |_| again.set(())>
                        "Refresh the preview"
                    </button>
                </div>
            </Show>
            <Show when=move || busy.get() && found.read().is_some()>
                <p class="muted changing">"This preview is of the previous settings:"</p>
            </Show>
            {move || found.get().map(|found| view! { <Record found /> })}
            <Show when=move || spec.read().is_some()>
                <section class="panel" aria-labelledby="elsewhere">
                    <h2 id="elsewhere">"Command line"</h2>
                    <Command text=cli label="Groundstate's command" />
                    <Command text=curl label="The same with curl" />
                </section>
            </Show>
        </section>
    }
}

#[component]
fn Record(found: ExportPreview) -> impl IntoView {
    let estimate = found.estimated_bytes();
    let ExportPreview { file_name, total, record, card, looked_at } = found;
    let Some(record) = record else {
        return view! { <p class="muted">{none_found(&file_name, looked_at, total)}</p> }.into_any();
    };
    let whole = serde_json::to_string_pretty(&record).unwrap_or_default();
    let shown: String = whole.chars().take(SHOWN).collect();
    let cut = shown.len() < whole.len();
    view! {
        <dl class="strip">
            <div>
                <dt>"File"</dt>
                <dd>{file_name}</dd>
            </div>
            <div>
                <dt>"Conversations to read"</dt>
                <dd>{format::count(total)}</dd>
            </div>
            <div>
                <dt>"Estimated size"</dt>
                <dd>{format!("about {} uncompressed", format::bytes(estimate))}</dd>
            </div>
        </dl>
        <pre class="record" tabindex="0" aria-label="The first record" dir="auto">
            {shown}
        </pre>
        {cut.then(|| view! { <p class="muted">"Shortened here; the copy is complete."</p> })}
        <div>
            <CopyButton text=whole label="Copy the record" />
        </div>
        {card.map(|card| view! { <Card card looked_at total /> })}
    }
    .into_any()
}

fn none_found(file_name: &str, looked_at: i64, total: i64) -> String {
    let (first, all) = (format::count(looked_at), format::count(total));
    if looked_at < total {
        format!(
            "{file_name}: the first {first} conversations give no record in this format. The export reads all {all}."
        )
    } else {
        format!("{file_name}: none of the {all} conversations gives a record in this format.")
    }
}

/// The card of a bundle, as it would be if there were no more conversations than were looked at.
#[component]
fn Card(card: String, looked_at: i64, total: i64) -> impl IntoView {
    let of = if looked_at < total {
        format!("Of the first {} of {} conversations.", format::count(looked_at), format::count(total))
    } else {
        "Of all conversations.".to_owned()
    };
    let copied = card.clone();
    view! {
        <section aria-labelledby="card">
            <h2 id="card">"The dataset card"</h2>
            <p class="muted">{of}</p>
            <div class="card-text">
                <LongText text=card name="The dataset card" />
            </div>
            <div>
                <CopyButton text=copied label="Copy the card" />
            </div>
        </section>
    }
}
