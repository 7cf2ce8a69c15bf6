import {describe, expect, it} from 'vitest';
import {MiniCcError} from '../../../src/core/util/errors.ts';
import {repairTaskInput} from '../../../src/tools/task/task-input.ts';

const agents = ['explore', 'code', 'plan', 'reviewer', 'coder', 'code-review'];
const repair = (input: unknown) => repairTaskInput(input, agents);

describe('the input of a Task call', () => {
  it('stays as it is when it is valid', () => {
    const input = {agent_type: 'explore', prompt: ' look\n', description: 'look around'};
    expect(repair(input)).toEqual({input, notes: []});
  });

  it.each([
    [{subagent_type: 'reviewer', prompt: '审查代码'}, 'reviewer', '审查代码'],
    [{agentId: 'explore', task: 'x'}, 'explore', 'x'],
    [{agent: 'plan', prompt: 'x'}, 'plan', 'x'],
    [{type: 'code', prompt: 'x'}, 'code', 'x'],
    [{agentType: 'code', prompt: 'x'}, 'code', 'x'],
    [{agent_type: '<arg_value>coder</arg_value>', prompt: 'x'}, 'coder', 'x'],
    [{agent_type: 'coder</arg_value', prompt: 'x'}, 'coder', 'x'],
    [{agent_type: '<arg_value>coder', prompt: 'x'}, 'coder', 'x'],
    [{agent_type: '""coder""', prompt: 'x'}, 'coder', 'x'],
    [{agent_type: "'coder'", prompt: 'x'}, 'coder', 'x'],
    [{agent_type: '  Explore\n', prompt: 'x'}, 'explore', 'x'],
    [{agent_type: '“coder”', prompt: 'x'}, 'coder', 'x'],
    [{'subagent_type="code-review</arg_value>': '审查代码'}, 'code-review', '审查代码'],
    [{"agent_type='code-review'>": '审查代码'}, 'code-review', '审查代码'],
    [{agent_type: '', subagent_type: 'plan', prompt: 'x'}, 'plan', 'x'],
    ['{"agent_type": "plan", "prompt": "x"}', 'plan', 'x'],
  ])('%j is repaired', (input, agentType, prompt) => {
    expect(repair(input).input).toMatchObject({agent_type: agentType, prompt});
  });

  it('notes each repair and quotes what was sent', () => {
    expect(repair({agent_type: '<arg_value>coder', prompt: 'x', description: 'd'}).notes).toEqual([
      'agent_type from "<arg_value>coder"',
    ]);
    expect(
      repair({subagent_type: 'plan', prompt: 'x', run_in_background: 'true', runTimeoutSeconds: '30'}),
    ).toMatchObject({
      input: {agent_type: 'plan', background: true, timeout_seconds: 30},
      notes: [
        'agent_type from key "subagent_type"',
        'background from key "run_in_background"',
        'timeout_seconds from key "runTimeoutSeconds"',
        'timeout_seconds from "30"',
        'background from "true"',
      ],
    });
  });

  it('repairs the words of the other fields likewise, and leaves valid ones alone', () => {
    const input = {agent_type: 'plan', prompt: 'x', description: 'd', cleanup: '"Delete"', thinking: 'low'};
    expect(repair(input)).toEqual({input: {...input, cleanup: 'delete'}, notes: ['cleanup from "\\"Delete\\""']});
  });

  it.each([
    [{agent_type: 'exploer', prompt: 'x'}, 'Invalid agent_type: "exploer". Did you mean "explore"? Valid types: '],
    [{agent_type: 'invalid', prompt: 'x'}, 'Invalid agent_type: "invalid". Valid types: '],
    [{agent_type: 'toString', prompt: 'x'}, 'Invalid agent_type: "toString". Valid types: '],
    [{agent_type: 'constructor', prompt: 'x'}, 'Invalid agent_type: "constructor". Valid types: '],
    [{agent_type: '__proto__', prompt: 'x'}, 'Invalid agent_type: "__proto__". Valid types: '],
    [{agent_type: 42, prompt: 'x'}, 'Invalid agent_type: "42". Valid types: '],
    [{agent_type: '<b>wrong</b>', prompt: 'x'}, 'Invalid agent_type: "<b>wrong</b>". Valid types: '],
    [{}, 'Missing agent_type parameter. Valid types: '],
    [{agent_type: ' ', prompt: 'x'}, 'Missing agent_type parameter. Valid types: '],
    [{agent_type: '<arg_value></arg_value>', prompt: 'x'}, 'Missing agent_type parameter. Valid types: '],
    [null, 'Missing agent_type parameter. Valid types: '],
    [[1, 2], 'Missing agent_type parameter. Valid types: '],
    ['not json', 'Missing agent_type parameter. Valid types: '],
  ])('%j is an error that names the valid types', (input, words) => {
    expect(() => repair(input)).toThrow(`${words}explore, code, plan, reviewer, coder, code-review`);
  });

  it.each([[undefined], [''], ['  \n'], [7], [null], [{}]])('without a prompt (%j) says so', (prompt) => {
    expect(() => repair({agent_type: 'explore', prompt})).toThrow(/^Missing or empty prompt parameter$/);
  });

  it('gets a description from the first words of the prompt when there is none', () => {
    expect(repair({agent_type: 'explore', prompt: 'find all files that use the auth module'}).input.description).toBe(
      'find all files that use',
    );
  });

  it('random input is always repaired to a valid one or refused by one of the error texts', () => {
    const random = generator(20_261_120);
    for (let round = 0; round < 10_000; round += 1) {
      const input = randomInput(random);
      try {
        const repaired = repair(input).input;
        expect(agents).toContain(repaired.agent_type);
        expect(String(repaired.prompt).trim()).not.toBe('');
      } catch (error) {
        expect(error, JSON.stringify(input)).toBeInstanceOf(MiniCcError);
        expect((error as Error).message).toMatch(
          /^(Invalid agent_type: "[\s\S]*"\.( Did you mean "[a-z-]+"\?)? Valid types: explore|Missing agent_type parameter\. Valid types: explore|Missing or empty prompt parameter$)/,
        );
      }
    }
  });
});

/** A random generator with a seed, so that a failure can be reproduced. */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    return (state >>> 0) / 2 ** 32;
  };
}

function randomInput(random: () => number): unknown {
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]!;
  const keys = [
    'agent_type',
    'subagent_type',
    'agentId',
    'agent',
    'type',
    'prompt',
    'task',
    '__proto__',
    'toString',
    'a=b',
    'agent_type="explore',
    'background',
    'timeout_seconds',
    '',
    '日本',
  ];
  const pieces = [
    'explore',
    'coder',
    'exploer',
    '<arg_value>',
    '</arg_value',
    '"',
    "'",
    ' ',
    '\n',
    '__proto__',
    'constructor',
    '审查',
    '<',
    '>',
    '=',
    '\u0000',
    '{}',
    'x'.repeat(500),
  ];
  const value = (): unknown =>
    pick<() => unknown>([
      () => Array.from({length: Math.floor(random() * 5)}, () => pick(pieces)).join(''),
      () => pick([null, undefined, 0, -1, Number.NaN, true, [], {}, ['explore'], {explore: 1}]),
      () => pick(agents),
    ])();
  if (random() < 0.05) return value();
  return Object.fromEntries(Array.from({length: Math.floor(random() * 5)}, () => [pick(keys), value()]));
}
