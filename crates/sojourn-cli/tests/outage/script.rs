//! The script of outages: runs that follow orders, and what befalls their broker meanwhile.

use std::{net::SocketAddr, time::Duration};

use sojourn_broker::{Publisher, PublisherSettings};
use sojourn_clock::{SECOND_NS, now_ns};
use sojourn_plan::Channel;
use sojourn_testkit::{
    Running, TempDir,
    services::{CutProxy, Service},
    sojourn, temp_dir,
};

use super::{
    Told, Way,
    book::{Fault, Judged},
    orders::{Order, Orders},
};
use crate::common::{alone, plan, registry};

/// Orders that are told of and acknowledged before the fault, and that come up during it.
const ORDERS_MIN: usize = 10;
const PATIENCE_NS: u64 = 120 * SECOND_NS;

/// The machine is busy with a server that starts: the lag is not what is looked at here.
const PLAN: &str = r#"
name: outage
target: ${TARGET}
channels:
  events: { CHANNEL }
journeys:
  order:
    root:
      http: { method: POST, url: /orders }
      key: body.id
    stages:
      - { name: placed, on: events, match: { KIND: Placed }, key: KEY }
      - { name: refused, on: events, match: { KIND: Refused }, key: KEY, failure: true }
    within: WITHIN
    linger: 500ms
load:
  - { rate: 20/s, steady: 4s, drain: 90s }
health: { lag_p99_max: 30s, LIMITS }
"#;
/// A tap may be away, or behind, for as long as an outage lasts.
const LENIENT: &str = "tap_behind_max: 120s, silent_max: 120s";
/// As where a plan says nothing.
const USUAL: &str = "tap_behind_max: 1s, silent_max: 1s";
/// Far less than the events of a run take, and how long it lasts.
const SLOW_BYTES_PER_S: u64 = 300;
const SLOW_NS: u64 = 5 * SECOND_NS;

/// What can be killed, and started again.
pub(super) trait Mortal {
    fn is_dead(&self) -> bool;
    /// Ends it at once, as a power cut would.
    fn kill(&mut self);
    /// Starts it again where it was, with what it has kept.
    fn restart(&mut self);
}

impl<S: Service> Mortal for S {
    fn is_dead(&self) -> bool {
        self.instance().process().is_none()
    }

    fn kill(&mut self) {
        Service::kill(self);
    }

    fn restart(&mut self) {
        Service::restart(self).unwrap();
    }
}

/// The server is killed amid a run, as by a power cut, and started again.
#[track_caller]
pub(super) fn restarted(server: &mut dyn Mortal, ways: &[Way]) {
    let _turn = alone();
    // A test that failed may have left a shared one dead.
    if server.is_dead() {
        server.restart();
    }
    let runs: Vec<_> = ways.iter().map(|way| Watched::start(way, None, LENIENT)).collect();
    all(&runs, "orders before the fault", |order| order.acked_ns.is_some());
    server.kill();
    let from_ns = now_ns();
    let came = holds(&runs, |order| order.taken_ns > from_ns);
    let fault = Fault { from_ns, to_ns: now_ns() };
    // Whatever came of it: others use this server too.
    server.restart();
    runs.iter().filter(|run| run.way.forgets).for_each(|run| make(&run.channel));
    assert!(came, "no orders came while the server was dead");
    runs.into_iter().for_each(|run| run.judge(|judged| judged.compare(fault)));
}

/// The taps' connections are cut amid a run and refused for a while, during which events come.
#[track_caller]
pub(super) fn cut(proxy: &CutProxy, own: SocketAddr, ways: &[Way]) {
    let _turn = alone();
    let through = Some((own, proxy.address()));
    let runs: Vec<_> = ways.iter().map(|way| Watched::start(way, through, LENIENT)).collect();
    all(&runs, "orders before the fault", |order| order.acked_ns.is_some());
    proxy.refuse();
    assert!(proxy.cut() >= ways.len(), "the taps go through the proxy");
    let from_ns = now_ns();
    let meanwhile = Fault { from_ns, to_ns: u64::MAX };
    all(&runs, "events during the fault", |order| meanwhile.has_all_of(order));
    let fault = Fault { from_ns, to_ns: now_ns() };
    proxy.admit().unwrap();
    runs.into_iter().for_each(|run| run.judge(|judged| judged.compare(fault)));
}

/// The taps are given less than there is to be taken for a while: slow consumers, by the usual limits.
#[track_caller]
pub(super) fn slowed(proxy: &CutProxy, own: SocketAddr, ways: &[Way]) {
    let _turn = alone();
    let through = Some((own, proxy.address()));
    let runs: Vec<_> = ways.iter().map(|way| Watched::start(way, through, USUAL)).collect();
    all(&runs, "orders before the fault", |order| order.acked_ns.is_some());
    proxy.throttle(Some(SLOW_BYTES_PER_S));
    let from_ns = now_ns();
    all(&runs, "events during the fault", |order| order.acked_ns.is_some_and(|at| at > from_ns));
    assert!(patiently(|| now_ns() > from_ns + SLOW_NS));
    proxy.throttle(None);
    runs.into_iter().for_each(|run| run.judge(|judged| judged.compare_slowed()));
}

