/** Verification after fan-outs and after runs of the agent code, with real commands. */
import {expect, test} from 'vitest';
import {callTool, callTools, type MessagesBody, say} from '../../support/messages-server.ts';
import {countReplies, getFirstPrompt} from '../../support/request-facts.ts';
import {changeAll, edit, getPartFiles, getText, numbered, openProject, read} from './session-fixture.ts';

/** Fails for each file that contains the word, as a compiler would. */
const CHECK = (word: string) =>
  `! grep -Hn ${word} -r src | sed 's/^\\([^:]*\\):\\([0-9]*\\):.*/\\1(\\2,1): error TS2304: ${word}/' | grep .\n`;
const VERIFY = {level: 'fast', fast: ['sh check.sh']};
const OPTIONS = {allowedTools: ['bash(sh check.sh)', 'bash(sh old.sh)', 'bash(missing-tool)', 'bash(npm run:*)']};
const files = (count = 3) => ({...numbered(count), 'check.sh': CHECK('BROKEN')});
const lastUser = (body: MessagesBody) => JSON.stringify(body.messages.filter(({role}) => role === 'user').at(-1));

/** The first part breaks its file; each time that it is told so it does what `repairs` say. */
function breaking(repairs: readonly string[]) {
  const turns = [
    callTools([read('src/f000.ts')]),
    callTools([edit('src/f000.ts', '= 1', '= BROKEN')]),
    say('I did it.'),
    ...repairs.flatMap((to, index) => [
      // A run that goes on reads a file anew before it changes it.
      callTools([read('src/f000.ts'), edit('src/f000.ts', index === 0 ? '= BROKEN' : repairs[index - 1]!, to)]),
      say('Repaired.'),
    ]),
  ];
  return (body: MessagesBody) =>
    getPartFiles(body)?.[0] === 'src/f000.ts' ? (turns[countReplies(body)] ?? say('?')) : changeAll(body);
}

test('an error that the checks find goes back to the run whose file is named, and is repaired in the second round', async () => {
  const script = breaking(['= BROKEN + 1', '= 7']);
  const {session, server, folder} = await openProject({
    files: files(),
    script,
    settings: {verify: VERIFY},
    options: OPTIONS,
  });
  const text = getText(await session.submit('Refactor all files in src'));
  expect(text).toMatch(/^fan-out: 3 agents · 3 ok · 3 files changed/);
  expect(text).toContain(
    '\nverification: `sh check.sh` passes\nverification: what failed after the fan-out was repaired in 2 rounds\n',
  );
  expect(await folder.read('src/f000.ts')).toContain('= 7');
  const told = server.requests
    .map(({body}) => lastUser(body))
    .filter((last) => last.includes('The checks of the project fail'));
  expect(told).toHaveLength(2);
  expect(told[0]).toContain('src/f000.ts(1,1): error TS2304: BROKEN');
  expect(session.request({type: 'runs'})).toHaveLength(3);
  expect(session.request({type: 'runs'}).map(({round}) => round)).toEqual([3, 1, 1]);
  expect(getText(await session.submit('/fanout undo'))).toMatch(/^3 files restored/);
});

test('after the last round what fails is said, and never that it passes', async () => {
  const script = breaking(['= BROKEN + 1', '= BROKEN + 2', '= 7']);
  const {session} = await openProject({files: files(), script, settings: {verify: VERIFY}, options: OPTIONS});
  const text = getText(await session.submit('Refactor all files in src'));
  expect(text).toContain(
    '\nverification: `sh check.sh` FAILS: src/f000.ts(1,1): error TS2304: BROKEN\nverification: still failing after 2 rounds',
  );
  expect(text).not.toContain('passes');
});

test('with rounds 0 nothing goes back', async () => {
  const {session} = await openProject({
    ...{files: files(), script: breaking(['= 7']), options: OPTIONS},
    settings: {verify: {...VERIFY, rounds: 0}},
  });
  expect(getText(await session.submit('Refactor all files in src'))).toContain('`sh check.sh` FAILS');
  expect(session.request({type: 'runs'}).map(({round}) => round)).toEqual([1, 1, 1]);
});

