import {describe, expect, it} from 'vitest';
import type {Verdict} from '../../../src/core/contract/permission.ts';
import {ALLOWED, combineVerdicts, deny} from '../../../src/core/permissions/verdict.ts';

const ask = (change: Partial<Extract<Verdict, {verdict: 'ask'}>> = {}): Verdict => ({
  ...{verdict: 'ask', because: 'why'},
  ...change,
});
const attempts = [{launch: 'read-only', checkpoint: false}] as const;

describe('the verdict on several accesses', () => {
  it('is a refusal where one of them is refused', () => {
    expect(combineVerdicts([ALLOWED, ask(), deny('no'), deny('never')])).toEqual(deny('no'));
  });

  it('is a question where one of them is to be asked about, with the attempts of the command', () => {
    expect(combineVerdicts([{...ALLOWED, attempts}, ask({because: 'first'}), ask({because: 'second'})])).toEqual({
      ...{verdict: 'ask', because: 'first', attempts},
    });
  });

  it('offers a rule for one question, not for several', () => {
    expect(combineVerdicts([ALLOWED, ask({rules: ['bash(ls)']})])).toEqual({
      verdict: 'ask',
      because: 'why',
      rules: ['bash(ls)'],
    });
    expect(combineVerdicts([ask({rules: ['bash(ls)']}), ask()])).toEqual({verdict: 'ask', because: 'why'});
    const edit = ask({rules: ['edit_file(/src/**)']});
    expect(combineVerdicts([edit, ask({rules: ['bash(ls)']})])).not.toHaveProperty('rules');
    expect(combineVerdicts([edit, ask()])).not.toHaveProperty('rules');
  });

  it('offers the rules of all edits of one call', () => {
    const edits = ['/src/**', '/src/**', '/tests/**'].map((place) => ask({rules: [`edit_file(${place})`]}));
    expect(combineVerdicts(edits)).toMatchObject({rules: ['edit_file(/src/**)', 'edit_file(/tests/**)']});
  });

  it('is asked once, or of a person alone, where one of the questions is', () => {
    expect(combineVerdicts([ask(), ask({onlyOnce: true})])).toMatchObject({onlyOnce: true});
    expect(combineVerdicts([ask(), ask({onlyPerson: true})])).toMatchObject({onlyPerson: true});
    expect(combineVerdicts([ask(), ask()])).toEqual({verdict: 'ask', because: 'why'});
  });

  it('allows, with the first reason and the attempts that there are', () => {
    expect(combineVerdicts([])).toEqual(ALLOWED);
    const allowed = [ALLOWED, {...ALLOWED, because: 'a rule', attempts}, {...ALLOWED, because: 'another'}];
    expect(combineVerdicts(allowed)).toEqual({verdict: 'allow', because: 'a rule', attempts});
  });
});
