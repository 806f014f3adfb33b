use engine::{Aggregate, EmittedVertex, Error, Graph, MatchVisitor, NewVertex, Status, VertexId};

use super::{EmitError, Writer, write_dot, write_graphml, write_jgf_graph};
use crate::MatchFormat;

/// A graph and the vertices in the order in which they were added.
struct Made {
    graph: Graph,
    vertices: Vec<VertexId>,
}

/// Makes a graph from lines `parent kind id rank`, the first of which is the root.
fn make(rows: &[(Option<usize>, &str, i64, i64)]) -> Made {
    let mut graph = Graph::new();
    let mut vertices = Vec::new();
    for (uniq_id, &(parent, kind, id, rank)) in rows.iter().enumerate() {
        let new = NewVertex {
            kind: graph.intern_type(kind).unwrap(),
            basename: kind,
            name: None,
            id,
            uniq_id: uniq_id as i64,
            rank,
            size: 1,
            unit: "",
            status: Status::Up,
        };
        let vertex = graph.add_vertex(&new).unwrap();
        match parent {
            Some(parent) => {
                graph.add_edge(vertices[parent], vertex, Graph::CONTAINMENT).unwrap();
            }
            None => graph.set_root(Graph::CONTAINMENT, vertex).unwrap(),
        }
        vertices.push(vertex);
    }
    Made { graph, vertices }
}

/// A cluster of two nodes; the first has two cores and a gpu, the second one core.
fn two_nodes() -> Made {
    make(&[
        (None, "cluster", 0, -1),
        (Some(0), "node", 0, 0),
        (Some(1), "core", 0, 0),
        (Some(1), "core", 1, 0),
        (Some(1), "gpu", 0, 0),
        (Some(0), "node", 1, 1),
        (Some(5), "core", 0, 1),
    ])
}

fn emitted(vertex: VertexId, depth: u32, exclusive: bool) -> EmittedVertex<'static> {
    EmittedVertex {
        vertex,
        depth,
        needs: 1,
        exclusive,
        under_exclusive: false,
        label: None,
        aggregates: &[],
    }
}

/// Shows the writer everything below and including a vertex. All but clusters are exclusive.
fn show(graph: &Graph, vertex: VertexId, depth: u32, above: bool, visitor: &mut impl MatchVisitor) {
    let exclusive = graph.kind(vertex) != Graph::CLUSTER;
    for child in graph.children(vertex, Graph::CONTAINMENT) {
        show(graph, child, depth + 1, exclusive, visitor);
        visitor.edge(graph, vertex, child, Graph::CONTAINMENT, exclusive).unwrap();
    }
    let shown = EmittedVertex { under_exclusive: above, ..emitted(vertex, depth, exclusive) };
    visitor.vertex(graph, &shown).unwrap();
}

fn show_all(made: &Made, writer: &mut Writer) {
    show(&made.graph, made.vertices[0], 0, false, writer);
    writer.times(10, 70);
}

fn emit(writer: &mut Writer) -> Result<String, EmitError> {
    let mut out = String::from(">");
    let result = writer.emit(&mut out);
    let text = out.strip_prefix('>').unwrap().to_owned();
    assert!(result.is_ok() || text.is_empty(), "a failure leaves the text as it was");
    result.map(|()| text)
}

fn written(made: &Made, format: MatchFormat) -> String {
    let mut writer = Writer::new(format);
    show_all(made, &mut writer);
    emit(&mut writer).unwrap()
}

