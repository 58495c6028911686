//! Where a script's load may go and where it goes instead: `hosts`, `blacklistIPs`,
//! `blockHostnames`, whatever the protocol.

use std::net::TcpListener;
use std::time::Duration;

use sojourn_testkit::{Output, sojourn, temp_dir};

use crate::mock::Mocked;

fn run(script: &str, port: u16) -> Output {
    let folder = temp_dir().unwrap();
    std::fs::write(folder.path().join("test.js"), script).unwrap();
    let port = format!("PORT={port}");
    let words = ["k6", "run", "--quiet", "-e", &port, "test.js"];
    let program = sojourn(words).in_dir(folder.path()).timeout(Duration::from_secs(60));
    program.run().unwrap()
}

const SECURE: &str = r#"
import http from 'k6/http';
import { check } from 'k6';
export const options = {
  insecureSkipTLSVerify: true,
  hosts: {
    'shop.test': '127.0.0.1',
    '*.wild.test': '127.0.0.1',
    'usual.test': `127.0.0.1:${__ENV.PORT}`,
  },
  thresholds: { checks: ['rate==1'] },
};
export default function () {
  const urls = [`shop.test:${__ENV.PORT}`, `a.b.wild.test:${__ENV.PORT}`, 'usual.test'];
  for (const url of urls) {
    const response = http.get(`https://${url}/`);
    check(response, { [url]: (it) => it.status === 200 && it.remote_ip === '127.0.0.1' });
  }
}
"#;

#[test]
fn hosts_hold_for_tls_on_any_port_and_for_patterns() {
    let target = Mocked::start(&[], &["--tls"]);
    let output = run(SECURE, target.address.port());
    assert_eq!(output.code, Some(0), "{output}");
}

const EXCLUDED: &str = r#"
import http from 'k6/http';
import ws from 'k6/ws';
import { check } from 'k6';
export const options = {
  hosts: { 'in.test': '127.0.0.1', 'bad.test': '127.0.0.1' },
  blacklistIPs: ['127.0.0.0/8', '::1/128'],
  blockHostnames: ['bad.test'],
  thresholds: { checks: ['rate==1'] },
};
export default function () {
  for (const [host, code] of [['in.test', 1110], ['localhost', 1110], ['bad.test', 1111]]) {
    for (const scheme of ['http', 'https']) {
      const response = http.get(`${scheme}://${host}:${__ENV.PORT}/`);
      check(response, { [`${scheme} ${host}`]: (it) => it.error_code === code });
    }
    let told = '';
    try {
      const response = ws.connect(`ws://${host}:${__ENV.PORT}/`, () => {});
      told = response.error;
    } catch (error) {
      told = String(error);
    }
    const word = code === 1110 ? 'blacklisted range' : 'blocked pattern';
    check(told, { [`ws ${host}`]: (it) => it.includes(word) });
  }
}
"#;

#[test]
fn what_is_excluded_is_never_connected_to_whatever_name_it_has() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let output = run(EXCLUDED, listener.local_addr().unwrap().port());
    assert_eq!(output.code, Some(0), "{output}");
    assert!(listener.accept().is_err(), "somebody has come");
}
