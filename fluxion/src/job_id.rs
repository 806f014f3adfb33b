//! The text forms of job ids.

/// The base58 digits, least first.
const DIGITS: &[u8; 58] = b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

/// Most base58 digits in one id.
const MAX_DIGITS: usize = 12;

/// A text form of job ids.
///
/// The forms made of words and of emoji are left out.
///
/// **Source**: RFC 19.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum JobIdForm {
    /// Decimal: `6731191091817518`.
    Dec,
    /// Hexadecimal: `0x17e9fb8df16c2e`.
    Hex,
    /// Hexadecimal, dotted: `0017.e9fb.8df1.6c2e`.
    DotHex,
    /// As [`JobIdForm::DotHex`] after `job.`, as in the key of a job in the key-value store:
    /// `job.0017.e9fb.8df1.6c2e`.
    Kvs,
    /// Base58 after `ƒ`: `ƒuZZybuNNy`.
    F58,
    /// Base58 after `f`, for where only ASCII will do: `fuZZybuNNy`.
    F58Plain,
}

/// Returns the text of a job id.
///
/// [`JobIdForm::F58`] has its `ƒ` whatever the locale.
///
/// **Source**: RFC 19.
pub fn encode_job_id(id: u64, form: JobIdForm) -> String {
    match form {
        JobIdForm::Dec => id.to_string(),
        JobIdForm::Hex => format!("{id:#x}"),
        JobIdForm::DotHex => {
            let [a, b, c, d] = [48, 32, 16, 0].map(|shift| (id >> shift) & 0xffff);
            format!("{a:04x}.{b:04x}.{c:04x}.{d:04x}")
        }
        JobIdForm::Kvs => format!("job.{}", encode_job_id(id, JobIdForm::DotHex)),
        JobIdForm::F58 => format!("ƒ{}", base58(id)),
        JobIdForm::F58Plain => format!("f{}", base58(id)),
    }
}

/// Reads a job id in any form but words and emoji. The text tells which form it is in.
///
/// As flux-core, it is lenient in places:
///
/// - space may stand before an id and before what follows `job.`, and after a decimal or
///   hexadecimal id, but not after any other;
/// - `job.` may stand before any form, and before nothing but space it means 0;
/// - a decimal id may have a plus sign;
/// - a group of a dotted id has one to four characters, among them a sign and a `0x` if it likes,
///   and may have space before it. A group with a minus sign is negated in 32 bits, and what does
///   not fit into 16 spills into the groups before it;
/// - twelve base58 digits may be more than an id can hold: it is taken modulo 2⁶⁴.
///
/// **Complexity**: linear in the length of the text.
///
/// **Source**: RFC 19; flux-core's `flux_job_id_parse`.
pub fn parse_job_id(text: &str) -> Option<u64> {
    let text = text.trim_start_matches(is_space);
    let text = match text.strip_prefix("job.") {
        // A trailing space is what keeps the text from being empty.
        Some(rest) if !rest.is_empty() && rest.chars().all(is_space) => return Some(0),
        Some(rest) => rest.trim_start_matches(is_space),
        None => text,
    };
    if text.contains('.') {
        dotted(text)
    } else if text.contains('-') {
        None
    } else if let Some(digits) = text.strip_prefix(['ƒ', 'f']) {
        from_base58(digits)
    } else {
        let number = text.trim_end_matches(is_space);
        match number.strip_prefix("0x") {
            // A second sign is not for `from_str_radix` to take.
            Some(digits) if digits.starts_with('+') => None,
            Some(digits) => u64::from_str_radix(digits, 16).ok(),
            None => number.parse().ok(),
        }
    }
}

/// Returns whether C has it for space.
fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t'..='\r')
}

fn base58(mut id: u64) -> String {
    let mut digits = Vec::with_capacity(MAX_DIGITS);
    loop {
        digits.push(char::from(DIGITS[usize::try_from(id % 58).unwrap_or(0)]));
        id /= 58;
        if id == 0 {
            return digits.iter().rev().collect();
        }
    }
}

fn from_base58(digits: &str) -> Option<u64> {
    if digits.is_empty() || digits.len() > MAX_DIGITS {
        return None;
    }
    digits.bytes().try_fold(0_u64, |id, byte| {
        let digit = (0_u64..).zip(DIGITS).find(|&(_, &digit)| digit == byte)?.0;
        Some(id.wrapping_mul(58).wrapping_add(digit))
    })
}

fn dotted(text: &str) -> Option<u64> {
    let mut groups = text.split('.');
    let mut id = 0;
    for shift in [48, 32, 16, 0] {
        id |= u64::from(dotted_group(groups.next()?)?) << shift;
    }
    groups.next().is_none().then_some(id)
}

