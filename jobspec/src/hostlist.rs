//! Lists of host names and their text form (RFC 29).

use std::fmt;
use std::str::FromStr;

/// An ordered list of host names, with repetitions, kept as ranges.
///
/// Names that end in digits join the range before them if they continue it:
/// appending `node0`, `node1` and `node3` gives `node[0-1,3]`. The text form is
/// that of flux-core, character for character, zero padding included.
///
/// Lists are equal if they have the same names in the same order, however they
/// were written.
///
/// **Complexity**: memory is proportional to the number of ranges.
///
/// **Source**: RFC 29.
#[derive(Debug, Clone, Default)]
pub struct Hostlist {
    groups: Vec<Group>,
}

/// Why a text is not a host list.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HostlistError {
    /// Brackets are unbalanced, nested, or more than one pair to a name.
    #[error("expected at most one pair of brackets in a host name, found `{found}`")]
    Brackets {
        /// The name with its brackets.
        found: String,
    },
    /// What stands between brackets is not a list of ids.
    #[error("expected an id or a range such as `3` or `00-07` in brackets, found `{found}`")]
    Range {
        /// The element of the list.
        found: String,
    },
    /// A range has too many hosts, or brackets have too many ranges.
    #[error("expected at most {max} {counted} in brackets, found `{found}`")]
    Size {
        /// What there is too much of.
        counted: &'static str,
        /// The bound.
        max: u64,
        /// The element of the list, or the name.
        found: String,
    },
    /// A single host name has brackets, commas or spaces.
    #[error("expected a host name, found `{found}`")]
    Name {
        /// The name.
        found: String,
    },
}

/// One range of the list.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Group {
    prefix: String,
    hosts: Hosts,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Hosts {
    /// The prefix is the name.
    One,
    /// The prefix, then each number from `low` to `high`, padded with zeros to
    /// `width`.
    Numbered { low: u64, high: u64, width: usize },
    /// As `Numbered`, with more text after the number. flux-core keeps such
    /// hosts one by one, so they join no range and are written one by one.
    Suffixed { low: u64, high: u64, width: usize, suffix: String },
}

impl Hosts {
    fn len(&self) -> u64 {
        match *self {
            Self::One => 1,
            Self::Numbered { low, high, .. } | Self::Suffixed { low, high, .. } => {
                (high - low).saturating_add(1)
            }
        }
    }
}

impl Group {
    fn is_numbered(&self) -> bool {
        matches!(self.hosts, Hosts::Numbered { .. })
    }

    fn name(&self, offset: u64) -> String {
        let prefix = &self.prefix;
        match &self.hosts {
            Hosts::One => prefix.clone(),
            Hosts::Numbered { low, width, .. } => format!("{prefix}{:0width$}", low + offset),
            Hosts::Suffixed { low, width, suffix, .. } => {
                format!("{prefix}{:0width$}{suffix}", low + offset)
            }
        }
    }

    /// Returns the place of a name in this range.
    fn find(&self, name: &str) -> Option<u64> {
        let rest = name.strip_prefix(self.prefix.as_str())?;
        let (digits, low, high, width) = match &self.hosts {
            Hosts::One => return rest.is_empty().then_some(0),
            Hosts::Numbered { low, high, width } => (rest, *low, *high, *width),
            Hosts::Suffixed { low, high, width, suffix } => {
                (rest.strip_suffix(suffix.as_str())?, *low, *high, *width)
            }
        };
        let number = decimal(digits)?;
        let written = digits_of(number).max(width);
        (digits.len() == written && (low..=high).contains(&number)).then(|| number - low)
    }

    /// Joins `next` to the end of this range if it continues it.
    fn join(&mut self, next: &Self) -> bool {
        let (
            Hosts::Numbered { low, high, width },
            Hosts::Numbered { low: next_low, high: next_high, width: next_width },
        ) = (&mut self.hosts, &next.hosts)
        else {
            return false;
        };
        if self.prefix != next.prefix || high.checked_add(1) != Some(*next_low) {
            return false;
        }
        let Some(common) = common_width((*low, *width), (*next_low, *next_width)) else {
            return false;
        };
        *high = *next_high;
        *width = common;
        true
    }
}

impl Hostlist {
    /// Most hosts in one range between brackets, as in flux-core.
    pub const MAX_RANGE: u64 = 1 << 20;
    /// Most ranges between one pair of brackets, as in flux-core.
    pub const MAX_RANGES: usize = 10_240;

