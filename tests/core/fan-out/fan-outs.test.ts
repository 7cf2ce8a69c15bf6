/** Fan-outs from the prompt to the summary: parts, scopes, limits, failures, requests, undo. */
import {expect, test, vi} from 'vitest';
import {stopTimers} from '../../support/fake-time.ts';
import {callTools, hangBeforeHeaders, type MessagesBody, say, status} from '../../support/messages-server.ts';
import {countReplies, getFirstPrompt, getSystem, getToolNames, getToolResults} from '../../support/request-facts.ts';
import {hasSandbox} from '../../support/sandbox.ts';
import {until} from '../../support/wait.ts';
import {
  answerWith,
  changeAll,
  countSuccessful,
  edit,
  getPartFiles,
  getText,
  numbered,
  openProject,
  read,
} from './session-fixture.ts';

test('nine files become three parts of three: each has its files, the instruction unchanged and the default tools', async () => {
  const {session, server, folder} = await openProject({files: numbered(9), script: changeAll});
  const result = await session.submit('Refactor all files in src/');
  expect(getText(result)).toMatch(
    /^fan-out: 3 agents · 3 ok · 9 files changed · \d+\.\ds, sum of parts \d+\.\ds, \d+\.\d× · tokens [\d.]+k?\n\/fanout undo takes all of it back\.$/,
  );
  const firsts = server.requests.map(({body}) => body).filter((body) => countReplies(body) === 0);
  expect(firsts.map((body) => getPartFiles(body)?.length)).toEqual([3, 3, 3]);
  expect(firsts.flatMap((body) => getPartFiles(body) ?? [])).toEqual(Object.keys(numbered(9)));
  expect(getFirstPrompt(firsts[0]!)).toBe(
    'Refactor all files in src/\n\nFiles:\n- src/f000.ts\n- src/f001.ts\n- src/f002.ts',
  );
  for (const body of firsts) expect(getToolNames(body)).toEqual(['read_file', 'write_file', 'edit_file']);
  // No model of the main agent was asked.
  expect(server.requests).toHaveLength(9);
  expect(await folder.git('diff', '--stat')).toContain('9 files changed');
  expect(session.request({type: 'fan_outs'}).results).toEqual([{total: 3, successful: 3, failed: 0, filesModified: 9}]);
});

test('two files are not split; neither is any prompt of a session whose mode is off, or in plan mode', async () => {
  const script = () => say('main');
  const two = await openProject({files: numbered(2), script});
  expect(getText(await two.session.submit('Refactor all files'))).toBe('main');
  const nine = await openProject({files: numbered(9), script, options: {fanOut: 'off'}});
  expect(getText(await nine.session.submit('Refactor all files'))).toBe('main');
  const plan = await openProject({files: numbered(9), script, options: {permissionMode: 'plan'}});
  expect(getText(await plan.session.submit('Refactor all files'))).toBe('main');
  expect([two, nine, plan].flatMap(({session}) => session.request({type: 'runs'}))).toEqual([]);
});

test('a prompt of a part that speaks of all files is not split: there are three runs', async () => {
  const {session, server} = await openProject({files: numbered(9), script: () => say('done')});
  await session.submit('Update every file in the project, and list ALL files');
  expect(session.request({type: 'runs'})).toHaveLength(3);
  expect(server.requests).toHaveLength(3);
});

test('one part of three fails, one that changed nothing counts none, and the others are kept', async () => {
  const script = (body: MessagesBody) => {
    const files = getPartFiles(body) ?? [];
    if (files.includes('src/f003.ts')) return status(400, {message: 'too bad'});
    if (!files.includes('src/f000.ts')) return changeAll(body);
    // It changes a file and changes it back.
    const turns = [callTools([read('src/f000.ts')]), callTools([edit('src/f000.ts', '= 1', '= 2')])];
    return (
      turns[countReplies(body)] ??
      (countReplies(body) === 2 ? callTools([edit('src/f000.ts', '= 2', '= 1')]) : say('no'))
    );
  };
  const {session, folder} = await openProject({files: numbered(9), script});
  const result = await session.submit('Refactor all files');
  expect(getText(result)).toMatch(/^fan-out: 3 agents · 2 ok · 1 failed · 3 files changed · /);
  expect(getText(result)).toMatch(/\npart 2 failed: .*too bad.* \(src\/f003\.ts, src\/f004\.ts, src\/f005\.ts\)\n/);
  expect(result).toMatchObject({type: 'turn', result: {outcome: 'success'}});
  expect(session.request({type: 'fan_outs'}).results).toEqual([{total: 3, successful: 2, failed: 1, filesModified: 3}]);
  expect(await folder.read('src/f008.ts')).toContain('= 2');
});

