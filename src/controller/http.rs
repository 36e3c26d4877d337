//! `/metrics`, `/healthz` and `/readyz`.

use std::io;
use std::time::Instant;

use axum::Router;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use tokio::net::TcpListener;

use super::config::Listen;
use super::health::{Health, Unhealthy};
use super::metrics::Metrics;

/// Listens at the first address that the machine has.
pub(super) async fn listen(at: Listen) -> io::Result<TcpListener> {
    TcpListener::bind(at.addresses().as_slice()).await
}

/// Answers until the process ends.
pub(super) async fn serve(listener: TcpListener, metrics: Metrics, health: Health) -> io::Result<()> {
    axum::serve(listener, router(metrics, health)).await
}

fn router(metrics: Metrics, health: Health) -> Router {
    let (live, ready) = (health.clone(), health);
    Router::new()
        .route("/metrics", get(async move || exposition(&metrics)))
        .route("/healthz", get(async move || verdict(live.live(Instant::now()))))
        .route("/readyz", get(async move || verdict(ready.ready(Instant::now()))))
}

fn exposition(metrics: &Metrics) -> Response {
    const TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    match metrics.text() {
        Ok(text) => ([(CONTENT_TYPE, TYPE)], text).into_response(),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

fn verdict(verdict: Result<(), Unhealthy>) -> Response {
    match verdict {
        Ok(()) => "ok\n".into_response(),
        Err(problem) => (StatusCode::SERVICE_UNAVAILABLE, format!("{problem}\n")).into_response(),
    }
}
