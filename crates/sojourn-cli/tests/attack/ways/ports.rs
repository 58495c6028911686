//! More connections than one address has ports, in a network of the test's own where an address has
//! few: what takes 28,000 connections elsewhere takes 64 here.

use sojourn_testkit::{Program, sojourn_path, temp_dir};

use crate::attack::{Hit, Made};

/// Ports of an address.
const PORTS: usize = 64;
/// Requests, each of which has a connection of its own until the last has begun.
const REQUESTS: usize = 200;

/// Makes them with these words in a network whose only interface is loopback.
fn attack_at_home(words: &str) -> (Made, Vec<Hit>) {
    let folder = temp_dir().unwrap();
    let sojourn = sojourn_path();
    let sojourn = sojourn.display();
    let script = format!(
        "ip link set lo up\n\
         echo 20000 {last} > /proc/sys/net/ipv4/ip_local_port_range\n\
         {sojourn} mock --listen 127.0.0.1:8080 --latency 5s --quiet > mock.txt 2>&1 &\n\
         until ss --listening --tcp --numeric | grep -q 127.0.0.1:8080; do sleep 0.05; done\n\
         {sojourn} attack -rate 100 -duration {seconds}s -output out.bin {words} \
         http://127.0.0.1:8080/\n\
         code=$?\n\
         kill $!\n\
         exit $code\n",
        last = 20_000 + PORTS - 1,
        seconds = REQUESTS / 100,
    );
    let program = Program::new("unshare").args(["--map-root-user", "--net", "sh", "-c", &script]);
    let output = program.in_dir(folder.path()).run().unwrap();
    let made = Made { output, folder };
    let hits = made.hits();
    assert_eq!((made.output.code, hits.len()), (Some(0), REQUESTS), "{}", made.output);
    (made, hits)
}

#[test]
fn addresses_together_have_the_ports_that_one_lacks() {
    let (made, hits) = attack_at_home("");
    let refused: Vec<&Hit> = hits.iter().filter(|hit| hit.code == 0).collect();
    assert_eq!(hits.len() - refused.len(), PORTS, "{}", made.output);
    assert!(
        made.output.stderr.contains("void: generator saturated: 136 of 200"),
        "{}",
        made.output
    );
    for hit in refused {
        assert!(hit.error.contains("ip_local_port_range"), "{hit:?}");
    }
    let addresses = "127.0.0.2,127.0.0.3,127.0.0.4,127.0.0.5";
    let (made, hits) = attack_at_home(&format!("-laddr {addresses}"));
    let answered = hits.iter().filter(|hit| hit.code == 200).count();
    assert_eq!(answered, REQUESTS, "{}", made.output);
}
