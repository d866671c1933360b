//! The client's messages. Where they end since the client is gone, all runs end at once.
//!
//! A client that only closed its end may still read the answers to what it asked before, so that end alone stops nothing:
//! the SDK gives those calls five seconds. One that doesn't read them is no longer waited for after six.

use std::io;
use std::os::fd::AsFd;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use stockade_sys::file::has_other_end;
use tokio::io::{AsyncRead, ReadBuf, Stdin, stdin};
use tokio_util::sync::CancellationToken;

/// How often the client is looked for after the end of its messages.
const INTERVAL: Duration = Duration::from_millis(50);

/// How long a client that closed its end is looked for: longer than the SDK waits for its calls.
const PATIENCE: Duration = Duration::from_secs(6);

/// Standard input, with what to stop where no client reads standard output any more.
pub struct Input {
    stdin: Stdin,
    stop: CancellationToken,
    is_over: bool,
}

impl Input {
    /// Cancels the token when the client is gone.
    pub fn new(stop: CancellationToken) -> Input {
        Input {
            stdin: stdin(),
            stop,
            is_over: false,
        }
    }
}

impl AsyncRead for Input {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stdin).poll_read(context, buffer);
        let is_over = matches!(&read, Poll::Ready(result) if result.is_err() || buffer.filled().len() == before);
        if is_over && !self.is_over {
            self.is_over = true;
            tokio::spawn(watch(self.stop.clone()));
        }
        read
    }
}

/// Cancels the token once the client is gone, or has had its time: as it dies, the kernel closes one of its ends after the
/// other.
async fn watch(stop: CancellationToken) {
    let gone = async {
        while has_other_end(io::stdout().as_fd()) {
            tokio::time::sleep(INTERVAL).await;
        }
    };
    let _ = tokio::time::timeout(PATIENCE, gone).await;
    stop.cancel();
}

/// Returns once the client has closed its end, also before what it wrote is read.
pub async fn closed() {
    while has_other_end(io::stdin().as_fd()) {
        tokio::time::sleep(INTERVAL).await;
    }
}
