//! What would come of a selection, a moment after it was last changed.

use std::time::Duration;

use domain::corpus::{Report, Spec};
use leptos::prelude::*;
use leptos::task::spawn_local;

use super::super::report::{ReportView, count};
use crate::api_client;
use crate::components::{Problems, Refused};
use crate::session::Project;

/// As long as people pause between two changes.
const PAUSE: Duration = Duration::from_millis(350);

#[derive(Clone, Copy)]
pub struct Previewed {
    report: RwSignal<Option<Report>>,
    busy: RwSignal<bool>,
    pub problems: Problems,
}

impl Previewed {
    pub fn of(spec: Memo<Spec>) -> Self {
        let previewed = Self { report: RwSignal::new(None), busy: RwSignal::new(true), problems: Problems::default() };
        let project = Project::here();
        let latest = StoredValue::new(0_u32);
        Effect::new(move |_| {
            let (project, spec) = (project.name(), spec.get());
            let own = latest.get_value() + 1;
            latest.set_value(own);
            previewed.busy.set(true);
            set_timeout(
                move || {
                    if latest.try_get_value() == Some(own) {
                        spawn_local(previewed.ask(project, spec, latest, own));
                    }
                },
                PAUSE,
            );
        });
        previewed
    }

    async fn ask(self, project: String, spec: Spec, latest: StoredValue<u32>, own: u32) {
        let answer = api_client::corpora::preview(&project, &spec).await;
        // What was changed since then is asked for by itself; and the reader may have left.
        if latest.try_get_value() != Some(own) {
            return;
        }
        self.busy.set(false);
        match answer {
            Ok(report) => {
                self.problems.clear();
                self.report.set(Some(report));
            }
            Err(error) => self.problems.set(error),
        }
    }
}

#[component]
pub fn PreviewPanel(previewed: Previewed) -> impl IntoView {
    let Previewed { report, busy, problems } = previewed;
    let says = move || match (&*report.read(), busy.get()) {
        (_, true) => "Selecting …".to_owned(),
        (Some(report), false) => {
            let (train, golden) = (report.split.train.conversations, report.split.golden.conversations);
            format!("{} conversations: {} train, {} golden", count(train + golden), count(train), count(golden))
        }
        (None, false) => String::new(),
    };
    view! {
        <section class="preview" aria-labelledby="preview" aria-busy=move || busy.get().to_string()>
            <h2 id="preview">"What it would be"</h2>
            <p class="count" role="status">
                {says}
            </p>
            <Refused why=problems />
            {move || report.get().map(|report| view! { <ReportView report /> })}
        </section>
    }
}
