//! Types and constant expressions as the text format writes them, with the
//! numbers of types.

use std::fmt::Write;

use wasmparser::{
    ArrayType, CompositeInnerType, ConstExpr, FieldType, FuncType, GlobalType, HeapType,
    MemoryType, Operator, RefType, StorageType, SubType, TableType, UnpackedIndex, ValType,
};

/// A value type: `i32`, `funcref`, `(ref null 3)`.
pub fn value_type(ty: ValType, out: &mut String) {
    match ty {
        ValType::Ref(reference) => ref_type(reference, out),
        // Its own names are the specification's.
        other => push(out, format_args!("{other}")),
    }
}

/// A reference type.
pub fn ref_type(ty: RefType, out: &mut String) {
    let null = if ty.is_nullable() { "null " } else { "" };
    match ty.heap_type() {
        HeapType::Abstract { .. } => push(out, format_args!("{ty}")),
        HeapType::Concrete(at) => push(out, format_args!("(ref {null}{})", number(at))),
        HeapType::Exact(at) => push(out, format_args!("(ref {null}(exact {}))", number(at))),
    }
}

fn number(index: UnpackedIndex) -> String {
    match index {
        UnpackedIndex::Module(index) => index.to_string(),
        // Members of a group are known by their distance from its start.
        UnpackedIndex::RecGroup(index) => format!("rec.{index}"),
        // Only the validator makes these; they are numbers of its own.
        UnpackedIndex::Id(_) => "type".to_owned(),
    }
}

/// A name in quotes: quotes, backslashes and control characters are escaped
/// as in the text format.
pub fn quoted(name: &str) -> String {
    let mut out = String::with_capacity(name.len() + 2);
    out.push('"');
    for character in name.chars() {
        match character {
            '"' | '\\' => out.extend(['\\', character]),
            '\0'..=' ' | '\u{7F}' if character != ' ' => {
                push(&mut out, format_args!("\\{:02x}", u32::from(character)));
            }
            character => out.push(character),
        }
    }
    out.push('"');
    out
}

fn push(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = out.write_fmt(text);
}

/// What stands between the parentheses of a function: ` (param i32) (result
/// i32)`.
pub fn signature(ty: &FuncType, out: &mut String) {
    for (word, types) in [("param", ty.params()), ("result", ty.results())] {
        if types.is_empty() {
            continue;
        }
        push(out, format_args!(" ({word}"));
        for &ty in types {
            out.push(' ');
            value_type(ty, out);
        }
        out.push(')');
    }
}

/// A function type: `(func (param i32))`.
pub fn func(ty: &FuncType) -> String {
    let mut out = String::from("(func");
    signature(ty, &mut out);
    out.push(')');
    out
}

fn field(ty: &FieldType, out: &mut String) {
    if ty.mutable {
        out.push_str("(mut ");
    }
    match ty.element_type {
        StorageType::I8 => out.push_str("i8"),
        StorageType::I16 => out.push_str("i16"),
        StorageType::Val(ty) => value_type(ty, out),
    }
    if ty.mutable {
        out.push(')');
    }
}

/// The kind of a defined type.
pub fn composite_kind(ty: &SubType) -> &'static str {
    match ty.composite_type.inner {
        CompositeInnerType::Func(_) => "func",
        CompositeInnerType::Array(_) => "array",
        CompositeInnerType::Struct(_) => "struct",
        CompositeInnerType::Cont(_) => "cont",
    }
}

/// A defined type without what it is a subtype of.
pub fn sub_type(ty: &SubType) -> String {
    let mut out = String::new();
    let composite = &ty.composite_type;
    if composite.shared {
        out.push_str("(shared ");
    }
    match &composite.inner {
        CompositeInnerType::Func(ty) => {
            out.push_str("(func");
            signature(ty, &mut out);
            out.push(')');
        }
        CompositeInnerType::Array(ArrayType(ty)) => {
            out.push_str("(array ");
            field(ty, &mut out);
            out.push(')');
        }
        CompositeInnerType::Struct(ty) => {
            out.push_str("(struct");
            for ty in &ty.fields {
                out.push_str(" (field ");
                field(ty, &mut out);
                out.push(')');
            }
            out.push(')');
        }
        CompositeInnerType::Cont(ty) => {
            push(&mut out, format_args!("(cont {})", number(ty.0.unpack())));
        }
    }
    if composite.shared {
        out.push(')');
    }
    out
}

