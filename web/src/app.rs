//! Which address shows which page.

use leptos::prelude::*;
use leptos_router::components::{ParentRoute, Route, Router, Routes};
use leptos_router::path;

use crate::pages::{
    AuthoringRoutes, ConversationLink, ConversationRoutes, DataRoutes, EnvironmentRoutes, HomePage, MissingPage,
    OperateRoutes, PlayRoutes, ProjectFrame, ProjectPage, ProjectRoutes, ReviewRoutes, SignInPage, WelcomePage,
};
use ui::components::{Dialogs, Outside, SignedIn, Toasts};
use ui::keys::Keys;
use ui::session::Session;
use ui::theme::Theme;

#[component]
pub fn App() -> impl IntoView {
    provide_context(Session::default());
    provide_context(Theme::remembered());
    provide_context(Toasts::default());
    provide_context(Keys::listen());
    view! {
        <Router>
            <Routes fallback=MissingPage>
                <ParentRoute path=path!("") view=Outside>
                    <Route path=path!("/sign-in") view=SignInPage />
                    <Route path=path!("/welcome") view=WelcomePage />
                </ParentRoute>
                <ParentRoute path=path!("") view=SignedIn>
                    <Route path=path!("/") view=HomePage />
                    <Route path=path!("/conversations/:conversation") view=ConversationLink />
                    <ParentRoute path=path!("/projects/:project") view=ProjectFrame>
                        <Route path=path!("") view=ProjectPage />
                        <AuthoringRoutes />
                        <PlayRoutes />
                        <ConversationRoutes />
                        <ReviewRoutes />
                        <DataRoutes />
                        <EnvironmentRoutes />
                        <ProjectRoutes />
                    </ParentRoute>
                    <OperateRoutes />
                </ParentRoute>
            </Routes>
            <Dialogs />
        </Router>
    }
}
