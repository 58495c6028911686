//! Declarations of everything that scripts can import, for editors and compilers of TypeScript, as
//! the folder `types` has them.

/// A file by its path in the folder, and its text.
macro_rules! files {
    ($($path:literal),+ $(,)?) => {
        [$(($path, include_str!(concat!("../types/", $path)))),+]
    };
}

/// All of them, by name.
pub const TYPES: [(&str, &str); 26] = files![
    "globals.d.ts",
    "jslib.d.ts",
    "k6.d.ts",
    "k6/crypto.d.ts",
    "k6/data.d.ts",
    "k6/encoding.d.ts",
    "k6/execution.d.ts",
    "k6/experimental/csv.d.ts",
    "k6/experimental/fs.d.ts",
    "k6/experimental/redis.d.ts",
    "k6/experimental/streams.d.ts",
    "k6/experimental/websockets.d.ts",
    "k6/html.d.ts",
    "k6/http.d.ts",
    "k6/metrics.d.ts",
    "k6/net/grpc.d.ts",
    "k6/options.d.ts",
    "k6/secrets.d.ts",
    "k6/summary.d.ts",
    "k6/timers.d.ts",
    "k6/websockets.d.ts",
    "k6/ws.d.ts",
    "k6/x/kafka.d.ts",
    "k6/x/mqtt.d.ts",
    "k6/x/redis.d.ts",
    "sojourn.d.ts",
];

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn declarations(folder: &Path, found: &mut Vec<String>, root: &Path) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                declarations(&path, found, root);
            } else if path.to_str().unwrap().ends_with(".d.ts") {
                found.push(path.strip_prefix(root).unwrap().to_str().unwrap().to_owned());
            }
        }
    }

    #[test]
    fn none_is_left_out() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("types");
        let mut found = Vec::new();
        declarations(&root, &mut found, &root);
        found.sort();
        assert_eq!(TYPES.map(|(path, _)| path).as_slice(), found);
    }
}
