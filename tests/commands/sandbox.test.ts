import {describe, expect, it} from 'vitest';
import {sandboxCommand} from '../../src/commands/permissions.ts';
import type {SandboxState} from '../../src/core/contract/permission.ts';
import type {CommandContext} from '../../src/core/contract/session-requests.ts';

const OFF: SandboxState = {
  ...{mode: 'off', kind: 'bubblewrap', container: false, show: ['~/data'], hide: [], env: [], allowedHosts: []},
};

function typed(state: SandboxState = OFF) {
  const asked: object[] = [];
  const request = async (given: {type: string; mode?: SandboxState['mode']}) => {
    asked.push(given);
    return {...state, mode: given.mode ?? state.mode};
  };
  return {asked, run: (args: string) => sandboxCommand.run({request, args} as unknown as CommandContext)};
}

describe('/sandbox', () => {
  it('shows the mode, what works here, and what the settings name', async () => {
    expect(await typed().run('')).toEqual({
      ok: true,
      text: [
        'Sandbox: off (commands that write run outside, and are asked about)',
        'bubblewrap confines commands that only read, in every mode.',
        'By the settings:',
        '  show: ~/data',
        'Change it for this session: /sandbox auto|required. For good: "sandbox" in settings.json.',
      ].join('\n'),
    });
    const {kind: _, ...none} = OFF;
    const {text} = await typed({...none, problem: 'bubblewrap is not installed: apt-get install bubblewrap'}).run('');
    expect(text).toContain('There is none here: bubblewrap is not installed: apt-get install bubblewrap');
  });

  it('turns it, in capitals or not, and says what was meant by a wrong word', async () => {
    const {asked, run} = typed();
    expect((await run('AUTO')).text).toContain('Sandbox: auto');
    expect(await run('requird')).toMatchObject({ok: false, text: expect.stringContaining('did you mean required?')});
    expect(asked).toEqual([{type: 'set_sandbox', mode: 'auto'}]);
  });
});
