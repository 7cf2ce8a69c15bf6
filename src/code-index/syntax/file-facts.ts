/** The facts that are stored of a parsed file. They depend only on its content and language. */
import {
  type Definition,
  type FunctionFacts,
  type Import,
  type Language,
  type Place,
  REFERENCE_KINDS,
  type ReferenceKind,
} from '../contract.ts';

/** Version of stored facts. The cache ignores other versions. Raise it when facts or the way to read them change. */
export const FACTS_VERSION = 7;

export interface RawDefinition extends Omit<Definition, 'path' | 'language' | 'exported'> {
  exported: boolean;
  /** The definition is at the top level of the file or of a namespace: it is not a member and not inside a function. */
  readonly top: boolean;
}

export interface RawImport extends Omit<Import, 'path'> {
  /** The import is an `export … from`: it exports the names and binds none here. */
  readonly reexport: boolean;
}

interface RawInheritance {
  readonly name: string;
  readonly base: string;
  readonly line: number;
}

export type RawPlace = Omit<Place, 'path'>;

export type RawFunction = Omit<FunctionFacts, 'path'>;

export interface FileFacts {
  readonly language: Language;
  readonly lines: number;
  /** The package or namespace that the file declares. */
  readonly space: string;
  readonly definitions: readonly RawDefinition[];
  readonly imports: readonly RawImport[];
  /** Names that are exported in a list or under another name, as pairs of exported name and own name. */
  readonly exports: readonly (readonly [string, string])[];
  readonly bases: readonly RawInheritance[];
  readonly functions: readonly RawFunction[];
  readonly emptyCatches: readonly RawPlace[];
  /** Places that the parser did not understand. */
  readonly errors: readonly RawPlace[];
  /** The distinct names of all uses, between line feeds: `\na\nb\n`. */
  readonly names: string;
  /** Packed by `packUses`. */
  readonly uses: Uint8Array;
}

/** Kinds of what a used name is bound to. */
const BINDINGS = ['free', 'definition', 'local', 'import', 'member', 'name'] as const;
type Binding = (typeof BINDINGS)[number];

export interface Use {
  readonly name: string;
  readonly line: number;
  readonly column: number;
  readonly kind: ReferenceKind;
  /** The name is a member, as after `.`, `->` or `::`, or a key. */
  readonly member: boolean;
  /** The name stands for `{name: name}` as `{name}`. */
  readonly shorthand: boolean;
  /**
   * How the name is resolved within the file.
   * - `definition`: definition number `to` of this file.
   * - `import`: import number `to`.
   * - `member`: a member of something unknown.
   * - `name`: this is the name of definition `to` itself.
   */
  readonly binding: Binding;
  readonly to: number;
  /** Number of the definition around the use; -1 at the top of the file. */
  readonly inside: number;
  /** The object of a member when it is a plain name: `path` in `path.join`, or `this`. Otherwise empty. */
  readonly receiver: string;
}

/** Packs uses into bytes. Numbers are written in groups of 7 bits, lines as the difference to the use before. */
export function packUses(uses: readonly Use[]): Pick<FileFacts, 'names' | 'uses'> {
  const numbers = new Map<string, number>([['', 0]]);
  const bytes: number[] = [];
  const getNumber = (name: string) => {
    const known = numbers.get(name);
    if (known !== undefined) return known;
    numbers.set(name, numbers.size);
    return numbers.size - 1;
  };
  const put = (value: number) => {
    let rest = value;
    while (rest > 127) {
      bytes.push((rest & 127) | 128);
      rest >>>= 7;
    }
    bytes.push(rest);
  };
  let line = 0;
  for (const use of uses) {
    put(getNumber(use.name));
    put(use.line - line);
    put(use.column);
    put((REFERENCE_KINDS.indexOf(use.kind) << 2) | (use.member ? 2 : 0) | (use.shorthand ? 1 : 0));
    put(BINDINGS.indexOf(use.binding));
    put(use.to + 1);
    put(use.inside + 1);
    put(getNumber(use.receiver));
    line = use.line;
  }
  const names = [...numbers.keys()].slice(1);
  return {names: `\n${names.join('\n')}\n`, uses: Uint8Array.from(bytes)};
}

/** @param only the name whose uses are returned; default: all */
export function unpackUses({names, uses}: Pick<FileFacts, 'names' | 'uses'>, only?: string): Use[] {
  const list = names.split('\n');
  const found: Use[] = [];
  let at = 0;
  const take = () => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = uses[at++]!;
      value |= (byte & 127) << shift;
      if (byte < 128) return value;
    }
  };
  let line = 0;
  while (at < uses.length) {
    const name = list[take()]!;
    line += take();
    const column = take();
    const kind = take();
    const binding = BINDINGS[take()]!;
    const [to, inside, receiver] = [take() - 1, take() - 1, take()];
    if (only !== undefined && name !== only) continue;
    const flags = {kind: REFERENCE_KINDS[kind >> 2]!, member: (kind & 2) > 0, shorthand: (kind & 1) > 0};
    found.push({name, line, column, ...flags, binding, to, inside, receiver: list[receiver]!});
  }
  return found;
}
