//! The validated jobspec, and how it is made from a document.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use crate::constraint::{Constraint, Property};
use crate::count::{Count, Operator};
use crate::error::{Dialect, Error, Feature, FeatureUse};
use crate::hostlist::Hostlist;
use crate::idset::Idset;
use crate::json;
use crate::limits::{LimitKind, Limits};
use crate::print;
use crate::range;
use crate::raw::{self, Entry, Kind, Node, Style};
use crate::span::{Location, Path, Span};
use crate::value::Value;
use crate::yaml;

/// A request to run one program.
///
/// Two jobspecs are equal if they ask for the same, wherever in a text and with
/// whatever spelling they were written.
///
/// The [`Display`](fmt::Display) form is YAML.
///
/// **Source**: RFC 14, and RFC 25 for version 1.
#[derive(Debug, Clone)]
pub struct Jobspec {
    /// The version of the language: 1, or 9999 for what is not standardized;
    /// Fluxion takes any from 1 to 9999.
    pub version: u32,
    /// The requested resources.
    pub resources: Vec<Resource>,
    /// What to run on them.
    pub tasks: Vec<Task>,
    /// Everything else.
    pub attributes: Attributes,
    extended: Vec<FeatureUse>,
}

/// A requested resource and what it must have below it.
///
/// **Source**: RFC 14, "Resources".
#[derive(Debug, Clone)]
pub struct Resource {
    /// The `type`, such as `node`, or `slot` for a task slot.
    pub kind: String,
    /// How many.
    pub count: Count,
    /// The unit of the count, such as `GB`.
    pub unit: Option<String>,
    /// Whether the resource is wanted for this job alone; `None` if the jobspec
    /// leaves it open.
    pub exclusive: Option<bool>,
    /// The name by which a task refers to a slot.
    pub label: Option<String>,
    /// Which resources may be taken.
    pub id: Option<String>,
    /// What the resource must have below it.
    pub with: Vec<Resource>,
    /// Where the resource stands in the text; not part of equality.
    pub span: Span,
}

/// A command and how often it runs on a slot.
///
/// **Source**: RFC 14, "Tasks".
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Task {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// The label of the slot to run on.
    pub slot: String,
    /// How many copies.
    pub count: Option<TaskCount>,
    /// A hint for the placement of copies.
    pub distribution: Option<String>,
    /// Free-form attributes.
    pub attributes: Option<BTreeMap<String, Value>>,
    /// Keys that the RFC does not know. Fluxion passes over them.
    pub other: BTreeMap<String, Value>,
}

/// How many copies of a task run.
///
/// **Source**: RFC 14, "Tasks", `count`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TaskCount {
    /// Copies per slot.
    PerSlot(u32),
    /// Copies in all.
    Total(u32),
    /// Copies per resource of a type within the slot; a feature of
    /// [`Dialect::Extended`].
    PerResource {
        /// The type.
        kind: String,
        /// Copies per resource.
        count: u32,
    },
    /// Any other key, or a value that is not a number. Fluxion passes over it.
    Other {
        /// The key.
        name: String,
        /// Its value.
        value: String,
    },
}

/// What a jobspec says beside resources and tasks.
///
/// **Source**: RFC 14, "Attributes".
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Attributes {
    /// For the scheduler and the execution system.
    pub system: System,
    /// For the user.
    pub user: Option<Value>,
}

/// Attributes for the scheduler and the execution system.
///
/// **Source**: RFC 14, "Attributes", `system`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct System {
    /// How long the resources are needed; 0 if not given or without limit.
    /// Fluxion's reader also lets negative and infinite ones pass, and what is
    /// not a number.
    ///
    /// **Units**: seconds.
    pub duration: f64,
    /// The queue to use.
    pub queue: Option<String>,
    /// The working directory.
    pub cwd: Option<String>,
    /// Environment variables to set, or to unset with `None`.
    pub environment: BTreeMap<String, Option<String>>,
    /// A condition on the resources.
    pub constraints: Option<Constraint>,
    /// All other keys.
    pub other: BTreeMap<String, Value>,
}

impl Jobspec {
    /// Returns a jobspec with these parts.
    pub fn new(
        version: u32,
        resources: Vec<Resource>,
        tasks: Vec<Task>,
        attributes: Attributes,
    ) -> Self {
        Self { version, resources, tasks, attributes, extended: Vec::new() }
    }

    /// Reads a jobspec in YAML or JSON, within the default [`Limits`].
    ///
    /// # Errors
    ///
    /// Returns an [`Error`] that says where the text departs from the dialect.
    ///
    /// **Complexity**: linear in the length of the text.
    ///
    /// **Source**: RFC 14.
    pub fn parse(text: &str, dialect: Dialect) -> Result<Self, Error> {
        Self::parse_with(text, dialect, &Limits::default())
    }

    /// Reads a jobspec in UTF-8 bytes; see [`Jobspec::parse`].
    ///
    /// # Errors
    ///
    /// As [`Jobspec::parse`], and [`Error::Encoding`] if the bytes are not
    /// UTF-8.
    pub fn parse_bytes(bytes: &[u8], dialect: Dialect) -> Result<Self, Error> {
        match str::from_utf8(bytes) {
            Ok(text) => Self::parse(text, dialect),
            Err(error) => {
                let offset = error.valid_up_to();
                Err(Error::Encoding {
                    at: Location::document(Span::locate(bytes, offset)),
                    byte: bytes.get(offset).copied().unwrap_or(0),
                })
            }
        }
    }

    /// Reads a jobspec within limits of choice; see [`Jobspec::parse`].
    ///
    /// # Errors
    ///
    /// As [`Jobspec::parse`].
    pub fn parse_with(text: &str, dialect: Dialect, limits: &Limits) -> Result<Self, Error> {
        // Positions are kept in 32 bits.
        let max = limits.input_bytes.min(u32::MAX as usize);
        if text.len() > max {
            return Err(Error::Limit {
                at: Location::document(Span::START),
                limit: LimitKind::InputBytes,
                max,
            });
        }
        let document = read(text, limits)?;
        let mut reader = Reader { dialect, limits, resources: 0, extended: Vec::new() };
        let mut jobspec = reader.jobspec(&document)?;
        jobspec.extended = reader.extended;
        Ok(jobspec)
    }

    /// Returns the uses of features that Fluxion does not support, in the order
    /// found.
    ///
    /// Empty for a jobspec that was read in [`Dialect::Fluxion`] or that was not
    /// read from a text.
    pub fn extended_features(&self) -> &[FeatureUse] {
        &self.extended
    }

