//! A server within this process.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use reqwest::Url;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::time::sleep;

use super::patient::Patient;
use super::runtime::start_runtime;

/// A server on a port of the loopback interface, stopped when dropped.
#[derive(Debug)]
pub struct Host {
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Host {
    pub(super) fn start(app: Router) -> io::Result<Self> {
        Self::start_on(0, app)
    }

    /// Starts it on a port; 0 picks a free one.
    ///
    /// # Errors
    ///
    /// If the port is taken, or the system starts no more threads.
    pub fn start_on(port: u16, app: Router) -> io::Result<Self> {
        Self::start_with(port, app, Some(HEAD))
    }

    /// Starts it on a port, and keeps idle connections open: of a client that has a pool of them, none is closed while it
    /// sends its next request.
    ///
    /// # Errors
    ///
    /// As [`Host::start_on`].
    pub fn start_patient(port: u16, app: Router) -> io::Result<Self> {
        Self::start_with(port, app, None)
    }

    fn start_with(port: u16, app: Router, head: Option<Duration>) -> io::Result<Self> {
        let runtime = start_runtime(2)?;
        let listener = runtime.block_on(TcpListener::bind(("127.0.0.1", port)))?;
        let address = listener.local_addr()?;
        let (stop, stopped) = oneshot::channel();
        let thread = Builder::new().spawn(move || {
            let until = async {
                let _ = stopped.await;
            };
            // Its clients notice an error.
            let _ = runtime.block_on(listen_with(listener, app, head, until));
            runtime.shutdown_background();
        })?;
        Ok(Self { address, stop: Some(stop), thread: Some(thread) })
    }

    /// Its address.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        self.stop.take();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Endless streams do not keep it alive.
pub(super) async fn listen(
    listener: TcpListener,
    app: Router,
    until: impl Future<Output = ()>,
) -> io::Result<()> {
    listen_with(listener, app, Some(HEAD), until).await
}

async fn listen_with(
    listener: TcpListener,
    app: Router,
    head: Option<Duration>,
    until: impl Future<Output = ()>,
) -> io::Result<()> {
    let accept = async {
        loop {
            match listener.accept().await {
                Ok((connection, _)) => drop(tokio::spawn(converse(connection, app.clone(), head))),
                // Ended connections free their slots.
                Err(_) => sleep(Duration::from_millis(50)).await,
            }
        }
    };
    tokio::select! {
        () = accept => Ok(()),
        () = until => Ok(()),
    }
}

/// Marks a response in whose place the connection breaks.
#[derive(Debug, Clone, Copy)]
pub(super) struct Broken;

/// Timeout of the head of a request, so that idle connections are closed.
const HEAD: Duration = Duration::from_secs(10);

/// Time after which a client that does not read is left.
const UNREAD: Duration = Duration::from_secs(120);

async fn converse(connection: TcpStream, app: Router, head: Option<Duration>) {
    // Send small messages without delay.
    let _ = connection.set_nodelay(true);
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(head);
    let app = TowerToHyperService::new(app);
    let answer = service_fn(move |request| {
        let answered = app.call(request);
        async move {
            let Ok(response) = answered.await;
            match response.extensions().get::<Broken>() {
                Some(Broken) => Err(io::Error::from(io::ErrorKind::ConnectionReset)),
                None => Ok(response),
            }
        }
    });
    let connection = Patient::new(connection, UNREAD);
    let served = http.serve_connection(TokioIo::new(connection), answer);
    // The client notices an error.
    let _ = served.with_upgrades().await;
}

/// Returns whether an address is on this machine.
pub fn is_loopback(url: &Url) -> bool {
    match url.host_str().map(|host| host.trim_matches(['[', ']'])) {
        Some("localhost") => true,
        Some(host) => host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback()),
        None => false,
    }
}
