/** Questions that wait while the mode changes: each is settled as the new mode says, or waits on. */
import {describe, expect, it} from 'vitest';
import type {AgentEventBody, PermissionMode} from '../../src/core/events.ts';
import {PermissionPolicy} from '../../src/core/permissions/policy.ts';
import {createPermit, type Denial} from '../../src/core/permit.ts';
import {Questions} from '../../src/core/questions.ts';
import type {Access, Workspace} from '../../src/core/tool.ts';
import {root} from './manager-fixture.ts';

const workspace: Workspace = {root, extraRoots: [], cwd: root, confinement: 'none', env: {}};
const EDIT: Access = {kind: 'write', path: 'a.ts'};
const RUN: Access = {kind: 'run', command: 'make'};

function asking() {
  const events: AgentEventBody[] = [];
  const denials: Denial[] = [];
  const questions = new Questions();
  const rules = {allowed: new Set<string>(), disallowed: new Set<string>()};
  const policy = new PermissionPolicy('default', rules, {ownFolders: () => [], secretPlaces: []});
  const deps = {policy, questions, onDenied: (denial: Denial) => void denials.push(denial)};
  const permit = createPermit(deps, '[code] mend it', workspace, (event) => void events.push(event));
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
  it('permits what the new mode permits, and leaves the other questions open', async () => {
    const {ask, turnTo, open, questions} = asking();
    const edit = ask(EDIT);
    const run = ask(RUN);
    await turnTo('acceptEdits');
    expect(await edit).toEqual({allowed: true});
    const [waiting] = open();
    expect(open()).toHaveLength(1);
    questions.answer(waiting!.question.id, {choice: 'yes'});
    expect(await run).toEqual({allowed: true});
  });

  it('refuses what plan mode refuses, says so to the model, and notes the denial', async () => {
    const {ask, turnTo, open, denials} = asking();
    const edit = ask(EDIT);
    await turnTo('plan');
    expect(await edit).toMatchObject({allowed: false, message: expect.stringMatching(/plan/)});
    expect(open()).toEqual([]);
    expect(denials).toHaveLength(1);
  });

  it('lets all that waits pass in bypassPermissions; each question ends once', async () => {
    const {ask, turnTo, events} = asking();
    const waiting = [ask(EDIT), ask(RUN), ask({kind: 'fetch', host: 'example.com', url: 'https://example.com/'})];
    await turnTo('bypassPermissions');
    expect(await Promise.all(waiting)).toEqual([{allowed: true}, {allowed: true}, {allowed: true}]);
    const ends = events.flatMap((event) => (event.type === 'ask_end' ? [event.answer] : []));
    expect(ends).toEqual(['settled', 'settled', 'settled']);
  });
});
