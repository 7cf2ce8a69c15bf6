/** Starts the REPL in a terminal and types into it. */
import {onTestFinished} from 'vitest';
import type {Home} from '../support/environment.ts';
import type {MessagesServer} from '../support/messages-server.ts';
import {type StartOptions, startCli} from '../support/run-cli.ts';
import type {Terminal} from '../support/terminal.ts';
import {project} from './fixture.ts';

interface Options {
  readonly args?: readonly string[];
  readonly cols?: number;
  readonly rows?: number;
  readonly server?: MessagesServer;
  readonly home?: Home;
  readonly cwd?: string;
  readonly env?: Record<string, string>;
  readonly wrap?: NonNullable<StartOptions['wrap']>;
}

/** Starts the REPL in a terminal and waits until it takes input. */
export async function repl({args = [], ...options}: Options = {}): Promise<Terminal> {
  const terminal = await startCli(args, {cwd: (await project()).path, ...options});
  onTestFinished(terminal.close);
  await terminal.waitFor(/^> /m);
  await terminal.waitFor(/^(default|acceptEdits|plan|bypassPermissions) · /m);
  return terminal;
}

export async function send(terminal: Terminal, text: string): Promise<void> {
  terminal.type(text);
  await terminal.waitFor(`> ${text}`);
  terminal.press('enter');
}

/** Waits until no turn runs and the prompt is empty. */
export async function idle(terminal: Terminal): Promise<void> {
  await terminal.waitFor(
    (at) =>
      !/Esc interrupts|: retrying in|Press \d/.test(at.screen().join('\n')) && /^> Ask/m.test(at.screen().join('\n')),
  );
}
