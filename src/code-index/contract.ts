/**
 * The types of the code index: the questions that it answers, and the answers.
 *
 * All paths are relative to the root of the index and use `/`. Lines and columns count from 1, columns in UTF-16 units.
 * Changed files are parsed again before a question is answered.
 */

export type Language =
  | 'typescript'
  | 'tsx'
  | 'javascript'
  | 'python'
  | 'go'
  | 'rust'
  | 'java'
  | 'c'
  | 'cpp'
  | 'ruby'
  | 'php'
  | 'csharp';

/** In their order in answers: members of classes and constants come after the definitions that contain them. */
export const DEFINITION_KINDS = [
  'class',
  'interface',
  'struct',
  'trait',
  'enum',
  'type',
  'module',
  'function',
  'method',
  'constructor',
  'macro',
  'constant',
  'variable',
  'field',
  'enum member',
] as const;
export type DefinitionKind = (typeof DEFINITION_KINDS)[number];

export interface Place {
  readonly path: string;
  readonly line: number;
  readonly column: number;
}

/** A function, class, constant … that has a name. Parameters and variables inside functions are not definitions. */
export interface Definition extends Place {
  readonly name: string;
  readonly kind: DefinitionKind;
  readonly language: Language;
  /** Last line of the body. */
  readonly endLine: number;
  /** Names around the definition, outermost first: a method has its class here. Empty at the top of a file. */
  readonly container: readonly string[];
  /**
   * Other files may use the name: it is exported, public, or visible by convention (capitals in Go, no `_` in Python).
   */
  readonly exported: boolean;
  /** The definition has no body: a prototype, an overload, an abstract method. */
  readonly declaration: boolean;
  /** The line on which the definition begins, without surrounding white space, at most 200 characters. */
  readonly text: string;
}

/** How a name is used. `import`: in an import or a re-export. `inherit`: as a base class or an implemented type. */
export const REFERENCE_KINDS = ['call', 'import', 'inherit', 'type', 'write', 'read'] as const;
export type ReferenceKind = (typeof REFERENCE_KINDS)[number];

export interface Reference extends Place {
  readonly kind: ReferenceKind;
  /** The innermost definition around the use, with its containers: `Parser.parse`. Absent at the top of a file. */
  readonly inside?: string;
  /**
   * What the name refers to, by scopes and imports.
   * - `this file`: a definition in the same file.
   * - A path: a definition in that file.
   * - `local`: a parameter or variable of a function.
   * - `unknown`: syntax alone cannot say, as for most members.
   */
  readonly target: string | 'this file' | 'local' | 'unknown';
  /** The line of the use, without surrounding white space, at most 200 characters. */
  readonly text: string;
}

export interface Import {
  readonly path: string;
  readonly line: number;
  /** The specifier as the source writes it: `./x.js`, `os.path`, `github.com/a/b/c`, `stdio.h`. */
  readonly specifier: string;
  /** The names that the import binds. `imported` is `*` for a whole module, `default` for a default export. */
  readonly names: readonly {readonly imported: string; readonly local: string}[];
}

export interface IndexedFile {
  readonly path: string;
  readonly lines: number;
  /** Number of files that import this one. */
  readonly importers: number;
  readonly definitions: number;
  /** The name or the folder of the file says that it is a test. */
  readonly isTest: boolean;
}

export interface FunctionFacts extends Place {
  readonly name: string;
  readonly container: readonly string[];
  readonly lines: number;
  /** Deepest nesting of `if`, loops, `switch` and `try`, without nested functions. */
  readonly nesting: number;
  readonly parameters: number;
}

/** What syntax alone shows for a review of files. */
export interface SyntaxFacts {
  readonly functions: readonly FunctionFacts[];
  /**
   * Exported top-level definitions that no other file names. Tests, entry files and configuration files are left out.
   */
  readonly unusedExports: readonly Definition[];
  /** `catch {}`, `except: pass`, or `rescue` without a body. A comment in the body counts as a body. */
  readonly emptyCatches: readonly Place[];
  /** Places that the parser did not understand. */
  readonly syntaxErrors: readonly Place[];
  readonly coverage: Coverage;
}

/** A file that looks like code and is not in the index. */
export interface SkippedFile {
  readonly path: string;
  /**
   * The reason in a few words: `larger than 1 MB`, `minified`, `generated`, `binary`, `cannot be read: permission
   * denied`.
   */
  readonly why: string;
}

