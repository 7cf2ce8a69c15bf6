/** Fan-outs by the built program: print mode, a kill in the midst, and the preview in a real terminal. */
import {readdirSync, readFileSync} from 'node:fs';
import path from 'node:path';
import {describe, expect, it} from 'vitest';
import {changeAll, getPartFiles, numbered} from '../core/fan-out/session-fixture.ts';
import {hangBeforeHeaders, type MessagesBody, say} from '../support/messages-server.ts';
import {answer} from '../support/questions.ts';
import {killGroup, runCli, spawnCli} from '../support/run-cli.ts';
import {until} from '../support/wait.ts';
import {home, project, serve} from './fixture.ts';
import {repl, send} from './repl-fixture.ts';

async function projectWith(count: number) {
  const folder = await project();
  for (const [name, text] of Object.entries(numbered(count))) await folder.write(name, text);
  await folder.git('add', '-A');
  await folder.git('commit', '-qm', 'more');
  return folder;
}

/** Counts the ended parts in the journal of the only fan-out, which is written after their ends are shown. */
function countEndedParts(place: string): number {
  const [journal] = readdirSync(place, {recursive: true, encoding: 'utf8'}).filter((name) =>
    /fan-outs\.jsonl$/.test(name),
  );
  return journal === undefined
    ? 0
    : (readFileSync(path.join(place, journal), 'utf8').match(/"part_end".*\n/g) ?? []).length;
}

const AUTO = ['--fan-out', 'auto', '--permission-mode', 'acceptEdits'];
const PROMPT = 'Update all files matching src/f*.ts';

describe('in print mode', () => {
  it('the answer is the summary, the result has the numbers, and stream-json the summary as a message', async () => {
    const folder = await projectWith(9);
    const server = await serve(changeAll);
    const run = await runCli(['-p', PROMPT, ...AUTO, '--output-format', 'json'], {server, cwd: folder.path});
    expect(run.code).toBe(0);
    const result = JSON.parse(run.stdout);
    expect(result).toMatchObject({
      ...{subtype: 'success', is_error: false, num_turns: 0},
      subagentResults: {total: 3, successful: 3, failed: 0, filesModified: 9},
      result: expect.stringMatching(/^fan-out: 3 agents · 3 ok · 9 files changed · /),
    });
    expect(result.subagents.map(({agent, outcome}: {agent: string; outcome: string}) => `${agent} ${outcome}`)).toEqual(
      Array.from({length: 3}, () => 'code success'),
    );
    expect(run.stderr).toContain('  [code] part 1 of 3, 3 files ... 0 tools, 0.0s\n');
    expect(run.stderr).toMatch(/ {2}\[code\] part 3 of 3, 3 files - done \(6 tools, [\d.]+s\)\n/);
    await folder.git('checkout', '-q', '.');
    const stream = await runCli(['-p', PROMPT, ...AUTO, '--output-format', 'stream-json', '--verbose'], {
      ...{server, cwd: folder.path},
    });
    const lines = stream.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    const own = lines.filter(({type, message}) => type === 'assistant' && message.model === '<synthetic>');
    expect(own.map(({message}) => message.content[0].text)).toEqual([lines.at(-1).result]);
  });

  it.each([
    [{args: ['--fan-out', 'auto']}, true],
    [{env: {MINI_CC_FAN_OUT: 'auto'}}, true],
    [{args: ['--settings', '{"fanOut": "auto"}']}, true],
    [{args: ['--fan-out', 'off'], env: {MINI_CC_FAN_OUT: 'auto'}}, false],
    [{}, false],
  ])(
    '%j decides whether a prompt is split: %s',
    async ({args = [], env = {}}: {args?: string[]; env?: Record<string, string>}, isSplit) => {
      const folder = await projectWith(3);
      const server = await serve((body) => say(getPartFiles(body) ? 'a part' : 'main'));
      const {stdout} = await runCli(['-p', PROMPT, ...args], {server, cwd: folder.path, env});
      expect(stdout).toMatch(isSplit ? /^fan-out: 3 agents/ : /^main\n$/);
    },
  );

  it('a project that is not trusted splits no prompt, and what it says is listed', async () => {
    const folder = await projectWith(3);
    await folder.write('.mini-cc/settings.json', '{"fanOut": "auto"}');
    const server = await serve((body) => say(getPartFiles(body) ? 'a part' : 'main'));
    const given = {server, cwd: folder.path, home: await home()};
    const run = await runCli(['-p', PROMPT], given);
    expect(run).toMatchObject({code: 0, stdout: 'main\n', stderr: expect.stringContaining('settings.json: fanOut')});
    expect(server.requests).toHaveLength(1);
    expect((await runCli(['-p', PROMPT, '--trust'], given)).stdout).toMatch(/^fan-out: 3 agents/);
  });

  it.each([
    [['--settings', '{"fanOut": {"mode": "always"}}'], {}, /fanOut\.mode/],
    [
      ['--settings', '{"fanOut": {"tools": ["reed_file"]}}'],
      {},
      /fanOut\.tools: no tool "reed_file" \(did you mean read_file\?\)/,
    ],
    [['--settings', '{"fanOut": {"where": "workers"}}'], {}, /fanOut\.where: workers needs subagents\.queue/],
    [['--settings', '{"fanOut": {"where": "there"}}'], {}, /local, workers or auto/],
    [[], {MINI_CC_FAN_OUT: 'yes'}, /MINI_CC_FAN_OUT must be ask, auto or off, not "yes"/],
    [['--fan-out', 'yes'], {}, /--fan-out/],
  ])('%j %j is bad usage: one line, exit 2', async (args, env, words) => {
    const run = await runCli(['-p', 'x', ...args], {env});
    expect(run).toMatchObject({code: 2, stdout: ''});
    expect(run.stderr.trimEnd().split('\n')).toHaveLength(1);
    expect(run.stderr).toMatch(words);
  });

  it('killed in the midst, the next start says which parts are done, and goes on with the rest', async () => {
    const [folder, place] = [await projectWith(9), await home()];
    let isKilled = false;
    const hangs = (body: MessagesBody) => !isKilled && getPartFiles(body)?.includes('src/f006.ts');
    const server = await serve((body) => (hangs(body) ? hangBeforeHeaders() : changeAll(body)));
    const child = await spawnCli(['-p', PROMPT, ...AUTO], {server, cwd: folder.path, home: place});
    child.stderr.resume();
    const ended = new Promise((resolve) => child.once('exit', resolve));
    await until(() => countEndedParts(place.path) === 2, 'two ended parts in the journal');
    killGroup(child);
    await ended;
    isKilled = true;
    const next = await runCli(['-p', '/fanout continue', ...AUTO], {server, cwd: folder.path, home: place});
    expect(next.stderr).toContain(
      'was cut off: of 3 parts parts 1 and 2 are done, part 3 is missing. /fanout continue',
    );
    expect(next.stdout).toMatch(/^fan-out: 3 agents · 3 ok · 9 files changed/);
    expect((await folder.git('diff', '--stat')).trim()).toContain('9 files changed');
    await runCli(['-p', '--continue', '/fanout undo'], {server, cwd: folder.path, home: place});
    expect(await folder.git('status', '--short')).toBe('');
  });
});

