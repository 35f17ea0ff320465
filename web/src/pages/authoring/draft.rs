//! A document that is being written: what is saved, and what stands in the editor.

use domain::access::Role;
use domain::api::documents::{Changes, Counts, Document, DocumentFinding, DocumentVersion, SaveDocument};
use domain::project::Kind;
use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::hooks::query_signal_with_options;

use super::draft_storage::{self, Texts};
use ui::api_client::documents::DocumentRef;
use ui::api_client::{self, AbortSignal, Answer, ApiError};
use ui::components::{Change, Toasts, explain};
use ui::session::Project;

const CONFLICT: u16 = 409;

/// A place in a file: a field, if its JSON pointer is known, else a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceLocation {
    pub file: String,
    pub pointer: String,
    /// From 1; 0 if it is not known.
    pub line: usize,
}

#[derive(Clone, Copy)]
pub struct Draft {
    place: StoredValue<DocumentRef>,
    /// The newest version that this page knows.
    pub saved: RwSignal<Document>,
    /// The version that `files` was made from.
    pub base: RwSignal<i32>,
    pub files: RwSignal<Texts>,
    pub dirty: Memo<bool>,
    /// What the author says of the change.
    pub message: RwSignal<String>,
    /// The file that is shown.
    pub file: Memo<String>,
    show_file: SignalSetter<Option<String>>,
    pub found: RwSignal<Vec<DocumentFinding>>,
    pub saving: Change,
    pub may_write: Memo<bool>,
    /// A newer version that somebody else saved while this one was written.
    pub conflict: RwSignal<Option<Document>>,
    /// Whether what met it was to be used at once.
    pub promoting: StoredValue<bool>,
    /// Whether what was written before, and not saved, is here again.
    pub restored: RwSignal<bool>,
    /// Whether what is not saved outlives the page.
    pub is_stored: RwSignal<bool>,
    /// Where in the text the author wants to be led.
    pub wanted: RwSignal<Option<SourceLocation>>,
    /// Taken here: keys are heard where no context is.
    toasts: Toasts,
}

impl Draft {
    /// With what was written and not saved, if there is such.
    pub fn open(place: DocumentRef, document: Document) -> Self {
        let stored = draft_storage::load(&place).filter(|stored| stored.files != document.files);
        let (restored, base) = (stored.is_some(), stored.as_ref().map_or(document.saved.version, |stored| stored.base));
        let files = stored.map_or_else(|| document.files.clone(), |stored| stored.files);
        let options = NavigateOptions { scroll: false, ..NavigateOptions::default() };
        let (wished, show_file) = query_signal_with_options::<String>("file", options);
        let project = Project::here();
        let (found, first) = (document.found.clone(), first_file(&document));
        let (saved, files) = (RwSignal::new(document), RwSignal::new(files));
        let file = Memo::new(move |_| {
            let named = wished.get().filter(|name| files.with(|files| files.contains_key(name)));
            named.unwrap_or_else(|| first.clone())
        });
        Self {
            place: StoredValue::new(place),
            saved,
            base: RwSignal::new(base),
            files,
            dirty: Memo::new(move |_| *files.read() != saved.read().files),
            message: RwSignal::new(String::new()),
            file,
            show_file,
            found: RwSignal::new(found),
            saving: Change::new(),
            may_write: Memo::new(move |_| project.may(Role::Author)),
            conflict: RwSignal::new(None),
            promoting: StoredValue::new(false),
            restored: RwSignal::new(restored),
            is_stored: RwSignal::new(true),
            wanted: RwSignal::new(None),
            toasts: Toasts::here(),
        }
    }

    pub fn here() -> Self {
        expect_context()
    }

    pub fn place(self) -> DocumentRef {
        self.place.get_value()
    }

    pub fn kind(self) -> Kind {
        self.place.with_value(|place| place.id.kind)
    }

    pub fn name(self) -> String {
        self.place.with_value(|place| place.id.name.clone())
    }

    /// The text of a document that is one file, and where it stands; of a folder, those of its first file.
    pub fn main(self) -> Memo<(String, String)> {
        Memo::new(move |_| {
            let first = first_file(&self.saved.read());
            let text = self.files.read().get(&first).cloned().unwrap_or_default();
            (first, text)
        })
    }

    pub fn write(self, path: &str, text: String) {
        if self.files.with_untracked(|files| files.get(path) != Some(&text)) {
            self.files.update(|files| drop(files.insert(path.to_owned(), text)));
        }
    }

    pub fn show(self, path: &str) {
        self.show_file.set(Some(path.to_owned()));
    }

    /// Shows the file, and leads the author to a place in it.
    pub fn lead(self, spot: SourceLocation) {
        self.show(&spot.file);
        self.wanted.set(Some(spot));
    }

