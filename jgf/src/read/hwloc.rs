//! hwloc XML: the topology of one node, as hwloc 1 or 2 exports it.
//!
//! What counts is not the document but the topology that hwloc makes of it with the filters that
//! Fluxion sets: caches and groups only where they add structure, of the devices the important
//! ones, no miscellaneous objects. Ids are logical indices: positions among the objects of a level.

use std::cmp::Ordering;

use engine::{Graph, NewVertex, Status, VertexId};
use roxmltree::Node;
use rustc_hash::FxHashSet;

use super::jgf::from_engine;
use super::xml::{parse, place, value};
use super::{LoadOptions, split_hostname};
use crate::{Error, LimitKind, Place};

// ---- sets --------------------------------------------------------------------------------------

/// A set of processors or of memory nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Bits {
    words: Vec<u32>,
    /// Whether all bits above the words are in the set.
    rest: bool,
}

impl Bits {
    /// Reads hwloc's form: 32-bit words in hexadecimal, highest first, separated by commas. The
    /// word `0xf...f` in front stands for all the words above.
    fn parse(text: &str) -> Option<Self> {
        let (text, rest) = match text.strip_prefix("0xf...f") {
            Some(text) => (text.strip_prefix(',').unwrap_or(text), true),
            None => (text, false),
        };
        let mut words = Vec::new();
        for word in text.split(',').rev().filter(|_| !text.is_empty()) {
            let digits = word.strip_prefix("0x").unwrap_or(word);
            let word = if digits.is_empty() { 0 } else { u32::from_str_radix(digits, 16).ok()? };
            words.push(word);
        }
        Some(Self { words, rest })
    }

    fn word(&self, index: usize) -> u32 {
        let rest = if self.rest { u32::MAX } else { 0 };
        self.words.get(index).copied().unwrap_or(rest)
    }

    fn is_empty(&self) -> bool {
        !self.rest && self.words.iter().all(|&word| word == 0)
    }

    fn intersect(&mut self, other: &Self) {
        let length = self.words.len().max(if self.rest { other.words.len() } else { 0 });
        self.words = (0..length).map(|index| self.word(index) & other.word(index)).collect();
        self.rest &= other.rest;
    }

    fn first(&self) -> Option<usize> {
        let word = self.words.iter().position(|&word| word != 0);
        match word {
            Some(index) => Some(index * 32 + self.words[index].trailing_zeros() as usize),
            None => self.rest.then_some(self.words.len() * 32),
        }
    }

    fn is_same(&self, other: &Self) -> bool {
        let length = self.words.len().max(other.words.len());
        self.rest == other.rest && (0..length).all(|index| self.word(index) == other.word(index))
    }
}

// ---- the topology ------------------------------------------------------------------------------

/// What an object is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Machine,
    Package,
    Die,
    Core,
    Pu,
    /// A cache of instructions alone or another, and its level.
    Cache {
        instructions: bool,
        level: u8,
    },
    /// Groups are of a level only with those of the same kind.
    Group {
        kind: u32,
        subkind: u32,
        dont_merge: bool,
    },
    NumaNode,
    MemCache,
    Bridge,
    PciDevice,
    OsDevice(u8),
    Misc,
}

/// Kinds of OS devices.
const BLOCK: u8 = 0;
const GPU: u8 = 1;
const DMA: u8 = 4;
const COPROCESSOR: u8 = 5;

impl Kind {
    fn is_io(self) -> bool {
        matches!(self, Self::Bridge | Self::PciDevice | Self::OsDevice(_))
    }

    fn is_memory(self) -> bool {
        matches!(self, Self::NumaNode | Self::MemCache)
    }

    fn is_normal(self) -> bool {
        !self.is_io() && !self.is_memory() && self != Self::Misc
    }

    /// Returns whether a level of it is dropped where it adds no structure.
    fn is_structural(self) -> bool {
        matches!(self, Self::Cache { .. } | Self::Group { .. })
    }

    /// Returns what decides which of two levels alike is kept.
    fn priority(self) -> u8 {
        match self {
            Self::Pu => 100,
            Self::Machine => 90,
            Self::Core => 60,
            Self::Package => 40,
            Self::Die => 30,
            Self::Cache { instructions: false, .. } => 20,
            Self::Cache { instructions: true, .. } => 19,
            _ => 0,
        }
    }
}

type Id = usize;

/// An object of the topology.
#[derive(Debug)]
struct Object<'a> {
    kind: Kind,
    cpuset: Option<Bits>,
    element: Node<'a, 'a>,
    parent: Option<Id>,
    normal: Vec<Id>,
    memory: Vec<Id>,
    io: Vec<Id>,
    logical_index: usize,
}

