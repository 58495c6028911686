//! The static table of RFC 7541, appendix A.

/// Names and values; index 1 is the first.
pub(super) static STATIC_TABLE: [(&[u8], &[u8]); 61] = [
    (b":authority", b""),
    (b":method", b"GET"),
    (b":method", b"POST"),
    (b":path", b"/"),
    (b":path", b"/index.html"),
    (b":scheme", b"http"),
    (b":scheme", b"https"),
    (b":status", b"200"),
    (b":status", b"204"),
    (b":status", b"206"),
    (b":status", b"304"),
    (b":status", b"400"),
    (b":status", b"404"),
    (b":status", b"500"),
    (b"accept-charset", b""),
    (b"accept-encoding", b"gzip, deflate"),
    (b"accept-language", b""),
    (b"accept-ranges", b""),
    (b"accept", b""),
    (b"access-control-allow-origin", b""),
    (b"age", b""),
    (b"allow", b""),
    (b"authorization", b""),
    (b"cache-control", b""),
    (b"content-disposition", b""),
    (b"content-encoding", b""),
    (b"content-language", b""),
    (b"content-length", b""),
    (b"content-location", b""),
    (b"content-range", b""),
    (b"content-type", b""),
    (b"cookie", b""),
    (b"date", b""),
    (b"etag", b""),
    (b"expect", b""),
    (b"expires", b""),
    (b"from", b""),
    (b"host", b""),
    (b"if-match", b""),
    (b"if-modified-since", b""),
    (b"if-none-match", b""),
    (b"if-range", b""),
    (b"if-unmodified-since", b""),
    (b"last-modified", b""),
    (b"link", b""),
    (b"location", b""),
    (b"max-forwards", b""),
    (b"proxy-authenticate", b""),
    (b"proxy-authorization", b""),
    (b"range", b""),
    (b"referer", b""),
    (b"refresh", b""),
    (b"retry-after", b""),
    (b"server", b""),
    (b"set-cookie", b""),
    (b"strict-transport-security", b""),
    (b"transfer-encoding", b""),
    (b"user-agent", b""),
    (b"vary", b""),
    (b"via", b""),
    (b"www-authenticate", b""),
];

/// The first index of a name and, if there is one, the index of name and value.
pub(super) fn find(name: &[u8], value: &[u8]) -> (Option<usize>, Option<usize>) {
    let mut of_name = None;
    for (place, (known_name, known_value)) in STATIC_TABLE.iter().enumerate() {
        if *known_name != name {
            continue;
        }
        of_name = of_name.or(Some(place + 1));
        if !value.is_empty() && *known_value == value {
            return (of_name, Some(place + 1));
        }
    }
    (of_name, None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_values_are_found() {
        assert_eq!(find(b":method", b"POST"), (Some(2), Some(3)));
        assert_eq!(find(b":method", b"PUT"), (Some(2), None));
        assert_eq!(find(b"accept-encoding", b"gzip, deflate"), (Some(16), Some(16)));
        assert_eq!(find(b"www-authenticate", b""), (Some(61), None));
        assert_eq!(find(b"x", b""), (None, None));
    }
}
