//! Servers behind TLS.

use std::future::Future;
use std::sync::{Arc, Mutex};
use std::thread;

use rustls::ServerConfig;
use tokio::io::AsyncReadExt as _;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use super::authority::config;

/// A server behind TLS, until the test ends.
pub(crate) struct Secure {
    /// Its port. The host is up to the caller, as the certificate covers several.
    pub(crate) port: u16,
    /// The negotiated protocol of each connection.
    spoken: Arc<Mutex<Vec<String>>>,
}

impl Secure {
    /// Starts a server that supports these protocols, in order of preference, and handles each connection with this
    /// function.
    pub(crate) fn new<F>(
        protocols: &[&str],
        serve: impl Fn(TlsStream<TcpStream>) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        Self::with(config(protocols), &[], serve)
    }

    /// Starts a server with this configuration that closes the connections with these numbers during the handshake.
    pub(crate) fn with<F>(
        config: Arc<ServerConfig>,
        closed: &'static [usize],
        serve: impl Fn(TlsStream<TcpStream>) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port is free");
        listener.set_nonblocking(true).expect("it can be");
        let port = listener.local_addr().expect("it is bound").port();
        let (acceptor, spoken) = (TlsAcceptor::from(config), Arc::<Mutex<Vec<String>>>::default());
        let seen = Arc::clone(&spoken);
        thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.expect("a runtime").block_on(async {
                let listener = TcpListener::from_std(listener).expect("a listener");
                for number in 0.. {
                    let Ok((mut stream, _)) = listener.accept().await else { break };
                    if closed.contains(&number) {
                        let _ = stream.read(&mut [0; 16_384]).await;
                        continue;
                    }
                    let Ok(stream) = acceptor.accept(stream).await else { continue };
                    let protocol = stream.get_ref().1.alpn_protocol().unwrap_or(b"none");
                    let protocol = String::from_utf8_lossy(protocol).into_owned();
                    seen.lock().expect("nobody panicked").push(protocol);
                    tokio::spawn(serve(stream));
                }
            });
        });
        Self { port, spoken }
    }

    /// Returns its URL.
    pub(crate) fn url(&self) -> String {
        format!("https://127.0.0.1:{}", self.port)
    }

    /// Returns the negotiated protocol of each connection.
    pub(crate) fn spoken(&self) -> Vec<String> {
        self.spoken.lock().expect("nobody panicked").clone()
    }
}
