import {describe, expect, it} from 'vitest';
import {SandboxControl} from '../../src/compose/sandbox-control.ts';
import type {Settings} from '../../src/config/settings.ts';
import type {Sandbox, SandboxStatus} from '../../src/sandbox/index.ts';

const WORKS: SandboxStatus = {available: true, kind: 'bubblewrap'};
const NONE: SandboxStatus = {available: false, reason: 'it is not installed', remedy: 'install it'};

function open(sandbox: Settings['sandbox'], status: SandboxStatus) {
  return SandboxControl.open({sandbox} as Settings, {status: async () => status} as unknown as Sandbox);
}

describe('the sandbox of a session', () => {
  it('confines by its mode, and by what works here', async () => {
    expect((await open(undefined, WORKS)).confinement).toBe('none');
    expect((await open({mode: 'auto'}, WORKS)).confinement).toBe('workspace-write');
    expect((await open({mode: 'auto'}, NONE)).confinement).toBe('none');
    // Then such commands do not run at all.
    expect((await open({mode: 'required'}, NONE)).confinement).toBe('workspace-write');
  });

  it('says what was asked for and is missing', async () => {
    expect((await (await open({mode: 'auto'}, NONE)).state()).warning).toBe(
      'sandbox: auto, and it is not installed: install it. Commands run without it.',
    );
    expect((await (await open({mode: 'required'}, NONE)).state()).warning).toMatch(/Until then bash runs nothing\.$/);
    expect((await (await open({mode: 'off'}, NONE)).state()).warning).toMatch(/^no sandbox, so that few commands pass/);
    expect((await (await open({mode: 'off'}, WORKS)).state()).warning).toBeUndefined();
  });

  it('takes a container for the wall where the user says so', async () => {
    const control = await open({mode: 'required', container: true}, NONE);
    expect(control.confinement).toBe('workspace-write');
    expect((await control.state()).warning).toBeUndefined();
  });

  it('is turned while the session lasts', async () => {
    const control = await open({mode: 'off'}, WORKS);
    expect(await control.set('auto')).toMatchObject({mode: 'auto', kind: 'bubblewrap'});
    expect(control.confinement).toBe('workspace-write');
    await control.set('off');
    expect(control.confinement).toBe('none');
  });
});
