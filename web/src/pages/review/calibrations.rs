//! Judges beside people: the comparisons of a project, and a new one.

use domain::access::Role;
use domain::api::{CalibrationDetail, NewCalibration};
use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::components::A;
use leptos_router::hooks::use_navigate;

use super::choices::RunChoice;
use ui::components::{Change, Changing, Empty, FormError, PagedList, Problems, Send};
use ui::session::Project;
use ui::{address, api_client, format};

#[component]
pub fn Calibrations(project: String) -> impl IntoView {
    let name = project.clone();
    let load = move |after| {
        let name = name.clone();
        async move { api_client::calibrations::list(&name, after).await }
    };
    let may = Project::here().may(Role::Author);
    view! {
        <div class="stack">
            {may.then(|| view! { <CalibrationForm project /> })}
            <PagedList what="calibrations" load empty=|| view! { <NoCalibrations /> } let:rows>
                <table class="rows">
                    <thead>
                        <tr>
                            <th scope="col">"Judge"</th>
                            <th scope="col" class="number">
                                "Compared"
                            </th>
                            <th scope="col" class="number">
                                "Kappa of the overall score"
                            </th>
                            <th scope="col">"By"</th>
                            <th scope="col">"Created"</th>
                        </tr>
                    </thead>
                    <tbody>
                        <For each=move || rows.get() key=|one: &CalibrationDetail| one.id.clone() let:one>
                            <Row one />
                        </For>
                    </tbody>
                </table>
            </PagedList>
        </div>
    }
}

/// A calibration's page.
fn of(project: &str, id: &str) -> String {
    address::project(project, &format!("/calibrations/{}", address::segment(id)))
}

#[component]
fn Row(one: CalibrationDetail) -> impl IntoView {
    let href = of(&Project::here().name(), &one.id);
    let overall = one.report.criteria.iter().find(|found| found.criterion == domain::calibration::OVERALL);
    let kappa = overall.and_then(|found| found.weighted_kappa);
    view! {
        <tr>
            <td class="scenario">
                <A href>{one.judge}</A>
            </td>
            <td class="number">{one.report.conversations}</td>
            <td class="number">{figure(kappa)}</td>
            <td>
                <bdi>{one.created_by}</bdi>
            </td>
            <td>
                <time datetime=one.created_at.to_rfc3339()>{format::time(one.created_at)}</time>
            </td>
        </tr>
    }
}

/// Two digits, or a dash for what could not be computed.
pub fn figure(value: Option<f64>) -> String {
    value.map_or_else(|| "–".to_owned(), |value| format!("{value:.2}"))
}

#[component]
fn NoCalibrations() -> impl IntoView {
    view! {
        <Empty title="No calibrations yet.">
            <p>
                "Once people have rated conversations of a run, its judge can be compared with them. A calibration \
                 shows for each criterion how far the judge is off, and a formula that corrects its scores."
            </p>
        </Empty>
    }
}

#[component]
fn CalibrationForm(project: String) -> impl IntoView {
    let (run, comparing, problems) = (RwSignal::new(String::new()), Change::new(), Problems::default());
    let navigate = use_navigate();
    let send = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        let (project, navigate) = (project.clone(), navigate.clone());
        let run = Some(run.get_untracked()).filter(|run| !run.is_empty());
        let new = NewCalibration { run, ..NewCalibration::default() };
        let name = project.clone();
        comparing.send(
            problems,
            move |signal| async move { api_client::calibrations::make(&signal, &name, &new).await },
            move |made| {
                if let Some(first) = made.first() {
                    navigate(&of(&project, &first.id), NavigateOptions::default());
                }
            },
        );
    };
    view! {
        <form class="panel narrow" aria-label="Compare a judge with people" on:submit=send>
            <FormError why=problems />
            <RunChoice
                label="Compare the judge of a run with people's ratings"
                value=run
                none="Choose a run"
                wrong=problems.at("/run")
            />
            <div>
                <Send label="Compare" busy=comparing.waits() />
            </div>
            <Changing change=comparing what="Comparing the ratings" />
        </form>
    }
}
