/** Paints the first screen before anything is loaded. It reads only a few small files that the header depends on. */
import {readFileSync} from 'node:fs';
import path from 'node:path';
import type {SessionOptions} from '../compose/options.ts';
import {isModelConfigured} from '../config/environment.ts';
import {tryOr} from '../core/util/errors.ts';
import {type FirstPaint, startFirstPaint} from '../ui/first-paint/first-paint.ts';
import {PromptHistory} from '../ui/input/prompt-history.ts';
import {EXIT_CODES, type Start} from './start.ts';

type Shown = Pick<SessionOptions, 'cwd' | 'model' | 'offline'>;

/** The terminal must be in raw mode. */
export function paintFirst({args, home, version}: Start, {cwd, model = '', offline}: Shown): FirstPaint {
  const signals = Object.entries(EXIT_CODES).map(([signal, code]) => ({signal, leave: () => process.exit(code)}));
  const paint = startFirstPaint(process, {
    version,
    cwd,
    env: isReadAloud(home, args) ? {...process.env, INK_SCREEN_READER: 'true'} : process.env,
    offline: offline || !mayHaveModel(home, cwd, model),
    isFirst: new PromptHistory(home, cwd).isEmpty(),
    onLeave: () => process.exit(0),
  });
  process.on('exit', paint.remove);
  for (const {signal, leave} of signals) process.on(signal, leave);
  return {
    remove: paint.remove,
    handOver: () => {
      process.off('exit', paint.remove);
      for (const {signal, leave} of signals) process.off(signal, leave);
      return paint.handOver();
    },
  };
}

/** Tells whether the screen is for a screen reader: the flag, the variable of Ink, or the user's own settings say so. */
export function isReadAloud(home: string, args: readonly string[]): boolean {
  if (args.includes('--screen-reader') || process.env.INK_SCREEN_READER === 'true') return true;
  const file = path.join(home, 'settings.json');
  return tryOr(() => /"screenReader"\s*:\s*true/.test(readFileSync(file, 'utf8')), false);
}

/** Guesses before the settings are read: a settings file seems to name a provider, or the model names one. */
function mayHaveModel(home: string, cwd: string, model: string): boolean {
  if (isModelConfigured(process.env) || model.includes('/')) return true;
  const project = path.join(cwd, '.mini-cc');
  const files = [path.join(home, 'settings.json'), path.join(project, 'settings.json')];
  // Usually there is no such file. Other errors are reported when the settings are read.
  return [...files, path.join(project, 'settings.local.json')].some((file) =>
    tryOr(() => readFileSync(file, 'utf8').includes('"providers"'), false),
  );
}