/// The numbers of the types that `ty` is a subtype of.
pub fn supertypes(ty: &SubType) -> Vec<u64> {
    let numbers = ty.supertype_idxs.iter();
    numbers
        .filter_map(|index| index.as_module_index().map(u64::from))
        .collect()
}

fn limits(is64: bool, initial: u64, maximum: Option<u64>, out: &mut String) {
    if is64 {
        out.push_str("i64 ");
    }
    push(out, format_args!("{initial}"));
    if let Some(maximum) = maximum {
        push(out, format_args!(" {maximum}"));
    }
}

/// `(memory 1 2 shared)`
pub fn memory(ty: &MemoryType) -> String {
    let mut out = String::from("(memory ");
    limits(ty.memory64, ty.initial, ty.maximum, &mut out);
    if ty.shared {
        out.push_str(" shared");
    }
    if let Some(log2) = ty.page_size_log2 {
        let size = 1u64.checked_shl(log2).unwrap_or(0);
        push(&mut out, format_args!(" (pagesize {size:#x})"));
    }
    out.push(')');
    out
}

/// `(table 1 funcref)`
pub fn table(ty: &TableType) -> String {
    let mut out = String::from("(table ");
    if ty.shared {
        out.push_str("shared ");
    }
    limits(ty.table64, ty.initial, ty.maximum, &mut out);
    out.push(' ');
    ref_type(ty.element_type, &mut out);
    out.push(')');
    out
}

/// `(global (mut i32))`
pub fn global(ty: &GlobalType) -> String {
    let mut out = String::from("(global ");
    if ty.shared {
        out.push_str("(shared ");
    }
    if ty.mutable {
        out.push_str("(mut ");
    }
    value_type(ty.content_type, &mut out);
    if ty.mutable {
        out.push(')');
    }
    if ty.shared {
        out.push(')');
    }
    out.push(')');
    out
}

/// A constant expression: its instructions but the last `end`, `; ` between
/// them. `None` where it holds one that this version does not name.
pub fn constant(expression: &ConstExpr<'_>) -> Option<String> {
    let mut out = String::new();
    for operator in expression.get_operators_reader() {
        let operator = operator.ok()?;
        if matches!(operator, Operator::End) {
            break;
        }
        if !out.is_empty() {
            out.push_str("; ");
        }
        instruction(&operator, &mut out)?;
    }
    Some(out)
}

/// The value of a constant expression that is one number.
pub fn constant_number(expression: &ConstExpr<'_>) -> Option<i64> {
    let mut reader = expression.get_operators_reader();
    let value = match reader.read().ok()? {
        Operator::I32Const { value } => i64::from(value),
        Operator::I64Const { value } => value,
        _ => return None,
    };
    matches!(reader.read().ok()?, Operator::End).then_some(value)
}

fn instruction(operator: &Operator<'_>, out: &mut String) -> Option<()> {
    match operator {
        Operator::I32Const { value } => push(out, format_args!("i32.const {value}")),
        Operator::I64Const { value } => push(out, format_args!("i64.const {value}")),
        Operator::F32Const { value } => {
            let bits = value.bits();
            push(out, format_args!("f32.const {}", float32(bits)));
        }
        Operator::F64Const { value } => {
            let bits = value.bits();
            push(out, format_args!("f64.const {}", float64(bits)));
        }
        Operator::V128Const { value } => {
            out.push_str("v128.const i32x4");
            let words = value.bytes().as_chunks::<4>().0;
            for word in words {
                push(out, format_args!(" {:#010x}", u32::from_le_bytes(*word)));
            }
        }
        Operator::GlobalGet { global_index } => {
            push(out, format_args!("global.get {global_index}"));
        }
        Operator::RefFunc { function_index } => {
            push(out, format_args!("ref.func {function_index}"));
        }
        Operator::RefNull { hty } => {
            out.push_str("ref.null ");
            match hty {
                HeapType::Concrete(at) => out.push_str(&number(*at)),
                HeapType::Exact(at) => push(out, format_args!("(exact {})", number(*at))),
                HeapType::Abstract { .. } => {
                    let mut text = String::new();
                    ref_type(RefType::new(true, *hty)?, &mut text);
                    // `funcref` is the nullable reference to `func`.
                    let name = text.strip_suffix("ref").unwrap_or(&text);
                    out.push_str(match name {
                        "null" => "none",
                        "nullextern" => "noextern",
                        "nullfunc" => "nofunc",
                        "nullexn" => "noexn",
                        name => name,
                    });
                }
            }
        }
        Operator::I32Add => out.push_str("i32.add"),
        Operator::I32Sub => out.push_str("i32.sub"),
        Operator::I32Mul => out.push_str("i32.mul"),
        Operator::I64Add => out.push_str("i64.add"),
        Operator::I64Sub => out.push_str("i64.sub"),
        Operator::I64Mul => out.push_str("i64.mul"),
        Operator::RefI31 => out.push_str("ref.i31"),
        Operator::StructNew { struct_type_index } => {
            push(out, format_args!("struct.new {struct_type_index}"));
        }
        Operator::StructNewDefault { struct_type_index } => {
            push(out, format_args!("struct.new_default {struct_type_index}"));
        }
        Operator::ArrayNew { array_type_index } => {
            push(out, format_args!("array.new {array_type_index}"));
        }
        Operator::ArrayNewDefault { array_type_index } => {
            push(out, format_args!("array.new_default {array_type_index}"));
        }
        Operator::ArrayNewFixed {
            array_type_index,
            array_size,
        } => push(
            out,
            format_args!("array.new_fixed {array_type_index} {array_size}"),
        ),
        Operator::AnyConvertExtern => out.push_str("any.convert_extern"),
        Operator::ExternConvertAny => out.push_str("extern.convert_any"),
        _ => return None,
    }
    Some(())
}

