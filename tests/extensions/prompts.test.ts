/** Skills and custom commands, as people write them for Claude Code. */

import {existsSync, mkdirSync, symlinkSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {describe, expect, it, test} from 'vitest';
import {ALL_TOOLS} from '../../src/compose/known-tools.ts';
import {expandPrompt, splitPrompt} from '../../src/extensions/prompts/expand-prompt.ts';
import {findPrompts} from '../../src/extensions/prompts/find-prompts.ts';
import {home as createHome, isSubagent, project, serve} from '../e2e/fixture.ts';
import {runCli} from '../support/run-cli.ts';
import {callTool, say} from '../support/scripted-replies.ts';

function put(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    const file = path.join(folder, name);
    mkdirSync(path.dirname(file), {recursive: true});
    writeFileSync(file, text);
  }
}

const lastText = (server: Awaited<ReturnType<typeof serve>>, index = -1) =>
  JSON.stringify(server.requests.at(index)!.body.messages.at(-1));

describe('a custom command', () => {
  it('sends its text with the words typed after it; the nearer file wins; folders are names', async () => {
    const {path: cwd} = await project();
    const home = await createHome();
    put(cwd, {'.claude/commands/git/commit.md': '---\ndescription: Commit\n---\nCommit $1 for $2. All: $ARGUMENTS'});
    put(home.path, {'.mini-cc/commands/review.md': 'Review this.', '.claude/commands/review.md': 'Never.'});
    const server = await serve([say('one'), say('two')]);
    expect(await runCli(['-p', '/git:commit "a b" c'], {server, cwd, home})).toMatchObject({code: 0, stdout: 'one\n'});
    expect(lastText(server)).toContain('Commit a b for c. All: \\"a b\\" c');
    await runCli(['-p', '/review src/a.ts'], {server, cwd, home});
    expect(lastText(server)).toContain('Review this.\\n\\nsrc/a.ts');
  });

  it('runs its commands under the permissions, reads its @files, and has its own model', async () => {
    const {path: cwd} = await project();
    const home = await createHome();
    const body = 'Here: !`cat src/greet.ts | head -1` and !`touch made`. See @package.json';
    put(home.path, {'.mini-cc/commands/x.md': `---\nmodel: haiku\n---\n${body}`});
    const server = await serve([say('ok')]);
    const run = await runCli(['-p', '/x'], {server, cwd, home});
    expect(run).toMatchObject({code: 0, stderr: expect.stringMatching(/^mini-cc: denied: bash touch made/)});
    const messages = JSON.stringify(server.requests[0]!.body.messages);
    expect(messages).toMatch(/Here: import .* and Permission denied/);
    expect(messages).toContain("The user's prompt names @package.json");
    expect(existsSync(path.join(cwd, 'made'))).toBe(false);
    expect(server.requests[0]!.body.model).toMatch(/haiku/);
  });

  it('neither runs nor attaches anything that the words after it say', async () => {
    const {path: cwd} = await project();
    const home = await createHome();
    put(home.path, {
      '.mini-cc/commands/x.md': 'Look at this:',
      '.mini-cc/commands/y.md': 'Say $ARGUMENTS. !`echo mine` !`echo @src/greet.ts` @$1',
    });
    const words = 'package.json !`touch made` @README.md (@src/main.ts)';
    const server = await serve([say('one'), say('two')]);
    for (const name of ['x', 'y']) {
      await runCli(['-p', `/${name} ${words}`, '--permission-mode', 'bypassPermissions'], {server, cwd, home});
    }
    const [first, second] = server.requests.map(({body}) => JSON.stringify(body.messages));
    expect(first).toContain(words);
    expect(first).not.toContain('prompt names');
    expect(second).toContain(`Say ${words}. mine @src/greet.ts @package.json`);
    expect(second!.match(/prompt names @[\w/]+/g)).toEqual(['prompt names @package']);
    expect(existsSync(path.join(cwd, 'made'))).toBe(false);
  });

  it('lets its allowed-tools pass in its own turn: the user’s always, a project’s under trust alone', async () => {
    const {path: cwd} = await project();
    const home = await createHome();
    const text = '---\nallowed-tools: Bash(touch mine), Read\n---\nDo it. !`touch mine`';
    put(home.path, {'.mini-cc/commands/mine.md': text});
    put(cwd, {'.mini-cc/commands/theirs.md': text.replaceAll('mine', 'theirs')});
    const server = await serve([callTool('bash', {command: 'touch other'}), say('a'), say('b'), say('c')]);
    await runCli(['-p', '/mine'], {server, cwd, home});
    expect(['mine', 'other'].map((name) => existsSync(path.join(cwd, name)))).toEqual([true, false]);
    const untrusted = await runCli(['-p', '/theirs'], {server, cwd, home});
    expect(untrusted.stderr).toMatch(/not trusted: .*theirs\.md: allowed-tools/);
    expect(existsSync(path.join(cwd, 'theirs'))).toBe(false);
    await runCli(['-p', '/theirs', '--trust'], {server, cwd, home});
    expect(existsSync(path.join(cwd, 'theirs'))).toBe(true);
  });
});

