/** What stands on the screen before anything is loaded or read, but a few small files that say what the header tells. */
import {readFileSync} from 'node:fs';
import path from 'node:path';
import type {SessionOptions} from '../compose/options.ts';
import {isModelConfigured} from '../config/environment.ts';
import {type FirstPaint, startFirstPaint} from '../ui/first-paint/first-paint.ts';
import {PromptHistory} from '../ui/input/prompt-history.ts';
import {EXIT_CODES, type Start} from './start.ts';

type Shown = Pick<SessionOptions, 'cwd' | 'model' | 'offline'>;

/** The terminal is in raw mode. */
export function paintFirst({home, version}: Start, {cwd, model = '', offline}: Shown): FirstPaint {
  const signals = Object.entries(EXIT_CODES).map(([signal, code]) => ({signal, leave: () => process.exit(code)}));
  const paint = startFirstPaint(process, {
    version,
    cwd,
    env: process.env,
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

/** The settings are not read yet: one of the files seems to name a provider, or the model names one. */
function mayHaveModel(home: string, cwd: string, model: string): boolean {
  if (isModelConfigured(process.env) || model.includes('/')) return true;
  const project = path.join(cwd, '.mini-cc');
  const files = [path.join(home, 'settings.json'), path.join(project, 'settings.json')];
  return [...files, path.join(project, 'settings.local.json')].some((file) => {
    try {
      return readFileSync(file, 'utf8').includes('"providers"');
    } catch {
      // Most often there is none. What else is wrong with it is reported when it is read.
      return false;
    }
  });
}
