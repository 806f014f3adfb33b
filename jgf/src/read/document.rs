//! What the readers of JSON share: a context that knows where it is, and leaf values.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error as _, Visitor};

use super::pointer::{Pointer, Step, place};
use crate::{Error, Place};

/// What a reader carries through the document.
#[derive(Debug, Default)]
pub(super) struct Context<'de> {
    pub(super) pointer: Pointer<'de>,
    /// The error that made a visitor give up, if it was not one of syntax or type.
    fault: Option<Error>,
    /// The steps to the place of the fault.
    fault_steps: Vec<Step<'de>>,
}

impl<'de> Context<'de> {
    /// Keeps `error`, which is at the current place, and returns what makes serde stop.
    pub(super) fn fail<E: serde::de::Error>(&mut self, error: Error) -> E {
        self.fail_below(error, &[])
    }

    /// Keeps `error`, which is at `steps` below the current place.
    pub(super) fn fail_below<E: serde::de::Error>(
        &mut self,
        error: Error,
        steps: &[Step<'de>],
    ) -> E {
        if self.fault.is_none() {
            self.fault_steps = self.pointer.steps().to_vec();
            self.fault_steps.extend_from_slice(steps);
            self.fault = Some(error);
        }
        E::custom("")
    }

    /// Says that a key is missing in the object at the current place.
    pub(super) fn missing<E: serde::de::Error>(&mut self, key: &'static str) -> E {
        self.fail(Error::Missing { at: Place::default(), key })
    }
}

/// Returns the outcome of reading `text`, with the place of what went wrong.
pub(super) fn finish<'de, T>(
    text: &'de str,
    context: &mut Context<'de>,
    result: Result<T, serde_json::Error>,
) -> Result<T, Error> {
    result.map_err(|error| match context.fault.take() {
        Some(mut fault) => {
            if let Some(at) = fault.place_mut() {
                *at = place(text, &context.fault_steps);
            }
            fault
        }
        None => from_serde(text, &context.pointer, &error),
    })
}

/// Implements `DeserializeSeed` for a seed of which the document has an object.
macro_rules! object_seed {
    ([$($generics:tt)*] $seed:ty => $value:ty, $expecting:literal,
     |$this:ident, $map:ident| $body:block) => {
        impl<'de, $($generics)*> serde::de::DeserializeSeed<'de> for $seed {
            type Value = $value;

            fn deserialize<D: serde::Deserializer<'de>>(
                self,
                deserializer: D,
            ) -> Result<$value, D::Error> {
                deserializer.deserialize_map(self)
            }
        }

        impl<'de, $($generics)*> serde::de::Visitor<'de> for $seed {
            type Value = $value;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str($expecting)
            }

            fn visit_map<A: serde::de::MapAccess<'de>>(
                self,
                mut $map: A,
            ) -> Result<$value, A::Error> {
                let $this = self;
                $body
            }
        }
    };
}

/// Implements `DeserializeSeed` for a seed of which the document has an array.
macro_rules! array_seed {
    ([$($generics:tt)*] $seed:ty => $value:ty, $expecting:literal,
     |$this:ident, $list:ident| $body:block) => {
        impl<'de, $($generics)*> serde::de::DeserializeSeed<'de> for $seed {
            type Value = $value;

            fn deserialize<D: serde::Deserializer<'de>>(
                self,
                deserializer: D,
            ) -> Result<$value, D::Error> {
                deserializer.deserialize_seq(self)
            }
        }

        impl<'de, $($generics)*> serde::de::Visitor<'de> for $seed {
            type Value = $value;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str($expecting)
            }

            fn visit_seq<A: serde::de::SeqAccess<'de>>(
                self,
                mut $list: A,
            ) -> Result<$value, A::Error> {
                let $this = self;
                $body
            }
        }
    };
}

pub(super) use {array_seed, object_seed};

fn from_serde(text: &str, pointer: &Pointer<'_>, error: &serde_json::Error) -> Error {
    let full = error.to_string();
    let message = full.rfind(" at line ").map_or(full.as_str(), |end| &full[..end]);
    if error.is_data()
        && let Some((found, expected)) = message
            .strip_prefix("invalid type: ")
            .or_else(|| message.strip_prefix("invalid value: "))
            .and_then(|rest| rest.rsplit_once(", expected "))
    {
        return Error::Value {
            at: place(text, pointer.steps()),
            expected: Cow::Owned(expected.to_owned()),
            found: found.to_owned(),
        };
    }
    let narrow = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    Error::Syntax {
        at: Place {
            line: narrow(error.line()),
            column: narrow(error.column()),
            pointer: Pointer::text(pointer.steps()),
        },
        message: message.to_owned(),
    }
}

/// A string, borrowed from the document unless it has escapes.
#[derive(Debug)]
pub(super) struct Text<'de>(pub(super) Cow<'de, str>);

impl<'de> Deserialize<'de> for Text<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor;
        impl<'de> Visitor<'de> for TextVisitor {
            type Value = Text<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(TextVisitor)
    }
}

/// A signed 64-bit integer.
#[derive(Debug)]
pub(super) struct Integer(pub(super) i64);

impl<'de> Deserialize<'de> for Integer {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct IntegerVisitor;
        impl Visitor<'_> for IntegerVisitor {
            type Value = Integer;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an integer of at most 63 bits")
            }

            fn visit_i64<E>(self, number: i64) -> Result<Integer, E> {
                Ok(Integer(number))
            }

            fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<Integer, E> {
                i64::try_from(number)
                    .map(Integer)
                    .map_err(|_| E::invalid_value(serde::de::Unexpected::Unsigned(number), &self))
            }
        }
        deserializer.deserialize_i64(IntegerVisitor)
    }
}

/// A boolean.
#[derive(Debug)]
pub(super) struct Flag(pub(super) bool);

impl<'de> Deserialize<'de> for Flag {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        bool::deserialize(deserializer).map(Flag)
    }
}

/// An idset, which stands in a document as a string, as a number, or as a list of numbers.
#[derive(Debug)]
pub(super) struct Ids(pub(super) jobspec::Idset);

impl<'de> Deserialize<'de> for Ids {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct IdsVisitor;
        impl<'de> Visitor<'de> for IdsVisitor {
            type Value = Ids;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an idset such as \"0-3,7\"")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Ids, E> {
                jobspec::Idset::decode(text)
                    .map(Ids)
                    .map_err(|_| E::invalid_value(serde::de::Unexpected::Str(text), &self))
            }

            fn visit_u64<E>(self, number: u64) -> Result<Ids, E> {
                let mut ids = jobspec::Idset::default();
                ids.insert(number);
                Ok(Ids(ids))
            }

            fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut list: A) -> Result<Ids, A::Error> {
                let mut ids: Vec<u64> = Vec::new();
                while let Some(number) = list.next_element()? {
                    ids.push(number);
                }
                ids.sort_unstable();
                let mut pairs = ids.iter().zip(ids.iter().skip(1));
                if let Some((number, _)) = pairs.find(|(id, next)| id == next) {
                    return Err(A::Error::custom(format_args!(
                        "invalid value: {number} twice, expected each id once"
                    )));
                }
                Ok(Ids(ids.into_iter().collect()))
            }
        }
        deserializer.deserialize_any(IdsVisitor)
    }
}
