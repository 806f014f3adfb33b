//! Laws of the state: it never contradicts itself, a digest tells states apart and nothing else, and
//! a snapshot brings back all that decides later answers.

use engine::{
    BookedEdge, BookedVertex, Booking, Engine, Error, Graph, JobId, Limits, MatchOp, NewVertex,
    OnFault, Options, Release, Share, Status, Traverser, VertexId,
};
use testkit::{
    Answer, Emitted, GraphRecipe, History, Operation, Recorder, Scenario, VertexRecipe, check,
};

/// What is done to an engine besides matching: what changes graph and holds in other ways. It
/// depends on the number of the step and on the engine alone, and tells what came of it.
fn disturb(engine: &mut Engine, step: usize, last: &Emitted, now: i64) -> String {
    let jobs: Vec<JobId> = engine.jobs().map(|(job, _)| job).collect();
    let job = jobs.get(step.checked_rem(jobs.len()).unwrap_or(0)).copied().unwrap_or(JobId(0));
    let graph = engine.graph();
    let vertices: Vec<VertexId> = graph
        .vertices()
        .filter(|&vertex| graph.path(Graph::CONTAINMENT, vertex).is_some())
        .collect();
    let vertex = vertices[(step * 7) % vertices.len()];
    let rank = graph.rank(vertex);
    let path = graph.path(Graph::CONTAINMENT, vertex).unwrap_or_default();
    let even = step.is_multiple_of(2);
    let on_fault = if even { OnFault::Leave } else { OnFault::Restore };
    match step % 9 {
        1 | 4 => format!("{:?}", engine.release(job, &Release::Ranks(vec![rank]), on_fault)),
        2 => format!("{:?}", engine.release(job, &Release::Vertices(vec![vertex]), on_fault)),
        3 => format!("{:?}", engine.grow(|graph| grow(graph, vertex, step))),
        5 => format!("{:?}", engine.set_property(vertex, "fast", "")),
        6 => format!("{:?}", engine.remove_ranks(&[rank], on_fault)),
        7 => {
            let mut recorder = Recorder::default();
            let booking = booking_of(last);
            let answer =
                engine.update(JobId(1000 + step as u64), &booking, now, 50, false, &mut recorder);
            format!("{answer:?} {:?}", recorder.emitted)
        }
        8 if even => format!("{:?}", engine.remove_path(&path)),
        _ => String::new(),
    }
}

fn grow(graph: &mut Graph, parent: VertexId, step: usize) -> Result<(), Error> {
    let name = ["core", "memory", "disk"][step % 3];
    let number = graph.n_vertices() as i64;
    let vertex = NewVertex {
        kind: graph.intern_type(name)?,
        basename: name,
        name: None,
        id: number,
        uniq_id: number,
        rank: graph.rank(parent),
        size: 1 + step as u64 % 2,
        unit: "",
        status: Status::Up,
    };
    let vertex = graph.add_vertex(&vertex)?;
    graph.add_edge(parent, vertex, Graph::CONTAINMENT)
}

/// Returns what an R of a match would say.
fn booking_of(emitted: &Emitted) -> Booking {
    let share = |vertex: VertexId| {
        let taken = emitted.vertices.iter().find(|taken| taken.vertex == vertex);
        taken.map_or(Share { needs: 0, exclusive: false }, |taken| Share {
            needs: taken.needs,
            exclusive: taken.exclusive,
        })
    };
    let vertices = emitted.vertices.iter();
    let edges = emitted.edges.iter();
    Booking {
        vertices: vertices
            .map(|taken| BookedVertex { vertex: taken.vertex, exclusive: taken.exclusive })
            .collect(),
        edges: edges
            .map(|edge| BookedEdge {
                source: edge.source,
                target: edge.target,
                share: share(edge.target),
            })
            .collect(),
        roots: emitted
            .vertices
            .last()
            .map(|top| (top.vertex, share(top.vertex)))
            .into_iter()
            .collect(),
    }
}

/// What looks at an engine after a step: with its number, the answer, and what came of the disturbance.
type Observer<'a> = &'a mut dyn FnMut(&mut Engine, usize, &Answer, &str) -> Result<(), String>;

/// Runs a history with disturbances between its operations, and tells `after` each step the engine
/// and what was answered.
fn run_disturbed(
    history: &History,
    engine: &mut Engine,
    after: Observer<'_>,
) -> Result<(), String> {
    let mut now = 0;
    let mut last = Emitted::default();
    for (step, operation) in history.0.iter().enumerate() {
        if let Operation::Match { wait, .. } = operation {
            now += i64::from(*wait);
        }
        let answer = operation.run(engine, JobId(step as u64 + 1), now);
        let disturbed = disturb(engine, step, &last, now);
        if answer.taker().is_some() {
            last = answer.emitted.clone();
        }
        after(engine, step, &answer, &disturbed)?;
    }
    Ok(())
}

