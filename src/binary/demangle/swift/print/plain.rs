//! How kinds are written that are words around their children.

use super::*;

impl Printer<'_> {
    /// Nodes that are no entities.
    pub(super) fn plain(&mut self, id: Id, kind: Kind) {
        let nodes = self.nodes;
        let count = nodes.parts(id).len();
        match kind {
            Kind::Global | Kind::TypeList | Kind::Returns | Kind::Type => self.all(id, ""),
            Kind::Before(words) => {
                self.out.push(words);
                self.all(id, "");
            }
            Kind::Attribute(words) => {
                self.out.push(words);
                self.all(id, "");
            }
            Kind::PartialApply(words) => {
                self.out.push(words);
                if count > 0 {
                    self.out.push(" for ");
                    self.all(id, "");
                }
            }
            Kind::Between(words) => {
                for (at, words) in words.iter().enumerate().take(count) {
                    self.out.push(words);
                    self.part(id, at);
                }
            }
            Kind::Swapped([before, between]) => {
                self.out.push(before);
                self.part(id, 1);
                self.out.push(between);
                self.part(id, 0);
            }
            Kind::Text
            | Kind::Identifier
            | Kind::Module
            | Kind::Builtin
            | Kind::GenericParameter
            | Kind::ConstrainedSelf
            | Kind::Representation
            | Kind::ImplConvention
            | Kind::Serialized => self.out.push(nodes.text(id)),
            Kind::Number => self.out.push(&nodes.number(id).to_string()),
            Kind::Suffix => {
                self.out.push(" with unmangled suffix \"");
                let text: String = nodes.text(id).escape_debug().collect();
                self.out.push(&text);
                self.out.push("\"");
            }
            Kind::Operator(fix) => {
                self.out.push(nodes.text(id));
                self.out.push(fix);
            }
            Kind::LocalName => {
                self.part(id, 1);
                let number = nodes.part(id, 0).map_or(0, |at| nodes.number(at));
                self.out.push(&format!(" #{}", number + 1));
            }
            Kind::PrivateName => {
                self.out.push("(");
                if count > 1 {
                    self.part(id, 1);
                    self.out.push(" ");
                }
                self.out.push("in ");
                self.part(id, 0);
                self.out.push(")");
            }
            Kind::RelatedName => {
                self.out.push("related decl '");
                self.part(id, 0);
                self.out.push("' for ");
                self.part(id, 1);
            }
            Kind::Static => {
                self.out.push("static ");
                self.part(id, 0);
            }
            Kind::Extension => {
                self.out.push("(extension in ");
                if let Some(module) = nodes.part(id, 0) {
                    self.write(module, true);
                }
                self.out.push("):");
                self.part(id, 1);
                if count == 3 {
                    self.part(id, 2);
                }
            }
            Kind::AnonymousContext => {
                self.part(id, 1);
                self.out.push(".(unknown context at ");
                self.part(id, 0);
                self.out.push(")");
                if let Some(types) = nodes.part(id, 2)
                    && !nodes.parts(types).is_empty()
                {
                    self.out.push("<");
                    self.node(types);
                    self.out.push(">");
                }
            }
            Kind::TypeMangling => {
                let labels = nodes.find(id, Kind::Labels);
                match (labels, nodes.parts(id).last()) {
                    (Some(labels), Some(&of_type)) => match nodes.part(of_type, 0) {
                        Some(function) => self.function_type(Some(labels), function),
                        None => self.out.fail(),
                    },
                    (None, Some(&of_type)) => self.node(of_type),
                    _ => self.out.fail(),
                }
            }
            Kind::Labels => {}
            Kind::FunctionType
            | Kind::NoEscapeFunction
            | Kind::AutoClosure
            | Kind::ThinFunction
            | Kind::CFunction
            | Kind::Block
            | Kind::EscapingBlock => self.function_type(None, id),
            Kind::Arguments => self.parameters(None, id),
            Kind::Tuple => self.bracketed("(", id, ", ", ")"),
            Kind::TupleElement => {
                if let Some(name) = nodes.find(id, Kind::ElementName) {
                    self.out.push(nodes.text(name));
                    self.out.push(": ");
                }
                match nodes.find(id, Kind::Type) {
                    Some(of_type) => self.node(of_type),
                    None => self.out.fail(),
                }
                if nodes.find(id, Kind::Variadic).is_some() {
                    self.out.push("...");
                }
            }
            Kind::Pack => self.bracketed("Pack{", id, ", ", "}"),
            Kind::PackExpansion => {
                self.out.push("repeat ");
                self.part(id, 0);
            }
            Kind::BoundClass
            | Kind::BoundStructure
            | Kind::BoundEnum
            | Kind::BoundProtocol
            | Kind::BoundOther
            | Kind::BoundAlias => self.bound(id, kind),
            Kind::Optional => {
                self.with_parens(id, 0);
                self.out.push("?");
            }
            Kind::Array => self.bracketed("[", id, "", "]"),
            Kind::Dictionary => self.bracketed("[", id, " : ", "]"),
            Kind::Parens => self.bracketed("(", id, "", ")"),
            Kind::Metatype => {
                if count == 2 {
                    self.part(id, 0);
                    self.out.push(" ");
                }
                let inner = nodes.part(id, count.saturating_sub(1));
                let Some(inner) = inner.and_then(|of_type| nodes.part(of_type, 0)) else {
                    return self.out.fail();
                };
                self.simple(inner);
                let existential = matches!(
                    nodes.kind(inner),
                    Kind::ExistentialMetatype
                        | Kind::ProtocolList
                        | Kind::ProtocolsWithClass
                        | Kind::ProtocolsWithAnyObject
                );
                self.out
                    .push(if existential { ".Protocol" } else { ".Type" });
            }
            Kind::ExistentialMetatype => {
                self.all(id, " ");
                self.out.push(".Type");
            }
            Kind::Constrained => {
                self.out.push("any ");
                self.part(id, 0);
                self.out.push("<");
                self.part(id, 1);
                self.out.push(">");
            }
            Kind::Requirements => self.all(id, ", "),
            Kind::ProtocolList => match nodes.part(id, 0) {
                Some(list) if !nodes.parts(list).is_empty() => self.all(list, " & "),
                _ => self.out.push("Any"),
            },
            Kind::ProtocolsWithClass => {
                self.part(id, 1);
                self.out.push(" & ");
                self.protocols_of(id);
            }
            Kind::ProtocolsWithAnyObject => {
                let before = self.out.len();
                self.protocols_of(id);
                if self.out.len() != before {
                    self.out.push(" & ");
                }
                self.out.push("Swift.AnyObject");
            }
            _ => self.rest(id, kind),
        }
    }

    pub(super) fn bracketed(&mut self, open: &str, id: Id, between: &str, close: &str) {
        self.out.push(open);
        self.all(id, between);
        self.out.push(close);
    }

    pub(super) fn protocols_of(&mut self, id: Id) {
        let list = self.nodes.part(id, 0);
        if let Some(list) = list.and_then(|list| self.nodes.part(list, 0)) {
            self.all(list, " & ");
        }
    }
}
