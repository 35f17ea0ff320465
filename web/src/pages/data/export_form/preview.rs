//! What an export would look like, a moment after it was last changed.

use std::time::Duration;

use domain::export::{ExportPreview, ExportSpec};
use leptos::prelude::*;
use leptos::task::spawn_local;

use super::commands;
use crate::api_client::Line;
use crate::components::{Command, CopyButton, LongText, Problems, Refused};
use crate::session::Project;
use crate::{api_client, format};

/// As long as people pause between two changes.
const PAUSE: Duration = Duration::from_millis(250);
/// A record may hold messages of hundreds of kilobytes; the copy has them whole.
const SHOWN: usize = 40_000;

#[derive(Clone, Copy)]
pub struct Preview {
    found: RwSignal<Option<ExportPreview>>,
    busy: RwSignal<bool>,
    pub problems: Problems,
    /// What is asked over now; another line takes its place, and the server looks no further for what was asked over it.
    line: StoredValue<Option<Line>, LocalStorage>,
}

impl Preview {
    pub fn of(spec: Memo<Option<ExportSpec>>) -> Self {
        let preview = Self {
            found: RwSignal::new(None),
            busy: RwSignal::new(false),
            problems: Problems::default(),
            line: StoredValue::new_local(None),
        };
        let project = Project::here();
        let latest = StoredValue::new(0_u32);
        Effect::new(move |_| {
            let (project, Some(spec)) = (project.name(), spec.get()) else { return };
            let own = latest.get_value() + 1;
            latest.set_value(own);
            preview.busy.set(true);
            preview.line.set_value(None);
            set_timeout(
                move || {
                    if latest.try_get_value() == Some(own) {
                        spawn_local(preview.ask(project, spec, latest, own));
                    }
                },
                PAUSE,
            );
        });
        preview
    }

    async fn ask(self, project: String, spec: ExportSpec, latest: StoredValue<u32>, own: u32) {
        let line = Line::open();
        let end = line.end();
        self.line.set_value(Some(line));
        let answer = api_client::exports::preview(&project, &spec, &end).await;
        // What was changed since then is asked for by itself; and the reader may have left.
        if latest.try_get_value() != Some(own) {
            return;
        }
        self.busy.set(false);
        match answer {
            Ok(found) => {
                self.problems.clear();
                self.found.set(Some(found));
            }
            Err(error) => self.problems.set(error),
        }
    }
}

#[component]
pub fn PreviewPanel(preview: Preview, spec: Memo<Option<ExportSpec>>) -> impl IntoView {
    let Preview { found, busy, problems, .. } = preview;
    let project = Project::here();
    let file = move || {
        let name = found.read().as_ref().map(|found| found.file_name.clone());
        name.or_else(|| spec.read().as_ref().map(|spec| commands::file_name(spec.profile).to_owned()))
            .unwrap_or_default()
    };
    let cli = Signal::derive(move || spec.get().map(|spec| commands::cli(&spec, &file())).unwrap_or_default());
    let curl =
        Signal::derive(move || spec.get().map(|spec| commands::curl(&project.name(), &spec)).unwrap_or_default());
    view! {
        <section class="preview" aria-labelledby="preview" aria-busy=move || busy.get().to_string()>
            <h2 id="preview">"The first record"</h2>
            <Refused why=problems />
            {move || match found.get() {
                Some(found) => view! { <Record found /> }.into_any(),
                None if busy.get() => view! { <p class="muted" role="status">"Reading …"</p> }.into_any(),
                None => view! { <p class="muted">"Choose a corpus or a run to see it."</p> }.into_any(),
            }}
            <Show when=move || spec.read().is_some()>
                <section class="panel" aria-labelledby="elsewhere">
                    <h2 id="elsewhere">"The same from a terminal"</h2>
                    <Command text=cli label="Groundstate's command" />
                    <Command text=curl label="The same with curl" />
                </section>
            </Show>
        </section>
    }
}

#[component]
fn Record(found: ExportPreview) -> impl IntoView {
    let ExportPreview { file_name, total, record, card, looked_at } = found;
    let Some(record) = record else {
        return view! {
            <p class="muted">
                {format!("{file_name}: none of the first of {} conversations gives a record in this shape.", format::count(total))}
            </p>
        }
        .into_any();
    };
    let line = serde_json::to_string(&record).map_or(0, |line| line.len() as u64 + 1);
    let whole = serde_json::to_string_pretty(&record).unwrap_or_default();
    let shown: String = whole.chars().take(SHOWN).collect();
    let cut = shown.len() < whole.len();
    let estimate = line.saturating_mul(u64::try_from(total).unwrap_or_default());
    view! {
        <dl class="strip">
            <div>
                <dt>"File"</dt>
                <dd>{file_name}</dd>
            </div>
            <div>
                <dt>"Conversations to look at"</dt>
                <dd>{format::count(total)}</dd>
            </div>
            <div>
                <dt>"Size, if all are like the first"</dt>
                <dd>{format!("about {} uncompressed", format::bytes(estimate))}</dd>
            </div>
        </dl>
        <pre class="record" tabindex="0" aria-label="The first record" dir="auto">
            {shown}
        </pre>
        {cut.then(|| view! { <p class="muted">"It goes on; the copy is whole."</p> })}
        <div>
            <CopyButton text=whole label="Copy the record" />
        </div>
        {card.map(|card| view! { <Card card looked_at total /> })}
    }
    .into_any()
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
