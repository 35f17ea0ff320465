//! HTTP clients.

/// Selects `ring` for TLS in this process, as the database connections do; a second library would only take longer to
/// compile. No client can be built before this is called.
pub fn choose_tls() {
    // It fails if it was called before.
    let _ = rustls::crypto::ring::default_provider().install_default();
}

/// The builder of every HTTP client.
pub fn http_client() -> reqwest::ClientBuilder {
    choose_tls();
    reqwest::Client::builder()
}
