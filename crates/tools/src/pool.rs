//! A pool of instances that are leased for tasks. An instance that a task has left stays as it is until another task wants it,
//! so that a task that comes back soon finds it.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, sleep};
use uuid::Uuid;

/// How often the pool looks for idle instances.
const SWEEP: Duration = Duration::from_secs(1);

pub struct Pool<I> {
    /// One for each task that holds an instance. Who waits is served in order.
    leases: Arc<Semaphore>,
    slots: Arc<Mutex<Slots<I>>>,
    size: usize,
    idle: Duration,
}

struct Slots<I> {
    all: Vec<Slot<I>>,
    swept: bool,
}

struct Slot<I> {
    /// Whose calls it has answered.
    task: Uuid,
    /// `None` before the first call, and while a call is under way.
    instance: Option<I>,
    /// Whether the instance has worked for this task alone.
    own: bool,
    /// Of a task that has not left it, while no call is under way.
    permit: Option<OwnedSemaphorePermit>,
    used: Instant,
}

/// An instance for one call. It returns to the pool only through [`Lease::keep`]. After an interrupted call its state is unknown,
/// so it is dropped.
pub struct Lease<I> {
    slots: Arc<Mutex<Slots<I>>>,
    task: Uuid,
    permit: Option<OwnedSemaphorePermit>,
    /// `None`: it is to be made.
    pub instance: Option<I>,
    /// Whether the instance has worked for this task alone.
    pub own: bool,
}

impl<I: Send + 'static> Pool<I> {
    /// `idle`: after how long without a call a task loses its instance, and an instance that no task has is closed.
    pub fn new(size: usize, idle: Duration) -> Self {
        let slots = Slots { all: Vec::new(), swept: false };
        Self { leases: Arc::new(Semaphore::new(size)), slots: Arc::new(Mutex::new(slots)), size, idle }
    }

    /// Waits until the task may have an instance: the one that it had, if that is still so.
    pub async fn lease(&self, task: Uuid) -> Lease<I> {
        if let Some(lease) = self.held(task) {
            return lease;
        }
        // It is never closed.
        let permit = Arc::clone(&self.leases).acquire_owned().await.ok();
        let mut slots = self.slots.lock();
        let free = |slot: &Slot<I>| slot.permit.is_none() && slot.instance.is_some();
        let own = slots.all.iter().position(|slot| slot.task == task && free(slot));
        let full = slots.all.len() >= self.size;
        let oldest = || {
            let all = slots.all.iter().enumerate().filter(|(_, slot)| free(slot));
            all.min_by_key(|(_, slot)| slot.used).map(|(place, _)| place)
        };
        let place = own.or_else(|| if full { oldest() } else { None });
        let instance = place.and_then(|place| slots.all.swap_remove(place).instance);
        let own = own.is_some();
        slots.all.push(Slot { task, instance: None, own, permit: None, used: Instant::now() });
        self.sweep(&mut slots);
        Lease { slots: Arc::clone(&self.slots), task, permit, instance, own }
    }

    /// The instance that the task still holds.
    fn held(&self, task: Uuid) -> Option<Lease<I>> {
        let mut slots = self.slots.lock();
        let slot = slots.all.iter_mut().find(|slot| slot.task == task && slot.permit.is_some())?;
        let (instance, permit, own) = (slot.instance.take(), slot.permit.take(), slot.own);
        Some(Lease { slots: Arc::clone(&self.slots), task, permit, instance, own })
    }

    /// Other tasks may have the instance of this one.
    pub fn release(&self, task: Uuid) {
        let mut slots = self.slots.lock();
        slots.all.retain_mut(|slot| slot.task != task || slot.permit.take().is_none() || slot.instance.is_some());
    }

    /// Closes idle instances. Stops when the pool is empty.
    fn sweep(&self, slots: &mut Slots<I>) {
        if std::mem::replace(&mut slots.swept, true) {
            return;
        }
        let (slots, idle) = (Arc::downgrade(&self.slots), self.idle);
        tokio::spawn(async move {
            loop {
                sleep(SWEEP).await;
                let Some(slots) = slots.upgrade() else { return };
                let mut slots = slots.lock();
                let in_use = |slot: &Slot<I>| slot.instance.is_none() && slot.permit.is_none();
                let idle = |slot: &Slot<I>| !in_use(slot) && slot.used.elapsed() >= idle;
                // An instance that a task still has is taken from it first, and closed the next time.
                slots.all.retain_mut(|slot| !idle(slot) || (slot.permit.take().is_some() && slot.instance.is_some()));
                if slots.all.is_empty() {
                    slots.swept = false;
                    return;
                }
            }
        });
    }
}

impl<I> Lease<I> {
    /// Back to the pool, still for this task.
    pub fn keep(mut self) {
        let (instance, permit, own) = (self.instance.take(), self.permit.take(), self.own);
        if let Some(slot) = self.slots.lock().in_use(self.task) {
            *slot = Slot { task: self.task, instance, own, permit, used: Instant::now() };
        }
    }
}

impl<I> Slots<I> {
    /// The slot of a call of the task that is under way.
    fn in_use(&mut self, task: Uuid) -> Option<&mut Slot<I>> {
        self.all.iter_mut().find(|slot| slot.task == task && slot.instance.is_none() && slot.permit.is_none())
    }
}

impl<I> Drop for Lease<I> {
    fn drop(&mut self) {
        let mut slots = self.slots.lock();
        let task = self.task;
        if self.permit.is_some() {
            let in_use = |slot: &Slot<I>| slot.task == task && slot.instance.is_none() && slot.permit.is_none();
            let place = slots.all.iter().position(in_use);
            place.map(|place| slots.all.swap_remove(place));
        }
    }
}
