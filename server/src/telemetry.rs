//! What operators see: logs, figures for Prometheus, traces for OpenTelemetry.

mod merge;

use std::sync::OnceLock;
use std::time::Duration;

use metrics_exporter_prometheus::{BuildError, Matcher, PrometheusBuilder, PrometheusHandle};
use opentelemetry::trace::TracerProvider;
use opentelemetry_otlp::SpanExporter;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer};

pub use merge::merged;

/// How logs are written, to standard error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum LogFormat {
    /// For people
    Text,
    /// One JSON object a line; `spans` says which conversation of which run it belongs to
    Json,
}

/// Ends traces properly when it is dropped.
pub struct Telemetry {
    traces: Option<SdkTracerProvider>,
}

/// Where traces go, as OpenTelemetry names it.
const ENDPOINTS: [&str; 2] = ["OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"];

/// The crates whose spans are sent: those that play, ask and answer.
const SPANS: &str = "off,server=info,runtime=info,generation=info,datasets=info,projects=info,llm=info,tower_http=info";

/// Logs what `RUST_LOG` asks for, else errors only; sends traces if an `OTEL_EXPORTER_OTLP_ENDPOINT` is set.
pub fn start(format: LogFormat) -> anyhow::Result<Telemetry> {
    // What goes wrong with an MCP server is said by the command that asked it.
    let filter = || EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("error,rmcp=off"));
    let logs = tracing_subscriber::fmt::layer().with_writer(std::io::stderr);
    let logs = match format {
        LogFormat::Text => logs.boxed(),
        LogFormat::Json => logs.json().flatten_event(true).with_current_span(false).with_span_list(true).boxed(),
    };
    let traces = ENDPOINTS.iter().any(|name| std::env::var_os(name).is_some()).then(provider).transpose()?;
    // Spans of conversations and model calls, whatever is logged; not those of libraries.
    let spans = traces.as_ref().map(|provider| {
        let layer = tracing_opentelemetry::layer().with_tracer(provider.tracer("groundstate"));
        layer.with_filter(EnvFilter::new(SPANS))
    });
    tracing_subscriber::registry().with(logs.with_filter(filter())).with(spans).init();
    Ok(Telemetry { traces })
}

fn provider() -> anyhow::Result<SdkTracerProvider> {
    let exporter = SpanExporter::builder().with_http().build()?;
    let resource = Resource::builder().with_service_name("groundstate").build();
    Ok(SdkTracerProvider::builder().with_batch_exporter(exporter).with_resource(resource).build())
}

impl Drop for Telemetry {
    fn drop(&mut self) {
        if let Some(traces) = self.traces.take() {
            // An endpoint that is away must not keep the program from ending.
            let _ = traces.shutdown_with_timeout(Duration::from_secs(3));
        }
    }
}

static FIGURES: OnceLock<PrometheusHandle> = OnceLock::new();

/// Begins to count, for [`figures`]. Without it, counting costs nothing.
pub fn count() -> anyhow::Result<()> {
    let handle = recorder()?;
    if FIGURES.set(handle.clone()).is_ok() {
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(Duration::from_secs(5)).await;
                handle.run_upkeep();
            }
        });
    }
    Ok(())
}

fn recorder() -> Result<PrometheusHandle, BuildError> {
    const SECONDS: [f64; 12] = [0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 120.0];
    const STEPS: [f64; 9] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0];
    PrometheusBuilder::new()
        .set_buckets_for_metric(Matcher::Suffix("_seconds".to_owned()), &SECONDS)?
        .set_buckets_for_metric(Matcher::Suffix("_steps".to_owned()), &STEPS)?
        .install_recorder()
}

/// The figures of this process in Prometheus' text format; empty if nothing is counted.
pub fn figures() -> String {
    FIGURES.get().map(PrometheusHandle::render).unwrap_or_default()
}
