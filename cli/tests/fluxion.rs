//! Runs `fluxion` and compares all that it tells.

mod sandbox;

use sandbox::Sandbox;

const JOBSPEC: &str = include_str!("../../testdata/jobspecs/gpu.yaml");

fn sandbox(name: &str) -> Sandbox {
    Sandbox::new(env!("CARGO_BIN_EXE_fluxion"), name)
}

#[test]
fn jobspecs_are_matched_one_after_the_other() {
    let sandbox = sandbox("jobspecs_are_matched_one_after_the_other");
    sandbox.check(
        "match jobspecs/gpu.yaml --graph graphs/tiny.json",
        "",
        r#"
{"version": 1, "execution": {"R_lite": [{"rank": "1", "children": {"core": "6-7", "gpu": "1"}}], "nodelist": ["node1"], "starttime": 0, "expiration": 600}}
! jobspecs/gpu.yaml: job 1 is allocated
= 0"#,
    );
    sandbox.check(
        "match jobspecs/two-nodes.yaml jobspecs/gpu.yaml --graph graphs/tiny.json",
        "",
        r#"
{"version": 1, "execution": {"R_lite": [{"rank": "0-1", "children": {"core": "0-7"}}], "nodelist": ["node[0-1]"], "starttime": 0, "expiration": 3600}}
! jobspecs/two-nodes.yaml: job 1 is allocated
! jobspecs/gpu.yaml: no resources now
= 1"#,
    );
    sandbox.check(
        "match jobspecs/two-nodes.yaml jobspecs/gpu.yaml --graph graphs/tiny.json --reserve",
        "",
        r#"
{"version": 1, "execution": {"R_lite": [{"rank": "0-1", "children": {"core": "0-7"}}], "nodelist": ["node[0-1]"], "starttime": 0, "expiration": 3600}}
{"version": 1, "execution": {"R_lite": [{"rank": "1", "children": {"core": "6-7", "gpu": "1"}}], "nodelist": ["node1"], "starttime": 3600, "expiration": 4200}}
! jobspecs/two-nodes.yaml: job 1 is allocated
! jobspecs/gpu.yaml: job 2 is reserved from second 3600 on
= 0"#,
    );
    sandbox.check(
        "match jobspecs/gpu.yaml jobspecs/toobig.yaml --graph graphs/tiny.json --reserve",
        "",
        r#"
{"version": 1, "execution": {"R_lite": [{"rank": "1", "children": {"core": "6-7", "gpu": "1"}}], "nodelist": ["node1"], "starttime": 0, "expiration": 600}}
! jobspecs/gpu.yaml: job 1 is allocated
! jobspecs/toobig.yaml: never: the graph cannot satisfy it
= 2"#,
    );
    sandbox.check(
        "match jobspecs/gpu.yaml --quiet --graph graphs/tiny.graphml --policy low --format pretty_simple",
        "",
        "
      ---tiny0[1:shared]
      ------rack0[1:shared]
      ---------node0[1:shared]
      ------------socket0[1:shared]
      ---------------gpu0[1:exclusive]
      ---------------core1[1:exclusive]
      ---------------core0[1:exclusive]
= 0",
    );
    sandbox.check(
        "match jobspecs/gpu.yaml -q -g graphs/tiny.json -P policy=low -F rlite -T flexible -S ca -p ALL:core",
        "",
        r#"
[{"rank": "0", "children": {"core": "0-1", "gpu": "0"}}]
= 0"#,
    );
}

