/** Questions that are open while the mode changes: the new mode settles each of them, or it stays open. */
import {describe, expect, it} from 'vitest';
import type {AgentEventBody, PermissionMode} from '../../../src/core/contract/events.ts';
import type {Access, Denial} from '../../../src/core/contract/permission.ts';
import {createPermit} from '../../../src/core/permissions/decision.ts';
import {PermissionPolicy} from '../../../src/core/permissions/policy.ts';
import {Questions} from '../../../src/core/permissions/questions.ts';
import {RuleBook} from '../../../src/core/permissions/rules/rule-book.ts';
import {permissionSandbox} from '../../support/sandbox.ts';
import {until} from '../../support/wait.ts';
import {permissionFixture} from './fixture.ts';

const {workspace} = permissionFixture();
const EDIT: Access = {kind: 'write', path: 'a.ts'};
const RUN: Access = {kind: 'run', command: 'make'};

function asking() {
  const events: AgentEventBody[] = [];
  const denials: Denial[] = [];
  const questions = new Questions();
  const policy = new PermissionPolicy('default', new RuleBook([], []), {ownFolders: () => [], secretPaths: []});
  const onDenied = (denial: Denial) => void denials.push(denial);
  const deps = {policy, questions, onDenied, sandbox: permissionSandbox()};
  const permit = createPermit(deps, '[code] fix it', workspace, (event) => void events.push(event));
  return {
    events,
    denials,
    questions,
    ask: (access: Access) =>
      permit({callId: 'c', tool: 'a_tool', input: {}, title: 't', accesses: [access]}, new AbortController().signal),
    turnTo(mode: PermissionMode) {
      policy.mode = mode;
      return questions.recheck();
    },
    open: () => {
      const ended = events.flatMap((event) => (event.type === 'ask_end' ? [event.askId] : []));
      return events.flatMap((event) => (event.type === 'ask' && !ended.includes(event.question.id) ? [event] : []));
    },
  };
}

describe('a change of the mode', () => {
  it('allows what the new mode allows, and leaves the other questions open', async () => {
    const {ask, turnTo, open, questions} = asking();
    const edit = ask(EDIT);
    const run = ask(RUN);
    await until(() => open().length === 2);
    await turnTo('acceptEdits');
    expect(await edit).toMatchObject({verdict: 'allow'});
    const [waiting] = open();
    expect(open()).toHaveLength(1);
    questions.answer(waiting!.question.id, {choice: 'yes'});
    expect(await run).toMatchObject({verdict: 'allow'});
  });

  it('refuses what plan mode refuses, says so to the model, and notes the denial', async () => {
    const {ask, turnTo, open, denials} = asking();
    const edit = ask(EDIT);
    await until(() => open().length === 1);
    await turnTo('plan');
    expect(await edit).toMatchObject({verdict: 'deny', message: expect.stringMatching(/plan/)});
    expect(open()).toEqual([]);
    expect(denials).toHaveLength(1);
  });

  it('refuses what plan mode refuses also when the yes comes before the question is settled', async () => {
    const {ask, turnTo, open, questions} = asking();
    const edit = ask(EDIT);
    await until(() => open().length === 1);
    const [{question} = {question: {id: ''}}] = open();
    const turned = turnTo('plan');
    questions.answer(question.id, {choice: 'yes'});
    await turned;
    expect(await edit).toMatchObject({verdict: 'deny', message: expect.stringMatching(/plan/)});
  });

  it('to bypassPermissions allows all calls that wait; each question ends once', async () => {
    const {ask, turnTo, events, open} = asking();
    const waiting = [ask(EDIT), ask(RUN), ask({kind: 'fetch', host: 'example.com'})];
    await until(() => open().length === 3);
    await turnTo('bypassPermissions');
    for (const permission of await Promise.all(waiting)) expect(permission).toMatchObject({verdict: 'allow'});
    const ends = events.flatMap((event) => (event.type === 'ask_end' ? [event.answer] : []));
    expect(ends).toEqual(['settled', 'settled', 'settled']);
  });

  it('counts for a call that is being judged: it asks no question of the old mode', async () => {
    const {ask, turnTo, events} = asking();
    const edit = ask(EDIT);
    await turnTo('acceptEdits');
    expect(await edit).toMatchObject({verdict: 'allow'});
    expect(events).toEqual([]);
  });
});
