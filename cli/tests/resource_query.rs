//! Runs `resource-query` and compares all that it tells.

mod sandbox;

use std::fs;

use sandbox::Sandbox;

fn sandbox(name: &str) -> Sandbox {
    Sandbox::new(env!("CARGO_BIN_EXE_resource-query"), name)
}

#[test]
fn matches_are_answered_as_by_fluxion() {
    let sandbox = sandbox("matches_are_answered_as_by_fluxion");
    sandbox.check(
        "-L graphs/tiny.json -f jgf -F rv1_nosched -d",
        "match allocate jobspecs/two-nodes.yaml\nmatch allocate_orelse_reserve jobspecs/gpu.yaml\nmatch satisfiability jobspecs/toobig.yaml\nquit\n",
        r#"
{"version": 1, "execution": {"R_lite": [{"rank": "0-1", "children": {"core": "0-7"}}], "nodelist": ["node[0-1]"], "starttime": 0, "expiration": 3600}}
INFO: =============================
INFO: JOBID=1
INFO: RESOURCES=ALLOCATED
INFO: SCHEDULED AT=Now
INFO: =============================
{"version": 1, "execution": {"R_lite": [{"rank": "1", "children": {"core": "6-7", "gpu": "1"}}], "nodelist": ["node1"], "starttime": 3600, "expiration": 4200}}
INFO: =============================
INFO: JOBID=2
INFO: RESOURCES=RESERVED
INFO: SCHEDULED AT=3600
INFO: =============================
INFO: =============================
INFO: Unsatisfiable request
INFO: =============================
= 0"#,
    );
    sandbox.check(
        "-L graphs/tiny.graphml -P low -d",
        "match allocate jobspecs/gpu.yaml\nmulti-match allocate jobspecs/gpu.yaml jobspecs/toobig.yaml jobspecs/gpu.yaml\n",
        "
      ---------------core0[1:x]
      ---------------core1[1:x]
      ---------------gpu0[1:x]
      ------------socket0[1:s]
      ---------node0[1:s]
      ------rack0[1:s]
      ---tiny0[1:s]
INFO: =============================
INFO: JOBID=1
INFO: RESOURCES=ALLOCATED
INFO: SCHEDULED AT=Now
INFO: =============================
      ---------------core0[1:x]
      ---------------core1[1:x]
      ---------------gpu0[1:x]
      ------------socket0[1:s]
      ---------node1[1:s]
      ------rack0[1:s]
      ---tiny0[1:s]
INFO: =============================
INFO: JOBID=2
INFO: RESOURCES=ALLOCATED
INFO: SCHEDULED AT=Now
INFO: =============================
INFO: =============================
INFO: No matching resources found
INFO: JOBID=3
INFO: =============================
= 0",
    );
}

#[test]
fn vertices_are_looked_up_and_changed() {
    let sandbox = sandbox("vertices_are_looked_up_and_changed");
    sandbox.check(
        "-L graphs/tiny.json -f jgf -d",
        "set-property /tiny0/rack0/node0 class=one\nget-property /tiny0/rack0/node0\nset-status /tiny0/rack0/node1 down\nget-status /tiny0/rack0/node1\nfind status=down\nfind class=\nget-status /absent\n",
        r#"
class=one
/tiny0/rack0/node1 is down
      ---------------core0[1:x]
      ---------------core1[1:x]
      ---------------core2[1:x]
      ---------------core3[1:x]
      ---------------gpu0[1:x]
      ---------------memory0[16:x]
      ------------socket0[1:x]
      ---------------core4[1:x]
      ---------------core5[1:x]
      ---------------core6[1:x]
      ---------------core7[1:x]
      ---------------gpu1[1:x]
      ---------------memory1[16:x]
      ------------socket1[1:x]
      ---------node1[1:x]
      ------rack0[1:x]
      ---tiny0[1:x]
INFO: =============================
INFO: EXPRESSION="status=down"
INFO: =============================
Could not find path /absent in resource graph.
! ERROR: column 1: expected one of `status`, `sched-now`, `sched-future`, `jobid-alloc`, `jobid-reserved`, `jobid-span`, `jobid-tag`, `agfilter`, `names` or `property`, found `class`
= 0"#,
    );
}

