//! Tools that are killed come back with what they answered.
#![allow(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

mod sandbox;

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use fluxion::{
    Digest, JobId, LoadFormat, MatchOp, Session, SessionOptions, StateDir, StateOptions,
};
use sandbox::Sandbox;

fn options() -> SessionOptions {
    SessionOptions { load_format: LoadFormat::Jgf, ..SessionOptions::default() }
}

const N_ROUNDS: u64 = 12;
/// How many commands a round has.
const N_COMMANDS: usize = 4;

/// Returns the commands, each of which is answered before the next is done.
fn commands() -> Vec<String> {
    let round = |round: u64| {
        [
            "match allocate_orelse_reserve jobspecs/gpu.yaml".to_owned(),
            format!("set-property /tiny0/rack0/node0 round={round}"),
            "match allocate_orelse_reserve jobspecs/two-nodes.yaml".to_owned(),
            format!("cancel {}", round * 2 + 1),
        ]
    };
    (0..N_ROUNDS).flat_map(round).collect()
}

/// Does with a session what the commands say, and returns its digest after each, from before the
/// first on.
fn digests(sandbox: &Sandbox) -> Vec<Digest> {
    let read = |name: &str| std::fs::read_to_string(sandbox.path(name)).unwrap();
    let mut session = Session::open(&read("graphs/tiny.json"), &options()).unwrap();
    let [gpu, nodes] = ["jobspecs/gpu.yaml", "jobspecs/two-nodes.yaml"].map(read);
    let mut digests = vec![session.engine().digest()];
    for number in 0..commands().len() {
        let round = (number / N_COMMANDS) as u64;
        let reserve = MatchOp::AllocateOrelseReserve;
        let mut out = String::new();
        match number % N_COMMANDS {
            0 => drop(session.match_jobspec(reserve, &gpu, 0, &mut out)),
            1 => {
                let path = "/tiny0/rack0/node0";
                assert!(session.set_property(path, "round", &round.to_string()).unwrap());
            }
            2 => drop(session.match_jobspec(reserve, &nodes, 0, &mut out)),
            _ => session.cancel(JobId(round * 2 + 1)).unwrap(),
        }
        digests.push(session.engine().digest());
    }
    digests
}

fn start(sandbox: &Sandbox, tool: &str, state: &Path) -> Child {
    let mut command = Command::new(tool);
    if tool.ends_with("resource-query") {
        command.args(["-L", "graphs/tiny.json", "-f", "jgf", "-d", "--state"]).arg(state);
    } else {
        command.args(["shell", "-g", "graphs/tiny.json", "--state"]).arg(state);
    }
    let command = command.current_dir(sandbox.path(""));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap()
}

fn restored(state: &Path) -> Session {
    let dir = StateDir::open(state, StateOptions::default()).unwrap();
    let (session, recovery) = dir.restore(&options()).unwrap();
    session.engine().validate().unwrap();
    assert!(recovery.dropped.is_none_or(|dropped| dropped.bytes > 0));
    session
}

/// Lets a tool do the commands, kills it again and again, and starts it where it was.
fn kill_and_go_on(sandbox: &Sandbox, tool: &str, name: &str) {
    let state = sandbox.path(name);
    let (commands, digests) = (commands(), digests(sandbox));
    let mut done = 0;
    let mut n_killed = 0;
    while done < commands.len() {
        let mut child = start(sandbox, tool, &state);
        let mut input = child.stdin.take().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let text = commands[done..].join("\n") + "\n";
        // It may be dead before it has read all.
        let writer = std::thread::spawn(move || drop(input.write_all(text.as_bytes())));
        // Each match is answered with its id. It is killed in the middle of what comes then.
        let n_answers = 1 + n_killed % 3;
        let mut answered = 0;
        while answered < n_answers {
            match lines.next() {
                Some(line) => answered += usize::from(line.unwrap().starts_with("INFO: JOBID=")),
                None => break,
            }
        }
        std::thread::sleep(Duration::from_micros(n_killed as u64 * 211 % 1500));
        child.kill().unwrap();
        child.wait().unwrap();
        writer.join().unwrap();
        n_killed += 1;
        let last_match = (done..commands.len())
            .filter(|&number| commands[number].starts_with("match"))
            .nth(answered.saturating_sub(1))
            .filter(|_| answered > 0);
        let digest = restored(&state).engine().digest();
        let least = last_match.map_or(done, |number| number + 1);
        let now = (least..digests.len()).find(|&now| digests[now] == digest);
        done = now.unwrap_or_else(|| panic!("what was answered is lost, or half done: {done}"));
    }
    assert!(n_killed >= 3, "killed {n_killed} times");
    assert_eq!(restored(&state).engine().digest(), digests[commands.len()]);
}

