//! The bundled modules' sources, from the folder `jslib` of this crate.

/// (path within the folder, source)
pub(super) const FILES: &[(&str, &str)] = &[
    ("chai/assertion.js", include_str!("../../../jslib/chai/assertion.js")),
    ("chai/deep.js", include_str!("../../../jslib/chai/deep.js")),
    ("chai/inspect.js", include_str!("../../../jslib/chai/inspect.js")),
    ("chai/k6.js", include_str!("../../../jslib/chai/k6.js")),
    ("chai/methods.js", include_str!("../../../jslib/chai/methods.js")),
    ("chai/properties.js", include_str!("../../../jslib/chai/properties.js")),
    ("chai/schema.js", include_str!("../../../jslib/chai/schema.js")),
    ("formdata.js", include_str!("../../../jslib/formdata.js")),
    ("httpx.js", include_str!("../../../jslib/httpx.js")),
    ("k6-reporter.js", include_str!("../../../jslib/k6-reporter.js")),
    ("k6-summary.js", include_str!("../../../jslib/k6-summary.js")),
    ("k6-testing.js", include_str!("../../../jslib/k6-testing.js")),
    ("k6-utils.js", include_str!("../../../jslib/k6-utils.js")),
    ("k6chaijs-contracts.js", include_str!("../../../jslib/k6chaijs-contracts.js")),
    ("k6chaijs.js", include_str!("../../../jslib/k6chaijs.js")),
    ("papaparse.js", include_str!("../../../jslib/papaparse.js")),
    ("papaparse/guess.js", include_str!("../../../jslib/papaparse/guess.js")),
    ("papaparse/shape.js", include_str!("../../../jslib/papaparse/shape.js")),
    ("papaparse/tokenize.js", include_str!("../../../jslib/papaparse/tokenize.js")),
    ("papaparse/unparse.js", include_str!("../../../jslib/papaparse/unparse.js")),
    ("shared/bytes.js", include_str!("../../../jslib/shared/bytes.js")),
    ("summary/junit.js", include_str!("../../../jslib/summary/junit.js")),
    ("summary/text.js", include_str!("../../../jslib/summary/text.js")),
    ("summary/values.js", include_str!("../../../jslib/summary/values.js")),
    ("testing/matchers.js", include_str!("../../../jslib/testing/matchers.js")),
    ("testing/retrying.js", include_str!("../../../jslib/testing/retrying.js")),
    ("totp.js", include_str!("../../../jslib/totp.js")),
    ("url.js", include_str!("../../../jslib/url.js")),
    ("url/host.js", include_str!("../../../jslib/url/host.js")),
    ("url/parser.js", include_str!("../../../jslib/url/parser.js")),
    ("url/percent.js", include_str!("../../../jslib/url/percent.js")),
    ("url/punycode.js", include_str!("../../../jslib/url/punycode.js")),
    ("url/search-params.js", include_str!("../../../jslib/url/search-params.js")),
    ("url/setters.js", include_str!("../../../jslib/url/setters.js")),
];

/// Which URLs they stand for.
pub(super) const MAP: &str = include_str!("../../../jslib/map.json");
