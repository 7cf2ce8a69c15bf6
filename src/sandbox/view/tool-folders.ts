/**
 * Finds the folders of programs on PATH that are outside of the system's own folders: each folder of PATH, and the
 * targets of its programs, up to the folder of the tool that they belong to (nvm, pipx, conda …).
 */
import {existsSync, readdirSync, statSync} from 'node:fs';
import path from 'node:path';
import {traceLinks} from '../../core/permissions/files/resolve-links.ts';
import {tryOr} from '../../core/util/errors.ts';
import {readSmallFile} from '../../core/util/files/git-folder.ts';
import {isInside} from '../../core/util/paths.ts';
import {listWords} from '../../core/util/text.ts';
import {isWritableByOthers} from './repository-folders.ts';
import {isInSystemFolder, STANDARD_PROGRAM_FOLDERS} from './system-folders.ts';

interface ToolSearch {
  /** Absolute, with links resolved. */
  readonly home: string;
  /** Folders of the project. They are shown anyway, and links in them are the project's. */
  readonly roots: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** Folders below the home that belong to one tool as a whole: its programs, libraries and installed versions. */
const TOOLS = listWords(`
  .nvm .volta .asdf .pyenv .rbenv .nodenv .goenv .jenv .sdkman .rustup .fnm .rvm .n .proto .gvm .swiftly .juliaup
  .bun .deno .ghcup .virtualenvs .local/pipx miniconda3 anaconda3 miniforge3 mambaforge micromamba n Library/pnpm
  .local/lib
`);
/** Folders below the home in which each folder belongs to one tool. */
const TOOL_PARENTS = ['.local/share', '.local/opt', '.local/state'];
/** Variables that name the folder of a tool that is elsewhere. */
const TOOL_VARIABLES = listWords(`
  NVM_DIR VOLTA_HOME PNPM_HOME ASDF_DIR ASDF_DATA_DIR PYENV_ROOT FNM_DIR MISE_DATA_DIR SDKMAN_DIR RUSTUP_HOME
  RBENV_ROOT GOROOT JAVA_HOME UV_TOOL_DIR UV_PYTHON_INSTALL_DIR PIPX_HOME
`);
/** Places below the home that the programs of a folder need although no link leads there. */
const COMPANIONS: Readonly<Record<string, readonly string[]>> = {
  '.cargo/bin': ['.rustup'],
  '.local/bin': ['.local/lib'],
  '.asdf/shims': ['.tool-versions'],
  '.asdf/bin': ['.tool-versions'],
};
const VENV_FILE = 'pyvenv.cfg';
const MAX_PROGRAMS = 2000;

interface ToolFolders {
  /** Absolute, with links not resolved. */
  readonly places: readonly string[];
  /** Folders whose change may change the result. */
  readonly watched: readonly string[];
}

export function findToolFolders({home, roots, env}: ToolSearch): ToolFolders {
  return new Search(home, roots, env).run();
}

class Search {
  readonly #places = new Set<string>();
  readonly #watched: string[] = [];
  readonly #known: readonly string[];

  constructor(
    private readonly home: string,
    private readonly roots: readonly string[],
    private readonly env: ToolSearch['env'],
  ) {
    const named = TOOL_VARIABLES.flatMap((name) => env[name] ?? []).filter((folder) => path.isAbsolute(folder));
    this.#known = [
      ...TOOLS.map((name) => path.join(home, name)),
      ...named.flatMap((each) => traceLinks(each)?.real ?? []),
    ];
  }

