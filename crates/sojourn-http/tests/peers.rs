//! The fake server and a harness around the client.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use sojourn_clock::{MILLISECOND_NS, SECOND_NS, now_ns};
use sojourn_http::{
    BodyPolicy, Client, ClientConfig, Completion, Exchange, Failure, FailureKind, Io, Origin,
    OriginId, Response, write_request,
};

/// Kept bodies in tests.
pub(crate) const KEEP: BodyPolicy = BodyPolicy::Keep { bytes_max: 1 << 20 };

/// Tests use the transport that this variable names, else the ring where the kernel allows it.
pub(crate) const IO: &str = "SOJOURN_HTTP_TEST_IO";

/// The transport under test.
pub(crate) fn io() -> Io {
    match std::env::var(IO).as_deref() {
        Ok("epoll") => Io::Epoll,
        Ok("ring") => Io::Ring,
        Ok(other) => panic!("{IO} is `{other}`, not `epoll` or `ring`"),
        Err(_) => Io::Auto,
    }
}

/// No test waits longer than this for what must come.
const PATIENCE_NS: u64 = 30 * SECOND_NS;

/// A server on a free port; each connection gets a thread that runs the given behaviour.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    accepted: Arc<AtomicUsize>,
}

impl Server {
    /// `serve` gets the connection's number (from 0) and the connection.
    pub(crate) fn start(serve: impl Fn(usize, TcpStream) + Send + Sync + 'static) -> Self {
        Self::on(TcpListener::bind("127.0.0.1:0").expect("a free port"), serve)
    }

    /// As [`Self::start`], on a listener of the caller's.
    pub(crate) fn on(
        listener: TcpListener,
        serve: impl Fn(usize, TcpStream) + Send + Sync + 'static,
    ) -> Self {
        let address = listener.local_addr().expect("bound");
        let accepted = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&accepted);
        let serve = Arc::new(serve);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(stream) = stream else { return };
                let number = counter.fetch_add(1, Ordering::SeqCst);
                let serve = Arc::clone(&serve);
                std::thread::spawn(move || {
                    stream.set_nodelay(true).expect("a TCP socket");
                    serve(number, stream);
                });
            }
        });
        Self { address, accepted }
    }

    /// Answers every request on a connection with these bytes, then waits for the next.
    pub(crate) fn answering(bytes: impl Into<Vec<u8>>) -> Self {
        let bytes = bytes.into();
        Self::start(move |_, mut stream| {
            answer_each(&mut stream, &bytes);
        })
    }

    /// Answers one request with these bytes and closes.
    pub(crate) fn closing_after(bytes: impl Into<Vec<u8>>) -> Self {
        let bytes = bytes.into();
        Self::start(move |_, mut stream| {
            read_request(&mut stream);
            stream.write_all(&bytes).ok();
        })
    }

    pub(crate) fn accepted(&self) -> usize {
        self.accepted.load(Ordering::SeqCst)
    }
}

/// Where nobody listens.
pub(crate) fn nobody() -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], sojourn_services::closed_port().expect("a port")))
}

/// Answers every request on a connection with these bytes.
pub(crate) fn answer_each(stream: &mut (impl Read + Write), bytes: &[u8]) {
    while read_request(stream).is_some() {
        if stream.write_all(bytes).is_err() {
            return;
        }
    }
}

/// Reads one request, body by Content-Length; `None` when the connection ends before it.
pub(crate) fn read_request(stream: &mut impl Read) -> Option<Vec<u8>> {
    let mut request = Vec::new();
    let mut byte = [0];
    while !request.ends_with(b"\r\n\r\n") {
        match stream.read(&mut byte) {
            Ok(1) => request.push(byte[0]),
            _ => return None,
        }
    }
    let head = String::from_utf8_lossy(&request).to_ascii_lowercase();
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length: "))
        .map_or(0, |length| length.parse().expect("our own header"));
    let mut body = vec![0; length];
    stream.read_exact(&mut body).ok()?;
    request.extend(body);
    Some(request)
}

/// Closes with a reset instead of an end.
pub(crate) fn reset(stream: TcpStream) {
    let socket = socket2::Socket::from(stream);
    socket.set_linger(Some(std::time::Duration::ZERO)).expect("a TCP socket");
}

/// Reads until the other end closes: proof that it did.
pub(crate) fn wait_for_close(stream: &mut TcpStream) {
    let mut rest = [0; 4096];
    while matches!(stream.read(&mut rest), Ok(length) if length > 0) {}
}

/// A client and one origin.
pub(crate) struct Load {
    pub(crate) client: Client,
    pub(crate) origin: OriginId,
    completions: Vec<Completion>,
}

