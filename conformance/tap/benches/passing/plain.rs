//! The smallest proxy that hyper can make, for comparison.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::mpsc::channel;
use std::thread;

use http::{Request, Response, Uri};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpListener;

async fn pass(
    client: Client<HttpConnector, Incoming>,
    upstream: SocketAddr,
    mut request: Request<Incoming>,
) -> Response<Incoming> {
    let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
    *request.uri_mut() = format!("http://{upstream}{path}").parse::<Uri>().expect("it is a URL");
    client.request(request).await.expect("the upstream answers")
}

/// Starts it, and returns its address. It ends with the process.
pub(crate) fn start(upstream: SocketAddr) -> SocketAddr {
    let (say, said) = channel();
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("it starts");
        runtime.block_on(async {
            let mut connector = HttpConnector::new();
            connector.set_nodelay(true);
            let client = Client::builder(TokioExecutor::new()).build(connector);
            let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
            say.send(listener.local_addr().expect("it is bound")).expect("it is awaited");
            while let Ok((stream, _)) = listener.accept().await {
                stream.set_nodelay(true).expect("it is a socket");
                let client = client.clone();
                let service = service_fn(move |request| {
                    let client = client.clone();
                    async move { Ok::<_, Infallible>(pass(client, upstream, request).await) }
                });
                tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
            }
        });
    });
    said.recv().expect("it listens")
}
