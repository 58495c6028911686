//! Promise: what cannot work is said when the tap opens, with what to do and without secrets.

use crate::Rig;
use crate::cut::assert_names;

/// Each of the rig's wrong channels is an error with the words that it must have, a hint, and no
/// secret in any form in which it could be printed.
pub fn settings_that_cannot_work(rig: &mut dyn Rig) {
    let wrong = rig.wrong();
    assert!(!wrong.is_empty());
    for wrong in wrong {
        let made = rig.connector().tap(&wrong.channel);
        let (error, printed) = match made {
            Err(error) => (error, String::new()),
            Ok(mut tap) => match tap.open() {
                Err(error) => (error, String::new()),
                Ok(info) => panic!("{} is taken: {}", wrong.what, info.listens_to),
            },
        };
        assert_names(&error, &wrong.says);
        assert!(error.hint.is_some(), "{}: nothing to do is said: {error}", wrong.what);
        if let Some(secret) = &wrong.secret {
            let printed = format!("{printed}{error:?}{error}");
            assert!(!printed.contains(secret), "{}: {printed}", wrong.what);
        }
    }
}
