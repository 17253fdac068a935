//! The handshake of a WebSocket.

use reqwest::header::{
    ACCEPT, CONNECTION, CONTENT_TYPE, HeaderMap, HeaderValue, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY,
    SEC_WEBSOCKET_VERSION, UPGRADE,
};
use reqwest::{Client, Response, Upgraded, Url};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::handshake::client::generate_key;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};

use super::client::in_words;

/// A connection after its handshake.
pub type Socket = WebSocketStream<Upgraded>;

pub(super) fn handshake(mut headers: HeaderMap) -> (String, HeaderMap) {
    let key = generate_key();
    headers.remove(CONTENT_TYPE);
    headers.remove(ACCEPT);
    headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
    headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
    headers.insert(SEC_WEBSOCKET_VERSION, HeaderValue::from_static("13"));
    if let Ok(key) = HeaderValue::from_str(&key) {
        headers.insert(SEC_WEBSOCKET_KEY, key);
    }
    (key, headers)
}

/// The connection of a response with status 101, whose messages are no longer than a limit.
pub(super) async fn opened(response: Response, key: &str, limit: usize) -> Result<Socket, String> {
    let accepted = response.headers().get(SEC_WEBSOCKET_ACCEPT);
    if accepted.is_none_or(|accepted| accepted != &derive_accept_key(key.as_bytes())) {
        return Err("its Sec-WebSocket-Accept does not match the key that was sent".to_owned());
    }
    let mut config = WebSocketConfig::default();
    (config.max_message_size, config.max_frame_size) = (Some(limit), Some(limit));
    let upgraded = response.upgrade().await.map_err(|error| in_words(&error))?;
    Ok(WebSocketStream::from_raw_socket(upgraded, Role::Client, Some(config)).await)
}

/// The status of an upgrade to a WebSocket, and the connection if it was accepted.
///
/// # Errors
///
/// If there is no response, or no connection after one with status 101.
pub async fn upgrade(
    http: &Client,
    url: &Url,
    headers: HeaderMap,
    limit: usize,
) -> Result<(u16, Option<Socket>), String> {
    let (key, headers) = handshake(headers);
    let response = http.get(url.clone()).headers(headers).send().await.map_err(|error| in_words(&error))?;
    match response.status().as_u16() {
        101 => Ok((101, Some(opened(response, &key, limit).await?))),
        status => Ok((status, None)),
    }
}