#[test]
fn matches_are_told_to_machines() {
    let sandbox = sandbox("matches_are_told_to_machines");
    sandbox.check(
        "match jobspecs/two-nodes.yaml jobspecs/gpu.yaml jobspecs/toobig.yaml --graph graphs/tiny.json --quiet --json",
        "",
        r#"
{"jobspec":"jobspecs/two-nodes.yaml","outcome":"allocated","job":1,"at":0,"resources":{"version": 1, "execution": {"R_lite": [{"rank": "0-1", "children": {"core": "0-7"}}], "nodelist": ["node[0-1]"], "starttime": 0, "expiration": 3600}}}
{"jobspec":"jobspecs/gpu.yaml","outcome":"busy"}
{"jobspec":"jobspecs/toobig.yaml","outcome":"unsatisfiable"}
= 2"#,
    );
    sandbox.check(
        "match jobspecs/gpu.yaml --graph graphs/tiny.json --quiet --json --format simple",
        "",
        r#"
{"jobspec":"jobspecs/gpu.yaml","outcome":"allocated","job":1,"at":0,"resources":"      ---------------core6[1:x]\n      ---------------core7[1:x]\n      ---------------gpu1[1:x]\n      ------------socket1[1:s]\n      ---------node1[1:s]\n      ------rack0[1:s]\n      ---tiny0[1:s]\n"}
= 0"#,
    );
    sandbox.check(
        "match bad/negative-count.yaml jobspecs/gpu.yaml --graph graphs/tiny.json --json",
        "",
        r#"
{"jobspec":"bad/negative-count.yaml","outcome":"error","error":{"message":"expected a number up to 4294967295, or a mapping with `min`, found `-1`","file":"bad/negative-count.yaml","line":4,"column":12,"key":"/resources/0/count","expected":"a number up to 4294967295, or a mapping with `min`"}}
! error: expected a number up to 4294967295, or a mapping with `min`, found `-1`
!  --> bad/negative-count.yaml:4:12
!   |
! 4 |     count: -1
!   |            ^^ /resources/0/count
= 65"#,
    );
}

#[test]
fn standard_input_is_a_file() {
    let sandbox = sandbox("standard_input_is_a_file");
    sandbox.check(
        "match - --graph graphs/tiny.json",
        JOBSPEC,
        r#"
{"version": 1, "execution": {"R_lite": [{"rank": "1", "children": {"core": "6-7", "gpu": "1"}}], "nodelist": ["node1"], "starttime": 0, "expiration": 600}}
! <stdin>: job 1 is allocated
= 0"#,
    );
    sandbox.check(
        "validate -",
        JOBSPEC,
        "
<stdin>: valid
= 0",
    );
    sandbox.check(
        "validate -",
        "version: x\n",
        "
! error: key `resources` is missing
!  --> <stdin>:1:1
!   |
! 1 | version: x
!   | ^^^^^^^
= 65",
    );
    sandbox.check(
        "match - - --graph graphs/tiny.json",
        "",
        "
! error: standard input (`-`) can be read only once
= 64",
    );
    sandbox.check(
        "shell --graph -",
        "",
        "
! error: standard input (`-`) can be read only once
= 64",
    );
}

#[test]
fn satisfiability_is_told() {
    let sandbox = sandbox("satisfiability_is_told");
    sandbox.check(
        "satisfy jobspecs/two-nodes.yaml --graph graphs/tiny.json",
        "",
        "
jobspecs/two-nodes.yaml: satisfiable
= 0",
    );
    sandbox.check(
        "satisfy jobspecs/two-nodes.yaml jobspecs/toobig.yaml --graph graphs/tiny.json",
        "",
        "
jobspecs/two-nodes.yaml: satisfiable
jobspecs/toobig.yaml: unsatisfiable
= 2",
    );
    sandbox.check(
        "satisfy jobspecs/two-nodes.yaml jobspecs/toobig.yaml --graph graphs/tiny.json --json",
        "",
        r#"
{"jobspec":"jobspecs/two-nodes.yaml","outcome":"satisfiable"}
{"jobspec":"jobspecs/toobig.yaml","outcome":"unsatisfiable"}
= 2"#,
    );
    sandbox.check(
        "satisfy bad/unknown-type.yaml --graph graphs/tiny.json --json",
        "",
        r#"
{"jobspec":"bad/unknown-type.yaml","outcome":"error","error":{"message":"resource type `gpux` is unknown to the graph","file":"bad/unknown-type.yaml","line":7,"column":15,"key":"/resources/0/with/0/type","help":["did you mean `gpu`?"]}}
! error: resource type `gpux` is unknown to the graph
!  --> bad/unknown-type.yaml:7:15
!   |
! 7 |       - type: gpux
!   |               ^^^^ /resources/0/with/0/type
!   |
!   = help: did you mean `gpu`?
= 65"#,
    );
}

