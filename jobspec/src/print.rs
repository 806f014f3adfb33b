//! Writing JSON and YAML.

use std::fmt::Write as _;

use crate::constraint::Constraint;
use crate::count::{Count, Operator};
use crate::model::{Jobspec, Resource, System, Task, TaskCount};
use crate::value::Value;

/// Returns the document that stands for a jobspec.
pub(crate) fn jobspec(jobspec: &Jobspec) -> Value {
    object([
        ("version", Some(jobspec.version.into())),
        ("resources", Some(array(&jobspec.resources, resource))),
        ("tasks", Some(array(&jobspec.tasks, task))),
        (
            "attributes",
            Some(object([
                ("system", system(&jobspec.attributes.system)),
                ("user", jobspec.attributes.user.clone()),
            ])),
        ),
    ])
}

fn resource(resource: &Resource) -> Value {
    object([
        ("type", Some(resource.kind.as_str().into())),
        ("count", Some(count(&resource.count))),
        ("unit", text(resource.unit.as_ref())),
        ("exclusive", resource.exclusive.map(Value::from)),
        ("label", text(resource.label.as_ref())),
        ("id", text(resource.id.as_ref())),
        ("with", (!resource.with.is_empty()).then(|| array(&resource.with, self::resource))),
    ])
}

fn count(count: &Count) -> Value {
    let step = (count.operator, count.operand) != (Operator::Add, 1);
    if count.set.is_some() {
        count.to_string().into()
    } else if count.min == count.max && !step {
        count.min.into()
    } else {
        let full = count.max != Count::UNBOUNDED || step;
        object([
            ("min", Some(count.min.into())),
            ("max", full.then(|| count.max.into())),
            ("operator", full.then(|| count.operator.to_string().into())),
            ("operand", full.then(|| count.operand.into())),
        ])
    }
}

fn task(task: &Task) -> Value {
    let Value::Object(mut entries) = object([
        ("command", Some(array(&task.command, |part| part.as_str().into()))),
        ("slot", Some(task.slot.as_str().into())),
        ("count", task.count.as_ref().map(task_count)),
        ("distribution", text(task.distribution.as_ref())),
        (
            "attributes",
            task.attributes
                .as_ref()
                .map(|attributes| Value::Object(attributes.clone().into_iter().collect())),
        ),
    ]) else {
        return Value::Null;
    };
    entries.extend(task.other.clone());
    Value::Object(entries)
}

fn task_count(count: &TaskCount) -> Value {
    let (name, value) = match count {
        TaskCount::PerSlot(count) => ("per_slot", (*count).into()),
        TaskCount::Total(count) => ("total", (*count).into()),
        TaskCount::PerResource { kind, count } => (
            "per_resource",
            object([("type", Some(kind.as_str().into())), ("count", Some((*count).into()))]),
        ),
        TaskCount::Other { name, value } => (name.as_str(), value.as_str().into()),
    };
    object([(name, Some(value))])
}

fn system(system: &System) -> Option<Value> {
    let given = system.duration != 0.0 || system.duration.is_sign_negative();
    let Value::Object(mut entries) = object([
        ("duration", given.then(|| float(system.duration))),
        ("queue", text(system.queue.as_ref())),
        ("cwd", text(system.cwd.as_ref())),
        (
            "environment",
            (!system.environment.is_empty()).then(|| {
                Value::Object(
                    system
                        .environment
                        .iter()
                        .map(|(name, value)| {
                            (name.clone(), text(value.as_ref()).unwrap_or_default())
                        })
                        .collect(),
                )
            }),
        ),
        ("constraints", system.constraints.as_ref().map(constraint)),
    ]) else {
        return None;
    };
    entries.extend(system.other.clone());
    (!entries.is_empty()).then_some(Value::Object(entries))
}

fn constraint(condition: &Constraint) -> Value {
    let (operator, operands) = match condition {
        Constraint::Any => return Value::Object(Vec::new()),
        Constraint::Properties(properties) => {
            ("properties", array(properties, |property| property.to_string().into()))
        }
        Constraint::Hostlist(hosts) => ("hostlist", one_text(hosts.encode_compact())),
        Constraint::Ranks(ranks) => ("ranks", one_text(ranks.encode())),
        Constraint::And(operands) => ("and", array(operands, constraint)),
        Constraint::Or(operands) => ("or", array(operands, constraint)),
        Constraint::Not(operands) => ("not", array(operands, constraint)),
    };
    object([(operator, Some(operands))])
}

