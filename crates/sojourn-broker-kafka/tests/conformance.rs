//! The promises that every connector keeps.

use crate::rig::KafkaRig;

mod taps {
    sojourn_conformance::taps!(super::KafkaRig::new());
}

mod publishers {
    sojourn_conformance::publishers!(super::KafkaRig::new());
}

mod consumers {
    sojourn_conformance::consumers!(super::KafkaRig::new());
}

mod backlogs {
    sojourn_conformance::backlogs!(super::KafkaRig::new());
}
