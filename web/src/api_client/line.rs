//! Requests end with whoever waits for them.

use gloo_net::http::RequestBuilder;
use web_sys::{AbortController, AbortSignal};

/// What a request is asked over. Dropped, the request is broken off, and the server hears of it; one that has been answered
/// notices nothing.
pub struct Line(Option<AbortController>);

/// Breaks a line off.
pub struct Cancel(Option<AbortController>);

/// The other end of a line.
pub struct End(Option<AbortSignal>);

impl Line {
    pub fn open() -> Self {
        Self(AbortController::new().ok())
    }

    pub fn cancel(&self) -> Cancel {
        Cancel(self.0.clone())
    }

    pub fn end(&self) -> End {
        End(self.0.as_ref().map(AbortController::signal))
    }
}

impl Cancel {
    pub fn cancel(&self) {
        if let Some(own) = &self.0 {
            own.abort();
        }
    }
}

impl End {
    pub fn carry(&self, request: RequestBuilder) -> RequestBuilder {
        request.abort_signal(self.0.as_ref())
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        if let Some(own) = &self.0 {
            own.abort();
        }
    }
}
