//! What a single request may change: `delay`, `status`, `size` and `close`, in its query or in the
//! header `x-sojourn-mock`.
//!
//! Values are plain (`delay=250ms`, `status=503`) or a mix with percentages
//! (`delay=10ms:50,1s:5`, `status=503:0.5,429:1.5`); what a mix leaves over of the hundred is
//! as it would have been.

use sojourn_plan::reading::{bytes, duration_ns};

use crate::latency::choose;
use crate::server::Request;

/// The header that every mock understands.
pub(crate) const HEADER: &str = "x-sojourn-mock";

/// What a request asks for.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Wishes {
    pub(crate) delay_ns: Option<u64>,
    pub(crate) status: Option<u16>,
    pub(crate) size: Option<u64>,
    pub(crate) close: Option<bool>,
}

/// What a request for this target with this header [`HEADER`] may change: whether it is held, and
/// its status; errs in words. For fuzzing only, no part of the interface.
#[doc(hidden)]
pub fn wishes(target: &str, header: &[u8]) -> Result<(bool, Option<u16>), String> {
    let request = Request {
        method: "GET",
        path: target,
        headers: &[httparse::Header { name: HEADER, value: header }],
        body: b"",
        arrival_ns: 0,
        connection: 0,
        version: 11,
        tls: None,
    };
    let wishes = Wishes::of(&request, true, Dice { seed: 1, stream: 2, k: 3 })?;
    Ok((wishes.delay_ns.is_some(), wishes.status))
}

/// Draws for the mixes: seed, the route's stream and the request's number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dice {
    pub(crate) seed: u64,
    pub(crate) stream: u64,
    pub(crate) k: u64,
}

impl Wishes {
    /// The wishes of a request, from its query (where that is allowed) and its header, which comes
    /// last. Err: what is wrong with them, in words.
    pub(crate) fn of(request: &Request<'_>, from_query: bool, dice: Dice) -> Result<Self, String> {
        let mut wishes = Self::default();
        if from_query && !request.query().is_empty() {
            for (name, value) in url::form_urlencoded::parse(request.query().as_bytes()) {
                wishes.take(&name, &value, dice)?;
            }
        }
        if let Some(value) = request.header(HEADER) {
            let text = String::from_utf8_lossy(value);
            for pair in text.split([';', '&']).map(str::trim).filter(|pair| !pair.is_empty()) {
                let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
                if !wishes.take(name.trim(), value.trim(), dice)? {
                    return Err(format!("{HEADER}: there is no `{name}`; {KNOWN}"));
                }
            }
        }
        Ok(wishes)
    }

