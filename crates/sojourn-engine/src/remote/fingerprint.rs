//! Whether two processes made the same plan.

use std::fmt::{self, Write};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use sojourn_plan::{Plan, Target};

use crate::{
    attack::{Attack, Targets},
    work::Work,
};

/// A number that differs when plans or work differ in anything that they show, but for warnings:
/// those are of the machine that a plan is made on. Processes of one program compare it: it means
/// nothing to another version.
pub(crate) fn fingerprint(plan: &Plan, work: &Work) -> u64 {
    let mut hash = Hashed(DefaultHasher::new());
    // Hashing text does not fail.
    let _always = match plan.warnings.is_empty() {
        true => write!(hash, "{plan:?}"),
        false => write!(hash, "{:?}", Plan { warnings: Vec::new(), ..plan.clone() }),
    };
    let _always = match work {
        Work::Journeys => Ok(()),
        Work::Attack(attack) => of_attack(&mut hash, attack),
        Work::Sessions(sessions) => write!(hash, "{:?}{:?}", sessions.program, sessions.mixes),
    };
    hash.0.finish()
}

/// All of an attack but where its results go, which is the coordinator's alone.
fn of_attack(hash: &mut Hashed, attack: &Attack) -> fmt::Result {
    let Attack { name, targets, workers_max, redirects_max, allowed_hosts, body_max, .. } = attack;
    let Attack { chunked, patient, .. } = attack;
    write!(hash, "{name:?}{workers_max}{redirects_max:?}{allowed_hosts:?}")?;
    write!(hash, "{body_max:?}{chunked}{patient}")?;
    match targets {
        Targets::Listed(targets) => {
            let mut before: Option<&Target> = None;
            for target in targets.iter() {
                let is_shared = before.is_some_and(|it| Arc::ptr_eq(&it.body, &target.body));
                let Target { name, method, url, headers, body, .. } = target;
                (name, method, url, headers).hash(&mut hash.0);
                // Thousands of targets may have one body.
                (body.len(), (!is_shared).then_some(body)).hash(&mut hash.0);
                before = Some(target);
            }
            Ok(())
        }
        other => write!(hash, "{other:?}"),
    }
}

/// Text that is hashed and not kept.
struct Hashed(DefaultHasher);

impl Write for Hashed {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.write(text.as_bytes());
        Ok(())
    }
}