fn under_all(
    scenario: &Scenario,
    law: impl Fn(&str, &dyn Fn() -> Engine) -> Result<(), String>,
) -> Result<(), String> {
    for policy in policies::names() {
        for traverser in [Traverser::Simple, Traverser::Flexible] {
            let fresh = || scenario.engine(policy, Options { traverser, ..Options::default() });
            law(policy, &fresh).map_err(|fault| format!("{policy}, {traverser:?}: {fault}"))?;
        }
    }
    Ok(())
}

fn is_sound(engine: &Engine) -> Result<(), String> {
    engine.validate().map_err(|error| error.to_string())
}

fn restored(engine: &Engine, policy: &str) -> Result<Engine, String> {
    let text = |error: Error| error.to_string();
    let bytes = engine.snapshot().map_err(text)?;
    let policy = policies::policy(policy).map_err(|error| error.to_string())?;
    let restored = Engine::restore(&bytes, policy, Limits::default()).map_err(text)?;
    if restored.snapshot().map_err(text)? != bytes {
        return Err("a restored engine has another snapshot".to_owned());
    }
    Ok(restored)
}

#[test]
fn no_step_breaks_the_state() {
    check(100, |scenario| {
        under_all(scenario, |_, fresh| {
            let mut engine = fresh();
            is_sound(&engine)?;
            run_disturbed(&scenario.history, &mut engine, &mut |engine, step, _, _| {
                is_sound(engine).map_err(|fault| format!("after step {step}: {fault}"))
            })
        })
    });
}

#[test]
fn a_snapshot_brings_back_all_that_decides_later_answers() {
    check(60, |scenario| {
        under_all(scenario, |policy, fresh| {
            let mut expected = Vec::new();
            run_disturbed(&scenario.history, &mut fresh(), &mut |engine, _, answer, disturbed| {
                expected.push((answer.clone(), disturbed.to_owned(), engine.digest()));
                Ok(())
            })?;
            run_disturbed(
                &scenario.history,
                &mut fresh(),
                &mut |engine, step, answer, disturbed| {
                    let given = (answer.clone(), disturbed.to_owned(), engine.digest());
                    if given != expected[step] {
                        let expected = &expected[step];
                        return Err(format!("step {step}: {given:?}\nrather than\n{expected:?}"));
                    }
                    let restored = restored(engine, policy)?;
                    is_sound(&restored)?;
                    if restored.digest() != engine.digest() {
                        return Err(format!("step {step}: a restored engine has another digest"));
                    }
                    *engine = restored;
                    Ok(())
                },
            )
        })
    });
}

#[test]
fn what_is_refused_or_only_asked_leaves_the_digest() {
    check(80, |scenario| {
        under_all(scenario, |_, fresh| {
            let mut engine = fresh();
            let mut before = engine.digest();
            run_disturbed(&scenario.history, &mut engine, &mut |_, _, _, _| Ok(()))?;
            let mut now = 1000;
            for (step, operation) in scenario.history.0.iter().enumerate() {
                if let Operation::Match { wait, .. } = operation {
                    now += i64::from(*wait);
                }
                if step == 0 {
                    before = engine.digest();
                }
                let answer = operation.run(&mut engine, JobId(5000 + step as u64), now);
                let after = engine.digest();
                if (answer.is_refusal() || operation.only_asks()) && after != before {
                    return Err(format!("step {step}: {answer:?} changed the digest"));
                }
                before = after;
            }
            Ok(())
        })
    });
}

#[test]
fn what_fails_with_all_or_nothing_leaves_the_digest() {
    check(80, |scenario| {
        under_all(scenario, |_, fresh| {
            let mut engine = fresh();
            scenario.history.run(&mut engine);
            let jobs: Vec<JobId> = engine.jobs().map(|(job, _)| job).collect();
            let ranks: Vec<i64> =
                engine.graph().vertices().map(|v| engine.graph().rank(v)).collect();
            for (i, &job) in jobs.iter().enumerate() {
                for &rank in &ranks {
                    let before = engine.digest();
                    let release = Release::Ranks(vec![rank, ranks[i % ranks.len()], 999]);
                    let wrong = engine.release(job, &release, OnFault::Restore);
                    let removed = engine.remove_ranks(&[rank, 999], OnFault::Restore);
                    if wrong.is_ok() || removed.is_ok() {
                        return Err("there is no rank 999".to_owned());
                    }
                    if engine.digest() != before {
                        return Err(format!("job {job}, rank {rank}: something stays given back"));
                    }
                    is_sound(&engine)?;
                }
            }
            Ok(())
        })
    });
}

