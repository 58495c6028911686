//! A thread of users: its loop.
//!
//! Each turn looks at what the coordinator asks, at what is due by time, and at users that can go
//! on; then it waits for the client, which ends with answers, at the next instant, or when the
//! coordinator calls.

mod arrivals;
mod looping;
mod orders;
mod player;
mod seats;
mod steered;

use std::rc::Rc;
use std::sync::Arc;

use crossbeam_channel::{Receiver, Sender};
use sojourn_clock::{MILLISECOND_NS, now_ns};
use sojourn_http::Completion;
use sojourn_k6::executors::Scenario;

use crate::host::{Host, of_token};
use crate::settings::Role;
use crate::user::{Job, JobEnd, Outcome, Phase};

pub(crate) use orders::{Account, Member, Order, Report};
use player::Player;
use seats::Seats;
pub(crate) use steered::Steer;

/// Longest wait, so that a lost wake-up delays nothing for long.
const WAIT_NS_MAX: u64 = 100 * MILLISECOND_NS;

/// Which thread of how many.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) thread: u64,
    pub(crate) of: u64,
}

/// How log lines name a scenario.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shown<'a> {
    pub(crate) scenario: &'a str,
    pub(crate) executor: &'static str,
}

impl<'a> Shown<'a> {
    pub(crate) fn of(scenario: &'a Scenario) -> Self {
        Self { scenario: &scenario.name, executor: scenario.kind().name() }
    }
}

/// See the module's page.
pub(crate) struct VuThread {
    host: Rc<Host>,
    place: Place,
    seats: Seats,
    players: Vec<Player>,
    orders: Receiver<Order>,
    reports: Sender<(Member, Report)>,
    completions: Vec<Completion>,
    state: State,
    /// The user that runs `setup` or the like, beside the others.
    caller: Option<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Users run the script's top level.
    Initialising,
    /// Waits for the start.
    Ready,
    /// Scenarios run.
    Running,
    /// They have ended.
    Finished,
}

impl VuThread {
    pub(crate) fn new(
        host: Rc<Host>,
        place: Place,
        orders: Receiver<Order>,
        reports: Sender<(Member, Report)>,
    ) -> Self {
        let seats = Seats::new(&host, place);
        let settings = Arc::clone(&host.settings);
        let players = Player::all(&settings, place);
        let state = State::Initialising;
        let completions = Vec::new();
        Self { host, place, seats, players, orders, reports, completions, state, caller: None }
    }

    /// Runs until it is told to end, or the coordinator is gone.
    pub(crate) fn run(mut self) {
        // It wakes, works for microseconds and sleeps again, often beside a busy target.
        sojourn_clock::request_short_slice();
        let settings = Arc::clone(&self.host.settings);
        let planned = match settings.role {
            Role::Conducts => 0,
            Role::Whole | Role::Shares { .. } => player::planned(&settings.scenarios, self.place),
        };
        for _ in 0..planned {
            if let Err(problem) = self.seats.add() {
                self.report(Report::Failed(problem));
                return;
            }
        }
        while self.turn() {}
    }

    /// One turn; false at the end.
    fn turn(&mut self) -> bool {
        loop {
            match self.orders.try_recv() {
                Ok(Order::End) | Err(crossbeam_channel::TryRecvError::Disconnected) => {
                    return false;
                }
                Ok(order) => self.obey(order),
                Err(crossbeam_channel::TryRecvError::Empty) => break,
            }
        }
        let now_ns = now_ns();
        while let Some((user, operation)) = self.host.take_timer(now_ns) {
            self.seats.complete(user, operation, Outcome::Timer);
        }
        while let Some((user, operation, arrival)) = self.host.inbox.take() {
            self.seats.complete(user, operation, Outcome::Socket(Box::new(arrival)));
        }
        while let Some((user, operation, answer)) = self.host.answers.take() {
            self.seats.complete(user, operation, Outcome::Answer(answer));
        }
        if self.state == State::Running {
            self.host.watch.borrow_mut().turn(now_ns);
            for player in &mut self.players {
                player.tick(now_ns, &mut self.seats);
            }
        }
        self.run_ready();
        self.note_progress();
        self.wait();
        true
    }

    /// Lets every user that can go on do so once.
    fn run_ready(&mut self) {
        // Those that become ready meanwhile have their turn after the client's.
        for _ in 0..self.seats.count_ready() {
            let Some(user) = self.host.take_ready() else { return };
            self.host.turn_ns.set(now_ns());
            let ended = self.seats.resume(user);
            // Thousands of users may wake at once, each with samples.
            self.make_room();
            let Some(ended) = ended else { continue };
            self.ended(user, ended);
        }
    }