/// Reads one group of a dotted id.
fn dotted_group(group: &str) -> Option<u32> {
    let group = group.trim_start_matches(is_space);
    if group.len() > 4 {
        return None;
    }
    let (negative, unsigned) = match group.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, group.strip_prefix('+').unwrap_or(group)),
    };
    let (prefix, digits) = match unsigned.strip_prefix("0x").or(unsigned.strip_prefix("0X")) {
        Some(digits) => (true, digits),
        None => (false, unsigned),
    };
    let value = if prefix && digits.is_empty() {
        0
    } else if digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        u32::from_str_radix(digits, 16).ok()?
    } else {
        return None;
    };
    Some(if negative { value.wrapping_neg() } else { value })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_written_in_every_form() {
        use JobIdForm::{Dec, DotHex, F58, F58Plain, Hex, Kvs};
        for (id, form, text) in [
            (0, Dec, "0"),
            (u64::MAX, Dec, "18446744073709551615"),
            (0, Hex, "0x0"),
            (6_731_191_091_817_518, Hex, "0x17e9fb8df16c2e"),
            (0, DotHex, "0000.0000.0000.0000"),
            (6_731_191_091_817_518, DotHex, "0017.e9fb.8df1.6c2e"),
            (u64::MAX, DotHex, "ffff.ffff.ffff.ffff"),
            (6_731_191_091_817_518, Kvs, "job.0017.e9fb.8df1.6c2e"),
            (0, F58, "ƒ1"),
            (57, F58, "ƒz"),
            (58, F58, "ƒ21"),
            (6_731_191_091_817_518, F58, "ƒuZZybuNNy"),
            (u64::MAX, F58, "ƒjpXCZedGfVQ"),
            (6_731_191_091_817_518, F58Plain, "fuZZybuNNy"),
        ] {
            assert_eq!(encode_job_id(id, form), text);
            assert_eq!(parse_job_id(text), Some(id), "{text}");
        }
    }

    #[test]
    fn ids_are_read() {
        for (text, id) in [
            ("00", 0),
            ("+5", 5),
            (" 5 ", 5),
            ("\x0b5\x0c\r\n", 5),
            ("0xFf", 255),
            ("0xffffffffffffffff  ", u64::MAX),
            ("0x0000000000000000000001", 1),
            ("job.5", 5),
            (" job.\t0x5 ", 5),
            ("job. ", 0),
            ("job.ƒ2", 1),
            ("f111", 0),
            ("ff", 38),
            ("fzzzzzzzzzzzz", 10_379_314_260_256_165_887),
            ("a.b.c.d", 0x000a_000b_000c_000d),
            ("\t0.0.0.\n5", 5),
            (" 1. 2. 3.\t4", 0x0001_0002_0003_0004),
            ("+1.+2.3.4", 0x0001_0002_0003_0004),
            ("0X1.0x12.+0x1.1", 0x0001_0012_0001_0001),
            ("0x.-0x.0.0x", 0),
            ("0.-1.0.0", 0xffff_ffff_0000_0000),
            ("0.0.0.-1", 0xffff_ffff),
            ("-fff.0.0.0", 0xf001_0000_0000_0000),
        ] {
            assert_eq!(parse_job_id(text), Some(id), "{text:?}");
        }
    }

    #[test]
    fn what_is_no_id_is_refused() {
        for text in [
            "",
            " ",
            "+",
            "++5",
            "-1",
            "5 5",
            "5x",
            "\u{a0}5",
            "5\u{a0}",
            "5\0",
            "18446744073709551616",
            "0x",
            "0x+5",
            "0x 5",
            "0X5",
            "0x10000000000000000",
            "f",
            "ƒ",
            "f0",
            "fI",
            "fO",
            "fl",
            "f1 ",
            "f 1",
            "fé",
            "F1",
            "fzzzzzzzzzzzzz",
            "job.",
            "job.job.5",
            "Job.5",
            "0.0.0",
            "0.0.0.",
            ".0.0.0",
            "0.0.0.0.0",
            "0.0.0.g",
            "0.0.0.0 ",
            "0 .0.0.0",
            "0x123.0.0.0",
            "00x1.0.0.0",
            "0x0x.0.0.0",
            "0.0.0.0xg",
            "+-1.0.0.0",
            "0.0.0.+",
            "12345.0.0.0",
            "a-b-c",
            "academy-academy-academy--academy-academy-academy",
            "😃",
        ] {
            assert_eq!(parse_job_id(text), None, "{text:?}");
        }
    }

    #[test]
    fn every_form_is_read_back() {
        let ids = (0..64).map(|shift| 1_u64 << shift).flat_map(|bit| [bit - 1, bit, !bit]);
        for id in ids {
            for form in [
                JobIdForm::Dec,
                JobIdForm::Hex,
                JobIdForm::DotHex,
                JobIdForm::Kvs,
                JobIdForm::F58,
                JobIdForm::F58Plain,
            ] {
                assert_eq!(parse_job_id(&encode_job_id(id, form)), Some(id));
            }
        }
    }
}
