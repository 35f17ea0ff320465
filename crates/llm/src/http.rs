//! Clients of HTTP.

/// Says which library of cryptography TLS uses in this process: the one of the database's connections, so that no second
/// one is compiled. Without it no client can be built.
pub fn choose_tls() {
    // Somebody was first, and chose the same.
    let _ = rustls::crypto::ring::default_provider().install_default();
}

/// What every client is built from.
pub fn http_client() -> reqwest::ClientBuilder {
    choose_tls();
    reqwest::Client::builder()
}
