//! Versions of a world, each asked for once.

use std::collections::HashMap;
use std::sync::Arc;

use domain::api::WorldVersion;
use leptos::prelude::*;
use leptos::task::spawn_local;
use serde_json::Value;

use ui::api_client::{self, Answer, ApiError};

/// A version, and the one before it. The one that is seen stays until the next one is there, so that nothing flickers.
#[derive(Debug, Clone)]
pub struct VersionView {
    pub version: usize,
    pub hash: String,
    pub world: Arc<Value>,
    pub before: Arc<Value>,
}

#[derive(Debug, Clone)]
struct CachedVersion {
    hash: String,
    world: Arc<Value>,
}

#[derive(Clone, Copy)]
pub struct Versions {
    conversation: StoredValue<String>,
    wanted: Memo<usize>,
    known: StoredValue<HashMap<usize, CachedVersion>>,
    seen: RwSignal<Option<VersionView>>,
    error: RwSignal<Option<ApiError>>,
}

impl Versions {
    pub fn of(conversation: String, wanted: Memo<usize>) -> Self {
        let versions = Self {
            conversation: StoredValue::new(conversation),
            wanted,
            known: StoredValue::default(),
            seen: RwSignal::new(None),
            error: RwSignal::new(None),
        };
        Effect::new(move |_| {
            wanted.track();
            versions.again();
        });
        versions
    }

    pub fn seen(self) -> Option<VersionView> {
        self.seen.get()
    }

    pub fn error(self) -> Option<ApiError> {
        self.error.get()
    }

    /// Asks for what is wanted.
    pub fn again(self) {
        let (conversation, version) = (self.conversation.get_value(), self.wanted.get_untracked());
        spawn_local(async move {
            let found = self.both(&conversation, version).await;
            // Something else may be wanted meanwhile, or the reader may have left.
            if self.wanted.try_get_untracked() != Some(version) {
                return;
            }
            match found {
                Ok(seen) => {
                    self.error.try_set(None);
                    self.seen.try_set(Some(seen));
                }
                Err(error) => {
                    self.error.try_set(Some(error));
                }
            }
        });
    }

    async fn both(self, conversation: &str, version: usize) -> Answer<VersionView> {
        let CachedVersion { hash, world } = self.one(conversation, version).await?;
        let before = self.one(conversation, version.saturating_sub(1)).await?.world;
        Ok(VersionView { version, hash, world, before })
    }

    async fn one(self, conversation: &str, version: usize) -> Answer<CachedVersion> {
        let known = self.known.try_with_value(|known| known.get(&version).cloned()).flatten();
        if let Some(known) = known {
            return Ok(known);
        }
        let asked = u32::try_from(version).unwrap_or(u32::MAX);
        let WorldVersion { hash, world, .. } = api_client::worlds::at(conversation, asked).await?;
        let found = CachedVersion { hash, world: Arc::new(world) };
        self.known.try_update_value(|known| known.insert(version, found.clone()));
        Ok(found)
    }
}