/// Returns an array of one text for the whole list, or of none for an empty one.
fn one_text(list: String) -> Value {
    let list = (!list.is_empty()).then_some(list);
    array(list, Value::from)
}

/// JSON has no infinities; Fluxion reads them from text.
fn float(number: f64) -> Value {
    if number.is_nan() {
        ".nan".into()
    } else if number.is_infinite() {
        if number > 0.0 { ".inf" } else { "-.inf" }.into()
    } else {
        Value::from_plain(&format!("{number:?}"))
    }
}

fn text(value: Option<&String>) -> Option<Value> {
    value.map(|text| text.as_str().into())
}

fn array<T>(items: impl IntoIterator<Item = T>, value: impl Fn(T) -> Value) -> Value {
    Value::Array(items.into_iter().map(value).collect())
}

fn object<'k>(entries: impl IntoIterator<Item = (&'k str, Option<Value>)>) -> Value {
    Value::Object(
        entries.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect(),
    )
}

/// Writes a value as JSON on one line.
pub(crate) fn json(value: &Value) -> String {
    let mut out = String::new();
    write_json(&mut out, value);
    out
}

fn write_json(out: &mut String, value: &Value) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Value::Number(number) => out.push_str(number.as_str()),
        Value::String(text) => write_quoted(out, text),
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push_str(", ");
                }
                write_json(out, item);
            }
            out.push(']');
        }
        Value::Object(entries) => {
            out.push('{');
            for (index, (key, value)) in entries.iter().enumerate() {
                if index > 0 {
                    out.push_str(", ");
                }
                write_quoted(out, key);
                out.push_str(": ");
                write_json(out, value);
            }
            out.push('}');
        }
    }
}

/// Writes text in double quotes, in a form that JSON and YAML share.
fn write_quoted(out: &mut String, text: &str) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            // YAML does not take these as they are.
            '\0'..='\x1f'
            | '\x7f'..='\u{9f}'
            | '\u{2028}'
            | '\u{2029}'
            | '\u{feff}'
            | '\u{fffe}'
            | '\u{ffff}' => {
                let _ = write!(out, "\\u{:04x}", u32::from(character));
            }
            _ => out.push(character),
        }
    }
    out.push('"');
}

/// Writes a value as a YAML document of block style.
pub(crate) fn yaml(value: &Value) -> String {
    let mut out = String::new();
    write_block(&mut out, value, 0);
    out
}

/// Writes a value at the start of a line, or after the `- ` of its item, and
/// ends the line.
fn write_block(out: &mut String, value: &Value, indent: usize) {
    match value {
        Value::Object(entries) if !entries.is_empty() => {
            for (index, (key, value)) in entries.iter().enumerate() {
                if index > 0 {
                    write_indent(out, indent);
                }
                write_key(out, key, indent);
                match value {
                    Value::Object(entries) if !entries.is_empty() => {
                        out.push('\n');
                        write_indent(out, indent + 2);
                        write_block(out, value, indent + 2);
                    }
                    Value::Array(items) if items.iter().any(is_collection) => {
                        out.push('\n');
                        write_indent(out, indent + 2);
                        write_block(out, value, indent + 2);
                    }
                    Value::String(text) if is_plain(text) => {
                        let _ = writeln!(out, " {text}");
                    }
                    _ => {
                        out.push(' ');
                        write_json(out, value);
                        out.push('\n');
                    }
                }
            }
        }
        Value::Array(items) if items.iter().any(is_collection) => {
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    write_indent(out, indent);
                }
                out.push_str("- ");
                write_block(out, item, indent + 2);
            }
        }
        _ => {
            write_json(out, value);
            out.push('\n');
        }
    }
}

fn write_indent(out: &mut String, indent: usize) {
    out.extend(std::iter::repeat_n(' ', indent));
}

fn write_key(out: &mut String, key: &str, indent: usize) {
    /// YAML looks no further for the colon after a key.
    const LONGEST_KEY: usize = 1000;
    let mut written = String::new();
    if is_plain(key) {
        written.push_str(key);
    } else {
        write_quoted(&mut written, key);
    }
    if written.len() > LONGEST_KEY {
        out.push_str("? ");
        out.push_str(&written);
        out.push('\n');
        write_indent(out, indent);
    } else {
        out.push_str(&written);
    }
    out.push(':');
}

