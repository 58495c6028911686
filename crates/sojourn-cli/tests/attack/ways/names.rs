//! Where names are looked up and for how long they stay known, by what a DNS server is asked.

use std::net::IpAddr;

use sojourn_testkit::services::{DnsZone, Dnsmasq};

use super::{answered, refused, seen::Server, text};

const NAME: &str = "target.test";

fn dns(addresses: &[&str]) -> Dnsmasq {
    let of = |address: &&str| (NAME.to_owned(), address.parse::<IpAddr>().unwrap());
    let aliases = vec![("alias.test".to_owned(), NAME.to_owned())];
    Dnsmasq::knowing(&DnsZone { addresses: addresses.iter().map(of).collect(), aliases }).unwrap()
}

#[test]
fn names_are_looked_up_at_the_resolvers_given() {
    let (server, dns) = (Server::start(), dns(&["127.0.0.9"]));
    for name in [NAME, "alias.test"] {
        let url = format!("http://{name}:{}/", server.port());
        for hit in answered(&["-resolvers", &dns.address(), &url]) {
            assert!(text(&hit).contains(&format!("Host: {name}:{}\r\n", server.port())), "{hit:?}");
        }
        assert_eq!(server.reached(), vec!["127.0.0.9"; 10]);
        assert!(dns.asked_for(name).unwrap() > 0);
    }
    for error in refused(&["-resolvers", &dns.address(), "http://none.test/"]) {
        assert!(error.contains("none.test") && error.contains("no such"), "{error}");
    }
    // The first of two answers nothing: the second is asked.
    let url = format!("http://{NAME}:{}/", server.port());
    let nobody = sojourn_testkit::free_port().unwrap();
    let both = format!("127.0.0.1:{nobody},{}", dns.address());
    answered(&["-resolvers", &both, &url]);
    assert_eq!(server.reached(), vec!["127.0.0.9"; 10]);
}

#[test]
fn names_stay_known_as_long_as_said() {
    let server = Server::start();
    // How often the server is asked while ten connections are made in half a second; both families
    // are asked for at each look-up.
    let look_ups = |ttl: &str| {
        let dns = dns(&["127.0.0.1"]);
        let url = format!("http://{NAME}:{}/", server.port());
        let words = ["-resolvers", &dns.address(), "-dns-ttl", ttl, "-keepalive=false", &url];
        answered(&words);
        assert_eq!(server.take().len(), 10);
        dns.asked_for(NAME).unwrap() / 2
    };
    let kept = look_ups("0");
    // Once to see whether all is well beforehand at most, and once for all requests.
    assert!((1..=2).contains(&kept), "{kept}");
    // Connections made at the same instant share one, and on a busy machine some are.
    let mut each_times = (0..5).map(|_| look_ups("-1"));
    let each_time = each_times.find(|count| *count >= 10).expect("one for each connection");
    // On a busy machine all ten may come at once.
    let mut refreshed = (0..5).map(|_| look_ups("100ms"));
    assert!(refreshed.any(|count| count > kept && count < each_time), "{kept}, {each_time}");
}
