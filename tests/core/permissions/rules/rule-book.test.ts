import {expect, it} from 'vitest';
import {createRule} from '../../../../src/core/permissions/rules/rule.ts';
import type {RuleStore} from '../../../../src/core/permissions/rules/rule-book.ts';
import {createPolicy, ruleBook} from '../fixture.ts';

function createStore(): RuleStore & {readonly saved: string[]} {
  const saved: string[] = [];
  return {
    ...{saved, source: 'the file', canSave: (rule: string) => !rule.includes('key')},
    add: async (rules) => void saved.push(...rules),
  };
}

const textsOf = (rules: readonly {readonly text: string}[]) => rules.map(({text}) => text);

it('a rule is saved in the store, and holds at once, also when it is saved twice', async () => {
  const store = createStore();
  const book = ruleBook({deny: ['bash(rm *)']}, store);
  await book.save('bash(npm test)');
  await book.save('bash(npm test)');
  // An equal rule of another kind is another rule.
  await book.save('bash(rm *)');
  expect(store.saved).toEqual(['bash(npm test)', 'bash(npm test)', 'bash(rm *)']);
  expect(textsOf(book.list())).toEqual(['bash(rm *)', 'bash(npm test)', 'bash(rm *)']);
  expect([book.canSave('bash(npm test)'), book.canSave('bash(key)')]).toEqual([true, false]);
});

it('without a store no rule can be saved', async () => {
  const book = ruleBook();
  await expect(book.save('bash(npm test)')).rejects.toMatchObject({code: 'NO_RULE_STORE'});
  expect([book.list(), book.canSave('bash(npm test)')]).toEqual([[], false]);
});

it('rules of a turn and of a driver hold until they are set anew; only those of the driver are listed', () => {
  const book = ruleBook();
  const allow = (text: string) => [createRule(text, 'allow', 'a test')];
  const inForce = () => textsOf(book.getToolRules('bash', 'allow')).join();
  expect([book.setTurnRules([]), book.setTurnRules(allow('bash'))]).toEqual([false, true]);
  expect([inForce(), book.list()]).toEqual(['bash', []]);
  book.setDriverRules(allow('bash(*)'));
  expect([inForce(), textsOf(book.list()).join()]).toEqual(['bash(*),bash', 'bash(*)']);
  expect([book.setTurnRules([]), inForce()]).toEqual([true, 'bash(*)']);
  book.setDriverRules([]);
  expect(inForce()).toBe('');
});

it('a tool is forbidden by a rule without brackets, a host named by a pattern without a star', () => {
  const book = ruleBook({
    deny: ['web_search', 'bash(rm *)'],
    allow: ['web_fetch(domain:a.com)', 'web_fetch(domain:*.b.com)'],
  });
  expect(['web_search', 'bash', 'grep'].map((tool) => book.forbids(tool))).toEqual([true, false, false]);
  expect(['a.com', 'x.b.com', 'c.com'].map((host) => book.namesHost(host))).toEqual([true, false, false]);
});

it('a policy changes with the rules of a turn, but not where there are none before and after', () => {
  const policy = createPolicy({});
  const before = policy.changes;
  policy.allowInTurn([]);
  expect(policy.changes).toBe(before);
  policy.allowInTurn(['bash(npm test)']);
  policy.allowInTurn([]);
  expect(policy.changes).toBe(before + 2);
});
