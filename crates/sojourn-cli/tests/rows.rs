//! Rows of data where a load starts single journeys and batches of them.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use sojourn_record::Verdict;
use sojourn_testkit::{Reply, Request, Responder, Server, response};

use crate::common::{plan, run};

const ROWS: usize = 6;

/// Remembers the rows that come: singles in the path, those of batches in the body.
#[derive(Clone, Default)]
struct Rows {
    single: Arc<Mutex<Vec<usize>>>,
    in_batches: Arc<Mutex<Vec<usize>>>,
}

impl Responder for Rows {
    fn body_max(&mut self, _request: &Request<'_>) -> usize {
        1 << 20
    }

    fn respond(&mut self, request: &Request<'_>) -> Reply {
        match request.path.strip_prefix("/single/") {
            Some(row) => self.single.lock().unwrap().push(row.parse().unwrap()),
            None => {
                let rows: Vec<String> = serde_json::from_slice(request.body).unwrap();
                let rows = rows.iter().map(|row| row.parse::<usize>().unwrap());
                self.in_batches.lock().unwrap().extend(rows);
            }
        }
        Reply::now(response(200, "text/plain", b"ok"))
    }
}

/// How often each row came.
fn counts(rows: &[usize]) -> BTreeMap<usize, usize> {
    let mut counts = BTreeMap::new();
    rows.iter().for_each(|row| *counts.entry(*row).or_default() += 1);
    counts
}

#[test]
fn every_row_comes_in_its_turn_beside_batches() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("rows.csv");
    let lines: Vec<String> = (0..ROWS).map(|row| row.to_string()).collect();
    std::fs::write(&file, format!("row\n{}\n", lines.join("\n"))).unwrap();
    for threads in [1, 2] {
        let rows = Rows::default();
        let server = Server::start(rows.clone()).unwrap();
        let text = format!(
            "
target: {}
data: {{ rows: {{ csv: '{}' }} }}
health: {{ lag_p99_max: 5s, silent_max: 5s }}
journeys:
  single: {{ root: {{ http: 'GET /single/{{{{ row.row }}}}' }} }}
  batch: {{ root: {{ batch: 4, http: {{ url: /batch, json: '{{{{ row.row }}}}' }} }} }}
load: {{ rate: 200/s, count: 60, drain: 5s }}
",
            server.url(""),
            file.display()
        );
        let run = run(&plan(&text, &[]), |options| options.threads = threads);
        assert_ne!(run.summary.verdict, Verdict::Void, "{:?}", run.summary.causes);
        drop(server);
        let (single, in_batches) =
            (rows.single.lock().unwrap().clone(), rows.in_batches.lock().unwrap().clone());
        assert_eq!(single.len() + in_batches.len() / 4, 60);
        assert!(single.len() > 15 && in_batches.len() > 15 * 4, "{} singles", single.len());
        assert_eq!(counts(&single).len(), ROWS, "singles skip rows: {:?}", counts(&single));
        // One journey after the other takes one row after the other, whichever it is of.
        let all = counts(&[single, in_batches].concat());
        let journeys: usize = all.values().sum();
        let least = journeys / ROWS;
        assert!(all.values().all(|&count| count == least || count == least + 1), "{all:?}");
    }
}
