//! The demo's threads, and HTTP servers on them.

use crate::error::DemoError;
use crate::stop::StopSignal;
use axum::Router;
use axum::serve::ListenerExt;
use std::future::{Future, IntoFuture};
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

/// How long answers in flight may take when a server stops.
const GRACE: Duration = Duration::from_secs(1);

/// A thread that ends once its signal is raised.
pub(crate) struct Thread {
    name: &'static str,
    handle: JoinHandle<()>,
}

impl Thread {
    /// Starts a thread.
    pub(crate) fn spawn(
        name: &'static str,
        body: impl FnOnce() + Send + 'static,
    ) -> Result<Self, DemoError> {
        let handle = Builder::new().name(name.into()).spawn(body);
        match handle {
            Ok(handle) => Ok(Self { name, handle }),
            Err(source) => Err(DemoError::Thread { name, source }),
        }
    }

    /// Starts a thread with a tokio runtime of its own; what the future has spawned ends with it.
    pub(crate) fn spawn_async(
        name: &'static str,
        body: impl Future<Output = ()> + Send + 'static,
    ) -> Result<Self, DemoError> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|source| DemoError::Thread { name, source })?;
        Self::spawn(name, move || runtime.block_on(body))
    }
}

/// Joins all; the first that panicked is the error.
pub(crate) fn join_all(threads: &mut Vec<Thread>) -> Result<(), DemoError> {
    let mut joined = Ok(());
    for thread in threads.drain(..) {
        if thread.handle.join().is_err() && joined.is_ok() {
            joined = Err(DemoError::Panicked { name: thread.name });
        }
    }
    joined
}

/// Listens on an address; also the address with its real port.
pub(crate) fn listen(address: SocketAddr) -> Result<(TcpListener, SocketAddr), DemoError> {
    TcpListener::bind(address)
        .and_then(|listener| {
            listener.set_nonblocking(true)?;
            let real = listener.local_addr()?;
            Ok((listener, real))
        })
        .map_err(|source| DemoError::Listen { address, source })
}

/// Serves until the signal, then lets answers in flight end, for a second.
pub(crate) async fn serve(
    listener: TcpListener,
    router: Router,
    stop: Arc<StopSignal>,
) -> io::Result<()> {
    let listener = tokio::net::TcpListener::from_std(listener)?.tap_io(|stream| {
        // Without it answers only wait longer; no reason to refuse the connection.
        drop(stream.set_nodelay(true));
    });
    let told = Arc::clone(&stop);
    let serving = axum::serve(listener, router)
        .with_graceful_shutdown(async move { told.raised().await })
        .into_future();
    tokio::select! {
        served = serving => served,
        () = async {
            stop.raised().await;
            tokio::time::sleep(GRACE).await;
        } => Ok(()),
    }
}