impl Load {
    pub(crate) fn new(server: &Server) -> Self {
        Self::with(server.address, ClientConfig::default())
    }

    pub(crate) fn with(address: SocketAddr, config: ClientConfig) -> Self {
        let origin = Origin { tls: false, host: address.ip().to_string(), port: address.port() };
        Self::to(&origin, config)
    }

    /// On the transport under test.
    pub(crate) fn to(origin: &Origin, config: ClientConfig) -> Self {
        Self::exactly(origin, ClientConfig { io: io(), ..config })
    }

    /// On the transport that the configuration says.
    pub(crate) fn exactly(origin: &Origin, config: ClientConfig) -> Self {
        let mut client = Client::new(config).expect("a client");
        let origin = client.origin(origin);
        Self { client, origin, completions: Vec::new() }
    }

    /// Sends now; ten seconds' timeout, body kept.
    pub(crate) fn send(&mut self, token: u64, method: &str, body: &[u8]) {
        self.send_with(token, method, body, 10 * SECOND_NS, KEEP);
    }

    pub(crate) fn send_with(
        &mut self,
        token: u64,
        method: &str,
        body: &[u8],
        timeout_ns: u64,
        policy: BodyPolicy,
    ) {
        let mut bytes = Vec::new();
        let headers: [(&str, &str); 0] = [];
        write_request(method, "/", "test", &headers, body, &mut bytes).expect("a valid request");
        let exchange = Exchange {
            token,
            origin: self.origin,
            bytes: &bytes,
            head_only: method == "HEAD",
            timeout_ns,
            body: policy,
        };
        self.client.send(now_ns(), exchange);
    }

    /// Runs until so many completions are there.
    pub(crate) fn take(&mut self, count: usize) -> Vec<Completion> {
        let limit_ns = now_ns() + PATIENCE_NS;
        while self.completions.len() < count {
            assert!(now_ns() < limit_ns, "{} of {count}", self.completions.len());
            self.client.wait_until(limit_ns, &mut self.completions).expect("the loop runs");
        }
        assert_eq!(self.completions.len(), count);
        for completion in &self.completions {
            assert_phases_add_up(completion);
        }
        std::mem::take(&mut self.completions)
    }

    /// Waits for answers; how many have come.
    pub(crate) fn turn(&mut self) -> usize {
        let limit_ns = now_ns() + PATIENCE_NS;
        self.client.wait_until(limit_ns, &mut self.completions).expect("the loop runs");
        assert!(now_ns() < limit_ns, "nothing has come");
        self.completions.drain(..).count()
    }

    /// Waits for so many answers; at how many turns some came.
    pub(crate) fn turns(&mut self, answers: usize) -> usize {
        let (mut turns, mut came) = (0, 0);
        while came < answers {
            let of_turn = self.turn();
            came += of_turn;
            turns += usize::from(of_turn > 0);
        }
        turns
    }

    /// Runs until the condition holds.
    pub(crate) fn run_until(&mut self, mut holds: impl FnMut(&Client) -> bool) {
        let limit_ns = now_ns() + PATIENCE_NS;
        while !holds(&self.client) {
            assert!(now_ns() < limit_ns, "it never came true: {:?}", self.client);
            self.client
                .wait_until(now_ns() + MILLISECOND_NS, &mut self.completions)
                .expect("the loop runs");
        }
    }

    /// One GET, body kept.
    pub(crate) fn get(&mut self) -> Completion {
        self.send(1, "GET", b"");
        self.take(1).remove(0)
    }

    /// One GET that is answered.
    pub(crate) fn answer(&mut self) -> Response {
        self.get().outcome.expect("an answer")
    }

    /// One GET that fails.
    pub(crate) fn failure(&mut self) -> Failure {
        self.get().outcome.expect_err("a failure")
    }
}

/// Sends one GET on a fresh client and expects a failure of this kind.
pub(crate) fn expect_failure(server: &Server, kind: FailureKind) -> Failure {
    let failure = Load::new(server).failure();
    assert_eq!(failure.kind, kind, "{failure}");
    failure
}

pub(crate) fn assert_phases_add_up(completion: &Completion) {
    let timings = completion.timings;
    let whole_ns = completion.ended_ns - completion.began_ns;
    let phases_ns = timings.blocked_ns + timings.send_ns + timings.wait_ns + timings.receive_ns;
    assert_eq!(phases_ns, whole_ns, "{completion:?}");
    let dialling_ns = timings.dns_ns + timings.connect_ns + timings.tls_ns;
    assert!(dialling_ns <= timings.blocked_ns, "{completion:?}");
}
