//! What handlers work with.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::extract::FromRef;
use generation::episodes::view::EpisodeViews;
use generation::services;
use llm::{AllowedKeys, AllowedUrl, Registry};
use sqlx::PgPool;
use tokio_util::sync::CancellationToken;

use super::answer_queue::AnswerQueue;
use super::endpoint_agents::EndpointAgents;
use super::episode_signals::EpisodeSignals;
use super::lookups::Lookups;
use super::opening_queue::OpeningQueue;
use super::shares::AllShares;
use datasets::index::Index;
use datasets::search::IndexCache;
use projects::library::Cache;
use runtime::ModelClients;
use sandbox::Sandbox;
use store::objects::Objects;
use tools::Tools;

use super::MonitoredProcess;
use crate::player_process::PlayerLink;

/// How a server is set up.
pub struct Setup {
    pub pool: PgPool,
    /// The models that may be named. There is no other way to an endpoint from here.
    pub registry: Registry,
    /// Which keys models may name that administrators add.
    pub keys: AllowedKeys,
    pub clients: ModelClients,
    /// The tools that workflows may call.
    pub tools: Tools,
    /// Documents of projects, ready to be played.
    pub libraries: Cache,
    pub sandbox: Sandbox,
    /// The player that this process keeps, if it keeps one.
    pub player: Option<PlayerLink>,
    /// Where this server keeps what is too large for the database: exports.
    pub files: PathBuf,
    /// And datasets and indexes, with all servers of the installation.
    pub objects: Objects,
    /// Behind a proxy that ends TLS: cookies are sent over HTTPS alone, and it says where requests come from.
    pub https: bool,
    /// Endpoints that may play the agents of episodes: those whose addresses begin so.
    pub agent_urls: Vec<AllowedUrl>,
    /// What is done in the background ends with it.
    pub stop: CancellationToken,
}

#[derive(Clone)]
pub struct App(Arc<Shared>);

struct Shared {
    setup: Setup,
    index: Index,
    searched: IndexCache,
    shares: AllShares,
    episode_views: EpisodeViews,
    episodes: Arc<EpisodeSignals>,
    endpoint_agents: EndpointAgents,
    agents_answers: AnswerQueue,
    opening_queue: OpeningQueue,
    lookups: Lookups,
}

impl App {
    pub fn new(mut setup: Setup) -> Self {
        setup.clients = setup.clients.with_services(services::registered(&setup.tools));
        let index = Index::new(setup.pool.clone());
        let searched = IndexCache::new(setup.objects.clone(), setup.files.join("indexes"));
        let episodes = Arc::new(EpisodeSignals::new(&setup.pool, &setup.stop));
        Self(Arc::new(Shared {
            index,
            searched,
            shares: AllShares::default(),
            episode_views: EpisodeViews::new(setup.pool.clone(), setup.libraries.clone()),
            opening_queue: OpeningQueue::start(&setup.pool, &episodes),
            episodes,
            endpoint_agents: EndpointAgents::new(),
            agents_answers: AnswerQueue::start(&setup.pool),
            lookups: Lookups::start(&setup.pool),
            setup,
        }))
    }

    pub fn pool(&self) -> &PgPool {
        &self.0.setup.pool
    }

    /// Conversations, for lists and statistics.
    pub fn index(&self) -> &Index {
        &self.0.index
    }

    /// Search indexes, copied to this machine.
    pub fn searched(&self) -> &IndexCache {
        &self.0.searched
    }

    /// What each person and each project may have in progress.
    pub fn shares(&self) -> &AllShares {
        &self.0.shares
    }

    /// Shows episodes as their agents see them.
    pub fn episode_views(&self) -> &EpisodeViews {
        &self.0.episode_views
    }

    /// Tells when episodes wait for their agents, or have ended.
    pub fn episodes(&self) -> &EpisodeSignals {
        &self.0.episodes
    }

    /// Endpoints that this server asks as the agents of episodes.
    pub fn endpoint_agents(&self) -> &EndpointAgents {
        &self.0.endpoint_agents
    }

    /// Where answers of agents are left.
    pub fn agents_answers(&self) -> &AnswerQueue {
        &self.0.agents_answers
    }

    /// Where episodes are opened.
    pub fn opening_queue(&self) -> &OpeningQueue {
        &self.0.opening_queue
    }

    /// What many requests look up at once.
    pub fn lookups(&self) -> &Lookups {
        &self.0.lookups
    }

    /// Endpoints that may play the agents of episodes: those whose addresses begin so.
    pub fn agent_urls(&self) -> &[AllowedUrl] {
        &self.0.setup.agent_urls
    }

    pub fn registry(&self) -> &Registry {
        &self.0.setup.registry
    }

    pub fn keys(&self) -> &AllowedKeys {
        &self.0.setup.keys
    }

    /// The tools that workflows may call.
    pub fn tools(&self) -> &Tools {
        &self.0.setup.tools
    }

    pub fn clients(&self) -> &ModelClients {
        &self.0.setup.clients
    }

    /// The player that this process keeps, if it keeps one.
    pub fn player(&self) -> Option<&PlayerLink> {
        self.0.setup.player.as_ref()
    }

    pub fn watched(&self) -> MonitoredProcess {
        MonitoredProcess { pool: self.pool().clone(), player: self.0.setup.player.clone() }
    }

    pub fn sandbox(&self) -> &Sandbox {
        &self.0.setup.sandbox
    }

    pub fn libraries(&self) -> &Cache {
        &self.0.setup.libraries
    }

    pub fn files(&self) -> &Path {
        &self.0.setup.files
    }

    pub fn objects(&self) -> &Objects {
        &self.0.setup.objects
    }

    pub fn stop(&self) -> &CancellationToken {
        &self.0.setup.stop
    }

    pub fn https(&self) -> bool {
        self.0.setup.https
    }
}

impl FromRef<App> for PgPool {
    fn from_ref(app: &App) -> Self {
        app.pool().clone()
    }
}
