//! Which published messages the broker has not confirmed yet.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hasher};

/// Messages on their way, numbered from 1 on as the broker counts them on one channel.
#[derive(Debug, Default)]
pub(crate) struct Confirms {
    /// From the oldest that is not settled; settled ones between are empty.
    sent: VecDeque<Option<Sent>>,
    /// The number of the first of them, less one.
    before: u64,
    unsettled: usize,
    /// The number after that of the latest which came back.
    returns_from: u64,
}

#[derive(Debug)]
struct Sent {
    token: u64,
    fingerprint: u64,
    sent_ns: u64,
    returned: bool,
}

/// What a message that comes back is known by: routing key and payload. A return bears no number,
/// and messages that are the same in both go the same way.
pub(crate) fn fingerprint(routing_key: &str, payload: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(routing_key.as_bytes());
    hasher.write_u8(0xFF);
    hasher.write(payload);
    hasher.finish()
}

impl Confirms {
    /// Messages without an outcome.
    pub(crate) fn len(&self) -> usize {
        self.unsettled
    }

    /// The next message was sent.
    pub(crate) fn sent(&mut self, token: u64, fingerprint: u64, sent_ns: u64) {
        self.sent.push_back(Some(Sent { token, fingerprint, sent_ns, returned: false }));
        self.unsettled += 1;
    }

    /// When the oldest that has no outcome was sent.
    pub(crate) fn oldest_ns(&self) -> Option<u64> {
        self.sent.front()?.as_ref().map(|sent| sent.sent_ns)
    }

    /// A message came back; its confirm follows. They come back in the order sent.
    pub(crate) fn returned(&mut self, fingerprint: u64) {
        let from = usize::try_from(self.returns_from.saturating_sub(self.before)).unwrap_or(0);
        let later = from.min(self.sent.len())..self.sent.len();
        for index in later.clone().chain(0..later.start) {
            if let Some(sent) = &mut self.sent[index]
                && sent.fingerprint == fingerprint
                && !sent.returned
            {
                sent.returned = true;
                self.returns_from = self.before + index as u64 + 1;
                return;
            }
        }
    }

    /// The broker settled a message, or all up to it; `tell` gets their tokens and errors.
    pub(crate) fn settle(
        &mut self,
        number: u64,
        multiple: bool,
        error: Option<&str>,
        tell: &mut dyn FnMut(u64, Option<&str>),
    ) {
        // Nothing that was never sent: zero with `multiple` is everything.
        let all = self.before + self.sent.len() as u64;
        let last = if multiple && number == 0 { all } else { number.min(all) };
        let first = if multiple { self.before + 1 } else { number };
        for number in first.max(self.before + 1)..=last {
            let Some(place) = self.sent.get_mut((number - self.before - 1) as usize) else { break };
            if let Some(sent) = place.take() {
                let unroutable = sent.returned.then_some("no queue takes it");
                tell(sent.token, error.or(unroutable));
                self.unsettled -= 1;
            }
        }
        while let Some(None) = self.sent.front() {
            self.sent.pop_front();
            self.before += 1;
        }
    }

    /// The tokens of all that have no outcome; the count begins anew.
    pub(crate) fn drain(&mut self) -> Vec<u64> {
        let tokens = self.sent.drain(..).flatten().map(|sent| sent.token).collect();
        *self = Self::default();
        tokens
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sent(count: u64) -> Confirms {
        let mut confirms = Confirms::default();
        (1..=count).for_each(|token| confirms.sent(token, token % 3, token));
        confirms
    }

    fn settle(confirms: &mut Confirms, number: u64, multiple: bool) -> Vec<(u64, bool)> {
        let mut told = Vec::new();
        confirms.settle(number, multiple, None, &mut |token, error| {
            told.push((token, error.is_some()));
        });
        told
    }

    #[test]
    fn single_and_multiple_confirms_settle_each_message_once() {
        let mut confirms = sent(6);
        assert_eq!(settle(&mut confirms, 2, false), [(2, false)]);
        assert_eq!(confirms.oldest_ns(), Some(1));
        assert_eq!(settle(&mut confirms, 4, true), [(1, false), (3, false), (4, false)]);
        assert_eq!(settle(&mut confirms, 4, true), []);
        assert_eq!(settle(&mut confirms, 9, false), []);
        assert_eq!(settle(&mut confirms, u64::MAX, true), [(5, false), (6, false)]);
        assert_eq!((confirms.len(), confirms.oldest_ns()), (0, None));
        confirms.sent(7, 0, 7);
        assert_eq!(confirms.drain(), [7]);
        confirms.sent(8, 0, 8);
        assert_eq!(settle(&mut confirms, 0, true), [(8, false)]);
    }

    #[test]
    fn returns_are_found_in_the_order_sent() {
        let mut confirms = sent(7);
        // Fingerprints 1 2 0 1 2 0 1.
        confirms.returned(2);
        confirms.returned(1);
        confirms.returned(2);
        confirms.returned(99);
        let told = settle(&mut confirms, 7, true);
        let back: Vec<_> = told.iter().filter(|told| told.1).map(|told| told.0).collect();
        assert_eq!(back, [2, 4, 5]);
    }

    proptest! {
        #[test]
        fn every_message_has_one_outcome(
            count in 0_u64..40,
            acks in prop::collection::vec((0_u64..50, any::<bool>()), 0..60)) {
            let mut confirms = sent(count);
            let mut told = Vec::new();
            for (number, multiple) in acks {
                told.extend(settle(&mut confirms, number, multiple));
                prop_assert_eq!(told.len() + confirms.len(), count as usize);
            }
            told.extend(confirms.drain().into_iter().map(|token| (token, true)));
            told.sort_unstable();
            let tokens: Vec<_> = told.iter().map(|told| told.0).collect();
            prop_assert_eq!(tokens, (1..=count).collect::<Vec<_>>());
        }
    }
}
