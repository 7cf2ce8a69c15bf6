/**
 * Homes of an earlier build (`tests/fixtures/homes`, made by `tests/support/make-homes.ts`): what people have on their disks is read,
 * goes on, and is taken back.
 */
import {execFileSync} from 'node:child_process';
import {existsSync, readFileSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {describe, expect, it, onTestFinished, test} from 'vitest';
import {jobSchema} from '../../src/workers/queue/messages.ts';
import {PROTOCOL, Signatures, type SignedMessage} from '../../src/workers/queue/signatures.ts';
import {type MessagesBody, type Script, say} from '../support/messages-server.ts';
import {SECRET} from '../support/queue.ts';
import {countReplies, getFirstPrompt} from '../support/request-facts.ts';
import {runCli, startCli} from '../support/run-cli.ts';
import {callTools} from '../support/scripted-replies.ts';
import {countAnnouncements, findTranscripts, isRun} from '../support/session-files.ts';
import {unpack} from '../support/stored-homes.ts';
import {isSubagent, serve} from './fixture.ts';

/** A session of a stored home, by the first digit of its id. */
const id = (digit: number) => `${String(digit).repeat(8)}-9d4a-4c6b-8e5f-0a1b2c3d4e5f`;
const LOOKED = ['--resume', id(1)];
const CHANGED = ['--resume', id(2)];
const ARCHIVED = ['--resume', id(3)];

async function open(name: string, script: Script = () => say('noted')) {
  const old = unpack(name);
  onTestFinished(old.remove);
  // The runs of these homes ended long ago: by default the next start archives them.
  const settings = {subagents: {archiveAfterMinutes: 0}};
  writeFileSync(path.join(old.home.path, '.mini-cc', 'settings.json'), JSON.stringify(settings));
  const server = await serve(script);
  const at = {server, cwd: old.project, home: old.home};
  return {
    ...{at, server, home: old.home.path},
    run: (...args: readonly string[]) => runCli(args, at),
    /** What was sent last, as one text. */
    asked: () => server.requests.at(-1)!.body.messages.map((message) => JSON.stringify(message)),
    file: (name: string) => path.join(old.project, name),
    read: (name: string) => readFileSync(path.join(old.project, name), 'utf8'),
    git: (...words: readonly string[]) =>
      execFileSync('git', words, {cwd: old.project, encoding: 'utf8', stdio: 'pipe'}),
  };
}

describe('ended sessions', () => {
  it('are listed, newest first, and shown with their calls', async () => {
    const {run} = await open('sessions');
    const listed = JSON.parse((await run('sessions', 'list', '--json')).stdout);
    expect(listed).toMatchObject([
      {id: id(2), messages: 14, subagents: 1, prompt: 'change the readme'},
      {id: id(1), subagents: 3, prompt: 'look around'},
      {id: id(3), subagents: 3, prompt: 'look around'},
    ]);
    const {stdout} = await run('sessions', 'show', '2222');
    expect(stdout).toContain(
      '## use a command\n\n- **bash** `{"command":"echo log > log.txt; echo more >> README.md"}`',
    );
    expect(stdout).toMatch(
      /Receipt: 1 tool · read 0 files · changed 1 file: src\/key\.ts · commands 0 · citations 1\/1 exist/,
    );
  });

  it('go on with -c and --resume: the server gets the whole conversation, in an order that it takes', async () => {
    const {run, asked} = await open('sessions');
    expect(await run('-c', '-p', 'go on')).toMatchObject({code: 0, stdout: 'noted\n', stderr: ''});
    const roles = asked().map((text) => text.slice(9, 13));
    expect(roles).toEqual(Array.from({length: 15}, (_, index) => (index % 2 === 0 ? 'user' : 'assi')));
    const words = [
      'change the readme',
      'Edited README.md',
      'use a command',
      '(no output)',
      'let an agent do it',
      'go on',
    ];
    const places = words.map((word) => asked().findIndex((text) => text.includes(word)));
    expect(places).toEqual([0, 4, 6, 8, 10, 14]);
    expect(await run(...LOOKED, '-p', 'and here')).toMatchObject({code: 0, stdout: 'noted\n', stderr: ''});
    expect(asked()[0]).toContain('look around');
    expect(asked().join('\n')).toMatch(/<task_announcement run=[^>]+>[\s\S]*The test is tests\/greet\.test\.ts:5/);
  });

  it('are shown in a terminal as they were', async () => {
    const {at} = await open('sessions');
    const terminal = await startCli(CHANGED, {...at, rows: 60, cols: 100});
    onTestFinished(terminal.close);
    await terminal.waitFor('▌ change the readme');
    await terminal.waitFor('▌ let an agent do it');
    await terminal.waitFor('The agent did it.');
    await terminal.waitFor(/^> Ask/m);
    terminal.press('ctrl-d');
    await terminal.waitForExit();
  });

  it('have their runs: in the list, with receipt, log, and output; and a run goes on where it ended', async () => {
    const {run, server, home} = await open('sessions');
    const list = await run(...LOOKED, '-p', '/subagents list');
    // Runs of long ago have a second line.
    expect(list.stdout.match(/^\d {2}.*?(?= +1 tool|$)/gm)).toEqual([
      '1  done  bash     ls src',
      '2  done  explore  tests',
      '3  done  explore  find greet',
    ]);
    const info = await run(...LOOKED, '-p', '/subagents info 3');
    expect(info.stdout).toMatch(/^where: {6}foreground$/m);
    expect(info.stdout).toMatch(
      /^receipt: {4}1 tool · read 1 file · changed none · commands 0 · citations 1\/1 exist · /m,
    );
    const log = await run(...LOOKED, '-p', '/subagents log 1');
    expect(log.stdout).toMatch(/assistant: greet\.ts\nlanguages\.ts\nmain\.ts\n\nThe whole output: (\S+)\n$/);
    expect(readFileSync(/output: (\S+)\n$/.exec(log.stdout)![1]!, 'utf8')).toBe('greet.ts\nlanguages.ts\nmain.ts\n');
    expect(await run(...LOOKED, '-p', '/subagents send 3 and who calls it?')).toMatchObject({code: 0});
    const continued = server.requests.find(({body}) => isSubagent(body))!.body;
    expect(getFirstPrompt(continued)).toBe('find greet');
    expect(JSON.stringify(continued.messages)).toMatch(/greet is in src\/greet\.ts:4.*and who calls it\?/);
    // The ends of before are not announced again.
    const [main] = findTranscripts(home).filter((file) => !isRun(file) && file.includes(id(1)));
    expect([...countAnnouncements(main!).values()]).toEqual([1, 1, 1]);
  });

  it('have archived runs, which can be read', async () => {
    const {run} = await open('sessions');
    const list = await run(...ARCHIVED, '-p', '/subagents list');
    expect(list.stdout.match(/^\d {2}archived \(done\) {2}.*$/gm)).toEqual([
      '1  archived (done)  bash     ls src',
      '2  archived (done)  explore  tests',
      '3  archived (done)  explore  find greet',
    ]);
    const info = await run(...ARCHIVED, '-p', '/subagents info 2');
    expect(info.stdout).toMatch(/^status: {5}archived \(done\)\nlabel: {6}tests\n/);
    const [, transcript] = /^transcript: (\S+session\.jsonl\.deleted\.\S+)$/m.exec(info.stdout)!;
    expect(existsSync(transcript!)).toBe(true);
    const log = await run(...ARCHIVED, '-p', '/subagents log 2');
    expect(log.stdout).toMatch(/user: find tests\n\n[\s\S]*assistant: The test is tests\/greet\.test\.ts:5\n$/);
  });
});

describe('changes of ended sessions', () => {
  it('are shown, and those of a run are undone', async () => {
    const {run, file, git} = await open('sessions');
    const diff = await run(...CHANGED, '-p', '/diff');
    expect(diff.stdout).toContain('3 files changed in this session:\n  README.md ');
    expect(diff.stdout).toContain('+Welcomes people by their name, in several languages.\n+more\n');
    expect((await run(...CHANGED, '-p', '/subagents diff 1')).stdout).toContain('+export const key = 1;');
    const undone = await run(...CHANGED, '-p', '/subagents undo 1');
    expect(undone).toMatchObject({code: 0, stdout: '[code] add a key: 1 new file deleted:\n  src/key.ts\n'});
    expect(existsSync(file('src/key.ts'))).toBe(false);
    expect(git('status', '--short')).toBe(' M README.md\n?? log.txt\n');
  });

  it('are taken back to before a prompt, whether a tool or a command made them', async () => {
    const {run, read, git, asked} = await open('sessions');
    const some = await run(...CHANGED, '-p', '/rewind 2');
    expect(some.stdout).toContain('The conversation is as it was before: use a command (8 messages taken back)');
    expect(git('status', '--short')).toBe(' M README.md\n');
    expect(read('README.md')).toBe('# Greeter\n\nWelcomes people by their name, in several languages.\n');
    const all = await run(...CHANGED, '-p', '/rewind 1');
    expect(all.stdout).toContain('The conversation is as it was before: change the readme (6 messages taken back)');
    expect(git('status', '--short')).toBe('');
    await run(...CHANGED, '-p', 'from the beginning');
    expect(asked()).toHaveLength(1);
  });
});

describe('a session that was killed', () => {
  it('goes on: its call was cut off, its run is unknown and can be continued', async () => {
    const {run, server} = await open('cut');
    const info = await run('-c', '-p', '/subagents info 1');
    expect(info).toMatchObject({code: 0, stderr: ''});
    expect(info.stdout).toMatch(
      /^status: {5}unknown\n[\s\S]*^outcome: {4}unknown: mini-cc ended before this run did\n/m,
    );
    expect(await run('-c', '-p', '/subagents send 1 go on')).toMatchObject({code: 0, stdout: 'noted\n'});
    const [ofRun, ofMain] = server.requests.map(({body}) => JSON.stringify(body.messages));
    expect(ofRun).toMatch(/find greet.*src\/greet\.ts.*go on/);
    expect(ofMain).toMatch(
      /did not finish: mini-cc ended before this run did\..*<task_announcement run=\\"[^"]+#2\\">/,
    );
  });
});

