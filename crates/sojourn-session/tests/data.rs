//! Rows, files and generated values.

use sojourn_session::{Data, Program};

use crate::util::{Disk, defined, lines, play, program, script};

#[test]
fn a_row_is_picked_once_and_its_fields_go_together() {
    let steps =
        "const row = session.ds.pickFrom(session.dataSources.loadStructured('stations.csv'));
        session.times(3, (s) => s.log(row.get('id') + ' ' + row.get(1)));";
    let program = program(&script(steps));
    let mut seen = std::collections::BTreeSet::new();
    for client in 0..200 {
        let lines = play(&program, 0, client, 10, |_| None).lines;
        assert!(lines.iter().all(|line| *line == lines[0]), "{lines:?}");
        seen.insert(lines[0].clone());
    }
    let expected = ["log 12 Twelve, the other", "log 7 Channel Seven", "log 99 100 %"];
    assert_eq!(seen.iter().collect::<Vec<_>>(), expected);
}

#[test]
fn a_pick_within_a_loop_picks_each_time() {
    let steps = "const stations = session.ds.loadStructured('stations.csv');
        session.times(100, (s) => s.log(s.ds.pickFrom(stations).get('id')));";
    let mut lines = lines(steps);
    lines.sort();
    lines.dedup();
    assert_eq!(lines, ["log 12", "log 7", "log 99"]);
}

#[test]
fn a_row_that_was_not_picked_has_empty_fields() {
    let steps = "let row; session.if(1, '=', 2, (s) => { row = s.ds.pickFrom(s.ds.loadStructured('stations.csv')); });
        session.log(`<${row.get('id')}>`);";
    assert_eq!(lines(steps), ["log <>"]);
}

#[test]
fn files_without_a_header_have_numbers_or_given_names() {
    let steps = "const row = session.ds.pickFrom(session.ds.loadStructured('numbers.tsv', { header: false }));
        session.log(row.get(0) + row.get(1));
        const named = session.ds.pickFrom(session.ds.loadStructured('numbers.tsv', { fields: ['n', 'word'] }));
        session.log(named.get('word'));";
    let lines = lines(steps);
    assert!(["log 1one", "log 2two"].contains(&lines[0].as_str()), "{lines:?}");
    assert!(["log one", "log two"].contains(&lines[1].as_str()), "{lines:?}");
}

#[test]
fn the_old_global_sources_work() {
    let steps = "const user = session.pick('stations'); session.log(user.name());
        session.log(session.pick('dice'));";
    let sources = "definition.setDataSources({
        stations: { type: 'file', source: 'stations.csv', fields: ['id', 'name'] },
        dice: { type: 'random_number', range: [6, 6] } });\n";
    let program = program(&format!("{sources}{}", script(steps)));
    let lines = play(&program, 0, 3, 10, |_| None).lines;
    assert_eq!(lines[1], "log 6");
    // Fields are given, so that the first line is a row too.
    let names = ["log name", "log Channel Seven", "log Twelve, the other", "log 100 %"];
    assert!(names.contains(&lines[0].as_str()), "{lines:?}");
}

#[test]
fn every_kind_of_value_is_generated() {
    let steps = "const ds = session.ds;
        session.log(ds.generateFrom(ds.define('random_string', { length: 8, name: 'x' })));
        session.log(ds.generate('random_hex', { length: 4 }));
        session.log(ds.generate('random_uuid'));
        session.log(ds.generate('timestamp'));
        session.log(ds.generate('timestamp', { unit: 's' }));
        const n = ds.generate('sequence', { start: 5, step: 2 });
        session.log(n); session.log(n);
        session.log(ds.generate('random_number', { range: [-3, -3] }));";
    let lines = lines(steps);
    let lengths: Vec<_> = lines[..3].iter().map(|line| line.len() - 4).collect();
    assert_eq!(lengths, [8, 4, 36]);
    assert_eq!(lines[3..], ["log 1700000000000", "log 1700000000", "log 5", "log 7", "log -3"]);
}

#[test]
fn what_a_file_lacks_is_told_at_its_place() {
    let compiled = |steps: &str| {
        let definition = defined(&script(steps)).unwrap();
        let data = match Data::load(&definition, &Disk) {
            Ok(data) => data,
            Err(errors) => return errors.to_string(),
        };
        Program::compile(&definition, &data)
            .map_or_else(|errors| errors.to_string(), |_| String::new())
    };
    let row = "const row = session.ds.pickFrom(session.ds.loadStructured('stations.csv'));\n";
    assert_eq!(
        compiled(&format!("{row}session.log(row.get('nam'));")),
        "script.js:5:17: `stations.csv` has no column `nam`\n  hint: did you mean `name`?"
    );
    let beyond = compiled(&format!("{row}session.log(row.get(2));"));
    assert!(beyond.contains("no column `2`") && beyond.contains("there are 2, from 0"), "{beyond}");
    let missing = compiled("session.ds.loadStructured('none.csv'); session.log('');");
    assert!(missing.starts_with("script.js:4:12: the file `none.csv`: no such file"), "{missing}");
}

#[test]
fn data_sources_have_two_names() {
    let steps = "const ds = DS;
        const dice = ds.define('random_number', { range: [6, 6] });
        session.log(ds.generateFrom(dice) + ds.generate('sequence', { start: 3 }));
        session.log(ds.pickFrom(ds.loadStructured('numbers.tsv', { header: false })).get(0));
        session.post('/', { payload_from_file: ds.getRawFile('body.bin') });";
    let of = |name: &str| lines(&steps.replace("DS", name));
    let found = of("session.dataSources");
    assert_eq!(found, of("session.ds"));
    assert_eq!((&*found[0], &*found[2]), ("log 63", "POST http://a.example/ raw \u{1} bytes"));
}
