//! An MCP server on standard input and output. Its tools run commands and scripts inside Stockade's profiles, read what a
//! script needs, and judge calls beforehand.
//!
//! The user sets the widest profile, the root and the limits; a client chooses within them and turns nothing off. Each call
//! is a process of our own program with the words that a person would type, so this crate enforces nothing itself, and its
//! runtime stands on no run's path. A client's words are bounded and checked (`arguments`); what programs wrote is bounded
//! (`kept`) and escaped (`outcome`).

mod arguments;
mod attending;
mod bounds;
mod child;
mod input;
mod judged;
mod kept;
mod outcome;
mod own;
mod question;
mod reports;
mod running;
mod runs;
mod server;
mod settings;
mod tools;
mod unread;

use std::io;
use std::time::Duration;

use rmcp::service::{QuitReason, ServerInitializeError, serve_server_with_ct};
use rmcp::transport::async_rw::AsyncRwTransport;
use stockade_text::visible::fit;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

pub use settings::{AGENT, Asked, Profile, Profiles, ProfilesError, Settings};

/// The most bytes of a message of the client. A longer one is dropped.
const MAX_MESSAGE: usize = 4 << 20;

/// How long runs have to end after the client has gone.
const LAST_RUNS: Duration = Duration::from_secs(8);

/// How long the client has to read the last answers once the server ends.
const LAST_ANSWERS: Duration = Duration::from_secs(5);

/// Why the server ended.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The system doesn't let it start.
    #[error("can't serve")]
    System(#[from] io::Error),
    /// The client doesn't speak the protocol.
    #[error("the client didn't begin as the protocol says: {0}")]
    Handshake(String),
}

/// Serves the client on standard input and output until it closes its end or a signal comes. Runs end with it.
///
/// # Errors
/// The system doesn't let it start, or the client doesn't begin with a request of the protocol.
pub fn serve(settings: Settings) -> Result<(), ServeError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let ended = runtime.block_on(session(settings));
    // A thread may still wait for standard input.
    runtime.shutdown_background();
    ended
}

async fn session(settings: Settings) -> Result<(), ServeError> {
    let stop = CancellationToken::new();
    let at_once = CancellationToken::new();
    let (alive, mut all_ended) = mpsc::channel(1);
    heed_signals(&stop, &at_once)?;
    let (served, rest) = tokio::select! {
        served = serve_client(settings, alive.downgrade(), stop.clone()) => (served, LAST_RUNS),
        // Writing to a client that doesn't read never ends. The runs were stopped when this wait began.
        () = overdue(&stop, &at_once) => (Ok(()), LAST_RUNS.saturating_sub(LAST_ANSWERS)),
    };
    stop.cancel();
    drop(alive);
    tokio::select! {
        // Each run holds a sender until it has ended, and nothing else does.
        _ = tokio::time::timeout(rest, all_ended.recv()) => {}
        () = at_once.cancelled() => {}
    }
    served
}

async fn serve_client(
    settings: Settings,
    alive: mpsc::WeakSender<()>,
    stop: CancellationToken,
) -> Result<(), ServeError> {
    let server = server::Server::new(settings, alive);
    let transport = AsyncRwTransport::new_server(input::Input::new(stop.clone()), tokio::io::stdout());
    let transport = unread::Unread::new(transport.with_max_line_length(MAX_MESSAGE));
    match serve_server_with_ct(server, transport, stop).await {
        Ok(service) => match service.waiting().await {
            Ok(QuitReason::JoinError(error)) | Err(error) => Err(ServeError::System(io::Error::other(error))),
            Ok(_) => Ok(()),
        },
        // The client left before it said anything.
        Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => Ok(()),
        // It may quote the client's message.
        Err(error) => Err(ServeError::Handshake(fit::shortened(&error.to_string(), 300))),
    }
}

/// From here on a signal stops the server, and a second one ends it without waiting for anything.
fn heed_signals(stop: &CancellationToken, at_once: &CancellationToken) -> io::Result<()> {
    for kind in [SignalKind::terminate(), SignalKind::interrupt(), SignalKind::hangup()] {
        let (mut signal, stop, at_once) = (signal(kind)?, stop.clone(), at_once.clone());
        tokio::spawn(async move {
            while signal.recv().await.is_some() {
                match stop.is_cancelled() {
                    true => at_once.cancel(),
                    false => stop.cancel(),
                }
            }
        });
    }
    Ok(())
}

/// Returns once the server was stopped and the time for the last answers is over.
async fn overdue(stop: &CancellationToken, at_once: &CancellationToken) {
    stop.cancelled().await;
    let _ = tokio::time::timeout(LAST_ANSWERS, at_once.cancelled()).await;
}
