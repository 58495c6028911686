//! The threads of a test, and the way to them.

use std::rc::Rc;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};
use sojourn_engine::FollowSource;
use sojourn_http::{Client, ClientConfig, Waker};
use sojourn_k6::metrics::{Matcher, Shard, ShardOptions, TagSets};

use crate::host::Host;
use crate::settings::Settings;
use crate::thread::{Member, Order, Place, Report, VuThread};

/// Orders that may wait for a thread.
const ORDERS_MAX: usize = 64;
/// Reports that may wait for the coordinator; a thread that has more waits.
pub(super) const REPORTS_MAX: usize = 1_024;

/// What is said of a thread that panicked.
pub(super) const GONE: &str = "a thread of users has ended unexpectedly";

/// Where reports go in, and where they come out.
pub(super) type Channel = (Sender<(Member, Report)>, Receiver<(Member, Report)>);

/// See the module's page.
pub(super) struct Threads {
    all: Vec<Handle>,
    pub(super) reports: Receiver<(Member, Report)>,
}

struct Handle {
    orders: Sender<Order>,
    waker: Waker,
    thread: Option<JoinHandle<()>>,
}

/// What all threads are made with.
pub(super) struct Equipment {
    pub(super) settings: Arc<Settings>,
    pub(super) client: ClientConfig,
    pub(super) matcher: Arc<Matcher>,
    pub(super) shard: ShardOptions,
}

impl Threads {
    /// Starts so many threads, which report by this channel. Fails when the system gives no thread
    /// or no socket. Each gets one of the sources of journeys, if there are any.
    pub(super) fn start(
        count: usize,
        equipment: &Equipment,
        sources: Vec<FollowSource>,
        (report, reports): Channel,
    ) -> Result<Self, String> {
        sojourn_script::take_small_pages();
        let mut sources = sources.into_iter();
        let mut all = Vec::with_capacity(count);
        for thread in 0..count {
            let (order, orders) = bounded(ORDERS_MAX);
            let client =
                Client::new(equipment.client.clone()).map_err(|error| error.to_string())?;
            let waker = client.waker();
            let place = Place { thread: thread as u64, of: count as u64 };
            let settings = Arc::clone(&equipment.settings);
            let (matcher, shard) = (Arc::clone(&equipment.matcher), equipment.shard);
            let report = report.clone();
            let source = sources.next();
            let body = move || {
                let sets = TagSets::new(matcher);
                let host = Rc::new(Host::new(settings, client, Shard::new(shard), sets));
                *host.follow.borrow_mut() = source;
                VuThread::new(host, place, orders, report).run();
            };
            let thread = std::thread::Builder::new()
                .name(format!("users-{thread}"))
                .spawn(body)
                .map_err(|error| error.to_string())?;
            all.push(Handle { orders: order, waker, thread: Some(thread) });
        }
        Ok(Self { all, reports })
    }

    pub(super) fn count(&self) -> usize {
        self.all.len()
    }

    /// Tells every thread.
    pub(super) fn tell_all(&self, order: impl Fn() -> Order) {
        for thread in 0..self.all.len() {
            self.tell(thread, order());
        }
    }

    /// Tells one. A thread that is gone has said so, or is missed when its report does not come.
    pub(super) fn tell(&self, thread: usize, order: Order) {
        if let Some(handle) = self.all.get(thread) {
            handle.orders.send(order).ok();
            handle.waker.wake();
        }
    }

    /// The next report, if one comes within so long.
    pub(super) fn next(&self, within_ns: u64) -> Result<Option<(Member, Report)>, String> {
        match self.reports.recv_timeout(Duration::from_nanos(within_ns)) {
            Ok(report) => Ok(Some(report)),
            Err(RecvTimeoutError::Timeout) => match self.gone() {
                true => Err(GONE.to_owned()),
                false => Ok(None),
            },
            Err(RecvTimeoutError::Disconnected) => {
                Err("all threads of users have ended unexpectedly".to_owned())
            }
        }
    }

    /// Whether a thread has ended that was not asked to.
    pub(super) fn gone(&self) -> bool {
        self.all.iter().any(|handle| {
            handle.thread.as_ref().is_some_and(JoinHandle::is_finished) && self.reports.is_empty()
        })
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        for handle in &self.all {
            handle.orders.send(Order::End).ok();
            handle.waker.wake();
        }
        for handle in &mut self.all {
            // What a thread still reports would keep it waiting once the channel is full.
            while let Some(thread) = &handle.thread {
                if thread.is_finished() {
                    break;
                }
                self.reports.recv_timeout(Duration::from_millis(5)).ok();
            }
            if let Some(thread) = handle.thread.take() {
                // A panic has been seen already, as a thread that was gone.
                thread.join().ok();
            }
        }
    }
}
