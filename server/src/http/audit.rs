//! Every change goes into the audit log, here and nowhere else: a handler cannot forget it.

use std::sync::{Arc, Mutex, PoisonError};

use axum::extract::{FromRequestParts, MatchedPath, RawPathParams, Request, State};
use axum::http::request::Parts;
use axum::middleware::Next;
use axum::response::Response;
use serde_json::{Value, json};
use tracing::error;
use uuid::Uuid;

use super::access::Caller;
use super::app::App;
use super::error::HttpError;
use crate::clock;
use crate::store::audit::{self, Entry};

/// What a handler adds to its entry.
#[derive(Clone, Default)]
pub struct Audit(Arc<Mutex<Noted>>);

#[derive(Default)]
struct Noted {
    project: Option<Uuid>,
    actor: Option<String>,
    subject: Option<String>,
    detail: Option<Value>,
    unchanged: bool,
}

impl Audit {
    /// The project that the request is about.
    pub fn project(&self, id: Uuid) {
        self.note(|noted| noted.project = Some(id));
    }

    /// Who it was, if the request itself does not say.
    pub fn actor(&self, name: &str) {
        self.note(|noted| noted.actor = Some(name.to_owned()));
    }

    /// What was made or changed, if it does not stand in the path.
    pub fn subject(&self, id: impl ToString) {
        self.note(|noted| noted.subject = Some(id.to_string()));
    }

    pub fn detail(&self, detail: Value) {
        self.note(|noted| noted.detail = Some(detail));
    }

    /// The request only looked, although its method says that it changes.
    pub fn nothing_changed(&self) {
        self.note(|noted| noted.unchanged = true);
    }

    fn note(&self, change: impl FnOnce(&mut Noted)) {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

impl FromRequestParts<App> for Audit {
    type Rejection = HttpError;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, HttpError> {
        Ok(parts.extensions.get::<Self>().cloned().unwrap_or_default())
    }
}

/// Writes an entry for each request that changed something.
pub async fn record(State(app): State<App>, path: MatchedPath, request: Request, next: Next) -> Response {
    let safe = request.method().is_safe();
    let noted = Audit::default();
    let (mut parts, body) = request.into_parts();
    parts.extensions.insert(noted.clone());
    let action = format!("{} {}", parts.method, path.as_str());
    let caller = parts.extensions.get::<Caller>().cloned();
    let subject = match RawPathParams::from_request_parts(&mut parts, &app).await {
        Ok(params) => params.iter().map(|(_, value)| value).collect::<Vec<_>>().join("/"),
        Err(_) => String::new(),
    };
    let response = next.run(Request::from_parts(parts, body)).await;
    if safe || !response.status().is_success() {
        return response;
    }
    let entry = {
        let noted = noted.0.lock().unwrap_or_else(PoisonError::into_inner);
        if noted.unchanged {
            return response;
        }
        Entry {
            at: clock::now(),
            actor: noted.actor.clone().or(caller.as_ref().map(|caller| caller.name.clone())).unwrap_or_default(),
            token: caller.and_then(|caller| caller.token),
            project_id: noted.project,
            action,
            subject: noted.subject.clone().unwrap_or(subject),
            detail: noted.detail.clone().unwrap_or_else(|| json!({})),
        }
    };
    let kept = async { audit::insert(&mut *app.pool().acquire().await?, &entry).await };
    if let Err(e) = kept.await {
        error!(error = %e, action = entry.action, subject = entry.subject, actor = entry.actor, "not in the audit log");
    }
    response
}