test('where every part fails, the turn fails', async () => {
  const {session} = await openProject({files: numbered(3), script: () => status(400, {message: 'no'})});
  expect(await session.submit('Refactor all files')).toMatchObject({result: {outcome: 'error', code: 'FAN_OUT'}});
});

test('a part that writes outside of its files is refused, in every mode, and what it asks for is done at the end, in order, by one run', async () => {
  const files = {...numbered(3), 'README.md': 'old\n'};
  const script = (body: MessagesBody) => {
    const turn = countReplies(body);
    const own = getPartFiles(body);
    if (!own) {
      if (turn === 0) return callTools([read('README.md')]);
      return turn === 1 ? callTools([edit('README.md', 'old', 'new')]) : say('Done.');
    }
    if (turn === 0) return callTools([read('src/f000.ts'), read('README.md')]);
    if (turn === 1)
      return callTools([
        edit('README.md', 'old', 'stolen'),
        edit('src/f000.ts', '= 1', '= 3'),
        {name: 'write_file', input: {path: 'src/new.ts', content: ''}},
      ]);
    return say(`Done.\n\n- Outside: README.md: say ${own[0]}`);
  };
  const {session, server, folder} = await openProject({files, script, options: {permissionMode: 'bypassPermissions'}});
  const result = await session.submit('Refactor all files in src/');
  expect(getText(result)).toContain('\n3 changes outside of the parts: one run did them in order');
  const refused = server.requests.flatMap(({body}) => getToolResults(body)).filter(({isError}) => isError);
  expect(refused.map(({text}) => text)).toContain(
    'Permission denied: README.md is not among the files of this part, which alone it may write.',
  );
  expect(refused).toHaveLength(3 * 3 - 1);
  expect(await folder.read('README.md')).toBe('new\n');
  expect(await folder.read('src/f000.ts')).toContain('= 3');
  expect(await folder.git('status', '--short')).toBe(' M README.md\n M src/f000.ts\n');
  const last = server.requests.map(({body}) => body).filter((body) => !getPartFiles(body));
  expect(last).toHaveLength(3);
  expect(getFirstPrompt(last[0]!)).toContain(
    '1. README.md: say src/f000.ts\n2. README.md: say src/f001.ts\n3. README.md: say src/f002.ts',
  );
  expect(session.request({type: 'denials'})).toHaveLength(8);
});

test.skipIf(!(await hasSandbox()))('bash of a part writes only the files of the part', async () => {
  const commands = [
    'echo "export const f0 = 5;" > src/f000.ts; cat src/f000.ts',
    'echo stolen > src/f001.ts',
    'echo stolen > src/new.ts; echo stolen > new.ts; rm -f src/f002.ts; mkdir made; echo hook > .git/hooks/pre-commit',
    'cat src/f001.ts && git status --short',
  ];
  const script = (body: MessagesBody) => {
    if (getPartFiles(body)?.[0] !== 'src/f000.ts') return say('nothing to do');
    const command = commands[countReplies(body)];
    return command === undefined ? say('Done.') : callTools([{name: 'bash', input: {command}}]);
  };
  const settings = {fanOut: {tools: ['read_file', 'bash']}};
  const {session, server, folder} = await openProject({files: numbered(3), script, settings});
  const result = await session.submit('Refactor all files');
  const results = server.requests.flatMap(({body}) => getToolResults(body)).map(({text}) => text);
  expect(results[0]).toBe('export const f0 = 5;');
  expect(results[1]).toMatch(/Read-only file system[\s\S]*only the files of your part can be written/);
  expect(results[3]).toContain('export const f1 = 1;');
  expect(await folder.git('status', '--short')).toBe(' M src/f000.ts\n');
  expect(getText(result)).toMatch(/3 ok · 1 file changed/);
  const stopped = getText(result).match(/^part .* the sandbox stopped .*$/gm);
  expect(stopped).toEqual(
    commands
      .slice(1, 3)
      .map(
        (command) =>
          `part 1 of 3, 1 file: the sandbox stopped what a command tried beyond its files: ${command.slice(0, 79)}${command.length > 80 ? '…' : ''}`,
      ),
  );
});

