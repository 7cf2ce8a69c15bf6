/**
 * What the code index answers. All paths are relative to the index's root, with `/`; lines and columns count from 1, columns
 * in UTF-16 units. Every answer is about the files as they are when it is asked: changed ones are parsed again first.
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

export type DefinitionKind =
  | 'function'
  | 'method'
  | 'constructor'
  | 'class'
  | 'interface'
  | 'struct'
  | 'enum'
  | 'enum member'
  | 'trait'
  | 'type'
  | 'module'
  | 'constant'
  | 'variable'
  | 'field'
  | 'macro';

/** A place in a file. */
export interface Place {
  readonly path: string;
  readonly line: number;
  readonly column: number;
}

/** A function, class, constant … that has a name. Parameters and variables inside functions are none. */
export interface Definition extends Place {
  readonly name: string;
  readonly kind: DefinitionKind;
  readonly language: Language;
  /** The last line of its body. */
  readonly endLine: number;
  /** The names around it, outermost first: of a method its class. Empty at the top of a file. */
  readonly container: readonly string[];
  /** Other files may name it: exported, public, or by the language's custom (Go capitals, Python without `_`). */
  readonly exported: boolean;
  /** Only declared here: a prototype, an overload, an abstract method. */
  readonly declaration: boolean;
  /** The line on which it begins, without its white space, at most 200 characters. */
  readonly text: string;
}

/** How a name is used. `import`: in an import or re-export; `inherit`: as a base class or an implemented type. */
export type ReferenceKind = 'call' | 'import' | 'inherit' | 'type' | 'write' | 'read';

export interface Reference extends Place {
  readonly name: string;
  readonly kind: ReferenceKind;
  /** The innermost definition that it stands in, with the names around: `Parser.parse`. Absent at the top of a file. */
  readonly inside?: string;
  /** A member of something: `x.name`, `x->name`, `X::name`. */
  readonly member: boolean;
  /**
   * What it means. `this file`, or the path of another file: the definition there, by scopes and imports. `local`: a
   * parameter or variable of a function, never a definition. `unknown`: syntax alone cannot say, as for most members.
   */
  readonly target: string | 'this file' | 'local' | 'unknown';
  /** The line on which it stands, without its white space, at most 200 characters. */
  readonly text: string;
}

/** One import of one file. */
export interface Import {
  readonly path: string;
  readonly line: number;
  /** As it is written: `./x.js`, `os.path`, `github.com/a/b/c`, `stdio.h`. */
  readonly specifier: string;
  /** The files of the index that it names; none for packages from elsewhere. */
  readonly files: readonly string[];
  /** The names that it binds here. `imported` is `*` for a whole module, `default` for a default export. */
  readonly names: readonly {readonly imported: string; readonly local: string}[];
}

/** One file of the index. */
export interface IndexedFile {
  readonly path: string;
  readonly language: Language;
  readonly lines: number;
  /** Share of all ranks: 1 divided by the number of files is average. Files that many important files import rank high. */
  readonly rank: number;
  /** How many files import it. */
  readonly importers: number;
  readonly definitions: number;
  /** A test by its name or folder. */
  readonly isTest: boolean;
}

/** What a reviewer asks of a function. */
export interface FunctionFacts extends Place {
  readonly name: string;
  readonly container: readonly string[];
  readonly endLine: number;
  /** Lines from its head to its end. */
  readonly lines: number;
  /** The deepest nesting of `if`, loops, `switch` and `try` in it, nested functions not counted. */
  readonly nesting: number;
  readonly parameters: number;
}

/** What syntax alone can say against a file. */
export interface SyntaxFacts {
  readonly functions: readonly FunctionFacts[];
  /** `catch {}`, `except: pass`, `rescue` without a body; a comment in it counts as a body. */
  readonly emptyCatches: readonly Place[];
  /** Places where the parser found no sense. */
  readonly syntaxErrors: readonly Place[];
}

/** A file that is not in the index although it looks like code. */
export interface SkippedFile {
  readonly path: string;
  /** In a few words: `larger than 1 MB`, `minified`, `generated`, `binary`, `cannot be read: permission denied`. */
  readonly why: string;
}

/** How whole an answer is. */
export interface Coverage {
  /** Files that were searched. */
  readonly files: number;
  /** Files that look like code and were not searched. An answer of "nothing found" is only true when this is empty. */
  readonly skipped: readonly SkippedFile[];
  /** Files of other languages, by extension, most first: `{vue: 12}`. */
  readonly unparsed: Readonly<Record<string, number>>;
  /** Files of the index with places that the parser did not understand: their answers may lack something. */
  readonly withErrors: readonly string[];
}