    /// Returns the jobspec as JSON text on one line.
    ///
    /// Reading it back gives an equal jobspec.
    pub fn to_json(&self) -> String {
        print::json(&print::jobspec(self))
    }

    /// Returns the jobspec as YAML text.
    ///
    /// Reading it back gives an equal jobspec.
    pub fn to_yaml(&self) -> String {
        print::yaml(&print::jobspec(self))
    }
}

impl PartialEq for Jobspec {
    fn eq(&self, other: &Self) -> bool {
        self.version == other.version
            && self.resources == other.resources
            && self.tasks == other.tasks
            && self.attributes == other.attributes
    }
}

impl fmt::Display for Jobspec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_yaml())
    }
}

impl FromStr for Jobspec {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Self::parse(text, Dialect::default())
    }
}

impl Resource {
    /// The `kind` of a task slot.
    pub const SLOT: &'static str = "slot";

    /// Returns a resource of which nothing but type and count is given.
    pub fn new(kind: impl Into<String>, count: impl Into<Count>) -> Self {
        Self {
            kind: kind.into(),
            count: count.into(),
            unit: None,
            exclusive: None,
            label: None,
            id: None,
            with: Vec::new(),
            span: Span::START,
        }
    }

    /// Returns whether this is a task slot.
    pub fn is_slot(&self) -> bool {
        self.kind == Self::SLOT
    }
}

impl PartialEq for Resource {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind
            && self.count == other.count
            && self.unit == other.unit
            && self.exclusive == other.exclusive
            && self.label == other.label
            && self.id == other.id
            && self.with == other.with
    }
}

/// Reads a document as JSON if it is, and as YAML otherwise.
fn read<'a>(text: &'a str, limits: &Limits) -> Result<Node<'a>, Error> {
    if !json::looks_like_json(text) {
        return yaml::read(text, limits);
    }
    let locate = |offset| Location::document(Span::locate(text.as_bytes(), offset));
    match json::read(text, limits) {
        Ok(node) => Ok(node),
        Err(json::Stop::Limit { offset, limit }) => Err(Error::Limit {
            at: locate(offset),
            limit,
            max: match limit {
                LimitKind::Depth => limits.depth,
                _ => limits.nodes,
            },
        }),
        // A YAML mapping may begin as a JSON object does. If it is neither, the
        // reader that came further knows better what was meant.
        Err(json::Stop::Syntax { offset, message }) => match yaml::read(text, limits) {
            Err(Error::Syntax { at, .. }) if (at.span.offset as usize) < offset => {
                Err(Error::Syntax { at: locate(offset), message: message.to_owned() })
            }
            result => result,
        },
    }
}

/// Makes a jobspec of a document.
struct Reader<'l> {
    dialect: Dialect,
    limits: &'l Limits,
    resources: usize,
    extended: Vec<FeatureUse>,
}

/// The entries of a mapping whose keys are known.
struct Fields<'n, 'a, const N: usize> {
    node: &'n Node<'a>,
    known: [Option<&'n Node<'a>>; N],
    other: Vec<&'n Entry<'a>>,
}

impl<'n, 'a, const N: usize> Fields<'n, 'a, N> {
    fn of(
        node: &'n Node<'a>,
        names: [&'static str; N],
        expected: &'static str,
        path: &Path<'_>,
    ) -> Result<Self, Error> {
        let entries = node.mapping().ok_or_else(|| unexpected(node, expected, path))?;
        let mut known = [None; N];
        let mut other = Vec::new();
        for entry in entries {
            let index =
                entry.key.scalar().and_then(|key| names.iter().position(|name| *name == key));
            match index {
                None => other.push(entry),
                Some(index) if known[index].is_none() => known[index] = Some(&entry.value),
                Some(_) => return Err(duplicate(entry, path)),
            }
        }
        Ok(Self { node, known, other })
    }

    fn required(
        &self,
        index: usize,
        key: &'static str,
        path: &Path<'_>,
    ) -> Result<&'n Node<'a>, Error> {
        self.known[index].ok_or_else(|| Error::MissingKey { at: path.at(self.node.span), key })
    }

    fn len(&self) -> usize {
        self.known.iter().flatten().count() + self.other.len()
    }

    /// Refuses keys that are not known.
    fn closed(
        &self,
        names: &[&'static str],
        expected: &'static str,
        path: &Path<'_>,
    ) -> Result<(), Error> {
        match self.other.first() {
            None => Ok(()),
            Some(entry) => Err(unknown(entry, names, expected, path)),
        }
    }
}

const TOP: [&str; 4] = ["version", "resources", "tasks", "attributes"];
const RESOURCE: [&str; 7] = ["type", "count", "unit", "exclusive", "with", "label", "id"];
const COUNT: [&str; 4] = ["min", "max", "operator", "operand"];
const TASK: [&str; 5] = ["command", "slot", "count", "distribution", "attributes"];
const ATTRIBUTES: [&str; 2] = ["system", "user"];
const SYSTEM: [&str; 5] = ["duration", "queue", "cwd", "environment", "constraints"];

impl Reader<'_> {
    fn jobspec(&mut self, node: &Node<'_>) -> Result<Jobspec, Error> {
        let path = &Path::Document;
        let fields = Fields::of(node, TOP, "a mapping with the parts of a jobspec", path)?;
        let version = fields.required(0, TOP[0], path)?;
        let resources = fields.required(1, TOP[1], path)?;
        let tasks = fields.required(2, TOP[2], path)?;
        let attributes = fields.required(3, TOP[3], path)?;
        fields.closed(&TOP, "`version`, `resources`, `tasks` and `attributes`", path)?;
        Ok(Jobspec {
            version: version_of(version, &Path::Key(path, TOP[0]))?,
            resources: self.resources(resources, &Path::Key(path, TOP[1]))?,
            tasks: self.tasks(tasks, &Path::Key(path, TOP[2]))?,
            attributes: self.attributes(attributes, &Path::Key(path, TOP[3]))?,
            extended: Vec::new(),
        })
    }

    fn resources(&mut self, node: &Node<'_>, path: &Path<'_>) -> Result<Vec<Resource>, Error> {
        let items =
            node.sequence().ok_or_else(|| unexpected(node, "a sequence of resources", path))?;
        let mut resources = Vec::with_capacity(items.len());
        for (index, item) in items.iter().enumerate() {
            resources.push(self.resource(item, &Path::Index(path, index))?);
        }
        Ok(resources)
    }

    fn resource(&mut self, node: &Node<'_>, path: &Path<'_>) -> Result<Resource, Error> {
        self.resources += 1;
        if self.resources > self.limits.resources {
            return Err(Error::Limit {
                at: path.at(node.span),
                limit: LimitKind::Resources,
                max: self.limits.resources,
            });
        }
        let fields = Fields::of(node, RESOURCE, "a resource, which is a mapping", path)?;
        fields.closed(
            &RESOURCE,
            "`type`, `count`, `unit`, `exclusive`, `with`, `label` or `id`",
            path,
        )?;
        let kind = fields.required(0, "type", path)?;
        let kind = text(kind, "the name of a resource type", &Path::Key(path, "type"))?;
        let count = fields.required(1, "count", path)?;
        let count = self.count(count, &Path::Key(path, "count"))?;
        let [_, _, unit, exclusive, with, label, id] = fields.known;
        let optional = |node: Option<&Node<'_>>, key| {
            node.map(|node| text(node, "a string", &Path::Key(path, key))).transpose()
        };
        let label = optional(label, "label")?;
        if label.is_none() && kind == Resource::SLOT {
            return Err(Error::MissingKey { at: path.at(node.span), key: "label" });
        }
        Ok(Resource {
            kind,
            count,
            unit: optional(unit, "unit")?,
            exclusive: exclusive
                .map(|node| self.boolean(node, &Path::Key(path, "exclusive")))
                .transpose()?,
            label,
            id: optional(id, "id")?,
            with: match with {
                Some(node) => self.resources(node, &Path::Key(path, "with"))?,
                None => Vec::new(),
            },
            span: node.span,
        })
    }

