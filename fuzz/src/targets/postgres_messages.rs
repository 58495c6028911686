//! Messages of a PostgreSQL server, those of replication among them: cuts change nothing, columns
//! are not longer than their message, and changes are JSON.

use sojourn_broker_postgres::foreign::read_messages;

use crate::Input;

/// No options.
pub(crate) fn check(input: Input<'_>) {
    let whole = read_messages(input.bytes, usize::MAX);
    assert_eq!(whole, read_messages(input.bytes, input.portion()));
    assert!(whole.message_bytes <= input.bytes.len());
    assert!(whole.column_bytes <= whole.message_bytes);
    for change in &whole.changes {
        let change = serde_json::from_str::<serde_json::Value>(change);
        assert!(change.is_ok_and(|change| change.get("table").is_some()));
    }
}
