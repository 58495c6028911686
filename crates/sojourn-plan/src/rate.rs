//! The same plan under another load: at a share of its rate, or at a rate of its own.

use sojourn_pace::{Arrivals, Profile, Schedule, Segment};

use crate::{
    Load, Model, Plan,
    read::units::{show_ns, show_rate},
};

impl Plan {
    /// Arrivals per second that the plan declares, all loads together, on average over warm-up and
    /// steady phase. Errs, in words, when it has loads whose rate nobody declares.
    pub fn declared_rate_per_s(&self) -> Result<f64, String> {
        let rates = self.load.iter().map(rate_per_s).collect::<Result<Vec<f64>, String>>()?;
        match rates.iter().sum::<f64>() {
            sum if sum > 0.0 => Ok(sum),
            _ => Err("its load starts no journey".to_owned()),
        }
    }

    /// The plan at so many arrivals per second: each load keeps its share of them, its journeys and
    /// the placement of its arrivals, and becomes constant for `warmup_ns` and `steady_ns`. Errs as
    /// [`Self::declared_rate_per_s`].
    pub fn at_rate(&self, per_s: f64, warmup_ns: u64, steady_ns: u64) -> Result<Self, String> {
        let declared_per_s = self.declared_rate_per_s()?;
        let mut plan = self.clone();
        plan.load.clear();
        for load in &self.load {
            let own_per_s = per_s * rate_per_s(load)? / declared_per_s;
            let Model::Open { arrivals, .. } = &load.model else { continue };
            let duration_ns = warmup_ns.saturating_add(steady_ns);
            let line = Segment::Linear { from_per_s: own_per_s, to_per_s: own_per_s, duration_ns };
            let placement = if *arrivals == Arrivals::Poisson { "poisson" } else { "constant" };
            let rate =
                format!("{placement}, {} for {}", show_rate(own_per_s), show_ns(duration_ns));
            plan.load.push(Load {
                journeys: load.journeys.clone(),
                model: Model::Open {
                    profile: Profile { segments: vec![line] },
                    arrivals: arrivals.clone(),
                    limit: None,
                },
                warmup_ns,
                steady_ns,
                drain_ns: load.drain_ns,
                declared: format!("{rate} (declared: {})", load.declared),
            });
        }
        Ok(plan)
    }

    /// The plan with `factor` times its load: rates, counts and users. Errs, in words, for replayed
    /// arrivals, which come when they came.
    pub fn scaled(&self, factor: f64) -> Result<Self, String> {
        let mut plan = self.clone();
        if factor == 1.0 {
            return Ok(plan);
        }
        for load in &mut plan.load {
            scale(&mut load.model, factor)?;
            load.declared = format!("{}, of it {}%", load.declared, (factor * 1e6).round() / 1e4);
        }
        Ok(plan)
    }
}

fn rate_per_s(load: &Load) -> Result<f64, String> {
    match &load.model {
        Model::Closed { .. } => Err(format!(
            "its load `{}` has users, who keep their own pace: give it a `rate`",
            load.declared
        )),
        Model::Open { arrivals: Arrivals::Replay(_), .. } => Err(format!(
            "its load `{}` is replayed, at instants of its own: give it a `rate`",
            load.declared
        )),
        Model::Open { profile, .. } => {
            let schedule = Schedule::new(profile.clone(), Arrivals::Poisson, 0, None);
            let seconds = schedule.duration_ns() as f64 / 1e9;
            Ok(if seconds > 0.0 { schedule.expected_count() / seconds } else { 0.0 })
        }
    }
}

fn scale(model: &mut Model, factor: f64) -> Result<(), String> {
    let whole = |count: u64| ((count as f64 * factor).round() as u64).max(1);
    match model {
        Model::Open { arrivals: Arrivals::Replay(_), .. } => Err("its arrivals are replayed, at \
             instants of their own: a share of them would be another load"
            .to_owned()),
        Model::Open { profile, limit, .. } => {
            profile.segments.iter_mut().for_each(|segment| scale_segment(segment, factor));
            *limit = limit.map(whole);
            Ok(())
        }
        Model::Closed { stages, iterations, .. } => {
            for stage in stages.iter_mut().filter(|stage| stage.to > 0) {
                stage.to = u32::try_from(whole(stage.to.into())).unwrap_or(u32::MAX);
            }
            *iterations = iterations.map(whole);
            Ok(())
        }
    }
}

