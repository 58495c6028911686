//! What is there and differs from k6's, as far as names of modules tell; `docs/k6.md` has all of
//! it.

/// Modules, the beginning of their names, and how those differ. The first that fits counts.
const DIFFERENCES: [(&str, &str, &str); 18] = [
    ("k6", "group", "takes asynchronous functions too"),
    ("k6/net/grpc", "Status", NUMBERS),
    ("k6/net/grpc", "HealthCheck", NUMBERS),
    ("k6/experimental/grpc", "Status", NUMBERS),
    ("k6/experimental/grpc", "HealthCheck", NUMBERS),
    ("k6/experimental/grpc", "", REMOVED),
    ("k6/experimental/timers", "", REMOVED),
    ("k6/experimental/webcrypto", "", REMOVED),
    ("k6/experimental/redis", "Client", REDIS),
    ("k6/experimental/redis", "", REMOVED),
    ("k6/websockets", "Blob", BLOB),
    ("k6/experimental/websockets", "Blob", BLOB),
    ("k6/x/redis", "Client", REDIS),
    ("k6/x/mqtt", "Client", "connects again by reconnect() alone; errors have the name MQTTError"),
    ("k6/x/kafka", "Reader", READER),
    ("k6/x/kafka", "Consumer", READER),
    ("k6/x/kafka", "LoadJKS", "a wrong alias or password throws; PKCS#12 stores are refused"),
    ("sojourn", "", "k6 has no such module"),
];

const NUMBERS: &str = "a number; k6 has an object whose text is its name";
const REMOVED: &str = "k6 has taken this name away; here it still works";
const REDIS: &str = "no clusters and sentinels; ttl() gives seconds";
const BLOB: &str = "stream() gives all bytes at once, then ends; it is no body of a request";
const READER: &str = "maxWait counts from the broker's first answer; groups commit what was given";

/// How a module, or a name of it, differs. Members of names have nothing of their own.
pub(super) fn how(module: &str, names: &[String]) -> Option<&'static str> {
    let name = match names {
        [] => "",
        [name] => name,
        _ => return None,
    };
    let fits = |(of, start, _): &&(&str, &str, &str)| {
        *of == module && start.is_empty() == name.is_empty() && name.starts_with(start)
    };
    DIFFERENCES.iter().find(fits).map(|(_, _, how)| *how)
}
