/**
 * What others read of mini-cc, kept byte by byte as snapshots: the first requests of the agents, the output of print mode, the
 * help, and the types of the library. The screens are in `captures.test.ts`. A change of these bytes must be meant: then run vitest
 * with `-u` and read the difference.
 */
import {readFileSync} from 'node:fs';
import path from 'node:path';
import {describe, expect, it, test} from 'vitest';
import {SUBCOMMANDS} from '../../src/cli/flags.ts';
import {type MessageReply, type MessagesBody, say} from '../support/messages-server.ts';
import {type CliRun, root, runCli} from '../support/run-cli.ts';
import {callTool, callTools} from '../support/scripted-replies.ts';
import {explore, home, isSubagent, project, serve} from './fixture.ts';

/** The numbers of tokens would depend on how long the paths of this machine are. */
const USAGE = {input_tokens: 1_000, output_tokens: 50, cache_read_input_tokens: 0, cache_creation_input_tokens: 0};
const counted = (reply: MessageReply): MessageReply => ({...reply, usage: USAGE});

function reply(body: MessagesBody): MessageReply {
  const step = body.messages.filter(({role}) => role === 'assistant').length;
  const steps = isSubagent(body)
    ? [callTool('glob', {pattern: 'src/gr*.ts'}, 'toolu_glob'), say('greet is in src/greet.ts:4')]
    : [
        callTool('read_file', {path: 'src/greet.ts'}, 'toolu_read', 'I look for it.'),
        callTools([{...explore('where is greet used?', 'find the uses'), id: 'toolu_task'}]),
        say('It greets.\n\n- in **main.ts**'),
      ];
  return counted(steps[step] ?? say('Done.'));
}

/** A prompt with one call that reads and one subagent. */
async function explain(...args: readonly string[]) {
  const [server, {path: cwd}, place] = [await serve(reply), await project(), await home()];
  const run = await runCli(['-p', 'explain the greeting', ...args], {server, cwd, home: place});
  return {run, server, normalize: createNormalizer({[cwd]: '<project>', [place.path]: '<home>'})};
}

/** Without what depends on the machine, the time, and the version. The same id is the same name each time. */
function createNormalizer(folders: Readonly<Record<string, string>>) {
  const names = new Map<string, string>();
  const name = (id: string) => {
    if (!names.has(id)) names.set(id, `<id ${names.size + 1}>`);
    return names.get(id)!;
  };
  const {version} = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as {version: string};
  return (text: string) => {
    let changed = text;
    for (const [folder, called] of Object.entries(folders)) changed = changed.replaceAll(folder, called);
    return changed
      .replaceAll(/(\/projects\/)[^/"]+/g, '$1<slug>')
      .replaceAll(/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, name)
      .replaceAll(/\bmsg_\w+/g, name)
      .replaceAll(version, '<version>')
      .replaceAll(/\b20\d\d-\d\d-\d\d(?:T[\d:.]+Z)?/g, '<date>')
      .replaceAll(/("\w*(?:_ms|Ms|seconds)":\s*)[\d.]+/g, '$10')
      .replaceAll(/\b\d+\.\ds\b/g, '0.0s')
      .replaceAll(/Platform: \w+/g, 'Platform: <platform>');
  };
}

/** One object a line, spread over lines: a difference can be read. */
const spread = (lines: string) =>
  lines
    .trimEnd()
    .split('\n')
    .map((line) => JSON.stringify(JSON.parse(line), undefined, 2))
    .join('\n');

const shown = ({stdout, stderr, code}: CliRun, format = (text: string) => text) =>
  `\n${format(stdout)}\n--- standard error\n${stderr}--- exit code ${code}\n`;

test('the first requests of the main agent and of a subagent', async () => {
  const {server, normalize} = await explain();
  const bodies = server.requests.map(({body}) => body);
  const firstOf = (choose: (body: MessagesBody) => boolean) =>
    `\n${normalize(JSON.stringify(bodies.find(choose), undefined, 2))}\n`;
  expect(firstOf((body) => !isSubagent(body))).toMatchSnapshot('of the main agent');
  expect(firstOf(isSubagent)).toMatchSnapshot('of a subagent');
});

describe('the output of print mode', () => {
  it('as text', async () => {
    const {run, normalize} = await explain();
    expect(normalize(shown(run))).toMatchSnapshot();
  });

  it('as json', async () => {
    const {run, normalize} = await explain('--output-format', 'json');
    expect(run.stdout.trimEnd()).not.toContain('\n');
    expect(normalize(shown(run, spread))).toMatchSnapshot();
  });

  it('as stream-json', async () => {
    const {run, normalize} = await explain('--output-format', 'stream-json', '--verbose');
    expect(normalize(shown(run, spread))).toMatchSnapshot();
  });

  it('as stream-json with the parts of messages', async () => {
    const server = await serve(() => counted(say('It greets people.')));
    const {path: cwd} = await project();
    const args = ['--output-format', 'stream-json', '--verbose', '--include-partial-messages'];
    const run = await runCli(['-p', 'explain', ...args], {server, cwd});
    const lines = run.stdout.split('\n').filter((line) => line.includes('"stream_event"'));
    expect(`\n${createNormalizer({})(lines.join('\n'))}\n`).toMatchSnapshot();
  });
});

test('the help', async () => {
  expect(createNormalizer({})(shown(await runCli(['--help'])))).toMatchSnapshot();
});

test('the help of each subcommand, which fits a screen', async () => {
  const texts: string[] = [];
  for (const name of SUBCOMMANDS) {
    const {stdout, code} = await runCli([name, '--help']);
    expect({code, isOwn: stdout.startsWith(`mini-cc ${name}: `)}, name).toEqual({code: 0, isOwn: true});
    const rows = stdout.trimEnd().split('\n');
    expect(rows.length, name).toBeLessThanOrEqual(30);
    expect(Math.max(...rows.map((row) => row.length)), name).toBeLessThanOrEqual(100);
    texts.push(stdout);
  }
  expect(texts.join('\n')).toMatchSnapshot();
});

test('the types that the package ships', () => {
  const types = readFileSync(path.join(root, 'dist', 'index.d.ts'), 'utf8');
  expect(readFileSync(path.join(root, 'dist', 'index.d.cts'), 'utf8')).toBe(types);
  expect(`\n${types}\n`).toMatchSnapshot();
});