test('a part has 50 turns, the greater of 60 s and 20 s a file, and 8192 tokens of context on a local model', async () => {
  const {session} = await openProject({files: numbered(10), script: () => say('ok')});
  await session.submit('Refactor all files');
  const limits = session.request({type: 'runs'}).map((run) => run.limits);
  expect(limits).toMatchObject([
    {maxTurns: 50, timeoutSeconds: 80, contextTokens: 8192},
    {maxTurns: 50, timeoutSeconds: 80, contextTokens: 8192},
    {maxTurns: 50, timeoutSeconds: 60, contextTokens: 8192},
  ]);
});

test('the settings say how many parts there are, how they are split, and the limits of their agent', async () => {
  const settings = {fanOut: {parts: 4, split: 'balanced'}, agents: {code: {maxTurns: 7, timeoutSeconds: 33}}};
  const {session, server} = await openProject({files: numbered(10), script: () => say('ok'), settings});
  await session.submit('Refactor all files');
  expect(server.requests.map(({body}) => getPartFiles(body)?.length)).toEqual([3, 3, 2, 2]);
  expect(session.request({type: 'runs'})[0]?.limits).toMatchObject({maxTurns: 7, timeoutSeconds: 33});
});

test('a part that times out is named so, and the others stand', async () => {
  const script = (body: MessagesBody) =>
    getPartFiles(body)?.includes('src/f002.ts') ? hangBeforeHeaders() : changeAll(body);
  // Only timers stand still: the other parts must not take so long on a busy machine.
  const settings = {agents: {code: {timeoutSeconds: 30}}};
  const {session} = await openProject({files: numbered(3), script, settings});
  stopTimers();
  const submitted = session.submit('Refactor all files');
  await until(() => countSuccessful(session) === 2, 'the end of two parts');
  await vi.advanceTimersByTimeAsync(30_000);
  const text = getText(await submitted);
  expect(text).toMatch(/^fan-out: 3 agents · 2 ok · 1 failed · 2 files changed/);
  expect(text).toContain('\npart 3 timed out after 30 s (src/f002.ts)');
});

test('twelve parts through a pool of eight are never in waves: a free slot is taken at once', async () => {
  const atWork: number[] = [];
  const script = async (body: MessagesBody, index: number) => {
    atWork.push(session.request({type: 'runs'}).filter(({state}) => state === 'processing').length);
    // Eight are at work at the same time, and the first one until all others have begun.
    await server.waitForRequests(index === 0 ? 12 : 8);
    return say(`ok ${getPartFiles(body)?.[0]}`);
  };
  const settings = {fanOut: {parts: 12}, subagents: {maxConcurrent: 8}};
  const {session, server} = await openProject({files: numbered(12), script, settings});
  expect(getText(await session.submit('Refactor all files'))).toMatch(/^fan-out: 12 agents · 12 ok /);
  expect([Math.max(...atWork), server.maxActive]).toEqual([8, 8]);
});

test('the parts know their rules, and the main agent what was done', async () => {
  const script = (body: MessagesBody) => (getPartFiles(body) ? changeAll(body) : say('Six.'));
  const {session, server} = await openProject({files: numbered(6), script, options: {interactive: true}});
  await session.submit('Refactor all files');
  expect(getSystem(server.requests[0]!.body)).toContain('Outside: PATH: what to change there');
  await session.submit('How many files?');
  const {messages} = server.requests.at(-1)!.body;
  expect(messages.map(({role}) => role)).toEqual(['user', 'assistant', 'user']);
  expect(JSON.stringify(messages[1])).toContain('fan-out: 3 agents · 3 ok · 6 files changed');
});