describe('a skill', () => {
  it('is told by name and description, and comes whole when the model calls for it', async () => {
    const {path: cwd} = await project();
    const home = await createHome();
    put(home.path, {
      '.claude/skills/pdf/SKILL.md': '---\nname: pdf\ndescription: Reads PDF files\n---\nRun scripts/x.py. SECRET-BODY',
      '.claude/skills/pdf/notes.md': 'FURTHER',
      '.claude/skills/own/SKILL.md':
        '---\nname: own\ndescription: Mine\ndisable-model-invocation: true\n---\nOWN-BODY $ARGUMENTS',
    });
    const notes = path.join(home.path, '.claude/skills/pdf/notes.md');
    const server = await serve([
      callTool('Skill', {skill: 'pdf'}),
      callTool('read_file', {path: notes}),
      say('done'),
      say('x'),
    ]);
    await runCli(['-p', 'read it'], {server, cwd, home});
    const [first] = server.requests;
    expect(JSON.stringify(first!.body)).toContain('pdf: Reads PDF files');
    expect(JSON.stringify(first!.body)).not.toMatch(/SECRET-BODY|own: Mine/);
    expect(lastText(server, 1)).toMatch(/The files of this skill are in .*pdf.*SECRET-BODY/);
    expect(lastText(server, 2)).toContain('FURTHER');
    await runCli(['-p', '/own now'], {server, cwd, home});
    expect(lastText(server)).toContain('OWN-BODY now');
  });

  it('with context: fork runs as a subagent', async () => {
    const {path: cwd} = await project();
    const home = await createHome();
    put(home.path, {
      '.mini-cc/skills/look/SKILL.md': '---\ndescription: d\ncontext: fork\nagent: explore\n---\nLook around.',
    });
    const server = await serve([say('I saw it.')]);
    const run = await runCli(['-p', '/look'], {server, cwd, home});
    expect(run.stdout).toContain('I saw it.');
    expect(server.requests[0]!.body.tools!.map(({name}) => name)).not.toContain('write_file');

    const called = await serve((body) => {
      if (isSubagent(body)) return say('I saw it too.');
      return body.messages.length === 1 ? callTool('Skill', {skill: 'look', args: 'behind it'}) : say('done');
    });
    const json = await runCli(['-p', 'go', '--output-format', 'json'], {server: called, cwd, home});
    expect(JSON.parse(json.stdout).subagents).toMatchObject([{agent: 'explore', description: 'look'}]);
    expect(lastText(called, 1)).toMatch(/Look around\.(\\n)+behind it/);
    expect(lastText(called, 2)).toContain('I saw it too.');
    const denied = await serve([callTool('Skill', {skill: 'look'}), say('done')]);
    await runCli(['-p', 'go', '--disallowed-tools', 'Task(explore)'], {server: denied, cwd, home});
    expect(denied.requests).toHaveLength(2);
  });

  it('with context: fork keeps its model, allowed-tools, commands and @files, typed and called', async () => {
    const {path: cwd} = await project();
    const home = await createHome();
    const head = 'description: d\nmodel: haiku\nallowed-tools: Bash(touch:*)\ncontext: fork\nagent: code';
    const body = 'BODY !`cat src/greet.ts | head -1` and @package.json, !`touch made-$1` args=$ARGUMENTS';
    put(home.path, {'.mini-cc/skills/fk/SKILL.md': `---\n${head}\n---\n${body}`});
    for (const call of ['typed', 'called']) {
      const server = await serve((sent) => {
        if (isSubagent(sent)) {
          return sent.messages.length === 1 ? callTool('bash', {command: `touch run-${call}`}) : say('I saw it.');
        }
        return sent.messages.length === 1 ? callTool('Skill', {skill: 'fk', args: call}) : say('done');
      });
      const run = await runCli(['-p', call === 'typed' ? '/fk typed' : 'go'], {server, cwd, home});
      expect(run).toMatchObject({code: 0, stderr: expect.not.stringContaining('denied')});
      const [fork] = server.requests.filter((request) => isSubagent(request.body));
      expect(fork!.body.model).toMatch(/haiku/);
      expect(JSON.stringify(fork!.body.messages[0])).toMatch(
        new RegExp(`names @package\\.json. It contains:.*BODY import .* and @package.json, .* args=${call}`),
      );
      expect([`made-${call}`, `run-${call}`].map((name) => existsSync(path.join(cwd, name)))).toEqual([true, true]);
    }
  });

  it('that the model calls runs its commands under the permissions, and its allowed-tools hold in that turn', async () => {
    const {path: cwd} = await project();
    const home = await createHome();
    const skill = (more: string) =>
      `---\ndescription: d\n${more}---\nOut: !\`touch $1\` !\`cd src && pwd\` @package.json`;
    put(home.path, {
      '.mini-cc/skills/mine/SKILL.md': skill('allowed-tools: Bash(touch:*)\n'),
      '.mini-cc/skills/bare/SKILL.md': skill(''),
    });
    put(cwd, {'.mini-cc/skills/theirs/SKILL.md': skill('allowed-tools: Bash(touch:*)\n')});
    const made = (name: string) => existsSync(path.join(cwd, name));
    const script = (name: string, after: string) => [
      callTool('Skill', {skill: name, args: name}),
      callTool('bash', {command: `touch ${after}`}),
      say('done'),
    ];
    const server = await serve([...script('bare', 'b'), ...script('theirs', 't'), ...script('mine', 'm')]);
    for (const _ of [1, 2, 3]) await runCli(['-p', 'go'], {server, cwd, home});
    expect(lastText(server, 1)).toMatch(/Out: Permission denied.*\/src/);
    expect(['bare', 'b', 'theirs', 't', 'mine', 'm'].map(made)).toEqual([false, false, false, false, true, true]);
    expect(lastText(server, 7)).not.toContain('contains');
    const trusted = await serve(script('theirs', 't'));
    await runCli(['-p', 'go', '--trust'], {server: trusted, cwd, home});
    expect(['theirs', 't'].map(made)).toEqual([true, true]);
  });

  it('and a command cost nothing where there are none', async () => {
    const server = await serve([say('x')]);
    await runCli(['-p', 'hello'], {server, cwd: (await project()).path});
    expect(server.requests[0]!.body.tools!.map(({name}) => name)).not.toContain('Skill');
  });
});