impl<'a> Object<'a> {
    fn info(&self, name: &str) -> Option<&'a str> {
        info(self.element, name)
    }
}

fn info<'a>(object: Node<'a, 'a>, name: &str) -> Option<&'a str> {
    object
        .children()
        .filter(|child| child.is_element() && child.tag_name().name() == "info")
        .find(|info| info.attribute("name") == Some(name))
        .and_then(|info| info.attribute("value"))
}

struct Topology<'a> {
    objects: Vec<Object<'a>>,
    /// Whether hwloc 1 wrote it.
    old: bool,
}

const ROOT: Id = 0;

/// Returns the kind of the object that an element describes.
fn kind(element: Node<'_, '_>, old: bool) -> Result<Kind, Error> {
    let name = element
        .attribute("type")
        .ok_or_else(|| Error::Missing { at: place(element), key: "type" })?;
    let number = |key| element.attribute(key).and_then(|text| text.parse::<u32>().ok());
    let cache = |level, instructions| Kind::Cache { instructions, level };
    let kind = match name {
        "Machine" | "System" => Kind::Machine,
        "Package" | "Socket" => Kind::Package,
        "Die" | "Tile" => Kind::Die,
        "Core" => Kind::Core,
        "PU" => Kind::Pu,
        "NUMANode" | "Node" => Kind::NumaNode,
        "MemCache" => Kind::MemCache,
        // hwloc 1 knew no dies, so hwloc 2 writes groups for it.
        "Group" if old && info(element, "Type") == Some("Die") => Kind::Die,
        "Group" => Kind::Group {
            kind: number("kind").unwrap_or(0),
            subkind: number("subkind").unwrap_or_else(|| number("depth").unwrap_or(0)),
            dont_merge: number("dont_merge").unwrap_or(0) != 0,
        },
        "Bridge" => Kind::Bridge,
        "PCIDev" => Kind::PciDevice,
        "OSDev" => {
            let kind = number("osdev_type").and_then(|kind| u8::try_from(kind).ok());
            Kind::OsDevice(kind.unwrap_or(u8::MAX))
        }
        "Misc" => Kind::Misc,
        "L1Cache" | "L1" => cache(1, false),
        "L2Cache" | "L2" => cache(2, false),
        "L3Cache" | "L3" => cache(3, false),
        "L4Cache" | "L4" => cache(4, false),
        "L5Cache" | "L5" => cache(5, false),
        "L1iCache" | "L1i" => cache(1, true),
        "L2iCache" | "L2i" => cache(2, true),
        "L3iCache" | "L3i" => cache(3, true),
        "Cache" if old => {
            let level = number("depth").and_then(|depth| u8::try_from(depth).ok()).unwrap_or(0);
            let instructions = number("cache_type") == Some(2);
            if !(1..=if instructions { 3 } else { 5 }).contains(&level) {
                return Err(value(element, "a cache of level 1 to 5", &level));
            }
            cache(level, instructions)
        }
        other => {
            return Err(value(element, "a type of hwloc objects", &format!("`{other}`")));
        }
    };
    Ok(kind)
}

impl<'a> Topology<'a> {
    fn read(root: Node<'a, 'a>) -> Result<Self, Error> {
        if root.tag_name().name() != "topology" {
            let found = format!("`{}`", root.tag_name().name());
            return Err(value(root, "the element `topology`", &found));
        }
        let old = match root.attribute("version") {
            None => true,
            Some(version) => match version.split('.').next() {
                Some("1") => true,
                Some("2") => false,
                _ => return Err(value(root, "version 1 or 2 of hwloc", &version)),
            },
        };
        let mut tops = objects(root);
        let machine =
            tops.next().ok_or_else(|| Error::Missing { at: place(root), key: "object" })?;
        let mut topology = Self { objects: Vec::new(), old };
        topology.add(machine, None)?;
        if topology.objects[ROOT].kind != Kind::Machine {
            return Err(value(machine, "a machine", &machine.attribute("type").unwrap_or("")));
        }
        let mut pending: Vec<(Node<'a, 'a>, Id)> = Vec::new();
        pending.extend(objects(machine).rev().map(|child| (child, ROOT)));
        // Depth first and in order: ids ascend as elements do.
        while let Some((element, above)) = pending.pop() {
            let parent = topology.add(element, Some(above))?;
            pending.extend(objects(element).rev().map(|child| (child, parent)));
        }
        Ok(topology)
    }