#[test]
fn resource_query_comes_back_after_it_was_killed() {
    let tool = env!("CARGO_BIN_EXE_resource-query");
    let sandbox = Sandbox::new(tool, "resource_query_comes_back_after_it_was_killed");
    for turn in 0..4 {
        kill_and_go_on(&sandbox, tool, &format!("state{turn}"));
    }
}

#[test]
fn fluxion_comes_back_after_it_was_killed() {
    let tool = env!("CARGO_BIN_EXE_fluxion");
    let sandbox = Sandbox::new(tool, "fluxion_comes_back_after_it_was_killed");
    kill_and_go_on(&sandbox, tool, "state");
}

#[test]
fn a_second_start_goes_on() {
    let sandbox = Sandbox::new(env!("CARGO_BIN_EXE_fluxion"), "a_second_start_goes_on");
    sandbox.run(
        "shell --graph graphs/tiny.json --state kept",
        "match allocate jobspecs/gpu.yaml\nset-status /tiny0/rack0/node1 down\n",
    );
    let list = sandbox.run("shell --state kept", "list\n");
    assert!(list.starts_with("INFO: 1, ALLOCATED, 0, jobspecs/gpu.yaml, 0."), "{list}");
    sandbox.check(
        "shell --state kept",
        "get-status /tiny0/rack0/node1\nmatch allocate jobspecs/two-nodes.yaml\n",
        "
/tiny0/rack0/node1 is down
INFO: =============================
INFO: No matching resources found
INFO: JOBID=2
INFO: =============================
= 0",
    );
    assert_eq!(restored(&sandbox.path("kept")).next_job(), JobId(3));
}

#[test]
fn what_is_wrong_with_a_state_is_told() {
    let sandbox = Sandbox::new(env!("CARGO_BIN_EXE_fluxion"), "what_is_wrong_with_a_state_is_told");
    sandbox.check(
        "shell --state none",
        "",
        "
! error: there is no state yet
!  |
!  = help: `--graph FILE` tells what to begin with
= 64",
    );
    sandbox.run("shell --graph graphs/tiny.json --state kept", "");
    sandbox.check(
        "shell --state kept --policy low",
        "",
        "
! error: kept/snapshot: the state was made with policy `first`, not `low`
= 65",
    );
    let held = StateDir::open(sandbox.path("kept"), StateOptions::default()).unwrap();
    sandbox.check(
        "shell --state kept",
        "",
        "
! error: kept/lock: another process uses this state
= 73",
    );
    drop(held);
    let journal = sandbox.path("kept/journal");
    let bytes = std::fs::read(&journal).unwrap();
    std::fs::write(&journal, [&bytes[..], &[7, 0, 0, 0]].concat()).unwrap();
    sandbox.check(
        "shell --state kept",
        "",
        "
! WARNING: kept/journal: dropped 4 bytes from byte 28 on: a record was not finished
= 0",
    );
    std::fs::write(&journal, [&bytes[..27], &[7]].concat()).unwrap();
    let told = sandbox.run("shell --state kept", "");
    assert!(told.contains("! error: kept/journal: byte 20: the checksum does not fit"), "{told}");
    std::fs::write(sandbox.path("kept/snapshot"), "not a state").unwrap();
    let told = sandbox.run("shell --state kept", "");
    assert!(told.contains("! error: kept/snapshot: byte 0: it ends within its header"), "{told}");
}
