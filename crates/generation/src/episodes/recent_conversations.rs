//! Conversations of episodes as they stood when they were last looked at: what has followed is added, and the rest is not read again.

use engine::Conversation;
use parking_lot::Mutex;
use uuid::Uuid;

/// How many are kept. Each takes some ten kilobytes beside what all of its scenario share.
const ROOM: usize = 512;

pub fn last_seq(conversation: &Conversation) -> i32 {
    i32::try_from(conversation.state().transcript.next_seq).unwrap_or(i32::MAX) - 1
}

/// The one that was looked at last stands last.
#[derive(Default)]
pub struct RecentConversations(Mutex<Vec<(Uuid, Conversation)>>);

impl RecentConversations {
    /// The number of the last event of one that is kept; -1 if it has none.
    pub fn last_seq(&self, id: Uuid) -> Option<i32> {
        let kept = self.0.lock();
        let (_, conversation) = kept.iter().find(|(known, _)| *known == id)?;
        Some(last_seq(conversation))
    }

    /// Whoever takes one keeps it again, as it stands then.
    pub fn take(&self, id: Uuid) -> Option<Conversation> {
        let mut kept = self.0.lock();
        let at = kept.iter().position(|(known, _)| *known == id)?;
        Some(kept.remove(at).1)
    }

    pub fn keep(&self, id: Uuid, conversation: Conversation) {
        let mut kept = self.0.lock();
        // Two may have looked at once.
        kept.retain(|(known, _)| *known != id);
        if kept.len() == ROOM {
            kept.remove(0);
        }
        kept.push((id, conversation));
    }
}