    /// Adds the object of `element` below `above` and returns what its children hang on.
    fn add(&mut self, element: Node<'a, 'a>, above: Option<Id>) -> Result<Id, Error> {
        let kind = kind(element, self.old)?;
        if let Some(above) = above
            && matches!(kind, Kind::Misc | Kind::MemCache | Kind::OsDevice(DMA))
        {
            return Ok(above);
        }
        let cpuset = match element.attribute("cpuset") {
            None => None,
            Some(text) => Some(
                Bits::parse(text)
                    .ok_or_else(|| value(element, "a set of processors", &format!("`{text}`")))?,
            ),
        };
        let id = self.objects.len();
        if kind == Kind::NumaNode
            && self.old
            && let Some(above) = above
        {
            // In hwloc 1 a memory node stood above its processors; since then it hangs beside.
            let same = match (&cpuset, &self.objects[above].cpuset) {
                (Some(own), Some(parent)) => own.is_same(parent),
                _ => false,
            };
            let group = if same {
                above
            } else {
                let kind = Kind::Group { kind: u32::MAX, subkind: 0, dont_merge: false };
                self.push(kind, cpuset.clone(), element, Some(above));
                id
            };
            self.push(kind, cpuset, element, Some(group));
            return Ok(group);
        }
        self.push(kind, cpuset, element, above);
        Ok(id)
    }

    fn push(
        &mut self,
        kind: Kind,
        cpuset: Option<Bits>,
        element: Node<'a, 'a>,
        parent: Option<Id>,
    ) {
        let id = self.objects.len();
        self.objects.push(Object {
            kind,
            cpuset,
            element,
            parent,
            normal: Vec::new(),
            memory: Vec::new(),
            io: Vec::new(),
            logical_index: 0,
        });
        if let Some(parent) = parent {
            let parent = &mut self.objects[parent];
            let list = if kind.is_io() {
                &mut parent.io
            } else if kind.is_memory() {
                &mut parent.memory
            } else {
                &mut parent.normal
            };
            list.push(id);
        }
    }

    /// Drops the processors that may not be used, and what is empty then.
    fn restrict(&mut self) {
        let Some(allowed) = self.objects[ROOT].element.attribute("allowed_cpuset") else {
            return;
        };
        let Some(allowed) = Bits::parse(allowed) else {
            return;
        };
        for object in &mut self.objects {
            if let Some(cpuset) = &mut object.cpuset {
                cpuset.intersect(&allowed);
            }
        }
        for id in (1..self.objects.len()).rev() {
            let object = &self.objects[id];
            let empty = object.cpuset.as_ref().is_none_or(Bits::is_empty);
            if object.kind.is_normal()
                && empty
                && object.normal.is_empty()
                && object.memory.is_empty()
                && object.io.is_empty()
                && let Some(parent) = object.parent
            {
                self.objects[parent].normal.retain(|&child| child != id);
            }
        }
    }

    /// Puts children into the order of their first processors.
    fn sort(&mut self) {
        let firsts: Vec<Option<usize>> = self
            .objects
            .iter()
            .map(|object| object.cpuset.as_ref().and_then(Bits::first))
            .collect();
        for object in &mut self.objects {
            object.normal.sort_by(|&a, &b| match (firsts[a], firsts[b]) {
                (Some(a), Some(b)) => a.cmp(&b),
                _ => Ordering::Equal,
            });
        }
    }

    /// Returns the normal objects level by level.
    fn levels(&self) -> Vec<Vec<Id>> {
        let mut levels = vec![vec![ROOT]];
        let mut open = self.objects[ROOT].normal.clone();
        while !open.is_empty() {
            let mut top = open
                .iter()
                .copied()
                .find(|&id| self.objects[id].kind != Kind::Pu)
                .unwrap_or(open[0]);
            for &id in &open {
                if !self.same_level(top, id) && self.is_above_like(id, top) {
                    top = id;
                }
            }
            let mut level = Vec::new();
            let mut next = Vec::new();
            for &id in &open {
                if self.same_level(top, id) {
                    level.push(id);
                    next.extend_from_slice(&self.objects[id].normal);
                } else {
                    next.push(id);
                }
            }
            levels.push(level);
            open = next;
        }
        levels
    }

    fn same_level(&self, a: Id, b: Id) -> bool {
        match (self.objects[a].kind, self.objects[b].kind) {
            (
                Kind::Group { kind, subkind, .. },
                Kind::Group { kind: other_kind, subkind: other_subkind, .. },
            ) => kind == other_kind && subkind == other_subkind,
            (a, b) => a == b,
        }
    }

    /// Returns whether there is something strictly below `upper` that is of a level with `like`.
    fn is_above_like(&self, upper: Id, like: Id) -> bool {
        let mut open = self.objects[upper].normal.clone();
        while let Some(id) = open.pop() {
            if self.same_level(id, like) {
                return true;
            }
            open.extend_from_slice(&self.objects[id].normal);
        }
        false
    }

