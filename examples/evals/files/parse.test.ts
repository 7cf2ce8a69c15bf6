import assert from 'node:assert/strict';
import test from 'node:test';
import {parse} from './parse.ts';

test('a wrong text is refused', () => {
  try {
    parse('{');
  } catch (error) {
    assert.match(String(error), /line 1/);
  }
});
