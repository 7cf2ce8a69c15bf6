/** What is read of one file, language by language. */
import {expect, test} from 'vitest';
import {getLanguage} from '../../src/code-index/languages/index.ts';
import {unpackUses} from '../../src/code-index/syntax/file-facts.ts';
import {SourceParser} from '../../src/code-index/syntax/parser.ts';

const parser = new SourceParser();

interface Case {
  readonly file: string;
  readonly source: string;
  /** `line kind name`, with ` exported` and ` declared`. */
  readonly definitions: readonly string[];
  /** `line specifier: imported as local`. */
  readonly imports?: readonly string[];
  /** `class < base`. */
  readonly bases?: readonly string[];
  /** `line name kind binding`, for the names of `uses`. */
  readonly uses?: readonly string[];
}

async function read({file, source}: Pick<Case, 'file' | 'source'>) {
  return (await parser.parse(source, getLanguage(file)!))!;
}

const CASES: readonly Case[] = [
  {
    file: 'a.ts',
    source: `import fs, {join as j, type Stats} from './x.js';
export * from './y';
export {k as m} from './z';
export default class Foo<T> extends Bar<T> implements ns.I {
  #p = 1;
  constructor(private readonly x: number) { super(); }
  get val() { return this.#p + this.x; }
  run = () => { const local = 1; return local; };
}
export const one = 1, {d1, d2: d3} = obj;
const two = (x) => x;
export interface P { m(): void; f: string }
export enum E { A, B = 2 }
namespace N { export const inner = 1 }
function over(a: string): void;
function over(a) { for (const i of a) j(i, two); }
export {two as deux};
`,
    definitions: [
      ...[
        '4 class Foo exported',
        '5 field Foo.#p',
        '6 constructor Foo.constructor',
        '6 field Foo.x',
        '7 method Foo.val',
      ],
      ...['8 method Foo.run', '10 constant one exported', '10 constant d1 exported', '10 constant d3 exported'],
      ...['11 function two exported', '12 interface P exported', '12 method P.m declared', '12 field P.f'],
      ...[
        '13 enum E exported',
        '13 enum member E.A',
        '13 enum member E.B',
        '14 module N',
        '14 constant N.inner exported',
      ],
      ...['15 function over declared', '16 function over'],
    ],
    imports: ['1 ./x.js: default as fs, join as j, Stats as Stats', '2 ./y: * as *', '3 ./z: k as m'],
    bases: ['Foo < Bar', 'Foo < ns.I'],
    uses: [
      '16 j call import',
      '16 i read local',
      '16 two read definition',
      '17 two import definition',
      '7 x read definition',
    ],
  },
  {
    file: 'a.cjs',
    source: `const {a: b} = require('./x');
function f({short, key: renamed}, ...rest) { return {short, rest, b}; }
module.exports = {f, g: b};
`,
    definitions: ['2 function f exported'],
    imports: ['1 ./x: a as b'],
    uses: ['2 short read local', '2 rest read local', '3 f read definition', '2 b read import'],
  },
  {
    file: 'a.py',
    source: `import os.path as p
from ..pkg import a as b, c
class Foo(Base, metaclass=M):
    LIMIT = 1
    def __init__(self, x: int, *args, k=2):
        self.attr = x
        for i in args: i.run(k)
    def m(self): return self.attr
async def fn(): return [n for n in b()]
_private = TOP = 1
`,
    definitions: [
      ...[
        '3 class Foo exported',
        '4 field Foo.LIMIT',
        '5 constructor Foo.__init__',
        '6 field Foo.attr',
        '8 method Foo.m',
      ],
      ...['9 function fn exported', '10 variable _private', '10 constant TOP exported'],
    ],
    imports: ['1 os.path: * as p', '2 ..pkg: a as b, c as c'],
    bases: ['Foo < Base'],
    uses: ['7 i read local', '7 k read local', '8 attr read definition', '9 b call import', '9 n read local'],
  },
  {
    file: 'a.go',
    source: `package main
import ("fmt"; x "a/b")
type S struct { A int; Embedded }
type I interface { M(a int) error }
const C, D = 1, 2
var v int
func (s *S) Meth(a int) (err error) { y := s.A; fmt.Println(y, x.Z, a, v); return }
func F[T any](t T) T { return t }
`,
    definitions: [
      ...['3 struct S exported', '3 field S.A exported', '4 interface I exported', '4 method I.M exported declared'],
      ...[
        '5 constant C exported',
        '5 constant D exported',
        '6 variable v',
        '7 method S.Meth exported',
        '8 function F exported',
      ],
    ],
    imports: ['2 fmt: * as fmt', '2 a/b: * as x'],
    bases: ['S < Embedded'],
    uses: [
      '7 A read definition',
      '7 y read local',
      '7 Z read import',
      '7 a read local',
      '7 v read definition',
      '8 t read local',
    ],
  },
  {
    file: 'a.rs',
    source: `use crate::a::{C, d::*};
pub struct S<T> { pub a: i32, b: T }
enum E { A, B(i32) }
pub trait Tr: Base { fn m(&self); const K: i32; }
impl<T> Tr for S<T> { fn m(&self) { let x = self.a; mac!(x, C); } }
macro_rules! mac { ($x:expr) => { $x } }
mod inner { pub fn g() {} }
static Y: i32 = 2;
fn f(v: Option<i32>) -> i32 { match v { Some(y) => y, None => inner::g() } }
`,
    definitions: [
      ...[
        '2 struct S exported',
        '2 field S.a exported',
        '2 field S.b',
        '3 enum E',
        '3 enum member E.A',
        '3 enum member E.B',
      ],
      ...[
        '4 trait Tr exported',
        '4 method Tr.m declared',
        '4 constant Tr.K',
        '5 method S.m',
        '6 macro mac',
        '7 module inner',
      ],
      ...['7 function inner.g exported', '8 variable Y', '9 function f'],
    ],
    imports: ['1 crate::a: C as C', '1 crate::a::d: * as *'],
    bases: ['Tr < Base', 'S < Tr'],
    uses: ['5 a read definition', '5 x read local', '5 C read import', '9 y read local', '9 g call definition'],
  },
  {
    file: 'a.java',
    source: `package com.x;
import java.util.List; import static a.C.d;
public class Foo<T> extends Bar<T> implements I1 {
  private static final int X = 1; String s; Foo.In in;
  public Foo(int a) { this.s = d(a); }
  <K> List<K> meth(final int p) { int v = p; Runnable r = () -> go(v, X); return null; }
  interface In extends J { void m(); }
  enum E { A, B }
  record Rec(int q) {}
}
`,
    definitions: [
      ...['3 class Foo exported', '4 constant Foo.X', '4 field Foo.s exported', '4 field Foo.in exported'],
      ...['5 constructor Foo.Foo exported'],
      ...['6 method Foo.meth exported', '7 interface Foo.In exported', '7 method Foo.In.m exported declared'],
      ...['8 enum Foo.E exported', '8 enum member Foo.E.A exported', '8 enum member Foo.E.B exported'],
      ...['9 class Foo.Rec exported', '9 field Foo.Rec.q exported'],
    ],
    imports: ['2 java.util.List: List as List', '2 a.C: d as d'],
    bases: ['Foo < Bar', 'Foo < I1', 'In < J'],
    uses: [
      ...['4 In type definition', '5 s write definition', '5 d call import', '6 v read local', '6 go call free'],
      '6 X read definition',
    ],
  },
  {
    file: 'a.c',
    source: `#include <stdio.h>
#include "x/y.h"
#ifndef GUARD
#define GUARD
#endif
#define MAX(a, b) pick((a), (b), limit)
typedef struct node { int val; struct node *next; } Node;
enum color { RED, GREEN = 2 };
static int helper(int x, void (*cb)(int));
extern int limit;
static int helper(int x, void (*cb)(int)) { int i = x, *q; cb(i); return MAX(i, limit); }
int *make(Node *n) { return n->next ? &n->val : 0; }
`,
    definitions: [
      ...['6 macro MAX exported', '7 struct node exported', '7 field node.val exported', '7 field node.next exported'],
      ...['7 type Node exported', '8 enum color exported', '8 enum member color.RED exported'],
      ...['8 enum member color.GREEN exported', '9 function helper declared', '10 variable limit exported declared'],
      ...['11 function helper', '12 function make exported'],
    ],
    imports: ['1 <stdio.h>: * as *', '2 "x/y.h": * as *'],
    uses: [
      '6 limit read definition',
      '11 cb call local',
      '11 i read local',
      '11 limit read definition',
      '11 MAX call definition',
    ],
  },
  {
    file: 'a.cpp',
    source: `namespace ns {
template <typename T> class Foo : public Bar<T>, private other::Baz {
public:
  Foo(int a) : x_(a) {}
  virtual void m() const;
  int x_;
  enum class E { A };
};
struct D final : Foo<int> { int q = 2; };
}
template <typename T> void ns::Foo<T>::m() const { auto v = [](int z) { return z; }; v(x_); }
constexpr int C = 1;
`,
    definitions: [
      ...['1 module ns exported', '2 class ns.Foo exported', '4 constructor ns.Foo.Foo exported'],
      ...['5 method ns.Foo.m exported declared', '6 field ns.Foo.x_ exported', '7 enum ns.Foo.E exported'],
      ...['7 enum member ns.Foo.E.A exported', '9 struct ns.D exported', '9 field ns.D.q exported'],
      ...['11 method ns.Foo.m exported', '12 constant C exported'],
    ],
    bases: ['Foo < Bar', 'Foo < other::Baz', 'D < Foo'],
    uses: ['11 z read local', '11 v call local', '11 x_ read definition'],
  },
  {
    file: 'a.rb',
    source: `require_relative 'x'
module M
  class Foo < Bar::Baz
    include Mix
    attr_accessor :size
    LIMIT = 1
    def initialize(x, k: 2) = (@iv = x)
    def self.build(*r) = new(*r)
    def run; items.each { |i| step(i, size) }; end
  end
end
def helper(y) = y
`,
    definitions: [
      ...[
        '2 module M exported',
        '3 class M.Foo exported',
        '5 method M.Foo.size exported',
        '6 constant M.Foo.LIMIT exported',
      ],
      ...['7 constructor M.Foo.initialize exported', '8 method M.Foo.build exported', '9 method M.Foo.run exported'],
      '12 function helper exported',
    ],
    imports: ['1 ./x: * as *'],
    bases: ['Foo < Bar::Baz', 'Foo < Mix'],
    uses: ['9 i read local', '9 step call free', '9 size read definition', '12 y read local'],
  },
  {
    file: 'a.php',
    source: `<?php
namespace A\\B;
use C\\D; use C\\{E, F as G};
require_once __DIR__ . '/x.php';
abstract class Foo extends Bar implements I1 {
  use Tr;
  const X = 1;
  public function __construct(private readonly int $pp) { $this->go(self::X); }
  abstract function go($n);
}
interface I { function m(int $a): void; }
trait Tr {}
enum Suit: string { case Hearts = 'h'; }
function f() { return new G(f()); }
`,
    definitions: [
      ...[
        '5 class Foo exported',
        '7 constant Foo.X exported',
        '8 constructor Foo.__construct exported',
        '8 field Foo.pp',
      ],
      ...['9 method Foo.go exported declared', '11 interface I exported', '11 method I.m exported declared'],
      ...[
        '12 trait Tr exported',
        '13 enum Suit exported',
        '13 enum member Suit.Hearts exported',
        '14 function f exported',
      ],
    ],
    imports: ['3 C\\D: D as D', '3 C\\E: E as E', '3 C\\F: F as G', '4 ./x.php: * as *'],
    bases: ['Foo < Bar', 'Foo < I1', 'Foo < Tr'],
    uses: ['8 go call definition', '8 X read definition', '14 G call import', '14 f call definition'],
  },
  {
    file: 'a.cs',
    source: `using System; using X = C.D;
namespace N.M;
public class Foo<T> : Bar<T>, I1 {
  private readonly int a = 1;
  public const int Limit = 1;
  public string P { get; set; }
  public Foo(int x) : base(x) { this.a = x; }
  public int Meth(int p) { var v = a; Func<int, int> f = z => z + v; return Other(p, X.Y, Limit); }
  enum E { A }
  interface I2 { void M(); }
}
`,
    definitions: [
      ...['3 class Foo exported', '4 field Foo.a', '5 constant Foo.Limit exported', '6 field Foo.P exported'],
      ...[
        '7 constructor Foo.Foo exported',
        '8 method Foo.Meth exported',
        '9 enum Foo.E',
        '9 enum member Foo.E.A exported',
      ],
      ...['10 interface Foo.I2', '10 method Foo.I2.M exported declared'],
    ],
    imports: ['1 System: * as *', '1 C.D: D as X'],
    bases: ['Foo < Bar', 'Foo < I1'],
    uses: [
      '7 a write definition',
      '8 z read local',
      '8 v read local',
      '8 Other call free',
      '8 X read import',
      '8 Limit read definition',
    ],
  },
  {
    file: 'macros.h',
    source: `LIB_BEGIN_NAMESPACE
enum { SIZE = 500 };
LIB_DECLARE(int)
flush(emitter_t *emitter);
LIB_CLASS_API
class LIB_VISIBLE("default") error : public detail::base<int> {
  error(error&&) = default;
};
#define PUSH(a) (flush(a) ? a : 0)
`,
    definitions: [
      ...['2 enum member SIZE exported', '4 function flush exported declared', '6 class error exported'],
      ...['7 constructor error.error exported', '9 macro PUSH exported'],
    ],
    bases: ['error < detail::base'],
    uses: ['3 LIB_DECLARE call free', '6 LIB_VISIBLE call free', '6 base inherit free', '9 flush call definition'],
  },
  {
    file: 'subtypes.rs',
    source: `#[derive(Debug, Serialize)]
struct S { e: Box<dyn Run>, f: &'static dyn a::Run }
impl a::Run for S {}
impl Run<i32> for Box<S> {}
fn f(x: impl Run) { std::a::S::new(); x::S::new(); }
impl S { fn new() {} }
`,
    definitions: ['2 struct S', '2 field S.e', '2 field S.f', '5 function f', '6 method S.new'],
    bases: ['S < a::Run', 'Box < Run'],
    uses: [
      '1 Serialize inherit free',
      '2 Run type free',
      '3 Run inherit member',
      '4 Run inherit free',
      '5 Run type free',
      '5 new call member',
      '5 new call definition',
    ],
  },
];

test.each(CASES)('$file: definitions, imports, inheritance and what names mean', async (each) => {
  const facts = await read(each);
  const definitions = facts.definitions.map(({line, kind, container, name, exported, declaration}) =>
    [
      line,
      kind,
      [...container, name].join('.'),
      ...(exported ? ['exported'] : []),
      ...(declaration ? ['declared'] : []),
    ].join(' '),
  );
  expect(definitions.sort()).toEqual([...each.definitions].sort());
  const imports = facts.imports.map(
    ({line, specifier, names}) =>
      `${line} ${specifier}: ${names.map(({imported, local}) => `${imported} as ${local}`).join(', ')}`,
  );
  expect(imports).toEqual(each.imports ?? []);
  expect(facts.bases.map(({name, base}) => `${name} < ${base}`)).toEqual(each.bases ?? []);
  const uses = unpackUses(facts).map(({line, name, kind, binding}) => `${line} ${name} ${kind} ${binding}`);
  expect(uses).toEqual(expect.arrayContaining([...(each.uses ?? [])]));
  expect(facts.errors).toEqual([]);
});
