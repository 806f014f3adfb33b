//! The parts of a resource set (RFC 20).

use std::borrow::Cow;

use serde::de::{DeserializeSeed as _, IgnoredAny};
use serde_json::value::RawValue;

use super::document::{Context, Integer, Text, finish, object_seed};
use crate::Error;

/// What a resource set says beside its resources.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Envelope<'a> {
    /// The version, 1 for R of RFC 20; `None` for a text that is not in an envelope, such as bare
    /// JGF.
    pub version: Option<i64>,
    /// When the resources are to be held from, in seconds since the epoch of the caller.
    pub starttime: Option<f64>,
    /// When they are to be given back, in the same seconds.
    pub expiration: Option<f64>,
    /// The text of the `scheduling` key, which is a document of its own.
    pub scheduling: Option<&'a str>,
    /// The `writer` of the `scheduling` key, which tells its format:
    /// [`LoadFormat::of_writer`](crate::LoadFormat::of_writer).
    pub writer: Option<Cow<'a, str>>,
}

/// Reads what a resource set says beside its resources.
///
/// # Errors
///
/// [`Error`] for malformed JSON and for keys of the wrong type.
///
/// **Source**: RFC 20, RFC 40.
pub fn envelope(text: &str) -> Result<Envelope<'_>, Error> {
    let mut context = Context::default();
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let result = EnvelopeSeed(&mut context)
        .deserialize(&mut deserializer)
        .and_then(|envelope| deserializer.end().map(|()| envelope));
    let mut envelope = finish(text, &mut context, result)?;
    if let Some(scheduling) = envelope.scheduling {
        envelope.writer = writer(scheduling);
    }
    Ok(envelope)
}

fn writer(scheduling: &str) -> Option<Cow<'_, str>> {
    let mut deserializer = serde_json::Deserializer::from_str(scheduling);
    WriterSeed.deserialize(&mut deserializer).ok().flatten()
}

struct WriterSeed;

object_seed!([] WriterSeed => Option<Cow<'de, str>>, "an object", |_this, map| {
    let mut writer = None;
    while let Some(Text(key)) = map.next_key()? {
        if key == "writer" {
            writer = Some(map.next_value::<Text<'de>>()?.0);
        } else {
            map.next_value::<IgnoredAny>()?;
        }
    }
    Ok(writer)
});

struct EnvelopeSeed<'a, 'de>(&'a mut Context<'de>);

object_seed!(['a] EnvelopeSeed<'a, 'de> => Envelope<'de>, "a resource set", |this, map| {
    let context = this.0;
    let mut envelope = Envelope::default();
    while let Some(Text(key)) = map.next_key()? {
        context.pointer.push_met(&key);
        match &*key {
            "version" => envelope.version = Some(map.next_value::<Integer>()?.0),
            "execution" => {
                (envelope.starttime, envelope.expiration) =
                    map.next_value_seed(TimesSeed(context))?;
            }
            "scheduling" => {
                envelope.scheduling = Some(map.next_value::<&RawValue>()?.get());
            }
            _ => {
                map.next_value::<IgnoredAny>()?;
            }
        }
        context.pointer.pop();
    }
    Ok(envelope)
});

struct TimesSeed<'a, 'de>(&'a mut Context<'de>);

object_seed!(['a] TimesSeed<'a, 'de> => (Option<f64>, Option<f64>), "an object", |this, map| {
    let context = this.0;
    let mut times = (None, None);
    while let Some(Text(key)) = map.next_key()? {
        context.pointer.push_met(&key);
        match &*key {
            "starttime" => times.0 = Some(map.next_value::<f64>()?),
            "expiration" => times.1 = Some(map.next_value::<f64>()?),
            _ => {
                map.next_value::<IgnoredAny>()?;
            }
        }
        context.pointer.pop();
    }
    Ok(times)
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_parts_are_found() {
        let text = r#"{"version": 1, "execution": {"R_lite": [], "starttime": 5, "expiration": 7.5},
            "scheduling": {"graph": {}, "writer": "fluxion:jgf"}}"#;
        let envelope = envelope(text).unwrap();
        assert_eq!(envelope.version, Some(1));
        assert_eq!(envelope.starttime, Some(5.0));
        assert_eq!(envelope.expiration, Some(7.5));
        assert_eq!(envelope.scheduling, Some(r#"{"graph": {}, "writer": "fluxion:jgf"}"#));
        assert_eq!(envelope.writer.as_deref(), Some("fluxion:jgf"));
    }

    #[test]
    fn bare_jgf_has_no_envelope() {
        assert_eq!(envelope(r#"{"graph": {"nodes": []}}"#), Ok(Envelope::default()));
    }

    #[test]
    fn wrong_types_are_told() {
        let error = envelope("{\"version\": 1,\n \"execution\": [3]}").unwrap_err();
        assert_eq!(error.to_string(), "2:15 (/execution): expected an object, found sequence");
    }
}
