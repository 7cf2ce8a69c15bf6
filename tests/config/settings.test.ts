import {readFileSync, symlinkSync} from 'node:fs';
import path from 'node:path';
import {describe, expect, it} from 'vitest';
import {loadSettings} from '../../src/config/settings.ts';
import {LOCAL, makeFolders, PROJECT, USER} from './fixture.ts';

describe('sandbox.container', () => {
  it('counts in the user’s own settings only, also where the project is trusted', () => {
    const projects = makeFolders({[PROJECT]: {sandbox: {mode: 'auto', container: true}}});
    const {settings, warnings, claims} = loadSettings({...projects, trusts: () => true});
    expect(settings.sandbox).toEqual({mode: 'auto'});
    expect(warnings).toEqual([
      `${path.join(projects.base, PROJECT)}: sandbox.container is ignored: only your own settings may say it`,
    ]);
    expect(claims.map(({value}) => value)).toEqual([{mode: 'auto'}]);
    const own = makeFolders({
      [USER]: {sandbox: {container: true, show: ['a'], env: ['B']}},
      [PROJECT]: {sandbox: {show: ['c']}},
    });
    expect(loadSettings({...own, trusts: () => true}).settings.sandbox).toEqual({
      container: true,
      show: ['a', 'c'],
      env: ['B'],
    });
  });
});

describe('settings of a project that are a link out of it', () => {
  it.each(['.mini-cc', '.claude'])('are not followed in %s, and a warning says so', (folder) => {
    const at = makeFolders({'elsewhere/settings.json': {model: 'opus', permissions: {allow: ['Bash(ls)']}}});
    symlinkSync(path.join(at.base, 'elsewhere'), path.join(at.cwd, folder));
    const {settings, warnings, claims, directories} = loadSettings({...at, userHome: at.base, trusts: () => true});
    expect({settings, claims, directories}).toEqual({settings: {}, claims: [], directories: []});
    expect(warnings).toEqual([
      `${path.join(at.cwd, folder, 'settings.json')} is a link out of the project, to ${path.join(at.base, 'elsewhere/settings.json')}: it is not followed`,
    ]);
  });
});

describe('layers of settings', () => {
  it('win key by key, the strongest first', () => {
    const at = makeFolders({
      [USER]: {model: 'opus', limits: {idleSeconds: 2}, agents: {explore: {model: 'haiku', maxTurns: 9}}},
      [PROJECT]: {model: 'sonnet', agents: {explore: {model: 'opus'}, code: {timeoutSeconds: 0}}},
      [LOCAL]: {limits: {thinkingSeconds: 9}},
    });
    expect(loadSettings(at).settings).toEqual({
      model: 'sonnet',
      agents: {explore: {model: 'opus', maxTurns: 9}, code: {timeoutSeconds: 0}},
      limits: {idleSeconds: 2, thinkingSeconds: 9},
    });
  });

  it('are weaker than --settings, whose path starts at the working directory', () => {
    const at = makeFolders({[USER]: {model: 'opus'}, [LOCAL]: {model: 'sonnet'}, 'x.json': {model: 'mine'}});
    expect(loadSettings({...at, explicit: '../x.json'}).settings.model).toBe('mine');
    expect(loadSettings({...at, explicit: '/dev/null'}).settings.model).toBe('sonnet');
  });

  it('add up the rules of permissions and the tools that subagents are denied', () => {
    const at = makeFolders({
      [USER]: {
        permissions: {deny: ['bash'], allow: ['grep']},
        subagents: {tools: {deny: ['bash'], allow: ['grep', 'glob']}},
      },
      [PROJECT]: {permissions: {deny: ['web_fetch', 'bash']}, subagents: {allowAgents: ['plan']}},
      [LOCAL]: {subagents: {tools: {deny: ['glob'], allow: ['glob']}}},
    });
    expect(loadSettings(at).settings).toEqual({
      permissions: {deny: ['bash', 'web_fetch'], allow: ['grep']},
      subagents: {tools: {deny: ['bash', 'glob'], allow: ['glob']}, allowAgents: ['plan']},
    });
  });

  it('know for each value which files it comes from', () => {
    const at = makeFolders({
      [USER]: {model: 'opus', permissions: {deny: ['bash']}},
      [PROJECT]: {model: 'haiku', permissions: {deny: ['grep']}},
    });
    const user = {layer: 'user', file: path.join(at.base, USER)};
    const project = {layer: 'project', file: path.join(at.base, PROJECT)};
    const {origins, files} = loadSettings(at);
    expect(origins).toEqual([
      {path: ['model'], value: 'haiku', from: [project]},
      {path: ['permissions', 'deny'], value: ['bash', 'grep'], from: [user, project]},
    ]);
    expect(files).toEqual([
      {...user, found: true},
      {...project, found: true},
      {layer: 'local', file: path.join(at.base, LOCAL), found: false},
    ]);
  });

  it('are frozen to the last leaf', () => {
    const {settings} = loadSettings(
      makeFolders({[USER]: {permissions: {deny: ['bash']}, agents: {plan: {maxTurns: 3}}}}),
    );
    for (const each of [settings, settings.permissions, settings.permissions?.deny, settings.agents?.plan]) {
      expect(Object.isFrozen(each)).toBe(true);
    }
  });

  it('count once where the working directory is the home, as the user’s own', () => {
    const at = makeFolders({
      'home/.mini-cc/settings.json': {permissions: {allow: ['bash']}},
      'home/.mini-cc/settings.local.json': {permissions: {allow: ['grep']}},
    });
    const {settings, warnings, files} = loadSettings({...at, home: path.join(at.home, '.mini-cc'), cwd: at.home});
    expect(settings.permissions?.allow).toEqual(['bash', 'grep']);
    expect(warnings).toEqual([]);
    expect(files.map(({layer}) => layer)).toEqual(['user', 'local']);
  });

  it('keep agents that are named like members of every object', () => {
    const {settings} = loadSettings(
      makeFolders({[USER]: {agents: {constructor: {model: 'a'}, toString: {maxTurns: 2}}}}),
    );
    expect(settings.agents).toEqual({constructor: {model: 'a'}, toString: {maxTurns: 2}});
  });
});