describe('worktrees', () => {
  it('of a killed run are given back as a patch, which fits', async () => {
    const {run, git, read} = await open('worktree');
    const {stderr} = await run('-p', 'x');
    expect(stderr).toContain('mini-cc: [code] two: mini-cc ended before the run did. Nothing was applied.');
    const [, patch] = / apply --reject (\S+)\n$/.exec(stderr)!;
    git('apply', patch!);
    expect(read('other.ts')).toBe('export {};\n');
    expect((await run('-p', 'again')).stderr).toBe('');
    expect((await run('--resume', id(6), '-p', '/subagents info 1')).stdout).toMatch(/^status: {5}unknown\n/);
  });

  it('whose changes did not fit have their patch, which the receipt names', async () => {
    const {run, git, read} = await open('worktree');
    const info = await run('--resume', id(5), '-p', '/subagents info 1');
    const [, patch] = / · changes kept in (\S+) \(conflict in README\.md\) · /.exec(info.stdout)!;
    git('checkout', 'README.md');
    git('apply', patch!);
    expect([read('README.md'), read('made.ts')]).toEqual(['theirs\n', 'export {};\n']);
  });
});

describe('a fan-out that was cut off', () => {
  const FLAGS = ['--fan-out', 'auto', '--permission-mode', 'acceptEdits'];
  const write = (body: MessagesBody) => {
    const [, list = ''] = getFirstPrompt(body).split('\n\nFiles:\n');
    const files = list.split('\n').map((line) => line.replace(/^- /, ''));
    if (countReplies(body) === 0) return callTools(files.map((file) => ({name: 'read_file', input: {path: file}})));
    const edit = (file: string) => ({name: 'edit_file', input: {path: file, old_string: '= 1', new_string: '= 2'}});
    return countReplies(body) === 1 ? callTools(files.map(edit)) : say('Changed.');
  };

  it('goes on with the part that is missing, and all of it is taken back', async () => {
    const {run, server, read} = await open('fan-out', write);
    const texts = () => Array.from({length: 6}, (_, index) => read(`src/f${index}.ts`));
    const told = 'was cut off: of 3 parts parts 1 and 2 are done, part 3 is missing. /fanout continue';
    const next = await run('-p', '/fanout continue', ...FLAGS);
    expect(next.stderr).toContain(told);
    expect(next.stdout).toMatch(/^fan-out: 3 agents · 3 ok · 6 files changed · /);
    expect(new Set(server.requests.map(({body}) => getFirstPrompt(body)))).toHaveLength(1);
    expect(texts()).toEqual(texts().map((_, index) => `export const f${index} = 2;\n`));
    await run('-p', '--continue', '/fanout undo');
    expect(texts()).toEqual(texts().map((_, index) => `export const f${index} = 1;\n`));
  });

  it('is taken back as far as it came', async () => {
    const {run, read} = await open('fan-out');
    expect(read('src/f0.ts')).toBe('export const f0 = 2;\n');
    await run('-p', '/fanout undo');
    expect([read('src/f0.ts'), read('src/f3.ts')]).toEqual(['export const f0 = 1;\n', 'export const f3 = 1;\n']);
  });
});

