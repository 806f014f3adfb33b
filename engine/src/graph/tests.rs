use super::*;

/// Adds a vertex of type `kind` and returns it.
fn add(graph: &mut Graph, kind: &str, id: i64) -> VertexId {
    let kind_id = graph.intern_type(kind).unwrap();
    let uniq_id = graph.n_vertices() as i64;
    let (name, rank, size, unit, status) = (None, -1, 1, "", Status::Up);
    let vertex =
        NewVertex { kind: kind_id, basename: kind, name, id, uniq_id, rank, size, unit, status };
    graph.add_vertex(&vertex).unwrap()
}

/// Adds a vertex below `parent`.
fn add_below(graph: &mut Graph, parent: VertexId, kind: &str, id: i64) -> VertexId {
    let vertex = add(graph, kind, id);
    graph.add_edge(parent, vertex, Graph::CONTAINMENT).unwrap();
    vertex
}

/// Returns a graph of a cluster, its two nodes and the core of each.
fn two_nodes() -> (Graph, [VertexId; 5]) {
    let mut graph = Graph::new();
    let cluster = add(&mut graph, "cluster", 0);
    graph.set_root(Graph::CONTAINMENT, cluster).unwrap();
    let [first, second] = [0, 1].map(|id| add_below(&mut graph, cluster, "node", id));
    let cores = [first, second].map(|node| add_below(&mut graph, node, "core", 0));
    (graph, [cluster, first, second, cores[0], cores[1]])
}

fn path(graph: &Graph, vertex: VertexId) -> Option<String> {
    graph.path(Graph::CONTAINMENT, vertex)
}

#[test]
fn paths_are_made_of_names_from_the_root_down() {
    let (graph, [cluster, _, second, _, core]) = two_nodes();
    assert_eq!(path(&graph, cluster).as_deref(), Some("/cluster0"));
    assert_eq!(path(&graph, second).as_deref(), Some("/cluster0/node1"));
    assert_eq!(path(&graph, core).as_deref(), Some("/cluster0/node1/core0"));
}

#[test]
fn a_vertex_without_an_edge_has_no_path() {
    let (mut graph, _) = two_nodes();
    let alone = add(&mut graph, "node", 2);
    assert_eq!(path(&graph, alone), None);
    assert!(!graph.is_member(alone, Graph::CONTAINMENT));
    assert!(graph.find_path("/node2").is_empty());
}

#[test]
fn names_without_an_id_and_names_of_their_own() {
    let (mut graph, [cluster, ..]) = two_nodes();
    let login = add_below(&mut graph, cluster, "login", -1);
    assert_eq!(path(&graph, login).as_deref(), Some("/cluster0/login"));

    let kind = graph.intern_type("node").unwrap();
    let named = |name| NewVertex {
        kind,
        basename: "node",
        name: Some(name),
        id: 7,
        uniq_id: 99,
        rank: 3,
        size: 1,
        unit: "",
        status: Status::Down,
    };
    let fluke = graph.add_vertex(&named("fluke007")).unwrap();
    let plain = graph.add_vertex(&named("node7")).unwrap();
    assert_eq!((graph.name(fluke), graph.own_name(fluke)), ("fluke007".into(), Some("fluke007")));
    assert_eq!((graph.name(plain), graph.own_name(plain)), ("node7".into(), None));
    assert_eq!((graph.rank(fluke), graph.status(fluke)), (3, Status::Down));
}

#[test]
fn children_are_in_the_order_of_their_edges() {
    let (mut graph, [cluster, first, second, ..]) = two_nodes();
    let third = add_below(&mut graph, cluster, "node", -1);
    assert_eq!(graph.children(cluster, Graph::CONTAINMENT).as_slice(), [first, second, third]);
    assert_eq!(graph.parent(third, Graph::CONTAINMENT), Some(cluster));
    assert_eq!(graph.parent(cluster, Graph::CONTAINMENT), None);
    assert_eq!(graph.n_edges(), 5);
}

#[test]
fn a_path_finds_its_vertices() {
    let (graph, [cluster, first, _, core, _]) = two_nodes();
    assert_eq!(graph.find_path("/cluster0").as_slice(), [cluster]);
    assert_eq!(graph.find_path("/cluster0/node0").as_slice(), [first]);
    assert_eq!(graph.find_path("/cluster0/node0/core0").as_slice(), [core]);
    for unknown in ["", "/", "cluster0", "/cluster0/", "/cluster0/node2", "/node0"] {
        assert!(graph.find_path(unknown).is_empty(), "{unknown}");
    }
}

#[test]
fn a_path_finds_what_is_added_later() {
    let (mut graph, [cluster, ..]) = two_nodes();
    assert!(graph.find_path("/cluster0/node2").is_empty());
    let third = add_below(&mut graph, cluster, "node", 2);
    assert_eq!(graph.find_path("/cluster0/node2").as_slice(), [third]);
}