    /// Returns the empty list.
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads a list such as `node[0-3,7],login`.
    ///
    /// Names are separated by commas, spaces or tabs; empty ones are passed
    /// over. A range takes its zero padding from its own lower end, so that
    /// `[08-10,3]` is `08,09,10,3`.
    ///
    /// **Complexity**: linear in the length of the text.
    ///
    /// # Errors
    ///
    /// Returns a [`HostlistError`] for unbalanced, nested or repeated brackets,
    /// for anything but digits and hyphens between them, for a range that
    /// descends, and beyond [`Self::MAX_RANGE`] and [`Self::MAX_RANGES`].
    ///
    /// **Source**: RFC 29.
    pub fn decode(text: &str) -> Result<Self, HostlistError> {
        let mut list = Self::new();
        list.decode_append(text)?;
        Ok(list)
    }

    /// Reads a list as [`Hostlist::decode`] does, and appends its hosts.
    ///
    /// # Errors
    ///
    /// As [`Hostlist::decode`]; then the list is left as it was.
    pub fn decode_append(&mut self, text: &str) -> Result<(), HostlistError> {
        let mut added = Vec::new();
        for token in Tokens(text) {
            decode_token(token, &mut added)?;
        }
        for group in added {
            self.append_group(group);
        }
        Ok(())
    }

    /// Appends one host.
    ///
    /// # Errors
    ///
    /// Returns [`HostlistError::Name`] if the name is empty or has brackets,
    /// commas, spaces or tabs.
    pub fn push(&mut self, name: &str) -> Result<(), HostlistError> {
        if name.is_empty() || name.contains(['[', ']', ',', ' ', '\t']) {
            return Err(HostlistError::Name { found: name.to_owned() });
        }
        self.append_group(single(name));
        Ok(())
    }

    /// Appends the hosts of `other`.
    pub fn append(&mut self, other: &Self) {
        for group in &other.groups {
            self.append_group(group.clone());
        }
    }

    /// Makes a list of host names, in the order given.
    ///
    /// # Errors
    ///
    /// As [`Hostlist::push`].
    pub fn from_names<I>(names: I) -> Result<Self, HostlistError>
    where
        I: IntoIterator,
        I::Item: AsRef<str>,
    {
        let mut list = Self::new();
        for name in names {
            list.push(name.as_ref())?;
        }
        Ok(list)
    }

    fn append_group(&mut self, group: Group) {
        if let Some(last) = self.groups.last_mut()
            && last.join(&group)
        {
            return;
        }
        self.groups.push(group);
    }

    /// Returns the text form; empty for the empty list.
    ///
    /// **Complexity**: linear in the number of ranges, and of hosts for those
    /// with text after the number, which are written one by one.
    ///
    /// **Source**: RFC 29.
    pub fn encode(&self) -> String {
        self.to_string()
    }

    /// Returns a text form in which hosts with a suffix keep their brackets, as
    /// in `node[0-7]-ib`, so that it is no longer than what the list was read
    /// from.
    pub(crate) fn encode_compact(&self) -> String {
        let mut text = String::new();
        // Writing to a string does not fail.
        let _ = self.write(&mut text, true);
        text
    }