const SUBGRAPH: &str = concat!(
    r#"{"graph": {"nodes": ["#,
    r#"{"id": "2", "metadata": {"type": "core", "id": 0, "rank": 0, "exclusive": true, "paths": {"containment": "/cluster0/node0/core0"}}}, "#,
    r#"{"id": "3", "metadata": {"type": "core", "id": 1, "rank": 0, "exclusive": true, "paths": {"containment": "/cluster0/node0/core1"}}}, "#,
    r#"{"id": "4", "metadata": {"type": "gpu", "id": 0, "rank": 0, "exclusive": true, "paths": {"containment": "/cluster0/node0/gpu0"}}}, "#,
    r#"{"id": "1", "metadata": {"type": "node", "id": 0, "rank": 0, "exclusive": true, "paths": {"containment": "/cluster0/node0"}}}, "#,
    r#"{"id": "6", "metadata": {"type": "core", "id": 0, "rank": 1, "exclusive": true, "paths": {"containment": "/cluster0/node1/core0"}}}, "#,
    r#"{"id": "5", "metadata": {"type": "node", "id": 1, "rank": 1, "exclusive": true, "paths": {"containment": "/cluster0/node1"}}}, "#,
    r#"{"id": "0", "metadata": {"type": "cluster", "id": 0, "rank": -1, "paths": {"containment": "/cluster0"}}}"#,
    r#"], "edges": ["#,
    r#"{"source": "1", "target": "2"}, {"source": "1", "target": "3"}, {"source": "1", "target": "4"}, "#,
    r#"{"source": "0", "target": "1"}, {"source": "5", "target": "6"}, {"source": "0", "target": "5"}]}}"#,
);

const SHORT_SUBGRAPH: &str = concat!(
    r#"{"graph": {"nodes": ["#,
    r#"{"id": "1", "metadata": {"type": "node", "id": 0, "rank": 0, "exclusive": true, "paths": {"containment": "/cluster0/node0"}}}, "#,
    r#"{"id": "5", "metadata": {"type": "node", "id": 1, "rank": 1, "exclusive": true, "paths": {"containment": "/cluster0/node1"}}}, "#,
    r#"{"id": "0", "metadata": {"type": "cluster", "id": 0, "rank": -1, "paths": {"containment": "/cluster0"}}}"#,
    r#"], "edges": [{"source": "0", "target": "1"}, {"source": "0", "target": "5"}]}, "writer": "fluxion:jgf_shorthand"}"#,
);

const R_LITE: &str = r#"[{"rank": "1", "children": {"core": "0"}}, {"rank": "0", "children": {"core": "0-1", "gpu": "0"}}]"#;

/// What R has under `execution`.
const EXECUTION: &str = r#"[{"rank": "1", "children": {"core": "0"}}, {"rank": "0", "children": {"core": "0-1", "gpu": "0"}}], "nodelist": ["node[0-1]"], "starttime": 10, "expiration": 70}"#;

#[test]
fn simple() {
    assert_eq!(
        written(&two_nodes(), MatchFormat::Simple),
        "      ---------core0[1:x]\n      ---------core1[1:x]\n      ---------gpu0[1:x]\n      \
         ------node0[1:x]\n      ---------core0[1:x]\n      ------node1[1:x]\n      \
         ---cluster0[1:s]\n"
    );
}

#[test]
fn pretty_simple_has_the_lines_in_opposite_order() {
    assert_eq!(
        written(&two_nodes(), MatchFormat::PrettySimple),
        "      ---cluster0[1:shared]\n      ------node1[1:exclusive]\n      \
         ---------core0[1:exclusive]\n      ------node0[1:exclusive]\n      \
         ---------gpu0[1:exclusive]\n      ---------core1[1:exclusive]\n      \
         ---------core0[1:exclusive]\n"
    );
}

#[test]
fn simple_indents_any_depth() {
    let made = make(&[(None, "a", -1, -1)]);
    for depth in [0, 11, 12, 100] {
        let mut writer = Writer::new(MatchFormat::Simple);
        writer.vertex(&made.graph, &emitted(made.vertices[0], depth, false)).unwrap();
        let expected = format!("      {}a[1:s]\n", "---".repeat(depth as usize + 1));
        assert_eq!(emit(&mut writer), Ok(expected));
    }
}

#[test]
fn jgf() {
    assert_eq!(written(&two_nodes(), MatchFormat::Jgf), format!("{SUBGRAPH}\n"));
}

#[test]
fn jgf_shorthand_leaves_out_what_is_below_an_exclusive_vertex() {
    assert_eq!(written(&two_nodes(), MatchFormat::JgfShorthand), format!("{SHORT_SUBGRAPH}\n"));
}

