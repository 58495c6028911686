//! The bundled modules of `jslib`, with tests of their own, run by `sojourn k6`.

use std::path::{Path, PathBuf};

use sojourn_testkit::{sojourn, temp_dir};

use crate::mock::Mocked;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../sojourn-vu/jslib/tests")
}

/// The exit code that the first line of a test asks for.
fn expected_code(text: &str) -> i32 {
    let line = text.lines().next().unwrap_or_default();
    let code = line.strip_prefix("// Expected exit code: ");
    code.map_or(0, |rest| rest.split('.').next().unwrap().parse().unwrap())
}

#[test]
fn the_modules_tests_pass() {
    let mock = Mocked::start(&[], &[]);
    let base = format!("BASE=http://{}", mock.address);
    let mut seen = 0;
    let mut wrong = Vec::new();
    for entry in std::fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|ending| ending != "js") || path.ends_with("compare.js") {
            continue;
        }
        let expected = expected_code(&std::fs::read_to_string(&path).unwrap());
        let path = path.to_str().unwrap();
        let output = sojourn(["k6", "run", "--quiet", "-e", &base, path]).run().unwrap();
        if output.code != Some(expected) {
            wrong.push(format!("{path}: {output}"));
        }
        seen += 1;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(seen, 13);
}

/// Every version of a module is one module, found without a network.
#[test]
fn scripts_import_them_by_url() {
    let folder = temp_dir().unwrap();
    let script = "
        import { randomIntBetween } from 'https://jslib.k6.io/k6-utils/1.4.0/index.js';
        import papaparse from 'https://jslib.k6.io/papaparse/5.1.1/index.js';
        import { URL } from 'https://jslib.k6.io/url/1.0.0/index.js';
        import { expect } from 'https://jslib.k6.io/k6chaijs/4.3.4.3/index.js';
        import chai from 'https://jslib.k6.io/k6chaijs/4.5.0.0/index.js';
        import 'https://jslib.k6.io/k6chaijs-contracts/4.3.4.1/index.js';
        export const options = { thresholds: { checks: ['rate==1'] } };
        export default function () {
            const wrong = [
                randomIntBetween(3, 3) !== 3,
                papaparse.parse('a,b').data[0][1] !== 'b',
                new URL('http://a/b').pathname !== '/b',
                chai.expect !== expect,
            ];
            if (wrong.includes(true)) throw new Error(String(wrong));
            expect({ a: 1 }).to.matchSchema({ type: 'object' });
        }";
    std::fs::write(folder.path().join("s.js"), script).unwrap();
    let output = sojourn(["k6", "run", "--quiet", "s.js"]).in_dir(folder.path()).run().unwrap();
    assert_eq!(output.code, Some(0), "{output}");
    assert!(!output.stderr.contains("level=error"), "{output}");
}

/// What is not bundled and can't be fetched is said, and where it would be looked for.
#[test]
fn remote_modules_are_read_from_the_cache() {
    let folder = temp_dir().unwrap();
    let script = "import x from 'https://127.0.0.1:1/x.js';
        export default function () { if (x !== 7) throw new Error(x); }";
    std::fs::write(folder.path().join("s.js"), script).unwrap();
    let run = || {
        let program = sojourn(["k6", "run", "--quiet", "s.js"]).in_dir(folder.path());
        program.env("XDG_CACHE_HOME", folder.path()).run().unwrap()
    };
    let output = run();
    assert_eq!(output.code, Some(107), "{output}");
    let file = output.stderr.split("read from ").nth(1).unwrap().split(',').next().unwrap();
    assert!(Path::new(file).starts_with(folder.path().join("sojourn/modules")), "{output}");
    std::fs::create_dir_all(Path::new(file).parent().unwrap()).unwrap();
    std::fs::write(file, "export default 7").unwrap();
    let output = run();
    assert_eq!(output.code, Some(0), "{output}");
    assert!(!output.stderr.contains("level=error"), "{output}");
}
