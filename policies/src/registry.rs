//! Policies by name.

use std::fmt;

use engine::MatchPolicy;

use crate::{Direction, IdOrder, Locality, Variation};

/// Names of the presets with what they are in the custom form, empty for those that have none.
const PRESETS: [(&str, &str); 10] = [
    ("first", "policy=high node_centric=true stop_on_1_matches=true"),
    ("firstnodex", "policy=high node_centric=true node_exclusive=true stop_on_1_matches=true"),
    ("high", "policy=high"),
    ("low", "policy=low"),
    ("lonode", "policy=low node_centric=true"),
    ("hinode", "policy=high node_centric=true"),
    ("lonodex", "policy=low node_centric=true node_exclusive=true"),
    ("hinodex", "policy=high node_centric=true node_exclusive=true"),
    ("locality", ""),
    ("variation", ""),
];

const OPTIONS: [&str; 4] = ["policy", "node_centric", "node_exclusive", "stop_on_1_matches"];

/// Why a policy cannot be made from its name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Neither a preset nor a custom policy.
    #[error(
        "unknown policy `{given}`: expected one of {} or `policy=low|high` with {}",
        Names,
        Options
    )]
    Unknown {
        /// What was given.
        given: String,
    },
    /// An option that custom policies do not have.
    #[error("invalid policy option: {option}: expected one of {}", Options)]
    Option {
        /// The option.
        option: String,
    },
    /// A value that the option does not take.
    #[error("policy option {option} requires {expected}, got `{given}`")]
    Value {
        /// The option.
        option: &'static str,
        /// What it takes.
        expected: &'static str,
        /// What was given.
        given: String,
    },
    /// A custom policy that does not say `policy=low` or `policy=high`.
    #[error("a custom policy needs policy=low or policy=high")]
    NoDirection,
}

struct Names;

impl fmt::Display for Names {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&names().collect::<Vec<_>>().join(", "))
    }
}

struct Options;

impl fmt::Display for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&OPTIONS.join(", "))
    }
}

/// Returns the names of the presets.
pub fn names() -> impl Iterator<Item = &'static str> {
    PRESETS.iter().map(|(name, _)| *name)
}

/// Returns the policy called `name`: a preset, or a custom one such as
/// `policy=low node_centric=true`. Of an option given twice the first counts.
///
/// # Errors
///
/// [`Error`] tells what is wrong with the name.
pub fn policy(name: &str) -> Result<Box<dyn MatchPolicy>, Error> {
    match name {
        "locality" => return Ok(Box::new(Locality)),
        "variation" => return Ok(Box::new(Variation)),
        _ => {}
    }
    let preset = PRESETS.iter().find(|(preset, _)| *preset == name).map(|(_, custom)| *custom);
    custom(preset.unwrap_or(name))
}

fn custom(text: &str) -> Result<Box<dyn MatchPolicy>, Error> {
    if !text.contains('=') {
        return Err(Error::Unknown { given: text.to_owned() });
    }
    let mut direction = None;
    let mut flags = [None; OPTIONS.len()];
    for term in text.split(' ') {
        let (name, value) = term.split_once('=').unwrap_or((term, ""));
        let number = OPTIONS
            .iter()
            .position(|option| *option == name)
            .ok_or_else(|| Error::Option { option: name.to_owned() })?;
        let fault =
            |expected| Error::Value { option: OPTIONS[number], expected, given: value.to_owned() };
        if number == 0 {
            let given = match value {
                "low" => Direction::Low,
                "high" => Direction::High,
                _ => return Err(fault("low or high")),
            };
            // Where both are named, high is preferred.
            if direction != Some(Direction::High) {
                direction = Some(given);
            }
        } else {
            let given = match value {
                "true" => true,
                "false" => false,
                _ => return Err(fault("true or false")),
            };
            flags[number].get_or_insert(given);
        }
    }
    let [_, node_centric, node_exclusive, first_match] = flags.map(|flag| flag == Some(true));
    let policy = IdOrder::new(direction.ok_or(Error::NoDirection)?)
        .node_centric(node_centric)
        .node_exclusive(node_exclusive)
        .first_match(first_match);
    Ok(Box::new(policy))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_makes_a_policy() {
        for name in names() {
            assert!(policy(name).is_ok(), "{name}");
        }
        assert!(policy("first").unwrap().first_match());
        assert_eq!(policy("lonodex").unwrap().exclusive_types(), ["node"]);
    }

    #[test]
    fn a_custom_policy_is_what_its_options_say() {
        let policy = policy("policy=low node_exclusive=true stop_on_1_matches=false").unwrap();
        assert_eq!(policy.exclusive_types(), ["node"]);
        assert!(!policy.first_match());
    }

    #[test]
    fn faults_are_named() {
        let fault = |name| policy(name).unwrap_err().to_string();
        assert!(fault("best").starts_with("unknown policy `best`: expected one of first,"));
        assert_eq!(
            fault("policy=low color=red"),
            "invalid policy option: color: expected one of policy, node_centric, node_exclusive, \
             stop_on_1_matches"
        );
        assert_eq!(fault("policy=mid"), "policy option policy requires low or high, got `mid`");
        assert_eq!(
            fault("policy=low node_centric=yes"),
            "policy option node_centric requires true or false, got `yes`"
        );
        assert_eq!(fault("node_centric=true"), "a custom policy needs policy=low or policy=high");
    }
}