    /// Drops the levels of caches and groups that are like the level above or below.
    fn merge_levels(&mut self) {
        let mut levels = self.levels();
        let mut lower = levels.len();
        while lower > 1 {
            lower -= 1;
            let upper = lower - 1;
            let (above, below) =
                (self.objects[levels[upper][0]].kind, self.objects[levels[lower][0]].kind);
            let mut replaces_parent = above.is_structural() && !self.is_held_apart(&levels[upper]);
            let mut replaces_child = below.is_structural() && !self.is_held_apart(&levels[lower]);
            if replaces_parent && replaces_child {
                if above.priority() >= below.priority() {
                    replaces_parent = false;
                } else {
                    replaces_child = false;
                }
            }
            if !(replaces_parent || replaces_child)
                || !self.is_alike(&levels[upper], &levels[lower])
            {
                continue;
            }
            for (&parent, &child) in levels[upper].iter().zip(&levels[lower]) {
                if replaces_parent {
                    self.take_place(child, parent);
                } else {
                    self.dissolve(child, parent);
                }
            }
            if replaces_parent {
                levels.remove(upper);
            } else {
                levels.remove(lower);
            }
        }
    }

    fn is_held_apart(&self, level: &[Id]) -> bool {
        level
            .iter()
            .any(|&id| matches!(self.objects[id].kind, Kind::Group { dont_merge: true, .. }))
    }

    fn is_alike(&self, upper: &[Id], lower: &[Id]) -> bool {
        upper.len() == lower.len()
            && upper.iter().zip(lower).all(|(&parent, &child)| {
                let above = &self.objects[parent];
                // Memory above processing units must not come to hang on them.
                self.objects[child].parent == Some(parent)
                    && above.normal.len() == 1
                    && (self.objects[child].kind != Kind::Pu || above.memory.is_empty())
            })
    }

    /// Puts `child` where its `parent` is.
    fn take_place(&mut self, child: Id, parent: Id) {
        let grandparent = self.objects[parent].parent;
        let mut memory = std::mem::take(&mut self.objects[parent].memory);
        let mut io = std::mem::take(&mut self.objects[parent].io);
        for &moved in memory.iter().chain(&io) {
            self.objects[moved].parent = Some(child);
        }
        memory.append(&mut self.objects[child].memory);
        io.append(&mut self.objects[child].io);
        self.objects[child].memory = memory;
        self.objects[child].io = io;
        self.objects[child].parent = grandparent;
        if let Some(grandparent) = grandparent {
            for slot in &mut self.objects[grandparent].normal {
                if *slot == parent {
                    *slot = child;
                }
            }
        }
    }

    /// Puts the children of `child` where it is.
    fn dissolve(&mut self, child: Id, parent: Id) {
        let normal = std::mem::take(&mut self.objects[child].normal);
        let mut memory = std::mem::take(&mut self.objects[child].memory);
        let mut io = std::mem::take(&mut self.objects[child].io);
        for &moved in normal.iter().chain(&memory).chain(&io) {
            self.objects[moved].parent = Some(parent);
        }
        self.objects[parent].normal = normal;
        self.objects[parent].memory.append(&mut memory);
        self.objects[parent].io.append(&mut io);
    }

    /// Numbers the objects of each level.
    fn number(&mut self) {
        for level in self.levels() {
            for (index, id) in level.into_iter().enumerate() {
                self.objects[id].logical_index = index;
            }
        }
        let (mut n_memory, mut n_devices) = (0, 0);
        for id in self.in_order() {
            let counter = match self.objects[id].kind {
                Kind::NumaNode => &mut n_memory,
                Kind::OsDevice(_) => &mut n_devices,
                _ => continue,
            };
            self.objects[id].logical_index = *counter;
            *counter += 1;
        }
    }

    /// Returns all objects, parents first; of children the normal ones, then memory, then devices.
    fn in_order(&self) -> Vec<Id> {
        let mut order = Vec::with_capacity(self.objects.len());
        let mut open = vec![ROOT];
        while let Some(id) = open.pop() {
            order.push(id);
            open.extend(self.children(id).rev());
        }
        order
    }

    fn children(&self, id: Id) -> impl DoubleEndedIterator<Item = Id> {
        let object = &self.objects[id];
        object.normal.iter().chain(&object.memory).chain(&object.io).copied()
    }
}

fn objects<'a>(parent: Node<'a, 'a>) -> impl DoubleEndedIterator<Item = Node<'a, 'a>> {
    parent.children().filter(|child| child.is_element() && child.tag_name().name() == "object")
}

// ---- the graph ---------------------------------------------------------------------------------