/** How complete an answer is. */
export interface Coverage {
  /** Number of files that were searched. */
  readonly files: number;
  /** Files that look like code and were not searched. "Nothing found" is reliable only when this is empty. */
  readonly skipped: readonly SkippedFile[];
  /** Number of files in other languages by extension, most first: `{vue: 12}`. */
  readonly unparsed: Readonly<Record<string, number>>;
  /** Files with places that the parser did not understand. Answers about them may be incomplete. */
  readonly withErrors: readonly string[];
}

export interface Answer<T> {
  readonly found: readonly T[];
  readonly coverage: Coverage;
}

export interface RenameEdit extends Place {
  /** Text that replaces the old name: the new name, or `old: new` where a shorthand needs it. */
  readonly newText: string;
  /** Text that is replaced. It is always the old name. */
  readonly oldText: string;
}

/** A place that would break, or that syntax alone cannot resolve. */
export interface RenameConcern {
  readonly path: string;
  readonly line: number;
  /** The reason in a few words: `newName is already taken here`. */
  readonly why: string;
}

/**
 * The plan of a rename, which changes all places or none. It is `safe` when all uses are known, and otherwise
 * `refused`. `mentions` are places in strings, comments and other files that it leaves alone; a person should look at
 * them.
 */
export interface RenamePlan {
  readonly verdict: 'safe' | 'refused';
  /** The definitions that get the new name. There are several for overloads, or for a declaration and its body. */
  readonly definitions: readonly Definition[];
  /** Sorted by path and place. Empty when refused. */
  readonly edits: readonly RenameEdit[];
  /** Why the rename is refused, in whole sentences, the main reason first. Empty when safe. */
  readonly reasons: readonly string[];
  /** The places that the reasons are about. */
  readonly concerns: readonly RenameConcern[];
  readonly mentions: readonly Pick<Place, 'path' | 'line'>[];
}

export interface RenameRequest {
  readonly from: string;
  readonly to: string;
  /** File of the definition that is meant when several have the name. */
  readonly path?: string;
  /**
   * Only files at or below these paths may change. A rename that needs other files is refused and names them. Default:
   * all.
   */
  readonly within?: readonly string[];
}

export interface NameQuery {
  /** The whole name; `Class.method` also gives the container. Case matters. Absent: all names. */
  readonly name?: string;
  /** Only this file, or the files below this folder. */
  readonly path?: string;
}

export interface QueryOptions {
  readonly signal?: AbortSignal;
  /**
   * Returns whether the caller may see results from a file, given as an absolute path. Other results are left out
   * silently, but a rename that would change such a file is refused. Default: all files.
   */
  readonly mayRead?: (file: string) => boolean;
}

/**
 * Answers questions about the symbols of the files below one folder. Nothing is loaded or read before the first
 * question. Each question waits until changed files are parsed: 500 files take up to 2 s the first time, further
 * questions some milliseconds.
 *
 * Every method throws MiniCcError `CODE_INDEX` when the index cannot be built, and the signal's reason when it is
 * aborted.
 */
export interface CodeIndex {
  /** Absolute path, with links resolved. */
  readonly root: string;
  /** Sorted by kind (classes and functions before fields), then by the number of files that import the file. */
  definitions(query: NameQuery, options?: QueryOptions): Promise<Answer<Definition>>;
  /** All uses of a name, without its definitions. Sorted by path and place. */
  references(query: NameQuery & {readonly name: string}, options?: QueryOptions): Promise<Answer<Reference>>;
  /** Every definition of one file in source order. Also works for a file that .gitignore excludes. */
  outline(path: string, options?: QueryOptions): Promise<Answer<Definition>>;
  /** The imports that name a file. For a folder: imports from outside the folder that name a file below it. */
  importers(path: string, options?: QueryOptions): Promise<Answer<Import>>;
  /** The files, those that most others import first. */
  files(query: {readonly path?: string}, options?: QueryOptions): Promise<Answer<IndexedFile>>;
  /** The functions and problems of one file, or of all files below a folder together. */
  syntax(path: string, options?: QueryOptions): Promise<SyntaxFacts>;
  rename(request: RenameRequest, options?: QueryOptions): Promise<RenamePlan>;
  /** A question is being answered. */
  readonly isBusy: boolean;
  /** Ends the thread of the index. Open questions fail. */
  close(): Promise<void>;
}

export interface CodeIndexOptions {
  /** Absolute path of the folder whose files are indexed. */
  readonly root: string;
  /**
   * Folder that stores the facts of parsed files, e.g. `<home>/projects/<slug>/code-index`. Absent: nothing is stored.
   */
  readonly cacheFolder?: string;
  /** Environment of ripgrep, which lists the files. */
  readonly env: Readonly<Record<string, string>>;
}
