//! What the readers of XML share.

use std::borrow::Cow;

use roxmltree::{Document, Node, ParsingOptions};

use super::pointer::line_and_column;
use crate::{Error, LimitKind, Limits, Place};

pub(super) fn parse<'a>(text: &'a str, limits: &Limits) -> Result<Document<'a>, Error> {
    check_depth(text, limits)?;
    let options = ParsingOptions {
        // hwloc writes a document type without any declaration in it.
        allow_dtd: true,
        nodes_limit: u32::try_from(limits.xml_nodes).unwrap_or(u32::MAX),
        ..ParsingOptions::default()
    };
    Document::parse_with_options(text, options).map_err(|error| match error {
        roxmltree::Error::NodesLimitReached => limits.passed(LimitKind::XmlNodes, Place::default()),
        error => {
            let (line, column) = match error {
                // These are told to be at the first line, but it is the end that is missing.
                roxmltree::Error::UnclosedRootNode | roxmltree::Error::UnexpectedEndOfStream => {
                    line_and_column(text, text.len())
                }
                _ => (error.pos().row, error.pos().col),
            };
            let full = error.to_string();
            let message = full.rfind(" at ").map_or(full.as_str(), |end| &full[..end]);
            Error::Syntax {
                at: Place { line, column, pointer: String::new() },
                message: message.to_owned(),
            }
        }
    })
}

/// Refuses elements that are nested too deeply before anything recurses into them.
fn check_depth(text: &str, limits: &Limits) -> Result<(), Error> {
    let bytes = text.as_bytes();
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(found) = bytes[at..].iter().position(|&byte| byte == b'<') {
        let tag = at + found;
        let rest = &text[tag..];
        let skipped = [("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>")]
            .into_iter()
            .find(|(start, _)| rest.starts_with(start));
        if let Some((_, end)) = skipped {
            let Some(length) = rest.find(end) else {
                return Ok(());
            };
            at = tag + length + end.len();
            continue;
        }
        let Some(end) = end_of_tag(bytes, tag) else {
            return Ok(());
        };
        if rest.starts_with("</") {
            depth = depth.saturating_sub(1);
        } else if !rest.starts_with("<!") && bytes[end - 1] != b'/' {
            depth += 1;
            if depth > limits.depth {
                let (line, column) = line_and_column(text, tag);
                let at = Place { line, column, pointer: String::new() };
                return Err(limits.passed(LimitKind::Depth, at));
            }
        }
        at = end + 1;
    }
    Ok(())
}

/// Returns where the `>` of the tag that starts at `start` stands.
fn end_of_tag(bytes: &[u8], start: usize) -> Option<usize> {
    let mut quote = None;
    for (at, &byte) in bytes.iter().enumerate().skip(start) {
        match (byte, quote) {
            (b'>', None) => return Some(at),
            (b'"' | b'\'', None) => quote = Some(byte),
            (_, Some(open)) if byte == open => quote = None,
            _ => {}
        }
    }
    None
}

/// Returns the name of the outermost element, as far as it can be told without reading on.
pub(super) fn outermost_element(text: &str) -> Option<&str> {
    let mut rest = text;
    loop {
        rest = &rest[rest.find('<')?..];
        let end = if rest.starts_with("<!--") {
            "-->"
        } else if rest.starts_with("<?") || rest.starts_with("<!") {
            ">"
        } else {
            let name = &rest[1..];
            return name.find([' ', '\t', '\r', '\n', '>', '/']).map(|end| &name[..end]);
        };
        rest = &rest[rest.find(end)? + end.len()..];
    }
}

/// Returns the place of an element, as a path of element names.
pub(super) fn place(node: Node<'_, '_>) -> Place {
    let position = node.document().text_pos_at(node.range().start);
    let mut names: Vec<String> = node
        .ancestors()
        .filter(Node::is_element)
        .map(|element| {
            let name = element.tag_name().name();
            let before = element
                .prev_siblings()
                .skip(1)
                .filter(|sibling| sibling.is_element() && sibling.tag_name().name() == name)
                .count();
            format!("/{name}[{}]", before + 1)
        })
        .collect();
    names.reverse();
    Place { line: position.row, column: position.col, pointer: names.concat() }
}

pub(super) fn value(
    node: Node<'_, '_>,
    expected: &'static str,
    found: &dyn std::fmt::Display,
) -> Error {
    Error::Value { at: place(node), expected: Cow::Borrowed(expected), found: found.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_is_limited() {
        let nested = |n: usize| format!("{}{}", "<a>".repeat(n), "</a>".repeat(n));
        let limits = Limits { depth: 10, ..Limits::default() };
        assert!(parse(&nested(10), &limits).is_ok());
        assert_eq!(
            parse(&nested(11), &limits).unwrap_err().to_string(),
            "1:31: more than 10 levels of nesting (limit `graph.depth`)"
        );
        // What only looks like elements does not count.
        let harmless = format!(
            "<?x <a> ?><!-- {0} --><a b='>'><![CDATA[{0}]]>{1}</a>",
            "<a>".repeat(20),
            "<b c=\"/>\"/>".repeat(20)
        );
        assert!(parse(&harmless, &limits).is_ok());
        assert!(parse(&nested(1_000_000), &Limits::default()).is_err());
    }

    #[test]
    fn nodes_are_limited() {
        let limits = Limits { xml_nodes: 10, ..Limits::default() };
        let text = format!("<a>{}</a>", "<b/>".repeat(20));
        assert_eq!(
            parse(&text, &limits).unwrap_err().to_string(),
            "document: more than 10 XML nodes (limit `graph.xml_nodes`)"
        );
    }

    #[test]
    fn entities_cannot_multiply() {
        let text = "<!DOCTYPE a [<!ENTITY x 'xxxxxxxxxx'><!ENTITY y '&x;&x;&x;&x;&x;&x;&x;&x;'>\
                    <!ENTITY z '&y;&y;&y;&y;&y;&y;&y;&y;'>]><a>&z;&z;</a>";
        // Either is fine, as long as it ends.
        let _ = parse(text, &Limits::default());
    }

    #[test]
    fn the_outermost_element_is_found() {
        assert_eq!(outermost_element("<a b='c'/>"), Some("a"));
        assert_eq!(outermost_element("<?xml?><!-- <b> --><!DOCTYPE a><a>"), Some("a"));
        for text in ["", "<", "<a", "<!-- ", "<?xml", "text"] {
            assert_eq!(outermost_element(text), None, "{text}");
        }
    }
}
