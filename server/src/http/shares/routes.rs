//! Which operations take a share of what.

use axum::http::Method;

use super::Kind::{self, Download, Stream, Trial, Work};

/// Method, path and what it takes. A document takes its work until it is read from the database, and is a download from then on.
pub static ROUTES: [(Method, &str, &[Kind]); 59] = [
    // Previews, and orders that are checked like one.
    (Method::POST, "/projects/{project}/runs/preview", &[Work]),
    (Method::POST, "/projects/{project}/runs", &[Work]),
    (Method::POST, "/projects/{project}/corpora/preview", &[Work]),
    (Method::POST, "/projects/{project}/exports/preview", &[Work]),
    (Method::POST, "/projects/{project}/exports", &[Work]),
    (Method::POST, "/projects/{project}/review-queues", &[Work]),
    // Lists that are searched, and statistics.
    (Method::GET, "/projects/{project}/conversations", &[Work]),
    (Method::GET, "/projects/{project}/conversations/facets", &[Work]),
    (Method::POST, "/projects/{project}/workflows/{name}/runs", &[Work]),
    (Method::GET, "/runs/{run}/rows", &[Work]),
    (Method::GET, "/runs/{run}/rows/summary", &[Work]),
    (Method::GET, "/runs/{run}/rows/{position}", &[Work]),
    (Method::GET, "/runs/{run}/conversations", &[Work]),
    (Method::GET, "/runs/{run}/conversations/facets", &[Work]),
    (Method::GET, "/runs/{run}/groups", &[Work]),
    (Method::GET, "/runs/{run}/groups/summary", &[Work]),
    (Method::GET, "/conversations/{conversation}/neighbours", &[Work]),
    (Method::GET, "/runs/{run}/analytics", &[Work]),
    (Method::GET, "/runs/{run}/comparison", &[Work]),
    (Method::GET, "/runs/{run}/forecast", &[Work]),
    (Method::GET, "/corpora/{corpus}/analytics", &[Work]),
    (Method::GET, "/projects/{project}/{kind}", &[Work]),
    // What reads all that there is, to answer little.
    (Method::GET, "/projects/{project}/review-queues", &[Work]),
    (Method::GET, "/runs/{run}/judgings", &[Work]),
    (Method::GET, "/judgings/{judging}", &[Work]),
    (Method::GET, "/projects/{project}/calibrations/sheet", &[Work]),
    (Method::POST, "/projects/{project}/calibrations", &[Work]),
    (Method::POST, "/projects/{project}/calibrations/ratings", &[Work]),
    (Method::GET, "/projects/{project}/ratings/agreement", &[Work]),
    (Method::GET, "/projects/{project}/ratings/disagreements", &[Work]),
    (Method::GET, "/review-queues/{queue}/agreement", &[Work]),
    (Method::GET, "/review-queues/{queue}/disagreements", &[Work]),
    (Method::GET, "/projects/{project}/personas/{name}/sample", &[Work]),
    (Method::GET, "/projects/{project}/{kind}/{name}/diff", &[Work]),
    (Method::GET, "/projects/{project}/{kind}/{name}/used-by", &[Work]),
    (Method::GET, "/datasets/{dataset}/rows", &[Work]),
    (Method::PATCH, "/projects/{project}/datasets/uploads/{upload}", &[Work]),
    (Method::POST, "/projects/{project}/datasets", &[Work]),
    (Method::GET, "/indexes/{index}/search", &[Work]),
    (Method::GET, "/conversations/{conversation}/world", &[Work]),
    (Method::GET, "/conversations/{conversation}/provenance", &[Work]),
    (Method::GET, "/conversations/{conversation}/corrections", &[Work]),
    // What the sandbox computes.
    (Method::POST, "/projects/{project}/scenarios/{name}/play", &[Trial]),
    (Method::POST, "/projects/{project}/playbooks/{name}/try", &[Trial]),
    (Method::POST, "/projects/{project}/playbooks/{name}/prompts", &[Trial]),
    (Method::POST, "/projects/{project}/playbooks/{name}/import", &[Trial]),
    (Method::POST, "/projects/{project}/workflows/{name}/graph", &[Trial]),
    (Method::POST, "/projects/{project}/{kind}/{name}/check", &[Trial]),
    // What is large.
    (Method::GET, "/projects/{project}/archive", &[Download, Work]),
    (Method::GET, "/projects/{project}/{kind}/{name}", &[Download, Work]),
    (Method::GET, "/projects/{project}/{kind}/{name}/versions/{version}", &[Download, Work]),
    (Method::GET, "/projects/{project}/validations/{validation}", &[Download, Work]),
    (Method::GET, "/conversations/{conversation}", &[Download, Work]),
    (Method::GET, "/judgings/{judging}/verdicts", &[Download, Work]),
    (Method::GET, "/corpora/{corpus}/manifest", &[Download]),
    (Method::GET, "/exports/{export}/file", &[Download]),
    // What lasts.
    (Method::GET, "/runs/{run}/progress", &[Stream]),
    (Method::POST, "/projects/{project}/validations", &[Stream]),
    (Method::POST, "/projects/{project}/workflows/{name}/answers", &[Stream]),
];

const API: &str = "/api/v1";

/// What a request takes: method, and the path as routes name it.
pub fn kinds(method: &Method, path: &str) -> &'static [Kind] {
    // What is looked at without its body costs as much.
    let method = if method == Method::HEAD { &Method::GET } else { method };
    let path = path.strip_prefix(API).unwrap_or(path);
    ROUTES.iter().find(|(of, own, _)| of == method && *own == path).map_or(&[], |(_, _, kinds)| *kinds)
}
