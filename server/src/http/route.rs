//! Routes whose handlers are all of one type.
//!
//! axum wraps each handler in a dozen types of its own, and for each of them the compiler would prove anew that the handler's
//! future may be sent between threads: half of the time that this crate takes to compile.

use std::pin::Pin;
use std::sync::Arc;

use axum::extract::Request;
use axum::handler::Handler;
use axum::response::Response;

use super::app::App;

type BoxedFuture = Pin<Box<dyn Future<Output = Response> + Send>>;

/// Any handler.
#[derive(Clone)]
pub struct AnyHandler(Arc<dyn Fn(Request, App) -> BoxedFuture + Send + Sync>);

/// Wraps a handler of any arguments.
pub fn any<T, H>(handler: H) -> AnyHandler
where
    H: Handler<T, App, Future = BoxedFuture>,
{
    AnyHandler(Arc::new(move |request, app| handler.clone().call(request, app)))
}

impl Handler<(), App> for AnyHandler {
    type Future = BoxedFuture;

    fn call(self, request: Request, app: App) -> BoxedFuture {
        (self.0)(request, app)
    }
}

/// Like `utoipa_axum::routes!`.
macro_rules! routes {
    ($($handler:path),+ $(,)?) => {{
        use utoipa_axum::PathItemExt as _;
        let mut schemas = Vec::new();
        let mut paths = utoipa::openapi::path::Paths::new();
        let mut router = axum::routing::MethodRouter::new();
        $(
            let (path, operation, methods) = utoipa_axum::routes!(@resolve_types $handler : schemas);
            for method in &methods {
                router = router.on(method.to_method_filter(), $crate::http::route::any($handler));
            }
            paths.add_path_operation(&path, methods, operation);
        )+
        (schemas, paths, router)
    }};
}
pub(super) use routes;
