//! WebSocket turns: messages of the client, and the events of their responses, lane by lane.

mod asides;
mod desk;
mod running;

use std::sync::Arc;

use axum::extract::ws::{Message, WebSocket};
use spec::table::SessionShape;
use tokio::time::{sleep, sleep_until};

use crate::faults::requested::Faults;
use crate::serving::gateway::Gateway;
use desk::{Desk, Due};

/// Responses can be continued here, stored or not.
pub(super) async fn talk(
    gateway: Arc<Gateway>,
    session: &'static SessionShape,
    mut socket: WebSocket,
    faults: Faults,
) {
    let pace = gateway.settings.pace;
    let mut desk = Desk::new(gateway, session, faults);
    loop {
        desk.start().await;
        while let Some(event) = desk.say() {
            if socket.send(Message::Text(event.into())).await.is_err() {
                return;
            }
        }
        if desk.is_over() {
            // Close at once, like the end of a stream.
            return;
        }
        let due = desk.due();
        let message = tokio::select! {
            biased;
            message = socket.recv(), if !desk.is_full() => Some(message),
            () = wait(due, pace) => None,
        };
        match message {
            Some(Some(Ok(Message::Text(text)))) => desk.hear(&text),
            Some(Some(Ok(Message::Binary(_)))) => desk.hear(""),
            Some(Some(Ok(Message::Ping(_) | Message::Pong(_)))) => {}
            Some(None | Some(Err(_) | Ok(Message::Close(_)))) => return,
            None => {
                if let Some(event) = desk.next()
                    && socket.send(Message::Text(event.into())).await.is_err()
                {
                    return;
                }
            }
        }
    }
}

async fn wait(due: Due, pace: std::time::Duration) {
    match due {
        // Messages of the client come first.
        Due::Now if pace.is_zero() => tokio::task::yield_now().await,
        Due::Now => sleep(pace).await,
        Due::At(time) => sleep_until(time).await,
        Due::Never => std::future::pending().await,
    }
}