/// The shortest decimal that reads back as the same number; not a number with
/// its bits.
fn float32(bits: u32) -> String {
    let value = f32::from_bits(bits);
    match value.is_finite() {
        true => format!("{value}"),
        false if value.is_infinite() => sign(bits >> 31 == 1, "inf"),
        false => sign(bits >> 31 == 1, &format!("nan:{:#x}", bits & 0x7F_FFFF)),
    }
}

fn float64(bits: u64) -> String {
    let value = f64::from_bits(bits);
    let negative = bits >> 63 == 1;
    match value.is_finite() {
        true => format!("{value}"),
        false if value.is_infinite() => sign(negative, "inf"),
        false => sign(negative, &format!("nan:{:#x}", bits & 0xF_FFFF_FFFF_FFFF)),
    }
}

fn sign(negative: bool, text: &str) -> String {
    let sign = if negative { "-" } else { "" };
    format!("{sign}{text}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use wasmparser::BinaryReader;

    fn text(bytes: &[u8]) -> Option<String> {
        constant(&ConstExpr::new(BinaryReader::new(bytes, 0)))
    }

    /// Encodings of the core specification, 5.4 and 5.4.1.
    #[test]
    fn constant_expressions() {
        for (bytes, expected) in [
            (&[0x41, 0x7F, 0x0B][..], "i32.const -1"),
            (&[0x42, 0x80, 0x01, 0x0B], "i64.const 128"),
            (&[0x43, 0, 0, 0x80, 0x3F, 0x0B], "f32.const 1"),
            (&[0x43, 0, 0, 0xC0, 0xFF, 0x0B], "f32.const -nan:0x400000"),
            (&[0x44, 0, 0, 0, 0, 0, 0, 0xF0, 0x7F, 0x0B], "f64.const inf"),
            (
                &[0x23, 3, 0x41, 8, 0x6A, 0x0B],
                "global.get 3; i32.const 8; i32.add",
            ),
            (&[0xD2, 5, 0x0B], "ref.func 5"),
            (&[0xD0, 0x70, 0x0B], "ref.null func"),
            (&[0xD0, 0x71, 0x0B], "ref.null none"),
            (&[0xD0, 2, 0x0B], "ref.null 2"),
            (&[0x0B], ""),
        ] {
            assert_eq!(text(bytes).as_deref(), Some(expected));
        }
        assert_eq!(text(&[0x01, 0x0B]), None);
    }

    #[test]
    fn types() {
        let ty = FuncType::new([ValType::I32, ValType::FUNCREF], [ValType::V128]);
        assert_eq!(func(&ty), "(func (param i32 funcref) (result v128))");
        let memory64 = MemoryType {
            memory64: true,
            shared: true,
            initial: 1,
            maximum: Some(2),
            page_size_log2: Some(0),
        };
        assert_eq!(memory(&memory64), "(memory i64 1 2 shared (pagesize 0x1))");
        let ty = GlobalType {
            content_type: ValType::EXTERNREF,
            mutable: true,
            shared: false,
        };
        assert_eq!(global(&ty), "(global (mut externref))");
    }
}
