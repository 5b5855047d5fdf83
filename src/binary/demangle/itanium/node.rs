//! The nodes of a name.

/// A node's place in [`Nodes`].
pub(super) type Id = u32;

/// A run of ids in [`Nodes::lists`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct List {
    pub start: u32,
    pub length: u32,
}

/// A part of the name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Span {
    pub start: u32,
    pub end: u32,
}

/// `const`, `volatile`, `restrict` of a type or function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Cv {
    pub constant: bool,
    pub volatile: bool,
    pub restrict: bool,
}

/// What follows the parameters of a function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Trailer {
    pub cv: Cv,
    /// `` ` `` `&`, `&&` or nothing.
    pub reference: &'static str,
    pub noexcept: Option<Option<Id>>,
    pub throws: Option<List>,
    pub transaction_safe: bool,
}

/// A part of a name that means something.
#[derive(Clone, Copy, Debug)]
pub(super) enum Node {
    /// A word of ours.
    Text(&'static str),
    /// A word of the name.
    Source(Span),
    Anonymous,
    /// `a::b`
    Nested(Id, Id),
    /// `name<arguments>`
    Templated(Id, List),
    AbiTag(Id, Span),
    /// Arguments that are one.
    Pack(List),
    /// A parameter that stands for a pack.
    PackParameter(List),
    /// `pattern...`
    Expansion(Id),
    /// A template parameter whose arguments come later.
    Forward(u32),
    /// A parameter of a generic lambda.
    Auto(u32),
    Constructor(Id),
    Destructor(Id),
    /// An operator's name with what stands before it.
    Operator(&'static str),
    Conversion(Id),
    Literal(Id),
    VendorOperator(Id),
    Lambda(List, u32),
    Unnamed(u32),
    Binding(List),
    /// `function::entity`
    Local(Id, Id),
    DefaultArgument(Id, u32, Id),
    /// A function: return type, name, parameters.
    Function(Option<Id>, Id, List, Trailer),
    Special(&'static str, Id),
    /// `reference temporary #n for`
    Temporary(u32, Id),
    /// `construction vtable for a-in-b`
    VtableIn(Id, Id),
    Clone(Id, Span),
    Pointer(Id),
    Reference(Id),
    RvalueReference(Id),
    Complex(Id),
    Imaginary(Id),
    Qualified(Id, Cv),
    Vendor(Id, Id),
    Array(Id, Option<Id>),
    FunctionType(Id, List, Trailer),
    MemberPointer(Id, Id),
    Vector(Id, Id),
    BitInt(bool, Id),
    Number(u64),
    Decltype(Id),
    /// Type, text of the number, whether it is negative.
    Constant(Id, Span, bool),
    /// A parameter in an expression; 0 is `this`.
    Parameter(u32),
    Binary(&'static str, Id, Id),
    Unary(&'static str, Id),
    /// An operator before an operand in parentheses.
    OfType(&'static str, Id),
    Postfix(&'static str, Id),
    Ternary(Id, Id, Id),
    Call(Id, List),
    /// `static_cast<type>(expression)`
    NamedCast(&'static str, Id, Id),
    /// `(type)expression`
    Cast(Id, List),
    Index(Id, Id),
    PackLength(Id),
    PackLengthOf(List),
    /// `new`, placement, type, initializer.
    New(&'static str, List, Id, Option<List>),
    Braces(Option<Id>, List),
    Global(Id),
    /// Operator, pattern, start value, whether it stands left.
    Fold(&'static str, Id, Option<Id>, bool),
}

/// All nodes of a name.
#[derive(Debug, Default)]
pub(super) struct Nodes {
    pub nodes: Vec<Node>,
    pub lists: Vec<Id>,
    /// What forward references turned out to be.
    pub forwards: Vec<Option<Id>>,
}

impl Nodes {
    pub fn get(&self, id: Id) -> Node {
        self.nodes
            .get(id as usize)
            .copied()
            .unwrap_or(Node::Text(""))
    }

    pub fn list(&self, list: List) -> &[Id] {
        let start = list.start as usize;
        self.lists
            .get(start..start + list.length as usize)
            .unwrap_or_default()
    }
}
