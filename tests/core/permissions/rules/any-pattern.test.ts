import {expect, test} from 'vitest';
import {ALL_TOOLS} from '../../../../src/compose/known-tools.ts';
import {expandPattern} from '../../../../src/core/permissions/files/file-patterns.ts';
import {createRule} from '../../../../src/core/permissions/rules/rule.ts';
import {RuleBook} from '../../../../src/core/permissions/rules/rule-book.ts';
import {measureCpu} from '../../../support/cpu-time.ts';
import {fixture} from '../../../tools/fixture.ts';

test('a rule with many stars, from the settings of a project, is matched in linear time', () => {
  const stars = '*a'.repeat(30);
  const rules = ['read_file', `mcp__${stars}*`].map((tool, index) =>
    createRule(index === 0 ? `${tool}(${stars}b)` : tool, 'deny', 'test', ALL_TOOLS),
  );
  const book = new RuleBook(rules, ALL_TOOLS);
  const ms = measureCpu(() => {
    for (let count = 0; count < 20; count += 1) {
      const name = 'a'.repeat(2000 + count);
      expect(book.findFileRule('read_file', 'deny', [`/root/${name}`], '/root')).toBeUndefined();
      expect(book.findFileRule('read_file', 'deny', [`/root/${name}b`], '/root')).toBeDefined();
      expect(book.forbids(`mcp__${name.replaceAll('a', 'c')}`)).toBe(false);
    }
  });
  expect(ms).toBeLessThan(5000);
});

test('a pattern of a command with many stars is expanded in linear time', () => {
  const {put, root} = fixture();
  put({['a'.repeat(200)]: '', [`${'a'.repeat(200)}b`]: ''});
  const ms = measureCpu(() => {
    expect(expandPattern(`${'*a'.repeat(40)}b`, root)).toEqual([root, `${root}/${'a'.repeat(200)}b`]);
  });
  expect(ms).toBeLessThan(2000);
});