const PREVIEW = '2 no, the main agent does it alone';

describe('in a terminal', () => {
  it.each([40, 100])('of %i columns the preview is read and accepted', async (cols) => {
    const folder = await projectWith(9);
    const server = await serve(changeAll);
    const terminal = await repl({server, cwd: folder.path, cols, rows: 40});
    await send(terminal, cols === 40 ? 'Fix all files in src/' : PROMPT);
    await terminal.waitFor(PREVIEW);
    const shown = terminal.screen().join('\n');
    expect(shown).toMatch(/fan-out:\s+3\s+agents/);
    expect(shown.replace(/\s+/g, ' ')).toMatch(/1 \d files: src\/.* worst case: 150 model calls/);
    expect(terminal.screen().every((line) => line.length <= cols)).toBe(true);
    await answer(terminal, PREVIEW, '1');
    await terminal.waitFor(/3 ok[\s\S]*\/fanout undo/);
    expect(server.requests.filter(({body}) => getPartFiles(body) === undefined)).toEqual([]);
    expect(await folder.git('diff', '--stat')).toMatch(/9 files changed/);
    terminal.press('ctrl-d');
    await terminal.waitForExit();
  });

  it('Esc refuses, and the main agent does it alone', async () => {
    const folder = await projectWith(3);
    const server = await serve((body) => say(getPartFiles(body) ? 'a part' : 'I do it alone.'));
    const terminal = await repl({server, cwd: folder.path, cols: 100});
    await send(terminal, PROMPT);
    await answer(terminal, PREVIEW, 'escape');
    await terminal.waitFor('I do it alone.');
  });
});