    /// Hands samples over before there is no room for more.
    fn make_room(&mut self) {
        if self.seats.samples_are_many() {
            self.hand_over(false);
        }
    }

    fn ended(&mut self, user: u32, ended: JobEnd) {
        if self.caller == Some(user) {
            self.caller = None;
            self.seats.remove(user);
            self.report(Report::Called(ended));
            return;
        }
        if self.seats.phase(user) == Phase::Ended {
            let problem = ended.error.map_or_else(String::new, |error| error.with_stack());
            self.report(Report::Failed(problem));
            return;
        }
        if self.state == State::Running && self.host.settings.progress.aborted.get().is_some() {
            // The script has ended the test: no further iteration begins, the coordinator's order
            // or not.
            self.stop_players();
        }
        let now_ns = now_ns();
        for player in &mut self.players {
            if player.is_of(user) {
                player.on_idle(user, now_ns, &mut self.seats);
                return;
            }
        }
    }

    fn note_progress(&mut self) {
        match self.state {
            State::Initialising if self.seats.all_idle() => {
                self.state = State::Ready;
                self.report(Report::Ready);
            }
            State::Running if self.players.iter().all(Player::is_done) => {
                self.state = State::Finished;
                self.host.watch.borrow_mut().end();
                self.report(Report::Finished);
            }
            _ => {}
        }
    }

    fn wait(&mut self) {
        let now_ns = now_ns();
        // Whatever else there is to do: the ledger's time goes by what each thread says.
        let follow_ns = self.host.follow.borrow_mut().as_mut().map(|source| source.turn(now_ns));
        let until_ns = if self.host.has_ready() {
            0
        } else {
            let players = self.players.iter().filter_map(|player| player.next_ns());
            let players = players.filter(|_| self.state == State::Running);
            let soonest = players.chain(self.host.next_timer_ns()).chain(follow_ns).min();
            soonest.unwrap_or(u64::MAX).min(now_ns + WAIT_NS_MAX)
        };
        let waited = self.host.client.borrow_mut().wait_until(until_ns, &mut self.completions);
        if let Err(error) = waited {
            self.report(Report::Failed(format!("waiting for sockets failed: {error}")));
        }
        for completion in self.completions.drain(..) {
            let (user, operation) = of_token(completion.token);
            self.seats.complete(user, operation, Outcome::Http(Box::new(completion)));
        }
    }

    fn obey(&mut self, order: Order) {
        match order {
            Order::Start { start_ns } => {
                self.state = State::Running;
                self.host.watch.borrow_mut().begin(self.place.thread, start_ns.max(now_ns()));
                for player in &mut self.players {
                    player.start(start_ns);
                }
            }
            Order::Call { function, argument } => self.call(function, argument),
            Order::CutCall => {
                if let Some(user) = self.caller {
                    self.seats.cancel(user);
                }
            }
            Order::Steer(steer) => {
                let now_ns = now_ns();
                self.players.iter_mut().for_each(|player| player.steer(steer, now_ns));
            }
            Order::HandOver => self.hand_over(true),
            Order::Stop => self.stop_players(),
            Order::End => {}
        }
    }

    /// Ends all scenarios; iterations under way are cut.
    fn stop_players(&mut self) {
        let now_ns = now_ns();
        for player in &mut self.players {
            player.stop(now_ns, &mut self.seats);
        }
    }

    /// Calls a function with a user of its own.
    fn call(&mut self, function: &'static str, argument: Option<String>) {
        match self.seats.add_caller() {
            Ok(user) => {
                self.caller = Some(user);
                self.seats.give(user, Job::Call { function, argument });
            }
            Err(problem) => self.report(Report::Failed(problem)),
        }
    }

    /// Hands the thread's account to the coordinator.
    fn hand_over(&mut self, is_asked: bool) {
        let mut shard = self.host.shard.borrow_mut();
        let samples = shard.take_samples(Vec::new());
        let noticed = || self.host.watch.borrow_mut().take();
        let account =
            is_asked.then(|| Box::new(Account { delta: shard.take(), noticed: noticed() }));
        drop(shard);
        let warning = self.host.tag_sets.borrow_mut().take_warning();
        if let Some(warning) = warning {
            self.host.settings.console.warn(&warning);
        }
        self.report(Report::Account { account, samples, is_asked });
    }

    fn report(&self, report: Report) {
        // A coordinator that is gone needs none; the next turn sees that.
        self.reports.send((self.place.thread as Member, report)).ok();
    }
}

impl Drop for VuThread {
    fn drop(&mut self) {
        self.seats.abandon();
    }
}
