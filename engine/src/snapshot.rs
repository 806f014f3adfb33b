//! Snapshots: all that decides later answers, as bytes.
//!
//! A snapshot begins with [`MAGIC`], the number of its format (4 bytes), the length of what follows
//! the header (8 bytes) and a checksum of that (8 bytes, XXH3 over the format and the rest); numbers
//! have their least byte first. The rest is a bincode image.
//!
//! What can be computed from the rest (trees, aggregates, timelines) is computed again when a
//! snapshot is restored; what searches remembered to be faster is forgotten. An image is not
//! trusted: every number in it is checked, and memory is taken in proportion to its length.

use std::fmt::Display;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

use crate::engine::{Engine, Job, JobSpan, Options, Traverser};
use crate::filter::{Filters, FiltersImage};
use crate::graph::{Graph, GraphImage};
use crate::planner::{Interval, Plan, PlanImage};
use crate::traverser::Shortcuts;
use crate::{Error, JobId, LimitKind, Limits, MatchPolicy, VertexId};

/// What every snapshot begins with.
const MAGIC: [u8; 8] = *b"fluxsnap";

/// The format that is written. Older ones stay readable: see `testdata/snapshots`.
const FORMAT: u32 = 1;

const HEADER: usize = MAGIC.len() + 4 + 8 + 8;

/// Format 1.
#[derive(Debug, Serialize, Deserialize)]
struct Image<'a> {
    #[serde(borrow)]
    options: OptionsImage<'a>,
    graph: GraphImage<'a>,
    /// Filters as they were before the trees were compiled, which adds to them.
    filters: Vec<FiltersImage>,
    plans: Vec<PlanImage>,
    jobs: Vec<JobImage>,
    nodes_up: i64,
    n_disowned: u64,
    labels: Vec<(u32, &'a str)>,
    drift: u32,
}

#[derive(Debug, Serialize, Deserialize)]
struct OptionsImage<'a> {
    #[serde(borrow)]
    subsystems: Vec<&'a str>,
    filters: &'a str,
    flexible: bool,
    horizon: i64,
    best_first: bool,
    shapes: bool,
}

#[derive(Debug, Serialize, Deserialize)]
struct JobImage {
    job: u64,
    start: i64,
    end: i64,
    reserved: bool,
    over: bool,
}

/// Returns an error about a place in a snapshot.
pub(crate) fn fault(place: impl Display, fault: impl Display) -> Error {
    Error::Snapshot { place: place.to_string(), fault: fault.to_string() }
}

/// Checks that a column has as many rows as it should.
pub(crate) fn column(name: &str, given: usize, expected: usize) -> Result<(), Error> {
    if given == expected {
        return Ok(());
    }
    Err(fault(name, format_args!("there are {given} rows rather than {expected}")))
}

fn checksum(format: u32, payload: &[u8]) -> u64 {
    let mut hasher = Xxh3::new();
    hasher.update(&format.to_le_bytes());
    hasher.update(payload);
    hasher.digest()
}

/// Returns the payload of a snapshot.
fn open<'a>(bytes: &'a [u8], limits: &Limits) -> Result<&'a [u8], Error> {
    if bytes.len() > limits.snapshot_bytes {
        return Err(limits.passed(LimitKind::SnapshotBytes));
    }
    let short = || fault("header", "the snapshot ends within it");
    let (magic, rest) = bytes.split_first_chunk::<8>().ok_or_else(short)?;
    if *magic != MAGIC {
        return Err(fault("header", "this is no snapshot"));
    }
    let (format, rest) = rest.split_first_chunk().ok_or_else(short)?;
    let format = u32::from_le_bytes(*format);
    if format != FORMAT {
        let unknown = format_args!("format {format} is unknown, the newest known is {FORMAT}");
        return Err(fault("header", unknown));
    }
    let (length, rest) = rest.split_first_chunk().ok_or_else(short)?;
    let (sum, payload) = rest.split_first_chunk().ok_or_else(short)?;
    let length = u64::from_le_bytes(*length);
    if length != payload.len() as u64 {
        let given = payload.len();
        return Err(fault(
            "length",
            format_args!("{given} bytes follow the header rather than {length}"),
        ));
    }
    if u64::from_le_bytes(*sum) != checksum(format, payload) {
        return Err(fault("checksum", "it does not fit what follows"));
    }
    Ok(payload)
}

impl Engine {
    /// Returns all that decides later answers but the policy. The same state gives the same bytes,
    /// but not only the same: see [`Self::digest`] for a comparison.
    ///
    /// **Complexity**: O(|V| + |E| + what is held).
    ///
    /// # Errors
    ///
    /// [`Error::Snapshot`], should something be too much for the format.
    pub fn snapshot(&self) -> Result<Vec<u8>, Error> {
        let mut bytes = vec![0; HEADER];
        let image = self.image();
        bincode::serde::encode_into_std_write(&image, &mut bytes, bincode::config::standard())
            .map_err(|error| fault("image", error))?;
        let payload = &bytes[HEADER..];
        let (length, sum) = (payload.len() as u64, checksum(FORMAT, payload));
        let header = [&MAGIC[..], &FORMAT.to_le_bytes(), &length.to_le_bytes(), &sum.to_le_bytes()];
        bytes[..HEADER].copy_from_slice(&header.concat());
        Ok(bytes)
    }

