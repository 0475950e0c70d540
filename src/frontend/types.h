// The types of values in Python functions.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "ir/function.h"

namespace numbus::frontend {

enum class Order : uint8_t { C, F, Any };

// Bytes that a thread of a GPU reads or writes at a time at most.
constexpr int64_t kWide = 16;

struct Type {
  enum class Tag : uint8_t {
    Unknown,  // not seen yet
    None,
    Maybe,  // None, or a value: items: the type of that
    Number,
    Array,
    Tuple,
    List,       // items: the type of its items
    Dict,       // items: the types of its keys and values; None for values: a set
    Object,     // of a jitclass; number: which
    Generator,  // of a function that yields; items: the type of what it yields
    Iterator,  // what loops take apart, such as zip(…), which is its text; items: what it goes over
    Range,
    Slice,     // items: start, stop, step, each None or a number
    Text,      // a string, known while compiling
    String,    // one that is not: its characters in memory, four bytes each
    Function,  // something to call: a function of the user's, or by name
    DType,     // an element type as a value
    Module,    // names with attributes of their own, such as cuda.shared
    NewAxis,
    Ellipsis,
  };
  Tag tag = Tag::Unknown;
  DType dtype = DType::F64;  // of numbers, elements, types
  bool weak = false;         // Python's own number: yields to NumPy's types
  // Of weak numbers: bytes of the narrowest float that holds each value exactly. Only constants are
  // known to need less than 8.
  uint8_t least = 8;
  uint8_t ndim = 0;
  Order order = Order::C;
  bool owned = false;  // may hold memory that is counted
  bool readonly = false;
  bool listed = false;  // of tuples: written as a list, of items of several types
  bool frozen =
      false;  // readonly here, though not in Python (a global array), or not on every path
  bool aligned = false;  // of parameters: address and rows are multiples of kWide bytes
  ir::Space space = ir::Space::Global;
  std::vector<Type> items;         // of tuples, lists and slices
  std::vector<std::string> names;  // of named tuples: theirs, the class's own first
  std::string text;  // of texts, functions, modules; of an argument's number known here: "=3"
  int number = -1;   // of functions and of named tuples' classes: which

  bool operator==(const Type&) const = default;
  bool is(Tag t) const { return tag == t; }
  bool is_number() const { return tag == Tag::Number; }
  bool is_array() const { return tag == Tag::Array; }
  bool is_set() const { return tag == Tag::Dict && items.size() == 2 && items[1].is(Tag::None); }
  bool is_maybe() const { return tag == Tag::Maybe; }
  bool is_text() const { return tag == Tag::Text || tag == Tag::String; }
  bool unknown() const { return tag == Tag::Unknown; }
  bool is_integer() const { return is_number() && kind(dtype) <= Kind::UInt; }

  static Type number_of(DType t, bool weak = false) {
    Type r;
    r.tag = Tag::Number;
    r.dtype = t;
    r.weak = weak;
    return r;
  }
  // None, or a value of that type.
  static Type maybe(Type value) {
    Type r;
    r.tag = Tag::Maybe;
    r.items = {std::move(value)};
    return r;
  }
  static Type of(Tag t) {
    Type r;
    r.tag = t;
    return r;
  }
  static Type array_of(DType t, int ndim, Order order = Order::C) {
    Type r;
    r.tag = Tag::Array;
    r.dtype = t;
    r.ndim = static_cast<uint8_t>(ndim);
    r.order = order;
    return r;
  }
  static Type tuple_of(std::vector<Type> items) {
    Type r;
    r.tag = Tag::Tuple;
    r.items = std::move(items);
    return r;
  }
};

// What a jitclass holds: its fields in order, each a word or several in the memory of an object.
struct ObjectClass {
  std::string name;
  std::vector<std::string> names;
  std::vector<Type> types;
};
// The classes of the process, by number. A number is defined once, before an object of it is made.
void define_object_class(int number, ObjectClass c);
const ObjectClass& object_class(int number);
Type object_type(int number);

// As messages name it: "float64", "int", "array(float32, 2d, C)".
std::string name(const Type& t);
// Appends what tells types apart.
void put_key(std::string& to, const Type& t);

// Whether one variable can hold both, and as what; says no for an array and a number, say. No value
// is rounded: one of Python's floats and a float32 are held as Python's float, unless the former is
// a constant that float32 holds.
bool join(const Type& a, const Type& b, Type& both);
// The same of keys of one dict: True, 1 and 1.0 would be one key, but are of several types.
bool join_keys(const Type& a, const Type& b, Type& both);
// The type that an operation of NumPy's has on two numbers, where Python's yield.
Type promoted(const Type& a, const Type& b);
// Of a function of numbers that is called with arrays: Python's floats become as narrow as the
// arrays', as a ufunc's operands do. Integers may count loops. `all`: of the elements and numbers.
void narrow_weak(std::span<Type> all);
// The type without what is known of constants only.
Type of_any_value(Type t);
// The type of what lists, dicts and results hold: of strings no more than that they are some.
Type held_type(Type t);
// What `least` is for this number.
uint8_t least_bytes(const Scalar& s);

// The part of a type, or all of it, whose values exist only while compiling: Python cannot be given
// them. Null: there is none.
const Type* only_inside(const Type& t);

// The scalar words that a value of this type is made of, in order.
std::vector<DType> words(const Type& t);
// Which of them are owners of counted memory.
std::vector<size_t> owners(const Type& t);

// Whether a list or a dict can hold this: what is made of words that stand for themselves.
bool can_hold(const Type& t);
// As what a word of an item lies in its eight bytes in a list or a dict.
DType stored(DType word);
// Which words of an item may be owners, a bit each; also those of arrays that turn out to own their
// memory later.
uint32_t owner_words(const Type& t, size_t at = 0);
int64_t bytes_of_item(const Type& item);
// The same as ir::stored_item has it; of a dict, of its entries.
int64_t stored_item(const Type& item);
// What an entry of a dict is made of: its mark, its key, its value.
Type entry_of(const Type& dict);
// Numbers of the types that Python's have are Python's in lists and dicts.
void hold_python_numbers(Type& t);
// Arrays in lists and dicts that Python holds own their memory, or a part of it.
void own_arrays(Type& t);

}  // namespace numbus::frontend