#[test]
fn jgf_shorthand_says_so_only_once_it_left_something_out() {
    let made = two_nodes();
    let [cluster, node] = [made.vertices[0], made.vertices[1]];
    let mut writer = Writer::new(MatchFormat::JgfShorthand);
    let show_top = |writer: &mut Writer| {
        writer.vertex(&made.graph, &emitted(node, 1, true)).unwrap();
        writer.edge(&made.graph, cluster, node, Graph::CONTAINMENT, false).unwrap();
        writer.vertex(&made.graph, &emitted(cluster, 0, false)).unwrap();
        emit(writer).unwrap()
    };
    assert!(!show_top(&mut writer).contains("writer"));
    show_all(&made, &mut writer);
    assert!(emit(&mut writer).unwrap().contains("writer"));
    assert!(show_top(&mut writer).contains("writer"));
}

#[test]
fn rlite() {
    assert_eq!(written(&two_nodes(), MatchFormat::Rlite), format!("{R_LITE}\n"));
}

#[test]
fn rv1_nosched() {
    assert_eq!(
        written(&two_nodes(), MatchFormat::Rv1Nosched),
        format!("{{\"version\": 1, \"execution\": {{\"R_lite\": {EXECUTION}}}\n")
    );
}

#[test]
fn rv1() {
    for (format, subgraph) in
        [(MatchFormat::Rv1, SUBGRAPH), (MatchFormat::Rv1Shorthand, SHORT_SUBGRAPH)]
    {
        assert_eq!(
            written(&two_nodes(), format),
            format!(
                "{{\"version\": 1, \"execution\": {{\"R_lite\": {EXECUTION}, \"scheduling\": \
                 {subgraph}}}\n"
            )
        );
    }
}

#[test]
fn every_line_of_json_is_json() {
    for format in MatchFormat::ALL {
        if matches!(format, MatchFormat::Simple | MatchFormat::PrettySimple) {
            continue;
        }
        let mut writer = Writer::new(format);
        show_all(&two_nodes(), &mut writer);
        writer.attribute("queue", "batch");
        let text = emit(&mut writer).unwrap();
        let json: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(text.find('\n'), Some(text.len() - 1));
        let queue = json.pointer("/attributes/system/scheduler/queue");
        let has_queue = matches!(format, MatchFormat::Rv1 | MatchFormat::Rv1Shorthand);
        assert_eq!(queue.and_then(|queue| queue.as_str()), has_queue.then_some("batch"));
    }
}

#[test]
fn a_search_is_written_as_a_match_is() {
    let made = two_nodes();
    for format in MatchFormat::ALL {
        let mut writer = Writer::new(format);
        show(&made.graph, made.vertices[0], 0, false, &mut writer.for_find());
        writer.for_find().times(10, 70);
        let mut out = String::new();
        writer.emit_find(&mut out).unwrap();
        assert_eq!(out, written(&made, format));
    }
}

#[test]
fn attributes_stay_until_they_are_replaced() {
    let made = two_nodes();
    let mut writer = Writer::new(MatchFormat::Rv1);
    let end = |queue| {
        format!(
            ", \"attributes\": {{\"system\": {{\"scheduler\": {{\"queue\": \"{queue}\"}}}}}}}}\n"
        )
    };
    show_all(&made, &mut writer);
    writer.attribute("queue", "a\"b");
    assert!(emit(&mut writer).unwrap().ends_with(&end("a\\\"b")));
    show_all(&made, &mut writer);
    assert!(emit(&mut writer).unwrap().ends_with(&end("a\\\"b")));
    show_all(&made, &mut writer);
    writer.attribute("queue", "c");
    assert!(emit(&mut writer).unwrap().ends_with(&end("c")));
}

