//! The promises that every connector keeps.

use crate::rig::AmqpRig;

mod taps {
    sojourn_conformance::taps!(super::AmqpRig::new());
}

mod publishers {
    sojourn_conformance::publishers!(super::AmqpRig::new());
}

mod consumers {
    sojourn_conformance::consumers!(super::AmqpRig::new());
}

mod backlogs {
    sojourn_conformance::backlogs!(super::AmqpRig::new());
}
