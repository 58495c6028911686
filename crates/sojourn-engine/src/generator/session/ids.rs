//! Ids of requests: ULIDs, by which a target's log tells them apart.

use sojourn_pace::random_u64;

/// Crockford's base 32 (<https://github.com/ulid/spec>).
const DIGITS: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/// The id of a client's request number so and so: the instant in milliseconds, then 80 bits drawn
/// from the seed by client and request, so that no two of a run are the same but by chance.
pub(super) fn ulid(unix_ms: u64, seed: u64, client: u64, request: u32) -> [u8; 26] {
    let high = random_u64(seed, client, u64::from(request) << 1);
    let low = random_u64(seed, client, u64::from(request) << 1 | 1);
    let bits = u128::from(unix_ms & ((1 << 48) - 1)) << 80
        | u128::from(high & 0xFFFF) << 64
        | u128::from(low);
    std::array::from_fn(|place| DIGITS[(bits >> (125 - 5 * place)) as usize & 31])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_says_when_it_was_made() {
        let id = |client, request| ulid(1_469_918_176_385, 7, client, request);
        let text = String::from_utf8(id(1, 0).to_vec()).unwrap();
        assert_eq!(sojourn_plan::ulid_unix_ms(&text), Some(1_469_918_176_385));
        assert!(text.starts_with("01ARYZ6S41"), "{text}");
        assert!(id(1, 0) != id(1, 1) && id(1, 0) != id(2, 0) && id(3, 4) == id(3, 4));
    }
}
