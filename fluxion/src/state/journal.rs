//! The form of a journal.
//!
//! A header of [`HEADER`] bytes: [`MAGIC`], the number of the format (4 bytes), the generation of the
//! snapshot that it continues (8 bytes) and a checksum of these (8 bytes). Then records: length (4
//! bytes), the complement of the length (4 bytes), a checksum (8 bytes), the operation, and [`LAST`].
//! The checksum covers generation and offset too, so that a record is good in its place only.
//!
//! A process that dies leaves the last record short, and a machine that dies may leave zeros in its
//! place. Such a *torn* record was never answered. Anything else that does not fit is damage.

use xxhash_rust::xxh3::Xxh3;

pub(crate) const MAGIC: [u8; 8] = *b"fluxjrnl";
pub(crate) const FORMAT: u32 = 1;
pub(crate) const HEADER: usize = 8 + 4 + 8 + 8;

/// What stands before an operation.
const PREFIX: usize = 4 + 4 + 8;
/// What every record ends with.
const LAST: u8 = 0xa5;

/// A fault at an offset.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) offset: usize,
    pub(crate) fault: String,
}

/// Returns the checksum of several parts.
pub(crate) fn checksum(parts: &[&[u8]]) -> [u8; 8] {
    let mut hasher = Xxh3::new();
    for part in parts {
        hasher.update(part);
    }
    hasher.digest().to_le_bytes()
}

/// Returns what a journal begins with.
pub(crate) fn header(generation: u64) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend(FORMAT.to_le_bytes());
    bytes.extend(generation.to_le_bytes());
    let sum = checksum(&[&bytes]);
    bytes.extend(sum);
    bytes
}

/// Returns a record that stands at `offset`, `None` where the operation is too long.
pub(crate) fn record(generation: u64, offset: u64, operation: &[u8]) -> Option<Vec<u8>> {
    let length = u32::try_from(operation.len()).ok()?;
    let mut bytes = Vec::with_capacity(PREFIX + operation.len() + 1);
    bytes.extend(length.to_le_bytes());
    bytes.extend((!length).to_le_bytes());
    bytes.extend(checksum(&[&generation.to_le_bytes(), &offset.to_le_bytes(), operation]));
    bytes.extend(operation);
    bytes.push(LAST);
    Some(bytes)
}

/// What comes next in a journal.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Next<'a> {
    /// An operation, and where the record after it begins.
    Operation(&'a [u8], usize),
    /// Nothing.
    End,
    /// A record that was not finished.
    Torn,
}

/// Returns the generation that a header tells. `None` for one that was not finished.
///
/// # Errors
///
/// A [`Fault`] for what is no journal.
pub(crate) fn read_header(bytes: &[u8]) -> Result<Option<u64>, Fault> {
    let fault = |offset, fault: &str| Fault { offset, fault: fault.to_owned() };
    let Some(head) = bytes.get(..HEADER) else {
        return Ok(None);
    };
    if head[..8] != MAGIC {
        return Err(fault(0, "this is no journal"));
    }
    let format = u32::from_le_bytes(array(&head[8..12]));
    if format != FORMAT {
        let unknown = format!("format {format} is unknown, the newest known is {FORMAT}");
        return Err(fault(8, &unknown));
    }
    if head[20..] != checksum(&[&head[..20]]) {
        return Err(fault(20, "the checksum does not fit the header"));
    }
    Ok(Some(u64::from_le_bytes(array(&head[12..20]))))
}