    /// Takes a wish in; false when it is none of ours.
    fn take(&mut self, name: &str, value: &str, dice: Dice) -> Result<bool, String> {
        let wrong = |what: &str| format!("{name}={value}: not {what}; {KNOWN}");
        match name {
            "delay" => {
                let one = |text: &str| delay(text).ok_or_else(|| wrong("a delay"));
                self.delay_ns = mixed(value, dice, 1, one)?.or(self.delay_ns);
            }
            "status" => {
                let one = |text: &str| {
                    let status = text.parse().ok().filter(|status| (200..=999).contains(status));
                    status.ok_or_else(|| wrong("a status from 200 to 999"))
                };
                self.status = mixed(value, dice, 2, one)?.or(self.status);
            }
            "size" => {
                let one =
                    |text: &str| bytes(text).map(|size| size as u64).map_err(|_| wrong("a size"));
                self.size = mixed(value, dice, 3, one)?.or(self.size);
            }
            "close" => {
                self.close = Some(match value {
                    "" | "true" => true,
                    "false" => false,
                    percent => {
                        let share = share(percent).ok_or_else(|| wrong("true or a percentage"))?;
                        choose(&[share], dice.seed, dice.stream ^ 4, dice.k).is_some()
                    }
                });
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}

const KNOWN: &str =
    "write delay=250ms, status=503, size=10KB, close=true, or mixes such as status=503:5,429:1";

/// A plain value, or one of a mix; `None` for what the mix leaves over.
fn mixed<T>(
    text: &str,
    dice: Dice,
    purpose: u64,
    one: impl Fn(&str) -> Result<T, String>,
) -> Result<Option<T>, String> {
    if !text.contains(':') {
        return one(text).map(Some);
    }
    let mut values = Vec::new();
    let mut shares = Vec::new();
    for part in text.split(',') {
        let (value, percent) = part.split_once(':').unwrap_or((part, ""));
        values.push(one(value.trim())?);
        match share(percent) {
            Some(share) => shares.push(share),
            None => return Err(format!("`{part}` is not VALUE:PERCENT; {KNOWN}")),
        }
    }
    let place = choose(&shares, dice.seed, dice.stream ^ purpose, dice.k);
    Ok(place.map(|place| values.swap_remove(place)))
}

/// A number is milliseconds.
fn delay(text: &str) -> Option<u64> {
    match text.parse::<u64>() {
        Ok(ms) => ms.checked_mul(1_000_000).filter(|ns| *ns <= 86_400_000_000_000),
        Err(_) => duration_ns(text).ok(),
    }
}

fn share(percent: &str) -> Option<f64> {
    let number: f64 = percent.trim().trim_end_matches('%').parse().ok()?;
    (0.0..=100.0).contains(&number).then_some(number / 100.0)
}

#[cfg(test)]
mod tests {
    use httparse::Header;

    use super::*;

    fn wishes(path: &str, header: &str, k: u64) -> Result<Wishes, String> {
        let headers = [Header { name: "X-Sojourn-Mock", value: header.as_bytes() }];
        let request = Request {
            method: "GET",
            path,
            headers: &headers,
            body: &[],
            arrival_ns: 0,
            connection: 0,
            version: 11,
            tls: None,
        };
        Wishes::of(&request, true, Dice { seed: 1, stream: 0, k })
    }

    #[test]
    fn plain_wishes_in_query_and_header() {
        let found = wishes("/?delay=250&status=503&x=y", "size=1KB; close; status=404", 0).unwrap();
        let expected = Wishes {
            delay_ns: Some(250_000_000),
            status: Some(404),
            size: Some(1000),
            close: Some(true),
        };
        assert_eq!(found, expected);
        assert_eq!(wishes("/?delay=1.5s", "", 0).unwrap().delay_ns, Some(1_500_000_000));
        assert_eq!(wishes("/?a=b", "", 0), Ok(Wishes::default()));
    }

    #[test]
    fn mixes_keep_their_shares() {
        let count = |path: &str, is: &dyn Fn(&Wishes) -> bool| {
            (0..10_000).filter(|k| is(&wishes(path, "", *k).unwrap())).count()
        };
        // Binomial: four deviations of √(n·p·q), rounded up.
        let path = "/?status=503:5,429:20";
        assert!(count(path, &|it| it.status == Some(503)).abs_diff(500) < 88);
        assert!(count(path, &|it| it.status == Some(429)).abs_diff(2000) < 160);
        assert!(count(path, &|it| it.status.is_none()).abs_diff(7500) < 174);
        assert!(count("/?close=5.3", &|it| it.close == Some(true)).abs_diff(530) < 90);
    }

    #[test]
    fn wrong_wishes_say_what_to_write() {
        for (path, header, part) in [
            ("/?delay=soon", "", "delay=soon: not a delay"),
            ("/?status=99", "", "status=99: not a status"),
            ("/?size=-1", "", "size=-1: not a size"),
            ("/?close=perhaps", "", "close=perhaps: not true"),
            ("/?delay=1ms:x", "", "`1ms:x` is not VALUE:PERCENT"),
            ("/?delay=1ms:5,2ms", "", "`2ms` is not VALUE:PERCENT"),
            ("/", "dely=5", "there is no `dely`"),
        ] {
            let error = wishes(path, header, 0).unwrap_err();
            assert!(error.contains(part) && error.contains("write delay=250ms"), "{error}");
        }
    }
}
