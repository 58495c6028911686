//! The guide's job for Nomad: its tasks' command lines, run as processes of this machine that have
//! the files and variables which the job's templates make.

use sojourn_testkit::{Running, free_port};

use super::{page::block, shop::Shop};
use crate::common::alone;

const KEY_FILE: &str = "secrets/fleet.key";

/// What follows `name =` in a job, each time.
fn values<'a>(job: &'a str, name: &str) -> Vec<&'a str> {
    let behind = job.split(name).skip(1);
    behind.filter_map(|rest| rest.trim_start().strip_prefix('=')).map(str::trim_start).collect()
}

/// The words of each task of the job: lists, which HCL writes as JSON does.
fn tasks(job: &str) -> Vec<Vec<String>> {
    let list = |text: &&str| {
        let mut values = serde_json::Deserializer::from_str(text).into_iter();
        values.next().unwrap().unwrap()
    };
    values(job, "args").iter().map(list).collect()
}

#[test]
fn tasks_of_the_job_are_one_run() {
    let job = block("docs/fleet.md", "driver = \"exec\"");
    let [coordinator, generator] = &tasks(&job)[..] else { panic!("{job}") };
    let count: usize = values(&job, "count")[0].lines().next().unwrap().parse().unwrap();
    assert_eq!(values(&job, "destination").iter().filter(|it| it.contains(KEY_FILE)).count(), 2);
    let shop = Shop::open(false);
    shop.has_a_journey_file();
    for folder in ["local", "secrets"] {
        std::fs::create_dir(shop.path(folder)).unwrap();
    }
    shop.write("local/journey.yaml", &shop.read("journey.yaml"));
    shop.write(KEY_FILE, &"0123456789abcdef".repeat(4));

    let _turn = alone();
    let address = format!("127.0.0.1:{}", free_port().unwrap());
    let line = coordinator.join(" ").replace("0.0.0.0:7000", &address);
    assert!(line.contains(&address), "{line}");
    let coordinator = shop.shell(&format!("exec sojourn {line}")).start().unwrap();
    let line = format!("COORDINATOR={address}\n{}", generator[1]);
    let join = || shop.shell(&line).start().unwrap();
    let generators: Vec<Running> = std::iter::repeat_with(join).take(count).collect();
    let output = coordinator.wait().unwrap();
    assert_eq!(output.code, Some(0), "{output}");
    for generator in generators {
        let ended = generator.wait().unwrap();
        assert_eq!(ended.code, Some(0), "{ended}\n{output}");
    }
}
