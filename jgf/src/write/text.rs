//! Pieces of text, appended to a buffer without a detour over the heap or the formatting
//! machinery: a match has thousands of vertices, and each has several numbers and names.

use std::fmt::Write as _;

use engine::{Graph, VertexId};

/// The numbers from 0 to 99, two digits each.
const PAIRS: &str = "0001020304050607080910111213141516171819\
                     2021222324252627282930313233343536373839\
                     4041424344454647484950515253545556575859\
                     6061626364656667686970717273747576777879\
                     8081828384858687888990919293949596979899";

/// Appends a number in decimal.
pub(super) fn push_unsigned(number: u64, out: &mut String) {
    let pair = 2 * usize::try_from(number % 100).unwrap_or(0);
    if number >= 100 {
        push_unsigned(number / 100, out);
    }
    let first = if number < 10 { pair + 1 } else { pair };
    out.push_str(&PAIRS[first..pair + 2]);
}

/// Appends a number in decimal.
pub(super) fn push_integer(number: i64, out: &mut String) {
    if number < 0 {
        out.push('-');
    }
    push_unsigned(number.unsigned_abs(), out);
}

/// Appends the name of a vertex.
pub(super) fn push_name(graph: &Graph, vertex: VertexId, out: &mut String) {
    if let Some(name) = graph.own_name(vertex) {
        out.push_str(name);
        return;
    }
    out.push_str(graph.basename(vertex));
    let id = graph.id(vertex);
    if id != -1 {
        push_integer(id, out);
    }
}

/// Appends a JSON string, quoted.
pub(super) fn push_json_string(text: &str, out: &mut String) {
    out.push('"');
    push_json_escaped(text, out);
    out.push('"');
}

/// Appends the inside of a JSON string. Only what JSON forbids to stand for itself is escaped, in
/// the short form where there is one, else with upper-case hexadecimal digits.
pub(super) fn push_json_escaped(text: &str, out: &mut String) {
    let mut done = 0;
    for (at, byte) in text.bytes().enumerate() {
        if byte >= b' ' && byte != b'"' && byte != b'\\' {
            continue;
        }
        // An escaped byte is ASCII, so that both its sides are whole characters.
        out.push_str(&text[done..at]);
        done = at + 1;
        match byte {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            0x08 => out.push_str("\\b"),
            0x0c => out.push_str("\\f"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            _ => {
                // Writing to a string cannot fail.
                let _ = write!(out, "\\u{byte:04X}");
            }
        }
    }
    out.push_str(&text[done..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_written_as_the_standard_library_writes_them() {
        let mut numbers = vec![0, -1, i64::MIN, i64::MAX];
        for exponent in 0..19 {
            let power = 10_i64.pow(exponent);
            numbers.extend([power - 1, power, power + 1, -power, 7 * (power / 3)]);
        }
        for number in numbers {
            let mut out = String::new();
            push_integer(number, &mut out);
            assert_eq!(out, number.to_string());
        }
        let mut out = String::new();
        push_unsigned(u64::MAX, &mut out);
        assert_eq!(out, u64::MAX.to_string());
    }

    #[test]
    fn strings_are_escaped_where_they_must_be_and_nowhere_else() {
        let mut out = String::new();
        push_json_string("a\"b\\c/d\u{8}\u{c}\n\r\t\u{1}\u{1f}\u{7f}é\u{2028}", &mut out);
        assert_eq!(out, "\"a\\\"b\\\\c/d\\b\\f\\n\\r\\t\\u0001\\u001F\u{7f}é\u{2028}\"");
    }
}
