//! Sending a file in pieces.
//!
//! The browser remembers which upload belongs to which file. So an upload that was cut off, by a lost connection or because the
//! page was closed, goes on when the same file is chosen again.

use std::time::Duration;

use domain::api::{DatasetUpload, FieldError, NewDatasetUpload};
use leptos::prelude::*;
use web_sys::{File, Storage};

use crate::progress::sleep;
use ui::api_client::{self, Answer, ApiError};

/// Bytes of a piece: what is sent again if the connection breaks.
const PIECE: i64 = 8 << 20;
/// How often a piece is sent again before the upload ends. Each time the wait before is twice as long.
const ATTEMPTS: u32 = 5;
const WAIT: Duration = Duration::from_millis(500);

/// How far an upload is, and whether somebody stopped it.
#[derive(Clone, Copy)]
pub struct Uploading {
    sent: RwSignal<Option<DatasetUpload>>,
    stopped: RwSignal<bool>,
}

impl Uploading {
    pub fn new() -> Self {
        Self { sent: RwSignal::new(None), stopped: RwSignal::new(false) }
    }

    pub fn begin(self) {
        self.sent.set(None);
        self.stopped.set(false);
    }

    /// After the piece that is on its way.
    pub fn stop(self) {
        self.stopped.set(true);
    }

    pub fn sent(self) -> Option<DatasetUpload> {
        self.sent.get()
    }

    /// Who leaves the page stops it, too.
    fn tell(self, upload: &DatasetUpload) -> Answer<()> {
        if self.stopped.try_get_untracked() != Some(false) {
            let message = "it was stopped; choose the same file again and send the form, and it continues";
            return Err(ApiError::invalid(vec![FieldError::at("/upload", message)]));
        }
        self.sent.try_set(Some(upload.clone()));
        Ok(())
    }
}

/// Sends what is not there yet of a file.
pub async fn send_file(project: &str, file: &File, uploading: Uploading) -> Answer<DatasetUpload> {
    let mut upload = begin(project, file).await?;
    let mut failures = 0;
    while !upload.is_whole() {
        uploading.tell(&upload)?;
        match send_piece(project, &upload, file).await {
            Ok(now) => (upload, failures) = (now, 0),
            Err(error) => {
                // The answer may have been lost, and the piece be there.
                match api_client::datasets::upload(project, &upload.id).await {
                    Ok(now) if now.received > upload.received => (upload, failures) = (now, 0),
                    _ if error.may_pass() && failures < ATTEMPTS => {
                        sleep(WAIT * 2_u32.pow(failures)).await;
                        failures += 1;
                    }
                    _ => return Err(error),
                }
            }
        }
    }
    Ok(upload)
}

/// The upload that this file was begun as, or a new one.
async fn begin(project: &str, file: &File) -> Answer<DatasetUpload> {
    let key = key(project, file);
    if let Some(id) = storage().and_then(|storage| storage.get_item(&key).ok().flatten()) {
        match api_client::datasets::upload(project, &id).await {
            Err(error) if error.is_missing() => {}
            answer => return answer,
        }
    }
    #[expect(clippy::cast_possible_truncation, reason = "sizes of files are whole numbers below 2^53")]
    let new = NewDatasetUpload { file_name: file.name(), bytes: file.size() as i64 };
    let upload = api_client::datasets::begin_upload(project, &new).await?;
    if let Some(storage) = storage() {
        // A browser that keeps nothing sends the whole file again.
        let _ = storage.set_item(&key, &upload.id);
    }
    Ok(upload)
}

/// A file that was changed is another one: its rest does not fit what is there.
fn key(project: &str, file: &File) -> String {
    format!("upload:{project}/{}/{}/{}", file.name(), file.size(), file.last_modified())
}

fn storage() -> Option<Storage> {
    window().local_storage().ok().flatten()
}

#[expect(clippy::cast_precision_loss, reason = "sizes of files are below 2^53")]
async fn send_piece(project: &str, upload: &DatasetUpload, file: &File) -> Answer<DatasetUpload> {
    let (from, to) = (upload.received, upload.bytes.min(upload.received + PIECE));
    let piece = file.slice_with_f64_and_f64(from as f64, to as f64);
    let unreadable =
        |_| ApiError::invalid(vec![FieldError::at("/file_name", "it cannot be read any more; choose it again")]);
    api_client::datasets::send_piece(project, &upload.id, from, &piece.map_err(unreadable)?).await
}
