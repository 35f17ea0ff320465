//! Processes that play.

use std::time::Duration;

use domain::api::{LEASE_SECONDS, PlayerSummary};
use leptos::prelude::*;

use ui::components::{Badge, Command, FirstRows, MoreRows, refresh};
use ui::labels::Tone;
use ui::{api_client, format};

const EVERY: Duration = Duration::from_secs(2);

#[component]
pub fn Players() -> impl IntoView {
    let players = refresh(EVERY, Signal::derive(|| true), api_client::models::players);
    let first = FirstRows::new();
    let list = players.show("players", move |known: Signal<Vec<PlayerSummary>>| {
        let ids = move || first.of(known.read().iter().map(|player| player.id));
        let none = Memo::new(move |_| known.read().is_empty());
        view! {
            <Show when=move || none.get()>
                <p class="muted">"No players: runs wait until a process plays them."</p>
            </Show>
            <div class="scroll-x panel" tabindex="0" role="region" aria-label="Processes that play">
                <table class="grid">
                    <thead>
                        <tr>
                            <th scope="col">"Host"</th>
                            <th scope="col" class="number">
                                "Process"
                            </th>
                            <th scope="col">"Since"</th>
                            <th scope="col">"Heartbeat"</th>
                            <th scope="col" class="number">
                                "Conversations claimed"
                            </th>
                        </tr>
                    </thead>
                    <tbody>
                        <For each=ids key=|id| *id let:id>
                            <Player id known />
                        </For>
                    </tbody>
                </table>
            </div>
            <MoreRows first all=Signal::derive(move || known.read().len()) />
        }
    });
    view! {
        <h2>"Players"</h2>
        <p class="muted lead">
            "Processes that play conversations. They share the work automatically; a player that stops returns its work."
        </p>
        {list}
        <section class="panel" aria-labelledby="more-players">
            <h3 id="more-players">"Add a player"</h3>
            <p class="muted">"On any machine that reaches the database and the models:"</p>
            <Command text="DATABASE_URL=postgres://… groundstate play" />
        </section>
    }
}

#[component]
fn Player(id: i64, known: Signal<Vec<PlayerSummary>>) -> impl IntoView {
    let player = Memo::new(move |_| known.read().iter().find(|player| player.id == id).cloned());
    let PlayerSummary { host, pid, started_at, .. } = player.get_untracked()?;
    // By this machine's clock, which may differ from the server's.
    let age = Memo::new(move |_| {
        let at = player.read().as_ref().map(|player| player.heartbeat_at)?;
        #[expect(clippy::cast_precision_loss, reason = "seconds are shown")]
        Some(((js_sys::Date::now() - at.timestamp_millis() as f64) / 1000.0).max(0.0).round())
    });
    let beat = move || {
        age.get().map(|seconds| {
            let tone = if seconds > f64::from(LEASE_SECONDS) { Tone::Bad } else { Tone::Good };
            view! { <Badge tone text=format!("{} ago", format::duration(seconds)) /> }
        })
    };
    Some(view! {
        <tr>
            <th scope="row">{host}</th>
            <td class="number">{pid}</td>
            <td>
                <time datetime=started_at.to_rfc3339()>{format::time(started_at)}</time>
            </td>
            <td>{beat}</td>
            <td class="number">{move || player.read().as_ref().map(|player| format::count(player.claimed))}</td>
        </tr>
    })
}