/// The system's way to a receiver of ours is cut, or slow, for a while: it tells again what had no
/// answer.
#[track_caller]
pub(super) fn told_again(
    proxy: &CutProxy,
    ways: &[Way],
    hinder: impl FnOnce(&CutProxy),
    help: impl FnOnce(&CutProxy),
) {
    let _turn = alone();
    let runs: Vec<_> = ways.iter().map(|way| Watched::start(way, None, USUAL)).collect();
    all(&runs, "orders before the fault", |order| order.acked_ns.is_some());
    hinder(proxy);
    let from_ns = now_ns();
    all(&runs, "orders during the fault", |order| order.taken_ns > from_ns);
    let fault = Fault { from_ns, to_ns: now_ns() };
    help(proxy);
    runs.into_iter().for_each(|run| run.judge(|judged| judged.compare_told_again(fault)));
}

/// A run of the real command that follows a system's orders.
struct Watched<'a> {
    way: &'a Way,
    /// Where the system tells.
    channel: Channel,
    orders: Orders,
    running: Running,
    folder: TempDir,
}

impl<'a> Watched<'a> {
    /// Starts system and run; the run's tap goes through a proxy in place of the server's address.
    fn start(way: &'a Way, through: Option<(SocketAddr, SocketAddr)>, limits: &str) -> Self {
        let own = format!("{}: {}", way.broker, way.channel);
        let told_at = if let Told::At(channel) = &way.told { channel } else { &own };
        let mut read = plan(&text(way, told_at, limits), &[("TARGET", "http://127.0.0.1:1")]);
        let channel = read.channels.remove(0);
        let topic = channel.connector.usual_topic().unwrap_or_default().to_owned();
        let orders = Orders::start(publisher(way, &channel), &topic);
        let text = match through {
            Some((server, proxy)) => {
                let proxied = own.replace(&server.to_string(), &proxy.to_string());
                assert_ne!(proxied, own, "{}: {server} is not in it", way.name);
                text(way, &proxied, limits)
            }
            None => text(way, &own, limits),
        };
        let folder = temp_dir().unwrap();
        let text = text.replace("${TARGET}", &orders.url());
        std::fs::write(folder.path().join("plan.yaml"), text).unwrap();
        let words = ["run", "plan.yaml", "--quiet", "--keep", "all", "--output", "run.sojourn"];
        // A run that hangs is ended then, and has failed.
        let program = sojourn(words).in_dir(folder.path()).timeout(Duration::from_secs(150));
        Self { way, channel, orders, running: program.start().unwrap(), folder }
    }

    /// Waits for the run's end and compares.
    #[track_caller]
    fn judge(self, compare: impl FnOnce(&Judged<'_>)) {
        let Self { way, orders, running, folder, .. } = self;
        let output = running.wait().unwrap();
        let told = || orders.count(|order| order.acked_ns.is_none()) == 0;
        assert!(patiently(told), "{}: orders that nobody was told of: {output}", way.name);
        compare(&Judged::new(way, &orders, output, &folder.path().join("run.sojourn")));
    }
}

/// What the system tells by, at this channel; that is made where it is the one listened to.
fn publisher(way: &Way, channel: &Channel) -> Box<dyn Publisher> {
    match &way.told {
        Told::By(made) => return made(),
        Told::Here => make(channel),
        Told::At(_) => {}
    }
    let registry = registry();
    let connector = registry.of(channel).unwrap();
    connector.publisher(channel, PublisherSettings::default()).unwrap()
}

/// Makes what a channel needs at its broker.
fn make(channel: &Channel) {
    registry().of(channel).unwrap().provision(channel, "outage-keeper").unwrap();
}

/// A journey file for a way, by this channel.
fn text(way: &Way, channel: &str, limits: &str) -> String {
    // What is missed is lost soon; what is read on, or comes slowly, is waited for.
    let within = if way.reads_on || limits == USUAL { "60s" } else { "3s" };
    let [kind, key] = way.matched_by;
    let words = [("CHANNEL", channel), ("WITHIN", within), ("LIMITS", limits)];
    let words = words.into_iter().chain([("KIND", kind), ("KEY", key)]);
    words.fold(PLAN.to_owned(), |text, (word, meant)| text.replace(word, meant))
}

/// Waits until this holds of some orders of every run.
#[track_caller]
fn all(runs: &[Watched<'_>], what: &str, of: impl Fn(&Order) -> bool) {
    assert!(
        holds(runs, of),
        "never: {what}: {:?}",
        runs.iter().map(|run| (run.way.name, run.orders.book())).collect::<Vec<_>>()
    );
}

/// Whether this comes to hold of some orders of every run.
fn holds(runs: &[Watched<'_>], of: impl Fn(&Order) -> bool) -> bool {
    patiently(|| runs.iter().all(|run| run.orders.count(&of) >= ORDERS_MIN))
}

/// Whether it comes to hold in time.
fn patiently(mut holds: impl FnMut() -> bool) -> bool {
    let end_ns = now_ns() + PATIENCE_NS;
    while !holds() {
        if now_ns() > end_ns {
            return false;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    true
}
