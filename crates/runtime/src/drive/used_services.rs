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

    pub fn add(&mut self, service: &Arc<dyn Service>) {
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
