//! What would come of a selection, a moment after it was last changed. The server works on it while somebody waits for it.

use std::time::Duration;

use domain::corpus::{Report, Spec};
use domain::progress::JobProgress;
use leptos::prelude::*;
use leptos::task::spawn_local;

use super::super::report::{ReportView, count};
use ui::api_client::{self, AbortGuard};
use ui::components::{FormError, Problems, Working};
use ui::session::Project;

/// As long as people pause between two changes.
const PAUSE: Duration = Duration::from_millis(350);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Asking,
    Answered,
    Cancelled,
}

#[derive(Clone, Copy)]
pub struct PreviewState {
    /// Of what is asked for now or, until that is answered, of what was asked for before.
    report: RwSignal<Option<Report>>,
    doing: RwSignal<Option<JobProgress>>,
    stage: RwSignal<Stage>,
    pub problems: Problems,
    /// What is asked over now; another line takes its place, and the server stops what was asked over it.
    guard: StoredValue<Option<AbortGuard>, LocalStorage>,
    latest: StoredValue<u32>,
    again: RwSignal<()>,
}

impl PreviewState {
    pub fn of(spec: Memo<Spec>) -> Self {
        let previewed = Self {
            report: RwSignal::new(None),
            doing: RwSignal::new(None),
            stage: RwSignal::new(Stage::Asking),
            problems: Problems::default(),
            guard: StoredValue::new_local(None),
            latest: StoredValue::new(0),
            again: RwSignal::new(()),
        };
        let project = Project::here();
        Effect::new(move |_| {
            previewed.again.track();
            let (project, spec) = (project.name(), spec.get());
            let own = previewed.begin();
            set_timeout(move || previewed.ask(project, spec, own), PAUSE);
        });
        previewed
    }

    /// Whatever was asked before is asked no longer.
    fn begin(self) -> u32 {
        let own = self.latest.get_value() + 1;
        self.latest.set_value(own);
        self.guard.set_value(None);
        self.doing.set(None);
        self.stage.set(Stage::Asking);
        own
    }

    fn ask(self, project: String, spec: Spec, own: u32) {
        // What was changed since then is asked for by itself; and the reader may have left.
        let here = move || self.latest.try_get_value() == Some(own);
        if !here() {
            return;
        }
        let guard = AbortGuard::new();
        let signal = guard.signal();
        self.guard.set_value(Some(guard));
        spawn_local(async move {
            let hear = |doing| {
                if here() {
                    self.doing.set(Some(doing));
                }
            };
            let answer = api_client::corpora::preview(&project, &spec, &signal, hear).await;
            if !here() {
                return;
            }
            self.stage.set(Stage::Answered);
            match answer {
                Ok(report) => {
                    self.problems.clear();
                    self.report.set(Some(report));
                }
                Err(error) => {
                    self.problems.set(error);
                    self.report.set(None);
                }
            }
        });
    }

    fn cancel(self) {
        self.latest.update_value(|latest| *latest += 1);
        self.guard.set_value(None);
        self.problems.clear();
        self.report.set(None);
        self.stage.set(Stage::Cancelled);
    }
}

#[component]
pub fn PreviewPanel(previewed: PreviewState) -> impl IntoView {
    let PreviewState { report, stage, problems, .. } = previewed;
    let busy = Memo::new(move |_| stage.get() == Stage::Asking);
    let says = move || match (&*report.read(), stage.get()) {
        (Some(report), Stage::Answered) => {
            let (train, golden) = (report.split.train.conversations, report.split.golden.conversations);
            format!("{} conversations: {} train, {} golden", count(train + golden), count(train), count(golden))
        }
        (_, Stage::Cancelled) => "The preview is not complete.".to_owned(),
        _ => String::new(),
    };
    view! {
        <section class="preview" aria-labelledby="preview" aria-busy=move || busy.get().to_string()>
            <h2 id="preview">"Preview"</h2>
            <p class="count" role="status">
                {says}
            </p>
            {move || busy.get().then(|| view! { <Working what="Selecting" doing=previewed.doing cancel=move || previewed.cancel() /> })}
            <Show when=move || stage.get() == Stage::Cancelled>
                <div>
                    <button type="button" on:click=move |_| previewed.again.set(())>
                        "Refresh the preview"
                    </button>
                </div>
            </Show>
            <FormError why=problems />
            <Show when=move || busy.get() && report.read().is_some()>
                <p class="muted changing">"This preview is of the previous settings:"</p>
            </Show>
            {move || report.get().map(|report| view! { <ReportView report /> })}
        </section>
    }
}
