import {describe, expect, it} from 'vitest';
import {type Complexity, getComplexity, gradedTurns, profileLimits} from '../../../src/core/runs/limit-profiles.ts';

const grades: readonly Complexity[] = ['simple', 'moderate', 'complex'];

describe('the graded profile', () => {
  it.each([
    ['explore', [4, 8, 12]],
    ['coder', [8, 15, 23]],
    ['plan', [5, 10, 15]],
    ['code-review', [6, 12, 18]],
    ['doc-reader', [3, 6, 9]],
    ['code-explore', [4, 8, 12]],
    ['architect', [5, 10, 15]],
    ['reviewer', [6, 12, 18]],
    ['code', [8, 15, 23]],
    ['debugger', [8, 15, 23]],
    ['anything', [5, 10, 15]],
  ])('gives %s %j turns for a prompt of 200 characters', (agent, turns) => {
    expect(grades.map((grade) => gradedTurns(agent, grade, 200))).toEqual(turns);
  });

  it('adds turns for a long prompt, and stays between 3 and 30', () => {
    expect(gradedTurns('explore', 'moderate', 450)).toBe(10);
    expect(gradedTurns('explore', 'moderate', 100_000)).toBe(12);
    expect(gradedTurns('explore', 'simple', 50)).toBe(3);
    expect(gradedTurns('coder', 'complex', 700)).toBe(30);
    expect(gradedTurns('coder', 'complex', 100_000)).toBe(30);
  });

  it.each([
    ['explore', 30],
    ['code-review', 60],
    ['coder', 90],
    ['code', 90],
    ['anything', 60],
  ])('gives %s %d seconds', (agent, seconds) => {
    expect(profileLimits('graded', agent, 'x', false).timeoutSeconds).toBe(seconds);
  });
});

describe('the standard profile', () => {
  it('gives 50 turns, and time by the kind of agent', () => {
    expect(profileLimits('standard', 'explore', 'x', false)).toEqual({maxTurns: 50, timeoutSeconds: 300});
    expect(profileLimits('standard', 'code', 'x', false)).toEqual({maxTurns: 50, timeoutSeconds: 900});
    expect(profileLimits('standard', 'explore', 'x', true)).toEqual({maxTurns: 50, timeoutSeconds: 1800});
  });
});

describe('the complexity of a task', () => {
  it.each([
    ['find auth files', 'simple'],
    ['列出所有文件', 'simple'],
    ['найти файлы', 'simple'],
    ['chercher les fichiers', 'simple'],
    ['проанализировать модуль', 'complex'],
    ['Найди файлы', 'simple'],
    ['审计代码', 'complex'],
    ['Спроектируй модуль', 'complex'],
    ['Отрефактори модуль', 'complex'],
    ['Анализируй код', 'complex'],
    ['Conçois un module', 'complex'],
    ['Audite le code', 'complex'],
    ['liste les fichiers', 'simple'],
    ['获取文件', 'simple'],
    ['1、读取 2、修改 3、测试', 'complex'],
    ['1.read it\n2.change it\n3.test it', 'complex'],
    ['the designated listener', 'moderate'],
    ['Analyser le code', 'complex'],
    ['1. a 2. b 3. c', 'complex'],
    ['find all the places, then design a better one', 'complex'],
    ['implement login', 'moderate'],
    ['bump to 1.2.3.4', 'moderate'],
    ['fix widget target thread', 'moderate'],
    [`find ${'x'.repeat(94)}`, 'simple'],
    [`find ${'x'.repeat(95)}`, 'moderate'],
    ['1. a 2. b', 'moderate'],
  ])('of %j is %s', (prompt, complexity) => {
    expect(getComplexity(prompt)).toBe(complexity);
  });
});