test('what failed before too is told apart, also where something new fails beside it', async () => {
  const old = {...files(), 'src/old.ts': 'export const OLD = 1;\n', 'old.sh': CHECK('OLD')};
  const verify = {level: 'fast', fast: ['sh old.sh', 'sh check.sh']};
  const first = await openProject({
    files: old,
    script: changeAll,
    settings: {verify, fanOut: {parts: 4}},
    options: OPTIONS,
  });
  const text = getText(await first.session.submit('Refactor all files in src'));
  expect(text).toContain('\nverification: `sh old.sh` fails as it did before\nverification: `sh check.sh` passes\n');
  // The same check fails, with an old line and a new one.
  const both = {...files(), 'src/old.ts': 'export const x = "BROKEN";\n'};
  const second = await openProject({
    ...{files: both, script: breaking(['= 7']), options: OPTIONS},
    settings: {verify: VERIFY, fanOut: {parts: 4}},
  });
  const after = getText(await second.session.submit('Refactor all files in src/'));
  expect(after).toContain('\nverification: `sh check.sh` fails as it did before\n');
  expect(after).toContain('repaired in one round');
});

test('a check that is not permitted, or whose program is missing, was not run: nothing is claimed', async () => {
  const verify = {level: 'fast', fast: ['touch made', 'missing-tool']};
  const {session, folder} = await openProject({
    files: files(),
    script: changeAll,
    settings: {verify},
    options: OPTIONS,
  });
  const text = getText(await session.submit('Refactor all files in src'));
  expect(text).toMatch(/\nverification: `touch made` was not run: Permission denied: bash runs a command/);
  expect(text).toMatch(/\nverification: `missing-tool` was not run: .*not found/);
  expect(await folder.git('status', '--short')).not.toContain('made');
});

test('a failure that names no file of a part goes to one run that may write all of them', async () => {
  const check = "! grep -q BROKEN -r src || { echo 'Error: 1 of 7 tests failed'; exit 1; }\n";
  const script = (body: MessagesBody) => {
    if (getPartFiles(body)) return breaking([])(body);
    const turns = [callTools([read('src/f000.ts')]), callTools([edit('src/f000.ts', '= BROKEN', '= 9')])];
    return turns[countReplies(body)] ?? say('Repaired.');
  };
  const {session, server, folder} = await openProject({
    ...{files: {...files(), 'check.sh': check}, script, settings: {verify: VERIFY}, options: OPTIONS},
  });
  expect(getText(await session.submit('Refactor all files in src'))).toContain('repaired in one round');
  expect(await folder.read('src/f000.ts')).toContain('= 9');
  const repair = server.requests.map(({body}) => body).find((body) => !getPartFiles(body));
  expect(getFirstPrompt(repair!)).toContain('1 of 7 tests failed');
});

test('the checks of package.json are found, by the level; a project without any says that nothing was run', async () => {
  const scripts = {lint: 'echo linted', typecheck: 'echo typed', test: 'echo tested >> tested.log'};
  const made = (level: string) =>
    openProject({
      files: {...numbered(3), 'package.json': JSON.stringify({scripts}), '.gitignore': 'tested.log\n'},
      ...{script: changeAll, settings: {verify: {level}}, options: OPTIONS},
    });
  const fast = getText(await (await made('fast')).session.submit('Refactor all files'));
  expect(fast).toContain('\nverification: `npm run lint` passes\nverification: `npm run typecheck` passes\n');
  expect(fast).not.toContain('run test');
  const thorough = await made('thorough');
  expect(getText(await thorough.session.submit('Refactor all files'))).toContain('`npm run test` passes');
  expect(await thorough.folder.read('tested.log')).toBe('tested\ntested\n');
  const none = await openProject({files: numbered(3), script: changeAll, settings: {verify: {level: 'fast'}}});
  expect(getText(await none.session.submit('Refactor all files'))).toContain(
    'verification: nothing was run: no checks were found',
  );
});

test('a run of the agent code is verified, too, and repairs what it broke in its own run', async () => {
  const turns = [
    callTools([read('src/f000.ts')]),
    callTools([edit('src/f000.ts', '= 1', '= BROKEN')]),
    say('Done.'),
    callTools([edit('src/f000.ts', '= BROKEN', '= 7')]),
    say('Done, and repaired.'),
  ];
  const script = (body: MessagesBody) => {
    if (getFirstPrompt(body) === 'change it') return turns[countReplies(body)] ?? say('?');
    return countReplies(body) === 0
      ? callTool('Task', {description: 'change', prompt: 'change it', agent_type: 'code'})
      : say(JSON.stringify(body.messages.at(-1)));
  };
  const {session, folder} = await openProject({files: files(), script, settings: {verify: VERIFY}, options: OPTIONS});
  const text = getText(await session.submit('go'));
  expect(text).toContain('Done, and repaired.\\n\\nverification: `sh check.sh` passes');
  expect(await folder.read('src/f000.ts')).toContain('= 7');
  expect(session.request({type: 'runs'}).map(({round}) => round)).toEqual([1]);
});
