//! What the bytes of a script are: how many HTTP/1.1 requests, and whether they are HEAD.

use sojourn_engine::Framing;

/// Most requests in one message.
const REQUESTS_MAX: u32 = 65_536;
/// Most headers of a request.
const HEADERS_MAX: usize = 128;

/// Reads the requests that `message` consists of; errs in words that follow "request()".
pub(crate) fn framing(message: &[u8]) -> Result<Framing, String> {
    let mut rest = message;
    let mut requests = 0;
    let mut heads = 0;
    while !rest.is_empty() {
        let at = message.len() - rest.len();
        let wrong = |why: &str| format!("returned no whole HTTP request: {why} (byte {at})");
        let (length, is_head) = request(rest).map_err(|why| wrong(&why))?;
        rest = &rest[length..];
        requests += 1;
        heads += u32::from(is_head);
        if requests > REQUESTS_MAX {
            return Err(format!("returned more than {REQUESTS_MAX} requests at once"));
        }
    }
    if requests == 0 {
        return Err("returned an empty string, not the bytes of a request".to_owned());
    }
    if heads != 0 && heads != requests {
        return Err("returned HEAD requests among others: their answers differ in form".to_owned());
    }
    Ok(Framing { requests, head_only: heads != 0 })
}

/// The first request's length, and whether it is HEAD.
fn request(bytes: &[u8]) -> Result<(usize, bool), String> {
    let mut headers = [const { std::mem::MaybeUninit::uninit() }; HEADERS_MAX];
    let mut request = httparse::Request::new(&mut []);
    let head = match request.parse_with_uninit_headers(bytes, &mut headers) {
        Ok(httparse::Status::Complete(length)) => length,
        Ok(httparse::Status::Partial) => return Err("its headers have no end".to_owned()),
        Err(error) => return Err(error.to_string()),
    };
    let mut length = None;
    let mut is_chunked = false;
    for header in request.headers.iter() {
        if header.name.eq_ignore_ascii_case("content-length") {
            let text = std::str::from_utf8(header.value).map(str::trim).unwrap_or_default();
            let number = text.parse::<usize>().ok().filter(|_| !text.starts_with('+'));
            length = Some(number.ok_or_else(|| format!("Content-Length is {text:?}"))?);
        }
        let is_coding = header.name.eq_ignore_ascii_case("transfer-encoding");
        is_chunked |= is_coding && header.value.to_ascii_lowercase().ends_with(b"chunked");
    }
    let body = match (is_chunked, length) {
        (true, _) => chunks(&bytes[head..])?,
        (false, length) => length.unwrap_or(0),
    };
    let whole = head.checked_add(body).filter(|whole| *whole <= bytes.len());
    let whole = whole.ok_or_else(|| {
        format!("its body has {} of {body} bytes", bytes.len().saturating_sub(head))
    })?;
    Ok((whole, request.method == Some("HEAD")))
}

/// The length of a chunked body with its trailers.
fn chunks(bytes: &[u8]) -> Result<usize, String> {
    let cut_off = || "its chunked body has no end".to_owned();
    let mut at = 0_usize;
    loop {
        let rest = bytes.get(at..).ok_or_else(cut_off)?;
        let (line, size) = match httparse::parse_chunk_size(rest) {
            Ok(httparse::Status::Complete(found)) => found,
            Ok(httparse::Status::Partial) => return Err(cut_off()),
            Err(_) => return Err("its chunked body has a chunk without a size".to_owned()),
        };
        if size == 0 {
            break;
        }
        let size = usize::try_from(size).map_err(|_| cut_off())?;
        at = at.checked_add(line).and_then(|at| at.checked_add(size)).ok_or_else(cut_off)?;
        match bytes.get(at..at.saturating_add(2)) {
            Some(b"\r\n") => at += 2,
            Some(_) => return Err("its chunked body has a chunk of another size".to_owned()),
            None => return Err(cut_off()),
        }
    }
    // `0` and its line end; trailers end with an empty line.
    let end = bytes[at..].windows(4).position(|window| window == b"\r\n\r\n");
    end.map(|end| at + end + 4).ok_or_else(cut_off)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const GET: &str = "GET /a HTTP/1.1\r\nHost: h\r\n\r\n";
    const POST: &str = "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nGET /";
    const CHUNKED: &str = "PUT / HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n\r\n\
                           3;x=y\r\nabc\r\n10\r\n0123456789abcdef\r\n0\r\nT: 1\r\n\r\n";
    const HEAD: &str = "HEAD / HTTP/1.1\r\nHost: h\r\n\r\n";

    fn count(message: &str) -> Result<(u32, bool), String> {
        framing(message.as_bytes()).map(|framing| (framing.requests, framing.head_only))
    }

    #[test]
    fn requests_are_counted_with_their_bodies() {
        assert_eq!(count(GET), Ok((1, false)));
        assert_eq!(count(POST), Ok((1, false)));
        assert_eq!(count(CHUNKED), Ok((1, false)));
        assert_eq!(count(HEAD), Ok((1, true)));
        assert_eq!(count(&[GET, POST, CHUNKED, GET].concat()), Ok((4, false)));
        assert_eq!(count(&HEAD.repeat(3)), Ok((3, true)));
    }

    #[test]
    fn what_is_no_whole_request_is_told() {
        for (message, what) in [
            ("", "an empty string"),
            ("garbage", "(byte 0)"),
            ("garbage\r\n\r\n", "(byte 0)"),
            ("GET / HTTP/1.1\r\nHost: h\r\n", "no end"),
            ("POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\nabcd", "4 of 5 bytes"),
            ("POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", "\"-1\""),
            ("POST / HTTP/1.1\r\nContent-Length: 18446744073709551615\r\n\r\n", "bytes"),
            ("PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc\r\n0\r\n\r\n", "chunk"),
            ("PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", "no end"),
        ] {
            let error = count(message).expect_err(message);
            assert!(error.contains(what), "{message:?}: {error}");
        }
        let after_a_whole_one = count(&format!("{GET}{{"));
        assert!(after_a_whole_one.unwrap_err().contains(&format!("(byte {})", GET.len())));
        assert!(count(&[GET, HEAD].concat()).unwrap_err().contains("HEAD requests among others"));
        assert!(count(&GET.repeat(65_537)).unwrap_err().contains("65536"));
    }

    #[test]
    fn cut_off_at_any_byte_it_is_no_whole_request() {
        let message = [GET, POST, CHUNKED].concat();
        let ends = [GET.len(), GET.len() + POST.len(), message.len()];
        for length in 0..message.len() {
            let is_whole = framing(&message.as_bytes()[..length]).is_ok();
            assert_eq!(is_whole, ends.contains(&length), "{length}");
        }
    }

    proptest! {
        #[test]
        fn changed_bytes_never_panic(at in 0..200_usize, byte: u8, cut in 0..200_usize) {
            let mut message = [GET, POST, CHUNKED, HEAD].concat().into_bytes();
            let length = message.len();
            message[at % length] = byte;
            message.truncate(length - cut % length);
            // Any answer will do.
            let _ignored = framing(&message);
        }
    }
}
