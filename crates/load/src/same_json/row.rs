//! A JSON value whose parts are stored in a row in memory, in the order of its text. A tree of thousands of
//! parts that another thread made is in no cache of this CPU, and following its pointers takes longer than
//! reading the text.

use std::ops::Range;

use serde_json::{Number, Value};

#[derive(Debug, Clone, Default)]
pub(super) struct Row {
    /// Containers come before their contents.
    nodes: Vec<Node>,
    /// All strings and names.
    text: String,
}

/// A part of a value. A member of an object is its name, a text, followed by its value.
#[derive(Debug, Clone)]
pub(super) enum Node {
    Null,
    Bool(bool),
    Number(Number),
    /// The range in the text of the row.
    Text(Range<usize>),
    /// Elements follow, up to the node at `after`.
    Array {
        after: usize,
    },
    /// Members follow, up to the node at `after`.
    Object {
        members: usize,
        after: usize,
    },
}

/// A member of an object: its position, and the node of its name.
#[derive(Debug, Clone, Copy)]
pub(super) struct Member {
    pub(super) place: usize,
    pub(super) at: usize,
}

impl Row {
    pub(super) fn of(value: &Value) -> Row {
        let mut row = Row::default();
        row.push(value);
        row
    }

    fn push(&mut self, value: &Value) {
        match value {
            Value::Null => self.nodes.push(Node::Null),
            Value::Bool(is_true) => self.nodes.push(Node::Bool(*is_true)),
            Value::Number(number) => self.nodes.push(Node::Number(number.clone())),
            Value::String(text) => self.push_text(text),
            Value::Array(elements) => {
                let at = self.push_container();
                elements.iter().for_each(|element| self.push(element));
                self.nodes[at] = Node::Array { after: self.nodes.len() };
            }
            Value::Object(members) => {
                let at = self.push_container();
                for (name, value) in members {
                    self.push_text(name);
                    self.push(value);
                }
                self.nodes[at] = Node::Object { members: members.len(), after: self.nodes.len() };
            }
        }
    }

    fn push_text(&mut self, text: &str) {
        let start = self.text.len();
        self.text.push_str(text);
        self.nodes.push(Node::Text(start..self.text.len()));
    }

    /// Adds a placeholder that is filled once the contents have been added.
    fn push_container(&mut self) -> usize {
        self.nodes.push(Node::Null);
        self.nodes.len() - 1
    }

    pub(super) fn bytes(&self) -> usize {
        self.nodes.len() * size_of::<Node>() + self.text.len()
    }

    #[inline]
    pub(super) fn node(&self, at: usize) -> &Node {
        &self.nodes[at]
    }

    /// The node after this one and all of its contents.
    #[inline]
    pub(super) fn after(&self, at: usize) -> usize {
        match self.nodes[at] {
            Node::Array { after } | Node::Object { after, .. } => after,
            Node::Null | Node::Bool(_) | Node::Number(_) | Node::Text(_) => at + 1,
        }
    }

    /// Whether the node is this text.
    #[inline]
    pub(super) fn is_text(&self, at: usize, text: &str) -> bool {
        matches!(&self.nodes[at], Node::Text(range) if self.text[range.clone()] == *text)
    }

    /// The member after this one, if the object has more.
    #[inline]
    pub(super) fn next(&self, Member { place, at }: Member) -> Member {
        Member { place: place + 1, at: self.after(at + 1) }
    }

    /// The member of the object at `object` with this name; `likely` is tried first.
    #[inline]
    pub(super) fn member(&self, object: usize, name: &str, likely: Member) -> Option<Member> {
        let end = self.after(object);
        if likely.at < end && self.is_text(likely.at, name) {
            return Some(likely);
        }
        let mut member = Member { place: 0, at: object + 1 };
        while member.at < end {
            if self.is_text(member.at, name) {
                return Some(member);
            }
            member = self.next(member);
        }
        None
    }
}
