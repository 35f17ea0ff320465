//! Conversations of episodes as they stood when they were last looked at: what has followed is added, and the rest is not read again.

use engine::Conversation;
use parking_lot::Mutex;
use store::episodes::Episode;
use uuid::Uuid;

/// How many are kept. Each takes some ten kilobytes beside what all of its scenario share.
const ROOM: usize = 512;

pub fn last_seq(conversation: &Conversation) -> i32 {
    i32::try_from(conversation.state().transcript.next_seq).unwrap_or(i32::MAX) - 1
}

struct Recent {
    /// As it was stored, without events.
    stored: Episode,
    conversation: Conversation,
}

/// The one that was looked at last stands last.
#[derive(Default)]
pub struct RecentConversations(Mutex<Vec<Recent>>);

impl RecentConversations {
    /// The number of the last event of one that is kept, -1 if it has none, and how it was stored.
    pub fn get(&self, id: Uuid) -> Option<(i32, Episode)> {
        let kept = self.0.lock();
        let recent = kept.iter().find(|recent| recent.stored.planned.id == id)?;
        Some((last_seq(&recent.conversation), recent.stored.clone()))
    }

    /// Likewise, the number alone.
    pub fn last_seq(&self, id: Uuid) -> Option<i32> {
        let kept = self.0.lock();
        kept.iter().find(|recent| recent.stored.planned.id == id).map(|recent| last_seq(&recent.conversation))
    }

    /// Whoever takes one keeps it again, as it stands then.
    pub fn take(&self, id: Uuid) -> Option<Conversation> {
        let mut kept = self.0.lock();
        let at = kept.iter().position(|recent| recent.stored.planned.id == id)?;
        Some(kept.remove(at).conversation)
    }

    pub fn keep(&self, stored: Episode, conversation: Conversation) {
        let mut kept = self.0.lock();
        // Two may have looked at once.
        kept.retain(|recent| recent.stored.planned.id != stored.planned.id);
        if kept.len() == ROOM {
            kept.remove(0);
        }
        kept.push(Recent { stored: Episode { events: None, ..stored }, conversation });
    }
}
