/** Runs the screen: draws the first frame, opens the session, and gives the terminal back at the end. */
import {type Instance, render} from 'ink';
import type {Answer, Question} from '../core/contract/events.ts';
import type {Session} from '../core/contract/session-requests.ts';
import {formatRunTitle} from '../core/runs/progress-line.ts';
import {getErrorCode, getErrorMessage} from '../core/util/errors.ts';
import {App} from './app.tsx';
import {Controller, type ControllerOptions} from './controller.ts';
import type {FirstPaint} from './first-paint/first-paint.ts';
import {wrapsAgain} from './first-paint/prompt-frame.ts';
import {ASK_TERMINAL, canAsk, canLink} from './first-paint/terminal-replies.ts';
import {edit} from './input/editor.ts';
import {type InputOptions, terminalInput} from './input/terminal-input.ts';
import {LiveScreen} from './live-screen.ts';
import {Notifier} from './notifier.ts';
import {ReaderScreen} from './reader-screen.ts';
import {StatusCommand} from './status-command.ts';
import {TerminalTitle} from './terminal-title.ts';
import {answerRoom} from './text/live-rows.ts';
import {screenLine} from './text/screen-text.ts';
import {parseBackground} from './theme.ts';

export interface ReplOptions extends Pick<ControllerOptions, 'history' | 'allPrompts' | 'onSubmit'> {
  /** The session. The first frame does not wait for it, and prompts that are sent earlier wait. */
  readonly session: Promise<Session>;
  /** The first paint, which is on the screen already and has the keys that were typed meanwhile. */
  readonly firstPaint?: FirstPaint;
  /** A prompt that is sent as if it was typed, when the session is open. */
  readonly initialPrompt?: string;
  /** Redacts secrets in the error of a session that did not open. */
  readonly redact?: (text: string) => string;
  /** Called once with a function that asks the person before the session is open. */
  readonly onAsk?: (ask: (question: Question) => Promise<Answer | 'withdrawn'>) => void;
  /** Called once when the first frame is on the screen. */
  readonly onFirstFrame?: () => void;
  /** Called once with a function that leaves. The conversation stays on the screen, and the terminal is restored. */
  readonly onLeave?: (leave: (exitCode: number) => void) => void;
}

interface Terminal {
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WritableStream;
  /** A monotonic clock in milliseconds. A new question ignores keys for a moment. */
  readonly now?: () => number;
}

/** @returns the exit code, after the person has left */
export async function runScreen(options: ReplOptions, terminal: Terminal = process): Promise<number> {
  // The session may fail before the code below handles it; Node must not report this as an unhandled rejection.
  options.session.catch(() => undefined);
  const left = Promise.withResolvers<number>();
  let [instance, failure]: [Instance?, string?] = [];
  const controller = new Controller({
    ...options,
    ...(terminal.now && {now: terminal.now}),
    onLeave: left.resolve,
    onRepaint: () => instance?.clear(),
    room: () => getRoom(terminal.stdout),
  });
  const fail = (exitCode: number, error: unknown) => {
    const message = options.redact?.(getErrorMessage(error)) ?? getErrorMessage(error);
    failure ??= `mini-cc: ${screenLine(message)}`;
    controller.leave(exitCode);
  };
  options.onLeave?.((exitCode) => controller.leave(exitCode));
  options.onAsk?.((question) => controller.ask(question));
  if (options.initialPrompt) controller.submit(options.initialPrompt);

  const write = (text: string) => terminal.stdout.write(text);
  const notifier = new Notifier(controller, write);
  const followers = [notifier, new TerminalTitle(controller, write), new StatusCommand(controller)];
  instance = drawOver(options.firstPaint, controller, terminal, notifier.setFocus);
  for (const follower of followers) follower.start();
  const stopWatching = giveBackAtExit(instance);
  // When a component throws, Ink's instance ends.
  const ended = instance.waitUntilExit();
  ended.then(() => controller.leave(0)).catch((error: unknown) => fail(1, error));
  await instance.waitUntilRenderFlush();
  options.onFirstFrame?.();

  let session: Session | undefined;
  options.session.then(
    (opened) => {
      session = opened;
      controller.open(opened);
    },
    (error: unknown) => {
      // After leaving, an error of the session is not shown.
      if (controller.local.get().isLeaving) return;
      if (getErrorCode(error) === 'WITHDRAWN') controller.leave(0);
      else fail(getErrorCode(error) === 'USAGE' ? 2 : 1, error);
    },
  );

  const exitCode = await left.promise;
  for (const {stop} of followers) stop();
  stopWatching();
  await restore(instance);
  // A session that is still opening is closed when it is open, without waiting for it.
  if (session) await session.close();
  else options.session.then((late) => late.close()).catch(() => undefined);
  printEnd(controller, terminal, failure);
  return exitCode;
}

