//! Answers that are told while they are made, as server-sent events. The browser's own `EventSource` cannot send a body.

use domain::progress::JobProgress;
use gloo_net::http::Method;
use js_sys::{Reflect, Uint8Array};
use serde::Serialize;
use serde::de::DeserializeOwned;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::ReadableStreamDefaultReader;

use super::{AbortSignal, Answer, ApiError, send};

/// Asks for work that says how far it is, and waits for what comes of it. The server works on it while the line is open.
pub async fn follow<T: DeserializeOwned>(
    path: &str,
    body: &impl Serialize,
    signal: &AbortSignal,
    mut hear: impl FnMut(JobProgress),
) -> Answer<T> {
    let mut answer = None;
    post(path, body, signal, |name, data| {
        match name {
            "progress" => hear(read(data)?),
            "problem" => return Err(ApiError::Refused(read(data)?)),
            _ => answer = Some(read(data)?),
        }
        Ok(())
    })
    .await?;
    answer.ok_or_else(|| ApiError::Unreachable("the answer was cut off".to_owned()))
}

/// Asks, and hands over name and data of each event as they come, to the last one or the first that cannot be taken.
async fn post(
    path: &str,
    body: &impl Serialize,
    signal: &AbortSignal,
    mut hear: impl FnMut(&str, &str) -> Answer<()>,
) -> Answer<()> {
    let response = send(Some(signal), Method::POST, path, body, "text/event-stream").await?;
    let body = response.body().map(|body| body.get_reader().unchecked_into::<ReadableStreamDefaultReader>());
    let (Some(body), mut rest) = (body, Vec::new()) else { return Ok(()) };
    while let Some(bytes) = chunk(&body).await.map_err(cut_off)? {
        rest.extend(bytes);
        for event in complete(&mut rest) {
            if let Some((name, data)) = parts(&event) {
                hear(name, &data)?;
            }
        }
    }
    Ok(())
}

fn read<T: DeserializeOwned>(data: &str) -> Answer<T> {
    serde_json::from_str(data).map_err(|error| ApiError::Unreadable { status: 200, reason: error.to_string() })
}

/// What comes next; nothing at the end.
async fn chunk(body: &ReadableStreamDefaultReader) -> Result<Option<Vec<u8>>, JsValue> {
    let read = JsFuture::from(body.read()).await?;
    let value = Reflect::get(&read, &"value".into())?;
    Ok(value.dyn_into::<Uint8Array>().ok().map(|bytes| bytes.to_vec()))
}

#[expect(clippy::needless_pass_by_value, reason = "it is handed to `map_err`")]
fn cut_off(error: JsValue) -> ApiError {
    ApiError::Unreachable(format!("{error:?}"))
}

/// Takes the events out that are there whole.
fn complete(bytes: &mut Vec<u8>) -> Vec<String> {
    let mut events = Vec::new();
    while let Some(end) = bytes.windows(2).position(|two| two == b"\n\n") {
        let event: Vec<u8> = bytes.drain(..end + 2).collect();
        events.push(String::from_utf8_lossy(&event).into_owned());
    }
    events
}

/// Name and data of an event; nothing if it only says that the server is still there.
fn parts(event: &str) -> Option<(&str, String)> {
    let field = |name: &'static str| event.lines().filter_map(move |line| line.strip_prefix(name)).map(str::trim_start);
    let name = field("event:").next()?;
    Some((name, field("data:").collect::<Vec<_>>().join("\n")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_taken_as_they_become_whole() {
        let mut bytes = b"event: progress\ndata: {\"a\": 1}\n\n:\n\nevent: rep".to_vec();
        let events = complete(&mut bytes);
        let told: Vec<_> = events.iter().filter_map(|event| parts(event)).collect();
        assert_eq!(told, [("progress", r#"{"a": 1}"#.to_owned())]);
        assert_eq!(bytes, b"event: rep");
        // A letter of two bytes may come in two parts.
        bytes.extend(b"ort\ndata: \xc3");
        assert!(complete(&mut bytes).is_empty());
        bytes.extend(b"\xa9\ndata:b\n\n");
        assert_eq!(parts(&complete(&mut bytes)[0]), Some(("report", "é\nb".to_owned())));
        assert!(bytes.is_empty());
    }
}
