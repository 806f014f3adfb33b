//! Snapshots of all formats that there ever were stay readable.
//!
//! `testdata/snapshots/format-N.bin` is what format N makes of the state that [`eventful`] makes.
//! With `UPDATE_SNAPSHOTS=1` in the environment the newest is written and not compared; those of
//! older formats are never written again.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::path::PathBuf;

use engine::{Engine, JobId, MatchOp, OnFault, Options, Outcome, Release, Status};
use jobspec::{Dialect, Jobspec};
use testkit::{GraphRecipe, Recorder, VertexRecipe};

const NEWEST: u32 = 1;

fn policy() -> Box<dyn engine::MatchPolicy> {
    policies::policy("first").expect("there is such a policy")
}

fn path(format: u32) -> PathBuf {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../testdata/snapshots");
    PathBuf::from(folder).join(format!("format-{format}.bin"))
}

fn ask(engine: &mut Engine, job: u64, nodes: u32, cores: u32) -> (Outcome, Recorder) {
    let text = format!(
        "version: 9999
resources:
  - type: node
    count: {nodes}
    exclusive: true
    with:
      - type: slot
        count: 1
        label: here
        with:
          - type: core
            count: {cores}
            label: core
tasks:
  - command: [app]
    slot: here
    count: {{per_slot: 1}}
attributes:
  system:
    duration: 60
"
    );
    let jobspec = Jobspec::parse(&text, Dialect::Fluxion).unwrap();
    let mut recorder = Recorder::default();
    let op = MatchOp::AllocateOrelseReserve;
    let outcome = engine.match_jobspec(op, &jobspec, JobId(job), 5, &mut recorder).unwrap();
    (outcome, recorder)
}

/// Returns an engine to which all kinds of things happened that a snapshot has to tell.
fn eventful() -> Engine {
    let cores = |n| (0..n).map(|id| VertexRecipe::new("core", id)).collect();
    let node = |id, n_cores| VertexRecipe {
        below: cores(n_cores),
        properties: if id == 1 { vec!["fast"] } else { Vec::new() },
        ..VertexRecipe::new("node", id)
    };
    let below = vec![node(0, 2), node(1, 2), node(2, 2), node(3, 4)];
    let root = VertexRecipe { below, ..VertexRecipe::new("cluster", 0) };
    let graph = GraphRecipe { root, falling: false }.build();
    let mut engine = Engine::new(graph, policy(), Options::default()).unwrap();
    assert_eq!(ask(&mut engine, 1, 2, 2).0, Outcome::Allocated);
    assert_eq!(ask(&mut engine, 2, 1, 1).0, Outcome::Allocated);
    assert_eq!(ask(&mut engine, 3, 4, 1).0, Outcome::Reserved { at: 65 });
    let ranks: Vec<i64> =
        engine.graph().vertices().map(|vertex| engine.graph().rank(vertex)).collect();
    let rank = ranks.into_iter().rev().find(|&rank| rank >= 0).unwrap();
    let over = engine.release(JobId(1), &Release::Ranks(vec![rank]), OnFault::Restore);
    assert_eq!(over, Ok(false));
    engine.set_status("/cluster0/node0", Status::Down).unwrap();
    let vertex = engine.graph().find_path("/cluster0/node2")[0];
    engine.set_property(vertex, "owner", "physics").unwrap();
    engine.remove_path("/cluster0/node2/core1").unwrap();
    engine.validate().unwrap();
    engine
}

#[test]
fn snapshots_of_all_formats_are_restored() {
    let mut expected = eventful();
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        std::fs::write(path(NEWEST), expected.snapshot().unwrap()).unwrap();
    }
    let digest = expected.digest();
    let answers: Vec<_> = (10..14).map(|job| ask(&mut expected, job, 1, 2)).collect();
    for format in 1..=NEWEST {
        let bytes = std::fs::read(path(format)).unwrap();
        let mut restored = Engine::restore(&bytes, policy(), bytes.len()).unwrap();
        restored.validate().unwrap();
        assert_eq!(restored.digest(), digest, "format {format}");
        // Labels too, of which these answers do not tell.
        assert_eq!(restored.snapshot(), eventful().snapshot(), "format {format}");
        for (job, (outcome, told)) in (10..14).zip(&answers) {
            let (given, recorder) = ask(&mut restored, job, 1, 2);
            assert_eq!((given, &recorder.emitted), (*outcome, &told.emitted), "format {format}");
        }
    }
}

#[test]
fn the_newest_format_is_the_one_that_is_written() {
    let written = eventful().snapshot().unwrap();
    // A change of a format needs a number of its own.
    assert_eq!(written, std::fs::read(path(NEWEST)).unwrap());
}

#[test]
fn what_is_no_snapshot_is_told_apart() {
    let bytes = eventful().snapshot().unwrap();
    let fault = |bytes: &[u8], limit| {
        Engine::restore(bytes, policy(), limit).err().map(|error| error.to_string())
    };
    let newer = [&bytes[..8], &[2, 0, 0, 0], &bytes[12..]].concat();
    for (given, limit, expected) in [
        (&[][..], 10, "snapshot: header: the snapshot ends within it"),
        (&b"{\"graph\": {}}"[..], 99, "snapshot: header: this is no snapshot"),
        (&newer, 1 << 20, "snapshot: header: format 2 is unknown, the newest known is 1"),
        (&bytes[..40], 1 << 20, "snapshot: length: 12 bytes follow the header rather than "),
        (&bytes, 40, "bytes, the limit is 40"),
    ] {
        let fault = fault(given, limit).unwrap();
        assert!(fault.contains(expected), "{fault}");
    }
}
