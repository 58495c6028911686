//! Rows of some benchmarks into the recorded table of all of them.
//!
//! Rows are known by their first cell. One that was taken elsewhere or of another revision than the
//! table is named under the table's own machine, so that no figure stands under a wrong one. Rows
//! of benchmarks that are gone stay until all are recorded together.

use super::table::Table;

const LATER: &str = "Later, on ";

/// A recorded section.
#[derive(Default)]
struct Section {
    machine: String,
    /// Other machines or revisions, and the rows that were taken there.
    later: Vec<(String, Vec<String>)>,
    /// The head first.
    rows: Vec<Vec<String>>,
}

/// The section with the rows of a table, all of which were taken on this machine.
pub(super) fn merge(section: &str, machine: &str, table: &Table) -> String {
    let mut merged = Section::read(section);
    let [head, rows @ ..] = table.rows() else { return section.to_owned() };
    if merged.rows.is_empty() {
        (merged.machine, merged.rows) = (machine.to_owned(), vec![head.clone()]);
    }
    merged.rows[0].clone_from(head);
    let mut before = merged.rows.len() - 1;
    for row in rows {
        match merged.rows.iter().skip(1).position(|known| known.first() == row.first()) {
            Some(at) => {
                before = at + 1;
                merged.rows[before].clone_from(row);
            }
            None => {
                before += 1;
                merged.rows.insert(before, row.clone());
            }
        }
    }
    merged.attribute(machine, rows.iter().filter_map(|row| row.first()));
    merged.text()
}

impl Section {
    fn read(text: &str) -> Self {
        let mut section = Self::default();
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
            if let Some(cells) = line.strip_prefix('|').and_then(|it| it.strip_suffix('|')) {
                let row: Vec<String> = cells.split('|').map(|cell| cell.trim().into()).collect();
                let is_rule = row.iter().all(|cell| cell.chars().all(|char| char == '-'));
                section.rows.extend((!is_rule).then_some(row));
            } else if let Some((machine, names)) =
                line.strip_prefix(LATER).and_then(|later| later.split_once(": `"))
            {
                let names = names.trim_end_matches('`').split("`, `").map(str::to_owned);
                section.later.push((machine.to_owned(), names.collect()));
            } else if section.machine.is_empty() {
                line.clone_into(&mut section.machine);
            }
        }
        section
    }

    /// Says where rows were taken, and nowhere else.
    fn attribute<'a>(&mut self, machine: &str, names: impl Iterator<Item = &'a String>) {
        let names: Vec<String> = names.cloned().collect();
        for (_, known) in &mut self.later {
            known.retain(|name| !names.contains(name));
        }
        if machine != self.machine {
            match self.later.iter_mut().find(|(known, _)| known == machine) {
                Some((_, known)) => known.extend(names),
                None => self.later.push((machine.to_owned(), names)),
            }
        }
        self.later.retain(|(_, names)| !names.is_empty());
    }

    fn text(&self) -> String {
        let mut table = Table::default();
        self.rows.iter().for_each(|row| table.row(row));
        let later = |(machine, names): &(String, Vec<String>)| {
            format!("{LATER}{machine}: `{}`\n\n", names.join("`, `"))
        };
        let later: String = self.later.iter().map(later).collect();
        format!("{}\n\n{later}{table}", self.machine)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(rows: &[[&str; 2]]) -> Table {
        let mut table = Table::new(&["benchmark", "value"]);
        rows.iter().for_each(|row| table.row(row));
        table
    }

    fn recorded() -> String {
        let rows = [["codec_parse", "3"], ["clients_step", "7"], ["ledger_facts", "9"]];
        format!("here, revision 1\n\n{}", table(&rows))
    }

    /// A record of one crate's benchmark once overwrote those of all others.
    #[test]
    fn other_rows_stay() {
        let new = table(&[["clients_step", "6"], ["clients_memory", "136"]]);
        let merged = merge(&recorded(), "here, revision 1", &new);
        let rows = [
            ["codec_parse", "3"],
            ["clients_step", "6"],
            ["clients_memory", "136"],
            ["ledger_facts", "9"],
        ];
        assert_eq!(merged, format!("here, revision 1\n\n{}", table(&rows)));
        assert_eq!(merge(&merged, "here, revision 1", &new), merged, "twice is as good as once");
    }

    #[test]
    fn rows_from_elsewhere_say_so() {
        let two = table(&[["clients_step", "6"], ["ledger_facts", "8"]]);
        let twice = merge(&recorded(), "there, revision 2", &two);
        let note =
            "here, revision 1\n\nLater, on there, revision 2: `clients_step`, `ledger_facts`";
        assert!(twice.starts_with(&format!("{note}\n\n| benchmark")), "{twice}");
        let one = table(&[["clients_step", "5"], ["new", "1"]]);
        let thrice = merge(&twice, "there, revision 3", &one);
        let notes = "here, revision 1\n\nLater, on there, revision 2: `ledger_facts`\n\n\
                     Later, on there, revision 3: `clients_step`, `new`\n\n| benchmark";
        assert!(thrice.starts_with(notes), "{thrice}");
        let back = merge(&thrice, "here, revision 1", &table(&[["ledger_facts", "9"]]));
        assert!(!back.contains("revision 2"), "{back}");
    }

    #[test]
    fn where_nothing_was_recorded_all_is_new() {
        let all = table(&[["a", "1"]]);
        assert_eq!(merge("", "here", &all), format!("here\n\n{all}"));
    }
}
