//! Header blocks: fields that nobody wants leave the same table behind, and what was read is read
//! again when it is written.

use sojourn_http::foreign::{HEADER_LIST_BYTES_MAX, HeaderTable, write_header_field};

use crate::Input;

/// Blocks follow each other, each behind its length in one byte.
pub(crate) fn check(input: Input<'_>) {
    let (mut all, mut none) = (HeaderTable::default(), HeaderTable::default());
    let mut rest = input.bytes;
    let mut number = 0;
    while let Some((length, bytes)) = rest.split_first() {
        let block;
        (block, rest) = bytes.split_at(bytes.len().min(usize::from(*length)));
        let Ok((fields, is_too_long)) = all.decode(block, true) else {
            return;
        };
        let sizes = fields.iter().map(|(name, value)| name.len() + value.len() + 32);
        assert!(sizes.sum::<usize>() <= HEADER_LIST_BYTES_MAX);
        // Every other block is read without being looked at.
        number += 1;
        let is_wanted = number % 2 == 0;
        let seen = none.decode(block, is_wanted).expect("what one reads the other reads");
        if is_wanted {
            assert_eq!(seen, (fields.clone(), is_too_long));
        }
        assert_eq!(all.changes(), none.changes());
        if is_too_long {
            continue;
        }
        let mut written = Vec::new();
        for (name, value) in &fields {
            write_header_field(name, value, &mut written);
        }
        let again = HeaderTable::default().decode(&written, true);
        assert_eq!(again, Ok((fields, false)));
    }
}
