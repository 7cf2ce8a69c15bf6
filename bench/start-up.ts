/** How long a person waits until the prompt is shown, and until the first typed key is shown. */
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
  const startedAt = performance.now();
  const child = spawn(process.execPath, args, {env: cliEnvironment(home, {server}), stdio: 'ignore'});
  await once(child, 'exit');
  return performance.now() - startedAt;
}

export function measureVersion(bench: Bench): Promise<number> {
  return measureNode([cliPath, '--version'], bench);
}

/** Milliseconds from spawn until the prompt is on the screen. */
export async function measureTimeToPrompt(bench: Bench): Promise<number> {
  const startedAt = performance.now();
  const terminal = await startCli([], {...bench});
  await terminal.waitFor(PROMPT);
  const ms = performance.now() - startedAt;
  await quit(terminal);
  return ms;
}

/** Milliseconds from spawn until a key is on the screen that is typed as soon as the prompt is there. */
export async function measureTimeToTypedKey(bench: Bench): Promise<number> {
  const startedAt = performance.now();
  const terminal = await startCli([], {...bench});
  await terminal.waitFor(PROMPT);
  terminal.type('x');
  await terminal.waitFor(PROMPT_WITH_KEY);
  const ms = performance.now() - startedAt;
  await quit(terminal);
  return ms;
}

/** Quits as a person does, so that the compile cache is written for the next start. */
async function quit(terminal: Awaited<ReturnType<typeof startCli>>): Promise<void> {
  terminal.press('ctrl-c');
  await terminal.waitFor((it) => !it.screen().some((line) => PROMPT_WITH_KEY.test(line)));
  terminal.press('ctrl-d');
  await terminal.waitForExit().finally(terminal.close);
}
