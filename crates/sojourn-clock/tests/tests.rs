//! Another machine's clock, taken over. One test in a process of its own: it is the process's
//! clock.

use sojourn_clock::{
    MILLISECOND_NS, SECOND_NS, machine_ns, machine_ns_of, now_ns, shift_ns, shift_to, sleep_until,
};

#[test]
fn a_shifted_clock_goes_on_as_one_and_the_kernel_is_told_its_own() {
    let far_ns = [3_700 * MILLISECOND_NS.cast_signed(), -20 * SECOND_NS.cast_signed()];
    for offset_ns in far_ns {
        let (before_ns, shifted_ns) = (machine_ns(), shift_ns());
        shift_to(offset_ns);
        assert_eq!(shift_ns(), shifted_ns + offset_ns);
        let now = now_ns();
        let expected_ns = before_ns.wrapping_add_signed(shift_ns());
        assert!((expected_ns..expected_ns + SECOND_NS).contains(&now));
        // An instant to come is as far away for the kernel as it is here.
        let to_come_ns = now + SECOND_NS;
        assert!(
            (before_ns + SECOND_NS..=machine_ns() + SECOND_NS).contains(&machine_ns_of(to_come_ns))
        );
        sleep_until(now + 2 * MILLISECOND_NS);
        assert!(machine_ns() >= before_ns + 2 * MILLISECOND_NS);
        assert!(now_ns() >= now + 2 * MILLISECOND_NS);
    }
    assert_eq!(machine_ns_of(0), 20 * SECOND_NS - 3_700 * MILLISECOND_NS);
}