describe('settings of a project', () => {
  it('that could run code or send data elsewhere are ignored and named, unless they are trusted', () => {
    const dangerous = {
      providers: {mine: {baseURL: 'https://collector.example'}},
      hooks: {Stop: []},
      mcpServers: {x: {command: 'sh'}},
      sandbox: 'off',
      verify: {fast: ['sh x']},
    };
    const at = makeFolders({
      [PROJECT]: {...dangerous, permissions: {allow: ['bash'], deny: ['write_file']}},
      [LOCAL]: {permissions: {allow: ['bash']}},
    });
    const {settings, warnings, claims} = loadSettings(at);
    expect({settings, warnings}).toEqual({settings: {permissions: {deny: ['write_file']}}, warnings: []});
    const keys = ['providers', 'hooks', 'mcpServers.x', 'permissions.allow', 'sandbox', 'verify'];
    const [project, local] = [PROJECT, LOCAL].map((file) => path.join(at.base, file));
    expect(claims.map(({file, key}) => [file, key])).toEqual([
      ...keys.map((key) => [project, key]),
      [local, 'permissions.allow'],
    ]);
    expect(claims.find(({key}) => key === 'sandbox')?.value).toEqual({mode: 'off'});
    const trusting = loadSettings({...at, trusts: ({file, key}) => file === local && key === 'permissions.allow'});
    expect(trusting.settings.permissions).toEqual({allow: ['bash'], deny: ['write_file']});
    expect(trusting.claims).toEqual(claims);
  });

  it('count as the user’s own when the folder is a link to the user’s own', () => {
    const at = makeFolders({[USER]: {permissions: {allow: ['bash']}}});
    symlinkSync(at.home, path.join(at.cwd, '.mini-cc'));
    expect(loadSettings(at)).toMatchObject({settings: {permissions: {allow: ['bash']}}, warnings: []});
  });
});

describe('the text of settings', () => {
  it('may hold comments, trailing commas, a byte order mark and CRLF', () => {
    const text = '\uFEFF{\r\n  // which\r\n  "model": "opus", /* all */\r\n  "retry": {"maxWaitSeconds": 3,},\r\n}\r\n';
    expect(loadSettings(makeFolders({[USER]: text}))).toMatchObject({
      settings: {model: 'opus', retry: {maxWaitSeconds: 3}},
      warnings: [],
    });
  });

  it('may be empty, or all commented out', () => {
    for (const text of ['', ' \n\t', '\uFEFF', '// {"model": "opus"}\n  // nothing yet\n', '{}', '{ /* nothing */ }']) {
      expect(loadSettings(makeFolders({[USER]: text}))).toMatchObject({settings: {}, warnings: []});
    }
  });

  it('is not looked for where .mini-cc is a file', () => {
    expect(loadSettings(makeFolders({'work/.mini-cc': 'x'})).settings).toEqual({});
  });

  it('is only read: the file keeps its bytes', () => {
    const text = '{"model": "opus",, }';
    const at = makeFolders({[USER]: text});
    expect(() => loadSettings(at)).toThrow();
    expect(readFileSync(path.join(at.base, USER), 'utf8')).toBe(text);
  });
});

