//! A thread's last message: unlike those of each second, nothing after it would show its loss.

use std::time::Duration;

use crossbeam_channel::Sender;

/// How long a place in the channel is waited for.
const WAIT: Duration = Duration::from_secs(3);

/// Hands over the figures of a thread's last second; errs in words when nobody takes them in time,
/// which must make the run void.
pub(crate) fn hand_over<T>(sender: &Sender<T>, message: T) -> Result<(), String> {
    sender.send_timeout(message, WAIT).map_err(|error| {
        let why = match error.is_timeout() {
            true => format!("nobody took them for {} s: the machine is overloaded", WAIT.as_secs()),
            false => "the coordinator was gone".to_owned(),
        };
        format!("the figures of its last second are lost ({why})")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_last_word_waits_for_a_place_and_its_loss_is_told() {
        let (sender, receiver) = crossbeam_channel::bounded(1);
        sender.send(1).unwrap();
        let reader = std::thread::spawn(move || (receiver.recv(), receiver.recv()));
        assert_eq!(hand_over(&sender, 2), Ok(()));
        assert_eq!(reader.join().unwrap(), (Ok(1), Ok(2)));
        let why = hand_over(&sender, 3).unwrap_err();
        assert!(why.contains("its last second are lost"), "{why}");
    }
}
