//! The services that one attempt has asked.

use std::sync::Arc;

use uuid::Uuid;

use crate::binding::Service;

/// They are released when the attempt is not played any more, for whatever reason.
pub struct UsedServices {
    task: Uuid,
    services: Vec<Arc<dyn Service>>,
}

impl UsedServices {
    pub const fn new(task: Uuid) -> Self {
        Self { task, services: Vec::new() }
    }

    /// The others are released: a task that waits for one holds no other, or two tasks could wait for each other.
    pub fn add(&mut self, service: &Arc<dyn Service>) {
        self.services.iter().filter(|used| !Arc::ptr_eq(used, service)).for_each(|used| used.release(self.task));
        if !self.services.iter().any(|used| Arc::ptr_eq(used, service)) {
            self.services.push(Arc::clone(service));
        }
    }
}

impl Drop for UsedServices {
    fn drop(&mut self) {
        self.services.iter().for_each(|service| service.release(self.task));
    }
}
