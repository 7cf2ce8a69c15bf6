/**
 * Creates calls for the tools of a request. Each method returns undefined when the agent does not have the tool.
 */

import type {ToolSpec} from '../core/contract/model.ts';
import {toFields} from '../core/util/objects.ts';
import {quoteForShell} from '../core/util/text.ts';

/** One tool call without an id. */
export interface Call {
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
}

export interface Search {
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
}

/** A rename of the symbol that this line defines or uses. */
interface Rename {
  readonly path: string;
  readonly line: number;
  readonly name: string;
  readonly new_name: string;
  readonly apply?: true;
}

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

  search(search: Search): Call | undefined {
    const {pattern, ignoreCase = false, path, glob, mode = 'content', limit = 100} = search;
    if (!this.has('grep') && glob === undefined && mode === 'content') {
      const flags = `-rnIHE${ignoreCase ? 'i' : ''} --exclude-dir=.git --exclude-dir=node_modules`;
      return this.bash(
        `grep ${flags} -e ${quoteForShell(pattern)} -- ${quoteForShell(path ?? '.')} | head -n ${limit}`,
        'Search files',
      );
    }
    return this.#call('grep', {
      pattern: ignoreCase ? `(?i)${pattern}` : pattern,
      path,
      glob,
      mode,
      limit,
      '-n': true,
    });
  }

  files(pattern: string, options: {path?: string | undefined; limit?: number}): Call | undefined {
    const {path, limit = 100} = options;
    return this.#call('glob', {pattern, path, limit});
  }

  read(path: string, offset?: number, limit?: number): Call | undefined {
    return this.#call('read_file', {path, offset, limit});
  }

  /**
   * @param mode `kinds` lists definitions of the kinds in the name (`exported class|enum`, `in Parser: method`); `files`
   *   lists files by rank; `syntax` finds problems for a review
   */
  symbols(
    mode: 'definitions' | 'kinds' | 'references' | 'outline' | 'importers' | 'files' | 'syntax',
    options: {name?: string; path?: string | undefined},
  ): Call | undefined {
    return this.#call('symbols', {mode, ...options});
  }

  bash(command: string, description?: string): Call | undefined {
    return this.#call('bash', {command, description});
  }

  write(path: string, content: string): Call | undefined {
    return this.#call('write_file', {path, content});
  }

  edit(path: string, edit: Edit): Call | undefined {
    return this.#call('edit_file', {path, ...edit});
  }

  /** @param rename shows what would change, unless `apply` */
  renameSymbol(rename: Rename): Call | undefined {
    return this.#call('rename_symbol', {...rename});
  }

  task(agent_type: string, description: string, prompt: string, background: boolean): Call | undefined {
    if (!this.agents.includes(agent_type)) return undefined;
    return this.#call('Task', {agent_type, description, prompt, background: background || undefined});
  }

  /** Creates a call without undefined fields and without fields that the tool does not have. */
  #call(name: string, input: Record<string, unknown>): Call | undefined {
    const taken = this.#properties.get(name);
    if (!taken) return undefined;
    const fits = ([key, value]: [string, unknown]) => value !== undefined && taken.has(key);
    return {name, input: Object.fromEntries(Object.entries(input).filter(fits))};
  }
}