describe('permissions of .claude/settings.json', () => {
  const CLAUDE = {
    permissions: {
      ...{allow: ['Bash(npm test:*)', 'Bsh'], ask: ['Bash(git push:*)'], deny: ['Read(./.env)', 'Edit']},
      ...{additionalDirectories: ['../other', '../gone'], defaultMode: 'acceptEdits', x: 1},
    },
    model: 'opus',
  };
  const files = {'work/.claude/settings.json': CLAUDE, 'other/a': '', 'me/x': '', 'home/x': ''};
  const load = (more: object, claims: (string | undefined)[] = []) => {
    const at = makeFolders({...files, ...more});
    const trusts = ({key}: {key: string}) => claims.includes(key);
    return {at, ...loadSettings({...at, userHome: path.join(at.base, 'me'), trusts})};
  };

  it('of a project deny and ask without trust, and allow and add directories with it', () => {
    const untrusted = load({});
    expect(untrusted.settings).toEqual({permissions: {ask: ['Bash(git push:*)'], deny: ['Read(./.env)', 'Edit']}});
    expect(untrusted.directories).toEqual([]);
    expect(untrusted.claims.map(({key}) => key)).toEqual(['permissions.allow', 'permissions.additionalDirectories']);
    const {at, settings, directories} = load({}, ['permissions.allow', 'permissions.additionalDirectories']);
    expect(settings.permissions?.allow).toEqual(['Bash(npm test:*)']);
    expect(directories).toEqual([path.join(at.base, 'other')]);
  });

  it('of the user count without trust, beside the rules of mini-cc', () => {
    const {settings, directories, claims, isPlan} = load({
      ...{
        'me/.claude/settings.json': {permissions: {allow: ['Read'], defaultMode: 'plan', additionalDirectories: ['~']}},
      },
      ...{[USER]: {permissions: {allow: ['bash']}}, 'work/.claude/settings.json': ''},
    });
    expect(settings).toEqual({permissions: {allow: ['Read', 'bash']}});
    expect([directories.length, claims, isPlan]).toEqual([1, [], true]);
  });

  it('have hints about what is not understood, and no errors', () => {
    const {hints, isPlan, warnings} = load({});
    expect(hints.map(({message, severity}) => `${severity} ${message}`)).toEqual([
      'hint permissions.allow: there is no tool "Bsh": this rule is not used',
      'hint permissions.additionalDirectories: there is no folder "../gone"',
      'hint permissions.defaultMode: only plan has an effect, "acceptEdits" has none',
      'hint permissions.x: mini-cc does not know it',
    ]);
    expect([isPlan, warnings]).toEqual([false, []]);
    expect(load({'work/.claude/settings.json': '{"permissions": '}).hints).toHaveLength(1);
  });
});

describe('--settings in Claude Code’s words', () => {
  it('bring a mode with its sandbox, and folders; a folder that is not there is a warning', () => {
    const at = makeFolders({'more/a.txt': {}});
    const permissions = {defaultMode: 'auto', additionalDirectories: ['../more', '../gone'], deny: ['Bash']};
    const loaded = loadSettings({...at, cwd: path.join(at.base, 'more'), explicit: JSON.stringify({permissions})});
    expect(loaded).toMatchObject({mode: 'default', sandboxMode: 'auto', settings: {permissions: {deny: ['Bash']}}});
    expect(loaded.directories).toEqual([path.join(at.base, 'more')]);
    expect(loaded.warnings.join('\n')).toMatch(/mode auto: it is default.*\n.*there is no folder \.\.\/gone/);
  });
});

describe('--managed-settings', () => {
  const load = (managed: object, own: object = {}) =>
    loadSettings({...makeFolders({[USER]: own}), managed: JSON.stringify(managed)});

  it('narrow what all others allow', () => {
    const {settings} = load({permissions: {deny: ['Bash']}, sandbox: {enabled: true}}, {sandbox: 'off'});
    expect(settings).toMatchObject({permissions: {deny: ['Bash']}, sandbox: {mode: 'auto'}});
    const off = {disableBypassPermissionsMode: 'disable'};
    expect(load({permissions: off}).settings.permissions).toEqual(off);
    expect(load({sandbox: {enabled: true}}, {sandbox: 'required'}).settings.sandbox?.mode).toBe('required');
  });

  it.each([
    [{permissions: {allow: ['Bash']}}, 'permissions.allow'],
    [{model: 'opus'}, 'model'],
    [{sandbox: {allowedHosts: ['x.org']}}, 'sandbox.allowedHosts'],
    [{forceLoginMethod: 'x'}, 'forceLoginMethod'],
    [{permissions: {defaultMode: 'plan'}}, 'permissions.defaultMode'],
  ])('say nothing else: %j', (managed, key) => {
    expect(() => load(managed)).toThrow(key);
  });
});