#[test]
fn mistakes_do_not_end_a_session() {
    let sandbox = sandbox("mistakes_do_not_end_a_session");
    sandbox.check(
        "-L graphs/tiny.json -f jgf -d",
        "info 7\ncancel 7\nmatch\nmatch sometimes jobspecs/gpu.yaml\nmatch allocate absent.yaml\nmatch allocate bad/negative-count.yaml\nmatch allocate bad/unknown-type.yaml\nnonsense\nhelp nonsense\ncat jobspecs/absent.yaml\n",
        "
INFO: =============================
INFO: No matching resources found
INFO: JOBID=1
INFO: =============================
INFO: =============================
INFO: No matching resources found
INFO: JOBID=1
INFO: =============================
ERROR: unknown command: nonsense
INFO: Jobspec in jobspecs/absent.yaml
! ERROR: nonexistent job 7
! ERROR: nonexistent job 7
! ERROR: malformed command
! ERROR: unknown subcmd sometimes
! ERROR: can't open absent.yaml: No such file or directory (os error 2)
! ERROR: 4:12 (/resources/0/count): expected a number up to 4294967295, or a mapping with `min`, found `-1`
! ERROR: resource type `gpux` is unknown to the graph
! ERROR: can't open jobspecs/absent.yaml: No such file or directory (os error 2)
= 0",
    );
}

#[test]
fn what_cannot_be_opened_ends_with_an_error() {
    let sandbox = sandbox("what_cannot_be_opened_ends_with_an_error");
    sandbox.check(
        "-L absent.json -f jgf",
        "",
        "
! ERROR: absent.json: No such file or directory (os error 2)
= 1",
    );
    sandbox.check(
        "-L graphs -f jgf",
        "",
        "
! ERROR: graphs: is a directory
= 1",
    );
    sandbox.check(
        "-L graphs/tiny.json",
        "",
        "
! ERROR: graphs/tiny.json: 1:1: unknown token
= 1",
    );
    sandbox.check(
        "-L graphs/tiny.json -f json",
        "",
        "
! ERROR: unknown value for --load-format: json
= 1",
    );
    sandbox.check(
        "-L graphs/tiny.json -f jgf -P hgih",
        "",
        "
! ERROR: unknown policy `hgih`: expected one of first, firstnodex, high, low, lonode, hinode, lonodex, hinodex, locality, variation or `policy=low|high` with policy, node_centric, node_exclusive, stop_on_1_matches
= 1",
    );
    sandbox.check(
        "-L graphs/tiny.json -f jgf -S XA",
        "",
        "
! ERROR: unknown matcher `XA`: expected one of CA, IBA, IBBA, PA, PFS1BA, C+IBA, C+IBBA, C+PA, C+PFS1BA, IB+IBBA, C+P+IBA, V+PFS1BA, VA, ALL
= 1",
    );
    sandbox.check(
        "-L graphs/tiny.json -f jgf -F rv2",
        "",
        "
! ERROR: unknown value for --match-format: rv2
= 1",
    );
    sandbox.check(
        "-L graphs/tiny.json -f jgf -p core",
        "",
        "
! ERROR: pruning filter `core`: expected `TYPE:TYPE` or `ALL:TYPE`
= 1",
    );
    sandbox.check(
        "-L graphs/tiny.json -f jgf -t absent/out",
        "",
        "
! ERROR: absent/out: No such file or directory (os error 2)
= 1",
    );
    sandbox.check(
        "-L bad/dangling.json -f jgf",
        "",
        "
! ERROR: bad/dangling.json: 8:27 (/graph/edges/1/target): no vertex with id `7`
= 1",
    );
    sandbox.check(
        "-L bad/cycle.json -f jgf",
        "",
        "
! ERROR: bad/cycle.json: cycle in subsystem `containment` through `node0`
= 1",
    );
    sandbox.check(
        "-L bad/empty.json -f jgf",
        "",
        "
! ERROR: bad/empty.json: 1:0: EOF while parsing a value
= 1",
    );
    sandbox.check(
        "--nonsense",
        "",
        "
! error: unexpected argument '--nonsense' found
!
! Usage: resource-query [OPTIONS]
!
! For more information, try '--help'.
= 1",
    );
}

#[test]
fn matches_and_graphs_go_to_files() {
    let sandbox = sandbox("matches_and_graphs_go_to_files");
    sandbox.check(
        "-L graphs/tiny.json -f jgf -F rlite -d -t out.txt -o graph -g graphml",
        "match allocate jobspecs/gpu.yaml\n",
        "= 0",
    );
    let answer = fs::read_to_string(sandbox.path("out.txt")).unwrap();
    assert_eq!(
        answer,
        "[{\"rank\": \"1\", \"children\": {\"core\": \"6-7\", \"gpu\": \"1\"}}]\n\
         INFO: =============================\nINFO: JOBID=1\nINFO: RESOURCES=ALLOCATED\n\
         INFO: SCHEDULED AT=Now\nINFO: =============================\n"
    );
    let graph = fs::read_to_string(sandbox.path("graph.graphml")).unwrap();
    assert!(graph.starts_with("<?xml ") && graph.ends_with("</graphml>\n"), "{graph}");
}
