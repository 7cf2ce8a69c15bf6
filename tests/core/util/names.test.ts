import {describe, expect, it} from 'vitest';
import {findMeant, findTypo, formatMeant} from '../../../src/core/util/names.ts';

const FLAGS = [
  'tools',
  'model',
  'debug',
  'maxBudgetUsd',
  'permissionMode',
  'maxTurns',
  'output-format',
  'providers',
  'deny',
];

describe('the word that was meant', () => {
  it.each([
    ['modle', 'model'],
    ['tool', 'tools'],
    ['max-turn', 'maxTurns'],
    ['budget', 'maxBudgetUsd'],
    ['permisionMode', 'permissionMode'],
    ['output', 'output-format'],
    ['MODEL', 'model'],
    ['modelName', 'model'],
    ['debugging', 'debug'],
    ['denied', 'deny'],
  ])('%j is near to %j', (word, meant) => {
    expect(findMeant(word, FLAGS)).toBe(meant);
  });

  it.each(['bogus', 'zzz', 'x', '', 'frobnicate', '__proto__'])('nothing is near to %j', (word) => {
    expect(findMeant(word, FLAGS)).toBeUndefined();
    expect(formatMeant(word, FLAGS)).toBe('');
  });

  it('is shown as its place writes it', () => {
    expect(formatMeant('modle', FLAGS, (name) => `--${name}`)).toBe(' (did you mean --model?)');
  });
});

describe('a typo', () => {
  it.each([
    ['modle', undefined, 'model'],
    ['mxdxl', undefined, undefined],
    ['mxdxl', 2, 'model'],
    ['dxny', undefined, 'deny'],
    ['dxnx', undefined, undefined],
    ['prxvidxrx', undefined, 'providers'],
    ['pxxvidxrx', undefined, undefined],
  ])('%j, with %j letters that may differ, is one of %j', (word, most, meant) => {
    expect(findTypo(word, FLAGS, most)).toBe(meant);
  });

  it('is of no word where none is known', () => {
    expect(findTypo('x', [])).toBeUndefined();
  });
});