#[test]
fn a_path_of_siblings_alike_finds_all_of_them() {
    let (mut graph, [cluster, first, ..]) = two_nodes();
    let again = add_below(&mut graph, cluster, "node", 0);
    assert_eq!(graph.find_path("/cluster0/node0").as_slice(), [first, again]);
}

#[test]
fn a_given_path_counts_where_the_parents_tell_otherwise() {
    let (mut graph, [_, first, _, core, _]) = two_nodes();
    graph.set_path(Graph::CONTAINMENT, first, "/elsewhere/node0").unwrap();
    assert_eq!(path(&graph, first).as_deref(), Some("/elsewhere/node0"));
    assert_eq!(path(&graph, core).as_deref(), Some("/elsewhere/node0/core0"));
    assert!(graph.find_path("/cluster0/node0").is_empty());
    assert_eq!(graph.find_path("/elsewhere/node0").as_slice(), [first]);
    assert_eq!(graph.find_path("/elsewhere/node0/core0").as_slice(), [core]);

    graph.set_path(Graph::CONTAINMENT, first, "/cluster0/node0").unwrap();
    assert!(graph.given_paths.is_empty(), "what the parents tell is not kept");
    assert_eq!(graph.find_path("/cluster0/node0").as_slice(), [first]);
}

#[test]
fn a_given_path_makes_a_member_of_a_vertex_without_edges() {
    let (mut graph, _) = two_nodes();
    let power = graph.intern_subsystem("power").unwrap();
    let pdu = add(&mut graph, "pdu", 0);
    assert!(!graph.is_member(pdu, power));
    graph.set_path(power, pdu, "/power/pdu0").unwrap();
    assert!(graph.is_member(pdu, power));
    assert_eq!(graph.find_path("/power/pdu0").as_slice(), [pdu]);
    assert_eq!(path(&graph, pdu), None);
}

#[test]
fn subsystems_do_not_see_the_edges_of_others() {
    let (mut graph, [cluster, first, ..]) = two_nodes();
    let power = graph.intern_subsystem("power").unwrap();
    let pdu = add(&mut graph, "pdu", 0);
    graph.set_root(power, pdu).unwrap();
    graph.add_edge(pdu, first, power).unwrap();
    assert_eq!(graph.path(power, first).as_deref(), Some("/pdu0/node0"));
    assert_eq!(path(&graph, first).as_deref(), Some("/cluster0/node0"));
    assert_eq!(graph.children(pdu, Graph::CONTAINMENT).len(), 0);
    assert_eq!(graph.path(power, cluster), None);
    assert_eq!(graph.find_path("/pdu0/node0").as_slice(), [first]);
}

#[test]
fn an_edge_changes_its_subsystem() {
    let (mut graph, [cluster, first, ..]) = two_nodes();
    let power = graph.intern_subsystem("power").unwrap();
    graph.add_or_retag_edge(cluster, first, power).unwrap();
    assert_eq!(graph.n_edges(), 4);
    assert!(graph.children(cluster, power).contains(&first));
    assert!(graph.find_path("/cluster0/node0").is_empty());
    graph.add_or_retag_edge(first, cluster, power).unwrap();
    assert_eq!(graph.n_edges(), 5);
}

#[test]
fn a_second_root_is_refused() {
    let (mut graph, [cluster, first, ..]) = two_nodes();
    assert_eq!(graph.set_root(Graph::CONTAINMENT, cluster), Ok(()));
    let error = graph.set_root(Graph::CONTAINMENT, first).unwrap_err();
    assert_eq!(error.to_string(), "subsystem `containment` has two roots: `cluster0` and `node0`");
    assert_eq!(graph.root(Graph::CONTAINMENT), Some(cluster));
}

#[test]
fn unknown_vertices_are_refused_and_leave_no_edge() {
    let (mut graph, [cluster, ..]) = two_nodes();
    let n_edges = graph.n_edges();
    let unknown = VertexId::new(99).unwrap();
    let fault = Err(Error::UnknownVertex(unknown));
    assert_eq!(graph.add_edge(cluster, unknown, Graph::CONTAINMENT), fault);
    assert_eq!(graph.add_edge(unknown, cluster, Graph::CONTAINMENT), fault);
    assert_eq!(graph.add_or_retag_edge(cluster, unknown, Graph::CONTAINMENT), fault);
    assert_eq!(graph.set_root(Graph::CONTAINMENT, unknown), fault);
    assert_eq!(graph.set_path(Graph::CONTAINMENT, unknown, "/x"), fault);
    assert_eq!(graph.set_property(unknown, "fast", ""), fault);
    assert_eq!(graph.add_vertex_like(unknown, 0, 0, -1), Err(Error::UnknownVertex(unknown)));
    assert_eq!(graph.n_edges(), n_edges);
    assert_eq!(graph.n_vertices(), 5);
}