#[test]
fn jgf_tells_what_is_unusual_about_a_vertex() {
    let mut graph = Graph::new();
    let kind = graph.intern_type("memory").unwrap();
    let new = NewVertex {
        kind,
        basename: "mem\"",
        name: Some("mem\t"),
        id: i64::MIN,
        uniq_id: i64::MAX,
        rank: -1,
        size: 1,
        unit: "GB",
        status: Status::Up,
    };
    let memory = graph.add_vertex(&new).unwrap();
    let power = graph.intern_subsystem("power").unwrap();
    graph.set_root(Graph::CONTAINMENT, memory).unwrap();
    graph.set_root(power, memory).unwrap();
    graph.set_path(power, memory, "/a/b").unwrap();
    graph.set_property(memory, "z", "").unwrap();
    graph.set_property(memory, "a", "b\u{1}").unwrap();
    let mut writer = Writer::new(MatchFormat::Jgf);
    let used = |kind, used| Aggregate { kind, used, total: 8 };
    let shown = EmittedVertex {
        needs: u64::MAX,
        label: Some("l"),
        aggregates: &[used(Graph::NODE, 0), used(Graph::CORE, -3)],
        ..emitted(memory, 0, true)
    };
    writer.vertex(&graph, &shown).unwrap();
    writer.edge(&graph, memory, memory, power, false).unwrap();
    let expected = concat!(
        r#"{"graph": {"nodes": [{"id": "9223372036854775807", "metadata": {"type": "memory", "#,
        r#""basename": "mem\"", "name": "mem\t", "id": -9223372036854775808, "rank": -1, "#,
        r#""properties": {"a": "b\u0001", "z": ""}, "unit": "GB", "exclusive": true, "#,
        r#""size": 18446744073709551615, "paths": {"containment": "/mem\t", "power": "/a/b"}, "#,
        r#""ephemeral": {"label": "l"}, "#,
        r#""agfilter": {"core": "used:-3, total:8", "node": "used:0, total:8"}}}], "#,
        r#""edges": [{"source": "9223372036854775807", "target": "9223372036854775807", "#,
        r#""metadata": {"subsystem": "power"}}]}}"#,
        "\n"
    );
    assert_eq!(emit(&mut writer), Ok(expected.to_owned()));
}

#[test]
fn jgf_has_the_name_where_basename_and_id_do_not_make_it() {
    let name_key = |id: i64, name: Option<&str>| {
        let mut graph = Graph::new();
        let new = NewVertex {
            kind: Graph::CORE,
            basename: "core",
            name,
            id,
            uniq_id: 0,
            rank: 0,
            size: 1,
            unit: "",
            status: Status::Up,
        };
        let vertex = graph.add_vertex(&new).unwrap();
        let mut writer = Writer::new(MatchFormat::Jgf);
        writer.vertex(&graph, &emitted(vertex, 0, false)).unwrap();
        writer.edge(&graph, vertex, vertex, Graph::CONTAINMENT, false).unwrap();
        let json: serde_json::Value = serde_json::from_str(&emit(&mut writer).unwrap()).unwrap();
        let name = json.pointer("/graph/nodes/0/metadata/name");
        name.map(|name| name.as_str().unwrap().to_owned())
    };
    assert_eq!(name_key(7, None), None);
    assert_eq!(name_key(7, Some("core7")), None);
    assert_eq!(name_key(7, Some("core")).as_deref(), Some("core"));
    assert_eq!(name_key(-1, None).as_deref(), Some("core"));
    assert_eq!(name_key(-1, Some("core-1")), None);
    assert_eq!(name_key(-1, Some("core7")).as_deref(), Some("core7"));
}

#[test]
fn nothing_gathered() {
    for format in MatchFormat::ALL {
        let expected = match format {
            MatchFormat::Rlite => Err(EmitError::NothingGathered),
            _ => Ok(String::new()),
        };
        assert_eq!(emit(&mut Writer::new(format)), expected, "{format}");
    }
    assert_eq!(EmitError::NothingGathered.os_text(), "Invalid argument");
}

#[test]
fn jgf_keeps_vertices_without_edges_for_the_next_time() {
    let made = two_nodes();
    let mut writer = Writer::new(MatchFormat::Jgf);
    writer.vertex(&made.graph, &emitted(made.vertices[0], 0, false)).unwrap();
    assert_eq!(emit(&mut writer), Err(EmitError::NoEdges));
    assert_eq!(EmitError::NoEdges.os_text(), "No such file or directory");
    show_all(&made, &mut writer);
    let cluster = r#"{"id": "0", "metadata": {"type": "cluster", "id": 0, "rank": -1, "paths": {"containment": "/cluster0"}}}, "#;
    let expected = SUBGRAPH.replacen('[', &format!("[{cluster}"), 1);
    assert_eq!(emit(&mut writer), Ok(format!("{expected}\n")));
}