const isRead = () => process.env.INK_SCREEN_READER === 'true';

function getRoom({columns, rows}: NodeJS.WriteStream) {
  return answerRoom(isRead() ? Number.POSITIVE_INFINITY : columns || 80, rows || 24);
}

/**
 * Restores the terminal before a crash is reported. @returns a function that ends this when the terminal is restored
 * otherwise
 */
function giveBackAtExit(instance: Instance): () => void {
  const giveBack = () => {
    instance.clear();
    instance.unmount();
  };
  process.on('exit', giveBack);
  return () => process.removeListener('exit', giveBack);
}

/** Draws the first frame in place of the first paint, and types the keys that were typed there. */
function drawOver(
  firstPaint: FirstPaint | undefined,
  controller: Controller,
  terminal: Terminal,
  onFocus: (hasFocus: boolean) => void,
): Instance {
  const ask = canAsk(process.env) ? ASK_TERMINAL : '';
  const {typed = '', erase = ask, giveKeys, replies = []} = firstPaint?.handOver() ?? {};
  if (typed !== '') {
    controller.change({editor: edit(controller.local.get().editor, {type: 'insert', text: typed})});
    controller.completer.search();
  }
  const screen = isRead()
    ? new ReaderScreen(terminal.stdout)
    : new LiveScreen(terminal.stdout, wrapsAgain(process.env) ? 'follow' : 'cut');
  const input: InputOptions = {
    isFirst: firstPaint === undefined,
    onFocus,
    onReply: (reply) => {
      if (screen instanceof LiveScreen) screen.receive(reply);
      const background = parseBackground(reply);
      if (background) controller.change({background});
    },
  };
  for (const reply of replies) input.onReply?.(reply);
  const instance = screen.atOnce(erase, () => draw(controller, terminal.stdin, screen, input));
  giveKeys?.();
  return instance;
}

function draw(
  controller: Controller,
  stdin: NodeJS.ReadStream,
  screen: LiveScreen | ReaderScreen,
  input: InputOptions,
): Instance {
  const {stdout} = screen;
  const live = screen instanceof LiveScreen ? screen : undefined;
  // This listener must run before Ink's own one.
  if (live) stdout.prependListener('resize', () => live.hold(() => instance.clear()));
  const hasLinks = stdout.isTTY && canLink(process.env);
  const app = (
    <App controller={controller} screen={screen} colorBits={stdout.getColorDepth?.() ?? 4} hasLinks={hasLinks} />
  );
  const instance = render(app, {
    stdin: terminalInput(stdin, input),
    stdout: screen.stream,
    onRender: () => live?.rendered(),
    // The REPL always has a terminal; Ink would assume none when the variable CI is set.
    interactive: true,
    exitOnCtrlC: false,
    patchConsole: false,
    // `event-pump.ts` limits how often events are drawn. A typed key must not wait for Ink's own limit.
    maxFps: 1000,
    kittyKeyboard: {mode: 'auto'},
  });
  return instance;
}

/** Prints the runs that leaving stopped, why the screen failed, and how to resume the session. */
function printEnd(controller: Controller, {stdout, stderr}: Terminal, failure: string | undefined): void {
  for (const run of controller.stoppedRuns) stdout.write(`  ${formatRunTitle(run)} - stopped\n`);
  if (failure !== undefined) stderr.write(`${failure}\n`);
  const {hasRun, session} = controller.ui.get();
  if (hasRun && session) stdout.write(`Resume this session: mini-cc --resume ${session.sessionId}\n`);
}

/** Prints the last finished items, removes the live part, and gives the terminal back. */
async function restore(instance: Instance): Promise<void> {
  await instance.waitUntilRenderFlush();
  instance.clear();
  instance.unmount();
}