    fn write(&self, out: &mut impl fmt::Write, compact: bool) -> fmt::Result {
        let mut rest = self.groups.as_slice();
        while let Some(group) = rest.first() {
            if rest.len() < self.groups.len() {
                out.write_char(',')?;
            }
            let together = rest
                .iter()
                .take_while(|other| other.is_numbered() && other.prefix == group.prefix)
                .count()
                .max(1);
            let (groups, after) = rest.split_at(together);
            rest = after;
            let prefix = &group.prefix;
            match &group.hosts {
                Hosts::Numbered { low, high, .. } if together > 1 || low < high => {
                    write_bracketed(out, prefix, groups)?;
                }
                Hosts::Suffixed { low, high, width, suffix } if compact => {
                    write!(out, "{prefix}[{low:0width$}-{high:0width$}]{suffix}")?;
                }
                hosts => {
                    for offset in 0..hosts.len() {
                        if offset > 0 {
                            out.write_char(',')?;
                        }
                        out.write_str(&group.name(offset))?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Returns the place of the first host with this name.
    ///
    /// **Complexity**: linear in the number of ranges.
    pub fn find(&self, name: &str) -> Option<u64> {
        let mut before = 0_u64;
        for group in &self.groups {
            if let Some(offset) = group.find(name) {
                return Some(before.saturating_add(offset));
            }
            before = before.saturating_add(group.hosts.len());
        }
        None
    }

    /// Returns whether a host with this name is in the list.
    ///
    /// **Complexity**: linear in the number of ranges.
    pub fn contains(&self, name: &str) -> bool {
        self.groups.iter().any(|group| group.find(name).is_some())
    }

    /// Returns the number of hosts.
    ///
    /// **Complexity**: linear in the number of ranges.
    pub fn len(&self) -> u64 {
        self.groups.iter().fold(0, |total, group| total.saturating_add(group.hosts.len()))
    }

    /// Returns the number of ranges, single hosts counted as one.
    pub fn n_ranges(&self) -> usize {
        self.groups.len()
    }

    /// Returns whether the list has no hosts.
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// Returns the host names in order.
    pub fn iter(&self) -> impl Iterator<Item = String> + '_ {
        self.groups.iter().flat_map(|group| (0..group.hosts.len()).map(|offset| group.name(offset)))
    }
}

impl PartialEq for Hostlist {
    fn eq(&self, other: &Self) -> bool {
        self.groups == other.groups || self.len() == other.len() && self.iter().eq(other.iter())
    }
}

impl Eq for Hostlist {}

impl fmt::Display for Hostlist {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, false)
    }
}

fn write_bracketed(out: &mut impl fmt::Write, prefix: &str, groups: &[Group]) -> fmt::Result {
    write!(out, "{prefix}[")?;
    for (index, group) in groups.iter().enumerate() {
        if let Hosts::Numbered { low, high, width } = group.hosts {
            if index > 0 {
                out.write_char(',')?;
            }
            write!(out, "{low:0width$}")?;
            if low < high {
                write!(out, "-{high:0width$}")?;
            }
        }
    }
    out.write_char(']')
}

impl FromStr for Hostlist {
    type Err = HostlistError;

    fn from_str(text: &str) -> Result<Self, HostlistError> {
        Self::decode(text)
    }
}

/// The names of a list with their brackets.
struct Tokens<'a>(&'a str);

impl<'a> Iterator for Tokens<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let separator = |character| matches!(character, ',' | ' ' | '\t');
        let text = self.0.trim_start_matches(separator);
        if text.is_empty() {
            return None;
        }
        let mut depth = 0_i64;
        let end = text
            .find(|character| {
                match character {
                    '[' => depth += 1,
                    ']' => depth -= 1,
                    _ => {}
                }
                depth == 0 && separator(character)
            })
            .unwrap_or(text.len());
        let (token, rest) = text.split_at(end);
        self.0 = rest;
        Some(token)
    }
}

fn decode_token(token: &str, groups: &mut Vec<Group>) -> Result<(), HostlistError> {
    let brackets = || HostlistError::Brackets { found: token.to_owned() };
    let Some((prefix, rest)) = token.split_once('[') else {
        if token.contains(']') {
            return Err(brackets());
        }
        groups.push(single(token));
        return Ok(());
    };
    let (list, suffix) = rest.split_once(']').ok_or_else(brackets)?;
    if prefix.contains(']') || list.contains('[') || suffix.contains(['[', ']']) {
        return Err(brackets());
    }
    for (index, element) in list.split(',').enumerate() {
        if index == Hostlist::MAX_RANGES {
            return Err(HostlistError::Size {
                counted: "ranges",
                max: Hostlist::MAX_RANGES as u64,
                found: token.to_owned(),
            });
        }
        let (low, high, width) = decode_range(element)?;
        let hosts = if suffix.is_empty() {
            Hosts::Numbered { low, high, width }
        } else {
            Hosts::Suffixed { low, high, width, suffix: suffix.to_owned() }
        };
        groups.push(Group { prefix: prefix.to_owned(), hosts });
    }
    Ok(())
}

fn decode_range(element: &str) -> Result<(u64, u64, usize), HostlistError> {
    let range = || HostlistError::Range { found: element.to_owned() };
    let (low, high) = element.split_once('-').unwrap_or((element, element));
    let width = low.len();
    let (low, high) = (decimal(low).ok_or_else(range)?, decimal(high).ok_or_else(range)?);
    if low > high {
        return Err(range());
    }
    if high - low >= Hostlist::MAX_RANGE {
        return Err(HostlistError::Size {
            counted: "hosts to a range",
            max: Hostlist::MAX_RANGE,
            found: element.to_owned(),
        });
    }
    Ok((low, high, width))
}

