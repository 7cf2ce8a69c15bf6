import module from 'node:module';
import type {SessionOptions} from '../compose/options.ts';
import type {Session} from '../core/contract/session-requests.ts';
import {withPrivateUmask} from '../core/util/files/private-file.ts';
import {showControls} from '../core/util/text.ts';
import {PromptHistory} from '../ui/input/prompt-history.ts';
import {startRepl} from '../ui/repl.tsx';
import type {Arguments} from './arguments.ts';
import {paintFirst} from './first-paint.ts';
import {createEnvironmentRedactor, onSignals} from './process.ts';
import {getCurrentFolder, isDebugSet, type Start} from './start.ts';

/** @returns the exit code. The session is composed after the first frame is on the screen. */
export async function runRepl(start: Start, parsed: Arguments | undefined): Promise<number> {
  const options = parsed?.session ?? {
    cwd: getCurrentFolder(),
    which: {type: 'new' as const},
    debug: isDebugSet(process.env),
  };
  const firstPaint = start.firstPaint ?? paintFirst(start, options);
  // Tools get the environment as the user set it, without what the screen adds.
  const env = {...process.env};
  const history = new PromptHistory(start.home, options.cwd);
  // Until the session exists: it also knows the keys that settings name.
  let redact = (text: string) => createEnvironmentRedactor(env).text(text);
  let ask: SessionOptions['ask'];
  let firstFrameShown: () => void = () => undefined;
  const firstFrame = new Promise<void>((resolve) => {
    firstFrameShown = resolve;
  });
  const session = (async () => {
    await firstFrame;
    const {compose} = await import('../compose/session.ts');
    const composed = await compose({...options, env, home: start.home, interactive: true, ...(ask ? {ask} : {})});
    // Node writes its compile cache only at exit, unless asked: a session that is killed must not slow the next start.
    withPrivateUmask(() => module.flushCompileCache?.());
    redact = (text) => composed.request({type: 'redact', text});
    return composed;
  })();
  let leave: ((code: number) => void) | undefined;
  const left = startRepl({
    session,
    firstPaint,
    history: history.read(),
    redact: (text) => redact(text),
    onSubmit: (sent) => {
      const text = redact(sent.text);
      // Where a key was redacted, the places of pastes are not known any more.
      history.add(text === sent.text ? sent : {text});
    },
    onFirstFrame: firstFrameShown,
    onAsk: (askOnScreen) => {
      ask = (question) => askOnScreen({...question, detail: redact(question.detail)});
    },
    onLeave: (leaveScreen) => {
      leave = leaveScreen;
    },
    ...(parsed?.prompt ? {initialPrompt: parsed.prompt} : {}),
  });
  // The screen itself leaves: it gives the terminal back as it was.
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

/** What could not be written is said on standard error: there is no screen any more. */
function closeAfterScreen(session: Session): Promise<void> {
  session.subscribe((event) => {
    if (event.type !== 'notice' || event.level !== 'error') return;
    process.stderr.write(`mini-cc: ${showControls(event.text)}\n`);
  });
  return session.close();
}
