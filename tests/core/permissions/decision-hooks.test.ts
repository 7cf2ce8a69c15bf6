import {describe, expect, it} from 'vitest';
import type {AgentEventBody} from '../../../src/core/contract/events.ts';
import type {Access, BeforeCall} from '../../../src/core/contract/permission.ts';
import {until} from '../../support/wait.ts';
import {permissionFixture} from './fixture.ts';

const {permitFixture} = permissionFixture();

describe('a decision', () => {
  const request = {
    callId: 'c',
    input: {command: 'npm test'},
    tool: 'bash',
    title: 'npm test',
    accesses: [{kind: 'run', command: 'npm test'}] as const,
  };
  const never = new AbortController().signal;
  const asked = (events: AgentEventBody[]) => events.flatMap((event) => (event.type === 'ask' ? [event.question] : []));

  it('goes back when the person changes an input that a hook changed before', async () => {
    const {permit, events, questions} = permitFixture();
    const answer = permit({...request, changed: {by: 'hook'}}, never);
    await until(() => asked(events).length === 1);
    questions.answer(asked(events)[0]!.id, {choice: 'yes', input: {command: 'ls'}});
    expect(await answer).toMatchObject({verdict: 'changed', input: {command: 'ls'}});
  });

  describe('with hooks that look at the call first', () => {
    const hooked = (answer: Awaited<ReturnType<BeforeCall>>, options: Parameters<typeof permitFixture>[0] = {}) =>
      permitFixture({interactive: false, ...options, beforeCall: [async () => answer]});

    it('is a denial by one of them, with its reason', async () => {
      const {permit, denials} = hooked({decision: 'deny', because: 'not on Fridays'}, {mode: 'bypassPermissions'});
      expect(await permit(request, never)).toMatchObject({
        verdict: 'deny',
        message: 'Permission denied: not on Fridays.',
      });
      expect(denials).toMatchObject([{reason: 'not on Fridays'}]);
    });

    it('needs no question when one allows the call, except for deny rules and protected files', async () => {
      const allow = {decision: 'allow'} as const;
      expect(await hooked(allow).permit(request, never)).toMatchObject({
        ...{verdict: 'allow', attempts: [{launch: 'guarded', checkpoint: true}]},
      });
      const {permit} = hooked(allow, {rules: {deny: ['bash(npm:*)']}});
      expect(await permit(request, never)).toMatchObject({verdict: 'deny'});
      const hook = {
        ...request,
        tool: 'write_file',
        accesses: [{kind: 'write', path: '.git/hooks/pre-commit'}] as const,
      };
      expect(await hooked(allow).permit(hook, never)).toMatchObject({verdict: 'deny'});
    });

    it('needs a question when one asks, also when the mode would allow the call', async () => {
      const {permit} = hooked({decision: 'ask'}, {mode: 'bypassPermissions'});
      expect(await permit(request, never)).toMatchObject({
        verdict: 'deny',
        message: expect.stringContaining('nobody can be asked'),
      });
    });

    it('offers no yes for the session when one asks about a call that the mode would allow', async () => {
      const {permit, events} = hooked({decision: 'ask'}, {mode: 'bypassPermissions', interactive: true});
      void permit({...request, changed: {by: 'hook', says: 'ask'}}, never);
      await until(() => asked(events).length === 1);
      expect(asked(events)[0]!.options.map(({choice}) => choice)).toEqual(['yes', 'no']);
    });

    it('is asked about when one asks and changes the input too', async () => {
      const changing = {decision: 'ask', input: {command: 'ls'}} as const;
      const {permit, denials} = hooked(changing, {mode: 'bypassPermissions'});
      const first = await permit(request, never);
      expect(first).toMatchObject({verdict: 'changed', input: {command: 'ls'}});
      const changed = first.verdict === 'changed' ? first.opinion : undefined;
      const again = {...request, accesses: [{kind: 'run', command: 'ls'}] as const, ...(changed && {changed})};
      expect(await permit(again, never)).toMatchObject({verdict: 'deny'});
      expect(denials).toMatchObject([{reason: expect.stringContaining('is asked about by a hook')}]);
    });

    const places: readonly (readonly [tool: string, access: Access])[] = [
      ['write_file', {kind: 'write', path: '.git/hooks/pre-commit'}],
      ['write_file', {kind: 'write', path: '../outside/new'}],
      ['read_file', {kind: 'read', path: '../outside/secret'}],
      ['bash', {kind: 'run', command: 'cp a .git/hooks/pre-commit'}],
      ['bash', {kind: 'run', command: 'make -C ../outside all'}],
      ['bash', {kind: 'run', command: 'echo x >> ~/.profile'}],
    ];
    it.each(places)('asks anew about the place that a changed input names: %s %j', async (tool, access) => {
      for (const rules of [{}, {ask: ['edit_file', 'read_file(**)', 'bash(*)']}]) {
        const {permit} = hooked({}, {rules});
        for (const by of ['hook', 'person'] as const) {
          const changed = {...request, tool, accesses: [access], changed: {by, says: 'allow'} as const};
          expect(await permit(changed, never), by).toMatchObject({verdict: 'deny'});
        }
        const own = access.kind === 'run' ? {...access, command: 'make all'} : {...access, path: 'a.txt'};
        const inside = {...request, tool, accesses: [own], changed: {by: 'hook', says: 'allow'} as const};
        expect(await permit(inside, never)).toMatchObject({verdict: 'allow'});
      }
    });

    it('lifts no protected place from a command, also where a rule asks about the tool', async () => {
      const command = {...request, accesses: [{kind: 'run', command: 'cp a .git/hooks/x'}] as const};
      const write = {...request, tool: 'write_file', accesses: [{kind: 'write', path: '.git/config'}] as const};
      const options = {rules: {ask: ['edit_file']}};
      for (const each of [command, write]) {
        expect(await hooked({decision: 'allow'}, options).permit(each, never)).toMatchObject({verdict: 'deny'});
        const answered = permitFixture({interactive: false, ...options, answerCall: async () => ({decision: 'allow'})});
        expect(await answered.permit(each, never)).toMatchObject({verdict: 'deny'});
      }
    });

    it('is judged as the mode says that was chosen while a hook looked at it', async () => {
      const {permit, policy} = permitFixture({
        mode: 'bypassPermissions',
        interactive: false,
        beforeCall: [
          async () => {
            policy.mode = 'plan';
            return {};
          },
        ],
      });
      expect(await permit(request, never)).toMatchObject({verdict: 'allow', attempts: [{launch: 'read-only'}]});
    });

    it('stays one question when the mode changes', async () => {
      const {permit, policy, questions, events} = hooked({decision: 'ask'}, {interactive: true});
      const answer = permit(request, never);
      await until(() => asked(events).length === 1);
      policy.mode = 'bypassPermissions';
      await questions.recheck();
      questions.answer(asked(events)[0]!.id, {choice: 'yes'});
      expect(await answer).toMatchObject({verdict: 'allow'});
      expect(asked(events)).toHaveLength(1);
    });

    it('returns the input that one changed', async () => {
      const {permit} = hooked({input: {command: 'ls'}});
      expect(await permit(request, never)).toEqual({verdict: 'changed', input: {command: 'ls'}, opinion: {by: 'hook'}});
    });
  });

  describe('with a hook that answers questions', () => {
    const answered = (answer: Awaited<ReturnType<BeforeCall>>, options: Parameters<typeof permitFixture>[0] = {}) =>
      permitFixture({interactive: false, ...options, answerCall: async () => answer});

    it('is what the hook says: allowed, refused, or allowed with another input', async () => {
      expect(await answered({decision: 'allow'}).permit(request, never)).toMatchObject({
        ...{verdict: 'allow', because: 'a hook allowed it', attempts: [{launch: 'guarded'}]},
      });
      const {permit, denials} = answered({decision: 'deny', because: 'not today', stops: 'enough'});
      expect(await permit(request, never)).toMatchObject({verdict: 'deny', because: 'not today', stops: 'enough'});
      expect(denials).toMatchObject([{reason: 'not today'}]);
      expect(await answered({decision: 'allow', input: {command: 'ls'}}).permit(request, never)).toEqual({
        ...{verdict: 'changed', input: {command: 'ls'}},
        opinion: {by: 'hook', says: 'allow'},
      });
    });

    it.each([{}, {decision: 'ask', input: {command: 'ls'}} as const])(
      'is asked of the person when the hook says %j',
      async (says) => {
        const {permit, events, questions} = answered(says, {interactive: true});
        const answer = permit(request, never);
        await until(() => asked(events).length === 1);
        questions.answer(asked(events)[0]!.id, {choice: 'yes'});
        expect(await answer).toMatchObject({verdict: 'allow', because: 'the user allowed it'});
      },
    );

    it('is not asked of the hook when only a person may allow it, nor again when a hook changed the input', async () => {
      const {permit} = answered({decision: 'allow'});
      const write = {...request, tool: 'write_file', accesses: [{kind: 'write', path: '.git/config'}] as const};
      expect(await permit(write, never)).toMatchObject({verdict: 'deny'});
      expect(await permit({...request, changed: {by: 'hook'}}, never)).toMatchObject({verdict: 'deny'});
    });
  });

  it('ends the run when a hook that looks at the call stops it', async () => {
    const stopping: BeforeCall = async () => ({decision: 'deny', stops: 'enough'});
    const {permit} = permitFixture({beforeCall: [stopping]});
    expect(await permit(request, never)).toMatchObject({
      verdict: 'deny',
      because: 'a hook refuses it',
      stops: 'enough',
    });
  });

  it('is made anew, without a second look by hooks, when the mode changes while a hook looks at the call', async () => {
    let looks = 0;
    const {permit, policy} = permitFixture({
      interactive: false,
      beforeCall: [
        async () => {
          looks += 1;
          policy.mode = 'bypassPermissions';
          return {};
        },
      ],
    });
    expect(await permit(request, never)).toMatchObject({verdict: 'allow'});
    expect(looks).toBe(1);
  });
});
