//! How long a prompt may be, where an endpoint says so.

use std::time::Duration;

use reqwest::Url;
use serde_json::Value;

use super::Client;

const PATIENCE: Duration = Duration::from_secs(5);
/// A list of models is no longer, in bytes.
const MOST: usize = 4 << 20;

impl Client {
    /// Tokens that a prompt and its reply may have together, as the endpoint says itself.
    pub async fn context_length(&self) -> Option<u64> {
        // What llama-server gives one request of; its list says only what the model was trained with.
        if let Some(length) = self.fetch_json("../props").await.and_then(|props| slot(&props)) {
            return Some(length);
        }
        listed(&self.fetch_json("models").await?, self.spec.name())
    }

    /// JSON at a path beside the completions.
    async fn fetch_json(&self, path: &str) -> Option<Value> {
        let base = Url::parse(&format!("{}/", self.spec.base_url().trim_end_matches('/'))).ok()?;
        let request = self.http.get(base.join(path).ok()?).timeout(PATIENCE);
        let mut response = request.send().await.ok()?.error_for_status().ok()?;
        let mut body = Vec::new();
        while let Some(part) = response.chunk().await.ok()? {
            body.extend_from_slice(&part);
            if body.len() > MOST {
                return None;
            }
        }
        serde_json::from_slice(&body).ok()
    }
}

fn slot(props: &Value) -> Option<u64> {
    props.pointer("/default_generation_settings/n_ctx")?.as_u64()
}

/// vLLM and SGLang say `max_model_len`, others `context_length` or `context_window`.
fn listed(list: &Value, name: &str) -> Option<u64> {
    let all = list.get("data")?.as_array()?;
    let own = all.iter().find(|model| model["id"] == name);
    let own = own.or(if all.len() == 1 { all.first() } else { None })?;
    ["max_model_len", "context_length", "context_window"].iter().find_map(|field| own.get(field)?.as_u64())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn engines_say_it_in_their_own_ways() {
        let list = json!({"data": [{"id": "a", "max_model_len": 4096}, {"id": "b", "context_length": 1024}]});
        assert_eq!([listed(&list, "a"), listed(&list, "b"), listed(&list, "c")], [Some(4096), Some(1024), None]);
        let one = json!({"data": [{"id": "/models/a.gguf", "max_model_len": 8}]});
        assert_eq!(listed(&one, "a"), Some(8));
        assert_eq!(listed(&json!({"data": "no"}), "a"), None);
        assert_eq!(slot(&json!({"default_generation_settings": {"n_ctx": 2048}})), Some(2048));
        assert_eq!(slot(&json!([])), None);
    }
}
