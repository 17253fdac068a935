//! The examples speak to each other, and what they serve is sound.

#[expect(dead_code, reason = "the programs themselves are not called")]
#[path = "../../examples/read.rs"]
mod read;
#[expect(dead_code, reason = "the programs themselves are not called")]
#[path = "../../examples/serve.rs"]
mod serve;

use axum::Router;
use axum::routing::post;
use tokio::net::TcpListener;
use types::openai::DIALECT;

/// Starts a server, and returns its base URL.
async fn started(app: Router) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, app).await });
    url
}

fn client() -> reqwest::Client {
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder().no_proxy().build().unwrap()
}

#[tokio::test]
async fn the_client_reads_what_the_server_sends() {
    let url = started(serve::app()).await;
    let mut printed = Vec::new();
    let text = "Grüße aus Rom, with 😀.";
    let answer =
        read::read(&client(), &url, "echo", text, |delta| printed.push(delta.to_owned())).await.unwrap();
    assert_eq!((answer.text.as_str(), answer.status.as_deref()), (text, Some("completed")));
    assert_eq!(printed, ["Grüße ", "aus ", "Rom, ", "with ", "😀."]);
    assert!(answer.missing.is_empty(), "{answer:?}");

    let asked = r#"{"model":"echo","input":"Hello, world.","stream":true}"#;
    let response = client().post(format!("{url}/responses")).body(asked).send().await.unwrap();
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    let mut checker = checker::Checker::new(&DIALECT);
    checker.push(&response.bytes().await.unwrap());
    checker.finish();
    assert!(checker.events() > 8);
    assert!(checker.findings().is_empty(), "{:#?}", checker.findings());
}

#[tokio::test]
async fn imperfect_servers_are_read_and_broken_ones_are_reported() {
    let imperfect = "data: {\"type\":\"response.output_text.delta\",\"delta\":\"Hi\"}\r\n\r\n: ping\n\n\
                     data: {\"type\":\"acme.trace\"}\n\ndata: {\"type\":\"response.completed\",\
                     \"response\":{\"status\":\"completed\"}}\n\ndata: [DONE]\n\n";
    let url = started(Router::new().route("/v1/responses", post(move || async move { imperfect }))).await;
    let answer = read::read(&client(), &url, "m", "Hi", |_| {}).await.unwrap();
    assert_eq!((answer.text.as_str(), answer.status.as_deref()), ("Hi", Some("completed")));
    for name in ["sequence_number", "item_id", "created_at"] {
        assert!(answer.missing.iter().any(|missing| missing == name), "{answer:?}");
    }

    let cut = &imperfect[..50];
    let url = started(Router::new().route("/v1/responses", post(move || async move { cut }))).await;
    let error = read::read(&client(), &url, "m", "Hi", |_| {}).await.unwrap_err();
    assert_eq!(error.to_string(), "the stream broke off");
    let error = read::read(&client(), &format!("{url}/nowhere"), "m", "Hi", |_| {}).await.unwrap_err();
    assert!(error.to_string().contains("404"), "{error}");
}
