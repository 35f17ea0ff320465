//! Every change goes into the audit log, and in the transaction that makes it: either both are kept, or neither is.

use std::sync::Arc;

use axum::extract::{FromRequestParts, MatchedPath, RawPathParams, Request};
use axum::http::request::Parts;
use axum::middleware::Next;
use axum::response::Response;
use parking_lot::Mutex;
use serde_json::{Value, json};
use sqlx::{Postgres, Transaction};
use tracing::error;
use uuid::Uuid;

use super::caller::Caller;
use super::error::{HttpError, Result};
use store::audit::{self, Entry};
use store::clock;

/// The entry of a request, to which its handler adds what the request itself does not say.
#[derive(Clone)]
pub struct Audit(Arc<Mutex<PendingEntry>>);

struct PendingEntry {
    entry: Entry,
    /// Whether it is written, or is not to be.
    settled: bool,
}

impl Audit {
    /// Commits a change together with its entry. What a handler changes is kept by this and by nothing else.
    ///
    /// # Errors
    /// The entry cannot be written, or the database is away: then nothing is changed.
    pub async fn commit(&self, tx: Transaction<'_, Postgres>) -> Result<()> {
        Self::commit_all(tx, [self]).await
    }

    /// Likewise, changes of several requests.
    pub async fn commit_all<'a>(
        mut tx: Transaction<'_, Postgres>,
        all: impl IntoIterator<Item = &'a Self>,
    ) -> Result<()> {
        let all: Vec<&Self> = all.into_iter().collect();
        let at = clock::now();
        let entries: Vec<Entry> = all.iter().map(|audit| Entry { at, ..audit.entry() }).collect();
        audit::insert_all(&mut tx, &entries).await?;
        tx.commit().await?;
        all.iter().for_each(|audit| audit.note(|noted| noted.settled = true));
        Ok(())
    }

    /// The project that the request is about.
    pub fn project(&self, id: Uuid) {
        self.note(|noted| noted.entry.project_id = Some(id));
    }

    /// Who it was, if the request itself does not say.
    pub fn actor(&self, name: &str) {
        self.note(|noted| name.clone_into(&mut noted.entry.actor));
    }

    /// What was made or changed, if it does not stand in the path.
    pub fn subject(&self, id: impl ToString) {
        self.note(|noted| noted.entry.subject = id.to_string());
    }

    pub fn detail(&self, detail: Value) {
        self.note(|noted| noted.entry.detail = detail);
    }

    /// The request only looked, although its method says that it changes.
    pub fn nothing_changed(&self) {
        self.note(|noted| noted.settled = true);
    }

    fn note<T>(&self, change: impl FnOnce(&mut PendingEntry) -> T) -> T {
        change(&mut self.0.lock())
    }

    fn entry(&self) -> Entry {
        self.note(|noted| noted.entry.clone())
    }
}

impl<S: Sync> FromRequestParts<S> for Audit {
    type Rejection = HttpError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self> {
        let audit = parts.extensions.get::<Self>().cloned();
        audit.ok_or_else(|| HttpError::Damaged("a route outside the audit log".into()))
    }
}

/// Begins the entry of each request, and looks whether the handler has written it.
pub async fn record(path: MatchedPath, request: Request, next: Next) -> Response {
    let safe = request.method().is_safe();
    let (mut parts, body) = request.into_parts();
    let caller = parts.extensions.get::<Caller>().cloned();
    let subject = match RawPathParams::from_request_parts(&mut parts, &()).await {
        Ok(params) => params.iter().map(|(_, value)| value).collect::<Vec<_>>().join("/"),
        Err(_) => String::new(),
    };
    let entry = Entry {
        at: clock::now(),
        actor: caller.as_ref().map(|caller| caller.name.clone()).unwrap_or_default(),
        token: caller.and_then(|caller| caller.token).map(|token| token.name),
        project_id: None,
        action: format!("{} {}", parts.method, path.as_str()),
        subject,
        detail: json!({}),
    };
    let audit = Audit(Arc::new(Mutex::new(PendingEntry { entry, settled: false })));
    parts.extensions.insert(audit.clone());
    let response = next.run(Request::from_parts(parts, body)).await;
    if !safe && response.status().is_success() && !audit.note(|noted| noted.settled) {
        let action = audit.entry().action;
        error!(action, "changed something that is not in the audit log");
        // So that every test of such a handler fails.
        debug_assert!(false, "{action} is not in the audit log");
    }
    response
}
