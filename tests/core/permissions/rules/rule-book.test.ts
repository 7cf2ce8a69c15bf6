import {homedir} from 'node:os';
import {describe, expect, it} from 'vitest';
import {ALL_TOOLS} from '../../../../src/compose/known-tools.ts';
import {createRule} from '../../../../src/core/permissions/rules/rule.ts';
import {RuleBook} from '../../../../src/core/permissions/rules/rule-book.ts';
import {ruleBook} from '../fixture.ts';

const rule = (text: string, kind: 'allow' | 'ask' | 'deny' = 'allow') => createRule(text, kind, 'a test', ALL_TOOLS);

describe('the rules of a session', () => {
  it('are those of settings, of the driver and of the turn; the last two hold until they are set anew', () => {
    const book = ruleBook({allow: ['bash(a)']});
    book.setDriverRules([rule('bash(b)')]);
    expect(book.setTurnRules([rule('bash(c)')])).toBe(true);
    const patterns = () => book.getPatternRules(['bash'], 'allow').map(({pattern}) => pattern);
    expect(patterns()).toEqual(['a', 'b', 'c']);
    expect(book.setTurnRules([rule('bash(d)')])).toBe(true);
    book.setDriverRules([]);
    expect(patterns()).toEqual(['a', 'd']);
    expect(book.setTurnRules([])).toBe(true);
    expect(book.setTurnRules([])).toBe(false);
  });

  it('are saved once, and without a store they cannot be saved', async () => {
    const saved: string[] = [];
    const store = {
      ...{source: 'the store', canSave: (text: string) => text !== 'bash(key)'},
      remove: async () => undefined,
      add: async (rules: readonly string[]) => void saved.push(...rules),
    };
    const book = new RuleBook([rule('bash(a)', 'deny'), rule('bash(b)')], ALL_TOOLS, store);
    for (const text of ['bash(a)', 'bash(a)', 'bash(b)']) await book.save([text]);
    expect(saved).toEqual(['bash(a)', 'bash(a)', 'bash(b)']);
    expect(book.list().map(({kind, text}) => `${kind} ${text}`)).toEqual([
      'deny bash(a)',
      'allow bash(b)',
      'allow bash(a)',
    ]);
    expect([
      book.canSave(['bash(a)']),
      book.canSave(['bash(a)', 'bash(key)']),
      ruleBook().canSave(['bash(a)']),
    ]).toEqual([...[true, false, false]]);
    await expect(ruleBook().save(['bash(a)'])).rejects.toThrow('Rules cannot be saved');
  });

  it('forbid a tool where one denies all of its calls', () => {
    const book = ruleBook({deny: ['bash', 'grep(x)'], ask: ['glob']});
    expect(['bash', 'grep', 'glob'].filter((tool) => book.forbids(tool))).toEqual(['bash']);
  });

  it('name a host where one allows exactly this host', () => {
    const book = ruleBook({allow: ['web_fetch(domain:a.com)', 'web_fetch(domain:b.com)', 'web_fetch(domain:*.c.com)']});
    expect(['a.com', 'b.com', 'x.c.com', 'd.com'].filter((host) => book.namesHost(host))).toEqual(['a.com', 'b.com']);
  });

  it.each([
    [{deny: ['read_file(x)']}, true],
    [{ask: ['grep(x)']}, true],
    [{deny: ['read_file(x)'], ask: ['read_file(y)']}, true],
    [{deny: ['edit_file(x)'], allow: ['read_file(x)']}, false],
  ])('%j restrict the files of a search: %s', (rules, expected) => {
    expect(ruleBook(rules).restrictsFiles('grep')).toBe(expected);
  });
});

describe('a pattern of files', () => {
  const matches = (kind: 'allow' | 'deny', pattern: string, ...targets: string[]) =>
    ruleBook({[kind]: [`read_file(${pattern})`]}).findFileRule('read_file', kind, targets, '/project') !== undefined;

  it('with a slash at its end allows what is in the folder alone, and refuses the folder itself, too', () => {
    expect(matches('allow', 'build/', '/project/build/x')).toBe(true);
    expect(matches('allow', 'build/', '/project/a/build/x')).toBe(true);
    expect(matches('allow', 'build/', '/project/build')).toBe(false);
    expect(matches('deny', 'build/', '/project/build')).toBe(true);
    expect(matches('allow', 'build', '/project/build')).toBe(true);
  });

  it.each([
    ['//etc', '/etc/x', '/project/etc/x'],
    ['~/x', `${homedir()}/x`, `${homedir()}/a/x`],
    ['~', `${homedir()}/a`, '/project/a'],
    ['./x', '/project/x', '/project/a/x'],
    ['/x', '/project/x', '/project/a/x'],
    ['../x', '/x', '/project/x'],
  ])('%j is about %s, not about %s', (pattern, about, other) => {
    expect([matches('deny', pattern, about), matches('deny', pattern, other)]).toEqual([true, false]);
  });

  it('matches the workspace itself only where it is a star', () => {
    for (const pattern of ['**', '/**', '/*']) expect(matches('deny', pattern, '/project'), pattern).toBe(true);
    expect(matches('deny', '*.ts', '/project')).toBe(false);
  });

  it('allows where all names of a file match, and refuses where one does', () => {
    expect(matches('allow', 'src/**', '/project/src/a', '/project/lib/a')).toBe(false);
    expect(matches('allow', 'src/**', '/project/src/a', '/project/src/b')).toBe(true);
    expect(matches('deny', 'src/**', '/project/src/a', '/project/lib/a')).toBe(true);
    expect(matches('deny', 'src/**', '/project/lib/b', '/project/lib/a')).toBe(false);
  });
});
