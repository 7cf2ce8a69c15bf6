import path from 'node:path';
import {describe, expect, it} from 'vitest';
import {parseArguments} from '../../src/cli/arguments.ts';
import {configCommandLine} from '../../src/compose/commands.ts';
import {UsageError} from '../../src/core/util/errors.ts';
import {makeFolders, PROJECT, type TestFolders, USER} from '../config/fixture.ts';

/** As `main` does, in a directory of the test. */
async function run(words: readonly string[], at: TestFolders, env: Record<string, string> = {}) {
  try {
    const {session, subcommand} = parseArguments(['config', ...words], env, () => at.cwd);
    const [verb = '', ...more] = subcommand!.words;
    const args = {verb, words: more, json: subcommand!.json};
    const {exitCode, stdout, stderr} = await configCommandLine({...session, home: at.home, env}, args);
    return {code: exitCode, stdout, stderr: stderr.split('\n').slice(0, -1)};
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return {code: 2, stdout: '', stderr: [error.message]};
  }
}

describe('mini-cc config show', () => {
  it('prints every setting with its value and source, but no API key', async () => {
    const at = makeFolders({[USER]: {permissions: {deny: ['bash(rm:*)']}}, [PROJECT]: {model: 'opus', modle: 1}});
    const {code, stdout, stderr} = await run(['show'], at, {ANTHROPIC_API_KEY: 'sk-verysecret'});
    expect(code).toBe(0);
    expect(stdout).toMatch(new RegExp(`^  model +opus +${path.join(at.base, PROJECT)}$`, 'm'));
    expect(stdout).toMatch(/^ {2}permissions\.deny +\["bash\(rm:\*\)"\] +\/.*home\/settings\.json$/m);
    expect(stdout).toMatch(/^ {2}retry\.maxWaitSeconds +120 in print mode, 300 in the REPL +default$/m);
    expect(stdout).toMatch(/^ {2}ANTHROPIC_API_KEY +set$/m);
    expect(stdout).toMatch(/^ {2}local +not there +\/.*settings\.local\.json$/m);
    expect(stdout).not.toContain('verysecret');
    expect(stderr).toEqual([
      `mini-cc: ${path.join(at.base, PROJECT)}:1:17: unknown key "modle" is ignored (did you mean model?)`,
    ]);
  });

  it('says that the offline model answers when nothing is configured', async () => {
    expect((await run(['show'], makeFolders({}))).stdout).toContain('the offline model answers');
  });

  it('prints one JSON object with --json, including warnings', async () => {
    const at = makeFolders({[USER]: {modle: 1}});
    const {code, stdout, stderr} = await run(['show', '--json'], at);
    expect({code, stderr}).toEqual({code: 0, stderr: []});
    const shown = JSON.parse(stdout);
    expect(Object.keys(shown)).toEqual(['settings', 'environment', 'files', 'warnings', 'offline', 'trust']);
    expect(shown.warnings).toHaveLength(1);
    expect(shown.settings).toContainEqual({key: 'limits.idleSeconds', value: 120, source: 'default', from: []});
  });

  it('accepts --settings and --cwd like a session', async () => {
    const at = makeFolders({
      'other/.mini-cc/settings.json': {model: 'haiku'},
      'other/mine.json': {subagentModel: 'opus'},
    });
    const {stdout} = await run(['show', '--cwd', '../other', '--settings=mine.json'], at);
    expect(stdout).toMatch(/^ {2}model +haiku /m);
    expect(stdout).toMatch(/^ {2}subagentModel +opus +\/.*mine\.json$/m);
  });

  it('exits with 2 and reports line and column for invalid settings', async () => {
    const at = makeFolders({[USER]: {permissions: {dney: []}}});
    expect(await run(['show'], at)).toEqual({
      code: 2,
      stdout: '',
      stderr: [`${path.join(at.base, USER)}:1:17: unknown key "permissions.dney" (did you mean permissions.deny?)`],
    });
  });
});

describe('mini-cc config schema', () => {
  it('prints the JSON Schema, also with invalid settings', async () => {
    const {code, stdout} = await run(['schema'], makeFolders({[USER]: '{'}));
    expect(code).toBe(0);
    expect(JSON.parse(stdout).$id).toBe('urn:mini-cc:schema:settings:1');
  });
});

describe('mini-cc config', () => {
  it.each([
    [[], 'say what to do'],
    [['sho'], 'there is no command mini-cc config sho (did you mean show?). There is show, schema'],
    [['show', 'model'], '"model" is too much'],
    [['show', '--jsn'], 'Unknown flag --jsn (did you mean --json?)'],
    [['show', '-x'], 'Unknown flag -x'],
    [['show', '--json=1'], '--json takes no value'],
    [['show', '--settings'], '--settings needs a value'],
    [['show', '--cwd', '/nope'], 'No such directory: /nope'],
    [['schema', '--json'], 'schema takes no --json'],
    [['\u001B[31m'], 'there is no command mini-cc config'],
  ])('%j is wrong usage: one line, and 2', async (args, words) => {
    const {code, stdout, stderr} = await run(args, makeFolders({}));
    expect({code, stdout, lines: stderr.length}).toEqual({code: 2, stdout: '', lines: 1});
    expect(stderr[0]).toMatch(/^[^\n\u001B]*$/);
    expect(stderr[0]).toContain(words);
  });
});