/// Returns what stands at `offset`.
///
/// # Errors
///
/// A [`Fault`] for what no crash leaves behind.
pub(crate) fn read_next(bytes: &[u8], generation: u64, offset: usize) -> Result<Next<'_>, Fault> {
    let fault = |fault: &str| Fault { offset, fault: fault.to_owned() };
    let rest = &bytes[offset..];
    if rest.is_empty() {
        return Ok(Next::End);
    }
    if rest.iter().all(|&byte| byte == 0) {
        return Ok(Next::Torn);
    }
    let Some(prefix) = rest.get(..PREFIX) else {
        return Ok(Next::Torn);
    };
    let length = u32::from_le_bytes(array(&prefix[..4]));
    if length != !u32::from_le_bytes(array(&prefix[4..8])) {
        return Err(fault("the length of the record is damaged"));
    }
    let end = usize::try_from(length).ok().and_then(|length| length.checked_add(PREFIX));
    let Some((end, &last)) = end.and_then(|end| Some((end, rest.get(end)?))) else {
        return Ok(Next::Torn);
    };
    let operation = &rest[PREFIX..end];
    let place = (offset as u64).to_le_bytes();
    if last == LAST && prefix[8..] == checksum(&[&generation.to_le_bytes(), &place, operation]) {
        return Ok(Next::Operation(operation, offset + end + 1));
    }
    if rest[end..].iter().all(|&byte| byte == 0) {
        return Ok(Next::Torn);
    }
    Err(fault("the checksum does not fit the record"))
}

/// Returns the first bytes of a slice that has as many.
pub(crate) fn array<const N: usize>(bytes: &[u8]) -> [u8; N] {
    bytes.first_chunk().copied().unwrap_or([0; N])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn journal(operations: &[&[u8]]) -> (Vec<u8>, Vec<usize>) {
        let mut bytes = header(7);
        let mut ends = vec![bytes.len()];
        for operation in operations {
            bytes.extend(record(7, bytes.len() as u64, operation).unwrap());
            ends.push(bytes.len());
        }
        (bytes, ends)
    }

    fn read(bytes: &[u8]) -> Result<(Vec<Vec<u8>>, bool), Fault> {
        let Some(generation) = read_header(bytes)? else {
            return Ok((Vec::new(), true));
        };
        let (mut operations, mut offset) = (Vec::new(), HEADER);
        loop {
            match read_next(bytes, generation, offset)? {
                Next::Operation(operation, next) => {
                    operations.push(operation.to_vec());
                    offset = next;
                }
                Next::End => return Ok((operations, false)),
                Next::Torn => return Ok((operations, true)),
            }
        }
    }

    const OPERATIONS: [&[u8]; 4] = [b"one", b"", b"\0\0\0\0", b"the last one"];

    #[test]
    fn records_are_read_back() {
        let (bytes, _) = journal(&OPERATIONS);
        let given = OPERATIONS.map(<[u8]>::to_vec).to_vec();
        assert_eq!(read(&bytes), Ok((given, false)));
    }

    #[test]
    fn what_ends_within_a_record_is_torn() {
        let (bytes, ends) = journal(&OPERATIONS);
        for length in 0..bytes.len() {
            let whole = ends.iter().skip(1).filter(|&&end| end <= length).count();
            let (operations, torn) = read(&bytes[..length]).unwrap();
            assert_eq!(operations.len(), whole, "{length}");
            assert_eq!(torn, !ends.contains(&length), "{length}");
            // What the disk has instead of what was to come.
            let mut zeros = bytes[..length].to_vec();
            zeros.resize(length.max(HEADER) + 40, 0);
            if ends.contains(&length) {
                assert_eq!(read(&zeros).map(|(operations, _)| operations.len()), Ok(whole));
            }
        }
    }

    #[test]
    fn every_flipped_bit_is_noticed() {
        let (bytes, _) = journal(&OPERATIONS);
        for at in 0..bytes.len() * 8 {
            let mut damaged = bytes.clone();
            damaged[at / 8] ^= 1 << (at % 8);
            assert!(read(&damaged).is_err(), "bit {at}");
        }
    }

    #[test]
    fn a_record_is_good_in_its_place_only() {
        let (bytes, ends) = journal(&[b"one", b"two"]);
        let (first, second) = (&bytes[ends[0]..ends[1]], &bytes[ends[1]..]);
        assert!(read(&[&bytes[..ends[0]], second, first].concat()).is_err());
        assert!(read(&[&bytes[..], first].concat()).is_err());
        assert!(read(&[&header(8), first].concat()).is_err());
    }
}