/// A resource of the graph that an object stands for.
struct Resource<'a> {
    kind: &'static str,
    basename: std::borrow::Cow<'a, str>,
    name: Option<&'a str>,
    id: i64,
    rank: i64,
    size: u64,
    device: Option<&'a str>,
}

/// The types of resources to keep; all if none is named.
struct Allowlist<'a>(FxHashSet<&'a str>);

impl Allowlist<'_> {
    fn allows(&self, name: &str) -> bool {
        self.0.is_empty() || self.0.contains(name)
    }
}

fn resource<'a>(
    object: &Object<'a>,
    allowlist: &Allowlist<'_>,
    options: &LoadOptions,
) -> Result<Option<Resource<'a>>, Error> {
    let mut resource = Resource {
        kind: "",
        basename: "".into(),
        name: None,
        id: i64::try_from(object.logical_index).unwrap_or(i64::MAX),
        rank: -1,
        size: 1,
        device: None,
    };
    let (kind, allowed) = match object.kind {
        Kind::Machine => {
            let Some(name) = object.info("HostName").filter(|_| allowlist.allows("node")) else {
                return Ok(None);
            };
            let (basename, id) = split_hostname(name).ok_or_else(|| {
                let expected = "a host name with a number of at most 63 bits";
                value(object.element, expected, &format!("`{name}`"))
            })?;
            resource.name = Some(name);
            resource.basename = basename.into();
            resource.id = id;
            resource.rank = 0;
            ("node", true)
        }
        Kind::Group { .. } => ("group", allowlist.allows("group")),
        Kind::NumaNode => ("numanode", allowlist.allows("numanode")),
        Kind::Package => ("socket", allowlist.allows("socket")),
        Kind::Core => ("core", allowlist.allows("core")),
        Kind::Pu => ("pu", allowlist.allows("pu")),
        Kind::Cache { instructions: false, level: level @ 1..=3 } => {
            let name = format!("L{level}cache");
            let allowed = allowlist.allows(&name);
            resource.basename = name.into();
            let bytes = object.element.attribute("cache_size").map_or(0, leading_integer);
            resource.size = u64::try_from(bytes / 1024).unwrap_or(0);
            ("cache", allowed)
        }
        Kind::OsDevice(device) => {
            let name = object.element.attribute("name").unwrap_or("");
            match device {
                COPROCESSOR => {}
                GPU if name.starts_with("rsmi") => {}
                BLOCK if allowlist.allows("storage") => {
                    return storage(object, &resource).map(Some);
                }
                _ => return Ok(None),
            }
            resource.id = gpu_id(name, resource.id).ok_or_else(|| {
                value(
                    object.element,
                    "the name of a device such as opencl0d0",
                    &format!("`{name}`"),
                )
            })?;
            let allowed = allowlist.allows("gpu");
            if allowed && let Some(remap) = options.remap.as_ref().filter(|remap| !remap.is_empty())
            {
                resource.id = remap.id(0, "gpu", resource.id).ok_or_else(|| {
                    value(object.element, "a gpu whose id is remapped", &format!("`{name}`"))
                })?;
            }
            ("gpu", allowed)
        }
        _ => return Ok(None),
    };
    resource.kind = kind;
    if resource.basename.is_empty() && resource.name.is_none() {
        resource.basename = kind.into();
    }
    Ok(allowed.then_some(resource))
}

fn storage<'a>(object: &Object<'a>, resource: &Resource<'a>) -> Result<Resource<'a>, Error> {
    // In units of 1000 bytes; the graph counts gigabytes.
    let size = object
        .info("Size")
        .ok_or_else(|| Error::Missing { at: place(object.element), key: "Size" })?;
    let size = match leading_integer(size) {
        0 | i64::MIN | i64::MAX => {
            return Err(value(object.element, "a size", &format!("`{size}`")));
        }
        size => size / 1_000_000,
    };
    Ok(Resource {
        kind: "storage",
        basename: "storage".into(),
        name: None,
        id: resource.id,
        rank: resource.rank,
        size: u64::try_from(size)
            .map_err(|_| value(object.element, "a size that is not negative", &size))?,
        device: Some(object.info("LinuxDeviceID").unwrap_or("-1")),
    })
}

/// Returns the number of a device among its like, which only its name tells; `index` for names of
/// other forms.
fn gpu_id(name: &str, index: i64) -> Option<i64> {
    if let Some(rest) = name.strip_prefix("cuda").or_else(|| name.strip_prefix("rsmi")) {
        return Some(leading_integer(rest));
    }
    match name.strip_prefix("opencl") {
        // The number of the platform, the letter d, the number of the device.
        Some(rest) => rest.split_once('d').map(|(_, device)| leading_integer(device)),
        None => Some(index),
    }
}