#[test]
fn jobspecs_are_validated() {
    let sandbox = sandbox("jobspecs_are_validated");
    sandbox.check(
        "validate jobspecs/two-nodes.yaml jobspecs/gpu.yaml",
        "",
        "
jobspecs/two-nodes.yaml: valid
jobspecs/gpu.yaml: valid
= 0",
    );
    sandbox.check(
        "validate jobspecs/gpu.yaml bad/no-tasks.yaml --json",
        "",
        r#"
{"jobspec":"jobspecs/gpu.yaml","outcome":"valid"}
{"jobspec":"bad/no-tasks.yaml","outcome":"error","error":{"message":"key `tasks` is missing","file":"bad/no-tasks.yaml","line":1,"column":1,"expected":"a mapping with the key `tasks`"}}
! error: key `tasks` is missing
!  --> bad/no-tasks.yaml:1:1
!   |
! 1 | version: 1
!   | ^^^^^^^
= 65"#,
    );
    sandbox.check(
        "validate bad/range-string.yaml",
        "",
        r#"
! error: count-range-string is not supported by Fluxion, found `2-4`
!  --> bad/range-string.yaml:4:12
!   |
! 4 |     count: "2-4"
!   |            ^^^^^ /resources/0/count
!   |
!   = help: `fluxion validate --extended` checks against all of the RFCs
= 65"#,
    );
    sandbox.check(
        "validate bad/range-string.yaml --extended",
        "",
        "
bad/range-string.yaml: valid
bad/range-string.yaml:4:12 (/resources/0/count): count-range-string is not supported by Fluxion
= 0",
    );
    sandbox.check(
        "validate bad/range-string.yaml --extended --json",
        "",
        r#"
{"jobspec":"bad/range-string.yaml","outcome":"valid","extended":[{"feature":"count-range-string","line":4,"column":12,"key":"/resources/0/count"}]}
= 0"#,
    );
}

#[test]
fn graphs_are_converted() {
    let sandbox = sandbox("graphs_are_converted");
    sandbox.check(
        "convert graphs/tiny.graphml -o tiny.json",
        "",
        "
= 0",
    );
    sandbox.check(
        "convert tiny.json -o tiny.dot",
        "",
        "
= 0",
    );
    sandbox.check(
        "convert tiny.json -o absent/tiny.json",
        "",
        "
! error: absent/tiny.json: cannot be made: No such file or directory
= 73",
    );
    sandbox.check(
        "convert bad/empty.json",
        "",
        "
! error: bad/empty.json: expected a resource graph, found nothing
= 65",
    );
}

