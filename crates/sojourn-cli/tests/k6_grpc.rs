//! `k6/net/grpc` against gRPC's own server: services that the server describes itself, sets of
//! descriptors, health checks. What golden files cover is in `k6/`.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use sojourn_testkit::services::GRPC;
use sojourn_testkit::{Output, TempDir, sojourn, temp_dir};

/// The peer, and the folder with its `shop.protoset`; it ends with its input.
struct Peer {
    folder: TempDir,
    address: String,
    process: Child,
}

impl Peer {
    fn start(versions: &str) -> Self {
        let folder = temp_dir().unwrap();
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/k6_grpc/peer.py");
        let mut command = Command::new(GRPC.python().unwrap());
        // Apart from what else this user's Python has.
        command.arg("-I").arg(script).arg(folder.path()).arg(versions);
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut port = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut port).unwrap();
        let address = format!("127.0.0.1:{}", port.trim().parse::<u16>().unwrap());
        Self { folder, address, process }
    }

    fn run(&self, script: &str) -> Output {
        run(self.folder.path(), &self.address, script)
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        self.process.wait().ok();
    }
}

fn run(folder: &Path, address: &str, script: &str) -> Output {
    std::fs::write(folder.join("test.js"), script).unwrap();
    let address = format!("PEER={address}");
    let words = ["k6", "run", "--quiet", "-e", &address, "test.js"];
    sojourn(words).in_dir(folder).timeout(Duration::from_secs(60)).run().unwrap()
}

const REFLECTED: &str = "
import grpc from 'k6/net/grpc';
import { check } from 'k6';
export const options = {
  vus: 3, iterations: 6,
  thresholds: { checks: ['rate==1'], grpc_req_duration: ['max<30000'] },
};
const client = new grpc.Client();
const stranger = new grpc.Client();
const order = { line: { article: 'shoe', count: 21 }, placedAt: '2026-01-02T03:04:05Z' };
export default function () {
  const plaintext = true;
  let told = '';
  try { stranger.connect(__ENV.PEER, { plaintext, reflect: true }); } catch (error) { told = String(error); }
  check(told, {
    'who does not say so may not look':
      (it) => it.includes('code = Unauthenticated') && it.includes('who are you?'),
  });
  let unknown = '';
  client.connect(__ENV.PEER, { plaintext });
  try { client.invoke('shop.Orders/Place', order); } catch (error) { unknown = String(error); }
  client.close();
  const reflectMetadata = { authorization: 'may look' };
  client.connect(__ENV.PEER, { plaintext, reflect: true, reflectMetadata });
  const { status, message } = client.invoke('shop.Orders/Place', order);
  check(message, {
    'nothing is known before': () => __ITER > 0 || unknown.includes('not found in file descriptors'),
    'answered': () => status === grpc.StatusOK,
    'a message of an imported file': (it) => it.line.article === 'shoe' && it.line.count === 42,
    'a message of the protocol': (it) => it.placedAt === '2026-01-02T03:04:05Z',
  });
  client.close();
}";

#[test]
fn services_are_those_that_the_server_describes_in_whichever_version() {
    for versions in ["v1", "v1alpha", "v1,v1alpha"] {
        let output = Peer::start(versions).run(REFLECTED);
        assert_eq!(output.code, Some(0), "{versions}: {output}");
    }
    // An exception ends an iteration, no more.
    let output = Peer::start("v2").run(REFLECTED);
    assert_eq!(output.code, Some(0), "{output}");
    let said = "error invoking reflect API: rpc error: code = Unimplemented";
    assert_eq!(output.stderr.matches(said).count(), 6, "{output}");
}

const FROM_SET: &str = "
import grpc from 'k6/net/grpc';
import { check } from 'k6';
export const options = { thresholds: { checks: ['rate==1'] } };
const client = new grpc.Client();
const methods = client.loadProtoset('shop.protoset');
let missing = '';
try { client.loadProtoset('none.protoset'); } catch (error) { missing = String(error); }
let broken = '';
try { client.loadProtoset('test.js'); } catch (error) { broken = String(error); }
export default function () {
  client.connect(__ENV.PEER, { plaintext: true });
  const answer = client.invoke('shop.Orders/Place', { line: { count: 2 } });
  check(answer, {
    'its methods': () => JSON.stringify(methods.map((it) => it.full_method)) === '[\"/shop.Orders/Place\"]',
    'answered': (it) => it.status === grpc.StatusOK && it.message.line.count === 4,
    'one that is not there': () => missing.includes('none.protoset'),
    'one that is none': () => broken.includes('test.js'),
  });
  let late = '';
  try { client.loadProtoset('shop.protoset'); } catch (error) { late = String(error); }
  check(late, { 'only at init': (it) => it.includes('init context') });
}";

#[test]
fn services_are_those_of_a_set_of_descriptors() {
    let output = Peer::start("none").run(FROM_SET);
    assert_eq!(output.code, Some(0), "{output}");
}

const HEALTH: &str = "
import grpc from 'k6/net/grpc';
import { check } from 'k6';
export const options = { thresholds: { checks: ['rate==1'] } };
const client = new grpc.Client();
export default function () {
  let early = '';
  try { client.healthCheck(); } catch (error) { early = String(error); }
  client.connect(__ENV.PEER, { plaintext: true });
  let unknown = '';
  try { client.healthCheck('shop.None'); } catch (error) { unknown = String(error); }
  check(client, {
    'not without a connection': () => early.includes('you must call connect first'),
    'the server': (it) => it.healthCheck().status === grpc.HealthCheckServing,
    'a service': (it) => it.healthCheck('shop.Orders').status === grpc.HealthCheckNotServing,
    'one that it does not know': () => unknown.includes('code = NotFound'),
  });
}";

#[test]
fn health_is_what_the_server_says_of_itself() {
    let output = Peer::start("none").run(HEALTH);
    assert_eq!(output.code, Some(0), "{output}");
}