    fn boolean(&mut self, node: &Node<'_>, path: &Path<'_>) -> Result<bool, Error> {
        let value = match node.scalar() {
            Some("true") => return Ok(true),
            Some("false") => return Ok(false),
            Some("True" | "TRUE") => true,
            Some("False" | "FALSE") => false,
            _ => return Err(unexpected(node, "`true` or `false`", path)),
        };
        self.extension(Feature::BooleanSpelling, node, path)?;
        Ok(value)
    }

    fn count(&mut self, node: &Node<'_>, path: &Path<'_>) -> Result<Count, Error> {
        const EXPECTED: &str = "a number up to 4294967295, or a mapping with `min`";
        match &node.kind {
            Kind::Scalar(text, _) => {
                if let Some(n) = raw::unsigned(text) {
                    return Ok(Count::fixed(n));
                }
                let (count, feature) = match range::decode(text) {
                    Ok(count) => (Some(count), Feature::CountRangeString),
                    Err(range::RangeError::Bound { expected, .. }) => {
                        return Err(unexpected(node, expected, path));
                    }
                    Err(_) => {
                        (Idset::decode(text).ok().and_then(Count::one_of), Feature::CountIdset)
                    }
                };
                let count = count.ok_or_else(|| unexpected(node, EXPECTED, path))?;
                self.extension(feature, node, path)?;
                Ok(count)
            }
            Kind::Mapping(_) => self.count_range(node, path),
            Kind::Null | Kind::Sequence(_) => Err(unexpected(node, EXPECTED, path)),
        }
    }