test('skills of .agents are found after those of .claude, and nothing else is read there', async () => {
  const [{path: cwd}, home] = [await project(), await createHome()];
  const skill = (body: string) => `---\ndescription: Says where it is\n---\n${body}`;
  put(home.path, {'.agents/skills/mine/SKILL.md': skill('HOME'), '.claude/skills/both/SKILL.md': skill('CLAUDE')});
  put(cwd, {'.agents/skills/both/SKILL.md': skill('AGENTS'), '.agents/skills/ours/SKILL.md': skill('PROJECT')});
  put(cwd, {'.agents/commands/no.md': 'COMMAND'});
  const folders = {cwd, home: home.path, miniCcHome: path.join(home.path, '.mini-cc'), tools: ALL_TOOLS};
  const {prompts} = findPrompts(folders, () => true);
  const found = prompts.map(({name, body}) => [name, JSON.stringify(body)]);
  expect(found.map(([name]) => name)).toEqual(['both', 'ours', 'mine']);
  expect(found[0]![1]).toContain('CLAUDE');
});

test('/help names the files that commands of mini-cc hide, and explains those that work and those that cannot', async () => {
  const [{path: cwd}, home] = [await project(), await createHome()];
  put(cwd, {
    '.mini-cc/commands/clear.md': 'CLEAR',
    '.claude/commands/cost.md': 'COST',
    '.mini-cc/commands/review.md': 'REVIEW',
    '.mini-cc/commands/deploy.md': '---\ndescription: Ships it\n---\nDEPLOY',
    '.mini-cc/commands/nofm.md': '---\ndescription: never closed\nBody',
  });
  const server = await serve([]);
  const say = async (line: string) => await runCli(['-p', line], {server, cwd, home});
  const {stdout} = await say('/help');
  expect(stdout).toMatch(/^ {2}not used, mini-cc has the name \(\/help NAME\): \/clear \/cost$/m);
  expect(stdout.trimEnd().split('\n').length).toBeLessThan(30);
  expect(stdout).toMatch(/\/review +yours$/m);
  expect((await say('/help clear')).stdout).toMatch(/^\/clear: .*\nIt hides .*\.mini-cc\/commands\/clear\.md\.\n$/);
  expect((await say('/help deploy')).stdout).toBe('/deploy: Ships it\n');
  const {stdout: skills} = await say('/skills');
  expect(skills).toMatch(/\/clear .*\[command of the project's \.mini-cc, hidden by mini-cc's own command\]/);
  expect(skills).toMatch(/\/review .*\[command of the project's \.mini-cc\]/);
  const broken = await say('/nofm');
  expect(`${broken.stdout}${broken.stderr}`).toMatch(
    /\/nofm cannot be used: .*nofm\.md:1:1: the front matter .* has no closing/,
  );
  expect(stdout).not.toContain('nofm');
});

test('every name that is shown can be typed, and no two files of other letters share one', async () => {
  const [{path: cwd}, home] = [await project(), await createHome()];
  put(cwd, {
    '.claude/skills/Write tests/SKILL.md': '---\ndescription: d\n---\nTESTS $1',
    '.claude/skills/v1.2/SKILL.md': '---\ndescription: d\n---\nVERSION $1',
    '.mini-cc/commands/修复.md': 'FIX $1',
    '.mini-cc/commands/测试.md': 'TRY $1',
    '.mini-cc/commands/2fa.md': 'CODE $1',
    '.mini-cc/commands/(old) way.md': 'OLD $1',
  });
  const server = await serve(Array.from({length: 6}, () => say('ok')));
  const typed = {'write-tests': 'TESTS', 'v1-2': 'VERSION', 修复: 'FIX', 测试: 'TRY', '2fa': 'CODE', 'old-way': 'OLD'};
  const {stdout} = await runCli(['-p', '/skills'], {server, cwd, home});
  for (const [name, text] of Object.entries(typed)) {
    expect(stdout).toContain(`/${name} `);
    await runCli(['-p', `/${name} word`], {server, cwd, home});
    expect(lastText(server)).toContain(`${text} word`);
  }
});

test('what restricts a skill counts in the words of older YAML, and where the rest of the head is no YAML', async () => {
  const [{path: cwd}, home] = [await project(), await createHome()];
  put(cwd, {
    '.claude/skills/a/SKILL.md': '---\ndescription: d\ndisable-model-invocation: yes\n---\nA',
    '.claude/skills/b/SKILL.md': '---\ndescription: d: e: f\nuser-invocable: false\n---\nB',
    '.claude/skills/c/SKILL.md': '---\ndescription: d\nuser-invocable: no\n---\nC',
    '.claude/skills/d/SKILL.md': '---\ndescription: d: e: f\n---\nD',
  });
  const folders = {cwd, home: home.path, miniCcHome: path.join(home.path, '.mini-cc'), tools: ALL_TOOLS};
  const {prompts} = findPrompts(folders, () => true);
  expect(prompts.map(({isForModel, isForUser}) => [isForModel, isForUser])).toEqual([
    [false, true],
    [true, false],
    [true, false],
    [true, true],
  ]);
});

test('files as people write them load, or are named with the reason', async () => {
  const {path: cwd} = await project();
  const home = await createHome();
  const shapes: Record<string, string> = {
    'plain.md': 'No front matter at all',
    'empty-front.md': '---\n---\nBody',
    'colon.md': '---\ndescription: Fix: the thing, "quoted"\n---\nBody',
    'list.md': '---\nallowed-tools:\n  - Bash(git add:*)\n  - Read\n---\nBody',
    'spaces.md': '---\nallowed-tools: Bash(git status:*) Read Grep\n---\nBody',
    'hint.md': '---\nargument-hint: [file] [--all]\ndescription: x\n---\nBody',
    'crlf.md': '---\r\ndescription: d\r\n---\r\nBody\r\n',
    'bom.md': '\uFEFF---\ndescription: d\n---\nBody',
    'multi.md': '---\ndescription: >\n  several\n  lines\n---\nBody',
    'Upper Case.md': 'Body',
    'a/b/deep.md': 'Body',
    'open.md': '---\ndescription: never closed\nBody',
    'nothing.md': '---\ndescription: x\n---\n',
    'badrule.md': '---\nallowed-tools: Bsh(ls), Read\n---\nBody',
  };
  for (const [name, text] of Object.entries(shapes)) put(path.join(cwd, '.claude/commands'), {[name]: text});
  symlinkSync('/etc/hostname', path.join(cwd, '.claude/commands/link.md'));
  const locations = {cwd, home: home.path, miniCcHome: path.join(home.path, '.mini-cc'), tools: ALL_TOOLS};
  const {prompts, problems, claims} = findPrompts(locations, () => true);
  const names = prompts.map(({name}) => name);
  expect(names.sort()).toEqual(
    [
      'a:b:deep',
      'badrule',
      'bom',
      'colon',
      'crlf',
      'empty-front',
      'hint',
      'list',
      'multi',
      'plain',
      'spaces',
      'upper-case',
    ].sort(),
  );
  const get = (name: string) => prompts.find((each) => each.name === name)!;
  expect(get('list').allowedTools).toEqual(['Bash(git add:*)', 'Read']);
  expect(get('spaces').allowedTools).toEqual(['Bash(git status:*)', 'Read', 'Grep']);
  expect(get('hint').argumentHint).not.toBe('');
  expect(get('multi').description).toBe('several lines');
  expect(get('badrule').allowedTools).toEqual(['Read']);
  expect(claims.map(({file}) => path.basename(file)).sort()).toEqual(['badrule.md', 'list.md', 'spaces.md']);
  const named = ['open.md', 'nothing.md', 'link.md', 'badrule.md'];
  expect(named.filter((name) => !problems.some((problem) => problem.includes(name)))).toEqual([]);
});

test.each([
  ['Fix $1', 'a b', 'Fix a'],
  ['Fix $ARGUMENTS', 'a b', 'Fix a b'],
  ['Fix', 'a b', 'Fix\n\na b'],
  ['Fix', '', 'Fix'],
  ['$2 $1', '"one two" three', 'three one two'],
  ['costs $10', '', 'costs 0'],
])('%j with %j is %j', (body, args, expected) => {
  expect(expandPrompt({kind: 'command', body, folder: '/'}, args)).toBe(expected);
});

describe('arguments in a command of the file', () => {
  const run = (body: string, args: string) =>
    splitPrompt({kind: 'command', body, folder: '/'}, args).flatMap(({kind, text}) => (kind === 'command' ? text : []));

  test.each([
    ['!`gh pr view $1`', '12', 'gh pr view 12'],
    ['!`git diff $ARGUMENTS`', 'HEAD~1 -- src', "git diff 'HEAD~1' '--' 'src'"],
    ['!`git log $1`', '"a; touch made"', "git log 'a; touch made'"],
    [
      '!`git log $ARGUMENTS`',
      "$(touch made) `touch made` it's",
      "git log '$(touch' 'made)' '`touch' 'made`' 'it'\\''s'",
    ],
    ['!`echo "on $1"`', '"$(touch made) \\"', 'echo "on \\$(touch made) \\\\"'],
    ["!`echo 'on $1'`", '"it\'s $x"', "echo 'on it'\\''s $x'"],
    ['!`echo hi # $1`', '"a\ntouch made"', 'echo hi # a touch made'],
  ])('%j with %j runs %j', (body, args, command) => {
    expect(run(body, args)).toEqual([command]);
  });

  test.each(['"$(git log $1)"', "$'x $1'", '$(( $1 ))'])(
    'are refused where quoting cannot be trusted: %s',
    (command) => {
      expect(() => run(`!\`echo ${command}\``, '"a; b"')).toThrow('cannot take "a; b" where it names its arguments');
      expect(run(`!\`echo ${command}\``, 'ab')).toEqual([`echo ${command.replace('$1', 'ab')}`]);
    },
  );
});