/// Reads the integer that a text begins with, 0 for none.
fn leading_integer(text: &str) -> i64 {
    let text = text.trim_start();
    let sign = usize::from(text.starts_with(['+', '-']));
    let digits = text[sign..].bytes().take_while(u8::is_ascii_digit).count();
    let limit = if text.starts_with('-') { i64::MIN } else { i64::MAX };
    if digits == 0 { 0 } else { text[..sign + digits].parse().unwrap_or(limit) }
}

pub(super) fn load(text: &str, options: &LoadOptions) -> Result<Graph, Error> {
    let document = parse(text, &options.limits)?;
    let mut topology = Topology::read(document.root_element())?;
    topology.restrict();
    topology.sort();
    topology.merge_levels();
    topology.number();
    let names = options.allowlist.as_deref().unwrap_or("");
    let allowlist = Allowlist(names.split(',').filter(|name| !name.is_empty()).collect());
    if allowlist.0.is_empty() && !names.is_empty() {
        return Err(Error::Value {
            at: Place::default(),
            expected: "an allowlist of resource types".into(),
            found: format!("`{names}`"),
        });
    }
    build(&topology, &allowlist, options)
}

fn build(
    topology: &Topology<'_>,
    allowlist: &Allowlist<'_>,
    options: &LoadOptions,
) -> Result<Graph, Error> {
    let mut graph = Graph::with_capacity(topology.objects.len() + 1);
    // To find a place takes time, so it is done for errors only.
    let add = |graph: &mut Graph, at: Node<'_, '_>, resource: &Resource<'_>| {
        if graph.n_vertices() >= options.limits.vertices {
            return Err(options.limits.passed(LimitKind::Vertices, place(at)));
        }
        add_vertex(graph, resource).map_err(|error| {
            let mut error = from_engine(error);
            if let Some(known) = error.place_mut() {
                *known = place(at);
            }
            error
        })
    };
    let cluster = Resource {
        kind: "cluster",
        basename: "cluster".into(),
        name: None,
        id: 0,
        rank: -1,
        size: 1,
        device: None,
    };
    let cluster = add(&mut graph, topology.objects[ROOT].element, &cluster)?;
    graph.set_root(Graph::CONTAINMENT, cluster).map_err(from_engine)?;
    let mut open = vec![(ROOT, cluster)];
    while let Some((id, above)) = open.pop() {
        let object = &topology.objects[id];
        let mut vertex = above;
        if let Some(resource) = resource(object, allowlist, options)? {
            vertex = add(&mut graph, object.element, &resource)?;
            graph.add_edge(above, vertex, Graph::CONTAINMENT).map_err(from_engine)?;
        }
        open.extend(topology.children(id).rev().map(|child| (child, vertex)));
    }
    Ok(graph)
}

fn add_vertex(graph: &mut Graph, resource: &Resource<'_>) -> Result<VertexId, engine::Error> {
    let vertex = NewVertex {
        kind: graph.intern_type(resource.kind)?,
        basename: &resource.basename,
        name: resource.name,
        id: resource.id,
        uniq_id: i64::try_from(graph.n_vertices()).unwrap_or(i64::MAX),
        rank: resource.rank,
        size: resource.size,
        unit: "",
        status: Status::Up,
    };
    let vertex = graph.add_vertex(&vertex)?;
    if let Some(device) = resource.device {
        graph.set_property(vertex, "LinuxDeviceID", device)?;
    }
    Ok(vertex)
}

#[cfg(test)]
mod tests {
    use super::super::describe::describe;
    use super::*;

    fn check(text: &str, allowlist: &str, expected: &str) {
        let options =
            LoadOptions { allowlist: Some(allowlist.to_owned()), ..LoadOptions::default() };
        match load(text, &options) {
            Ok(graph) => {
                let lines: Vec<String> = describe(&graph)
                    .lines()
                    .map(|line| {
                        let shown = line.split(' ').skip(2).filter(|word| *word != "uniq");
                        shown.collect::<Vec<_>>().join(" ")
                    })
                    .collect();
                let expected: Vec<&str> = expected.trim().lines().collect();
                assert_eq!(lines, expected, "{allowlist}");
            }
            Err(error) => assert_eq!(error.to_string(), expected, "{allowlist}"),
        }
    }

    fn paths(text: &str, allowlist: &str) -> Vec<String> {
        let options =
            LoadOptions { allowlist: Some(allowlist.to_owned()), ..LoadOptions::default() };
        let graph = load(text, &options).unwrap();
        let path = |vertex| graph.path(Graph::CONTAINMENT, vertex).unwrap();
        graph.vertices().skip(1).map(|vertex| path(vertex).replace("/cluster0", "")).collect()
    }

