/**
 * `kill -9` while an answer streams: what has stood on the screen for a moment is in the history that goes on, and is
 * shown. MINI_CC_KILLS sets the number of kills; `npm run soak` uses a hundred.
 */
import {expect, it} from 'vitest';
import {type MessagesBody, say} from '../support/messages-server.ts';
import {countReplies, getFirstPrompt} from '../support/request-facts.ts';
import {buildOnce, runCli, spawnCli} from '../support/run-cli.ts';
import {callTools, slow} from '../support/scripted-replies.ts';
import {findTranscripts, isRun, readLines} from '../support/session-files.ts';
import {PATIENCE_MS, pause, until} from '../support/wait.ts';
import {explore, home, isSubagent, project, serve} from './fixture.ts';
import {repl} from './repl-fixture.ts';

const KILLS = Number(process.env.MINI_CC_KILLS ?? 2);
/** mini-cc promises half a second of its own time; a machine that stops meanwhile gets more. */
const SURE_MS = 2_000;
const KEY = 'sk-secret-0123456789-abcdef';
/** Of 20 characters each, as the server cuts it into pieces; the key lies across several. */
const ANSWER = Array.from(
  {length: 400},
  (_, index) => `word number ${index}, ${index % 7 === 0 ? KEY : 'and then'} `,
).join('');
const SHOWN = ANSWER.replaceAll(KEY, '[redacted: ANTHROPIC_API_KEY]');
const MARK = '[Cut off here: mini-cc ended before this reply did]';

const getText = ({messages}: MessagesBody) =>
  messages.flatMap(({role, content}) =>
    typeof content === 'string' ? [`${role}: ${content}`] : content.map(({text = ''}) => `${role}: ${text}`),
  );

it(
  `${KILLS} kills in mid stream lose nothing that has stood on the screen for a moment`,
  async () => {
    await buildOnce();
    let isKilled = false;
    const server = await serve(() => (isKilled ? say('noted') : slow(say(ANSWER), 8)));
    const {path: cwd} = await project();
    for (let round = 0; round < KILLS; round += 1) {
      const delay = SURE_MS + Math.round(Math.random() * 2_000);
      const place = await home();
      const at = {server, cwd, home: place, env: {ANTHROPIC_API_KEY: KEY}};
      const args = ['-p', 'start', '--output-format', 'stream-json', '--include-partial-messages'];
      isKilled = false;
      const child = await spawnCli(args, at);
      const exited = new Promise((resolve) => child.once('close', resolve));
      const shown: {at: number; text: string}[] = [];
      child.stdout.setEncoding('utf8').on('data', (lines: string) => {
        for (const [, text = ''] of lines.matchAll(/"text_delta","text":("(?:[^"\\]|\\.)*")/g)) {
          shown.push({at: performance.now(), text: JSON.parse(text) as string});
        }
      });
      child.stdin.end();
      await until(async () => shown.length > 0);
      await pause(delay, 'the kill comes at a random moment');
      const killedAt = performance.now();
      child.kill('SIGKILL');
      await exited;
      isKilled = true;
      const seen = shown.flatMap(({at, text}) => (at < killedAt - SURE_MS ? [text] : [])).join('');
      expect(SHOWN.startsWith(seen)).toBe(true);

      expect(await runCli(['--continue', '-p', 'go on'], at)).toMatchObject({code: 0, stdout: 'noted\n'});
      const [, said = 'nothing', mark] = getText(server.requests.at(-1)!.body);
      const facts = `killed after ${delay} ms, ${seen.length} characters seen, ${said.length} kept`;
      if (seen.trim() !== '') {
        expect(said.startsWith(`assistant: ${seen.trimEnd()}`), facts).toBe(true);
        expect(mark).toContain(MARK);
      }
      const [file] = findTranscripts(place.path);
      const streamed = readLines(file!).filter(({type}) => type === 'partial');
      const text = streamed.map((line) => String(line.text)).join('');
      expect(SHOWN.startsWith(text), facts).toBe(true);
      expect(text).not.toContain(KEY.slice(0, 12));
    }
  },
  (5 + KILLS) * PATIENCE_MS,
);

it('a killed REPL shows the text again when the session goes on', async () => {
  const server = await serve(() => slow(say(`First line of it.\n\n${ANSWER}`), 5));
  const {path: cwd} = await project();
  const place = await home();
  const child = await spawnCli(['-p', 'start'], {server, cwd, home: place});
  child.stdin.end();
  await until(async () =>
    findTranscripts(place.path).some((file) => readLines(file).some(({type}) => type === 'partial')),
  );
  child.kill('SIGKILL');
  const terminal = await repl({args: ['--continue'], server, cwd, home: place});
  await terminal.waitFor('First line of it.');
  await terminal.waitFor('Cut off here: mini-cc ended before this reply did');
});

it('the text of a subagent survives too: in its result, its log, and what it reads when it goes on', async () => {
  let restarted = false;
  const server = await serve((body) => {
    if (isSubagent(body))
      return restarted ? say('it is in src/greet.ts') : slow(say(`I found a greeting. ${ANSWER}`), 5);
    return getFirstPrompt(body) === 'start' && countReplies(body) === 0 ? callTools([explore()]) : say('noted');
  });
  const at = {server, cwd: (await project()).path, home: await home()};
  const child = await spawnCli(['-p', 'start'], at);
  child.stdin.end();
  const getRun = () => findTranscripts(at.home.path).find(isRun);
  await until(async () => readLines(getRun() ?? '/dev/null').some(({type}) => type === 'partial'));
  child.kill('SIGKILL');
  restarted = true;
  const sent = await runCli(['-c', '-p', '/subagents send 1 and where?'], at);
  expect(sent.code).toBe(0);
  expect(readLines(getRun()!).find(({type}) => type === 'end')).toMatchObject({
    outcome: 'unknown',
    text: expect.stringMatching(/^I found a greeting\. word number 0/),
  });
  const second = server.requests
    .map(({body}) => body)
    .filter(isSubagent)
    .at(-1)!;
  const [task, said, mark, message] = getText(second);
  expect([task, message]).toEqual(['user: look', 'user: and where?']);
  expect(said).toMatch(/^assistant: I found a greeting\. word number 0/);
  expect(mark).toBe(`user: ${MARK}`);
  expect((await runCli(['-c', '-p', '/subagents log 1'], at)).stdout).toContain('I found a greeting.');
});
