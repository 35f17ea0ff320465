//! Who is signed in, as far as the pages know, and which project they look at.

use domain::access::Role;
use domain::api::{ProjectRole, SessionDetail};
use leptos::prelude::*;

#[derive(Clone, Copy, Default)]
pub struct Session {
    detail: RwSignal<Option<SessionDetail>>,
    /// The project of the page that was opened last: pages of no project keep its links at hand.
    visited: RwSignal<Option<String>>,
}

impl Session {
    pub fn here() -> Self {
        expect_context()
    }

    pub fn set(self, session: Option<SessionDetail>) {
        self.detail.set(session);
    }

    /// Their name; `None` if nobody is known to be signed in.
    pub fn name(self) -> Option<String> {
        self.detail.read().as_ref().map(|session| session.name.clone())
    }

    /// May do everything everywhere.
    pub fn is_administrator(self) -> bool {
        self.detail.read().as_ref().is_some_and(|session| session.administrator)
    }

    pub fn projects(self) -> Vec<ProjectRole> {
        self.detail.read().as_ref().map(|session| session.projects.clone()).unwrap_or_default()
    }

    pub fn visit(self, project: &str) {
        self.visited.set(Some(project.to_owned()));
    }

    /// The project that was looked at last, or the first one; `None` if they are a member of none.
    pub fn project(self) -> Option<String> {
        let visited = self.visited.get().filter(|name| self.is_member(name));
        visited.or_else(|| self.projects().into_iter().next().map(|first| first.project))
    }

    pub fn is_member(self, project: &str) -> bool {
        self.with_project(project, |_| ()).is_some()
    }

    fn with_project<T>(self, name: &str, of: impl FnOnce(&ProjectRole) -> T) -> Option<T> {
        let session = self.detail.read();
        session.as_ref()?.projects.iter().find(|project| project.project == name).map(of)
    }
}

/// The project that the page's address names. Its pages are shown to members only.
#[derive(Clone, Copy)]
pub struct Project(pub Memo<String>);

impl Project {
    pub fn here() -> Self {
        expect_context()
    }

    /// As it stands in addresses.
    pub fn name(self) -> String {
        self.0.get()
    }

    pub fn title(self) -> String {
        let title = Session::here().with_project(&self.0.read(), |project| project.title.clone());
        title.unwrap_or_else(|| self.0.get())
    }

    /// Whether they may do what a role may. The server has the last word; this decides which buttons there are.
    pub fn may(self, role: Role) -> bool {
        let session = Session::here();
        session.is_administrator() || session.with_project(&self.0.read(), |own| own.role >= role).unwrap_or(false)
    }
}