/// Splits a host name before its trailing digits.
///
/// A name without any, or with more than fit a number, stands for itself.
fn single(name: &str) -> Group {
    let prefix = name.trim_end_matches(|character: char| character.is_ascii_digit());
    let digits = &name[prefix.len()..];
    match decimal(digits) {
        Some(number) => Group {
            prefix: prefix.to_owned(),
            hosts: Hosts::Numbered { low: number, high: number, width: digits.len() },
        },
        None => Group { prefix: name.to_owned(), hosts: Hosts::One },
    }
}

/// Reads decimal digits; leading zeros are allowed.
fn decimal(digits: &str) -> Option<u64> {
    let only_digits = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    only_digits.then(|| digits.parse().ok()).flatten()
}

fn digits_of(number: u64) -> usize {
    number.checked_ilog10().unwrap_or(0) as usize + 1
}

/// Returns a width with which both numbers are written as with their own.
fn common_width(first: (u64, usize), second: (u64, usize)) -> Option<usize> {
    let same = |(number, width): (u64, usize), other: usize| {
        let digits = digits_of(number);
        width.max(digits) == other.max(digits)
    };
    if same(first, second.1) {
        Some(second.1)
    } else if same(second, first.1) {
        Some(first.1)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quickcheck::{Arbitrary, Gen, quickcheck};

    #[test]
    fn texts_and_their_forms() {
        let table = [
            ("", "", 0),
            ("foo-1a-2,foo-1a-3", "foo-1a-[2-3]", 2),
            ("foo1,foo2,foo3,fooi", "foo[1-3],fooi", 4),
            ("foo1,fooi,foo2,foo3", "foo1,fooi,foo[2-3]", 4),
            ("fooi,foo1,foo2,foo3,foo5,foo7,foo8", "fooi,foo[1-3,5,7-8]", 7),
            ("1,2,3,4,5,9", "[1-5,9]", 6),
            (",1,2,3,4,5,9,", "[1-5,9]", 6),
            ("[1-5]", "[1-5]", 5),
            ("foo[1,3]-bar", "foo1-bar,foo3-bar", 2),
            ("[00-03]p", "00p,01p,02p,03p", 4),
            ("p[00-3]p", "p00p,p01p,p02p,p03p", 4),
            ("14636", "14636", 1),
            ("foo[12,4,1-2],bar[26-30]", "foo[12,4,1-2],bar[26-30]", 9),
            ("foo1,foo1,foo1", "foo[1,1,1]", 3),
            ("foo[1,1,2,1]", "foo[1,1-2,1]", 4),
            ("foox,fooy fooz", "foox,fooy,fooz", 3),
            ("foo,foo", "foo,foo", 2),
            ("n09,n10", "n[09-10]", 2),
            ("n9,n10", "n[9-10]", 2),
            ("n09,n010", "n[09,010]", 2),
            ("n099,n100", "n[099-100]", 2),
            ("n[0-1,3]", "n[0-1,3]", 3),
            ("node[08-10,3]", "node[08-10,3]", 4),
            ("a[0-1]x3,a2x4", "a0x3,a1x3,a2x4", 3),
            ("n99999999999999999999999", "n99999999999999999999999", 1),
        ];
        for (text, encoded, len) in table {
            let list = Hostlist::decode(text).unwrap();
            assert_eq!(list.encode(), encoded, "{text}");
            assert_eq!(list.len(), len, "{text}");
            assert_eq!(list.iter().count() as u64, len, "{text}");
        }
    }

    #[test]
    fn vectors_of_the_rfc() {
        let table: [(&str, &[&str]); 5] = [
            ("[1-3,5-6]", &["1", "2", "3", "5", "6"]),
            ("foo[0-2]-eth2", &["foo0-eth2", "foo1-eth2", "foo2-eth2"]),
            ("[00-02]", &["00", "01", "02"]),
            ("[00-2]", &["00", "01", "02"]),
            ("foo[1,1,2,1]", &["foo1", "foo1", "foo2", "foo1"]),
        ];
        for (text, names) in table {
            let list = Hostlist::decode(text).unwrap();
            assert!(list.iter().eq(names.iter().copied()), "{text}");
        }
    }

    #[test]
    fn texts_that_are_not_lists() {
        let table = [
            "[]",
            "foo[]",
            "foo[",
            "foo[1,3",
            "foo[[1,3]",
            "foo]",
            "foo[x-y]",
            "foo[0-1,2--5]",
            "foo[1-]",
            "foo[-1]",
            "foo[3-1]",
            "foo[1 ]",
            "foo[+1]",
            "foo[0-1048576]",
            "a]b[1]",
            "foo[1][2]",
            "foo[1]]",
        ];
        for text in table {
            assert!(Hostlist::decode(text).is_err(), "{text}");
        }
        let many = vec!["1"; Hostlist::MAX_RANGES + 1].join(",");
        assert!(Hostlist::decode(&format!("n[{many}]")).is_err());
        assert_eq!(Hostlist::decode("n[0-1048575]x").unwrap().len(), 1 << 20);
    }

    #[test]
    fn places_of_names() {
        let table = [
            ("tst0", "tst", None),
            ("tst0,tst", "tst", Some(1)),
            ("tst,tst0", "tst", Some(0)),
            ("tst", "tst0", None),
            ("foo[1-5]-eth0", "foo3-eth0", Some(2)),
            ("foo[1-5]", "foo3-eth0", None),
            ("[0-5]", "3", Some(3)),
            ("[0-5]i", "0", None),
            ("i[0-5]", "i00", None),
            ("i[00-05]", "i04", Some(4)),
            ("f00[7-8]", "f007", Some(0)),
            ("f00[7-8,10]", "f0010", Some(2)),
            ("f0010001[07-08]", "f001000108", Some(1)),
            ("cornp2", "corn2", None),
            ("n[7-12]", "n10", Some(3)),
            ("n[7-12]", "n010", None),
            ("n[07-12]", "n7", None),
            ("n[1-2],m[1-2]", "m2", Some(3)),
        ];
        for (text, name, place) in table {
            let list = Hostlist::decode(text).unwrap();
            assert_eq!(list.find(name), place, "{name} in {text}");
            assert_eq!(list.contains(name), place.is_some());
        }
    }

    #[test]
    fn compact_form_keeps_suffixed_ranges() {
        let text = "a1,n[00-07]-ib,n[1-1]x,b[1-2,5]";
        let list = Hostlist::decode(text).unwrap();
        assert_eq!(list.encode_compact(), text);
        assert_eq!(Hostlist::decode(&list.encode()).unwrap(), list);
    }

    #[test]
    fn pushed_names_are_checked() {
        let list = Hostlist::from_names(["node0", "node1", "node3"]).unwrap();
        assert_eq!(list.encode(), "node[0-1,3]");
        for name in ["", "a,b", "a[1]", "a b"] {
            assert!(Hostlist::from_names([name]).is_err(), "{name}");
        }
        let mut list = list;
        assert!(list.decode_append("x,y[").is_err());
        assert_eq!(list.len(), 3);
    }

    /// A host name out of few, so that ranges arise.
    #[derive(Debug, Clone)]
    struct Name(String);

    impl Arbitrary for Name {
        fn arbitrary(g: &mut Gen) -> Self {
            let prefix = g.choose(&["n", "n", "n1", "m-", ""]).unwrap();
            let number = u16::arbitrary(g) % 14;
            let width = *g.choose(&[1, 1, 1, 2, 3]).unwrap();
            let suffix = g.choose(&["", "", "", "", "-e", "x7"]).unwrap();
            Self(format!("{prefix}{number:0width$}{suffix}"))
        }
    }

    quickcheck! {
        fn order_and_names_survive(names: Vec<Name>) -> bool {
            let names: Vec<String> = names.into_iter().map(|name| name.0).collect();
            let list = Hostlist::from_names(&names).unwrap();
            let again = Hostlist::decode(&list.encode()).unwrap();
            list.iter().eq(names.iter().cloned())
                && again.iter().eq(names.iter().cloned())
                && again == list
                && Hostlist::decode(&list.encode_compact()).unwrap() == list
                && list.len() == names.len() as u64
                && names.iter().all(|name| {
                    list.find(name) == names.iter().position(|other| other == name).map(|at| at as u64)
                })
        }

        fn runs_in_order_are_one_range(first: u8, len: u8) -> bool {
            let names = (0..=u32::from(len)).map(|n| format!("n{}", n + u32::from(first)));
            Hostlist::from_names(names).unwrap().groups.len() == 1
        }

        fn any_text_gets_an_answer(text: String) -> bool {
            Hostlist::decode(&text).map_or(true, |list| list.len() < u64::MAX)
        }
    }
}
