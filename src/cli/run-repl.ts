import type {Composed} from '../compose.ts';
import {startRepl} from '../ui/repl.tsx';
import type {Arguments} from './arguments.ts';
import type {Start} from './main.ts';
import {onSignals} from './signals.ts';

/** @returns the exit code. The session is put together behind the first frame. */
export async function runRepl(start: Start, parsed: Arguments | undefined): Promise<number> {
  const options = parsed?.session ?? {cwd: process.cwd(), which: {type: 'new' as const}};
  let composed: Promise<Composed> | undefined;
  const session = (async () => {
    // The first frame is drawn before anything that it does not need is loaded.
    await new Promise(resolve => setImmediate(resolve));
    const {compose} = await import('../compose.ts');
    composed = compose({...options, env: process.env, home: start.home, interactive: true});
    return (await composed).session;
  })();
  onSignals(async () => (await session).close());
  return startRepl({session, version: start.version, cwd: options.cwd, ...(parsed?.prompt ? {initialPrompt: parsed.prompt} : {})});
}
