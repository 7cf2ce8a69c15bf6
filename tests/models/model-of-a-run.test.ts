/** Which model, key and thinking a run really gets: a whole session in this process, with servers on loopback. */
import {describe, expect, it} from 'vitest';
import {openProject} from '../core/fan-out/session-fixture.ts';
import {explore, isSubagent, serve} from '../e2e/fixture.ts';
import {createUserEnvironment} from '../support/environment.ts';
import {
  callTools,
  type MessagesBody,
  type MessagesServer,
  type Reply,
  say,
  status,
  thinkingThen,
} from '../support/messages-server.ts';
import {countReplies, getFirstPrompt, getKey} from '../support/request-facts.ts';
import {readLines} from '../support/session-files.ts';

const KEYS = {FIRST_KEY: 'first-key-12345678', SECOND_KEY: 'second-key-1234567', OWN_KEY: 'own-key-123456789'};
const MAIN_KEY = 'main-key-12345678';

const provider = ({url}: MessagesServer, apiKeyEnv: string) => ({baseURL: url, apiKeyEnv});
const thoughtsIn = ({messages}: MessagesBody) =>
  messages.flatMap(({content}) => (typeof content === 'string' ? [] : content)).flatMap(({thinking}) => thinking ?? []);
const keysAt = ({requests}: MessagesServer) => requests.map((request) => getKey(request));
const glob = () => callTools([{name: 'glob', input: {pattern: '*'}}]);

/** By the effort or the budget, as servers of newer and of other models are told. */
function levelOf(body: MessagesBody): string | undefined {
  const {thinking, output_config} = body as {thinking?: {type: string}; output_config?: {effort?: string}};
  return thinking?.type === 'disabled' ? 'off' : output_config?.effort;
}

/** A session whose main server is `main`. */
async function open(main: (body: MessagesBody) => Reply, settings: Record<string, unknown>, more = {}) {
  const server = await serve(main);
  const env = {...createUserEnvironment(), ANTHROPIC_BASE_URL: server.url, ANTHROPIC_API_KEY: MAIN_KEY, ...KEYS};
  const options = {...more, env, fanOut: 'off'} as const;
  return {...(await openProject({files: {'a.ts': 'a'}, script: [], settings, options})), server};
}

describe('thinking', () => {
  it('of one model is not sent to another, and is sent again to the one that it is of', async () => {
    let isDown = false;
    const first = await serve((body) => {
      if (isDown) return status(401);
      return thinkingThen(`first thinks ${countReplies(body)}`, countReplies(body) === 0 ? glob() : say('by first'));
    });
    const second = await serve((body) =>
      thinkingThen(`second thinks ${countReplies(body)}`, countReplies(body) === 2 ? glob() : say('by second')),
    );
    const providers = {first: provider(first, 'FIRST_KEY'), second: provider(second, 'SECOND_KEY')};
    const made = await open(() => say('never'), {
      ...{model: 'first/a', fallback: ['second/b'], providers, thinking: 'low'},
    });
    await made.session.submit('one');
    isDown = true;
    await made.session.submit('two');
    expect(second.requests.map(({body}) => thoughtsIn(body))).toEqual([[], ['second thinks 2']]);
    const {sessionId: id} = made.session.info;
    await made.session.close();

    isDown = false;
    const again = await made.open({which: {type: 'resume', id}});
    await again.session.submit('three');
    expect(thoughtsIn(first.requests.at(-1)!.body)).toEqual(['first thinks 0', 'first thinks 1']);
    const usage = again.session.request({type: 'usage'});
    expect(usage.entries.map(({model}) => model).toSorted()).toEqual(['first/a', 'second/b']);
  });

  it.each([
    [{}, {thinking: 'high'}, {}, 'high'],
    [{explore: {thinking: 'low'}}, {}, {}, 'low'],
    [{explore: {thinking: 'low'}}, {}, {thinking: 'medium'}, 'medium'],
    [{explore: {thinking: 'high'}}, {thinking: 'high'}, {thinking: 'off'}, 'off'],
  ] as const)('by roles %j, session %j and call %j is %s', async (roles, options, call, expected) => {
    const main = (body: MessagesBody) =>
      isSubagent(body) || countReplies(body) > 0
        ? say('done')
        : callTools([{...explore(), input: {...explore().input, ...call}}]);
    const {server, session} = await open(main, {roles}, options);
    await session.submit('go');
    const {body} = server.requests.find((request) => isSubagent(request.body))!;
    expect(levelOf(body)).toBe(expected);
  });

  it('that the call asked for holds when the run goes on; what the role asks for is read again', async () => {
    const asked = {...explore('asked'), input: {...explore('asked').input, thinking: 'high'}};
    const main = (body: MessagesBody) =>
      isSubagent(body) || countReplies(body) > 0 ? say('done') : callTools([asked, explore('not asked')]);
    const made = await open(main, {roles: {explore: {thinking: 'low'}}});
    await made.session.submit('go');
    const {sessionId: id} = made.session.info;
    await made.session.close();
    const resumed = await made.open({which: {type: 'resume', id}, thinking: 'medium'});
    const before = made.server.requests.length;
    for (const {runId} of resumed.session.request({type: 'runs'})) {
      resumed.session.request({type: 'send_to_run', run: runId, message: 'go on'});
    }
    await made.server.waitForRequests(before + 2);
    const levels = made.server.requests
      .slice(before)
      .map(({body}) => `${/not asked/.test(getFirstPrompt(body)) ? 'not asked' : 'asked'}: ${levelOf(body)}`);
    expect(levels.toSorted()).toEqual(['asked: high', 'not asked: low']);
  });
});

describe('an agent’s own key', () => {
  it('is asked first, then its provider’s key, then the next model with its own key', async () => {
    const second = await serve(() => say('by second'));
    const first = await serve(() => status(401));
    const made = await open((body) => (countReplies(body) > 0 ? say('done') : callTools([explore()])), {
      agents: {explore: {model: 'first/a', apiKeyEnv: 'OWN_KEY'}},
      fallback: ['second/b'],
      providers: {first: provider(first, 'FIRST_KEY'), second: provider(second, 'SECOND_KEY')},
    });
    await made.session.submit('go');
    expect([keysAt(first), keysAt(second)]).toEqual([[KEYS.OWN_KEY, KEYS.FIRST_KEY], [KEYS.SECOND_KEY]]);
    expect([...new Set(keysAt(made.server))]).toEqual([MAIN_KEY]);
    const [record] = made.session.request({type: 'runs'});
    const models = readLines(record!.transcript).flatMap(({model, stopReason}) => (stopReason ? [model] : []));
    expect(models).toEqual(['second/b']);
  });
});
