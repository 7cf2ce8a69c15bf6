/** A whole session in this process, with a scripted server, real files, git and journals. */
import {writeFileSync} from 'node:fs';
import path from 'node:path';
import {onTestFinished} from 'vitest';
import type {SessionOptions} from '../../../src/compose/options.ts';
import {compose} from '../../../src/compose/session.ts';
import type {AgentEvent, Answer, Question} from '../../../src/core/contract/events.ts';
import type {Session, SubmitResult} from '../../../src/core/contract/session-requests.ts';
import {home, serve} from '../../e2e/fixture.ts';
import {createUserEnvironment} from '../../support/environment.ts';
import {callTools, type MessagesBody, type Reply, type Script, say} from '../../support/messages-server.ts';
import {countReplies, getFirstPrompt} from '../../support/request-facts.ts';
import {emptyFolder} from '../../support/workspace.ts';

export const DEFAULTS = {permissionMode: 'acceptEdits', fanOut: 'auto'} as const;

interface Given {
  readonly files: Readonly<Record<string, string>>;
  readonly script: Script;
  readonly settings?: Record<string, unknown>;
  readonly options?: Partial<SessionOptions>;
  /** Default: git tracks the files. */
  readonly git?: boolean;
}

export async function openProject({files, script, settings = {}, options = {}, git = true}: Given) {
  const [folder, own] = [await emptyFolder(), await home()];
  onTestFinished(folder.remove);
  for (const [name, text] of Object.entries(files)) await folder.write(name, text);
  if (git) {
    await folder.git('init', '-q');
    await folder.git('add', '-A');
    await folder.git('commit', '-qm', 'first');
  }
  const server = await serve(script);
  const settingsFile = path.join(own.path, 'settings.json');
  writeFileSync(settingsFile, JSON.stringify(settings));
  const open = async (more: Partial<SessionOptions> = {}) => {
    const {MINI_CC_HOME = ''} = own.env;
    const session = await compose({
      ...{cwd: folder.path, home: MINI_CC_HOME, interactive: false, which: {type: 'new'}},
      env: {...createUserEnvironment(), ANTHROPIC_BASE_URL: server.url, ANTHROPIC_API_KEY: 'sk-test'},
      ...{settingsFile, archiveAfterMinutes: 0},
      ...DEFAULTS,
      ...options,
      ...more,
    });
    const events: AgentEvent[] = [];
    session.subscribe((event) => void events.push(event));
    onTestFinished(() => session.close());
    return {session, events};
  };
  return {folder, server, open, ...(await open())};
}

export const numbered = (count: number, text = (index: number) => `export const f${index} = 1;\n`) =>
  Object.fromEntries(
    Array.from({length: count}, (_, index) => [`src/f${String(index).padStart(3, '0')}.ts`, text(index)]),
  );

/** The files in the prompt of a part; undefined for another request. */
export function getPartFiles(body: MessagesBody): string[] | undefined {
  const [, list] = getFirstPrompt(body).split('\n\nFiles:\n');
  return list?.split('\n').map((line) => line.replace(/^- /, ''));
}

export const read = (file: string) => ({name: 'read_file', input: {path: file}});
export const edit = (file: string, from: string, to: string) => ({
  name: 'edit_file',
  input: {path: file, old_string: from, new_string: to},
});

/** Each part reads its files, changes `1` to `2` in each, and says so. */
export function changeAll(body: MessagesBody): Reply {
  const files = getPartFiles(body);
  if (!files) return say('main');
  const turn = countReplies(body);
  if (turn === 0) return callTools(files.map(read));
  return turn === 1 ? callTools(files.map((file) => edit(file, '= 1', '= 2'))) : say(`Changed ${files.join(', ')}.`);
}

export const countSuccessful = (session: Session) =>
  session.request({type: 'runs'}).filter(({outcome}) => outcome === 'success').length;

export function getText(result: SubmitResult): string {
  return result.type === 'turn' ? result.result.text : 'text' in result ? result.text : '';
}

/** Answers the questions of a session in their order. @returns those that were asked */
export function answerWith(
  session: Awaited<ReturnType<typeof compose>>,
  answers: readonly Answer[],
): readonly Question[] {
  const asked: Question[] = [];
  session.subscribe((event) => {
    if (event.type !== 'ask') return;
    asked.push(event.question);
    const answer = answers[asked.length - 1] ?? {choice: 'no'};
    queueMicrotask(() => session.answer(event.question.id, answer));
  });
  return asked;
}
