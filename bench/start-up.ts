/** How long a person waits for the prompt, and for the first key. */
import {spawn} from 'node:child_process';
import {once} from 'node:events';
import type {Home} from '../tests/support/environment.ts';
import type {MessagesServer} from '../tests/support/messages-server.ts';
import {cliEnvironment, cliPath, startCli} from '../tests/support/run-cli.ts';

export interface Bench {
  readonly home: Home;
  readonly server: MessagesServer;
}

const PROMPT = /^\W*[>❯›]/m;
const PROMPT_WITH_KEY = /^\W*[>❯›] ?x/m;

/** Milliseconds of `node` with these arguments, from spawn to exit. */
export async function measureNode(args: readonly string[], {home, server}: Bench): Promise<number> {
  const began = performance.now();
  const child = spawn(process.execPath, args, {env: cliEnvironment(home, {server}), stdio: 'ignore'});
  await once(child, 'exit');
  return performance.now() - began;
}

export function measureVersion(bench: Bench): Promise<number> {
  return measureNode([cliPath, '--version'], bench);
}

/** Milliseconds from spawn until the prompt stands on the screen. */
export async function timeToPrompt(bench: Bench): Promise<number> {
  const began = performance.now();
  const terminal = await startCli([], {...bench});
  await terminal.waitFor(PROMPT);
  const took = performance.now() - began;
  await leave(terminal);
  return took;
}

/** Milliseconds from spawn until a key, typed as soon as the prompt stands there, shows behind it. */
export async function timeToTypedKey(bench: Bench): Promise<number> {
  const began = performance.now();
  const terminal = await startCli([], {...bench});
  await terminal.waitFor(PROMPT);
  terminal.type('x');
  await terminal.waitFor(PROMPT_WITH_KEY);
  const took = performance.now() - began;
  await leave(terminal);
  return took;
}

/** Leaves as a person does, so that what is written on leaving (the compile cache) is there for the next start. */
async function leave(terminal: Awaited<ReturnType<typeof startCli>>): Promise<void> {
  terminal.press('ctrl-c');
  await terminal.waitFor((it) => !it.screen().some((line) => PROMPT_WITH_KEY.test(line)));
  terminal.press('ctrl-d');
  await terminal.waitForExit().finally(terminal.close);
}