#[test]
fn jgf_keeps_edges_without_vertices_for_the_next_time() {
    let made = two_nodes();
    let [cluster, node] = [made.vertices[0], made.vertices[1]];
    let mut writer = Writer::new(MatchFormat::Jgf);
    writer.edge(&made.graph, cluster, node, Graph::CONTAINMENT, false).unwrap();
    assert_eq!(emit(&mut writer), Err(EmitError::NoVertices));
    writer.vertex(&made.graph, &emitted(node, 1, false)).unwrap();
    assert!(emit(&mut writer).unwrap().contains("\"edges\": [{"));
}

#[test]
fn rv1_writes_nothing_without_ranks_and_keeps_the_vertices() {
    let bare = make(&[(None, "cluster", 0, -1), (Some(0), "node", 0, 0)]);
    let mut writer = Writer::new(MatchFormat::Rv1);
    show_all(&bare, &mut writer);
    assert_eq!(emit(&mut writer), Ok(String::new()));
    show_all(&two_nodes(), &mut writer);
    assert_eq!(emit(&mut writer).unwrap().matches("\"type\": \"cluster\"").count(), 2);
}

#[test]
fn rv1_forgets_the_ranks_but_keeps_the_vertices_if_there_is_no_edge() {
    let made = make(&[(None, "node", 0, 0), (Some(0), "core", 0, 0)]);
    let mut writer = Writer::new(MatchFormat::Rv1);
    for &vertex in made.vertices.iter().rev() {
        writer.vertex(&made.graph, &emitted(vertex, 0, true)).unwrap();
    }
    assert_eq!(emit(&mut writer), Err(EmitError::NoEdges));
    assert_eq!(emit(&mut writer), Ok(String::new()));
    show_all(&two_nodes(), &mut writer);
    let text = emit(&mut writer).unwrap();
    assert!(text.contains(EXECUTION), "{text}");
    assert_eq!(text.matches("\"type\": \"node\"").count(), 3);
}

#[test]
fn a_negative_rank_makes_this_and_all_later_sets_fail() {
    let made = make(&[(None, "cluster", 0, -1), (Some(0), "node", 0, -1), (Some(1), "core", 0, 0)]);
    for format in [MatchFormat::Rlite, MatchFormat::Rv1, MatchFormat::Rv1Nosched] {
        let mut writer = Writer::new(format);
        show_all(&made, &mut writer);
        let error = EmitError::Id { what: "rank", id: -1 };
        assert_eq!(emit(&mut writer), Err(error.clone()));
        show_all(&two_nodes(), &mut writer);
        assert_eq!(emit(&mut writer), Err(error.clone()));
        assert_eq!(error.os_text(), "Invalid argument");
    }
}

#[test]
fn a_match_leaves_out_a_node_whose_cores_have_no_ids() {
    let made = make(&[(None, "cluster", 0, -1), (Some(0), "node", 0, 0), (Some(1), "core", -1, 0)]);
    let mut writer = Writer::new(MatchFormat::Rv1);
    show_all(&made, &mut writer);
    assert_eq!(emit(&mut writer), Ok(String::new()));
    // The core waits for ever, so that no other node gets in.
    show_all(&two_nodes(), &mut writer);
    assert_eq!(emit(&mut writer), Ok(String::new()));

    let mut writer = Writer::new(MatchFormat::Jgf);
    show_all(&made, &mut writer);
    assert!(emit(&mut writer).is_ok());
}

#[test]
fn a_search_fails_at_a_node_whose_cores_have_no_ids() {
    let made = make(&[(None, "node", 0, 0), (Some(0), "core", -1, 0)]);
    let mut writer = Writer::new(MatchFormat::Rlite);
    let mut visitor = writer.for_find();
    visitor.vertex(&made.graph, &emitted(made.vertices[1], 1, true)).unwrap();
    assert_eq!(
        visitor.vertex(&made.graph, &emitted(made.vertices[0], 0, true)),
        Err(Error::Visit("core id -1 is out of range: expected 0 to 2147483647".to_owned()))
    );
}

