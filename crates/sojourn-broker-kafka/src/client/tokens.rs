//! Tokens by which a client is let in (SASL/OAUTHBEARER), from wherever they come.
//!
//! librdkafka asks for one when a client is made and when four fifths of the last one's time are
//! over, by an event that is served when the client is polled. What asks a cluster without ever
//! being polled is given its token by hand ([`TokenSource::give`]).
#![allow(unsafe_code)]

use std::error::Error;
use std::ffi::{CString, NulError};
use std::fmt;
use std::sync::{Mutex, PoisonError};

use rdkafka::bindings::rd_kafka_oauthbearer_set_token;
use rdkafka::client::{Client, ClientContext, OAuthToken};
use rdkafka::types::RDKafkaRespErr;
use sojourn_clock::{Anchor, MILLISECOND_NS};

/// Room for librdkafka's words about a token that it does not take, bytes.
const WORDS_MAX: usize = 512;

/// A token.
#[derive(Clone)]
pub struct Token {
    /// What the broker is shown.
    pub value: String,
    /// Whose it is.
    pub principal: String,
    /// Until when it is good, milliseconds since 1970.
    pub ends_ms: u64,
}

/// Where tokens come from; one for all clients that are let in the same way.
pub struct TokenSource {
    fetch: Box<dyn Fn() -> Result<Token, String> + Send + Sync>,
    /// The last one, and until when it is handed out, milliseconds since 1970.
    kept: Mutex<Option<(Token, u64)>>,
}

impl TokenSource {
    /// Tokens that this fetches, which may block. Errors are in words, without secrets.
    pub fn new(fetch: impl Fn() -> Result<Token, String> + Send + Sync + 'static) -> Self {
        Self { fetch: Box::new(fetch), kept: Mutex::default() }
    }

    /// A token; none is fetched while the last one is good for half of its time yet, since a
    /// client asks for another when a fifth is left.
    ///
    /// # Errors
    /// None can be fetched.
    pub fn token(&self) -> Result<Token, String> {
        // Whoever asks at the same time waits, and finds the answer.
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let now_ms = now_ms();
        if let Some((token, until_ms)) = &*kept
            && now_ms < *until_ms
        {
            return Ok(token.clone());
        }
        let token = (self.fetch)()?;
        let until_ms = now_ms + token.ends_ms.saturating_sub(now_ms) / 2;
        *kept = Some((token.clone(), until_ms));
        Ok(token)
    }

    /// Gives a client its token, which is not polled.
    pub(super) fn give<C: ClientContext>(&self, client: &Client<C>) -> Result<(), String> {
        let token = self.token()?;
        let nul = |_: NulError| "the token has a byte that none may have".to_owned();
        let value = CString::new(token.value).map_err(nul)?;
        let principal = CString::new(token.principal).map_err(nul)?;
        let mut words = [0; WORDS_MAX];
        // SAFETY: the client lives as long as it is borrowed; the texts and the room for words live
        // until the call returns, which keeps none of them; there are no extensions.
        let outcome = unsafe {
            rd_kafka_oauthbearer_set_token(
                client.native_ptr(),
                value.as_ptr(),
                i64::try_from(token.ends_ms).unwrap_or(i64::MAX),
                principal.as_ptr(),
                std::ptr::null_mut(),
                0,
                words.as_mut_ptr(),
                words.len(),
            )
        };
        match outcome {
            RDKafkaRespErr::RD_KAFKA_RESP_ERR_NO_ERROR => Ok(()),
            _ => Err(told(&words.map(|word| word as u8))),
        }
    }
}

impl fmt::Debug for TokenSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TokenSource").finish_non_exhaustive()
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Token").field("ends_ms", &self.ends_ms).finish_non_exhaustive()
    }
}

/// What a context answers when librdkafka asks for a token.
pub(super) fn answer(source: Option<&TokenSource>) -> Result<OAuthToken, Box<dyn Error>> {
    let source = source.ok_or("there is nothing that tokens come from")?;
    let token = source.token()?;
    Ok(OAuthToken {
        token: token.value,
        principal_name: token.principal,
        lifetime_ms: i64::try_from(token.ends_ms)?,
    })
}

/// librdkafka's words, up to their NUL.
fn told(words: &[u8]) -> String {
    let words = words.split(|byte| *byte == 0).next().unwrap_or_default();
    format!("the token is not taken: {}", String::from_utf8_lossy(words))
}

/// As the servers have it that say how long tokens are good: by the time of day as it is now.
fn now_ms() -> u64 {
    Anchor::now().unix_ns / MILLISECOND_NS
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    /// A source whose tokens are good for so long, and how many it was asked for.
    fn source(life_ms: u64) -> (TokenSource, Arc<AtomicU64>) {
        let asked = Arc::new(AtomicU64::new(0));
        let count = Arc::clone(&asked);
        let source = TokenSource::new(move || {
            let number = count.fetch_add(1, Ordering::Relaxed);
            let (value, principal) = (format!("t0ken-{number}"), "who".to_owned());
            Ok(Token { value, principal, ends_ms: now_ms() + life_ms })
        });
        (source, asked)
    }

    #[test]
    fn a_token_is_kept_for_half_of_its_time() {
        let (source, asked) = source(3_600_000);
        let first = source.token().unwrap();
        assert_eq!(answer(Some(&source)).unwrap().token, first.value);
        assert_eq!(asked.load(Ordering::Relaxed), 1);
        assert!(!format!("{source:?} {first:?}").contains("t0ken"));
    }

    #[test]
    fn one_that_is_over_is_fetched_anew() {
        let (source, asked) = source(0);
        source.token().unwrap();
        source.token().unwrap();
        assert_eq!(asked.load(Ordering::Relaxed), 2);
        assert!(answer(None).is_err());
    }

    #[test]
    fn what_fails_is_told_and_asked_for_again() {
        let source = TokenSource::new(|| Err("nobody is there".to_owned()));
        for _ in 0..2 {
            assert_eq!(answer(Some(&source)).err().unwrap().to_string(), "nobody is there");
        }
    }
}
