//! Reading YAML.
//!
//! The parser's events are used rather than typed values, because whether a
//! property was quoted and how a number was spelled decide what is accepted.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_saphyr::granit_parser::{
    ErrorKind, Event, Marker, Parser, ScalarStyle, ScanError, Tag, options,
};

use crate::error::Error;
use crate::limits::{LimitKind, Limits};
use crate::raw::{Entry, Kind, Node, Style};
use crate::span::{Location, Span, saturate};

/// Reads a YAML document.
///
/// A second document is refused unless it is empty.
pub(crate) fn read<'a>(text: &'a str, limits: &Limits) -> Result<Node<'a>, Error> {
    let options = options! {
        emit_comments: false,
        flow_nesting_limit: limits.depth,
        block_nesting_limit: limits.depth,
    };
    let mut builder = Builder {
        limits,
        open: Vec::new(),
        anchors: BTreeMap::new(),
        root: None,
        nodes_left: limits.nodes,
        alias_nodes_left: limits.alias_nodes,
    };
    for next in Parser::new_from_str_with_options(text, options) {
        let (event, span) = next.map_err(|error| stopped(&error, limits))?;
        builder.event(event, position(span.start))?;
    }
    Ok(builder.root.unwrap_or(Node { span: Span::START, kind: Kind::Null }))
}

fn stopped(error: &ScanError, limits: &Limits) -> Error {
    let span = position(*error.marker());
    match error.kind() {
        ErrorKind::RecursionLimitExceeded => limit(span, LimitKind::Depth, limits.depth),
        _ => Error::Syntax { at: Location::document(span), message: error.info() },
    }
}

fn position(marker: Marker) -> Span {
    Span {
        offset: saturate(marker.byte_offset().unwrap_or(0)),
        line: saturate(marker.line()).max(1),
        column: saturate(marker.col()).saturating_add(1),
    }
}

struct Builder<'a, 'l> {
    limits: &'l Limits,
    /// Collections whose end has not come, outermost first.
    open: Vec<Open<'a>>,
    /// Finished nodes that have an anchor.
    anchors: BTreeMap<usize, (Node<'a>, Size)>,
    root: Option<Node<'a>>,
    nodes_left: usize,
    alias_nodes_left: usize,
}

struct Open<'a> {
    span: Span,
    anchor: usize,
    items: Items<'a>,
    size: Size,
}

/// How much a node holds.
#[derive(Clone, Copy)]
struct Size {
    /// Nodes within, itself included.
    parts: usize,
    /// Levels of collections, itself included.
    levels: usize,
}

enum Items<'a> {
    Sequence(Vec<Node<'a>>),
    /// Entries, and the key whose value has not come.
    Mapping(Vec<Entry<'a>>, Option<Node<'a>>),
}

impl<'a> Builder<'a, '_> {
    fn event(&mut self, event: Event<'a>, span: Span) -> Result<(), Error> {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let kind = scalar(text, style, tag.as_deref());
                self.count(span, 1)?;
                let size = Size { parts: 1, levels: 0 };
                self.finish(Node { span, kind }, anchor, size)
            }
            Event::SequenceStart(_, anchor, _) => {
                self.start(span, anchor, Items::Sequence(Vec::new()))
            }
            Event::MappingStart(_, anchor, _) => {
                self.start(span, anchor, Items::Mapping(Vec::new(), None))
            }
            Event::SequenceEnd | Event::MappingEnd => match self.open.pop() {
                Some(open) => {
                    let kind = match open.items {
                        Items::Sequence(items) => Kind::Sequence(items),
                        Items::Mapping(entries, _) => Kind::Mapping(entries),
                    };
                    let node = Node { span: open.span, kind };
                    self.finish(node, open.anchor, open.size)
                }
                None => Ok(()),
            },
            Event::Alias(anchor) => self.alias(anchor, span),
            Event::DocumentStart(..) => {
                // An anchor is known within its document only.
                self.anchors.clear();
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn start(&mut self, span: Span, anchor: usize, items: Items<'a>) -> Result<(), Error> {
        if self.open.len() >= self.limits.depth {
            return Err(limit(span, LimitKind::Depth, self.limits.depth));
        }
        self.count(span, 1)?;
        self.open.push(Open { span, anchor, items, size: Size { parts: 1, levels: 1 } });
        Ok(())
    }

    fn alias(&mut self, anchor: usize, span: Span) -> Result<(), Error> {
        let Some((node, size)) = self.anchors.get(&anchor) else {
            return Err(Error::Syntax {
                at: Location::document(span),
                message: "an alias stands within what it refers to".to_owned(),
            });
        };
        let size = *size;
        if self.open.len() + size.levels > self.limits.depth {
            return Err(limit(span, LimitKind::Depth, self.limits.depth));
        }
        let Some(left) = self.alias_nodes_left.checked_sub(size.parts) else {
            let max = self.limits.alias_nodes;
            return Err(limit(span, LimitKind::AliasNodes, max));
        };
        self.alias_nodes_left = left;
        // The position stays that of the anchor, where the text stands.
        let node = node.clone();
        self.count(span, size.parts)?;
        self.finish(node, 0, size)
    }

    fn count(&mut self, span: Span, parts: usize) -> Result<(), Error> {
        self.nodes_left = self
            .nodes_left
            .checked_sub(parts)
            .ok_or_else(|| limit(span, LimitKind::Nodes, self.limits.nodes))?;
        Ok(())
    }

    /// Puts a finished node where it belongs.
    fn finish(&mut self, node: Node<'a>, anchor: usize, size: Size) -> Result<(), Error> {
        if anchor != 0 {
            // The copy is kept, so it counts.
            self.count(node.span, size.parts)?;
            self.anchors.insert(anchor, (node.clone(), size));
        }
        let Some(open) = self.open.last_mut() else {
            if self.root.is_none() {
                self.root = Some(node);
            } else if !node.is_null() {
                return Err(Error::Syntax {
                    at: Location::document(node.span),
                    message: "expected one document, found another".to_owned(),
                });
            }
            return Ok(());
        };
        open.size.parts += size.parts;
        open.size.levels = open.size.levels.max(size.levels + 1);
        match &mut open.items {
            Items::Sequence(items) => items.push(node),
            Items::Mapping(entries, key) => match key.take() {
                None => *key = Some(node),
                Some(key) => entries.push(Entry { key, value: node }),
            },
        }
        Ok(())
    }
}

fn limit(span: Span, limit: LimitKind, max: usize) -> Error {
    Error::Limit { at: Location::document(span), limit, max }
}

fn scalar<'a>(text: Cow<'a, str>, style: ScalarStyle, tag: Option<&Tag>) -> Kind<'a> {
    let style = match tag {
        None if style == ScalarStyle::Plain => {
            if matches!(&*text, "" | "~" | "null" | "Null" | "NULL") {
                return Kind::Null;
            }
            Style::Plain
        }
        None => Style::Quoted,
        Some(tag) => match tag.core_suffix() {
            Some("int" | "float" | "bool" | "null") => Style::TaggedPlain,
            _ if tag.original() == "!" => Style::Quoted,
            _ => Style::TaggedText,
        },
    };
    Kind::Scalar(text, style)
}
