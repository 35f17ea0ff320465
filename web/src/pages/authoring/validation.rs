//! The whole project, validated: all documents together, each scenario proved, and compared with all others.

use domain::access::Role;
use domain::api::documents::{DocumentFinding, ValidationDetail};
use domain::finding::Rule;
use domain::progress::JobProgress;
use domain::project::DocumentId;
use leptos::prelude::*;
use leptos::task::spawn_local;
use leptos_router::components::A;

use super::words;
use ui::api_client::{self, AbortGuard};
use ui::components::{AsyncView, Badge, Empty, FirstRows, FormError, MoreRows, Working, explain, set_title};
use ui::labels::Tone;
use ui::session::Project;
use ui::{address, format};

/// What is asked of the server, while the reader waits for it.
#[derive(Clone, Copy)]
struct ValidationRequest {
    busy: RwSignal<bool>,
    /// Dropped, it ends the server's work.
    guard: StoredValue<Option<AbortGuard>, LocalStorage>,
    doing: RwSignal<Option<JobProgress>>,
    why: RwSignal<Option<String>>,
    /// Counts what was asked; what comes of an older one is no longer waited for.
    latest: StoredValue<u32>,
    /// Counts what came of it.
    ended: RwSignal<u32>,
}

impl ValidationRequest {
    fn new() -> Self {
        Self {
            busy: RwSignal::new(false),
            guard: StoredValue::new_local(None),
            doing: RwSignal::new(None),
            why: RwSignal::new(None),
            latest: StoredValue::new(0),
            ended: RwSignal::new(0),
        }
    }

    fn ask(self, project: String) {
        let own = self.latest.get_value() + 1;
        self.latest.set_value(own);
        // The reader may have left the page meanwhile.
        let here = move || self.latest.try_get_value() == Some(own);
        let guard = AbortGuard::new();
        let signal = guard.signal();
        self.guard.set_value(Some(guard));
        self.why.set(None);
        self.doing.set(None);
        self.busy.set(true);
        spawn_local(async move {
            let hear = |doing| {
                if here() {
                    self.doing.set(Some(doing));
                }
            };
            let answer = api_client::documents::validate(&project, &signal, hear).await;
            if !here() {
                return;
            }
            self.busy.set(false);
            match answer {
                Ok(_) => self.ended.update(|ended| *ended += 1),
                Err(error) => self.why.set(Some(explain(error))),
            }
        });
    }

    fn cancel(self) {
        self.latest.update_value(|latest| *latest += 1);
        self.guard.set_value(None);
        self.busy.set(false);
    }
}

#[component]
pub fn ValidationPage() -> impl IntoView {
    set_title("Validation");
    let project = Project::here();
    let asked = ValidationRequest::new();
    let load = move || {
        asked.ended.track();
        let project = project.name();
        async move { api_client::documents::last_validation(&project).await }
    };
    view! {
        <header class="document-head">
            <h1>"Validation"</h1>
            <Show when=move || project.may(Role::Author) && !asked.busy.get()>
                <button type="button" class="main" on:click=move |_| asked.ask(project.name())>
                    "Validate the project"
                </button>
            </Show>
        </header>
        <p class="muted">
            "Checks all promoted documents together. Plays the script of every scenario to prove that it can be \
             solved, and compares it with the other scenarios of its playbook."
        </p>
        <FormError why=asked.why />
        {move || {
            asked
                .busy
                .get()
                .then(|| view! { <Working what="Validating" doing=asked.doing cancel=move || asked.cancel() /> })
        }}
        <AsyncView what="the last validation" load let:last>
            <LastValidation last />
        </AsyncView>
    }
}

#[component]
fn LastValidation(last: Option<ValidationDetail>) -> impl IntoView {
    let Some(ValidationDetail { summary, found, .. }) = last else {
        return view! {
            <Empty title="The project was never validated.">
                <p>"The findings are stored, and everybody who may read the project sees them here."</p>
            </Empty>
        }
        .into_any();
    };
    let counted = words::counted(summary.findings);
    let tone = if summary.sound { Tone::Good } else { Tone::Bad };
    let says = if summary.sound { "sound" } else { "not sound" };
    let (none, all, first) = (found.is_empty(), found.len(), FirstRows::new());
    let mut found = found;
    found.sort_by(|a, b| b.grade.cmp(&a.grade).then_with(|| a.cmp(b)));
    view! {
        <section class="problems whole" aria-labelledby="found">
            <h2 id="found">"Findings of the last validation"</h2>
            <p>
                <span class="badges">
                    <Badge tone text=says />
                    {counted.into_iter().map(|(tone, text)| view! { <Badge tone text /> }).collect_view()}
                </span>
                " "
                <time class="muted" datetime=summary.created_at.to_rfc3339()>
                    {format::time(summary.created_at)}
                </time>
            </p>
            {none.then(|| view! { <p>"No document has a problem."</p> })}
            <ul>{move || first.of(found.iter().cloned()).into_iter().map(|found| view! { <Item found /> }).collect_view()}</ul>
            <MoreRows first all=Signal::stored(all) />
        </section>
    }
    .into_any()
}

#[component]
fn Item(found: DocumentFinding) -> impl IntoView {
    let DocumentFinding { grade, rule, file, line, field, message, .. } = found;
    let place = match (line, field.is_empty()) {
        (0, _) => field,
        (line, true) => format!("line {line}"),
        (line, false) => format!("line {line}, {field}"),
    };
    let document = DocumentId::of(&file).ok();
    let project = Project::here().name();
    let leads = document.map(|DocumentId { kind, name }| {
        let href = address::document(&project, kind, &name);
        view! { <A href>{name}</A> }
    });
    let named = leads.is_none().then_some(file);
    view! {
        <li title=rule.map_or("", Rule::explanation)>
            <p>
                <Badge tone=words::tone(grade) text=grade.into_str() />
                <span class="text" dir="auto">
                    {message}
                </span>
                <span class="muted text">{leads} {named} " " {place}</span>
            </p>
        </li>
    }
}
