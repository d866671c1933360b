//! What the client hasn't read yet. While that is much, its next messages are left in its pipe, so that it waits too.
//!
//! A client that reads gets every answer, and its messages are read on: a cancelled call and an answer to a question wait
//! until it has read, and for nothing else.

use rmcp::RoleServer;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::sync::watch;

use crate::input;

/// The most bytes of messages that may wait for the client while its own are read.
const MAX: usize = 8 << 20;

/// Bytes that each counts beside its text: about what a waiting message takes in memory, however short it is.
const EACH: usize = 4 << 10;

/// A transport that holds the client's messages back.
pub struct Unread<T> {
    transport: T,
    bytes: watch::Sender<usize>,
}

/// A message that isn't written yet.
struct Waiting {
    all: watch::Sender<usize>,
    bytes: usize,
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.all.send_modify(|all| *all -= self.bytes);
    }
}

impl<T> Unread<T> {
    /// Over this transport.
    pub fn new(transport: T) -> Unread<T> {
        Unread {
            transport,
            bytes: watch::Sender::new(0),
        }
    }
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for Unread<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let bytes = EACH + serde_json::to_vec(&message).map_or(0, |text| text.len());
        self.bytes.send_modify(|all| *all += bytes);
        let waiting = Waiting {
            all: self.bytes.clone(),
            bytes,
        };
        let written = self.transport.send(message);
        async move {
            let _waiting = waiting;
            written.await
        }
    }

    /// Loses nothing where it is dropped: the SDK does so whenever something else comes first.
    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        let mut bytes = self.bytes.subscribe();
        tokio::select! {
            _ = bytes.wait_for(|bytes| *bytes <= MAX) => {}
            // Else the end of its messages would come only after them. What it wrote before fits into a pipe.
            () = input::closed() => {}
        }
        drop(bytes);
        self.transport.receive().await
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.transport.close().await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;

    /// A client that reads nothing.
    struct Unreading;

    impl Transport<RoleServer> for Unreading {
        type Error = io::Error;

        fn send(
            &mut self,
            _: TxJsonRpcMessage<RoleServer>,
        ) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
            std::future::pending()
        }

        async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
            None
        }

        async fn close(&mut self) -> Result<(), io::Error> {
            Ok(())
        }
    }

    #[test]
    fn short_messages_hold_the_client_back_by_what_they_take_in_memory_until_they_are_read() {
        let mut unread = Unread::new(Unreading);
        let answer = || serde_json::from_str(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#).unwrap();
        let mut waiting = Vec::new();
        for _ in 0..2500 {
            waiting.push(unread.send(answer()));
        }
        assert!(*unread.bytes.borrow() > MAX);
        waiting.truncate(1500);
        assert!(*unread.bytes.borrow() <= MAX);
    }
}
