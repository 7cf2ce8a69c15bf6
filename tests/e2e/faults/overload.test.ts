import {expect, it, onTestFinished} from 'vitest';
import {compose} from '../../../src/compose/session.ts';
import {createHome} from '../../support/environment.ts';
import {fastClock} from '../../support/fast-clock.ts';
import {callTools, type RecordedRequest, say, startMessagesServer, status} from '../../support/messages-server.ts';
import {getToolResults} from '../../support/request-facts.ts';
import {cliEnvironment} from '../../support/run-cli.ts';
import {emptyFolder} from '../../support/workspace.ts';
import {explore, isSubagent} from '../fixture.ts';

const SPEED = 10;
const OVERLOAD_SECONDS = 14;

it('eight subagents live through an overload of 14 s, and none asks more often than its waits allow', async () => {
  const clock = fastClock(SPEED);
  let overloadedSince: number | undefined;
  const server = await startMessagesServer((body) => {
    if (!isSubagent(body)) {
      const tasks = Array.from({length: 8}, (_, index) => explore(`look at part ${index}`));
      return body.messages.length === 1 ? callTools(tasks) : say('All are back.');
    }
    overloadedSince ??= clock.now();
    return clock.now() - overloadedSince < OVERLOAD_SECONDS * 1000 ? status(529) : say('found it');
  });
  const [folder, home] = [await emptyFolder(), await createHome()];
  const session = await compose({
    ...{cwd: folder.path, env: cliEnvironment(home, {server}), home: home.env.MINI_CC_HOME!, interactive: false},
    ...{which: {type: 'new'}, maxConcurrent: 8, clock},
  });
  onTestFinished(async () => {
    await session.close();
    await server.close();
    await Promise.all([folder.remove(), home.remove()]);
  });

  const submitted = await session.submit('look at all parts');
  expect(submitted).toMatchObject({type: 'turn', result: {outcome: 'success', text: 'All are back.'}});
  const results = getToolResults(server.requests.at(-1)!.body);
  expect(results.map(({isError, text}) => ({isError, found: text.includes('found it')}))).toEqual(
    Array.from({length: 8}, () => ({isError: false, found: true})),
  );
  const attempts = server.requests.filter(({body}: RecordedRequest) => isSubagent(body));
  // Waits of 0.5, 1, 2, 4 and 8 s, each a quarter shorter or longer, are at most six attempts within 14 s, and one after it.
  expect(attempts.length).toBeGreaterThan(8);
  expect(attempts.length).toBeLessThanOrEqual(8 * 7);
});