export interface Answer<T> {
  readonly found: readonly T[];
  readonly coverage: Coverage;
}

/** One occurrence that a rename changes. */
export interface RenameEdit extends Place {
  /** Replaces the old name there: the new name, or `old: new` where a shorthand needs it. */
  readonly newText: string;
  /** What is replaced there: the old name, without exception. */
  readonly oldText: string;
}

/** Something that would break, or that syntax cannot tell. */
export interface RenameConcern extends Place {
  /** In a few words: `in a string`, `a member of an unknown type`, `newName is already taken here`. */
  readonly why: string;
  readonly text: string;
}

/**
 * A rename over all files or not at all. `refused`: nothing may be changed, with the reasons; `safe`: all occurrences are
 * known. With either, `mentions` are places that a rename by syntax leaves alone and that a person should look at: strings,
 * comments, files of other languages.
 */
export interface RenamePlan {
  readonly verdict: 'safe' | 'refused';
  /** The definitions that get the new name: more than one for overloads, a declaration and its body. */
  readonly definitions: readonly Definition[];
  /** Sorted by path, then place. Empty when refused. */
  readonly edits: readonly RenameEdit[];
  /** Why it is refused; the first one is the main reason, in a whole sentence. Empty when safe. */
  readonly reasons: readonly string[];
  /** The places that the reasons are about. */
  readonly concerns: readonly RenameConcern[];
  readonly mentions: readonly RenameConcern[];
  readonly coverage: Coverage;
}

export interface RenameRequest {
  readonly from: string;
  readonly to: string;
  /** Which definition is meant when several have the name: its file, and if need be its line. */
  readonly path?: string;
  readonly line?: number;
  /** Only files below these paths may be changed; a rename that needs more is refused and says which. Default: all. */
  readonly within?: readonly string[];
}

export interface NameQuery {
  /** The whole name; `Class.method` also gives its container. Letter case counts. Absent: all names. */
  readonly name?: string;
  /** Only in this file, or below this folder. */
  readonly path?: string;
}

/** The files that an index may read, and whether the caller may see what it found in one. */
export interface QueryOptions {
  readonly signal?: AbortSignal;
  /** By absolute path. What was found in other files is left out of the answer, without a word. Default: all. */
  readonly mayRead?: (file: string) => boolean;
}

/**
 * Symbols of the files below one folder. Nothing is loaded or read before the first question. A question waits until the
 * files that changed are parsed: 500 files take up to 2 s the first time, further questions some milliseconds.
 * Every method throws MiniCcError `CODE_INDEX` when the index cannot be built, and the signal's reason when it is aborted.
 */
export interface CodeIndex {
  /** Absolute, links resolved. */
  readonly root: string;
  /** Sorted by kind (classes, functions … before fields) and rank of the file. */
  definitions(query: NameQuery, options?: QueryOptions): Promise<Answer<Definition>>;
  /** All uses of a name, without its definitions. Sorted by path and place. */
  references(query: NameQuery & {readonly name: string}, options?: QueryOptions): Promise<Answer<Reference>>;
  /** Every definition of a file in its order; those of a class follow it. Also for a file that .gitignore leaves out. */
  outline(path: string, options?: QueryOptions): Promise<Answer<Definition>>;
  /** The imports that name a file; for a folder, those from outside of it that name a file below it. */
  importers(path: string, options?: QueryOptions): Promise<Answer<Import>>;
  /** The files, highest rank first. */
  files(query: {readonly path?: string}, options?: QueryOptions): Promise<Answer<IndexedFile>>;
  /** What syntax says against a file, or the files below a folder: one entry, all files together. */
  syntax(path: string, options?: QueryOptions): Promise<SyntaxFacts & {readonly coverage: Coverage}>;
  /** Exported definitions that no other file names. Not those of entry files, and none that a framework may call by name. */
  unusedExports(query: {readonly path?: string}, options?: QueryOptions): Promise<Answer<Definition>>;
  rename(request: RenameRequest, options?: QueryOptions): Promise<RenamePlan>;
  /** A question is open. */
  readonly isBusy: boolean;
  /** Ends the thread. A question that is open fails. */
  close(): Promise<void>;
}

export interface CodeIndexOptions {
  /** The folder whose files are indexed, absolute. */
  readonly root: string;
  /** Where parsed files are kept, e.g. `<home>/projects/<slug>/code-index`. Absent: nothing is kept. */
  readonly cacheFolder?: string;
  /** The environment of ripgrep, which lists the files. */
  readonly env: Readonly<Record<string, string>>;
}