describe('a job that waits in a queue', () => {
  it('is followed again when its session goes on; without the queue that is said, and the session works', async () => {
    const {run} = await open('queued');
    const went =
      'went to a worker, and cannot be followed: the setting subagents.queue is missing. --continue tries again';
    const list = await run('-c', '-p', '/subagents list');
    expect(list.stdout).toMatch(/^1 {2}queued {2}code {2}add a file {2}/);
    expect(list.stderr).toContain(`mini-cc: [code] add a file ${went}\n`);
    expect(await run('-c', '-p', 'go on')).toMatchObject({code: 0, stdout: 'noted\n'});
  });

  it('is read by a worker of its format; one of an older format is refused in words', async () => {
    const {home} = await open('queued');
    const stored = JSON.parse(readFileSync(path.join(home, 'queued-job.json'), 'utf8')) as SignedMessage;
    const sealer = new Signatures(SECRET, () => stored.expires - 1);
    const newer =
      /^the job has format \d and this side reads \d: this mini-cc is newer; use one version on both sides$/;
    expect(() => sealer.verify('job', {...stored, protocol: PROTOCOL - 1})).toThrow(newer);
    if (stored.protocol !== PROTOCOL) {
      expect(() => sealer.verify('job', stored)).toThrow(newer);
      return;
    }
    const job = jobSchema.parse(sealer.verify('job', stored).body);
    expect(job).toMatchObject({sessionId: id(8), round: 1, tree: {name: 'greeter', branch: 'refs/heads/main'}});
    expect(JSON.parse(job.work as string)).toMatchObject({
      ...{description: 'add a file', prompt: 'add a file', agent: {name: 'code'}, permissions: {mode: 'acceptEdits'}},
      messages: [],
    });
  });
});

test('the stored homes name no folder of the machine that made them', () => {
  for (const name of ['sessions', 'cut', 'worktree', 'fan-out', 'queued']) {
    const text = readFileSync(path.join(import.meta.dirname, '../fixtures/homes', `${name}.jsonl`), 'utf8');
    expect(text.match(/(?<!@FOLDER@)\/(?:tmp|home|root|work|Users)\/[^"\\ ]*/g) ?? [], name).toEqual([]);
  }
});
