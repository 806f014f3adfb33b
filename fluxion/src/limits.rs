//! All limits in one place.

use crate::Error;

/// Bounds on what an input may ask for: how large and how deep it is, how much memory comes of it,
/// and how much work.
///
/// What passes one is refused with an error that names the limit and its value. Each has a name of
/// two parts, such as `graph.vertices`, under which [`Self::set`] knows it.
///
/// | name                    | default | what is counted                                          |
/// |-------------------------|---------|----------------------------------------------------------|
/// | `jobspec.input_bytes`   | 2^24    | bytes of a jobspec                                       |
/// | `jobspec.depth`         | 128     | levels of nesting in it, those of constraints included   |
/// | `jobspec.resources`     | 2^16    | resources that it requests, each listed one counted once |
/// | `jobspec.nodes`         | 2^20    | values in it                                             |
/// | `jobspec.alias_nodes`   | 2^16    | values that YAML aliases repeat                          |
/// | `graph.input_bytes`     | 2^33    | bytes of a graph or of a resource set                    |
/// | `graph.depth`           | 256     | levels of nesting in XML, and of what a recipe makes     |
/// | `graph.xml_nodes`       | 2^24    | elements and texts of XML                                |
/// | `graph.vertices`        | 2^24    | vertices, also those that a range or a recipe stands for |
/// | `graph.edges`           | 2^25    | edges                                                    |
/// | `engine.depth`          | 256     | levels of vertices below each other                      |
/// | `engine.search_steps`   | 2^34    | looks at a vertex in one match or search                 |
/// | `engine.xor_variants`   | 1000    | requests that alternatives of `xor_slot` make            |
/// | `engine.planner_points` | 2^22    | times at which something starts or ends at one vertex    |
/// | `engine.snapshot_bytes` | 2^34    | bytes of a snapshot that is restored                     |
///
/// Ranges of counts, ids and hosts are not in the list: they are kept as ranges, so that their
/// length does not matter. What flux-core itself bounds, the hosts of one range and the ranges
/// between brackets, is [`jobspec::Hostlist::MAX_RANGE`] and [`jobspec::Hostlist::MAX_RANGES`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Bounds on jobspecs.
    pub jobspec: jobspec::Limits,
    /// Bounds on graphs and on resource sets.
    pub graph: jgf::Limits,
    /// Bounds on matches.
    pub engine: engine::Limits,
}

impl Limits {
    /// Gives each limit with its name.
    fn named(&mut self) -> [(&'static str, &mut usize); 15] {
        let Self { jobspec, graph, engine } = self;
        [
            (jobspec::LimitKind::InputBytes.name(), &mut jobspec.input_bytes),
            (jobspec::LimitKind::Depth.name(), &mut jobspec.depth),
            (jobspec::LimitKind::Resources.name(), &mut jobspec.resources),
            (jobspec::LimitKind::Nodes.name(), &mut jobspec.nodes),
            (jobspec::LimitKind::AliasNodes.name(), &mut jobspec.alias_nodes),
            (jgf::LimitKind::InputBytes.name(), &mut graph.input_bytes),
            (jgf::LimitKind::Depth.name(), &mut graph.depth),
            (jgf::LimitKind::XmlNodes.name(), &mut graph.xml_nodes),
            (jgf::LimitKind::Vertices.name(), &mut graph.vertices),
            (jgf::LimitKind::Edges.name(), &mut graph.edges),
            (engine::LimitKind::Depth.name(), &mut engine.depth),
            (engine::LimitKind::SearchSteps.name(), &mut engine.search_steps),
            (engine::LimitKind::XorVariants.name(), &mut engine.xor_variants),
            (engine::LimitKind::PlannerPoints.name(), &mut engine.planner_points),
            (engine::LimitKind::SnapshotBytes.name(), &mut engine.snapshot_bytes),
        ]
    }

    /// Returns the names of all limits and their values.
    pub fn all(&self) -> Vec<(&'static str, usize)> {
        self.clone().named().into_iter().map(|(name, value)| (name, *value)).collect()
    }

    /// Sets the limit called `name`.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownLimit`].
    pub fn set(&mut self, name: &str, value: usize) -> Result<(), Error> {
        let found = self.named().into_iter().find(|(known, _)| *known == name);
        let (_, limit) = found.ok_or_else(|| Error::UnknownLimit(name.to_owned()))?;
        *limit = value;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_set_by_name() {
        for (name, value) in Limits::default().all() {
            let mut limits = Limits::default();
            limits.set(name, value - 1).unwrap();
            assert_ne!(limits, Limits::default(), "{name}");
            let differ = limits.all().into_iter().zip(Limits::default().all());
            let changed: Vec<_> = differ.filter(|(one, other)| one != other).collect();
            assert_eq!(changed, [((name, value - 1), (name, value))]);
        }
        let error = Limits::default().set("graph.size", 1).unwrap_err();
        assert!(error.to_string().starts_with("unknown limit `graph.size`: expected one of"));
    }

    #[test]
    fn the_table_tells_names_and_defaults() {
        let source = include_str!("limits.rs");
        for (name, value) in Limits::default().all() {
            let power = format!("2^{}", value.ilog2());
            let told = if value > 1000 { power } else { value.to_string() };
            let cell = format!("`{name}`");
            assert!(source.contains(&format!("/// | {cell:<23} | {told:<7} |")), "{name} {told}");
            assert!(value <= 1000 || value.is_power_of_two());
        }
    }
}
