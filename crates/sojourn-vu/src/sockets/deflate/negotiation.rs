//! What is offered to servers, and whether they agreed (RFC 7692, section 7.1).

const NAME: &str = "permessage-deflate";
const PARAMETERS: [&str; 2] = ["server_no_context_takeover", "client_no_context_takeover"];

/// The offer, as k6 makes it: no side keeps its window.
pub(crate) const OFFER: &str =
    "permessage-deflate; server_no_context_takeover; client_no_context_takeover";

/// Whether the answer's headers `Sec-WebSocket-Extensions` agree to the offer, made or not. The
/// rules and the error are k6's: a server must repeat both parameters; what else it says has no
/// effect, since a smaller window of the server's is within ours.
pub(crate) fn agreed<'a>(headers: impl Iterator<Item = &'a str>) -> Result<bool, String> {
    let mut extensions = headers.flat_map(|value| value.split(','));
    let Some(parameters) = extensions.find_map(parameters) else { return Ok(false) };
    let has = |wanted: &str| parameters.clone().any(|name| name == wanted);
    if PARAMETERS.into_iter().all(has) {
        Ok(true)
    } else {
        Err("websocket: invalid compression negotiation".to_owned())
    }
}

/// The names of the parameters, if this extension is ours.
fn parameters(extension: &str) -> Option<impl Iterator<Item = &str> + Clone> {
    let mut words = extension.split(';').map(|word| word.split('=').next().unwrap_or(word).trim());
    words.next().filter(|name| *name == NAME).map(|_| words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_agrees_to_all_of_the_offer_or_to_nothing() {
        let (server, client) = ("server_no_context_takeover", "client_no_context_takeover");
        for (headers, expected) in [
            (String::new(), Some(false)),
            ("x-webkit-deflate-frame".to_owned(), Some(false)),
            (format!("Permessage-Deflate; {server}; {client}"), Some(false)),
            (OFFER.to_owned(), Some(true)),
            (format!("{NAME};{client};{server}"), Some(true)),
            (
                format!("a; b=\"c\"|d, {NAME}; {server}; server_max_window_bits=9; {client}"),
                Some(true),
            ),
            (NAME.to_owned(), None),
            (format!("{NAME}; {server}"), None),
            (format!("{NAME}; {client}; client_max_window_bits"), None),
            (format!("{NAME}, {OFFER}"), None),
        ] {
            assert_eq!(agreed(headers.split('|')).ok(), expected, "{headers}");
        }
        assert_eq!(agreed(std::iter::empty()), Ok(false));
    }
}
