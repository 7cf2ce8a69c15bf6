/** `mini-cc config show [--json]` and `mini-cc config schema`. */
import {realpathSync} from 'node:fs';
import path from 'node:path';
import {parseArgs} from 'node:util';
import type {TrustInForce} from '../compose/trust.ts';
import {type InForce, type SettingInForce, settingsInForce, type Variables} from '../config/in-force.ts';
import {settingsJsonSchema} from '../config/json-schema.ts';
import {DirectoryTrust} from '../config/trust.ts';
import {showControls} from '../core/util/control-characters.ts';
import {UsageError} from '../core/util/errors.ts';
import {nearest} from '../core/util/nearest.ts';
import {quote} from '../core/util/problem.ts';

export interface ConfigSurroundings {
  /** `~/.mini-cc`, or what `MINI_CC_HOME` names. */
  readonly home: string;
  readonly cwd: string;
  readonly env: Variables;
  readonly stdout: (text: string) => void;
  /** One line, without its end. */
  readonly stderr: (line: string) => void;
}

interface ConfigArguments {
  readonly form: 'show' | 'schema';
  readonly json: boolean;
  readonly settings?: string;
  readonly cwd?: string;
}

type Shown = Omit<InForce, 'claims'> & {readonly trust: Pick<TrustInForce, 'directory' | 'keys'>};

const FORMS = ['show', 'schema'] as const;
const FLAGS = {json: {type: 'boolean'}, settings: {type: 'string'}, cwd: {type: 'string'}} as const;
const USAGE = 'mini-cc config show [--json] [--settings FILE] [--cwd DIR] | mini-cc config schema';

/** @param args what follows `config` on the command line. @returns the exit code. */
export async function runConfigCommand(args: readonly string[], surroundings: ConfigSurroundings): Promise<number> {
  try {
    const parsed = parse(args);
    if (parsed.form === 'schema') surroundings.stdout(`${JSON.stringify(settingsJsonSchema(), null, 2)}\n`);
    else await show(parsed, surroundings);
    return 0;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    surroundings.stderr(`mini-cc: ${error.message}`);
    return 2;
  }
}

function parse(args: readonly string[]): ConfigArguments {
  const {tokens} = parseArgs({args: [...args], options: FLAGS, strict: false, allowPositionals: true, tokens: true});
  const words: string[] = [];
  const values: {json?: true; settings?: string; cwd?: string} = {};
  for (const token of tokens) {
    if (token.kind === 'positional') words.push(token.value);
    else if (token.kind === 'option') takeFlag(token, values);
  }
  const [word, ...more] = words;
  if (word === undefined) throw new UsageError(`config: say what to do: ${USAGE}`);
  const form = FORMS.find((each) => each === word);
  if (!form)
    throw new UsageError(`config: unknown word ${quote(word)} (did you mean ${nearest(word, FORMS)}?): ${USAGE}`);
  if (more.length > 0) throw new UsageError(`config ${form}: ${quote(more[0])} is too much: ${USAGE}`);
  const [flag] = Object.keys(values);
  if (form === 'schema' && flag !== undefined) throw new UsageError(`config schema takes no --${flag}: ${USAGE}`);
  return {...values, form, json: values.json ?? false};
}

function takeFlag(
  {name, rawName, value}: {readonly name: string; readonly rawName: string; readonly value?: string | undefined},
  values: {json?: true; settings?: string; cwd?: string},
): void {
  switch (name) {
    case 'json':
      if (value !== undefined) throw new UsageError('config: --json takes no value');
      values.json = true;
      return;
    case 'settings':
    case 'cwd':
      if (value === undefined || value === '') throw new UsageError(`config: --${name} needs a path`);
      values[name] = value;
      return;
    default:
      throw new UsageError(
        `config: unknown flag ${showControls(rawName)} (did you mean --${nearest(name, Object.keys(FLAGS))}?): ${USAGE}`,
      );
  }
}

async function show({json, settings, cwd}: ConfigArguments, surroundings: ConfigSurroundings): Promise<void> {
  const {home, env, stdout, stderr} = surroundings;
  const places = {home, cwd: folder(path.resolve(surroundings.cwd, cwd ?? '.'))};
  const {trustInForce} = await import('../compose/trust.ts');
  const trust = new DirectoryTrust(home, places.cwd);
  const {claims, ...inForce} = settingsInForce(
    {...places, trusts: trust.trusts, ...(settings === undefined ? {} : {explicit: settings})},
    env,
  );
  const {warnings, ...trusted} = trustInForce(home, trust, {claims});
  const all = {...inForce, trust: trusted, warnings: [...inForce.warnings, ...warnings]};
  if (json) {
    stdout(`${JSON.stringify(all, null, 2)}\n`);
    return;
  }
  for (const warning of all.warnings) stderr(`mini-cc: ${warning}`);
  stdout(showControls(tables(all)));
}

function tables({settings, environment, files, trust, offline}: Shown): string {
  const blocks = [
    ['Settings', ...columns(settings.map((each) => [each.key, valueText(each), sourceText(each)]))],
    ['Environment', ...columns(environment.map(({name, value}) => [name, value]))],
    ['Files', ...columns(files.map(({layer, file, found}) => [layer, found ? 'read' : 'not there', file]))],
    ...(trust.keys.length > 0 ? [['Trust', ...columns(trust.keys.map(trustRow))]] : []),
    ...(offline ? [['No API key or server is set: the offline model answers.']] : []),
  ];
  return `${blocks.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

function trustRow({file, key, standing}: TrustInForce['keys'][number]): string[] {
  return [key, STANDINGS[standing], file];
}

const STANDINGS: Readonly<Record<TrustInForce['keys'][number]['standing'], string>> = {
  trusted: 'trusted',
  refused: 'ignored, as you said',
  changed: 'ignored: changed since you trusted it',
  new: 'ignored: not trusted',
};

function columns(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.min(40, Math.max(...rows.map((row) => row[column]!.length))));
  return rows.map((row) => `  ${row.map((cell, column) => cell.padEnd(widths[column]!)).join('  ')}`.trimEnd());
}

function valueText({value, text}: SettingInForce): string {
  if (text !== undefined) return text;
  return typeof value === 'string' && /^\S+$/.test(value) ? value : JSON.stringify(value);
}

function sourceText({source, from}: SettingInForce): string {
  return from.length === 0 ? source : from.join(', ');
}

function folder(dir: string): string {
  try {
    return realpathSync(dir);
  } catch (error) {
    throw new UsageError(`No such directory: ${dir}`, {cause: error});
  }
}
