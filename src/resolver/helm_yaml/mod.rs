//! Values files as Helm reads them.
//!
//! Source: design section 4. Helm's reader follows YAML 1.1: `yes`, `on` and `n` are booleans and `012` is ten. It has
//! habits of its own, and a plan must hold what Helm would have seen, so they are followed: of a key that stands twice the
//! later one counts, a merge key takes effect where it stands (so it replaces keys that stand before it), only the first
//! document counts, and a key that is no text becomes one. Where Helm's answer depends on chance (two keys that become the
//! same text), the file is refused. The suite holds this reader against the real `helm template`.

mod scalar;

use std::collections::BTreeMap;
use std::fmt;

use libyaml_safer::{EventData, Parser};
use serde_json::{Map, Value};

use scalar::Scalar;

/// The most levels of maps and lists.
const MAX_DEPTH: usize = 100;
/// The most values of one file, those repeated by aliases included.
const MAX_NODES: usize = 200_000;
/// The tag that makes any key a merge key.
const MERGE_TAG: &str = "tag:yaml.org,2002:merge";

/// Why Helm could not read a file, or would read it by chance.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}: line {line}: {problem}")]
pub struct YamlError {
    /// The file, as the caller names it.
    pub file: String,
    /// Where, from 1.
    pub line: u64,
    /// What is wrong there.
    pub problem: String,
}

/// Reads the first document of a file; an empty one is null.
///
/// # Errors
///
/// For text that is no YAML, a tag that does not fit its value, a number that JSON has none for, a key that cannot be a
/// text or is ambiguous, an alias of nothing or of what holds it, and more than 100 levels or 200 000 values.
pub fn read(file: &str, text: &str) -> Result<Value, YamlError> {
    let mut input = text.as_bytes();
    let mut parser = Parser::new();
    parser.set_input_string(&mut input);
    let mut reader = Reader { file, nodes: Vec::new(), anchors: BTreeMap::new() };
    loop {
        let (event, line) = reader.next(&mut parser)?;
        match event {
            EventData::StreamStart { .. } | EventData::DocumentStart { .. } => {}
            EventData::StreamEnd => return Ok(Value::Null),
            other => {
                let root = reader.node(&mut parser, other, line, 0)?;
                let mut values = Values { reader: &reader, open: Vec::new(), count: 0 };
                return values.value(root);
            }
        }
    }
}

/// A node of the document before its aliases are followed.
struct Node {
    line: u64,
    content: Content,
}

enum Content {
    /// Put in while the node's members are read.
    Open,
    Scalar {
        tag: Option<String>,
        text: String,
        plain: bool,
    },
    List(Vec<usize>),
    Map(Vec<(usize, usize)>),
    Alias(usize),
}

struct Reader<'a> {
    file: &'a str,
    nodes: Vec<Node>,
    anchors: BTreeMap<String, usize>,
}

impl Reader<'_> {
    fn error(&self, line: u64, problem: impl fmt::Display) -> YamlError {
        YamlError { file: self.file.to_owned(), line, problem: problem.to_string() }
    }

    fn next(&self, parser: &mut Parser<&mut &[u8]>) -> Result<(EventData, u64), YamlError> {
        match parser.parse() {
            Ok(event) => Ok((event.data, event.start_mark.line + 1)),
            Err(error) => {
                let line = error.problem_mark().map_or(1, |mark| mark.line + 1);
                Err(self.error(line, format!("is no YAML: {error}")))
            }
        }
    }

    /// Reads the node that begins with this event.
    fn node(
        &mut self,
        parser: &mut Parser<&mut &[u8]>,
        event: EventData,
        line: u64,
        depth: usize,
    ) -> Result<usize, YamlError> {
        if depth > MAX_DEPTH {
            return Err(self.error(line, format!("more than {MAX_DEPTH} levels")));
        }
        let at = self.nodes.len();
        if at >= MAX_NODES {
            return Err(self.error(line, format!("more than {MAX_NODES} values")));
        }
        self.nodes.push(Node { line, content: Content::Open });
        let content = match event {
            EventData::Alias { anchor } => {
                let Some(target) = self.anchors.get(&anchor) else {
                    return Err(self.error(line, format!("alias *{anchor} has no anchor before it")));
                };
                Content::Alias(*target)
            }
            EventData::Scalar { anchor, tag, value, plain_implicit, .. } => {
                self.anchor(anchor, at);
                Content::Scalar { tag, text: value, plain: plain_implicit }
            }
            EventData::SequenceStart { anchor, .. } => {
                self.anchor(anchor, at);
                let mut items = Vec::new();
                while let Some(item) = self.member(parser, depth)? {
                    items.push(item);
                }
                Content::List(items)
            }
            EventData::MappingStart { anchor, .. } => {
                self.anchor(anchor, at);
                let mut members = Vec::new();
                while let Some(key) = self.member(parser, depth)? {
                    let Some(value) = self.member(parser, depth)? else {
                        return Err(self.error(line, "is no YAML: a key without a value"));
                    };
                    members.push((key, value));
                }
                Content::Map(members)
            }
            _ => return Err(self.error(line, "is no YAML: expected a value")),
        };
        self.nodes[at].content = content;
        Ok(at)
    }

    /// The next member of a list or map; nothing at its end.
    fn member(&mut self, parser: &mut Parser<&mut &[u8]>, depth: usize) -> Result<Option<usize>, YamlError> {
        let (event, line) = self.next(parser)?;
        if matches!(event, EventData::SequenceEnd | EventData::MappingEnd) {
            return Ok(None);
        }
        self.node(parser, event, line, depth + 1).map(Some)
    }

    fn anchor(&mut self, anchor: Option<String>, at: usize) {
        if let Some(anchor) = anchor {
            self.anchors.insert(anchor, at);
        }
    }
}

