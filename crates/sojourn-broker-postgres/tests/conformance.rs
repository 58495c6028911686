//! The promises that every connector keeps.

mod notify {
    use crate::rig::{PostgresRig, Way};

    sojourn_conformance::taps!(PostgresRig::new(Way::Notify));
    sojourn_conformance::publishers!(PostgresRig::new(Way::Notify));
}

mod table {
    use crate::rig::{PostgresRig, Way};

    sojourn_conformance::taps!(PostgresRig::new(Way::Table));
    sojourn_conformance::publishers!(PostgresRig::new(Way::Table));
    sojourn_conformance::backlogs!(PostgresRig::new(Way::Table));
}

mod publication {
    use crate::rig::{PostgresRig, Way};

    // Every byte as it was sent: a change is JSON of our own making. Its values are compared in
    // `replication`.
    sojourn_conformance::promises!(PostgresRig::new(Way::Publication);
        nothing_before_and_everything_after,
        the_watermark_follows,
        a_server_killed_and_restarted,
        a_connection_cut,
        a_connection_stalled,
        a_link_that_is_slow,
        a_connection_gone_for_good,
        nobody_there,
        a_sink_that_stands_still,
        a_sink_that_is_slow,
        settings_that_cannot_work,
        the_system_notices_nothing,
        a_stretch_is_read_again,
    );
}
