//! The script of outages: runs that follow orders, and what befalls their broker meanwhile.

use std::{net::SocketAddr, time::Duration};

use sojourn_clock::{SECOND_NS, now_ns};
use sojourn_testkit::{
    Running, TempDir,
    services::{CutProxy, Service},
    sojourn, temp_dir,
};

use super::{
    Way,
    book::{Fault, Judged},
    orders::{Order, Orders},
};
use crate::common::{alone, plan};

/// Orders that are told of and acknowledged before the fault, and that come up during it.
const ORDERS_MIN: usize = 10;
const PATIENCE_NS: u64 = 120 * SECOND_NS;

/// The machine is busy with a server that starts, and a tap is away for as long as that takes:
/// neither is what is looked at here. All other limits stay.
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
      - { name: placed, on: events, match: { type: Placed }, key: $.id }
      - { name: refused, on: events, match: { type: Refused }, key: $.id, failure: true }
    within: WITHIN
    linger: 500ms
load:
  - { rate: 20/s, steady: 4s, drain: 90s }
health: { lag_p99_max: 30s, tap_behind_max: 60s, silent_max: 60s }
"#;

/// The server is killed amid a run, as by a power cut, and started again.
#[track_caller]
pub(super) fn restarted(server: &mut dyn Service, ways: &[Way]) {
    let _turn = alone();
    // A test that failed may have left a shared one dead.
    if server.instance().process().is_none() {
        server.restart().unwrap();
    }
    let runs: Vec<_> = ways.iter().map(|way| Watched::start(way, None)).collect();
    all(&runs, "orders before the fault", |order| order.acked_ns.is_some());
    let from_ns = now_ns();
    server.kill();
    let came = holds(&runs, |order| order.taken_ns > from_ns);
    let fault = Fault { from_ns, to_ns: now_ns() };
    // Whatever came of it: others use this server too.
    server.restart().unwrap();
    assert!(came, "no orders came while the server was dead");
    runs.into_iter().for_each(|run| run.judge(fault));
}

/// The taps' connections are cut amid a run and refused for a while, during which events come.
#[track_caller]
pub(super) fn cut(proxy: &CutProxy, own: SocketAddr, ways: &[Way]) {
    let _turn = alone();
    let through = Some((own, proxy.address()));
    let runs: Vec<_> = ways.iter().map(|way| Watched::start(way, through)).collect();
    all(&runs, "orders before the fault", |order| order.acked_ns.is_some());
    proxy.refuse();
    assert!(proxy.cut() >= ways.len(), "the taps go through the proxy");
    let from_ns = now_ns();
    let meanwhile = Fault { from_ns, to_ns: u64::MAX };
    all(&runs, "events during the fault", |order| meanwhile.has_all_of(order));
    let fault = Fault { from_ns, to_ns: now_ns() };
    proxy.admit().unwrap();
    runs.into_iter().for_each(|run| run.judge(fault));
}

/// A run of the real command that follows a system's orders.
struct Watched<'a> {
    way: &'a Way,
    orders: Orders,
    running: Running,
    folder: TempDir,
}

impl<'a> Watched<'a> {
    /// Starts system and run; the run's tap goes through a proxy in place of the server's address.
    fn start(way: &'a Way, through: Option<(SocketAddr, SocketAddr)>) -> Self {
        let direct = text(way, &way.channel);
        let orders = Orders::start(&plan(&direct, &[("TARGET", "http://127.0.0.1:1")]).channels[0]);
        let text = match through {
            Some((own, proxy)) => {
                let channel = way.channel.replace(&own.to_string(), &proxy.to_string());
                assert_ne!(channel, way.channel, "{}: {own} is not in it", way.name);
                text(way, &channel)
            }
            None => direct,
        };
        let folder = temp_dir().unwrap();
        let text = text.replace("${TARGET}", &orders.url());
        std::fs::write(folder.path().join("plan.yaml"), text).unwrap();
        let words = ["run", "plan.yaml", "--quiet", "--keep", "all", "--output", "run.sojourn"];
        // A run that hangs is ended then, and has failed.
        let program = sojourn(words).in_dir(folder.path()).timeout(Duration::from_secs(150));
        Self { way, orders, running: program.start().unwrap(), folder }
    }

    /// Waits for the run's end and compares.
    #[track_caller]
    fn judge(self, fault: Fault) {
        let Self { way, orders, running, folder } = self;
        let output = running.wait().unwrap();
        let told = || orders.count(|order| order.acked_ns.is_none()) == 0;
        assert!(patiently(told), "{}: orders that nobody was told of: {output}", way.name);
        Judged::new(way, &orders, output, &folder.path().join("run.sojourn")).compare(fault);
    }
}

/// A journey file for a way, by this channel.
fn text(way: &Way, channel: &str) -> String {
    // What is missed is lost soon; what is read on is waited for.
    let within = if way.reads_on { "60s" } else { "3s" };
    PLAN.replace("CHANNEL", &format!("{}: {channel}", way.broker)).replace("WITHIN", within)
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
