//! What would follow from replies that still come. Its requests can be made before their turn; at their turn they are the
//! same, unless a reply turns out otherwise.

use std::collections::HashSet;

use domain::task::{Heard, Request, RequestBody, Resolution};

use super::{Responder, Row};
use crate::fold::{Fold, RequestKind};

#[derive(Clone)]
pub struct Ahead {
    fold: Fold,
    /// Requests that were named already.
    named: HashSet<u64>,
}

impl Ahead {
    pub fn of(fold: &Fold) -> Self {
        Self { fold: fold.clone(), named: HashSet::new() }
    }

    pub const fn fold(&self) -> &Fold {
        &self.fold
    }

    /// Requests that follow, and were not named before.
    pub fn hear(&mut self, id: u64, heard: Heard<'_>, now: &Fold) -> Vec<u64> {
        match heard {
            Heard::Calls(_) => return Vec::new(),
            Heard::Text(text) => self.fold.hear(id, text),
            // The reply to a request that was made before its turn.
            Heard::Whole(reply) => self.fold.resolve(id, &Resolution::Reply(reply.clone())),
            Heard::Message(message) => self.fold.resolve(id, &Resolution::Message(message.clone())),
        }
        let open: Vec<u64> = self.fold.open_requests().map(|(id, _)| id).filter(|id| !now.is_open(*id)).collect();
        open.into_iter().filter(|id| self.named.insert(*id)).collect()
    }

    /// Models are asked and indexes searched before their turn. Tools and services are not called: they may change something.
    pub fn request(&self, id: u64) -> Option<(Request<Responder>, RequestBody)> {
        let (_, kind) = self.fold.open_requests().find(|(open, _)| *open == id)?;
        let body = match kind {
            RequestKind::Model(_) => RequestBody::Chat(self.fold.prompt(id)?),
            RequestKind::Index(_) => RequestBody::Message(self.fold.message(id)?),
            RequestKind::Tool(_) | RequestKind::Service(_) => return None,
        };
        Some((Row::request(id, &kind), body))
    }

    /// After the answer to a request came in its turn. `None` if nothing is ahead any more, or if the answer is another one
    /// than was thought.
    pub fn after(mut self, id: u64, resolution: &Resolution, now: &Fold) -> Option<Self> {
        let is_answered = matches!(resolution, Resolution::Reply(_) | Resolution::Message(_));
        if now.outcome().is_some() || !is_answered {
            return None;
        }
        if self.fold.is_open(id) {
            self.fold.resolve(id, resolution);
        }
        let differs = now.open_requests().any(|(open, _)| !self.fold.is_open(open) && !self.named.contains(&open));
        let is_behind = self.fold.open_requests().all(|(open, _)| now.is_open(open));
        (!differs && !is_behind).then_some(self)
    }
}
