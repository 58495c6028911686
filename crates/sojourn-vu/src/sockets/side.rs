//! The side thread: one runtime for the sockets of all users.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::JoinHandle;

use rustls::ClientConfig;
use sojourn_http::{TlsOptions, tls_settings_for};
use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;

/// The side thread, made when it is first needed, and what its sockets have in common.
#[derive(Default)]
pub(crate) struct Sockets {
    side: OnceLock<Result<Side, String>>,
    tls: Mutex<HashMap<TlsFor, Arc<ClientConfig>>>,
}

/// What the settings of a TLS connection depend on: what is spoken over it, and the host where that
/// may be shown a certificate of its own.
type TlsFor = (&'static [&'static [u8]], String);

struct Side {
    handle: Handle,
    /// Dropped, it ends the thread.
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Sockets {
    /// Where tasks run.
    pub(super) fn side(&self) -> Result<&Handle, String> {
        let side = self.side.get_or_init(Side::start).as_ref();
        side.map(|side| &side.handle).map_err(Clone::clone)
    }

    /// Does what blocks, on one of the threads for that. Fails when there is no side thread.
    #[cfg(feature = "kafka")]
    pub(crate) fn block(&self, work: impl FnOnce() + Send + 'static) -> Result<(), String> {
        drop(self.side()?.spawn_blocking(work));
        Ok(())
    }

    /// TLS of WebSockets.
    pub(crate) fn tls(
        &self,
        options: &TlsOptions,
        host: &str,
    ) -> Result<Arc<ClientConfig>, String> {
        self.config(options, &[b"http/1.1"], host)
    }

    /// TLS of connections for gRPC.
    pub(crate) fn tls_of_grpc(
        &self,
        options: &TlsOptions,
        host: &str,
    ) -> Result<Arc<ClientConfig>, String> {
        self.config(options, &[b"h2"], host)
    }

    /// TLS of connections that agree on no protocol: MQTT, Redis.
    pub(crate) fn tls_without_protocol(
        &self,
        options: &TlsOptions,
        host: &str,
    ) -> Result<Arc<ClientConfig>, String> {
        self.config(options, &[], host)
    }

    /// Made once, since the system's certificates are many.
    fn config(
        &self,
        options: &TlsOptions,
        protocols: &'static [&'static [u8]],
        host: &str,
    ) -> Result<Arc<ClientConfig>, String> {
        let host = if options.host_certificates.is_empty() { "" } else { host };
        let mut known = self.tls.lock().unwrap_or_else(PoisonError::into_inner);
        let wanted = (protocols, host.to_owned());
        if let Some(known) = known.get(&wanted) {
            return Ok(Arc::clone(known));
        }
        let made = tls_settings_for(options, protocols, host);
        let made = made.map_err(|error| error.to_string())?;
        known.insert(wanted, Arc::clone(&made));
        Ok(made)
    }
}

impl Side {
    fn start() -> Result<Self, String> {
        let wrong = |error: std::io::Error| format!("no thread for sockets: {error}");
        let runtime = Builder::new_current_thread().enable_all().build().map_err(wrong)?;
        let handle = runtime.handle().clone();
        let (stop, stopped) = oneshot::channel::<()>();
        let thread = std::thread::Builder::new()
            .name("sockets".to_owned())
            // An error says that the sender is gone, which is the same.
            .spawn(move || drop(runtime.block_on(stopped)))
            .map_err(wrong)?;
        Ok(Self { handle, stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for Side {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A panic in a task ends that task alone.
            thread.join().ok();
        }
    }
}
