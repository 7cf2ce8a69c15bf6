import module from 'node:module';
import type {SessionOptions} from '../compose/options.ts';
import {isModelConfigured} from '../config/environment.ts';
import {PromptHistory} from '../ui/input/prompt-history.ts';
import {startRepl} from '../ui/repl.tsx';
import type {Arguments} from './arguments.ts';
import {currentFolder} from './current-folder.ts';
import {debugVariable} from './debug-variable.ts';
import {environmentRedactor} from './environment-redactor.ts';
import {onSignals} from './signals.ts';
import type {Start} from './start.ts';

/** @returns the exit code. The session is put together behind the first frame. */
export async function runRepl(start: Start, parsed: Arguments | undefined): Promise<number> {
  const options = parsed?.session ?? {
    cwd: currentFolder(),
    which: {type: 'new' as const},
    debug: debugVariable(process.env),
  };
  // What tools see is what the user set, not what the screen adds.
  const env = {...process.env};
  const history = new PromptHistory(start.home, options.cwd);
  // Until the session is there, which knows the settings too.
  let redactor = environmentRedactor(env);
  let ask: SessionOptions['ask'];
  let firstFrameShown: () => void = () => undefined;
  const firstFrame = new Promise<void>((resolve) => {
    firstFrameShown = resolve;
  });
  const session = (async () => {
    await firstFrame;
    const {compose} = await import('../compose.ts');
    const composed = await compose({...options, env, home: start.home, interactive: true, ...(ask ? {ask} : {})});
    // Compiled code is written at exit only, unless asked: a session that is killed should not slow the next start.
    module.flushCompileCache?.();
    redactor = composed.redactor;
    return composed;
  })();
  let leave: ((code: number) => void) | undefined;
  const left = startRepl({
    session,
    version: start.version,
    cwd: options.cwd,
    offline: parsed?.session.offline || !isModelConfigured(process.env),
    history: history.read(),
    redact: (text) => redactor.text(text),
    onSubmit: (text) => history.add(redactor.text(text)),
    onFirstFrame: firstFrameShown,
    onAsk: (way) => {
      ask = (question) => way({...question, detail: redactor.text(question.detail)});
    },
    onLeave: (way) => {
      leave = way;
    },
    ...(parsed?.prompt ? {initialPrompt: parsed.prompt} : {}),
  });
  // By the screen's own way out, which gives the terminal back as it was.
  onSignals(async (code) => {
    if (!leave) return (await session).close();
    leave(code);
    await left;
  });
  const code = await left;
  await session.then(
    (opened) => opened.close(),
    // The screen has said why there was none.
    () => undefined,
  );
  return code;
}