    /// Restores the engine of which a snapshot was made. `policy` must be the one that it had: it is
    /// not in the snapshot, nor are the limits.
    ///
    /// **Complexity**: as [`Self::new`], and O(n log n) in what is held.
    ///
    /// # Errors
    ///
    /// [`Error::Snapshot`] for what is no snapshot, [`Error::Limit`], and what [`Self::new`] fails with.
    pub fn restore(
        bytes: &[u8],
        policy: Box<dyn MatchPolicy>,
        limits: Limits,
    ) -> Result<Self, Error> {
        let payload = open(bytes, &limits)?;
        let (image, n_read): (Image<'_>, usize) =
            bincode::serde::borrow_decode_from_slice(payload, bincode::config::standard())
                .map_err(|error| fault("image", error))?;
        if n_read != payload.len() {
            return Err(fault("image", format_args!("it ends {n_read} bytes after the header")));
        }
        Self::from_image(&image, policy, limits)
    }

    fn image(&self) -> Image<'_> {
        let Options { subsystems, filters, traverser, horizon, shortcuts, .. } = &self.options;
        let options = OptionsImage {
            subsystems: subsystems.iter().map(String::as_str).collect(),
            filters,
            flexible: *traverser == Traverser::Flexible,
            horizon: *horizon,
            best_first: shortcuts.best_first,
            shapes: shortcuts.shapes,
        };
        let plans = self.touched.iter().filter_map(|pos| self.plan(pos)).map(Plan::image);
        let jobs = self.jobs.iter().map(|(&job, known)| JobImage {
            job: job.0,
            start: known.span.interval.start,
            end: known.span.interval.end,
            reserved: known.span.reserved,
            over: known.over,
        });
        let labels = self.memory.labels.iter();
        let mut labels: Vec<(u32, &str)> =
            labels.map(|(vertex, label)| (vertex.0, &**label)).collect();
        labels.sort_unstable();
        Image {
            options,
            graph: self.graph.image(),
            filters: self.filters_before.iter().map(Filters::image).collect(),
            plans: plans.collect(),
            jobs: jobs.collect(),
            nodes_up: self.nodes_up,
            n_disowned: self.n_disowned,
            labels,
            drift: self.memory.drift,
        }
    }

    fn from_image(
        image: &Image<'_>,
        policy: Box<dyn MatchPolicy>,
        limits: Limits,
    ) -> Result<Self, Error> {
        let given = &image.options;
        if given.horizon <= 0 {
            return Err(fault("options", format_args!("the horizon is second {}", given.horizon)));
        }
        let options = Options {
            subsystems: given.subsystems.iter().map(|&name| name.to_owned()).collect(),
            filters: given.filters.to_owned(),
            traverser: if given.flexible { Traverser::Flexible } else { Traverser::Simple },
            horizon: given.horizon,
            limits,
            shortcuts: Shortcuts { best_first: given.best_first, shapes: given.shapes },
        };
        let graph = Graph::from_image(&image.graph)?;
        column("filters", image.filters.len(), options.subsystems.len())?;
        let filters = image.filters.iter().map(|filters| Filters::from_image(filters, &graph));
        let filters = filters.collect::<Result<_, _>>()?;
        let mut engine = Self::assemble(graph, policy, options, filters)?;
        // Counts that were reached one by one are not near the ends of their ranges.
        let likely = image.nodes_up.unsigned_abs() < 1 << 62
            && image.n_disowned < 1 << 62
            && image.drift < 1 << 30;
        if !likely {
            return Err(fault("counters", "one of them is out of range"));
        }
        (engine.nodes_up, engine.n_disowned) = (image.nodes_up, image.n_disowned);
        engine.memory.drift = image.drift;
        for &(vertex, label) in &image.labels {
            if vertex as usize >= engine.graph.n_vertices() {
                return Err(fault("labels", format_args!("no vertex {vertex}")));
            }
            engine.memory.labels.insert(VertexId(vertex), label.into());
        }
        for plan in &image.plans {
            engine.restore_plan(plan)?;
        }
        for job in &image.jobs {
            let interval = Interval { start: job.start, end: job.end };
            let span = JobSpan { interval, reserved: job.reserved };
            let known = Job { span, vertices: Vec::new(), over: job.over };
            if engine.jobs.insert(JobId(job.job), known).is_some() {
                return Err(fault("jobs", format_args!("job {} is there twice", job.job)));
            }
        }
        engine.recount();
        engine.audit_holds().map_err(|error| match error {
            Error::Broken { place, fault } => Error::Snapshot { place, fault },
            other => other,
        })?;
        Ok(engine)
    }

    fn restore_plan(&mut self, image: &PlanImage) -> Result<(), Error> {
        let place = || format!("plan of vertex {}", image.vertex);
        let pos = self.tree.position(VertexId(image.vertex));
        let pos = pos.ok_or_else(|| fault(place(), "nothing leads to that vertex"))?;
        if self.plan(pos).is_some() {
            return Err(fault(place(), "it is there twice"));
        }
        let slot = self.tree.slots[pos as usize];
        let n_tracked = self.aggregates.totals(slot.totals).map_or(0, <[i64]>::len);
        let mut plan = Plan::from_image(image, self.tree.sizes[pos as usize], n_tracked)
            .map_err(|wrong| fault(place(), wrong))?;
        if let Some(weights) = &image.weights {
            let mut order = self.child_order(pos);
            for &(child, weight) in weights {
                let vertex = VertexId(child);
                let below = self.tree.position(vertex);
                if below.is_none_or(|below| !self.tree.children(pos).contains(&below)) {
                    return Err(fault(place(), format_args!("vertex {child} is not below it")));
                }
                order.set_weight(vertex, self.graph.uniq_id(vertex), weight);
            }
            plan.order = Some(Box::new(order));
        }
        self.tree.slots[pos as usize].plan = self.plans.add(plan);
        self.touched.insert(pos);
        Ok(())
    }
}
