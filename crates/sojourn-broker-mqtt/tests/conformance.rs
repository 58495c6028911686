//! The promises that every connector keeps.

use crate::rig::MqttRig;

mod five {
    mod taps {
        sojourn_conformance::taps!(super::super::MqttRig::five());
    }

    mod publishers {
        sojourn_conformance::publishers!(super::super::MqttRig::five());
    }

    // Not `what_was_not_committed_comes_again`: it takes thirty messages before a commit, and
    // Mosquitto hands out twenty.
    mod consumers {
        sojourn_conformance::promises!(
            super::super::MqttRig::five();
            members_share_the_messages,
        );
    }
}

mod three {
    mod taps {
        sojourn_conformance::taps!(super::super::MqttRig::three());
    }

    mod publishers {
        sojourn_conformance::publishers!(super::super::MqttRig::three());
    }
}

mod exactly_once {
    mod five {
        sojourn_conformance::taps!(super::super::MqttRig::five().exactly_once());
    }

    // What the versions have in common is tried with five.
    mod three {
        sojourn_conformance::promises!(
            super::super::MqttRig::three().exactly_once();
            a_server_killed_and_restarted,
            a_connection_cut,
        );
    }
}
