/** The types that the package ships are written by hand in `public.d.ts`. Here the compiler asserts that they are true. */
import {expect, it} from 'vitest';
import * as library from '../../src/library/index.ts';
import type * as shipped from '../../src/library/public.d.ts';

// Does not compile when an export has other parameters or results than the shipped types say.
const exported: Omit<typeof shipped, 'runAgent'> = library;
// The shipped `AgentRun` has only some of the fields: programs get theirs from `createAgentRun`.
const runAgent: (run: Awaited<ReturnType<typeof library.createAgentRun>>) => Promise<shipped.RunResult> =
  library.runAgent;
// Does not compile when the code exports something that the shipped types do not declare.
const allDeclared: [Exclude<keyof typeof library, keyof typeof shipped>] extends [never] ? true : false = true;

it('exports what the shipped types declare', () => {
  expect(allDeclared).toBe(true);
  expect(Object.keys({...exported, runAgent}).sort()).toEqual([
    'MiniCcError',
    'SubagentManager',
    'UsageError',
    'createAgentRun',
    'runAgent',
    'testAgent',
  ]);
});