test('/fanout shows the last one, /fanout undo takes all of it back to the byte, also what was done outside of the parts', async () => {
  const files = {...numbered(3, (index) => `export const f${index} = 1;\r\n`), 'README.md': 'old'};
  const script = (body: MessagesBody) => {
    if (!getPartFiles(body))
      return countReplies(body) === 0
        ? callTools([read('README.md')])
        : countReplies(body) === 1
          ? callTools([edit('README.md', 'old', 'new')])
          : say('ok');
    return countReplies(body) < 2 ? changeAll(body) : say('ok\nOutside: README.md: update it');
  };
  const {session, folder} = await openProject({files, script});
  expect(getText(await session.submit('/fanout'))).toMatch(/^There was no fan-out in this session/);
  expect(await session.submit('/fanout undo')).toMatchObject({ok: false, text: 'There is no fan-out to take back.'});
  await session.submit('/fanout refactor all files in src');
  expect(await folder.git('diff', '--stat')).toContain('4 files changed');
  expect(getText(await session.submit('/fanout'))).toMatch(
    /^"refactor all files in src"\nfan-out: 3 agents · 3 ok · 4 files changed[\s\S]*\n {2}part 1: ok · src\/f000\.ts · run [\da-f]{8}\n/,
  );
  expect(getText(await session.submit('/fanout undo'))).toMatch(/^4 files restored:/);
  expect(await folder.git('status', '--short')).toBe('');
  expect(await folder.read('src/f000.ts')).toBe('export const f0 = 1;\r\n');
  expect(await session.submit('/fanout undo')).toMatchObject({ok: false, text: 'There is no fan-out to take back.'});
});

test('/fanout with an instruction that means no file, or files that are named wrongly, says so', async () => {
  const {session} = await openProject({files: {'a.txt': 'x'}, script: () => say('?')});
  expect(await session.submit('/fanout tidy everything')).toMatchObject({
    result: {outcome: 'error', error: expect.stringMatching(/^No file in .* is meant by: tidy everything$/)},
  });
  await expect(session.request({type: 'fan_out', instruction: 'x', files: ['../up.ts']})).rejects.toThrow(
    'outside of it',
  );
  await expect(session.request({type: 'fan_out', instruction: 'x', files: ['none.ts']})).rejects.toThrow('"none.ts"');
  await expect(session.request({type: 'fan_out', instruction: ' '})).rejects.toThrow('needs an instruction');
  await expect(session.request({type: 'fan_out', instruction: 'x', files: ['a.txt'], tools: ['Task']})).rejects.toThrow(
    'not Task',
  );
});

test('a program names files, folders and patterns, and gets the report', async () => {
  const {session} = await openProject({files: {...numbered(4), 'b.txt': 'const b = 1'}, script: changeAll});
  const report = await session.request({
    type: 'fan_out',
    instruction: 'Do it',
    files: ['b.txt', 'src/f00[01].ts', 'src/f003.ts'],
  });
  expect(report.parts.flatMap(({files}) => files)).toEqual(['b.txt', 'src/f000.ts', 'src/f001.ts', 'src/f003.ts']);
  expect(report.results).toEqual({total: 2, successful: 2, failed: 0, filesModified: 4});
});

test('the main model asks for a fan-out by its tool: refused where nobody can be asked, else run with its call id', async () => {
  const script = (body: MessagesBody) => {
    if (getPartFiles(body)) return changeAll(body);
    return countReplies(body) === 0
      ? callTools([{name: 'FanOut', id: 'toolu_fan', input: {instruction: 'Do it', files: ['src/*.ts']}}])
      : say(getToolResults(body)[0]!.text);
  };
  const refused = await openProject({files: numbered(3), script, options: {fanOut: 'ask'}});
  expect(getText(await refused.session.submit('go'))).toMatch(
    /^Permission denied: a fan-out is asked about, and nobody can be asked/,
  );
  expect(refused.session.request({type: 'denials'})).toMatchObject([{tool: 'FanOut', callId: 'toolu_fan'}]);
  const allowed = await openProject({files: numbered(3), script});
  expect(getText(await allowed.session.submit('go'))).toMatch(/^fan-out: 3 agents · 3 ok · 3 files changed/);
  expect(allowed.session.request({type: 'runs'}).map(({callId}) => callId)).toEqual([
    'toolu_fan',
    'toolu_fan',
    'toolu_fan',
  ]);
});

const ASKED = {interactive: true, fanOut: 'ask', permissionMode: 'default'} as const;