    fn object(kind: &str, cpuset: &str, inner: &str) -> String {
        format!("<object type=\"{kind}\" cpuset=\"{cpuset}\">{inner}</object>\n")
    }

    /// A machine as hwloc 2 writes it.
    fn machine(inner: &str) -> String {
        let host = "<info name=\"HostName\" value=\"fat007\"/>";
        let machine = object("Machine", "0x0000000f", &format!("{host}{inner}"));
        format!("<topology version=\"2.0\">{machine}</topology>")
    }

    fn cores(first: u32, n: u32) -> String {
        (first..first + n)
            .map(|core| {
                let cpuset = format!("{:#x}", 1_u32 << core);
                object("Core", &cpuset, &object("PU", &cpuset, ""))
            })
            .collect()
    }

    const DEVICES: &str = r#"<object type="Bridge"><object type="PCIDev">
        <object type="OSDev" osdev_type="2" name="eth0"/>
        <object type="OSDev" osdev_type="4" name="dma0"/>
        <object type="OSDev" osdev_type="0" name="sda"><info name="Size" value="5000000"/></object>
        <object type="OSDev" osdev_type="5" name="cuda3"/>
        <object type="OSDev" osdev_type="5" name="opencl0d2"/>
        <object type="OSDev" osdev_type="5" name="ve0"/>
        <object type="OSDev" osdev_type="1" name="rsmi1"/>
        <object type="OSDev" osdev_type="1" name="card0"/>
        </object></object>"#;

    #[test]
    fn objects_become_resources() {
        let text = machine(&(object("Package", "0xf", &(cores(0, 2) + DEVICES))));
        check(
            &text,
            "node,socket,core,gpu,storage",
            "
cluster0 id 0 0 /cluster0 -> 1
fat007 id 7 1 rank 0 /cluster0/fat007 -> 2
socket0 id 0 2 /cluster0/fat007/socket0 -> 3 4 5 6 7 8 9
core0 id 0 3 /cluster0/fat007/socket0/core0
core1 id 1 4 /cluster0/fat007/socket0/core1
storage1 id 1 5 size 5 LinuxDeviceID=-1 /cluster0/fat007/socket0/storage1
gpu3 id 3 6 /cluster0/fat007/socket0/gpu3
gpu2 id 2 7 /cluster0/fat007/socket0/gpu2
gpu4 id 4 8 /cluster0/fat007/socket0/gpu4
gpu1 id 1 9 /cluster0/fat007/socket0/gpu1",
        );
        assert_eq!(paths(&text, ",core,"), ["/core0", "/core1"]);
        assert_eq!(paths(&text, "pu,L1cache"), ["/pu0", "/pu1"]);
    }

    #[test]
    fn levels_without_structure_are_dropped() {
        let l2 = |first| {
            let cpuset = format!("{:#x}", 3_u32 << first);
            object("L2Cache", &cpuset, &object("L1Cache", &cpuset, &cores(first, 2)))
        };
        let text = machine(&object("Group", "0xf", &object("Package", "0xf", &(l2(0) + &l2(2)))));
        assert_eq!(
            paths(&text, ""),
            [
                "/fat007",
                "/fat007/socket0",
                "/fat007/socket0/L2cache0",
                "/fat007/socket0/L2cache0/core0",
                "/fat007/socket0/L2cache0/core0/pu0",
                "/fat007/socket0/L2cache0/core1",
                "/fat007/socket0/L2cache0/core1/pu1",
                "/fat007/socket0/L2cache1",
                "/fat007/socket0/L2cache1/core2",
                "/fat007/socket0/L2cache1/core2/pu2",
                "/fat007/socket0/L2cache1/core3",
                "/fat007/socket0/L2cache1/core3/pu3",
            ]
        );
        // With fewer cores than caches, a cache adds nothing to a core either.
        let one = object("L2Cache", "0x1", &cores(0, 1)) + &object("L2Cache", "0x2", &cores(1, 1));
        assert_eq!(paths(&machine(&one), "L2cache,core"), ["/core0", "/core1"]);
    }

    #[test]
    fn groups_stay_where_they_group() {
        let group = |kind: &str, first: u32| {
            let cpuset = format!("{:#x}", 3_u32 << first);
            format!(
                "<object type=\"Group\" kind=\"{kind}\" cpuset=\"{cpuset}\">{}</object>",
                cores(first, 2)
            )
        };
        assert_eq!(
            paths(&machine(&(group("1", 0) + &group("1", 2))), "group"),
            ["/group0", "/group1"]
        );
        // Groups of two kinds are two levels.
        assert_eq!(
            paths(&machine(&(group("1", 0) + &group("2", 2))), "group"),
            ["/group0", "/group0"]
        );
    }

