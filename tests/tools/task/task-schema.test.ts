import {describe, expect, it} from 'vitest';
import {AGENT_TYPES} from '../../../src/core/agent-types.ts';
import {createTaskTool} from '../../../src/tools/task/task.ts';
import {repairTaskInput} from '../../../src/tools/task/task-input.ts';

const agents = {get: (name: string) => AGENT_TYPES[name], list: () => Object.values(AGENT_TYPES)};
const unused = () => {
  throw new Error('nothing is dispatched here');
};
const {input} = createTaskTool({agents, manager: unused, hasWorkers: false, modelFor: unused});
const task = {description: 'look', prompt: 'look', agent_type: 'explore'};

describe('the limits in a Task call', () => {
  it.each([
    [{max_turns: 0}, 'max_turns must be 1 or more, not 0'],
    [{max_turns: 500}, 'max_turns must be 400 or less, not 500'],
    [{max_turns: 'many'}, 'max_turns must be a whole number from 1 to 400, not "many"'],
    [{max_tokens: -1}, 'max_tokens must be 1 or more, not -1'],
    [{timeout_seconds: -5}, 'timeout_seconds must be 0 (no limit) or more, not -5'],
  ])('%j is quoted as sent', (limits, words) => {
    const parsed = input.safeParse({...task, ...limits});
    expect(parsed.error?.issues.map(({message}) => message)).toEqual([words]);
  });
});

it('the error says so when the settings allow no agent', () => {
  expect(() => repairTaskInput({agent_type: 'explore', prompt: 'x'}, [])).toThrow(/subagents\.allowAgents/);
});
