/** The life of the screen: from the first frame to the terminal as it was before. */
import {type Instance, render} from 'ink';
import type {Answer, Question} from '../core/contract/events.ts';
import type {FrontEndSession} from '../core/contract/session.ts';
import {messageOf} from '../core/util/errors.ts';
import {App} from './app.tsx';
import {createController} from './controller.ts';
import {terminalInput} from './input/terminal-input.ts';
import {screenLine} from './text/screen-text.ts';

export interface ReplOptions {
  /** The first frame does not wait for it; what is sent before waits in the queue. */
  readonly session: Promise<FrontEndSession>;
  readonly version: string;
  readonly cwd: string;
  /** The built-in model will answer. */
  readonly offline: boolean;
  /** Sent as if typed, as soon as there is a session. */
  readonly initialPrompt?: string;
  /** Earlier prompts, oldest first. */
  readonly history?: readonly string[];
  /** Takes keys out of why there is no session. */
  readonly redact?: (text: string) => string;
  /** Called for every prompt that is sent. */
  readonly onSubmit?: (text: string) => void;
  /** Called once with the way to ask the person before there is a session. */
  readonly onAsk?: (ask: (question: Question) => Promise<Answer | 'withdrawn'>) => void;
  /** Called once, when the first frame is on the screen. */
  readonly onFirstFrame?: () => void;
  /** Called once with the way out: what was said stays, the terminal is as it was before. */
  readonly onLeave?: (leave: (exitCode: number) => void) => void;
}

interface Failure {
  readonly exitCode: number;
  readonly line: string;
}

export interface Terminal {
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WritableStream;
  /** A monotonic clock in milliseconds, for a question's first moments. */
  readonly now?: () => number;
}

export async function runScreen(options: ReplOptions, terminal: Terminal = terminalOf(process)): Promise<number> {
  const left = Promise.withResolvers<number>();
  let instance: Instance | undefined;
  let failure: Failure | undefined;
  let session: FrontEndSession | undefined;

  const controller = createController({
    ...(options.history && {history: options.history}),
    ...(options.onSubmit && {onSubmit: options.onSubmit}),
    ...(terminal.now && {now: terminal.now}),
    onLeave: left.resolve,
    onRepaint: () => instance?.clear(),
  });
  options.onLeave?.(controller.leave);
  options.onAsk?.(controller.ask);
  if (options.initialPrompt) controller.submit(options.initialPrompt);

  instance = render(<App controller={controller} />, {
    stdin: terminalInput(terminal.stdin),
    stdout: terminal.stdout,
    // Whoever starts the REPL has a terminal, also where a variable called CI is set.
    interactive: true,
    exitOnCtrlC: false,
    patchConsole: false,
    incrementalRendering: true,
    kittyKeyboard: {mode: 'auto'},
  });
  const fail = (exitCode: number) => (error: unknown) => {
    const words = options.redact?.(messageOf(error)) ?? messageOf(error);
    failure ??= {exitCode, line: `mini-cc: ${screenLine(words)}`};
    controller.leave(exitCode);
  };
  // A component that throws ends Ink's instance.
  instance.waitUntilExit().then(() => controller.leave(0), fail(1));
  await instance.waitUntilRenderFlush();
  options.onFirstFrame?.();

  options.session.then(
    (opened) => {
      session = opened;
      controller.open(opened);
    },
    (error: unknown) => {
      // Whoever has left wants no session any more, and needs no word on why there is none.
      if (!controller.local.get().isLeaving) fail(isUsageError(error) ? 2 : 1)(error);
    },
  );

  const exitCode = await left.promise;
  await restore(instance);
  // One that is still on its way is closed when it comes; nobody who has left waits for it.
  if (session) await session.close();
  else options.session.then((late) => late.close()).catch(() => undefined);
  const stopped = controller.stoppedRuns();
  if (stopped !== '') terminal.stdout.write(`${stopped}\n`);
  if (failure) terminal.stderr.write(`${failure.line}\n`);
  const {hasRun, session: info} = controller.ui.get();
  if (hasRun && info) terminal.stdout.write(`Resume this session: mini-cc --resume ${info.sessionId}\n`);
  return exitCode;
}

function terminalOf({stdin, stdout, stderr}: NodeJS.Process): Terminal {
  return {stdin, stdout, stderr};
}

/** Prints what is finished, takes the live part away, and gives the terminal back. */
async function restore(instance: Instance): Promise<void> {
  await instance.waitUntilRenderFlush();
  instance.clear();
  instance.unmount();
}

function isUsageError(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'USAGE';
}