    /// Takes a version over, in place of what stands in the editor.
    pub fn adopt(self, document: Document) {
        self.files.set(document.files.clone());
        self.found.set(document.found.clone());
        self.base.set(document.saved.version);
        self.restored.set(false);
        self.saved.set(document);
    }

    pub fn discard(self) {
        self.adopt(self.saved.get_untracked());
    }

    /// Saves what stands in the editor, or, if that is saved already, uses it from now on.
    pub fn save(self, promote: bool) {
        if !self.may_write.get_untracked() {
            return;
        }
        let place = self.place();
        if !self.dirty.get_untracked() {
            let saved = self.saved.read_untracked().saved.clone();
            if promote && !saved.promoted {
                let version = saved.version;
                self.change(true, move |signal| async move {
                    api_client::documents::promote(&signal, &place, version).await
                });
            }
            return;
        }
        let wanted = SaveDocument {
            files: self.files.get_untracked(),
            message: self.message.get_untracked(),
            base_version: Some(self.base.get_untracked()),
            promote,
            ..SaveDocument::default()
        };
        self.change(promote, move |signal| async move { api_client::documents::save(&signal, &place, &wanted).await });
    }

    fn change<F>(self, promote: bool, change: impl FnOnce(AbortSignal) -> F)
    where
        F: Future<Output = Answer<Changes>> + 'static,
    {
        let (place, files, before) = (self.place(), self.files.get_untracked(), self.saved.get_untracked());
        self.saving.make(change, move |done| async move {
            let newest = match &done {
                Some(Err(error)) if !is_conflict(error) => return self.toasts.bad(explain(error.clone())),
                _ => api_client::documents::one(&place).await,
            };
            let newest = match newest {
                Ok(newest) => newest,
                Err(error) if error.is_missing() => return self.toasts.bad(self.deleted()),
                Err(error) => return self.toasts.bad(explain(error)),
            };
            match done {
                Some(Err(_)) => {
                    self.promoting.set_value(promote);
                    self.conflict.try_set(Some(newest));
                }
                Some(Ok(changes)) => {
                    let made = made(before, files, changes, &newest);
                    self.toasts.good(save_message(&made.saved, &newest.saved, promote));
                    self.adopt_saved(made);
                }
                // Cancelled, and it was saved by then.
                None if newest.saved != before.saved && newest.files == files => {
                    self.toasts.good(save_message(&newest.saved, &newest.saved, promote));
                    self.adopt_saved(newest);
                }
                None => self.toasts.good("Saving was cancelled. Your text is still here, but not saved."),
            }
        });
    }

    fn deleted(self) -> &'static str {
        if self.is_stored.try_get_untracked().unwrap_or(true) {
            "Somebody deleted it meanwhile. What you wrote is kept in this tab: open it again to restore it."
        } else {
            "Somebody deleted it meanwhile. What you wrote is kept only while this page is open: copy what you need."
        }
    }

    /// What was written meanwhile stays.
    fn adopt_saved(self, made: Document) {
        if self.base.try_set(made.saved.version).is_some() {
            return;
        }
        self.message.set(String::new());
        self.restored.set(false);
        self.saved.set(made);
    }
}

/// The version that a save made. It is the newest one, unless somebody else saved right after: then the next save is refused,
/// and the author asked.
fn made(before: Document, files: Texts, changes: Changes, newest: &Document) -> Document {
    let own = changes.documents.into_iter().find(|change| (change.kind, &change.name) == (before.kind, &before.name));
    let (version, promoted) =
        own.map_or((before.saved.version, before.saved.promoted), |own| (own.version, own.promoted));
    if newest.saved.version == version {
        return newest.clone();
    }
    let findings = Counts::of(&changes.found);
    let saved = DocumentVersion { version, promoted, findings, ..before.saved };
    Document { saved, files, found: changes.found, ..before }
}

fn save_message(made: &DocumentVersion, newest: &DocumentVersion, promote: bool) -> String {
    let used = if promote { "is promoted" } else { "is saved as a draft" };
    let done = format!("v{} {used}.", made.version);
    if made.version == newest.version {
        return done;
    }
    let by = if newest.author.is_empty() { "A command" } else { &newest.author };
    format!(
        "{done} {by} saved v{} right after: before you save again, you are asked which version to keep.",
        newest.version
    )
}

fn is_conflict(error: &ApiError) -> bool {
    matches!(error, ApiError::Refused(problem) if problem.status == CONFLICT)
}

/// The file that says what the document is.
fn first_file(document: &Document) -> String {
    let main = match document.kind {
        Kind::Playbook => format!("playbooks/{}/playbook.yaml", document.name),
        Kind::Judge => format!("judges/{}/judge.yaml", document.name),
        Kind::Workflow => format!("workflows/{}/workflow.yaml", document.name),
        Kind::Scenario | Kind::Persona => String::new(),
    };
    if document.files.contains_key(&main) { main } else { document.files.keys().next().cloned().unwrap_or_default() }
}
