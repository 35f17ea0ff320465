//! Who is signed in, as far as the pages know.

use domain::api::SessionDetail;
use leptos::prelude::*;

#[derive(Clone, Copy, Default)]
pub struct Session(RwSignal<Option<SessionDetail>>);

impl Session {
    pub fn here() -> Self {
        expect_context()
    }

    pub fn set(self, session: Option<SessionDetail>) {
        self.0.set(session);
    }

    /// Their name; `None` if nobody is known to be signed in.
    pub fn name(self) -> Option<String> {
        self.0.read().as_ref().map(|session| session.name.clone())
    }

    /// The project that the pages show; `None` if they are a member of none.
    pub fn project(self) -> Option<String> {
        self.0.read().as_ref()?.projects.first().map(|role| role.project.clone())
    }
}
