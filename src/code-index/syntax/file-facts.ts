/** What is kept of a parsed file. It depends on the file's content and language alone, so it is kept by the content's hash. */
import type {DefinitionKind, Language, ReferenceKind} from '../contract.ts';

/** Facts of another version are not read from the cache. Raise it with every change of what is kept or how it is found. */
export const FACTS_VERSION = 1;

export interface RawDefinition {
  readonly name: string;
  readonly kind: DefinitionKind;
  readonly line: number;
  readonly column: number;
  readonly endLine: number;
  readonly container: readonly string[];
  exported: boolean;
  readonly declaration: boolean;
  /** Seen by its bare name in the whole file: no member, and not inside a function. */
  readonly top: boolean;
  readonly text: string;
}

export interface RawImport {
  readonly line: number;
  readonly specifier: string;
  readonly names: readonly {readonly imported: string; readonly local: string}[];
  /** `export … from`: the names are exported, not bound here. */
  readonly reexport: boolean;
}

interface RawInheritance {
  readonly name: string;
  readonly base: string;
  readonly line: number;
  readonly column: number;
}

export interface RawFunction {
  readonly name: string;
  readonly container: readonly string[];
  readonly line: number;
  readonly column: number;
  readonly endLine: number;
  readonly lines: number;
  readonly nesting: number;
  readonly parameters: number;
}

export interface FileFacts {
  readonly language: Language;
  readonly lines: number;
  /** The package or namespace that the file says it belongs to. */
  readonly space: string;
  readonly definitions: readonly RawDefinition[];
  readonly imports: readonly RawImport[];
  /** Names that are exported under another name, or in a list: exported and own name. */
  readonly exports: readonly (readonly [string, string])[];
  readonly bases: readonly RawInheritance[];
  readonly functions: readonly RawFunction[];
  /** Line and column. */
  readonly emptyCatches: readonly (readonly [number, number])[];
  readonly errors: readonly (readonly [number, number])[];
  /** The distinct names of all uses, between line feeds: `\na\nb\n`. */
  readonly names: string;
  /** See `packUses`. */
  readonly uses: Uint8Array;
}

/** What a name that is used is bound to. */
const BINDINGS = ['free', 'definition', 'local', 'import', 'member', 'name'] as const;
type Binding = (typeof BINDINGS)[number];

/** One occurrence of a name. */
export interface Use {
  readonly name: string;
  readonly line: number;
  readonly column: number;
  readonly kind: ReferenceKind;
  /** After `.`, `->`, `::`. */
  readonly member: boolean;
  /** `{name}` in place of `{name: name}`. */
  readonly shorthand: boolean;
  /**
   * `definition`: of this file, number `to`. `import`: number `to` of the imports. `member`: of something unknown.
   * `name`: the name of definition `to` itself.
   */
  readonly binding: Binding;
  readonly to: number;
  /** The definition that it stands in; -1 at the top of the file. */
  readonly inside: number;
  /** What a member is a member of, where that is a plain name: `path` in `path.join`, `this`; else empty. */
  readonly receiver: string;
}

const KINDS: readonly ReferenceKind[] = ['call', 'import', 'inherit', 'type', 'write', 'read'];

/** Some bytes a use: numbers of 7 bits, of lines the difference to the use before. */
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
    put((KINDS.indexOf(use.kind) << 2) | (use.member ? 2 : 0) | (use.shorthand ? 1 : 0));
    put(BINDINGS.indexOf(use.binding));
    put(use.to + 1);
    put(use.inside + 1);
    put(getNumber(use.receiver));
    line = use.line;
  }
  const names = [...numbers.keys()].slice(1);
  return {names: `\n${names.join('\n')}\n`, uses: Uint8Array.from(bytes)};
}

/** @param only uses of this name. Default: all. */
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
    const flags = {kind: KINDS[kind >> 2]!, member: (kind & 2) > 0, shorthand: (kind & 1) > 0};
    found.push({name, line, column, ...flags, binding, to, inside, receiver: list[receiver]!});
  }
  return found;
}