    #[test]
    fn memory_of_hwloc_1_hangs_beside_its_processors() {
        let host = "<info name=\"HostName\" value=\"old\"/>";
        let numa = |first: u32| {
            let cpuset = format!("{:#x}", 3_u32 << first);
            let cache = format!(
                "<object type=\"Cache\" depth=\"2\" cache_type=\"0\" cache_size=\"2048\" \
                 cpuset=\"{cpuset}\">{}</object>",
                cores(first, 2)
            );
            object("NUMANode", &cpuset, &object("Socket", &cpuset, &cache))
        };
        let tops = object("Machine", "0xf", &format!("{host}{}{}", numa(0), numa(2)));
        let text = format!("<topology>{tops}</topology>");
        assert_eq!(
            paths(&text, "numanode,socket,group,L2cache"),
            ["/socket0", "/socket0/numanode0", "/socket1", "/socket1/numanode1"]
        );
        // Where it is for all processors it stays with the machine.
        let numa = object("NUMANode", "0xf", &object("Socket", "0xf", &cores(0, 4)));
        let text = format!(
            "<topology>{}</topology>",
            object("Machine", "0xf", &(host.to_owned() + &numa))
        );
        assert_eq!(
            paths(&text, "node,numanode,socket,group"),
            ["/old", "/old/socket0", "/old/numanode0"]
        );
    }

    #[test]
    fn what_is_not_allowed_is_left_out() {
        let text = machine(&cores(0, 4)).replacen(
            "cpuset=\"0x0000000f\"",
            "cpuset=\"0x0000000f\" allowed_cpuset=\"0x00000006\"",
            1,
        );
        check(
            &text,
            "core",
            "
cluster0 id 0 0 /cluster0 -> 1 2
core0 id 0 1 /cluster0/core0
core1 id 1 2 /cluster0/core1",
        );
    }

    #[test]
    fn faults_are_told_with_their_place() {
        let table: &[(String, &str)] = &[
            ("<topology version=\"2.0\"/>".to_owned(), "1:1 (/topology[1]): `object` is missing"),
            (
                format!("<topology>{}</topology>", object("Core", "0x1", "")),
                "1:11 (/topology[1]/object[1]): expected a machine, found Core",
            ),
            (
                "<topology version=\"3.0\"/>".to_owned(),
                "1:1 (/topology[1]): expected version 1 or 2 of hwloc, found 3.0",
            ),
            (
                machine(&object("Widget", "0x1", "")),
                "1:106 (/topology[1]/object[1]/object[1]): expected a type of hwloc objects, \
                 found `Widget`",
            ),
            (
                machine(&object("Core", "none", "")),
                "1:106 (/topology[1]/object[1]/object[1]): expected a set of processors, \
                 found `none`",
            ),
            (
                machine("<object type=\"OSDev\" osdev_type=\"0\" name=\"sda\"/>"),
                "1:106 (/topology[1]/object[1]/object[1]): `Size` is missing",
            ),
            (
                machine("<object type=\"OSDev\" osdev_type=\"5\" name=\"opencl\"/>"),
                "1:106 (/topology[1]/object[1]/object[1]): expected the name of a device such \
                 as opencl0d0, found `opencl`",
            ),
            (
                "<graphml/>".to_owned(),
                "1:1 (/graphml[1]): expected the element `topology`, found `graphml`",
            ),
            ("<topology><object".to_owned(), "1:18: the root node was opened but never closed"),
        ];
        for (text, expected) in table {
            check(text, "", expected);
        }
    }

    #[test]
    fn sets_are_read() {
        let bits = |text: &str| Bits::parse(text).unwrap();
        assert_eq!(bits("0x00000001,0x0").first(), Some(32));
        assert_eq!(bits("0x1,,0x0").first(), Some(64));
        assert_eq!(bits("0xf...f").first(), Some(0));
        assert_eq!(bits("0xf...f,0x00000000").first(), Some(32));
        assert_eq!(bits("0x0").first(), None);
        assert!(bits("").is_empty());
        assert!(bits("0x0,0x3").is_same(&bits("0x3")));
        assert!(!bits("0xf...f").is_same(&bits("0xffffffff")));
        let mut set = bits("0xf...f,0x0");
        set.intersect(&bits("0x5,0x5"));
        assert!(set.is_same(&bits("0x5,0x0")));
        assert_eq!(Bits::parse("0x123456789"), None);
        assert_eq!(Bits::parse("x"), None);
    }
}
