import module from 'node:module';
import type {SessionOptions} from '../compose/options.ts';
import type {Session} from '../core/contract/session-requests.ts';
import {withPrivateUmask} from '../core/util/files/private-file.ts';
import {showControls} from '../core/util/text.ts';
import {PromptHistory} from '../ui/input/prompt-history.ts';
import {startRepl} from '../ui/repl.tsx';
import type {Arguments} from './arguments.ts';
import {isReadAloud, paintFirst} from './first-paint.ts';
import {createEnvironmentRedactor, onSignals} from './process.ts';
import {getCurrentFolder, isDebugSet, type Start} from './start.ts';

/** Runs the REPL. The session is composed after the first frame is on the screen. @returns the exit code */
export async function runRepl(start: Start, parsed: Arguments | undefined): Promise<number> {
  const options = parsed?.session ?? {
    cwd: getCurrentFolder(),
    which: {type: 'new' as const},
    debug: isDebugSet(process.env),
  };
  const firstPaint = start.firstPaint ?? paintFirst(start, options);
  // Tools get the user's environment, without the variables that the screen adds.
  const env = {...process.env};
  if (isReadAloud(start.home, start.args)) process.env.INK_SCREEN_READER = 'true';
  const history = new PromptHistory(start.home, options.cwd);
  // This redactor is used until the session exists, which also knows the keys that settings name.
  let redact = (text: string) => createEnvironmentRedactor(env).text(text);
  let ask: SessionOptions['ask'];
  const firstFrame = Promise.withResolvers<void>();
  const session = (async () => {
    await firstFrame.promise;
    const {compose} = await import('../compose/session.ts');
    const composed = await compose({...options, env, home: start.home, interactive: true, ...(ask ? {ask} : {})});
    // By default, Node writes its compile cache only at exit, which a killed session does not reach.
    withPrivateUmask(() => module.flushCompileCache?.());
    redact = (text) => composed.request({type: 'redact', text});
    return composed;
  })();
  let leave: ((code: number) => void) | undefined;
  const left = startRepl({
    session,
    firstPaint,
    history: history.read(),
    allPrompts: () => history.read('all folders'),
    redact: (text) => redact(text),
    onSubmit: (sent) => {
      const text = redact(sent.text);
      // Redacting moves the text, so the places of the pastes are unknown.
      history.add(text === sent.text ? sent : {text});
    },
    onFirstFrame: firstFrame.resolve,
    onAsk: (askOnScreen) => {
      ask = (question) => askOnScreen({...question, detail: redact(question.detail)});
    },
    onLeave: (leaveScreen) => {
      leave = leaveScreen;
    },
    ...(parsed?.prompt ? {initialPrompt: parsed.prompt} : {}),
  });
  // The screen must leave by itself, because it restores the terminal.
  onSignals(async (code) => {
    if (!leave) return (await session).close();
    leave(code);
    await left;
  });
  const code = await left;
  await session.then(closeAfterScreen, () => {
    // The screen has shown why the session could not be composed.
  });
  return code;
}

/** Closes the session. Its errors are printed on standard error, because there is no screen. */
function closeAfterScreen(session: Session): Promise<void> {
  session.subscribe((event) => {
    if (event.type !== 'notice' || event.level !== 'error') return;
    process.stderr.write(`mini-cc: ${showControls(event.text)}\n`);
  });
  return session.close();
}
