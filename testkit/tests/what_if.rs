//! What would be answered is what is answered, by any number of threads.

use engine::{Engine, JobId};
use jobspec::Jobspec;
use rayon::ThreadPoolBuilder;
use testkit::{Operation, Recorder, Scenario, check, copy};

type Asked = (engine::MatchOp, Jobspec);

/// Returns what a history asks for.
fn asked(scenario: &Scenario) -> Vec<Asked> {
    let operations = scenario.history.0.iter();
    let asked = operations.filter_map(|operation| match operation {
        Operation::Match { op, request, .. } => Some((*op, request.jobspec())),
        _ => None,
    });
    asked.collect()
}

/// Returns how an engine in the same state answers a match for a new job.
fn answer(scenario: &Scenario, engine: &Engine, (op, jobspec): &Asked) -> Result<String, String> {
    let mut recorder = Recorder::default();
    let mut engine = copy(scenario, engine)?;
    let reply = engine.match_jobspec(*op, jobspec, JobId(1 << 20), 100, &mut recorder);
    Ok(format!("{reply:?} {:?}", recorder.emitted))
}

#[test]
fn what_would_be_answered_is_answered() {
    check(60, |scenario| {
        let mut engine = scenario.fresh();
        scenario.history.run(&mut engine);
        let digest = engine.digest();
        for asked in asked(scenario) {
            let mut recorder = Recorder::default();
            let reply = engine.what_if(asked.0, &asked.1, 100, &mut recorder);
            let given = format!("{reply:?} {:?}", recorder.emitted);
            let expected = answer(scenario, &engine, &asked)?;
            if given != expected {
                return Err(format!("{asked:?}: {given}\nrather than\n{expected}"));
            }
        }
        if engine.digest() == digest { Ok(()) } else { Err("asking changed something".to_owned()) }
    });
}

#[test]
fn many_are_answered_alike_by_any_number_of_threads() {
    check(30, |scenario| {
        let mut engine = scenario.fresh();
        scenario.history.run(&mut engine);
        for op in engine::MatchOp::all().map(|(_, op)| op) {
            let jobspecs: Vec<Jobspec> =
                asked(scenario).into_iter().map(|(_, jobspec)| jobspec).collect();
            let expected: Vec<String> = jobspecs
                .iter()
                .map(|jobspec| answer(scenario, &engine, &(op, jobspec.clone())))
                .collect::<Result<_, _>>()?;
            for n_threads in [1, 4] {
                let pool = ThreadPoolBuilder::new().num_threads(n_threads).build();
                let mut asked: Vec<(&Jobspec, Recorder)> =
                    jobspecs.iter().map(|jobspec| (jobspec, Recorder::default())).collect();
                let answers = pool
                    .map_err(|error| error.to_string())?
                    .install(|| engine.what_if_each(op, 100, &mut asked));
                let given = answers.iter().zip(&asked);
                let given = given.map(|(reply, (_, told))| format!("{reply:?} {:?}", told.emitted));
                if !given.eq(expected.iter().cloned()) {
                    return Err(format!("{op:?} by {n_threads} threads: other answers"));
                }
            }
        }
        Ok(())
    });
}
