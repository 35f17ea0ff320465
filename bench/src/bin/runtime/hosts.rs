//! A run that is played by processes on hosts of their own, while links are cut, lossy and slow, clocks are wrong, and the
//! database's standby takes over.

mod database;
mod fleet;
mod network;
mod timeline;

use std::sync::Arc;
use std::time::Duration;

use domain::api::RunSummary;
use tokio::time::{Instant, sleep};

use self::database::Cluster;
use self::fleet::{Fleet, Hosts};
use self::network::{Direction, Host, Network};
use self::timeline::Timeline;
use super::cases::{calls, ended, rate, row, stats};
use super::program::{Database, Place};

/// Until players and connections are warm.
const WARM: Duration = Duration::from_secs(15);
const CALM: Duration = Duration::from_secs(30);
/// After each disturbance: twice as long as a player may be silent.
const REST: Duration = Duration::from_secs(30);
/// How long an operator, or what acts for one, takes to give the primary up.
const NOTICED: Duration = Duration::from_secs(10);
const SLOW_KILOBITS: u32 = 1000;

/// A fault of the network, kept up for some time.
enum Disturbance {
    Cut(Host),
    OneWay(Host, Direction),
    Slow([Host; 2]),
}

/// A run that is disturbed, against the time when it was not.
struct Comparison<'a> {
    timeline: &'a Timeline,
    /// Conversations a second while nothing is wrong.
    calm: f64,
    seconds: u64,
}

pub async fn case(place: &Place, n: u32, median_ms: f64, seconds: u64) -> anyhow::Result<()> {
    let mut network = Network::new()?;
    let (primary, standby) = (network.host("primary")?, network.host("standby")?);
    let hosts = Hosts::new(&mut network)?;
    let mut cluster = Cluster::start(place.path(), &network, primary, standby).await?;
    let db = Database::elsewhere(database::url()).await?;
    place.name_workers()?;
    let mut fleet = Fleet::start(place, &db, hosts, median_ms).await?;
    let run = place.run(&db, n, &["--agent", "mock"]).await?;
    let run = Arc::new(run);
    let timeline = Timeline::of(database::url(), Arc::clone(&run));
    sleep(WARM).await;
    let from = Instant::now();
    sleep(CALM).await;
    let calm = timeline.rate(from, Instant::now());
    row("calm: three players, two workers, wrong clocks", &format!("{calm:.1} conversations a second"));
    let compared = Comparison { timeline: &timeline, calm, seconds };
    compared.disturb_all(&mut fleet, &mut cluster, &network).await?;
    let done = ended(&db.pool, &run, &mut []).await?;
    fleet.check()?;
    report(&fleet, &done).await?;
    let audit = place.done(&db.url, &["runs", "audit", &run.id.to_string()]).await?;
    row("`groundstate runs audit`", audit.trim());
    db.stop().await;
    Ok(())
}

impl Comparison<'_> {
    /// One disturbance after the other; the standby takes over in the middle.
    async fn disturb_all(&self, fleet: &mut Fleet, cluster: &mut Cluster, network: &Network) -> anyhow::Result<()> {
        let [one, two, three] = fleet.hosts.players.clone();
        let [first, second] = fleet.hosts.workers.clone();
        let before = [
            ("a player is cut off", Disturbance::Cut(one.clone())),
            ("a player hears nothing", Disturbance::OneWay(two.clone(), Direction::ToHost)),
            ("a player is not heard", Disturbance::OneWay(two, Direction::FromHost)),
            ("a worker is cut off", Disturbance::Cut(first)),
            ("the server is cut off", Disturbance::Cut(fleet.hosts.server.clone())),
        ];
        for (what, disturbance) in before {
            self.disturb(what, &disturbance, fleet).await?;
        }
        self.fail_over(cluster, network, fleet).await?;
        let after = [
            ("a worker is not heard", Disturbance::OneWay(second.clone(), Direction::FromHost)),
            ("a player and a worker have slow links (1 Mbit/s)", Disturbance::Slow([three, second])),
            ("a player is cut off again", Disturbance::Cut(one)),
            ("the database is cut off", Disturbance::Cut(cluster.primary().clone())),
        ];
        for (what, disturbance) in after {
            self.disturb(what, &disturbance, fleet).await?;
        }
        Ok(())
    }

    async fn disturb(&self, what: &str, disturbance: &Disturbance, fleet: &mut Fleet) -> anyhow::Result<()> {
        let from = Instant::now();
        disturbance.begin()?;
        sleep(Duration::from_secs(self.seconds)).await;
        let to = Instant::now();
        disturbance.end()?;
        sleep(REST).await;
        fleet.check()?;
        self.report(&format!("{what}, {} s", self.seconds), from, to);
        Ok(())
    }

    async fn fail_over(&self, cluster: &mut Cluster, network: &Network, fleet: &mut Fleet) -> anyhow::Result<()> {
        let from = Instant::now();
        let away = cluster.fail_over(network, NOTICED).await?;
        let to = Instant::now();
        sleep(REST).await;
        fleet.check()?;
        self.report(
            &format!(
                "the primary hangs and its host is lost, its standby takes over after {:.1} s",
                away.as_secs_f64()
            ),
            from,
            to,
        );
        Ok(())
    }

    fn report(&self, what: &str, from: Instant, to: Instant) {
        let rate = self.timeline.rate(from, to);
        let again = match self.timeline.recovered(to, self.calm) {
            Some(after) => format!("as before after {:.1} s", after.as_secs_f64()),
            None => format!("not as before within {} s", REST.as_secs()),
        };
        row(what, &format!("{rate:.1} a second ({:.0} % of calm), {again}", 100.0 * rate / self.calm));
    }
}

impl Disturbance {
    fn begin(&self) -> anyhow::Result<()> {
        match self {
            Self::Cut(host) => host.cut(),
            Self::OneWay(host, direction) => host.lose(*direction),
            Self::Slow(hosts) => hosts.iter().try_for_each(|host| host.slow(SLOW_KILOBITS)),
        }
    }

    fn end(&self) -> anyhow::Result<()> {
        match self {
            Self::Cut(host) => host.join()?,
            Self::OneWay(host, _) => host.restore(),
            Self::Slow(hosts) => hosts.iter().for_each(Host::restore),
        }
        Ok(())
    }
}

async fn report(fleet: &Fleet, done: &RunSummary) -> anyhow::Result<()> {
    row(
        "conversations",
        &format!(
            "{} of {} ended, {} accepted, failures {:?}, played again {:?}",
            done.finished, done.planned, done.accepted, done.failures, done.played_again
        ),
    );
    row("over all", &format!("{:.1} conversations a second", rate(done)?));
    let mut asked = 0.0;
    for engine in &fleet.engines {
        asked += stats(engine).await?.0;
    }
    row("model calls, and those made again", &format!("{asked:.0} and {:.0}", asked - calls(done)));
    Ok(())
}
