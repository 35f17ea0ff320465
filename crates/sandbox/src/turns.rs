//! Who is next: projects in turn, none with all places at once.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::oneshot;
use uuid::Uuid;

/// Most that may wait of one project.
const MOST_WAITING: usize = 32;

#[derive(Clone)]
pub struct Turns(Arc<Mutex<State>>);

struct State {
    free: usize,
    /// Places that one project may have at the same time.
    most_of_one: usize,
    projects: BTreeMap<Uuid, Project>,
    /// Projects that wait, the one that is next first.
    order: VecDeque<Uuid>,
}

#[derive(Default)]
struct Project {
    busy: usize,
    waiting: VecDeque<oneshot::Sender<Turn>>,
}

/// A place, until it is dropped.
pub struct Turn {
    turns: Turns,
    project: Uuid,
}

impl Turns {
    pub fn new(places: usize) -> Self {
        let most_of_one = places.saturating_sub(1).max(1);
        Self(Arc::new(Mutex::new(State {
            free: places,
            most_of_one,
            projects: BTreeMap::new(),
            order: VecDeque::new(),
        })))
    }

    /// `None` if too many of the project wait already.
    pub async fn enter(&self, project: Uuid) -> Option<Turn> {
        let (send, turn) = oneshot::channel();
        {
            let mut state = self.0.lock();
            let own = state.projects.entry(project).or_default();
            // Those who do not wait any more make room.
            own.waiting.retain(|waiting| !waiting.is_closed());
            if own.waiting.len() == MOST_WAITING {
                return None;
            }
            own.waiting.push_back(send);
            if !state.order.contains(&project) {
                state.order.push_back(project);
            }
        }
        self.assign();
        turn.await.ok()
    }

    /// Gives free places to those who are next.
    fn assign(&self) {
        loop {
            let Some((project, next)) = self.0.lock().next() else { return };
            // If nobody waits for it any more, the turn is dropped, and its place is free again.
            drop(next.send(Turn { turns: self.clone(), project }));
        }
    }
}

impl State {
    /// Takes a place for the project that is next.
    fn next(&mut self) -> Option<(Uuid, oneshot::Sender<Turn>)> {
        if self.free == 0 {
            return None;
        }
        let may = |project: &&Uuid| self.projects.get(project).is_some_and(|own| own.busy < self.most_of_one);
        let project = *self.order.iter().find(may)?;
        self.order.retain(|waiting| *waiting != project);
        let own = self.projects.get_mut(&project)?;
        let next = own.waiting.pop_front()?;
        own.busy += 1;
        self.free -= 1;
        if !own.waiting.is_empty() {
            self.order.push_back(project);
        }
        Some((project, next))
    }

    fn leave(&mut self, project: Uuid) {
        self.free += 1;
        if let Some(own) = self.projects.get_mut(&project) {
            own.busy -= 1;
            if own.busy == 0 && own.waiting.is_empty() {
                self.projects.remove(&project);
            }
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.turns.0.lock().leave(self.project);
        self.turns.assign();
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::Poll;

    use super::*;

    const A: Uuid = Uuid::from_u128(1);
    const B: Uuid = Uuid::from_u128(2);

    /// The turn, if it is there at once.
    async fn now(entering: &mut (impl Future<Output = Option<Turn>> + Unpin)) -> Option<Turn> {
        std::future::poll_fn(|context| match std::pin::Pin::new(&mut *entering).poll(context) {
            Poll::Ready(turn) => Poll::Ready(turn),
            Poll::Pending => Poll::Ready(None),
        })
        .await
    }

    #[tokio::test]
    async fn a_project_leaves_a_place_to_others() {
        let turns = Turns::new(2);
        let first = turns.enter(A).await.expect("a place is free");
        let mut second = pin!(turns.enter(A));
        assert!(now(&mut second).await.is_none(), "the other place is not for the same project");
        let other = turns.enter(B).await.expect("it is for others");
        let mut third = pin!(turns.enter(B));
        assert!(now(&mut third).await.is_none());
        drop(first);
        assert!(now(&mut second).await.is_some());
        drop(other);
        assert!(now(&mut third).await.is_some());
        assert!(turns.0.lock().projects.is_empty() && turns.0.lock().free == 2, "nothing is left");
    }

    #[tokio::test]
    async fn those_who_left_the_queue_are_passed_over() {
        let turns = Turns::new(2);
        let held = turns.enter(A).await.expect("a place is free");
        {
            let mut left = pin!(turns.enter(A));
            assert!(now(&mut left).await.is_none());
        }
        let mut waits = pin!(turns.enter(A));
        assert!(now(&mut waits).await.is_none());
        drop(held);
        assert!(now(&mut waits).await.is_some());
    }

    #[tokio::test]
    async fn so_many_wait_and_no_more() {
        let turns = Turns::new(2);
        let _held = turns.enter(A).await.expect("a place is free");
        let mut waiting: Vec<_> = (0..MOST_WAITING).map(|_| Box::pin(turns.enter(A))).collect();
        for entering in &mut waiting {
            assert!(now(entering).await.is_none());
        }
        assert!(turns.enter(A).await.is_none(), "it is refused at once");
        assert!(turns.enter(B).await.is_some(), "others are not");
    }
}