    fn count_range(&mut self, node: &Node<'_>, path: &Path<'_>) -> Result<Count, Error> {
        // Fluxion passes over further keys.
        let fields = Fields::of(node, COUNT, "a count", path)?;
        let [_, max, operator, operand] = fields.known;
        let number = |node: &Node<'_>, key| {
            node.scalar()
                .and_then(raw::unsigned)
                .ok_or_else(|| unexpected(node, "a number up to 4294967295", &Path::Key(path, key)))
        };
        let min = number(fields.required(0, "min", path)?, "min")?;
        let max_given = max.map(|node| number(node, "max")).transpose()?;
        let symbol = |node: &Node<'_>| {
            let mut symbols = node.scalar()?.trim_end_matches(raw::is_space).chars();
            let operator = Operator::from_symbol(symbols.next()?)?;
            symbols.next().is_none().then_some(operator)
        };
        let operator_given = operator
            .map(|node| {
                symbol(node).ok_or_else(|| {
                    unexpected(node, "`+`, `*` or `^`", &Path::Key(path, "operator"))
                })
            })
            .transpose()?;
        let operand_given = operand
            .map(|node| {
                node.scalar()
                    .and_then(raw::signed)
                    .and_then(|number| u32::try_from(number).ok())
                    .ok_or_else(|| {
                        unexpected(node, "a number up to 2147483647", &Path::Key(path, "operand"))
                    })
            })
            .transpose()?;
        for (given, needed, key) in [(operator, operand, COUNT[3]), (operand, operator, COUNT[2])] {
            if given.is_some() && needed.is_none() {
                return Err(Error::MissingKey { at: path.at(node.span), key });
            }
        }
        let count = Count::range(
            min,
            max_given.unwrap_or(Count::UNBOUNDED),
            operator_given.unwrap_or_default(),
            operand_given.unwrap_or(1),
        );
        if let Some(rule) = range::broken_rule(&count) {
            let (key, at) = match rule.split('`').nth(1) {
                Some("max") => ("max", max),
                Some("operand") => ("operand", operand),
                _ => ("min", fields.known[0]),
            };
            let at = at.unwrap_or(node);
            return Err(unexpected(at, rule, &Path::Key(path, key)));
        }
        if max.is_some() != operator.is_some() {
            self.extension(Feature::CountPartialRange, node, path)?;
        }
        Ok(count)
    }

    fn tasks(&mut self, node: &Node<'_>, path: &Path<'_>) -> Result<Vec<Task>, Error> {
        let items = node.sequence().ok_or_else(|| unexpected(node, "a sequence of tasks", path))?;
        items
            .iter()
            .enumerate()
            .map(|(index, item)| self.task(item, &Path::Index(path, index)))
            .collect()
    }

    fn task(&mut self, node: &Node<'_>, path: &Path<'_>) -> Result<Task, Error> {
        let fields = Fields::of(node, TASK, "a task, which is a mapping", path)?;
        let command = fields.required(0, "command", path)?;
        let command_path = Path::Key(path, "command");
        let command = command
            .sequence()
            .ok_or_else(|| unexpected(command, "a sequence of strings", &command_path))?
            .iter()
            .enumerate()
            .map(|(index, item)| text_or_null(item, "a string", &Path::Index(&command_path, index)))
            .collect::<Result<_, _>>()?;
        let slot = fields.required(1, "slot", path)?;
        let slot = text(slot, "the label of a slot", &Path::Key(path, "slot"))?;
        let [_, _, count, distribution, attributes] = fields.known;
        // Fluxion takes any further key, but counts them.
        match fields.len() {
            ..3 => {
                return Err(Error::MissingKey { at: path.at(node.span), key: "count" });
            }
            3..=5 => {}
            _ => {
                fields.closed(
                    &TASK,
                    "`command`, `slot`, `count`, `distribution` or `attributes`",
                    path,
                )?;
            }
        }
        Ok(Task {
            command,
            slot,
            count: count
                .map(|node| self.task_count(node, &Path::Key(path, "count")))
                .transpose()?,
            distribution: distribution
                .map(|node| text(node, "a string", &Path::Key(path, "distribution")))
                .transpose()?,
            attributes: attributes
                .map(|node| self.task_attributes(node, &Path::Key(path, "attributes")))
                .transpose()?,
            other: others(&fields.other, path)?,
        })
    }

    fn task_count(&mut self, node: &Node<'_>, path: &Path<'_>) -> Result<TaskCount, Error> {
        const EXPECTED: &str = "a mapping with one of `per_slot`, `total` and `per_resource`";
        let Some([entry]) = node.mapping() else {
            return Err(unexpected(node, EXPECTED, path));
        };
        let name = key(entry, path)?;
        let value_path = Path::Key(path, name);
        if let Some(text) = entry.value.scalar_or_null() {
            return Ok(match (name, raw::unsigned(text)) {
                ("per_slot", Some(count)) => TaskCount::PerSlot(count),
                ("total", Some(count)) => TaskCount::Total(count),
                _ => TaskCount::Other { name: name.to_owned(), value: text.to_owned() },
            });
        }
        if name != "per_resource" {
            return Err(unexpected(&entry.value, "a number", &value_path));
        }
        let names = ["type", "count"];
        let expected = "a mapping with `type` and `count`";
        let fields = Fields::of(&entry.value, names, expected, &value_path)?;
        fields.closed(&names, "`type` and `count`", &value_path)?;
        let kind = fields.required(0, "type", &value_path)?;
        let count = fields.required(1, "count", &value_path)?;
        let result = TaskCount::PerResource {
            kind: text(kind, "the name of a resource type", &Path::Key(&value_path, "type"))?,
            count: count.scalar().and_then(raw::unsigned).filter(|&count| count > 0).ok_or_else(
                || unexpected(count, "a positive number", &Path::Key(&value_path, "count")),
            )?,
        };
        self.extension(Feature::TaskCountPerResource, &entry.value, &value_path)?;
        Ok(result)
    }

    fn task_attributes(
        &mut self,
        node: &Node<'_>,
        path: &Path<'_>,
    ) -> Result<BTreeMap<String, Value>, Error> {
        let entries = node.mapping().ok_or_else(|| unexpected(node, "a mapping", path))?;
        let mut attributes = BTreeMap::new();
        for entry in entries {
            let name = key(entry, path)?;
            if entry.value.scalar_or_null().is_none() {
                self.extension(Feature::TaskAttributeTree, &entry.value, &Path::Key(path, name))?;
            }
            let value = Value::from_node(&entry.value);
            if attributes.insert(name.to_owned(), value).is_some() {
                return Err(duplicate(entry, path));
            }
        }
        Ok(attributes)
    }

    fn attributes(&mut self, node: &Node<'_>, path: &Path<'_>) -> Result<Attributes, Error> {
        if node.is_null() {
            return Ok(Attributes::default());
        }
        let expected = "a mapping with `system` and `user`, or null";
        let fields = Fields::of(node, ATTRIBUTES, expected, path)?;
        fields.closed(&ATTRIBUTES, "`system` or `user`", path)?;
        let [system, user] = fields.known;
        Ok(Attributes {
            system: match system {
                Some(node) => self.system(node, &Path::Key(path, "system"))?,
                None => System::default(),
            },
            user: user.map(Value::from_node),
        })
    }

    fn system(&mut self, node: &Node<'_>, path: &Path<'_>) -> Result<System, Error> {
        if holds_nothing(node) {
            return Ok(System::default());
        }
        let fields = Fields::of(node, SYSTEM, "a mapping of system attributes", path)?;
        let [duration, queue, cwd, environment, constraints] = fields.known;
        let optional = |node: Option<&Node<'_>>, key| match node {
            Some(node) if !node.is_null() => {
                text(node, "a string", &Path::Key(path, key)).map(Some)
            }
            _ => Ok(None),
        };
        Ok(System {
            duration: duration
                .map(|node| {
                    node.scalar().and_then(raw::float).ok_or_else(|| {
                        unexpected(node, "a number of seconds", &Path::Key(path, "duration"))
                    })
                })
                .transpose()?
                .unwrap_or(0.0),
            queue: optional(queue, "queue")?,
            cwd: optional(cwd, "cwd")?,
            environment: match environment {
                Some(node) => environment_of(node, &Path::Key(path, "environment"))?,
                None => BTreeMap::new(),
            },
            constraints: constraints
                .map(|node| self.constraint(node, &Path::Key(path, "constraints")))
                .transpose()?,
            other: {
                if let Some(entry) = fields.other.iter().find(|entry| {
                    // Fluxion reads these keys as text.
                    entry.key.scalar_or_null().is_none()
                }) {
                    return Err(unexpected(&entry.key, "a key", path));
                }
                others(&fields.other, path)?
            },
        })
    }

    fn constraint(&mut self, node: &Node<'_>, path: &Path<'_>) -> Result<Constraint, Error> {
        const EXPECTED: &str = "a mapping with one operator";
        let entry = match node.mapping() {
            Some([]) => return Ok(Constraint::Any),
            Some([entry]) => entry,
            _ => return Err(unexpected(node, EXPECTED, path)),
        };
        let operator = key(entry, path)?;
        let names = ["properties", "hostlist", "ranks", "and", "or", "not"];
        if !names.contains(&operator) {
            return Err(unknown(entry, &names, Constraint::OPERATORS, path));
        }
        let path = &Path::Key(path, operator);
        let items =
            entry.value.sequence().ok_or_else(|| unexpected(&entry.value, "a sequence", path))?;
        Ok(match operator {
            "properties" => {
                let mut properties = Vec::with_capacity(items.len());
                for (index, item) in items.iter().enumerate() {
                    properties.push(self.property(item, &Path::Index(path, index))?);
                }
                Constraint::Properties(properties)
            }
            "hostlist" => {
                let mut hosts = Hostlist::new();
                for (index, item) in items.iter().enumerate() {
                    let path = &Path::Index(path, index);
                    let list = item
                        .scalar_or_null()
                        .ok_or_else(|| unexpected(item, "a host list", path))?;
                    hosts
                        .decode_append(list)
                        .map_err(|error| misfit(item, &error.to_string(), path))?;
                }
                Constraint::Hostlist(hosts)
            }
            "ranks" => {
                let mut ranks = Idset::new();
                for (index, item) in items.iter().enumerate() {
                    let path = &Path::Index(path, index);
                    ranks.extend_from(&rank_set(item, path)?);
                }
                Constraint::Ranks(ranks)
            }
            _ => {
                let mut operands = Vec::with_capacity(items.len());
                for (index, item) in items.iter().enumerate() {
                    operands.push(self.constraint(item, &Path::Index(path, index))?);
                }
                match operator {
                    "and" => Constraint::And(operands),
                    "or" => Constraint::Or(operands),
                    _ => Constraint::Not(operands),
                }
            }
        })
    }

    fn property(&mut self, node: &Node<'_>, path: &Path<'_>) -> Result<Property, Error> {
        const EXPECTED: &str = "a property name in quotes";
        let (text, style) = match &node.kind {
            Kind::Scalar(text, style) => (text, *style),
            _ => return Err(unexpected(node, EXPECTED, path)),
        };
        let quoted = style == Style::Quoted;
        let is_text = match style {
            Style::Quoted | Style::TaggedText => true,
            Style::Plain => matches!(Value::from_plain(text), Value::String(_)),
            Style::TaggedPlain => false,
        };
        if !is_text {
            return Err(unexpected(node, EXPECTED, path));
        }
        let property = Property::decode(text)
            .ok_or_else(|| unexpected(node, "a property name without any of !&'\"^`|()", path))?;
        if !quoted {
            self.extension(Feature::UnquotedProperty, node, path)?;
        }
        Ok(property)
    }

    /// Notes the use of a feature, or refuses it.
    fn extension(
        &mut self,
        feature: Feature,
        node: &Node<'_>,
        path: &Path<'_>,
    ) -> Result<(), Error> {
        let at = path.at(node.span);
        match self.dialect {
            Dialect::Fluxion => Err(Error::Unsupported { at, feature, found: node.describe() }),
            Dialect::Extended => {
                self.extended.push(FeatureUse { feature, at });
                Ok(())
            }
        }
    }
}

