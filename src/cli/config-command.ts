/** Runs `mini-cc config show [--json]` and `mini-cc config schema`. */
import {createUnknownVerb, printJson, type SubcommandArguments} from '../commands/command-line.ts';
import {formatSettings} from '../commands/config.ts';
import type {SessionOptions} from '../compose/options.ts';
import {settingsJsonSchema} from '../config/json-schema.ts';
import {UsageError} from '../core/util/errors.ts';
import {quote} from '../core/util/problem.ts';
import {showControls} from '../core/util/text.ts';

type ConfigArguments = Pick<SubcommandArguments, 'verb' | 'words' | 'json'>;
type ConfigOptions = Pick<SessionOptions, 'home' | 'cwd' | 'env' | 'settingsFile' | 'settingSources'>;

const VERBS = ['show', 'schema'] as const;
const USAGE = 'mini-cc config show [--json] [--settings FILE] [--cwd DIR] | mini-cc config schema';

/** @throws UsageError for bad usage and for wrong settings */
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

async function show(options: ConfigOptions, json: boolean) {
  const {readShownSettings} = await import('../compose/commands.ts');
  const shown = readShownSettings(options);
  if (json) return printJson(shown);
  const stderr = shown.warnings.map((warning) => `mini-cc: ${warning}\n`).join('');
  return {exitCode: 0, stdout: showControls(formatSettings(shown)), stderr};
}