fn is_collection(value: &Value) -> bool {
    matches!(value, Value::Array(_) | Value::Object(_))
}

/// Returns whether text needs no quotes in YAML, neither for its characters nor
/// for being mistaken for something else.
fn is_plain(text: &str) -> bool {
    let mut characters = text.chars();
    let starts_as_word =
        characters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_');
    let word = starts_as_word
        && characters.all(|character| {
            character.is_ascii_alphanumeric() || matches!(character, '_' | '-' | '.' | '/')
        });
    // The last six are booleans in YAML 1.1.
    let reserved = ["null", "true", "false", "yes", "no", "on", "off", "y", "n"];
    word && !reserved.iter().any(|reserved| reserved.eq_ignore_ascii_case(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::constraint::Property;
    use crate::error::Dialect;
    use crate::hostlist::Hostlist;
    use crate::idset::Idset;
    use crate::model::Attributes;
    use crate::value::tests::{any_text, any_value};
    use quickcheck::{Arbitrary, Gen, quickcheck};
    use std::collections::BTreeMap;

    fn maybe<T>(g: &mut Gen, make: impl FnOnce(&mut Gen) -> T) -> Option<T> {
        bool::arbitrary(g).then(|| make(g))
    }

    fn some<T>(g: &mut Gen, mut make: impl FnMut(&mut Gen) -> T) -> Vec<T> {
        (0..u8::arbitrary(g) % 3).map(|_| make(g)).collect()
    }

    fn any_resource(g: &mut Gen, depth: usize) -> Resource {
        let mut resource = Resource::new(any_text(g), Count::arbitrary(g));
        resource.unit = maybe(g, any_text);
        resource.exclusive = Option::arbitrary(g);
        resource.label = maybe(g, any_text);
        resource.id = maybe(g, any_text);
        if depth > 0 {
            resource.with = some(g, |g| any_resource(g, depth - 1));
        }
        if bool::arbitrary(g) {
            resource.kind = Resource::SLOT.to_owned();
            resource.label.get_or_insert_default();
        }
        resource
    }

    fn any_task(g: &mut Gen) -> Task {
        let mut task = Task {
            command: some(g, any_text),
            slot: any_text(g),
            count: Some(match u8::arbitrary(g) % 4 {
                0 => TaskCount::PerSlot(u32::arbitrary(g)),
                1 => TaskCount::Total(u32::arbitrary(g)),
                2 => TaskCount::PerResource { kind: any_text(g), count: u32::arbitrary(g).max(1) },
                _ => TaskCount::Other { name: any_text(g), value: format!("x{}", any_text(g)) },
            }),
            distribution: maybe(g, any_text),
            attributes: maybe(g, |g| {
                some(g, |g| (any_text(g), any_value(g, 1))).into_iter().collect()
            }),
            other: BTreeMap::new(),
        };
        // A task has five keys at most.
        if task.distribution.is_none() && bool::arbitrary(g) {
            task.other.insert(format!("other{}", any_text(g)), any_value(g, 2));
        }
        task
    }

    fn any_constraint(g: &mut Gen, depth: usize) -> Constraint {
        let kinds = if depth > 0 { 7 } else { 4 };
        match u8::arbitrary(g) % kinds {
            0 => Constraint::Any,
            1 => Constraint::Properties(some(g, |g| Property {
                name: any_text(g).replace(['!', '&', '\'', '"', '^', '`', '|', '(', ')'], ""),
                negated: bool::arbitrary(g),
            })),
            2 => Constraint::Hostlist(
                Hostlist::decode("n[0-1,03],m[00-07]-ib,x y9").unwrap_or_default(),
            ),
            3 => Constraint::Ranks(
                Vec::<u16>::arbitrary(g).into_iter().map(u32::from).collect::<Idset>(),
            ),
            4 => Constraint::And(some(g, |g| any_constraint(g, depth - 1))),
            5 => Constraint::Or(some(g, |g| any_constraint(g, depth - 1))),
            _ => Constraint::Not(some(g, |g| any_constraint(g, depth - 1))),
        }
    }

    impl Arbitrary for Jobspec {
        fn arbitrary(g: &mut Gen) -> Self {
            let duration = f64::arbitrary(g);
            let system = System {
                duration: if duration.is_nan() { 1.5 } else { duration },
                queue: maybe(g, any_text),
                cwd: maybe(g, any_text),
                environment: some(g, |g| (any_text(g), maybe(g, any_text))).into_iter().collect(),
                constraints: maybe(g, |g| any_constraint(g, 2)),
                other: some(g, |g| (format!("other{}", any_text(g)), any_value(g, 3)))
                    .into_iter()
                    .collect(),
            };
            Self::new(
                u32::arbitrary(g) % 9999 + 1,
                some(g, |g| any_resource(g, 2)),
                some(g, any_task),
                Attributes { system, user: maybe(g, |g| any_value(g, 3)) },
            )
        }
    }

    quickcheck! {
        fn reading_undoes_writing_json(jobspec: Jobspec) -> bool {
            Jobspec::parse(&jobspec.to_json(), Dialect::Extended) == Ok(jobspec)
        }

        fn reading_undoes_writing_yaml(jobspec: Jobspec) -> bool {
            Jobspec::parse(&jobspec.to_yaml(), Dialect::Extended) == Ok(jobspec)
        }

        fn written_json_is_json(jobspec: Jobspec) -> bool {
            // Numbers beyond the range of that reader do not occur here.
            serde_json::from_str::<serde_json::Value>(&jobspec.to_json()).is_ok()
        }
    }

    #[test]
    fn forms_of_a_jobspec() {
        let mut slot = Resource::new("slot", Count::at_least(2));
        slot.label = Some("default".to_owned());
        slot.with = vec![
            Resource::new("core", 4),
            Resource::new("gpu", Count::range(1, 8, Operator::Multiply, 2)),
        ];
        let mut task = Task {
            command: vec!["app".to_owned(), "-n 1".to_owned()],
            slot: "default".to_owned(),
            count: Some(TaskCount::PerSlot(1)),
            ..Task::default()
        };
        task.other.insert("on".to_owned(), Value::Null);
        let mut attributes = Attributes::default();
        attributes.system.duration = 3600.0;
        attributes.system.environment.insert("A".to_owned(), None);
        attributes.system.constraints = Some(Constraint::Not(vec![Constraint::Any]));
        let jobspec = Jobspec::new(1, vec![slot], vec![task], attributes);
        let yaml = r#"version: 1
resources:
  - type: slot
    count:
      min: 2
    label: default
    with:
      - type: core
        count: 4
      - type: gpu
        count:
          min: 1
          max: 8
          operator: "*"
          operand: 2
tasks:
  - command: ["app", "-n 1"]
    slot: default
    count:
      per_slot: 1
    "on": null
attributes:
  system:
    duration: 3600.0
    environment:
      A: null
    constraints:
      not:
        - {}
"#;
        assert_eq!(jobspec.to_string(), yaml);
        let json = concat!(
            r#"{"version": 1, "resources": [{"type": "slot", "count": {"min": 2}, "#,
            r#""label": "default", "with": [{"type": "core", "count": 4}, "#,
            r#"{"type": "gpu", "count": {"min": 1, "max": 8, "operator": "*", "operand": 2}}]}], "#,
            r#""tasks": [{"command": ["app", "-n 1"], "slot": "default", "#,
            r#""count": {"per_slot": 1}, "on": null}], "attributes": {"system": "#,
            r#"{"duration": 3600.0, "environment": {"A": null}, "#,
            r#""constraints": {"not": [{}]}}}}"#,
        );
        assert_eq!(jobspec.to_json(), json);
    }

    #[test]
    fn long_keys_are_read_back() {
        let user = Value::Object(vec![("k".repeat(2000), 1_u32.into())]);
        let attributes = Attributes { user: Some(user), ..Attributes::default() };
        let jobspec = Jobspec::new(1, Vec::new(), Vec::new(), attributes);
        for text in [jobspec.to_yaml(), jobspec.to_json()] {
            assert_eq!(Jobspec::parse(&text, Dialect::Fluxion).as_ref(), Ok(&jobspec));
        }
    }

    #[test]
    fn durations_without_a_number_are_written() {
        for text in [".inf", "-.inf", ".nan"] {
            let document = format!(
                "{{version: 1, resources: [], tasks: [], attributes: {{system: {{duration: {text}}}}}}}"
            );
            let jobspec = Jobspec::parse(&document, Dialect::Fluxion).unwrap();
            for text in [jobspec.to_yaml(), jobspec.to_json()] {
                let again = Jobspec::parse(&text, Dialect::Fluxion).unwrap();
                assert_eq!(
                    again.attributes.system.duration.to_bits(),
                    jobspec.attributes.system.duration.to_bits()
                );
            }
        }
    }
}