#[test]
fn a_cycle_is_refused() {
    let (mut graph, [cluster, _, _, core, _]) = two_nodes();
    assert!(Tree::compile(&graph, Graph::CONTAINMENT).is_ok());
    graph.add_edge(core, cluster, Graph::CONTAINMENT).unwrap();
    let error = Tree::compile(&graph, Graph::CONTAINMENT).unwrap_err();
    assert!(matches!(&error, Error::Cycle { subsystem, .. } if subsystem == "containment"));
}

#[test]
fn an_edge_back_to_the_parent_is_passed_over() {
    let (mut graph, [_, first, _, core, _]) = two_nodes();
    graph.add_edge(core, first, Graph::CONTAINMENT).unwrap();
    let tree = Tree::compile(&graph, Graph::CONTAINMENT).unwrap();
    assert_eq!(tree.len(), 5);
    assert_eq!(path(&graph, first).as_deref(), Some("/cluster0/node0"));
}

#[test]
fn a_cycle_away_from_the_root_has_no_paths() {
    let (mut graph, _) = two_nodes();
    let [one, other] = [5, 6].map(|id| add(&mut graph, "node", id));
    graph.add_edge(one, other, Graph::CONTAINMENT).unwrap();
    graph.add_edge(other, one, Graph::CONTAINMENT).unwrap();
    assert_eq!(path(&graph, one), None);
    assert!(Tree::compile(&graph, Graph::CONTAINMENT).is_ok());
}

#[test]
fn a_subsystem_without_a_root_is_refused() {
    let mut graph = Graph::new();
    let power = graph.intern_subsystem("power").unwrap();
    add(&mut graph, "pdu", 0);
    let error = Tree::compile(&graph, power).unwrap_err();
    assert_eq!(error, Error::NoRoot("power".to_owned()));
}

#[test]
fn numbers_that_do_not_fit_are_refused() {
    let mut graph = Graph::new();
    let vertex = |rank, size| NewVertex {
        kind: Graph::NODE,
        basename: "node",
        name: None,
        id: 0,
        uniq_id: 0,
        rank,
        size,
        unit: "",
        status: Status::Up,
    };
    for (rank, size) in [(i64::from(i32::MAX) + 1, 1), (0, 1 << 63)] {
        let error = graph.add_vertex(&vertex(rank, size)).unwrap_err();
        assert!(matches!(error, Error::OutOfRange { .. }), "{error}");
    }
    let model = graph.add_vertex(&vertex(-1, i64::MAX as u64)).unwrap();
    assert!(graph.add_vertex_like(model, 1, 1, 1 << 40).is_err());
    assert_eq!(graph.n_vertices(), 1);
}

#[test]
fn a_vertex_like_another_differs_by_its_numbers() {
    let (mut graph, [cluster, first, ..]) = two_nodes();
    let like = graph.add_vertex_like(first, 8, 42, 5).unwrap();
    graph.add_edge(cluster, like, Graph::CONTAINMENT).unwrap();
    assert_eq!((graph.uniq_id(like), graph.rank(like)), (42, 5));
    assert_eq!(graph.kind(like), graph.kind(first));
    assert_eq!(path(&graph, like).as_deref(), Some("/cluster0/node8"));
}

#[test]
fn properties_are_replaced() {
    let (mut graph, [_, first, second, ..]) = two_nodes();
    assert_eq!(graph.properties(first), None);
    graph.set_property(first, "speed", "low").unwrap();
    graph.set_property(first, "speed", "high").unwrap();
    let properties = graph.properties(first).unwrap();
    assert_eq!(
        properties.iter().map(|(k, v)| (&**k, &**v)).collect::<Vec<_>>(),
        [("speed", "high")]
    );
    assert_eq!(graph.properties(second), None);
}

#[test]
fn what_is_detached_belongs_to_nothing() {
    let (mut graph, [cluster, first, second, core, _]) = two_nodes();
    graph.set_property(first, "fast", "").unwrap();
    assert_eq!(graph.find_path("/cluster0/node0").len(), 1);
    graph.detach(&[first, core]);
    assert_eq!(graph.children(cluster, Graph::CONTAINMENT).as_slice(), [second]);
    assert_eq!((path(&graph, first), path(&graph, core)), (None, None));
    assert!(graph.find_path("/cluster0/node0").is_empty());
    assert_eq!(graph.properties(first), None);
    assert_eq!((graph.n_vertices(), graph.n_edges()), (5, 2));
}
