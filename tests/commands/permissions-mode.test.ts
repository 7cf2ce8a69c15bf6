import {describe, expect, it} from 'vitest';
import {modeCommand} from '../../src/commands/permissions.ts';
import type {Answer, PermissionMode} from '../../src/core/contract/events.ts';
import type {CommandContext} from '../../src/core/contract/session-requests.ts';

function typed(start: PermissionMode = 'default', answer?: Answer) {
  const set: PermissionMode[] = [];
  const info = {permissionMode: start};
  const request = ({type, mode}: {type: string; mode: PermissionMode}) => {
    if (type === 'permissions') return {mayBypass: true};
    set.push(mode);
    info.permissionMode = mode;
    return undefined;
  };
  const run = (args: string) =>
    modeCommand.run({info, request, args, ask: async () => answer} as unknown as CommandContext);
  return {set, run};
}

describe('/mode', () => {
  it('shows the mode, what it means, and how to change it', async () => {
    expect(await typed('plan').run('')).toEqual({
      ok: true,
      text: 'Mode: plan (reads only). Change it by Shift+Tab, or /mode default|acceptEdits|bypassPermissions|dontAsk.',
    });
  });

  it('sets a mode by its name, in capitals or not', async () => {
    const {set, run} = typed();
    expect(await run('plan')).toEqual({ok: true, text: 'Mode: plan, was default (reads only)'});
    expect(await run('ACCEPTEDITS')).toMatchObject({ok: true});
    expect(await run('acceptEdits')).toMatchObject({ok: true});
    expect(set).toEqual(['plan', 'acceptEdits']);
  });

  it('says what was meant by a wrong name, and changes nothing', async () => {
    const {set, run} = typed();
    expect(await run('paln')).toMatchObject({ok: false, text: expect.stringContaining('did you mean plan?')});
    expect(set).toEqual([]);
  });

  it('asks before nothing is asked any more; without a person it stays as it is', async () => {
    const unattended = typed();
    expect(await unattended.run('bypassPermissions')).toMatchObject({ok: false});
    const refusing = typed('plan', {choice: 'no'});
    expect(await refusing.run('bypassPermissions')).toEqual({ok: false, text: 'Mode: plan, as it was.'});
    const agreeing = typed('plan', {choice: 'yes'});
    expect(await agreeing.run('bypassPermissions')).toMatchObject({ok: true});
    expect([unattended.set, refusing.set, agreeing.set]).toEqual([[], [], ['bypassPermissions']]);
  });
});
