//! Endpoints stay leased while this server asks them, and those that servers left behind are asked on.

use std::time::Duration;

use store::endpoint_agents::{self, LEASE};
use tokio::time::{MissedTickBehavior, interval};
use tracing::{debug, warn};

use super::endpoint::EndpointAgent;
use crate::http::app::App;

/// How often leases are renewed, and those of servers that are gone looked for.
const EVERY: Duration = LEASE.checked_div(6).unwrap();

/// Renews the leases of this server, and plays on what servers left that are gone.
pub async fn keep(app: App) {
    let mut ticks = interval(EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let renewed = app.endpoint_agents().renew(app.pool()).await;
        if let Err(error) = renewed.and(take_over(&app).await) {
            debug!(%error, "leases of endpoints are looked at again in a moment");
        }
    }
}

async fn take_over(app: &App) -> store::Result<()> {
    let agents = app.endpoint_agents();
    let room = i64::try_from(agents.left()).unwrap_or_default();
    let mut db = app.pool().acquire().await?;
    endpoint_agents::sweep(&mut db).await?;
    for (episode, endpoint) in endpoint_agents::take_over(&mut db, agents.server(), room).await? {
        match EndpointAgent::of(app, &endpoint) {
            Ok(agent) => drop(tokio::spawn(agent.play(app.clone(), episode))),
            // Its administrator allows it no more, for instance. It is given up when nothing is heard of it.
            Err(error) => warn!(%episode, %error, "an endpoint is not asked on"),
        }
    }
    Ok(())
}
