//! Stretches without a connection: which partitions, and how many of their messages were late.

use sojourn_broker::{Gap, Recovery};

/// What was handed over of each partition, and the stretch without a connection that is not over.
#[derive(Debug, Default)]
pub(crate) struct Outages {
    /// By topic and partition.
    parts: Vec<Vec<Part>>,
    current: Option<Outage>,
    over: Vec<Gap>,
}

#[derive(Clone, Debug, Default)]
struct Part {
    /// The offset after the last handed over.
    next: i64,
    handed_over: u64,
    /// As many had been handed over at the latest statistics.
    at_statistics: u64,
    /// Its leader was away.
    away: bool,
    /// Where it ended when its leader was back.
    end: Option<i64>,
}

#[derive(Debug)]
struct Outage {
    from_ns: u64,
    late: u64,
}

impl Outages {
    /// Partitions are read from these offsets on.
    pub(crate) fn read_from(&mut self, topic: usize, partition: i32, offset: i64) {
        if let Some(part) = self.part(topic, partition) {
            part.next = offset;
        }
    }

    /// A message is handed over.
    pub(crate) fn took(&mut self, topic: usize, partition: i32, offset: i64) {
        let Some(part) = self.part(topic, partition) else { return };
        part.next = offset + 1;
        part.handed_over += 1;
        let late = part.away && part.end.is_none_or(|end| offset < end);
        if late && let Some(outage) = &mut self.current {
            outage.late += 1;
        }
    }

    /// Statistics were looked at.
    pub(crate) fn mark(&mut self) {
        for part in self.parts.iter_mut().flatten() {
            part.at_statistics = part.handed_over;
        }
    }

    /// A connection was lost at `from_ns` or, unless that is `exact`, at some time between then and
    /// now, so that what came since the latest statistics may have been late.
    pub(crate) fn begin(&mut self, from_ns: u64, exact: bool, led: &[(usize, i32)]) {
        let mut late = 0;
        for (topic, partition) in led {
            let Some(part) = self.part(*topic, *partition) else { continue };
            if !exact && !part.away {
                late += part.handed_over - part.at_statistics;
            }
            (part.away, part.end) = (true, None);
        }
        // Another connection lost meanwhile: one stretch, whose ends are not known any more.
        self.parts.iter_mut().flatten().for_each(|part| part.end = None);
        let outage = self.current.get_or_insert(Outage { from_ns, late: 0 });
        outage.from_ns = outage.from_ns.min(from_ns);
        outage.late += late;
    }

    /// Since when there is no connection.
    pub(crate) fn since_ns(&self) -> Option<u64> {
        self.current.as_ref().map(|outage| outage.from_ns)
    }

    /// Partitions whose leader was away: topic, partition, where it ended when the leader was back.
    pub(crate) fn away(&self) -> impl Iterator<Item = (usize, i32, Option<i64>)> {
        self.parts.iter().enumerate().flat_map(|(topic, parts)| {
            let away = (0..).zip(parts).filter(|(_, part)| part.away);
            away.map(move |(partition, part)| (topic, partition, part.end))
        })
    }

    /// A leader is back, and its partition ends there.
    pub(crate) fn ends_at(&mut self, topic: usize, partition: i32, end: i64) {
        if let Some(part) = self.part(topic, partition) {
            part.end = Some(end);
        }
    }

    /// Whether a partition was handed over up to where it ended.
    pub(crate) fn has_caught_up(&self, topic: usize, partition: i32, end: i64) -> bool {
        let part = self.parts.get(topic).zip(usize::try_from(partition).ok());
        let part = part.and_then(|(parts, partition)| parts.get(partition));
        part.is_some_and(|part| part.next >= end)
    }

    /// Everything of the stretch has been handed over.
    pub(crate) fn finish(&mut self, now_ns: u64) {
        for part in self.parts.iter_mut().flatten() {
            (part.away, part.end) = (false, None);
        }
        if let Some(Outage { from_ns, late }) = self.current.take() {
            let recovery = Recovery::Resumed { messages: late };
            self.over.push(Gap { from_ns, to_ns: now_ns, recovery });
        }
    }

    /// Stretches that ended since the last call.
    pub(crate) fn take(&mut self) -> Vec<Gap> {
        std::mem::take(&mut self.over)
    }

    /// A partition's book; made when it is first heard of. Partitions are counted from zero, so
    /// the books are as many as the topic has.
    fn part(&mut self, topic: usize, partition: i32) -> Option<&mut Part> {
        let partition = usize::try_from(partition).ok()?;
        if self.parts.len() <= topic {
            self.parts.resize(topic + 1, Vec::new());
        }
        let parts = self.parts.get_mut(topic)?;
        if parts.len() <= partition {
            parts.resize(partition + 1, Part::default());
        }
        parts.get_mut(partition)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn took(outages: &mut Outages, partition: i32, offsets: std::ops::Range<i64>) {
        offsets.for_each(|offset| outages.took(0, partition, offset));
    }

    fn gap(from_ns: u64, to_ns: u64, messages: u64) -> Vec<Gap> {
        vec![Gap { from_ns, to_ns, recovery: Recovery::Resumed { messages } }]
    }

    #[test]
    fn late_is_what_came_of_partitions_that_were_away_up_to_their_end() {
        let mut outages = Outages::default();
        outages.read_from(0, 0, 100);
        took(&mut outages, 0, 100..110);
        took(&mut outages, 1, 0..5);
        outages.begin(7, true, &[(0, 0)]);
        // The other partition's leader is there.
        took(&mut outages, 1, 5..9);
        took(&mut outages, 0, 110..113);
        assert_eq!(outages.away().collect::<Vec<_>>(), [(0, 0, None)]);
        outages.ends_at(0, 0, 120);
        assert!(!outages.has_caught_up(0, 0, 120));
        took(&mut outages, 0, 113..125);
        assert!(outages.has_caught_up(0, 0, 120));
        outages.finish(50);
        assert_eq!(outages.since_ns(), None);
        assert_eq!(outages.take(), gap(7, 50, 10));
        assert_eq!(outages.take(), []);
        took(&mut outages, 0, 125..130);
        outages.finish(60);
        assert_eq!(outages.take(), [], "none was open");
    }

    #[test]
    fn a_loss_seen_late_counts_what_came_since_the_statistics_before() {
        let mut outages = Outages::default();
        took(&mut outages, 0, 0..10);
        outages.mark();
        took(&mut outages, 0, 10..14);
        outages.begin(3, false, &[(0, 0)]);
        // Told again, it counts once.
        outages.begin(5, false, &[(0, 0)]);
        assert_eq!(outages.since_ns(), Some(3));
        outages.ends_at(0, 0, 14);
        assert!(outages.has_caught_up(0, 0, 14));
        outages.finish(9);
        assert_eq!(outages.take(), gap(3, 9, 4));
    }

    #[test]
    fn partitions_that_cannot_be_have_no_book() {
        let mut outages = Outages::default();
        outages.took(0, -1, 5);
        outages.begin(1, true, &[(0, -1), (3, 2)]);
        assert_eq!(outages.away().collect::<Vec<_>>(), [(3, 2, None)]);
    }
}
