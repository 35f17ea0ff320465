//! Large answers wait in a file for whoever reads them: what they take of memory does not depend on how many there are and how
//! slowly they are read.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::Path;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use futures::{Stream, StreamExt, stream};
use hyper::body::{Frame, SizeHint};
use tokio::fs::File as AsyncFile;
use tokio::io::{AsyncReadExt, AsyncSeekExt, AsyncWriteExt};
use tokio::task::spawn_blocking;

use super::app::App;
use super::error::{HttpError, Result};

/// Smaller answers wait in memory: more than nearly all pages of lists have, and 128 MB in all of the connections that one
/// address may have.
const LARGE: u64 = 256 << 10;
/// Read from the file at once.
const CHUNK: u64 = 64 << 10;

/// Answers of a known size that were made in memory are given back from a file if they are large. What is a stream already has
/// no size, and goes through; so does the answer to a change, which must not be lost when the disk is full.
pub async fn spool(State(app): State<App>, request: Request, next: Next) -> Result<Response> {
    let only_looks = request.method().is_safe();
    let response = next.run(request).await;
    let size = response.body().size_hint().exact();
    let Some(size) = size.filter(|size| only_looks && *size > LARGE) else { return Ok(response) };
    let (parts, body) = response.into_parts();
    let folder = app.files().to_owned();
    let file = async { written(spawn_blocking(move || nameless(&folder)).await??, body).await };
    let file = file.await.map_err(|error| {
        HttpError::Internal(
            anyhow::Error::from(error).context("a large answer cannot be written to the folder of files"),
        )
    })?;
    let body = Body::from_stream(chunks(file, size));
    Ok(Response::from_parts(parts, Body::new(KnownLength { body, left: size })))
}

/// A file that is gone when nobody reads it any more, whatever happens. Not among temporary files: those may be in memory.
fn nameless(folder: &Path) -> io::Result<File> {
    match tempfile::tempfile_in(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            fs::create_dir_all(folder)?;
            tempfile::tempfile_in(folder)
        }
        made => made,
    }
}

async fn written(file: File, body: Body) -> io::Result<AsyncFile> {
    let mut file = AsyncFile::from_std(file);
    let mut parts = body.into_data_stream();
    while let Some(part) = parts.next().await {
        file.write_all(&part.map_err(io::Error::other)?).await?;
    }
    file.flush().await?;
    file.rewind().await?;
    Ok(file)
}

fn chunks(file: AsyncFile, size: u64) -> impl Stream<Item = io::Result<Bytes>> {
    stream::try_unfold((file, size), async |(mut file, left)| {
        if left == 0 {
            return Ok::<_, io::Error>(None);
        }
        let len = left.min(CHUNK);
        let mut chunk = vec![0; usize::try_from(len).map_err(io::Error::other)?];
        file.read_exact(&mut chunk).await?;
        Ok(Some((Bytes::from(chunk), (file, left - len))))
    })
}

/// A body of a known size.
struct KnownLength {
    body: Body,
    left: u64,
}

impl HttpBody for KnownLength {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<std::result::Result<Frame<Bytes>, axum::Error>>> {
        let frame = Pin::new(&mut self.body).poll_frame(cx);
        if let Poll::Ready(Some(Ok(frame))) = &frame {
            let len = frame.data_ref().map_or(0, |data| data.len() as u64);
            self.left = self.left.saturating_sub(len);
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.left == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}
