//! Files that pages name but do not make.

use std::{os::unix::fs::PermissionsExt, path::Path};

use sojourn_testkit::sojourn_path;

use super::shop::Shop;

/// What an answer of the shop's API is, and the mock's of the recipes.
pub(super) const BODY: &str = r#"{"status":"captured"}"#;

/// A script of k6's, in JavaScript as in TypeScript.
const K6: &str = "
import http from 'k6/http';
import { check, sleep } from 'k6';
export const options = { vus: 4, iterations: 16 };
export default function () {
  check(http.get(`${__ENV.BASE || 'http://API'}/`), { ok: (it) => it.status === 200 });
  sleep(0.1);
}
";
/// One whose users are another's to say.
const CONTROLLED: &str = "
import http from 'k6/http';
import { sleep } from 'k6';
const users = { executor: 'externally-controlled', vus: 1, maxVUs: 10, duration: '10m' };
export const options = { scenarios: { users } };
export default function () { http.get('http://API/'); sleep(0.1); }
";
/// A session script that asks for a value from outside.
const SESSION: &str = r#"
const env = defines.env || "here";
definition.setTarget("http://API");
definition.setArrivalPhases([{ duration: 1, rate: 10 }]);
definition.session("reader", (session) => {
  session.get("/?from=" + env, { tag: "a", extraction: { jsonpath: { status: "$.status" } } });
  session.check("captured", session.getVar("status"), "=", "captured");
});
"#;
/// A recording of a browser that asked the API once.
const RECORDING: &str = r#"{"log":{"version":"1.2","creator":{"name":"a browser","version":"1"},
"pages":[],"entries":[{"startedDateTime":"2026-11-20T10:00:00.000Z","time":12,"cache":{},
"timings":{"send":0,"wait":12,"receive":0},"request":{"method":"GET","url":"http://API/",
"httpVersion":"HTTP/1.1","headers":[],"queryString":[],"cookies":[],"headersSize":-1,"bodySize":0},
"response":{"status":200,"statusText":"OK","httpVersion":"HTTP/1.1","headers":[],"cookies":[],
"content":{"size":21,"mimeType":"application/json"},"redirectURL":"","headersSize":-1,
"bodySize":21}}]}}"#;
const OPENAPI: &str = "
openapi: 3.0.3
info: { title: charges, version: '1' }
paths:
  /charges/{id}:
    get:
      parameters: [{ name: id, in: path, required: true, schema: { type: string } }]
      responses:
        '200':
          description: a charge
          content: { application/json: { example: { status: captured } } }
";
const WRK: &str = "wrk.method = 'POST'\nfunction init(args) assert(args[1] == 'words') end\n";
/// A control group that has been given two cores.
const GROUP: [(&str, &str); 3] = [
    ("cpu.max", "200000 100000\n"),
    ("memory.current", "123000000\n"),
    (
        "cpu.stat",
        "usage_usec 1000\nuser_usec 1000\nsystem_usec 0\nnr_periods 1\nnr_throttled 0\n\
         throttled_usec 0\n",
    ),
];
/// Folders of the user's, and of a clone of a project.
const FOLDERS: [&str; 6] = [
    "bin",
    "fresh",
    "load",
    ".zfunc",
    ".config/fish/completions",
    ".local/share/bash-completion/completions",
];

/// Programs that only remember what they were told, or begin others.
const CARGO: &str =
    "#!/bin/sh\nwhile [ \"$1\" != -- ]; do shift; done\nshift\nexec sojourn \"$@\"\n";
const KUBECTL: &str = "#!/bin/sh
case $1 in
scale) echo \"$@\" >> kubectl.txt ;;
*) exec sh KUBECTL \"$@\" ;;
esac
";
/// Only those that this test began: other tests may have begun some of the same name.
const PGREP: &str = "#!/bin/sh\nPATH=${PATH#*:}\nexec pgrep -P SHOP \"$@\"\n";
/// A part of the system under test, which waits.
const SERVICE: &str = "#!/bin/sh\nwhile :; do sleep 0.2; done\n";

/// What a control group is called here.
pub(super) const RELAY: &str = "relay.service";

/// Makes a folder that is a control group as far as it is read.
pub(super) fn has_group(folder: &Path) {
    std::fs::create_dir(folder).unwrap();
    GROUP.iter().for_each(|(name, text)| std::fs::write(folder.join(name), text).unwrap());
}

impl Shop {
    /// Writes all of them.
    pub(super) fn has_files(&self) {
        FOLDERS.iter().for_each(|folder| std::fs::create_dir_all(self.path(folder)).unwrap());
        let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
        std::os::unix::fs::symlink(examples, self.path("examples")).unwrap();
        std::fs::copy(format!("{examples}/mocks.yaml"), self.path("mocks.yaml")).unwrap();
        self.write("body.json", BODY);
        self.write("targets.txt", &format!("GET http://{}/\n", self.api()));
        self.write("api.yaml", OPENAPI);
        self.write("post.lua", WRK);
        has_group(&self.path(RELAY));
        self.has_scripts();
        self.has_programs();
    }

    /// Scripts and what goes with them, also where a page has written another in their place.
    pub(super) fn has_scripts(&self) {
        let here = |text: &str| text.replace("API", &self.api());
        for name in ["script.js", "script.ts", "k6-script.js"] {
            self.write(name, &here(K6));
        }
        self.write("controlled.js", &here(CONTROLLED));
        self.write("test.js", &here(SESSION));
        self.write("recorded.har", &here(RECORDING));
        self.write("nfr.yaml", &super::page::block("docs/session-dsl.md", "requirements:"));
    }

    /// Puts `sojourn` on the path, as `cargo run` too, and what pages call besides.
    fn has_programs(&self) {
        std::os::unix::fs::symlink(sojourn_path(), self.path("bin/sojourn")).unwrap();
        let cluster = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/kubernetes/kubectl.sh");
        let programs = [
            ("cargo", CARGO.to_owned()),
            ("kubectl", KUBECTL.replace("KUBECTL", cluster)),
            ("pgrep", PGREP.replace("SHOP", &std::process::id().to_string())),
            ("payments-api", SERVICE.to_owned()),
        ];
        for (name, text) in programs {
            let name = format!("bin/{name}");
            self.write(&name, &text);
            let executable = std::fs::Permissions::from_mode(0o755);
            std::fs::set_permissions(self.path(&name), executable).unwrap();
        }
    }
}
