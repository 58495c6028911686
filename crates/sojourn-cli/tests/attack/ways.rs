//! The flags that say by which way requests go, each tested by what the other end sees of it.

mod dialled;
mod http2;
mod http2_server;
mod names;
mod paced;
mod ports;
mod proxies;
mod seen;
mod tls;
mod tls_server;

use sojourn_testkit::{Program, sojourn, temp_dir};

use super::{Hit, Made, attack};

/// Ten requests in half a second.
const SHORT: [&str; 4] = ["-rate", "20", "-duration", "500ms"];

fn short<'a>(more: &[&'a str]) -> Vec<&'a str> {
    SHORT.iter().copied().chain(more.iter().copied()).collect()
}

/// Ten requests that were all answered.
fn answered(more: &[&str]) -> Vec<Hit> {
    all_answered(attack(&short(more), ""))
}

fn all_answered(made: Made) -> Vec<Hit> {
    let hits = made.hits();
    assert_eq!(hits.len(), 10, "{}", made.output);
    for hit in &hits {
        assert_eq!((hit.code, hit.error.as_str()), (200, ""), "{hit:?}");
    }
    hits
}

/// Ten requests of which none was answered: why not, each.
fn refused(more: &[&str]) -> Vec<String> {
    let made = attack(&short(more), "");
    let hits = made.hits();
    assert_eq!((made.output.code, hits.len()), (Some(0), 10), "{}", made.output);
    assert!(hits.iter().all(|hit| hit.code == 0), "{hits:?}");
    hits.into_iter().map(|hit| hit.error).collect()
}

/// Ten requests that were all answered, with these variables and no others about proxies.
fn answered_with(environment: &[(&str, &str)], more: &[&str]) -> Vec<Hit> {
    let folder = temp_dir().unwrap();
    let words = ["attack", "-output", "out.bin"].into_iter().chain(short(more));
    let mut program: Program = sojourn(words).in_dir(folder.path());
    for name in ["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"] {
        program = program.env(name, "");
    }
    for (name, value) in environment {
        program = program.env(name, value);
    }
    let output = program.run().unwrap();
    all_answered(Made { output, folder })
}

fn text(hit: &Hit) -> String {
    String::from_utf8(hit.body.clone()).unwrap()
}