#[test]
fn jobspecs_are_refused_with_their_place() {
    let sandbox = sandbox("jobspecs_are_refused_with_their_place");
    sandbox.check(
        "validate bad/negative-count.yaml",
        "",
        "
! error: expected a number up to 4294967295, or a mapping with `min`, found `-1`
!  --> bad/negative-count.yaml:4:12
!   |
! 4 |     count: -1
!   |            ^^ /resources/0/count
= 65",
    );
    sandbox.check(
        "validate bad/overflow-count.yaml",
        "",
        "
! error: expected a number up to 4294967295, or a mapping with `min`, found `4294967296`
!  --> bad/overflow-count.yaml:4:12
!   |
! 4 |     count: 4294967296
!   |            ^^^^^^^^^^ /resources/0/count
= 65",
    );
    sandbox.check(
        "validate bad/duplicate-key.yaml",
        "",
        "
! error: key `count` is given twice
!  --> bad/duplicate-key.yaml:6:5
!   |
! 6 |     count: 2
!   |     ^^^^^ /resources/0/count
= 65",
    );
    sandbox.check(
        "validate bad/unknown-key.yaml",
        "",
        "
! error: unknown key `labl`, expected `type`, `count`, `unit`, `exclusive`, `with`, `label` or `id`; did you mean `label`?
!  --> bad/unknown-key.yaml:5:5
!   |
! 5 |     labl: default
!   |     ^^^^ /resources/0/labl
= 65",
    );
    sandbox.check(
        "validate bad/no-tasks.yaml",
        "",
        "
! error: key `tasks` is missing
!  --> bad/no-tasks.yaml:1:1
!   |
! 1 | version: 1
!   | ^^^^^^^
= 65",
    );
    sandbox.check(
        "validate bad/bad-indent.yaml",
        "",
        "
! error: while parsing a block collection, did not find expected '-' indicator
!  --> bad/bad-indent.yaml:4:4
!   |
! 4 |    count: 1
!   |    ^^^^^
= 65",
    );
    sandbox.check(
        "validate bad/truncated-jobspec.json",
        "",
        r#"
! error: expected a value
!  --> bad/truncated-jobspec.json:3:12
!   |
! 3 |  "tasks": [
!   |            ^
= 65"#,
    );
    sandbox.check(
        "validate bad/one-line.json",
        "",
        r#"
! error: expected a number up to 4294967295, or a mapping with `min`, found `many`
!  --> bad/one-line.json:1:474
!   |
! 1 | ... "count": 1}, {"type": "core", "count": "many"}, {"type": "core", "count": 1}, {"type": "core", "cou...
!   |                                            ^^^^^^ /resources/0/with/12/count
= 65"#,
    );
    sandbox.check(
        "validate bad/latin1.yaml",
        "",
        "
! error: expected UTF-8 text, found the byte 0xe9
!   --> bad/latin1.yaml:10:18
!    |
! 10 |   - command: [caf�]
!    |                  ^
= 65",
    );
    sandbox.check(
        "validate graphs/tiny.json",
        "",
        r#"
! error: key `version` is missing
!  --> graphs/tiny.json:1:1
!   |
! 1 | {"graph": {"nodes": [
!   | ^
!   |
!   = help: this looks like a resource graph (jgf), not a jobspec
= 65"#,
    );
    sandbox.check(
        "validate absent.yaml",
        "",
        "
! error: absent.yaml: cannot be read: No such file or directory
= 66",
    );
    sandbox.check(
        "validate jobspecs",
        "",
        "
! error: jobspecs: cannot be read: Is a directory
= 66",
    );
}

#[test]
fn types_and_times_are_checked_against_the_graph() {
    let sandbox = sandbox("types_and_times_are_checked_against_the_graph");
    sandbox.check(
        "match bad/unknown-type.yaml --graph graphs/tiny.json",
        "",
        "
! error: resource type `gpux` is unknown to the graph
!  --> bad/unknown-type.yaml:7:15
!   |
! 7 |       - type: gpux
!   |               ^^^^ /resources/0/with/0/type
!   |
!   = help: did you mean `gpu`?
= 65",
    );
    sandbox.check(
        "match bad/alien-type.yaml --graph graphs/tiny.json",
        "",
        "
! error: resource type `unobtainium` is unknown to the graph
!  --> bad/alien-type.yaml:7:15
!   |
! 7 |       - type: unobtainium
!   |               ^^^^^^^^^^^ /resources/0/with/0/type
!   |
!   = help: the graph has cluster, rack, node, socket, core, gpu, memory
= 65",
    );
    sandbox.check(
        "match bad/negative-duration.yaml --graph graphs/tiny.json",
        "",
        "
! error: duration -1 is out of range: seconds up to the end of the resources, 0 for as long as they last
!   --> bad/negative-duration.yaml:13:33
!    |
! 13 | attributes: {system: {duration: -1}}
!    |                                 ^^ /attributes/system/duration
= 65",
    );
}

#[test]
fn graphs_are_refused_with_their_place() {
    let sandbox = sandbox("graphs_are_refused_with_their_place");
    sandbox.check(
        "info bad/truncated.json",
        "",
        r#"
! error: EOF while parsing a string
!  --> bad/truncated.json:4:96
!   |
! 4 | ...", "id": 0, "paths": {"containment": "/c0
!   |                                            ^ /graph/nodes/1/metadata/paths/containment
= 65"#,
    );
    sandbox.check(
        "info bad/truncated.graphml",
        "",
        r#"
! error: the root node was opened but never closed
!   --> bad/truncated.graphml:24:93
!    |
! 24 | ...><data key="multi_scale">2</data></edge>
!    |                                            ^
= 65"#,
    );
    sandbox.check(
        "info bad/dangling.json",
        "",
        r#"
! error: no vertex with id `7`
!  --> bad/dangling.json:8:27
!   |
! 8 | {"source": "0", "target": "7"}
!   |                           ^^^ /graph/edges/1/target
= 65"#,
    );
    sandbox.check(
        "info bad/two-roots.json",
        "",
        r#"
! error: subsystem `containment` has two roots, `c0` and `d0`
!  --> bad/two-roots.json:4:77
!   |
! 4 | ...uster", "name": "d0", "id": 0, "paths": {"containment": "/d0"}}}
!   |                                            ^ /graph/nodes/1/metadata/paths
= 65"#,
    );
    sandbox.check(
        "info bad/cycle.json",
        "",
        "
! error: bad/cycle.json: cycle in subsystem `containment` through `node0`
= 65",
    );
    sandbox.check(
        "info bad/duplicate-id.json",
        "",
        r#"
! error: vertex id `1` is given twice
!  --> bad/duplicate-id.json:5:8
!   |
! 5 | {"id": "1", "metadata": {"type": "node", "name": "node1", "id": 0, ...
!   |        ^^^ /graph/nodes/2/id
= 65"#,
    );
    sandbox.check(
        "info bad/negative-size.json",
        "",
        r#"
! error: expected a size that is not negative, found -16
!  --> bad/negative-size.json:4:80
!   |
! 4 | ...y", "name": "memory0", "id": 0, "size": -16, "paths": {"containment": "/c0/memory0"}}}
!   |                                            ^^^ /graph/nodes/1/metadata/size
= 65"#,
    );
    sandbox.check(
        "info bad/overflow-size.json",
        "",
        r#"
! error: expected an integer of at most 63 bits, found floating point `1e+20`
!  --> bad/overflow-size.json:4:80
!   |
! 4 | ...y", "name": "memory0", "id": 0, "size": 99999999999999999999, "paths": {"containment": "/c0/memory0"...
!   |                                            ^^^^^^^^^^^^^^^^^^^^ /graph/nodes/1/metadata/size
= 65"#,
    );
    sandbox.check(
        "info bad/negative-scale.graphml",
        "",
        r#"
! error: expected a multi_scale that is not negative, found -2
!   --> bad/negative-scale.graphml:23:5
!    |
! 23 |     <edge id="nodes" source="rack" target="node"><data key="mult...
!    |     ^ /graphml[1]/graph[1]/edge[2]
= 65"#,
    );
    sandbox.check(
        "info bad/no-type.json",
        "",
        r#"
! error: `type` is missing
!  --> bad/no-type.json:4:25
!   |
! 4 | {"id": "1", "metadata": {"name": "node0", "id": 0, "paths": {"containment": "/c0/nod...
!   |                         ^ /graph/nodes/1/metadata
= 65"#,
    );
    sandbox.check(
        "info bad/no-vertices.json",
        "",
        "
! error: bad/no-vertices.json: the document has no vertices
= 65",
    );
    sandbox.check(
        "info bad/empty.json",
        "",
        "
! error: bad/empty.json: expected a resource graph, found nothing
= 65",
    );
    sandbox.check(
        "info bad/other.json",
        "",
        r#"
! error: `graph` is missing
!  --> bad/other.json:1:1
!   |
! 1 | {"name": "fluxion", "value": 3}
!   | ^
= 65"#,
    );
    sandbox.check(
        "info bad/other.xml",
        "",
        "
! error: expected the element `graphml`, found `html`
!  --> bad/other.xml:2:1
!   |
! 2 | <html><body/></html>
!   | ^ /html[1]
= 65",
    );
    sandbox.check(
        "info bad/plain.txt",
        "",
        "
! error: bad/plain.txt: expected a resource graph in JGF, R, GRUG or hwloc XML, found another text
= 65",
    );
    sandbox.check(
        "info jobspecs/gpu.yaml",
        "",
        "
! error: jobspecs/gpu.yaml: expected a resource graph in JGF, R, GRUG or hwloc XML, found another text
!  |
!  = help: this is a jobspec, not a resource graph
= 65",
    );
    sandbox.check(
        "info graphs/tiny.json --load-format grug",
        "",
        r#"
! error: unknown token
!  --> graphs/tiny.json:1:1
!   |
! 1 | {"graph": {"nodes": [
!   | ^
!   |
!   = help: this looks like jgf: leave out `--load-format grug`
= 65"#,
    );
    sandbox.check(
        "info absent.json",
        "",
        "
! error: absent.json: cannot be read: No such file or directory
= 66",
    );
    sandbox.check(
        "info graphs",
        "",
        "
! error: graphs: cannot be read: Is a directory
= 66",
    );
}

#[test]
fn options_are_checked() {
    let sandbox = sandbox("options_are_checked");
    sandbox.check(
        "match jobspecs/gpu.yaml --graph graphs/tiny.json --policy hgih",
        "",
        "
! error: invalid value 'hgih' for '--policy <POLICY>'
!   [possible values: first, firstnodex, high, low, lonode, hinode, lonodex, hinodex, locality, variation]
!
!   tip: a similar value exists: 'high'
!
! For more information, try '--help'.
= 64",
    );
    sandbox.check(
        "match jobspecs/gpu.yaml --graph graphs/tiny.json --policy policy=up",
        "",
        "
! error: policy option policy requires low or high, got `up`
!
! For more information, try '--help'.
= 64",
    );
    sandbox.check(
        "match jobspecs/gpu.yaml --graph graphs/tiny.json --format rv2",
        "",
        "
! error: invalid value 'rv2' for '--format <FORMAT>'
!   [possible values: simple, pretty_simple, jgf, jgf_shorthand, rlite, rv1, rv1_nosched, rv1_shorthand]
!
!   tip: a similar value exists: 'rv1'
!
! For more information, try '--help'.
= 64",
    );
    sandbox.check(
        "match jobspecs/gpu.yaml --graph graphs/tiny.json --matcher PA",
        "",
        "
! error: graphs/tiny.json: subsystem `power` has no root
!  |
!  = help: matcher PA needs that subsystem; see --matcher
= 65",
    );
    sandbox.check(
        "match jobspecs/gpu.yaml --graph graphs/tiny.json --matcher XA",
        "",
        "
! error: invalid value 'XA' for '--matcher <MATCHER>'
!   [possible values: CA, IBA, IBBA, PA, PFS1BA, C+IBA, C+IBBA, C+PA, C+PFS1BA, IB+IBBA, C+P+IBA, V+PFS1BA, VA, ALL]
!
! For more information, try '--help'.
= 64",
    );
    sandbox.check(
        "match jobspecs/gpu.yaml --graph graphs/tiny.json --prune-filters core",
        "",
        "
! error: pruning filter `core`: expected `TYPE:TYPE` or `ALL:TYPE`
= 64",
    );
    sandbox.check(
        "match jobspecs/gpu.yaml",
        "",
        "
! error: the following required arguments were not provided:
!   --graph <FILE>
!
! Usage: fluxion match --graph <FILE> <JOBSPEC>...
!
! For more information, try '--help'.
= 64",
    );
    sandbox.check(
        "mtach",
        "",
        "
! error: unrecognized subcommand 'mtach'
!
!   tip: a similar subcommand exists: 'match'
!
! Usage: fluxion [OPTIONS] <COMMAND>
!
! For more information, try '--help'.
= 64",
    );
}

#[test]
fn commands_are_run_in_a_shell() {
    let sandbox = sandbox("commands_are_run_in_a_shell");
    sandbox.check(
        "shell --graph graphs/tiny.json",
        "# a comment\n\nmatch allocate jobspecs/two-nodes.yaml\nmatch allocate jobspecs/gpu.yaml\ncancel 1\nquit\nnonsense\n",
        "
      ---------------core0[1:x]
      ---------------core1[1:x]
      ---------------core2[1:x]
      ---------------core3[1:x]
      ------------socket0[1:x]
      ---------------core4[1:x]
      ---------------core5[1:x]
      ---------------core6[1:x]
      ---------------core7[1:x]
      ------------socket1[1:x]
      ---------node0[1:x]
      ---------------core0[1:x]
      ---------------core1[1:x]
      ---------------core2[1:x]
      ---------------core3[1:x]
      ------------socket0[1:x]
      ---------------core4[1:x]
      ---------------core5[1:x]
      ---------------core6[1:x]
      ---------------core7[1:x]
      ------------socket1[1:x]
      ---------node1[1:x]
      ------rack0[1:s]
      ---tiny0[1:s]
INFO: =============================
INFO: JOBID=1
INFO: RESOURCES=ALLOCATED
INFO: SCHEDULED AT=Now
INFO: =============================
INFO: =============================
INFO: No matching resources found
INFO: JOBID=2
INFO: =============================
= 0",
    );
    sandbox.check(
        "shell --graph graphs/tiny.json --format rlite",
        "match allocate jobspecs/gpu.yaml\ncancel 7\n",
        r#"
[{"rank": "1", "children": {"core": "6-7", "gpu": "1"}}]
INFO: =============================
INFO: JOBID=1
INFO: RESOURCES=ALLOCATED
INFO: SCHEDULED AT=Now
INFO: =============================
! ERROR: nonexistent job 7
= 65"#,
    );
    sandbox.check(
        "shell --graph graphs/tiny.json",
        "info 7\n",
        "
! ERROR: nonexistent job 7
= 65",
    );
    sandbox.check(
        "shell --graph graphs/tiny.json",
        "mtach allocate jobspecs/gpu.yaml\nlits\nxyzzy\n",
        "
! ERROR: unknown command `mtach`: did you mean `match`?
! ERROR: unknown command `lits`: `help` lists all
! ERROR: unknown command `xyzzy`: `help` lists all
= 65",
    );
    sandbox.check(
        "shell --graph graphs/tiny.json",
        "match allocate absent.yaml\n",
        "
! ERROR: can't open absent.yaml: No such file or directory (os error 2)
= 65",
    );
}

/// Returns `text` without what differs from run to run.
fn without_measures(text: &str) -> String {
    text.lines()
        .filter(|line| !line.starts_with("load time ") && !line.starts_with("memory  "))
        .fold(String::new(), |kept, line| kept + line + "\n")
}

#[test]
fn graphs_are_described() {
    let sandbox = sandbox("graphs_are_described");
    let text = sandbox.run("info graphs/tiny.graphml", "");
    assert!(text.contains("\nload time  ") && text.contains(" bytes per vertex)\n"), "{text}");
    let expected = "\
graph      graphs/tiny.graphml (grug, 2.4 kB)
vertices   32
edges      31
subsystems containment (32)
ranks      2

TYPE     COUNT   SIZE
cluster      1
rack         1
node         2
socket       4
core        16
gpu          4
memory       4  64 GB
= 0
";
    // The memory of the machine is described, that of the tool differs.
    let kept = text.replace("memory       4", "memory.      4");
    assert_eq!(without_measures(&kept).replace("memory.", "memory "), expected);
}

#[test]
fn graphs_are_described_to_machines() {
    let sandbox = sandbox("graphs_are_described_to_machines");
    let text = sandbox.run("info graphs/tiny.json --json", "");
    let (json, status) = text.split_once('\n').unwrap();
    assert_eq!(status, "= 0");
    let summary: serde_json::Value = serde_json::from_str(json).unwrap();
    assert_eq!(summary["graph"], "graphs/tiny.json");
    assert_eq!(summary["format"], "jgf");
    assert_eq!(summary["vertices"], 32);
    assert_eq!(summary["edges"], 31);
    assert_eq!(summary["types"][4]["type"], "core");
    assert_eq!(summary["types"][4]["count"], 16);
    assert_eq!(summary["types"][6]["size"], 64);
    assert!(summary["memory_bytes"].as_u64() > Some(0), "{summary}");
    assert!(summary["load_seconds"].as_f64() > Some(0.0), "{summary}");
}

#[test]
fn a_graph_survives_its_conversion() {
    let sandbox = sandbox("a_graph_survives_its_conversion");
    let first = sandbox.run("convert graphs/tiny.graphml", "");
    let (json, status) = first.rsplit_once('\n').unwrap();
    assert_eq!(status, "= 0");
    // Units are not among what JGF brings back.
    let second = sandbox.run("convert -", json);
    assert_eq!(second, first.replace("\"GB\"", "\"\""));
    let dot = sandbox.run("convert graphs/tiny.json --to dot", "");
    assert!(dot.starts_with("digraph G {\n") && dot.ends_with("}\n= 0"), "{dot}");
    let graphml = sandbox.run("convert graphs/tiny.json --to graphml", "");
    assert!(graphml.contains("<graphml ") && graphml.ends_with("</graphml>\n= 0"), "{graphml}");
}

#[test]
fn what_a_job_got_is_a_graph_too() {
    let sandbox = sandbox("what_a_job_got_is_a_graph_too");
    let job = "match jobspecs/gpu.yaml --graph graphs/tiny.json --quiet --format rv1";
    let got = sandbox.run(job, "");
    let (r, _) = got.rsplit_once('\n').unwrap();
    let again = sandbox.run("match jobspecs/gpu.yaml --graph - --quiet --format rv1_nosched", r);
    assert_eq!(
        again,
        "{\"version\": 1, \"execution\": {\"R_lite\": [{\"rank\": \"1\", \"children\": {\"core\": \"6-7\", \
         \"gpu\": \"1\"}}], \"nodelist\": [\"node1\"], \"starttime\": 0, \"expiration\": 600}}\n= 0"
    );
    // The place of a fault is that in the whole file.
    let bad = r.replace("\"type\": \"node\"", "\"type\": 5");
    let told = sandbox.run("info -", &bad);
    assert!(told.contains("! error: expected a string, found integer `5`\n"), "{told}");
    assert!(told.contains("/scheduling/graph/nodes/4/metadata/type\n= 65"), "{told}");
    let column = bad.find("\"type\": 5").unwrap() + "\"type\": ".len() + 1;
    assert!(told.contains(&format!("<stdin>:1:{column}\n")), "{told}");
}

#[test]
fn help_tells_examples_and_exit_statuses() {
    let sandbox = sandbox("help_tells_examples_and_exit_statuses");
    let help = sandbox.run("--help", "");
    assert!(help.contains("\nExit status:\n   0  matched"), "{help}");
    assert!(help.ends_with("= 0"), "{help}");
    let subcommands = ["match", "satisfy", "validate", "info", "convert", "shell", "completions"];
    for subcommand in subcommands {
        let help = sandbox.run(&format!("{subcommand} --help"), "");
        assert!(help.contains(&format!("\nExamples:\n  fluxion {subcommand}")), "{help}");
        assert!(help.ends_with("= 0"), "{help}");
    }
    assert_eq!(sandbox.run("--version", ""), "fluxion 0.0.0\n= 0");
}

#[test]
fn shells_can_complete() {
    let sandbox = sandbox("shells_can_complete");
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = sandbox.run(&format!("completions {shell}"), "");
        assert!(script.contains("satisfy") && script.ends_with("\n= 0"), "{script}");
    }
}

#[test]
fn colours_are_for_those_who_want_them() {
    let sandbox = sandbox("colours_are_for_those_who_want_them");
    let colored = sandbox.run("validate bad/no-tasks.yaml --color always", "");
    assert!(colored.contains("\u{1b}[") && !colored.contains(":::"), "{colored}");
    let plain = sandbox.run("validate bad/no-tasks.yaml", "");
    assert!(!plain.contains('\u{1b}'), "{plain}");
}

#[cfg(target_os = "linux")]
#[test]
fn answers_that_cannot_be_written_are_told() {
    use std::fs::File;
    use std::process::Command;

    let sandbox = sandbox("answers_that_cannot_be_written_are_told");
    let output = Command::new(env!("CARGO_BIN_EXE_fluxion"))
        .args(["validate", "jobspecs/gpu.yaml"])
        .current_dir(sandbox.path("."))
        .env_clear()
        .stdout(File::create("/dev/full").unwrap())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(74));
    assert_eq!(
        String::from_utf8(output.stderr).unwrap(),
        "error: standard output: cannot be written: No space left on device\n"
    );
}

#[test]
fn limits_are_set_by_name() {
    let sandbox = sandbox("limits_are_set_by_name");
    let job = "jobspecs/two-nodes.yaml";
    let refusals = [
        ("info graphs/tiny.json --limit graph.vertices=5".to_owned(), 65, "graph.vertices"),
        ("convert graphs/tiny.json --limit graph.edges=5".to_owned(), 65, "graph.edges"),
        (format!("validate {job} --limit jobspec.depth=2"), 65, "jobspec.depth"),
        (format!("satisfy {job} -g graphs/tiny.json --limit jobspec.nodes=9"), 65, "jobspec.nodes"),
        (
            format!("match {job} -g graphs/tiny.json --limit engine.search_steps=1"),
            65,
            "engine.search_steps",
        ),
    ];
    for (line, status, limit) in refusals {
        let answer = sandbox.run(&line, "");
        assert!(answer.contains(&format!("(limit `{limit}`)")), "{line}: {answer}");
        assert!(answer.ends_with(&format!("= {status}")), "{line}: {answer}");
    }
    for (limit, told) in [
        ("graph.size=5", "unknown limit `graph.size`: expected one of jobspec.input_bytes"),
        ("graph.vertices", "expected a name, = and a number"),
        ("graph.vertices=-1", "`-1` is not a number"),
    ] {
        let answer = sandbox.run(&format!("info graphs/tiny.json --limit {limit}"), "");
        assert!(answer.contains(told) && answer.ends_with("= 64"), "{limit}: {answer}");
    }
}
