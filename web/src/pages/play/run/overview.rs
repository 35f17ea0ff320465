//! A run at a glance: how far, how much of it is good, what it spends, who fails.

use domain::forecast::Forecast;
use leptos::prelude::*;

use super::endpoints::Endpoints;
use super::figures::RowFigures;
use super::pace::pace;
use super::rows::Endings;
use super::usage::UsageTable;
use super::yields::{Blame, Funnel, share};
use super::{EVERY, LiveRun};
use ui::components::refresh;
use ui::{api_client, format};

#[component]
pub fn Overview(followed: LiveRun) -> impl IntoView {
    let yields = if followed.plays_rows() {
        view! { <Endings followed /> }.into_any()
    } else {
        view! {
            <Funnel followed />
            <Blame followed />
        }
        .into_any()
    };
    view! {
        <Progress followed />
        <div class="tiles">{yields} <ForecastPanel followed /></div>
        {followed.plays_rows().then(|| view! { <RowFigures followed /> })}
        <UsageTable followed />
        <Endpoints followed />
    }
}

#[component]
fn Progress(followed: LiveRun) -> impl IntoView {
    let run = followed.run;
    let share = Memo::new(move |_| share(run.read().finished, run.read().planned));
    let pace = pace(run);
    let tasks = if followed.plays_rows() { "rows" } else { "conversations" };
    let speed = move || pace.get().map_or_else(dash, |pace| speed(pace, tasks));
    let left = move || {
        let left = run.read().planned - run.read().finished;
        let pace = pace.get().filter(|pace| *pace > 0.0 && left > 0 && followed.live.get())?;
        #[expect(clippy::cast_precision_loss, reason = "an estimate")]
        Some(format!(" · about {} left", format::duration(left as f64 / pace)))
    };
    view! {
        <div class="progress">
            <div class="progress-bar">
                <progress aria-label="Finished" max="1" prop:value=move || share.get()></progress>
                <strong>{move || format::percent(share.get())}</strong>
            </div>
            <p class="muted">{speed} {left}</p>
        </div>
    }
}

#[component]
fn ForecastPanel(followed: LiveRun) -> impl IntoView {
    let load = move || {
        let (id, any) = (followed.id(), followed.run.read_untracked().finished > 0);
        // Without an ended conversation the server has none, and says so by an error.
        async move { if any { api_client::runs::forecast(&id).await.map(Some) } else { Ok(None) } }
    };
    let forecast = refresh(EVERY, followed.live, load);
    let body = forecast.show("the forecast", |forecast| view! { <Figures forecast /> });
    view! {
        <section class="panel" aria-labelledby="forecast">
            <h2 id="forecast">"Forecast of the whole run"</h2>
            {body}
        </section>
    }
}

#[component]
fn Figures(forecast: Signal<Option<Forecast>>) -> impl IntoView {
    let some = Memo::new(move |_| forecast.read().is_some());
    let figure = move |name: &'static str, of: fn(&Forecast) -> String| {
        view! {
            <div>
                <dt>{name}</dt>
                <dd>{move || forecast.read().as_ref().map(of)}</dd>
            </div>
        }
    };
    move || {
        if !some.get() {
            return view! { <p class="muted">"The forecast appears when the first conversation or row has ended."</p> }
                .into_any();
        }
        view! {
            <dl class="pairs">
                {figure("Accepted rows", accepted)} {figure("95 % interval", interval)}
                {figure("Tokens", |of| format::rounded(of.tokens))}
                {figure("Tokens per accepted row", |of| of.tokens_per_accepted_row.map_or_else(dash, format::rounded))}
                {figure("Cost", |of| format::money(of.cost))}
                {figure("Cost per accepted row", |of| of.cost_per_accepted_row.map_or_else(dash, format::money))}
                {figure("Time", |of| format::duration(of.seconds))}
            </dl>
        }
        .into_any()
    }
}

fn accepted(of: &Forecast) -> String {
    format!("{} ({})", format::rounded(of.accepted_rows), format::percent(of.accepted_share))
}

fn interval(of: &Forecast) -> String {
    format!("{} to {}", format::percent(of.accepted_share_low), format::percent(of.accepted_share_high))
}

fn dash() -> String {
    "–".to_owned()
}

fn speed(a_second: f64, tasks: &str) -> String {
    if a_second >= 1.0 {
        format!("{a_second:.1} {tasks} a second")
    } else {
        format!("{:.1} {tasks} a minute", a_second * 60.0)
    }
}