fn version_of(node: &Node<'_>, path: &Path<'_>) -> Result<u32, Error> {
    node.scalar()
        .and_then(raw::unsigned)
        .filter(|version| (1..=9999).contains(version))
        .ok_or_else(|| unexpected(node, "a version from 1 to 9999", path))
}

fn rank_set(node: &Node<'_>, path: &Path<'_>) -> Result<Idset, Error> {
    let text = node.scalar_or_null().ok_or_else(|| unexpected(node, "an idset", path))?;
    let set = Idset::decode(text).map_err(|error| misfit(node, &error.to_string(), path))?;
    if set.last() > Some(Constraint::MAX_RANK) {
        return Err(unexpected(node, "ranks below 2147483648", path));
    }
    Ok(set)
}

fn environment_of(
    node: &Node<'_>,
    path: &Path<'_>,
) -> Result<BTreeMap<String, Option<String>>, Error> {
    if holds_nothing(node) {
        return Ok(BTreeMap::new());
    }
    let entries = node
        .mapping()
        .ok_or_else(|| unexpected(node, "a mapping of environment variables", path))?;
    let mut environment = BTreeMap::new();
    for entry in entries {
        let name = key(entry, path)?;
        let value = match &entry.value {
            value if value.is_null() => None,
            value => Some(text(value, "a string or null", &Path::Key(path, name))?),
        };
        if environment.insert(name.to_owned(), value).is_some() {
            return Err(duplicate(entry, path));
        }
    }
    Ok(environment)
}

/// Returns whether Fluxion finds nothing in a value in which it looks for
/// attributes: all but mappings and sequences with elements.
fn holds_nothing(node: &Node<'_>) -> bool {
    match &node.kind {
        Kind::Null | Kind::Scalar(..) => true,
        Kind::Sequence(items) => items.is_empty(),
        Kind::Mapping(_) => false,
    }
}

fn others(entries: &[&Entry<'_>], path: &Path<'_>) -> Result<BTreeMap<String, Value>, Error> {
    let mut others = BTreeMap::new();
    for entry in entries {
        let name = Value::key_of(&entry.key).into_owned();
        if others.insert(name, Value::from_node(&entry.value)).is_some() {
            return Err(duplicate(entry, path));
        }
    }
    Ok(others)
}

fn text(node: &Node<'_>, expected: &'static str, path: &Path<'_>) -> Result<String, Error> {
    match &node.kind {
        Kind::Scalar(text, _) => Ok(text.clone().into_owned()),
        _ => Err(unexpected(node, expected, path)),
    }
}

/// As [`text`], with null standing for its name, as in Fluxion.
fn text_or_null(node: &Node<'_>, expected: &'static str, path: &Path<'_>) -> Result<String, Error> {
    match node.scalar_or_null() {
        Some(text) => Ok(text.to_owned()),
        None => Err(unexpected(node, expected, path)),
    }
}

fn key<'n>(entry: &'n Entry<'_>, path: &Path<'_>) -> Result<&'n str, Error> {
    entry.key.scalar_or_null().ok_or_else(|| unexpected(&entry.key, "a key that is a string", path))
}

fn unexpected(node: &Node<'_>, expected: &'static str, path: &Path<'_>) -> Error {
    Error::Value { at: path.at(node.span), expected: expected.into(), found: node.describe() }
}

/// Rephrases the error of a text within a value.
fn misfit(node: &Node<'_>, message: &str, path: &Path<'_>) -> Error {
    let expected = message.strip_prefix("expected ").unwrap_or(message);
    let (expected, found) = match expected.split_once(", found ") {
        Some((expected, found)) => (expected.to_owned(), found.into()),
        None => (expected.to_owned(), node.describe()),
    };
    Error::Value { at: path.at(node.span), expected: expected.into(), found }
}

fn duplicate(entry: &Entry<'_>, path: &Path<'_>) -> Error {
    let name = Value::key_of(&entry.key);
    Error::DuplicateKey { at: Path::Key(path, &name).at(entry.key.span), key: name.as_ref().into() }
}