#[test]
fn ids_end_where_sets_end() {
    for (id, is_fine) in
        [(i64::from(i32::MAX), true), (1 << 31, false), (1 << 32, false), (i64::MIN, false)]
    {
        let made = make(&[(None, "node", 0, 0), (Some(0), "gpu", id, 0)]);
        let mut writer = Writer::new(MatchFormat::Rlite);
        let mut visitor = writer.for_find();
        visitor.vertex(&made.graph, &emitted(made.vertices[1], 1, true)).unwrap();
        let result = visitor.vertex(&made.graph, &emitted(made.vertices[0], 0, true));
        assert_eq!(result.is_ok(), is_fine, "{id}");
    }
}

#[test]
fn cores_wait_for_a_node() {
    let stray = make(&[(None, "cluster", 0, -1), (Some(0), "core", 9, -1)]);
    let mut writer = Writer::new(MatchFormat::Rlite);
    show_all(&stray, &mut writer);
    assert_eq!(emit(&mut writer), Err(EmitError::NothingGathered));
    show_all(&two_nodes(), &mut writer);
    assert_eq!(
        emit(&mut writer).unwrap(),
        concat!(
            r#"[{"rank": "1", "children": {"core": "0"}}, "#,
            r#"{"rank": "0", "children": {"core": "0-1,9", "gpu": "0"}}]"#,
            "\n"
        )
    );
}

#[test]
fn nodes_with_the_same_children_share_an_entry() {
    let mut rows = vec![(None, "cluster", 0, -1)];
    // Ranks fall while the walk goes on; storage nodes count as nodes, sockets do not count.
    for (rank, kind) in [(4, "node"), (3, "storage_node"), (1, "node"), (0, "node")] {
        let node = rows.len();
        rows.push((Some(0), kind, 10 + rank, rank));
        rows.push((Some(node), "socket", 0, rank));
        rows.push((Some(node + 1), "core", 3, rank));
        rows.push((Some(node + 1), "core", 1, rank));
        rows.push((Some(node + 1), "core", 1, rank));
    }
    let mut made = make(&rows);
    for (index, key, value) in
        [(1, "big", ""), (11, "big", ""), (16, "big", "yes"), (11, "a=", "b")]
    {
        made.graph.set_property(made.vertices[index], key, value).unwrap();
    }
    let text = written(&made, MatchFormat::Rv1Nosched);
    assert_eq!(
        text,
        concat!(
            r#"{"version": 1, "execution": {"#,
            r#""R_lite": [{"rank": "0-1,3-4", "children": {"core": "1,3"}}], "#,
            r#""nodelist": ["node[10-11],storage_node13,node14"], "#,
            r#""properties": {"a==b": "1", "big": "1,4", "big=yes": "0"}, "#,
            r#""starttime": 10, "expiration": 70}}"#,
            "\n"
        )
    );
}