/// A writer that fails after some vertices.
struct Failing(usize);

impl engine::MatchVisitor for Failing {
    fn vertex(&mut self, _: &Graph, _: &engine::EmittedVertex<'_>) -> Result<(), Error> {
        let left = self.0.checked_sub(1).ok_or_else(|| Error::Visit("full".to_owned()))?;
        self.0 = left;
        Ok(())
    }
}

#[test]
fn a_writer_that_fails_anywhere_leaves_the_digest() {
    check(40, |scenario| {
        under_all(scenario, |_, fresh| {
            let mut engine = fresh();
            for (step, operation) in scenario.history.0.iter().enumerate() {
                let job = JobId(step as u64 + 1);
                let Operation::Match { request, .. } = operation else {
                    operation.run(&mut engine, job, 0);
                    continue;
                };
                let before = engine.digest();
                for room in 0.. {
                    let op = MatchOp::AllocateOrelseReserve;
                    let jobspec = request.jobspec();
                    match engine.match_jobspec(op, &jobspec, job, 0, &mut Failing(room)) {
                        Err(Error::Visit(_)) if engine.digest() == before => {}
                        Err(Error::Visit(_)) => return Err(format!("{room} vertices left traces")),
                        _ => break,
                    }
                }
                is_sound(&engine)?;
            }
            Ok(())
        })
    });
}

#[test]
fn a_hold_written_out_has_the_digest_of_one_that_is_not() {
    check(60, |scenario| {
        under_all(scenario, |_, fresh| {
            let mut engine = fresh();
            scenario.history.run(&mut engine);
            let before = engine.digest();
            // What is new below something held is not held, so that the hold is written out.
            let vertices: Vec<VertexId> = engine.graph().vertices().collect();
            for vertex in vertices {
                if engine.graph().children(vertex, Graph::CONTAINMENT).is_empty() {
                    continue;
                }
                let n = engine.graph().n_vertices() as i64;
                engine.grow(|graph| grow(graph, vertex, 0)).map_err(|error| error.to_string())?;
                if engine.digest() == before {
                    return Err("the digest misses what is new".to_owned());
                }
                let path = engine.graph().path(Graph::CONTAINMENT, vertex).unwrap_or_default();
                engine
                    .remove_path(&format!("{path}/core{n}"))
                    .map_err(|error| error.to_string())?;
                is_sound(&engine)?;
            }
            if engine.digest() != before {
                return Err("writing holds out changes the digest".to_owned());
            }
            Ok(())
        })
    });
}

#[test]
fn no_damage_to_a_snapshot_goes_unseen() {
    check(10, |scenario| {
        let mut engine = scenario.engine("first", Options::default());
        scenario.history.run(&mut engine);
        let bytes = engine.snapshot().map_err(|error| error.to_string())?;
        let restore = |bytes: &[u8]| {
            let policy = policies::policy("first").expect("there is such a policy");
            Engine::restore(bytes, policy, Limits::default())
        };
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1 << (at % 8);
            for damaged in [&damaged[..], &bytes[..at]] {
                match restore(damaged) {
                    Err(Error::Snapshot { .. }) => {}
                    other => return Err(format!("byte {at}: {other:?}")),
                }
            }
        }
        let longer = [&bytes[..], &[0]].concat();
        restore(&longer).err().ok_or("what follows was not seen")?;
        Ok(())
    });
}

#[test]
fn a_hostile_snapshot_is_refused_or_sound() {
    check(8, |scenario| {
        let mut engine = scenario.engine("first", Options::default());
        run_disturbed(&scenario.history, &mut engine, &mut |_, _, _, _| Ok(()))?;
        let bytes = engine.snapshot().map_err(|error| error.to_string())?;
        for at in 28..bytes.len() {
            for other in [0, 1, 0x7f, 0xfb, 0xfd, 0xff, bytes[at] ^ 1, bytes[at].wrapping_add(2)] {
                let mut hostile = bytes.clone();
                hostile[at] = other;
                testkit::fuzz::seal(&mut hostile);
                let policy = policies::policy("first").expect("there is such a policy");
                let Ok(mut engine) = Engine::restore(&hostile, policy, Limits::default()) else {
                    continue;
                };
                is_sound(&engine).map_err(|fault| format!("byte {at} as {other}: {fault}"))?;
                if at % 5 == 0 {
                    scenario.history.run(&mut engine);
                }
            }
        }
        Ok(())
    });
}

