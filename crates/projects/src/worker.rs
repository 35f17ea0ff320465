//! All that is computed from what people write, in processes of their own.

use sandbox::Worker;

use crate::archive::UnpackArchive;
use crate::documents::trial::{CallTools, DrawSteps, PlayScript, RenderTemplates};
use crate::documents::validate::ValidateProject;
use crate::documents::{CheckDocuments, CompareVersions};
use crate::import::ReadInterface;

/// A sandboxed process that knows all work of this crate.
pub fn worker() -> Worker {
    Worker::default()
        .with::<CheckDocuments>()
        .with::<PlayScript>()
        .with::<CallTools>()
        .with::<RenderTemplates>()
        .with::<DrawSteps>()
        .with::<ReadInterface>()
        .with::<UnpackArchive>()
        .with::<CompareVersions>()
        .with::<ValidateProject>()
}
