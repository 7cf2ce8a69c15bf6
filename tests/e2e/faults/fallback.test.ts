/** Each fault of a model server once more, with another model to fall back on: in a turn, and in a subagent. */
import {describe, expect, it, onTestFinished} from 'vitest';
import {compose} from '../../../src/compose/session.ts';
import {formatRetry} from '../../../src/core/util/text.ts';
import {createHome} from '../../support/environment.ts';
import {fastClock} from '../../support/fast-clock.ts';
import {callTools, type MessagesServer, say, startMessagesServer} from '../../support/messages-server.ts';
import {getKey, getToolResults} from '../../support/request-facts.ts';
import {cliEnvironment} from '../../support/run-cli.ts';
import {emptyFolder} from '../../support/workspace.ts';
import {explore, isSubagent} from '../fixture.ts';
import {ANSWER, FALLS_BACK, FAULTS, type Fault} from './table.ts';

const INSTEAD = 'The next model answers.';
const SPEED = 20;
const KEYS = {FIRST_KEY: 'first-key-12345678', SECOND_KEY: 'second-key-1234567'};

/** The main agent's server dispatches; the faulty one is asked by the subagent, or by the main agent itself. */
async function meet(fault: Fault, inSubagent: boolean) {
  const {replies} = fault;
  const faulty = await startMessagesServer((_, index) =>
    replies === 'refused' ? say('a request came where nothing listens') : replies[Math.min(index, replies.length - 1)]!,
  );
  const [second, main] = [
    await startMessagesServer(() => say(INSTEAD)),
    await startMessagesServer((body) =>
      isSubagent(body) || body.messages.length > 1 ? say('Noted.') : callTools([explore()]),
    ),
  ];
  const [folder, home] = [await emptyFolder(), await createHome()];
  const settings = {
    ...{retry: {maxWaitSeconds: 20}, limits: {idleSeconds: 40}, fallback: ['second/m']},
    ...(inSubagent ? {roles: {explore: {model: 'first/m'}}} : {model: 'first/m'}),
    providers: {
      first: {baseURL: faulty.url, apiKeyEnv: 'FIRST_KEY'},
      second: {baseURL: second.url, apiKeyEnv: 'SECOND_KEY'},
    },
  };
  const settingsFile = await folder.write('settings.json', JSON.stringify(settings));
  const session = await compose({
    ...{cwd: folder.path, env: {...cliEnvironment(home, {server: main}), ...KEYS}, home: home.env.MINI_CC_HOME!},
    ...{settingsFile, interactive: false, which: {type: 'new'}, clock: fastClock(SPEED)},
  });
  onTestFinished(async () => {
    await session.close();
    await Promise.all([second.close(), main.close()]);
    if (replies !== 'refused') await faulty.close();
    await Promise.all([folder.remove(), home.remove()]);
  });
  if (replies === 'refused') await faulty.close();
  const notes: string[] = [];
  session.subscribe((event) => {
    if (event.type === 'retry' && event.fallback) notes.push(formatRetry(event));
  });
  const submitted = await session.submit('go');
  const text = inSubagent
    ? getToolResults(main.requests.at(-1)!.body)[0]!.text
    : submitted.type === 'turn'
      ? submitted.result.text
      : '';
  return {faulty, second, text, notes};
}

const keysAt = ({requests}: MessagesServer) => [...new Set(requests.map((request) => getKey(request)))];
const CELLS = FAULTS.flatMap((fault) =>
  // A subagent whose model goes on falls back as the main agent does.
  (FALLS_BACK.has(fault.name) ? [false, true] : [false]).map((inSubagent) => ({name: fault.name, fault, inSubagent})),
);

describe('with a fallback', () => {
  it.each(CELLS)('$name, in a subagent: $inSubagent', async ({fault, inSubagent}) => {
    const {faulty, second, text, notes} = await meet(fault, inSubagent);
    if (fault.name === '404' && inSubagent) {
      // The name of an agent's model is wrong: the model of the session runs.
      expect(text).toContain('WARNING: first/m cannot answer (404): claude-sonnet-5-5 answers instead');
    } else if (FALLS_BACK.has(fault.name)) {
      expect(text).toContain(INSTEAD);
      expect(notes).toEqual([expect.stringMatching(/^first\/m cannot answer \(.+\): second\/m answers instead/)]);
      expect(keysAt(second)).toEqual([KEYS.SECOND_KEY]);
      if (inSubagent) expect(text).toContain('WARNING: first/m cannot answer');
    } else {
      if (fault.ends === 'answered') expect(text).toContain(ANSWER);
      else expect(text).not.toContain(ANSWER);
      expect({notes, second: second.requests.length}).toEqual({notes: [], second: 0});
    }
    if (fault.replies !== 'refused') expect(keysAt(faulty)).toEqual([KEYS.FIRST_KEY]);
  });
});