#[test]
fn a_held_leaf_that_grows_tracks_what_is_new() {
    let root = VertexRecipe {
        below: vec![VertexRecipe::new("node", 0)],
        ..VertexRecipe::new("cluster", 0)
    };
    let graph = GraphRecipe { root, falling: false }.build();
    let policy = policies::policy("first").expect("there is such a policy");
    let mut engine = Engine::new(graph, policy, Options::default()).expect("there is a root");
    let [top, node] =
        ["/cluster0", "/cluster0/node0"].map(|path| engine.graph().find_path(path)[0]);
    let share = Share { needs: 1, exclusive: true };
    let booking = Booking {
        vertices: vec![BookedVertex { vertex: node, exclusive: true }],
        edges: vec![BookedEdge { source: top, target: node, share }],
        roots: vec![(top, Share { needs: 1, exclusive: false })],
    };
    let held = engine.update(JobId(1), &booking, 0, 10, false, &mut Recorder::default());
    assert_eq!(held, Ok(()));
    assert_eq!(engine.grow(|graph| grow(graph, node, 0)), Ok(()));
    assert_eq!(engine.validate(), Ok(()));
    assert_eq!(engine.cancel(JobId(1)), Ok(()));
    assert_eq!(engine.validate(), Ok(()));
}

#[test]
fn what_is_below_a_vertex_given_back_alone_is_not_taken_twice() {
    let socket = VertexRecipe {
        below: vec![VertexRecipe::new("core", 0)],
        ..VertexRecipe::new("socket", 0)
    };
    let node = VertexRecipe { below: vec![socket], ..VertexRecipe::new("node", 0) };
    let root = VertexRecipe { below: vec![node], ..VertexRecipe::new("cluster", 0) };
    let graph = GraphRecipe { root, falling: false }.build();
    let policy = policies::policy("hinodex").expect("there is such a policy");
    let mut engine = Engine::new(graph, policy, Options::default()).expect("there is a root");
    let text = r#"{"version": 9999, "resources": [{"type": "slot", "count": 1, "label": "task", "with":
        [{"type": "node", "count": 1}]}], "tasks": [{"command": ["app"], "slot": "task",
        "count": {"per_slot": 1}}], "attributes": {"system": {"duration": 1}}}"#;
    let jobspec =
        jobspec::Jobspec::parse(text, jobspec::Dialect::Fluxion).expect("it is a jobspec");
    let allocate = |engine: &mut Engine, job| {
        let mut recorder = Recorder::default();
        let outcome =
            engine.match_jobspec(MatchOp::Allocate, &jobspec, JobId(job), 0, &mut recorder);
        assert_eq!(outcome, Ok(engine::Outcome::Allocated));
        recorder.emitted.vertices.len()
    };
    assert_eq!(allocate(&mut engine, 1), 4);
    let node = engine.graph().find_path("/cluster0/node0")[0];
    assert_eq!(engine.release(JobId(1), &Release::Vertices(vec![node]), OnFault::Leave), Ok(false));
    // The node is free again, the socket and the core are not.
    assert_eq!(allocate(&mut engine, 2), 2);
    assert_eq!(engine.validate(), Ok(()));
    // From now on vertices are told to be deeper than they are, also after a restart.
    restored(&engine, "hinodex").expect("all of it comes back");
}

/// A visitor that remembers the totals that it is told.
#[derive(Default)]
struct Totals(Vec<(VertexId, Vec<i64>)>);

impl engine::MatchVisitor for Totals {
    fn vertex(&mut self, _: &Graph, told: &engine::EmittedVertex<'_>) -> Result<(), Error> {
        let totals = told.aggregates.iter().map(|aggregate| aggregate.total);
        self.0.push((told.vertex, totals.collect()));
        Ok(())
    }
}

#[test]
fn a_type_that_is_counted_from_its_first_leaf_on_still_is_after_a_restart() {
    let shelf = VertexRecipe {
        below: vec![VertexRecipe::new("box", 1), VertexRecipe::new("box", 2)],
        ..VertexRecipe::new("box", 0)
    };
    let root = VertexRecipe { below: vec![shelf], ..VertexRecipe::new("cluster", 0) };
    let graph = GraphRecipe { root, falling: false }.build();
    let policy = policies::policy("first").expect("there is such a policy");
    let engine = Engine::new(graph, policy, Options::default()).expect("there is a root");
    let totals = |mut engine: Engine| {
        let options = engine::SearchOptions { aggregates: true, ..Default::default() };
        let mut totals = Totals::default();
        engine.find(&mut |_| true, &options, &mut totals).expect("it is told");
        totals.0.pop()
    };
    let restarted = restored(&engine, "first").expect("all of it comes back");
    assert_eq!(totals(restarted), totals(engine));
}