#[test]
fn a_name_with_brackets_stands_for_hosts_and_an_unreadable_one_fails() {
    let named = |name: &str| {
        let mut made = make(&[(None, "node", 0, 0), (Some(0), "core", 0, 0)]);
        let new = NewVertex {
            kind: Graph::NODE,
            basename: "node",
            name: Some(name),
            id: 1,
            uniq_id: 9,
            rank: 1,
            size: 1,
            unit: "",
            status: Status::Up,
        };
        let node = made.graph.add_vertex(&new).unwrap();
        let mut writer = Writer::new(MatchFormat::Rv1Nosched);
        writer.vertex(&made.graph, &emitted(made.vertices[1], 0, true)).unwrap();
        writer.vertex(&made.graph, &emitted(node, 0, true)).unwrap();
        let text = emit(&mut writer)?;
        let json: serde_json::Value = serde_json::from_str(&text).unwrap();
        Ok(json["execution"]["nodelist"].to_string())
    };
    assert_eq!(named("a[1-2]").as_deref(), Ok(r#"["a[1-2]"]"#));
    assert_eq!(named("a b,c\t").as_deref(), Ok(r#"["a,b,c"]"#));
    assert_eq!(named("\"\\").as_deref(), Ok(r#"["\"\\"]"#));
    assert_eq!(named("").as_deref(), Ok(r#"[""]"#));
    let error = EmitError::Hostname { name: "a[".to_owned() };
    assert_eq!(error.os_text(), "Invalid argument");
    assert_eq!(named("a["), Err(error));
}

/// Two nodes of which one is fed by another, with names that need escapes.
fn export() -> Made {
    let mut made = make(&[(None, "cluster", 0, -1), (Some(0), "node", 0, 0)]);
    let graph = &mut made.graph;
    let new = NewVertex {
        kind: Graph::NODE,
        basename: "no<de",
        name: Some("a\"b\\\n\u{1}&"),
        id: -1,
        uniq_id: 7,
        rank: 1,
        size: 5_000_000_000,
        unit: "GB",
        status: Status::Down,
    };
    let odd = graph.add_vertex(&new).unwrap();
    let lost = graph.add_vertex(&NewVertex { uniq_id: 8, ..new.clone() }).unwrap();
    graph.add_edge(made.vertices[0], odd, Graph::CONTAINMENT).unwrap();
    let power = graph.intern_subsystem("power").unwrap();
    graph.add_edge(made.vertices[1], odd, power).unwrap();
    graph.set_root(power, made.vertices[1]).unwrap();
    graph.set_property(odd, "k", "v").unwrap();
    graph.set_property(odd, "l", "").unwrap();
    made.vertices.extend([odd, lost]);
    made
}

#[test]
fn dot() {
    let made = export();
    let mut out = String::new();
    write_dot(&made.graph, Graph::CONTAINMENT, &mut out);
    assert_eq!(
        out,
        "digraph G {\n0[label=\"cluster0\"];\n1[label=\"node0\"];\n2[label=\"a\\\"b\\\\\\n\u{1}&\"];\n\
         0->1 [label=\"containment\"];\n0->2 [label=\"containment\"];\n\
         1->2 [label=\"power\", style=dashed];\n}\n"
    );
}

#[test]
fn graphml() {
    let made = export();
    let mut out = String::new();
    write_graphml(&made.graph, &mut out);
    let document = roxmltree::Document::parse(&out).unwrap();
    let text_of = |element: roxmltree::Node<'_, '_>, attribute: &str| {
        let key = document
            .descendants()
            .find(|key| {
                key.attribute("attr.name") == Some(attribute)
                    && key.attribute("for") == Some(element.tag_name().name())
            })
            .and_then(|key| key.attribute("id"))
            .unwrap();
        let data = element.children().find(|data| data.attribute("key") == Some(key)).unwrap();
        data.text().unwrap_or_default().to_owned()
    };
    let named = |name| document.descendants().filter(move |node| node.has_tag_name(name));
    let ns = |name| ("http://graphml.graphdrawing.org/xmlns", name);
    let vertices: Vec<_> = named(ns("node")).collect();
    assert_eq!(vertices.len(), 3);
    let attributes = ["basename", "id", "member_of", "name", "paths", "props", "size", "type"];
    let attributes = attributes.into_iter().chain(["uniq_id", "unit"]);
    let odd: Vec<_> = attributes.map(|attribute| text_of(vertices[2], attribute)).collect();
    assert_eq!(
        odd,
        [
            "no<de",
            "-1",
            "{containment=containment,power=power}",
            "a\"b\\\n\u{fffd}&",
            "{containment=/cluster0/a\"b\\\n\u{fffd}&,power=/node0/a\"b\\\n\u{fffd}&}",
            "{k=v,l=}",
            "5000000000",
            "node",
            "7",
            "GB"
        ]
    );
    let edges: Vec<_> = named(ns("edge"))
        .map(|edge| {
            let end = |name| edge.attribute(name).unwrap_or_default().to_owned();
            (end("source"), end("target"), text_of(edge, "member_of"))
        })
        .collect();
    let edge = |source: &str, target: &str, subsystem: &str| {
        (source.to_owned(), target.to_owned(), format!("{{{subsystem}={subsystem}}}"))
    };
    assert_eq!(
        edges,
        [
            edge("n0", "n1", "containment"),
            edge("n0", "n2", "containment"),
            edge("n1", "n2", "power")
        ]
    );
}

#[test]
fn jgf_of_a_graph() {
    let made = export();
    let mut out = String::new();
    write_jgf_graph(&made.graph, &mut out);
    assert_eq!(
        out,
        concat!(
            r#"{"graph": {"nodes": ["#,
            "\n",
            r#"{"id": "0", "metadata": {"type": "cluster", "basename": "cluster", "name": "cluster0", "#,
            r#""id": 0, "uniq_id": 0, "rank": -1, "exclusive": false, "unit": "", "size": 1, "#,
            r#""paths": {"containment": "/cluster0"}}},"#,
            "\n",
            r#"{"id": "1", "metadata": {"type": "node", "basename": "node", "name": "node0", "#,
            r#""id": 0, "uniq_id": 1, "rank": 0, "exclusive": false, "unit": "", "size": 1, "#,
            r#""paths": {"containment": "/cluster0/node0", "power": "/node0"}}},"#,
            "\n",
            r#"{"id": "7", "metadata": {"type": "node", "basename": "no<de", "#,
            r#""name": "a\"b\\\n\u0001&", "id": -1, "uniq_id": 7, "rank": 1, "status": 1, "#,
            r#""properties": {"k": "v", "l": ""}, "exclusive": false, "unit": "GB", "#,
            r#""size": 5000000000, "paths": {"containment": "/cluster0/a\"b\\\n\u0001&", "#,
            r#""power": "/node0/a\"b\\\n\u0001&"}}}"#,
            "\n",
            r#"], "edges": ["#,
            "\n",
            r#"{"source": "0", "target": "1"},"#,
            "\n",
            r#"{"source": "0", "target": "7"},"#,
            "\n",
            r#"{"source": "1", "target": "7", "metadata": {"subsystem": "power"}}"#,
            "\n]}}\n"
        )
    );
}

#[test]
fn jgf_of_a_graph_numbers_the_vertices_where_their_ids_are_not_unique() {
    let mut made = two_nodes();
    let new = NewVertex {
        kind: Graph::CORE,
        basename: "core",
        name: None,
        id: 9,
        uniq_id: 0,
        rank: 1,
        size: 1,
        unit: "",
        status: Status::Up,
    };
    let core = made.graph.add_vertex(&new).unwrap();
    made.graph.add_edge(made.vertices[1], core, Graph::CONTAINMENT).unwrap();
    let mut out = String::new();
    write_jgf_graph(&made.graph, &mut out);
    let json: serde_json::Value = serde_json::from_str(&out).unwrap();
    let last = json.pointer("/graph/nodes/7").unwrap();
    assert_eq!(last["id"], "7");
    assert_eq!(last["metadata"]["uniq_id"], 0);
    assert!(out.contains("{\"source\": \"1\", \"target\": \"7\"}"));
}

#[test]
fn jgf_of_a_graph_is_read_back() {
    for made in [two_nodes(), export()] {
        let mut first = String::new();
        write_jgf_graph(&made.graph, &mut first);
        let options = crate::LoadOptions::default();
        let graph = crate::load(&first, crate::LoadFormat::Jgf, &options).unwrap();
        let mut second = String::new();
        write_jgf_graph(&graph, &mut second);
        // As in Fluxion, a graph read from JGF has no units.
        assert_eq!(second, first.replace("\"GB\"", "\"\""));
    }
}

#[test]
fn an_empty_graph_is_written() {
    let graph = Graph::new();
    let mut out = String::new();
    write_jgf_graph(&graph, &mut out);
    assert_eq!(out, "{\"graph\": {\"nodes\": [\n], \"edges\": [\n]}}\n");
    out.clear();
    write_dot(&graph, Graph::CONTAINMENT, &mut out);
    assert_eq!(out, "digraph G {\n}\n");
}
