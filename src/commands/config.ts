/** Implements `/config` and `mini-cc config show`, which show the settings in force and the origin of each. */
import type {EffectiveSetting} from '../config/effective-settings.ts';
import type {TrustState} from '../config/trust.ts';
import {formatColumns} from '../core/util/text.ts';
import type {ShownSettings, SlashCommands} from './shared/command-deps.ts';

export const slashCommands: SlashCommands = ({readConfig}) => [
  {
    name: 'config',
    description: 'settings in force: their values and files (/config all)',
    async run({args}) {
      // Changes since the start take effect at the next start.
      const shown = await readConfig();
      if (args === 'all') return {ok: true, text: formatSettings(shown).trimEnd()};
      if (args !== '')
        return {ok: false, text: 'Settings are changed in their files: /config shows which, /config all each value.'};
      const own = shown.settings.filter(({source}) => source !== 'default');
      const blocks = [
        own.length === 0
          ? ['All settings have their defaults. /config all lists them.']
          : ['Not as by default (/config all lists the others):', ...formatRows(own)],
        ['Files, the last wins:', ...formatFiles(shown)],
        ...(shown.warnings.length === 0 ? [] : [['Warnings:', ...shown.warnings.map((warning) => `  ${warning}`)]]),
      ];
      return {ok: true, text: blocks.map((lines) => lines.join('\n')).join('\n\n')};
    },
  },
];

export function formatSettings(shown: ShownSettings): string {
  const {settings, environment, trust, offline} = shown;
  const blocks = [
    ['Settings', ...formatRows(settings)],
    ['Environment', ...columns(environment.map(({name, value}) => [name, value]))],
    ['Files', ...formatFiles(shown)],
    ...(trust.keys.length > 0
      ? [['Trust', ...columns(trust.keys.map(({file, key, state}) => [key, TRUST_STATES[state], file]))]]
      : []),
    ...(offline ? [['No API key or server is set: the offline model answers.']] : []),
  ];
  return `${blocks.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

function formatRows(settings: readonly EffectiveSetting[]): string[] {
  return columns(settings.map((each) => [each.key, formatValue(each), each.from.join(', ') || each.source]));
}

function formatFiles({files}: Pick<ShownSettings, 'files'>): string[] {
  return columns(files.map(({layer, file, found}) => [layer, found ? 'read' : 'not there', file]));
}

const TRUST_STATES: Readonly<Record<TrustState, string>> = {
  trusted: 'trusted',
  refused: 'ignored, as you said',
  changed: 'ignored: changed since you trusted it',
  new: 'ignored: not trusted',
};

function columns(rows: readonly (readonly string[])[]): string[] {
  return formatColumns(rows, {max: 40}).map((line) => `  ${line}`);
}

function formatValue({value, text}: EffectiveSetting): string {
  if (text !== undefined) return text;
  return typeof value === 'string' && /^\S+$/.test(value) ? value : JSON.stringify(value);
}
