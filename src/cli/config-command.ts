/** `mini-cc config show [--json]` and `mini-cc config schema`. */
import {realpathSync} from 'node:fs';
import {homedir} from 'node:os';
import {createUnknownVerb, printJson, type SubcommandArguments} from '../commands/command-line.ts';
import type {SessionOptions} from '../compose/options.ts';
import type {EffectiveTrust} from '../compose/trust.ts';
import {type EffectiveSetting, type EffectiveSettings, getEffectiveSettings} from '../config/effective-settings.ts';
import {settingsJsonSchema} from '../config/json-schema.ts';
import {DirectoryTrust} from '../config/trust.ts';
import {UsageError} from '../core/util/errors.ts';
import {quote} from '../core/util/problem.ts';
import {showControls} from '../core/util/text.ts';

type ConfigArguments = Pick<SubcommandArguments, 'verb' | 'words' | 'json'>;
type ConfigOptions = Pick<SessionOptions, 'home' | 'cwd' | 'env' | 'settingsFile' | 'settingSources'>;

type Shown = Omit<EffectiveSettings, 'claims'> & {readonly trust: Pick<EffectiveTrust, 'directory' | 'keys'>};

const VERBS = ['show', 'schema'] as const;
const USAGE = 'mini-cc config show [--json] [--settings FILE] [--cwd DIR] | mini-cc config schema';

/** @throws UsageError for bad usage and for settings that are wrong. */
export async function configCommandLine(options: ConfigOptions, {verb, words, json}: ConfigArguments) {
  const found = VERBS.find((each) => each === verb);
  if (verb === '') throw new UsageError(`config: say what to do: ${USAGE}`);
  if (!found) {
    throw createUnknownVerb('mini-cc config', verb, VERBS.join(', '));
  }
  if (words.length > 0) throw new UsageError(`config ${found}: ${quote(words[0])} is too much: ${USAGE}`);
  if (found === 'show') return show(options, json);
  const wrong = json ? 'json' : options.settingsFile === undefined ? undefined : 'settings';
  if (wrong) throw new UsageError(`config schema takes no --${wrong}: ${USAGE}`);
  return printJson(settingsJsonSchema());
}

async function show({home, cwd, env, settingsFile, settingSources}: ConfigOptions, json: boolean) {
  const {getEffectiveTrust} = await import('../compose/trust.ts');
  const root = realpathSync(cwd);
  const trust = new DirectoryTrust(home, root);
  const explicit = {
    ...(settingsFile !== undefined && {explicit: settingsFile}),
    ...(settingSources && {sources: settingSources}),
  };
  const {claims, ...inForce} = getEffectiveSettings(
    {home, cwd: root, userHome: homedir(), trusts: trust.trusts, ...explicit},
    env,
  );
  const {warnings, ...trusted} = getEffectiveTrust(home, trust, {claims});
  const all = {...inForce, trust: trusted, warnings: [...inForce.warnings, ...warnings]};
  if (json) return printJson(all);
  const stderr = all.warnings.map((warning) => `mini-cc: ${warning}\n`).join('');
  return {exitCode: 0, stdout: showControls(formatTables(all)), stderr};
}

function formatTables({settings, environment, files, trust, offline}: Shown): string {
  const blocks = [
    [
      'Settings',
      ...columns(settings.map((each) => [each.key, formatValue(each), each.from.join(', ') || each.source])),
    ],
    ['Environment', ...columns(environment.map(({name, value}) => [name, value]))],
    ['Files', ...columns(files.map(({layer, file, found}) => [layer, found ? 'read' : 'not there', file]))],
    ...(trust.keys.length > 0
      ? [['Trust', ...columns(trust.keys.map(({file, key, state}) => [key, TRUST_STATES[state], file]))]]
      : []),
    ...(offline ? [['No API key or server is set: the offline model answers.']] : []),
  ];
  return `${blocks.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

const TRUST_STATES: Readonly<Record<EffectiveTrust['keys'][number]['state'], string>> = {
  trusted: 'trusted',
  refused: 'ignored, as you said',
  changed: 'ignored: changed since you trusted it',
  new: 'ignored: not trusted',
};

function columns(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.min(40, Math.max(...rows.map((row) => row[column]!.length))));
  return rows.map((row) => `  ${row.map((cell, column) => cell.padEnd(widths[column]!)).join('  ')}`.trimEnd());
}

function formatValue({value, text}: EffectiveSetting): string {
  if (text !== undefined) return text;
  return typeof value === 'string' && /^\S+$/.test(value) ? value : JSON.stringify(value);
}
