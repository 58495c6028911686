//! A run's objects played on this machine: a folder for each volume, a process for each container.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::Value;
use sojourn_testkit::{Output, Program, TempDir, free_port, sojourn, temp_dir};

/// The objects of a run, and where its pods' volumes are.
pub(super) struct Played {
    pub(super) objects: Vec<Value>,
    folder: TempDir,
    port: u16,
}

/// What became of it.
pub(super) struct Ended {
    pub(super) coordinator: Output,
    pub(super) generators: Vec<Output>,
    folder: TempDir,
}

impl Played {
    /// Of printed manifests.
    pub(super) fn of(manifests: &Output) -> Self {
        assert_eq!(manifests.code, Some(0), "{manifests}");
        let texts = manifests.stdout.split("---\n").skip(1);
        let objects = texts.map(|text| serde_saphyr::from_str(text).unwrap()).collect();
        let played = Self { objects, folder: temp_dir().unwrap(), port: free_port().unwrap() };
        played.fill();
        played
    }

    pub(super) fn object(&self, kind: &str) -> &Value {
        self.objects.iter().find(|it| it["kind"] == kind).unwrap()
    }

    /// The words of the coordinator's container.
    pub(super) fn words(&self) -> Vec<String> {
        words(&self.pods()[0]["containers"][0])
    }

    /// Starts all of it and waits for its end.
    pub(super) fn play(self) -> Ended {
        let pods = self.pods();
        let coordinator = self.container(&pods[0], "").start().unwrap();
        let mut jobs = self.objects.iter().filter(|it| it["kind"] == "Job");
        let count = jobs.next_back().unwrap()["spec"]["completions"].as_u64().unwrap();
        let generators: Vec<_> = (0..count)
            .map(|index| self.container(&pods[1], &index.to_string()).start().unwrap())
            .collect();
        let coordinator = coordinator.wait().unwrap();
        let mut ended = Vec::new();
        for generator in generators {
            ended.push(generator.wait().unwrap());
        }
        let generators = ended;
        Ended { coordinator, generators, folder: self.folder }
    }

    fn pods(&self) -> Vec<Value> {
        let jobs = self.objects.iter().filter(|it| it["kind"] == "Job");
        jobs.map(|job| job["spec"]["template"]["spec"].clone()).collect()
    }

    /// The first container of a pod, which is number so and so of its Job.
    fn container(&self, pod: &Value, index: &str) -> Program {
        let container = &pod["containers"][0];
        let run = self.objects[0]["metadata"]["name"].as_str().unwrap();
        let here = format!("127.0.0.1:{}", self.port);
        let there = |word: &String| {
            let word = word.replace("$(JOB_COMPLETION_INDEX)", index).replace("$$", "$");
            match word.as_str() {
                "0.0.0.0:7000" => here.clone(),
                it if it == format!("{run}:7000") => here.clone(),
                it if ["/results", "/key/"].iter().any(|folder| it.starts_with(folder)) => {
                    format!("{}{it}", self.folder.path().display())
                }
                _ => word,
            }
        };
        let words: Vec<String> = words(container).iter().map(there).collect();
        let folder = container["workingDir"].as_str().unwrap().trim_start_matches('/');
        let program = sojourn(words).in_dir(self.folder.path().join(folder));
        let variables = container["env"].as_array().cloned().unwrap_or_default();
        variables.iter().fold(program, |program, variable| {
            let key = variable["valueFrom"]["secretKeyRef"]["key"].as_str().unwrap();
            program.env(
                variable["name"].as_str().unwrap(),
                String::from_utf8(self.secret()[key].clone()).unwrap(),
            )
        })
    }

    /// The Secret's content by its keys.
    fn secret(&self) -> BTreeMap<String, Vec<u8>> {
        let secret = self.object("Secret");
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let of = |part: &str| secret[part].as_object().cloned().unwrap_or_default();
        let texts = of("stringData").into_iter().map(|(key, it)| (key, text(&it).into_bytes()));
        let others = of("data").into_iter();
        let others = others.map(|(key, it)| (key, BASE64_STANDARD.decode(text(&it)).unwrap()));
        texts.chain(others).collect()
    }

    /// Makes the volumes.
    fn fill(&self) {
        let secret = self.secret();
        for volume in self.pods()[0]["volumes"].as_array().unwrap() {
            let folder = self.folder.path().join(volume["name"].as_str().unwrap());
            std::fs::create_dir_all(&folder).unwrap();
            for item in volume["secret"]["items"].as_array().into_iter().flatten() {
                let file = folder.join(item["path"].as_str().unwrap());
                std::fs::create_dir_all(file.parent().unwrap()).unwrap();
                std::fs::write(file, &secret[item["key"].as_str().unwrap()]).unwrap();
            }
        }
    }
}

impl Ended {
    /// A file of the results.
    pub(super) fn result(&self, name: &str) -> PathBuf {
        self.folder.path().join("results").join(name)
    }

    /// The run's report.
    pub(super) fn report(&self) -> Value {
        report(&self.result("run.sojourn"))
    }

    /// Everything was done and delivered. A busy machine may make a run void; what was sent and
    /// counted is true all the same.
    pub(super) fn assert_done(&self) {
        assert!(matches!(self.coordinator.code, Some(0 | 3)), "{}", self.coordinator);
        for generator in &self.generators {
            assert_eq!(generator.code, Some(0), "{generator}\n{}", self.coordinator);
        }
    }
}

/// The report of a run file.
pub(super) fn report(run_file: &Path) -> Value {
    let file = run_file.display().to_string();
    let output = sojourn(["report", &file, "--format", "json"]).run().unwrap();
    serde_json::from_str(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output}"))
}

fn words(container: &Value) -> Vec<String> {
    let words = container["args"].as_array().unwrap().iter();
    words.map(|it| it.as_str().unwrap().to_owned()).collect()
}
