import {expect, test} from 'vitest';
import type {RunRecord} from '../../../src/core/contract/runs.ts';
import {RunRegistry} from '../../../src/core/runs/registry.ts';
import {managerFixture} from '../manager-fixture.ts';
import {ScriptedModel, say} from '../scripted-model.ts';

test('a run is found by its number in the list, or by the beginning of its id, also if that has only digits', async () => {
  const {manager, spawn} = managerFixture();
  const first = '98247512-0000-4000-8000-000000000001';
  const second = '98240000-0000-4000-8000-000000000002';
  await spawn(new ScriptedModel([say('a')]), {runId: first, prompt: 'a'});
  await spawn(new ScriptedModel([say('b')]), {runId: second, prompt: 'b'});
  const found = ['1', '#2', '982475', '98247512', '9824000', first].map((name) => manager.find(name).runId);
  expect(found).toEqual([second, first, first, first, second, first]);
  expect(() => manager.find('9824')).toThrow('Ambiguous run id prefix: 9824');
  expect(() => manager.find('98')).toThrow('Invalid subagent index: 98');
  expect(() => manager.find('#982475')).toThrow('Invalid subagent index: 982475');
  expect(() => manager.find('7777777')).toThrow('Invalid subagent index: 7777777');
  expect(() => manager.find('77777777')).toThrow('Unknown subagent id: 77777777');
  expect(() => manager.find('0')).toThrow('Invalid subagent index: 0');
  expect(() => manager.find('3')).toThrow('Invalid subagent index: 3');
  expect(() => manager.find('')).toThrow('Unknown subagent id');
  await manager.clear();
  expect(manager.list()).toEqual([]);
  expect(() => manager.find(first)).toThrow('Unknown subagent id');
});

test('a run is found by its whole id though another one begins with it, by its session key, and by its transcript', () => {
  const registry = new RunRegistry();
  for (const runId of ['abc', 'abcd']) registry.add({runId} as RunRecord);
  const names = ['abc', 'agent:explore:subagent:abcd', '/home/x/subagents/abcd/session.jsonl.deleted.2026'];
  expect(names.map((name) => registry.find(name).runId)).toEqual(['abc', 'abcd', 'abcd']);
  for (const [name, problem] of [
    ['ab', 'Ambiguous run id prefix: ab'],
    ['', 'Unknown subagent id: '],
    ['agent:explore:subagent:', 'Unknown subagent id: '],
    ['0', 'Invalid subagent index: 0'],
    ['3', 'Invalid subagent index: 3'],
    ['x', 'Unknown subagent id: x'],
  ] as const) {
    expect(() => registry.find(name)).toThrow(
      expect.objectContaining({code: 'RUN_NOT_FOUND', message: expect.stringContaining(problem)}),
    );
  }
});

test('what is not known is not changed', () => {
  const registry = new RunRegistry();
  expect(registry.update('abc', {state: 'idle'})).toBeUndefined();
  registry.add({runId: 'abc', state: 'created'} as RunRecord);
  expect(registry.update('abc', {state: 'idle'})).toMatchObject({runId: 'abc', state: 'idle'});
  expect(registry.list()).toEqual([{runId: 'abc', state: 'idle'}]);
  registry.clear();
  expect(registry.list()).toEqual([]);
});