/// What Helm's reader does with a key: two keys may be one text and still two keys.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    text: String,
    kind: &'static str,
}

/// The values of a document, aliases followed.
struct Values<'a> {
    reader: &'a Reader<'a>,
    /// Nodes whose values are being made.
    open: Vec<usize>,
    count: usize,
}

impl Values<'_> {
    /// Enters a node, and counts it.
    fn enter(&mut self, at: usize) -> Result<&Node, YamlError> {
        let node = &self.reader.nodes[at];
        self.count += 1;
        if self.count > MAX_NODES {
            return Err(self
                .reader
                .error(node.line, format!("more than {MAX_NODES} values, aliases followed")));
        }
        if self.open.contains(&at) {
            return Err(self.reader.error(node.line, "holds an alias of itself"));
        }
        if self.open.len() > MAX_DEPTH {
            return Err(self
                .reader
                .error(node.line, format!("more than {MAX_DEPTH} levels, aliases followed")));
        }
        self.open.push(at);
        Ok(node)
    }

    fn value(&mut self, at: usize) -> Result<Value, YamlError> {
        let reader = self.reader;
        self.enter(at)?;
        let node = &reader.nodes[at];
        let value = match &node.content {
            Content::Open => return Err(reader.error(node.line, "holds an alias of itself")),
            Content::Alias(target) => self.value(*target)?,
            Content::Scalar { .. } => {
                let scalar = self.scalar(node)?;
                let problem = || reader.error(node.line, "JSON has no infinite number and no NaN");
                scalar.json().ok_or_else(problem)?
            }
            Content::List(items) => items.iter().map(|item| self.value(*item)).collect::<Result<_, _>>()?,
            Content::Map(members) => {
                let mut map = BTreeMap::new();
                self.members(members, &mut map)?;
                Value::Object(self.texts(node.line, map)?)
            }
        };
        self.open.pop();
        Ok(value)
    }

    fn scalar(&self, node: &Node) -> Result<Scalar, YamlError> {
        let Content::Scalar { tag, text, plain } = &node.content else {
            return Err(self.reader.error(node.line, "a key is a map or a list"));
        };
        match tag.as_deref().filter(|tag| !tag.is_empty()) {
            None if *plain => Ok(scalar::plain(text)),
            None => Ok(Scalar::Text(text.clone())),
            Some(tag) => scalar::tagged(tag, text).map_err(|problem| self.reader.error(node.line, problem)),
        }
    }

    /// Adds members in their order; a merge key adds those of another map at its own place.
    fn members(
        &mut self,
        members: &[(usize, usize)],
        map: &mut BTreeMap<Key, Value>,
    ) -> Result<(), YamlError> {
        for (key, value) in members {
            if self.is_merge(*key) {
                self.merge(*value, map, true)?;
            } else {
                let key = self.key(*key)?;
                let value = self.value(*value)?;
                map.insert(key, value);
            }
        }
        Ok(())
    }

    fn is_merge(&self, key: usize) -> bool {
        match &self.reader.nodes[key].content {
            Content::Scalar { tag, text, plain } => {
                text == "<<" && (*plain || tag.as_deref() == Some(MERGE_TAG))
            }
            _ => false,
        }
    }

    /// Merges a map, an alias of one, or (once) a list of these, of which the first ones count most.
    fn merge(&mut self, at: usize, map: &mut BTreeMap<Key, Value>, list: bool) -> Result<(), YamlError> {
        let reader = self.reader;
        self.enter(at)?;
        let node = &reader.nodes[at];
        match &node.content {
            Content::Map(members) => self.members(members, map)?,
            Content::Alias(target) if matches!(reader.nodes[*target].content, Content::Map(_)) => {
                self.merge(*target, map, false)?;
            }
            Content::List(items) if list => {
                for item in items.iter().rev() {
                    self.merge(*item, map, false)?;
                }
            }
            _ => return Err(reader.error(node.line, "a merge key takes a map, or a list of maps")),
        }
        self.open.pop();
        Ok(())
    }

    fn key(&mut self, at: usize) -> Result<Key, YamlError> {
        let mut node = &self.reader.nodes[at];
        while let Content::Alias(target) = node.content {
            node = &self.reader.nodes[target];
        }
        let refused = |what: &str| self.reader.error(node.line, format!("{what} cannot be a key"));
        let (text, kind) = match self.scalar(node)? {
            Scalar::Text(text) => (text, "text"),
            Scalar::Bool(flag) => (flag.to_string(), "boolean"),
            Scalar::Int(number) if number.is_i64() => (number.to_string(), "integer"),
            Scalar::Int(_) => return Err(refused("an integer above 2^63")),
            Scalar::Float(_) => return Err(refused("a number with a fraction or exponent")),
            Scalar::Null => return Err(refused("null")),
        };
        Ok(Key { text, kind })
    }

    /// Keys as texts.
    fn texts(&self, line: u64, members: BTreeMap<Key, Value>) -> Result<Map<String, Value>, YamlError> {
        let mut map = Map::new();
        for (key, value) in members {
            if map.contains_key(&key.text) {
                let problem =
                    format!("key {:?} stands here in two spellings, of which Helm takes either", key.text);
                return Err(self.reader.error(line, problem));
            }
            map.insert(key.text, value);
        }
        Ok(map)
    }
}

#[cfg(test)]
mod tests;