fn unknown(
    entry: &Entry<'_>,
    names: &[&'static str],
    expected: &'static str,
    path: &Path<'_>,
) -> Error {
    let name = Value::key_of(&entry.key);
    Error::UnknownKey {
        at: Path::Key(path, &name).at(entry.key.span),
        suggestion: names
            .iter()
            .map(|candidate| (distance(&name, candidate), *candidate))
            .filter(|(distance, candidate)| *distance <= candidate.len() / 3)
            .min_by_key(|(distance, _)| *distance)
            .map(|(_, candidate)| candidate),
        key: name.as_ref().into(),
        expected,
    }
}

/// Returns how many insertions, removals and changes of a character lead from
/// one text to the other; for long texts, no more than that they differ.
fn distance(from: &str, to: &str) -> usize {
    if from.len() > 32 {
        return usize::MAX;
    }
    let mut row: Vec<usize> = (0..=to.chars().count()).collect();
    for (index, source) in from.chars().enumerate() {
        let mut diagonal = index;
        row[0] = index + 1;
        for (column, target) in to.chars().enumerate() {
            let changed = diagonal + usize::from(source != target);
            diagonal = row[column + 1];
            row[column + 1] = changed.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use quickcheck::quickcheck;

    const REST: &str = "tasks: []\nattributes:\n";

    fn with_resource(resource: &str, dialect: Dialect) -> Result<Resource, Error> {
        let text = format!("version: 1\nresources:\n  - {resource}\n{REST}");
        Jobspec::parse(&text, dialect).map(|mut jobspec| jobspec.resources.remove(0))
    }

    fn with_count(count: &str, dialect: Dialect) -> Result<Count, Error> {
        with_resource(&format!("{{type: core, count: {count}}}"), dialect)
            .map(|resource| resource.count)
    }

    fn with_system(system: &str, dialect: Dialect) -> Result<System, Error> {
        let text =
            format!("{{version: 1, resources: [], tasks: [], attributes: {{system: {system}}}}}");
        Jobspec::parse(&text, dialect).map(|jobspec| jobspec.attributes.system)
    }

    fn with_task(task: &str, dialect: Dialect) -> Result<Task, Error> {
        let text = format!("{{version: 1, resources: [], tasks: [{task}], attributes: ~}}");
        Jobspec::parse(&text, dialect).map(|mut jobspec| jobspec.tasks.remove(0))
    }

    #[test]
    fn counts_in_both_dialects() {
        use Feature::{CountIdset, CountPartialRange, CountRangeString};
        use Operator::{Add, Multiply, Power};
        let max = Count::UNBOUNDED;
        let set = |text| Idset::decode(text).ok().and_then(Count::one_of);
        let table = [
            ("3", None, Some(Count::fixed(3))),
            ("0", None, Some(Count::fixed(0))),
            ("\"3\"", None, Some(Count::fixed(3))),
            ("0x10", None, Some(Count::fixed(16))),
            ("010", None, Some(Count::fixed(8))),
            ("{min: 2}", None, Some(Count::at_least(2))),
            ("{min: 2, foo: 1}", None, Some(Count::at_least(2))),
            (
                "{min: 2, max: 9, operator: '*', operand: 3}",
                None,
                Some(Count::range(2, 9, Multiply, 3)),
            ),
            ("{min: 2, max: 9, operator: ^, operand: 2}", None, Some(Count::range(2, 9, Power, 2))),
            ("{min: 2, max: 9}", Some(CountPartialRange), Some(Count::range(2, 9, Add, 1))),
            (
                "{min: 2, operator: +, operand: 2}",
                Some(CountPartialRange),
                Some(Count::range(2, max, Add, 2)),
            ),
            ("2-4", Some(CountRangeString), Some(Count::range(2, 4, Add, 1))),
            ("\"2+:2:*\"", Some(CountRangeString), Some(Count::range(2, max, Multiply, 2))),
            ("\"[2,4]\"", Some(CountIdset), set("2,4")),
            ("\"[5]\"", Some(CountIdset), Some(Count::fixed(5))),
            ("\"0,2\"", None, None),
            ("\"\"", None, None),
            ("x", None, None),
            ("-1", None, None),
            ("1.0", None, None),
            ("~", None, None),
            ("[1]", None, None),
            ("{max: 2}", None, None),
            ("{min: 0}", None, None),
            ("{min: [1]}", None, None),
            ("{min: 2, max: 1}", None, None),
            ("{min: 1, max: ~}", None, None),
            ("{min: 1, min: 1}", None, None),
            ("{min: 1, max: 2, operator: +}", None, None),
            ("{min: 1, max: 2, operand: 1}", None, None),
            ("{min: 1, max: 2, operator: /, operand: 1}", None, None),
            ("{min: 1, max: 2, operator: +, operand: 0}", None, None),
            ("{min: 1, max: 2, operator: +, operand: -1}", None, None),
            ("{min: 1, max: 2, operator: '*', operand: 1}", None, None),
            ("{min: 1, max: 2, operator: ^, operand: 2}", None, None),
            ("{min: 2, max: 4, operator: ^, operand: 1}", None, None),
            ("\"4-2\"", None, None),
            ("\"1-4:2:^\"", None, None),
        ];
        for (text, feature, count) in table {
            let extended = with_count(text, Dialect::Extended);
            assert_eq!(extended.as_ref().ok(), count.as_ref(), "{text}: {extended:?}");
            match (with_count(text, Dialect::Fluxion), feature) {
                (Err(Error::Unsupported { feature, .. }), Some(expected)) => {
                    assert_eq!(feature, expected, "{text}");
                }
                (plain, None) => assert_eq!(plain.ok(), count, "{text}"),
                other => panic!("{text}: {other:?}"),
            }
        }
    }

    #[test]
    fn uses_of_features_are_listed() {
        let text = "
version: 9999
resources:
  - {type: slot, label: a, count: 2-4, exclusive: TRUE, with: [{type: core, count: '2,4'}]}
tasks:
  - {command: [], slot: a, count: {per_resource: {type: core, count: 1}}, attributes: {e: {}}}
attributes: {system: {constraints: {properties: [ssd]}}}
";
        let jobspec = Jobspec::parse(text, Dialect::Extended).unwrap();
        let uses: Vec<String> = jobspec
            .extended_features()
            .iter()
            .map(|used| format!("{} {} {}", used.feature, used.at.path, used.at.span))
            .collect();
        assert_eq!(
            uses,
            [
                "count-range-string /resources/0/count 4:35",
                "boolean-spelling /resources/0/exclusive 4:51",
                "count-idset /resources/0/with/0/count 4:84",
                "task-count-per-resource /tasks/0/count/per_resource 6:50",
                "task-attribute-tree /tasks/0/attributes/e 6:91",
                "unquoted-property /attributes/system/constraints/properties/0 7:50",
            ]
        );
        let error = Jobspec::parse(text, Dialect::Fluxion).unwrap_err();
        assert_eq!(
            error.to_string(),
            "4:35 (/resources/0/count): count-range-string is not supported by Fluxion, found `2-4`"
        );
        assert!(
            Jobspec::new(1, Vec::new(), Vec::new(), Attributes::default())
                .extended_features()
                .is_empty()
        );
    }

    #[test]
    fn messages() {
        let table = [
            ("", "1:1: expected a mapping with the parts of a jobspec, found null"),
            ("[", "1:1: unclosed bracket '['"),
            ("version: 1", "1:1: key `resources` is missing"),
            (
                "{version: 1, resources: [], tasks: [], attributes: ~, task: []}",
                "1:55 (/task): unknown key `task`, expected `version`, `resources`, `tasks` and \
                 `attributes`; did you mean `tasks`?",
            ),
            (
                "{version: 10000, resources: [], tasks: [], attributes: ~}",
                "1:11 (/version): expected a version from 1 to 9999, found `10000`",
            ),
            (
                "{\"version\": 1, \"resources\": [{\"type\": \"slot\", \"count\": 1}], \
                 \"tasks\": [], \"attributes\": null}",
                "1:30 (/resources/0): key `label` is missing",
            ),
            (
                "{\"version\": 1, \"resources\": [{\"type\": \"a\", \"count\": 1, \
                 \"with\": [{\"type\": \"b\", \"count\": \"x\"}]}], \"tasks\": [], \"attributes\": null}",
                "1:88 (/resources/0/with/0/count): expected a number up to 4294967295, or a mapping with `min`, found `x`",
            ),
            ("{\"version\": 1, \"version\": 1}", "1:16 (/version): key `version` is given twice"),
            ("{\"version\": 1, \"resources\": [}", "1:30: expected a value"),
            (
                "{version: 1, resources: [], tasks: [], attributes: {system: {constraints: {ranks: [x]}}}}",
                "1:84 (/attributes/system/constraints/ranks/0): expected an id or an ascending \
                 range such as `3` or `0-7`, found `x`",
            ),
            (
                "{version: 1, resources: [], tasks: [{command: [], slot: a}], attributes: ~}",
                "1:37 (/tasks/0): key `count` is missing",
            ),
            ("version: 1\n---\nx: 1\n", "3:1: expected one document, found another"),
            ("a: &a [*a]", "1:8: an alias stands within what it refers to"),
        ];
        for (text, message) in table {
            let error = Jobspec::parse(text, Dialect::Fluxion).unwrap_err();
            assert_eq!(error.to_string(), message, "{text}");
        }
        let error = Jobspec::parse_bytes(b"a: \xff", Dialect::Fluxion).unwrap_err();
        assert_eq!(error.to_string(), "1:4: expected UTF-8 text, found the byte 0xff");
    }

    #[test]
    fn resources() {
        let table = [
            ("{type: core, count: 1}", true),
            ("{type: '', count: 1}", true),
            ("{type: slot, count: 1, label: ''}", true),
            ("{type: slot, count: 1, label: ~}", false),
            ("{type: slot, count: 1}", false),
            ("{type: ~, count: 1}", false),
            ("{type: core}", false),
            ("{count: 1}", false),
            ("{type: core, count: 1, exclusive: 'true'}", true),
            ("{type: core, count: 1, exclusive: yes}", false),
            ("{type: core, count: 1, exclusive: ~}", false),
            ("{type: core, count: 1, unit: [GB]}", false),
            ("{type: core, count: 1, id: 5}", true),
            ("{type: core, count: 1, with: []}", true),
            ("{type: core, count: 1, with: ~}", false),
            ("{type: core, count: 1, with: [core]}", false),
            ("{type: core, count: 1, foo: 1}", false),
            ("{type: core, count: 1, ? [a] : 1}", false),
            ("{type: core, count: 1, <<: {}}", false),
            ("core", false),
        ];
        for (text, accepted) in table {
            let resource = with_resource(text, Dialect::Fluxion);
            assert_eq!(resource.is_ok(), accepted, "{text}: {resource:?}");
        }
        let node = with_resource("{type: node, count: 2, exclusive: false}", Dialect::Fluxion);
        let mut expected = Resource::new("node", 2);
        expected.exclusive = Some(false);
        assert_eq!(node, Ok(expected));
    }

    #[test]
    fn tasks() {
        let table = [
            ("{command: [a], slot: b, count: {per_slot: 1}}", true),
            ("{command: [], slot: b, count: {total: x}}", true),
            ("{command: [~, 1], slot: b, count: {foo: ~}}", true),
            ("{command: [], slot: b, count: {total: 1, per_slot: 1}}", false),
            ("{command: [], slot: b, count: {}}", false),
            ("{command: [], slot: b, count: 1}", false),
            ("{command: [], slot: b, count: {total: {}}}", false),
            ("{command: [], slot: b, foo: [1]}", true),
            ("{command: [], slot: b, c: 1, d: 1, e: 1}", true),
            ("{command: [], slot: b, c: 1, d: 1, e: 1, f: 1}", false),
            ("{command: [], slot: b}", false),
            ("{command: app, slot: b, count: {total: 1}}", false),
            ("{command: [[a]], slot: b, count: {total: 1}}", false),
            ("{command: [], slot: ~, count: {total: 1}}", false),
            ("{command: [], slot: b, distribution: x}", true),
            ("{command: [], slot: b, distribution: ~}", false),
            ("{command: [], slot: b, attributes: {a: ~}}", true),
            ("{command: [], slot: b, attributes: {a: [1]}}", false),
            ("{command: [], slot: b, attributes: []}", false),
            ("{command: [], command: [], slot: b}", false),
        ];
        for (text, accepted) in table {
            let task = with_task(text, Dialect::Fluxion);
            assert_eq!(task.is_ok(), accepted, "{text}: {task:?}");
        }
        let task = with_task("{command: [a], slot: b, count: {total: 4}, x: 1}", Dialect::Fluxion)
            .unwrap();
        assert_eq!(task.count, Some(TaskCount::Total(4)));
        assert_eq!(task.other.get("x").map(Value::to_json).as_deref(), Some("1"));
    }

    #[test]
    fn system_attributes() {
        let table = [
            ("{}", true),
            ("~", true),
            ("5", true),
            ("[]", true),
            ("[1]", false),
            ("{duration: 60}", true),
            ("{duration: '60'}", true),
            ("{duration: -1}", true),
            ("{duration: 1d}", false),
            ("{duration: ~}", false),
            ("{queue: batch, cwd: /tmp}", true),
            ("{queue: [batch]}", false),
            ("{queue: ~}", true),
            ("{environment: {A: x, B: ~}}", true),
            ("{environment: {A: [x]}}", false),
            ("{environment: {A: 1, A: 2}}", false),
            ("{environment: ~}", true),
            ("{environment: [x]}", false),
            ("{files: {script: {data: abc}}, ~: 1}", true),
            ("{? [a] : 1}", false),
            ("{x: 1, x: 2}", false),
            ("{constraints: ~}", false),
        ];
        for (text, accepted) in table {
            let system = with_system(text, Dialect::Fluxion);
            assert_eq!(system.is_ok(), accepted, "{text}: {system:?}");
        }
    }

    #[test]
    fn constraints() {
        let table = [
            ("{}", true),
            ("{properties: [\"a\", '^b']}", true),
            ("{properties: [! a]}", true),
            ("{properties: [&x \"a\", *x]}", true),
            ("{properties: [a]}", false),
            ("{properties: [!!str a]}", false),
            ("{properties: [1]}", false),
            ("{properties: [\"a|b\"]}", false),
            ("{properties: \"a\"}", false),
            ("{hostlist: [\"n[0-3]\", m, ~, 5]}", true),
            ("{hostlist: [\"n[\"]}", false),
            ("{ranks: [0, \"2-3\", '']}", true),
            ("{ranks: [\"2147483647\"]}", true),
            ("{ranks: [\"2147483648\"]}", false),
            ("{ranks: [-1]}", false),
            ("{and: [], or: []}", false),
            ("{and: [{or: [{not: [{}]}]}]}", true),
            ("{and: {}}", false),
            ("{xor: []}", false),
            ("[]", false),
        ];
        for (text, accepted) in table {
            let system = with_system(&format!("{{constraints: {text}}}"), Dialect::Fluxion);
            assert_eq!(system.is_ok(), accepted, "{text}: {system:?}");
        }
        for text in ["{properties: [a]}", "{properties: [!!str 1]}"] {
            let text = format!("{{constraints: {text}}}");
            assert!(with_system(&text, Dialect::Extended).is_ok(), "{text}");
        }
        for text in ["{properties: [1]}", "{properties: [!!int 1]}", "{properties: [true]}"] {
            let text = format!("{{constraints: {text}}}");
            assert!(with_system(&text, Dialect::Extended).is_err(), "{text}");
        }
    }

    #[test]
    fn bounds_hold() {
        let limits =
            Limits { input_bytes: 1000, depth: 8, resources: 3, nodes: 60, alias_nodes: 10 };
        let user = |user: &str| {
            format!("{{version: 1, resources: [], tasks: [], attributes: {{user: {user}}}}}")
        };
        let resources = |count| {
            let one = "{type: a, count: 1}";
            format!(
                "{{version: 1, resources: [{}], tasks: [], attributes: ~}}",
                vec![one; count].join(", ")
            )
        };
        let table = [
            (user("1"), None),
            (user(&" ".repeat(1000)), Some(LimitKind::InputBytes)),
            (user("[[[[[[]]]]]]"), None),
            (user("[[[[[[[]]]]]]]"), Some(LimitKind::Depth)),
            (resources(3), None),
            (resources(4), Some(LimitKind::Resources)),
            (user(&format!("[{}]", "1, ".repeat(60))), Some(LimitKind::Nodes)),
            (user("[&a [1, 2], *a, *a, *a]"), None),
            (user("[&a [1, 2], *a, *a, *a, *a]"), Some(LimitKind::AliasNodes)),
            (user("[&a [1], &b [*a, *a], &c [*b, *b], *c]"), Some(LimitKind::AliasNodes)),
            (user("[&a [[[]]], [[[*a]]]]"), Some(LimitKind::Depth)),
        ];
        for (text, expected) in table {
            let limit = match Jobspec::parse_with(&text, Dialect::Fluxion, &limits) {
                Ok(_) => None,
                Err(Error::Limit { limit, .. }) => Some(limit),
                Err(error) => panic!("{text}: {error}"),
            };
            assert_eq!(limit, expected, "{text}");
        }
        let deep = user(&"[".repeat(100_000));
        assert!(Jobspec::parse(&deep, Dialect::Fluxion).is_err());
        let json = format!("{{\"a\": {}", "[".repeat(100_000));
        assert!(Jobspec::parse(&json, Dialect::Fluxion).is_err());
    }

    #[test]
    fn both_readers_agree() {
        let json = r#"{"version": 1, "resources": [{"type": "slot", "label": "s",
            "count": {"min": 1, "max": 4, "operator": "+", "operand": 1},
            "with": [{"type": "c\u006fre", "count": 2, "exclusive": true}]}],
            "tasks": [{"command": ["app"], "slot": "s", "count": {"per_slot": 1}}],
            "attributes": {"user": {"é": [1.50, null, true, "\n"]}, "system": {"duration": 1e3}}}"#;
        let limits = Limits::default();
        let reader = |node: &Node<'_>| {
            let mut reader = Reader {
                dialect: Dialect::Fluxion,
                limits: &limits,
                resources: 0,
                extended: Vec::new(),
            };
            reader.jobspec(node).unwrap()
        };
        let from_json = reader(&json::read(json, &limits).unwrap());
        let from_yaml = reader(&yaml::read(json, &limits).unwrap());
        assert_eq!(from_json, from_yaml);
        assert_eq!(from_json.resources[0].span, from_yaml.resources[0].span);
        let (core, other) = (&from_json.resources[0].with[0], &from_yaml.resources[0].with[0]);
        assert_eq!(core.span, other.span);
        assert_eq!((core.span.line, core.span.column), (3, 22));
    }

    #[test]
    fn distances() {
        let table = [("", "", 0), ("task", "tasks", 1), ("lable", "label", 2), ("abc", "", 3)];
        for (from, to, expected) in table {
            assert_eq!(distance(from, to), expected, "{from} {to}");
        }
    }

    quickcheck! {
        fn any_text_gets_an_answer(text: String) -> bool {
            Jobspec::parse(&text, Dialect::Extended).is_err()
        }

        fn any_change_gets_an_answer(places: Vec<(u16, u8)>) -> bool {
            let mut bytes = format!(
                "version: 1\nresources:\n  - {{type: a, count: '2-4', with: [&a {{type: b, count: 1}}]}}\n{REST}"
            )
            .into_bytes();
            for (place, byte) in places {
                let at = usize::from(place) % bytes.len();
                bytes[at] = byte;
            }
            match Jobspec::parse_bytes(&bytes, Dialect::Extended) {
                Ok(jobspec) => Jobspec::parse(&jobspec.to_yaml(), Dialect::Extended) == Ok(jobspec),
                Err(error) => error.span().line >= 1 && error.span().column >= 1,
            }
        }
    }
}