fn scale_segment(segment: &mut Segment, factor: f64) {
    let rates = match segment {
        Segment::Linear { from_per_s, to_per_s, .. } => [from_per_s, to_per_s],
        Segment::Sine { mean_per_s, amplitude_per_s, .. } => [mean_per_s, amplitude_per_s],
        Segment::RandomSteps { min_per_s, max_per_s, .. } => [min_per_s, max_per_s],
    };
    rates.into_iter().for_each(|rate| *rate *= factor);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Files, Overrides};

    struct NoFiles;

    impl Files for NoFiles {
        fn read(&self, path: &std::path::Path) -> std::io::Result<String> {
            // Instants of a replayed load.
            assert_eq!(path, std::path::Path::new("instants.csv"));
            Ok("0\n1\n2\n".to_owned())
        }
        fn variable(&self, _name: &str) -> Option<String> {
            None
        }
    }

    fn plan(load: &str) -> Plan {
        let text = format!(
            "name: x\ntarget: http://127.0.0.1:1\njourneys:\n  a: {{ root: {{ http: GET /a }} }}\n\
             \x20 b: {{ root: {{ http: GET /b }} }}\nload:\n{load}"
        );
        crate::read("x.yaml", &text, &NoFiles, &Overrides::default())
            .unwrap_or_else(|errors| panic!("{errors}"))
    }

    fn arrivals(plan: &Plan) -> Vec<u64> {
        let count = |load: &Load| {
            let Model::Open { profile, limit, .. } = &load.model else { panic!("closed") };
            let schedule = Schedule::new(profile.clone(), Arrivals::Constant, 0, *limit);
            schedule.expected_count() as u64
        };
        plan.load.iter().map(count).collect()
    }

    #[test]
    fn the_declared_rate_is_the_mean_of_all_loads() {
        let steady = plan("  - { rate: 30/s, steady: 10s }\n  - { rate: 600/min, steady: 10s }\n");
        assert_eq!(steady.declared_rate_per_s(), Ok(40.0));
        let ramp = "  - { stages: [{ to: 100/s, over: 10s }, { to: 100/s, over: 10s }] }\n";
        assert!((plan(ramp).declared_rate_per_s().unwrap() - 75.0).abs() < 1e-9);
    }

    #[test]
    fn a_rate_of_its_own_keeps_mix_and_placement() {
        let two = plan(
            "  - { journey: a, rate: 30/s, steady: 60s, drain: 7s, count: 5 }\n  - { journey: b, \
             arrivals: poisson, rate: 10/s, steady: 60s }\n",
        );
        let at = two.at_rate(200.0, 1_000_000_000, 4_000_000_000).unwrap();
        assert_eq!(arrivals(&at), [750, 250]);
        assert_eq!((at.load[0].warmup_ns, at.load[0].steady_ns), (1_000_000_000, 4_000_000_000));
        assert_eq!((at.load[0].drain_ns, &at.load[1].journeys), (7_000_000_000, &vec![(1, 1.0)]));
        let placed =
            |load: &Load| matches!(load.model, Model::Open { arrivals: Arrivals::Poisson, .. });
        assert!(!placed(&at.load[0]) && placed(&at.load[1]));
        assert!(at.load[1].declared.starts_with("poisson, 50/s for 5s (declared: b: "));
    }

    #[test]
    fn a_share_scales_rates_counts_and_users() {
        let tenth = plan("  - { rate: 30/s, steady: 10s, count: 200 }\n").scaled(0.1).unwrap();
        assert_eq!(arrivals(&tenth), [20]);
        assert!(tenth.load[0].declared.ends_with(", of it 10%"), "{}", tenth.load[0].declared);
        let users = plan("  - { users: 50, steady: 10s }\n").scaled(0.01).unwrap();
        let Model::Closed { stages, .. } = &users.load[0].model else { panic!("open") };
        assert_eq!(stages.iter().map(|stage| stage.to).max(), Some(1));
        let wave = "  - { sine: { mean: 50/s, amplitude: 20/s, period: 10s }, steady: 20s }\n";
        let wave = plan(wave).scaled(2.0).unwrap();
        assert!((wave.declared_rate_per_s().unwrap() - 100.0).abs() < 0.5);
    }

    #[test]
    fn loads_without_a_rate_are_refused_in_words() {
        let users = plan("  - { users: 5, steady: 10s }\n");
        assert!(users.declared_rate_per_s().unwrap_err().contains("keep their own pace"));
        assert!(users.at_rate(1.0, 0, 1).is_err());
        let replayed = plan("  - { arrivals: replay, file: instants.csv, unit: s }\n");
        assert!(replayed.declared_rate_per_s().unwrap_err().contains("replayed"));
        assert!(replayed.scaled(0.5).unwrap_err().contains("replayed"));
        assert!(replayed.scaled(1.0).is_ok());
    }
}
