// Expressions.
#include <algorithm>
#include <limits>
#include <utility>

#include "frontend/portion.h"

namespace numbus::frontend {

Op row_of_operator(NodeKind k) {
  switch (k) {
    case NodeKind::Add: return Op::add;
    case NodeKind::Sub: return Op::subtract;
    case NodeKind::Mult: return Op::multiply;
    case NodeKind::Div: return Op::divide;
    case NodeKind::FloorDiv: return Op::floor_divide;
    case NodeKind::Mod: return Op::remainder;
    case NodeKind::Pow: return Op::power;
    case NodeKind::LShift: return Op::left_shift;
    case NodeKind::RShift: return Op::right_shift;
    case NodeKind::BitOr: return Op::bitwise_or;
    case NodeKind::BitXor: return Op::bitwise_xor;
    default: return Op::bitwise_and;
  }
}

// What an empty list will hold is known of one that a name is given, and of no other.
void Lower::refuse_empty_lists(const Node& n) {
  bool unpacks = std::exchange(unpacks_, false);
  switch (n.kind) {
    case NodeKind::Tuple:
      if (unpacks) return;
      break;
    case NodeKind::Call:
    case NodeKind::List:
    case NodeKind::Compare:
    case NodeKind::BinOp:
    case NodeKind::UnaryOp:
    case NodeKind::Subscript:
    case NodeKind::Attribute: break;
    default: return;
  }
  // What a method of a list takes may be one.
  bool method = n.kind == NodeKind::Call && n.one(Field::func)->kind == NodeKind::Attribute;
  for (const auto& [field, nodes] : n.fields)
    for (const Node& c : nodes) {
      if (method && field == Field::args) continue;
      const Node* value = c.kind == NodeKind::keyword ? c.one(Field::value) : &c;
      if (value->kind == NodeKind::Dict && value->all(Field::values).empty() && !u_.options.kernel)
        not_yet(*value, "an empty dict here", "a name for it: d = {}");
      if (value->kind == NodeKind::List && value->all(Field::elts).empty() && !u_.options.kernel)
        not_yet(*value, "an empty list here", "a name for it: x = []");
    }
}

// What has a value: what may be None is asked for by those who know what to do about it.
Value Lower::expression(const Node& n) {
  Value v = maybe_none(n);
  refuse_none(n, v, "here");
  return v;
}

// A tuple or a list as it is written. `tuple`: a list is made a tuple, and the lists in it are.
Value Lower::display(const Node& n, bool tuple) {
  const bool nested = tuple && n.kind == NodeKind::List;
  Value r;
  r.type = Type::of(Type::Tag::Tuple);
  const auto& elts = n.all(Field::elts);
  for (size_t k = 0; k < elts.size(); ++k) {
    const Node& e = elts[k];
    if (e.kind == NodeKind::Starred) {
      Value more = expression(*e.one(Field::value));
      if (more.unknown()) return {};
      if (!more.type.is(Type::Tag::Tuple)) {
        if (tuple || n.kind != NodeKind::List) not_yet(e, "* of anything but a tuple", "tuple(x)");
        return list_with_stars(n, r.items, k, more);
      }
      for (const Value& i : more.items) r.items.push_back(i);
      continue;
    }
    r.items.push_back(nested && e.kind == NodeKind::List ? display(e, true) : maybe_none(e));
    r.items.back().type = of_any_value(r.items.back().type);
  }
  for (Value& i : r.items) {
    if (i.unknown()) return {};
    if (i.lazy) i = materialise(n, i);
    if (tuple) i = boxed(n, i);
    if (i.unknown()) return {};  // a list whose items a later pass knows
    r.type.items.push_back(i.type);
  }
  return tuple ? r : list_or_tuple(n, std::move(r.items));
}

// [a, *x, b]: `before` are the values of the first `k` elements, `more` what the next one goes
// over.
Value Lower::list_with_stars(const Node& n, const std::vector<Value>& before, size_t k,
                             const Value& more) {
  refuse_in_kernel(n, "lists");
  const auto& elts = n.all(Field::elts);
  return collect_list(n, "s" + std::to_string(n.line) + ":" + std::to_string(n.col) + " item",
                      ir::kNone, [&](const std::function<void(const Value&)>& put) {
                        for (const Value& v : before) put(v);
                        put_all(elts[k], more, put);
                        for (size_t i = k + 1; i < elts.size(); ++i) put_element(elts[i], put);
                      });
}

// The items of what follows a star.
void Lower::put_all(const Node& n, const Value& over,
                    const std::function<void(const Value&)>& put) {
  if (over.unknown()) return;
  if (over.type.is(Type::Tag::Tuple) && over.type.text.empty()) {
    for (const Value& v : over.items) put(v);
    return;
  }
  const Value given = over.type.listed ? boxed(n, over) : over;
  if (given.unknown()) return;
  over_all(items_of(n, given), put);
}

// An element of a list or a set as it is written.
void Lower::put_element(const Node& n, const std::function<void(const Value&)>& put) {
  if (n.kind == NodeKind::Starred)
    put_all(n, expression(*n.one(Field::value)), put);
  else
    put(maybe_none(n));
}

Value Lower::maybe_none(const Node& n) {
  refuse_empty_lists(n);
  switch (n.kind) {
    case NodeKind::Constant: return constant(n);
    case NodeKind::Name: return read_variable(n, n.text);
    case NodeKind::Global: return global(n);
    case NodeKind::Attribute: return attribute(n);
    case NodeKind::Subscript: return subscript(n);
    case NodeKind::Call: return call(n);
    case NodeKind::BoolOp: return bool_op(n);
    case NodeKind::Compare: return compare(n);
    case NodeKind::IfExp: return if_expression(n);
    case NodeKind::BinOp: {
      Value a = maybe_none(*n.one(Field::left)), b = maybe_none(*n.one(Field::right));
      NodeKind k = n.one(Field::op)->kind;
      if (k == NodeKind::MatMult) {
        Call c{n, {a, b}, {}};
        return call_named(c, "np.matmul");
      }
      return operation(n, row_of_operator(k), a, b);
    }
    case NodeKind::UnaryOp: {
      const Node& operand = *n.one(Field::operand);
      const bool is_not = n.one(Field::op)->kind == NodeKind::Not;
      Value v = is_not ? test(operand) : maybe_none(operand);
      if (!is_not) v = some(n, v, "bad operand type for a unary operator: 'NoneType'");
      if (v.unknown()) return {};
      // The least int64 is written as minus a number that is none.
      if (n.one(Field::op)->kind == NodeKind::USub && v.known && v.known->kind == Kind::UInt &&
          static_cast<uint64_t>(v.known->i) == uint64_t{1} << 63)
        return known_integer(std::numeric_limits<int64_t>::min());
      switch (n.one(Field::op)->kind) {
        case NodeKind::Not: {
          if (v.known && v.type.weak)
            return from_scalar(Scalar::from_bool(v.known->real() == 0 && v.known->imag() == 0),
                               DType::Bool, true);
          return boolean(negate(truth(n, v)));
        }
        default: break;
      }
      if (of_user() && is_plain_list(plain(v))) fail(n, "bad operand of an operator: a list");
      switch (n.one(Field::op)->kind) {
        case NodeKind::USub: return unary(n, Op::negative, v);
        case NodeKind::UAdd: return unary(n, Op::positive, v);
        default: return unary(n, Op::invert, v);
      }
    }
    case NodeKind::Tuple:
    case NodeKind::List: return display(n, n.kind == NodeKind::Tuple);
    case NodeKind::Slice: {
      Value r;
      r.type = Type::of(Type::Tag::Slice);
      for (Field f : {Field::lower, Field::upper, Field::step}) {
        Value part;
        part.type = Type::of(Type::Tag::None);
        if (const Node* p = n.one(f)) part = expression(*p);
        if (part.unknown()) return {};
        r.type.items.push_back(part.type);
        r.items.push_back(part);
      }
      return r;
    }
    case NodeKind::Dict: return dict_literal(n);
    case NodeKind::DictComp: return dict_comprehension(n);
    case NodeKind::Set: return set_literal(n);
    case NodeKind::SetComp: return set_comprehension(n);
    case NodeKind::ListComp:
    case NodeKind::GeneratorExp: return comprehension(n);
    case NodeKind::Lambda: {
      return local_function(n, "<lambda>");
    }
    case NodeKind::NamedExpr: {
      Value v = maybe_none(*n.one(Field::value));
      if (v.lazy) v = materialise(n, v);
      v = boxed(n, v);
      assign_around(*n.one(Field::target), v);
      return v;
    }
    case NodeKind::JoinedStr: return joined_text(n);
    case NodeKind::Yield: {
      yield(n);
      return none();
    }
    case NodeKind::Unsupported: unsupported(n);
    default: not_yet(n, "this expression");
  }
}

// An f-string among the arguments of print(), which takes it apart; nothing else knows its parts.
Value Lower::printed(const Node& n) {
  if (n.kind != NodeKind::JoinedStr) {
    Value v = maybe_none(n);
    return is_caught(v) ? text_of_error(n, v, false) : v;
  }
  Value r;
  r.type = Type::of(Type::Tag::Iterator);
  r.type.text = "f-string";
  for (const Node& part : n.all(Field::values)) {
    Value v = printed(part.kind == NodeKind::FormattedValue ? *part.one(Field::value) : part);
    if (v.unknown()) return {};
    v = as_pythons(part, v);
    if (const Node* spec = part.one(Field::format_spec)) {
      if (v.type.is(Type::Tag::Iterator)) not_yet(part, "a format of an f-string", "{x:5}");
      v = formatted(part, v, joined_text(*spec));
      if (v.unknown()) return {};
    }
    r.items.push_back(v);
    r.type.items.push_back(v.type);
  }
  return r;
}

Value Lower::constant(const Node& n) {
  const Literal& l = n.literal;
  Value v;
  switch (l.tag) {
    case Literal::Tag::Number:
      v = from_scalar(l.number, l.dtype, l.weak);
      if (l.weak) v.type.least = least_bytes(l.number);
      return v;
    case Literal::Tag::None: v.type = Type::of(Type::Tag::None); return v;
    case Literal::Tag::Ellipsis: v.type = Type::of(Type::Tag::Ellipsis); return v;
    case Literal::Tag::Text: return text(l.text);
    default: not_yet(n, "this constant");
  }
}

Value Lower::global(const Node& n) {
  Value v;
  if (n.literal.tag != Literal::Tag::Nothing) return constant(n);
  if (n.text == "tuple" && !n.fields.empty()) {
    v.type = Type::of(Type::Tag::Tuple);
    for (const Node& e : n.all(Field::elts)) {
      v.items.push_back(global(e));
      v.type.items.push_back(v.items.back().type);
    }
    return v;
  }
  if (n.text.starts_with("named ")) {
    v.type = named_type(n.text.substr(6), n.number);
    for (const Node& e : n.all(Field::elts)) {
      v.items.push_back(global(e));
      v.type.items.push_back(v.items.back().type);
    }
    return v;
  }
  if (n.text == "frozenset values") {
    v.type = Type::of(Type::Tag::Tuple);
    v.type.text = "frozenset";
    for (const Node& e : n.all(Field::elts)) {
      v.items.push_back(global(e));
      v.type.items.push_back(v.items.back().type);
    }
    return v;
  }
  if (n.text == "empty tuple") {
    v.type = Type::of(Type::Tag::Tuple);
    return v;
  }
  if (n.text == "function" || n.text == "vectorized" || n.text == "generalised") {
    v.type = Type::of(Type::Tag::Function);
    v.type.text = n.text;
    v.type.number = n.number;
    for (const Node& loop : n.all(Field::elts)) {
      std::vector<Type> types;
      for (const Node& t : loop.all(Field::elts))
        if (t.text.starts_with("type array "))
          types.push_back(
              Type::array_of(static_cast<DType>(t.number), std::stoi(t.text.substr(11))));
        else
          types.push_back(t.number < 0 ? Type{} : Type::number_of(static_cast<DType>(t.number)));
      v.type.items.push_back(Type::tuple_of(std::move(types)));
    }
    return v;
  }
  if (n.text == "array") {
    const GlobalArray& g = u_.program.array(n.number);
    int64_t size = 1;
    std::vector<Val> shape;
    for (int64_t s : g.shape) {
      size *= s;
      shape.push_back(ci(s));
    }
    auto& all = u_.result.module.constants;
    std::string bytes(static_cast<const char*>(g.data), size * itemsize(g.dtype));
    auto is_table = [&](size_t k) {
      return std::ranges::any_of(u_.tables, [&](const auto& t) { return t.constant == k; });
    };
    size_t which = 0;
    while (which < all.size() && (all[which] != bytes || is_table(which))) ++which;
    if (which == all.size()) all.push_back(bytes);
    v.type = Type::array_of(g.dtype, static_cast<int>(g.shape.size()));
    v.type.readonly = v.type.frozen = true;
    v.v = {intrinsic(ir::Intrinsic::constant_memory, DType::I64, ir::kNone, ir::kNone, ir::kNone,
                     ir::Space::Global, static_cast<int64_t>(which)),
           ci(0)};
    v.v.insert(v.v.end(), shape.begin(), shape.end());
    std::vector<Val> strides(shape.size());
    Val step = ci(itemsize(g.dtype));
    for (size_t d = shape.size(); d-- > 0;) {
      strides[d] = step;
      step = mul(step, shape[d]);
    }
    v.v.insert(v.v.end(), strides.begin(), strides.end());
    return v;
  }
  if (n.text.starts_with("type ")) {
    v.type = Type::of(Type::Tag::DType);
    v.type.items = {declared(n)};
    return v;
  }
  if (n.text.starts_with("dtype ")) {
    v.type = Type::of(Type::Tag::DType);
    v.type.dtype = static_cast<DType>(n.number);
    return v;
  }
  if (n.text == "newaxis") {
    v.type = Type::of(Type::Tag::NewAxis);
    return v;
  }
  if (n.text.starts_with("value cuda.")) return cuda_attribute(n, n.text.substr(6));
  if (n.text.starts_with("unknown ")) fail(n, "the name '" + n.text.substr(8) + "' is not defined");
  if (n.text.starts_with("unsupported ")) {
    std::string what = n.text.substr(12), hint;
    if (size_t end = what.find("; "); end != std::string::npos) {
      hint = what.substr(end + 2);
      what.resize(end);
    }
    if (what.starts_with("not yet: ")) not_yet(n, what.substr(9), hint);
    fail(n, what, hint);
  }
  v.type = Type::of(n.text.starts_with("module ") ? Type::Tag::Module : Type::Tag::Function);
  v.type.text = n.text;
  if (n.text.starts_with("jitclass ")) v.type.number = n.number;
  if (n.text == "object mode") {
    v.type.number = n.number;
    for (const Node& e : n.all(Field::elts)) v.type.items.push_back(declared(e));
  }
  if (n.text.starts_with("overloaded ")) {
    v.type.number = n.number;
    u_.overloaded[n.number] = &n;
  }
  if (n.text.starts_with("namedtuple ")) {
    v.type.number = n.number;
    u_.classes[n.number] = &n;
  }
  return v;
}

// A type of numbus.kernels.types, as _resolve.py describes it.
Type Lower::declared(const Node& n) {
  if (n.text.starts_with("dtype ")) return Type::number_of(static_cast<DType>(n.number));
  std::string what = n.text.substr(5);
  std::vector<Type> items;
  for (const Node& i : n.all(Field::elts)) items.push_back(declared(i));
  if (what == "tuple") return Type::tuple_of(std::move(items));
  if (what == "str") return held_type(text("").type);
  if (what == "list" && items.size() == 1) return list_type(items[0]);
  if (what == "dict" && items.size() == 2) return dict_type(items[0], items[1]);
  if (what == "object") return object_type(n.number);
  if (what == "none") return Type::of(Type::Tag::None);
  if (what == "optional" && items.size() == 1) return Type::maybe(items[0]);
  if (what.starts_with("array ")) {
    Type t = Type::array_of(static_cast<DType>(n.number), what[6] - '0',
                            what[8] == 'C'   ? Order::C
                            : what[8] == 'F' ? Order::F
                                             : Order::Any);
    t.owned = true;
    return t;
  }
  not_yet(n, "the type " + what);
}

Value Lower::attribute(const Node& n) {
  Value v = some_with_attributes(n, maybe_none(*n.one(Field::value)), n.text);
  if (!v.unknown() && u_.program.extended.contains("attribute " + n.text))
    if (auto r = call_overloaded({n, {v}, {}}, "attribute " + n.text)) return *r;
  if (of_user() && v.type.is_number() && v.type.weak && n.text != "real" && n.text != "imag")
    fail(n, name(v.type) + " has no attribute '" + n.text + "'");
  if (of_user() && (v.type.is(Type::Tag::List) || is_plain_list(v) || v.type.listed))
    fail(n, "a list has no attribute '" + n.text + "'");
  return attribute_of(n, v, n.text);
}

Value Lower::attribute_of(const Node& n, const Value& v, const std::string& name) {
  if (v.unknown()) return {};
  if (v.type.is(Type::Tag::Object)) return attribute_of_object(n, v, name);
  if (v.type.is_array()) {
    if (name == "shape" || name == "strides") {
      Value in_memory = name == "strides" && v.lazy ? materialise(n, v) : v;
      Value r;
      r.type = Type::of(Type::Tag::Tuple);
      for (Val s : name == "shape" ? in_memory.shape() : in_memory.strides()) {
        Value i = integer(s);
        if (auto k = constant_of(s)) i.known = Scalar::from_int(*k);
        r.items.push_back(i);
        r.type.items.push_back(i.type);
      }
      return r;
    }
    if (name == "size") return integer(size_of(v));
    if (name == "ndim") return known_integer(v.type.ndim);
    if (name == "itemsize") return known_integer(itemsize(v.type.dtype));
    if (name == "nbytes") return integer(mul(size_of(v), ci(itemsize(v.type.dtype))));
    if (name == "T") return transpose(v);
    if (name == "dtype") {
      Value r;
      r.type = Type::of(Type::Tag::DType);
      r.type.dtype = v.type.dtype;
      return r;
    }
    if (name == "flat") {
      if (!v.lazy && v.type.order == Order::C) return reshape(n, v, {known_integer(-1)});
      return indices_to_loop_over({n, {v}, {}}, "flat");
    }
    if (name == "flags" || name == "ctypes") {
      Value r;
      r.type = Type::of(Type::Tag::Module);
      r.type.text = name;
      r.items = {v};
      return r;
    }
    if (name == "real" || name == "imag") {
      DType part = real_of(v.type.dtype);
      Op op = name == "real" ? Op::real_part : Op::imag_part;
      Value a = v;
      if (!is_complex(v.type.dtype) && name == "real") return v;
      if (is_complex(v.type.dtype) && !v.lazy) {
        // A view of every other number.
        a.type.dtype = part;
        a.type.order = Order::Any;
        if (name == "imag") a.v[0] = add(a.v[0], ci(itemsize(part)));
        return a;
      }
      Value parts =
          elementwise(part, v.shape(), {&a, 1}, [this, a, part, op](std::span<const Val> at) {
            if (!is_complex(a.type.dtype))
              return number(b_->constant(part, Scalar::from_int(0)), part);
            return number(b_->emit(op, part, element(a, at).v[0]), part);
          });
      // The zeros beside real numbers have no memory of their own.
      parts.type.readonly = !is_complex(v.type.dtype);
      return parts;
    }
  }
  if (v.type.is_number()) {
    if (name == "real" || name == "imag") {
      if (is_complex(v.type.dtype)) {
        DType part = real_of(v.type.dtype);
        return number(b_->emit(name == "real" ? Op::real_part : Op::imag_part, part, v.v[0]), part,
                      v.type.weak);
      }
      // Python's bool is an int here.
      DType part = v.type.dtype == DType::Bool && v.type.weak ? DType::I64 : v.type.dtype;
      if (name == "real") return part == v.type.dtype ? v : cast(n, v, part, true);
      // This zero decides nothing while compiling: the number might as well be complex.
      return number(b_->constant(part, Scalar::from_int(0)), part, v.type.weak);
    }
    if (name == "dtype" && !v.type.weak) {
      Value r;
      r.type = Type::of(Type::Tag::DType);
      r.type.dtype = v.type.dtype;
      return r;
    }
    if (name == "ndim") return known_integer(0);
    if (name == "size") return known_integer(1);
    if (name == "shape" && !v.type.weak) {
      Value none;
      none.type = Type::of(Type::Tag::Tuple);
      return none;
    }
    if (!v.type.weak && (name == "T" || name == "itemsize" || name == "nbytes" || name == "flat"))
      not_yet(n, "a number as an array without axes", "np.array(x)");
  }
  if (is_records(v)) {
    bool whole = name == "shape" || name == "size" || name == "ndim";
    if (whole && !v.items.empty()) {
      const std::vector<Val> shape = shape_of_records(v);
      return attribute_of(n, lazy(DType::Bool, shape, [this](auto) { return known_integer(0); }),
                          name);
    }
    return value_of_field(n, v, name);
  }
  if (v.type.is(Type::Tag::DType)) {
    if (name == "itemsize") return known_integer(itemsize(v.type.dtype));
    if (name == "type") return v;
    if (name == "kind") {
      if (v.type.dtype == DType::BF16) return text("V");  // as of ml_dtypes's type
      return text({"biufc"[static_cast<int>(numbus::kind(v.type.dtype))]});
    }
  }
  if (v.type.is(Type::Tag::Module) && v.type.text == "ctypes" && name == "data")
    return foreign_argument(n, "ctypes", v, "p", 0);
  if (v.type.is(Type::Tag::Module) && v.type.text == "flags") {
    if (v.items.empty()) not_yet(n, "the flags of an array under a name", "a.flags." + name);
    const Value a = v.items[0].lazy && v.items[0].type.order == Order::F
                        ? materialise(n, v.items[0])
                        : v.items[0];
    auto in_order = [&](const Value& x) {
      bool always = x.lazy || x.type.order == Order::C;
      return always ? from_scalar(Scalar::from_bool(true), DType::Bool, true)
                    : boolean(lies_dense(x));
    };
    if (name == "c_contiguous" || name == "contiguous") return in_order(a);
    // What else is computed has no order yet, and gets that of C.
    if (name == "f_contiguous")
      return in_order(a.type.ndim < 2 ? a : transpose(a.lazy ? materialise(n, a) : a));
  }
  if (v.type.is(Type::Tag::Module) && (v.type.text == "finfo" || v.type.text == "iinfo")) {
    DType t = v.type.dtype;
    int bits = 8 * itemsize(t);
    if (name == "bits") return known_integer(bits);
    if (v.type.text == "iinfo") {
      uint64_t most = is_signed(t) ? ~uint64_t{0} >> (65 - bits) : ~uint64_t{0} >> (64 - bits);
      if (name == "max")
        return is_signed(t) ? known_integer(static_cast<int64_t>(most))
                            : from_scalar(Scalar::from_uint(most), DType::U64, most >> 63 == 0);
      if (name == "min") return known_integer(is_signed(t) ? ~static_cast<int64_t>(most) : 0);
    } else {
      const bool brain = t == DType::BF16;  // a float32 of fewer digits
      double eps = bits == 64 ? 0x1p-52 : bits == 32 ? 0x1p-23 : brain ? 0x1p-7 : 0x1p-10;
      double tiny = bits == 64 ? 0x1p-1022 : bits == 32 || brain ? 0x1p-126 : 0x1p-14;
      double most = bits == 64   ? 1.7976931348623157e308
                    : bits == 32 ? 3.4028234663852886e38
                    : brain      ? 0x1.fep127
                                 : 65504.0;
      double found = name == "eps"                                 ? eps
                     : name == "tiny" || name == "smallest_normal" ? tiny
                     : name == "max"                               ? most
                     : name == "min"                               ? -most
                                                                   : 0;
      if (found != 0) return from_scalar(Scalar::from_float(found), t, false);
    }
  }
  if (!v.type.names.empty()) return field_of(n, v, name);
  if (is_caught(v) && name == "args") return arguments_of_error(n, v);
  refuse_exception(n, v);
  fail(n, frontend::name(v.type) + " has no attribute '" + name + "'");
}

// Evaluates one of two expressions; the value is that of both types.
Value Lower::joined(const Node& n, const std::string& what, const std::function<Value()>& first,
                    const std::function<Value()>& second, Val condition) {
  // The kind tells apart what one node is a part of: an if in the middle of a comparison.
  std::string k = what + " " + std::to_string(n.line) + ":" + std::to_string(n.col) + ":" +
                  std::to_string(n.end_col) + scope_->prefix;
  Type& known = types_[k];
  std::vector<Val> slots;
  Type t = known;
  for (DType w : words(t)) slots.push_back(new_variable(w));
  for (size_t o : owners(t)) {
    owning_.push_back(slots[o]);
  }
  uint64_t origin = 0;
  bool outside = false;
  int raising = 0;
  auto side = [&](const std::function<Value()>& make) {
    return [&, make] {
      size_t keep = temporaries_.size();
      Value v;
      if (ends_within([&] { v = make(); })) {
        ++raising;
        return forget_temporaries(keep);
      }
      if (v.lazy) v = materialise(n, v);
      v = boxed(n, v);
      origin |= origin_of(v);
      outside = outside || shares_lists(v);
      Type wider;
      if (!join(known, v.type, wider))
        not_yet(n,
                "a value of two types: one side is " + name(known) + ", the other " + name(v.type),
                "convert one of them");
      if (wider != known) {
        u_.widened = u_.widened || !known.unknown();
        known = wider;
        changed_ = true;
      } else if (!v.unknown() && t == known) {
        v = convert_to(n, v, known);
        std::vector<Val> now = flatten(v);
        for (size_t o : owners(t)) {
          intrinsic(ir::Intrinsic::retain, DType::I64, now[o]);
          intrinsic(ir::Intrinsic::release, DType::I64, get(slots[o]));
        }
        for (size_t i = 0; i < now.size(); ++i) set(slots[i], now[i]);
      }
      forget_temporaries(keep);
    };
  };
  ++scope_->depth;
  when(condition, side(first), side(second));
  --scope_->depth;
  if (raising == 2) return of_raising();
  if (t.unknown() || t != known) return {};
  Value r = load_slots(t, slots);
  set_origin(r, origin);
  if (outside) share_lists(r);
  return r;
}

// What an if or a while asks: of `a and b` only the truth of each.
Value Lower::test(const Node& n) {
  if (n.kind == NodeKind::BoolOp) return bool_op(n, true);
  return maybe_none(n);
}

Value Lower::bool_op(const Node& n, bool truths) {
  const auto& values = n.all(Field::values);
  bool is_and = n.one(Field::op)->kind == NodeKind::And;
  auto expression = [&](const Node& side) {
    Value r = truths ? test(side) : maybe_none(side);
    const bool decided =
        r.unknown() || ended_ || (r.known && r.type.is_number()) || r.type.is(Type::Tag::None);
    return truths && !decided ? boolean(truth(side, r)) : r;
  };
  Value v = expression(values[0]);
  const auto before = scope_->present;
  for (size_t i = 1; i < values.size(); ++i) {
    // What is looked at next is so after all before was true, or false.
    narrow(values[i - 1], is_and);
    if ((v.known && v.type.is_number()) || v.type.is(Type::Tag::None)) {
      bool yes = v.known && (v.known->real() != 0 || v.known->imag() != 0);
      // What is chosen here is no constant of the program's text, which short floats may take.
      if (yes == is_and) v = expression(values[i]);
      v.type = of_any_value(v.type);
      if (yes != is_and) break;
      continue;
    }
    if (v.unknown()) {
      expression(values[i]);
      continue;
    }
    Value first = v;
    Val t = truth(n, first);
    // A value that is true is there.
    if (!is_and && first.type.is_maybe()) first = first.items[0];
    v = joined(
        values[i], "and or", [&] { return expression(values[i]); }, [&] { return first; },
        is_and ? t : negate(t));
  }
  scope_->present = before;
  forget_renewed(n);
  return v;
}

Value Lower::if_expression(const Node& n) {
  Value test = Lower::test(*n.one(Field::test));
  if (test.known && test.type.is_number()) {
    bool yes = test.known->real() != 0 || test.known->imag() != 0;
    Value v = maybe_none(*n.one(yes ? Field::body : Field::orelse));
    v.type = of_any_value(v.type);
    return v;
  }
  const Node& condition = *n.one(Field::test);
  auto side = [&](Field which) {
    const auto before = scope_->present;
    narrow(condition, which == Field::body);
    Value v = maybe_none(*n.one(which));
    scope_->present = before;
    return v;
  };
  if (test.type.is(Type::Tag::None)) return side(Field::orelse);
  if (scope_->source->library()) asks_for(test);
  Value v = joined(
      n, "if", [&] { return side(Field::body); }, [&] { return side(Field::orelse); },
      truth(n, test));
  forget_renewed(n);
  return v;
}

}  // namespace numbus::frontend
