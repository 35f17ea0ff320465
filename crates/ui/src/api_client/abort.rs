//! Requests end with whoever waits for them.

use gloo_net::http::RequestBuilder;
use web_sys::AbortController;

/// Aborts its requests when it is dropped, and the server hears of it. A request that has been answered notices nothing.
pub struct AbortGuard(Option<AbortController>);

/// Aborts the requests of a guard while it lives.
pub struct Aborter(Option<AbortController>);

/// Tells a request that it is aborted.
pub struct AbortSignal(Option<web_sys::AbortSignal>);

impl AbortGuard {
    pub fn new() -> Self {
        Self(AbortController::new().ok())
    }

    pub fn aborter(&self) -> Aborter {
        Aborter(self.0.clone())
    }

    pub fn signal(&self) -> AbortSignal {
        AbortSignal(self.0.as_ref().map(AbortController::signal))
    }
}

impl Aborter {
    pub fn abort(&self) {
        if let Some(own) = &self.0 {
            own.abort();
        }
    }
}

impl AbortSignal {
    pub fn attach(&self, request: RequestBuilder) -> RequestBuilder {
        request.abort_signal(self.0.as_ref())
    }
}

impl Drop for AbortGuard {
    fn drop(&mut self) {
        if let Some(own) = &self.0 {
            own.abort();
        }
    }
}
