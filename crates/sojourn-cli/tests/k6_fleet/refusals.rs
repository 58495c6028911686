//! What can't be spread over machines is refused before anybody is waited for.

use super::*;

const PLAIN: &str = "import http from 'k6/http';\nexport const options = { vus: 4, iterations: 8 \
                     };\nexport default function () { http.get('BASE/x'); }\n";

#[test]
fn what_only_one_machine_has_is_refused() {
    let tap = "import { tap } from 'sojourn';\nconst hooks = tap('hooks', { webhook: { listen: \
               '127.0.0.1:0' }, key: '$.id' });\nexport default function () {}\n";
    let package = format!("import {{ left }} from 'left';\n{PLAIN}");
    for (script, flags, said) in [
        (tap, &[][..], "journeys are followed by the process"),
        (PLAIN, &["--local-ips", "127.0.0.1"], "an address is one machine's"),
        (&package, &[], "make one file of script and packages first"),
    ] {
        let desk = Desk::new(script);
        desk.write("node_modules/left/index.js", "export const left = 1;\n");
        let output = desk.coordinator("test.js", 2, flags).run().unwrap();
        assert_eq!(output.code, Some(104), "{output}");
        assert!(output.stderr.contains(said), "{output}");
        assert!(!output.stderr.contains("listening on"), "{output}");
    }
}

#[test]
fn a_script_that_can_be_read_once_is_refused() {
    let desk = Desk::new(PLAIN);
    let listen = ["--listen", "127.0.0.1:0", "--key-file", "fleet.key", "--generators", "2"];
    let words = ["k6", "coordinator", "-"].iter().chain(&listen);
    let output =
        sojourn(words).input(PLAIN.as_bytes()).in_dir(desk.here.folder.path()).run().unwrap();
    assert_eq!(output.code, Some(2), "{output}");
    assert!(output.stderr.contains("write it to a file"), "{output}");
}

#[test]
fn those_who_do_not_come_in_time_are_counted_and_nobody_waits_for_ever() {
    let desk = Desk::new(PLAIN);
    let flags = ["--ready-timeout", "2s"];
    let coordinator = desk.start(desk.coordinator("test.js", 2, &flags));
    let generator = desk.generator().start().unwrap();
    let output = coordinator.wait().unwrap();
    assert_eq!(output.code, Some(2), "{output}");
    assert!(output.stderr.contains("of 2 generators came within 2 s"), "{output}");
    let generator = generator.wait().unwrap();
    assert_ne!(generator.code, Some(0), "{generator}");
    assert!(desk.here.book.paths().is_empty());
}

/// The top level of a script decides by chance what it declares.
#[test]
fn a_top_level_that_is_another_on_each_machine_is_refused() {
    let script = "import { Counter } from 'k6/metrics';\nnew Counter(`own_${Date.now()}`);\nexport \
                  default function () {}\n";
    let desk = Desk::new(script);
    let (output, generators) = desk.run("test.js", 2, &[]);
    assert_eq!(output.code, Some(109), "{output}");
    assert!(output.stderr.contains("declared other metrics"), "{output}");
    assert!(generators.iter().all(|it| it.code == Some(2)), "{generators:?}");
}
