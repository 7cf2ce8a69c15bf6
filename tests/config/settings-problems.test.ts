import {mkdirSync, symlinkSync} from 'node:fs';
import path from 'node:path';
import {execa} from 'execa';
import {describe, expect, it} from 'vitest';
import {loadSettings} from '../../src/config/settings.ts';
import {getUsageError, LOCAL, makeFolders, PROJECT, USER} from './fixture.ts';

/** The error for these user settings, without the path. */
function errorFor(value: unknown): string {
  const at = makeFolders({[USER]: value});
  return getUsageError(() => loadSettings(at)).replaceAll(path.join(at.base, USER), 'FILE');
}

function warningsFor(value: unknown): string[] {
  const at = makeFolders({[USER]: value});
  return loadSettings(at).warnings.map((line) => line.replaceAll(path.join(at.base, USER), 'FILE'));
}

describe('a key that is unknown', () => {
  it('is a warning with line, column and the nearest known key, at any depth', () => {
    const text = `{
  "modle": "opus",
  "subagents": {"maxConcurent": 3, "tools": {"denied": []}},
  "agents": {"explore": {"max_turns": 3}},
  "zzz": 1
}`;
    expect(warningsFor(text)).toEqual([
      'FILE:2:3: unknown key "modle" is ignored (did you mean model?)',
      'FILE:3:17: unknown key "subagents.maxConcurent" is ignored (did you mean subagents.maxConcurrent?)',
      'FILE:3:46: unknown key "subagents.tools.denied" is ignored (did you mean subagents.tools.deny?)',
      'FILE:4:26: unknown key "agents.explore.max_turns" is ignored (did you mean agents.explore.maxTurns?)',
      expect.stringMatching(/^FILE:5:3: unknown key "zzz" is ignored; the nearest known key is \w+$/),
    ]);
    expect(loadSettings(makeFolders({[USER]: text})).settings).toEqual({});
  });

  it('is named with its full path if it is at the wrong depth', () => {
    expect(warningsFor({idleSeconds: 3})).toEqual([
      'FILE:1:2: unknown key "idleSeconds" is ignored (did you mean limits.idleSeconds?)',
    ]);
  });

  it('is an error under permissions and sandbox, in any layer', () => {
    expect(errorFor({permissions: {dney: ['bash']}})).toBe(
      'FILE:1:17: unknown key "permissions.dney" (did you mean permissions.deny?)',
    );
    expect(errorFor({sandbox: {hid: []}})).toBe('FILE:1:13: unknown key "sandbox.hid" (did you mean sandbox.hide?)');
    const at = makeFolders({[LOCAL]: {permissions: {deni: []}}});
    expect(getUsageError(() => loadSettings(at))).toContain('settings.local.json:1:17: unknown key "permissions.deni"');
  });

  it('with dots gets the advice how to write it', () => {
    expect(warningsFor({'subagents.maxConcurrent': 2})).toEqual([
      'FILE:1:2: unknown key "\\"subagents.maxConcurrent\\"" is ignored (did you mean "subagents": {"maxConcurrent": …}?)',
    ]);
    expect(errorFor({'permissions.deny': ['bash(rm:*)']})).toMatch(/did you mean "permissions": \{"deny": …\}\?\)$/);
    expect(errorFor({sandbox: 'auto', 'sandbox.hid': ['~/x']})).toContain('unknown key');
  });

  it('is reported even when it is __proto__', () => {
    expect(warningsFor('{"__proto__": {}, "agents": {"__proto__": {"model": "x"}}}')).toEqual([
      expect.stringContaining('FILE:1:2: unknown key "__proto__" is ignored'),
      expect.stringContaining('FILE:1:30: unknown key "agents.__proto__" is ignored'),
    ]);
    expect(errorFor('{"permissions": {"__proto__": []}}')).toContain('unknown key "permissions.__proto__"');
  });
});

