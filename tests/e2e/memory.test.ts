import {expect, it} from 'vitest';
import {measureTurnMemory} from '../../bench/parts/memory.ts';
import {createHome} from '../support/environment.ts';

it('a run of 300 turns stays below 150 MB', async () => {
  const home = await createHome();
  try {
    const mostMb = await measureTurnMemory(home, 300);
    expect(mostMb).toBeGreaterThan(40);
    expect(mostMb).toBeLessThan(150);
  } finally {
    await home.remove();
  }
});