test('a person sees the preview and says yes: then no edit is asked about', async () => {
  const {session, server, folder} = await openProject({files: numbered(9), script: changeAll, options: ASKED});
  const asked = answerWith(session, [{choice: 'yes'}]);
  expect(getText(await session.submit('Refactor all files'))).toMatch(/^fan-out: 3 agents · 3 ok · 9 files changed/);
  expect(asked.map(({title}) => title)).toEqual(['fan-out: 3 agents (code) for 9 files, each may write only its own']);
  expect(asked[0]?.detail).toMatch(
    /^1 {2}3 files: src\/f000\.ts, src\/f001\.ts, src\/f002\.ts\n2 {2}3 files: .*\n3 {2}3 files: .*\nmodel .* · tools read_file, edit_file, write_file\nlimits of each: 50 turns, 1m00s, 8192 tokens of context\nworst case: 150 model calls, 1\.2M tokens, cost \$7\.37$/,
  );
  expect(server.requests.map(({body}) => getPartFiles(body)?.length).slice(0, 3)).toEqual([3, 3, 3]);
  expect(await folder.read('src/f000.ts')).toContain('= 2');
});

test('after Esc at the preview the main agent works alone', async () => {
  const {session} = await openProject({files: numbered(3), script: () => say('alone'), options: ASKED});
  answerWith(session, [{choice: 'escape'}]);
  expect(getText(await session.submit('Refactor all files'))).toBe('alone');
});

test('after a no the main agent works alone; an interrupt at the preview starts nothing', async () => {
  const script = () => say('alone');
  const {session} = await openProject({files: numbered(3), script, options: ASKED});
  answerWith(session, [{choice: 'no'}]);
  expect(getText(await session.submit('Refactor all files'))).toBe('alone');
  const other = await openProject({files: numbered(3), script, options: ASKED});
  other.session.subscribe((event) => {
    if (event.type === 'ask') queueMicrotask(() => other.session.abort());
  });
  expect(await other.session.submit('Refactor all files')).toMatchObject({result: {outcome: 'stopped'}});
  expect(other.server.requests).toEqual([]);
});

test('where nobody can be asked, the mode ask splits nothing and says so', async () => {
  const {session, events} = await openProject({
    files: numbered(3),
    script: () => say('main'),
    options: {fanOut: 'ask'},
  });
  expect(getText(await session.submit('Refactor all files'))).toBe('main');
  expect(events).toContainEqual(
    expect.objectContaining({type: 'notice', text: expect.stringContaining('--fan-out auto splits it')}),
  );
});

test('a prompt that names a folder that does not exist is not split, and says so; /fanout refuses it', async () => {
  const {session, events, server} = await openProject({files: numbered(9), script: () => say('main')});
  expect(getText(await session.submit('Refactor all files in src/nonexist'))).toBe('main');
  expect(server.requests).toHaveLength(1);
  const text = expect.stringMatching(/^this prompt is not split: No file is meant by "src\/nonexist" in \//);
  expect(events).toContainEqual(expect.objectContaining({type: 'notice', level: 'warning', text}));
  expect(await session.submit('/fanout Refactor all files in src/nonexist')).toMatchObject({
    result: {outcome: 'error', error: expect.stringMatching(/^No file is meant by "src\/nonexist"/)},
  });
});

test('without a yes of a person, auto lifts no permission: edits that would be asked about are refused', async () => {
  const {session, folder} = await openProject({
    files: numbered(3),
    script: changeAll,
    options: {permissionMode: 'default'},
  });
  expect(getText(await session.submit('Refactor all files'))).toMatch(/3 ok · 0 files changed/);
  expect(session.request({type: 'denials'})).toHaveLength(3);
  expect(await folder.git('status', '--short')).toBe('');
});

test('links and protected files are no part of a fan-out', async () => {
  const {session, server, folder} = await openProject({
    files: {...numbered(3), '.claude/hooks/x.js': 'x', '.mini-cc/y.ts': 'y'},
    script: () => say('ok'),
  });
  const {symlink} = await import('node:fs/promises');
  await symlink('/etc/hostname', `${folder.path}/link.ts`);
  await folder.git('add', '-A');
  await session.submit('Refactor all files');
  expect(server.requests.flatMap(({body}) => getPartFiles(body) ?? [])).toEqual(Object.keys(numbered(3)));
});