describe('a value that is wrong', () => {
  it.each([
    [{limits: {thinkingSeconds: 'many'}}, '1:30: limits.thinkingSeconds: must be a whole number from 0, not "many"'],
    [{retry: null}, '1:10: retry: must be an object, not null'],
    [{model: ''}, '1:10: model: must be the name of a model, and is empty'],
    [{model: ['opus']}, '1:10: model: must be the name of a model, not a list'],
    [
      {subagents: {maxConcurrent: 65}},
      '1:31: subagents.maxConcurrent: must be "auto" or a whole number from 1 to 64, not 65',
    ],
    [
      {subagents: {archiveAfterMinutes: -1}},
      '1:37: subagents.archiveAfterMinutes: must be a number of minutes, not -1',
    ],
    // What may be a password is not shown.
    [
      {subagents: {queue: {url: 'http://me:hunter2@h/1'}}},
      '1:30: subagents.queue.url: must be the address of Redis, redis://… or rediss://…, not "http://…@h/1"',
    ],
    [{limits: {profile: 'fast'}}, '1:22: limits.profile: must be standard or graded, not "fast"'],
    [
      {agents: {explore: {maxTurns: 401}}},
      '1:34: agents.explore.maxTurns: must be a whole number from 1 to 400, not 401',
    ],
    [{agents: {'a b': 1}}, '1:18: agents."a b": must be an object, not 1'],
    [{permissions: {deny: 'bash'}}, '1:24: permissions.deny: must be a list of rules, not "bash"'],
    [
      {permissions: {deny: ['bash', 3]}},
      '1:32: permissions.deny, entry 2: must be a rule such as "bash" or "edit_file(src/**)", not 3',
    ],
    [
      {permissions: {deny: ['bash', 'bash(rm:*']}},
      '1:32: permissions.deny, entry 2: "bash(rm:*" has no closing bracket (did you mean "bash(rm:*)"?)',
    ],
    [{permissions: {ask: ['bsh']}}, '1:24: permissions.ask, entry 1: there is no tool "bsh" (did you mean bash?)'],
    [
      {subagents: {tools: {deny: ['Bash(rm:*)']}}},
      '1:32: subagents.tools.deny, entry 1: "Bash(rm:*)": only whole tools stand here, with nothing in brackets (did you mean Bash?)',
    ],
    [
      {subagents: {tools: {deny: ['bash', 'bahs']}}},
      '1:39: subagents.tools.deny, entry 2: there is no tool "bahs" (did you mean bash?)',
    ],
    [
      {subagents: {tools: {allow: ['nope_*']}}},
      '1:33: subagents.tools.allow, entry 1: there is no tool that "nope_*" matches',
    ],
    [{sandbox: 'on'}, '1:12: sandbox: must be off, auto, required or an object, not "on"'],
    [{sandbox: {mode: 'on'}}, '1:20: sandbox.mode: must be off, auto or required, not "on"'],
    [{providers: {glm: {local: true}}}, '1:21: providers.glm.baseURL: is missing'],
    [{version: 0}, '1:12: version: must be a whole number from 1, not 0'],
  ])('%j is an error with its place', (value, message) => {
    expect(errorFor(value)).toBe(`FILE:${message}`);
  });

  it('is reported with the errors of all files, at most ten', () => {
    const at = makeFolders({[USER]: {model: 1, retry: {maxWaitSeconds: -1}}, [PROJECT]: {subagentModel: 2}});
    expect(getUsageError(() => loadSettings(at)).split('\n')).toEqual([
      expect.stringContaining(`${USER}:1:10: model`),
      expect.stringContaining(`${USER}:1:`),
      expect.stringContaining(`${PROJECT}:1:18: subagentModel`),
    ]);
    const many = Object.fromEntries(Array.from({length: 25}, (_, index) => [`a${index}`, {maxTurns: 0}]));
    const lines = errorFor({agents: many}).split('\n');
    expect(lines).toHaveLength(11);
    expect(lines.at(-1)).toBe('and 15 more');
  });

  it('brings no control characters to the screen', () => {
    const said = errorFor({agents: {'\u001B[31m\u202Ex\n': {model: 3}}, model: {'\u001B': 1}});
    expect(said).not.toMatch(/[\u001B\u202E]/);
    expect(said.split('\n')).toHaveLength(2);
  });
});