  run(): ToolFolders {
    const {PATH = '', VIRTUAL_ENV, CONDA_PREFIX} = this.env;
    for (const folder of new Set(PATH.split(path.delimiter))) this.#addProgramFolder(folder);
    for (const folder of [VIRTUAL_ENV, CONDA_PREFIX]) if (folder) this.#addEnvironment(folder);
    // A virtual environment in the workspace may use one of these. Its own claims come from the project and are not
    // trusted.
    this.#show(path.join(this.home, '.local/share/uv/python'));
    return {places: [...this.#places], watched: this.#watched};
  }

  #addProgramFolder(given: string): void {
    if (!path.isAbsolute(given) || STANDARD_PROGRAM_FOLDERS.includes(given)) return;
    const folder = traceLinks(given)?.real;
    if (folder === undefined || isInside(folder, this.roots) || STANDARD_PROGRAM_FOLDERS.includes(folder)) return;
    if (!isInSystemFolder(folder)) {
      if (!this.#mayShow(folder) || isWritableByOthers(folder)) return;
      this.#show(given);
      this.#show(this.#getToolFolder(folder) ?? folder);
      for (const name of COMPANIONS[path.relative(this.home, folder)] ?? []) this.#show(path.join(this.home, name));
    }
    this.#watched.push(folder);
    for (const name of listLinks(folder)) this.#addProgram(path.join(folder, name));
  }

  #addProgram(link: string): void {
    const target = traceLinks(link)?.real;
    if (target === undefined || isInSystemFolder(target) || isInside(target, this.roots) || !isProgram(target)) return;
    // npm puts such folders on PATH for every project above. Their links belong to these projects.
    const packages = /^.*?\/node_modules(?=\/)/.exec(link)?.[0];
    if (packages !== undefined && !isInside(target, [packages])) return;
    this.#show(link);
    const folder = this.#getToolFolder(path.dirname(target));
    if (folder === undefined) return;
    this.#show(folder);
    this.#addPythonOf(path.dirname(path.dirname(target)));
  }

  /** Adds a virtual environment that the user activated. */
  #addEnvironment(given: string): void {
    const folder = path.isAbsolute(given) ? traceLinks(given)?.real : undefined;
    if (folder === undefined || !this.#mayShow(folder) || !isEnvironment(folder)) return;
    this.#show(given);
    this.#addPythonOf(folder);
  }

  /** Adds the Python that a virtual environment uses, when a known tool installed it. */
  #addPythonOf(environment: string): void {
    const [, folder] = /^home *= *(\/.+)$/m.exec(readSmallFile(path.join(environment, VENV_FILE), 10_000) ?? '') ?? [];
    const real = folder === undefined ? undefined : traceLinks(folder.trim())?.real;
    const tool = real && !isInSystemFolder(real) ? this.#getKnownTool(real) : undefined;
    if (tool === undefined) return;
    this.#show(folder!.trim());
    this.#show(tool);
  }

  /** Returns the folder that belongs to a tool as a whole, by where the tool is installed or by what is in it. */
  #getToolFolder(programs: string): string | undefined {
    return this.#getKnownTool(programs) ?? this.#getPackageFolder(programs) ?? this.#getPrefix(programs);
  }

  #getKnownTool(folder: string): string | undefined {
    const known = this.#known.find((tool) => isInside(folder, [tool]));
    if (known !== undefined) return known;
    const parent = TOOL_PARENTS.map((name) => path.join(this.home, name)).find((each) => isInside(folder, [each]));
    const [name] = parent === undefined ? [] : path.relative(parent, folder).split('/');
    return name ? path.join(parent!, name) : undefined;
  }

  /** Returns the outermost `node_modules` or `vendor` around the folder, because packages need others beside them. */
  #getPackageFolder(folder: string): string | undefined {
    const parts = folder.split('/');
    const index = parts.findIndex((part) => part === 'node_modules' || part === 'vendor');
    const found = parts.slice(0, index + 1).join('/');
    return index > 0 && this.#mayShow(found) ? found : undefined;
  }

  /** Returns the folder above `bin` when libraries are beside `bin`. */
  #getPrefix(folder: string): string | undefined {
    const prefix = path.dirname(folder);
    const isShared = prefix === path.join(this.home, '.local') || !/^s?bin$/.test(path.basename(folder));
    if (isShared || !this.#mayShow(prefix)) return undefined;
    const isWhole = ['lib', 'libexec', 'share'].some((name) => existsSync(path.join(prefix, name)));
    return isWhole || isEnvironment(prefix) ? prefix : undefined;
  }

  /** False for the home, a folder above it, and a folder at the top. */
  #mayShow(folder: string): boolean {
    return !isInside(this.home, [folder]) && path.dirname(folder) !== '/';
  }

  #show(place: string): void {
    this.#places.add(place);
  }
}

function isEnvironment(folder: string): boolean {
  return [VENV_FILE, 'conda-meta'].some((name) => existsSync(path.join(folder, name)));
}

function listLinks(folder: string): string[] {
  const entries = tryOr(() => readdirSync(folder, {withFileTypes: true}), []);
  return entries.slice(0, MAX_PROGRAMS).flatMap((entry) => (entry.isSymbolicLink() ? entry.name : []));
}

function isProgram(file: string): boolean {
  const stat = tryOr(() => statSync(file), undefined);
  return stat?.isFile() === true && (stat.mode & 0o111) !== 0;
}
