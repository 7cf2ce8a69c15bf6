/** The temporary folder goes away or fills up in the middle of a session: commands run all the same. */
import {mkdtempSync, realpathSync, rmSync} from 'node:fs';
import {expect, it, onTestFinished} from 'vitest';
import {callTool, say} from '../support/messages-server.ts';
import {countReplies, getToolResults} from '../support/request-facts.ts';
import {runCli} from '../support/run-cli.ts';
import {hasSandbox} from '../support/sandbox.ts';
import {explore, isSubagent, project, serve} from './fixture.ts';

/** Runs commands one after another, then one of a subagent, which is confined. @returns their results */
async function runCommands(
  commands: readonly string[],
  wrap?: (command: string, args: readonly string[]) => [string, string[]],
) {
  const server = await serve((body) => {
    const turn = countReplies(body);
    if (isSubagent(body)) return turn === 0 ? callTool('bash', {command: 'echo confined'}) : say('found');
    const command = commands[turn];
    if (command !== undefined) return callTool('bash', {command});
    return turn === commands.length ? callTool('Task', explore().input) : say('done');
  });
  const {path: cwd} = await project();
  const run = await runCli(['-p', 'go', '--dangerously-skip-permissions'], {server, cwd, ...(wrap && {wrap})});
  const results = server.requests.flatMap(({body}) => getToolResults(body));
  return {run, texts: [...new Set(results.map(({text}) => text))]};
}

const sandboxed = (await hasSandbox()) ? ['confined'] : [];

it('a command that removes it takes nothing from the next ones', async () => {
  const gone = 'rm -rf "$(dirname "$TMPDIR")" && echo removed';
  const {run, texts} = await runCommands([gone, 'echo plain > /dev/stdout', 'cp "$(mktemp)" copy && echo made']);
  expect(run).toMatchObject({code: 0, stdout: 'done\n'});
  expect(texts).toEqual(expect.arrayContaining(['removed', 'plain', 'made', ...sandboxed]));
});

/** Runs mini-cc with a small temporary folder of its own. @param prepare commands of the shell that fill it */
function inSmallFolder(options: string, prepare = ':') {
  const folder = realpathSync(mkdtempSync('/var/tmp/mini-cc-full-'));
  onTestFinished(() => rmSync(folder, {recursive: true, force: true}));
  const script = `mount -t tmpfs -o ${options} none "$0" || exit 99; ${prepare}; TMPDIR=$0 exec "$@"`;
  const namespaces = process.getuid?.() === 0 ? ['-m'] : ['-Urm'];
  return (command: string, args: readonly string[]): [string, string[]] => [
    'unshare',
    [...namespaces, 'sh', '-c', script, folder, command, ...args],
  ];
}

it('where no file can be made in it any more, commands run', async () => {
  const {run, texts} = await runCommands(
    ['echo plain; while mktemp >/dev/null; do :; done'],
    inSmallFolder('nr_inodes=20'),
  );
  expect(run).toMatchObject({code: 0, stdout: 'done\n'});
  expect(texts).toEqual(
    expect.arrayContaining([expect.stringMatching(/^plain\nmktemp: failed .*No space/), ...sandboxed]),
  );
});

it('one that is full from the start is replaced by one in the home', async () => {
  const full = inSmallFolder('size=64k', 'cat /dev/zero > "$0/ballast" 2>/dev/null');
  const {run, texts} = await runCommands(['echo "$TMPDIR"; echo kept > "$(mktemp)" && echo made'], full);
  expect(run).toMatchObject({code: 0, stdout: 'done\n'});
  expect(texts).toEqual(
    expect.arrayContaining([expect.stringMatching(/\/\.mini-cc\/tmp\/mini-cc-.*\nmade$/s), ...sandboxed]),
  );
});
