/**
 * Creates calls for the tools of a request. When a tool is missing, bash replaces it if possible. Each method returns
 * undefined, or no calls, when no tool can do the work.
 */

import type {ToolSpec} from '../core/contract/model.ts';
import {toFields} from '../core/util/objects.ts';

/** One tool call without an id. */
export interface Call {
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
}

export interface Search {
  /** Must use only syntax that both ripgrep and `grep -E` know: plain groups, `\b`, `\s`, `\w`, no look-around. */
  readonly pattern: string;
  readonly ignoreCase?: boolean;
  readonly path?: string | undefined;
  readonly glob?: string | undefined;
  readonly mode?: 'content' | 'files' | 'count';
  readonly limit?: number;
}

export interface Edit {
  readonly old_string: string;
  readonly new_string: string;
  readonly replace_all?: boolean;
}

/**
 * A shell command that lists all files that .gitignore does not hide. Without git it lists all files outside of
 * node_modules.
 */
export const LIST_FILES =
  "{ git ls-files -co --exclude-standard 2>/dev/null || find . -type f -not -path '*/.git/*' -not -path '*/node_modules/*' | sed 's|^\\./||'; }";

export class Toolbox {
  readonly #properties: ReadonlyMap<string, ReadonlySet<string>>;
  readonly agents: readonly string[];

  constructor(tools: readonly ToolSpec[]) {
    const schemas = tools.map((tool) => [tool.name, toFields(toFields(tool.input_schema).properties)] as const);
    this.#properties = new Map(schemas.map(([name, fields]) => [name, new Set(Object.keys(fields))]));
    const task = new Map(schemas).get('Task');
    const known = toFields(task?.agent_type).enum;
    this.agents = task ? (Array.isArray(known) ? known.map(String) : ['explore', 'code', 'plan']) : [];
  }

  has(name: string): boolean {
    return this.#properties.has(name);
  }

  get names(): readonly string[] {
    return [...this.#properties.keys()];
  }

  search(search: Search): Call | undefined {
    const {pattern, ignoreCase = false, path, glob, mode = 'content', limit = 100} = search;
    if (this.has('grep')) {
      return this.#call('grep', {
        pattern: ignoreCase ? `(?i)${pattern}` : pattern,
        path,
        glob,
        mode,
        limit,
        '-n': true,
      });
    }
    const modeFlag = {content: 'n', files: 'l', count: 'c'}[mode];
    const names = expandBraces(glob).map((one) => ` --include=${quote(one.replace(/^.*\//, ''))}`);
    const skip = '--exclude-dir=.git --exclude-dir=node_modules';
    const flags = `-rIE${modeFlag}${ignoreCase ? 'i' : ''}`;
    const drop = mode === 'count' ? " | grep -v ':0$'" : '';
    return this.bash(
      `grep ${flags} ${skip}${names.join('')} -e ${quote(pattern)} ${quote(path ?? '.')}${drop} | head -n ${limit}`,
      'Search the files',
    );
  }

  files(pattern: string, options: {path?: string | undefined; limit?: number} = {}): Call | undefined {
    const {path, limit = 100} = options;
    if (this.has('glob')) return this.#call('glob', {pattern, path, limit});
    const whole = path && path !== '.' ? `${path.replace(/\/$/, '')}/${pattern}` : pattern;
    return this.bash(`${LIST_FILES} | grep -E ${quote(globToRegExp(whole))} | head -n ${limit}`, 'List files');
  }

  read(path: string, offset?: number, limit?: number): Call | undefined {
    if (this.has('read_file')) return this.#call('read_file', {path, offset, limit});
    const from = offset ?? 1;
    const range = `${from},${from + (limit ?? 400) - 1}p`;
    return this.bash(`cat -n -- ${quote(path)} | sed -n ${range}`, 'Read a file');
  }

  /**
   * @param mode `files` lists files by rank; `syntax` finds problems for a review; `rename` plans a rename without
   *   changing files
   */
  symbols(
    mode: 'definitions' | 'references' | 'outline' | 'importers' | 'files' | 'syntax' | 'rename',
    options: {name?: string; path?: string | undefined} = {},
  ): Call | undefined {
    return this.has('symbols') ? this.#call('symbols', {mode, ...options}) : undefined;
  }

  bash(command: string, description?: string): Call | undefined {
    return this.has('bash') ? this.#call('bash', {command, description}) : undefined;
  }

  fetch(url: string): Call | undefined {
    return this.has('web_fetch') ? this.#call('web_fetch', {url}) : undefined;
  }

  write(path: string, content: string): Call | undefined {
    return this.has('write_file') ? this.#call('write_file', {path, content}) : undefined;
  }

  /** Creates one call when the tool takes several edits at once, otherwise one call per edit. */
  edit(path: string, edits: readonly Edit[]): readonly Call[] {
    if (!this.has('edit_file')) return [];
    if (edits.length > 1 && this.#properties.get('edit_file')?.has('edits')) {
      return [this.#call('edit_file', {path, edits})];
    }
    return edits.map((edit) => this.#call('edit_file', {path, ...edit}));
  }

  task(agent_type: string, description: string, prompt: string, background = false): Call | undefined {
    if (!this.agents.includes(agent_type)) return undefined;
    return this.#call('Task', {agent_type, description, prompt, background: background || undefined});
  }

  /** Creates a call without undefined fields and without fields that the tool does not have. */
  #call(name: string, input: Record<string, unknown>): Call {
    const taken = this.#properties.get(name);
    const fits = ([key, value]: [string, unknown]) =>
      value !== undefined && (taken === undefined || taken.size === 0 ? key !== '-n' : taken.has(key));
    return {name, input: Object.fromEntries(Object.entries(input).filter(fits))};
  }
}

/** Quotes the text as one word of a POSIX shell. */
export function quote(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** Converts a glob to an anchored regular expression over relative paths. */
function globToRegExp(glob: string): string {
  let depth = 0;
  const body = glob.replace(/\*\*\/|\*\*|[*?{},]|[.+^$()|[\]\\]/g, (token) => {
    if (token === '**/') return '(.*/)?';
    if (token === '**') return '.*';
    if (token === '*') return '[^/]*';
    if (token === '?') return '[^/]';
    if (token === '{') depth++;
    if (token === '}') depth--;
    if (token === '{') return '(';
    if (token === '}') return ')';
    if (token === ',') return depth > 0 ? '|' : ',';
    return `\\${token}`;
  });
  return `^${body}$`;
}

/** Expands one pair of braces: `*.{ts,js}` becomes `*.ts` and `*.js`. */
function expandBraces(glob: string | undefined): readonly string[] {
  if (glob === undefined) return [];
  const match = /^(.*)\{([^{}]*)\}(.*)$/.exec(glob);
  return match ? match[2]!.split(',').map((part) => `${match[1]}${part}${match[3]}`) : [glob];
}