describe('a text that is not settings', () => {
  it.each([
    ['{"model": ', /^FILE:1:\d+: a value is missing/],
    ['{\n  "model": "a"\n  "retry": {}\n}', /^FILE:3:3: a comma is missing before/],
    ["{'model': 1}", /^FILE:1:2: .*double quotes/],
    ['[]', /^FILE:1:1: must contain one object/],
    ['"x"', /^FILE:1:1: must contain one object/],
    ['{} {}', /^FILE:1:4: the object ends before this/],
    [`{"hooks": ${'['.repeat(40_000)}`, /nested too deeply/],
    [`{"mcpServers": {"x": ${'['.repeat(500)}${']'.repeat(500)}}}`, /nested too deeply/],
    [new Uint8Array([0xff, 0xfe, 0x7b, 0, 0x7d, 0]), /^FILE:1:1: is not UTF-8/],
    [`{"model": "${'x'.repeat(4 * 1024 * 1024)}"}`, /^FILE:1:1: has 4.0 MB, and at most 4 MB are read/],
    [`{"hooks": [${'1,'.repeat(60_000)}1]}`, /^FILE:1:1: has more than 50,000 brackets/],
  ])('is an error with its place: %.30s', (text, message) => {
    expect(errorFor(text)).toMatch(message);
  });

  it('has a key twice: a warning, but an error under permissions', () => {
    const at = makeFolders({[USER]: '{"model": "a",\n "model": "b"}'});
    expect(loadSettings(at).settings.model).toBe('b');
    expect(loadSettings(at).warnings).toEqual([expect.stringContaining(':2:2: "model" stands twice: the last one')]);
    expect(errorFor('{"permissions": {"deny": ["bash"]}, "permissions": {}}')).toBe(
      'FILE:1:37: "permissions" stands twice',
    );
    expect(errorFor('{"permissions": {"deny": ["bash"], "deny": []}}')).toContain('"permissions.deny" stands twice');
  });
});

describe('a settings file', () => {
  it('is an error if it is a folder, a pipe or a dangling link', async () => {
    const at = makeFolders({});
    const file = path.join(at.home, 'settings.json');
    mkdirSync(file);
    expect(getUsageError(() => loadSettings(at))).toBe(`${file}:1:1: is a folder, not a file`);
    const other = makeFolders({});
    symlinkSync('gone.json', path.join(other.home, 'settings.json'));
    expect(getUsageError(() => loadSettings(other))).toContain('is a link to "gone.json", which is not there');
    const piped = makeFolders({});
    await execa('mkfifo', [path.join(piped.home, 'settings.json')]);
    expect(getUsageError(() => loadSettings(piped))).toContain('is not a regular file');
  });

  it('is an error if it cannot be read', () => {
    // A link to itself: unlike a missing permission, it stops root too.
    const at = makeFolders({});
    symlinkSync('settings.json', path.join(at.home, 'settings.json'));
    expect(getUsageError(() => loadSettings(at))).toMatch(/settings\.json:1:1: \S/);
  });

  it('is an error if --settings names it and it does not exist', () => {
    const at = makeFolders({x: ''});
    expect(getUsageError(() => loadSettings({...at, explicit: '../x/y.json'}))).toContain('no such file');
    expect(getUsageError(() => loadSettings({...at, explicit: '.'}))).toContain('is a folder, not a file');
    expect(getUsageError(() => loadSettings({...at, explicit: 'gone.json'}))).toBe(
      `${path.join(at.cwd, 'gone.json')}:1:1: no such file, and the command line names it`,
    );
  });
});

describe('a setting that this release does not have', () => {
  it('is a warning when a newer version wrote it, also under permissions, after one line that says so', () => {
    const newer = '{"version": 2, "permissions": {"deny": ["bash"], "hush": []}, "later": 1}';
    expect(warningsFor(newer)).toEqual([
      'FILE:1:13: was written for a newer version of mini-cc (format 2, this one knows 1): what is unknown here is ignored',
      expect.stringContaining('unknown key "permissions.hush" is ignored'),
      expect.stringContaining('unknown key "later" is ignored'),
    ]);
    expect(loadSettings(makeFolders({[USER]: newer})).settings).toEqual({permissions: {deny: ['bash']}});
    expect(warningsFor({version: 1, $schema: 'x'})).toEqual([]);
  });
});
