//! The gateway server.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use tokio::net::TcpListener;

use super::gateway::Gateway;
use super::host::{Host, listen};
use super::routes;
use super::settings::Settings;

/// Serves until a future completes.
pub async fn serve(
    listener: TcpListener,
    settings: Settings,
    until: impl Future<Output = ()>,
) -> io::Result<()> {
    listen(listener, routes::router(Arc::new(Gateway::new(settings))), until).await
}

/// A gateway in this process on its own port, stopped when dropped.
#[derive(Debug)]
pub struct Embedded(Host);

impl Embedded {
    /// Starts it.
    pub fn start(settings: Settings) -> io::Result<Self> {
        Host::start(routes::router(Arc::new(Gateway::new(settings)))).map(Self)
    }

    /// Its address.
    pub const fn address(&self) -> SocketAddr {
        self.0.address()
    }

    /// Its base URL.
    pub fn url(&self) -> String {
        format!("http://{}/v1", self.address())
    }
}
